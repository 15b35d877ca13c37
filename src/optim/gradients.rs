//! Checks of gradients before anything is changed.

use super::OptimizerError;
use super::finite::first_non_finite;
use crate::real::Real;
use crate::variables::{Gradient, Gradients, Variables};

/// Refuses rows that are not there and numbers that are none, or no gradients at all.
pub(super) fn check_gradients<T: Real>(
    gradients: &Gradients<T>,
    variables: &Variables<T>,
) -> Result<(), OptimizerError> {
    let mut any = false;
    for variable in variables.iter() {
        let (rows, values) = match gradients.of(variable) {
            Gradient::Absent => continue,
            Gradient::Dense(values) => (&[][..], values),
            Gradient::Rows { rows, values } => (rows, values),
        };
        any = true;
        let name = || variables.name(variable).to_owned();
        if let Some(&row) = rows.iter().find(|&&row| row >= variable.rows()) {
            return Err(OptimizerError::RowOutOfRange { variable: name(), row, rows: variable.rows() });
        }
        if let Some(place) = first_non_finite(values) {
            let (columns, value) = (variable.columns(), values[place].to_f64());
            let index = if rows.is_empty() { place } else { rows[place / columns] * columns + place % columns };
            return Err(OptimizerError::NonFiniteGradient { variable: name(), index, value });
        }
    }
    if any { Ok(()) } else { Err(OptimizerError::NoGradients) }
}
