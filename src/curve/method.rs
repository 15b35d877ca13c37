//! Method of a fit: how it is solved, and tried again.

use super::iteration_observer::IterationObserver;
use crate::real::Real;
use crate::solver::LevenbergMarquardt;

/// How a fit is solved, and tried again.
#[derive(Debug, Clone)]
pub(super) struct FitMethod<T: Real> {
    /// Parameters that enter linearly are eliminated.
    pub(super) variable_projection: bool,
    /// A fit that ends badly is tried again in other ways.
    pub(super) retry: bool,
    pub(super) solver: LevenbergMarquardt<T>,
    pub(super) observer: Option<IterationObserver<T>>,
}

impl<T: Real> Default for FitMethod<T> {
    fn default() -> Self {
        FitMethod { variable_projection: false, retry: true, solver: LevenbergMarquardt::new(), observer: None }
    }
}
