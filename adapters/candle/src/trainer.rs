//! Steps of marquardt's optimizers on the variables of a `VarMap`.

use std::collections::HashMap;
use std::rc::Rc;

use candle_core::{Result, Tensor, Var};
use candle_nn::VarMap;
use marquardt::nn::{External, Loss};
use marquardt::optim::{Optimizer, OptimizerState, StepReport};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::{ArrayView2, ArrayViewD};

use crate::batch_norm::is_statistic;
use crate::element::{dtype, read};
use crate::masks::Masks;
use crate::model::{CandleModel, Place, read_all, token};
use crate::recorder::Places;
use crate::{Element, TrainerError};

/// An optimizer of `marquardt`'s for the variables of a [`VarMap`], in a training loop of candle's.
///
/// Each [`step`](Self::step) is given targets and a closure for the outputs. Weights are read from the map at the start of a step and
/// written back at its end, so that loading, saving and changing them between steps work as always.
pub struct LeastSquaresTrainer<T: Element, O = LevenbergMarquardt<T>> {
    pub(crate) optimizer: O,
    loss: External<T>,
    pub(crate) variables: Variables<T>,
    pub(crate) varmap: VarMap,
    vars: Vec<Place>,
    /// Running statistics of the map, which no step changes.
    statistics: Vec<(String, Var)>,
    places: Places,
    token: Var,
    targets: Vec<T>,
    /// Seed of the masks of dropout.
    pub(crate) seed: u64,
    /// Steps that were begun.
    pub(crate) steps: u64,
    /// True if the closure has been seen to give the same outputs again.
    is_checked: bool,
}

/// Report of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainerReport<T> {
    /// Report of the optimizer.
    pub step: StepReport<T>,
    /// True if it was computed from recorded layers; otherwise from products with the Jacobian, or by a first-order
    /// rule.
    pub is_recorded: bool,
}

impl<T: Element, O: Optimizer<T>> LeastSquaresTrainer<T, O> {
    /// A trainer of all variables of the map, in the order of their names, but for the running statistics of batch normalisations.
    ///
    /// # Errors
    ///
    /// [`TrainerError::NoVariables`] before the model is made; [`TrainerError::DType`] for variables of other numbers;
    /// [`TrainerError::Device`] for variables on several devices.
    pub fn new(varmap: &VarMap, optimizer: O, loss: impl Loss<T> + 'static) -> std::result::Result<Self, TrainerError> {
        Self::of_selected(varmap, optimizer, loss, |_| true)
    }

    /// Creates a trainer, as [`new`](Self::new) does, of the variables whose names are selected; the others are
    /// constants. Steps are exact where layers are selected as a whole.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of_selected(
        varmap: &VarMap,
        optimizer: O,
        loss: impl Loss<T> + 'static,
        selects: impl Fn(&str) -> bool,
    ) -> std::result::Result<Self, TrainerError> {
        let mut named: Vec<(String, Var)> = {
            let data = varmap.data().lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            data.iter().map(|(name, var)| (name.clone(), var.clone())).collect()
        };
        named.sort_by(|(a, _), (b, _)| a.cmp(b));
        let (statistics, named): (Vec<_>, Vec<_>) = named.into_iter().partition(|(name, _)| is_statistic(name));
        let mut named = named;
        named.retain(|(name, _)| selects(name));
        let Some((_, first)) = named.first() else { return Err(TrainerError::NoVariables) };
        let (device, token) = (first.device().location(), token::<T>(first.device())?);
        let mut variables = Variables::new();
        let (mut vars, mut places, mut start) = (Vec::new(), HashMap::new(), 0);
        for (name, var) in named {
            if var.dtype() != dtype::<T>() {
                return Err(TrainerError::DType { name, expected: dtype::<T>(), found: var.dtype() });
            }
            if var.device().location() != device {
                return Err(TrainerError::Device { name, expected: device, found: var.device().location() });
            }
            let mut numbers = vec![T::ZERO; var.elem_count()];
            read(&var, &mut numbers)?;
            let shape = var.dims();
            let values = ArrayViewD::from_shape(shape, &numbers).map_err(candle_core::Error::wrap)?;
            variables.add(&name, values)?;
            places.insert(var.id(), start);
            let count = numbers.len();
            vars.push(Place { name, var, start });
            start += count;
        }
        let places = Rc::new(places);
        Ok(LeastSquaresTrainer {
            optimizer,
            loss: External::new(loss),
            variables,
            varmap: varmap.clone(),
            vars,
            statistics,
            places,
            token,
            targets: Vec::new(),
            seed: 0,
            steps: 0,
            is_checked: false,
        })
    }

    /// Sets the seed of the masks of [`Dropout`](crate::Dropout); default 0.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// One step on a batch: `forward` gives the outputs, whose first dimension is that of the samples, and `targets` has as many.
    /// Class numbers may be integers.
    ///
    /// `forward` is called twice, with other weights in the map each time; for the correction of an accelerated step two more times, in `f32`
    /// four; and more often where a trial is refused or layers are not recorded.
    ///
    /// # Errors
    ///
    /// [`TrainerError`]; the variables are then as they were before.
    pub fn step(
        &mut self,
        targets: &Tensor,
        mut forward: impl FnMut() -> Result<Tensor>,
    ) -> std::result::Result<TrainerReport<T>, TrainerError> {
        let samples = targets.dims().first().copied().unwrap_or(0);
        self.targets.resize(targets.elem_count(), T::ZERO);
        read(targets, &mut self.targets)?;
        read_all(&self.vars, self.variables.values_mut())?;
        self.steps += 1;
        let before = self.variables.values().to_vec();
        let statistics = self.copy_statistics()?;
        let outcome = self.step_from(samples, &mut forward, &before, &statistics);
        let settled = match &outcome {
            Ok(_) => self.write(),
            Err(_) => {
                self.variables.values_mut().copy_from_slice(&before);
                let mut restored = self.statistics.iter().zip(&statistics);
                restored.try_for_each(|((_, var), before)| Ok(var.set(before)?)).and(self.write())
            }
        };
        let report = outcome?;
        settled?;
        Ok(report)
    }

    fn step_from(
        &mut self,
        samples: usize,
        forward: &mut dyn FnMut() -> Result<Tensor>,
        before: &[T],
        statistics: &[Tensor],
    ) -> std::result::Result<TrainerReport<T>, TrainerError> {
        let records = !self.optimizer.is_first_order();
        let vars = (self.vars.as_slice(), &self.places, &self.token);
        let masks = Masks::new(self.seed, self.steps);
        let mut model = CandleModel::new(vars, forward, masks, (samples, records), before.to_vec())?;
        for ((name, var), before) in self.statistics.iter().zip(statistics) {
            if var.as_tensor().ne(before)?.max_all()?.to_scalar::<u8>()? != 0 {
                let name = name.rsplit_once('.').map_or(name.as_str(), |(layer, _)| layer).to_owned();
                return Err(TrainerError::BatchNormalization { name });
            }
        }
        if !self.is_checked {
            model.check_repetition()?;
            self.is_checked = true;
        }
        let width = model.width();
        let columns = self.targets.len() / samples.max(1);
        let targets = ArrayView2::from_shape((samples, columns), &self.targets).map_err(candle_core::Error::wrap)?;
        let mut batch = self.loss.bind(&mut model, (before, width), targets, None)?;
        let step = self.optimizer.step(&mut batch, &mut self.variables)?;
        Ok(TrainerReport { step, is_recorded: records && batch.is_recorded() })
    }

    /// A copy of the running statistics.
    fn copy_statistics(&self) -> Result<Vec<Tensor>> {
        self.statistics.iter().map(|(_, var)| var.as_detached_tensor().copy()).collect()
    }

    /// Puts the numbers of the trainer's variables into the map.
    fn write(&self) -> std::result::Result<(), TrainerError> {
        for Place { var, start, .. } in &self.vars {
            let numbers = &self.variables.values()[*start..*start + var.elem_count()];
            var.set(&Tensor::from_slice(numbers, var.shape(), var.device())?)?;
        }
        Ok(())
    }

    /// The optimizer.
    pub fn optimizer(&self) -> &O {
        &self.optimizer
    }

    /// The optimizer, to change its hyperparameters.
    pub fn optimizer_mut(&mut self) -> &mut O {
        &mut self.optimizer
    }

    /// Takes over the [state](Optimizer::state) of another training's optimizer; the weights are the map's.
    ///
    /// # Errors
    ///
    /// [`TrainerError::Optimizer`] for a state of another optimizer or of other variables.
    pub fn restore(&mut self, state: &OptimizerState<T>) -> std::result::Result<(), TrainerError> {
        Ok(self.optimizer.restore(state, &self.variables)?)
    }

    /// The variables as the optimizer sees them.
    pub fn variables(&self) -> &Variables<T> {
        &self.variables
    }
}
