//! Special functions of floats: values by the crates `libm` and `statrs`, in double precision, and what their derivatives need.

use std::f64::consts::PI;

use statrs::function::gamma;

use crate::{Number, Real};

/// Functions of each float by itself.
macro_rules! of_each_float {
    ($($(#[$doc:meta])* $name:ident = $function:path;)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(not(debug_assertions), inline(always))]
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
    j1_bend = bend_of_j1;
}

/// At the poles, NaN.
fn digamma_of_float(x: f64) -> f64 {
    if is_pole(x) { f64::NAN } else { gamma::digamma(x) }
}

/// From where on the asymptotic series of the trigamma function has all digits.
const FAR: f64 = 12.0;

/// Abramowitz and Stegun, 6.4.12 after 6.4.6, and 6.4.7 for negative arguments.
fn trigamma_of_float(x: f64) -> f64 {
    if is_pole(x) {
        return f64::NAN;
    }
    if x < 0.0 {
        let sine = (PI * x).sin();
        return PI * PI / (sine * sine) - trigamma_of_float(1.0 - x);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < FAR {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let squared = 1.0 / (x * x);
    let bernoulli = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];
    let series = bernoulli.iter().rev().fold(0.0, |series, term| (series + term) * squared);
    sum + 1.0 / x + 0.5 * squared + series / x
}

/// `J₁′ = (J₀ − J₂) / 2`.
fn slope_of_j1(x: f64) -> f64 {
    0.5 * (libm::j0(x) - libm::jn(2, x))
}

/// `J₁″ = (J₃ − 3 J₁) / 4`.
fn bend_of_j1(x: f64) -> f64 {
    0.25 * (libm::jn(3, x) - 3.0 * libm::j1(x))
}

fn is_pole(x: f64) -> bool {
    x <= 0.0 && x == x.floor()
}
