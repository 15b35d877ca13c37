//! A spectrum of peaks that overlap with their neighbours: many parameters, long data, a dense Jacobian.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use rand_distr::{Distribution, Normal};

use super::samples::{evenly_spaced, uniform};
use super::{Samples, Workload};

/// `y = Σ a·exp(−½·((x − c)/w)²)` plus a little normal noise; the parameters are `[a, c, w]` peak after peak.
#[derive(Clone, Debug)]
pub struct OverlappingGaussians {
    samples: Samples,
    truth: Vec<f64>,
}

/// How far from the truth a fit starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difficulty {
    /// Amplitudes ±20 %, centres ±¼ width, widths by a factor from 0.85 to 1.18.
    Easy,
    /// Amplitudes ±40 %, centres ±½ width, widths by a factor from 0.7 to 1.4.
    Hard,
}

impl OverlappingGaussians {
    /// Standard deviation of the noise; amplitudes are 0.5 to 2.
    pub const NOISE: f64 = 0.01;

    /// `points` observations of `peaks` peaks; `seed` draws both the peaks and the noise.
    pub fn new(peaks: usize, points: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let truth = row_of_peaks(peaks, &mut random);
        let noise = Normal::new(0.0, Self::NOISE).expect("a positive standard deviation");
        let observe = |&x: &f64| spectrum(&truth, x) + noise.sample(&mut random);
        let samples = Samples::of(evenly_spaced(0.0, end_of(&truth), points), observe);
        Self { samples, truth }
    }

    /// The observations.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// The parameters behind the data.
    pub fn truth(&self) -> &[f64] {
        &self.truth
    }

    /// A starting point: the truth, disturbed by `seed` as far as `difficulty` says.
    pub fn start(&self, seed: u64, difficulty: Difficulty) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = |low, high| uniform(low, high, &mut random);
        let (amplitude, shift, narrow, wide) = difficulty.spread();
        let disturb = |&[a, c, w]: &[f64; 3]| {
            [
                a * draw(1.0 - amplitude, 1.0 + amplitude),
                c + w * draw(-shift, shift),
                w * draw(f64::ln(narrow), f64::ln(wide)).exp(),
            ]
        };
        peaks(&self.truth).iter().flat_map(disturb).collect()
    }
}

impl Difficulty {
    /// Relative spread of amplitudes, shift of centres in widths, least and largest factor on widths.
    fn spread(self) -> (f64, f64, f64, f64) {
        match self {
            Self::Easy => (0.2, 0.25, 0.85, 1.18),
            Self::Hard => (0.4, 0.5, 0.7, 1.4),
        }
    }
}

impl Workload for OverlappingGaussians {
    fn parameter_count(&self) -> usize {
        self.truth.len()
    }

    fn residual_count(&self) -> usize {
        self.samples.len()
    }

    fn residuals(&self, p: &[f64], first: usize, r: &mut [f64]) {
        for ((x, y), r) in self.samples.starting_at(first).zip(r) {
            *r = spectrum(p, x) - y;
        }
    }

    fn linearize(&self, p: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) {
        for (((x, y), r), row) in self.samples.starting_at(first).zip(r).zip(j.chunks_exact_mut(p.len())) {
            *r = -y;
            for (peak, derivatives) in peaks(p).iter().zip(row.as_chunks_mut().0) {
                let (value, gradient) = gaussian(peak, x);
                *r += value;
                *derivatives = gradient;
            }
        }
    }

    fn linearize_columns(&self, p: &[f64], r: &mut [f64], columns: &mut [&mut [f64]]) {
        for (r, y) in r.iter_mut().zip(&self.samples.y) {
            *r = -y;
        }
        for (peak, [by_amplitude, by_centre, by_width]) in peaks(p).iter().zip(columns.as_chunks_mut().0) {
            for (i, (&x, r)) in self.samples.x.iter().zip(&mut *r).enumerate() {
                let (value, gradient) = gaussian(peak, x);
                *r += value;
                [by_amplitude[i], by_centre[i], by_width[i]] = gradient;
            }
        }
    }
}

/// The parameters, peak by peak.
fn peaks(p: &[f64]) -> &[[f64; 3]] {
    p.as_chunks().0
}

/// The sum of all peaks at `x`.
fn spectrum(p: &[f64], x: f64) -> f64 {
    peaks(p).iter().map(|peak| gaussian(peak, x).0).sum()
}

/// One peak at `x` and its derivatives by amplitude, centre and width, from one exponential.
#[inline]
fn gaussian(&[amplitude, centre, width]: &[f64; 3], x: f64) -> (f64, [f64; 3]) {
    let inverse = 1.0 / width;
    let u = (x - centre) * inverse;
    let shape = (-0.5 * u * u).exp();
    let slope = amplitude * shape * u * inverse;
    (amplitude * shape, [shape, slope, slope * u])
}

/// Peaks of amplitude 0.5 to 2 and width 0.85 to 1.15, each 2 to 2.5 mean widths after the one before.
fn row_of_peaks(count: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut draw = |low, high| uniform(low, high, random);
    let (mut edge, mut truth) = (MARGIN, Vec::with_capacity(3 * count));
    for _ in 0..count {
        let (amplitude, width, spacing) = (draw(0.5, 2.0), draw(0.85, 1.15), draw(2.0, 2.5));
        truth.extend([amplitude, edge + 0.5 * spacing * width, width]);
        edge += spacing * width;
    }
    truth
}

/// Empty room before the first and after the last peak, in mean widths.
const MARGIN: f64 = 3.0;

/// Where the data of these peaks end.
fn end_of(truth: &[f64]) -> f64 {
    peaks(truth).last().map_or(0.0, |[_, centre, width]| centre + width) + MARGIN
}
