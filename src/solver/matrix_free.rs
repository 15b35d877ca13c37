//! The iteration on a problem that multiplies by its Jacobian without forming it.

use super::acceleration::second_difference;
use super::damping::DampingPolicy;
use super::iteration::{Arrival, Iteration};
use crate::kernels::vector::dot;
use crate::linear::LinearModel;
use crate::linear::shape::Shape;
use crate::problem::{EvaluationError, JacobianProducts, LeastSquares};
use crate::real::Real;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Linearises at the trial point and makes it the current one; stays, and returns `None`, where it is not finite.
    pub(super) fn linearize_products<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
    ) -> Result<Option<T>, EvaluationError> {
        let products = products(problem)?;
        let Some(model) = self.model.matrix_free() else { return Ok(None) };
        let cost = model.linearize(products, self.trial.as_ref())?;
        let (without_ridge, squares) = (cost, dot(model.residuals(), model.residuals()));
        let cost = cost.map(|cost| cost + self.rule.ridge_cost(self.trial.as_ref())).filter(|cost| cost.is_finite());
        model.set_ridge(self.rule.uniform_ridge.unwrap_or(T::ZERO));
        if cost.is_none() && self.cost.is_finite() {
            // The products are those of the trial point now.
            model.linearize(products, self.x.as_ref())?;
        }
        if self.arrival == Arrival::Linearize {
            model.form_gradient(products)?;
        }
        if let Some(cost) = without_ridge {
            self.compare_cost(cost, squares);
        }
        if let Some(cost) = cost {
            self.trial_squares = (cost + cost).abs();
            self.move_to_trial(cost);
            self.measure_point(problem);
        }
        Ok(cost)
    }

    /// Makes `r_vv` the model's other right-hand side.
    pub(super) fn force_by_products<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        probe: T,
    ) -> Result<(), EvaluationError> {
        let (x, v, ahead) = (self.x.as_ref(), self.step.as_ref(), self.trial.as_ref());
        let Some(model) = self.model.matrix_free() else { return Ok(()) };
        let before = self.rank_sync.as_ref().map_or(0, |rank_sync| rank_sync.before);
        let (has_own_cost, mut by_difference) = (self.has_own_cost, false);
        let visited = self.tiles.visit(problem, |problem, first, second| {
            let exact = problem.second_directional_derivative(x, v, first, second)?;
            if !exact && has_own_cost {
                second.fill(T::ZERO);
            } else if !exact {
                by_difference = true;
                problem.residuals(ahead, first, second)?;
                let slopes = model.residuals().iter().zip(model.image()).skip(before + first);
                for (second, (&r, &slope)) in second.iter_mut().zip(slopes) {
                    *second = second_difference(*second, r, slope, probe);
                }
            }
            model.add_forcing(second, &[]);
            Ok(())
        });
        match &mut self.rank_sync {
            None => visited?,
            Some(rank_sync) => {
                let all = rank_sync.gather(model.forcing(), visited)?;
                model.begin_forcing();
                all.iter().for_each(|rows| model.add_forcing(rows, &[]));
            }
        }
        self.evaluations.residuals += usize::from(by_difference);
        Ok(())
    }
}

/// The problem's products, which it had when the form was chosen.
pub(super) fn products<T: Real, P: LeastSquares<T> + ?Sized>(
    problem: &mut P,
) -> Result<&mut dyn JacobianProducts<T>, EvaluationError> {
    problem.products().ok_or_else(|| "the problem does not multiply by its Jacobian any more".into())
}
