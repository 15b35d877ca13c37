//! A second look at the point where a descent has ended.
//!
//! Two kinds of points pass for ends and are none.
//!
//! - Points that are not stationary, although each step of the descent fails. One ill-conditioned parameter, whose last digit moves some
//!   residuals more than any step does, ruins the steps in all parameters, and hides what the others have to gain. Plain steps are tried
//!   in all parameters, in those that are not coarse, and in all but one.
//! - Saddles. Along the null space of the Jacobian the linear model predicts no change, and the curvature of the residuals decides. The
//!   cost is evaluated along a basis of the null space, both ways, at growing distances.
//!
//! A point that passes is one that no step in working precision lowers noticeably. Where the Jacobian has full rank and the undamped
//! step predicts nothing, there is nothing to look for.

use super::damping::{DampingPolicy, Trial};
use super::iteration::Iteration;
use super::plain_model::{PlainModel, PlainStep};
use super::trace::Trace;
use super::{Observer, Settings, Status};
use crate::kernels::vector::scaled_norm;
use crate::linear::shape::Shape;
use crate::linear::{LinearForm, LinearModel};
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Largest number of parameters.
const LARGEST: usize = 128;

/// Largest number of parameters that are left out one by one.
const FEW: usize = 16;

/// Dampings that are tried, in units of the squared column norms.
const DAMPINGS: [f64; 7] = [0.0, 1e-12, 1e-8, 1e-5, 1e-3, 1e-1, 1e1];

/// Shares of the undamped step that are tried: the form of the linear system may know it better than the normal equations.
const SHARES: [f64; 3] = [1.0, 0.1, 0.01];

/// A parameter is coarse if its derivative asks for a step of no more than this many units of its last digit.
const COARSE: f64 = 8.0;

/// Eigenvalues of the Gram matrix of the columns, each of length one, that count as zero, in units of `ε` and for each column.
const LOST: f64 = 256.0;

/// Directions of a null space that are tried, at most.
const DIRECTIONS: usize = 16;

/// Largest number of directions between which others are tried, too.
const FEW_DIRECTIONS: usize = 4;

/// Distances along a direction grow from `ε^¼` of the size of the point by this factor, up to that size.
const GROWTH: f64 = 8.0;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Moves to the lowest point that a second look finds, if it is noticeably lower. Returns true if it does, and the reason to stop if
    /// there is one.
    pub(super) fn look_again<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        trace: &mut Trace<'_, T, O>,
    ) -> Result<(bool, Option<Status>), EvaluationError> {
        let nothing = Ok((false, None));
        if self.plan.n > LARGEST || self.plan.form.multiplies() || self.model.taking_blocks().is_some() {
            return nothing;
        }
        let noticeable = self.noticeable().max(settings.ftol * self.cost.abs());
        let undamped = self.gauss_newton(problem);
        let has_full_rank = undamped.is_some() && self.model.form() == LinearForm::Cholesky;
        let is_little = |left: T| left <= noticeable || !settings.polish;
        if self.is_stationary(settings) && has_full_rank && undamped.is_none_or(is_little) {
            return nothing;
        }
        let mut found =
            Found { trial: None, point: self.x.clone(), noticeable, most_evaluations: settings.max_evaluations };
        if let Some(predicted) = undamped {
            let step: Vec<f64> = self.step.as_ref().iter().map(|step| step.to_f64()).collect();
            for share in SHARES {
                let part: Vec<f64> = step.iter().map(|step| share * step).collect();
                self.try_step(problem, &part, (0.0, share * predicted.to_f64()), &mut found)?;
            }
        }
        let Some(mut model) = self.plain_model(problem)? else { return nothing };
        self.try_plain_steps(problem, &mut model, &mut found)?;
        if found.trial.is_none() && !self.is_near_zero() {
            self.try_null_space(problem, &model, &mut found)?;
        }
        let (Some(trial), before) = (found.trial, self.cost) else { return nothing };
        self.trial = found.point;
        let Some(cost) = self.linearize_trial(problem)? else { return nothing };
        if !(cost < before) {
            self.return_from_trial(before);
            return nothing;
        }
        self.rescale();
        Ok((true, self.enter(trace, &Trial { actual: before - cost, accepted: true, ..trial }, false)))
    }

    /// The cost is next to nothing beside the start's, and the residuals are beside what parameters of the start's size would change: a
    /// root, to which singular Jacobians lead slowly.
    fn is_near_zero(&self) -> bool {
        let reach = T::EPSILON.sqrt() * scaled_norm(self.column_norms.as_ref(), self.start.as_ref());
        self.cost <= T::EPSILON * self.initial_cost && self.squares <= reach * reach
    }

    /// The linear model at the current point, whose rows are asked for again; `None` where it is not finite.
    fn plain_model<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
    ) -> Result<Option<PlainModel>, EvaluationError> {
        let mut model = PlainModel::new((0..self.plan.n).map(|j| self.held_by(j).is_some()).collect());
        let wide = |entries: &[T]| entries.iter().map(|entry| entry.to_f64()).collect::<Vec<_>>();
        let visited = self.tiles.linearize(problem, self.x.as_ref(), |_, _, r, jacobian| {
            model.add_rows(&mut wide(r), &mut wide(jacobian));
            Ok(())
        });
        self.tiles.forget();
        self.evaluations.jacobians += 1;
        match &self.rank_sync {
            None => visited?,
            Some(rank_sync) => model.span_ranks(|own| rank_sync.gather(own, visited))?,
        }
        Ok(model.complete())
    }

    /// Tries steps of all dampings: in all parameters, in those that are not coarse, and in all but one.
    fn try_plain_steps<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        model: &mut PlainModel,
        found: &mut Found<T, S::Vector>,
    ) -> Result<(), EvaluationError> {
        let n = self.plan.n;
        let unit = COARSE * T::EPSILON.to_f64();
        let is_coarse: Vec<bool> = (0..n).map(|j| model.own_step(j) <= unit * self.sizes()[j].to_f64().abs()).collect();
        let alone = if n <= FEW { n } else { 0 };
        for choice in 0..2 + alone {
            let is_left_out = |j: usize| choice == 1 && is_coarse[j] || choice == j + 2;
            for lambda in DAMPINGS {
                let Some(PlainStep { step, predicted }) = model.step(lambda, is_left_out) else { continue };
                if !(T::from_f64(predicted) > found.noticeable) {
                    break;
                }
                self.try_step(problem, &step, (lambda, predicted), found)?;
            }
        }
        Ok(())
    }

    /// Tries points along the null space: along a basis of it, and between each two directions where they are few.
    fn try_null_space<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        model: &PlainModel,
        found: &mut Found<T, S::Vector>,
    ) -> Result<(), EvaluationError> {
        let reach = scaled_norm(self.column_norms.as_ref(), self.sizes()).max(self.squares.sqrt()).to_f64();
        let unit = |j: usize| {
            let size = self.sizes()[j].to_f64().abs();
            if size > 0.0 { size / reach } else { reach.recip() }
        };
        let lost = LOST * T::EPSILON.to_f64();
        let mut directions = model.null_space(lost, unit);
        if directions.len() <= FEW_DIRECTIONS {
            for (i, j) in (0..directions.len()).flat_map(|j| (0..j).map(move |i| (i, j))) {
                for side in [1.0, -1.0] {
                    directions.push(directions[i].iter().zip(&directions[j]).map(|(a, b)| a + side * b).collect());
                }
            }
        }
        for direction in directions.into_iter().take(DIRECTIONS) {
            let mut length = T::EPSILON.to_f64().powf(0.25) * reach;
            while length <= reach {
                for side in [length, -length] {
                    let step: Vec<f64> = direction.iter().map(|v| side * v).collect();
                    self.try_step(problem, &step, (0.0, 0.0), found)?;
                }
                length *= GROWTH;
            }
        }
        Ok(())
    }

    /// Keeps the point after a step if it is the lowest so far, within the bounds.
    fn try_step<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        step: &[f64],
        (lambda, predicted): (f64, f64),
        found: &mut Found<T, S::Vector>,
    ) -> Result<(), EvaluationError> {
        if self.evaluations.total() >= found.most_evaluations {
            return Ok(());
        }
        self.step.as_mut().iter_mut().zip(step).for_each(|(to, &from)| *to = T::from_f64(from));
        self.look_ahead(problem, T::ONE);
        if let Some(bounds) = &self.bounds {
            bounds.clamp(self.trial.as_mut());
        }
        let actual = self.cost - self.trial_cost(problem)?;
        if actual > found.trial.map_or(found.noticeable, |best| best.actual) {
            let length = scaled_norm(self.column_norms.as_ref(), self.step.as_ref());
            let slope = self.model.slope(self.step.as_ref());
            let (lambda, predicted) = (T::from_f64(lambda), T::from_f64(predicted));
            found.trial = Some(Trial { lambda, length, slope, predicted, actual, accepted: false });
            found.point.as_mut().copy_from_slice(self.trial.as_ref());
        }
        Ok(())
    }
}

/// The lowest point so far.
struct Found<T, V> {
    /// How it was found; `None` where none is noticeably lower.
    trial: Option<Trial<T>>,
    point: V,
    /// Reduction of the cost that is noticed.
    noticeable: T,
    /// Evaluations that are allowed in the whole solve.
    most_evaluations: usize,
}
