//! Derivatives of a function up to the fourth order, from its argument and its value.

use super::gelu_tanh::{self, GeluParts};
use super::{Function, NORMAL_DENSITY};
use crate::kernels::exponential::sigmoid_pair;
use crate::kernels::gelu::{bell, gelu_derivative};
use crate::real::Real;

/// `[f′, f″, f‴, f⁗]` at some `x`.
pub(crate) type Slopes<T> = [T; 4];

/// A loop over places that is compiled with the derivatives of one function in it.
pub(crate) trait SlopeLoop<T> {
    /// Runs the loop; `slopes` takes `x` and `f(x)`. Implementations must be `#[inline(always)]`.
    fn run(self, slopes: impl Fn(T, T) -> Slopes<T>);
}

impl<T: Real> Function<T> {
    /// Returns true if the function has continuous derivatives of all orders wherever it is finite.
    pub(crate) fn is_smooth(self) -> bool {
        !matches!(
            self,
            Function::Relu
                | Function::LeakyRelu { .. }
                | Function::Elu { .. }
                | Function::Abs
                | Function::NotEqual { .. }
        )
    }

    /// Runs a loop with this function's derivatives. A derivative that the loop does not use is not computed.
    #[inline(always)]
    pub(crate) fn with_slopes<const FUSED: bool>(self, body: impl SlopeLoop<T>) {
        let t = T::from_f64;
        let (zero, one, two, three) = (T::ZERO, T::ONE, t(2.0), t(3.0));
        match self {
            Function::Tanh => body.run(|_, y| {
                let (p, yy) = ((one - y) * (one + y), y * y);
                [p, -two * y * p, p * (t(6.0) * yy - two), t(8.0) * y * p * (two - three * yy)]
            }),
            Function::Sigmoid => body.run(|_, y| of_sigmoid((y, one - y))),
            Function::Softplus => body.run(|x, _| {
                let sides = sigmoid_pair::<T, FUSED>(x);
                let [first, second, third, _] = of_sigmoid(sides);
                [sides.0, first, second, third]
            }),
            Function::Silu => body.run(|x, _| {
                let sides = sigmoid_pair::<T, FUSED>(x);
                times_argument(x, sides.0, of_sigmoid(sides))
            }),
            Function::Gelu => body.run(|x, _| {
                let (u, e) = bell::<T, FUSED>(x);
                let (density, near, xx) = (e * t(NORMAL_DENSITY), u.copy_sign(x), u * u);
                let (first, fourth) = (gelu_derivative::<T, FUSED>(x), xx * (t(7.0) - xx) - t(4.0));
                [first, density * (two - xx), density * near * (xx - t(4.0)), density * fourth]
            }),
            Function::GeluTanh => body.run(|x, _| {
                let GeluParts { left, right, x, inner } = gelu_tanh::parts::<T, FUSED>(x);
                times_argument(x, left, composed(of_sigmoid((left, right)), inner))
            }),
            Function::Sin => body.run(|x, y| {
                let c = x.cos();
                [c, -y, -c, y]
            }),
            Function::Cos => body.run(|x, y| {
                let s = x.sin();
                [-s, -y, s, y]
            }),
            Function::Exp => body.run(|_, y| [y; 4]),
            Function::Ln => body.run(|x, _| {
                let r = x.recip();
                let rr = r * r;
                [r, -rr, two * rr * r, -t(6.0) * rr * rr]
            }),
            Function::Square => body.run(|x, _| [two * x, two, zero, zero]),
            Function::Sqrt => body.run(|_, y| {
                let r = y.recip();
                let (rr, rrr) = (r * r, r * r * r);
                [t(0.5) * r, -t(0.25) * rrr, t(0.375) * rrr * rr, -t(0.9375) * rrr * rr * rr]
            }),
            Function::Reciprocal => body.run(|_, y| {
                let yy = y * y;
                [-yy, two * yy * y, -t(6.0) * yy * yy, t(24.0) * yy * yy * y]
            }),
            Function::Scale { factor } => body.run(|_, _| [factor, zero, zero, zero]),
            Function::Negate => body.run(|_, _| [-one, zero, zero, zero]),
            Function::Shift { .. } => body.run(|_, _| [one, zero, zero, zero]),
            Function::Relu
            | Function::LeakyRelu { .. }
            | Function::Elu { .. }
            | Function::Abs
            | Function::NotEqual { .. } => {
                unreachable!("the tape refuses derivatives of functions with a kink")
            }
        }
    }
}

/// Derivatives of the logistic function, from its value and that on the other side of zero.
#[inline(always)]
fn of_sigmoid<T: Real>((y, other): (T, T)) -> Slopes<T> {
    let one = T::ONE;
    let (p, odd) = (y * other, other - y);
    [p, p * odd, p * (one - T::from_f64(6.0) * p), p * odd * (one - T::from_f64(12.0) * p)]
}

/// Derivatives of `x g(x)`, from `g` and its derivatives.
#[inline(always)]
fn times_argument<T: Real>(x: T, g: T, [g1, g2, g3, g4]: Slopes<T>) -> Slopes<T> {
    let [two, three, four] = [2.0, 3.0, 4.0].map(T::from_f64);
    [g + x * g1, two * g1 + x * g2, three * g2 + x * g3, four * g3 + x * g4]
}

/// Derivatives of `s(u(x))` by Faà di Bruno's formula, for a cubic `u`.
#[inline(always)]
fn composed<T: Real>([s1, s2, s3, s4]: Slopes<T>, [u1, u2, u3]: [T; 3]) -> Slopes<T> {
    let [three, four, six] = [3.0, 4.0, 6.0].map(T::from_f64);
    let uu = u1 * u1;
    [
        s1 * u1,
        s2 * uu + s1 * u2,
        s3 * uu * u1 + three * s2 * u1 * u2 + s1 * u3,
        s4 * uu * uu + six * s3 * uu * u2 + s2 * (three * u2 * u2 + four * u1 * u3),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::simd::{self, Kernel};

    struct Collect<'a> {
        function: Function<f64>,
        x: &'a [f64],
        to: &'a mut Vec<[f64; 4]>,
    }

    impl Kernel for Collect<'_> {
        #[inline(always)]
        fn run<const TALL: usize, const FUSED: bool>(self) {
            let mut y = vec![0.0; self.x.len()];
            self.function.forward(self.x, &mut y);
            self.function.with_slopes::<FUSED>(Push { x: self.x, y: &y, to: self.to });
        }
    }

    struct Push<'a> {
        x: &'a [f64],
        y: &'a [f64],
        to: &'a mut Vec<[f64; 4]>,
    }

    impl SlopeLoop<f64> for Push<'_> {
        #[inline(always)]
        fn run(self, slopes: impl Fn(f64, f64) -> Slopes<f64>) {
            self.to.extend(self.x.iter().zip(self.y).map(|(&x, &y)| slopes(x, y)));
        }
    }

    fn slopes(function: Function<f64>, x: &[f64]) -> Vec<[f64; 4]> {
        let mut to = Vec::new();
        simd::run(Collect { function, x, to: &mut to });
        to
    }

    /// Each derivative is the difference of the one before, and the first that of the function itself.
    #[test]
    fn every_order_is_the_derivative_of_the_one_before() {
        const ALL: &[f64] = &[-6.0, -2.0, -0.7, 1e-3, 0.4, 1.0, 2.5, 5.0];
        const POSITIVE: &[f64] = &[0.3, 1.0, 2.0, 7.0];
        let functions = [
            (Function::Tanh, ALL),
            (Function::Sigmoid, ALL),
            (Function::Softplus, ALL),
            (Function::Silu, ALL),
            (Function::Gelu, ALL),
            (Function::GeluTanh, ALL),
            (Function::Sin, ALL),
            (Function::Cos, ALL),
            (Function::Exp, ALL),
            (Function::Ln, POSITIVE),
            (Function::Square, ALL),
            (Function::Sqrt, POSITIVE),
            (Function::Reciprocal, POSITIVE),
            (Function::Negate, ALL),
            (Function::Scale { factor: -2.5 }, ALL),
            (Function::Shift { offset: 0.75 }, ALL),
        ];
        for (function, x) in functions {
            let h = 1e-5;
            let moved = |sign: f64| x.iter().map(|x| x + sign * h).collect::<Vec<_>>();
            let (up, down) = (moved(1.0), moved(-1.0));
            let mut values = [up.clone(), down.clone()];
            values.iter_mut().for_each(|x| function.apply(x));
            let (above, below, here) = (slopes(function, &up), slopes(function, &down), slopes(function, x));
            for (k, &x) in x.iter().enumerate() {
                for order in 0..4 {
                    let difference = match order {
                        0 => values[0][k] - values[1][k],
                        _ => above[k][order - 1] - below[k][order - 1],
                    } / (2.0 * h);
                    let size = 1.0 + difference.abs();
                    let found = here[k][order];
                    assert!(
                        (found - difference).abs() < 1e-6 * size,
                        "{function:?} {order} at {x}: {found} {difference}"
                    );
                }
            }
        }
    }

    #[test]
    fn far_out_nothing_overflows() {
        for function in
            [Function::Tanh, Function::Sigmoid, Function::Softplus, Function::Silu, Function::Gelu, Function::GeluTanh]
        {
            for slopes in slopes(function, &[-700.0, -90.0, 90.0, 700.0]) {
                assert!(
                    slopes.iter().all(|slope| slope.is_finite() && slope.abs() <= 1.0 + 1e-12),
                    "{function:?} {slopes:?}"
                );
            }
        }
    }
}
