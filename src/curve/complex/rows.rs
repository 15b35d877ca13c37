//! Complex responses in the formats that a fit accepts.

use nalgebra::Complex as NumComplex;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

use crate::autodiff::Complex;
use crate::curve::Rows;
use crate::real::Real;

/// Complex responses, one for each observation.
///
/// Can be made from slices, vectors and arrays of [`Complex`] numbers or of complex numbers of the crate `num-complex`, from matrices with
/// two columns (real and imaginary parts), and from two columns, `(&re, &im)`. If the two columns differ in length, the fit reports the
/// missing entries as an error.
#[derive(Debug, Clone)]
pub struct ComplexRows<'a, T: Clone>(Rows<'a, T>);

impl<'a, T: Clone> ComplexRows<'a, T> {
    /// Rows of two numbers.
    pub(in crate::curve) fn into_rows(self) -> Rows<'a, T> {
        self.0
    }
}

macro_rules! rows_from {
    ($complex:ident: $($vector:ty $(, $size:ident)?;)*) => {
        $(
            impl<T: Clone $(, const $size: usize)?> From<$vector> for ComplexRows<'_, T> {
                fn from(numbers: $vector) -> Self {
                    ComplexRows(Rows::owned(2, numbers.iter().cloned().flat_map(|$complex { re, im }| [re, im]).collect()))
                }
            }
        )*
    };
}

rows_from! { Complex:
    &[Complex<T>];
    &Vec<Complex<T>>;
    &[Complex<T>; N], N;
    &Array1<Complex<T>>;
    ArrayView1<'_, Complex<T>>;
}

rows_from! { NumComplex:
    &[NumComplex<T>];
    &Vec<NumComplex<T>>;
    &[NumComplex<T>; N], N;
    &Array1<NumComplex<T>>;
    ArrayView1<'_, NumComplex<T>>;
}

impl<'a, T: Clone> From<ArrayView2<'a, T>> for ComplexRows<'a, T> {
    fn from(columns: ArrayView2<'a, T>) -> Self {
        ComplexRows(columns.into())
    }
}

impl<'a, T: Clone> From<&'a Array2<T>> for ComplexRows<'a, T> {
    fn from(columns: &'a Array2<T>) -> Self {
        ComplexRows(columns.into())
    }
}

impl<'a, T: Real, R: Into<Rows<'a, T>>, I: Into<Rows<'a, T>>> From<(R, I)> for ComplexRows<'a, T> {
    fn from((re, im): (R, I)) -> Self {
        let [re, im] = [re.into().into_flat(), im.into().into_flat()];
        let longest = re.len().max(im.len());
        let number = |column: &[T], row: usize| column.get(row).copied().unwrap_or(T::from_f64(f64::NAN));
        ComplexRows(Rows::owned(2, (0..longest).flat_map(|row| [number(&re, row), number(&im, row)]).collect()))
    }
}
