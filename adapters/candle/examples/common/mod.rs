//! The training loop that all examples share: candle's own style, with one line for each optimizer.

#[path = "../../../../examples/common/curves.rs"]
mod curves;
#[path = "../../../../examples/common/random.rs"]
pub mod random;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use candle_core::{Device, IndexOp, Result, Tensor};
use candle_nn::{AdamW, Optimizer, ParamsAdamW, VarMap};
use clap::{Parser, ValueEnum};
use curves::{Curve, Point, draw};
use marquardt::LevenbergMarquardt;
use marquardt::nn::Loss;
use marquardt_candle::{Element, LeastSquaresTrainer};
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
    /// Of AdamW
    #[arg(long, default_value_t = 3e-3)]
    pub learning_rate: f64,
    /// Where the loss is drawn, over steps; over seconds in a file beside it
    #[arg(long)]
    pub plot: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum, PartialEq)]
pub enum Choice {
    Lm,
    Adamw,
}

/// Samples, and what a network is to make of them.
pub struct Data {
    pub x: Tensor,
    pub y: Tensor,
}

impl Data {
    pub fn samples(&self) -> Result<usize> {
        self.x.dim(0)
    }

    /// So many samples from one on.
    #[allow(dead_code, reason = "not all examples test what they have trained")]
    pub fn part(&self, start: usize, count: usize) -> Result<Data> {
        Ok(Data { x: self.x.narrow(0, start, count)?, y: self.y.narrow(0, start, count)? })
    }

    /// Samples in this order.
    fn select(&self, order: &[u32]) -> Result<Data> {
        let order = Tensor::new(order, &Device::Cpu)?;
        Ok(Data { x: self.x.index_select(&order, 0)?, y: self.y.index_select(&order, 0)? })
    }
}

/// A training: its data, its goal, its limits.
pub struct Race<'a> {
    pub title: &'a str,
    pub data: &'a Data,
    pub batch: usize,
    pub epochs: usize,
    /// Loss over all data that ends the training.
    pub goal: f64,
    pub net: &'a dyn Fn(&Tensor) -> Result<Tensor>,
    pub varmap: &'a VarMap,
}

/// Glorot's uniform weights and zero biases from a seed: candle's own random numbers on the processor have none.
pub fn initialize(varmap: &VarMap, seed: u64) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let data = varmap.data().lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut names: Vec<&String> = data.keys().collect();
    names.sort();
    for var in names.into_iter().filter_map(|name| data.get(name)) {
        let dims = var.dims();
        let fan = dims.iter().skip(2).product::<usize>() * (dims[0] + dims.get(1).copied().unwrap_or(0));
        let limit = if dims.len() > 1 { (6.0 / fan as f64).sqrt() } else { 0.0 };
        let values: Vec<f64> = (0..var.elem_count()).map(|_| limit * (2.0 * unit(&mut random) - 1.0)).collect();
        var.set(&Tensor::from_vec(values, dims, var.device())?.to_dtype(var.dtype())?)?;
    }
    Ok(())
}

/// From 0 to 1.
pub fn unit(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Trains, prints a line for each pass, draws the loss, and returns steps, seconds and the last loss.
///
/// `loss` is marquardt's, and `criterion` the same of candle's tensors.
pub fn train<T: Element, L: Loss<T> + 'static>(
    options: &Options,
    race: &Race<'_>,
    loss: L,
    criterion: fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> std::result::Result<Point, Box<dyn Error>> {
    let samples = race.data.samples()?;
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let mut order: Vec<usize> = (0..samples).collect();
    let mut lm = LeastSquaresTrainer::<T>::new(race.varmap, LevenbergMarquardt::new(), loss)?;
    let parameters = ParamsAdamW { lr: options.learning_rate, weight_decay: 0.0, ..ParamsAdamW::default() };
    let mut adamw = AdamW::new(race.varmap.all_vars(), parameters)?;
    let mean_loss = || -> Result<f64> {
        criterion(&(race.net)(&race.data.x)?, &race.data.y)?.to_dtype(candle_core::DType::F64)?.to_scalar()
    };
    let mut points = vec![Point { steps: 0, seconds: 0.0, loss: mean_loss()? }];
    let (mut steps, mut seconds) = (0, 0.0);
    for _ in 0..options.epochs.unwrap_or(race.epochs) {
        random::shuffle(&mut order, &mut random);
        let shuffled = race.data.select(&order.iter().map(|&row| row as u32).collect::<Vec<_>>())?;
        let begun = Instant::now();
        // Ragged batches are left out.
        for first in (0..=samples - race.batch).step_by(race.batch) {
            let (x, y) = (shuffled.x.i(first..first + race.batch)?, shuffled.y.i(first..first + race.batch)?);
            match options.optimizer {
                Choice::Lm => {
                    lm.step(&y, || (race.net)(&x))?;
                }
                Choice::Adamw => adamw.backward_step(&criterion(&(race.net)(&x)?, &y)?)?,
            }
            steps += 1;
        }
        seconds += begun.elapsed().as_secs_f64();
        let point = Point { steps, seconds, loss: mean_loss()? };
        println!("{:6} steps  {:8.3} s  loss {:.3e}", point.steps, point.seconds, point.loss);
        points.push(point);
        if !(point.loss > race.goal) {
            break;
        }
    }
    let last = points[points.len() - 1];
    let path = options.plot.clone().unwrap_or_else(|| PathBuf::from(format!("{}.svg", race.title.replace(' ', "_"))));
    draw(race.title, "loss", &[Curve { name: name(options).to_owned(), points }], &path)?;
    Ok(last)
}

fn name(options: &Options) -> &'static str {
    if options.optimizer == Choice::Lm { "lm" } else { "adamw" }
}

/// The last line.
pub fn report(options: &Options, point: &Point, more: &str) {
    let Point { steps, seconds, loss } = point;
    println!("framework=candle optimizer={} steps={steps} seconds={seconds:.4} loss={loss:.4e}{more}", name(options));
}

/// Half the mean squared error would do as well; this is the mean.
#[allow(dead_code, reason = "not all examples are regressions")]
pub fn mean_squared_error(outputs: &Tensor, targets: &Tensor) -> Result<Tensor> {
    (outputs - targets)?.sqr()?.mean_all()
}

/// The mean cross-entropy of logits.
#[allow(dead_code, reason = "not all examples classify")]
pub fn cross_entropy(logits: &Tensor, labels: &Tensor) -> Result<Tensor> {
    candle_nn::loss::cross_entropy(logits, &labels.flatten_all()?.to_dtype(candle_core::DType::U32)?)
}
