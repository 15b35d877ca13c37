//! Trains a small network on sinc(10x), with any optimizer, by the same code. At the end it prints one line, with the mean
//! squared error on all points.
//!
//! ```text
//! cargo run --release --example train                                 Levenberg–Marquardt
//! cargo run --release --example train -- --optimizer adam --epochs 1000
//! cargo run --release --example train -- --help
//! ```

mod optimizers;

use std::error::Error;
use std::f64::consts::PI;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::train::{OnEpochEnd, Trainer};
use marquardt::{Real, Variables};
use ndarray::Array2;
use optimizers::Named;

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
    /// Computes in single precision
    #[arg(long)]
    single: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    if options.single { train::<f32>(options) } else { train::<f64>(options) }
}

fn train<T: Real>(options: Options) -> Result<(), Box<dyn Error>> {
    if options.points < 2 {
        return Err("the data need two points".into());
    }
    let (x, y) = sinc::<T>(options.points);
    let mut variables = Variables::new();
    let layers = options.hidden.iter().fold(Sequential::new(1), |layers, &units| layers.dense(units).tanh());
    let mut network = layers.dense(1).compile(&mut variables, options.seed, MeanSquaredError)?;
    let mut optimizer = options.optimizer.with_learning_rate::<T>(options.learning_rate);

    let bar = ProgressBar::new(options.epochs as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} epoch {pos}/{len}  loss {msg}  {eta} left")?);
    let mut trainer = Trainer::new(&mut network, &mut variables, optimizer.as_mut())
        .epochs(options.epochs)
        .batch_size(options.batch)
        .shuffle(options.seed)
        .callback(OnEpochEnd::new(|logs, _| {
            bar.set_message(format!("{:.2e}", logs.get("loss").unwrap_or(f64::NAN)));
            bar.inc(1);
            Ok(())
        }));
    if let Some(goal) = options.until {
        let stop = OnEpochEnd::new(move |logs, context| {
            if logs.get("val_loss").is_some_and(|loss| loss <= goal) {
                context.stop("the loss is as low as it should be");
            }
            Ok(())
        });
        trainer = trainer.validation(&[x.view()], &[y.view()]).callback(stop);
    }
    let history = trainer.fit(&[x.view()], &[y.view()])?;
    let (network, variables) = trainer.finish();
    bar.finish_and_clear();

    let loss = network.evaluate(variables, &[x.view()], &[y.view()])?.to_f64();
    let seconds: f64 = history.column("seconds").into_iter().flatten().sum();
    let (steps, Options { optimizer: name, seed, .. }) = (optimizer.iterations(), options);
    println!("optimizer={name} seed={seed} steps={steps} seconds={seconds:.3} loss={loss:.3e}");
    Ok(())
}

/// Points of sinc(10x), evenly spaced; sinc(t) = sin(πt) / (πt).
fn sinc<T: Real>(points: usize) -> (Array2<T>, Array2<T>) {
    let x: Array2<f64> = Array2::from_shape_fn((points, 1), |(i, _)| 2.0 * i as f64 / (points - 1) as f64 - 1.0);
    let y = x.mapv(|x| if x == 0.0 { 1.0 } else { (10.0 * PI * x).sin() / (10.0 * PI * x) });
    (x.mapv(T::from_f64), y.mapv(T::from_f64))
}
