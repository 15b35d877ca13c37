//! Natural sizes of a formula's parameters, by dimensional analysis.

use super::function::Function;
use super::program::{Address, Instruction, Operator, Program};

/// Coefficients smaller than this are rounding errors.
const ZERO: f64 = 1e-9;

/// Logarithm of a size: coefficients of the logarithms of the parameters' sizes, and a constant, the last entry.
type LogSize = Vec<f64>;

/// `one + factor · other`.
fn sum(one: &LogSize, factor: f64, other: &LogSize) -> LogSize {
    one.iter().zip(other).map(|(one, other)| one + factor * other).collect()
}

/// Linear equations between logarithms of sizes. An equation that contradicts earlier ones is left out.
struct SizeEquations {
    parameters: usize,
    /// Equations `row = 0`, each with a parameter that no other has.
    rows: Vec<(usize, LogSize)>,
}

impl SizeEquations {
    /// The size of a number.
    fn number(&self, value: f64) -> LogSize {
        let mut size = vec![0.0; self.parameters + 1];
        size[self.parameters] = value.abs().ln();
        size
    }

    fn is_known(&self, size: &LogSize) -> bool {
        size[..self.parameters].iter().all(|coefficient| coefficient.abs() < ZERO)
    }

    /// Adds `one = other`, unless one of them is the size of zero. Returns the size of their sum.
    fn equate(&mut self, one: &LogSize, other: &LogSize) -> LogSize {
        let is_zero = |size: &LogSize| !size[self.parameters].is_finite();
        if is_zero(one) || is_zero(other) {
            return if is_zero(one) { other.clone() } else { one.clone() };
        }
        let mut row = sum(one, -1.0, other);
        for (pivot, known) in &self.rows {
            row = sum(&row, -row[*pivot], known);
        }
        let by_size = |a: &usize, b: &usize| row[*a].abs().total_cmp(&row[*b].abs());
        if let Some(pivot) = (0..self.parameters).max_by(by_size).filter(|_| !self.is_known(&row)) {
            let row: LogSize = row.iter().map(|coefficient| coefficient / row[pivot]).collect();
            for (_, known) in &mut self.rows {
                *known = sum(known, -known[pivot], &row);
            }
            self.rows.push((pivot, row));
        }
        let larger = self.is_known(other) && !(self.is_known(one) && one[self.parameters] > other[self.parameters]);
        if larger { other.clone() } else { one.clone() }
    }
}

/// Returns natural sizes of the parameters, given sizes of the predictors and of the response: terms of a sum are of one size,
/// arguments of functions such as `exp` are of size one, and the result is of the size of the response. `exponent` is the value of
/// an exponent that depends on parameters. A parameter whose size does not follow has the size one.
pub(super) fn natural_sizes(
    program: &Program,
    parameters: usize,
    (predictors, response): (&[f64], f64),
    exponent: impl Fn(Address) -> f64,
) -> Vec<f64> {
    let mut equations = SizeEquations { parameters, rows: Vec::new() };
    let one = equations.number(1.0);
    let mut sizes: Vec<LogSize> = Vec::new();
    for instruction in &program.instructions {
        let times = |factor: f64, slot: Address| sum(&one, factor, &sizes[slot]);
        let size = match *instruction {
            Instruction::Constant(value) => equations.number(value.value()),
            Instruction::Predictor(index) => equations.number(predictors.get(index).copied().unwrap_or(1.0)),
            Instruction::Parameter(index) => {
                let mut size = one.clone();
                size[index] = 1.0;
                size
            }
            Instruction::Negate(a) | Instruction::Apply(Function::Abs, a) => times(1.0, a),
            Instruction::IntegerPower(a, n) => times(f64::from(n), a),
            Instruction::ConstantPower(a, p) => times(p.value(), a),
            Instruction::Apply(Function::Recip, a) => times(-1.0, a),
            Instruction::Apply(Function::Sqrt, a) => times(0.5, a),
            Instruction::Apply(Function::Cbrt, a) => times(1.0 / 3.0, a),
            Instruction::Apply(_, a) => {
                equations.equate(&sizes[a], &one);
                one.clone()
            }
            Instruction::Join(Operator::Multiply, a, b) => sum(&sizes[a], 1.0, &sizes[b]),
            Instruction::Join(Operator::Divide, a, b) => sum(&sizes[a], -1.0, &sizes[b]),
            Instruction::Join(Operator::Power, a, b) => {
                equations.equate(&sizes[b], &one);
                times(exponent(b), a)
            }
            Instruction::Join(operator, a, b) => {
                let size = equations.equate(&sizes[a], &sizes[b]);
                if operator == Operator::Atan2 { one.clone() } else { size }
            }
            Instruction::Special(_, arguments) => {
                for slot in arguments {
                    equations.equate(&sizes[slot], &one);
                }
                one.clone()
            }
            Instruction::SelectLess([a, b, then, otherwise]) => {
                equations.equate(&sizes[a], &sizes[b]);
                equations.equate(&sizes[then], &sizes[otherwise])
            }
        };
        sizes.push(size);
    }
    let response = equations.number(response);
    if let Some(result) = sizes.last() {
        equations.equate(result, &response);
    }
    let mut natural = vec![1.0; parameters];
    for (pivot, row) in &equations.rows {
        natural[*pivot] = Some((-row[parameters]).exp()).filter(|size| size.is_normal()).unwrap_or(1.0);
    }
    natural
}
