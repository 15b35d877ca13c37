//! Tests that every register computes in each lane the bits of the float alone.

use super::*;
use crate::kernels::simd::multiply_add;
use crate::kernels::{arctangent, exponential, hyperbolic, hypotenuse, logarithm, power, trigonometric};
use crate::number::Number;
use crate::scalar::Scalar;

/// Ordinary numbers and special ones; filled up to whole registers by the last.
fn values<T: Real>(lanes: usize) -> Vec<T> {
    let mut values =
        vec![0.0, 1e-320, 1e-310, 1e-44, 1e-38, 1e-20, 1e-3, 0.3, 0.5, 0.7, 0.99, 1.0, 1.37, 1.5, 2.0, 3.0, 4.2, 7.0];
    values.extend([10.0, 22.5, 87.0, 100.0, 150.0, 709.0, 745.0, 1e3, 1e5, 3e8, 1e30, 1e300, f64::INFINITY]);
    values.extend(values.clone().iter().map(|x| -x));
    values.push(f64::NAN);
    let mut values: Vec<T> = values.into_iter().map(T::from_f64).collect();
    values.resize(values.len().next_multiple_of(lanes), T::from_f64(f64::NAN));
    values
}

fn load<T: Real, R: Register<T>>(values: &[T]) -> Lanes<T, R> {
    let mut lanes = Lanes::splat(T::ZERO);
    lanes.as_mut_slice().copy_from_slice(values);
    lanes
}

/// Asserts that each lane holds the expected bits.
fn holds<T: Real, R: Register<T>>(name: &str, lanes: Lanes<T, R>, expected: impl Fn(usize) -> T) {
    for (l, &found) in lanes.as_slice().iter().enumerate() {
        let (found, expected) = (found.to_f64(), expected(l).to_f64());
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(same, "{name} in lane {l} of {}: {found} instead of {expected}", R::LANES);
    }
}

/// Compares the functions of one number.
macro_rules! functions {
    ($x:ident, $lanes:ident, $fused:literal; $($file:ident: $($f:ident)*;)* | $($slow:ident)*) => {
        $($(holds(stringify!($f), $lanes.$f(), |l| $file::$f::<T, $fused>($x[l]));)*)*
        $(holds(stringify!($slow), $lanes.$slow(), |l| $x[l].$slow());)*
    };
}

/// Compares the functions of two numbers.
macro_rules! binary {
    ($x:ident, $y:ident, $a:ident, $b:ident; $($f:ident)*) => {
        $(holds(stringify!($f), $a.$f($b), |l| $x[l].$f($y[l]));)*
    };
}

struct Everything;

impl Everything {
    #[inline(always)]
    fn of_one<T: Real, R: Register<T>>(x: &[T]) {
        let lanes = load::<T, R>(x);
        macro_rules! all {
            ($fused:literal) => {
                functions! {
                    x, lanes, $fused;
                    arctangent: atan;
                    exponential: exp exp2 exp_m1 tanh;
                    hyperbolic: sinh cosh;
                    logarithm: ln ln_1p log2 log10;
                    trigonometric: sin cos tan;
                    | recip sqrt abs cbrt asin acos asinh acosh atanh exponent significand
                }
            };
        }
        if R::FUSED {
            all!(true);
        } else {
            all!(false);
        }
        holds("neg", -lanes, |l| -x[l]);
        for n in [i32::MIN, -7, -1, 0, 1, 2, 3, 10] {
            holds("powi", lanes.powi(n), |l| power::powi(x[l], n));
        }
        let c = T::from_f64(0.7);
        holds("add a constant", lanes + c, |l| x[l] + c);
        holds("sub a constant", lanes - c, |l| x[l] - c);
        holds("mul a constant", lanes * c, |l| x[l] * c);
        holds("div a constant", lanes / c, |l| x[l] / c);
        holds("map", lanes.map(|x| x + T::ONE), |l| x[l] + T::ONE);
        holds("sum", [lanes, lanes, lanes].into_iter().sum(), |l| T::ZERO + x[l] + x[l] + x[l]);
    }

    #[inline(always)]
    fn of_two<T: Real, R: Register<T>>(x: &[T], y: &[T]) {
        let (a, b) = (load::<T, R>(x), load::<T, R>(y));
        binary!(x, y, a, b; atan2 max min copy_sign);
        holds("+", a + b, |l| x[l] + y[l]);
        holds("-", a - b, |l| x[l] - y[l]);
        holds("*", a * b, |l| x[l] * y[l]);
        holds("/", a / b, |l| x[l] / y[l]);
        let powf = if R::FUSED { power::powf::<T, true> } else { power::powf::<T, false> };
        holds("powf", a.powf(b), |l| powf(x[l], y[l]));
        holds("pow", a.pow(b), |l| powf(x[l], y[l]));
        holds("hypot", a.hypot(b), |l| hypotenuse::hypot(x[l], y[l]));
        holds("select_less", a.select_less(b, b, a), |l| if x[l] < y[l] { y[l] } else { x[l] });
        holds("zip_map", Number::zip_map([a, b], |[x, y]| x - y), |l| x[l] - y[l]);
        let multiply_add = if R::FUSED { multiply_add::<T, true> } else { multiply_add::<T, false> };
        holds("mul_add", a.mul_add(b, a), |l| multiply_add(x[l], y[l], x[l]));
        let [mut sum, mut difference, mut product, mut quotient] = [a; 4];
        sum += b;
        difference -= b;
        product *= b;
        quotient /= b;
        holds("+=", sum, |l| x[l] + y[l]);
        holds("-=", difference, |l| x[l] - y[l]);
        holds("*=", product, |l| x[l] * y[l]);
        holds("/=", quotient, |l| x[l] / y[l]);
        assert_eq!(a.is_at_least(b), x.iter().zip(y).all(|(x, y)| x >= y));
        assert_eq!(a == b, x == y);
    }
}

impl<T: Real> LaneKernel<T> for Everything {
    type Output = ();

    #[inline(always)]
    fn run<R: Register<T>>(self) {
        let x = values::<T>(R::LANES);
        for x in x.chunks_exact(R::LANES) {
            Self::of_one::<T, R>(x);
        }
        // Each number meets each other one.
        for shift in 0..x.len() {
            let mut y = x.clone();
            y.rotate_left(shift);
            for (x, y) in x.chunks_exact(R::LANES).zip(y.chunks_exact(R::LANES)) {
                Self::of_two::<T, R>(x, y);
            }
        }
        let constant = Lanes::<T, R>::splat(T::ONE);
        assert!(constant.is_at_least(constant));
        for lane in 0..R::LANES {
            let mut larger = constant;
            larger.as_mut_slice()[lane] = T::from_f64(1.5);
            assert!(larger.is_at_least(constant) && !constant.is_at_least(larger));
            let mut unknown = constant;
            unknown.as_mut_slice()[lane] = T::from_f64(f64::NAN);
            assert!(!unknown.is_at_least(constant) && !constant.is_at_least(unknown));
        }
        for n in -30..30 {
            let found = exponential::power_of_two(Lanes::<T, R>::from_f64(f64::from(n)));
            holds("power_of_two", found, |_| T::from_f64(f64::from(n).exp2()));
        }
    }
}

#[test]
fn arrays_of_doubles_do_as_the_float() {
    LaneKernel::<f64>::run::<Portable<f64, 4>>(Everything);
}

#[test]
fn arrays_of_singles_do_as_the_float() {
    LaneKernel::<f32>::run::<Portable<f32, 8>>(Everything);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn registers_of_all_such_processors_do_as_the_float() {
    LaneKernel::<f64>::run::<sse2::Doubles>(Everything);
    LaneKernel::<f32>::run::<sse2::Singles>(Everything);
}

#[test]
fn all_registers_do_as_the_float() {
    for registers in Registers::available() {
        f64::run_in(registers, Everything);
        f32::run_in(registers, Everything);
    }
}
