//! The solver that suits differential equations.

use crate::LevenbergMarquardt;
use crate::real::Real;
use crate::solver::Acceleration;
use crate::solver::damping::GainRatio;

/// The damping to begin with, in units of the squared column norms.
const INITIAL_DAMPING: f64 = 1e-3;

impl<T: Real> LevenbergMarquardt<T> {
    /// A solver set up for networks that solve [differential equations](crate::physics).
    ///
    /// Their path is curved to the last digit, so that [every step](Acceleration::Always) is accelerated, and their
    /// residuals vanish, so that damping starts from 1e-3 instead of 0.1. All else is as by [`new`](Self::new).
    pub fn for_equations() -> Self {
        let damping = GainRatio::new(T::from_f64(INITIAL_DAMPING));
        Self::new().with_damping(damping.into()).with_acceleration(Acceleration::Always)
    }
}
