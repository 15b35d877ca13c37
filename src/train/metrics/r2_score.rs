//! The coefficient of determination.

use super::Metric;
use super::mean_error::needs_values;
use crate::nn::{Predictions, Targets};
use crate::real::Real;
use crate::train::Mode;

/// The coefficient of determination `R² = 1 − Σ(t − y)² / Σ(t − t̄)²`, the mean of it over several outputs: `r2_score`.
///
/// Samples are weighted by their sample weights. NaN if the targets do not vary. Only for losses with [`Targets::Values`].
#[derive(Debug, Clone, Default)]
pub struct R2Score {
    outputs: Vec<ScoreMoments>,
}

/// Moments of one output.
#[derive(Debug, Clone, Copy, Default)]
struct ScoreMoments {
    weight: f64,
    mean: f64,
    /// `Σ(t − t̄)²`
    total: f64,
    /// `Σ(t − y)²`
    residual: f64,
}

impl ScoreMoments {
    /// Welford's update: the mean is never subtracted from a sum of squares.
    fn add(&mut self, output: f64, target: f64, weight: f64) {
        if weight > 0.0 {
            self.weight += weight;
            let distance = target - self.mean;
            self.mean += distance * (weight / self.weight);
            self.total += weight * distance * (target - self.mean);
            self.residual += weight * (target - output) * (target - output);
        }
    }

    /// Chan's update, by the moments of other samples.
    fn merge(&mut self, other: &ScoreMoments) {
        if other.weight > 0.0 {
            let weight = self.weight + other.weight;
            let (distance, share) = (other.mean - self.mean, other.weight / weight);
            self.mean += distance * share;
            self.total += other.total + distance * distance * self.weight * share;
            self.residual += other.residual;
            self.weight = weight;
        }
    }
}

impl R2Score {
    /// Creates the metric, without samples.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<T: Real> Metric<T> for R2Score {
    fn name(&self) -> &str {
        "r2_score"
    }

    fn mode(&self) -> Mode {
        Mode::Max
    }

    fn check(&self, kind: Targets, _width: usize) -> Result<(), String> {
        needs_values(kind)
    }

    fn reset(&mut self) {
        self.outputs.clear();
    }

    fn update(&mut self, samples: &Predictions<'_, T>) {
        self.outputs.resize(samples.width, ScoreMoments::default());
        let rows = samples.outputs.chunks_exact(samples.width).zip(samples.targets.chunks_exact(samples.width));
        for ((outputs, targets), weight) in rows.zip(samples.weights) {
            for ((moments, y), t) in self.outputs.iter_mut().zip(outputs).zip(targets) {
                moments.add(y.to_f64(), t.to_f64(), weight.to_f64());
            }
        }
    }

    fn result(&self) -> f64 {
        let scores = self.outputs.iter().map(|moments| 1.0 - moments.residual / moments.total);
        let score = scores.sum::<f64>() / self.outputs.len() as f64;
        if score.is_finite() { score } else { f64::NAN }
    }

    fn state(&self, numbers: &mut Vec<f64>) {
        numbers.extend(self.outputs.iter().flat_map(|m| [m.weight, m.mean, m.total, m.residual]));
    }

    fn restore(&mut self, state: &[f64]) {
        self.outputs = moments(state).collect();
    }

    fn merge(&mut self, state: &[f64]) -> bool {
        // Where there were no samples, the number of outputs is not known.
        if self.outputs.is_empty() {
            self.outputs = moments(state).collect();
        } else {
            self.outputs.iter_mut().zip(moments(state)).for_each(|(moments, other)| moments.merge(&other));
        }
        true
    }
}

/// The moments in a state.
fn moments(state: &[f64]) -> impl Iterator<Item = ScoreMoments> {
    let moments = state.as_chunks().0.iter();
    moments.map(|&[weight, mean, total, residual]| ScoreMoments { weight, mean, total, residual })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the score over parts of 100 samples, merged.
    fn score(offset: f64, cuts: &[usize]) -> f64 {
        let mut merged = R2Score::new();
        let mut start = 0;
        for &end in cuts {
            let targets: Vec<f64> = (start..end).map(|i| offset + (i as f64).sin()).collect();
            let outputs: Vec<f64> = (start..end).map(|i| offset + 0.9 * (i as f64).sin()).collect();
            let weights: Vec<f64> = (start..end).map(|i| (i % 3) as f64).collect();
            let kind = Targets::Values;
            let mut metric = R2Score::new();
            if start < end {
                metric.update(&Predictions {
                    term: 0,
                    width: 1,
                    outputs: &outputs,
                    kind,
                    targets: &targets,
                    weights: &weights,
                });
            }
            let mut state = Vec::new();
            Metric::<f64>::state(&metric, &mut state);
            assert!(Metric::<f64>::merge(&mut merged, &state));
            start = end;
        }
        Metric::<f64>::result(&merged)
    }

    #[test]
    fn a_large_offset_costs_no_digits() {
        assert!((score(1e6, &[100]) - score(0.0, &[100])).abs() < 1e-8);
    }

    #[test]
    fn parts_merge_into_the_whole() {
        for cuts in [&[0, 30, 100][..], &[99, 100], &[1, 2, 2, 100]] {
            assert!((score(0.0, cuts) - score(0.0, &[100])).abs() < 1e-14);
            assert!((score(1e6, cuts) - score(0.0, &[100])).abs() < 1e-8);
        }
    }
}
