//! Order of a solve: measurements first, then the equations with unknown functions that these do not show.

use ndarray::s;

use super::PhysicsError;
use super::problem::{Collocation, rows_of};
use crate::real::Real;
use crate::solver::damping::DampingPolicy;
use crate::solver::{LevenbergMarquardt, Observer, Report, Status};
use crate::variables::Variables;

/// Loss of the equations as a part of that of all other terms, at the start of the solve for the measurements.
const SHARE: f64 = 1e-3;

/// Most trials of the solve for the measurements, and their largest part of all trials.
const FIRST_TRIALS: usize = 50;
const FIRST_PART: usize = 3;

/// Part of the loss at the start from which on an end is compared with that of a second solve.
const POOR: f64 = 1e-3;

impl<T: Real> Collocation<T> {
    /// Minimises the loss, first with a small weight of the terms that have unknown functions which the measurements do not show.
    ///
    /// An unknown function in the equation starts with any sign. With the wrong one, the loss falls fastest where the solution
    /// becomes flat, far from the measurements, and there it stays. Once the solution follows the measurements, the other functions follow it.
    pub(super) fn minimize<D: DampingPolicy<T>>(
        &mut self,
        solver: &LevenbergMarquardt<T, D>,
        variables: &mut Variables<T>,
        observer: &mut (impl Observer<T> + ?Sized),
    ) -> Result<Report<T>, PhysicsError> {
        self.bind()?;
        let [coupled, others] = self.losses(variables)?;
        if !(self.measurements_first && coupled > 0.0 && others > 0.0) {
            return Ok(solver.minimize_variables_observed(&mut self.network, variables, observer)?);
        }
        let start = variables.values().to_vec();
        self.bind_weighted((SHARE * others / coupled).min(1.0))?;
        let (mut first, mut then) = (solver.clone(), solver.clone());
        let trials = &mut first.settings.max_iterations;
        *trials = FIRST_TRIALS.min(*trials / FIRST_PART);
        let before = first.minimize_variables_observed(&mut self.network, variables, observer);
        self.bind()?;
        let before = before?;
        then.settings.spend(before.iterations, 1, before.evaluations.total(), before.elapsed);
        let is_cancelled = before.status == Status::Cancelled;
        if is_cancelled {
            then.settings.max_iterations = 0;
        }
        let mut report = then.minimize_variables_observed(&mut self.network, variables, observer)?.after(before);
        if is_cancelled {
            report.status = Status::Cancelled;
        }
        if report.status == Status::Cancelled || !(report.cost > T::from_f64(POOR * (coupled + others))) {
            return Ok(report);
        }
        let mut other = variables.clone();
        other.values_mut().copy_from_slice(&start);
        then = solver.clone();
        then.settings.spend(0, 1, report.evaluations.total(), report.elapsed);
        let again = then.minimize_variables_observed(&mut self.network, &mut other, observer)?;
        if again.cost < report.cost {
            variables.values_mut().copy_from_slice(other.values());
            return Ok(again.after(report));
        }
        report.evaluations += again.evaluations;
        report.elapsed += again.elapsed;
        Ok(report)
    }

    /// The loss of the terms that have unknown functions which the measurements do not show, and that of the others.
    fn losses(&mut self, variables: &Variables<T>) -> Result<[f64; 2], PhysicsError> {
        let mut losses = [0.0; 2];
        for index in 0..self.terms.len() {
            let sum: T = self.residuals(variables, index)?.iter().map(|&r| r * r).sum();
            let term = &self.terms[index];
            losses[usize::from(!term.is_coupled)] += (term.weight * sum).to_f64() / term.points.len() as f64;
        }
        Ok(losses)
    }

    /// Binds all points, with this factor of the weight of the terms that have unknown functions which the measurements do not show.
    fn bind_weighted(&mut self, share: f64) -> Result<(), PhysicsError> {
        let rows = self.shard();
        let mut factors = self.arrays[2].clone();
        let mut first = 0;
        for term in &self.terms {
            let end = first + term.points.len();
            if term.is_coupled {
                factors.slice_mut(s![first..end, ..]).mapv_inplace(|factor| factor * T::from_f64(share.sqrt()));
            }
            first = end;
        }
        let mut arrays = rows_of(&self.arrays, rows.clone());
        arrays[2] = factors.slice(s![rows, ..]);
        self.network.batch(&arrays, &[])?;
        Ok(())
    }
}
