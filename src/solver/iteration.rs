//! The Levenberg–Marquardt iteration. There is one in the crate: a full solve repeats it.

use super::chord::Chord;
use super::damping::{DampingPolicy, IllConditioned, Trial};
use super::manifold::PointSizes;
use super::matrix_free::products;
use super::rank_sync::RankSync;
use super::step_rule::StepRule;
use super::termination::Decline;
use super::trace::Trace;
use super::{Acceleration, Evaluations, Observer, Refusal, Scaling, Settings, Status};
use crate::clock::Stopwatch;
use crate::kernels::vector::{all_finite, dot, scaled_norm};
use crate::linear::shape::Shape;
use crate::linear::{BoxConstrained, LinearModel, Plan, RowSums, Tiles};
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// A step is taken when it brings at least this share of the reduction that the linear model predicted.
pub(super) const SUFFICIENT_GAIN: f64 = 1e-4;

/// Gain ratio of a step from which the next is expected to be taken, and is linearised without asking for its cost first.
const PROMISING_GAIN: f64 = 0.5;

/// State of the iteration: a point, the linear model of the residuals there, and room for the next step.
///
/// The problem comes with every call: a full solve passes the same one, training another minibatch for every step.
pub(crate) struct Iteration<T: Real, S: Shape<T>, D> {
    pub(crate) plan: Plan,
    pub(crate) damping: D,
    pub(crate) scaling: Scaling,
    pub(super) acceleration: Acceleration,
    /// The change of a step before it is tried.
    pub(crate) rule: StepRule<T>,
    /// The update at a point that is taken.
    pub(crate) arrival: Arrival,
    pub(crate) model: S::Model,
    pub(crate) tiles: Tiles<T, S>,
    /// Room to sum rows on all cores; `None` where the rows are few.
    pub(super) row_sums: Option<RowSums<T>>,
    /// Synchronisation of the ranks that share the rows; `None` on a single rank.
    pub(crate) rank_sync: Option<RankSync<T>>,
    /// Sizes and room for a problem on a manifold; `None` in Euclidean space.
    pub(super) point_sizes: Option<PointSizes<T>>,
    /// Box bounds of the parameters; `None` where there are none.
    pub(super) bounds: Option<BoxConstrained<T, S>>,
    /// The current point, the best so far.
    pub(crate) x: S::Vector,
    /// `½‖r‖²` there, or the loss that it stands for.
    pub(crate) cost: T,
    /// `‖r‖²` of the rows that stand for the loss there, which is twice the cost unless the problem has a cost of its own; taken to
    /// be that where the rows are on several ranks, or the Jacobian is not formed.
    pub(super) squares: T,
    /// Sum of squares at the trial point, or at the last point where the trial was taken.
    pub(super) trial_squares: T,
    /// The cost at the start.
    pub(super) initial_cost: T,
    /// Sizes of the parameters there.
    pub(super) start: S::Vector,
    /// `‖J_j‖` there.
    pub(super) column_norms: S::Vector,
    /// The scaling `D`.
    pub(crate) d: S::Vector,
    /// The step `δ`.
    pub(crate) step: S::Vector,
    /// The trial point `x + δ`.
    pub(crate) trial: S::Vector,
    /// Room for the second-order correction of a step.
    pub(super) correction: S::Vector,
    /// Corrections of a trial with the Jacobian at hand; `None` where none are made.
    pub(super) chord: Option<Chord<T>>,
    pub(super) evaluations: Evaluations,
    /// The damping of the last system, whether it could be solved or not.
    pub(super) tried: T,
    /// `‖Dδ‖` of the last step that was solved for.
    pub(super) length: T,
    /// Reason for which the last step was refused whatever its cost, and that cost; infinite where it is not known.
    pub(super) refused: Option<(Refusal, T)>,
    /// The last trial went so well that the next is expected to be taken.
    pub(super) promising: bool,
    /// The next step gets a second-order correction.
    pub(crate) accelerate: bool,
    /// Trials that the linear model has not foretold.
    pub(super) doubtful: usize,
    /// Reductions of the cost by the last steps.
    pub(super) decline: Decline<T>,
    /// True once a cost was not `½‖r‖²`: the rows then represent a loss, and `J` is not their derivative.
    pub(super) has_own_cost: bool,
}

/// The update at a point that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The problem is linearised there, for the next step.
    Linearize,
    /// The next step will be on another problem: nothing is linearised.
    Leave,
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Room for a problem as planned, with a model for it, at the start `x`.
    pub(crate) fn new(settings: &Settings<T>, damping: D, plan: Plan, model: S::Model, x: S::Vector) -> Self {
        let n = plan.n;
        let mut d = S::vector(n);
        if plan.form.multiplies() {
            d.as_mut().fill(T::ONE);
        }
        let mut tiles = Tiles::new(plan.m, plan.form.formed_columns(n), plan.group);
        if settings.keeps_rows(&plan) {
            tiles.keep_all(plan.m);
        }
        Iteration {
            plan,
            damping,
            scaling: settings.scaling_for(plan.form),
            acceleration: if plan.form.accelerates() { settings.acceleration } else { Acceleration::Never },
            rule: StepRule::default(),
            arrival: Arrival::Linearize,
            model,
            tiles,
            row_sums: None,
            rank_sync: None,
            point_sizes: None,
            bounds: None,
            trial: x.clone(),
            x,
            cost: T::INFINITY,
            squares: T::INFINITY,
            trial_squares: T::INFINITY,
            initial_cost: T::INFINITY,
            start: S::vector(n),
            column_norms: S::vector(n),
            d,
            step: S::vector(n),
            correction: S::vector(n),
            chord: None,
            evaluations: Evaluations::default(),
            tried: T::ZERO,
            length: T::ZERO,
            refused: None,
            promising: false,
            accelerate: plan.form.accelerates() && settings.acceleration == Acceleration::Always,
            doubtful: 0,
            decline: Decline::default(),
            has_own_cost: false,
        }
    }

    /// Lets all cores sum many rows, unless ranks do.
    pub(super) fn use_all_cores(&mut self) {
        if S::TILE_ROWS == 0 && self.rank_sync.is_none() {
            self.row_sums = RowSums::new(self.plan.m, self.plan.n, self.plan.group);
        }
    }

    /// Lets the damping start afresh.
    pub(crate) fn start_damping(&mut self) {
        let reach = scaled_norm(self.d.as_ref(), self.sizes());
        self.damping.start(reach);
    }

    /// Repeats the iteration until something ends it.
    #[inline]
    pub(super) fn descend<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        trace: &mut Trace<'_, T, O>,
        begun: Stopwatch,
    ) -> Result<Status, EvaluationError> {
        loop {
            if let Some(status) = self.arrived(settings).or_else(|| self.exhausted(settings, trace.iterations, begun)) {
                return Ok(status);
            }
            let trial = self.iterate(problem)?;
            if let Some(status) = self.stopped_by_a_rank() {
                return Ok(status);
            }
            if let Some(status) = self.enter(trace, &trial, false) {
                return Ok(status);
            }
            if let Some(status) = self.settled(settings, &trial) {
                return Ok(status);
            }
            if self.is_time_to_check(&trial) && self.derivatives_are_wrong(problem, trial.length)? {
                return Ok(Status::WrongDerivatives);
            }
        }
    }

    /// One iteration: solve the damped system, try the step, take it or damp more.
    #[inline]
    pub(crate) fn iterate<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
    ) -> Result<Trial<T>, EvaluationError> {
        if self.plan.form.multiplies() {
            products(problem)?;
        }
        let lambda = match self.damp(problem)? {
            Ok(lambda) => lambda,
            Err(IllConditioned) => return Ok(self.damp_more()),
        };
        let length = self.length;
        let slope = self.model.slope(self.step.as_ref());
        let predicted = self.predicted_reduction(lambda, length, slope);
        let mut trial = Trial { lambda, length, slope, predicted, actual: -T::INFINITY, accepted: false };

        let correction = if self.accelerate { Some(self.correct_step(problem, length)?) } else { None };
        self.refused = None;
        if !self.is_trusted(problem, lambda, correction) {
            self.refused = Some((Refusal::TooCurved, T::INFINITY));
        } else if self.apply_rule(problem, &mut trial).is_err() {
            self.refused = Some((Refusal::IllConditioned, T::INFINITY));
        } else {
            self.move_trial(problem);
            self.evaluate(problem, &mut trial)?;
        }
        self.check_products()?;
        self.accelerate = self.acceleration.wanted(&trial, correction);
        self.promising = trial.accepted && trial.gains(PROMISING_GAIN);
        self.damping.update(&trial);
        if let Some(blocks) = problem.blocks() {
            blocks.learn(trial.gain_ratio());
        }
        self.weigh_curvature(&trial);
        Ok(trial)
    }

    /// Lets the policy choose the damping and solve with it; switches to QR if the normal equations are too ill-conditioned.
    #[inline]
    fn damp<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
    ) -> Result<Result<T, IllConditioned>, EvaluationError> {
        let before = self.model.taking_blocks().is_some().then(|| self.damping.clone());
        let (damping, mut system) = self.system(&mut *problem);
        let choice = damping.damp(&mut system);
        self.check_products()?;
        if let Some(before) = before
            && self.model.lacks_rows()
            && self.linearize_again(problem)?.is_some()
        {
            self.damping = before;
            return self.damp(problem);
        }
        if choice == Err(IllConditioned) && self.model.uses_curvature() {
            // Not positive definite.
            self.model.use_curvature(false);
            return self.damp(problem);
        }
        if choice == Err(IllConditioned) && self.plan.may_orthogonalize {
            self.orthogonalize(problem)?;
            return self.damp(problem);
        }
        Ok(choice.map(|lambda| lambda.max(self.rule.minimum_damping)))
    }

    /// Ends with the error of a product that could not be computed.
    #[inline]
    fn check_products(&mut self) -> Result<(), EvaluationError> {
        self.model.matrix_free().and_then(|model| model.take_failure()).map_or(Ok(()), Err)
    }

    /// The answer to a system that cannot be solved: more damping, without a trial.
    fn damp_more(&mut self) -> Trial<T> {
        self.damping.damp_more();
        self.refused = Some((Refusal::IllConditioned, T::INFINITY));
        Trial {
            lambda: self.tried,
            length: T::INFINITY,
            slope: T::ZERO,
            predicted: T::INFINITY,
            actual: -T::INFINITY,
            accepted: false,
        }
    }

    /// `trial = x ⊞ δ`.
    #[inline]
    pub(super) fn move_trial<P: LeastSquares<T> + ?Sized>(&mut self, problem: &P) {
        if let Some(bounds) = &self.bounds {
            return bounds.arrive(self.x.as_ref(), self.step.as_ref(), self.trial.as_mut());
        }
        self.look_ahead(problem, T::ONE);
    }

    /// Evaluates the trial point and moves there if its cost is low enough.
    #[inline]
    fn evaluate<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        trial: &mut Trial<T>,
    ) -> Result<(), EvaluationError> {
        let before = self.cost;
        let may_lose_a_column = self.may_lose_a_column();
        let at_once = self.arrival == Arrival::Linearize && !self.plan.form.multiplies() && self.chord.is_none();
        if at_once && self.promising && self.derivatives_are_cheap(problem) {
            self.keep_column_norms(may_lose_a_column);
            let Some(cost) = self.linearize_trial(problem)? else {
                self.refused = Some((Refusal::NotFinite, T::INFINITY));
                return Ok(());
            };
            trial.actual = before - cost;
            trial.accepted = suffices(trial);
            if !trial.accepted {
                self.return_from_trial(before);
            }
        } else {
            let cost = self.trial_cost(problem)?;
            if !cost.is_finite() {
                self.refused = Some((Refusal::NotFinite, T::INFINITY));
                return Ok(());
            }
            let cost = self.correct_trial(problem, trial, cost)?;
            self.keep_column_norms(may_lose_a_column);
            trial.actual = before - cost;
            trial.accepted = suffices(trial) && self.arrive(problem, cost)?;
            if suffices(trial) && !trial.accepted {
                self.refused = Some((Refusal::NotFinite, cost));
            }
        }
        if trial.accepted && self.arrival == Arrival::Linearize {
            if self.cost > before && !self.plan.form.multiplies() {
                // Rounded in another way, the sum with the Jacobian is not lower.
                (trial.accepted, trial.actual) = (false, before - self.cost);
                self.return_from_trial(before);
            } else if may_lose_a_column && self.loses_a_column() {
                self.refused = Some((Refusal::LosesParameter, self.cost));
                self.return_from_trial(before);
                (trial.accepted, trial.actual) = (false, -T::INFINITY);
            } else {
                self.rescale();
            }
        }
        Ok(())
    }

    /// The cost at the trial point; infinite where that is.
    #[inline]
    pub(super) fn trial_cost<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Result<T, EvaluationError> {
        if !all_finite(self.trial.as_ref()) {
            return Ok(T::INFINITY);
        }
        self.evaluations.residuals += 1;
        let cost = self.row_cost(problem);
        let cost = match &mut self.rank_sync {
            None => cost?,
            Some(rank_sync) => rank_sync.add_up(cost)?,
        };
        Ok(cost + self.rule.ridge_cost(self.trial.as_ref()))
    }

    /// The cost of the rows at the trial point.
    #[inline]
    fn row_cost<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Result<T, EvaluationError> {
        let x = self.trial.as_ref();
        if let Some(chord) = &mut self.chord {
            return chord.cost(&mut self.tiles, problem, x);
        }
        if let Some(sums) = &mut self.row_sums
            && let Some(rows) = problem.concurrent(x)
        {
            return sums.cost(rows);
        }
        self.tiles.cost(problem, x)
    }

    /// Makes the trial point, whose cost is known, the current one.
    #[inline]
    fn arrive<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P, cost: T) -> Result<bool, EvaluationError> {
        match self.arrival {
            Arrival::Linearize => Ok(self.linearize_trial(problem)?.is_some()),
            Arrival::Leave => {
                self.move_to_trial(cost);
                Ok(true)
            }
        }
    }

    /// Linearises at the trial point and makes it the current one; stays, and returns `None`, where it is not finite.
    #[inline]
    pub(super) fn linearize_trial<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
    ) -> Result<Option<T>, EvaluationError> {
        if !all_finite(self.trial.as_ref()) {
            return Ok(None);
        }
        self.evaluations.jacobians += 1;
        if self.plan.form.multiplies() {
            return self.linearize_products(problem);
        }
        let cost = self.sum_rows(problem);
        let mut cost = match &mut self.rank_sync {
            None => cost?,
            Some(rank_sync) => {
                let model = self
                    .model
                    .spanning_ranks()
                    .ok_or("this form of the linear system is not made of sums over ranks")?;
                let cost = rank_sync.add_up_candidates(model, cost)?;
                self.trial_squares = (cost + cost).abs();
                cost
            }
        };
        if !self.rule.ridge.is_empty() {
            if let Some(model) = self.model.taking_ridge() {
                model.add_ridge(&self.rule.ridge, self.trial.as_ref());
            }
            cost += self.rule.ridge_cost(self.trial.as_ref());
        }
        self.model.swap();
        self.model.column_norms(self.column_norms.as_mut());
        if cost.is_finite() && all_finite(self.column_norms.as_ref()) && all_finite(self.model.gradient()) {
            self.move_to_trial(cost);
            self.measure_point(problem);
            return Ok(Some(cost));
        }
        self.tiles.take_back();
        self.model.swap();
        self.model.column_norms(self.column_norms.as_mut());
        Ok(None)
    }

    /// Sums the rows at the trial point into the model's candidate, and returns their cost.
    #[inline]
    fn sum_rows<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Result<T, EvaluationError> {
        self.model.begin();
        let (cost, squares) = self.add_rows(problem)?;
        self.trial_squares = squares;
        self.compare_cost(cost, squares);
        Ok(cost)
    }

    /// Adds the rows at the trial point to the model's candidate: by blocks, on all cores, or tile by tile. Returns their cost, and
    /// the sum of the squares of what stands for the residuals.
    #[inline]
    fn add_rows<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Result<(T, T), EvaluationError> {
        if let (Some(model), Some(blocks)) = (self.model.taking_blocks(), problem.blocks()) {
            self.tiles.forget();
            return model.add_blocks(blocks, self.trial.as_ref());
        }
        if let Some(sums) = &mut self.row_sums
            && let Some((gram, gradient)) = self.model.sums_mut()
            && let Some(rows) = problem.concurrent(self.trial.as_ref())
        {
            self.tiles.forget();
            return sums.linearize(rows, gram, gradient);
        }
        let (mut cost, mut squares) = (T::ZERO, T::ZERO);
        let model = &mut self.model;
        self.tiles.linearize(problem, self.trial.as_ref(), |problem, rows, r, jacobian| {
            cost += problem.cost_of(rows.start, r);
            squares += dot(r, r);
            model.add_rows(r, jacobian);
            Ok(())
        })?;
        if self.model.overwrites_rows() {
            self.tiles.forget();
        }
        Ok((cost, squares))
    }

    /// Notes whether a cost is that of the rows whose sum of squares this is.
    #[inline]
    pub(super) fn compare_cost(&mut self, cost: T, squares: T) {
        let twice = cost + cost;
        self.has_own_cost |= (twice - squares).abs() > T::EPSILON.sqrt() * squares;
    }

    /// Makes the trial point, where the cost is known, the current one.
    #[inline]
    pub(super) fn move_to_trial(&mut self, cost: T) {
        std::mem::swap(&mut self.x, &mut self.trial);
        std::mem::swap(&mut self.squares, &mut self.trial_squares);
        self.point_sizes.iter_mut().for_each(PointSizes::swap);
        self.cost = cost;
    }

    /// Undoes a [`linearize_trial`](Self::linearize_trial) that moved.
    #[inline]
    pub(super) fn return_from_trial(&mut self, cost: T) {
        self.move_to_trial(cost);
        self.tiles.take_back();
        self.model.swap();
        self.model.column_norms(self.column_norms.as_mut());
    }

    /// Returns true if a parameter has lost its influence on the residuals by the step: its column, relative to them, is less
    /// than `√ε` of what it was. No later step would find the way back, so that a shorter one is tried.
    fn loses_a_column(&self) -> bool {
        let (squares, squares_before) = (T::EPSILON * self.squares, self.trial_squares);
        let mut norms = self.column_norms.as_ref().iter().zip(self.correction.as_ref());
        norms.any(|(&norm, &before)| norm * norm * squares_before < before * before * squares)
    }

    /// Keeps the norms of the columns in the room for corrections, to [compare](Self::loses_a_column) with.
    fn keep_column_norms(&mut self, wanted: bool) {
        if wanted {
            self.correction.as_mut().copy_from_slice(self.column_norms.as_ref());
        }
    }

    /// Columns are formed at each point that is taken, and no bound makes a minimum of a point without influence.
    #[inline]
    fn may_lose_a_column(&self) -> bool {
        self.arrival == Arrival::Linearize && self.bounds.is_none() && !self.plan.form.multiplies()
    }

    /// Brings the scaling up to date with the current point.
    #[inline]
    pub(super) fn rescale(&mut self) {
        if !self.plan.form.multiplies() {
            let sizes = self.point_sizes.as_ref().map_or_else(|| self.x.as_ref(), PointSizes::sizes);
            self.scaling.update(self.d.as_mut(), self.column_norms.as_ref(), sizes);
        }
    }

    /// Linearises the current point again.
    pub(super) fn linearize_again<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
    ) -> Result<Option<T>, EvaluationError> {
        self.trial = self.x.clone();
        self.linearize_trial(problem)
    }

    /// Exchanges the normal equations for QR, linearising the current point again.
    pub(super) fn orthogonalize<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
    ) -> Result<(), EvaluationError> {
        self.plan.may_orthogonalize = false;
        let normal = std::mem::replace(&mut self.model, S::orthogonal(self.plan.n));
        let outcome = self.linearize_again(problem);
        if !matches!(outcome, Ok(Some(_))) {
            self.model = normal;
        }
        outcome.map(|_| ())
    }
}

/// The trial is worth taking; a cost that rises never is, even if rounding has made the predicted reduction negative.
#[inline]
fn suffices<T: Real>(trial: &Trial<T>) -> bool {
    trial.actual > T::ZERO && trial.gains(SUFFICIENT_GAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_suffices_if_it_brings_enough_of_its_promise() {
        let suffices = |actual: f64, predicted: f64| {
            suffices(&Trial { lambda: 0.0, length: 1.0, slope: -1.0, predicted, actual, accepted: false })
        };
        assert!(suffices(1.0, 1.0) && suffices(2e-4, 1.0));
        assert!(!suffices(5e-5, 1.0), "any fall of the cost is not enough");
        assert!(!suffices(-1e-3, -1e2), "a cost that rises is never taken");
        assert!(!suffices(f64::NAN, 1.0) && !suffices(f64::NEG_INFINITY, f64::INFINITY));
    }
}
