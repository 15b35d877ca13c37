//! Functions in which the formulas of [`model!`](crate::model!) and [`tie!`](crate::tie!) are written.

use crate::kernels::array::array_of;
use crate::number::Number;
use crate::scalar::Scalar;

/// A number.
#[inline(always)]
pub fn constant<S: Scalar>(value: impl Into<f64>) -> S {
    S::constant(S::Real::from_f64(value.into()))
}

/// Returns the first predictors of a row; NaN for missing ones, which the fit reports as an error.
#[inline(always)]
pub fn predictors<S: Scalar, const N: usize>(x: &[S::Real]) -> [S; N] {
    array_of(|k| S::constant(if k < x.len() { x[k] } else { S::Real::from_f64(f64::NAN) }))
}

/// Returns the first parameters.
#[inline(always)]
pub fn parameters<S: Copy, const N: usize>(b: &[S]) -> [S; N] {
    std::array::from_fn(|index| b[index])
}

/// The larger of two numbers, as [`Scalar::max`]; NaN where one of them is.
#[inline(always)]
pub fn max<S: Scalar>(a: S, b: S) -> S {
    let infinity = constant(f64::INFINITY);
    b.select_less(infinity, Scalar::max(a, b), b + Scalar::abs(a))
}

/// The smaller of two numbers, as [`Scalar::min`]; NaN where one of them is.
#[inline(always)]
pub fn min<S: Scalar>(a: S, b: S) -> S {
    let least = constant::<S>(-f64::INFINITY);
    least.select_less(b, Scalar::min(a, b), b - Scalar::abs(a))
}

macro_rules! functions {
    ($($name:ident($($argument:ident),+);)*) => {
        $(
            #[doc = concat!("[`Scalar::", stringify!($name), "`].")]
            #[inline(always)]
            pub fn $name<S: Scalar>($($argument: S),+) -> S {
                Scalar::$name($($argument),+)
            }
        )*
    };
}

functions! {
    pow(base, exponent);
    atan2(y, x);
    hypot(x, y);
    select_less(a, b, then, otherwise);
    recip(x);
    sqrt(x);
    cbrt(x);
    exp(x);
    exp2(x);
    exp_m1(x);
    ln(x);
    ln_1p(x);
    log2(x);
    log10(x);
    sin(x);
    cos(x);
    tan(x);
    asin(x);
    acos(x);
    atan(x);
    sinh(x);
    cosh(x);
    tanh(x);
    asinh(x);
    acosh(x);
    atanh(x);
    abs(x);
    floor(x);
    ceil(x);
    erf(x);
    erfc(x);
    gamma(x);
    lgamma(x);
    beta(a, b);
    j0(x);
    j1(x);
}
