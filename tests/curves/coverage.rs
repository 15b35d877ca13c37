//! Confidence intervals contain the true values as often as they say.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::{CurveFit, Dual};
use rand_distr::{Distribution, StandardNormal};

const REPETITIONS: usize = 2000;
const X: [f64; 10] = [0.0, 0.4, 0.8, 1.2, 1.6, 2.0, 2.5, 3.0, 3.5, 4.0];

/// How often the 95 % intervals of all parameters contain their true values, over simulated data with normal noise of
/// these standard deviations about `curve`; and how often those of normal quantiles would.
fn coverage<const N: usize>(
    curve: impl Fn(f64, [Dual<f64, N>; N]) -> Dual<f64, N> + Copy + Send + Sync,
    truth: [f64; N],
    sigma: impl Fn(usize) -> f64,
    absolute: bool,
) -> [[f64; N]; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(2026);
    let clean = X.map(|x| curve(x, truth.map(Dual::constant)).value);
    let sigmas: [f64; 10] = std::array::from_fn(sigma);
    // A relative sigma may be off by any factor.
    let given = sigmas.map(|sigma| if absolute { sigma } else { 40.0 * sigma });
    let mut hits = [[0; N]; 2];
    for _ in 0..REPETITIONS {
        let y: [f64; 10] = std::array::from_fn(|i| {
            let noise: f64 = StandardNormal.sample(&mut random);
            clean[i] + sigmas[i] * noise
        });
        let fit = CurveFit::new(curve, &X, &y, truth).sigma(&given).absolute_sigma(absolute).fit().unwrap();
        let intervals = fit.confidence_intervals(0.95).unwrap();
        for (j, (interval, parameter)) in intervals.iter().zip(fit.parameters()).enumerate() {
            hits[0][j] += usize::from(interval.contains(truth[j]));
            hits[1][j] += usize::from((parameter.value - truth[j]).abs() <= 1.96 * parameter.standard_error);
        }
    }
    hits.map(|hits| hits.map(|hits| hits as f64 / REPETITIONS as f64))
}

fn assert_covers(found: &[f64]) {
    assert!(found.iter().all(|share| (0.93..=0.97).contains(share)), "{found:?}");
}

#[test]
fn a_line_with_known_noise() {
    assert_covers(&coverage(|x, [a, b]| a + b * x, [1.0, -0.5], |_| 0.3, true)[0]);
}

/// Here intervals by the wrong distribution would show: with eight degrees of freedom, normal ones cover 91 %.
#[test]
fn a_line_with_unknown_noise() {
    let [student, normal] = coverage(|x, [a, b]| a + b * x, [1.0, -0.5], |_| 0.3, false);
    assert_covers(&student);
    assert!(normal.iter().all(|&share| share < 0.93), "{normal:?}");
}

#[test]
fn a_decay_with_known_noise() {
    assert_covers(&coverage(|x, [a, k]| a * (-k * x).exp(), [5.0, 0.7], |i| 0.05 + 0.02 * i as f64, true)[0]);
}

#[test]
fn a_decay_with_unknown_noise() {
    assert_covers(&coverage(|x, [a, k]| a * (-k * x).exp(), [5.0, 0.7], |i| 0.05 + 0.02 * i as f64, false)[0]);
}
