//! Operations that keep the gradient which comes back to them.

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Storage, Tensor};

use crate::recorder::Slot;

/// Passes numbers on, and keeps their gradient.
pub(crate) struct Identity {
    pub(crate) slot: Slot,
}

/// `x Wᵀ + b`, which has been computed already; keeps its gradient.
pub(crate) struct Affine {
    pub(crate) slot: Slot,
    pub(crate) weight: Tensor,
    pub(crate) y: Tensor,
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
pub(crate) fn copy(storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
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
