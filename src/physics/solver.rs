//! The solver that suits differential equations.

use crate::real::Real;
use crate::solver::{Acceleration, LevenbergMarquardt};

impl<T: Real> LevenbergMarquardt<T> {
    /// A solver set up for networks that solve [differential equations](crate::physics): [every step](Acceleration::Always)
    /// is accelerated, as their path stays curved to the last digit. All else is as by [`new`](Self::new).
    pub fn for_equations() -> Self {
        Self::new().with_acceleration(Acceleration::Always)
    }
}
