//! Steps on candle's models against those on the same networks of marquardt, and what goes wrong.

mod files;
mod layers;
mod refusals;
mod steps;

use candle_core::{DType, Device, Module, Result, Tensor, Var};
use candle_nn::{VarBuilder, VarMap};
use marquardt::Variables;
use marquardt::nn::{Loss, Network, Sequential};
use marquardt_candle::Element;
use ndarray::Array2;

const SIZES: [usize; 3] = [3, 9, 4];
const SAMPLES: usize = 24;

/// Numbers without a pattern.
fn wave(count: usize, phase: f64) -> Vec<f64> {
    (0..count).map(|k| (k as f64 * 0.7 + phase).sin()).collect()
}

/// A tensor of such numbers.
fn tensor<T: Element>(shape: (usize, usize), phase: f64) -> Result<Tensor> {
    Tensor::from_vec(wave(shape.0 * shape.1, phase), shape, &Device::Cpu)?.to_dtype(T::DTYPE)
}

/// Weights that are the same in every run: candle's own starts have no seed.
fn start(varmap: &VarMap) {
    for (name, var) in varmap.data().lock().unwrap().iter() {
        let values = wave(var.elem_count(), name.len() as f64);
        var.set(&Tensor::from_vec(values, var.shape(), &Device::Cpu).unwrap().to_dtype(var.dtype()).unwrap()).unwrap();
    }
}

fn labels() -> Result<Tensor> {
    let labels: Vec<u32> = (0..SAMPLES as u32).map(|i| (i * i / 3) % SIZES[2] as u32).collect();
    Tensor::from_vec(labels, SAMPLES, &Device::Cpu)
}

fn array<T: Element>(tensor: &Tensor) -> Result<Array2<T>> {
    let columns = tensor.elem_count() / SAMPLES;
    let numbers = tensor.to_dtype(T::DTYPE)?.flatten_all()?.to_vec1::<T>()?;
    Array2::from_shape_vec((SAMPLES, columns), numbers).map_err(candle_core::Error::wrap)
}

/// Two layers, of this crate or of candle.
struct Net<L> {
    hidden: L,
    output: L,
}

impl<L: Module> Net<L> {
    fn new(vb: VarBuilder, layer: fn(usize, usize, VarBuilder) -> Result<L>) -> Result<Self> {
        Ok(Net { hidden: layer(SIZES[0], SIZES[1], vb.pp("0"))?, output: layer(SIZES[1], SIZES[2], vb.pp("2"))? })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.output.forward(&self.hidden.forward(x)?.tanh()?)
    }
}

/// Builds the same network of marquardt's, with the weights of the map that have the same names.
fn own_network<T: Element>(
    layers: Sequential<T>,
    varmap: &VarMap,
    loss: impl Loss<T> + 'static,
) -> (Network<T>, Variables<T>) {
    let mut variables = Variables::new();
    let network = layers.compile(&mut variables, 0, loss).unwrap();
    let data = varmap.data().lock().unwrap();
    let named: Vec<_> = variables.iter().map(|variable| (variable, variables.name(variable).to_owned())).collect();
    let mut numbers: Vec<T> = Vec::new();
    for (variable, name) in named {
        assert_eq!(data[&name].dims(), variables.shape(variable), "{name}");
        numbers.extend(data[&name].flatten_all().unwrap().to_vec1::<T>().unwrap());
    }
    variables.values_mut().copy_from_slice(&numbers);
    (network, variables)
}

/// The layers of [`Net`] as a network of marquardt's.
fn own_layers<T: Element>() -> Sequential<T> {
    Sequential::new(SIZES[0]).dense(SIZES[1]).tanh().dense(SIZES[2])
}

/// All numbers of a map, by name.
fn numbers_of(varmap: &VarMap) -> Vec<(String, Vec<f64>)> {
    let data = varmap.data().lock().unwrap();
    let numbers = |var: &Var| var.to_dtype(DType::F64).unwrap().flatten_all().unwrap().to_vec1().unwrap();
    let mut named: Vec<_> = data.iter().map(|(name, var)| (name.clone(), numbers(var))).collect();
    named.sort_by(|(a, _), (b, _)| a.cmp(b));
    named
}

fn largest_difference<T: Element>(found: &[T], expected: &[T]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).fold(0.0, |largest, (&a, &b)| largest.max((num(a) - num(b)).abs()))
}

fn num<T: Element>(number: T) -> f64 {
    marquardt::Real::to_f64(number)
}

/// A loss of a type that is known late.
#[derive(Debug)]
struct BoxedLoss<T>(Box<dyn Loss<T>>);

impl<T: Element> Loss<T> for BoxedLoss<T> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn targets(&self) -> marquardt::nn::Targets {
        self.0.targets()
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        self.0.values(outputs, width, targets, losses);
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        self.0.gradients(outputs, width, targets, gradients);
    }

    fn least_squares(&self) -> Option<&dyn marquardt::nn::GaussNewton<T>> {
        self.0.least_squares()
    }
}
