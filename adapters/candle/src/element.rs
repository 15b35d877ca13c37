//! Numbers that are both candle's and marquardt's.

use candle_core::{DType, Device, Result, Storage, Tensor, WithDType};
use marquardt::Real;

/// The type of a model's numbers: `f32` or `f64`.
pub trait Element: Real + WithDType {}

impl Element for f32 {}
impl Element for f64 {}

/// Copies the numbers of a tensor, in the order of its shape.
pub(crate) fn read<T: Element>(tensor: &Tensor, numbers: &mut [T]) -> Result<()> {
    let tensor = if tensor.dtype() == T::DTYPE { tensor.clone() } else { tensor.to_dtype(T::DTYPE)? };
    let tensor = tensor.to_device(&Device::Cpu)?.contiguous()?;
    let (storage, layout) = tensor.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { candle_core::bail!("a tensor has left the processor") };
    let start = layout.start_offset();
    let of_tensor = storage.as_slice::<T>()?.get(start..start + layout.shape().elem_count());
    match of_tensor {
        Some(of_tensor) if of_tensor.len() == numbers.len() => numbers.copy_from_slice(of_tensor),
        _ => candle_core::bail!("a tensor of {:?} where there should be {} numbers", layout.shape(), numbers.len()),
    }
    Ok(())
}

/// The type of the numbers as candle calls it.
pub(crate) fn dtype<T: Element>() -> DType {
    T::DTYPE
}
