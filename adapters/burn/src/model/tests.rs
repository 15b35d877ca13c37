//! Derivatives of recorded models, against marquardt's own network and against burn's.

use burn::module::{ModuleMapper, Param};
use burn::nn::PaddingConfig2d;
use burn::tensor::activation::tanh;
use burn::tensor::{Int, TensorData};
use marquardt::Variables;
use marquardt::nn::{External, Loss, MeanSquaredError, Sequential, SparseCategoricalCrossentropy};
use marquardt::problem::Objective;
use ndarray::{Array2, ArrayView2};

use super::*;
use crate::{Conv2d, Conv2dConfig, Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig};

const SAMPLES: usize = 12;

/// Numbers without a pattern.
fn wave<T: Element>(count: usize, phase: f64) -> Vec<T> {
    (0..count).map(|k| <T as marquardt::number::Number>::from_f64((k as f64 * 0.7 + phase).sin())).collect()
}

fn device() -> Device {
    Device::flex().autodiff()
}

fn tensor<T: Element, const D: usize>(shape: [usize; D], phase: f64) -> Tensor<D> {
    let data = TensorData::new(wave::<T>(shape.iter().product(), phase), shape);
    Tensor::from_data(data, (&device(), dtype::<T>()))
}

/// Puts numbers of a type into a module, the same in each run.
struct Start<T>(std::marker::PhantomData<T>);

impl<T: Element> ModuleMapper for Start<T> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|old| tensor::<T, D>(old.dims(), D as f64).require_grad())
    }
}

fn start<T: Element, M: Module>(module: M) -> M {
    module.map(&mut Start::<T>(std::marker::PhantomData))
}

/// The Jacobian and products with it, at one point.
struct Derivatives<T> {
    residuals: Vec<T>,
    jacobian: Vec<T>,
    pushed: Vec<T>,
    pulled: Vec<T>,
    gram: Vec<T>,
}

fn derivatives<T: Element>(objective: &mut dyn Objective<T>, x: &[T]) -> Derivatives<T> {
    let problem = objective.least_squares().unwrap();
    let (m, n) = (problem.residual_count(), x.len());
    let [mut residuals, mut jacobian] = [vec![T::ZERO; m], vec![T::ZERO; m * n]];
    problem.linearize(x, 0, &mut residuals, &mut jacobian).unwrap();
    let products = problem.capabilities().products().unwrap();
    let all = 0..n;
    let mut r = vec![T::ZERO; m];
    products.linearize_products(x, std::slice::from_ref(&all), &mut r).unwrap();
    let [mut pushed, mut pulled, mut gram] = [vec![T::ZERO; m], vec![T::ZERO; n], vec![T::ZERO; m * m]];
    products.multiply(&wave::<T>(n, 0.3), &mut pushed).unwrap();
    products.multiply_transposed(&wave::<T>(m, 0.4), &mut pulled).unwrap();
    products.row_gram(&mut gram).unwrap();
    // One triangle may be left as it was.
    for i in 0..m {
        for j in 0..i {
            let either = if gram[i * m + j] == T::ZERO { gram[j * m + i] } else { gram[i * m + j] };
            (gram[i * m + j], gram[j * m + i]) = (either, either);
        }
    }
    Derivatives { residuals, jacobian, pushed, pulled, gram }
}

#[track_caller]
fn assert_close<T: Element>(found: &[T], expected: &[T], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let number = |number: T| marquardt::Real::to_f64(number);
    let size = expected.iter().fold(0.0, |size: f64, &number_| size.max(number(number_).abs()));
    let difference =
        found.iter().zip(expected).fold(0.0, |worst: f64, (&a, &b)| worst.max((number(a) - number(b)).abs()));
    assert!(size > 0.0 && difference <= tolerance * size, "differ by {difference:e}, of {size:e}");
}

fn assert_same<T: Element>(found: &Derivatives<T>, expected: &Derivatives<T>, tolerance: f64) {
    assert_close(&found.residuals, &expected.residuals, tolerance);
    assert_close(&found.jacobian, &expected.jacobian, tolerance);
    assert_close(&found.pushed, &expected.pushed, tolerance);
    assert_close(&found.pulled, &expected.pulled, tolerance);
    assert_close(&found.gram, &expected.gram, tolerance);
}

/// Derivatives of a closure's outputs with a loss; those of burn's own graph where nothing is to record, and products by rows of it.
fn of_module<T: Element, M: Module, const D: usize>(
    module: &M,
    mut forward: impl FnMut(&M) -> Tensor<D>,
    loss: impl Loss<T> + 'static,
    targets: ArrayView2<'_, T>,
) -> Derivatives<T> {
    let places = Rc::new(Places::of::<T>(module).unwrap());
    let mut x = vec![T::ZERO; places.count];
    assert!(places.read(module, &mut x).unwrap());
    let mut model = BurnModel::new((module, &places), &mut forward, targets.nrows(), (true, false), None, &x).unwrap();
    let width = model.width();
    let mut loss = External::new(loss);
    let mut batch = loss.bind(&mut model, (&x, width), targets, None).unwrap();
    assert!(batch.is_recorded());
    derivatives(&mut batch, &x)
}

/// The Jacobian of the outputs, by a backward pass of burn's for each.
fn jacobian_by_burn<T: Element, M: Module, const D: usize>(
    module: &M,
    mut forward: impl FnMut(&M) -> Tensor<D>,
    samples: usize,
) -> Vec<T> {
    let places = Rc::new(Places::of::<T>(module).unwrap());
    let mut x = vec![T::ZERO; places.count];
    assert!(places.read(module, &mut x).unwrap());
    let mut model = BurnModel::new((module, &places), &mut forward, samples, (false, false), None, &x).unwrap();
    let m = samples * model.width();
    let mut jacobian = vec![T::ZERO; m * x.len()];
    for (k, row) in jacobian.chunks_exact_mut(x.len()).enumerate() {
        let mut unit = vec![T::ZERO; m];
        unit[k] = T::ONE;
        model.pull(&unit, row).unwrap();
    }
    jacobian
}

#[derive(burn::module::Module, Debug)]
struct Dense {
    hidden: Linear,
    output: Linear,
}

impl Dense {
    fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        self.output.forward(tanh(self.hidden.forward(x)))
    }
}

fn dense<T: Element>() -> Dense {
    let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(&device());
    start::<T, _>(Dense { hidden: layer(5, 7), output: layer(7, 3) })
}

fn agrees_with_own_network<T: Element>(loss: impl Loss<T> + Clone + 'static, targets: Array2<T>, tolerance: f64) {
    let net = dense::<T>();
    let x = tensor::<T, 2>([SAMPLES, 5], 0.2);
    let found = of_module(&net, |net| net.forward(x.clone()), loss.clone(), targets.view());
    let mut variables = Variables::new();
    let mut network = Sequential::new(5).dense(7).tanh().dense(3).compile(&mut variables, 0, loss).unwrap();
    let places = Places::of::<T>(&net).unwrap();
    assert!(places.read(&net, variables.values_mut()).unwrap());
    let inputs = Array2::from_shape_vec((SAMPLES, 5), wave::<T>(SAMPLES * 5, 0.2)).unwrap();
    let batch = network.batch(&[inputs.view()], &[targets.view()]).unwrap();
    let expected = derivatives(batch, variables.values());
    assert_same(&found, &expected, tolerance);
}

#[test]
fn recorded_layers_have_the_derivatives_of_the_same_network() {
    fn values<T: Element>() -> Array2<T> {
        Array2::from_shape_vec((SAMPLES, 3), wave::<T>(SAMPLES * 3, 1.1)).unwrap()
    }
    fn labels<T: Element>() -> Array2<T> {
        Array2::from_shape_fn((SAMPLES, 1), |(i, _)| <T as marquardt::number::Number>::from_f64((i * i % 3) as f64))
    }
    agrees_with_own_network::<f64>(MeanSquaredError, values(), 1e-14);
    agrees_with_own_network::<f32>(MeanSquaredError, values(), 1e-6);
    agrees_with_own_network::<f64>(SparseCategoricalCrossentropy, labels(), 1e-14);
    agrees_with_own_network::<f32>(SparseCategoricalCrossentropy, labels(), 1e-6);
}

/// Residuals of the mean of squares are outputs less targets, times a constant: so are their rows.
fn agrees_with_burn<T: Element, M: Module, const D: usize>(
    module: &M,
    forward: impl Fn(&M) -> Tensor<D>,
    samples: usize,
    tolerance: f64,
) {
    let expected = jacobian_by_burn::<T, M, D>(module, &forward, samples);
    let width = expected.len() / Places::of::<T>(module).unwrap().count / samples;
    let targets = Array2::from_shape_vec((samples, width), wave::<T>(samples * width, 1.1)).unwrap();
    let found = of_module(module, &forward, MeanSquaredError, targets.view());
    let outputs = forward(module).into_data();
    let mut constant = T::ONE;
    for ((&r, &y), &target) in found.residuals.iter().zip(outputs.as_slice::<T>().unwrap()).zip(&targets) {
        constant = r / (y - target);
    }
    let rows: Vec<T> = found.jacobian.iter().map(|&number| number / constant).collect();
    assert_close(&rows, &expected, tolerance);
}

#[derive(burn::module::Module, Debug)]
struct Images {
    first: Conv2d,
    second: Conv2d,
    output: Linear,
}

impl Images {
    fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        self.output.forward(tanh(self.second.forward(tanh(self.first.forward(x)))).flatten(1, 3))
    }
}

#[test]
fn convolutions_have_the_derivatives_of_burns() {
    for (padding, stride, dilation, groups) in [
        (PaddingConfig2d::Valid, [1, 1], [1, 1], 1),
        (PaddingConfig2d::Same, [2, 1], [1, 1], 2),
        (PaddingConfig2d::Explicit(1, 0, 2, 1), [1, 2], [2, 1], 1),
    ] {
        let first = Conv2dConfig::new([2, 4], [3, 2]).with_stride(stride).with_dilation(dilation).with_groups(groups);
        let first = first.with_padding(padding).init(&device());
        let x = tensor::<f64, 4>([5, 2, 6, 5], 0.2);
        let [_, channels, height, width] = first.forward(x.clone().cast(burn::tensor::DType::F32)).dims();
        let second = Conv2dConfig::new([channels, 2], [2, 2]).with_bias(false).init(&device());
        let output = LinearConfig::new(2 * (height - 1) * (width - 1), 2).init(&device());
        let net = start::<f64, _>(Images { first, second, output });
        agrees_with_burn::<f64, _, 2>(&net, |net| net.forward(x.clone()), 5, 1e-14);
        let (net, x) = (start::<f32, _>(net), x.cast(burn::tensor::DType::F32));
        agrees_with_burn::<f32, _, 2>(&net, |net| net.forward(x.clone()), 5, 1e-6);
    }
}

#[derive(burn::module::Module, Debug)]
struct Sequence {
    table: Embedding,
    norm: LayerNorm,
    mix: Linear,
    plain: LayerNorm,
    output: Linear,
}

impl Sequence {
    fn forward(&self, x: Tensor<2, Int>) -> Tensor<2> {
        let hidden = tanh(self.mix.forward(self.norm.forward(self.table.forward(x))));
        self.output.forward(self.plain.forward(hidden).mean_dim(1).squeeze_dim(1))
    }
}

#[test]
fn sequences_have_the_derivatives_of_burns() {
    let device = device();
    let net = start::<f64, _>(Sequence {
        table: EmbeddingConfig::new(7, 5).init(&device),
        norm: LayerNormConfig::new(5).init(&device),
        mix: LinearConfig::new(5, 6).with_bias(false).init(&device),
        plain: LayerNormConfig::new(6).with_bias(false).init(&device),
        output: LinearConfig::new(6, 2).init(&device),
    });
    let numbers: Vec<i64> = (0..SAMPLES as i64 * 4).map(|i| (i * i / 3 + i) % 7).collect();
    let x = Tensor::<2, Int>::from_data(TensorData::new(numbers, [SAMPLES, 4]), &device);
    agrees_with_burn::<f64, _, 2>(&net, |net| net.forward(x.clone()), SAMPLES, 1e-14);
    // The first of the layers is not applied to numbers of a graph.
    let inputs = tensor::<f64, 3>([SAMPLES, 4, 5], 0.6);
    let net = dense::<f64>();
    agrees_with_burn::<f64, _, 3>(&net, |net| net.forward(inputs.clone()), SAMPLES, 1e-14);
}

/// One layer in two places has one set of parameters.
#[test]
fn parameters_that_two_parts_share_have_one_gradient() {
    #[derive(burn::module::Module, Debug)]
    struct Twice {
        first: Linear,
        second: Linear,
    }
    let layer = LinearConfig::new(4, 4).init(&device());
    let net = start::<f64, _>(Twice { first: layer.clone(), second: layer });
    let places = Places::of::<f64>(&net).unwrap();
    assert_eq!((places.list.len(), places.count), (2, 20));
    let x = tensor::<f64, 2>([SAMPLES, 4], 0.2);
    let forward = |net: &Twice| net.second.forward(tanh(net.first.forward(x.clone())));
    agrees_with_burn::<f64, _, 2>(&net, forward, SAMPLES, 1e-14);
    let x = wave::<f64>(20, 0.7);
    let moved = places.put(&net, &x, true);
    assert_eq!(moved.first.weight.to_data(), moved.second.weight.to_data());
    let mut back = vec![0.0; 20];
    assert!(places.read(&moved, &mut back).unwrap());
    assert_eq!(back, x);
}
