//! The training loop that all examples share: burn's own style, with one line for each optimizer.

#[path = "../../../examples/data.rs"]
pub mod data;
#[path = "../../../examples/race.rs"]
mod race;

use std::error::Error;
use std::marker::PhantomData;

use burn::module::{Module, ModuleMapper, Param};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Int, Tensor, TensorData};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use clap::ValueEnum;
use marquardt::LevenbergMarquardt;
use marquardt::nn::Loss;
use marquardt_burn::{Element, LeastSquaresTrainer};
use race::{Limits, Point, Training, glorot, run};

/// Options of every example.
pub type Options = race::Options<Choice>;

#[derive(Clone, Copy, ValueEnum, PartialEq)]
pub enum Choice {
    Lm,
    Adam,
}

/// Samples, and what a network is to make of them.
pub struct Data {
    pub x: Tensor<2>,
    pub y: Tensor<2>,
}

impl Data {
    /// Samples of numbers row after row.
    pub fn new<T: Element>((x, y): (Vec<f64>, Vec<f64>)) -> Data {
        let rows = y.len();
        let tensor = |numbers: Vec<f64>| {
            let shape = [rows, numbers.len() / rows];
            Tensor::from_data(TensorData::new(numbers, shape), (&device(), T::dtype()))
        };
        Data { x: tensor(x), y: tensor(y) }
    }

    pub fn samples(&self) -> usize {
        self.x.dims()[0]
    }

    /// Returns `count` samples from `start` on.
    pub fn part(&self, start: usize, count: usize) -> Data {
        Data { x: self.x.clone().narrow(0, start, count), y: self.y.clone().narrow(0, start, count) }
    }

    /// Samples in this order.
    fn select(&self, order: &[usize]) -> Data {
        let order: Vec<i64> = order.iter().map(|&row| row as i64).collect();
        let order = Tensor::<1, Int>::from_data(TensorData::from(order.as_slice()), &self.x.device());
        Data { x: self.x.clone().select(0, order.clone()), y: self.y.clone().select(0, order) }
    }
}

/// A training: its data, its goal, its limits.
pub struct Race<'a, M> {
    pub title: &'a str,
    pub data: &'a Data,
    pub batch: usize,
    pub epochs: usize,
    /// Loss over all data that ends the training.
    pub goal: f64,
    pub forward: fn(&M, Tensor<2>) -> Tensor<2>,
}

/// The processor, with autodiff.
pub fn device() -> Device {
    Device::flex().autodiff()
}

/// Glorot's uniform weights and zero biases from a seed, in numbers of a type: burn's own are of the device's.
struct Start<T> {
    random: ChaCha8Rng,
    numbers: PhantomData<T>,
}

impl<T: Element> ModuleMapper for Start<T> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let shape = param.dims();
        let data = TensorData::new(glorot(&shape, &mut self.random), shape);
        param.map(|_: Tensor<D>| Tensor::from_data(data, (&device(), T::dtype())).require_grad())
    }
}

pub fn initialize<T: Element, M: Module>(module: M, seed: u64) -> M {
    module.map(&mut Start::<T> { random: ChaCha8Rng::seed_from_u64(seed), numbers: PhantomData })
}

/// A race under way.
struct Loop<'a, T: Element, M, A> {
    race: &'a Race<'a, M>,
    optimizer: Choice,
    lm: LeastSquaresTrainer<T>,
    /// A step of Adam's.
    adam: A,
    criterion: fn(Tensor<2>, Tensor<2>) -> Tensor<1>,
    /// None after a step that has failed.
    net: Option<M>,
    shuffled: Data,
}

impl<T: Element, M: Module, A: FnMut(M, GradientsParams) -> M> Training for Loop<'_, T, M, A> {
    fn shuffle(&mut self, order: &[usize]) -> Result<(), Box<dyn Error>> {
        self.shuffled = self.race.data.select(order);
        Ok(())
    }

    fn step(&mut self, first: usize, count: usize) -> Result<(), Box<dyn Error>> {
        let (Data { x, y }, forward) = (self.shuffled.part(first, count), self.race.forward);
        let net = self.net.take().ok_or("a step has failed")?;
        self.net = Some(match self.optimizer {
            Choice::Lm => self.lm.step(net, y, |net| forward(net, x.clone()))?.0,
            Choice::Adam => {
                let gradients = (self.criterion)(forward(&net, x), y).backward();
                let gradients = GradientsParams::from_grads(gradients, &net);
                (self.adam)(net, gradients)
            }
        });
        Ok(())
    }

    fn loss(&self) -> Result<f64, Box<dyn Error>> {
        let (net, Data { x, y }) = (self.net.as_ref().ok_or("a step has failed")?, self.race.data);
        Ok((self.criterion)((self.race.forward)(&net.valid(), x.clone().inner()), y.clone().inner()).into_scalar())
    }
}

/// Trains, prints a line for each pass, draws the loss, and returns the module, steps, seconds and the last loss.
///
/// `loss` is marquardt's, and `criterion` the same of burn's tensors.
pub fn train<T: Element, M: Module, L: Loss<T> + 'static>(
    options: &Options,
    race: &Race<'_, M>,
    net: M,
    loss: L,
    criterion: fn(Tensor<2>, Tensor<2>) -> Tensor<1>,
) -> Result<(M, Point), Box<dyn Error>> {
    let &Race { title, data, batch, epochs, goal, .. } = race;
    let limits = Limits { title, samples: data.samples(), batch, epochs, goal };
    let lm = LeastSquaresTrainer::new(LevenbergMarquardt::new(), loss);
    let mut adam = AdamConfig::new().init();
    let adam = |net, gradients| adam.step(options.learning_rate, net, gradients);
    let (optimizer, net, shuffled) = (options.optimizer, Some(net), data.part(0, limits.samples));
    let mut training = Loop::<T, M, _> { race, optimizer, lm, adam, criterion, net, shuffled };
    let last = run(options, &limits, &mut training)?;
    Ok((training.net.ok_or("a step has failed")?, last))
}

/// Mean squared error of the outputs.
#[allow(dead_code, reason = "not all examples are regressions")]
pub fn mean_squared_error(outputs: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
    (outputs - targets).square().mean()
}

/// The mean cross-entropy of logits.
#[allow(dead_code, reason = "not all examples classify")]
pub fn cross_entropy(logits: Tensor<2>, labels: Tensor<2>) -> Tensor<1> {
    -burn::tensor::activation::log_softmax(logits, 1).gather(1, labels.int()).mean()
}
