//! Elementary functions of many numbers at once, in vector instructions.

use super::arctangent::{self, ArctangentCoefficients};
use super::exponential::{self, Coefficients};
use super::gelu::{self, TailCoefficients};
use super::hyperbolic::{self, HyperbolicCoefficients};
use super::logarithm::{self, LogarithmCoefficients};
use super::power::{self, PowerCoefficients};
use super::trigonometric::{self, TrigonometricCoefficients};
use crate::real::Real;

/// Numbers worked on at a time: two registers of eight doubles, or four of four.
const LANES: usize = 16;

/// Constants and operations of a float type for elementary functions.
pub trait Elementary: Sized + 'static {
    /// The constants behind the exponential function.
    const COEFFICIENTS: Coefficients<Self>;
    /// The constants behind the normal distribution function.
    const TAIL: TailCoefficients<Self>;
    /// The constants behind logarithms.
    const LOGARITHM: LogarithmCoefficients<Self>;
    /// The constants behind powers.
    const POWER: PowerCoefficients<Self>;
    /// The constants behind sine, cosine and tangent.
    const TRIGONOMETRIC: TrigonometricCoefficients<Self>;
    /// The constants behind the arctangent.
    const ARCTANGENT: ArctangentCoefficients<Self>;
    /// The constants behind hyperbolic functions.
    const HYPERBOLIC: HyperbolicCoefficients<Self>;
}

macro_rules! elementary {
    ($float:ident, $coefficients:ident) => {
        impl Elementary for $float {
            const COEFFICIENTS: Coefficients<$float> = exponential::$coefficients;
            const TAIL: TailCoefficients<$float> = gelu::$coefficients;
            const LOGARITHM: LogarithmCoefficients<$float> = logarithm::$coefficients;
            const POWER: PowerCoefficients<$float> = power::$coefficients;
            const TRIGONOMETRIC: TrigonometricCoefficients<$float> = trigonometric::$coefficients;
            const ARCTANGENT: ArctangentCoefficients<$float> = arctangent::$coefficients;
            const HYPERBOLIC: HyperbolicCoefficients<$float> = hyperbolic::$coefficients;
        }
    };
}

elementary!(f32, SINGLE);
elementary!(f64, DOUBLE);

/// `y[i] = f(x[i])`. The last entries are computed as a whole block, so that a result does not depend on its position.
#[inline(always)]
pub(crate) fn map<T: Real>(x: &[T], y: &mut [T], f: impl Fn(T) -> T) {
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (y, y_rest) = y.as_chunks_mut::<LANES>();
    for (y, &x) in y.as_flattened_mut().iter_mut().zip(x.as_flattened()) {
        *y = f(x);
    }
    if !x_rest.is_empty() {
        let mut block = [T::ZERO; LANES];
        block[..x_rest.len()].copy_from_slice(x_rest);
        for x in &mut block {
            *x = f(*x);
        }
        y_rest.copy_from_slice(&block[..y_rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::exponential::tanh;
    use super::super::simd::{self, Kernel};
    use super::*;
    use crate::kernels::registers::tests::in_all;

    struct Tanh<'a, T> {
        x: &'a [T],
        y: &'a mut [T],
    }

    impl<T: Real> Kernel for Tanh<'_, T> {
        #[inline(always)]
        fn run<const TALL: usize, const FUSED: bool>(self) {
            map(self.x, self.y, tanh::<T, FUSED>);
        }
    }

    /// A number's value is that of the plain function, fused or not, to the last bit, wherever it stands.
    fn same_everywhere<T: Real>() {
        let x: Vec<T> = (0..71).map(|k| T::from_f64(f64::from(k) * 0.037 - 1.3)).collect();
        let expected = [tanh::<T, true>, tanh::<T, false>].map(|f| x.iter().map(|&x| f(x)).collect::<Vec<_>>());
        for start in [0, 1, 7] {
            for end in start..x.len() {
                let mut y = vec![T::ZERO; end - start];
                simd::run(Tanh { x: &x[start..end], y: &mut y });
                assert!(expected.iter().any(|expected| y == expected[start..end]), "{start}..{end}");
            }
        }
    }

    #[test]
    fn values_do_not_depend_on_their_place() {
        in_all(|| {
            same_everywhere::<f64>();
            same_everywhere::<f32>();
        });
    }
}
