//! Steps of training: the iteration of the full solve, each time on another minibatch.

use super::active_bounds::bounds_of;
use super::damping::{AnyPolicy, AtLeast, DampingPolicy, Trial};
use super::descent::{Arrival, Descent, DescentParts};
use super::ends::BatchAttempts;
use super::refinement::{GeodesicAcceleration, StepRule};
use super::space::EuclideanSpace;
use super::start::start;
use super::{Acceleration, Scaling, Settings, SolveError};
use crate::evaluation::{CheckedProblem, RowWorkspace, WithRidge, ridge_cost};
use crate::kernels::triangular::lost_digits;
use crate::linear::{BoxedModel, Forms, LinearForm, LinearModel, LinearSolver, Plan, Ridge};
use crate::problem::LeastSquares;
use crate::real::Real;
use crate::storage::Dynamic;

/// DescentParts of a descent that goes from minibatch to minibatch.
struct OverBatches;

impl<T: Real> DescentParts<T> for OverBatches {
    type Storage = Dynamic;
    type Model = BoxedModel<T>;
    type Space = EuclideanSpace;
    type Refinement = (GeodesicAcceleration<T>, StepRule<T>);
    type Damping = AtLeast<T, AnyPolicy<'static, T>>;
}

/// A minibatch that was checked.
type CheckedBatch<'p, T> = CheckedProblem<'p, T, dyn LeastSquares<T> + 'p>;

/// Descent that is carried from minibatch to minibatch.
pub(crate) struct Training<T: Real> {
    descent: Descent<T, OverBatches>,
    workspace: RowWorkspace<T, Dynamic>,
    /// How the model was made, and one that was made in another way: a ragged batch may call for it.
    made: Made,
    spare: Option<(Made, BoxedModel<T>)>,
    /// Scaling in use: the one that was set, or the one that the form of the first batch's linear system called for.
    scaling: Option<Scaling>,
    /// A step has been made since the damping was set.
    is_underway: bool,
    /// Normal equations have been too badly conditioned, and QR has taken their place.
    is_orthogonal: bool,
    /// State of the damping before the step.
    damping_before: Vec<f64>,
}

/// Choices of a plan that a model keeps to.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Made {
    form: LinearForm,
    may_orthogonalize: bool,
    may_iterate: bool,
}

/// The rule of one step.
pub(crate) struct BatchRule<'a, T> {
    pub(crate) learning_rate: T,
    pub(crate) momentum: T,
    /// The last step taken; empty without momentum.
    pub(crate) velocity: &'a [T],
    /// Weights of the ridge `½ Σ w_j x_j²`; empty where there is none.
    pub(crate) ridge: &'a [T],
    pub(crate) minimum_damping: T,
    /// Lower bound of `λ` relative to the loss, where there are fewer residuals than parameters.
    pub(crate) loss_damping: T,
    /// Largest norm of a step; infinite for no limit.
    pub(crate) clip_norm: T,
    /// Trials at most.
    pub(crate) attempts: usize,
}

/// Report of a step.
pub(crate) struct TrainingStep<T> {
    /// The cost before, without the ridge.
    pub(crate) loss: T,
    /// The cost after, without the ridge.
    pub(crate) loss_after: T,
    /// The last trial.
    pub(crate) trial: Trial<T>,
    pub(crate) attempts: usize,
    pub(crate) form: LinearForm,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl<T: Real> Training<T> {
    /// For `n` parameters.
    pub(crate) fn new(n: usize, settings: &Settings<T>, policy: AnyPolicy<'static, T>) -> Self {
        let damping = AtLeast { policy, unit: T::ONE, minimum: T::ZERO };
        let (descent, made) = descent_over(n, settings, damping, settings.acceleration == Acceleration::Always);
        Training {
            descent,
            workspace: RowWorkspace::new(1, 0, 1),
            made,
            spare: None,
            scaling: settings.scaling,
            is_underway: false,
            is_orthogonal: false,
            damping_before: Vec::new(),
        }
    }

    /// Changes to other parameters, `n` of them. Damping, scaling and acceleration stay as they are.
    pub(crate) fn resize(&mut self, n: usize, settings: &Settings<T>) {
        let (damping, is_next) = (self.descent.damping.clone(), self.descent.refinement.0.is_next);
        (self.descent, self.made) = descent_over(n, settings, damping, is_next);
        self.spare = None;
    }

    /// The point after the last step.
    pub(crate) fn point(&self) -> &[T] {
        &self.descent.here.x
    }

    /// The last step that was tried.
    pub(crate) fn last_step(&self) -> &[T] {
        &self.descent.step.delta
    }

    /// The scaling `D` of the damping.
    pub(crate) fn scale(&self) -> &[T] {
        &self.descent.scale.d
    }

    /// The scaling `D`, to be set before a step.
    pub(crate) fn scale_mut(&mut self) -> &mut [T] {
        &mut self.descent.scale.d
    }

    /// `D` follows the columns of the Jacobian, so that it has to be carried along.
    pub(crate) fn carries_scale(&self) -> bool {
        self.scaling != Some(Scaling::Identity)
    }

    /// Appends the state of the damping, and its unit.
    pub(crate) fn save_damping(&self, numbers: &mut Vec<f64>) {
        self.descent.damping.save(numbers);
        numbers.push(self.descent.damping.unit.to_f64());
    }

    /// State besides the damping and `D`, as numbers that are zero or one.
    pub(crate) fn flags(&self) -> [f64; 4] {
        let flags = [self.is_underway, self.descent.refinement.0.is_next, !self.carries_scale(), self.is_orthogonal];
        flags.map(|flag| f64::from(u8::from(flag)))
    }

    /// Takes over the [state](Self::flags) of a training after some steps; returns false if the damping is not of this policy.
    pub(crate) fn restore(&mut self, damping: &[f64], flags: [f64; 4], has_begun: bool) -> bool {
        let Some((&unit, damping)) = damping.split_last() else { return false };
        self.descent.damping.unit = T::from_f64(unit);
        let [is_underway, is_next, is_identity, is_orthogonal] = flags.map(|flag| flag != 0.0);
        self.descent.refinement.0.is_next = is_next;
        (self.is_underway, self.is_orthogonal) = (is_underway, is_orthogonal);
        if self.scaling.is_none() && has_begun {
            self.scaling = Some(if is_identity { Scaling::Identity } else { Scaling::OF_WEIGHTS });
        }
        self.descent.damping.restore(damping)
    }

    /// One step on a batch from `x`. An error leaves the state as it was before.
    pub(crate) fn step(
        &mut self,
        settings: &Settings<T>,
        batch: &mut dyn LeastSquares<T>,
        x: &[T],
        rule: BatchRule<'_, T>,
        is_first: bool,
    ) -> Result<TrainingStep<T>, SolveError> {
        if bounds_of(batch)?.is_some() {
            return Err(SolveError::BoundedMinibatch);
        }
        if batch.domain().manifold().is_some() {
            return Err(SolveError::OnManifold { what: "steps of training" });
        }
        self.damping_before.clear();
        self.descent.damping.save(&mut self.damping_before);
        let is_next = self.descent.refinement.0.is_next;
        // A policy that saves no numbers is kept as a whole.
        let policy = self.damping_before.is_empty().then(|| self.descent.damping.policy.clone());
        let outcome = self.prepare(settings, batch, x, &rule, is_first).and_then(|(plan, batch)| {
            let step = self.try_steps(batch, plan, x, rule)?;
            self.scaling = Some(self.descent.scale.rule);
            self.is_underway = true;
            Ok(step)
        });
        if outcome.is_err() {
            self.descent.refinement.0.is_next = is_next;
            match policy {
                Some(policy) => self.descent.damping.policy = policy,
                None => drop(self.descent.damping.restore(&self.damping_before)),
            }
        }
        outcome
    }

    /// Plans for a batch, makes room for its rows, and takes up the rule.
    fn prepare<'p>(
        &mut self,
        settings: &Settings<T>,
        batch: &'p mut (dyn LeastSquares<T> + 'p),
        x: &[T],
        rule: &BatchRule<'_, T>,
        is_first: bool,
    ) -> Result<(Plan, CheckedBatch<'p, T>), SolveError> {
        // From the first step on, the points are the same wherever rows are.
        let mut batch = if is_first { settings.open_at(batch, x)? } else { settings.open(batch, x)? };
        let ridge = allowed_ridge(settings.linear_solver, rule.ridge)?;
        let plan = settings.plan_for(&mut batch, self.scaling, ridge)?;
        let may_orthogonalize = plan.may_orthogonalize && damping_would_be_high::<T>();
        let is_orthogonal = self.is_orthogonal && may_orthogonalize && plan.form == LinearForm::Cholesky;
        let plan = Plan {
            form: if is_orthogonal { LinearForm::Qr } else { plan.form },
            may_orthogonalize: may_orthogonalize && !is_orthogonal,
            forms_gradient: false,
            ..plan
        };
        let made = Made { form: plan.form, may_orthogonalize: plan.may_orthogonalize, may_iterate: plan.may_iterate };
        if made != self.made {
            let next = match self.spare.take() {
                Some((kept, model)) if kept == made => model,
                _ => {
                    Forms::ALL.model(&plan, None).map_err(|error| SolveError::no_plan(error, settings.memory_budget))?
                }
            };
            self.spare = Some((self.made, std::mem::replace(&mut self.descent.model, next)));
            self.made = made;
        }
        self.workspace.resize(plan.m, plan.form.formed_columns(x.len()), plan.group);
        if settings.keeps_rows(&plan) {
            self.workspace.keep_rows(plan.m);
        }
        let scaling_of_weights = if plan.form.multiplies() { Scaling::Identity } else { Scaling::OF_WEIGHTS };
        self.descent.scale.rule = self.scaling.unwrap_or(scaling_of_weights);
        self.descent.damping.minimum = rule.minimum_damping;
        self.descent.refinement.1.take_up(rule);
        Ok((plan, batch))
    }

    /// Linearises at `x`, and tries steps until one is taken or the attempts are used up.
    fn try_steps(
        &mut self,
        batch: CheckedBatch<'_, T>,
        plan: Plan,
        x: &[T],
        rule: BatchRule<'_, T>,
    ) -> Result<TrainingStep<T>, SolveError> {
        let Training { descent, workspace, .. } = self;
        let mut evaluation = WithRidge { inner: batch.evaluate(workspace), weights: rule.ridge };
        descent.trial.x.copy_from_slice(x);
        start(descent, &mut evaluation)?;
        let spread = descent.scale.spread();
        if !self.is_underway && self.scaling.is_none() && plan.form.multiplies() {
            // Columns that are not formed give weights no length that an undamped step could be compared with, and damping no unit but the
            // mean of their squared lengths.
            let mean = spread.map_or(T::ONE, |spread| spread / T::from_f64(plan.n as f64));
            descent.damping.unit = if mean > T::ZERO { mean } else { T::ONE };
            descent.damping.start(T::ZERO);
        } else if !self.is_underway {
            descent.start_damping();
        }
        let without_ridge =
            |descent: &Descent<T, OverBatches>| descent.here.costs.cost - ridge_cost(rule.ridge, &descent.here.x);
        let loss = without_ridge(descent);
        if plan.m < plan.n {
            let minimum = &mut descent.damping.minimum;
            *minimum = minimum.max(rule.loss_damping * loss.abs());
        }
        let mut attempts = BatchAttempts { most: rule.attempts, made: 0, has_momentum: rule.momentum > T::ZERO };
        let trial = descent.run(&mut evaluation, &mut attempts).map_err(SolveError::Evaluation)?;
        let (loss_after, form) = (without_ridge(descent), descent.model.form());
        self.is_orthogonal |= plan.form == LinearForm::Cholesky && form == LinearForm::Qr;
        Ok(TrainingStep { loss, loss_after, trial, attempts: attempts.made, form, rows: plan.m, columns: x.len() })
    }
}

/// A descent over `n` parameters that stays where it arrives, and how its model was made: the form is planned with each batch; this is the
/// smallest until then.
fn descent_over<T: Real>(
    n: usize,
    settings: &Settings<T>,
    damping: AtLeast<T, AnyPolicy<'static, T>>,
    is_next: bool,
) -> (Descent<T, OverBatches>, Made) {
    let made = Made { form: LinearForm::FactoredDual, may_orthogonalize: false, may_iterate: true };
    let of_rows = Plan::of_rows(made.form, made.may_orthogonalize, (1, n), 1);
    let plan = Plan { truncation: settings.truncation, forms_gradient: false, may_iterate: true, ..of_rows };
    let model = Forms::ALL.model(&plan, None).expect("this form takes no blocks");
    let mut acceleration = GeodesicAcceleration::new(settings.acceleration);
    acceleration.is_next |= is_next;
    let parts = (model, EuclideanSpace, (acceleration, StepRule::default()), damping);
    (Descent::new((vec![T::ZERO; n], n), parts, Scaling::Identity, Arrival::Leave), made)
}

/// Normal equations refuse any damping but a high one. In double precision they are solved down to `λ = 2e-13`, and less is not
/// worth twice the work; in single precision down to `1e-4`, where training would come to a standstill.
fn damping_would_be_high<T: Real>() -> bool {
    lost_digits::<T>() > T::from_f64(1e-8)
}

/// The ridge of a rule, if a solver that always takes one form has room for it.
pub(super) fn allowed_ridge<T: Real>(solver: LinearSolver, weights: &[T]) -> Result<Ridge, SolveError> {
    let Some(decay) = weights.iter().copied().reduce(T::max) else { return Ok(Ridge::None) };
    let is_uniform = weights.iter().all(|&weight| weight == decay);
    let ridge = if is_uniform { Ridge::Uniform } else { Ridge::Varied };
    let requirement = match solver {
        LinearSolver::Always(LinearForm::Dual) => "zero in the dual form",
        LinearSolver::Always(form) if form.multiplies() && ridge == Ridge::Varied => {
            "the same for all variables where the Jacobian is not formed"
        }
        _ => return Ok(ridge),
    };
    Err(SolveError::Setting { setting: "weight_decay", requirement, value: decay.to_f64() })
}
