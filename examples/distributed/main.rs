//! Fits a curve and trains a network on rows that are spread over ranks: processes on one machine, or on many. Rank 0
//! prints, and at the end one line about the last of the two, with the mean squared error.
//!
//! ```text
//! cargo run --release --example distributed                      one rank, without MPI
//! cargo build --release --features mpi --example distributed
//! mpirun -n 4 target/release/examples/distributed                four
//! mpirun -n 4 target/release/examples/distributed --help
//! ```

mod network;
mod spectrum;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use marquardt::distributed::Communicator;

/// Fits 20 peaks, and trains a network of 20 tanh units, on rows that are spread over ranks.
#[derive(Parser)]
struct Options {
    /// One of the two
    #[arg(long)]
    only: Option<Part>,
    /// Points that the peaks are fitted to, on all ranks together
    #[arg(long, default_value_t = 100_000)]
    rows: usize,
    /// Points that the network learns, on all ranks together
    #[arg(long, default_value_t = 20_000)]
    points: usize,
    /// Passes over them
    #[arg(long, default_value_t = 5)]
    epochs: usize,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// The peaks
    Fit,
    /// The network
    Network,
}

/// How one of the two went.
struct Outcome {
    rows: usize,
    seconds: f64,
    /// The mean squared error.
    loss: f64,
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
    if options.points < 2 {
        return Err("the network needs two points".into());
    }
    let ranks = Communicator::world()?;
    let mut outcome = None;
    if options.only != Some(Part::Network) {
        outcome = Some(spectrum::fit(&ranks, options.rows)?.0);
    }
    if options.only != Some(Part::Fit) {
        outcome = Some(network::train(&ranks, options.points, options.epochs)?);
    }
    if let (true, Some(Outcome { rows, seconds, loss })) = (ranks.is_root(), outcome) {
        println!("ranks={} rows={rows} seconds={seconds:.3} loss={loss:.3e}", ranks.size());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use marquardt::distributed::on_threads;

    use super::*;

    #[test]
    fn two_ranks_find_the_peaks_that_one_finds() {
        let alone = spectrum::fit(&Communicator::single(), 240).unwrap();
        assert!((alone.0.loss.sqrt() / spectrum::NOISE - 1.0).abs() < 0.1);
        for (found, truth) in alone.1.iter().zip(spectrum::truth()) {
            assert!((found - truth).abs() < 0.05, "{found} instead of {truth}");
        }
        let found = on_threads(2, |ranks| spectrum::fit(&ranks, 240).unwrap().1);
        assert_eq!(found[0], found[1]);
        for (found, alone) in found[0].iter().zip(&alone.1) {
            assert!((found - alone).abs() < 1e-9 * alone, "{found} instead of {alone}");
        }
    }

    #[test]
    fn two_ranks_learn_what_one_learns() {
        let alone = network::train(&Communicator::single(), 1000, 2).unwrap();
        for outcome in on_threads(2, |ranks| network::train(&ranks, 1000, 2).unwrap()) {
            assert!((outcome.loss - alone.loss).abs() < 1e-6 * alone.loss, "{} and {}", outcome.loss, alone.loss);
        }
    }
}
