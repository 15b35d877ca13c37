//! Natural sizes of a formula's parameters, by dimensional analysis.

use super::function::Function;
use super::program::{Address, Instruction, Operator, Program};

/// Coefficients smaller than this are rounding errors.
const ZERO: f64 = 1e-9;

/// Logarithm of a size: a sum of multiples of those of the parameters, and a number.
#[derive(Debug, Clone, PartialEq)]
struct LogSize {
    multiples: Vec<f64>,
    rest: f64,
}

impl LogSize {
    fn known(rest: f64, parameters: usize) -> Self {
        LogSize { multiples: vec![0.0; parameters], rest }
    }

    /// `self + factor · other`.
    fn plus(mut self, factor: f64, other: &LogSize) -> Self {
        self.multiples.iter_mut().zip(&other.multiples).for_each(|(own, other)| *own += factor * other);
        self.rest += factor * other.rest;
        self
    }

    fn times(&self, factor: f64) -> Self {
        LogSize::known(0.0, self.multiples.len()).plus(factor, self)
    }

    fn is_known(&self) -> bool {
        self.multiples.iter().all(|multiple| multiple.abs() < ZERO)
    }
}

/// Linear equations between logarithms of sizes. An equation that contradicts earlier ones is left out.
#[derive(Default)]
struct SizeEquations {
    /// Equations `rows = 0`, each with a parameter that no other has.
    rows: Vec<(usize, LogSize)>,
}

impl SizeEquations {
    /// Adds `one = other`, unless the size of one is zero. Returns the size of their sum.
    fn equate(&mut self, one: &LogSize, other: &LogSize) -> LogSize {
        if !one.rest.is_finite() || !other.rest.is_finite() {
            return if one.rest.is_finite() { one.clone() } else { other.clone() };
        }
        let mut row = one.clone().plus(-1.0, other);
        for (pivot, known) in &self.rows {
            row = row.clone().plus(-row.multiples[*pivot], known);
        }
        let largest = |a: &usize, b: &usize| row.multiples[*a].abs().total_cmp(&row.multiples[*b].abs());
        if let Some(pivot) = (0..row.multiples.len()).max_by(largest).filter(|_| !row.is_known()) {
            let row = row.times(row.multiples[pivot].recip());
            for (_, known) in &mut self.rows {
                *known = known.clone().plus(-known.multiples[pivot], &row);
            }
            self.rows.push((pivot, row));
        }
        match (one.is_known(), other.is_known()) {
            (true, true) if other.rest > one.rest => other.clone(),
            (false, true) => other.clone(),
            _ => one.clone(),
        }
    }
}

/// Returns natural sizes of the parameters, given sizes of the predictors and of the response: terms of a sum are of one size,
/// arguments of functions such as `exp` are of size one, and the result is of the size of the response. `exponent` is the value of
/// an exponent that depends on parameters. A parameter whose size does not follow has the size one.
pub(super) fn natural_sizes(
    program: &Program,
    parameters: usize,
    predictors: &[f64],
    response: f64,
    exponent: impl Fn(Address) -> f64,
) -> Vec<f64> {
    let mut equations = SizeEquations::default();
    let known = |rest: f64| LogSize::known(rest, parameters);
    let mut sizes: Vec<LogSize> = Vec::new();
    for instruction in &program.instructions {
        let size = match *instruction {
            Instruction::Constant(value) => known(value.value().abs().ln()),
            Instruction::Predictor(index) => known(predictors.get(index).map_or(0.0, |size| size.ln())),
            Instruction::Parameter(index) => {
                let mut size = known(0.0);
                size.multiples[index] = 1.0;
                size
            }
            Instruction::Negate(a) | Instruction::Apply(Function::Abs, a) => sizes[a].clone(),
            Instruction::IntegerPower(a, n) => sizes[a].times(f64::from(n)),
            Instruction::ConstantPower(a, p) => sizes[a].times(p.value()),
            Instruction::Apply(Function::Recip, a) => sizes[a].times(-1.0),
            Instruction::Apply(Function::Sqrt, a) => sizes[a].times(0.5),
            Instruction::Apply(Function::Cbrt, a) => sizes[a].times(1.0 / 3.0),
            Instruction::Apply(_, a) => {
                equations.equate(&sizes[a], &known(0.0));
                known(0.0)
            }
            Instruction::Join(Operator::Multiply, a, b) => sizes[a].clone().plus(1.0, &sizes[b]),
            Instruction::Join(Operator::Divide, a, b) => sizes[a].clone().plus(-1.0, &sizes[b]),
            Instruction::Join(Operator::Power, a, b) => {
                equations.equate(&sizes[b], &known(0.0));
                sizes[a].times(exponent(b))
            }
            Instruction::Join(Operator::Atan2, a, b) => {
                equations.equate(&sizes[a], &sizes[b]);
                known(0.0)
            }
            Instruction::Join(Operator::Add | Operator::Subtract | Operator::Hypot, a, b) => {
                equations.equate(&sizes[a], &sizes[b])
            }
            Instruction::SelectLess([a, b, then, otherwise]) => {
                equations.equate(&sizes[a], &sizes[b]);
                equations.equate(&sizes[then], &sizes[otherwise])
            }
        };
        sizes.push(size);
    }
    if let Some(result) = sizes.last() {
        equations.equate(result, &known(response.ln()));
    }
    let mut natural = vec![1.0; parameters];
    for (pivot, row) in &equations.rows {
        natural[*pivot] = Some((-row.rest).exp()).filter(|size| size.is_normal()).unwrap_or(1.0);
    }
    natural
}
