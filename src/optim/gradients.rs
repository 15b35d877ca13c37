//! Checks of gradients before anything is changed, and the ranges of the flat vector that have one.

use std::ops::Range;

use super::finite::first_non_finite;
use super::{OptimizerError, OptimizerResult};
use crate::real::Real;
use crate::variables::{Gradient, Gradients, Variable, Variables};

/// Refuses rows out of range, NaN and infinity, and gradients that are all absent.
pub(super) fn check_gradients<T: Real>(gradients: &Gradients<T>, variables: &Variables<T>) -> OptimizerResult<()> {
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

/// The error of a step that would make an entry of the variables, or of a slot of theirs, this value.
pub(super) fn non_finite_step<T: Real>(
    variables: &Variables<T>,
    slot: Option<&str>,
    place: usize,
    value: T,
) -> OptimizerError {
    let found = variables.iter().find(|variable| variable.range().contains(&place));
    let (name, start) = found.map_or(("x", 0), |variable| (variables.name(variable), variable.range().start));
    let variable = slot.map_or_else(|| name.to_owned(), |slot| format!("the {slot} of {name}"));
    OptimizerError::NonFiniteStep { variable, index: place - start, value: value.to_f64() }
}

/// Drops the gradients of frozen variables.
pub(super) fn drop_frozen<T: Real>(gradients: &mut Gradients<T>, variables: &Variables<T>) {
    for variable in variables.iter().filter(|&variable| !variables.is_trainable(variable)) {
        gradients.set(variable, Gradient::Absent);
    }
}

/// Ranges of the flat vector in which a variable has a gradient, with the gradient: all of it, or row by row.
pub(super) fn parts<T: Real>(
    gradients: &Gradients<T>,
    variable: Variable,
) -> impl Iterator<Item = (Range<usize>, &[T])> + Clone {
    let (dense, rows, values) = match gradients.of(variable) {
        Gradient::Absent => (None, &[][..], &[][..]),
        Gradient::Dense(values) => (Some((variable.range(), values)), &[][..], &[][..]),
        Gradient::Rows { rows, values } => (None, rows, values),
    };
    let columns = variable.columns().max(1);
    let rows = rows.iter().zip(values.chunks_exact(columns)).map(move |(row, values)| {
        let start = variable.range().start + row * columns;
        (start..start + columns, values)
    });
    dense.into_iter().chain(rows)
}

/// Appends a range to ascending ones, or extends the last of them.
pub(super) fn push_range(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}
