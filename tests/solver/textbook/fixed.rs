//! Problems 1 to 19, whose sizes are fixed but for the number of residuals of two of them. `x` counts from 0.

use std::f64::consts::PI;

use marquardt::Scalar;

use super::data::{BARD, GAUSSIAN, KOWALIK_OSBORNE, MEYER, OSBORNE_1, OSBORNE_2};

/// 1, 2, …, `count`.
pub fn numbered(count: usize) -> impl Iterator<Item = f64> {
    (1..=count).map(|i| i as f64)
}

pub fn rosenbrock<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    vec![(x[1] - x[0].powi(2)) * 10.0, -x[0] + 1.0]
}

pub fn freudenstein_roth<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    vec![x[0] + ((-x[1] + 5.0) * x[1] - 2.0) * x[1] - 13.0, x[0] + ((x[1] + 1.0) * x[1] - 14.0) * x[1] - 29.0]
}

pub fn powell_badly_scaled<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    vec![x[0] * x[1] * 1e4 - 1.0, (-x[0]).exp() + (-x[1]).exp() - 1.0001]
}

pub fn brown_badly_scaled<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    vec![x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2.0]
}

pub fn beale<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    (1..).zip([1.5, 2.25, 2.625]).map(|(i, y)| -x[0] * (-x[1].powi(i) + 1.0) + y).collect()
}

pub fn jennrich_sampson<S: Scalar<Real = f64>>(x: &[S], m: usize) -> Vec<S> {
    numbered(m).map(|i| -(x[0] * i).exp() - (x[1] * i).exp() + 2.0 * (1.0 + i)).collect()
}

pub fn helical_valley<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let turn = if x[0].value() < 0.0 { 0.5 } else { 0.0 };
    let angle = (x[1] / x[0]).atan() / (2.0 * PI) + turn;
    vec![(x[2] - angle * 10.0) * 10.0, (Scalar::hypot(x[0], x[1]) - 1.0) * 10.0, x[2]]
}

pub fn bard<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let rows = numbered(15).zip(BARD);
    rows.map(|(u, y)| -(x[0] + S::constant(u) / (x[1] * (16.0 - u) + x[2] * u.min(16.0 - u))) + y).collect()
}

pub fn gaussian<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let rows = numbered(15).map(|i| 0.5 * (8.0 - i)).zip(GAUSSIAN);
    rows.map(|(t, y)| x[0] * (-x[1] * (-x[2] + t).powi(2) * 0.5).exp() - y).collect()
}

pub fn meyer<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    numbered(16).zip(MEYER).map(|(i, y)| x[0] * (x[1] / (x[2] + (45.0 + 5.0 * i))).exp() - y).collect()
}

/// The exponent is `|y − x₂|^x₃ / x₁`; a misprint in the paper multiplies where a difference is meant.
pub fn gulf<S: Scalar<Real = f64>>(x: &[S], m: usize) -> Vec<S> {
    let rows = numbered(m).map(|i| i / 100.0);
    rows.map(|t| {
        let y = 25.0 + (-50.0 * t.ln()).powf(2.0 / 3.0);
        (-(-x[1] + y).abs().pow(x[2]) / x[0]).exp() - t
    })
    .collect()
}

pub fn box_three_dimensional<S: Scalar<Real = f64>>(x: &[S], m: usize) -> Vec<S> {
    let rows = numbered(m).map(|i| 0.1 * i);
    rows.map(|t| (-x[0] * t).exp() - (-x[1] * t).exp() - x[2] * ((-t).exp() - (-10.0 * t).exp())).collect()
}

pub fn powell_singular<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    vec![
        x[0] + x[1] * 10.0,
        (x[2] - x[3]) * 5_f64.sqrt(),
        (x[1] - x[2] * 2.0).powi(2),
        (x[0] - x[3]).powi(2) * 10_f64.sqrt(),
    ]
}

pub fn wood<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    vec![
        (x[1] - x[0].powi(2)) * 10.0,
        -x[0] + 1.0,
        (x[3] - x[2].powi(2)) * 90_f64.sqrt(),
        -x[2] + 1.0,
        (x[1] + x[3] - 2.0) * 10_f64.sqrt(),
        (x[1] - x[3]) / 10_f64.sqrt(),
    ]
}

pub fn kowalik_osborne<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let rows = KOWALIK_OSBORNE.into_iter();
    rows.map(|(y, u)| -x[0] * (x[1] * u + u * u) / (x[2] * u + x[3] + u * u) + y).collect()
}

pub fn brown_dennis<S: Scalar<Real = f64>>(x: &[S], m: usize) -> Vec<S> {
    let rows = numbered(m).map(|i| i / 5.0);
    rows.map(|t| (x[0] + x[1] * t - t.exp()).powi(2) + (x[2] + x[3] * t.sin() - t.cos()).powi(2)).collect()
}

pub fn osborne_1<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let rows = numbered(33).map(|i| 10.0 * (i - 1.0)).zip(OSBORNE_1);
    rows.map(|(t, y)| -(x[0] + x[1] * (-x[3] * t).exp() + x[2] * (-x[4] * t).exp()) + y).collect()
}

pub fn biggs_exp6<S: Scalar<Real = f64>>(x: &[S], m: usize) -> Vec<S> {
    let rows = numbered(m).map(|i| 0.1 * i);
    rows.map(|t| {
        let y = (-t).exp() - 5.0 * (-10.0 * t).exp() + 3.0 * (-4.0 * t).exp();
        x[2] * (-x[0] * t).exp() - x[3] * (-x[1] * t).exp() + x[5] * (-x[4] * t).exp() - y
    })
    .collect()
}

pub fn osborne_2<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let rows = numbered(65).map(|i| 0.1 * (i - 1.0)).zip(OSBORNE_2);
    rows.map(|(t, y)| {
        let peak = |height: S, width: S, center: S| height * (-(-center + t).powi(2) * width).exp();
        let peaks = peak(x[1], x[5], x[8]) + peak(x[2], x[6], x[9]) + peak(x[3], x[7], x[10]);
        -(x[0] * (-x[4] * t).exp() + peaks) + y
    })
    .collect()
}
