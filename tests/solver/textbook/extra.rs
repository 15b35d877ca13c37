//! Problems that the paper does not have, for which bounds matter. `x` counts from 0.

use marquardt::Scalar;

/// Predictor and response of Misra1a of the NIST Statistical Reference Datasets.
const MISRA: [(f64, f64); 14] = [
    (77.6, 10.07),
    (114.9, 14.73),
    (141.1, 17.94),
    (190.8, 23.93),
    (239.9, 29.61),
    (289.0, 35.18),
    (332.8, 40.02),
    (378.4, 44.82),
    (434.8, 50.76),
    (477.3, 55.05),
    (536.8, 61.01),
    (593.1, 66.40),
    (689.1, 75.47),
    (760.0, 81.78),
];

/// The same of BoxBOD.
const BOX_BOD: [(f64, f64); 6] = [(1.0, 109.0), (2.0, 149.0), (3.0, 149.0), (5.0, 191.0), (7.0, 213.0), (10.0, 224.0)];

/// Hock and Schittkowski's problem 45, `2 − Πx/120`, as the square of its root.
pub fn hock_schittkowski_45<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let product = x.iter().fold(S::constant(1.0), |product, &x| product * x);
    vec![(-product / 120.0 + 2.0).sqrt()]
}

pub fn misra_1a<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    saturation(x, &MISRA)
}

pub fn box_bod<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    saturation(x, &BOX_BOD)
}

fn saturation<S: Scalar<Real = f64>>(x: &[S], data: &[(f64, f64)]) -> Vec<S> {
    data.iter().map(|&(t, y)| x[0] * (-(-x[1] * t).exp() + 1.0) - y).collect()
}
