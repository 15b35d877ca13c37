//! Stopping criteria of a solve, and the status that they end it with.

use std::fmt;

use super::Settings;
use super::damping::{DampingPolicy, Trial};
use super::iteration::Iteration;
use crate::clock::Stopwatch;
use crate::kernels::vector::{scaled_norm, underflows};
use crate::linear::shape::Shape;
use crate::real::Real;

/// Reason for which a solve ended. The best point is in the report for every one of them.
///
/// # The first-order test
///
/// Short steps and costs that no longer fall are no evidence of a minimum: damping, a scaling that is out of date or a singular system
/// bring them about anywhere. So [`GradientTolerance`](Status::GradientTolerance), [`CostTolerance`](Status::CostTolerance) and
/// [`StepTolerance`](Status::StepTolerance) are only given to a point where, for each parameter that no bound holds, the cosine between
/// the residuals and the parameter's column of the Jacobian is at most the largest of
///
/// - `gtol`,
/// - `ε^0.41`, which is 3.8e-7 in double precision and 1.5e-3 in single,
/// - `√ftol / 16`, which is 3.8e-7 and 3e-4 at the defaults,
///
/// or no larger than what rounding makes of it: four times the change of the residuals when all parameters move by two units of
/// their last digit, in single precision by sixteen. The test depends neither on the damping nor on the scaling nor on units.
/// Where the Jacobian is not formed, it is one test for all parameters, of the mean of their squared cosines. A column that is
/// exactly zero passes; one that is so small that only its squares vanish does not. Where all residuals are outliers that have lost their
/// weight, as on the plateau of [Tukey's loss](crate::Loss::Tukey), the point fails.
///
/// A solve that would end at a point which fails the test renews its scaling, or takes damping back, and goes on. If nothing helps it ends
/// with [`FlatValley`](Status::FlatValley), [`WrongDerivatives`](Status::WrongDerivatives) or [`NoProgress`](Status::NoProgress).
///
/// # The second look
///
/// A point where a descent ends is looked at once more if its cosines fail the test, if the undamped step still predicts a noticeable
/// reduction, or if it is solved for by another form than Cholesky's, as where the normal equations are too close to singular. Rounding errors
/// of one parameter may hide what the others have to gain there, and a saddle is stationary, too. Other points cost nothing more.
///
/// Plain Levenberg–Marquardt steps of eight dampings are tried, by a QR factorisation in double precision: in all parameters, in those that
/// have to move by more than eight units in the last place, and in all but one of up to 16. If none of them leads lower, points along the
/// null space of the Jacobian are tried, both ways, up to a distance of the size of the point. The solve goes on from the lowest point if its
/// cost is noticeably lower, by more than `ε^0.65` of it, in single precision `ε^0.75`, or by more than `ftol` where that is above its
/// default. The 25th such point ends it with [`NoProgress`](Status::NoProgress).
///
/// A look takes one Jacobian and some 20 evaluations of the residuals, eight more for each of up to 16 parameters, and up to ten for each
/// direction of the null space, of which it tries up to 16, and with up to four parameters those between two of them. Problems of more than
/// 128 parameters, of `mn² > 3·10⁷`, with a Jacobian of blocks, or with products with `J` alone, have none.
///
/// The rest is excused: where no such point is noticeably lower, a gradient that rounding explains counts as zero. A curve fit then
/// has the warning [`EndedByRounding`](crate::curve::Warning::EndedByRounding).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// The residuals are orthogonal to every column of the Jacobian to within `gtol`, by default 256 `ε`.
    GradientTolerance,
    /// The last step predicted and brought a reduction of the cost of at most `ftol`, relative to the cost, and the point passes the
    /// first-order test. Where damping took most of that step, the reductions of the last steps fell, and their sum to infinity brings no
    /// more either, although damping fell with them.
    CostTolerance,
    /// The last step was at most `xtol` long, relative to the point and in the scaled variables, or rounding hides what is left to gain,
    /// and the point passes the first-order test.
    StepTolerance,
    /// The residuals vanish where the Jacobian is singular: their squares are zero, or fifty steps have left more than `10⁻⁴` of the cost,
    /// while the residuals were less than `ε^0.75` times as long as at the start, and than `ε^0.85` times their change if each parameter
    /// changes by its size at the start, of which no step was more than `10⁻⁴`.
    ResidualsVanished,
    /// The cost fell to the target.
    TargetCost,
    /// Trials used up. More may help.
    MaxIterations,
    /// Evaluations used up. More may help.
    MaxEvaluations,
    /// Time used up. More may help.
    TimeLimit,
    /// The observer or a [`CancelToken`](crate::solver::CancelToken) ended the solve.
    Cancelled,
    /// The floor of a flat valley: no step lowers the cost noticeably, and parameters that fail the first-order test have all but lost
    /// their influence. A change of each by its own size would change the cost by less than `ε^0.65` of itself.
    FlatValley,
    /// No step that rounding leaves visible lowers the cost, but the point fails the first-order test: the derivatives may be too
    /// inexact, the residuals discontinuous, or the point at the edge of where they are finite.
    NoProgress,
    /// The derivatives contradict the residuals: differences of the cost along one direction agree with each other, and are off
    /// from what the Jacobian says by more than 30 %. It is looked for after twelve trials that the linear model has not foretold,
    /// and where no step lowers the cost.
    WrongDerivatives,
    /// The residual function returned an error, or a further solve of a [robust](crate::CurveFit::robust) fit could not begin; the error is in
    /// the report.
    EvaluationFailed,
}

impl Status {
    /// The solve ended where it was meant to: at a minimum, or at the target cost.
    pub fn is_converged(self) -> bool {
        use Status::*;
        matches!(self, GradientTolerance | CostTolerance | StepTolerance | ResidualsVanished | TargetCost)
    }

    /// The descent came to an end by itself, and the point is to be looked at: nothing asked it to stop.
    pub(super) fn is_at_an_end(self) -> bool {
        use Status::*;
        matches!(self, GradientTolerance | CostTolerance | StepTolerance | NoProgress)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::GradientTolerance => "the gradient vanished (gtol)",
            Status::CostTolerance => "the cost no longer falls (ftol)",
            Status::StepTolerance => "the steps have become negligible (xtol)",
            Status::ResidualsVanished => "the residuals vanished",
            Status::TargetCost => "the target cost was reached",
            Status::MaxIterations => "the iterations were used up",
            Status::MaxEvaluations => "the evaluations were used up",
            Status::TimeLimit => "the time was used up",
            Status::Cancelled => "cancelled",
            Status::FlatValley => "no step lowers the cost noticeably: parameters without influence are not determined",
            Status::NoProgress => "no step lowers the cost any further, though the gradient is not zero",
            Status::WrongDerivatives => "the derivatives contradict the residuals",
            Status::EvaluationFailed => "the residuals could not be evaluated",
        })
    }
}

/// Largest share of the slope along a step that damping may take for the step to count as undamped: 0.5.
pub(super) const UNDAMPED: f64 = 0.5;

/// Steps beside a root after which it is an end, if they have left this share of the cost.
const LINGERING: usize = 50;
const LEFT: f64 = 1e-4;

/// Residuals beside a root are up to `ε` to this power of their change if parameters change by their sizes: 5e-14 in double precision.
const VANISHED: f64 = 0.85;

/// Share of the start that steps beside a root do not exceed.
const SHORT: f64 = 1e-4;

/// Reductions of the cost by the last steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decline<T> {
    /// The latest is the last.
    reductions: [T; 3],
    /// Damping of the latest.
    lambda: T,
    /// Steps in a row beside a root, and the cost at the first of them.
    lingering: (usize, T),
}

impl<T: Real> Default for Decline<T> {
    fn default() -> Self {
        Decline { reductions: [T::ZERO; 3], lambda: T::INFINITY, lingering: (0, T::INFINITY) }
    }
}

impl<T: Real> Decline<T> {
    fn enter(&mut self, trial: &Trial<T>) {
        if !trial.accepted || trial.lambda > self.lambda {
            *self = Decline { lingering: self.lingering, ..Self::default() };
        }
        if trial.accepted {
            self.reductions.rotate_left(1);
            self.reductions[2] = trial.actual;
            self.lambda = trial.lambda;
        }
    }

    /// Counts a step, and returns true if the cost has all but stopped to fall beside a root.
    #[inline]
    fn lingers(&mut self, is_beside_a_root: bool, cost: T) -> bool {
        let (steps, first) = self.lingering;
        self.lingering = match (is_beside_a_root, steps) {
            (false, _) => (0, T::INFINITY),
            (true, 0 | LINGERING) => (1, cost),
            (true, _) => (steps + 1, first),
        };
        steps == LINGERING && cost >= T::from_f64(LEFT) * first
    }

    /// Reduction that further steps would bring if they declined as slowly as the last three did, each with less damping than the one before; a
    /// geometric series (Aitken 1926).
    fn remainder(&self) -> Option<T> {
        let [first, second, third] = self.reductions;
        let ratio = (second / first).max(third / second);
        (first > T::ZERO && ratio < T::ONE).then(|| third * ratio / (T::ONE - ratio))
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// The current point is where the solve should end.
    #[inline]
    pub(super) fn arrived(&self, settings: &Settings<T>) -> Option<Status> {
        if self.squared_gradient_cosine() <= settings.gtol * settings.gtol {
            Some(Status::GradientTolerance)
        } else if settings.target_cost.is_some_and(|target| self.cost <= target) {
            Some(Status::TargetCost)
        } else {
            None
        }
    }

    /// The trial leaves nothing to gain, and the point passes the [first-order test](Self::is_stationary). Where it does not, the
    /// scaling is renewed, or damping taken back, and the solve goes on until no step is left.
    #[inline]
    pub(super) fn settled(&mut self, settings: &Settings<T>, trial: &Trial<T>) -> Option<Status> {
        if trial.accepted && self.cost <= T::EPSILON.sqrt() * self.initial_cost && self.vanishes_in_rounding() {
            return Some(Status::NoProgress);
        }
        let is_zero = self.cost == T::ZERO && underflows(self.squares);
        if is_zero || trial.accepted && self.decline.lingers(self.is_beside_a_root(), self.cost) {
            return Some(Status::ResidualsVanished);
        }
        let claim = self.claim(settings, trial)?;
        if self.is_stationary(settings) {
            return Some(claim);
        }
        let goes_on = self.renew_scaling(settings) || claim.is_converged() || self.damping.relax();
        (!goes_on).then_some(claim)
    }

    /// The residuals are no longer than their change if each parameter is rounded, by itself: costs that still fall do so by chance.
    #[cold]
    fn vanishes_in_rounding(&self) -> bool {
        let rounding = T::EPSILON * scaled_norm(self.column_norms.as_ref(), self.sizes());
        !self.plan.form.multiplies() && self.squares <= rounding * rounding
    }

    /// The residuals are lost in the rounding errors of those at the start, and all but lost in their change if each parameter changes by
    /// its size at the start, of which the step is a small part.
    #[inline]
    fn is_beside_a_root(&self) -> bool {
        self.cost <= T::EPSILON * T::EPSILON.sqrt() * self.initial_cost && {
            let start = self.start.as_ref();
            let reach = T::EPSILON.powf(T::from_f64(VANISHED)) * scaled_norm(self.column_norms.as_ref(), start);
            let largest = start.iter().fold(T::ZERO, |largest, start| largest.max(start.abs()));
            let size = |start: T| if start == T::ZERO { largest } else { start.abs() };
            let mut moves = self.step.as_ref().iter().zip(start);
            self.squares <= reach * reach && moves.all(|(step, &x)| step.abs() <= T::from_f64(SHORT) * size(x))
        }
    }

    /// Status that the trial alone would end the solve with, before the first-order test.
    #[inline]
    fn claim(&mut self, settings: &Settings<T>, trial: &Trial<T>) -> Option<Status> {
        let size = if trial.accepted { self.cost + trial.actual } else { self.cost }.abs();
        let resolution = scaled_norm(self.d.as_ref(), self.sizes());
        // A step held back by damping is short for that reason, and says little of what is left.
        let held_back = trial.lambda * trial.length * trial.length > T::from_f64(-UNDAMPED) * trial.slope;
        let too_little = settings.ftol * size;
        self.decline.enter(trial);
        let is_within = |remainder: T| remainder <= too_little;
        if is_within(trial.predicted)
            && is_within(trial.actual.abs())
            && (!held_back || self.decline.remainder().is_some_and(is_within))
        {
            return Some(Status::CostTolerance);
        }
        if !held_back && trial.length <= settings.xtol * resolution && trial.actual.is_finite() {
            return Some(Status::StepTolerance);
        }
        let drowned = trial.length <= T::EPSILON * resolution || trial.predicted <= T::EPSILON * size;
        (!trial.accepted && drowned).then_some(Status::NoProgress)
    }

    /// Patience has run out.
    #[inline]
    pub(super) fn exhausted(&mut self, settings: &Settings<T>, iterations: usize, begun: Stopwatch) -> Option<Status> {
        if iterations >= settings.max_iterations {
            return Some(Status::MaxIterations);
        }
        self.stop_reason(settings, begun).and_then(|status| self.stop(status))
    }

    /// Returns the reason for which this rank would stop; others need not know it.
    #[inline]
    fn stop_reason(&self, settings: &Settings<T>, begun: Stopwatch) -> Option<Status> {
        if settings.is_cancelled() {
            Some(Status::Cancelled)
        } else if self.evaluations.total() >= settings.max_evaluations {
            Some(Status::MaxEvaluations)
        } else if settings.time_limit.is_some_and(|limit| begun.elapsed() >= limit) {
            Some(Status::TimeLimit)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entered(steps: &[(f64, f64)]) -> Decline<f64> {
        let mut decline = Decline::default();
        for &(lambda, actual) in steps {
            let accepted = actual > 0.0;
            decline.enter(&Trial { lambda, length: 1.0, slope: -1.0, predicted: 1.0, actual, accepted });
        }
        decline
    }

    #[test]
    fn a_geometric_decline_is_summed_to_its_end() {
        let halves = entered(&[(1.0, 8.0), (0.9, 4.0), (0.8, 2.0)]);
        assert_eq!(halves.remainder(), Some(2.0));
        // The slower of the last two ratios counts.
        let slower = entered(&[(1.0, 8.0), (0.9, 6.0), (0.8, 3.0)]);
        assert_eq!(slower.remainder(), Some(9.0));
    }

    #[test]
    fn a_cost_that_hardly_falls_lingers() {
        let ends = |share: f64| {
            let mut decline = Decline::default();
            (0..200).position(|trial| decline.lingers(trial >= 10, share.powi(trial)))
        };
        assert_eq!(ends(0.9), Some(60));
        assert_eq!(ends(0.1), None, "it is on its way");
    }

    #[test]
    fn nothing_is_known_of_what_rises_or_was_interrupted() {
        assert_eq!(entered(&[(1.0, 8.0), (0.9, 4.0)]).remainder(), None);
        assert_eq!(entered(&[(1.0, 2.0), (0.9, 3.0), (0.8, 2.0)]).remainder(), None);
        // More damping alone makes reductions decline.
        assert_eq!(entered(&[(1.0, 8.0), (0.9, 4.0), (2.0, 2.0)]).remainder(), None);
        assert_eq!(entered(&[(1.0, 8.0), (0.9, 4.0), (0.8, -1.0), (0.8, 2.0)]).remainder(), None);
        assert_eq!(entered(&[(1.0, 9.0), (3.0, 8.0), (0.9, 4.0), (0.8, 2.0)]).remainder(), Some(2.0));
    }
}
