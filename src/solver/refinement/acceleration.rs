//! Geodesic acceleration: a second-order correction along the step.

use super::Refinement;
use crate::problem::Evaluated;
use crate::real::Real;
use crate::solver::Refusal;
use crate::solver::damping::Trial;
use crate::solver::system::StepSystem;

/// Policy of the second-order step correction (geodesic acceleration, Transtrum & Sethna 2012).
///
/// In long curved valleys plain steps are short. The correction follows the curvature of the valley. It takes one second directional
/// derivative of the residuals (exact with [`AutoDiff`](crate::AutoDiff), otherwise one more evaluation) and, if the Jacobian does not fit
/// into one tile of the cache, one more pass over it. A problem with its own loss
/// ([`Capabilities::cost_of`](crate::problem::Capabilities::cost_of)) must provide this derivative; otherwise its steps are not corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Acceleration {
    /// Plain steps.
    Never,
    /// Enabled after a step with a gain ratio below 0.75; disabled once the correction is below 2 % of the step. The default.
    #[default]
    WhereCurved,
    /// Every step, for problems whose path stays curved, such as networks that solve differential equations. Where the correction would be
    /// longer than three quarters of the step, the step is plain instead of rejected.
    Always,
}

/// The correction may be this long, relative to the step; beyond, the step is not trusted (Transtrum & Sethna 2012, α).
const LONGEST_CORRECTION: f64 = 0.75;

/// Length of the correction, relative to the step, at which acceleration is disabled again.
const STRAIGHT: f64 = 0.02;

/// A gain ratio below this is taken for a sign of curvature.
const CURVED_GAIN: f64 = 0.75;

/// Step of the difference for the second directional derivative, relative to `δ` (Transtrum & Sethna 2012, h).
const PROBE: f64 = 0.1;

/// The correction `½a` of the step `v`, where `(JᵀJ + λD²)a = −Jᵀr_vv` and `r_vv` is the second derivative of the residuals along `v`.
pub(in crate::solver) struct GeodesicAcceleration<T> {
    policy: Acceleration,
    /// The next step is corrected.
    pub(in crate::solver) is_next: bool,
    /// Length of the correction of the last step relative to it, if it was corrected.
    last: Option<T>,
}

impl<T: Real> GeodesicAcceleration<T> {
    #[inline]
    pub(in crate::solver) fn new(policy: Acceleration) -> Self {
        GeodesicAcceleration { policy, is_next: policy == Acceleration::Always, last: None }
    }
}

impl<T: Real> Refinement<T> for GeodesicAcceleration<T> {
    /// A step with too long a correction is not tried; where every step is accelerated, it gives way to the plain step with the same
    /// damping. No correction is made where the second derivative is not finite, or a bound would be crossed.
    #[inline]
    fn refine(&mut self, system: &mut impl StepSystem<T>, _: &mut Trial<T>) -> Evaluated<Option<Refusal>> {
        self.last = None;
        if !self.is_next {
            return Ok(None);
        }
        let ratio = system.bend(T::from_f64(PROBE))?;
        self.last = Some(ratio);
        if ratio <= T::from_f64(LONGEST_CORRECTION) {
            if ratio > T::ZERO {
                system.take_correction(T::from_f64(-0.5));
            }
            return Ok(None);
        }
        Ok((self.policy != Acceleration::Always).then_some(Refusal::TooCurved))
    }

    #[inline]
    fn learn(&mut self, trial: &Trial<T>) {
        self.is_next = match (self.policy, self.last) {
            (Acceleration::Never, _) => false,
            (Acceleration::Always, _) => true,
            (Acceleration::WhereCurved, Some(correction)) => correction > T::from_f64(STRAIGHT),
            (Acceleration::WhereCurved, None) => !trial.gains(CURVED_GAIN),
        };
    }
}
