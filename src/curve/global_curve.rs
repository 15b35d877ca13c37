//! The curves of several data sets as one.

use std::fmt;
use std::ops::Range;

use super::rows::index_of;
use super::{AnyCurve, Curve};
use crate::problem::Evaluated;
use crate::real::Real;

/// Curve of several data sets that share parameters; made by [`GlobalFit`](crate::GlobalFit).
///
/// The first entry of a row of predictors is the number of its data set, counted from 0 in the order in which they were added. Entries
/// beyond the predictors of the data set are ignored.
pub struct GlobalCurve<'a, T> {
    pub(super) parts: Vec<DataSetCurve<'a, T>>,
    /// Names of all parameters.
    pub(super) names: Vec<String>,
    /// Entries in a row of the data of all sets.
    pub(super) data_width: usize,
}

/// The curve of one data set.
pub(super) struct DataSetCurve<'a, T> {
    pub(super) name: String,
    pub(super) curve: AnyCurve<'a, T>,
    /// Predictors in a row, without the number of the set.
    pub(super) width: usize,
    /// Entries in a row of the data, which may carry its observation, without the number of the set.
    pub(super) data_width: usize,
    /// Indices of its own parameters among all, in its order.
    pub(super) parameters: Vec<usize>,
}

impl<T: Real> DataSetCurve<'_, T> {
    /// Its parameters, of all.
    pub(super) fn own(&self, all: &[T]) -> Vec<T> {
        self.parameters.iter().map(|&index| all[index]).collect()
    }
}

impl<'a, T: Real> GlobalCurve<'a, T> {
    /// Rows of one data set after each other.
    pub(super) fn runs(&self, x: &[T], width: usize) -> Evaluated<Vec<(usize, Range<usize>)>> {
        let mut runs: Vec<(usize, Range<usize>)> = Vec::new();
        for (row, predictors) in x.chunks_exact(width).enumerate() {
            let part = index_of(predictors[0], self.parts.len(), "data set number")?;
            match runs.last_mut() {
                Some((last, rows)) if *last == part => rows.end = row + 1,
                _ => runs.push((part, row..row + 1)),
            }
        }
        Ok(runs)
    }

    /// Calls `work` with the curve of each run, its rows, its predictors, and its parameters.
    fn for_runs(
        &self,
        x: &[T],
        width: usize,
        b: &[T],
        mut work: impl FnMut(&DataSetCurve<'a, T>, Range<usize>, (&[T], usize), &[T]) -> Evaluated,
    ) -> Evaluated {
        let mut own_x = Vec::new();
        for (part, rows) in self.runs(x, width)? {
            let part = &self.parts[part];
            let own_width = if width == self.data_width { part.data_width } else { part.width };
            let predictors = x[rows.start * width..rows.end * width].chunks_exact(width);
            own_x.clear();
            predictors.for_each(|row| own_x.extend_from_slice(&row[1..=own_width]));
            work(part, rows, (&own_x, own_width), &part.own(b))?;
        }
        Ok(())
    }
}

impl<T: Real> Curve<T> for GlobalCurve<'_, T> {
    fn parameter_count(&self) -> usize {
        self.names.len()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.names[index].clone()
    }

    fn response_count(&self) -> usize {
        self.parts[0].curve.response_count()
    }

    fn takes_all_rows(&self) -> bool {
        self.parts.iter().any(|part| part.curve.takes_all_rows())
    }

    fn data_set_names(&self) -> Vec<String> {
        self.parts.iter().map(|part| part.name.clone()).collect()
    }

    fn as_global(&self) -> Option<&GlobalCurve<'_, T>> {
        Some(self)
    }

    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        let outputs = self.response_count();
        self.for_runs(x, width, b, |part, rows, (x, width), b| {
            part.curve.responses(x, width, b, &mut y[rows.start * outputs..rows.end * outputs])
        })
    }

    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        let (outputs, n) = (self.response_count(), self.names.len());
        jacobian.fill(T::ZERO);
        let mut narrow = Vec::new();
        self.for_runs(x, width, b, |part, rows, (x, width), b| {
            let responses = rows.start * outputs..rows.end * outputs;
            narrow.resize(responses.len() * b.len(), T::ZERO);
            part.curve.linearize(x, width, b, &mut y[responses.clone()], &mut narrow)?;
            let wide = jacobian[responses.start * n..responses.end * n].chunks_exact_mut(n);
            for (wide, narrow) in wide.zip(narrow.chunks_exact(b.len())) {
                part.parameters.iter().zip(narrow).for_each(|(&index, &derivative)| wide[index] = derivative);
            }
            Ok(())
        })
    }

    /// Sets without errors in their predictors keep those.
    fn fitted_predictors(&self, x: &[T], width: usize, b: &[T], fitted: &mut [T]) -> Evaluated<bool> {
        let own_width = 1 + self.parts.iter().map(|part| part.width).max().unwrap_or(0);
        let mut any = false;
        for (row, fitted) in x.chunks_exact(width).zip(fitted.chunks_exact_mut(own_width)) {
            fitted.copy_from_slice(&row[..own_width]);
        }
        self.for_runs(x, width, b, |part, rows, (x, width), b| {
            let mut own = vec![T::ZERO; rows.len() * part.width];
            if part.curve.fitted_predictors(x, width, b, &mut own)? {
                any = true;
                for (row, own) in rows.zip(own.chunks_exact(part.width)) {
                    fitted[row * own_width + 1..][..part.width].copy_from_slice(own);
                }
            }
            Ok(())
        })?;
        Ok(any)
    }

    fn derivatives_are_cheap(&self) -> bool {
        self.parts.iter().all(|part| part.curve.derivatives_are_cheap())
    }

    fn derivatives_are_rough(&self) -> bool {
        self.parts.iter().any(|part| part.curve.derivatives_are_rough())
    }

    fn keep_within(&mut self, lower: &[T], upper: &[T]) {
        for part in &mut self.parts {
            let (lower, upper) = (part.own(lower), part.own(upper));
            part.curve.keep_within(&lower, &upper);
        }
    }

    fn note_start(&mut self, start: &[T]) {
        for part in &mut self.parts {
            let start = part.own(start);
            part.curve.note_start(&start);
        }
    }
}

impl<T> fmt::Debug for GlobalCurve<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sets: Vec<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
        f.debug_struct("GlobalCurve").field("data_sets", &sets).field("parameters", &self.names).finish()
    }
}
