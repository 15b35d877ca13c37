//! Complex numbers over any scalar.

use super::Dual;
use super::functions::operators;
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// A complex number whose parts are floats or any other [`Scalar`], such as numbers with derivatives.
///
/// A scalar may stand on the right of an operator, `z * a`. For floats and [`Dual`] numbers, scalars and floats may stand on either side:
/// `1.0 / (z + a)`. Functions return principal values. Quotients, roots and hyperbolic tangents overflow or underflow only if the result
/// does.
///
/// ```
/// use marquardt::{Complex, Dual};
///
/// // A resistor and a capacitor in parallel, and the derivatives of their impedance.
/// let [r, c] = Dual::variables([100.0_f64, 1e-6]);
/// let z = 1.0 / (1.0 / r + Complex::i() * (c * 1e4));
/// assert!((z.re.value - 50.0).abs() < 1e-12 && (z.im.value + 50.0).abs() < 1e-12);
/// assert!((z.abs().value - 5000.0_f64.sqrt()).abs() < 1e-12);
/// assert!((z.re.gradient[1] + 5e7).abs() < 1e-6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Complex<S> {
    /// The real part.
    pub re: S,
    /// The imaginary part.
    pub im: S,
}

impl<S> Complex<S> {
    /// `re + i im`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub const fn new(re: S, im: S) -> Self {
        Complex { re, im }
    }
}

/// A constant.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn constant<S: Scalar>(value: f64) -> S {
    S::constant(S::Real::from_f64(value))
}

impl<S: Scalar> Complex<S> {
    /// A real number.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn real(re: S) -> Self {
        Complex { re, im: constant(0.0) }
    }

    /// The imaginary unit.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn i() -> Self {
        Complex { re: constant(0.0), im: constant(1.0) }
    }

    /// The number of this modulus and argument, in radians.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn from_polar(modulus: S, argument: S) -> Self {
        Complex { re: modulus * argument.cos(), im: modulus * argument.sin() }
    }

    /// The modulus.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn abs(self) -> S {
        self.re.hypot(self.im)
    }

    /// The argument, in radians from −π to π.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn arg(self) -> S {
        self.im.atan2(self.re)
    }

    /// The conjugate.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn conj(self) -> Self {
        Complex { im: -self.im, ..self }
    }

    /// `1 / self`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn recip(self) -> Self {
        // The larger part is the unit of both, so that no square overflows.
        let unit = self.re.abs().max(self.im.abs());
        let Complex { re, im } = Complex { re: self.re / unit, im: self.im / unit };
        let squared = (re * re + im * im) * unit;
        // Of an infinite number, it is zero.
        let (zero, smallest) = (constant::<S>(0.0), unit.recip());
        let finite = |part: S| zero.select_less(smallest, part, smallest);
        Complex { re: finite(re / squared), im: finite(-im / squared) }
    }

    /// `e^self`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn exp(self) -> Self {
        Complex::from_polar(self.re.exp(), self.im)
    }

    /// Natural logarithm.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn ln(self) -> Self {
        Complex { re: self.abs().ln(), im: self.arg() }
    }

    /// Square root, whose real part is not negative.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn sqrt(self) -> Self {
        let (zero, half) = (constant::<S>(0.0), constant::<S>(0.5));
        let larger = (self.abs() * half + self.re.abs() * half).sqrt();
        let smaller = zero.select_less(larger, self.im.abs() * half / larger, zero);
        let signed = |part: S| self.im.select_less(zero, -part, part);
        let re = self.re.select_less(zero, smaller, larger);
        Complex { re, im: signed(self.re.select_less(zero, larger, smaller)) }
    }

    /// `self^n`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn powi(self, n: i32) -> Self {
        let (mut power, mut square) = (Complex::real(constant(1.0)), self);
        for bit in 0..n.unsigned_abs().checked_ilog2().map_or(0, |last| last + 1) {
            if bit > 0 {
                square = square * square;
            }
            if n.unsigned_abs() >> bit & 1 == 1 {
                power = power * square;
            }
        }
        if n < 0 { power.recip() } else { power }
    }

    /// `self^p` for a real exponent.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn powf(self, p: S) -> Self {
        Complex::from_polar(self.abs().pow(p), self.arg() * p)
    }

    /// `self^p`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn pow(self, p: Self) -> Self {
        (self.ln() * p).exp()
    }

    /// Sine.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn sin(self) -> Self {
        Complex { re: self.re.sin() * self.im.cosh(), im: self.re.cos() * self.im.sinh() }
    }

    /// Cosine.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn cos(self) -> Self {
        Complex { re: self.re.cos() * self.im.cosh(), im: -self.re.sin() * self.im.sinh() }
    }

    /// Tangent.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn tan(self) -> Self {
        let Complex { re, im } = Complex { re: -self.im, im: self.re }.tanh();
        Complex { re: im, im: -re }
    }

    /// Hyperbolic sine.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn sinh(self) -> Self {
        Complex { re: self.re.sinh() * self.im.cos(), im: self.re.cosh() * self.im.sin() }
    }

    /// Hyperbolic cosine.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn cosh(self) -> Self {
        Complex { re: self.re.cosh() * self.im.cos(), im: self.re.sinh() * self.im.sin() }
    }

    /// Hyperbolic tangent.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub fn tanh(self) -> Self {
        // −(w − 1)/(w + 1) with w = exp(−2z), which is small where the real part is not negative; the function is odd.
        let (zero, one, two) = (constant::<S>(0.0), constant::<S>(1.0), constant::<S>(2.0));
        let sign = self.re.select_less(zero, -one, one);
        let (size, half) = (self.re * sign, self.im * sign);
        let (less_one, sine) = ((-(size + size)).exp_m1(), half.sin());
        let power = less_one + one;
        let re = less_one - sine * sine * two * power;
        let im = -(half + half).sin() * power;
        Complex { re: -re, im: -im } / Complex { re: re + two, im } * sign
    }
}

/// A real number.
impl<S: Scalar> From<S> for Complex<S> {
    fn from(re: S) -> Self {
        Complex::real(re)
    }
}

operators! { Complex<S>, [S: Scalar], [cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))];
    Neg neg(z) => Complex { re: -z.re, im: -z.im };
    Add add(z, w: Self) => Complex { re: z.re + w.re, im: z.im + w.im };
    Sub sub(z, w: Self) => Complex { re: z.re - w.re, im: z.im - w.im };
    Mul mul(z, w: Self) => Complex { re: z.re * w.re - z.im * w.im, im: z.re * w.im + z.im * w.re };
    Div div(z, w: Self) => std::ops::Mul::mul(z, w.recip());
    Add add(z, a: S) => Complex { re: z.re + a, ..z };
    Sub sub(z, a: S) => Complex { re: z.re - a, ..z };
    Mul mul(z, a: S) => Complex { re: z.re * a, im: z.im * a };
    Div div(z, a: S) => Complex { re: z.re / a, im: z.im / a };
}

operators! { Complex<Dual<T, N>>, [T: Real, const N: usize], [inline];
    Add add(z, a: T) => Complex { re: z.re + a, ..z };
    Sub sub(z, a: T) => Complex { re: z.re - a, ..z };
    Mul mul(z, a: T) => Complex { re: z.re * a, im: z.im * a };
    Div div(z, a: T) => Complex { re: z.re / a, im: z.im / a };
}

/// Operators of scalars with complex numbers on their right.
macro_rules! scalar_operators {
    ($($scalar:ty, $over:ty, [$($generics:tt)*];)*) => {
        $(
            scalar_operators!(@one Add add(a, z) => z + a, $scalar, $over, [$($generics)*]);
            scalar_operators!(@one Sub sub(a, z) => -z + a, $scalar, $over, [$($generics)*]);
            scalar_operators!(@one Mul mul(a, z) => z * a, $scalar, $over, [$($generics)*]);
            scalar_operators!(@one Div div(a, z) => std::ops::Mul::mul(z.recip(), a), $scalar, $over, [$($generics)*]);
        )*
    };
    (@one $trait:ident $method:ident($a:ident, $z:ident) => $result:expr, $scalar:ty, $over:ty, [$($generics:tt)*]) => {
        impl<$($generics)*> std::ops::$trait<Complex<$over>> for $scalar {
            type Output = Complex<$over>;
            #[inline]
            fn $method(self, $z: Complex<$over>) -> Complex<$over> {
                let $a = self;
                $result
            }
        }
    };
}

scalar_operators! {
    f32, f32, [];
    f64, f64, [];
    f32, Dual<f32, N>, [const N: usize];
    f64, Dual<f64, N>, [const N: usize];
    Dual<T, N>, Dual<T, N>, [T: Real, const N: usize];
}

#[cfg(test)]
mod tests {
    use nalgebra::Complex as Reference;
    use proptest::prelude::*;

    use super::*;

    type Function = fn(Complex<Dual<f64, 2>>) -> Complex<Dual<f64, 2>>;
    type ReferenceFunction = fn(Reference<f64>) -> Reference<f64>;

    /// Functions, the same of the crate `num-complex`, and their derivatives.
    const FUNCTIONS: [(&str, Function, ReferenceFunction, ReferenceFunction); 11] = [
        ("recip", Complex::recip, |z| z.inv(), |z| -(z * z).inv()),
        ("exp", Complex::exp, |z| z.exp(), |z| z.exp()),
        ("ln", Complex::ln, |z| z.ln(), |z| z.inv()),
        ("sqrt", Complex::sqrt, |z| z.sqrt(), |z| (z.sqrt() * 2.0).inv()),
        ("sin", Complex::sin, |z| z.sin(), |z| z.cos()),
        ("cos", Complex::cos, |z| z.cos(), |z| -z.sin()),
        ("sinh", Complex::sinh, |z| z.sinh(), |z| z.cosh()),
        ("cosh", Complex::cosh, |z| z.cosh(), |z| z.sinh()),
        ("tanh", Complex::tanh, |z| z.tanh(), |z| z.cosh().powi(-2)),
        ("cube", |z| z.powi(3), |z| z.powi(3), |z| z * z * 3.0),
        ("power", |z| z.powf(Dual::constant(-0.7)), |z| z.powf(-0.7), |z| z.powf(-1.7) * -0.7),
    ];

    proptest! {
        /// Values are those of `num-complex`, and derivatives follow from one complex derivative, as Cauchy and Riemann have it.
        #[test]
        fn functions_are_analytic(re in -3.0..3.0_f64, im in -3.0..3.0_f64) {
            let [x, y] = Dual::variables([re, im]);
            let at = Reference::new(re, im);
            for (name, function, value, derivative) in FUNCTIONS {
                let (found, value, slope) = (function(Complex::new(x, y)), value(at), derivative(at));
                let tolerance = 1e-12 * (value.norm() + 3.0 * slope.norm());
                let parts = [found.re.value - value.re, found.im.value - value.im];
                prop_assert!(parts.iter().all(|error| error.abs() <= tolerance), "{name}: {found:?}, {value}");
                let expected = [[slope.re, -slope.im], [slope.im, slope.re]];
                for (found, expected) in [found.re, found.im].iter().zip(expected) {
                    let errors = [found.gradient[0] - expected[0], found.gradient[1] - expected[1]];
                    let tolerance = 1e-12 * slope.norm() * (10.0 + 10.0 / at.norm());
                    prop_assert!(errors.iter().all(|error| error.abs() <= tolerance), "{name}: {found:?}, {expected:?}");
                }
            }
        }
    }

    #[test]
    fn ends_of_the_range() {
        let close = |found: Complex<f64>, re: f64, im: f64| {
            assert!((found - Complex::new(re, im)).abs() <= 4e-16 * re.hypot(im), "{found:?}, {re} {im}");
        };
        close(Complex::new(1e200, 1e200).recip(), 5e-201, -5e-201);
        close(Complex::new(3e-200, 4e-200) / Complex::new(1e-200, 0.0), 3.0, 4.0);
        close(Complex::new(1e300, 1e-300).recip(), 1e-300, 0.0);
        assert_eq!(Complex::new(f64::INFINITY, 3.0).recip(), Complex::new(0.0, 0.0));
        assert!(Complex::new(f64::NAN, 3.0).recip().re.is_nan() && Complex::new(3.0, f64::NAN).recip().re.is_nan());
        close(Complex::new(-4.0, 0.0).sqrt(), 0.0, 2.0);
        close(Complex::new(-4.0, -1e-300).sqrt(), 0.0, -2.0);
        close(Complex::new(1e308, 1e308).sqrt(), 1.098_684_113_467_81e154, 4.550_898_605_622_273e153);
        assert_eq!(Complex::new(0.0, 0.0).sqrt(), Complex::new(0.0, 0.0));
        // Far out, and close to zero, where exponentials overflow or cancel.
        close(Complex::new(800.0, 1.0).tanh(), 1.0, 0.0);
        close(Complex::new(-1e300, 2.0).tanh(), -1.0, 0.0);
        close(Complex::new(1e-9, -1e-12).tanh(), 1e-9, -1e-12);
        close(Complex::new(3.0, -1e-12).tan(), 3.0_f64.tan(), -1e-12 * (1.0 + 3.0_f64.tan().powi(2)));
        close(Complex::new(2.0, 1.0).powi(-2), 0.12, -0.16);
        close(Complex::new(2.0, 1.0).powi(0), 1.0, 0.0);
        close(Complex::<f64>::i().pow(Complex::i()), (-std::f64::consts::FRAC_PI_2).exp(), 0.0);
        close(2.0 - Complex::new(1.0, 3.0), 1.0, -3.0);
        close(5.0 / Complex::new(1.0, 2.0), 1.0, -2.0);
        close(Complex::from_polar(2.0, 0.5).conj(), 2.0 * 0.5_f64.cos(), -2.0 * 0.5_f64.sin());
    }
}
