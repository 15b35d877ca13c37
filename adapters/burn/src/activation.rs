//! Activations in vector instructions: burn's take those of the C library number by number.

use burn::tensor::{DType, Tensor, TensorData, activation};
use marquardt::nn::Function;

use crate::Element;
use crate::element::dtype;

/// burn's [`tanh`](activation::tanh), to 2 units in the last place, in vector instructions of the processor.
///
/// Numbers that are not finite are left to burn, as are those of half precision. Tensors on other devices are copied to the processor
/// and back: there, burn's own is the faster one.
///
/// The gradient is exact, but is a constant to burn: where it is differentiated once more, take burn's own.
///
/// ```
/// use burn::tensor::{Device, Tensor, activation};
///
/// let x = Tensor::<1>::from_floats([-1.0, 0.0, 3.0], &Device::flex().autodiff()).require_grad();
/// let slopes = |y: Tensor<1>| x.grad(&y.backward()).unwrap();
/// let (own, burns) = (marquardt_burn::tanh(x.clone()), activation::tanh(x.clone()));
/// let difference: f32 = (own.clone() - burns.clone()).abs().max().into_scalar();
/// assert!(difference < 2e-7);
/// let difference: f32 = (slopes(own) - slopes(burns)).abs().max().into_scalar();
/// assert!(difference < 2e-7);
/// ```
pub fn tanh<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    Activation::Tanh.of(&x).unwrap_or_else(|| activation::tanh(x))
}

/// burn's [`sigmoid`](activation::sigmoid), likewise.
pub fn sigmoid<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    Activation::Sigmoid.of(&x).unwrap_or_else(|| activation::sigmoid(x))
}

/// A function of every number whose derivative follows from its value.
#[derive(Clone, Copy)]
enum Activation {
    Tanh,
    Sigmoid,
}

impl Activation {
    fn apply<T: Element>(self, numbers: &mut [T]) {
        match self {
            Activation::Tanh => Function::Tanh.apply(numbers),
            Activation::Sigmoid => Function::Sigmoid.apply(numbers),
        }
    }

    /// The derivative where the value is `y`.
    fn slope<T: Element>(self, y: T) -> T {
        match self {
            Activation::Tanh => T::ONE - y * y,
            Activation::Sigmoid => y * (T::ONE - y),
        }
    }

    /// The values; `None` where they are left to burn.
    fn of<const D: usize>(self, x: &Tensor<D>) -> Option<Tensor<D>> {
        match x.dtype() {
            DType::F32 => self.of_numbers::<f32, D>(x),
            DType::F64 => self.of_numbers::<f64, D>(x),
            _ => None,
        }
    }

    fn of_numbers<T: Element, const D: usize>(self, x: &Tensor<D>) -> Option<Tensor<D>> {
        let still = x.clone().inner();
        let mut numbers = still.clone().try_into_data().ok()?.try_into_vec::<T>().ok()?;
        if !numbers.iter().all(|number| marquardt::Real::is_finite(*number)) {
            return None;
        }
        self.apply(&mut numbers);
        let constant = |numbers: Vec<T>| {
            let data = TensorData::new(numbers, x.shape());
            Tensor::<D>::from_data(data, (&x.device(), dtype::<T>()))
        };
        if !x.is_tracked() {
            return Some(constant(numbers));
        }
        let slopes = numbers.iter().map(|&y| self.slope(y)).collect();
        // A line through the values with these slopes, which saves the backward pass from computing the values again.
        Some((x.clone() - Tensor::from_inner(still)) * constant(slopes) + constant(numbers))
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    type Function = fn(Tensor<2>) -> Tensor<2>;

    /// This crate's functions and burn's.
    const PAIRS: [(Function, Function); 2] = [(tanh, activation::tanh), (sigmoid, activation::sigmoid)];

    fn numbers(tensor: Tensor<2>) -> Vec<f64> {
        tensor.into_data().iter::<f64>().collect()
    }

    fn is_near(found: &[f64], expected: &[f64], tolerance: f64) -> bool {
        let agrees = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance || a.is_nan() && b.is_nan();
        found.len() == expected.len() && found.iter().zip(expected).all(agrees)
    }

    #[test]
    fn values_and_gradients_are_those_of_burn() {
        let device = Device::flex().autodiff();
        let wide: Vec<f64> = (-60..60).map(|i| 0.37 * f64::from(i)).chain([-1e30, -0.0, 1e-30, 1e-300]).collect();
        for (dtype, tolerance) in [(DType::F32, 3e-7), (DType::F64, 1e-15)] {
            for (own, burns) in PAIRS {
                let x = Tensor::<2>::from_data(TensorData::new(wide.clone(), [4, 31]), (&device, dtype));
                let weights = x.clone().cos();
                // Not a leaf, and stored by columns.
                let outcomes = [own, burns].map(|function| {
                    let leaf = x.clone().require_grad();
                    let y = function((leaf.clone() * 1.5).transpose());
                    assert!(y.is_tracked() && y.dtype() == dtype && y.dims() == [31, 4]);
                    let gradients = (y.clone() * weights.clone().transpose()).sum().backward();
                    let untracked = function((x.clone() * 1.5).transpose());
                    assert!(!untracked.is_tracked());
                    [numbers(y), numbers(untracked), numbers(leaf.grad(&gradients).unwrap())]
                });
                for (found, expected) in outcomes[0].iter().zip(&outcomes[1]) {
                    assert!(is_near(found, expected, tolerance), "{dtype:?} {found:?} {expected:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_left_to_burn() {
        for device in [Device::flex(), Device::flex().autodiff()] {
            let x = Tensor::<2>::from_floats([[f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1.0]], &device);
            for (own, burns) in PAIRS {
                assert!(is_near(&numbers(own(x.clone())), &numbers(burns(x.clone())), 1e-7));
            }
        }
    }

    #[test]
    fn a_leaf_has_a_gradient_and_no_numbers_are_no_error() {
        let device = Device::flex().autodiff();
        let leaf = Tensor::<2>::from_floats([[0.5, -2.0]], &device).require_grad();
        let gradient = leaf.grad(&tanh(leaf.clone()).backward()).unwrap();
        let expected = [0.5_f64, -2.0].map(|x| x.cosh().powi(-2));
        assert!(is_near(&numbers(gradient), &expected, 1e-7));
        assert_eq!(tanh(Tensor::<2>::zeros([0, 3], &device)).dims(), [0, 3]);
    }
}
