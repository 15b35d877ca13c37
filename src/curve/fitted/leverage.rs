//! How far each observation pulls the curve to itself.

use crate::Real;
use crate::kernels::vector::{add_scaled, dot};

/// A column that keeps less than this share of its length has no direction of its own.
const DEPENDENT: f64 = 1e-10;

/// The leverages of rows of `n` derivatives: the diagonal of `J (JᵀJ)⁺ Jᵀ`, by Gram and Schmidt's orthogonalisation, each
/// column twice.
pub(super) fn leverages<T: Real>(jacobian: &[T], n: usize) -> Vec<T> {
    let m = jacobian.len() / n;
    let mut basis: Vec<Vec<T>> = Vec::with_capacity(n);
    for j in 0..n {
        let mut column: Vec<T> = jacobian.iter().skip(j).step_by(n).copied().collect();
        let length = dot(&column, &column).sqrt();
        for direction in basis.iter().chain(&basis) {
            let along = dot(direction, &column);
            add_scaled(&mut column, -along, direction);
        }
        let left = dot(&column, &column).sqrt();
        if left > T::from_f64(DEPENDENT).max(T::EPSILON.sqrt()) * length {
            column.iter_mut().for_each(|value| *value /= left);
            basis.push(column);
        }
    }
    (0..m).map(|i| basis.iter().map(|direction| direction[i] * direction[i]).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_straight_line_and_of_dependent_columns() {
        // 1/n + (x − x̄)² / Σ(x − x̄)²; a third column that says nothing new changes nothing.
        let x = [0.0, 1.0, 2.0, 5.0_f64];
        let rows: Vec<f64> = x.iter().flat_map(|&x| [1.0, x, 3.0 - 2.0 * x]).collect();
        for (leverage, x) in leverages(&rows, 3).iter().zip(x) {
            assert!((leverage - (0.25 + (x - 2.0) * (x - 2.0) / 14.0)).abs() < 1e-14, "{leverage}");
        }
    }
}
