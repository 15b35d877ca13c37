//! Networks and numbers that tests share.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::activation::tanh;
use burn::tensor::{Device, Int, Tensor, TensorData};
use marquardt::Variables;
use marquardt::nn::{GaussNewton, Loss, Network, Sequential, Targets};
use marquardt_burn::{Element, Linear, LinearConfig};
use ndarray::Array2;

pub const SIZES: [usize; 3] = [3, 9, 4];
pub const SAMPLES: usize = 24;

pub fn device() -> Device {
    Device::flex().autodiff()
}

pub fn number<T: Element>(number: T) -> f64 {
    marquardt::Real::to_f64(number)
}

/// Numbers without a pattern.
pub fn tensor<T: Element, const D: usize>(shape: [usize; D], phase: f64) -> Tensor<D> {
    let count = shape.iter().product::<usize>();
    let numbers: Vec<f64> = (0..count).map(|k| (k as f64 * 0.7 + phase).sin()).collect();
    Tensor::from_data(TensorData::new(numbers, shape), (&device(), <T as burn::tensor::Element>::dtype()))
}

pub fn labels() -> Tensor<1, Int> {
    let labels: Vec<i64> = (0..SAMPLES as i64).map(|i| (i * i / 3) % SIZES[2] as i64).collect();
    Tensor::from_data(TensorData::new(labels, [SAMPLES]), &device())
}

pub fn numbers<T: Element, const D: usize>(tensor: &Tensor<D>) -> Vec<T> {
    tensor.to_data().try_into_vec_as().unwrap()
}

pub fn array<T: Element, const D: usize>(tensor: &Tensor<D>) -> Array2<T> {
    let rows = tensor.dims()[0];
    Array2::from_shape_vec((rows, tensor.shape().num_elements() / rows), numbers(tensor)).unwrap()
}

/// Puts numbers of a type into a module, the same in each run.
struct Start<T>(std::marker::PhantomData<T>);

impl<T: Element> ModuleMapper for Start<T> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|old| tensor::<T, D>(old.dims(), D as f64).require_grad())
    }
}

pub fn start<T: Element, M: Module>(module: M) -> M {
    module.map(&mut Start::<T>(std::marker::PhantomData))
}

/// Two layers of this crate.
#[derive(Module, Debug)]
pub struct Net {
    pub hidden: Linear,
    pub output: Linear,
}

impl Net {
    pub fn new() -> Self {
        let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(&device());
        Net { hidden: layer(SIZES[0], SIZES[1]), output: layer(SIZES[1], SIZES[2]) }
    }

    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.output.forward(tanh(self.hidden.forward(x)))
    }
}

/// Two layers of burn's.
#[derive(Module, Debug)]
pub struct PlainNet {
    pub hidden: burn::nn::Linear,
    pub output: burn::nn::Linear,
}

impl PlainNet {
    pub fn new() -> Self {
        let layer = |inputs, outputs| burn::nn::LinearConfig::new(inputs, outputs).init(&device());
        PlainNet { hidden: layer(SIZES[0], SIZES[1]), output: layer(SIZES[1], SIZES[2]) }
    }

    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.output.forward(tanh(self.hidden.forward(x)))
    }
}

/// Builds the same network of marquardt's, with the numbers of the module.
pub fn own_network<T: Element>(net: &Net, loss: impl Loss<T> + 'static) -> (Network<T>, Variables<T>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(SIZES[0]).dense(SIZES[1]).tanh().dense(SIZES[2]);
    let network = layers.compile(&mut variables, 0, loss).unwrap();
    let of_layer = |layer: &Linear| {
        [numbers::<T, 2>(&layer.weight.val().transpose()), numbers::<T, 1>(&layer.bias.as_ref().unwrap().val())]
            .concat()
    };
    variables.values_mut().copy_from_slice(&[of_layer(&net.hidden), of_layer(&net.output)].concat());
    (network, variables)
}

/// A loss of a type that is known late.
#[derive(Debug)]
pub struct BoxedLoss<T>(pub Box<dyn Loss<T>>);

impl<T: Element> Loss<T> for BoxedLoss<T> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn targets(&self) -> Targets {
        self.0.targets()
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        self.0.values(outputs, width, targets, losses);
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        self.0.gradients(outputs, width, targets, gradients);
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        self.0.least_squares()
    }
}
