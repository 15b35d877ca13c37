//! The step.

use super::curvature::{Curvature, SingularBlock};
use super::memory::KroneckerMemory;
use super::scalars::Scalars;
use super::settings::{KroneckerHyperparameters, KroneckerSettings, KroneckerStep};
use crate::kernels::simd::{self, Kernel};
use crate::optim::gradients::check_gradients;
use crate::optim::{OptimizerError, StepReport};
use crate::problem::{FactorSample, KroneckerFactored, Objective};
use crate::real::Real;
use crate::variables::{Gradient, Variables};

/// Steps that renew factors, inverses and length whatever the intervals are, since all of these change the most at the beginning.
const FIRST: [u64; 3] = [0, 1, 3];
/// Most inversions of the first step, and the factor of the damping from which another one pays.
const FIRST_INVERSIONS: usize = 2;
const LARGE_CHANGE: f64 = 2.0;
/// Steps from one gain ratio to the next, and the factor of the damping for each of them.
const GAIN_INTERVAL: u64 = 5;
const GAIN_FACTOR: f64 = 0.95;
/// Part of the moving average of the length that is kept.
const LENGTH_KEPT: f64 = 0.7;
/// Largest ratio of the length to that of the minibatch, where this is known.
const LONGEST: f64 = 1.5;

/// Factors of direction and last step in the step, and the change that the quadratic model predicts.
pub(super) struct Combination {
    pub(super) direction: f64,
    pub(super) last: f64,
    pub(super) predicted: f64,
}

impl<T: Real> KroneckerMemory<T> {
    /// One step. Nothing that is carried from step to step changes where it fails.
    pub(super) fn step(
        &mut self,
        settings: &KroneckerSettings,
        (steps, now): (u64, &KroneckerHyperparameters),
        batch: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
    ) -> Result<StepReport<T>, OptimizerError> {
        let problem = batch.kronecker_factored()?;
        let is_new = self.curvature.is_none();
        let mut curvature = match self.curvature.take() {
            Some(curvature) => curvature,
            None => Curvature::new(problem.kronecker_blocks(), settings.widest, &self.layout)?,
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
        curvature: &mut Curvature<T>,
        settings: &KroneckerSettings,
        (steps, now): (u64, &KroneckerHyperparameters),
        problem: &mut dyn KroneckerFactored<T>,
        variables: &mut Variables<T>,
    ) -> Result<StepReport<T>, OptimizerError> {
        if problem.kronecker_blocks() != curvature.sample.blocks() {
            return Err(OptimizerError::OtherLayers);
        }
        let is_quadratic = settings.step == KroneckerStep::Quadratic;
        let has_new = curvature.activate(|variable| variables.is_trainable(variable));
        let is_first = FIRST.contains(&steps) || self.scalars.is_distrusted;
        let [renews, inverts, has_model] = now.intervals.map(|interval| is_first || steps.is_multiple_of(interval));
        let (renews, inverts, has_model) = (renews || has_new, inverts || has_new, has_model || is_quadratic);

        variables.collect_trainable_ranges(&mut self.trainable);
        let signs = [settings.seed, self.scalars.estimates as u64];
        let share = now.factor_share;
        self.clear_direction();
        let KroneckerMemory { gradients, trainable, direction, .. } = self;
        // Products by inverses that are known before, of a gradient to which nothing is added after.
        let forms_products = !(renews || inverts || now.weight_decay > 0.0);
        let loss = if forms_products {
            let products = curvature.output_products(direction);
            problem.linearize_with_products(variables.values(), trainable, gradients, products, has_model)?
        } else {
            let sample = renews.then_some(FactorSample { factors: &mut curvature.sample, share, signs });
            problem.linearize_factored(variables.values(), trainable, gradients, sample, has_model)?
        };
        self.list_moving(variables);
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

        let mut scalars = self.scalars.at_loss(loss.to_f64(), now, is_quadratic);
        if renews {
            if let Some(block) = curvature.first_non_finite() {
                return Err(OptimizerError::NonFiniteFactor { variable: name_of(curvature, block, variables) });
            }
            curvature.average(now.factor_decay);
            scalars.estimates += 1.0;
            scalars.batch = curvature.sample.batch() as f64;
        }
        if inverts {
            let inversions = if is_quadratic || scalars.is_underway { 1 } else { FIRST_INVERSIONS };
            self.invert(curvature, &mut scalars, now, inversions, variables)?;
        }
        curvature.precondition(&self.gradients, &mut self.direction);

        let slope = self.gradient_times(&self.direction).to_f64();
        let combination = if is_quadratic {
            self.minimum(problem, variables, now, scalars.damping, slope)?
        } else {
            let mut length = scalars.length;
            let is_surprise = self.is_surprise(loss.to_f64()) || self.scalars.is_steep(slope);
            if (has_model || is_surprise) && slope > 0.0 {
                let own = self.length(problem, variables, now, scalars.damping, slope)?;
                let kept = if self.scalars.is_underway { LENGTH_KEPT } else { 0.0 };
                length = (kept * self.scalars.length + (1.0 - kept) * own).min(LONGEST * own);
                // Surprises are short on average, so that they would bias the average.
                if has_model {
                    (scalars.length, scalars.slope) = (length, slope);
                }
            }
            self.with_momentum(now, length, slope)
        };
        let factor = self.form_step(now, &combination, variables)?;

        let mut loss_after = None;
        let mut applied = true;
        if is_quadratic && (steps + 1).is_multiple_of(GAIN_INTERVAL) {
            let after = problem.loss_at(&self.values)?;
            let predicted = combination.predicted * factor;
            let gain = (after - loss).to_f64() / predicted;
            let change = GAIN_FACTOR.powi(GAIN_INTERVAL as i32);
            if gain > 0.75 {
                scalars.damping = (scalars.damping * change).max(now.minimum_damping);
            } else if !(gain >= 0.25) {
                scalars.damping /= change;
            }
            applied = after.is_finite();
            loss_after = applied.then_some(after);
        }

        scalars.is_underway = true;
        self.scalars = scalars;
        curvature.commit();
        if applied {
            self.take_step(variables);
        }
        Ok(StepReport { loss, loss_after, applied, damped: None })
    }

    /// Inverts the factors, and adjusts the damping of later steps. The first damping is a guess: where the factors tell of one that is
    /// very different, this one is adjusted, too, in a few inversions.
    fn invert(
        &self,
        curvature: &mut Curvature<T>,
        scalars: &mut Scalars,
        now: &KroneckerHyperparameters,
        inversions: usize,
        variables: &Variables<T>,
    ) -> Result<(), OptimizerError> {
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
    fn check_blocks(&self, curvature: &Curvature<T>, variables: &Variables<T>) -> Result<(), OptimizerError> {
        let has_block = |variable| curvature.variables.iter().any(|block| block.contains(&Some(variable)));
        let mut with_gradient = variables.iter().filter(|&v| self.gradients.of(v) != Gradient::Absent);
        match with_gradient.find(|&variable| !variable.is_empty() && !has_block(variable)) {
            Some(variable) => Err(OptimizerError::NoCurvature { parameters: variables.name(variable).to_owned() }),
            None => Ok(()),
        }
    }

    /// `½ uᵢᵀ(F + λ + decay)uⱼ`, twice.
    fn model(
        &self,
        problem: &mut dyn KroneckerFactored<T>,
        variables: &Variables<T>,
        now: &KroneckerHyperparameters,
        damping: f64,
        directions: &[&[T]],
        products: &mut [f64],
    ) -> Result<(), OptimizerError> {
        let (count, mut curvature) = (directions.len(), [T::ZERO; 4]);
        let curvature = &mut curvature[..count * count];
        problem.curvature(variables.values(), directions, curvature)?;
        for i in 0..count {
            for j in 0..count {
                let [all, decaying] = self.product(directions[i], directions[j]);
                let place = i * count + j;
                products[place] = curvature[place].to_f64() + damping * all + now.weight_decay * decaying;
            }
        }
        Ok(())
    }

    /// The minimum of the quadratic model along the direction.
    fn length(
        &self,
        problem: &mut dyn KroneckerFactored<T>,
        variables: &Variables<T>,
        now: &KroneckerHyperparameters,
        damping: f64,
        slope: f64,
    ) -> Result<f64, OptimizerError> {
        let mut product = [0.0];
        self.model(problem, variables, now, damping, &[&self.direction], &mut product)?;
        if !(product[0].is_finite() && product[0] > 0.0) {
            return Err(OptimizerError::NonFiniteCurvature { value: product[0] });
        }
        Ok(slope / product[0])
    }

    /// A part of the last step and a step of this length, unless that would go uphill.
    fn with_momentum(&self, now: &KroneckerHyperparameters, length: f64, slope: f64) -> Combination {
        let along = -(1.0 - now.momentum) * length * now.learning_rate;
        let last = self.gradient_times(&self.velocity).to_f64();
        let is_downhill = now.momentum * last + along * slope < 0.0;
        Combination { direction: along, last: if is_downhill { now.momentum } else { 0.0 }, predicted: 0.0 }
    }

    /// The minimum of the quadratic model in the plane of the direction and the last step.
    fn minimum(
        &mut self,
        problem: &mut dyn KroneckerFactored<T>,
        variables: &Variables<T>,
        now: &KroneckerHyperparameters,
        damping: f64,
        slope: f64,
    ) -> Result<Combination, OptimizerError> {
        // Of the last step, what does not move now counts for nothing.
        self.next.fill(T::ZERO);
        for range in &self.moving {
            self.next[range.clone()].copy_from_slice(&self.velocity[range.clone()]);
        }
        let mut products = [0.0; 4];
        self.model(problem, variables, now, damping, &[&self.direction, &self.next], &mut products)?;
        let [uu, uv, _, vv] = products;
        if !products.iter().all(|product| product.is_finite()) {
            return Err(OptimizerError::NonFiniteCurvature { value: uu + uv + vv });
        }
        let last_slope = self.gradient_times(&self.next).to_f64();
        let determinant = uu * vv - uv * uv;
        // A last step along the direction adds nothing to it.
        let (direction, last) = if determinant > 1e-6 * uu * vv {
            ((uv * last_slope - vv * slope) / determinant, (uv * slope - uu * last_slope) / determinant)
        } else if uu > 0.0 {
            (-slope / uu, 0.0)
        } else {
            (0.0, 0.0)
        };
        // At the minimum the quadratic part is half the linear one, with the other sign.
        let predicted = 0.5 * (direction * slope + last * last_slope);
        let rate = now.learning_rate;
        // Along a ray through it, the model is a parabola.
        Ok(Combination { direction: rate * direction, last: rate * last, predicted: predicted * rate * (2.0 - rate) })
    }

    /// Fills the step and the next values, and returns the factor that clipping has shortened the step by.
    pub(super) fn form_step(
        &mut self,
        now: &KroneckerHyperparameters,
        combination: &Combination,
        variables: &Variables<T>,
    ) -> Result<f64, OptimizerError> {
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
            simd::run(Form {
                step: &mut self.next[range.clone()],
                values: &mut self.values[range.clone()],
                from: &variables.values()[range.clone()],
                direction: &self.direction[range.clone()],
                velocity: &self.velocity[range.clone()],
                factors: [along, last],
                zero: &mut zero,
            });
        }
        if zero == T::ZERO {
            return Ok(factor);
        }
        for variable in variables.iter() {
            for place in self.moving.iter().cloned().flatten().filter(|place| variable.range().contains(place)) {
                let value = self.values[place];
                if !value.is_finite() {
                    let (variable_name, index) = (variables.name(variable), place - variable.range().start);
                    let (variable, value) = (variable_name.to_owned(), value.to_f64());
                    return Err(OptimizerError::NonFiniteStep { variable, index, value });
                }
            }
        }
        Ok(factor)
    }
}

/// The name of a block's first variable.
fn name_of<T: Real>(curvature: &Curvature<T>, block: usize, variables: &Variables<T>) -> String {
    curvature.variables[block][0].map_or("", |variable| variables.name(variable)).to_owned()
}

/// `step = along · direction + last · velocity`, `values = from + step`, and a sum of zeros, or of NaN.
struct Form<'a, T> {
    step: &'a mut [T],
    values: &'a mut [T],
    from: &'a [T],
    direction: &'a [T],
    velocity: &'a [T],
    factors: [T; 2],
    zero: &'a mut T,
}

impl<T: Real> Kernel for Form<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Form { step, values, from, direction, velocity, factors: [along, last], zero } = self;
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
