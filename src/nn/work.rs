//! Cost of the sweeps over a tape.

use super::Function;
use super::sweep::leading_to;
use super::tape::{Node, Operation, Tape, TapeRecord};
use crate::problem::{Rate, Work};
use crate::real::Real;
use crate::variables::Variable;

/// Flops of an elementary function.
const ELEMENTARY: f64 = 20.0;

/// Flops of choosing whether dropout drops an entry.
const RANDOM: f64 = 10.0;

/// Work of a sweep: per sample, and independent of their number.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SweepWork {
    each: Work,
    /// Work of reading the weights, and of writing sums over samples.
    once: Work,
}

impl SweepWork {
    /// A product of `positions × depth` inputs of each sample with a weight that all of them share.
    pub(crate) fn product(positions: usize, depth: usize, outputs: usize) -> Self {
        let [positions, depth, outputs] = [positions, depth, outputs].map(|size| size as f64);
        SweepWork {
            each: Work::new(Rate::Product, 2.0 * positions * depth * outputs, positions * (depth + outputs)),
            once: Work::new(Rate::Product, 0.0, depth * outputs),
        }
    }

    /// Returns the work of `count` results for each sample, of this many flops and numbers each.
    pub(crate) fn elementwise(count: usize, flops: f64, numbers: f64) -> Self {
        SweepWork { each: Work::elementwise(count as f64, flops, numbers), once: Work::NONE }
    }

    /// The same work, with a product of this many flops for each sample.
    fn with_product(mut self, flops: f64) -> Self {
        self.each += Work::new(Rate::Product, flops, 0.0);
        self
    }

    /// Adds a multiple of other work.
    pub(crate) fn add(&mut self, times: f64, other: SweepWork) {
        self.each += other.each * times;
        self.once += other.once * times;
    }

    /// Work for a number of samples.
    pub(crate) fn of(self, samples: usize) -> Work {
        self.each * samples as f64 + self.once
    }
}

/// Computing the wanted nodes.
pub(crate) fn forward_work<T: Real>(tape: &Tape<T>, wanted: &[bool]) -> SweepWork {
    let mut work = SweepWork::default();
    for (record, _) in tape.records().iter().zip(wanted).filter(|(_, wanted)| **wanted) {
        work.add(1.0, value(record));
    }
    work
}

/// One reverse sweep from all outputs through the needed nodes, and the sum over samples of every variable's gradient.
pub(crate) fn gradient_work<T: Real>(
    tape: &Tape<T>,
    outputs: impl Iterator<Item = Node>,
    needed: &[bool],
    reached: &mut Vec<bool>,
) -> SweepWork {
    let mut work = SweepWork::default();
    leading_to(tape.records(), outputs, reached);
    for record in passed(tape, reached, needed) {
        work.add(1.0, adjoints(record, needed));
        work.add(1.0, sums(record));
    }
    work
}

/// All reverse sweeps through the needed nodes, one for each number of each output, and the wanted variables' columns in
/// the rows of the Jacobian.
pub(crate) fn jacobian_work<T: Real>(
    tape: &Tape<T>,
    outputs: impl Iterator<Item = Node>,
    needed: &[bool],
    wants: impl Fn(Variable) -> bool,
    reached: &mut Vec<bool>,
) -> SweepWork {
    let mut work = SweepWork::default();
    for output in outputs {
        leading_to(tape.records(), std::iter::once(output), reached);
        for record in passed(tape, reached, needed) {
            work.add(output.width() as f64, adjoints(record, needed));
            work.add(output.width() as f64, rows(record, &wants));
        }
    }
    work
}

/// The records that adjoints reach and have to pass.
fn passed<'a, T: Real>(
    tape: &'a Tape<T>,
    reached: &'a [bool],
    needed: &'a [bool],
) -> impl Iterator<Item = &'a TapeRecord<T>> {
    let marks = reached.iter().zip(needed).map(|(&reached, &needed)| reached && needed);
    tape.records().iter().zip(marks).filter_map(|(record, passed)| passed.then_some(record))
}

/// The value of a node.
fn value<T: Real>(TapeRecord { operation, width, .. }: &TapeRecord<T>) -> SweepWork {
    let width = *width;
    match *operation {
        Operation::Input(_) => SweepWork::default(),
        Operation::Constant(_) | Operation::Variable(_) => SweepWork::elementwise(width, 0.0, 1.0),
        Operation::Mask { .. } => SweepWork::elementwise(width, RANDOM, 1.0),
        Operation::Dense { x, positions, .. } => {
            SweepWork::product(positions, x.width() / positions, width / positions)
        }
        Operation::Apply { function, .. } => SweepWork::elementwise(width, function_flops(function), 2.0),
        Operation::Arithmetic { .. } => SweepWork::elementwise(width, 1.0, 3.0),
        Operation::ChainRule(ref rule) => {
            let arguments = rule.arguments().count() as f64;
            SweepWork::elementwise(width, derivative_flops(rule.function) + 2.0 * arguments, 1.0 + arguments)
        }
        Operation::Product { a, b, sizes } => {
            SweepWork::elementwise(a.width() + b.width() + width, 0.0, 1.0).with_product(sizes.flops())
        }
        Operation::RowSum(x) => SweepWork::elementwise(x.width(), 1.0, 1.0),
        Operation::Pool { ref windows, .. } => SweepWork::elementwise(windows.places(), 1.0, 2.0),
        Operation::Concat(_) | Operation::Slice { .. } | Operation::Repeat(_) | Operation::Embedding { .. } => {
            SweepWork::elementwise(width, 0.0, 2.0)
        }
    }
}

/// The adjoints that a node passes on to those that need them.
fn adjoints<T: Real>(record: &TapeRecord<T>, needed: &[bool]) -> SweepWork {
    let taking = record.operation.arguments().filter(|node| needed[node.index()]).count();
    let mut work = SweepWork::default();
    match record.operation {
        Operation::Dense { x, positions, .. } if taking > 0 => {
            work = SweepWork::product(positions, record.width / positions, x.width() / positions);
        }
        Operation::Apply { function, .. } => {
            work.add(taking as f64, SweepWork::elementwise(record.width, derivative_flops(function), 4.0));
        }
        Operation::Arithmetic { .. } => work.add(taking as f64, SweepWork::elementwise(record.width, 2.0, 3.0)),
        Operation::Concat(_) if taking > 0 => work = SweepWork::elementwise(record.width, 0.0, 2.0),
        _ => work.add(taking as f64, value(record)),
    }
    work
}

/// Cost of a node's addends to the gradients of its variables.
fn sums<T: Real>(TapeRecord { operation, width, .. }: &TapeRecord<T>) -> SweepWork {
    match *operation {
        Operation::Dense { x, positions, .. } => {
            SweepWork::product(positions, x.width() / positions, width / positions)
        }
        Operation::Variable(_) | Operation::Embedding { .. } => SweepWork::elementwise(*width, 1.0, 1.0),
        _ => SweepWork::default(),
    }
}

/// Cost of a node's part of the rows of the Jacobian, one for each sample.
fn rows<T: Real>(TapeRecord { operation, width, .. }: &TapeRecord<T>, wants: impl Fn(Variable) -> bool) -> SweepWork {
    let wanted = operation.variables().filter(|&variable| wants(variable));
    let of_variable = |variable: Variable| match *operation {
        Operation::Dense { weight, positions, .. } if positions > 1 => {
            // Sums over the positions.
            let (numbers, positions) = (variable.len() as f64, positions as f64);
            let flops = if variable == weight { 2.0 } else { 1.0 } * positions * numbers;
            SweepWork { each: Work::new(Rate::Product, flops, numbers), once: Work::NONE }
        }
        Operation::Embedding { .. } => SweepWork::elementwise(variable.len() + width, 0.0, 1.0),
        _ => SweepWork::elementwise(variable.len(), 1.0, 1.0),
    };
    let mut work = SweepWork::default();
    wanted.for_each(|variable| work.add(1.0, of_variable(variable)));
    work
}

/// Flops of a function.
fn function_flops<T: Real>(function: Function<T>) -> f64 {
    use Function::{Abs, LeakyRelu, Negate, NotEqual, Reciprocal, Relu, Scale, Shift, Sqrt, Square};
    let is_single = matches!(function, Relu | LeakyRelu { .. } | Square | Sqrt | Reciprocal | Abs | Negate)
        || matches!(function, Scale { .. } | Shift { .. } | NotEqual { .. });
    if is_single { 1.0 } else { ELEMENTARY }
}

/// Flops of multiplying by a function's derivative, which some have from their value.
fn derivative_flops<T: Real>(function: Function<T>) -> f64 {
    match function {
        Function::Tanh | Function::Sigmoid | Function::Exp | Function::Elu { .. } => 3.0,
        other => 1.0 + function_flops(other),
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2, Array4};

    use super::*;
    use crate::nn::sweep::coming_from;
    use crate::nn::{Shape, Window};
    use crate::variables::Variables;

    /// Flops for each sample of the rows of the Jacobian that has the columns of the wanted variables.
    fn row_flops(tape: &Tape<f64>, output: Node, wants: impl Fn(Variable) -> bool) -> f64 {
        let (mut needed, mut reached) = (Vec::new(), Vec::new());
        coming_from(tape.records(), &wants, None, &mut needed);
        jacobian_work(tape, std::iter::once(output), &needed, wants, &mut reached).of(1).flops()
    }

    #[test]
    fn rows_of_convolutions_are_sums_over_positions() {
        let mut variables = Variables::<f64>::new();
        let filters = variables.add("filters", Array4::zeros((3, 2, 2, 2)).view()).unwrap();
        let bias = variables.add("bias", Array1::zeros(3).view()).unwrap();
        let mut tape = Tape::new();
        let x = tape.input(2 * 5 * 4);
        let image = tape.reshape(x, Shape::Image { channels: 2, height: 5, width: 4 }).unwrap();
        let convolved = tape.conv2d(image, filters, Some(bias), Window::new([2, 2])).unwrap();
        let sum = tape.row_sum(convolved);
        // The adjoints of the sum, and of the transposition after the product.
        let (positions, adjoints) = (12.0, 2.0 * 36.0);
        assert_eq!(row_flops(&tape, sum, |_| true), adjoints + positions * (2.0 * 24.0 + 3.0));
        assert_eq!(row_flops(&tape, sum, |variable| variable == bias), adjoints + positions * 3.0);
    }

    #[test]
    fn adjoints_go_only_where_somebody_waits_for_them() {
        let mut variables = Variables::<f64>::new();
        let weights = ["a", "b"].map(|name| variables.add(name, Array2::zeros((4, 4)).view()).unwrap());
        let mut tape = Tape::new();
        let x = tape.input(4);
        let hidden = tape.dense(x, weights[0], None).unwrap();
        let output = tape.dense(hidden, weights[1], None).unwrap();
        // A row for each of the four outputs: 16 numbers of each weight, and the product that takes the adjoint to the first.
        assert_eq!(row_flops(&tape, output, |variable| variable == weights[1]), 4.0 * 16.0);
        assert_eq!(row_flops(&tape, output, |variable| variable == weights[0]), 4.0 * (16.0 + 32.0));
        assert_eq!(row_flops(&tape, output, |_| true), 4.0 * (32.0 + 32.0));
        assert_eq!(row_flops(&tape, hidden, |variable| variable == weights[1]), 0.0);
    }
}
