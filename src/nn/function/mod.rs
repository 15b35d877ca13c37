//! Functions that act on every entry by itself.

mod curvature;
mod gelu_tanh;
mod slopes;

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use gelu_tanh::GeluParts;
pub(crate) use slopes::{SlopeLoop, Slopes};

use crate::kernels::elementary::map;
use crate::kernels::exponential::{exp, exp_m1, sigmoid, sigmoid_pair, softplus, tanh};
use crate::kernels::gelu::{gelu, gelu_derivative};
use crate::kernels::simd::{self, Kernel};
use crate::real::Real;

/// Entries that are worked on at a time where a function needs scratch memory.
const BLOCK: usize = 64;

/// `1 / √(2π)`, the density of the normal distribution at zero.
const NORMAL_DENSITY: f64 = FRAC_2_SQRT_PI * FRAC_1_SQRT_2 / 2.0;

/// A function of one number, applied to every entry of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Function<T> {
    /// `tanh x`.
    Tanh,
    /// `1 / (1 + e⁻ˣ)`.
    Sigmoid,
    /// `max(x, 0)`.
    Relu,
    /// `x` where positive, else `slope · x`.
    LeakyRelu {
        /// The slope of the negative side.
        slope: T,
    },
    /// `x` where positive, else `alpha (eˣ − 1)`.
    Elu {
        /// The limit of the negative side, without its sign.
        alpha: T,
    },
    /// `ln(1 + eˣ)`.
    Softplus,
    /// `x · sigmoid(x)`.
    Silu,
    /// `x Φ(x)`, with the normal distribution function `Φ`.
    Gelu,
    /// [`Gelu`](Self::Gelu) with the approximation by `tanh`.
    GeluTanh,
    /// `sin x`.
    Sin,
    /// `cos x`.
    Cos,
    /// `eˣ`.
    Exp,
    /// `ln x`.
    Ln,
    /// `x²`.
    Square,
    /// `√x`.
    Sqrt,
    /// `1 / x`.
    Reciprocal,
    /// `|x|`.
    Abs,
    /// `−x`.
    Negate,
    /// `factor · x`.
    Scale {
        /// The factor.
        factor: T,
    },
    /// `x + offset`.
    Shift {
        /// The addend.
        offset: T,
    },
    /// `1` where `x` differs from `value`, else `0`: which steps of a sequence count. Its derivative is zero.
    NotEqual {
        /// The number that does not count.
        value: T,
    },
}

impl<T: Real> Function<T> {
    /// Replaces every `x` by `f(x)`.
    ///
    /// ```
    /// use marquardt::nn::Function;
    ///
    /// let mut x = [-1.0, 0.0, 2.5];
    /// Function::Relu.apply(&mut x);
    /// assert_eq!(x, [0.0, 0.0, 2.5]);
    /// ```
    pub fn apply(self, x: &mut [T]) {
        simd::run(ApplyInPlace { function: self, x });
    }

    /// `y[i] = f(x[i])`.
    pub(crate) fn forward(self, x: &[T], y: &mut [T]) {
        simd::run(ApplyFunction { function: self, x, y });
    }

    /// `to[i] = d[i] f′(x[i])`, given `y[i] = f(x[i])`. Serves the reverse and the tangent sweep. Where the left and the right
    /// derivative differ, the left one counts; for `|x|` it is zero.
    ///
    /// Derivatives of `tanh` and of the logistic function, and the second one of `elu`, are computed from the values: their errors
    /// are a few rounding errors of one. Computed from the argument, those of `tanh` would lengthen a training step by 5 % or more.
    /// All others are within a few units in the last place, and those of [`GeluTanh`](Self::GeluTanh) within a few times as many
    /// as its exponent says, except near their roots and where an exponential is subnormal.
    pub(crate) fn times_derivative(self, x: &[T], y: &[T], d: &[T], to: &mut [T]) {
        simd::run(TimesDerivative { function: self, x, y, d, to });
    }
}

/// [`Function::forward`].
struct ApplyFunction<'a, T> {
    function: Function<T>,
    x: &'a [T],
    y: &'a mut [T],
}

impl<T: Real> Kernel for ApplyFunction<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { function, x, y } = self;
        match function {
            Function::Tanh => map(x, y, tanh::<T, FUSED>),
            Function::Sigmoid => map(x, y, sigmoid::<T, FUSED>),
            Function::Relu => each(x, y, |x| if x <= T::ZERO { T::ZERO } else { x }),
            Function::LeakyRelu { slope } => each(x, y, |x| if x <= T::ZERO { slope * x } else { x }),
            Function::Elu { alpha } => map(x, y, |x| if x <= T::ZERO { alpha * exp_m1::<T, FUSED>(x) } else { x }),
            Function::Softplus => map(x, y, softplus::<T, FUSED>),
            Function::Silu => map(x, y, |x| x * sigmoid::<T, FUSED>(x)),
            Function::Gelu => map(x, y, gelu::<T, FUSED>),
            Function::GeluTanh => map(x, y, gelu_tanh::value::<T, FUSED>),
            Function::Sin => each(x, y, T::sin),
            Function::Cos => each(x, y, T::cos),
            Function::Exp => map(x, y, exp::<T, FUSED>),
            Function::Ln => each(x, y, T::ln),
            Function::Square => each(x, y, |x| x * x),
            Function::Sqrt => each(x, y, T::sqrt),
            Function::Reciprocal => each(x, y, T::recip),
            Function::Abs => each(x, y, T::abs),
            Function::Negate => each(x, y, |x| -x),
            Function::Scale { factor } => each(x, y, |x| factor * x),
            Function::Shift { offset } => each(x, y, |x| x + offset),
            // NaN stays what it is.
            Function::NotEqual { value } => each(x, y, |x| {
                let differs = if x == value { T::ZERO } else { T::ONE };
                if x.to_f64().is_nan() { x } else { differs }
            }),
        }
    }
}

/// [`Function::apply`].
struct ApplyInPlace<'a, T> {
    function: Function<T>,
    x: &'a mut [T],
}

impl<T: Real> Kernel for ApplyInPlace<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let mut block = [T::ZERO; BLOCK];
        for y in self.x.chunks_mut(BLOCK) {
            let x = &mut block[..y.len()];
            x.copy_from_slice(y);
            ApplyFunction { function: self.function, x, y }.run::<TALL, FUSED>();
        }
    }
}

/// [`Function::times_derivative`].
struct TimesDerivative<'a, T> {
    function: Function<T>,
    x: &'a [T],
    y: &'a [T],
    d: &'a [T],
    to: &'a mut [T],
}

impl<T: Real> Kernel for TimesDerivative<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { function, x, y, d, to } = self;
        let two = T::from_f64(2.0);
        match function {
            Function::Tanh => times(y, d, to, |y| (T::ONE - y) * (T::ONE + y)),
            Function::Sigmoid => times(y, d, to, |y| y * (T::ONE - y)),
            Function::Relu => times(x, d, to, |x| if x > T::ZERO { T::ONE } else { T::ZERO }),
            Function::LeakyRelu { slope } => times(x, d, to, |x| if x > T::ZERO { T::ONE } else { slope }),
            Function::Elu { alpha } => {
                times_map(x, d, to, |x| if x > T::ZERO { T::ONE } else { alpha * exp::<T, FUSED>(x) });
            }
            Function::Softplus => times_map(x, d, to, sigmoid::<T, FUSED>),
            Function::Silu => times_map(x, d, to, |x| {
                let (left, right) = sigmoid_pair::<T, FUSED>(x);
                left * (T::ONE + x * right)
            }),
            Function::Gelu => times_map(x, d, to, gelu_derivative::<T, FUSED>),
            Function::GeluTanh => times_map(x, d, to, |x| {
                let GeluParts { left, right, x, inner } = gelu_tanh::parts::<T, FUSED>(x);
                left * (T::ONE + x * inner[0] * right)
            }),
            Function::Sin => times(x, d, to, T::cos),
            Function::Cos => times(x, d, to, |x| -x.sin()),
            Function::Exp => times(y, d, to, |y| y),
            Function::Ln => times(x, d, to, T::recip),
            Function::Square => times(x, d, to, |x| two * x),
            Function::Sqrt => times(y, d, to, |y| (two * y).recip()),
            Function::Reciprocal => times(y, d, to, |y| -y * y),
            Function::Abs => times(x, d, to, |x| {
                let sign = if x < T::ZERO { -T::ONE } else { T::ONE };
                if x == T::ZERO { T::ZERO } else { sign }
            }),
            Function::Negate => times(y, d, to, |_| -T::ONE),
            Function::Scale { factor } => times(y, d, to, |_| factor),
            Function::Shift { .. } => to.copy_from_slice(d),
            Function::NotEqual { .. } => to.fill(T::ZERO),
        }
    }
}

/// `y[i] = f(x[i])` for an `f` that is either quick or a call.
#[inline(always)]
fn each<T: Real>(x: &[T], y: &mut [T], f: impl Fn(T) -> T) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = f(x);
    }
}

/// `to[i] = d[i] f(x[i])` for an `f` that is either quick or a call.
#[inline(always)]
fn times<T: Real>(x: &[T], d: &[T], to: &mut [T], f: impl Fn(T) -> T) {
    for (to, (&d, &x)) in to.iter_mut().zip(d.iter().zip(x)) {
        *to = d * f(x);
    }
}

/// `to[i] = d[i] f(x[i])` for a long `f` without calls.
#[inline(always)]
fn times_map<T: Real>(x: &[T], d: &[T], to: &mut [T], f: impl Fn(T) -> T) {
    let mut block = [T::ZERO; BLOCK];
    for ((x, d), to) in x.chunks(BLOCK).zip(d.chunks(BLOCK)).zip(to.chunks_mut(BLOCK)) {
        let slope = &mut block[..x.len()];
        map(x, slope, &f);
        times(slope, d, to, |slope| slope);
    }
}

#[cfg(test)]
mod tests {
    mod accuracy;

    use super::*;

    /// Every function, and points where it has a derivative.
    fn all<T: Real>() -> Vec<(Function<T>, &'static [f64])> {
        const ALL: &[f64] = &[-700.0, -90.0, -20.0, -3.0, -1.0, -0.3, 1e-3, 0.4, 1.0, 2.5, 12.0, 60.0, 700.0];
        const NARROW: &[f64] = &[-80.0, -20.0, -3.0, -1.0, -0.3, 1e-3, 0.4, 1.0, 2.5, 12.0, 60.0];
        const POSITIVE: &[f64] = &[1e-2, 0.3, 1.0, 7.0, 1e6];
        let t = T::from_f64;
        vec![
            (Function::Tanh, ALL),
            (Function::Sigmoid, ALL),
            (Function::Relu, ALL),
            (Function::LeakyRelu { slope: t(0.1) }, ALL),
            (Function::Elu { alpha: t(0.7) }, ALL),
            (Function::Softplus, ALL),
            (Function::Silu, ALL),
            (Function::Gelu, ALL),
            (Function::GeluTanh, ALL),
            (Function::Sin, NARROW),
            (Function::Cos, NARROW),
            (Function::Exp, NARROW),
            (Function::Ln, POSITIVE),
            (Function::Square, ALL),
            (Function::Sqrt, POSITIVE),
            (Function::Reciprocal, &[-40.0, -1.0, 0.1, 3.0]),
            (Function::Abs, ALL),
            (Function::Negate, ALL),
            (Function::Scale { factor: t(-2.5) }, ALL),
            (Function::Shift { offset: t(0.75) }, ALL),
            (Function::NotEqual { value: t(0.0) }, ALL),
        ]
    }

    /// Converts the function to double precision.
    fn double(f: Function<f32>) -> Function<f64> {
        all::<f64>().into_iter().map(|(double, _)| double).find(|double| double.name() == f.name()).unwrap()
    }

    fn forward<T: Real>(f: Function<T>, x: &[T]) -> Vec<T> {
        let mut y = vec![T::ZERO; x.len()];
        f.forward(x, &mut y);
        y
    }

    /// Twice the derivatives.
    fn twice_derivatives<T: Real>(f: Function<T>, x: &[T]) -> Vec<T> {
        let mut d = vec![T::ZERO; x.len()];
        f.times_derivative(x, &forward(f, x), &vec![T::from_f64(2.0); x.len()], &mut d);
        d
    }

    #[test]
    fn derivatives_agree_with_central_differences() {
        for (f, x) in all::<f64>() {
            let h: Vec<f64> = x.iter().map(|x| 1e-5 * x.abs().clamp(0.01, 1.0)).collect();
            let shifted = |sign: f64| forward(f, &x.iter().zip(&h).map(|(x, h)| x + sign * h).collect::<Vec<_>>());
            let differences =
                shifted(1.0).into_iter().zip(shifted(-1.0)).zip(&h).map(|((up, down), h)| (up - down) / h);
            for ((x, found), expected) in x.iter().zip(twice_derivatives(f, x)).zip(differences) {
                assert!((found - expected).abs() <= 1e-7 * (1.0 + expected.abs()), "{f:?} at {x}: {found} {expected}");
            }
        }
    }

    #[test]
    fn single_precision_agrees_with_double() {
        for (f, x) in all::<f32>() {
            let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            let x: Vec<f64> = single.iter().map(|&x| f64::from(x)).collect();
            let pairs = [
                (forward(f, &single), forward(double(f), &x)),
                (twice_derivatives(f, &single), twice_derivatives(double(f), &x)),
            ];
            for (found, expected) in pairs {
                for ((x, found), expected) in x.iter().zip(found).zip(expected) {
                    let tolerance = 2e-6 * (1.0 + expected.abs());
                    let both_overflow = f64::from(found) == f64::from(expected as f32);
                    assert!(both_overflow || (f64::from(found) - expected).abs() <= tolerance, "{f:?} at {x}: {found}");
                }
            }
        }
    }

    #[test]
    fn far_out_everything_has_its_limit() {
        for x in [1e4, 1e13, 1e30, f32::MAX] {
            for (f, limits, slopes) in [
                (Function::Tanh, [-1.0, 1.0], [0.0, 0.0]),
                (Function::Sigmoid, [0.0, 1.0], [0.0, 0.0]),
                (Function::Elu { alpha: 0.5 }, [-0.5, x], [0.0, 2.0]),
                (Function::Softplus, [0.0, x], [0.0, 2.0]),
                (Function::Silu, [0.0, x], [0.0, 2.0]),
                (Function::Gelu, [0.0, x], [0.0, 2.0]),
                (Function::GeluTanh, [0.0, x], [0.0, 2.0]),
                (Function::Exp, [0.0, f32::INFINITY], [0.0, f32::INFINITY]),
            ] {
                assert_eq!(forward(f, &[-x, x]), limits, "{f:?} at ±{x}");
                assert_eq!(twice_derivatives(f, &[-x, x]), slopes, "{f:?} at ±{x}");
            }
        }
    }

    #[test]
    fn a_kink_has_the_usual_derivative() {
        let at_zero = |f: Function<f64>| twice_derivatives(f, &[0.0])[0];
        assert_eq!(at_zero(Function::Relu), 0.0);
        assert_eq!(at_zero(Function::LeakyRelu { slope: 0.25 }), 0.5);
        assert_eq!(at_zero(Function::Abs), 0.0);
        assert!((at_zero(Function::Gelu) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn nan_is_not_hidden() {
        for (f, _) in all::<f64>() {
            assert!(forward(f, &[f64::NAN])[0].is_nan(), "{f:?}");
        }
    }

    #[test]
    fn second_derivatives_are_those_of_the_first() {
        for (f, points) in all::<f64>() {
            for &x in points {
                let step = 1e-6 * x.abs().max(1e-2);
                let slope = |x: f64| twice_derivatives(f, &[x])[0] / 2.0;
                let difference = (slope(x + step) - slope(x - step)) / (2.0 * step);
                let mut c = [5.0];
                f.add_curvature(&[x], &forward(f, &[x]), &[3.0], &mut c);
                let second = (c[0] - 5.0) / 9.0;
                let scale = 1.0_f64.max(difference.abs());
                assert!((second - difference).abs() < 1e-6 * scale, "{f:?} at {x}: {second} instead of {difference}");
                assert!(!f.is_straight() || second == 0.0);
            }
        }
    }
}
