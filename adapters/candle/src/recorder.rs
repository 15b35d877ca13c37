//! The forward pass that is under way: what went into its layers, how to find the sensitivities of what came out, and the masks that
//! all passes of a step share.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use candle_core::backprop::GradStore;
use candle_core::{Device, Result, Tensor, TensorId, Var};
use marquardt::nn::{ModelError, RecordedLayer};

use crate::TrainerError;
use crate::masks::Masks;
use crate::taps::{Affine, Identity};

thread_local! {
    /// The pass that is under way on this thread.
    static PASS: RefCell<Option<Pass>> = const { RefCell::new(None) };
}

/// Offsets of the variables' numbers among those of all.
pub(crate) type Places = Rc<HashMap<TensorId, usize>>;

/// A forward pass of a step.
struct Pass {
    masks: Rc<RefCell<Masks>>,
    /// Masks that this pass has taken.
    masks_taken: usize,
    recorder: Option<Recorder>,
    /// Reason for which the pass cannot be one of a step.
    refusal: Option<TrainerError>,
}

/// The layers that a pass has come through.
pub(crate) struct Recorder {
    places: Places,
    samples: usize,
    /// A variable that makes candle track what comes out of layers, whatever goes in.
    token: Var,
    layers: Vec<Recorded>,
}

impl Recorder {
    /// Creates a recorder of layers whose variables have these places, in a batch of `samples` samples.
    pub(crate) fn new(places: Places, samples: usize, token: Var) -> Self {
        Recorder { places, samples, token, layers: Vec::new() }
    }
}

/// A layer, what went into it, and where its sensitivities will be.
#[derive(Clone)]
pub(crate) struct Recorded {
    pub(crate) layer: RecordedLayer,
    pub(crate) input: Tensor,
    tap: Tap,
}

/// Source of the gradient by a layer's output after a backward pass.
#[derive(Clone)]
enum Tap {
    /// An operation has put it there.
    Slot(Slot),
    /// Gradient of zeros which were added.
    Zeros(Var),
}

pub(crate) type Slot = Arc<Mutex<Option<Tensor>>>;

impl Recorded {
    /// The sensitivities after a backward pass; `None` where the outputs do not depend on the layer.
    pub(crate) fn take_sensitivities(&self, gradients: &GradStore) -> Option<Tensor> {
        match &self.tap {
            Tap::Slot(slot) => slot.lock().ok()?.take(),
            Tap::Zeros(zeros) => gradients.get(zeros).cloned(),
        }
    }
}

/// Ends the pass, also where it panics.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        PASS.take();
    }
}

/// Runs a forward pass of a step, with layers that record if there is a recorder; returns the outputs and what was recorded.
pub(crate) fn run(
    masks: &Rc<RefCell<Masks>>,
    recorder: Option<Recorder>,
    forward: &mut dyn FnMut() -> Result<Tensor>,
) -> std::result::Result<(Tensor, Vec<Recorded>), TrainerError> {
    PASS.set(Some(Pass { masks: masks.clone(), masks_taken: 0, recorder, refusal: None }));
    let _ending = Ending;
    let output = forward();
    let Some(Pass { recorder, refusal, .. }) = PASS.take() else { return Err(TrainerError::Nested) };
    // A layer that refuses the pass says so by an error of candle's, too, unless the model has made something of it.
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    Ok((output?, recorder.map_or_else(Vec::new, |recorder| recorder.layers)))
}

/// Ends the pass under way with an error of this crate; `None` outside of steps.
pub(crate) fn refuse(error: impl FnOnce() -> TrainerError) -> Option<candle_core::Error> {
    PASS.with_borrow_mut(|pass| {
        let pass = pass.as_mut()?;
        let error = error();
        let message = candle_core::Error::msg(error.to_string());
        pass.refusal.get_or_insert(error);
        Some(message)
    })
}

/// Returns true if a forward pass of a step is under way.
pub(crate) fn is_in_step() -> bool {
    PASS.with_borrow(Option::is_some)
}

/// The next mask of the pass under way, of numbers that are zero with probability `p` and otherwise `1/(1 − p)`; `None` outside of
/// steps.
pub(crate) fn mask(shape: &[usize], p: f64, device: &Device) -> Option<Result<Tensor>> {
    let (masks, place) = PASS.with_borrow_mut(|pass| {
        let pass = pass.as_mut()?;
        pass.masks_taken += 1;
        Some((pass.masks.clone(), pass.masks_taken - 1))
    })?;
    match masks.borrow_mut().at(place, shape, p, device) {
        Ok(mask) => Some(mask),
        Err(before) => refuse(|| TrainerError::ChangingDropout { before, now: shape.to_vec() }).map(Err),
    }
}

/// The places of a layer's weight and bias, and the number of positions in a sample of the `rows` that go in; `None` where no pass
/// is recorded, or these are not variables of the trainer.
pub(crate) fn places(weight: &Tensor, bias: Option<&Tensor>, rows: usize, shape: &[usize]) -> Option<Found> {
    PASS.with_borrow_mut(|pass| {
        let pass = pass.as_mut()?;
        let recorder = pass.recorder.as_mut()?;
        let weight = *recorder.places.get(&weight.id())?;
        let bias = match bias {
            Some(bias) => Some(*recorder.places.get(&bias.id())?),
            None => None,
        };
        let samples = recorder.samples;
        if rows == 0
            || !rows.is_multiple_of(samples)
            || shape.first().is_none_or(|&first| !first.is_multiple_of(samples))
        {
            pass.refusal.get_or_insert(ModelError::LayerInput { shape: shape.to_vec(), samples }.into());
            return None;
        }
        Some(Found { weight, bias, positions: rows / samples, token: recorder.token.clone() })
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
            tap_by_zeros(&y)?
        };
        keep(Recorded { layer, input: input.detach(), tap });
        Ok(y)
    }

    /// Records the rows `y = x Wᵀ + b` of a weight and bias that are [detached](Tensor::detach): the backward pass computes nothing for
    /// these.
    pub(crate) fn tap_affine(&self, layer: RecordedLayer, x: &Tensor, affine: &candle_nn::Linear) -> Result<Tensor> {
        let x = x.contiguous()?;
        if !x.device().is_cpu() {
            return self.tap(layer, &x, candle_core::Module::forward(affine, &x)?);
        }
        let y = candle_core::Module::forward(affine, &x.detach())?.contiguous()?;
        let slot = Slot::default();
        let op = Affine { slot: slot.clone(), weight: affine.weight().clone(), y };
        let y = x.apply_op2(self.token.as_tensor(), op)?;
        keep(Recorded { layer, input: x.detach(), tap: Tap::Slot(slot) });
        Ok(y)
    }
}

/// Output of a layer with zeros added to it, whose gradient is the layer's sensitivities: for devices on which operations of
/// one's own would have to be written.
fn tap_by_zeros(y: &Tensor) -> Result<(Tensor, Tap)> {
    let zeros = Var::zeros(y.shape(), y.dtype(), y.device())?;
    Ok(((y + zeros.as_tensor())?, Tap::Zeros(zeros)))
}

fn keep(recorded: Recorded) {
    PASS.with_borrow_mut(|pass| {
        if let Some(recorder) = pass.as_mut().and_then(|pass| pass.recorder.as_mut()) {
            recorder.layers.push(recorded);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way of devices that are not the processor, on the processor.
    #[test]
    fn added_zeros_have_the_sensitivities() {
        let x = Var::new(&[1.0, -2.0, 0.5], &Device::Cpu).unwrap();
        let y = (x.as_tensor() * 3.0).unwrap();
        let (tapped, tap) = tap_by_zeros(&y.detach()).unwrap();
        let gradients = tapped.tanh().unwrap().sum_all().unwrap().backward().unwrap();
        let layer = RecordedLayer::Embedding { table: 0, rows: 1, columns: 3, positions: 1 };
        let recorded = Recorded { layer, input: x.as_detached_tensor(), tap };
        let found = recorded.take_sensitivities(&gradients).unwrap().to_vec1::<f64>().unwrap();
        for (found, y) in found.iter().zip([3.0_f64, -6.0, 1.5]) {
            assert!((found - (1.0 - y.tanh() * y.tanh())).abs() < 1e-15);
        }
        // A layer that nothing depends on has none.
        let recorded = Recorded { tap: Tap::Slot(Slot::default()), ..recorded };
        assert!(recorded.take_sensitivities(&gradients).is_none());
    }

    #[test]
    fn outside_of_steps_nothing_is_refused_and_nothing_recorded() {
        assert!(refuse(|| TrainerError::NoVariables).is_none());
        assert!(mask(&[2], 0.5, &Device::Cpu).is_none());
        let weight = Tensor::zeros((2, 2), candle_core::DType::F32, &Device::Cpu).unwrap();
        assert!(places(&weight, None, 4, &[4, 2]).is_none());
    }
}
