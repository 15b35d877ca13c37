//! Second derivatives of functions, along a direction.

use super::{Function, GELU_CUBE, GELU_SCALE, NORMAL_DENSITY, gelu_argument};
use crate::kernels::gelu::bell;
use crate::kernels::simd::{self, Kernel};
use crate::real::Real;

impl<T: Real> Function<T> {
    /// `c[i] += f″(x[i]) d[i]²`, given `y[i] = f(x[i])`. Zero where `f` has a kink.
    pub(crate) fn add_curvature(self, x: &[T], y: &[T], d: &[T], c: &mut [T]) {
        simd::run(Curvature { function: self, x, y, d, c });
    }

    /// The second derivative is zero.
    pub(crate) fn is_straight(self) -> bool {
        use Function::{Abs, LeakyRelu, Negate, Relu, Scale, Shift};
        matches!(self, Relu | LeakyRelu { .. } | Abs | Negate | Scale { .. } | Shift { .. })
    }
}

/// [`Function::add_curvature`].
struct Curvature<'a, T> {
    function: Function<T>,
    x: &'a [T],
    y: &'a [T],
    d: &'a [T],
    c: &'a mut [T],
}

impl<T: Real> Kernel for Curvature<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { function, x, y, d, c } = self;
        let (one, two) = (T::ONE, T::from_f64(2.0));
        match function {
            Function::Tanh => add(y, d, c, |y| -two * y * (one - y) * (one + y)),
            Function::Sigmoid => add(y, d, c, |y| y * (one - y) * (one - two * y)),
            Function::Elu { alpha } => add(x, d, c, |x| if x > T::ZERO { T::ZERO } else { alpha * x.exp() }),
            Function::Softplus => add(x, d, c, |x| sigmoid(x) * sigmoid(-x)),
            Function::Silu => add(x, d, c, |x| {
                let (left, right) = (sigmoid(x), sigmoid(-x));
                left * right * (two + x * (right - left))
            }),
            Function::Gelu => add(x, d, c, |x| bell::<T, FUSED>(x).1 * T::from_f64(NORMAL_DENSITY) * (two - x * x)),
            Function::GeluTanh => add(x, d, c, |x| {
                let u = gelu_argument(x);
                let (left, right) = (sigmoid(u), sigmoid(-u));
                // Beyond these bounds the sigmoid is constant, and the slope of its argument may not overflow.
                let x = x.max(-T::from_f64(30.0)).min(T::from_f64(30.0));
                let cube = T::from_f64(GELU_SCALE * GELU_CUBE);
                let slope = T::from_f64(GELU_SCALE) + T::from_f64(3.0) * cube * x * x;
                let bend = T::from_f64(6.0) * cube * x;
                left * right * (two * slope + x * ((right - left) * slope * slope + bend))
            }),
            Function::Sin | Function::Cos => add(y, d, c, |y| -y),
            Function::Exp => add(y, d, c, |y| y),
            Function::Ln => add(x, d, c, |x| -x.recip() * x.recip()),
            Function::Square => add(y, d, c, |_| two),
            Function::Sqrt => add(y, d, c, |y| -(T::from_f64(4.0) * y * y * y).recip()),
            Function::Reciprocal => add(y, d, c, |y| two * y * y * y),
            Function::Relu
            | Function::LeakyRelu { .. }
            | Function::Abs
            | Function::Negate
            | Function::Scale { .. }
            | Function::Shift { .. } => {}
        }
    }
}

#[inline(always)]
fn sigmoid<T: Real>(x: T) -> T {
    (T::ONE + (-x).exp()).recip()
}

/// `c[i] += f(x[i]) d[i]²`.
#[inline(always)]
fn add<T: Real>(x: &[T], d: &[T], c: &mut [T], f: impl Fn(T) -> T) {
    for ((c, &d), &x) in c.iter_mut().zip(d).zip(x) {
        *c += f(x) * d * d;
    }
}
