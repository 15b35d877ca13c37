//! The record of a forward pass: what went into the layers, and where to find the sensitivities of what came out.

use std::cell::RefCell;
use std::rc::Rc;

use burn::module::Param;
use burn::tensor::{ExecutionError, Gradients, Int, Tensor, TensorData};
use marquardt::nn::RecordedLayer;

use crate::element::read;
use crate::patches::Patches;
use crate::places::Places;
use crate::{Element, TrainerError};

thread_local! {
    /// The record of the pass that is under way on this thread.
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// The layers that a pass has come through.
struct Recorder {
    places: Rc<Places>,
    samples: usize,
    layers: Vec<Recorded>,
    /// Shape of what went into a layer, but is not made of samples.
    misfit: Option<Vec<usize>>,
}

/// Arrangement of the numbers of a weight among the trainer's variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Layout {
    AsStored,
    /// Stored with rows for columns.
    Transposed,
}

/// A layer, what went into it, and a leaf of the graph that has its sensitivities for a gradient.
pub(crate) struct Recorded {
    pub(crate) layer: RecordedLayer,
    input: Input,
    leaf: Rc<dyn Leaf>,
}

/// Source of a layer's inputs.
pub(crate) enum Input {
    /// Numbers of a tensor.
    Rows(Box<dyn Numbers>),
    /// Patches of images, of a group of their channels.
    Image { image: Box<dyn Numbers>, patches: Patches, group: usize },
}

/// A tensor of any rank.
pub(crate) trait Numbers {
    fn data(&self) -> Result<TensorData, ExecutionError>;
}

impl<const D: usize> Numbers for Tensor<D> {
    fn data(&self) -> Result<TensorData, ExecutionError> {
        self.try_to_data()
    }
}

impl<const D: usize> Numbers for Tensor<D, Int> {
    fn data(&self) -> Result<TensorData, ExecutionError> {
        self.try_to_data()
    }
}

/// A tensor of any rank that has a gradient after a backward pass, unless the outputs do not depend on it.
trait Leaf {
    fn gradient(&self, gradients: &Gradients) -> Option<Result<TensorData, ExecutionError>>;
}

impl<const D: usize> Leaf for Tensor<D> {
    fn gradient(&self, gradients: &Gradients) -> Option<Result<TensorData, ExecutionError>> {
        self.grad(gradients).map(Tensor::try_into_data)
    }
}

impl Recorded {
    /// Fills `inputs` with what went into the layer, row after row.
    pub(crate) fn inputs<T: Element>(&self, inputs: &mut [T]) -> Result<(), TrainerError> {
        match &self.input {
            Input::Rows(rows) => read(rows.data()?, inputs),
            Input::Image { image, patches, group } => {
                let image = crate::element::converted::<T>(image.data()?)?;
                patches.fill(*group, image.as_slice()?, inputs);
                Ok(())
            }
        }
    }

    /// Fills `sensitivities` with those of what came out of the layer, row after row.
    pub(crate) fn sensitivities<T: Element>(
        &self,
        gradients: &Gradients,
        sensitivities: &mut [T],
    ) -> Result<(), TrainerError> {
        let Some(gradient) = self.leaf.gradient(gradients) else {
            sensitivities.fill(T::ZERO);
            return Ok(());
        };
        match (&self.input, self.layer) {
            (Input::Image { patches, group, .. }, RecordedLayer::Dense { outputs, .. }) => {
                let gradient = crate::element::converted::<T>(gradient?)?;
                patches.gather_rows(*group, outputs, gradient.as_slice()?, sensitivities);
                Ok(())
            }
            _ => read(gradient?, sensitivities),
        }
    }
}

/// Layers that a pass has recorded, and the shape of what has misfitted one of them.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) layers: Vec<Recorded>,
    pub(crate) misfit: Option<Vec<usize>>,
}

/// Ends recording, also where a pass panics.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        RECORDER.take();
    }
}

/// Runs a forward pass with layers that record.
pub(crate) fn record<Y>(places: &Rc<Places>, samples: usize, forward: impl FnOnce() -> Y) -> (Y, Record) {
    RECORDER.set(Some(Recorder { places: places.clone(), samples, layers: Vec::new(), misfit: None }));
    let _ending = Ending;
    let output = forward();
    let record = RECORDER.take().map(|Recorder { layers, misfit, .. }| Record { layers, misfit });
    (output, record.unwrap_or_default())
}

/// Places of a layer's numbers among the trainer's variables, and the number of positions of a sample at which it is
/// used.
pub(crate) struct Found {
    pub(crate) weight: usize,
    /// `None` for a constant as for no bias.
    pub(crate) bias: Option<usize>,
    pub(crate) positions: usize,
}

/// The places of a layer's weight and bias, and the number of positions in a sample of the `rows` that go in; `None` where no pass
/// is recorded, or the weight is not a variable of the trainer.
pub(crate) fn find<const D: usize>(
    (weight, layout): (&Param<Tensor<D>>, Layout),
    bias: Option<&Param<Tensor<1>>>,
    rows: usize,
    shape: &[usize],
) -> Option<Found> {
    RECORDER.with_borrow_mut(|recorder| {
        let recorder = recorder.as_mut()?;
        let place = recorder.places.get(weight.id)?;
        if place.layout != layout {
            return None;
        }
        let bias = bias.and_then(|bias| recorder.places.get(bias.id)).map(|place| place.start);
        let samples = recorder.samples;
        let is_made_of_samples = |count: usize| count != 0 && count.is_multiple_of(samples);
        if !is_made_of_samples(rows) || !shape.first().copied().is_some_and(is_made_of_samples) {
            recorder.misfit = Some(shape.to_vec());
            return None;
        }
        Some(Found { weight: place.start, bias, positions: rows / samples })
    })
}

/// The numbers of a parameter, without a gradient.
pub(crate) fn constant<const D: usize>(param: &Param<Tensor<D>>) -> Tensor<D> {
    let value = param.val();
    if value.is_require_grad() { value.set_require_grad(false) } else { value }
}

/// Records a layer whose output is `y`, and returns what the pass goes on with.
pub(crate) fn tap<const D: usize>(layer: RecordedLayer, input: Input, y: Tensor<D>) -> Tensor<D> {
    tap_sum(layer, input, y, None)
}

/// Records a layer whose output is `y` with a bias that is spread over it, and returns what the pass goes on with.
pub(crate) fn tap_sum<const D: usize>(
    layer: RecordedLayer,
    input: Input,
    y: Tensor<D>,
    bias: Option<Tensor<D>>,
) -> Tensor<D> {
    tap_layers(vec![(layer, input)], y, bias)
}

/// Taps as [`tap_sum`] does, for layers that have an output in common.
pub(crate) fn tap_layers<const D: usize>(
    layers: Vec<(RecordedLayer, Input)>,
    y: Tensor<D>,
    bias: Option<Tensor<D>>,
) -> Tensor<D> {
    if !y.is_tracked() {
        let y = match bias {
            Some(bias) => y + bias,
            None => y,
        };
        let y = y.require_grad();
        keep(layers, Rc::new(y.clone()));
        return y;
    }
    // Gradients of what is computed are not kept, but those of leaves.
    let leaf = match bias {
        Some(bias) => bias.expand(y.shape()),
        None => y.zeros_like().set_require_grad(false),
    };
    let leaf = leaf.require_grad();
    let y = y + leaf.clone();
    keep(layers, Rc::new(leaf));
    y
}

fn keep(layers: Vec<(RecordedLayer, Input)>, leaf: Rc<dyn Leaf>) {
    RECORDER.with_borrow_mut(|recorder| {
        let Some(recorder) = recorder else { return };
        recorder.layers.extend(layers.into_iter().map(|(layer, input)| Recorded { layer, input, leaf: leaf.clone() }));
    });
}
