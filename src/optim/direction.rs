//! A direction that was computed elsewhere, given in place of gradients.

use super::OptimizerError;
use super::finite::first_non_finite;
use crate::Real;
use crate::variables::{Gradient, Gradients, Variable, Variables};

/// Fills `next` with the step `momentum · last − learning_rate · direction`; frozen variables keep their `last` there.
pub(super) fn step_along<T: Real>(
    gradients: &Gradients<T>,
    variables: &Variables<T>,
    (learning_rate, momentum): (T, T),
    last: &[T],
    next: &mut Vec<T>,
) -> Result<(), OptimizerError> {
    next.clear();
    next.extend_from_slice(last);
    let mut any = false;
    for variable in variables.iter().filter(|&variable| variables.is_trainable(variable)) {
        any |= check(gradients, variables, variable)?;
        let next = &mut next[variable.range()];
        for next in next.iter_mut() {
            *next *= momentum;
        }
        match gradients.of(variable) {
            Gradient::Absent => {}
            Gradient::Dense(direction) => advance(next, learning_rate, direction),
            Gradient::Rows { rows, values } => {
                let columns = variable.columns();
                for (&row, direction) in rows.iter().zip(values.chunks_exact(columns.max(1))) {
                    advance(&mut next[row * columns..(row + 1) * columns], learning_rate, direction);
                }
            }
        }
        let mut arrivals = variables.values()[variable.range()].iter().zip(&*next).map(|(&value, &step)| value + step);
        if let Some((index, value)) = arrivals.by_ref().enumerate().find(|(_, value)| !value.is_finite()) {
            let variable = variables.name(variable).to_owned();
            return Err(OptimizerError::NonFiniteStep { variable, index, value: value.to_f64() });
        }
    }
    if any { Ok(()) } else { Err(OptimizerError::NoGradients) }
}

fn advance<T: Real>(step: &mut [T], learning_rate: T, direction: &[T]) {
    for (step, &direction) in step.iter_mut().zip(direction) {
        *step -= learning_rate * direction;
    }
}

/// Refuses rows that are not there and numbers that are none. Returns whether there is a direction.
fn check<T: Real>(
    gradients: &Gradients<T>,
    variables: &Variables<T>,
    variable: Variable,
) -> Result<bool, OptimizerError> {
    let name = || variables.name(variable).to_owned();
    let (values, rows): (&[T], &[usize]) = match gradients.of(variable) {
        Gradient::Absent => return Ok(false),
        Gradient::Dense(values) => (values, &[]),
        Gradient::Rows { rows, values } => (values, rows),
    };
    if let Some(&row) = rows.iter().find(|&&row| row >= variable.rows()) {
        return Err(OptimizerError::RowOutOfRange { variable: name(), row, rows: variable.rows() });
    }
    if let Some(place) = first_non_finite(values) {
        let (columns, value) = (variable.columns(), values[place].to_f64());
        let index = if rows.is_empty() { place } else { rows[place / columns] * columns + place % columns };
        return Err(OptimizerError::NonFiniteGradient { variable: name(), index, value });
    }
    Ok(true)
}
