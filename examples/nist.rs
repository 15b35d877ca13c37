//! The 27 nonlinear-regression sets of the NIST Statistical Reference Datasets, from both published starts, all with
//! the default settings.
//!
//! ```text
//! cargo run --release --example nist
//! cargo run --release --example nist -- --differences      derivatives by central differences instead of exact ones
//! ```
//!
//! Digits are those that the worst parameter (or standard deviation) of a run shares with the certified values.

#[path = "../tests/nist/mod.rs"]
#[allow(dead_code, reason = "the tests read more of the files")]
mod nist;

use std::error::Error;
use std::process::ExitCode;

use marquardt::problem::FiniteDifference;
use marquardt::solver::Status;
use marquardt::{AutoDiff, Covariance, EvaluationError, LeastSquares, LevenbergMarquardt, Residuals};
use nist::{DataSet, Model, digits};

/// More correct digits than this in every parameter, and a run counts as solved.
const SOLVED: f64 = 6.0;

/// Standard deviations to so many digits count as certified.
const CERTIFIED: f64 = 9.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let by_differences = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--differences"] => true,
        _ => {
            eprintln!("usage: nist [--differences]");
            return ExitCode::from(2);
        }
    };
    match solve_all(by_differences) {
        Ok(runs) => {
            print_summary(&runs, by_differences);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One set from one start.
struct Run {
    /// 1 or 2; the second is the closer one.
    start: usize,
    parameter_digits: f64,
    deviation_digits: f64,
    evaluations: usize,
    status: Status,
}

fn solve_all(by_differences: bool) -> Result<Vec<Run>, Box<dyn Error>> {
    println!("set       start  parameters  deviations  evaluations  status");
    let mut runs = Vec::new();
    for set in Model::ALL.iter().map(|&model| DataSet::load(model)) {
        for start in 1..=2 {
            let run = if by_differences {
                let evaluate = |b: &[f64], r: &mut [f64]| -> Result<(), EvaluationError> { (&set).evaluate(b, 0, r) };
                solve(&mut FiniteDifference::new(set.certified.len(), set.y.len(), evaluate), &set, start)?
            } else {
                solve(&mut AutoDiff(&set), &set, start)?
            };
            println!(
                "{:<8}  {start:>5}  {:>10.1}  {:>10.1}  {:>11}  {}",
                set.model.name(),
                run.parameter_digits,
                run.deviation_digits,
                run.evaluations,
                run.status
            );
            runs.push(run);
        }
    }
    Ok(runs)
}

fn solve(problem: &mut impl LeastSquares<f64>, set: &DataSet, start: usize) -> Result<Run, Box<dyn Error>> {
    let report = LevenbergMarquardt::new().minimize(problem, &set.starts[start - 1])?;
    let deviations = Covariance::at(problem, &report.x)?.standard_errors().to_vec();
    Ok(Run {
        start,
        parameter_digits: set.parameter_digits(&report.x),
        deviation_digits: digits(&deviations, &set.standard_deviations),
        evaluations: report.evaluations.residuals + report.evaluations.jacobians,
        status: report.status,
    })
}

fn print_summary(runs: &[Run], by_differences: bool) {
    let with_digits = |least: f64| runs.iter().filter(|run| run.parameter_digits > least).count();
    let mean = runs.iter().map(|run| run.parameter_digits).sum::<f64>() / runs.len() as f64;
    let certified = runs.iter().filter(|run| run.start == 2 && run.deviation_digits >= CERTIFIED).count();
    println!();
    if by_differences {
        println!("by differences: {}/{} with more than 4 digits", with_digits(4.0), runs.len());
    }
    println!(
        "nist: solved {}/{}, mean parameter digits {mean:.2}, standard deviations to 9 digits {certified}/{}",
        with_digits(SOLVED),
        runs.len(),
        runs.len() / 2
    );
}
