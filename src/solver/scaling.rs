//! The scaling `D` of the damping.

use crate::Real;

/// What the fading maximum keeps from one step to the next. From 0.4 to 0.8 all NIST runs are solved.
const FADE: f64 = 0.7;

/// What one unit of each parameter is worth to the damping: the `D` of `JᵀJ + λD²`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scaling {
    /// `D = I` (Levenberg 1944). Right when the parameters share a unit and size, as weights of a network do.
    Identity,
    /// `D_jj = ‖J_j‖` at the current point (Marquardt 1963). Changing the unit of a parameter changes nothing.
    Marquardt,
    /// `D_jj` is the largest `‖J_j‖` so far (Moré 1978): as Marquardt's, and a parameter that loses its influence on the
    /// way is not set free.
    RunningMaximum,
    /// `D_jj` is the largest `‖J_j‖` so far, fading by a factor of 0.7 with each step: as the running maximum, but an
    /// early excursion to where the model explodes is forgotten.
    #[default]
    FadingMaximum,
}

impl Scaling {
    /// Brings `d` up to date at a point with these column norms; `d` is zero before the first point.
    #[inline]
    pub(crate) fn update<T: Real>(self, d: &mut [T], column_norms: &[T]) {
        for (d, &norm) in d.iter_mut().zip(column_norms) {
            *d = match self {
                Scaling::Identity => T::ONE,
                // A parameter without influence is still damped, by something rather than nothing.
                _ if norm == T::ZERO && *d == T::ZERO => T::ONE,
                Scaling::Marquardt if norm > T::ZERO => norm,
                Scaling::Marquardt => *d,
                Scaling::RunningMaximum => d.max(norm),
                Scaling::FadingMaximum => (T::from_f64(FADE) * *d).max(norm),
            };
        }
    }
}
