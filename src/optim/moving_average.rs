//! Averaged weights around any optimizer.

use std::ops::Range;

use ndarray::ArrayViewD;

use super::hyperparameter_table::HyperparameterTable;
use super::state::count;
use super::state_reader::{StateReader, refuse};
use super::state_writer::StateWriter;
use super::{
    Hyperparameter, HyperparameterDomain, HyperparameterSpec, Optimizer, OptimizerError, OptimizerResult,
    OptimizerState, StepReport,
};
use crate::problem::Objective;
use crate::real::Real;
use crate::variables::{Gradients, Layout, Variable, Variables};

const NAME: &str = "moving_average";
const SLOT: &str = "average";
const SWAPPED: &str = "swapped";
const DECAY: HyperparameterSpec = HyperparameterSpec::new("average_decay", 0.99, HyperparameterDomain::Fraction);

/// A moving average of the weights beside any optimizer: after every step of it `average ← d · average + (1 − d) · w`.
///
/// Training goes on with the weights themselves. [`swap_weights`](Self::swap_weights) puts the averages into the
/// variables, to evaluate them, and takes them out again; [`finalize`](Optimizer::finalize) writes them there for good.
/// The averages are in the slot `average`, and start as the weights are at the start. What frozen variables hold is not
/// averaged. The role of TensorFlow Addons' `MovingAverage`.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::optim::{MovingAverage, Optimizer, Sgd};
/// use marquardt::variables::Gradients;
/// use ndarray::array;
///
/// let mut variables = Variables::new();
/// let w = variables.add("w", array![0.0].view())?;
/// let mut gradients = Gradients::new(&variables);
/// gradients.dense_mut(w)[0] = -1.0;
///
/// let mut optimizer = MovingAverage::new(Sgd::new(1.0)).with_average_decay(0.5);
/// for _ in 0..3 {
///     optimizer.apply_gradients(&gradients, &mut variables)?;
/// }
/// optimizer.swap_weights(&mut variables)?;
/// assert_eq!(variables.values(), [0.125 * 0.0 + 0.125 * 1.0 + 0.25 * 2.0 + 0.5 * 3.0]);
/// optimizer.swap_weights(&mut variables)?;
/// assert_eq!(variables.values(), [3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct MovingAverage<T, O> {
    inner: O,
    decay: HyperparameterTable,
    dynamic_decay: bool,
    start_step: u64,
    memory: Option<AveragedWeights<T>>,
}

/// Averages of the weights of some variables.
#[derive(Debug, Clone)]
struct AveragedWeights<T> {
    layout: Layout,
    average: Vec<T>,
    /// Ranges of the weights that are exchanged with `average`; empty except between two swaps.
    swapped: Vec<Range<usize>>,
}

impl<T: Real, O: Optimizer<T>> MovingAverage<T, O> {
    /// Wraps an optimizer, with a decay of 0.99 from the first step on.
    pub fn new(inner: O) -> Self {
        let decay = HyperparameterTable::new(NAME, vec![DECAY]);
        MovingAverage { inner, decay, dynamic_decay: false, start_step: 0, memory: None }
    }

    /// Sets the decay rate `d` of the average per step; 0.99 unless set.
    pub fn with_average_decay(mut self, decay: impl Into<Hyperparameter>) -> Self {
        self.decay.put(DECAY.name, decay.into());
        self
    }

    /// Limits the decay rate to `(1 + n) / (10 + n)` after `n` steps, so that early weights are soon forgotten; `false` unless
    /// set.
    pub fn with_dynamic_decay(mut self, dynamic_decay: bool) -> Self {
        self.dynamic_decay = dynamic_decay;
        self
    }

    /// Sets the step at which averaging begins; 0 unless set. Before it, the average equals the weights.
    pub fn with_start_step(mut self, start_step: u64) -> Self {
        self.start_step = start_step;
        self
    }

    /// The optimizer inside.
    pub fn inner(&self) -> &O {
        &self.inner
    }

    /// The optimizer inside, to change.
    pub fn inner_mut(&mut self) -> &mut O {
        &mut self.inner
    }

    /// Exchanges the trainable variables with their averages. A second call undoes that; until then no step can be made.
    ///
    /// # Errors
    ///
    /// [`OptimizerError::NotBuilt`], or [`OptimizerError::OtherVariables`].
    pub fn swap_weights(&mut self, variables: &mut Variables<T>) -> OptimizerResult<()> {
        let Some(AveragedWeights { layout, average, swapped }) = &mut self.memory else {
            return Err(OptimizerError::NotBuilt { optimizer: NAME });
        };
        layout.check(NAME, variables.iter())?;
        let is_out = swapped.is_empty();
        if is_out {
            swapped.extend(variables.trainable_ranges());
        }
        for range in &*swapped {
            variables.values_mut()[range.clone()].swap_with_slice(&mut average[range.clone()]);
        }
        if !is_out {
            swapped.clear();
        }
        Ok(())
    }

    /// Returns true if the variables hold the averages.
    pub fn is_swapped(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| !memory.swapped.is_empty())
    }

    /// The decay for the step after `iterations` others.
    fn decay(&mut self, iterations: u64) -> OptimizerResult<f64> {
        let decay = self.decay.at(iterations)?[0];
        Ok(match iterations.checked_sub(self.start_step) {
            None => 0.0,
            Some(n) if self.dynamic_decay => decay.min((1.0 + n as f64) / (10.0 + n as f64)),
            Some(_) => decay,
        })
    }

    /// Makes a step with `step`, and averages if one was made.
    fn averaged<R>(
        &mut self,
        variables: &mut Variables<T>,
        step: impl FnOnce(&mut O, &mut Variables<T>) -> OptimizerResult<R>,
    ) -> OptimizerResult<R> {
        match &self.memory {
            None => self.build(variables)?,
            Some(memory) => memory.layout.check(NAME, variables.iter())?,
        }
        if self.is_swapped() {
            return Err(OptimizerError::AveragesSwappedIn);
        }
        let before = self.inner.iterations();
        let decay = T::from_f64(self.decay(before)?);
        let result = step(&mut self.inner, variables)?;
        let AveragedWeights { average, .. } = self.memory.as_mut().expect("it was just built");
        if self.inner.iterations() != before {
            average_weights(average, decay, variables);
        }
        Ok(result)
    }

    /// Settings that are no hyperparameters, as numbers.
    fn settings(&self) -> [(&'static str, f64); 2] {
        [("dynamic_decay", f64::from(u8::from(self.dynamic_decay))), ("start_step", self.start_step as f64)]
    }
}

/// Moves an average towards the trainable weights: `average ← kept · average + (1 − kept) · w`.
pub(super) fn average_weights<T: Real>(average: &mut [T], kept: T, variables: &Variables<T>) {
    for variable in variables.iter().filter(|&variable| variables.is_trainable(variable)) {
        let w = &variables.values()[variable.range()];
        for (average, &w) in average[variable.range()].iter_mut().zip(w) {
            *average = kept * *average + (T::ONE - kept) * w;
        }
    }
}

/// Ascending ranges up to `end`, from their starts and ends.
fn ranges(bounds: &[f64], end: usize) -> OptimizerResult<Vec<Range<usize>>> {
    let places = bounds.iter().map(|&bound| Ok(count(SWAPPED, bound, end as u64)? as usize));
    let places = places.collect::<OptimizerResult<Vec<_>>>()?;
    match places.as_chunks() {
        (ranges, []) if places.is_sorted_by(|a, b| a < b) => Ok(ranges.iter().map(|&[a, b]| a..b).collect()),
        _ => refuse("swapped does not hold ascending ranges"),
    }
}

impl<T: Real, O: Optimizer<T>> Optimizer<T> for MovingAverage<T, O> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&mut self, variables: &Variables<T>) -> OptimizerResult<()> {
        self.decay.check()?;
        self.inner.build(variables)?;
        let average = variables.values().to_vec();
        self.memory = Some(AveragedWeights { layout: Layout::of(variables), average, swapped: Vec::new() });
        Ok(())
    }

    fn step(&mut self, batch: &mut dyn Objective<T>, variables: &mut Variables<T>) -> OptimizerResult<StepReport<T>> {
        self.averaged(variables, |inner, variables| inner.step(batch, variables))
    }

    fn apply_gradients(&mut self, gradients: &Gradients<T>, variables: &mut Variables<T>) -> OptimizerResult<()> {
        self.averaged(variables, |inner, variables| inner.apply_gradients(gradients, variables))
    }

    fn iterations(&self) -> u64 {
        self.inner.iterations()
    }

    fn hyperparameters(&self) -> Vec<&'static str> {
        let mut names = self.inner.hyperparameters();
        names.push(DECAY.name);
        names
    }

    fn hyperparameter(&self, name: &str) -> OptimizerResult<Hyperparameter> {
        if name == DECAY.name { self.decay.get(name).cloned() } else { self.inner.hyperparameter(name) }
    }

    fn set_hyperparameter(&mut self, name: &str, value: Hyperparameter) -> OptimizerResult<()> {
        if name == DECAY.name { self.decay.set(name, value) } else { self.inner.set_hyperparameter(name, value) }
    }

    fn adapt_weight_decay(&mut self, data: &mut dyn Objective<T>, variables: &Variables<T>) -> OptimizerResult<f64> {
        self.inner.adapt_weight_decay(data, variables)
    }

    fn slots(&self) -> Vec<&'static str> {
        let mut names = self.inner.slots();
        names.push(SLOT);
        names
    }

    fn slot(&self, variable: Variable, name: &str) -> OptimizerResult<ArrayViewD<'_, T>> {
        match &self.memory {
            _ if name != SLOT => self.inner.slot(variable, name),
            Some(memory) => memory.layout.checked_view(NAME, variable, &memory.average),
            None => Err(OptimizerError::NotBuilt { optimizer: NAME }),
        }
    }

    fn save_into(&self, state: &mut OptimizerState<T>) {
        let mut to = StateWriter::new(state, NAME, self.inner.iterations());
        self.decay.iter().for_each(|(name, value)| to.hyperparameter(name, value));
        self.settings().into_iter().for_each(|(name, value)| to.numbers(name, [value]));
        if let Some(memory) = &self.memory {
            to.variables(&memory.layout);
            to.slot(SLOT, &memory.average);
            to.numbers(SWAPPED, memory.swapped.iter().flat_map(|range| [range.start as f64, range.end as f64]));
        }
        self.inner.save_into(&mut to.finish(1)[0]);
    }

    fn restore(&mut self, state: &OptimizerState<T>, variables: &Variables<T>) -> OptimizerResult<()> {
        let mut from = StateReader::new(state, NAME)?;
        let [inner] = state.parts.as_slice() else { return refuse("it does not have one part") };
        let mut decay = self.decay.clone();
        decay.take_over(&state.hyperparameters)?;
        decay.check()?;
        from.settings(self.settings())?;
        let mut memory = None;
        if !state.variables.is_empty() {
            let layout = Layout::of(variables);
            layout.check_state(state)?;
            let numbers = layout.numbers();
            let (average, swapped) = (from.slot(SLOT, numbers)?.to_vec(), ranges(from.numbers(SWAPPED)?, numbers)?);
            memory = Some(AveragedWeights { layout, average, swapped });
        }
        from.end()?;
        self.inner.restore(inner, variables)?;
        (self.decay, self.memory) = (decay, memory);
        Ok(())
    }

    fn finalize(&mut self, variables: &mut Variables<T>) -> OptimizerResult<()> {
        let Some(memory) = &self.memory else { return self.inner.finalize(variables) };
        memory.layout.check(NAME, variables.iter())?;
        if memory.swapped.is_empty() {
            memory.layout.write_trainable(&memory.average, variables);
        }
        Ok(())
    }

    fn is_first_order(&self) -> bool {
        self.inner.is_first_order()
    }
}
