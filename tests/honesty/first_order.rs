//! The first-order test of a point that is claimed to be a minimum, worked out from the formula alone.

use marquardt::{Dual, Loss, Residuals, RobustLoss, Scalar};

use crate::sample::Misfit;

/// Parameters of the widest family.
const WIDTH: usize = 6;

/// As many units of the last digit of its terms may a residual be off by: elementary functions in lanes err by a unit or two, and a
/// formula has several of them, each computed from rounded numbers. Fits of exact data one by one, with the polish, come as near
/// to their minima as a single unit.
const ROUNDINGS: f64 = 16.0;

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
    pub fn epsilon(self) -> f64 {
        match self {
            Precision::Double | Precision::Unpolished => f64::EPSILON,
            Precision::Single => f64::from(f32::EPSILON),
        }
    }

    /// Derivatives below vanish in the arithmetic.
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
    /// Looks at each free parameter by itself. The cosine of its column with the residuals may be as large as rounding makes it:
    /// residual `i` is known to `δᵢ = 16ε(|fᵢ| + |yᵢ| + Σⱼ |Jᵢⱼ xⱼ|)`, the terms of which are the rounding of the response, of
    /// the difference, and of the parameters and what is computed from them; so `Σ Jᵢⱼ wᵢ rᵢ` is to `Σ |Jᵢⱼ| hᵢ δᵢ`, with the
    /// curvature `h` of the loss. A parameter at a bound is free where the cost falls inwards.
    pub fn examine(&self) -> Finding {
        let (m, n) = (self.misfit.x.len(), self.x.len());
        let b: Vec<_> = self.x.iter().enumerate().map(|(j, &x)| Dual::<f64, WIDTH>::variable(x, j)).collect();
        let mut rows = vec![Dual::constant(0.0); m];
        self.misfit.evaluate(&b, 0, &mut rows).expect("formulas do not fail");
        let is_finite =
            |row: &Dual<f64, WIDTH>| row.value.is_finite() && row.gradient.iter().all(|slope| slope.is_finite());
        if !self.x.iter().all(|x| x.is_finite()) || !rows.iter().all(is_finite) {
            return Finding::NotFinite;
        }
        for slope in rows.iter_mut().flat_map(|row| &mut row.gradient) {
            *slope = if slope.abs() < self.precision.smallest() { 0.0 } else { *slope };
        }
        let epsilon = self.precision.epsilon();
        let weights: Vec<_> = rows.iter().map(|row| self.weights(row.value)).collect();
        let weighted = |i: usize, number: f64| weights[i].0.sqrt() * number;
        let r = Direction::of((0..m).map(|i| weighted(i, rows[i].value)).collect());
        // In units of the residuals.
        let rounding = |i: usize| {
            let y = self.misfit.y[i];
            let moved: f64 = (0..n).map(|j| (rows[i].gradient[j] * self.x[j]).abs()).sum();
            ROUNDINGS * epsilon * ((rows[i].value + y).abs() + y.abs() + moved) / r.length * weights[i].1
        };
        let size = Direction::of(self.misfit.y.clone()).length;
        let test = |j: usize| {
            let largest = rows.iter().fold(0.0, |largest: f64, row| largest.max(row.gradient[j].abs()));
            let column = Direction::of((0..m).map(|i| weighted(i, rows[i].gradient[j] / largest)).collect());
            let product: f64 = column.unit.iter().zip(&r.unit).map(|(a, b)| a * b).sum();
            let rounded: f64 = (0..m).map(|i| (rows[i].gradient[j] / largest).abs() * rounding(i)).sum();
            let is_free = self.is_free(j, product);
            let cosine = if is_free && column.length > 0.0 && r.length > 0.0 { product.abs() } else { 0.0 };
            let excess = (cosine - rounded / column.length).max(0.0);
            let is_vanished = column.length * largest * self.x[j].abs() <= epsilon * size;
            Finding::Steepest { parameter: j, cosine, excess: if cosine > 0.0 { excess } else { 0.0 }, is_vanished }
        };
        let steeper = |a: Finding, b: Finding| if b.excess() > a.excess() { b } else { a };
        (0..n).map(test).reduce(steeper).unwrap_or(Finding::NotFinite)
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
}
