//! Forward-mode dual numbers with a fixed number of tangents.

use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

use super::derivatives::{self, power_below};
use super::functions::{common_operators, derived_operators, float_functions, for_each_function, operators};
use crate::real::Real;
use crate::scalar::Scalar;
use crate::special::{digamma, j1_slope};

/// A value together with its exact gradient with respect to `N` variables (Ceres calls it a jet).
///
/// Duals compare by value, with each other and with floats on the right (`if rate < 0.5 { … }`). The derivative is that of the branch
/// taken; it does not account for a jump or a kink between branches.
///
/// Every operation costs about `1 + N` multiplications, in loops of fixed length that the compiler turns into vector
/// instructions; there is no tape and no allocation.
///
/// ```
/// use marquardt::{Dual, Scalar};
///
/// let [a, b] = Dual::variables([2.0_f64, 3.0]);
/// let f = a * b.ln();
/// assert_eq!(f.value, 2.0 * 3.0_f64.ln());
/// assert!((f.gradient[0] - 3.0_f64.ln()).abs() < 1e-15);
/// assert!((f.gradient[1] - 2.0 / 3.0).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Dual<T, const N: usize> {
    /// The value.
    pub value: T,
    /// The partial derivatives.
    pub gradient: [T; N],
}

impl<T: Real, const N: usize> Dual<T, N> {
    /// The variable number `index`, whose derivative with respect to itself is one. An `index` past `N` gives a
    /// constant.
    #[inline]
    pub fn variable(value: T, index: usize) -> Self {
        let gradient = gradient_of(|lane| if lane == index { T::ONE } else { T::ZERO });
        Dual { value, gradient }
    }

    /// All `N` variables at once.
    #[inline]
    pub fn variables(values: [T; N]) -> [Self; N] {
        std::array::from_fn(|index| Self::variable(values[index], index))
    }

    /// `f(self)`, given the value of `f` and its derivative.
    #[inline]
    fn chain(self, value: T, first: T) -> Self {
        Dual { value, gradient: gradient_of(|lane| self.gradient[lane] * first) }
    }

    /// `f(self, other)`, given the value of `f` and its two partial derivatives.
    #[inline]
    fn chain2(self, other: Self, value: T, by_self: T, by_other: T) -> Self {
        let gradient = gradient_of(|lane| self.gradient[lane] * by_self + other.gradient[lane] * by_other);
        Dual { value, gradient }
    }
}

/// A number without derivatives.
impl<T: Real, const N: usize> From<T> for Dual<T, N> {
    #[inline]
    fn from(value: T) -> Self {
        Dual::constant(value)
    }
}

/// A gradient, given its entries. A plain loop is compiled in a fraction of the time of `std::array::from_fn`.
#[inline(always)]
fn gradient_of<T: Real, const N: usize>(entry: impl Fn(usize) -> T) -> [T; N] {
    let mut gradient = [T::ZERO; N];
    for lane in 0..N {
        gradient[lane] = entry(lane);
    }
    gradient
}

operators! { Dual<T, N>, [T: Real, const N: usize], [inline];
    Neg neg(x) => Dual { value: -x.value, gradient: gradient_of(|lane| -x.gradient[lane]) };
    Add add(x, y: Self) => {
        Dual { value: x.value + y.value, gradient: gradient_of(|lane| x.gradient[lane] + y.gradient[lane]) }
    };
    Sub sub(x, y: Self) => {
        Dual { value: x.value - y.value, gradient: gradient_of(|lane| x.gradient[lane] - y.gradient[lane]) }
    };
    Mul mul(x, y: Self) => x.chain2(y, x.value * y.value, y.value, x.value);
    Mul mul(x, constant: T) => x.chain(x.value * constant, constant);
    Div div(x, y: Self) => {
        let reciprocal = y.value.recip();
        let value = x.value / y.value;
        x.chain2(y, value, reciprocal, -value * reciprocal)
    };
}

derived_operators!(Dual, N);

macro_rules! dual_function {
    ($name:ident ($x:ident, $f:ident, $d:ident, $c:ident): $first:expr, $second:expr) => {
        #[doc = concat!("[`Scalar::", stringify!($name), "`], for use without the trait.")]
        #[inline]
        #[allow(unused_variables)]
        pub fn $name(self) -> Self {
            let $c = T::from_f64;
            let $x = self.value;
            let $f = $x.$name();
            self.chain($f, $first)
        }
    };
}

macro_rules! forward {
    ($name:ident ($($arguments:tt)*): $first:expr, $second:expr) => {
        #[inline]
        fn $name(self) -> Self {
            self.$name()
        }
    };
}

macro_rules! forward_to_inherent {
    ($($name:ident($argument:ident: $type:ty))*) => {
        $(
            #[inline]
            fn $name(self, $argument: $type) -> Self {
                self.$name($argument)
            }
        )*
    };
}

/// The functions of [`Scalar`].
impl<T: Real, const N: usize> Dual<T, N> {
    for_each_function!(dual_function);

    /// [`Scalar::powi`], for use without the trait.
    #[inline]
    pub fn powi(self, n: i32) -> Self {
        if n == 0 {
            return Self::constant(T::ONE);
        }
        let degree = T::from_f64(f64::from(n));
        self.chain(self.value.powi(n), degree * self.value.powi(n - 1))
    }

    /// [`Scalar::powf`], for use without the trait.
    #[inline]
    pub fn powf(self, p: T) -> Self {
        if p == T::ZERO {
            return Self::constant(T::ONE);
        }
        let value = self.value.powf(p);
        self.chain(value, power_below(self.value, p, p * value, p * self.value.powf(p - T::ONE)))
    }

    /// [`Scalar::pow`], for use without the trait.
    #[inline]
    pub fn pow(self, p: Self) -> Self {
        if p.gradient.iter().all(|&g| g == T::ZERO) {
            // A constant exponent allows a negative base.
            return self.powf(p.value);
        }
        let from_base = self.powf(p.value);
        let value = from_base.value;
        // 0^p does not depend on p, and a constant base has no derivative; infinite factors would turn these zeros into NaN.
        let by_exponent = if self.value == T::ZERO { T::ZERO } else { value * self.value.ln() };
        let gradient = gradient_of(|lane| {
            let base = if self.gradient[lane] == T::ZERO { T::ZERO } else { from_base.gradient[lane] };
            base + p.gradient[lane] * by_exponent
        });
        Dual { value, gradient }
    }

    /// [`Scalar::constant`], for use without the trait.
    #[inline]
    pub fn constant(value: T) -> Self {
        Dual { value, gradient: [T::ZERO; N] }
    }

    /// [`Scalar::hypot`], for use without the trait.
    #[inline]
    pub fn hypot(self, other: Self) -> Self {
        let value = self.value.hypot(other.value);
        self.chain2(other, value, self.value / value, other.value / value)
    }

    /// [`Scalar::max`], for use without the trait.
    #[inline]
    pub fn max(self, other: Self) -> Self {
        Scalar::max(self, other)
    }

    /// [`Scalar::min`], for use without the trait.
    #[inline]
    pub fn min(self, other: Self) -> Self {
        Scalar::min(self, other)
    }

    /// [`Scalar::atan2`], for use without the trait.
    #[inline]
    pub fn atan2(self, x: Self) -> Self {
        let [by_self, by_x] = derivatives::atan2(self.value, x.value);
        self.chain2(x, self.value.atan2(x.value), by_self, by_x)
    }
}

/// Forwards to the inherent functions of the same names.
impl<T: Real, const N: usize> Scalar for Dual<T, N> {
    type Real = T;

    #[inline]
    fn constant(value: T) -> Self {
        Self::constant(value)
    }

    float_functions!();

    forward_to_inherent!(powi(n: i32) powf(p: T) pow(p: Self) atan2(x: Self) hypot(other: Self));
    for_each_function!(forward);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duals_compare_by_value_with_each_other_and_with_floats() {
        let [a, b] = Dual::variables([2.0_f64, 3.0]);
        assert!(a < b && a < 2.5 && b >= 3.0 && a == 2.0 && b != 2.0 && a != b);
        let nothing = Dual::constant(f64::NAN);
        assert!(!(nothing < 1.0) && !(nothing >= 1.0) && !(a > nothing) && nothing != nothing);
        assert_eq!(Dual::<f32, 1>::constant(1.5), 1.5);
        let branch = |x: Dual<f64, 2>| if x > 2.5 { 2.0 * x } else { 1.0 - x };
        assert_eq!((branch(a).gradient, branch(b).gradient), ([-1.0, 0.0], [0.0, 2.0]));
        assert_eq!((a.max(b).gradient, a.min(b).gradient), ([0.0, 1.0], [1.0, 0.0]));
        assert_eq!(a.hypot(b).value, 13.0_f64.sqrt());
    }
}
