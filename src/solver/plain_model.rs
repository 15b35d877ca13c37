//! The linear model of the residuals in double precision, whatever the numbers of the problem are, without damping, scaling or a
//! choice of form.

use nalgebra::{DMatrix, DVector};

/// Eigenvalues of the Gram matrix of the columns, each of length one, that count as zero, for each column.
const LOST: f64 = 64.0 * f64::EPSILON;

/// `JᵀJ` and `Jᵀr` at a point.
pub(super) struct PlainModel {
    gram: DMatrix<f64>,
    gradient: DVector<f64>,
    /// `‖J_j‖`.
    norms: Vec<f64>,
}

/// A step of the linear model.
pub(super) struct PlainStep {
    pub(super) step: Vec<f64>,
    /// Predicted reduction of `½‖r‖²`.
    pub(super) predicted: f64,
}

impl PlainModel {
    /// A model of the lower triangle of `JᵀJ`, row after row, and `Jᵀr`; `None` where they are not finite.
    pub(super) fn new(gram: &[f64], gradient: &[f64]) -> Option<Self> {
        let n = gradient.len();
        if !gram.iter().chain(gradient).all(|entry| entry.is_finite()) {
            return None;
        }
        let gram = DMatrix::from_fn(n, n, |i, j| gram[i.max(j) * n + i.min(j)]);
        let norms = gram.diagonal().iter().map(|square| square.sqrt()).collect();
        Some(PlainModel { gram, gradient: DVector::from_column_slice(gradient), norms })
    }

    /// Length of the step along parameter `j` that its derivative asks for.
    pub(super) fn own_step(&self, j: usize) -> f64 {
        (self.gradient[j] / self.norms[j] / self.norms[j]).abs()
    }

    /// Solves `(JᵀJ + λD²)δ = −Jᵀr` with Marquardt's `D`, in the free parameters with influence; `None` where the matrix is not positive
    /// definite.
    pub(super) fn step(&self, lambda: f64, is_free: impl Fn(usize) -> bool) -> Option<PlainStep> {
        let free = self.columns(is_free);
        let scaled = self.scaled_gram(&free);
        let damped =
            DMatrix::from_fn(free.len(), free.len(), |i, j| scaled[(i, j)] + if i == j { lambda } else { 0.0 });
        let steepest = DVector::from_iterator(free.len(), free.iter().map(|&j| -self.gradient[j] / self.norms[j]));
        let scaled_step = damped.cholesky()?.solve(&steepest);
        let predicted = scaled_step.dot(&steepest) - 0.5 * (&scaled * &scaled_step).dot(&scaled_step);
        let mut step = vec![0.0; self.norms.len()];
        free.iter().zip(scaled_step.iter()).for_each(|(&j, scaled)| step[j] = scaled / self.norms[j]);
        (predicted.is_finite() && step.iter().all(|step| step.is_finite())).then_some(PlainStep { step, predicted })
    }

    /// Steps, of length one where each column has length one, that make a basis of those which the linear model does not see.
    pub(super) fn null_space(&self, is_free: impl Fn(usize) -> bool) -> Vec<Vec<f64>> {
        let free = self.columns(is_free);
        if free.is_empty() {
            return Vec::new();
        }
        let eigen = self.scaled_gram(&free).symmetric_eigen();
        let lost = LOST * free.len() as f64;
        let columns = eigen.eigenvectors.column_iter().zip(eigen.eigenvalues.iter());
        let directions = columns.filter(|&(_, &value)| value <= lost).map(|(direction, _)| {
            let mut step = vec![0.0; self.norms.len()];
            free.iter().zip(direction.iter()).for_each(|(&j, scaled)| step[j] = scaled / self.norms[j]);
            step
        });
        directions.filter(|step| step.iter().all(|step| step.is_finite())).collect()
    }

    /// The free columns that are not zero.
    fn columns(&self, is_free: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.norms.len()).filter(|&j| self.norms[j] > 0.0 && is_free(j)).collect()
    }

    /// `D⁻¹JᵀJD⁻¹` of these columns, whose diagonal is one.
    fn scaled_gram(&self, free: &[usize]) -> DMatrix<f64> {
        let entry = |i: usize, j: usize| {
            if i == j { 1.0 } else { self.gram[(free[i], free[j])] / self.norms[free[i]] / self.norms[free[j]] }
        };
        DMatrix::from_fn(free.len(), free.len(), entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model of rows with their residuals.
    fn model<const N: usize>(rows: &[([f64; N], f64)]) -> PlainModel {
        let (mut gram, mut gradient) = (vec![0.0; N * N], vec![0.0; N]);
        for (row, r) in rows {
            for i in 0..N {
                gradient[i] += row[i] * r;
                (0..=i).for_each(|j| gram[i * N + j] += row[i] * row[j]);
            }
        }
        PlainModel::new(&gram, &gradient).unwrap()
    }

    #[test]
    fn an_undamped_step_solves_the_least_squares_problem() {
        let model = model(&[([1.0, 1.0], -1.0), ([1.0, 2.0], -2.0), ([1.0, 3.0], -3.0)]);
        let PlainStep { step, predicted } = model.step(0.0, |_| true).unwrap();
        assert!((step[0]).abs() < 1e-12 && (step[1] - 1.0).abs() < 1e-12, "{step:?}");
        assert!((predicted - 7.0).abs() < 1e-12, "all of ½‖r‖²");
        let held = model.step(0.0, |j| j == 0).unwrap();
        assert!((held.step[0] - 2.0).abs() < 1e-12 && held.step[1] == 0.0);
        assert!(held.predicted < predicted);
    }

    #[test]
    fn a_null_space_has_no_influence_whatever_the_units() {
        let model = model(&[([1.0, 1e9, 3.0], 1.0), ([2.0, 2e9, 1.0], 1.0), ([3.0, 3e9, 2.0], 1.0)]);
        let [direction] = &model.null_space(|_| true)[..] else { panic!("the rank is two") };
        assert!((direction[0] / (1e9 * direction[1]) + 1.0).abs() < 1e-7 && direction[2].abs() < 1e-7);
        assert!(model.null_space(|j| j != 1).is_empty());
        assert!(model.step(0.0, |_| true).is_none_or(|step| step.predicted.is_finite()));
    }
}
