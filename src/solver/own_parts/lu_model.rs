//! A linear model: the whole Jacobian, and its normal equations by LU.

use nalgebra::{DMatrix, DVector};

use super::{EuclideanSpace, GainRatio, GeodesicAcceleration, solve, valley};
use crate::evaluation::{Costs, Evaluation, Partial, RowSums};
use crate::linear::{Damped, Drawn, LinearForm, LinearModel, Unsolved};
use crate::problem::Evaluated;
use crate::solver::Acceleration;

/// `J` and `Jᵀr` at a point, row after row as they come.
#[derive(Default)]
struct WholeJacobian {
    rows: Vec<f64>,
    gradient: Vec<f64>,
}

/// The current point and the one before.
#[derive(Default)]
struct LuModel {
    here: WholeJacobian,
    before: WholeJacobian,
}

impl LuModel {
    fn jacobian(&self) -> DMatrix<f64> {
        let n = self.here.gradient.len();
        DMatrix::from_row_slice(self.here.rows.len() / n, n, &self.here.rows)
    }

    /// `(JᵀJ + λD²)⁻¹b`.
    fn solve_for(&self, damped: &Damped<'_, f64>, b: &[f64]) -> Result<DVector<f64>, Unsolved> {
        let j = self.jacobian();
        let damping = DMatrix::from_diagonal(&DVector::from_iterator(b.len(), damped.d.iter().map(|d| d * d)));
        let matrix = j.transpose() * &j + damping * damped.lambda;
        matrix.lu().solve(&DVector::from_column_slice(b)).ok_or(Unsolved::IllConditioned)
    }
}

impl LinearModel<f64> for LuModel {
    fn form(&self) -> LinearForm {
        LinearForm::Cholesky
    }

    fn linearize(&mut self, evaluation: &mut dyn Evaluation<f64>, x: &[f64]) -> Evaluated<Costs<f64>> {
        std::mem::swap(&mut self.here, &mut self.before);
        self.here.gradient.resize(x.len(), 0.0);
        let costs = evaluation.sum_rows(x, &mut self.here);
        if costs.is_err() {
            std::mem::swap(&mut self.here, &mut self.before);
        }
        costs
    }

    fn take_back(&mut self, _: &mut dyn Evaluation<f64>, _: &[f64]) -> Evaluated {
        std::mem::swap(&mut self.here, &mut self.before);
        Ok(())
    }

    fn gradient(&self) -> &[f64] {
        &self.here.gradient
    }

    fn column_norms(&self, norms: &mut [f64]) -> Option<f64> {
        norms.iter_mut().zip(self.jacobian().column_iter()).for_each(|(norm, column)| *norm = column.norm());
        None
    }

    fn solve(&mut self, damped: &mut Damped<'_, f64>, step: &mut [f64]) -> Result<f64, Unsolved> {
        let descent: Vec<f64> = self.here.gradient.iter().map(|gradient| -gradient).collect();
        step.copy_from_slice(self.solve_for(damped, &descent)?.as_slice());
        Ok(step.iter().zip(damped.d).map(|(step, d)| (d * step).powi(2)).sum::<f64>().sqrt())
    }

    fn complete(&mut self, _: &mut Damped<'_, f64>, _: Drawn<'_, f64>, _: &mut [f64]) -> Result<(), Unsolved> {
        Ok(())
    }

    fn quadratic_form(&self, v: &[f64]) -> f64 {
        (self.jacobian() * DVector::from_column_slice(v)).norm_squared()
    }

    fn inverse_form(&mut self, damped: &mut Damped<'_, f64>, step: &[f64]) -> Result<f64, Unsolved> {
        let scaled: Vec<f64> = step.iter().zip(damped.d).map(|(step, d)| d * d * step).collect();
        Ok(self.solve_for(damped, &scaled)?.dot(&DVector::from_column_slice(&scaled)))
    }
}

impl Partial<f64> for WholeJacobian {
    fn begin(&mut self) {
        self.rows.clear();
        self.gradient.fill(0.0);
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn write(&self, entries: &mut Vec<f64>) {
        entries.extend_from_slice(&self.rows);
    }

    fn read(&mut self, entries: &[f64]) {
        self.rows.extend_from_slice(entries);
    }
}

impl RowSums<f64> for WholeJacobian {
    fn add(&mut self, _: usize, r: &mut [f64], jacobian: &mut [f64]) {
        self.rows.extend_from_slice(jacobian);
        for (row, r) in jacobian.chunks_exact(self.gradient.len()).zip(r) {
            self.gradient.iter_mut().zip(row).for_each(|(sum, entry)| *sum += entry * *r);
        }
    }
}

#[test]
fn a_model_by_lu_finds_the_minimum() {
    let refinement = GeodesicAcceleration::new(Acceleration::Never);
    let parts = (LuModel::default(), EuclideanSpace, refinement, GainRatio::default());
    let report = solve(&mut valley(), &[-1.2, 1.0], parts);
    assert!(report.x.iter().all(|x| (x - 1.0).abs() < 1e-12), "{report}");
}
