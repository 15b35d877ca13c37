//! Predictors of many fits.

use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayView3, Axis};

/// Predictors of many fits.
#[derive(Debug, Clone)]
pub enum Predictors<'a, T> {
    /// Predictors that all fits share: a row for each point.
    Shared(ArrayView2<'a, T>),
    /// Each in places of its own: for each fit, a row of predictors for each point.
    Own(ArrayView3<'a, T>),
}

impl<'a, T> Predictors<'a, T> {
    /// Several predictors that all fits share, a row for each point.
    pub fn shared(x: impl Into<ArrayView2<'a, T>>) -> Self {
        Predictors::Shared(x.into())
    }
}

impl<T> Predictors<'_, T> {
    /// Number of fits that there are rows for, where these do not share them.
    pub(super) fn fits(&self) -> Option<usize> {
        match self {
            Predictors::Shared(_) => None,
            Predictors::Own(x) => Some(x.len_of(Axis(0))),
        }
    }

    /// Points of a fit.
    pub(super) fn points(&self) -> usize {
        match self {
            Predictors::Shared(x) => x.nrows(),
            Predictors::Own(x) => x.len_of(Axis(1)),
        }
    }

    /// Predictors of a point.
    pub(super) fn width(&self) -> usize {
        match self {
            Predictors::Shared(x) => x.ncols(),
            Predictors::Own(x) => x.len_of(Axis(2)),
        }
    }

    /// The predictors of a point.
    pub(super) fn row(&self, fit: usize, point: usize) -> ArrayView1<'_, T> {
        match self {
            Predictors::Shared(x) => x.row(point),
            Predictors::Own(x) => x.index_axis(Axis(0), fit).index_axis_move(Axis(0), point),
        }
    }
}

macro_rules! shared_from {
    ($($vector:ty $(, $size:ident)?;)*) => {
        $(
            impl<'a, T $(, const $size: usize)?> From<$vector> for Predictors<'a, T> {
                fn from(x: $vector) -> Self {
                    Predictors::Shared(ArrayView1::from(x).insert_axis(Axis(1)))
                }
            }
        )*
    };
}

shared_from! {
    &'a [T];
    &'a Vec<T>;
    &'a [T; N], N;
    &'a Array1<T>;
    ArrayView1<'a, T>;
}

impl<'a, T> From<ArrayView2<'a, T>> for Predictors<'a, T> {
    fn from(x: ArrayView2<'a, T>) -> Self {
        Predictors::Own(x.insert_axis(Axis(2)))
    }
}

impl<'a, T> From<&'a Array2<T>> for Predictors<'a, T> {
    fn from(x: &'a Array2<T>) -> Self {
        x.view().into()
    }
}

impl<'a, T> From<ArrayView3<'a, T>> for Predictors<'a, T> {
    fn from(x: ArrayView3<'a, T>) -> Self {
        Predictors::Own(x)
    }
}

impl<'a, T> From<&'a Array3<T>> for Predictors<'a, T> {
    fn from(x: &'a Array3<T>) -> Self {
        Predictors::Own(x.view())
    }
}
