//! The record of a forward pass: what went into the layers, and how to find the sensitivities of what came out.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Storage, Tensor, TensorId, Var};
use marquardt::nn::RecordedLayer;

thread_local! {
    /// The record of the pass that is under way on this thread.
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Where the numbers of variables begin among those of all.
pub(crate) type Places = Rc<HashMap<TensorId, usize>>;

/// The layers that a pass has come through.
pub(crate) struct Recorder {
    places: Places,
    samples: usize,
    /// A variable that makes candle track what comes out of layers, whatever goes in.
    token: Var,
    layers: Vec<Recorded>,
    /// Shape of what went into a layer, but is not made of samples.
    misfit: Option<Vec<usize>>,
}

/// A layer, what went into it, and where its sensitivities will be.
pub(crate) struct Recorded {
    pub(crate) layer: RecordedLayer,
    pub(crate) input: Tensor,
    tap: Tap,
}

/// Where the gradient by what came out of a layer is found after a backward pass.
enum Tap {
    /// An operation has put it there.
    Slot(Slot),
    /// It is that of zeros which were added.
    Zeros(Var),
}

type Slot = Arc<Mutex<Option<Tensor>>>;

impl Recorded {
    /// The sensitivities after a backward pass; `None` where the outputs do not depend on the layer.
    pub(crate) fn take_sensitivities(&self, gradients: &GradStore) -> Option<Tensor> {
        match &self.tap {
            Tap::Slot(slot) => slot.lock().ok()?.take(),
            Tap::Zeros(zeros) => gradients.get(zeros).cloned(),
        }
    }
}

/// Outputs and layers that a pass has recorded.
pub(crate) struct Record {
    pub(crate) output: Tensor,
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
pub(crate) fn record(
    places: &Places,
    samples: usize,
    token: &Var,
    forward: &mut dyn FnMut() -> Result<Tensor>,
) -> Result<Record> {
    let recorder = Recorder { places: places.clone(), samples, token: token.clone(), layers: Vec::new(), misfit: None };
    RECORDER.set(Some(recorder));
    let _ending = Ending;
    let output = forward()?;
    let (layers, misfit) = RECORDER.take().map_or_else(Default::default, |recorder| (recorder.layers, recorder.misfit));
    Ok(Record { output, layers, misfit })
}

/// The places of a layer's weight and bias, and the number of positions in a sample of the `rows` that go in; `None` where no pass
/// is recorded, or these are not variables of the trainer.
pub(crate) fn places(weight: &Tensor, bias: Option<&Tensor>, rows: usize, shape: &[usize]) -> Option<Found> {
    RECORDER.with_borrow_mut(|recorder| {
        let recorder = recorder.as_mut()?;
        let weight = *recorder.places.get(&weight.id())?;
        let bias = match bias {
            Some(bias) => Some(*recorder.places.get(&bias.id())?),
            None => None,
        };
        if rows == 0
            || !rows.is_multiple_of(recorder.samples)
            || shape.first().is_none_or(|&first| !first.is_multiple_of(recorder.samples))
        {
            recorder.misfit = Some(shape.to_vec());
            return None;
        }
        Some(Found { weight, bias, positions: rows / recorder.samples, token: recorder.token.clone() })
    })
}

/// Variables of a layer, and the number of positions at which it is used.
pub(crate) struct Found {
    pub(crate) weight: usize,
    pub(crate) bias: Option<usize>,
    pub(crate) positions: usize,
    token: Var,
}

impl Found {
    /// Records a layer with its output `y`, whose variables are [detached](Tensor::detach), and returns what the pass goes on with.
    pub(crate) fn tap(&self, layer: RecordedLayer, input: &Tensor, y: Tensor) -> Result<Tensor> {
        let (y, tap) = if y.device().is_cpu() {
            let slot = Slot::default();
            let op = Identity { slot: slot.clone() };
            (y.contiguous()?.apply_op2(self.token.as_tensor(), op)?, Tap::Slot(slot))
        } else {
            let zeros = Var::zeros(y.shape(), y.dtype(), y.device())?;
            ((y + zeros.as_tensor())?, Tap::Zeros(zeros))
        };
        keep(Recorded { layer, input: input.detach(), tap });
        Ok(y)
    }

    /// As [`tap`](Self::tap), for the rows `y = x Wᵀ + b` of a weight: the backward pass computes nothing for the weight and the
    /// bias.
    pub(crate) fn tap_affine(&self, layer: RecordedLayer, x: &Tensor, weight: Tensor, y: Tensor) -> Result<Tensor> {
        if !y.device().is_cpu() {
            return self.tap(layer, x, y);
        }
        let slot = Slot::default();
        let op = Affine { slot: slot.clone(), weight, y };
        let y = x.apply_op2(self.token.as_tensor(), op)?;
        keep(Recorded { layer, input: x.detach(), tap: Tap::Slot(slot) });
        Ok(y)
    }
}

fn keep(recorded: Recorded) {
    RECORDER
        .with_borrow_mut(|recorder| recorder.iter_mut().for_each(|recorder| recorder.layers.push(recorded.clone())));
}

impl Clone for Recorded {
    fn clone(&self) -> Self {
        let tap = match &self.tap {
            Tap::Slot(slot) => Tap::Slot(slot.clone()),
            Tap::Zeros(zeros) => Tap::Zeros(zeros.clone()),
        };
        Recorded { layer: self.layer, input: self.input.clone(), tap }
    }
}

/// Passes numbers on, and keeps their gradient.
struct Identity {
    slot: Slot,
}

/// `x Wᵀ + b`, which has been computed already; keeps its gradient.
struct Affine {
    slot: Slot,
    weight: Tensor,
    y: Tensor,
}

fn store(slot: &Slot, gradient: &Tensor) {
    if let Ok(mut slot) = slot.lock() {
        *slot = Some(gradient.clone());
    }
}

impl CustomOp2 for Identity {
    fn name(&self) -> &'static str {
        "recorded layer"
    }

    fn cpu_fwd(&self, y: &CpuStorage, layout: &Layout, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        copy(y, layout)
    }

    fn bwd(&self, y: &Tensor, _: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        store(&self.slot, gradient);
        Ok((y.track_op().then(|| gradient.clone()), None))
    }
}

impl CustomOp2 for Affine {
    fn name(&self) -> &'static str {
        "recorded linear layer"
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        let (storage, layout) = self.y.storage_and_layout();
        match &*storage {
            Storage::Cpu(storage) => copy(storage, layout),
            _ => candle_core::bail!("a tensor has left the processor"),
        }
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        store(&self.slot, gradient);
        if !x.track_op() {
            return Ok((None, None));
        }
        let (outputs, _) = self.weight.dims2()?;
        let rows = gradient.elem_count() / outputs;
        let back = gradient.reshape((rows, outputs))?.matmul(&self.weight)?.reshape(x.shape())?;
        Ok((Some(back), None))
    }
}

/// The numbers of a contiguous tensor, by themselves.
fn copy(storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
    let (start, end) = match layout.contiguous_offsets() {
        Some(offsets) => offsets,
        None => candle_core::bail!("a recorded tensor is not contiguous"),
    };
    let copy = match storage {
        CpuStorage::F32(numbers) => CpuStorage::F32(numbers[start..end].to_vec()),
        CpuStorage::F64(numbers) => CpuStorage::F64(numbers[start..end].to_vec()),
        _ => candle_core::bail!("recorded layers compute in f32 or f64"),
    };
    Ok((copy, layout.shape().clone()))
}
