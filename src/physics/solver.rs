//! The solver that suits differential equations.

use crate::real::Real;
use crate::solver::{Acceleration, LevenbergMarquardt};

impl<T: Real> LevenbergMarquardt<T> {
    /// A solver set up for networks that solve [differential equations](crate::physics), whose path stays curved to the last digit:
    /// [every step](Acceleration::Always) is accelerated, and a trial gets up to three
    /// [chord corrections](Self::with_chord_corrections). All else is as by [`new`](Self::new).
    pub fn for_equations() -> Self {
        Self::new().with_acceleration(Acceleration::Always).with_chord_corrections(3)
    }
}
