//! The first-order test of a point that is claimed to be a minimum, worked out from the formula alone.

use marquardt::number::Number;
use marquardt::problem::RobustLoss;
use marquardt::{Dual, Loss, Real, Residuals};

use crate::family::WIDTH;
use crate::sample::Misfit;

/// As many units of the last digit of its terms may a residual be off by: elementary functions in lanes err by a unit or two, and a
/// formula has several of them, each computed from rounded numbers. Fits of exact data one by one, with the polish, come as near
/// to their minima as a single unit.
const ROUNDINGS: f64 = 16.0;

/// Points beside a claim that show what rounding does, and how often their change counts.
const NEIGHBOURS: usize = 8;
const CHANGES: f64 = 4.0;

/// The arithmetic that a claim was computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    Double,
    /// Without the polish: the step that is left may promise 10⁻¹⁰ of the cost, half of its slope being left to damping, so that a
    /// cosine may be `√(2·10⁻¹⁰)`.
    Unpolished,
    Single,
}

impl Precision {
    /// The move of parameters, in units of the last digit, by which `Status` measures rounding.
    fn units(self) -> f64 {
        if self == Precision::Single { 16.0 } else { 2.0 }
    }

    /// Smaller derivatives lose digits in the arithmetic, or vanish.
    fn smallest(self) -> f64 {
        match self {
            Precision::Double | Precision::Unpolished => f64::MIN_POSITIVE,
            Precision::Single => f64::from(f32::MIN_POSITIVE),
        }
    }

    /// A cosine, beyond what rounding allows, that makes a claim false, and one that makes it grossly so. Both precisions keep
    /// about the same part of their digits: `ε^0.38` and `ε^0.26`.
    pub fn thresholds(self) -> [f64; 2] {
        match self {
            Precision::Double => [1e-6, 1e-4],
            Precision::Unpolished => [1.5e-5, 1e-4],
            Precision::Single => [2e-3, 1.5e-2],
        }
    }
}

/// A point, and the problem that it is said to solve.
#[derive(Debug, Clone)]
pub struct Claim {
    pub misfit: Misfit<f64>,
    pub x: Vec<f64>,
    /// Lower and upper ones.
    pub bounds: Option<(Vec<f64>, Vec<f64>)>,
    /// A loss with its scale.
    pub loss: Option<(Loss, f64)>,
    pub precision: Precision,
    pub status: String,
    pub is_converged: bool,
}

/// Result of the first-order test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finding {
    /// A parameter, a residual or a derivative is infinite or NaN.
    NotFinite,
    /// The parameter along which the cost falls most.
    Steepest {
        parameter: usize,
        /// `|Σ Jᵢⱼ wᵢ rᵢ| / (‖√w Jⱼ‖ ‖√w r‖)`, with the weights `w` of the loss.
        cosine: f64,
        /// The cosine beyond that which rounding allows.
        excess: f64,
        /// A change of the parameter by its own size is invisible in the residuals: `‖Jⱼ xⱼ‖ ≤ ε ‖y‖`.
        is_vanished: bool,
    },
}

impl Claim {
    /// Looks at each free parameter by itself, in the arithmetic of the claim. The cosine of its column with the residuals may be as
    /// large as rounding makes it:
    ///
    /// - residual `i` is known to `δᵢ = 16ε(|fᵢ| + |yᵢ| + Σⱼ |Jᵢⱼ xⱼ|)`, the terms of which are the rounding of the response, of
    ///   the difference, and of the parameters and what is computed from them; so `Σ Jᵢⱼ wᵢ rᵢ` is to `Σ |Jᵢⱼ| hᵢ δᵢ`, with the
    ///   curvature `h` of the loss;
    /// - a derivative below the smallest normal number is known to that number;
    /// - what a formula loses on the way shows at points that differ in the last digits of their parameters: the cosine is known to
    ///   four times its change from here to there, and to four times the change of the residuals.
    ///
    /// A row whose weight is zero says nothing, nor do residuals whose squares underflow: a start of that kind is an error.
    ///
    /// A parameter at a bound is free where the cost falls inwards.
    pub fn examine(&self) -> Finding {
        match self.precision {
            Precision::Single => self.examine_in::<f32>(),
            Precision::Double | Precision::Unpolished => self.examine_in::<f64>(),
        }
    }

    fn examine_in<T: Real>(&self) -> Finding {
        let mut here = self.rows::<T>(&self.x);
        for row in &mut here {
            if row.value.is_finite() && self.weights(row.value).0 == 0.0 {
                *row = Row { value: 0.0, gradient: [0.0; WIDTH] };
            }
        }
        let is_fixed = |j: usize| self.bounds.as_ref().is_some_and(|(lower, upper)| lower[j] == upper[j]);
        let is_finite =
            |row: &Row| row.value.is_finite() && (0..self.x.len()).all(|j| row.gradient[j].is_finite() || is_fixed(j));
        if !self.x.iter().all(|x| x.is_finite()) || !here.iter().all(is_finite) {
            return Finding::NotFinite;
        }
        let neighbours: Vec<_> = (0..NEIGHBOURS).map(|k| self.rows::<T>(&self.neighbour::<T>(k))).collect();
        let (epsilon, smallest) = (T::EPSILON.to_f64(), self.precision.smallest());
        let weights: Vec<_> = here.iter().map(|row| self.weights(row.value)).collect();
        let r = self.residuals(&here);
        // In units of the residuals.
        let rounding = |i: usize| {
            let (y, row) = (self.whitened(i), &here[i]);
            let moved: f64 = row
                .gradient
                .iter()
                .zip(&self.x)
                .map(|(slope, x)| (slope * x).abs())
                .filter(|moved| moved.is_finite())
                .sum();
            ROUNDINGS * epsilon * ((row.value + y).abs() + y.abs() + moved) / r.length * weights[i].1
        };
        let lost = |i: usize, slope: f64| if slope.abs() < smallest { smallest * r.unit[i].abs() } else { 0.0 };
        let size = Direction::of((0..here.len()).map(|i| self.whitened(i)).collect()).length;
        let test = |j: usize| {
            if is_fixed(j) {
                return Finding::Steepest { parameter: j, cosine: 0.0, excess: 0.0, is_vanished: false };
            }
            let column = self.column(&here, j);
            let cosine = column.cosine(&r);
            let rounded: f64 = here
                .iter()
                .enumerate()
                .map(|(i, row)| row.gradient[j].abs() * rounding(i) + lost(i, row.gradient[j]))
                .sum();
            let change = |rows: &Vec<Row>| {
                // In units of here, where the residuals may all but vanish.
                let (column_there, r_there) = (self.column(rows, j), self.residuals(rows));
                let (longer, larger) = (column_there.length / column.length, r_there.length / r.length);
                let of_cosine = (column_there.cosine(&r_there) * longer * larger - cosine).abs();
                let of_residuals =
                    r.unit.iter().zip(&r_there.unit).map(|(r, there)| (larger * there - r).powi(2)).sum::<f64>();
                of_cosine.max(of_residuals.sqrt())
            };
            let change = neighbours.iter().map(change).fold(0.0, f64::max);
            let is_lost = r.length * r.length == 0.0;
            let cosine = if self.is_free(j, cosine) && !is_lost { cosine.abs() } else { 0.0 };
            let excess = (cosine - rounded / column.length - CHANGES * change).max(0.0);
            let is_vanished = column.length * self.x[j].abs() <= epsilon * size;
            Finding::Steepest { parameter: j, cosine, excess: if cosine > 0.0 { excess } else { 0.0 }, is_vanished }
        };
        let steeper = |a: Finding, b: Finding| if b.excess() > a.excess() { b } else { a };
        (0..self.x.len()).map(test).reduce(steeper).unwrap_or(Finding::NotFinite)
    }

    /// A response in units of its standard deviation.
    pub fn whitened(&self, i: usize) -> f64 {
        self.misfit.y[i] / self.misfit.sigma[i]
    }

    /// Residuals with their derivatives at these parameters, computed in this float, but for derivatives that are
    /// [lost](Self::lost_derivative) in it.
    fn rows<T: Real>(&self, x: &[f64]) -> Vec<Row> {
        let narrow = |values: &[f64]| values.iter().map(|&value| <T as Number>::from_f64(value)).collect::<Vec<_>>();
        let misfit = self.misfit.to::<T>();
        let b: Vec<_> = narrow(x).into_iter().enumerate().map(|(j, x)| Dual::<T, WIDTH>::variable(x, j)).collect();
        let mut rows = vec![Dual::constant(T::ZERO); misfit.x.len()];
        misfit.evaluate(&b, 0, &mut rows).expect("formulas do not fail");
        let to_row = |(i, row): (usize, &Dual<T, WIDTH>)| {
            let mut gradient = row.gradient.map(|slope| slope.to_f64());
            for j in (0..b.len()).filter(|&j| row.value.is_finite() && !row.gradient[j].is_finite()) {
                gradient[j] = self.lost_derivative(x, i, j);
            }
            Row { value: row.value.to_f64(), gradient }
        };
        rows.iter().enumerate().map(to_row).collect()
    }

    /// A derivative where an intermediate value overflows although the residual is finite: that in double precision, or a difference.
    fn lost_derivative(&self, x: &[f64], i: usize, j: usize) -> f64 {
        let at = |step: f64| {
            let mut b: Vec<_> = x.iter().enumerate().map(|(j, &x)| Dual::<f64, WIDTH>::variable(x, j)).collect();
            b[j].value += step;
            let mut row = [Dual::constant(0.0)];
            self.misfit.evaluate(&b, i, &mut row).expect("formulas do not fail");
            row[0]
        };
        let (here, step) = (at(0.0), f64::EPSILON.sqrt() * x[j].abs().max(1e-8));
        if here.gradient[j].is_finite() { here.gradient[j] } else { (at(step).value - here.value) / step }
    }

    /// Parameters that are off by some units of their last digits, up or down, by a pattern of number `k`.
    fn neighbour<T: Real>(&self, k: usize) -> Vec<f64> {
        let sign = |j: usize| if (k & (j + 1)).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
        let displaced = |(j, &x): (usize, &f64)| x + self.precision.units() * sign(j) * T::EPSILON.to_f64() * x;
        self.x.iter().enumerate().map(displaced).collect()
    }

    /// `√w r`.
    fn residuals(&self, rows: &[Row]) -> Direction {
        Direction::of(rows.iter().map(|row| self.weights(row.value).0.sqrt() * row.value).collect())
    }

    /// `√w Jⱼ`.
    fn column(&self, rows: &[Row], j: usize) -> Direction {
        Direction::of(rows.iter().map(|row| self.weights(row.value).0.sqrt() * row.gradient[j]).collect())
    }

    /// The weight of a residual, and the curvature that its loss has there.
    fn weights(&self, r: f64) -> (f64, f64) {
        let Some((loss, scale)) = self.loss else { return (1.0, 1.0) };
        let z = (r / scale).powi(2);
        let [_, slope, bend] = loss.rho(z);
        let curvature = slope + 2.0 * z * bend;
        (slope, if curvature.is_finite() { slope.max(curvature.abs()) } else { slope })
    }

    /// No bound keeps the parameter from where the cost falls; `slope` has the sign of the derivative of the cost.
    fn is_free(&self, j: usize, slope: f64) -> bool {
        let Some((lower, upper)) = &self.bounds else { return true };
        let (x, lower, upper) = (self.x[j], lower[j], upper[j]);
        lower < upper && !(x <= lower && slope > 0.0) && !(x >= upper && slope < 0.0)
    }

    /// The claim is false by the first threshold, and by the second.
    pub fn is_false(&self, finding: Finding) -> [bool; 2] {
        self.precision.thresholds().map(|threshold| self.is_converged && finding.excess() > threshold)
    }
}

impl Finding {
    pub fn excess(&self) -> f64 {
        match *self {
            Finding::NotFinite => f64::INFINITY,
            Finding::Steepest { excess, .. } => excess,
        }
    }

    pub fn is_vanished(&self) -> bool {
        matches!(self, Finding::Steepest { is_vanished: true, .. })
    }
}

/// A residual and its derivatives.
struct Row {
    value: f64,
    gradient: [f64; WIDTH],
}

/// A vector as a length and a direction, without overflow or underflow.
struct Direction {
    length: f64,
    unit: Vec<f64>,
}

impl Direction {
    fn of(vector: Vec<f64>) -> Self {
        let largest = vector.iter().fold(0.0, |largest: f64, a| largest.max(a.abs()));
        if !(largest > 0.0) {
            return Direction { length: 0.0, unit: vec![0.0; vector.len()] };
        }
        let scaled: Vec<_> = vector.iter().map(|a| a / largest).collect();
        let length = scaled.iter().map(|a| a * a).sum::<f64>().sqrt();
        Direction { length: length * largest, unit: scaled.iter().map(|a| a / length).collect() }
    }

    /// Zero where either has no length.
    fn cosine(&self, other: &Direction) -> f64 {
        self.unit.iter().zip(&other.unit).map(|(a, b)| a * b).sum()
    }
}
