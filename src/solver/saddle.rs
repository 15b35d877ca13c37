//! Saddles: points that are stationary to first order, and lie above others along directions that the linear model does not see.
//!
//! Where the Jacobian has full rank, a stationary point with small residuals is a minimum. Along its null space the linear model
//! predicts no change, and the curvature of the residuals decides. The cost is evaluated at points along an orthonormal basis of
//! the null space, both ways, at growing distances.

use nalgebra::{DMatrix, DVector};

use super::damping::{DampingPolicy, Trial};
use super::iteration::Iteration;
use super::trace::Trace;
use super::{Observer, Status};
use crate::kernels::vector::scaled_norm;
use crate::linear::shape::Shape;
use crate::linear::{LinearForm, LinearModel};
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Largest number of parameters among which a null space is looked for.
const LARGEST: usize = 128;

/// Directions of a null space that are tried, at most.
const DIRECTIONS: usize = 16;

/// Eigenvalues of `D⁻¹JᵀJD⁻¹`, whose diagonal is one, that count as zero: at most so many `ε` for each parameter.
const LOST: f64 = 64.0;

/// Distances along a direction grow from `ε^¼` of the size of the point by this factor, up to that size.
const GROWTH: f64 = 8.0;

/// A point beside has to be lower by more than this share of the cost, in units of `ε`.
const NOTICEABLE: f64 = 1e4;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Moves to the lowest point beside a stationary one, along the null space of the Jacobian, if its cost is lower. Returns true if
    /// there was any, and the reason to stop if there is one.
    pub(super) fn leave_saddle<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        trace: &mut Trace<'_, T, O>,
    ) -> Result<(bool, Option<Status>), EvaluationError> {
        let nothing = Ok((false, None));
        if self.plan.n > LARGEST || !matches!(self.model.form(), LinearForm::Cholesky | LinearForm::Qr) {
            return nothing;
        }
        if self.model.form() == LinearForm::Cholesky && self.gauss_newton(problem).is_some() {
            return nothing;
        }
        let noticeable = T::from_f64(NOTICEABLE) * T::EPSILON * self.cost.abs();
        let reach = scaled_norm(self.column_norms.as_ref(), self.sizes()).max(self.squares.sqrt());
        let mut best: Option<(Trial<T>, S::Vector)> = None;
        for direction in self.null_space() {
            let mut length = T::EPSILON.powf(T::from_f64(0.25)) * reach;
            while length <= reach {
                for side in [length, -length] {
                    self.step.as_mut().iter_mut().zip(direction.iter()).for_each(|(step, &v)| *step = side * T::from_f64(v));
                    self.move_trial(problem);
                    let actual = self.cost - self.trial_cost(problem)?;
                    if actual > best.as_ref().map_or(noticeable, |(best, _)| best.actual) {
                        let (lambda, slope) = (T::ZERO, T::ZERO);
                        let trial = Trial { lambda, length, slope, predicted: T::ZERO, actual, accepted: true };
                        best = Some((trial, self.trial.clone()));
                    }
                }
                length *= T::from_f64(GROWTH);
            }
        }
        let Some((trial, point)) = best else { return nothing };
        self.trial = point;
        if self.linearize_trial(problem)?.is_none() {
            return nothing;
        }
        self.rescale();
        Ok((true, self.enter(trace, &trial, false)))
    }

    /// An orthonormal basis, in the scaled variables, of the steps that the linear model does not see; of variables that no bound
    /// holds.
    fn null_space(&mut self) -> Vec<DVector<f64>> {
        let n = self.plan.n;
        let scale: Vec<f64> = (0..n)
            .map(|j| {
                let norm = self.column_norms.as_ref()[j].to_f64();
                if norm > 0.0 && self.held_by(j).is_none() { norm.recip() } else { 0.0 }
            })
            .collect();
        let Some(model) = self.model.holding_variables() else { return Vec::new() };
        let (mut unit, mut column) = (vec![T::ZERO; n], vec![T::ZERO; n]);
        let mut gram = DMatrix::<f64>::identity(n, n);
        for j in (0..n).filter(|&j| scale[j] > 0.0) {
            unit[j] = T::ONE;
            model.gram_times(&unit, &mut column);
            unit[j] = T::ZERO;
            for i in (0..n).filter(|&i| i != j) {
                gram[(i, j)] = column[i].to_f64() * scale[i] * scale[j];
            }
        }
        if !gram.iter().all(|entry| entry.is_finite()) {
            return Vec::new();
        }
        let eigen = gram.symmetric_eigen();
        let lost = LOST * T::EPSILON.to_f64() * n as f64;
        let columns = eigen.eigenvectors.column_iter().zip(eigen.eigenvalues.iter());
        let null = columns.filter(|&(_, &value)| value <= lost).take(DIRECTIONS);
        null.map(|(v, _)| DVector::from_fn(n, |j, _| v[j] * scale[j])).collect()
    }
}
