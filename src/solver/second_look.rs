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
use crate::linear::{LinearForm, LinearModel, Plan};
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Largest number of parameters.
const LARGEST: usize = 128;

/// Largest `mn²`, in proportion to which the linear model takes flops.
const MOST_WORK: f64 = 3e7;

/// A point is lower if its cost is by more than `ε` to this power of it, in double and in single precision: 7e-11 and 6e-6. Steps that
/// lower a cost in single precision among rounding errors are that short. A tolerance above the default takes its place.
const NOTICED: [f64; 2] = [0.65, 0.75];

/// Largest number of parameters that are left out one by one.
const FEW: usize = 16;

/// Dampings that are tried, in units of the squared column norms.
const DAMPINGS: [f64; 8] = [0.0, 1e-12, 1e-8, 1e-5, 1e-3, 1e-1, 1e1, 1e3];

/// Shares of the undamped step that are tried: the form of the linear system may know it better than the normal equations.
const SHARES: [f64; 3] = [1.0, 0.1, 0.01];

/// A parameter is coarse if its derivative asks for a step of no more than this many units of its last digit.
const COARSE: f64 = 8.0;

/// Squared length of `Jδ` of a step of length one that the linear model does not see, in units of `ε`.
const LOST: f64 = 256.0;

/// Directions of a null space that are tried, at most.
const DIRECTIONS: usize = 16;

/// Largest number of parameters between whose directions others are tried, too.
const FEW_PARAMETERS: usize = 4;

/// Distances along a direction grow from `ε^¼` of the size of the point by this factor, up to that size.
const GROWTH: f64 = 8.0;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T> + Shape<f64>,
    D: DampingPolicy<T>,
{
    /// Moves to the lowest point that a second look finds, if it is noticeably lower. Returns true if it does, and the reason to stop if
    /// there is one. `left` is a bound on what the undamped step predicts, if one is known.
    pub(super) fn look_again<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        trace: &mut Trace<'_, T, O>,
        left: Option<T>,
    ) -> Result<(bool, Option<Status>), EvaluationError> {
        let nothing = Ok((false, None));
        let Plan { m, n, form, .. } = self.plan;
        let work = (m as f64) * (n as f64) * (n as f64);
        let is_small = n <= LARGEST && work <= MOST_WORK;
        if !is_small || form.multiplies() || self.model.taking_blocks().is_some() {
            return nothing;
        }
        if trace.iterations >= settings.max_iterations {
            return nothing;
        }
        if self.is_minimum(settings, left) {
            return nothing;
        }
        let undamped = self.gauss_newton(problem);
        if self.is_minimum(settings, undamped) {
            return nothing;
        }
        let limit = settings.max_evaluations;
        let noticeable = self.least_gain(settings);
        let mut found = Found::<T, S> { trial: None, point: self.x.clone(), noticeable, limit };
        if let Some(predicted) = undamped {
            let step = self.step.clone();
            for share in SHARES {
                self.step
                    .as_mut()
                    .iter_mut()
                    .zip(step.as_ref())
                    .for_each(|(to, &from)| *to = T::from_f64(share) * from);
                self.try_step(problem, (0.0, share * predicted.to_f64()), &mut found)?;
            }
        }
        let Some(mut model) = self.plain_model(problem)? else { return nothing };
        self.try_plain_steps(problem, &mut model, &mut found)?;
        if found.trial.is_none() && !self.is_near_zero() {
            self.try_null_space(problem, model, &mut found)?;
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

    /// There is nothing to look for. The undamped step of an ill-conditioned system may promise much where each cosine is small.
    fn is_minimum(&self, settings: &Settings<T>, left: Option<T>) -> bool {
        let is_little =
            |left: T| left <= T::EPSILON * self.cost.abs() || left <= self.least_gain(settings) || !settings.polish;
        left.is_some_and(is_little) && self.model.form() == LinearForm::Cholesky && self.is_stationary(settings)
    }

    /// Reduction of the cost that is worth another descent.
    fn least_gain(&self, settings: &Settings<T>) -> T {
        let is_single = size_of::<T>() == size_of::<f32>();
        let share = T::EPSILON.powf(T::from_f64(NOTICED[usize::from(is_single)]));
        self.cost.abs() * if settings.ftol > Settings::<T>::default_ftol() { settings.ftol } else { share }
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
    ) -> Result<Option<PlainModel<S>>, EvaluationError> {
        let n = self.plan.n;
        let mut model = PlainModel::new(n, |j| self.held_by(j).is_some());
        let visited = self.tiles.linearize(problem, self.x.as_ref(), |_, _, r, jacobian| {
            for (row, r) in jacobian.chunks_exact(n).zip(r) {
                model.add_row(r.to_f64(), row.iter().map(|entry| entry.to_f64()));
            }
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
        model: &mut PlainModel<S>,
        found: &mut Found<T, S>,
    ) -> Result<(), EvaluationError> {
        let unit = COARSE * T::EPSILON.to_f64();
        let alone = if self.plan.n <= FEW { self.plan.n } else { 0 };
        let choices = [LeftOut::None, LeftOut::Coarse].into_iter().chain((0..alone).map(LeftOut::One));
        for choice in choices {
            for lambda in DAMPINGS {
                let sizes = self.sizes();
                let plain = model.step(lambda, |j, own_step| match choice {
                    LeftOut::None => false,
                    LeftOut::Coarse => own_step <= unit * sizes[j].to_f64().abs(),
                    LeftOut::One(alone) => j == alone,
                });
                let Some(PlainStep { step, predicted }) = plain else { continue };
                self.take(step.as_ref(), 1.0);
                self.try_step(problem, (lambda, predicted), found)?;
            }
        }
        Ok(())
    }

    /// Tries points along the null space: along what each parameter alone has in it, and between each two where they are few.
    fn try_null_space<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        mut model: PlainModel<S>,
        found: &mut Found<T, S>,
    ) -> Result<(), EvaluationError> {
        let (n, lost) = (self.plan.n, LOST * T::EPSILON.to_f64());
        let reach = scaled_norm(self.column_norms.as_ref(), self.sizes()).max(self.squares.sqrt()).to_f64();
        if !(reach > 0.0 && reach.is_finite()) {
            return Ok(());
        }
        let unit = |j: usize| {
            let size = self.sizes()[j].to_f64().abs();
            if size > 0.0 { size / reach } else { reach.recip() }
        };
        if !model.find_null_space(lost, unit) {
            return Ok(());
        }
        let mut directions = 0;
        for i in 0..n {
            let Some(direction) = model.project(lost, i) else { continue };
            directions += 1;
            if directions > DIRECTIONS || found.trial.is_some() {
                break;
            }
            self.try_line(problem, direction.as_ref(), reach, found)?;
            for j in 0..if n <= FEW_PARAMETERS { i } else { 0 } {
                let Some(other) = model.project(lost, j) else { continue };
                for side in [1.0, -1.0] {
                    let mut between = direction.clone();
                    between.as_mut().iter_mut().zip(other.as_ref()).for_each(|(sum, other)| *sum += side * other);
                    self.try_line(problem, between.as_ref(), reach, found)?;
                }
            }
        }
        Ok(())
    }

    /// Tries points along a direction, both ways, at growing distances.
    fn try_line<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        direction: &[f64],
        reach: f64,
        found: &mut Found<T, S>,
    ) -> Result<(), EvaluationError> {
        let mut share = T::EPSILON.to_f64().powf(0.25);
        while share <= 1.0 {
            for side in [share, -share] {
                self.take(direction, side * reach);
                self.try_step(problem, (0.0, 0.0), found)?;
            }
            share *= GROWTH;
        }
        Ok(())
    }

    /// Makes a multiple of these numbers the step.
    fn take(&mut self, step: &[f64], factor: f64) {
        self.step.as_mut().iter_mut().zip(step).for_each(|(to, &from)| *to = T::from_f64(factor * from));
    }

    /// Keeps the point after the step if it is the lowest so far, within the bounds.
    fn try_step<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        (lambda, predicted): (f64, f64),
        found: &mut Found<T, S>,
    ) -> Result<(), EvaluationError> {
        if self.evaluations.total() >= found.limit {
            return Ok(());
        }
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

/// Parameters that a plain step leaves where they are.
#[derive(Clone, Copy)]
enum LeftOut {
    None,
    Coarse,
    One(usize),
}

/// The lowest point so far.
struct Found<T: Real, S: Shape<T>> {
    /// How it was found; `None` where none is noticeably lower.
    trial: Option<Trial<T>>,
    point: S::Vector,
    /// Reduction of the cost that is noticed.
    noticeable: T,
    /// Evaluations that are allowed in the whole solve.
    limit: usize,
}
