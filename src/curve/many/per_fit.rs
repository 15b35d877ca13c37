//! Arrays with one row for all fits, or one for each fit.

use ndarray::{
    Array1, Array2, Array3, ArrayView, ArrayView1, ArrayView2, ArrayView3, Axis, CowArray, Ix2, Ix3, RemoveAxis,
};

/// A row for all fits, or a row for each; of [`Predictors`], a row for each point, and that for all fits or for each.
#[derive(Debug, Clone)]
pub enum PerFit<'a, T, D: RemoveAxis = Ix2> {
    /// The same for all fits.
    Same(CowArray<'a, T, D::Smaller>),
    /// For each fit its own, along the first axis.
    Own(CowArray<'a, T, D>),
}

/// Predictors of many fits.
pub type Predictors<'a, T> = PerFit<'a, T, Ix3>;

impl<'a, T> Predictors<'a, T> {
    /// Several predictors that all fits share, a row for each point.
    pub fn shared(x: impl Into<ArrayView2<'a, T>>) -> Self {
        PerFit::Same(x.into().into())
    }
}

impl<T, D: RemoveAxis> PerFit<'_, T, D> {
    /// Number of fits that there are entries for; `None` for the same for all.
    pub(super) fn fits(&self) -> Option<usize> {
        match self {
            PerFit::Same(_) => None,
            PerFit::Own(all) => Some(all.len_of(Axis(0))),
        }
    }

    /// Rows of a fit, or entries of its row.
    pub(super) fn len(&self) -> usize {
        self.shape()[0]
    }

    /// Entries of a row.
    pub(super) fn width(&self) -> usize {
        self.shape().last().copied().unwrap_or(0)
    }

    fn shape(&self) -> &[usize] {
        match self {
            PerFit::Same(of_all) => of_all.shape(),
            PerFit::Own(all) => &all.shape()[1..],
        }
    }

    /// The entries of a fit.
    pub(super) fn of(&self, fit: usize) -> ArrayView<'_, T, D::Smaller> {
        match self {
            PerFit::Same(of_all) => of_all.view(),
            PerFit::Own(all) => all.index_axis(Axis(0), fit),
        }
    }

    pub(super) fn into_owned(self) -> PerFit<'static, T, D>
    where
        T: Clone,
    {
        match self {
            PerFit::Same(of_all) => PerFit::Same(of_all.into_owned().into()),
            PerFit::Own(all) => PerFit::Own(all.into_owned().into()),
        }
    }
}

macro_rules! same_from {
    ($($vector:ty $(, $size:ident)?;)*) => {
        $(
            impl<'a, T $(, const $size: usize)?> From<$vector> for PerFit<'a, T> {
                fn from(row: $vector) -> Self {
                    PerFit::Same(ArrayView1::from(row).into())
                }
            }

            impl<'a, T $(, const $size: usize)?> From<$vector> for Predictors<'a, T> {
                fn from(x: $vector) -> Self {
                    PerFit::Same(ArrayView1::from(x).insert_axis(Axis(1)).into())
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

macro_rules! own_from {
    ($($array:ty: $view:ident, $of:ident $(, $axis:expr)?;)*) => {
        $(
            impl<'a, T> From<$array> for $of<'a, T> {
                fn from(all: $array) -> Self {
                    PerFit::Own($view::from(all)$(.insert_axis($axis))?.into())
                }
            }
        )*
    };
}

own_from! {
    &'a Array2<T>: ArrayView2, PerFit;
    ArrayView2<'a, T>: ArrayView2, PerFit;
    &'a Array2<T>: ArrayView2, Predictors, Axis(2);
    ArrayView2<'a, T>: ArrayView2, Predictors, Axis(2);
    &'a Array3<T>: ArrayView3, Predictors;
    ArrayView3<'a, T>: ArrayView3, Predictors;
}
