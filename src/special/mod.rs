//! Special functions of floats: values by the crates `libm` and `statrs`, in double precision, and the functions in their
//! derivatives.

pub(crate) mod bessel;
pub(crate) mod function;
pub(crate) mod incomplete;

use std::f64::consts::PI;

use crate::number::Number;
use crate::real::Real;

/// Functions that are applied to each float.
macro_rules! of_each_float {
    ($($(#[$doc:meta])* $name:ident = $function:path;)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
            pub(crate) fn $name<N: Number>(x: N) -> N {
                x.map(|x| N::Element::from_f64($function(x.to_f64())))
            }
        )*
    };
}

of_each_float! {
    /// The error function.
    erf = libm::erf;
    /// One minus the error function, accurate where that is close to one.
    erfc = libm::erfc;
    /// The gamma function.
    gamma = libm::tgamma;
    /// The logarithm of the absolute value of the gamma function.
    lgamma = libm::lgamma;
    /// The Bessel function of the first kind and order 0.
    j0 = libm::j0;
    /// The Bessel function of the first kind and order 1.
    j1 = libm::j1;
    /// The derivative of the logarithm of the gamma function.
    digamma = digamma_of_float;
    /// The derivative of the digamma function.
    trigamma = trigamma_of_float;
    /// The derivative of `j1`.
    j1_slope = slope_of_j1;
    /// The second derivative of `j1`.
    j1_second_slope = second_slope_of_j1;
}

/// The positive zero of the digamma function, and its rounding error.
const ZERO_OF_DIGAMMA: [f64; 2] = [1.461_632_144_968_362_2, 9.549_995_429_965_697e-17];

/// `ψ(x)` over the distance from its zero, from 1 to 2, in powers of `x − 3/2`: by interpolation in 60 digits.
const NEAR_ZERO: [f64; 22] = [
    0.951_055_876_031_833,
    -0.423_627_421_281_460_5,
    0.240_542_484_240_774_2,
    -0.148_404_923_053_908_84,
    0.094_988_724_454_941_22,
    -0.061_922_133_273_064_534,
    0.040_760_833_812_420_74,
    -0.026_975_796_756_138_25,
    0.017_907_252_439_451_2,
    -0.011_908_218_001_568_644,
    0.007_926_944_646_403_797,
    -0.005_279_964_873_257_405,
    0.003_519_006_401_502_276,
    -0.002_345_267_632_540_769,
    0.001_556_631_747_448_683_8,
    -0.001_037_637_409_841_860_4,
    0.000_723_326_627_928_755_4,
    -0.000_482_199_053_056_678_9,
    0.000_227_233_166_098_737_6,
    -0.000_151_485_868_367_733_65,
    0.000_259_684_821_264_307_47,
    -0.000_173_122_618_027_273_94,
];

/// Argument from which the asymptotic series of the digamma and the trigamma function have all digits.
const FAR: f64 = 12.0;

/// Bernoulli's numbers `B₂`, `B₄`, ….
const BERNOULLI: [f64; 7] = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];

/// Digamma function of a float; NaN at the poles. For negative arguments the error is relative to the larger term of the reflection.
///
/// Abramowitz and Stegun, 6.3.5, 6.3.7 and 6.3.18.
fn digamma_of_float(x: f64) -> f64 {
    if is_pole(x) {
        return f64::NAN;
    }
    if x < 0.0 {
        let (sine, cosine) = (PI * (x - x.round())).sin_cos();
        return digamma_of_float(1.0 - x) - PI * cosine / sine;
    }
    if x >= FAR {
        let squared = x.recip() * x.recip();
        let series = (0..7).rev().fold(0.0, |series, k| (series + BERNOULLI[k] / (2 * k + 2) as f64) * squared);
        return x.ln() - 0.5 / x - series;
    }
    if x < 1.0 {
        return digamma_of_float(x + 1.0) - x.recip();
    }
    let (mut x, mut sum) = (x, 0.0);
    while x >= 2.0 {
        x -= 1.0;
        sum += x.recip();
    }
    let [zero, rest] = ZERO_OF_DIGAMMA;
    let slope = NEAR_ZERO.iter().rev().fold(0.0, |slope, term| slope * (x - 1.5) + term);
    ((x - zero) - rest) * slope + sum
}

/// Abramowitz and Stegun, 6.4.12 after 6.4.6, and 6.4.7 for negative arguments.
fn trigamma_of_float(x: f64) -> f64 {
    if is_pole(x) {
        return f64::NAN;
    }
    if x < 0.0 {
        let cosecant = PI / (PI * (x - x.round())).sin();
        return cosecant * cosecant - trigamma_of_float(1.0 - x);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < FAR {
        sum += x.recip() * x.recip();
        x += 1.0;
    }
    let squared = x.recip() * x.recip();
    let series = BERNOULLI.iter().rev().fold(0.0, |series, term| (series + term) * squared);
    sum + 1.0 / x + 0.5 * squared + series / x
}

/// `J₁′ = (J₀ − J₂) / 2`.
fn slope_of_j1(x: f64) -> f64 {
    0.5 * (libm::j0(x) - libm::jn(2, x))
}

/// `J₁″ = (J₃ − 3 J₁) / 4`.
fn second_slope_of_j1(x: f64) -> f64 {
    0.25 * (libm::jn(3, x) - 3.0 * libm::j1(x))
}

fn is_pole(x: f64) -> bool {
    x <= 0.0 && x == x.floor()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autodiff::{Dual, Taylor};
    use crate::scalar::Scalar;

    /// `x`, and there `erf`, `erfc`, `Γ`, `ln |Γ|`, `J₀`, `J₁`, `ψ` and `ψ′`, by mpmath 1.3 in 30 digits.
    const REFERENCE: [[f64; 9]; 7] = [
        [
            0.1,
            0.1124629160182849,
            0.887537083981715,
            9.51350769866873,
            2.252712651734206,
            0.99750156206604,
            0.049937526036242,
            -10.423754940411076,
            101.43329915079275,
        ],
        [
            0.5,
            0.5204998778130465,
            0.4795001221869535,
            1.772453850905516,
            0.5723649429247001,
            0.9384698072408129,
            0.2422684576748739,
            -1.9635100260214235,
            4.934802200544679,
        ],
        [
            1.0,
            0.8427007929497149,
            0.15729920705028513,
            1.0,
            0.0,
            0.7651976865579666,
            0.4400505857449335,
            -0.5772156649015329,
            1.6449340668482264,
        ],
        [
            2.5,
            0.999593047982555,
            0.0004069520174449589,
            1.329340388179137,
            0.2846828704729192,
            -0.048383776468198,
            0.49709410246427405,
            0.7031566406452432,
            0.49035775610023485,
        ],
        [
            7.0,
            1.0,
            4.183825607779414e-23,
            720.0,
            6.579251212010101,
            0.3000792705195556,
            -0.004682823482345833,
            1.8727843350984672,
            0.15354517795933756,
        ],
        [
            -0.5,
            -0.5204998778130465,
            1.5204998778130465,
            -3.544907701811032,
            1.2655121234846454,
            0.9384698072408129,
            -0.2422684576748739,
            0.03648997397857652,
            8.934802200544679,
        ],
        [
            -2.3,
            -0.9988568234026434,
            1.9988568234026434,
            -1.447107394255918,
            0.36956666345500805,
            0.05553978444560206,
            -0.5398725326043137,
            3.3173231575618227,
            14.725912160961292,
        ],
    ];

    #[track_caller]
    fn is_close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * (1.0 + expected.abs()), "{found} instead of {expected}");
    }

    #[test]
    fn values_are_those_of_mpmath() {
        for [x, erf_x, erfc_x, gamma_x, lgamma_x, j0_x, j1_x, digamma_x, trigamma_x] in REFERENCE {
            let found = [erf(x), erfc(x), gamma(x), lgamma(x), j0(x), j1(x), digamma(x), trigamma(x)];
            let expected = [erf_x, erfc_x, gamma_x, lgamma_x, j0_x, j1_x, digamma_x, trigamma_x];
            found.into_iter().zip(expected).for_each(|(found, expected)| is_close(found, expected, 1e-14));
            is_close(f64::from(erf(x as f32)), erf_x, 1e-7);
        }
        assert!(erfc(10.0) > 2.0e-45 && erfc(26.0) > 5.6e-296, "it is accurate where it is small");
        is_close(Scalar::beta(2.5, 0.7), 0.7118737432786022, 1e-14);
        assert!(Scalar::beta(-0.5, 2.0_f64).is_nan() && gamma(-1.0_f64).is_nan() && digamma(-2.0_f64).is_nan());
    }

    /// First derivatives against differences of the values, second ones against differences of the first.
    #[test]
    fn derivatives_are_those_of_the_values() {
        const STEP: f64 = 1e-5;
        macro_rules! check {
            ($($name:ident)*) => {
                $(for [x, ..] in REFERENCE {
                    let first = |x: f64| Scalar::$name(Dual::<f64, 1>::variable(x, 0)).gradient[0];
                    let second = Scalar::$name(Taylor { value: x, first: 1.0, second: 0.0 }).second;
                    is_close(first(x), ($name(x + STEP) - $name(x - STEP)) / (2.0 * STEP), 1e-6);
                    is_close(second, (first(x + STEP) - first(x - STEP)) / (2.0 * STEP), 1e-6);
                })*
            };
        }
        check! { erf erfc gamma lgamma j0 j1 }
        assert_eq!(Scalar::j1(Dual::<f64, 1>::variable(0.0, 0)).gradient[0], 0.5);
        let [a, b] = Dual::variables([2.5, 0.7]);
        let beta = Scalar::beta(a, b);
        is_close(beta.gradient[0], beta.value * (digamma(2.5) - digamma(3.2)), 1e-13);
    }
}
