//! Random data, starts and bounds.

use std::ops::Range;

use marquardt::number::Number;
use marquardt::problem::RobustLoss;
use marquardt::{Dual, EvaluationError, Loss, Real, Residuals, Scalar};

use crate::draw::Draw;
use crate::family::{Family, WIDTH};

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
    /// Standard deviations of the responses, all 1 unless they are drawn.
    pub sigma: Vec<f64>,
    /// A loss with its scale, if both are given to the fit.
    pub loss: Option<(Loss, f64)>,
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
        Sample { family, data, distance, truth, sigma: vec![1.0; points], loss: None, x, y, start, size }
    }

    /// Draws standard deviations, which differ by up to a factor of a thousand.
    pub fn draw_sigma(&mut self, draw: &mut Draw) {
        let (typical, spread) = (self.size * draw.power_of_ten(-3.0, 0.0), draw.uniform(0.0, 1.5));
        self.sigma.fill_with(|| typical * draw.power_of_ten(-spread, spread));
    }

    /// Draws a loss with its scale, which may be far from the size of the noise.
    pub fn draw_loss(&mut self, draw: &mut Draw) -> (Loss, f64) {
        let loss = draw.one_of(&Loss::ALL[1..]);
        let scale = RobustLoss::<f64>::tuning(&loss) * self.size * draw.power_of_ten(-3.0, 0.5);
        *self.loss.insert((loss, scale))
    }

    /// True if a fit in this float can begin: residuals and derivatives at the start are finite, their squares do not overflow, and
    /// in units of the loss's scale either, and those of a column or of the residuals do not vanish, weighted by the loss, unless all of
    /// these are zero.
    pub fn may_start<T: Real>(&self) -> bool {
        let misfit = Misfit::<T>::new(self);
        let start = self.start.iter().map(|&start| <T as Number>::from_f64(start)).enumerate();
        let start: Vec<_> = start.map(|(j, start)| Dual::<T, WIDTH>::variable(start, j)).collect();
        let mut rows = vec![Dual::constant(T::ZERO); misfit.x.len()];
        misfit.evaluate(&start, 0, &mut rows).expect("formulas do not fail");
        let weight = |row: &Dual<T, WIDTH>| {
            let slope = self.loss.map_or(1.0, |(loss, scale)| loss.rho((row.value.to_f64() / scale).powi(2))[1]);
            <T as Number>::from_f64(slope)
        };
        let weights: Vec<_> = rows.iter().map(weight).collect();
        let is_usable = |column: Vec<T>| {
            let squares: T = column.iter().map(|&a| a * a).sum();
            let weighted: T = column.iter().zip(&weights).map(|(&a, &weight)| a * a * weight).sum();
            let vanishes = weighted < T::MIN_POSITIVE / T::EPSILON && column.iter().any(|&a| a != T::ZERO);
            (squares / T::EPSILON).is_finite() && !vanishes
        };
        let has_loss = |row: &Dual<T, WIDTH>| {
            let scaled = self.loss.map_or(T::ZERO, |(_, scale)| row.value / <T as Number>::from_f64(scale));
            (scaled * scaled).is_finite()
        };
        let column = |of: &dyn Fn(&Dual<T, WIDTH>) -> T| rows.iter().map(of).collect();
        rows.iter().all(has_loss)
            && is_usable(column(&|row| row.value))
            && (0..start.len()).all(|j| is_usable(column(&|row: &Dual<T, WIDTH>| row.gradient[j])))
    }

    pub fn parameters(&self) -> usize {
        self.truth.len()
    }

    /// Bounds around the truth that this float can hold, some of which cut it off.
    pub fn bounds<T: Real>(&self, draw: &mut Draw) -> (Vec<f64>, Vec<f64>) {
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
        let round = |bound: f64| <T as Number>::from_f64(bound).to_f64();
        bounds.map(|(lower, upper)| (round(lower), round(upper))).unzip()
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

/// The residuals `(f(x) − y) / σ` of a sample in any float.
#[derive(Debug, Clone)]
pub struct Misfit<T> {
    pub family: Family,
    pub x: Vec<T>,
    pub y: Vec<T>,
    pub sigma: Vec<T>,
}

impl<T: Real> Misfit<T> {
    pub fn new(sample: &Sample) -> Self {
        Misfit::of(sample.family, &sample.x, &sample.y, &sample.sigma)
    }

    fn of(family: Family, x: &[f64], y: &[f64], sigma: &[f64]) -> Self {
        let convert = |values: &[f64]| values.iter().map(|&value| <T as Number>::from_f64(value)).collect();
        Misfit { family, x: convert(x), y: convert(y), sigma: convert(sigma) }
    }

    /// The same residuals in another float.
    pub fn to<U: Real>(&self) -> Misfit<U> {
        let wide = |values: &[T]| values.iter().map(|value| value.to_f64()).collect::<Vec<_>>();
        Misfit::of(self.family, &wide(&self.x), &wide(&self.y), &wide(&self.sigma))
    }

    /// The residuals of some rows.
    pub fn part(&self, rows: Range<usize>) -> Self {
        let of = |values: &[T]| values[rows.clone()].to_vec();
        Misfit { family: self.family, x: of(&self.x), y: of(&self.y), sigma: of(&self.sigma) }
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
        for (r, i) in r.iter_mut().zip(first..) {
            *r = (self.family.at(self.x[i], b) - self.y[i]) / self.sigma[i];
        }
        Ok(())
    }
}
