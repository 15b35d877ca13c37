//! The step.

use super::curvature::{KroneckerCurvature, SingularBlock};
use super::memory::KroneckerMemory;
use super::quadratic_model::{Combination, QuadraticModel};
use super::scalars::{GAIN_INTERVAL, Scalars};
use super::settings::{KroneckerHyperparameters, KroneckerSettings, KroneckerStep};
use crate::kernels::simd::{self, Kernel};
use crate::optim::gradients::{check_gradients, non_finite_step};
use crate::optim::{OptimizerError, OptimizerResult, StepReport};
use crate::problem::{FactorSample, KroneckerFactored, Objective};
use crate::real::Real;
use crate::variables::{Gradient, Variables};

/// Steps that renew factors, inverses and length whatever the intervals are, since all of these change the most at the beginning.
const FIRST: [u64; 3] = [0, 1, 3];
/// Most inversions of the first step, and the factor of the damping from which another one pays.
const FIRST_INVERSIONS: usize = 2;
const LARGE_CHANGE: f64 = 2.0;

/// A step: its hyperparameters, its kind, and the parts of the quadratic model that it renews.
struct StepPlan<'a> {
    now: &'a KroneckerHyperparameters,
    is_quadratic: bool,
    seed: u64,
    factors: bool,
    inverses: bool,
    /// Length of the step.
    length: bool,
}

impl<T: Real> KroneckerMemory<T> {
    /// One step. Nothing that is carried from step to step changes where it fails.
    pub(super) fn step(
        &mut self,
        settings: &KroneckerSettings,
        (steps, now): (u64, &KroneckerHyperparameters),
        batch: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
    ) -> OptimizerResult<StepReport<T>> {
        let problem = batch.kronecker_factored()?;
        let is_new = self.curvature.is_none();
        let mut curvature = match self.curvature.take() {
            Some(curvature) => curvature,
            None => KroneckerCurvature::new(problem.kronecker_blocks(), settings.rank, &self.layout)?,
        };
        let outcome = self.step_with(&mut curvature, settings, (steps, now), problem, variables);
        if outcome.is_err() {
            curvature.discard();
            self.direction.fill(T::ZERO);
        }
        self.curvature = Some(curvature).filter(|_| outcome.is_ok() || !is_new);
        outcome
    }

    fn step_with(
        &mut self,
        curvature: &mut KroneckerCurvature<T>,
        settings: &KroneckerSettings,
        (steps, now): (u64, &KroneckerHyperparameters),
        problem: &mut dyn KroneckerFactored<T>,
        variables: &mut Variables<T>,
    ) -> OptimizerResult<StepReport<T>> {
        if problem.kronecker_blocks() != curvature.sample.blocks() {
            return Err(OptimizerError::OtherLayers);
        }
        let is_quadratic = settings.step == KroneckerStep::Quadratic;
        let has_new = curvature.activate(|variable| variables.is_trainable(variable));
        let is_first = FIRST.contains(&steps) || self.scalars.is_distrusted;
        let [renews, inverts, has_model] = now.intervals.map(|interval| is_first || steps.is_multiple_of(interval));
        let (factors, inverses, length) = (renews || has_new, inverts || has_new, has_model || is_quadratic);
        let plan = StepPlan { now, is_quadratic, seed: settings.seed, factors, inverses, length };
        let loss = self.linearize(curvature, &plan, problem, variables)?;
        if let Some(report) = self.take_back(problem, variables, loss)? {
            curvature.discard();
            return Ok(report);
        }
        if !loss.is_finite() {
            return Err(OptimizerError::NonFiniteLoss { value: loss.to_f64() });
        }
        check_gradients(&self.gradients, variables)?;
        self.check_blocks(curvature, variables)?;
        if now.weight_decay > 0.0 {
            self.add_decay(T::from_f64(now.weight_decay), variables.values());
        }

        let mut scalars = self.scalars.at_loss(loss.to_f64(), curvature.mean_diagonal(), now, is_quadratic);
        self.renew(curvature, &mut scalars, &plan, variables)?;
        curvature.precondition(&self.gradients, &mut self.direction);

        let slope = self.gradient_times(&self.direction).to_f64();
        let model = QuadraticModel { problem, values: variables.values(), damping: scalars.damping, now };
        let combination = if is_quadratic {
            self.minimum(model, slope)?
        } else {
            let length = self.averaged_length(model, loss.to_f64(), slope, length, &mut scalars)?;
            self.with_momentum(now, length, slope)
        };
        let factor = self.form_step(now, &combination, variables)?;

        let (mut loss_after, mut applied) = (None, true);
        if is_quadratic && (steps + 1).is_multiple_of(GAIN_INTERVAL) {
            let after = problem.loss_at(&self.values)?;
            scalars.judge((after - loss).to_f64() / (combination.predicted * factor));
            applied = after.is_finite();
            loss_after = applied.then_some(after);
        }
        scalars.is_underway = true;
        self.scalars = scalars;
        curvature.commit();
        if applied {
            self.take_step(variables);
        }
        Ok(StepReport { loss, loss_after, applied, damped: None, factored: Some(self.scalars.details()) })
    }

    /// Computes loss and gradient, with a sample of the factors where these are renewed, and lists the entries that move.
    fn linearize(
        &mut self,
        curvature: &mut KroneckerCurvature<T>,
        plan: &StepPlan<'_>,
        problem: &mut dyn KroneckerFactored<T>,
        variables: &Variables<T>,
    ) -> OptimizerResult<T> {
        variables.collect_trainable_ranges(&mut self.trainable);
        self.clear_direction();
        let signs = [plan.seed, self.scalars.renewals as u64];
        let KroneckerMemory { gradients, trainable, direction, .. } = self;
        // Products by inverses that are known before, of a gradient to which nothing is added after.
        let forms_products = !(plan.factors || plan.inverses || plan.now.weight_decay > 0.0);
        let loss = if forms_products {
            let products = curvature.output_products(direction);
            problem.linearize_with_products(variables.values(), trainable, gradients, products, plan.length)?
        } else {
            let share = plan.now.factor_share;
            let sample = plan.factors.then_some(FactorSample { factors: &mut curvature.sample, share, signs });
            problem.linearize_factored(variables.values(), trainable, gradients, sample, plan.length)?
        };
        self.list_moving(variables);
        Ok(loss)
    }

    /// Renews the averages of the factors and their inverses, where they are due, and then adjusts the damping of later steps. The first
    /// damping is a guess: where the factors tell of one that is very different, this one is adjusted, too, in a few inversions.
    fn renew(
        &self,
        curvature: &mut KroneckerCurvature<T>,
        scalars: &mut Scalars,
        &StepPlan { now, is_quadratic, factors, inverses, .. }: &StepPlan<'_>,
        variables: &Variables<T>,
    ) -> OptimizerResult<()> {
        if factors {
            if let Some(block) = curvature.first_non_finite() {
                return Err(OptimizerError::NonFiniteFactor { variable: name_of(curvature, block, variables) });
            }
            curvature.average(now.factor_decay);
            scalars.renewals += 1.0;
            scalars.batch = curvature.sample.batch() as f64;
            if !scalars.is_underway {
                let mean = curvature.mean_diagonal();
                scalars.minimum = now.minimum_damping * if mean > 0.0 { mean } else { 1.0 };
                scalars.damping = scalars.damping.max(scalars.minimum);
            }
        }
        let most = if is_quadratic || scalars.is_underway { 1 } else { FIRST_INVERSIONS };
        let inversions = if inverses { most } else { 0 };
        for inversion in 1..=inversions {
            let inverted = curvature.invert(|variable| {
                let decays = variable.is_some_and(|variable| self.decays[variable.index()]);
                scalars.damping + if decays { now.weight_decay } else { 0.0 }
            });
            let effective = inverted.map_err(|SingularBlock(block)| OptimizerError::SingularFactor {
                variable: name_of(curvature, block, variables),
            })?;
            scalars.adjust(effective, now);
            let adjusted = scalars.loss_damping(now);
            let change = (adjusted / scalars.damping).ln().abs();
            if inversion == inversions || change < LARGE_CHANGE.ln() {
                break;
            }
            scalars.damping = adjusted;
        }
        Ok(())
    }

    /// Refuses a variable that has a gradient, but no block.
    fn check_blocks(&self, curvature: &KroneckerCurvature<T>, variables: &Variables<T>) -> OptimizerResult<()> {
        let has_block = |variable| curvature.variables.iter().any(|block| block.contains(&Some(variable)));
        let mut with_gradient = variables.iter().filter(|&v| self.gradients.of(v) != Gradient::Absent);
        match with_gradient.find(|&variable| !variable.is_empty() && !has_block(variable)) {
            Some(variable) => Err(OptimizerError::NoCurvature { parameters: variables.name(variable).to_owned() }),
            None => Ok(()),
        }
    }

    /// Fills the step and the next values, and returns the factor that clipping has shortened the step by.
    pub(super) fn form_step(
        &mut self,
        now: &KroneckerHyperparameters,
        combination: &Combination,
        variables: &Variables<T>,
    ) -> OptimizerResult<f64> {
        let [along, last] = [combination.direction, combination.last].map(T::from_f64);
        let mut factor = 1.0;
        if now.global_clipnorm > 0.0 {
            let [uu, _] = self.product(&self.direction, &self.direction);
            let [uv, _] = self.product(&self.direction, &self.velocity);
            let [vv, _] = self.product(&self.velocity, &self.velocity);
            let (a, b) = (combination.direction, combination.last);
            let norm = (a * a * uu + 2.0 * a * b * uv + b * b * vv).max(0.0).sqrt();
            if norm > now.global_clipnorm {
                factor = now.global_clipnorm / norm;
            }
        }
        let [along, last] = [along, last].map(|number| number * T::from_f64(factor));
        let mut zero = T::ZERO;
        if combination.predicted != 0.0 {
            // The loss is asked for at all values.
            self.values.copy_from_slice(variables.values());
        }
        for range in &self.moving {
            simd::run(FormStep {
                step: &mut self.next[range.clone()],
                values: &mut self.values[range.clone()],
                from: &variables.values()[range.clone()],
                direction: &self.direction[range.clone()],
                velocity: &self.velocity[range.clone()],
                factors: [along, last],
                zero: &mut zero,
            });
        }
        let mut moving = self.moving.iter().cloned().flatten();
        match moving.find(|&place| zero != T::ZERO && !self.values[place].is_finite()) {
            Some(place) => Err(non_finite_step(variables, None, place, self.values[place])),
            None => Ok(factor),
        }
    }
}

/// The name of a block's first variable.
fn name_of<T: Real>(curvature: &KroneckerCurvature<T>, block: usize, variables: &Variables<T>) -> String {
    curvature.variables[block][0].map_or("", |variable| variables.name(variable)).to_owned()
}

/// `step = along · direction + last · velocity`, `values = from + step`, and a sum of zeros, or of NaN.
struct FormStep<'a, T> {
    step: &'a mut [T],
    values: &'a mut [T],
    from: &'a [T],
    direction: &'a [T],
    velocity: &'a [T],
    factors: [T; 2],
    zero: &'a mut T,
}

impl<T: Real> Kernel for FormStep<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let FormStep { step, values, from, direction, velocity, factors: [along, last], zero } = self;
        let mut zeros = [T::ZERO; 8];
        let n = step.len();
        let (values, from, direction, velocity) = (&mut values[..n], &from[..n], &direction[..n], &velocity[..n]);
        for start in (0..n).step_by(8) {
            for i in start..n.min(start + 8) {
                step[i] = along * direction[i] + last * velocity[i];
                values[i] = from[i] + step[i];
                zeros[i - start] += T::ZERO * values[i];
            }
        }
        *zero += zeros.into_iter().sum::<T>();
    }
}
