//! The adding problem (Hochreiter & Schmidhuber 1997): of a sequence of numbers two are marked, and their sum is wanted. Trains an LSTM by
//! Levenberg–Marquardt, with exact steps through all of the sequence, and by Adam for as much time.
//!
//! ```text
//! cargo run --release --example adding
//! cargo run --release --example adding -- --steps 20 --units 6
//! ```

#[path = "common/random.rs"]
mod random;

use std::error::Error;
use std::time::Instant;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use clap::Parser;
use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::optim::{Adam, Optimizer};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::Array2;
use random::shuffle;

/// Trains an LSTM on the adding problem.
#[derive(Parser)]
struct Options {
    /// Steps of a sequence
    #[arg(long, default_value_t = 8)]
    steps: usize,
    /// Sequences for training; ten times as many are for testing
    #[arg(long, default_value_t = 60)]
    rows: usize,
    /// Units of the LSTM
    #[arg(long, default_value_t = 3)]
    units: usize,
    /// Iterations of Levenberg–Marquardt
    #[arg(long, default_value_t = 60)]
    iterations: usize,
    /// Adam's, one training each
    #[arg(long, value_delimiter = ',', default_value = "0.1,0.03")]
    learning_rate: Vec<f64>,
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Sequences and sums.
struct Task {
    x: Array2<f64>,
    y: Array2<f64>,
}

impl Task {
    fn draw(rows: usize, steps: usize, random: &mut ChaCha8Rng) -> Self {
        let (mut x, mut y) = (Array2::zeros((rows, 2 * steps)), Array2::zeros((rows, 1)));
        let mut places: Vec<usize> = (0..steps).collect();
        for row in 0..rows {
            for step in 0..steps {
                x[[row, 2 * step]] = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            }
            shuffle(&mut places, random);
            for &step in &places[..2] {
                x[[row, 2 * step + 1]] = 1.0;
                y[[row, 0]] += x[[row, 2 * step]];
            }
        }
        Task { x, y }
    }
}

/// Trains until this says that it is enough, and returns the number of steps and the root mean square errors of training and of test.
fn train(
    options: &Options,
    [training, test]: [&Task; 2],
    mut optimizer: impl Optimizer<f64>,
    is_enough: impl Fn(usize) -> bool,
) -> Result<(usize, [f64; 2]), Box<dyn Error>> {
    let mut variables = Variables::new();
    let layers = Sequential::sequence(options.steps, 2).lstm(options.units).dense(1);
    let mut network = layers.compile(&mut variables, options.seed, MeanSquaredError)?;
    network.batch(&[training.x.view()], &[training.y.view()])?;
    let mut steps = 0;
    while !is_enough(steps) {
        optimizer.step(&mut network, &mut variables)?;
        steps += 1;
    }
    let mut error = |task: &Task| network.evaluate(&variables, &[task.x.view()], &[task.y.view()]);
    Ok((steps, [error(training)?.sqrt(), error(test)?.sqrt()]))
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let [training, test] = [options.rows, 10 * options.rows].map(|rows| Task::draw(rows, options.steps, &mut random));
    println!("{:>24} {:>7} {:>9} {:>10} {:>10}", "", "steps", "seconds", "training", "test");
    let line = |name: &str, steps: usize, seconds: f64, [training, test]: [f64; 2]| {
        println!("{name:>24} {steps:>7} {seconds:>9.2} {training:>10.1e} {test:>10.1e}");
    };
    let begun = Instant::now();
    let is_enough = |steps| steps == options.iterations;
    let (steps, errors) = train(&options, [&training, &test], LevenbergMarquardt::new(), is_enough)?;
    let seconds = begun.elapsed().as_secs_f64();
    line("Levenberg–Marquardt", steps, seconds, errors);
    for &rate in &options.learning_rate {
        let begun = Instant::now();
        let is_enough = |_| begun.elapsed().as_secs_f64() >= seconds;
        let (steps, errors) = train(&options, [&training, &test], Adam::new(rate), is_enough)?;
        line(&format!("Adam, {rate}"), steps, begun.elapsed().as_secs_f64(), errors);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few exact steps go where many of Adam's do not.
    #[test]
    fn exact_steps_learn_to_add() {
        let options = Options::parse_from(["adding", "--steps", "6", "--rows", "60", "--units", "2"]);
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let [training, test] = [60, 200].map(|rows| Task::draw(rows, options.steps, &mut random));
        let both = [&training, &test];
        let (_, [_, exact]) = train(&options, both, LevenbergMarquardt::new(), |steps| steps == 60).unwrap();
        let (_, [_, adam]) = train(&options, both, Adam::new(0.03), |steps| steps == 240).unwrap();
        assert!(exact < 0.01 && adam > 5.0 * exact, "{exact} {adam}");
    }
}
