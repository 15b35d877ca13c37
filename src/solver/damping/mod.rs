//! Damping policies: rules for the damping `λ` in `(JᵀJ + λD²)δ = −Jᵀr`, from the result of the last step.
//!
//! ```
//! use marquardt::LevenbergMarquardt;
//! use marquardt::solver::damping::TrustRegion;
//!
//! let solver = LevenbergMarquardt::<f64>::new().with_damping(TrustRegion::default());
//! ```

mod any_policy;
mod at_least;
pub(super) mod gain_ratio;
mod multiplicative;
mod trust_region;

pub(crate) use any_policy::AnyPolicy;
pub(super) use at_least::AtLeast;
pub use gain_ratio::GainRatio;
pub use multiplicative::Multiplicative;
pub use trust_region::TrustRegion;

pub use crate::linear::IllConditioned;
use crate::real::Real;

/// The damped system at the current point, as a policy may probe it.
pub trait DampedSystem<T: Real> {
    /// Solves with damping `lambda` and returns the length `‖Dδ‖` of the step. The last solve is the step that will be
    /// tried.
    fn solve(&mut self, lambda: T) -> Result<T, IllConditioned>;

    /// `−d‖Dδ‖/dλ` at the last solve; one more triangular substitution.
    fn shrink_rate(&mut self) -> T;

    /// `‖D⁻¹Jᵀr‖`, the length of the gradient in the scaled variables: with it `‖Dδ‖ ≤ ‖D⁻¹Jᵀr‖ / λ`.
    fn gradient_norm(&mut self) -> T;

    /// Returns true if steps are limited by bounds. The length `‖Dδ‖` still falls with `λ`, but is not a convex function of it.
    fn is_bounded(&self) -> bool {
        false
    }

    /// Returns true if another solve costs little compared with a linearisation, which holds if the Jacobian is formed.
    fn is_cheap(&self) -> bool {
        true
    }
}

/// Outcome of a step.
#[derive(Debug, Clone, Copy)]
pub struct Trial<T> {
    /// Damping `λ` of the step.
    pub lambda: T,
    /// Its length `‖Dδ‖`, before training applies a learning rate, momentum or clipping.
    pub length: T,
    /// Derivative of the cost along the step at its start, `(Jᵀr)ᵀδ`; negative.
    pub slope: T,
    /// Reduction of the cost that the linear model predicted.
    pub predicted: T,
    /// Actual reduction of the cost, negative if the cost rose; `-∞` if the trial point could not be used.
    pub actual: T,
    /// The step was taken.
    pub accepted: bool,
}

impl<T: Real> Trial<T> {
    /// Actual over predicted reduction: one where the model is perfect, negative where the cost rose.
    #[inline]
    pub fn gain_ratio(&self) -> T {
        self.actual / self.predicted
    }

    /// The gain ratio is larger than `share`.
    #[inline]
    pub fn gains(&self, share: f64) -> bool {
        self.actual > T::from_f64(share) * self.predicted
    }
}

/// A rule for the damping.
///
/// Implement it to use your own rule with [`LevenbergMarquardt::with_damping`](crate::LevenbergMarquardt::with_damping). Threads share
/// solvers and their policies, hence `Send + Sync`. In training, a policy must not borrow (`'static`).
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::problem::FiniteDifference;
/// use marquardt::solver::damping::{DampedSystem, DampingPolicy, IllConditioned, Trial};
///
/// /// Halve or quadruple.
/// #[derive(Clone)]
/// struct Simple(f64);
///
/// impl DampingPolicy<f64> for Simple {
///     fn start(&mut self, _scaled_start: f64) { self.0 = 1e-2; }
///     fn damp(&mut self, system: &mut dyn DampedSystem<f64>) -> Result<f64, IllConditioned> {
///         system.solve(self.0)?;
///         Ok(self.0)
///     }
///     fn update(&mut self, trial: &Trial<f64>) {
///         self.0 *= if trial.accepted { 0.5 } else { 4.0 };
///     }
///     fn damp_more(&mut self) {
///         self.0 *= 4.0;
///     }
/// }
///
/// let mut problem = FiniteDifference::new(1, 1, |x: &[f64], r: &mut [f64]| {
///     r[0] = x[0].exp() - 2.0;
///     Ok(())
/// });
/// let report =
///     LevenbergMarquardt::new().with_damping(Simple(0.0)).minimize(&mut problem, &[3.0])?;
/// assert!((report.x[0] - 2.0_f64.ln()).abs() < 1e-9);
/// # Ok::<(), marquardt::SolveError>(())
/// ```
pub trait DampingPolicy<T: Real>: Clone + Send + Sync {
    /// Resets the policy; `scaled_start` is `‖Dx‖` at the start.
    fn start(&mut self, scaled_start: T);

    /// Chooses the damping for the next step, leaving `system` solved with it.
    ///
    /// An error means that the system is too close to singular even with this damping; the solver then switches to QR, or calls
    /// [`damp_more`](Self::damp_more) and this method again.
    fn damp(&mut self, system: &mut dyn DampedSystem<T>) -> Result<T, IllConditioned>;

    /// Updates the damping by the outcome of a trial.
    fn update(&mut self, trial: &Trial<T>);

    /// Raises the damping after a step that could not be solved for.
    fn damp_more(&mut self);

    /// Lowers the damping again if its last increase made the step too short to exceed rounding errors; a smaller increase may be
    /// sufficient. Returns `false`, and changes nothing, if the increase was too small for that. The default implementation returns
    /// `false`.
    fn relax(&mut self) -> bool {
        false
    }

    /// Appends the state of the policy, as numbers to be saved.
    fn save(&self, numbers: &mut Vec<f64>) {
        let _ = numbers;
    }

    /// Restores saved numbers. Returns false if they do not belong to this policy.
    fn restore(&mut self, numbers: &[f64]) -> bool {
        numbers.is_empty()
    }
}

/// The built-in policies, to choose from at run time.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Damping<T> {
    /// `λ` by the gain ratio (Nielsen). The default.
    GainRatio(GainRatio<T>),
    /// A trust region, `λ` from the secular equation (Moré).
    TrustRegion(TrustRegion<T>),
    /// `λ` times or divided by fixed factors (Marquardt; delayed gratification).
    Multiplicative(Multiplicative<T>),
}

impl<T: Real> Default for Damping<T> {
    fn default() -> Self {
        Damping::GainRatio(GainRatio::default())
    }
}

impl<T: Real> DampingPolicy<T> for Damping<T> {
    #[inline]
    fn start(&mut self, scaled_start: T) {
        match self {
            Damping::TrustRegion(policy) => policy.start(scaled_start),
            Damping::GainRatio(policy) => policy.start(scaled_start),
            Damping::Multiplicative(policy) => policy.start(scaled_start),
        }
    }

    #[inline]
    fn damp(&mut self, system: &mut dyn DampedSystem<T>) -> Result<T, IllConditioned> {
        match self {
            Damping::TrustRegion(policy) => policy.damp(system),
            Damping::GainRatio(policy) => policy.damp(system),
            Damping::Multiplicative(policy) => policy.damp(system),
        }
    }

    #[inline]
    fn update(&mut self, trial: &Trial<T>) {
        match self {
            Damping::TrustRegion(policy) => policy.update(trial),
            Damping::GainRatio(policy) => policy.update(trial),
            Damping::Multiplicative(policy) => policy.update(trial),
        }
    }

    fn damp_more(&mut self) {
        match self {
            Damping::TrustRegion(policy) => policy.damp_more(),
            Damping::GainRatio(policy) => policy.damp_more(),
            Damping::Multiplicative(policy) => policy.damp_more(),
        }
    }

    fn relax(&mut self) -> bool {
        match self {
            Damping::TrustRegion(policy) => policy.relax(),
            Damping::GainRatio(policy) => policy.relax(),
            Damping::Multiplicative(policy) => policy.relax(),
        }
    }

    fn save(&self, numbers: &mut Vec<f64>) {
        match self {
            Damping::TrustRegion(policy) => policy.save(numbers),
            Damping::GainRatio(policy) => policy.save(numbers),
            Damping::Multiplicative(policy) => policy.save(numbers),
        }
    }

    fn restore(&mut self, numbers: &[f64]) -> bool {
        match self {
            Damping::TrustRegion(policy) => policy.restore(numbers),
            Damping::GainRatio(policy) => policy.restore(numbers),
            Damping::Multiplicative(policy) => policy.restore(numbers),
        }
    }
}

macro_rules! built_in {
    ($($policy:ident)*) => {
        $(
            impl<T> From<$policy<T>> for Damping<T> {
                fn from(policy: $policy<T>) -> Self {
                    Damping::$policy(policy)
                }
            }
        )*
    };
}

built_in!(TrustRegion GainRatio Multiplicative);
