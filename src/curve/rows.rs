//! Rows of numbers in the formats that a fit accepts: predictors, responses, standard deviations.

use std::borrow::Cow;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use crate::problem::Evaluated;
use crate::real::Real;

/// Rows of numbers, one for each observation: an entry of a vector, or a row of a matrix.
///
/// Made from slices, vectors, arrays, and `ndarray`'s one- and two-dimensional arrays and views.
#[derive(Debug, Clone)]
pub struct Rows<'a, T: Clone> {
    count: usize,
    width: usize,
    values: Cow<'a, [T]>,
}

impl<'a, T: Clone> Rows<'a, T> {
    /// Number of rows.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Numbers in a row.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Rows that are their own.
    pub(super) fn owned(width: usize, values: Vec<T>) -> Self {
        Rows { count: values.len() / width, width, values: Cow::Owned(values) }
    }

    /// Row after row, without a copy where they lie so.
    pub(in crate::curve) fn into_flat(self) -> Cow<'a, [T]> {
        self.values
    }
}

impl<'a, T: Clone> From<ArrayView2<'a, T>> for Rows<'a, T> {
    fn from(rows: ArrayView2<'a, T>) -> Self {
        let values = rows.to_slice().map_or_else(|| rows.iter().cloned().collect(), Cow::Borrowed);
        Rows { count: rows.nrows(), width: rows.ncols(), values }
    }
}

impl<'a, T: Clone> From<&'a Array2<T>> for Rows<'a, T> {
    fn from(rows: &'a Array2<T>) -> Self {
        rows.view().into()
    }
}

macro_rules! rows_from {
    ($($vector:ty $(, $size:ident)?;)*) => {
        $(
            impl<'a, T: Clone $(, const $size: usize)?> From<$vector> for Rows<'a, T> {
                fn from(column: $vector) -> Self {
                    ArrayView1::from(column).insert_axis(Axis(1)).into()
                }
            }
        )*
    };
}

rows_from! {
    &'a [T];
    &'a Vec<T>;
    &'a [T; N], N;
    &'a Array1<T>;
    ArrayView1<'a, T>;
}

/// The index, below `count`, that a predictor is: of a data set or of a residual, for example.
pub(super) fn index_of<T: Real>(predictor: T, count: usize, thing: &str) -> Evaluated<usize> {
    let number = predictor.to_f64();
    if number.fract() == 0.0 && (0.0..count as f64).contains(&number) {
        return Ok(number as usize);
    }
    Err(format!("there is no {thing} {number}, but {count} from 0 on").into())
}
