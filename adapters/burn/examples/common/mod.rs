//! The training loop that all examples share: burn's own style, with one line for each optimizer.

#[path = "../../../../examples/common/curves.rs"]
mod curves;
#[path = "../../../../examples/common/random.rs"]
pub mod random;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use burn::module::{Module, ModuleMapper, Param};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Int, Tensor, TensorData};
use clap::{Parser, ValueEnum};
use curves::{Curve, Point, draw};
use marquardt::LevenbergMarquardt;
use marquardt::nn::Loss;
use marquardt_burn::{Element, LeastSquaresTrainer};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Options of every example.
#[derive(Parser)]
pub struct Options {
    /// Which optimizer trains
    #[arg(long, default_value = "lm")]
    pub optimizer: Choice,
    /// Seed of the first weights, of the order of the samples, and of the data where these are drawn
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Passes over the data, unless the goal is reached before
    #[arg(long)]
    pub epochs: Option<usize>,
    /// Of Adam
    #[arg(long, default_value_t = 3e-3)]
    pub learning_rate: f64,
    /// Where the loss is drawn, over steps; over seconds in a file beside it
    #[arg(long)]
    pub plot: Option<PathBuf>,
}

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
    /// Samples in this order.
    fn select(&self, order: &[usize]) -> Data {
        let order: Vec<i64> = order.iter().map(|&row| row as i64).collect();
        let order = Tensor::<1, Int>::from_data(TensorData::from(order.as_slice()), &self.x.device());
        Data { x: self.x.clone().select(0, order.clone()), y: self.y.clone().select(0, order) }
    }

    pub fn range(&self, start: usize, count: usize) -> Data {
        Data { x: self.x.clone().narrow(0, start, count), y: self.y.clone().narrow(0, start, count) }
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

/// A tensor of numbers row after row.
pub fn tensor<T: Element>(numbers: Vec<f64>, columns: usize) -> Tensor<2> {
    let shape = [numbers.len() / columns, columns];
    Tensor::from_data(TensorData::new(numbers, shape), (&device(), T::dtype()))
}

/// Glorot's uniform weights and zero biases from a seed, in numbers of a type: burn's own are of the device's.
struct Start<T> {
    random: ChaCha8Rng,
    numbers: std::marker::PhantomData<T>,
}

impl<T: Element> ModuleMapper for Start<T> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let shape = param.dims();
        let limit = if D > 1 { (6.0 / shape.iter().sum::<usize>() as f64).sqrt() } else { 0.0 };
        let numbers = (0..shape.iter().product()).map(|_| limit * (2.0 * unit(&mut self.random) - 1.0)).collect();
        let data = TensorData::new(numbers, shape);
        param.map(|_: Tensor<D>| Tensor::from_data(data, (&device(), T::dtype())).require_grad())
    }
}

pub fn initialize<T: Element, M: Module>(module: M, seed: u64) -> M {
    module.map(&mut Start::<T> { random: ChaCha8Rng::seed_from_u64(seed), numbers: std::marker::PhantomData })
}

/// From 0 to 1.
pub fn unit(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Trains, prints a line for each pass, draws the loss, and returns the module, steps, seconds and the last loss.
///
/// `loss` is marquardt's, and `criterion` the same of burn's tensors.
pub fn train<T: Element, M: Module, L: Loss<T> + 'static>(
    options: &Options,
    race: &Race<'_, M>,
    mut net: M,
    loss: L,
    criterion: fn(Tensor<2>, Tensor<2>) -> Tensor<1>,
) -> Result<(M, Point), Box<dyn Error>> {
    let samples = race.data.x.dims()[0];
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let mut order: Vec<usize> = (0..samples).collect();
    let mut lm = LeastSquaresTrainer::<T>::new(LevenbergMarquardt::new(), loss);
    let mut adam = AdamConfig::new().init();
    let mean_loss = |net: &M| -> f64 {
        let Data { x, y } = race.data;
        criterion((race.forward)(&net.valid(), x.clone().inner()), y.clone().inner()).into_scalar()
    };
    let mut points = vec![Point { steps: 0, seconds: 0.0, loss: mean_loss(&net) }];
    let (mut steps, mut seconds) = (0, 0.0);
    for _ in 0..options.epochs.unwrap_or(race.epochs) {
        random::shuffle(&mut order, &mut random);
        let shuffled = race.data.select(&order);
        let begun = Instant::now();
        // Ragged batches are left out.
        for first in (0..=samples - race.batch).step_by(race.batch) {
            let Data { x, y } = shuffled.range(first, race.batch);
            net = match options.optimizer {
                Choice::Lm => lm.step(net, y, |net| (race.forward)(net, x.clone()))?.0,
                Choice::Adam => {
                    let gradients = criterion((race.forward)(&net, x), y).backward();
                    let gradients = GradientsParams::from_grads(gradients, &net);
                    adam.step(options.learning_rate, net, gradients)
                }
            };
            steps += 1;
        }
        seconds += begun.elapsed().as_secs_f64();
        let point = Point { steps, seconds, loss: mean_loss(&net) };
        println!("{:6} steps  {:8.3} s  loss {:.3e}", point.steps, point.seconds, point.loss);
        points.push(point);
        if !(point.loss > race.goal) {
            break;
        }
    }
    let last = points[points.len() - 1];
    let path = options.plot.clone().unwrap_or_else(|| PathBuf::from(format!("{}.svg", race.title.replace(' ', "_"))));
    draw(race.title, "loss", &[Curve { name: name(options).to_owned(), points }], &path)?;
    Ok((net, last))
}

fn name(options: &Options) -> &'static str {
    if options.optimizer == Choice::Lm { "lm" } else { "adam" }
}

/// The last line.
pub fn report(options: &Options, point: &Point, more: &str) {
    let Point { steps, seconds, loss } = point;
    println!("framework=burn optimizer={} steps={steps} seconds={seconds:.4} loss={loss:.4e}{more}", name(options));
}

/// Half the mean squared error would do as well; this is the mean.
#[allow(dead_code, reason = "not all examples are regressions")]
pub fn mean_squared_error(outputs: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
    (outputs - targets).square().mean()
}

/// The mean cross-entropy of logits.
#[allow(dead_code, reason = "not all examples classify")]
pub fn cross_entropy(logits: Tensor<2>, labels: Tensor<2>) -> Tensor<1> {
    -burn::tensor::activation::log_softmax(logits, 1).gather(1, labels.int()).mean()
}
