//! A module with a closure that gives outputs, as a model of marquardt's.

use std::rc::Rc;

use burn::module::Module;
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use marquardt::EvaluationError;
use marquardt::nn::{ExternalModel, ModelError, OutputShape, RecordedLayer};

use crate::element::{dtype, read};
use crate::places::Places;
use crate::recorder::{Recorded, record};
use crate::{Element, TrainerError};

/// The module and the closure of one step.
///
/// burn's graphs can be pulled through once only: for each further pull, the forward pass is run again.
pub(crate) struct BurnModel<'a, T, M, const D: usize> {
    /// Module as it was before the step.
    module: &'a M,
    places: &'a Rc<Places>,
    forward: &'a mut dyn FnMut(&M) -> Tensor<D>,
    /// Shape of the outputs.
    outputs: OutputShape,
    /// True if layers are to record.
    records: bool,
    /// True if there are such layers, as far as is known: where there are none, pulls go through the pass that would
    /// record.
    has_layers: bool,
    /// Seed of the random numbers of every pass, and their device.
    random: Option<(u64, Device)>,
    /// The point that pulls are of.
    point: Option<Point<T, M, D>>,
    layers: Vec<RecordedLayer>,
    sensitivities: Vec<T>,
}

/// Values and derivatives known at a point.
struct Point<T, M, const D: usize> {
    x: Vec<T>,
    outputs: Vec<T>,
    layers: Vec<Recorded>,
    /// Outputs of a pass with layers that have recorded, if it has not been pulled through.
    recorded: Option<Tensor<D>>,
    /// Outputs of a pass in which nothing was recorded, likewise, and the module.
    plain: Option<(Tensor<D>, M)>,
}

/// A pass with layers that have recorded.
struct Pass<M, const D: usize> {
    module: M,
    output: Tensor<D>,
    layers: Vec<Recorded>,
}

impl<'a, T: Element, M: Module, const D: usize> BurnModel<'a, T, M, D> {
    /// A model, evaluated at the numbers `x`.
    pub(crate) fn new(
        (module, places): (&'a M, &'a Rc<Places>),
        forward: &'a mut dyn FnMut(&M) -> Tensor<D>,
        samples: usize,
        (records, has_layers): (bool, bool),
        random: Option<(u64, Device)>,
        x: &[T],
    ) -> Result<Self, TrainerError> {
        let mut model = BurnModel {
            module,
            places,
            forward,
            outputs: OutputShape::new(samples),
            records,
            has_layers,
            random,
            point: None,
            layers: Vec::new(),
            sensitivities: Vec::new(),
        };
        model.move_to(x)?;
        Ok(model)
    }

    /// Returns true if there are layers that record.
    pub(crate) fn has_layers(&self) -> bool {
        self.has_layers
    }

    /// Outputs of a sample.
    pub(crate) fn width(&self) -> usize {
        self.outputs.width()
    }

    /// Outputs of a module, with the random numbers of all other passes of the step.
    fn run(&mut self, module: &M) -> Tensor<D> {
        if let Some((seed, device)) = &self.random {
            device.seed(*seed);
        }
        (self.forward)(module)
    }

    /// Outputs with parameters that have gradients.
    fn run_plain(&mut self, x: &[T]) -> Result<(Tensor<D>, M), TrainerError> {
        let module = self.places.put(self.module, x, true);
        let output = self.run(&module);
        self.outputs.check(&output.dims())?;
        Ok((output, module))
    }

    /// Outputs with layers that record.
    fn run_recorded(&mut self, x: &[T]) -> Result<Pass<M, D>, TrainerError> {
        let module = self.places.put(self.module, x, !self.has_layers);
        let (places, samples) = (self.places, self.outputs.samples());
        let (output, record) = record(places, samples, || self.run(&module));
        if let Some(shape) = record.misfit {
            return Err(ModelError::LayerInput { shape, samples }.into());
        }
        self.outputs.check(&output.dims())?;
        Ok(Pass { module, output, layers: record.layers })
    }

    /// Makes `x` the point that pulls are of.
    fn move_to(&mut self, x: &[T]) -> Result<(), TrainerError> {
        if self.point.as_ref().is_some_and(|point| point.x == x) {
            return Ok(());
        }
        self.point = None;
        let (output, layers, module) = if self.records {
            let Pass { module, output, layers } = self.run_recorded(x)?;
            (output, layers, module)
        } else {
            let (output, module) = self.run_plain(x)?;
            (output, Vec::new(), module)
        };
        self.layers.clear();
        self.layers.extend(layers.iter().map(|recorded| recorded.layer));
        let mut outputs = vec![T::ZERO; output.shape().num_elements()];
        read(output.try_to_data()?, &mut outputs)?;
        let (recorded, plain) = match layers.is_empty() {
            true if self.records && self.has_layers => (None, None),
            true => (None, Some((output, module))),
            false => (Some(output), None),
        };
        self.has_layers = !layers.is_empty();
        self.point = Some(Point { x: x.to_vec(), outputs, layers, recorded, plain });
        Ok(())
    }

    fn try_outputs(&mut self, x: &[T], outputs: &mut [T]) -> Result<(), TrainerError> {
        if let Some(point) = self.point.as_ref().filter(|point| point.x == x) {
            outputs.copy_from_slice(&point.outputs);
            return Ok(());
        }
        let module = self.places.put(self.module, x, false);
        let output = self.run(&module);
        self.outputs.check(&output.dims())?;
        read(output.try_into_data()?, outputs)
    }

    fn try_linearize(&mut self, x: &[T], outputs: &mut [T]) -> Result<(), TrainerError> {
        self.move_to(x)?;
        if let Some(point) = &self.point {
            outputs.copy_from_slice(&point.outputs);
        }
        Ok(())
    }

    fn try_pull(&mut self, cotangents: &[T], gradient: &mut [T]) -> Result<(), TrainerError> {
        let Some(mut point) = self.point.take() else { return Ok(()) };
        let plain = match point.plain.take() {
            Some(plain) => Ok(plain),
            None => self.run_plain(&point.x),
        };
        self.point = Some(point);
        let (output, module) = plain?;
        let Some(gradients) = backward(output, cotangents) else {
            let name = self.places.list.first().map(|place| place.name.clone()).unwrap_or_default();
            return Err(TrainerError::UnusedParameter { name });
        };
        self.places.gradients(&module, &gradients, gradient)
    }

    fn try_sensitivities(&mut self, cotangents: &[T], keep: &mut dyn FnMut(usize, &[T])) -> Result<(), TrainerError> {
        let Some(mut point) = self.point.take() else { return Ok(()) };
        let output = match point.recorded.take() {
            Some(output) => output,
            None => {
                let Pass { output, layers, .. } = self.run_recorded(&point.x)?;
                if !layers.iter().map(|recorded| &recorded.layer).eq(&self.layers) {
                    return Err(TrainerError::ChangingLayers { before: self.layers.len(), now: layers.len() });
                }
                point.layers = layers;
                output
            }
        };
        let gradients = backward(output, cotangents);
        for (index, recorded) in point.layers.iter().enumerate() {
            self.sensitivities.clear();
            self.sensitivities.resize(self.outputs.samples() * recorded.layer.outputs(), T::ZERO);
            if let Some(gradients) = &gradients {
                recorded.sensitivities(gradients, &mut self.sensitivities)?;
            }
            keep(index, &self.sensitivities);
        }
        self.point = Some(point);
        Ok(())
    }

    fn try_inputs(&self, layer: usize, inputs: &mut [T]) -> Result<(), TrainerError> {
        let recorded = self.point.as_ref().and_then(|point| point.layers.get(layer));
        recorded.map_or(Ok(()), |recorded| recorded.inputs(inputs))
    }
}

/// Gradients of `Σ cotangents · outputs`; `None` where the outputs depend on nothing that has one.
fn backward<T: Element, const D: usize>(output: Tensor<D>, cotangents: &[T]) -> Option<Gradients> {
    if !output.is_tracked() {
        return None;
    }
    let data = TensorData::new(cotangents.to_vec(), output.shape());
    let cotangents = Tensor::<D>::from_data(data, (&output.device(), dtype::<T>()));
    // A pass begins with ones for all numbers of the product, which stand for the sum.
    Some((output * cotangents).backward())
}

impl<T: Element, M: Module, const D: usize> ExternalModel<T> for BurnModel<'_, T, M, D> {
    fn parameter_count(&self) -> usize {
        self.places.count
    }

    fn outputs(&mut self, x: &[T], outputs: &mut [T]) -> Result<(), EvaluationError> {
        self.try_outputs(x, outputs).map_err(EvaluationError::new)
    }

    fn linearize(&mut self, x: &[T], outputs: &mut [T]) -> Result<(), EvaluationError> {
        self.try_linearize(x, outputs).map_err(EvaluationError::new)
    }

    fn pull(&mut self, cotangents: &[T], gradient: &mut [T]) -> Result<(), EvaluationError> {
        self.try_pull(cotangents, gradient).map_err(EvaluationError::new)
    }

    fn layers(&self) -> &[RecordedLayer] {
        &self.layers
    }

    fn inputs(&mut self, layer: usize, inputs: &mut [T]) -> Result<(), EvaluationError> {
        self.try_inputs(layer, inputs).map_err(EvaluationError::new)
    }

    fn sensitivities(&mut self, cotangents: &[T], keep: &mut dyn FnMut(usize, &[T])) -> Result<(), EvaluationError> {
        self.try_sensitivities(cotangents, keep).map_err(EvaluationError::new)
    }

    fn parameter_name(&self, index: usize) -> String {
        let place = self.places.list.iter().rfind(|place| place.start <= index);
        place.map_or_else(|| format!("x[{index}]"), |place| format!("{}[{}]", place.name, index - place.start))
    }
}

#[cfg(test)]
mod tests;
