//! Error functions, written over every scalar so that they are differentiated exactly.

use std::f64::consts::{FRAC_2_SQRT_PI, PI, SQRT_2};

use super::formula::real;
use crate::scalar::Scalar;

/// `L` of Weideman's approximation: `√(N/√2)` for `N = 40`.
const LENGTH: f64 = 5.3182958969449885;

/// `a₁ … a₄₀` of Weideman's approximation, from its Fourier integral in 40 digits.
const COEFFICIENTS: [f64; 40] = [
    2.8996245093897053,
    2.61605415276186,
    2.201513794878312,
    1.7253830848179779,
    1.2563815675765133,
    0.8472174576593818,
    0.5266528988277086,
    0.29989437996150065,
    0.15504263802479495,
    0.07182361779074337,
    0.029202916471241867,
    0.010048186242783424,
    0.0027054056330737914,
    0.0004398070159869668,
    -3.939363145489569e-05,
    -5.591309264248318e-05,
    -1.8007447144750956e-05,
    -1.0660138984947143e-06,
    1.483566113220078e-06,
    5.912136951899494e-07,
    1.4198642399935674e-08,
    -6.35177348504429e-08,
    -1.8315616783040462e-08,
    3.2497465180436973e-09,
    3.0177805400090707e-09,
    2.1086006347066517e-10,
    -3.5632339865976533e-10,
    -9.055124450928292e-11,
    3.47272670930455e-11,
    1.7714495214011192e-11,
    -2.7276023158200452e-12,
    -2.907688342182867e-12,
    1.2031458219387989e-13,
    4.5329666782606727e-13,
    1.37256205867155e-14,
    -7.074086260286855e-14,
    -5.409310282882142e-15,
    1.1357687198999241e-14,
    1.128073562364402e-15,
    -1.899694947394927e-15,
];

/// The real part of the Faddeeva function `w(x + iy) = exp(−z²) erfc(−iz)`, to about 2e-15 absolutely.
///
/// J. A. C. Weideman, Computation of the complex error function, SIAM J. Numer. Anal. 31 (1994) 1497, in the upper half of
/// the plane; in the lower half by `w(z) = 2 exp(−z²) − w(−z)`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn faddeeva<S: Scalar>(x: S, y: S) -> S {
    let zero = S::constant(real::<S>(0.0));
    let mirrored = faddeeva_above(x, y.select_less(zero, -y, y));
    let mirror = (y * y - x * x).exp() * (x * y * real::<S>(2.0)).cos() * real::<S>(2.0);
    y.select_less(zero, mirror - mirrored, mirrored)
}

/// The Voigt profile of area one: a Gaussian of standard deviation `sigma`, widened by a Lorentzian of half width `gamma`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(in crate::curve) fn voigt<S: Scalar>([x, sigma, gamma]: [S; 3]) -> S {
    let scale = (sigma.abs() * real::<S>(SQRT_2)).recip();
    faddeeva(x * scale, gamma * scale) * scale * real::<S>(PI.sqrt().recip())
}

/// The [`faddeeva`] function in the upper half of the plane.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn faddeeva_above<S: Scalar>(x: S, y: S) -> S {
    let length = real::<S>(LENGTH);
    // 1 / (L − iz), where L − iz = (L + y) − ix.
    let below = ((y + length) * (y + length) + x * x).recip();
    let reciprocal = [(y + length) * below, x * below];
    let ratio = times([-y + length, x], reciprocal);
    let zero = S::constant(real::<S>(0.0));
    let mut polynomial = [zero, zero];
    for &coefficient in COEFFICIENTS.iter().rev() {
        let [re, im] = times(polynomial, ratio);
        polynomial = [re + real::<S>(coefficient), im];
    }
    let [re, _] = times(polynomial, times(reciprocal, reciprocal));
    re * real::<S>(2.0) + reciprocal[0] * real::<S>(FRAC_2_SQRT_PI / 2.0)
}

/// The product of complex numbers.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn times<S: Scalar>([a, b]: [S; 2], [c, d]: [S; 2]) -> [S; 2] {
    [a * c - b * d, a * d + b * c]
}

/// `exp(x²) erfc(x)` for `x ≥ 0`: the [`faddeeva`] function on the imaginary axis, where all is real.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn scaled_complement<S: Scalar>(x: S) -> S {
    let length = real::<S>(LENGTH);
    let reciprocal = (x + length).recip();
    let ratio = (-x + length) * reciprocal;
    let mut polynomial = S::constant(real::<S>(0.0));
    for &coefficient in COEFFICIENTS.iter().rev() {
        polynomial = polynomial * ratio + real::<S>(coefficient);
    }
    (polynomial * reciprocal * real::<S>(2.0) + real::<S>(FRAC_2_SQRT_PI / 2.0)) * reciprocal
}

/// The error function, to about 1e-15 absolutely.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn erf<S: Scalar>(x: S) -> S {
    let zero = S::constant(real::<S>(0.0));
    let above = x.select_less(zero, -x, x);
    let value = -(-x * x).exp() * scaled_complement(above) + real::<S>(1.0);
    x.select_less(zero, -value, value)
}

/// `exp(exponent) · erfc(x)`, given `gap = exponent − x²`, without the overflow of the one where the other vanishes.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn exp_times_erfc<S: Scalar>(exponent: S, x: S, gap: S) -> S {
    let zero = S::constant(real::<S>(0.0));
    let tail = gap.exp() * scaled_complement(x.select_less(zero, -x, x));
    x.select_less(zero, exponent.exp() * real::<S>(2.0) - tail, tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autodiff::Dual;

    /// `x`, `y`, and the real part of `scipy.special.wofz(x + iy)`, SciPy 1.17.1.
    const FADDEEVA: [[f64; 3]; 8] = [
        [0.0, 0.0, 1.0],
        [0.5, 1e-3, 0.7781517183125487],
        [1.0, 1.0, 0.30474420525691254],
        [-2.5, 0.1, 0.014698406828789578],
        [6.0, 0.01, 0.00016375289889683265],
        [10.0, 3.0, 0.01572177869915237],
        [0.0, 20.0, 0.028174348741051323],
        [1.5, -0.25, -0.00158766492352172],
    ];

    /// `x`, `erfcx(x)` and `erf(x)` of SciPy 1.17.1.
    const ERROR_FUNCTIONS: [[f64; 3]; 7] = [
        [0.0, 1.0, 0.0],
        [1e-3, 0.9988726200811509, 0.0011283787909692363],
        [0.5, 0.6156903441929258, 0.5204998778130465],
        [1.0, 0.427583576155807, 0.8427007929497148],
        [3.0, 0.17900115118138998, 0.9999779095030014],
        [10.0, 0.05614099274382259, 1.0],
        [40.0, 0.014100335983377815, 1.0],
    ];

    #[test]
    fn faddeeva_is_scipys() {
        for [x, y, expected] in FADDEEVA {
            let value = faddeeva(x, y);
            assert!((value - expected).abs() < 5e-15, "w({x} + {y}i): {value} instead of {expected}");
        }
    }

    /// Expected values: the real parts of `w′(z) = 2i/√π − 2 z w(z)` along both axes, with the imaginary parts of `w` from SciPy.
    #[test]
    fn faddeeva_is_differentiated() {
        for [x, y, im] in
            [[0.5, 1e-3, 0.47814717512158444], [1.0, 1.0, 0.2082189382028316], [10.0, 3.0, 0.05191987608830616]]
        {
            let [at_x, at_y] = Dual::<f64, 2>::variables([x, y]);
            let w = faddeeva(at_x, at_y);
            let by_x = -2.0 * (x * w.value - y * im);
            let by_y = -FRAC_2_SQRT_PI + 2.0 * (x * im + y * w.value);
            assert!((w.gradient[0] - by_x).abs() < 2e-14, "{} instead of {by_x}", w.gradient[0]);
            assert!((w.gradient[1] - by_y).abs() < 2e-14, "{} instead of {by_y}", w.gradient[1]);
        }
    }

    #[test]
    fn error_functions_are_scipys() {
        for [x, scaled, expected] in ERROR_FUNCTIONS {
            assert!((scaled_complement(x) - scaled).abs() < 2e-15 * scaled, "{x}");
            assert!((erf(x) - expected).abs() < 1e-15, "{x}");
            assert!((erf(-x) + expected).abs() < 1e-15, "{x}");
            let complement = exp_times_erfc(0.0, -x, -x * x);
            assert!((complement - 1.0 - expected).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn nothing_overflows_on_the_way() {
        assert_eq!(exp_times_erfc(900.0, 30.0, 0.0), scaled_complement(30.0));
        assert!(faddeeva(1e150, 1e-3).abs() < 1e-15);
    }
}
