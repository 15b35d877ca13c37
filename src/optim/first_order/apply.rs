//! First-order steps, from gradients to new values: the operations that they have in common, in order.

use super::clipping::clip;
use super::{FirstOrder, FirstOrderMemory, NonFinite, Slots, StepContext, StepSettings, UpdateRule};
use crate::kernels::simd::{self, Kernel};
use crate::optim::finite::first_non_finite;
use crate::optim::gradients::{check_gradients, drop_frozen, non_finite_step, parts};
use crate::optim::moving_average::average_weights;
use crate::optim::{OptimizerError, OptimizerResult};
use crate::real::Real;
use crate::variables::{Gradient, Variable, Variables};

impl<T: Real, R: UpdateRule<T>> FirstOrder<T, R> {
    /// Applies the gradients in memory. Returns whether the variables were changed.
    pub(super) fn apply(&mut self, variables: &mut Variables<T>) -> OptimizerResult<bool> {
        match self.try_to_apply(variables) {
            Err(error) if self.tolerates(&error) => Ok(false),
            result => result,
        }
    }

    /// Returns true if the policy is to pass over this error.
    pub(super) fn tolerates(&self, error: &OptimizerError) -> bool {
        self.non_finite == NonFinite::Skip && error.is_non_finite()
    }

    fn try_to_apply(&mut self, variables: &mut Variables<T>) -> OptimizerResult<bool> {
        let Some(memory) = &mut self.memory else {
            return Err(OptimizerError::NotBuilt { optimizer: R::NAME });
        };
        drop_frozen(&mut memory.gradients, variables);
        check_gradients(&memory.gradients, variables)?;
        let now = StepSettings::at(&mut self.hyperparameters, self.iterations)?;
        if !memory.accumulate(self.accumulation_steps, variables)? {
            return Ok(false);
        }
        clip(&mut memory.gradients, variables.iter(), &now, self.convention);
        let step = self.rule.prepare(&StepContext {
            iterations: self.iterations,
            learning_rate: now.learning_rate,
            hyperparameters: now.rule,
            convention: self.convention,
        });
        memory.update(&self.rule, &step, &now, variables)?;

        let momentum = if self.iterations == 0 { 0.0 } else { now.ema_momentum };
        self.iterations += 1;
        let overwrite = self.ema_overwrite_frequency.is_some_and(|frequency| self.iterations.is_multiple_of(frequency));
        memory.average(T::from_f64(momentum), overwrite, variables);
        if let Some(accumulated) = &mut memory.accumulated {
            accumulated.sum.clear();
            accumulated.count = 0;
        }
        Ok(true)
    }
}

/// The update of one variable, in the widest instructions that there are.
struct Update<'a, T: Real, R: UpdateRule<T>> {
    rule: &'a R,
    step: &'a R::Step,
    w: &'a mut [T],
    gradient: &'a [T],
    slots: Slots<'a, T>,
}

impl<T: Real, R: UpdateRule<T>> Kernel for Update<'_, T, R> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        self.rule.update(self.step, self.w, self.gradient, self.slots);
    }
}

impl<T: Real> FirstOrderMemory<T> {
    /// Puts the mean of `steps` gradients in the place of the last. Before the last there is none, which is `false`.
    fn accumulate(&mut self, steps: u64, variables: &Variables<T>) -> OptimizerResult<bool> {
        self.gradients.sum_repeated_rows();
        let Some(accumulated) = &mut self.accumulated else { return Ok(true) };
        self.gradients.add(&accumulated.sum);
        self.gradients.sum_repeated_rows();
        check_gradients(&self.gradients, variables)?;
        if accumulated.count + 1 < steps {
            std::mem::swap(&mut self.gradients, &mut accumulated.sum);
            accumulated.count += 1;
            return Ok(false);
        }
        drop_frozen(&mut self.gradients, variables);
        self.gradients.scale(T::ONE / T::from_f64(steps as f64));
        Ok(true)
    }

    /// Decays weights and updates them, or leaves all as it was.
    fn update<R: UpdateRule<T>>(
        &mut self,
        rule: &R,
        step: &R::Step,
        now: &StepSettings<'_>,
        variables: &mut Variables<T>,
    ) -> OptimizerResult<()> {
        let decay = now.weight_decay * now.learning_rate;
        let is_lazy = rule.is_lazy(step) && now.l2 == 0.0;
        self.plan(variables.iter(), is_lazy, decay != 0.0);
        self.undo_log.record(variables.values(), &self.slots);

        for variable in self.layout.variables() {
            let w = &mut variables.values_mut()[variable.range()];
            if now.l2 != 0.0 {
                add_penalty(self.gradients.given_mut(variable), T::from_f64(now.l2), w);
            }
            let gradient = self.gradients.of(variable);
            if gradient == Gradient::Absent || variable.is_empty() {
                continue;
            }
            if decay != 0.0 && self.decays[variable.index()] {
                let decay = T::from_f64(decay);
                for w in &mut *w {
                    *w -= *w * decay;
                }
            }
            let slots = Slots::new(&mut self.slots, variable.range());
            match gradient {
                Gradient::Absent => (),
                Gradient::Dense(gradient) => simd::run(Update { rule, step, w, gradient, slots }),
                Gradient::Rows { rows, values } => rule.update_rows(step, w, variable.columns(), rows, values, slots),
            }
        }

        match self.first_non_finite(variables) {
            None => Ok(()),
            Some(error) => {
                self.undo_log.undo(variables.values_mut(), &mut self.slots);
                Err(error)
            }
        }
    }

    /// Announces the entries that will change, and makes sparse gradients dense where the step is not confined to their rows.
    fn plan(&mut self, variables: impl Iterator<Item = Variable>, is_lazy: bool, decays: bool) {
        self.undo_log.clear();
        for variable in variables.filter(|variable| !variable.is_empty()) {
            if !is_lazy && matches!(self.gradients.of(variable), Gradient::Rows { .. }) {
                self.gradients.dense_mut(variable);
            }
            if !decays || !self.decays[variable.index()] {
                parts(&self.gradients, variable).for_each(|(range, _)| self.undo_log.announce(range));
            } else if self.gradients.of(variable) != Gradient::Absent {
                self.undo_log.announce(variable.range());
            }
        }
    }

    /// The first NaN or infinity that the update has made.
    fn first_non_finite(&self, variables: &Variables<T>) -> Option<OptimizerError> {
        for range in self.undo_log.ranges() {
            let slots = self.slot_names.iter().map(|&name| Some(name)).zip(&self.slots);
            for (slot, numbers) in [(None, variables.values())].into_iter().chain(slots.map(|(s, n)| (s, n.as_slice())))
            {
                if let Some(place) = first_non_finite(&numbers[range.clone()]) {
                    let place = range.start + place;
                    return Some(non_finite_step(variables, slot, place, numbers[place]));
                }
            }
        }
        None
    }

    /// Moves the average towards the trainable weights, and replaces them by it if told to.
    fn average(&mut self, momentum: T, overwrite: bool, variables: &mut Variables<T>) {
        let Some(average) = &mut self.average else { return };
        average_weights(average, momentum, variables);
        if overwrite {
            self.layout.write_trainable(average, variables);
        }
    }
}

/// The gradient of the penalty `½ l2 ‖w‖²`.
fn add_penalty<T: Real>(gradient: &mut [T], l2: T, w: &[T]) {
    for (gradient, &w) in gradient.iter_mut().zip(w) {
        *gradient += l2 * w;
    }
}
