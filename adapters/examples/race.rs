//! The race that the examples of all adapters run: passes over shuffled samples, a line for each, and a drawing.

#[path = "../../examples/common/curves.rs"]
mod curves;
#[path = "../../examples/common/random.rs"]
mod random;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use clap::{Parser, ValueEnum};
pub use curves::Point;
use curves::{Curve, draw};
pub use random::shuffle;

/// Options of every example.
#[derive(Parser)]
pub struct Options<C: ValueEnum + Send + Sync + 'static> {
    /// Optimizer of the training
    #[arg(long, default_value = "lm")]
    pub optimizer: C,
    /// Seed of the first weights, of the order of the samples, and of the data where these are drawn
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Passes over the data, unless the goal is reached before
    #[arg(long)]
    pub epochs: Option<usize>,
    /// Learning rate of the first-order optimizer
    #[arg(long, default_value_t = 3e-3)]
    pub learning_rate: f64,
    /// File of a plot of the loss over steps; a second one beside it is over seconds
    #[arg(long)]
    pub plot: Option<PathBuf>,
}

impl<C: ValueEnum + Send + Sync + 'static> Options<C> {
    /// Name of the optimizer.
    fn optimizer(&self) -> String {
        self.optimizer.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Prints the last line.
    pub fn report(&self, framework: &str, Point { steps, seconds, loss }: Point, more: &str) {
        let optimizer = self.optimizer();
        println!(
            "framework={framework} optimizer={optimizer} steps={steps} seconds={seconds:.4} loss={loss:.4e}{more}"
        );
    }
}

/// Limits of a training.
pub struct Limits<'a> {
    pub title: &'a str,
    pub samples: usize,
    pub batch: usize,
    pub epochs: usize,
    /// Loss over all data that ends the training.
    pub goal: f64,
}

/// A training in the style of a framework.
pub trait Training {
    /// Puts the samples into this order.
    fn shuffle(&mut self, order: &[usize]) -> Result<(), Box<dyn Error>>;

    /// Takes a step on `count` samples, from `first` on.
    fn step(&mut self, first: usize, count: usize) -> Result<(), Box<dyn Error>>;

    /// The mean loss of all samples.
    fn loss(&self) -> Result<f64, Box<dyn Error>>;
}

/// Trains, prints a line for each pass, draws the loss, and returns steps, seconds and the last loss.
pub fn run<C: ValueEnum + Send + Sync + 'static>(
    options: &Options<C>,
    limits: &Limits<'_>,
    training: &mut impl Training,
) -> Result<Point, Box<dyn Error>> {
    let &Limits { title, samples, batch, epochs, goal } = limits;
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let mut order: Vec<usize> = (0..samples).collect();
    let mut last = Point { steps: 0, seconds: 0.0, loss: training.loss()? };
    let mut points = vec![last];
    for _ in 0..options.epochs.unwrap_or(epochs) {
        shuffle(&mut order, &mut random);
        training.shuffle(&order)?;
        let begun = Instant::now();
        // Ragged batches are left out.
        for first in (0..=samples - batch).step_by(batch) {
            training.step(first, batch)?;
            last.steps += 1;
        }
        last.seconds += begun.elapsed().as_secs_f64();
        last.loss = training.loss()?;
        println!("{:6} steps  {:8.3} s  loss {:.3e}", last.steps, last.seconds, last.loss);
        points.push(last);
        if !(last.loss > goal) {
            break;
        }
    }
    let path = options.plot.clone().unwrap_or_else(|| PathBuf::from(format!("{}.svg", title.replace(' ', "_"))));
    draw(title, "loss", &[Curve { name: options.optimizer(), points }], &path)?;
    Ok(last)
}

/// From 0 to 1.
pub fn unit(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Glorot's uniform numbers for a weight of this shape, outputs and inputs first; zeros for a bias.
pub fn glorot(shape: &[usize], random: &mut impl Rng) -> Vec<f64> {
    let fan = shape.iter().skip(2).product::<usize>() * shape.iter().take(2).sum::<usize>();
    let limit = if shape.len() > 1 { (6.0 / fan as f64).sqrt() } else { 0.0 };
    (0..shape.iter().product()).map(|_| limit * (2.0 * unit(random) - 1.0)).collect()
}
