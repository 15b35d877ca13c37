//! A closure that gives outputs, as a model of marquardt's.

use std::cell::RefCell;
use std::rc::Rc;

use candle_core::{Device, Result, Tensor, Var};
use marquardt::nn::{ExternalModel, OutputShape, RecordedLayer};
use marquardt::{EvaluationError, Scalar};

use crate::element::{dtype, read};
use crate::masks::Masks;
use crate::recorder::{Places, Recorded, Recorder, run};
use crate::{Element, TrainerError};

/// A variable of the map, and where its numbers begin among those of all.
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) var: Var,
    pub(crate) start: usize,
}

/// The closure of one step, and its variables, which always hold the point that was evaluated last.
///
/// candle's graphs share the storage of variables, and so one may be pulled through only while these hold the point that it was made
/// at.
pub(crate) struct CandleModel<'a, T> {
    vars: &'a [Place],
    places: &'a Places,
    token: &'a Var,
    count: usize,
    forward: &'a mut dyn FnMut() -> Result<Tensor>,
    masks: Rc<RefCell<Masks>>,
    /// Shape of the outputs.
    outputs: OutputShape,
    /// True if layers are to record.
    records: bool,
    /// Values of the variables.
    at: Vec<T>,
    /// The pass that pulls go through.
    graph: Option<Graph<T>>,
    layers: Vec<RecordedLayer>,
    gradient: Vec<T>,
}

/// A forward pass.
struct Graph<T> {
    x: Vec<T>,
    output: Tensor,
    layers: Vec<Recorded>,
    /// The outputs of a pass in which nothing was recorded, for gradients by variables.
    plain: Option<Tensor>,
}

impl<'a, T: Element> CandleModel<'a, T> {
    /// A model whose variables hold the numbers `at`, evaluated there.
    pub(crate) fn new(
        (vars, places, token): (&'a [Place], &'a Places, &'a Var),
        forward: &'a mut dyn FnMut() -> Result<Tensor>,
        masks: Masks,
        (samples, records): (usize, bool),
        at: Vec<T>,
    ) -> std::result::Result<Self, TrainerError> {
        let count = at.len();
        let mut model = CandleModel {
            vars,
            places,
            token,
            count,
            forward,
            masks: Rc::new(RefCell::new(masks)),
            outputs: OutputShape::new(samples),
            records,
            at,
            graph: None,
            layers: Vec::new(),
            gradient: Vec::new(),
        };
        let x = model.at.clone();
        model.pass(&x)?;
        Ok(model)
    }

    /// Refuses a closure that gives other outputs when it is called again.
    pub(crate) fn check_repetition(&mut self) -> std::result::Result<(), TrainerError> {
        let again = self.plain_pass()?;
        let Some(graph) = &mut self.graph else { return Ok(()) };
        let (mut before, mut now) = (vec![T::ZERO; again.elem_count()], vec![T::ZERO; again.elem_count()]);
        read(&graph.output, &mut before)?;
        read(&again, &mut now)?;
        graph.plain.get_or_insert(again);
        let size = before.iter().fold(T::ZERO, |size, &output| Scalar::max(size, output.abs()));
        // Outputs that are not finite are refused for what they are.
        let differs = |(&before, &now): (&T, &T)| (before - now).abs() > T::EPSILON.sqrt() * size;
        if before.iter().zip(&now).any(differs) { Err(TrainerError::RandomOutputs) } else { Ok(()) }
    }

    /// Outputs of a sample.
    pub(crate) fn width(&self) -> usize {
        self.outputs.width()
    }

    /// Puts numbers into the variables.
    pub(crate) fn set(&mut self, x: &[T]) -> Result<()> {
        for Place { var, start, .. } in self.vars {
            let numbers = *start..*start + var.elem_count();
            if self.at[numbers.clone()] != x[numbers.clone()] {
                let values = Tensor::from_slice(&x[numbers.clone()], var.shape(), &Device::Cpu)?;
                var.set(&if var.device().is_cpu() { values } else { values.to_device(var.device())? })?;
                self.at[numbers.clone()].copy_from_slice(&x[numbers]);
            }
        }
        Ok(())
    }

    /// Runs the pass that pulls go through.
    fn pass(&mut self, x: &[T]) -> std::result::Result<(), TrainerError> {
        if self.graph.as_ref().is_some_and(|graph| graph.x == x) {
            return Ok(());
        }
        self.graph = None;
        self.set(x)?;
        let graph = if self.records {
            let recorder = Recorder::new(self.places.clone(), self.outputs.samples(), self.token.clone());
            let (output, layers) = run(&self.masks, Some(recorder), self.forward)?;
            let plain = layers.is_empty().then(|| output.clone());
            Graph { x: x.to_vec(), output, layers, plain }
        } else {
            let output = self.plain_pass()?;
            Graph { x: x.to_vec(), plain: Some(output.clone()), output, layers: Vec::new() }
        };
        self.outputs.check(graph.output.dims())?;
        self.layers.clear();
        self.layers.extend(graph.layers.iter().map(|recorded| recorded.layer));
        self.graph = Some(graph);
        Ok(())
    }

    /// Runs a pass in which nothing is recorded, with the numbers that the variables hold.
    fn plain_pass(&mut self) -> std::result::Result<Tensor, TrainerError> {
        let (output, _) = run(&self.masks, None, self.forward)?;
        self.outputs.check(output.dims())?;
        Ok(output)
    }

    /// `Σ cotangents · outputs`, to go back from.
    fn seed(&self, output: &Tensor, cotangents: &[T]) -> Result<Tensor> {
        let cotangents = Tensor::from_slice(cotangents, output.shape(), &Device::Cpu)?.to_device(output.device())?;
        (output * cotangents)?.sum_all()
    }

    fn try_outputs(&mut self, x: &[T], outputs: &mut [T]) -> std::result::Result<(), TrainerError> {
        if let Some(graph) = self.graph.as_ref().filter(|graph| graph.x == x) {
            return Ok(read(&graph.output, outputs)?);
        }
        self.set(x)?;
        let output = self.plain_pass()?;
        Ok(read(&output, outputs)?)
    }

    fn try_linearize(&mut self, x: &[T], outputs: &mut [T]) -> std::result::Result<(), TrainerError> {
        self.pass(x)?;
        let Some(graph) = &self.graph else { return Ok(()) };
        Ok(read(&graph.output, outputs)?)
    }

    fn try_pull(&mut self, cotangents: &[T], gradient: &mut [T]) -> std::result::Result<(), TrainerError> {
        let Some(mut graph) = self.graph.take() else { return Ok(()) };
        self.set(&graph.x)?;
        let plain = match graph.plain.take() {
            Some(plain) => plain,
            None => self.plain_pass()?,
        };
        let gradients = self.seed(&plain, cotangents)?.backward()?;
        graph.plain = Some(plain);
        self.graph = Some(graph);
        for Place { name, var, start } in self.vars {
            let Some(of_var) = gradients.get(var) else {
                return Err(TrainerError::UnusedVariable { name: name.clone() });
            };
            read(of_var, &mut gradient[*start..*start + var.elem_count()])?;
        }
        Ok(())
    }

    fn try_sensitivities(
        &mut self,
        cotangents: &[T],
        keep: &mut dyn FnMut(usize, &[T]),
    ) -> std::result::Result<(), TrainerError> {
        let Some(graph) = self.graph.take() else { return Ok(()) };
        self.set(&graph.x)?;
        let gradients = self.seed(&graph.output, cotangents)?.backward()?;
        for (index, recorded) in graph.layers.iter().enumerate() {
            let outputs = recorded.layer.outputs();
            self.gradient.clear();
            self.gradient.resize(self.outputs.samples() * outputs, T::ZERO);
            if let Some(sensitivities) = recorded.take_sensitivities(&gradients) {
                read(&sensitivities, &mut self.gradient)?;
            }
            keep(index, &self.gradient);
        }
        self.graph = Some(graph);
        Ok(())
    }
}

impl<T: Element> ExternalModel<T> for CandleModel<'_, T> {
    fn parameter_count(&self) -> usize {
        self.count
    }

    fn outputs(&mut self, x: &[T], outputs: &mut [T]) -> std::result::Result<(), EvaluationError> {
        self.try_outputs(x, outputs).map_err(EvaluationError::new)
    }

    fn linearize(&mut self, x: &[T], outputs: &mut [T]) -> std::result::Result<(), EvaluationError> {
        self.try_linearize(x, outputs).map_err(EvaluationError::new)
    }

    fn pull(&mut self, cotangents: &[T], gradient: &mut [T]) -> std::result::Result<(), EvaluationError> {
        self.try_pull(cotangents, gradient).map_err(EvaluationError::new)
    }

    fn layers(&self) -> &[RecordedLayer] {
        &self.layers
    }

    fn inputs(&mut self, layer: usize, inputs: &mut [T]) -> std::result::Result<(), EvaluationError> {
        let recorded = self.graph.as_ref().and_then(|graph| graph.layers.get(layer));
        let recorded = recorded.ok_or("the layer is not recorded")?;
        read(&recorded.input, inputs).map_err(|error| EvaluationError::new(TrainerError::from(error)))
    }

    fn sensitivities(
        &mut self,
        cotangents: &[T],
        keep: &mut dyn FnMut(usize, &[T]),
    ) -> std::result::Result<(), EvaluationError> {
        self.try_sensitivities(cotangents, keep).map_err(EvaluationError::new)
    }

    fn parameter_name(&self, index: usize) -> String {
        let place = self.vars.iter().rfind(|place| place.start <= index);
        place.map_or_else(|| format!("x[{index}]"), |place| format!("{}[{}]", place.name, index - place.start))
    }
}

/// Reads all variables.
pub(crate) fn read_all<T: Element>(vars: &[Place], numbers: &mut [T]) -> Result<()> {
    vars.iter().try_for_each(|Place { var, start, .. }| read(var, &mut numbers[*start..*start + var.elem_count()]))
}

/// A variable of a single number, with no use but to be one.
pub(crate) fn token<T: Element>(device: &Device) -> Result<Var> {
    Var::zeros(1, dtype::<T>(), device)
}
