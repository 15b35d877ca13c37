//! Fits a network to Friedman's first function, by Levenberg–Marquardt, exact or with Kronecker factors (K-FAC), and by Adam, and takes the time that they need to
//! an error of 1e-2, 1e-3 and 1e-4 on points that they are not trained with.
//!
//! ```text
//! cargo run --release --example friedman
//! cargo run --release --example friedman -- --precision f64 --batch 512
//! cargo run --release --example friedman -- --optimizer kfac --batch 256
//! cargo run --release --example friedman -- --help
//! ```

#[path = "../common/curves.rs"]
mod curves;
mod data;
mod race;
#[path = "../common/random.rs"]
mod random;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use curves::{Curve, Point};
use data::Friedman;
use marquardt::optim::{Adam, KroneckerLevenbergMarquardt, Optimizer};
use marquardt::{LevenbergMarquardt, Real};
use race::{GOALS, Outcome, Rules};

/// Fits a network of 10-32-32-1 tanh units to Friedman's first function.
#[derive(Parser)]
struct Options {
    /// Whose line comes last; K-FAC is trained where it is asked for
    #[arg(long, default_value = "lm")]
    optimizer: Named,
    /// Points in a minibatch
    #[arg(long, default_value_t = 128)]
    batch: usize,
    /// Of the numbers
    #[arg(long, default_value = "f32")]
    precision: Precision,
    /// Of the points, of the first weights, and of the order of the points
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Passes over the points, unless all goals are reached before
    #[arg(long, default_value_t = 400)]
    epochs: usize,
    /// Adam's, of which the best is taken for each goal
    #[arg(long, value_delimiter = ',', default_value = "1e-2,3e-3,1e-3")]
    learning_rate: Vec<f64>,
    /// Where the errors are drawn, over steps; over seconds in a file beside it
    #[arg(long, default_value = "friedman.svg")]
    plot: PathBuf,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Named {
    /// Levenberg–Marquardt
    Lm,
    /// Kronecker-factored Levenberg–Marquardt
    Kfac,
    Adam,
}

#[derive(Clone, Copy, ValueEnum)]
enum Precision {
    F32,
    F64,
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
    if options.batch == 0 {
        return Err("a minibatch needs a point".into());
    }
    match options.precision {
        Precision::F32 => compare::<f32>(options),
        Precision::F64 => compare::<f64>(options),
    }
}

fn compare<T: Real>(options: &Options) -> Result<(), Box<dyn Error>> {
    let data = Friedman::<T>::draw(options.seed);
    let rules = Rules { batch: options.batch, epochs: options.epochs, seed: options.seed };
    let mut curves = Vec::new();
    let mut train = |name: String, optimizer: Box<dyn Optimizer<T>>| -> Result<Outcome, Box<dyn Error>> {
        let outcome = race::train(rules, &data, optimizer)?;
        report(&name, &outcome);
        curves.push(Curve { name, points: outcome.points.clone() });
        Ok(outcome)
    };
    let levenberg_marquardt = train("lm".to_owned(), Box::new(LevenbergMarquardt::new()))?;
    let kronecker = if options.optimizer == Named::Kfac {
        Some(train("kfac".to_owned(), Box::new(KroneckerLevenbergMarquardt::new()))?)
    } else {
        None
    };
    let adams = options.learning_rate.iter().map(|&rate| train(format!("adam {rate:e}"), Box::new(Adam::new(rate))));
    let adams: Vec<Outcome> = adams.collect::<Result<_, _>>()?;
    let title = "Friedman's first function, 10-32-32-1";
    curves::draw(title, "mean squared error, validation", &curves, &options.plot)?;
    let mut results = vec![(Named::Adam, "adam", adams), (Named::Lm, "lm", vec![levenberg_marquardt])];
    results.extend(kronecker.map(|outcome| (Named::Kfac, "kfac", vec![outcome])));
    results.sort_by_key(|(named, ..)| *named == options.optimizer);
    results.iter().for_each(|(_, name, outcomes)| print_result(name, outcomes));
    Ok(())
}

/// When one training reached its goals.
fn report(name: &str, outcome: &Outcome) {
    let times = outcome.reached.iter().zip(GOALS).map(|(reached, goal)| match reached {
        Some(Point { steps, seconds, .. }) => format!("  {goal:e} after {steps} steps, {seconds:.4} s"),
        None => format!("  {goal:e} not after {} steps", outcome.steps),
    });
    println!("{name:<10}{}", times.collect::<String>());
}

/// One line for the best of an optimizer's trainings, which may be another for each goal. The steps are those to the last
/// goal.
fn print_result(name: &str, outcomes: &[Outcome]) {
    let first = |goal: usize| {
        let reached = outcomes.iter().filter_map(|outcome| outcome.reached[goal]);
        reached.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    };
    let steps = first(GOALS.len() - 1).map(|point| point.steps);
    let steps = steps.unwrap_or_else(|| outcomes.iter().map(|outcome| outcome.steps).max().unwrap_or(0));
    let times = (0..GOALS.len()).map(|goal| {
        let seconds = first(goal).map_or("-".to_owned(), |point| format!("{:.4}", point.seconds));
        format!(" seconds_to_{:e}={seconds}", GOALS[goal])
    });
    println!("optimizer={name} steps={steps}{}", times.collect::<String>());
}
