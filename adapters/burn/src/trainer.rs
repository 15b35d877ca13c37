//! Steps of marquardt's optimizers on the parameters of a module.

use std::rc::Rc;

use burn::module::Module;
use burn::tensor::kind::Basic;
use burn::tensor::{Device, Distribution, Tensor};
use marquardt::nn::{External, Loss};
use marquardt::optim::{Optimizer, OptimizerState, StepReport};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::{ArrayView2, ArrayViewD};

use crate::element::read;
use crate::model::BurnModel;
use crate::places::Places;
use crate::{Element, TrainerError};

/// An optimizer of `marquardt`'s for the parameters of a module, in a training loop of burn's.
///
/// Each [`step`](Self::step) is given a module, targets, and a closure for the outputs, and returns the module with other numbers in
/// its parameters: those that require gradients. Frozen parameters are constants. Numbers are read from the module at the start of
/// a step, so that loading, saving and changing them between steps work as always.
pub struct LeastSquaresTrainer<T: Element, O = LevenbergMarquardt<T>> {
    optimizer: O,
    loss: External<T>,
    variables: Variables<T>,
    places: Rc<Places>,
    targets: Vec<T>,
    before: Vec<T>,
    /// True if layers recorded in the last step.
    has_layers: bool,
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
    /// A trainer of the module that its first step is given.
    pub fn new(optimizer: O, loss: impl Loss<T> + 'static) -> Self {
        LeastSquaresTrainer {
            optimizer,
            loss: External::new(loss),
            variables: Variables::new(),
            places: Rc::default(),
            targets: Vec::new(),
            before: Vec::new(),
            has_layers: false,
        }
    }

    /// One step on a batch: `forward` gives the outputs of a module, whose first dimension is that of the samples, and `targets` has
    /// as many. Class numbers may be integers.
    ///
    /// `forward` is called twice, with other numbers in the module each time; for the correction of an accelerated step two more times, in
    /// `f32` four; for a loss of several outputs once more for each of them, as burn's graphs can be pulled through once only; and more
    /// often where a trial is refused or layers are not recorded.
    ///
    /// # Errors
    ///
    /// [`TrainerError`]. The module is dropped with it, as with any error that `?` returns: where training is to go on after one, call
    /// [`step_in_place`](Self::step_in_place), or pass a clone, which copies no numbers.
    pub fn step<M: Module, K: Basic, const D: usize, const E: usize>(
        &mut self,
        mut module: M,
        targets: Tensor<E, K>,
        forward: impl FnMut(&M) -> Tensor<D>,
    ) -> Result<(M, TrainerReport<T>), TrainerError> {
        let report = self.step_in_place(&mut module, targets, forward)?;
        Ok((module, report))
    }

    /// Makes a [`step`](Self::step) on a module that stays where it is.
    ///
    /// # Errors
    ///
    /// [`TrainerError`]; the module is then as it was before.
    pub fn step_in_place<M: Module, K: Basic, const D: usize, const E: usize>(
        &mut self,
        module: &mut M,
        targets: Tensor<E, K>,
        mut forward: impl FnMut(&M) -> Tensor<D>,
    ) -> Result<TrainerReport<T>, TrainerError> {
        let shape = targets.dims();
        self.targets.resize(shape.iter().product(), T::ZERO);
        read(targets.try_into_data()?, &mut self.targets)?;
        self.read_module(module)?;
        let outcome = self.step_from(module, shape[0], &mut forward);
        if outcome.is_err() {
            self.variables.values_mut().copy_from_slice(&self.before);
        }
        let report = outcome?;
        *module = self.places.put(module, self.variables.values(), true);
        Ok(report)
    }

    /// Reads the numbers of a module, and what its parameters are if they are not known.
    fn read_module<M: Module>(&mut self, module: &M) -> Result<(), TrainerError> {
        if self.places.list.is_empty() || !self.places.read(module, self.variables.values_mut())? {
            let places = Places::of::<T>(module)?;
            if self.places.list.is_empty() {
                self.variables = variables(&places)?;
            } else if let Some(name) = self.places.difference(&places) {
                return Err(TrainerError::ChangedModule { name });
            }
            places.read(module, self.variables.values_mut())?;
            self.places = Rc::new(places);
        }
        self.before.clear();
        self.before.extend_from_slice(self.variables.values());
        Ok(())
    }

    fn step_from<M: Module, const D: usize>(
        &mut self,
        module: &M,
        samples: usize,
        forward: &mut dyn FnMut(&M) -> Tensor<D>,
    ) -> Result<TrainerReport<T>, TrainerError> {
        let records = !self.optimizer.is_first_order();
        if let Some(name) = Places::batch_normalization(module).filter(|_| records) {
            return Err(TrainerError::BatchNormalization { name });
        }
        let random = if self.places.has_flags { seed(module)? } else { None };
        let records = (records, self.has_layers);
        let mut model = BurnModel::new((module, &self.places), forward, samples, records, random, &self.before)?;
        self.has_layers = model.has_layers();
        let width = model.width();
        let columns = self.targets.len() / samples.max(1);
        let targets = ArrayView2::from_shape((samples, columns), &self.targets);
        let Ok(targets) = targets else {
            return Err(TrainerError::Count { expected: samples * columns, shape: vec![self.targets.len()] });
        };
        let mut batch = self.loss.bind(&mut model, (&self.before, width), targets, None)?;
        let step = self.optimizer.step(&mut batch, &mut self.variables)?;
        Ok(TrainerReport { step, is_recorded: records.0 && batch.is_recorded() })
    }

    /// The optimizer.
    pub fn optimizer(&self) -> &O {
        &self.optimizer
    }

    /// The optimizer, to change its hyperparameters.
    pub fn optimizer_mut(&mut self) -> &mut O {
        &mut self.optimizer
    }

    /// Takes over the [state](Optimizer::state) of another training's optimizer, for a module whose numbers burn has loaded.
    ///
    /// # Errors
    ///
    /// [`TrainerError::Optimizer`] for a state of another optimizer or of other parameters; as [`step`](Self::step) for a module that
    /// is not the trainer's.
    pub fn restore<M: Module>(&mut self, module: &M, state: &OptimizerState<T>) -> Result<(), TrainerError> {
        self.read_module(module)?;
        Ok(self.optimizer.restore(state, &self.variables)?)
    }

    /// The parameters as the optimizer sees them after the last step, by the names of the module's fields; none before the first
    /// step. Weights of dense layers are transposed: a row for each output.
    pub fn variables(&self) -> &Variables<T> {
        &self.variables
    }
}

/// Variables for parameters, of zeros.
fn variables<T: Element>(places: &Places) -> Result<Variables<T>, TrainerError> {
    let zeros = vec![T::ZERO; places.count];
    let mut variables = Variables::new();
    for place in &places.list {
        let numbers = &zeros[..place.count()];
        let values = ArrayViewD::from_shape(place.own_shape(), numbers);
        let values = values.map_err(|_| TrainerError::Count { expected: numbers.len(), shape: place.shape.clone() })?;
        variables.add(&place.name, values)?;
    }
    Ok(variables)
}

/// A seed drawn from the generator of a module's device, for all passes of a step: they drop out the same.
fn seed<M: Module>(module: &M) -> Result<Option<(u64, Device)>, TrainerError> {
    let Some(device) = module.devices().into_iter().next() else { return Ok(None) };
    let drawn = Tensor::<1>::random([2], Distribution::Uniform(0.0, 1.0), &device).try_into_data()?;
    let drawn = drawn.try_cast_as::<f64>()?;
    let bits = drawn.as_slice::<f64>()?.iter().fold(0, |bits: u64, number| bits.rotate_left(32) ^ number.to_bits());
    Ok(Some((bits, device)))
}
