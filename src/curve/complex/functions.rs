//! Functions in which the formulas of [`complex_model!`](crate::complex_model!) are written.

use crate::autodiff::Complex;
use crate::curve::model_functions;
use crate::scalar::Scalar;

/// A real number.
#[inline(always)]
pub fn constant<S: Scalar>(value: impl Into<f64>) -> Complex<S> {
    Complex::real(model_functions::constant(value))
}

/// The imaginary unit.
#[inline(always)]
pub fn i<S: Scalar>() -> Complex<S> {
    Complex::i()
}

/// Real numbers.
#[inline(always)]
pub fn reals<S: Scalar, const N: usize>(numbers: [S; N]) -> [Complex<S>; N] {
    numbers.map(Complex::real)
}

/// The real part.
#[inline(always)]
pub fn re<S: Scalar>(z: Complex<S>) -> Complex<S> {
    Complex::real(z.re)
}

/// The imaginary part.
#[inline(always)]
pub fn im<S: Scalar>(z: Complex<S>) -> Complex<S> {
    Complex::real(z.im)
}

/// The modulus.
#[inline(always)]
pub fn abs<S: Scalar>(z: Complex<S>) -> Complex<S> {
    Complex::real(z.abs())
}

/// The argument, in radians.
#[inline(always)]
pub fn arg<S: Scalar>(z: Complex<S>) -> Complex<S> {
    Complex::real(z.arg())
}

/// `z` to the power of `p`.
#[inline(always)]
pub fn pow<S: Scalar>(z: Complex<S>, p: Complex<S>) -> Complex<S> {
    z.pow(p)
}

macro_rules! functions {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("[`Complex::", stringify!($name), "`].")]
            #[inline(always)]
            pub fn $name<S: Scalar>(z: Complex<S>) -> Complex<S> {
                z.$name()
            }
        )*
    };
}

functions! { conj recip exp ln sqrt sin cos tan sinh cosh tanh }
