//! Endings of the command, and their exit codes.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use marquardt::FittedCurve;
use marquardt::curve::FormulaError;
use marquardt::solver::Status;
use thiserror::Error;

/// Outcome of a run, and its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All fits converged: exit code 0.
    Solved,
    /// A fit did not converge, or was interrupted: exit code 1.
    NotConverged,
    /// A fit ended, but nothing can be concluded from it: exit code 3.
    Unusable,
    /// The input cannot be used: exit code 2.
    BadInput,
}

impl Ending {
    /// The ending of fits that converged or not.
    pub fn of(is_converged: bool) -> Self {
        if is_converged { Ending::Solved } else { Ending::NotConverged }
    }

    /// The ending of a fit. One that was cut short may still become usable.
    pub fn of_fit(fit: &FittedCurve<'_, f64>) -> Self {
        let is_cut_short = matches!(fit.report().status, Status::Cancelled | Status::TimeLimit);
        if fit.is_unusable() && !is_cut_short { Ending::Unusable } else { Self::of(fit.report().is_converged()) }
    }

    /// The ending of several fits: that of the worst.
    pub fn of_all(endings: impl Iterator<Item = Ending>) -> Self {
        let all: Vec<Ending> = endings.collect();
        let worst = [Ending::Unusable, Ending::NotConverged].into_iter().find(|ending| all.contains(ending));
        worst.unwrap_or(Ending::Solved)
    }
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        ExitCode::from(match ending {
            Ending::Solved => 0,
            Ending::NotConverged => 1,
            Ending::BadInput => 2,
            Ending::Unusable => 3,
        })
    }
}

/// Error that left no result.
#[derive(Debug)]
pub struct Failure(Box<dyn Error>);

/// Option of the command line whose formula is wrong.
#[derive(Debug, Error)]
#[error("{option}: {error}")]
struct FormulaOfOption {
    option: &'static str,
    error: FormulaError,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Failure(message.into().into())
    }

    /// The failure of an option whose formula is wrong.
    pub fn of_formula(option: &'static str) -> impl Fn(FormulaError) -> Self {
        move |error| FormulaOfOption { option, error }.into()
    }

    /// The output went to a program that does not read it any more.
    pub fn is_broken_pipe(&self) -> bool {
        self.0.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The message: on one line, but for a formula, below which there is a mark.
    pub fn message(&self) -> String {
        if self.0.is::<FormulaOfOption>() { self.0.to_string() } else { self.one_line() }
    }

    /// The message, without line breaks.
    pub fn one_line(&self) -> String {
        self.0.to_string().split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(error.into())
    }
}

/// The names in quotes, with commas between them, as the library writes them.
pub fn quoted(names: &[impl AsRef<str>]) -> String {
    names.iter().map(|name| format!("{:?}", name.as_ref())).collect::<Vec<_>>().join(", ")
}
