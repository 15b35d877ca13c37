//! Descent from a point that is claimed to be a minimum: plain Levenberg–Marquardt steps, worked out from the formula alone, whose
//! points and residuals are of the float of the claim.

use marquardt::number::Number;
use marquardt::problem::RobustLoss;
use marquardt::{Dual, Real, Residuals};

use crate::family::WIDTH;
use crate::first_order::{Claim, Precision};

/// Longest descent, in steps.
const STEPS: usize = 10;

/// Exponents of ten of the damping that are tried, in units of the squared column norms.
const DAMPING: [i32; 8] = [-14, -10, -7, -5, -3, -1, 1, 3];

/// Units of the last digit that elementary functions and the difference from the data may be off by.
const ROUNDINGS: f64 = 16.0;

/// Displacement of the parameters that shows what rounding does to the cost, in units of their last digits.
const DISPLACEMENT: f64 = 2.0;

/// Patterns of displacements.
const PATTERNS: usize = 8;

impl Precision {
    /// A share of the cost that no step may lower a claimed minimum by.
    pub fn largest_fall(self) -> f64 {
        if self == Precision::Single { 1e-4 } else { 1e-8 }
    }
}

impl Claim {
    /// The share of the cost by which plain steps lower it: steps in all parameters, and in all but one. What rounding errors of the
    /// residuals explain does not count, nor what the last digits of the parameters that moved change.
    pub fn fall(&self) -> f64 {
        match self.precision {
            Precision::Single => self.fall_in::<f32>(),
            Precision::Double | Precision::Unpolished => self.fall_in::<f64>(),
        }
    }

    /// The largest cosine between the residuals and the column of a parameter that no bound holds, as it is computed.
    pub fn largest_cosine(&self) -> f64 {
        match self.precision {
            Precision::Single => self.cosine_in::<f32>(),
            Precision::Double | Precision::Unpolished => self.cosine_in::<f64>(),
        }
    }

    fn cosine_in<T: Real>(&self) -> f64 {
        let Some(point) = self.evaluate::<T>(&self.x) else { return f64::INFINITY };
        let free = (0..self.x.len()).filter(|&j| !self.is_held(&point, j) && point.gram[j][j] > 0.0);
        let cosine = |j: usize| point.gradient[j].abs() / (point.gram[j][j] * point.squares).sqrt();
        free.map(cosine).fold(0.0, f64::max)
    }

    fn fall_in<T: Real>(&self) -> f64 {
        let mut x = self.x.clone();
        let Some(start) = self.evaluate::<T>(&x) else { return 0.0 };
        let mut here = self.evaluate::<T>(&x);
        for _ in 0..STEPS {
            let Some(point) = &here else { break };
            let held = (0..x.len()).map(Some).chain([None]);
            let trials = held.flat_map(|held| {
                DAMPING.map(|power| point.step(10_f64.powi(power), |j| self.is_held(point, j) || held == Some(j)))
            });
            let best = trials
                .flatten()
                .filter_map(|step| {
                    let trial = self.moved::<T>(&x, &step);
                    self.evaluate::<T>(&trial).map(|point| (trial, point))
                })
                .min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
            let Some((trial, lower)) = best.filter(|(_, lower)| lower.cost < point.cost) else { break };
            let is_little = point.cost - lower.cost < 1e-3 * self.precision.largest_fall() * point.cost;
            (x, here) = (trial, Some(lower));
            if is_little {
                break;
            }
        }
        let end = here.map_or(start.cost, |point| point.cost);
        let moves: Vec<bool> = x.iter().zip(&self.x).map(|(x, claimed)| x != claimed).collect();
        let spread = self.spread::<T>(&x, &moves, end).max(self.spread::<T>(&self.x, &moves, start.cost));
        let rounding = start.rounding + spread;
        ((start.cost - end - rounding) / start.cost).max(0.0)
    }

    /// The most that the cost at `x` changes where parameters are displaced by their last digits.
    fn spread<T: Real>(&self, x: &[f64], is_displaced: &[bool], cost: f64) -> f64 {
        let unit = DISPLACEMENT * T::EPSILON.to_f64();
        let displaced = |pattern: usize| {
            let sign = |j: usize| if (pattern & (j + 1)).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
            let moves = |j: usize| if is_displaced[j] { sign(j) * unit * x[j] } else { 0.0 };
            let point = (0..x.len()).map(|j| <T as Number>::from_f64(x[j] + moves(j)).to_f64()).collect::<Vec<_>>();
            self.evaluate::<T>(&point).map_or(0.0, |point| (point.cost - cost).abs())
        };
        (0..PATTERNS).map(displaced).fold(0.0, f64::max)
    }

    /// A parameter at a bound that the cost falls beyond, or between bounds that are equal.
    fn is_held(&self, point: &Point, j: usize) -> bool {
        let Some((lower, upper)) = &self.bounds else { return false };
        let (x, slope) = (self.x[j], point.gradient[j]);
        lower[j] == upper[j] || (x <= lower[j] && slope > 0.0) || (x >= upper[j] && slope < 0.0)
    }

    /// The point of this float after a step, within the bounds.
    fn moved<T: Real>(&self, x: &[f64], step: &[f64]) -> Vec<f64> {
        let moved = |j: usize| {
            let moved = <T as Number>::from_f64(x[j] + step[j]).to_f64();
            match &self.bounds {
                Some((lower, upper)) => moved.max(lower[j]).min(upper[j]),
                None => moved,
            }
        };
        (0..x.len()).map(moved).collect()
    }

    /// The cost and the normal equations; `None` where they are not finite.
    fn evaluate<T: Real>(&self, x: &[f64]) -> Option<Point> {
        let narrow = |values: &[f64]| values.iter().map(|&value| <T as Number>::from_f64(value)).collect::<Vec<_>>();
        let misfit = self.misfit.to::<T>();
        let b: Vec<_> = narrow(x).into_iter().enumerate().map(|(j, x)| Dual::<T, WIDTH>::variable(x, j)).collect();
        let mut rows = vec![Dual::constant(T::ZERO); misfit.x.len()];
        misfit.evaluate(&b, 0, &mut rows).expect("formulas do not fail");
        let mut point = Point::new(x.len());
        let (mut linear, mut square) = (0.0, 0.0);
        for (i, row) in rows.iter().enumerate() {
            let y = self.whitened(i);
            let r = row.value.to_f64();
            let (cost, weight) = match &self.loss {
                None => (r * r, 1.0),
                Some((loss, scale)) => {
                    let [rho, slope, _] = loss.rho((r / scale).powi(2));
                    (scale * scale * rho, slope)
                }
            };
            point.cost += cost;
            point.squares += weight * r * r;
            let rounding = ROUNDINGS * T::EPSILON.to_f64() * ((r + y).abs() + y.abs());
            linear += (2.0 * weight * r * rounding).powi(2);
            square += weight * rounding * rounding;
            let slopes: Vec<f64> = (0..x.len()).map(|j| row.gradient[j].to_f64()).collect();
            for (j, &slope) in slopes.iter().enumerate() {
                point.gradient[j] += weight * slope * r;
                for (k, &other) in slopes.iter().enumerate() {
                    point.gram[j][k] += weight * slope * other;
                }
            }
        }
        point.rounding = linear.sqrt() + square;
        let is_finite =
            point.cost.is_finite() && point.gradient.iter().chain(point.gram.iter().flatten()).all(|a| a.is_finite());
        is_finite.then_some(point)
    }
}

/// A point's cost, which is twice the crate's, with what rounding makes of it, and the normal equations there.
struct Point {
    cost: f64,
    rounding: f64,
    /// `Σ w r²`.
    squares: f64,
    gradient: Vec<f64>,
    gram: Vec<Vec<f64>>,
}

impl Point {
    fn new(n: usize) -> Self {
        Point { cost: 0.0, rounding: 0.0, squares: 0.0, gradient: vec![0.0; n], gram: vec![vec![0.0; n]; n] }
    }

    /// The step of `(JᵀJ + λD²)δ = −Jᵀr` with Marquardt's scaling, in the parameters that are not held.
    fn step(&self, lambda: f64, is_held: impl Fn(usize) -> bool) -> Option<Vec<f64>> {
        let free: Vec<usize> = (0..self.gradient.len()).filter(|&j| !is_held(j) && self.gram[j][j] > 0.0).collect();
        let d: Vec<f64> = free.iter().map(|&j| self.gram[j][j].sqrt()).collect();
        // Cholesky's factor of the matrix with a unit diagonal.
        let n = free.len();
        let mut factor = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let entry = self.gram[free[i]][free[j]] / d[i] / d[j] + if i == j { lambda } else { 0.0 };
                let rest = entry - (0..j).map(|k| factor[i][k] * factor[j][k]).sum::<f64>();
                factor[i][j] = if i == j { rest.sqrt() } else { rest / factor[j][j] };
            }
            if !(factor[i][i] > 0.0) {
                return None;
            }
        }
        let mut solution: Vec<f64> = free.iter().zip(&d).map(|(&j, d)| -self.gradient[j] / d).collect();
        for i in 0..n {
            solution[i] = (solution[i] - (0..i).map(|k| factor[i][k] * solution[k]).sum::<f64>()) / factor[i][i];
        }
        for i in (0..n).rev() {
            solution[i] = (solution[i] - (i + 1..n).map(|k| factor[k][i] * solution[k]).sum::<f64>()) / factor[i][i];
        }
        let mut step = vec![0.0; self.gradient.len()];
        free.iter().zip(solution.iter().zip(&d)).for_each(|(&j, (solution, d))| step[j] = solution / d);
        step.iter().all(|step| step.is_finite()).then_some(step)
    }
}
