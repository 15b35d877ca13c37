//! Second derivatives of functions, along a direction.

use super::gelu_tanh::{self, GeluParts};
use super::{Function, NORMAL_DENSITY};
use crate::kernels::exponential::sigmoid_pair;
use crate::kernels::gelu::bell;
use crate::kernels::simd::{self, Kernel};
use crate::real::Real;

impl<T: Real> Function<T> {
    /// `c[i] += f″(x[i]) d[i]²`, given `y[i] = f(x[i])`. Zero where `f` has a kink.
    pub(crate) fn add_curvature(self, x: &[T], y: &[T], d: &[T], c: &mut [T]) {
        simd::run(FunctionCurvature { function: self, x, y, d, c });
    }

    /// The second derivative is zero.
    pub(crate) fn is_straight(self) -> bool {
        use Function::{Abs, LeakyRelu, Negate, NotEqual, Relu, Scale, Shift};
        matches!(self, Relu | LeakyRelu { .. } | Abs | Negate | Scale { .. } | Shift { .. } | NotEqual { .. })
    }
}

/// [`Function::add_curvature`].
pub(super) struct FunctionCurvature<'a, T> {
    pub(super) function: Function<T>,
    pub(super) x: &'a [T],
    pub(super) y: &'a [T],
    pub(super) d: &'a [T],
    pub(super) c: &'a mut [T],
}

impl<T: Real> Kernel for FunctionCurvature<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { function, x, y, d, c } = self;
        let (one, two) = (T::ONE, T::from_f64(2.0));
        match function {
            Function::Tanh => add(y, d, c, |y| -two * y * (one - y) * (one + y)),
            Function::Sigmoid => add(y, d, c, |y| y * (one - y) * (one - two * y)),
            Function::Elu { alpha } => add(y, d, c, |y| if y > T::ZERO { T::ZERO } else { y + alpha }),
            Function::Softplus => add(x, d, c, |x| {
                let (left, right) = sigmoid_pair::<T, FUSED>(x);
                left * right
            }),
            Function::Silu => add(x, d, c, |x| {
                let (left, right) = sigmoid_pair::<T, FUSED>(x);
                left * right * (two + x * (right - left))
            }),
            Function::Gelu => add(x, d, c, |x| {
                let (u, e) = bell::<T, FUSED>(x);
                e * T::from_f64(NORMAL_DENSITY) * (two - u * u)
            }),
            Function::GeluTanh => add(x, d, c, |x| {
                let GeluParts { left, right, x, inner: [slope, bend, _] } = gelu_tanh::parts::<T, FUSED>(x);
                left * right * (two * slope + x * ((right - left) * slope * slope + bend))
            }),
            Function::Sin | Function::Cos => add(y, d, c, |y| -y),
            Function::Exp => add(y, d, c, |y| y),
            Function::Ln => add(x, d, c, |x| -x.recip() * x.recip()),
            Function::Square => add(y, d, c, |_| two),
            Function::Sqrt => add(x, d, c, |x| T::from_f64(-0.25) * x.recip() * x.sqrt().recip()),
            Function::Reciprocal => add(y, d, c, |y| two * y * y * y),
            Function::Relu
            | Function::LeakyRelu { .. }
            | Function::Abs
            | Function::Negate
            | Function::Scale { .. }
            | Function::Shift { .. }
            | Function::NotEqual { .. } => {}
        }
    }
}

/// `c[i] += f(x[i]) d[i]²`.
#[inline(always)]
fn add<T: Real>(x: &[T], d: &[T], c: &mut [T], f: impl Fn(T) -> T) {
    for ((c, &d), &x) in c.iter_mut().zip(d).zip(x) {
        *c += f(x) * d * d;
    }
}
