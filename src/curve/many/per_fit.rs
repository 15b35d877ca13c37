//! Numbers that are the same for all fits, or not.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// One row for all fits, or a row for each.
#[derive(Debug, Clone)]
pub enum PerFit<'a, T> {
    /// One row for all fits.
    Same(ArrayView1<'a, T>),
    /// A row for each.
    Own(ArrayView2<'a, T>),
}

impl<T> PerFit<'_, T> {
    /// Number of fits that there are rows for; `None` for one row for all.
    pub(super) fn fits(&self) -> Option<usize> {
        match self {
            PerFit::Same(_) => None,
            PerFit::Own(rows) => Some(rows.nrows()),
        }
    }

    /// Numbers in a row.
    pub(super) fn width(&self) -> usize {
        match self {
            PerFit::Same(row) => row.len(),
            PerFit::Own(rows) => rows.ncols(),
        }
    }

    /// The row of a fit.
    pub(super) fn row(&self, fit: usize) -> ArrayView1<'_, T> {
        match self {
            PerFit::Same(row) => row.view(),
            PerFit::Own(rows) => rows.row(fit),
        }
    }
}

macro_rules! same_from {
    ($($vector:ty $(, $size:ident)?;)*) => {
        $(
            impl<'a, T $(, const $size: usize)?> From<$vector> for PerFit<'a, T> {
                fn from(row: $vector) -> Self {
                    PerFit::Same(ArrayView1::from(row))
                }
            }
        )*
    };
}

same_from! {
    &'a [T];
    &'a Vec<T>;
    &'a [T; N], N;
    &'a Array1<T>;
    ArrayView1<'a, T>;
}

impl<'a, T> From<ArrayView2<'a, T>> for PerFit<'a, T> {
    fn from(rows: ArrayView2<'a, T>) -> Self {
        PerFit::Own(rows)
    }
}

impl<'a, T> From<&'a Array2<T>> for PerFit<'a, T> {
    fn from(rows: &'a Array2<T>) -> Self {
        PerFit::Own(rows.view())
    }
}
