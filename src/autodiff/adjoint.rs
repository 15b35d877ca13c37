//! Reverse-mode numbers in the lanes of registers.

use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

use super::derivatives::{self, power_below};
use super::functions::{common_operators, for_each_function, lane_function, lane_functions, lane_operators, operators};
use super::tape::{AdjointTape, NodeIndex};
use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;
use crate::special::{digamma, j1_slope};

/// A value that records its operation on a [`AdjointTape`]: all its derivatives cost a few times the value, however many there are.
///
/// Besides the value it keeps its derivative with respect to one node of the tape. Functions of one argument update this derivative
/// and record nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Adjoint<'a, T, R> {
    /// The value.
    pub(crate) value: Lanes<T, R>,
    /// Derivative with respect to its node.
    slope: Lanes<T, R>,
    /// Tape and node; `None` for a constant.
    place: Option<(&'a AdjointTape<T, R>, NodeIndex)>,
}

impl<'a, T: Real, R: Register<T>> Adjoint<'a, T, R> {
    /// The variable number `index` of a tape.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn variable(value: Lanes<T, R>, index: usize, tape: &'a AdjointTape<T, R>) -> Self {
        Adjoint { value, slope: Lanes::splat(T::ONE), place: Some((tape, tape.variable(index))) }
    }

    /// Its node, and the derivative with respect to it.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn origin(self) -> (Lanes<T, R>, Option<NodeIndex>) {
        (self.slope, self.place.map(|(_, place)| place))
    }

    /// `f(self)`, given the value of `f` and its derivative.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn chain(self, value: Lanes<T, R>, first: Lanes<T, R>) -> Self {
        Adjoint { value, slope: self.slope * first, ..self }
    }

    /// A value with these derivatives with respect to the nodes of `self` and `other`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn join(self, other: Self, value: Lanes<T, R>, by_self: Lanes<T, R>, by_other: Lanes<T, R>) -> Self {
        let (slope, place) = match (self.place, other.place) {
            (Some((tape, first)), Some((_, second))) if first != second => {
                let place = tape.push([first, second], [by_self, by_other]);
                (Lanes::splat(T::ONE), Some((tape, place)))
            }
            (Some(_), Some(_)) => (by_self + by_other, self.place),
            (Some(_), None) => (by_self, self.place),
            (None, _) => (by_other, other.place),
        };
        Adjoint { value, slope, place }
    }

    /// `f(self, other)`, given the value of `f` and its two partial derivatives.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn chain2(self, other: Self, value: Lanes<T, R>, by_self: Lanes<T, R>, by_other: Lanes<T, R>) -> Self {
        self.join(other, value, self.slope * by_self, other.slope * by_other)
    }
}

operators! { Adjoint<'_, T, R>, [T: Real, R: Register<T>], [cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))];
    Neg neg(x) => Adjoint { value: -x.value, slope: -x.slope, ..x };
    Add add(x, y: Self) => x.join(y, x.value + y.value, x.slope, y.slope);
    Sub sub(x, y: Self) => x.join(y, x.value - y.value, x.slope, -y.slope);
    Mul mul(x, y: Self) => x.chain2(y, x.value * y.value, y.value, x.value);
    Mul mul(x, c: T) => Adjoint { value: x.value * c, slope: x.slope * c, ..x };
    Mul mul(x, c: Lanes<T, R>) => Adjoint { value: x.value * c, slope: x.slope * c, ..x };
    Div div(x, y: Self) => {
        let reciprocal = y.value.recip();
        let value = x.value / y.value;
        x.chain2(y, value, reciprocal, -(value * reciprocal))
    };
    Div div(x, c: T) => Adjoint { value: x.value / c, slope: x.slope / c, ..x };
    Div div(x, c: Lanes<T, R>) => Adjoint { value: x.value / c, slope: x.slope / c, ..x };
}

lane_operators!(Adjoint, [T: Real, R: Register<T>], ['_, T, R]);

impl<T: Real, R: Register<T>> Scalar for Adjoint<'_, T, R> {
    type Real = Lanes<T, R>;

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn constant(value: Lanes<T, R>) -> Self {
        Adjoint { value, slope: Lanes::splat(T::ZERO), place: None }
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn select_less(self, other: Self, then: Self, otherwise: Self) -> Self {
        let (x, y, zero) = (self.value, other.value, Lanes::splat(T::ZERO));
        let by_then = x.select_less(y, then.slope, zero);
        let by_otherwise = x.select_less(y, zero, otherwise.slope);
        then.join(otherwise, x.select_less(y, then.value, otherwise.value), by_then, by_otherwise)
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn powi(self, n: i32) -> Self {
        if n == 0 {
            return Self::constant(Lanes::splat(T::ONE));
        }
        self.chain(self.value.powi(n), self.value.powi(n - 1) * Lanes::from_f64(f64::from(n)))
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn pow(self, p: Self) -> Self {
        let zero = Lanes::splat(T::ZERO);
        let from_base = self.powf(p.value);
        // 0^p does not depend on p; the logarithm of a negative base is NaN.
        let by_exponent = zero.select_less(self.value.abs(), from_base.value * self.value.ln(), zero);
        from_base.join(p, from_base.value, from_base.slope, p.slope * by_exponent)
    }

    lane_functions!();
    for_each_function!(lane_function);
}
