//! Thousands of curves of one family, each to be fitted by itself.

use std::marker::PhantomData;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use rand_distr::{Distribution, Normal};

use super::samples::evenly_spaced;
use super::{Samples, Workload};

/// Number of parameters of every family.
const N: usize = 4;

/// Curves that differ in their parameters alone.
pub trait Family {
    /// What tables and command lines call it.
    const NAME: &'static str;

    /// Where the curves are observed first and last.
    const RANGE: (f64, f64);

    /// Standard deviation of the noise.
    const NOISE: f64;

    /// The model at `x` and its gradient.
    fn model(b: &[f64; N], x: f64) -> (f64, [f64; N]);

    /// The parameters of a curve, and a start that is off; `uniform` draws from a range.
    fn draw(uniform: impl FnMut(f64, f64) -> f64) -> (Truth, Start);
}

/// The parameters behind a curve.
pub type Truth = [f64; N];

/// Where a fit starts.
pub type Start = [f64; N];

/// Noisy curves of the family `F`, all observed in the same places; all vectors but `x` have a row for each curve.
#[derive(Clone, Debug)]
pub struct ManyCurves<F> {
    /// Where all curves were observed.
    pub x: Vec<f64>,
    /// What was observed, row after row.
    pub y: Vec<f64>,
    /// Where the fits start, row after row.
    pub start: Vec<f64>,
    /// The parameters behind the data, row after row.
    pub truth: Vec<f64>,
    family: PhantomData<F>,
}

/// What a row of data was replaced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRow {
    /// NaN everywhere.
    NotANumber,
    /// Zeros.
    Zeros,
    /// The same number, not zero, everywhere.
    Constant,
}

impl<F: Family> ManyCurves<F> {
    /// Number of parameters of a curve.
    pub const PARAMETERS: usize = N;

    /// `count` curves of `points` observations each; `seed` draws parameters, starts and noise.
    pub fn new(count: usize, points: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let noise = Normal::new(0.0, F::NOISE).expect("a positive standard deviation");
        let x = evenly_spaced(F::RANGE.0, F::RANGE.1, points);
        let (mut y, mut start, mut truth) = (Vec::with_capacity(count * points), Vec::new(), Vec::new());
        for _ in 0..count {
            let (of_curve, of_fit) = F::draw(|low, high| super::samples::uniform(low, high, &mut random));
            y.extend(x.iter().map(|&x| F::model(&of_curve, x).0 + noise.sample(&mut random)));
            truth.extend(of_curve);
            start.extend(of_fit);
        }
        Self { x, y, start, truth, family: PhantomData }
    }

    /// Number of curves.
    pub fn count(&self) -> usize {
        self.start.len() / N
    }

    /// Number of observations of each curve.
    pub fn points(&self) -> usize {
        self.x.len()
    }

    /// The curves one by one.
    pub fn each(&self) -> impl Iterator<Item = OneCurve<'_, F>> {
        let parameters = self.start.as_chunks().0.iter().zip(self.truth.as_chunks().0);
        self.y.chunks_exact(self.points()).zip(parameters).map(|(y, (start, truth))| OneCurve {
            samples: Samples { x: &self.x, y },
            start,
            truth,
            family: PhantomData,
        })
    }

    /// The same with every hundredth row bad, by turns in each of the ways there are, and which rows these are.
    pub fn with_bad_rows(mut self) -> (Self, Vec<(usize, BadRow)>) {
        let kinds = [BadRow::NotANumber, BadRow::Zeros, BadRow::Constant];
        let bad: Vec<_> = (50..self.count()).step_by(100).zip(kinds.into_iter().cycle()).collect();
        let points = self.points();
        for &(row, kind) in &bad {
            let y = &mut self.y[row * points..(row + 1) * points];
            match kind {
                BadRow::NotANumber => y.fill(f64::NAN),
                BadRow::Zeros => y.fill(0.0),
                BadRow::Constant => y.fill(1.0),
            }
        }
        (self, bad)
    }
}

/// One curve of many, as a workload of its own.
#[derive(Clone, Debug)]
pub struct OneCurve<'a, F> {
    /// The observations.
    pub samples: Samples<&'a [f64]>,
    /// Where its fit starts.
    pub start: &'a Start,
    /// The parameters behind it.
    pub truth: &'a Truth,
    family: PhantomData<F>,
}

impl<F: Family> Workload for OneCurve<'_, F> {
    fn parameter_count(&self) -> usize {
        N
    }

    fn residual_count(&self) -> usize {
        self.samples.len()
    }

    fn residuals(&self, p: &[f64], first: usize, r: &mut [f64]) {
        let b = parameters(p);
        self.samples.residuals(first, r, |x| F::model(b, x));
    }

    fn linearize(&self, p: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) {
        let b = parameters(p);
        self.samples.rows(first, r, j, |x| F::model(b, x));
    }

    fn linearize_columns(&self, p: &[f64], r: &mut [f64], columns: &mut [&mut [f64]]) {
        let b = parameters(p);
        self.samples.columns(r, columns, |x| F::model(b, x));
    }
}

fn parameters(p: &[f64]) -> &[f64; N] {
    p.try_into().expect("every family has four parameters")
}
