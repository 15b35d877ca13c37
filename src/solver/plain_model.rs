//! The linear model of the residuals in double precision, whatever the numbers of the problem are, by QR of its rows and in
//! Marquardt's scaling.

use nalgebra::DMatrix;

use crate::linear::shape::Dynamic;
use crate::linear::{HoldsVariables, LinearModel, Orthogonal, SpansRanks};
use crate::problem::{BoundSide, EvaluationError};

/// `QR = J` and `Qᵀr` at a point.
pub(super) struct PlainModel {
    triangle: Orthogonal<f64, Dynamic>,
    /// `‖J_j‖`.
    norms: Vec<f64>,
    /// Parameters that every step leaves where they are.
    held: Vec<bool>,
}

/// A step of the linear model.
pub(super) struct PlainStep {
    pub(super) step: Vec<f64>,
    /// Predicted reduction of `½‖r‖²`.
    pub(super) predicted: f64,
}

impl PlainModel {
    /// A model of no rows, of parameters some of which are held.
    pub(super) fn new(held: Vec<bool>) -> Self {
        let n = held.len();
        let mut triangle = Orthogonal::new(n);
        triangle.begin();
        PlainModel { triangle, norms: vec![0.0; n], held }
    }

    /// Adds rows, which may be overwritten.
    pub(super) fn add_rows(&mut self, r: &mut [f64], jacobian: &mut [f64]) {
        self.triangle.add_rows(r, jacobian);
    }

    /// Replaces the rows by those of all ranks; `gather` returns what each rank has passed to it.
    pub(super) fn span_ranks(
        &mut self,
        gather: impl FnOnce(&[f64]) -> Result<Vec<Vec<f64>>, EvaluationError>,
    ) -> Result<(), EvaluationError> {
        let mut message = Vec::new();
        self.triangle.write_candidate(&mut message);
        let all = gather(&message)?;
        self.triangle.begin();
        all.iter().for_each(|message| self.triangle.read_candidate(message));
        Ok(())
    }

    /// Completes the rows; `None` where they are not finite.
    pub(super) fn complete(mut self) -> Option<Self> {
        self.triangle.swap();
        self.triangle.column_norms(&mut self.norms);
        self.norms.iter().chain(self.triangle.gradient()).all(|entry| entry.is_finite()).then_some(self)
    }

    /// Length of the step along parameter `j` that its derivative asks for.
    pub(super) fn own_step(&self, j: usize) -> f64 {
        (self.triangle.gradient()[j] / self.norms[j] / self.norms[j]).abs()
    }

    /// Solves `(JᵀJ + λD²)δ = −Jᵀr` in the parameters that have influence and are neither held nor left out; `None` where the matrix
    /// is singular.
    pub(super) fn step(&mut self, lambda: f64, is_left_out: impl Fn(usize) -> bool) -> Option<PlainStep> {
        let n = self.norms.len();
        let is_held = |j: usize| self.norms[j] == 0.0 || self.held[j] || is_left_out(j);
        let held: Vec<_> = (0..n).map(|j| is_held(j).then_some(BoundSide::Lower)).collect();
        let mut step: Vec<f64> = vec![0.0; n];
        self.triangle.solve(None, lambda, &self.norms, &held, &mut step).ok()?;
        let predicted = -self.triangle.slope(&step) - 0.5 * self.triangle.quadratic_form(&step);
        (predicted.is_finite() && step.iter().all(|step| step.is_finite())).then_some(PlainStep { step, predicted })
    }

    /// Steps that make a basis of those which the linear model does not see. They have length one where each column has length one.
    /// Eigenvalues of the Gram matrix of these columns of up to `lost` for each count as zero; `unit` is the step of length one along a
    /// column that is zero.
    pub(super) fn null_space(&self, lost: f64, unit: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
        let n = self.norms.len();
        let along = |j: usize| (0..n).map(|k| if k == j { unit(j) } else { 0.0 }).collect::<Vec<_>>();
        let (zero, free): (Vec<_>, Vec<_>) = (0..n).filter(|&j| !self.held[j]).partition(|&j| self.norms[j] == 0.0);
        let mut basis: Vec<Vec<f64>> = zero.into_iter().map(along).collect();
        if free.is_empty() {
            return basis;
        }
        let eigen = self.scaled_gram(&free).symmetric_eigen();
        let columns = eigen.eigenvectors.column_iter().zip(eigen.eigenvalues.iter());
        basis.extend(columns.filter(|&(_, &value)| value <= lost * free.len() as f64).map(|(direction, _)| {
            let mut step: Vec<f64> = vec![0.0; n];
            free.iter().zip(direction.iter()).for_each(|(&j, scaled)| step[j] = scaled / self.norms[j]);
            step
        }));
        basis.retain(|step| step.iter().all(|step| step.is_finite()));
        basis
    }

    /// `D⁻¹JᵀJD⁻¹` of these columns, whose diagonal is one.
    fn scaled_gram(&self, columns: &[usize]) -> DMatrix<f64> {
        let n = self.norms.len();
        let (mut unit, mut product) = (vec![0.0; n], vec![0.0; n]);
        let mut gram = DMatrix::identity(columns.len(), columns.len());
        for (at, &j) in columns.iter().enumerate() {
            unit[j] = self.norms[j].recip();
            self.triangle.gram_times(&unit, &mut product);
            unit[j] = 0.0;
            for (row, &i) in columns.iter().enumerate().filter(|&(row, _)| row != at) {
                gram[(row, at)] = product[i] / self.norms[i];
            }
        }
        gram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model of rows with their residuals.
    fn model<const N: usize>(rows: &[([f64; N], f64)], held: [bool; N]) -> PlainModel {
        let mut model = PlainModel::new(held.to_vec());
        rows.iter().for_each(|&(mut row, r)| model.add_rows(&mut [r], &mut row));
        model.complete().unwrap()
    }

    const LINE: [([f64; 2], f64); 3] = [([1.0, 1.0], -1.0), ([1.0, 2.0], -2.0), ([1.0, 3.0], -3.0)];

    #[test]
    fn an_undamped_step_solves_the_least_squares_problem() {
        let PlainStep { step, predicted } = model(&LINE, [false; 2]).step(0.0, |_| false).unwrap();
        assert!((step[0]).abs() < 1e-12 && (step[1] - 1.0).abs() < 1e-12, "{step:?}");
        assert!((predicted - 7.0).abs() < 1e-12, "all of ½‖r‖²");
    }

    #[test]
    fn parameters_stay_that_are_held_or_left_out() {
        let held = model(&LINE, [false, true]).step(0.0, |_| false).unwrap();
        let left_out = model(&LINE, [false; 2]).step(0.0, |j| j == 1).unwrap();
        for PlainStep { step, predicted } in [held, left_out] {
            assert!((step[0] - 2.0).abs() < 1e-12 && step[1] == 0.0 && predicted < 7.0, "{step:?}");
        }
    }

    const DEPENDENT: [([f64; 3], f64); 3] = [([1.0, 1e9, 3.0], 1.0), ([2.0, 2e9, 1.0], 1.0), ([3.0, 3e9, 2.0], 1.0)];

    #[test]
    fn a_null_space_has_no_influence_whatever_the_units() {
        let [direction] = &model(&DEPENDENT, [false; 3]).null_space(1e-13, |_| 1.0)[..] else {
            panic!("the rank is two")
        };
        assert!((direction[0] / (1e9 * direction[1]) + 1.0).abs() < 1e-7 && direction[2].abs() < 1e-7);
        assert!(model(&DEPENDENT, [false, true, false]).null_space(1e-13, |_| 1.0).is_empty());
    }

    #[test]
    fn a_column_of_zeros_is_a_direction_of_its_own() {
        let rows = [([1.0, 0.0], 1.0), ([2.0, 0.0], 1.0)];
        assert_eq!(model(&rows, [false; 2]).null_space(1e-13, |_| 7.0), [[0.0, 7.0]]);
        assert!(model(&rows, [false, true]).null_space(1e-13, |_| 7.0).is_empty());
        assert_eq!(model(&rows, [false; 2]).step(0.0, |_| false).unwrap().step[1], 0.0);
    }
}
