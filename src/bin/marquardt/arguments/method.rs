//! Arguments that say how data are weighted and how the solver works.

use std::ops::RangeInclusive;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, value_parser};
use marquardt::Loss;
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::solver::{Acceleration, Scaling};

use crate::assignments::{self, NamedValue};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Method")]
pub struct MethodArguments {
    /// Sigma is the standard deviation of the noise. Default: only the ratios of sigma count, and the size of the noise is estimated
    #[arg(long, requires = "sigma")]
    pub absolute_sigma: bool,
    /// Weights by the modulus of the response: all complex responses have the same relative precision
    #[arg(long, conflicts_with_all = ["sigma", "weights"])]
    pub weight_by_modulus: bool,
    /// Converts errors of the predictors to effective variances of the response. Default: orthogonal distances are minimised
    #[arg(long, requires = "sigma_x")]
    pub effective_variance: bool,
    /// Treats the responses as counts and maximises the Poisson likelihood
    #[arg(long)]
    pub counts: bool,
    /// Robust loss, which gives outliers little weight; tukey if no loss is named
    #[arg(long, value_name = "LOSS", value_parser = losses(), num_args = 0..=1, require_equals = true,
          default_missing_value = "tukey")]
    pub robust: Option<Loss>,
    /// Scale of the robust loss. Default: estimated from the residuals
    #[arg(long, value_name = "NUMBER", requires = "robust", allow_negative_numbers = true)]
    pub f_scale: Option<f64>,
    /// Number of starts within bounds or --range, from 1 to 1000000; 32 if no number is given. The best fit is kept
    #[arg(long, value_name = "STARTS", num_args = 0..=1, require_equals = true, default_missing_value = "32",
          value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub multi_start: Option<u32>,
    /// Ranges of the starts of parameters. Default: their bounds, or from a tenth of the first start to 10 times it
    #[arg(long, value_name = "NAME=LOW..HIGH,...", value_delimiter = ',', requires = "multi_start", value_parser = assignments::range)]
    pub range: Vec<NamedValue<RangeInclusive<f64>>>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Makes one attempt only. Default: after a bad end, other methods and starts are tried
    #[arg(long)]
    pub no_retry: bool,
    /// Eliminates the parameters in which the curve is linear
    #[arg(long, conflicts_with_all = ["counts", "robust"])]
    pub variable_projection: bool,
    /// Rule for the damping of steps. Default: gain-ratio
    #[arg(long, value_enum, value_name = "RULE")]
    pub damping: Option<DampingName>,
    /// Steps with a second-order correction, the geodesic acceleration. Default: curved
    #[arg(long, value_enum, value_name = "STEPS")]
    pub acceleration: Option<AccelerationName>,
    /// Scaling of the parameters in the damping. Default: fading-maximum
    #[arg(long, value_enum, value_name = "RULE")]
    pub scaling: Option<ScalingName>,
    /// Relative tolerance of the cost: the solve ends once a step reduces it by at most this fraction. Default: 1e-10
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub ftol: Option<f64>,
    /// Relative tolerance of the parameters: the solve ends once a step changes them by at most this fraction
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub xtol: Option<f64>,
    /// Tolerance of the gradient: the solve ends once the cosine between the residuals and each column of the Jacobian is at most this
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub gtol: Option<f64>,
    /// Largest number of evaluations of the curve
    #[arg(long, value_name = "NUMBER", alias = "max-nfev")]
    pub max_evaluations: Option<usize>,
    /// Largest number of iterations
    #[arg(long, value_name = "NUMBER")]
    pub max_iterations: Option<usize>,
    /// Time limit of a fit, in seconds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
    /// Prints every iteration while the fit runs
    #[arg(long)]
    pub watch: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DampingName {
    /// By the ratio of the actual to the predicted reduction of the cost (Nielsen)
    GainRatio,
    /// Within a trust region, as in MINPACK (Moré)
    TrustRegion,
    /// Raised and lowered by a factor of 10 (Marquardt)
    Marquardt,
    /// Raised by a factor of 2, lowered by 5 (Transtrum and Sethna)
    DelayedGratification,
}

impl From<DampingName> for Damping<f64> {
    fn from(name: DampingName) -> Self {
        match name {
            DampingName::GainRatio => GainRatio::default().into(),
            DampingName::TrustRegion => TrustRegion::default().into(),
            DampingName::Marquardt => Multiplicative::default().into(),
            DampingName::DelayedGratification => Multiplicative::delayed_gratification().into(),
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum AccelerationName {
    /// None
    Never,
    /// Steps after a gain ratio below 0.75
    Curved,
    /// All
    Always,
}

impl From<AccelerationName> for Acceleration {
    fn from(name: AccelerationName) -> Self {
        match name {
            AccelerationName::Never => Acceleration::Never,
            AccelerationName::Curved => Acceleration::WhereCurved,
            AccelerationName::Always => Acceleration::Always,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ScalingName {
    /// None (Levenberg)
    Identity,
    /// Norms of the columns of the Jacobian (Marquardt)
    Marquardt,
    /// Largest norms of the columns so far, as in MINPACK (Moré)
    RunningMaximum,
    /// Largest norms of the columns so far, multiplied by 0.7 after each step
    FadingMaximum,
}

impl From<ScalingName> for Scaling {
    fn from(name: ScalingName) -> Self {
        match name {
            ScalingName::Identity => Scaling::Identity,
            ScalingName::Marquardt => Scaling::Marquardt,
            ScalingName::RunningMaximum => Scaling::RunningMaximum,
            ScalingName::FadingMaximum => Scaling::FadingMaximum,
        }
    }
}

pub fn losses() -> impl TypedValueParser<Value = Loss> {
    let of_name = |name: String| Loss::ALL.iter().copied().find(|loss| loss.name() == name);
    PossibleValuesParser::new(Loss::ALL.iter().map(|loss| loss.name()))
        .map(move |name| of_name(name).expect("it is one of the names"))
}
