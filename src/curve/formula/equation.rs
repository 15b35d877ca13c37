//! Equations that the parameters of a formula should fulfil, as least-squares problems.

use std::iter::zip;

use super::affinity::Affinity;
use super::function::Function;
use super::program::{Address, Instruction, Operator, Program};
use crate::curve::model_rows::backwards;
use crate::problem::{EvaluationError, LeastSquares};

/// Rows of data: `width` predictors each, and a response.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) x: Vec<f64>,
    pub(super) width: usize,
    pub(super) y: Vec<f64>,
}

impl Sample {
    /// Fills `y` with the results of a program, and `jacobian`, unless it is empty, with their derivatives.
    fn evaluate(&self, program: &Program, b: &[f64], y: &mut [f64], jacobian: &mut [f64]) {
        backwards(program, &self.x, self.width, b, y, jacobian);
    }
}

/// The equation `numerator = target · denominator` for each row of a sample. Its residuals are weighted differences of both sides.
///
/// The responses of a formula give one, and so do transformed responses: `exp(a + b x) = y` is `a + b x = ln y`, with the weight `y`,
/// and `(a + b x) / (1 + c x) = y` is `a + b x = y (1 + c x)`. These have more linear parameters.
#[derive(Debug, Clone)]
pub(super) struct Equation<'s> {
    sample: &'s Sample,
    parameters: usize,
    numerator: Program,
    denominator: Option<Program>,
    target: Vec<f64>,
    weights: Vec<f64>,
}

impl<'s> Equation<'s> {
    /// The responses of the formula as they are.
    pub(super) fn direct(program: &Program, parameters: usize, sample: &'s Sample) -> Self {
        let (target, weights) = (sample.y.clone(), vec![1.0; sample.y.len()]);
        Equation { sample, parameters, numerator: program.clone(), denominator: None, target, weights }
    }

    /// The transformed equation, and its linear parameters: outer operations are inverted until one has parameters in both operands.
    pub(super) fn transformed(
        program: &Program,
        parameters: usize,
        affinity: &Affinity,
        sample: &'s Sample,
    ) -> (Self, Vec<usize>) {
        let mut equation = Equation::direct(program, parameters, sample);
        let mut slot = program.instructions.len() - 1;
        let known = |slot: Address| {
            let mut values = vec![0.0; sample.y.len()];
            let is_known = affinity.depends(slot) == 0;
            is_known.then(|| sample.evaluate(&program.up_to(slot), &vec![0.0; parameters], &mut values, &mut []))?;
            Some(values)
        };
        loop {
            let next = match program.instructions[slot] {
                Instruction::Negate(a) => equation.invert(a, None, |t, _| (-t, 1.0)),
                Instruction::ConstantPower(a, p) => {
                    let p = p.value();
                    equation.invert(a, None, |t, _| (t.powf(p.recip()), p * t.powf(1.0 - p.recip())))
                }
                Instruction::Apply(function, a) => match inverse(function) {
                    Some(inverse) => equation.invert(a, None, |t, _| inverse(t)),
                    None => break,
                },
                Instruction::Join(operator, a, b) => match (operator, known(a), known(b)) {
                    (Operator::Add, None, k @ Some(_)) => equation.invert(a, k, |t, k| (t - k, 1.0)),
                    (Operator::Add, k @ Some(_), None) => equation.invert(b, k, |t, k| (t - k, 1.0)),
                    (Operator::Subtract, None, k @ Some(_)) => equation.invert(a, k, |t, k| (t + k, 1.0)),
                    (Operator::Subtract, k @ Some(_), None) => equation.invert(b, k, |t, k| (k - t, 1.0)),
                    (Operator::Multiply, None, k @ Some(_)) => equation.invert(a, k, |t, k| (t / k, k)),
                    (Operator::Multiply, k @ Some(_), None) => equation.invert(b, k, |t, k| (t / k, k)),
                    (Operator::Divide, None, k @ Some(_)) => equation.invert(a, k, |t, k| (t * k, k.recip())),
                    (Operator::Divide, k @ Some(_), None) => equation.invert(b, k, |t, k| (k / t, t * t / k)),
                    _ => break,
                },
                _ => break,
            };
            slot = next;
        }
        let mut slots = vec![slot];
        if let Instruction::Join(Operator::Divide, a, b) = program.instructions[slot] {
            slots = vec![a, b];
            equation.denominator = Some(program.up_to(b));
        }
        equation.numerator = program.up_to(slots[0]);
        let linear = affinity.linear_in(&slots, parameters);
        (equation, linear)
    }

    /// Replaces each target by its inverse, and multiplies the weight by the derivative of the operation there. Rows without an
    /// inverse have no weight. Returns the slot that the new targets are of.
    fn invert(&mut self, slot: Address, known: Option<Vec<f64>>, inverse: impl Fn(f64, f64) -> (f64, f64)) -> Address {
        for (row, (target, weight)) in zip(&mut self.target, &mut self.weights).enumerate() {
            let (value, slope) = inverse(*target, known.as_ref().map_or(0.0, |known| known[row]));
            let is_finite = value.is_finite() && slope.is_finite();
            (*target, *weight) = if is_finite { (value, *weight * slope.abs()) } else { (0.0, 0.0) };
        }
        slot
    }

    /// Replaces residuals by weighted differences, given those of the numerator, and the denominator's.
    fn differences(&self, numerator: &mut [f64], denominator: Option<&[f64]>, row_length: usize, target_alone: bool) {
        for (row, values) in numerator.chunks_exact_mut(row_length.max(1)).enumerate() {
            for (k, value) in values.iter_mut().enumerate() {
                let other = denominator.map_or(if target_alone { 1.0 } else { 0.0 }, |all| all[row * row_length + k]);
                *value = self.weights[row] * (*value - self.target[row] * other);
            }
        }
    }
}

/// The inverse of a function: its argument for a value, and its derivative there.
fn inverse(function: Function) -> Option<fn(f64) -> (f64, f64)> {
    Some(match function {
        Function::Recip => |t| (t.recip(), t * t),
        Function::Sqrt => |t| if t < 0.0 { (f64::NAN, 0.0) } else { (t * t, 0.5 / t) },
        Function::Exp => |t| (t.ln(), t),
        Function::Ln => |t| (t.exp(), (-t).exp()),
        Function::Log10 => |t| (10.0_f64.powf(t), 10.0_f64.powf(-t) / std::f64::consts::LN_10),
        Function::ExpM1 => |t| (t.ln_1p(), 1.0 + t),
        Function::Ln1p => |t| (t.exp_m1(), (-t).exp()),
        Function::Tanh => |t| (t.atanh(), 1.0 - t * t),
        _ => return None,
    })
}

impl LeastSquares<f64> for Equation<'_> {
    fn parameter_count(&self) -> usize {
        self.parameters
    }

    fn residual_count(&self) -> usize {
        self.target.len()
    }

    fn row_group(&self) -> usize {
        self.target.len().max(1)
    }

    fn residuals(&mut self, b: &[f64], _: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.linearize(b, 0, r, &mut [])
    }

    fn linearize(&mut self, b: &[f64], _: usize, r: &mut [f64], jacobian: &mut [f64]) -> Result<(), EvaluationError> {
        self.sample.evaluate(&self.numerator, b, r, jacobian);
        let mut other = vec![0.0; if self.denominator.is_some() { r.len() } else { 0 }];
        let mut derivatives = vec![0.0; if self.denominator.is_some() { jacobian.len() } else { 0 }];
        if let Some(denominator) = &self.denominator {
            self.sample.evaluate(denominator, b, &mut other, &mut derivatives);
        }
        let [other, derivatives] = [&other, &derivatives].map(|all| self.denominator.as_ref().map(|_| &all[..]));
        self.differences(r, other, 1, true);
        self.differences(jacobian, derivatives, self.parameters, false);
        Ok(())
    }
}
