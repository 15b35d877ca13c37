//! Problems and references that several suites share.

#![allow(dead_code, reason = "no single suite takes all of it")]

use marquardt::{EvaluationError, LeastSquares, Real, Residuals, Scalar};
use nalgebra::{DMatrix, DVector};
use proptest::collection::vec;
use proptest::prelude::*;

/// As many cases as `PROPTEST_CASES` says; failures go to the terminal alone.
pub fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// `r_i = a_i·x + bend · sin(b_i·x) − y_i`: linear, or mildly curved.
#[derive(Debug, Clone)]
pub struct Wavy<T> {
    pub parameters: usize,
    /// `a_i`, row after row.
    pub slopes: Vec<T>,
    /// `b_i`, row after row.
    pub waves: Vec<T>,
    pub y: Vec<T>,
    pub bend: T,
    pub row_group: usize,
}

impl<T: Real> Residuals<T> for Wavy<T> {
    fn parameter_count(&self) -> usize {
        self.parameters
    }

    fn residual_count(&self) -> usize {
        self.y.len()
    }

    fn row_group(&self) -> usize {
        self.row_group
    }

    fn evaluate<S: Scalar<Real = T>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let n = self.parameters;
        let along = |row: &[T]| row.iter().zip(x).map(|(&a, &x)| x * a).sum::<S>();
        for (i, r) in (first..).zip(r) {
            let row = i * n..(i + 1) * n;
            *r = along(&self.slopes[row.clone()]) + along(&self.waves[row]).sin() * self.bend - self.y[i];
        }
        Ok(())
    }
}

impl Wavy<f64> {
    /// The same problem with rows in another order.
    pub fn permuted(&self, order: &[usize]) -> Self {
        let rows =
            |a: &[f64]| order.iter().flat_map(|&i| a.chunks_exact(self.parameters).nth(i).unwrap().to_vec()).collect();
        let y = order.iter().map(|&i| self.y[i]).collect();
        Wavy { slopes: rows(&self.slopes), waves: rows(&self.waves), y, ..self.clone() }
    }

    /// The same problem in parameters `x_j / units_j`.
    pub fn in_units(&self, units: &[f64]) -> Self {
        let scaled = |a: &[f64]| a.iter().zip(units.iter().cycle()).map(|(a, unit)| a * unit).collect();
        Wavy { slopes: scaled(&self.slopes), waves: scaled(&self.waves), ..self.clone() }
    }

    /// The same problem, rounded to single precision.
    pub fn single(&self) -> Wavy<f32> {
        let round = |a: &[f64]| a.iter().map(|&a| a as f32).collect();
        Wavy {
            parameters: self.parameters,
            slopes: round(&self.slopes),
            waves: round(&self.waves),
            y: round(&self.y),
            bend: self.bend as f32,
            row_group: self.row_group,
        }
    }
}

/// A well-conditioned problem of `m` rows and `n` parameters: random, with a dominant diagonal.
pub fn wavy(m: usize, n: usize, bend: f64) -> impl Strategy<Value = Wavy<f64>> {
    (vec(-1.0..1.0, m * n), vec(-1.0..1.0, m * n), vec(-3.0..3.0, m)).prop_map(move |(mut slopes, waves, y)| {
        for diagonal in slopes.iter_mut().step_by(n + 1).take(n) {
            *diagonal += 3.0;
        }
        Wavy { parameters: n, slopes, waves, y, bend, row_group: 1 }
    })
}

/// The cost of the rows just evaluated.
pub fn cost_of<T: Real>(problem: &mut (impl LeastSquares<T> + ?Sized), first: usize, r: &[T]) -> T {
    let half_of_squares = T::from_f64(0.5) * r.iter().fold(T::ZERO, |sum, &r| sum + r * r);
    problem.capabilities().cost_of(first, r).unwrap_or(half_of_squares)
}

/// Residuals and Jacobian at `x`.
pub fn linearized(problem: &mut impl LeastSquares<f64>, x: &[f64]) -> (DVector<f64>, DMatrix<f64>) {
    let (m, n) = (problem.residual_count(), problem.parameter_count());
    let (mut r, mut jacobian) = (vec![0.0; m], vec![0.0; m * n]);
    problem.linearize(x, 0, &mut r, &mut jacobian).unwrap();
    (DVector::from(r), DMatrix::from_row_slice(m, n, &jacobian))
}

/// `½‖r(x)‖²`.
pub fn cost(problem: &mut impl LeastSquares<f64>, x: &[f64]) -> f64 {
    let mut r = vec![0.0; problem.residual_count()];
    problem.residuals(x, 0, &mut r).unwrap();
    0.5 * r.iter().map(|r| r * r).sum::<f64>()
}

/// `argmin ‖Jδ + r‖² + λ‖Dδ‖²` by an independent QR.
pub fn damped_step(r: &DVector<f64>, jacobian: &DMatrix<f64>, lambda: f64, d: &[f64]) -> DVector<f64> {
    let (m, n) = jacobian.shape();
    let damped = DMatrix::from_fn(m + n, n, |i, j| match i.checked_sub(m) {
        None => jacobian[(i, j)],
        Some(k) if k == j => lambda.sqrt() * d[j],
        Some(_) => 0.0,
    });
    let rhs = DVector::from_fn(m + n, |i, _| if i < m { -r[i] } else { 0.0 });
    let qr = damped.qr();
    qr.r().solve_upper_triangular(&(qr.q().transpose() * rhs)).expect("a full rank")
}

/// `‖a − b‖ ≤ tolerance · ‖b‖`, or as much absolutely where `b` is small.
pub fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    let distance = norm(&mut a.iter().zip(b).map(|(a, b)| a - b));
    a.len() == b.len() && distance <= tolerance * norm(&mut b.iter().copied()).max(1.0)
}
