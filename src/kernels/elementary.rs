//! Elementary functions of many numbers at once, in vector instructions.

use super::exponential::{self, Coefficients, exp, sigmoid, softplus, tanh};
use super::gelu::{self, TailCoefficients};
use super::simd::{self, Kernel};
use crate::Real;

/// Numbers worked on at a time: two registers of eight doubles, or four of four.
const LANES: usize = 16;

/// Elementary functions of slices: `y[i] = f(x[i])`.
pub trait Elementary: Sized + 'static {
    /// The constants behind the exponential function.
    const COEFFICIENTS: Coefficients<Self>;
    /// The constants behind the normal distribution function.
    const TAIL: TailCoefficients<Self>;

    /// `2ⁿ` for an `n` that has been added to [`Coefficients::rounder`].
    fn power_of_two(self) -> Self;
    /// The value with the sign of another.
    fn copy_sign(self, sign: Self) -> Self;

    /// `eˣ`.
    fn exp_all(x: &[Self], y: &mut [Self]);
    /// `tanh x`.
    fn tanh_all(x: &[Self], y: &mut [Self]);
    /// `1 / (1 + e⁻ˣ)`.
    fn sigmoid_all(x: &[Self], y: &mut [Self]);
    /// `ln(1 + eˣ)`.
    fn softplus_all(x: &[Self], y: &mut [Self]);
}

macro_rules! elementary {
    ($float:ident, $coefficients:ident) => {
        impl Elementary for $float {
            const COEFFICIENTS: Coefficients<$float> = exponential::$coefficients;
            const TAIL: TailCoefficients<$float> = gelu::$coefficients;

            #[inline(always)]
            fn power_of_two(self) -> $float {
                $float::from_bits(self.to_bits() << ($float::MANTISSA_DIGITS - 1))
            }
            #[inline(always)]
            fn copy_sign(self, sign: $float) -> $float {
                self.copysign(sign)
            }

            fn exp_all(x: &[$float], y: &mut [$float]) {
                simd::run(Exp { x, y });
            }
            fn tanh_all(x: &[$float], y: &mut [$float]) {
                simd::run(Tanh { x, y });
            }
            fn sigmoid_all(x: &[$float], y: &mut [$float]) {
                simd::run(Sigmoid { x, y });
            }
            fn softplus_all(x: &[$float], y: &mut [$float]) {
                simd::run(Softplus { x, y });
            }
        }
    };
}

elementary!(f32, SINGLE);
elementary!(f64, DOUBLE);

/// `y[i] = f(x[i])`, the same at every place: what is left at the end is worked on as a whole block too.
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

/// Kernels that apply a function of [`super::exponential`].
macro_rules! kernels {
    ($($name:ident: $function:ident),*) => {$(
        #[doc = concat!("`y[i] = ", stringify!($function), "(x[i])`.")]
        struct $name<'a, T> {
            x: &'a [T],
            y: &'a mut [T],
        }

        impl<T: Real> Kernel for $name<'_, T> {
            #[inline(always)]
            fn run<const TALL: usize, const FUSED: bool>(self) {
                map(self.x, self.y, $function::<T, FUSED>);
            }
        }
    )*};
}

kernels!(Exp: exp, Tanh: tanh, Sigmoid: sigmoid, Softplus: softplus);

#[cfg(test)]
mod tests {
    use super::*;

    /// A number's value is that of the plain function, fused or not, wherever it stands.
    fn same_everywhere<T: Real>(all: fn(&[T], &mut [T]), one: [fn(T) -> T; 2]) {
        let x: Vec<T> = (0..71).map(|k| T::from_f64(f64::from(k) * 0.37 - 11.0)).collect();
        let expected = one.map(|f| x.iter().map(|&x| f(x)).collect::<Vec<_>>());
        for start in [0, 1, 7] {
            for end in start..x.len() {
                let mut y = vec![T::ZERO; end - start];
                all(&x[start..end], &mut y);
                assert!(expected.iter().any(|expected| y == expected[start..end]), "{start}..{end}");
            }
        }
    }

    #[test]
    fn values_do_not_depend_on_their_place() {
        same_everywhere(f64::exp_all, [exp::<f64, true>, exp::<f64, false>]);
        same_everywhere(f64::tanh_all, [tanh::<f64, true>, tanh::<f64, false>]);
        same_everywhere(f64::sigmoid_all, [sigmoid::<f64, true>, sigmoid::<f64, false>]);
        same_everywhere(f64::softplus_all, [softplus::<f64, true>, softplus::<f64, false>]);
        same_everywhere(f32::exp_all, [exp::<f32, true>, exp::<f32, false>]);
        same_everywhere(f32::tanh_all, [tanh::<f32, true>, tanh::<f32, false>]);
        same_everywhere(f32::sigmoid_all, [sigmoid::<f32, true>, sigmoid::<f32, false>]);
        same_everywhere(f32::softplus_all, [softplus::<f32, true>, softplus::<f32, false>]);
    }
}
