//! The first-order test, from the residuals and the Jacobian alone.

use marquardt::{AutoDiff, Bounds, LeastSquares, Residuals};

/// Orthogonality of the residuals to the columns of the Jacobian.
#[derive(Debug, Clone, Copy)]
pub struct FirstOrder {
    /// The largest `|J_jᵀr| / (‖J_j‖ ‖r‖)` of the parameters that no bound holds; zero where the residuals vanish.
    pub cosine: f64,
    /// As large a cosine may be of rounding alone: `‖δ‖ / ‖r‖`, where `δᵢ = ε Σⱼ |Jᵢⱼ xⱼ|` is how far a residual is off when each
    /// parameter is rounded to its last digit.
    pub rounding: f64,
}

impl FirstOrder {
    pub fn at<F: Residuals<f64> + Copy>(function: &F, x: &[f64], bounds: Option<&Bounds<f64>>) -> Self {
        let (m, n) = (function.residual_count(), function.parameter_count());
        let (mut r, mut jacobian) = (vec![0.0; m], vec![0.0; m * n]);
        AutoDiff(*function).linearize(x, 0, &mut r, &mut jacobian).unwrap();
        let r = Direction::of(&r);
        let cosine = |j: usize| {
            let column = Direction::of(&jacobian.iter().skip(j).step_by(n).copied().collect::<Vec<_>>());
            let slope: f64 = column.unit.iter().zip(&r.unit).map(|(a, b)| a * b).sum();
            let holds = |bounds: &Bounds<f64>| {
                x[j] <= bounds.lower()[j] && slope > 0.0 || x[j] >= bounds.upper()[j] && slope < 0.0
            };
            if bounds.is_some_and(holds) { 0.0 } else { slope.abs() }
        };
        let rounded = |row: &[f64]| f64::EPSILON * row.iter().zip(x).map(|(j, x)| (j * x).abs()).sum::<f64>();
        let rounding = Direction::of(&jacobian.chunks_exact(n).map(rounded).collect::<Vec<_>>());
        let rounding = if r.length > 0.0 { rounding.length / r.length } else { f64::INFINITY };
        FirstOrder { cosine: (0..n).map(cosine).fold(0.0, f64::max), rounding }
    }

    /// The point is stationary to within `tolerance`, or to within rounding.
    pub fn holds(&self, tolerance: f64) -> bool {
        self.cosine == 0.0 || self.cosine <= tolerance + 10.0 * self.rounding
    }
}

/// A vector as a length and a direction, without overflow or underflow.
struct Direction {
    length: f64,
    unit: Vec<f64>,
}

impl Direction {
    fn of(vector: &[f64]) -> Self {
        let largest = vector.iter().fold(0.0, |largest: f64, a| largest.max(a.abs()));
        if largest == 0.0 {
            return Direction { length: 0.0, unit: vector.to_vec() };
        }
        let scaled: Vec<_> = vector.iter().map(|a| a / largest).collect();
        let length = scaled.iter().map(|a| a * a).sum::<f64>().sqrt();
        Direction { length: length * largest, unit: scaled.iter().map(|a| a / length).collect() }
    }
}
