//! Curves that give all responses at once, as simulators and integrators do.

use super::Curve;
use crate::autodiff::{Difference, Variable};
use crate::parallel;
use crate::problem::{Evaluated, EvaluationError};
use crate::real::Real;

/// The curve of a closure over floats that gives all responses at once, differentiated by differences, a column of the Jacobian each.
#[derive(Debug, Clone)]
pub struct FromNumericRows<T, F> {
    responses: F,
    /// Responses to each row of predictors.
    outputs: usize,
    difference: Difference,
    /// Relative accuracy of the responses.
    accuracy: T,
    /// The parameters, as they are differenced.
    variables: Vec<Variable<T>>,
}

impl<T: Real, F> FromNumericRows<T, F> {
    pub(super) fn new(responses: F, parameters: usize, outputs: usize, difference: Difference) -> Self {
        let variables = vec![Variable::new(T::ZERO); parameters];
        FromNumericRows { responses, outputs, difference, accuracy: T::EPSILON, variables }
    }

    /// Sets the relative accuracy of the responses, looked at when fitting.
    pub(super) fn set_accuracy(&mut self, accuracy: T) {
        self.accuracy = accuracy;
    }
}

impl<T: Real, F: Fn(&[T], &[T], &mut [T]) -> Evaluated + Send + Sync> Curve<T> for FromNumericRows<T, F> {
    fn parameter_count(&self) -> usize {
        self.variables.len()
    }

    fn response_count(&self) -> usize {
        self.outputs
    }

    fn takes_all_rows(&self) -> bool {
        true
    }

    fn responses(&self, x: &[T], _width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        if !(self.accuracy > T::ZERO && self.accuracy < T::ONE) {
            return Err(format!("the accuracy of responses must be between 0 and 1, not {}", self.accuracy).into());
        }
        // A response that is not filled in is seen.
        y.fill(T::from_f64(f64::NAN));
        (self.responses)(x, b, y)
    }

    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        self.responses(x, width, b, y)?;
        self.differentiate(x, width, b, y, jacobian).map(|_| ())
    }

    fn differentiate(&self, x: &[T], width: usize, b: &[T], here: &[T], jacobian: &mut [T]) -> Evaluated<bool> {
        let (n, accuracy) = (b.len(), self.accuracy.max(T::EPSILON));
        let column = |j: usize| {
            let mut moved = b.to_vec();
            let mut room = [vec![T::ZERO; here.len()], vec![T::ZERO; here.len()]];
            let variable = Variable { value: b[j], accuracy, ..self.variables[j] };
            let mut column = vec![T::ZERO; here.len()];
            let filled = self.difference.fill_column(&variable, here, (&mut column, 0, 1), |stencil, column| {
                for (room, point) in room.iter_mut().zip(stencil.points()) {
                    let Some(point) = point else { continue };
                    moved[j] = point;
                    self.responses(x, width, &moved, room)?;
                }
                let [first, second] = &room;
                for (((slope, &here), &first), &second) in column.iter_mut().zip(here).zip(first).zip(second) {
                    *slope = stencil.slope(b[j], here, first, second);
                }
                Ok::<(), EvaluationError>(())
            });
            filled.map(|()| column)
        };
        for (j, column) in parallel::map(n, column).into_iter().enumerate() {
            jacobian.iter_mut().skip(j).step_by(n).zip(column?).for_each(|(entry, slope)| *entry = slope);
        }
        Ok(true)
    }

    fn derivatives_are_cheap(&self) -> bool {
        false
    }

    fn derivatives_are_rough(&self) -> bool {
        self.difference.is_rough(self.accuracy.max(T::EPSILON))
    }

    fn keep_within(&mut self, lower: &[T], upper: &[T]) {
        Variable::bound_all(&mut self.variables, lower, upper);
    }

    fn note_start(&mut self, start: &[T]) {
        Variable::start_all(&mut self.variables, start, self.accuracy.max(T::EPSILON));
    }
}
