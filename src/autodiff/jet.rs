//! Forward-mode dual numbers in the lanes of registers.

use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

use super::derivatives::{self, power_below};
use super::functions::{common_operators, for_each_function, lane_function, lane_functions, lane_operators, operators};
use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;
use crate::special::{digamma, j1_slope};

/// Dual number, as [`Dual`](crate::Dual), for several fits or points at once.
///
/// Most intermediate results of a formula depend on some of the variables only. Which derivatives there are is kept beside
/// them; where the formula is inlined the compiler knows it, and leaves out all arithmetic with zeros.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jet<T, R, const N: usize> {
    /// The value.
    pub(crate) value: Lanes<T, R>,
    /// The partial derivatives, zero where there is none.
    pub(crate) gradient: [Lanes<T, R>; N],
    /// True for each variable that the value depends on.
    varies: [bool; N],
}

/// `f(x, y)`, given the value of `f` and the derivative of the result as an expression of the derivatives `a` of `x` and `b` of `y`: for
/// `a` alone, for `b` alone, and for both. A macro, since closures are not inlined for certain.
macro_rules! combine {
    ($x:expr, $y:expr, $value:expr; $a:ident, $b:ident => $of_x:expr, $of_y:expr, $of_both:expr) => {{
        let (mut jet, other) = ($x, $y);
        jet.value = $value;
        for k in 0..N {
            let ($a, $b) = (jet.gradient[k], other.gradient[k]);
            jet.gradient[k] = match (jet.varies[k], other.varies[k]) {
                (true, true) => $of_both,
                (true, false) => $of_x,
                (false, true) => $of_y,
                (false, false) => $a,
            };
            jet.varies[k] |= other.varies[k];
        }
        jet
    }};
}

impl<T: Real, R: Register<T>, const N: usize> Jet<T, R, N> {
    /// The variable number `index`; an `index` past `N` gives a constant.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn variable(value: Lanes<T, R>, index: usize) -> Self {
        let mut variable = Self::constant(value);
        if index < N {
            variable.gradient[index] = Lanes::splat(T::ONE);
            variable.varies[index] = true;
        }
        variable
    }

    /// There is a derivative with respect to the variable number `index`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn varies(&self, index: usize) -> bool {
        self.varies[index]
    }

    /// `f(self)`, given the value of `f` and its derivative.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn chain(mut self, value: Lanes<T, R>, first: Lanes<T, R>) -> Self {
        for k in 0..N {
            if self.varies[k] {
                self.gradient[k] *= first;
            }
        }
        Jet { value, ..self }
    }

    /// `f(self, other)`, given the value of `f` and its two partial derivatives.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn chain2(self, other: Self, value: Lanes<T, R>, by_self: Lanes<T, R>, by_other: Lanes<T, R>) -> Self {
        combine!(self, other, value; a, b => a * by_self, b * by_other, a.mul_add(by_self, b * by_other))
    }
}

operators! { Jet<T, R, N>, [T: Real, R: Register<T>, const N: usize], [cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))];
    Neg neg(x) => x.chain(-x.value, Lanes::splat(-T::ONE));
    Add add(x, y: Self) => combine!(x, y, x.value + y.value; a, b => a, b, a + b);
    Sub sub(x, y: Self) => combine!(x, y, x.value - y.value; a, b => a, -b, a - b);
    Mul mul(x, y: Self) => x.chain2(y, x.value * y.value, y.value, x.value);
    Mul mul(x, c: T) => x.chain(x.value * c, Lanes::splat(T::ONE) * c);
    Mul mul(x, c: Lanes<T, R>) => x.chain(x.value * c, Lanes::splat(T::ONE) * c);
    Div div(x, y: Self) => {
        let reciprocal = y.value.recip();
        let value = x.value * reciprocal;
        x.chain2(y, value, reciprocal, -(value * reciprocal))
    };
    Div div(x, c: T) => x.chain(x.value / c, Lanes::splat(T::ONE) / c);
    Div div(x, c: Lanes<T, R>) => x.chain(x.value / c, Lanes::splat(T::ONE) / c);
}

lane_operators!(Jet, [T: Real, R: Register<T>, const N: usize], [T, R, N]);

impl<T: Real, R: Register<T>, const N: usize> Scalar for Jet<T, R, N> {
    type Real = Lanes<T, R>;

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn constant(value: Lanes<T, R>) -> Self {
        Jet { value, gradient: [Lanes::splat(T::ZERO); N], varies: [false; N] }
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn select_less(self, other: Self, then: Self, otherwise: Self) -> Self {
        let (x, y, zero) = (self.value, other.value, Lanes::splat(T::ZERO));
        let value = x.select_less(y, then.value, otherwise.value);
        combine!(then, otherwise, value; a, b =>
            x.select_less(y, a, zero),
            x.select_less(y, zero, b),
            x.select_less(y, a, b)
        )
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn powi(self, n: i32) -> Self {
        if n == 0 {
            return Self::constant(Lanes::splat(T::ONE));
        }
        let below = self.value.powi(n - 1);
        self.chain(below * self.value, below * Lanes::from_f64(f64::from(n)))
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn pow(self, p: Self) -> Self {
        let zero = Lanes::splat(T::ZERO);
        let from_base = self.powf(p.value);
        // 0^p does not depend on p; the logarithm of a negative base is NaN.
        let by_exponent = zero.select_less(self.value.abs(), from_base.value * self.value.ln(), zero);
        combine!(from_base, p, from_base.value; a, b => a, b * by_exponent, b.mul_add(by_exponent, a))
    }

    lane_functions!();
    for_each_function!(lane_function);
}
