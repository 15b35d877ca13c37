//! The training loop that all examples share: candle's own style, with one line for each optimizer.

#[path = "../../../examples/data.rs"]
pub mod data;
#[path = "../../../examples/race.rs"]
mod race;

use std::error::Error;

use candle_core::{Device, Result, Tensor};
use candle_nn::{AdamW, Optimizer, ParamsAdamW, VarMap};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use clap::ValueEnum;
use marquardt::LevenbergMarquardt;
use marquardt::nn::Loss;
use marquardt_candle::{Element, LeastSquaresTrainer};
#[allow(unused_imports, reason = "one example draws its data itself")]
pub use race::shuffle;
use race::{Limits, Point, Training, glorot, run};

/// Options of every example.
pub type Options = race::Options<Choice>;

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
    /// Samples of numbers row after row.
    #[allow(dead_code, reason = "not all examples learn numbers")]
    pub fn new<T: Element>((x, y): (Vec<f64>, Vec<f64>)) -> Result<Data> {
        let rows = y.len();
        let tensor = |numbers: Vec<f64>| -> Result<Tensor> {
            let columns = numbers.len() / rows;
            Tensor::from_vec(numbers, (rows, columns), &Device::Cpu)?.to_dtype(T::DTYPE)
        };
        Ok(Data { x: tensor(x)?, y: tensor(y)? })
    }

    pub fn samples(&self) -> Result<usize> {
        self.x.dim(0)
    }

    /// Returns `count` samples from `start` on.
    pub fn part(&self, start: usize, count: usize) -> Result<Data> {
        Ok(Data { x: self.x.narrow(0, start, count)?, y: self.y.narrow(0, start, count)? })
    }

    /// Samples in this order.
    fn select(&self, order: &[usize]) -> Result<Data> {
        let order = Tensor::from_iter(order.iter().map(|&row| row as u32), &Device::Cpu)?;
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
        let values = glorot(var.dims(), &mut random);
        var.set(&Tensor::from_vec(values, var.dims(), var.device())?.to_dtype(var.dtype())?)?;
    }
    Ok(())
}

/// A race under way.
struct Loop<'a, T: Element> {
    race: &'a Race<'a>,
    optimizer: Choice,
    lm: LeastSquaresTrainer<T>,
    adamw: AdamW,
    criterion: fn(&Tensor, &Tensor) -> Result<Tensor>,
    shuffled: Data,
}

impl<T: Element> Training for Loop<'_, T> {
    fn shuffle(&mut self, order: &[usize]) -> std::result::Result<(), Box<dyn Error>> {
        self.shuffled = self.race.data.select(order)?;
        Ok(())
    }

    fn step(&mut self, first: usize, count: usize) -> std::result::Result<(), Box<dyn Error>> {
        let (Data { x, y }, net) = (self.shuffled.part(first, count)?, self.race.net);
        match self.optimizer {
            Choice::Lm => {
                self.lm.step(&y, || net(&x))?;
            }
            Choice::Adamw => self.adamw.backward_step(&(self.criterion)(&net(&x)?, &y)?)?,
        }
        Ok(())
    }

    fn loss(&self) -> std::result::Result<f64, Box<dyn Error>> {
        let loss = (self.criterion)(&(self.race.net)(&self.race.data.x)?, &self.race.data.y)?;
        Ok(loss.to_dtype(candle_core::DType::F64)?.to_scalar()?)
    }
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
    let &Race { title, data, batch, epochs, goal, varmap, .. } = race;
    let limits = Limits { title, samples: data.samples()?, batch, epochs, goal };
    let parameters = ParamsAdamW { lr: options.learning_rate, weight_decay: 0.0, ..ParamsAdamW::default() };
    let lm = LeastSquaresTrainer::new(varmap, LevenbergMarquardt::new(), loss)?;
    let adamw = AdamW::new(varmap.all_vars(), parameters)?;
    let shuffled = data.part(0, limits.samples)?;
    run(options, &limits, &mut Loop::<T> { race, optimizer: options.optimizer, lm, adamw, criterion, shuffled })
}

/// Mean squared error of the outputs.
#[allow(dead_code, reason = "not all examples are regressions")]
pub fn mean_squared_error(outputs: &Tensor, targets: &Tensor) -> Result<Tensor> {
    (outputs - targets)?.sqr()?.mean_all()
}

/// The mean cross-entropy of logits.
#[allow(dead_code, reason = "not all examples classify")]
pub fn cross_entropy(logits: &Tensor, labels: &Tensor) -> Result<Tensor> {
    candle_nn::loss::cross_entropy(logits, &labels.flatten_all()?.to_dtype(candle_core::DType::U32)?)
}
