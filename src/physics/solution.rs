//! Solution of a solve, and its held-out residuals.

use std::fmt;

use crate::real::Real;
use crate::solver::Report;

/// The end of a solve, with each term's residuals at its points and at others.
#[derive(Debug)]
pub struct Solution<T> {
    /// Report of the solve. Its cost is the loss.
    pub report: Report<T>,
    /// The residuals of each term.
    pub terms: Vec<HeldOut<T>>,
}

/// Root mean squares of a term's residuals.
///
/// Training residuals can vanish while the solution is wrong between the points. Residuals at points that were held out show
/// it: they are then far larger.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut<T> {
    /// The term.
    pub term: String,
    /// Number of points of the term.
    pub points: usize,
    /// Root mean square at the points of the term.
    pub trained: T,
    /// Root mean square at as many other points from the same places; `None` where the places are not known, as for data.
    pub held_out: Option<T>,
}

/// Held-out residuals as many times as large as those of training are a warning.
const SUSPICIOUS: f64 = 10.0;

impl<T: Real> HeldOut<T> {
    /// Returns true if the residual at the points that were held out is at least ten times that of training: take more points.
    pub fn is_suspicious(&self) -> bool {
        self.held_out.is_some_and(|held_out| held_out > T::from_f64(SUSPICIOUS) * self.trained)
    }
}

impl<T: Real> fmt::Display for Solution<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.terms.iter().map(|term| term.term.len()).max().unwrap_or(0).max(4);
        writeln!(f, "loss {:.3e} after {} iterations", self.report.cost.to_f64(), self.report.iterations)?;
        writeln!(f, "{:width$}  {:>7}  {:>10}  {:>10}", "term", "points", "residual", "held out")?;
        for term in &self.terms {
            write!(f, "{:width$}  {:>7}  {:>10.3e}", term.term, term.points, term.trained.to_f64())?;
            match term.held_out {
                Some(held_out) => write!(f, "  {:>10.3e}", held_out.to_f64())?,
                None => write!(f, "  {:>10}", "–")?,
            }
            writeln!(f, "{}", if term.is_suspicious() { "  take more points" } else { "" })?;
        }
        Ok(())
    }
}
