//! Trains a small network on sinc(10x), with any optimizer, by the same loop. At the end it prints one line, with the mean
//! squared error on all points.
//!
//! ```text
//! cargo run --release --example train                                 Levenberg–Marquardt
//! cargo run --release --example train -- --optimizer adam --epochs 1000
//! cargo run --release --example train -- --help
//! ```

mod optimizers;
#[path = "../common/random.rs"]
mod random;

use std::error::Error;
use std::f64::consts::PI;
use std::time::{Duration, Instant};

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use marquardt::Variables;
use marquardt::nn::{MeanSquaredError, Network, Sequential};
use marquardt::optim::Optimizer;
use ndarray::Array2;
use optimizers::Named;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use random::shuffle;

/// Trains a network of tanh layers on sinc(10x), x from -1 to 1.
#[derive(Parser)]
struct Options {
    /// What updates the weights
    #[arg(long, default_value = "lm")]
    optimizer: Named,
    /// Passes over the data
    #[arg(long, default_value_t = 100)]
    epochs: usize,
    /// Its default is the optimizer's
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Of the first weights and of the order of the data
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Points in a minibatch
    #[arg(long, default_value_t = 1000)]
    batch: usize,
    /// Points in the data
    #[arg(long, default_value_t = 20_000)]
    points: usize,
    /// Widths of the hidden layers
    #[arg(long, value_delimiter = ',', default_value = "20")]
    hidden: Vec<usize>,
    /// Ends as soon as the loss over all data is as low as this; looked at once an epoch
    #[arg(long)]
    until: Option<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    if options.batch == 0 || options.points < 2 {
        return Err("a minibatch needs a point, and the data two".into());
    }
    let (x, y) = sinc(options.points);
    let mut variables = Variables::new();
    let layers = options.hidden.iter().fold(Sequential::new(1), |layers, &units| layers.dense(units).tanh());
    let mut network = layers.dense(1).compile(&mut variables, options.seed, MeanSquaredError)?;
    let mut optimizer = options.optimizer.with_learning_rate(options.learning_rate);

    let training = train(&options, &x, &y, &mut network, &mut variables, optimizer.as_mut())?;
    let loss = network.evaluate(&variables, &[x.view()], &[y.view()])?;
    let (steps, seconds) = (optimizer.iterations(), training.as_secs_f64());
    println!(
        "optimizer={} seed={} steps={steps} seconds={seconds:.3} loss={loss:.3e}",
        options.optimizer, options.seed
    );
    Ok(())
}

/// The loop, which does not know the optimizer. Returns the time that the steps took.
fn train(
    options: &Options,
    x: &Array2<f64>,
    y: &Array2<f64>,
    network: &mut Network<f64>,
    variables: &mut Variables<f64>,
    optimizer: &mut dyn Optimizer<f64>,
) -> Result<Duration, Box<dyn Error>> {
    let bar = ProgressBar::new(options.epochs as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} epoch {pos}/{len}  loss {msg}  {eta} left")?);
    let mut order: Vec<usize> = (0..x.nrows()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let mut training = Duration::ZERO;
    for _ in 0..options.epochs {
        let begun = Instant::now();
        shuffle(&mut order, &mut random);
        let mut loss = 0.0;
        for rows in order.chunks(options.batch) {
            let batch = network.batch_rows(&[x.view()], &[y.view()], rows)?;
            loss = optimizer.step(batch, variables)?.loss;
        }
        training += begun.elapsed();
        bar.set_message(format!("{loss:.2e}"));
        bar.inc(1);
        if let Some(goal) = options.until
            && network.evaluate(variables, &[x.view()], &[y.view()])? <= goal
        {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(training)
}

/// Points of sinc(10x), evenly spaced; sinc(t) = sin(πt) / (πt).
fn sinc(points: usize) -> (Array2<f64>, Array2<f64>) {
    let x = Array2::from_shape_fn((points, 1), |(i, _)| 2.0 * i as f64 / (points - 1) as f64 - 1.0);
    let y = x.mapv(|x| if x == 0.0 { 1.0 } else { (10.0 * PI * x).sin() / (10.0 * PI * x) });
    (x, y)
}
