//! Classifies 8×8 images of handwritten digits by a small network. Trains with Levenberg–Marquardt, exact or with Kronecker
//! factors (K-FAC), and with Adam, draws their losses and accuracies, and ends with a line of the optimizer chosen: the loss
//! on the training images, and the accuracy on those for the test.
//!
//! ```text
//! cargo run --release --example classify                                  Levenberg–Marquardt
//! cargo run --release --example classify -- --batch 1437 --hidden 16 --epochs 10
//! cargo run --release --example classify -- --optimizer adam --convolution
//! cargo run --release --example classify -- --optimizer kfac --batch 256 --until-accuracy 0.97
//! cargo run --release --example classify -- --optimizer all
//! cargo run --release --example classify -- --race                        K-FAC and Adam by the clock, from ten starts
//! cargo run --release --example classify -- --help
//! ```

#[path = "../common/curves.rs"]
mod curves;
mod data;
mod optimizers;
mod race;
#[path = "../common/random.rs"]
mod random;
mod teacher;
mod until;

use std::error::Error;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use curves::{Curve, Point};
use data::{CLASSES, Digits, PIXELS, TRAINING};
use marquardt::Variables;
use marquardt::curve::{Plot, PlotError, Series};
use marquardt::nn::{MeanSquaredError, Network, NetworkError, Sequential, SparseCategoricalCrossentropy};
use marquardt::train::{Accuracy, History, OnEpochEnd, Trainer};
use ndarray::Array2;
use optimizers::{Choice, Named};

/// Classifies 8×8 images of handwritten digits by a small network.
#[derive(Parser)]
struct Options {
    /// What updates the weights
    #[arg(long, default_value = "lm")]
    optimizer: Choice,
    /// Its default is the optimizer's
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Passes over the training images; its default is the optimizer's
    #[arg(long)]
    epochs: Option<usize>,
    /// Images in a minibatch
    #[arg(long, default_value_t = 128)]
    batch: usize,
    /// Of the first weights, of the order of the images, and of the choice of those for the test
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Widths of the hidden layers of tanh units
    #[arg(long, value_delimiter = ',', default_value = "64")]
    hidden: Vec<usize>,
    /// Puts eight 3×3 filters and a pooling before the hidden layers
    #[arg(long)]
    convolution: bool,
    /// What is minimised
    #[arg(long, default_value = "crossentropy")]
    loss: Loss,
    /// Where the losses are drawn, over steps; over seconds in a file beside it
    #[arg(long, default_value = "classify.svg")]
    plot: PathBuf,
    /// Stops at this accuracy on the images for the test, which is looked at after every step while the clock stands still;
    /// trains with the chosen optimizer alone, and draws nothing
    #[arg(long)]
    until_accuracy: Option<f64>,
    /// Trains with the chosen optimizer alone, and draws nothing
    #[arg(long)]
    no_plot: bool,
    /// Races K-FAC against Adam at its best of nine settings, from ten starts, on the digits and on the classes of a random network,
    /// and prints the times of training to several goals, and of single steps
    #[arg(long)]
    race: bool,
    /// Precision of the race
    #[arg(long, default_value = "f32")]
    precision: Precision,
}

#[derive(Clone, Copy, ValueEnum)]
enum Precision {
    F32,
    F64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Loss {
    /// Of the softmax of the outputs
    Crossentropy,
    /// Mean squared error to one for the digit and zero for the others
    Mse,
}

/// What a training came to.
struct Outcome {
    optimizer: Named,
    steps: u64,
    /// Of training alone.
    seconds: f64,
    /// Empty where training stops at an accuracy.
    history: History,
    loss: f64,
    accuracy: f64,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if options.race {
        return match options.precision {
            Precision::F32 => race::race::<f32>(),
            Precision::F64 => race::race::<f64>(),
        };
    }
    let file = File::open(data::FILE).map_err(|error| format!("{}: {error}", data::FILE))?;
    let digits = Digits::read(file)?.shuffled(options.seed);
    let targets = match options.loss {
        Loss::Crossentropy => digits.labels.clone(),
        Loss::Mse => digits.one_hot(),
    };
    let train = |&optimizer| match options.until_accuracy {
        Some(goal) => until::train(options, optimizer, goal, (&digits.pixels, &digits.labels), &targets),
        None => train(options, optimizer, &digits.pixels, &targets),
    };
    let all = options.optimizer.optimizers();
    let (chosen, is_all) = (options.optimizer.chosen(), options.optimizer == Choice::All);
    let alone = !is_all && (options.no_plot || options.until_accuracy.is_some());
    let optimizers = if alone { std::slice::from_ref(&chosen) } else { all };
    let outcomes: Vec<Outcome> = optimizers.iter().map(train).collect::<Result<_, _>>()?;
    if options.until_accuracy.is_none() && !options.no_plot {
        draw(options, &outcomes)?;
    }
    outcomes.iter().for_each(|outcome| println!("{outcome}"));
    Ok(())
}

fn train(
    options: &Options,
    named: Named,
    pixels: &Array2<f64>,
    targets: &Array2<f64>,
) -> Result<Outcome, Box<dyn Error>> {
    let rate = options.learning_rate.filter(|_| named == options.optimizer.chosen());
    let epochs = options.epochs.unwrap_or(named.epochs());
    // As many as fit on a screen.
    let interval = epochs.div_ceil(15).max(1);
    let (training_pixels, test_pixels) = data::split(pixels);
    let (training_targets, test_targets) = data::split(targets);

    let mut variables = Variables::new();
    let mut network = network(options, &mut variables)?;
    let mut optimizer = named.with_learning_rate(rate);
    let mut trainer = Trainer::new(&mut network, &mut variables, optimizer.as_mut())
        .epochs(epochs)
        .batch_size(options.batch)
        .shuffle(options.seed)
        .validation(&[test_pixels], &[test_targets])
        .metric(Accuracy::new())
        .callback(OnEpochEnd::new(|logs, context| {
            let epoch = context.epoch + 1;
            if epoch.is_multiple_of(interval) {
                let [loss, test, accuracy] = ["loss", "val_loss", "val_accuracy"].map(|name| logs.get(name));
                if let (Some(loss), Some(test), Some(accuracy)) = (loss, test, accuracy) {
                    println!(
                        "{named:<4}  epoch {epoch:>3}  loss {loss:.2e}  test: loss {test:.2e}  accuracy {accuracy:.4}"
                    );
                }
            }
            Ok(())
        }));
    let history = trainer.fit(&[training_pixels], &[training_targets])?;
    let loss = trainer.evaluate(&[training_pixels], &[training_targets])?.get("loss").unwrap_or(f64::NAN);
    let accuracy = trainer.evaluate(&[test_pixels], &[test_targets])?.get("accuracy").unwrap_or(f64::NAN);
    let steps = trainer.optimizer().iterations();
    let seconds = history.column("seconds").unwrap_or_default().iter().sum();
    Ok(Outcome { optimizer: named, steps, seconds, history, loss, accuracy })
}

fn network(options: &Options, variables: &mut Variables<f64>) -> Result<Network<f64>, NetworkError> {
    let layers = if options.convolution {
        Sequential::image(1, 8, 8).conv2d(8, [3, 3]).tanh().max_pooling2d([2, 2]).flatten()
    } else {
        Sequential::new(PIXELS)
    };
    let layers = options.hidden.iter().fold(layers, |layers, &units| layers.dense(units).tanh()).dense(CLASSES);
    match options.loss {
        Loss::Crossentropy => layers.compile(variables, options.seed, SparseCategoricalCrossentropy),
        Loss::Mse => layers.compile(variables, options.seed, MeanSquaredError),
    }
}

fn draw(options: &Options, outcomes: &[Outcome]) -> Result<(), PlotError> {
    let loss = match options.loss {
        Loss::Crossentropy => "cross-entropy",
        Loss::Mse => "mean squared error",
    };
    let batches = TRAINING.div_ceil(options.batch) as u64;
    let mut curves = Vec::new();
    for (column, images) in [("loss", "training"), ("val_loss", "test")] {
        for outcome in outcomes.iter().rev() {
            let of = |name| outcome.history.column(name).unwrap_or_default();
            let (mut steps, mut seconds) = (0, 0.0);
            let points = of("seconds").iter().zip(of(column)).map(|(&more, &loss)| {
                (steps, seconds) = (steps + batches, seconds + more);
                Point { steps, seconds, loss }
            });
            let name = format!("{}, {images} images", outcome.optimizer);
            curves.push(Curve { name, points: points.collect() });
        }
    }
    let title = format!("8×8 digits in minibatches of {}, after each epoch", options.batch);
    curves::draw(&title, loss, &curves, &options.plot)?;
    if options.optimizer == Choice::All { draw_accuracies(&title, outcomes, &options.plot) } else { Ok(()) }
}

/// Draws accuracies over seconds to a file beside the others.
fn draw_accuracies(title: &str, outcomes: &[Outcome], path: &Path) -> Result<(), PlotError> {
    let plot = Plot::new().title(title).x_label("seconds of training").y_label("accuracy, test images").log_x();
    let plot = outcomes.iter().rev().fold(plot, |plot, outcome| {
        let of = |name| outcome.history.column(name).unwrap_or_default();
        let mut seconds = 0.0;
        let accuracies = of("val_accuracy");
        let points: Vec<_> = (of("seconds").iter().zip(accuracies))
            .map(|(&more, accuracy)| {
                seconds += more;
                (seconds, *accuracy)
            })
            .collect();
        plot.series(Series::new().name(outcome.optimizer.to_string()).curve(points))
    });
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push("_accuracy");
    let path = path.with_file_name(name).with_extension(path.extension().unwrap_or_default());
    plot.save(&path)?;
    println!("and to {}", path.display());
    Ok(())
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { optimizer, steps, seconds, loss, accuracy, .. } = self;
        write!(f, "optimizer={optimizer} steps={steps} seconds={seconds:.3} loss={loss:.3e} accuracy={accuracy:.4}")
    }
}
