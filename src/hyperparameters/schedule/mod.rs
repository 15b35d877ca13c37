//! Schedules: hyperparameters that change with the steps. Names, defaults and formulas are Keras'.

mod cosine;
mod cosine_restarts;
mod piecewise_constant;
mod polynomial;
mod time_decay;
mod warmup;

pub use cosine::CosineDecay;
pub use cosine_restarts::CosineDecayRestarts;
pub use piecewise_constant::PiecewiseConstantDecay;
pub use polynomial::PolynomialDecay;
pub use time_decay::{ExponentialDecay, InverseTimeDecay, TimeDecay};
pub use warmup::LinearWarmup;

use super::{Hyperparameter, HyperparameterError};

/// Schedule: a value for every step. The first step has the value `at(0)`.
///
/// There is a constructor for each kind of schedule; the type of the kind has the options. Both are accepted in the place of a
/// hyperparameter:
///
/// ```
/// use marquardt::optim::{Adam, CosineDecay, Optimizer, Schedule};
///
/// let rate = Schedule::cosine(1e-3, 1000);
/// assert_eq!((rate.at(0), rate.at(1000)), (1e-3, 0.0));
/// let optimizer: Box<dyn Optimizer<f32>> = Box::new(Adam::new(rate));
///
/// let rate = CosineDecay::new(0.0, 1000).with_warmup(1e-3, 100);
/// assert_eq!((rate.at(0), rate.at(100)), (0.0, 1e-3));
/// let optimizer: Box<dyn Optimizer<f32>> = Box::new(Adam::new(rate));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Schedule {
    /// Exponential decay.
    Exponential(ExponentialDecay),
    /// Piecewise constant values.
    PiecewiseConstant(PiecewiseConstantDecay),
    /// Polynomial decay.
    Polynomial(PolynomialDecay),
    /// Inverse time decay.
    InverseTime(InverseTimeDecay),
    /// Falls along half a wave of the cosine.
    Cosine(CosineDecay),
    /// Cosine decay with restarts.
    CosineRestarts(CosineDecayRestarts),
    /// Linear warm-up to the start of another schedule.
    Warmup(LinearWarmup),
}

impl Schedule {
    /// `initial_learning_rate · decay_rate^(step / decay_steps)`, an [`ExponentialDecay`].
    pub fn exponential(initial_learning_rate: f64, decay_steps: u64, decay_rate: f64) -> Self {
        ExponentialDecay::new(initial_learning_rate, decay_steps, decay_rate).into()
    }

    /// The first value up to the first boundary, the second up to the second, …: a [`PiecewiseConstantDecay`].
    pub fn piecewise_constant(boundaries: impl Into<Vec<u64>>, values: impl Into<Vec<f64>>) -> Self {
        PiecewiseConstantDecay::new(boundaries, values).into()
    }

    /// Creates a linear decay, a [`PolynomialDecay`] of degree one.
    pub fn polynomial(initial_learning_rate: f64, decay_steps: u64) -> Self {
        PolynomialDecay::new(initial_learning_rate, decay_steps).into()
    }

    /// `initial_learning_rate / (1 + decay_rate · step / decay_steps)`, an [`InverseTimeDecay`].
    pub fn inverse_time(initial_learning_rate: f64, decay_steps: u64, decay_rate: f64) -> Self {
        InverseTimeDecay::new(initial_learning_rate, decay_steps, decay_rate).into()
    }

    /// Creates a decay to zero along half a period of the cosine, a [`CosineDecay`].
    pub fn cosine(initial_learning_rate: f64, decay_steps: u64) -> Self {
        CosineDecay::new(initial_learning_rate, decay_steps).into()
    }

    /// Creates a cosine decay with restarts, each period twice as long as the last: a [`CosineDecayRestarts`].
    pub fn cosine_restarts(initial_learning_rate: f64, first_decay_steps: u64) -> Self {
        CosineDecayRestarts::new(initial_learning_rate, first_decay_steps).into()
    }

    /// Creates a linear rise from zero to the start of another hyperparameter, a [`LinearWarmup`].
    pub fn warmup(warmup_steps: u64, then: impl Into<Hyperparameter>) -> Self {
        LinearWarmup::new(warmup_steps, then).into()
    }
}

macro_rules! schedules {
    ($($variant:ident($schedule:ident))*) => {
        impl Schedule {
            /// The value for the step after `step` others.
            pub fn at(&self, step: u64) -> f64 {
                match self {
                    $(Schedule::$variant(schedule) => schedule.at(step),)*
                }
            }

            /// Checks the arguments. Optimizers call this before they accept a schedule.
            ///
            /// # Errors
            ///
            /// [`HyperparameterError::Schedule`].
            pub fn check(&self) -> Result<(), HyperparameterError> {
                match self {
                    $(Schedule::$variant(schedule) => schedule.check(),)*
                }
            }
        }

        $(
            impl From<$schedule> for Schedule {
                fn from(schedule: $schedule) -> Self {
                    Schedule::$variant(schedule)
                }
            }

            impl From<$schedule> for Hyperparameter {
                fn from(schedule: $schedule) -> Self {
                    Hyperparameter::Schedule(schedule.into())
                }
            }
        )*
    };
}

schedules! {
    Exponential(ExponentialDecay)
    PiecewiseConstant(PiecewiseConstantDecay)
    Polynomial(PolynomialDecay)
    InverseTime(InverseTimeDecay)
    Cosine(CosineDecay)
    CosineRestarts(CosineDecayRestarts)
    Warmup(LinearWarmup)
}

/// An error unless an argument of a schedule is as it has to be.
fn require(
    schedule: &'static str,
    argument: &'static str,
    value: f64,
    fits: bool,
    requirement: &'static str,
) -> Result<(), HyperparameterError> {
    if fits { Ok(()) } else { Err(HyperparameterError::Schedule { schedule, argument, requirement, value }) }
}

/// An error unless an argument is finite.
fn require_finite(schedule: &'static str, argument: &'static str, value: f64) -> Result<(), HyperparameterError> {
    require(schedule, argument, value, value.is_finite(), "finite")
}

/// An error unless there is at least one step.
fn require_steps(schedule: &'static str, argument: &'static str, steps: u64) -> Result<(), HyperparameterError> {
    require(schedule, argument, steps as f64, steps > 0, "at least 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_make_their_kinds() {
        assert_eq!(Schedule::exponential(0.1, 5, 0.5), ExponentialDecay::new(0.1, 5, 0.5).into());
        assert_eq!(Schedule::piecewise_constant([3], [0.1, 0.2]), PiecewiseConstantDecay::new([3], [0.1, 0.2]).into());
        assert_eq!(Schedule::polynomial(0.1, 5), PolynomialDecay::new(0.1, 5).into());
        assert_eq!(Schedule::inverse_time(0.1, 5, 0.5), InverseTimeDecay::new(0.1, 5, 0.5).into());
        assert_eq!(Schedule::cosine(0.1, 5), CosineDecay::new(0.1, 5).into());
        assert_eq!(Schedule::cosine_restarts(0.1, 5), CosineDecayRestarts::new(0.1, 5).into());
        assert_eq!(
            Schedule::warmup(5, Schedule::cosine(0.1, 9)),
            LinearWarmup::new(5, CosineDecay::new(0.1, 9)).into()
        );
        let error = Schedule::cosine(0.1, 0).check().unwrap_err();
        assert_eq!(error.to_string(), "CosineDecay: decay_steps must be at least 1, not 0");
    }

    #[test]
    fn arguments_that_make_no_sense_are_named() {
        let cases: [(Schedule, &str); 12] = [
            (ExponentialDecay::new(0.1, 0, 0.5).into(), "ExponentialDecay: decay_steps must be at least 1, not 0"),
            (ExponentialDecay::new(0.1, 9, -0.5).into(), "ExponentialDecay: decay_rate must be positive, not -0.5"),
            (
                PiecewiseConstantDecay::new([3], [0.1]).into(),
                "PiecewiseConstantDecay: values must be one more than the boundaries, not 1",
            ),
            (
                PiecewiseConstantDecay::new([3, 3], [0.1, 0.2, 0.3]).into(),
                "PiecewiseConstantDecay: boundaries must be ascending, not 3",
            ),
            (PolynomialDecay::new(0.1, 5).with_power(0.0).into(), "PolynomialDecay: power must be positive, not 0"),
            (InverseTimeDecay::new(0.1, 5, -1.0).into(), "InverseTimeDecay: decay_rate must be at least 0, not -1"),
            (CosineDecay::new(f64::NAN, 5).into(), "CosineDecay: initial_learning_rate must be finite, not NaN"),
            (
                CosineDecay::new(0.0, 5).with_warmup(0.1, 0).into(),
                "CosineDecay: warmup_steps must be at least 1, not 0",
            ),
            (
                CosineDecayRestarts::new(0.1, 5).with_t_mul(0.5).into(),
                "CosineDecayRestarts: t_mul must be at least 1, not 0.5",
            ),
            (
                CosineDecayRestarts::new(0.1, 5).with_m_mul(-1.0).into(),
                "CosineDecayRestarts: m_mul must be at least 0, not -1",
            ),
            (LinearWarmup::new(0, 0.1).into(), "LinearWarmup: warmup_steps must be at least 1, not 0"),
            (
                LinearWarmup::new(5, CosineDecay::new(0.1, 0)).into(),
                "CosineDecay: decay_steps must be at least 1, not 0",
            ),
        ];
        for (schedule, message) in cases {
            assert_eq!(schedule.check().unwrap_err().to_string(), message);
        }
    }
}
