//! A second look at the point where a descent has ended.
//!
//! Two kinds of end points are not minima.
//!
//! - Points that are not stationary, although each step of the descent fails. One ill-conditioned parameter, whose last digit changes some
//!   residuals more than any step does, spoils the steps in all parameters and hides a reduction in the others. Plain steps are tried in
//!   all parameters, in those that are not coarse, and in all but one.
//! - Saddles. Along the null space of the Jacobian the linear model predicts no change, and the curvature of the residuals decides. The
//!   cost is evaluated along a basis of the null space, both ways, at growing distances.
//!
//! A point that passes is one that no step in working precision lowers noticeably. Where the Jacobian has full rank and the undamped
//! step predicts nothing, there is nothing to look for.

use super::Settings;
use super::Status;
use super::damping::Trial;
use super::descent::{Descent, DescentParts, PartsVector};
use super::first_order::{held_by, is_stationary};
use super::plain_model::{PlainModel, PlainStep};
use super::polish::gauss_newton;
use super::solve::Solve;
use super::space::Space;
use crate::evaluation::Evaluation;
use crate::kernels::vector::scaled_norm;
use crate::linear::{LinearForm, LinearModel};
use crate::problem::Evaluated;
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

/// Largest number of parameters for which directions between two directions of the null space are also tried.
const FEW_PARAMETERS: usize = 4;

/// Distances along a direction grow from `ε^¼` of the size of the point by this factor, up to that size.
const GROWTH: f64 = 8.0;

/// Parameters that a plain step leaves where they are.
#[derive(Clone, Copy)]
enum LeftOut {
    None,
    Coarse,
    One(usize),
}

/// A search for a lower point.
struct SecondLook<'s, T: Real, P: DescentParts<T>, E> {
    descent: &'s mut Descent<T, P>,
    evaluation: &'s mut E,
    /// How the lowest point so far was found; `None` where none is noticeably lower.
    found: Option<Trial<T>>,
    point: PartsVector<T, P>,
    /// Reduction of the cost that is noticed.
    noticeable: T,
    /// Evaluations that are allowed in the whole solve.
    limit: usize,
}

/// Moves to the lowest point that a second look finds, if it is noticeably lower. Returns true if it does, and the reason to stop if
/// there is one. `left` is a bound on what the undamped step predicts, if one is known.
pub(super) fn look_again<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    solve: &mut Solve<'_, '_, T, P, E>,
    left: Option<T>,
) -> Evaluated<(bool, Option<Status>)> {
    let nothing = Ok((false, None));
    let Solve { descent, evaluation, ends, polishes } = solve;
    let (settings, before) = (ends.settings, descent.here.costs.cost);
    if !is_small(descent, *evaluation) || ends.iterations >= settings.max_iterations {
        return nothing;
    }
    if is_minimum(descent, settings, *polishes, left) {
        return nothing;
    }
    let undamped = gauss_newton(descent, *evaluation)?;
    if is_minimum(descent, settings, *polishes, undamped) {
        return nothing;
    }
    let (noticeable, limit) = (least_gain(settings, before), settings.max_evaluations);
    // Parameters of the start's size would change the residuals by more than they are: a root, to which singular Jacobians lead slowly.
    let reach = T::EPSILON.sqrt() * scaled_norm(descent.scale.norms(), ends.start.as_ref());
    let is_near_zero = before <= T::EPSILON * ends.initial_cost && descent.here.costs.squares <= reach * reach;
    let point = descent.here.x.clone();
    let mut look = SecondLook { descent, evaluation: *evaluation, found: None, point, noticeable, limit };
    look.search(undamped, !is_near_zero)?;
    let SecondLook { found: Some(trial), point, .. } = look else { return nothing };
    descent.trial.x = point;
    let Some(cost) = descent.linearize_trial(*evaluation)? else { return nothing };
    if !(cost < before) {
        descent.return_from_trial(*evaluation)?;
        return nothing;
    }
    descent.follow();
    let trial = Trial { actual: before - cost, accepted: true, ..trial };
    Ok((true, ends.enter(descent, *evaluation, &trial, false)))
}

/// The Jacobian is formed, and a look takes little work.
fn is_small<T: Real, P: DescentParts<T>, E: Evaluation<T>>(descent: &Descent<T, P>, evaluation: &E) -> bool {
    let (m, n) = (evaluation.size().0, descent.step.delta.as_ref().len());
    let work = (m as f64) * (n as f64) * (n as f64);
    n <= LARGEST && work <= MOST_WORK && descent.model.form().forms_rows()
}

/// There is nothing to look for. The undamped step of an ill-conditioned system may promise much where each cosine is small.
fn is_minimum<T: Real, P: DescentParts<T>>(
    descent: &Descent<T, P>,
    settings: &Settings<T>,
    is_polished: bool,
    left: Option<T>,
) -> bool {
    let cost = descent.here.costs.cost;
    let is_little = |left: T| left <= T::EPSILON * cost.abs() || left <= least_gain(settings, cost) || !is_polished;
    left.is_some_and(is_little) && descent.model.form() == LinearForm::Cholesky && is_stationary(descent, settings)
}

/// Reduction of the cost that is worth another descent.
fn least_gain<T: Real>(settings: &Settings<T>, cost: T) -> T {
    let is_single = size_of::<T>() == size_of::<f32>();
    let share = T::EPSILON.powf(T::from_f64(NOTICED[usize::from(is_single)]));
    cost.abs() * if settings.ftol > Settings::<T>::default_ftol() { settings.ftol } else { share }
}

impl<T: Real, P: DescentParts<T>, E: Evaluation<T>> SecondLook<'_, T, P, E> {
    /// Tries shares of the undamped step, plain steps, and, if none of these is lower, points along the null space.
    fn search(&mut self, undamped: Option<T>, along_null_space: bool) -> Evaluated {
        if let Some(predicted) = undamped {
            let step = self.descent.step.delta.clone();
            let step: &[T] = step.as_ref();
            for share in SHARES {
                let delta = self.descent.step.delta.as_mut();
                delta.iter_mut().zip(step).for_each(|(to, &from)| *to = T::from_f64(share) * from);
                self.try_step((0.0, share * predicted.to_f64()))?;
            }
        }
        let n = self.descent.step.delta.as_ref().len();
        let mut model = PlainModel::<P::Storage>::new(n, |j| held_by(self.descent, j).is_some());
        self.evaluation.sum_rows(self.descent.here.x.as_ref(), &mut model)?;
        let Some(mut model) = model.complete() else {
            self.found = None;
            return Ok(());
        };
        self.try_plain_steps(&mut model)?;
        if self.found.is_none() && along_null_space { self.try_null_space(model) } else { Ok(()) }
    }

    /// Sizes of the parameters.
    fn sizes(&self) -> &[T] {
        self.descent.space.sizes(self.descent.here.x.as_ref())
    }

    /// Tries steps of all dampings: in all parameters, in those that are not coarse, and in all but one.
    fn try_plain_steps(&mut self, model: &mut PlainModel<P::Storage>) -> Evaluated {
        let unit = COARSE * T::EPSILON.to_f64();
        let n = self.descent.step.delta.as_ref().len();
        let alone = if n <= FEW { n } else { 0 };
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
                self.try_step((lambda, predicted))?;
            }
        }
        Ok(())
    }

    /// Tries points along the null space: along what each parameter alone has in it, and between each two where they are few.
    fn try_null_space(&mut self, mut model: PlainModel<P::Storage>) -> Evaluated {
        let (n, lost) = (self.descent.step.delta.as_ref().len(), LOST * T::EPSILON.to_f64());
        let (norms, squares) = (self.descent.scale.norms(), self.descent.here.costs.squares);
        let reach = scaled_norm(norms, self.sizes()).max(squares.sqrt()).to_f64();
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
            if directions > DIRECTIONS || self.found.is_some() {
                break;
            }
            self.try_line(direction.as_ref(), reach)?;
            for j in 0..if n <= FEW_PARAMETERS { i } else { 0 } {
                let Some(other) = model.project(lost, j) else { continue };
                for side in [1.0, -1.0] {
                    let mut between = direction.clone();
                    between.as_mut().iter_mut().zip(other.as_ref()).for_each(|(sum, other)| *sum += side * other);
                    self.try_line(between.as_ref(), reach)?;
                }
            }
        }
        Ok(())
    }

    /// Tries points along a direction, both ways, at growing distances.
    fn try_line(&mut self, direction: &[f64], reach: f64) -> Evaluated {
        let mut share = T::EPSILON.to_f64().powf(0.25);
        while share <= 1.0 {
            for side in [share, -share] {
                self.take(direction, side * reach);
                self.try_step((0.0, 0.0))?;
            }
            share *= GROWTH;
        }
        Ok(())
    }

    /// Makes a multiple of these numbers the step.
    fn take(&mut self, step: &[f64], factor: f64) {
        let delta = self.descent.step.delta.as_mut();
        delta.iter_mut().zip(step).for_each(|(to, &from)| *to = T::from_f64(factor * from));
    }

    /// Keeps the point after the step if it is the lowest so far, within the bounds.
    fn try_step(&mut self, (lambda, predicted): (f64, f64)) -> Evaluated {
        let Descent { space, here, step, trial, .. } = &mut *self.descent;
        if self.evaluation.counts().total() >= self.limit {
            return Ok(());
        }
        space.look_ahead(self.evaluation, here.x.as_ref(), T::ONE, step.delta.as_ref(), trial.x.as_mut());
        space.clamp(trial.x.as_mut());
        let actual = here.costs.cost - self.descent.trial_cost(self.evaluation)?;
        if actual > self.found.map_or(self.noticeable, |best| best.actual) {
            let step = self.descent.step.delta.as_ref();
            let (length, slope) = (scaled_norm(self.descent.scale.norms(), step), self.descent.model.slope(step));
            let (lambda, predicted) = (T::from_f64(lambda), T::from_f64(predicted));
            self.found = Some(Trial { lambda, length, slope, predicted, actual, accepted: false });
            self.point.as_mut().copy_from_slice(self.descent.trial.x.as_ref());
        }
        Ok(())
    }
}
