//! Activations in vector instructions: candle's take the processor's registers number by number.

use candle_core::{CpuStorage, CustomOp1, CustomOp2, DType, Layout, Result, Shape, Tensor};
use marquardt::Real;
use marquardt::nn::Function;

use crate::taps::copy;

/// candle's [`Tensor::tanh`], to 2 units in the last place, in vector instructions on the processor.
///
/// ```
/// use candle_core::{Device, Tensor};
///
/// let x = Tensor::new(&[-1.0, 0.0, 3.0], &Device::Cpu)?;
/// let difference = (marquardt_candle::tanh(&x)? - x.tanh()?)?.abs()?.max_all()?.to_scalar::<f64>()?;
/// assert!(difference < 1e-15);
/// # Ok::<(), candle_core::Error>(())
/// ```
///
/// # Errors
///
/// As candle's.
pub fn tanh(x: &Tensor) -> Result<Tensor> {
    apply(x, Activation::Tanh).unwrap_or_else(|| x.tanh())
}

/// candle's [`sigmoid`](candle_nn::ops::sigmoid), likewise.
///
/// # Errors
///
/// As candle's.
pub fn sigmoid(x: &Tensor) -> Result<Tensor> {
    apply(x, Activation::Sigmoid).unwrap_or_else(|| candle_nn::ops::sigmoid(x))
}

/// `None` for tensors on other devices or of other numbers.
fn apply(x: &Tensor, activation: Activation) -> Option<Result<Tensor>> {
    let is_here = x.device().is_cpu() && matches!(x.dtype(), DType::F32 | DType::F64);
    is_here.then(|| x.contiguous()?.apply_op1(activation))
}

/// A function of every number whose derivative follows from its value.
#[derive(Clone, Copy)]
enum Activation {
    Tanh,
    Sigmoid,
}

impl Activation {
    fn apply<T: Real>(self, numbers: &mut [T]) {
        match self {
            Activation::Tanh => Function::Tanh.apply(numbers),
            Activation::Sigmoid => Function::Sigmoid.apply(numbers),
        }
    }

    /// Gradients by the arguments, in place of those by the values `y`.
    fn pull<T: Real>(self, gradients: &mut [T], y: &[T]) {
        let numbers = gradients.iter_mut().zip(y);
        match self {
            Activation::Tanh => numbers.for_each(|(gradient, &y)| *gradient *= T::ONE - y * y),
            Activation::Sigmoid => numbers.for_each(|(gradient, &y)| *gradient *= y * (T::ONE - y)),
        }
    }
}

impl CustomOp1 for Activation {
    fn name(&self) -> &'static str {
        match self {
            Activation::Tanh => "tanh",
            Activation::Sigmoid => "sigmoid",
        }
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (mut numbers, shape) = copy(x, layout)?;
        match &mut numbers {
            CpuStorage::F32(numbers) => self.apply(numbers),
            CpuStorage::F64(numbers) => self.apply(numbers),
            _ => candle_core::bail!("{} is of f32 or f64", self.name()),
        }
        Ok((numbers, shape))
    }

    fn bwd(&self, _: &Tensor, y: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        gradient.contiguous()?.apply_op2_no_bwd(y, &Pull(*self)).map(Some)
    }
}

/// The backward pass of an activation: of gradients and values.
struct Pull(Activation);

impl CustomOp2 for Pull {
    fn name(&self) -> &'static str {
        "gradient of an activation"
    }

    fn cpu_fwd(
        &self,
        gradients: &CpuStorage,
        layout: &Layout,
        y: &CpuStorage,
        of_y: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (mut numbers, shape) = copy(gradients, layout)?;
        let Some((start, end)) = of_y.contiguous_offsets() else { candle_core::bail!("values are not contiguous") };
        match (&mut numbers, y) {
            (CpuStorage::F32(numbers), CpuStorage::F32(y)) => self.0.pull(numbers, &y[start..end]),
            (CpuStorage::F64(numbers), CpuStorage::F64(y)) => self.0.pull(numbers, &y[start..end]),
            _ => candle_core::bail!("gradients and values are of one type, f32 or f64"),
        }
        Ok((numbers, shape))
    }
}
