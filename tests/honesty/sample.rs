//! Random data, starts and bounds.

use marquardt::number::Number;
use marquardt::{EvaluationError, Real, Residuals, Scalar};

use crate::draw::Draw;
use crate::family::Family;

/// How the data differ from the true curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    Exact,
    TwoDigits,
    ThreeDigits,
    Noisy,
    Outliers,
    WrongModel,
    NoiseAlone,
}

/// How far the start is from the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Near,
    Far,
    Absurd,
}

/// A curve to fit: data, start and what they were made from.
#[derive(Debug, Clone)]
pub struct Sample {
    pub family: Family,
    pub data: Data,
    pub distance: Start,
    pub truth: Vec<f64>,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub start: Vec<f64>,
    /// The largest true response.
    pub size: f64,
}

const DATA: [Data; 7] =
    [Data::Exact, Data::TwoDigits, Data::ThreeDigits, Data::Noisy, Data::Outliers, Data::WrongModel, Data::NoiseAlone];

impl Sample {
    /// A sample of a family with so many points.
    pub fn new(family: Family, points: usize, draw: &mut Draw) -> Self {
        let (data, distance) = (draw.one_of(&DATA), draw.one_of(&[Start::Near, Start::Far, Start::Far, Start::Absurd]));
        let truth = truth_of(family, draw);
        let (low, high) = family.range();
        let step = (high - low) / points.max(2) as f64;
        let evenly = draw.chance(0.7);
        let x: Vec<f64> =
            (0..points).map(|i| if evenly { low + step * (i as f64 + 0.5) } else { draw.uniform(low, high) }).collect();
        let clean: Vec<f64> = x.iter().map(|&x| family.at(x, &truth)).collect();
        let size = clean.iter().fold(1e-300, |size: f64, y| size.max(y.abs()));
        let y = distort(&clean, data, size, family, &x, draw);
        let start = start_of(&truth, distance, draw);
        Sample { family, data, distance, truth, x, y, start, size }
    }

    pub fn parameters(&self) -> usize {
        self.truth.len()
    }

    /// Bounds around the truth, some of which cut it off.
    pub fn bounds(&self, draw: &mut Draw) -> (Vec<f64>, Vec<f64>) {
        let bounds = self.truth.iter().map(|&truth| {
            let mut width = || truth.abs().max(1e-3) * draw.power_of_ten(-2.0, 1.0);
            let (below, above) = (truth - width(), truth + width());
            match draw.below(10) {
                0 | 1 => (f64::NEG_INFINITY, f64::INFINITY),
                2 => (below, f64::INFINITY),
                3 => (f64::NEG_INFINITY, above),
                4 => (truth + 0.1 * truth.abs(), truth + 0.5 * truth.abs() + 1.0),
                5 => (truth - 0.5 * truth.abs() - 1.0, truth - 0.1 * truth.abs()),
                6 if draw.chance(0.2) => (below, below),
                _ => (below, above),
            }
        });
        bounds.unzip()
    }
}

fn truth_of(family: Family, draw: &mut Draw) -> Vec<f64> {
    let of_range = |&(low, high): &(f64, f64)| {
        if low > 0.0 && high > 20.0 * low {
            draw.power_of_ten(low.log10(), high.log10())
        } else {
            draw.uniform(low, high)
        }
    };
    family.truth().iter().map(of_range).collect()
}

fn rounded(value: f64, unit: f64) -> f64 {
    (value / unit).round() * unit
}

fn distort(clean: &[f64], data: Data, size: f64, family: Family, x: &[f64], draw: &mut Draw) -> Vec<f64> {
    let level = size * draw.power_of_ten(-6.0, -0.5);
    match data {
        Data::Exact => clean.to_vec(),
        Data::TwoDigits => clean.iter().map(|y| rounded(*y, 10_f64.powf(size.log10().ceil() - 2.0))).collect(),
        Data::ThreeDigits => clean.iter().map(|y| rounded(*y, 10_f64.powf(size.log10().ceil() - 3.0))).collect(),
        Data::Noisy => clean.iter().map(|y| y + level * draw.normal()).collect(),
        Data::Outliers => {
            let outlier = |y: &f64| {
                if draw.chance(0.2) { y + 3.0 * size * draw.normal() } else { y + 0.01 * size * draw.normal() }
            };
            clean.iter().map(outlier).collect()
        }
        Data::WrongModel => {
            let other = Family::ALL[(family as usize + 1 + draw.below(Family::ALL.len() - 1)) % Family::ALL.len()];
            let (truth, (low, high)) = (truth_of(other, draw), other.range());
            let (first, last) = family.range();
            let at = |x: &f64| other.at(low + (x - first) / (last - first) * (high - low), &truth);
            x.iter().map(at).collect()
        }
        Data::NoiseAlone => clean.iter().map(|_| size * draw.normal()).collect(),
    }
}

fn start_of(truth: &[f64], distance: Start, draw: &mut Draw) -> Vec<f64> {
    let all_equal = draw.chance(0.1).then(|| draw.one_of(&[0.0, 1.0, -1.0, 1e3]));
    let of_truth = |&truth: &f64| match distance {
        Start::Near => truth * draw.uniform(0.7, 1.4),
        Start::Far => {
            let sign = if draw.chance(0.2) { -1.0 } else { 1.0 };
            sign * truth * draw.power_of_ten(-3.0, 3.0) * if draw.chance(0.3) { 1e-1 } else { 1.0 }
        }
        Start::Absurd => {
            let sign = if draw.chance(0.5) { -1.0 } else { 1.0 };
            all_equal.unwrap_or_else(|| sign * draw.power_of_ten(-8.0, 8.0))
        }
    };
    truth.iter().map(of_truth).collect()
}

/// The residuals `f(x) − y` of a sample in any float.
#[derive(Debug, Clone)]
pub struct Misfit<T> {
    pub family: Family,
    pub x: Vec<T>,
    pub y: Vec<T>,
}

impl<T: Real> Misfit<T> {
    pub fn new(sample: &Sample) -> Self {
        let convert = |values: &[f64]| values.iter().map(|&value| <T as Number>::from_f64(value)).collect();
        Misfit { family: sample.family, x: convert(&sample.x), y: convert(&sample.y) }
    }
}

impl<T: Real> Residuals<T> for Misfit<T> {
    fn parameter_count(&self) -> usize {
        self.family.parameters()
    }

    fn residual_count(&self) -> usize {
        self.x.len()
    }

    fn evaluate<S: Scalar<Real = T>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (r, (&x, &y)) in r.iter_mut().zip(self.x[first..].iter().zip(&self.y[first..])) {
            *r = self.family.at(x, b) - y;
        }
        Ok(())
    }
}
