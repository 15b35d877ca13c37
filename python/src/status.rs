//! Statuses as words.

use marquardt::solver::Status;

/// A word for a status.
pub fn status_word(status: Status) -> &'static str {
    match status {
        Status::GradientTolerance => "gtol",
        Status::CostTolerance => "ftol",
        Status::StepTolerance => "xtol",
        Status::ResidualsVanished => "zero",
        Status::TargetCost => "target",
        Status::MaxIterations => "max_iterations",
        Status::MaxEvaluations => "max_evaluations",
        Status::TimeLimit => "time",
        Status::Cancelled => "cancelled",
        Status::FlatValley => "flat",
        Status::NoProgress => "no_progress",
        Status::WrongDerivatives => "wrong_derivatives",
        _ => "failed",
    }
}
