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
    /// Sigma is the standard deviation itself; without this, only its ratios count
    #[arg(long, requires = "sigma")]
    pub absolute_sigma: bool,
    /// Weights by the modulus of the response, so that complex responses are equally precise in percent
    #[arg(long, conflicts_with_all = ["sigma", "weights"])]
    pub weight_by_modulus: bool,
    /// Takes errors of the predictors for effective variances of the response; otherwise orthogonal distances are minimised
    #[arg(long, requires = "sigma_x")]
    pub effective_variance: bool,
    /// The responses are counts: maximises the Poisson likelihood
    #[arg(long)]
    pub counts: bool,
    /// Robust loss, which gives outliers little weight
    #[arg(long, value_name = "LOSS", value_parser = losses(), num_args = 0..=1, require_equals = true,
          default_missing_value = "tukey")]
    pub robust: Option<Loss>,
    /// Scale of the robust loss; judged by the residuals unless given
    #[arg(long, value_name = "NUMBER", requires = "robust", allow_negative_numbers = true)]
    pub f_scale: Option<f64>,
    /// Fits from so many starts within bounds or --range, and keeps the best fit
    #[arg(long, value_name = "STARTS", num_args = 0..=1, require_equals = true, default_missing_value = "32",
          value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub multi_start: Option<u32>,
    /// Ranges of parameters to start from; otherwise their bounds, or a decade on either side of the first start
    #[arg(long, value_name = "NAME=LOW..HIGH,...", value_delimiter = ',', requires = "multi_start", value_parser = assignments::range)]
    pub range: Vec<NamedValue<RangeInclusive<f64>>>,
    /// Seed of random numbers
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Keeps the first result, even if it is bad; otherwise other methods and starts are tried then
    #[arg(long)]
    pub no_retry: bool,
    /// Eliminates the parameters that enter linearly
    #[arg(long, conflicts_with_all = ["counts", "robust"])]
    pub variable_projection: bool,
    /// Rule for the damping of steps; gain-ratio unless given
    #[arg(long, value_enum, value_name = "RULE")]
    pub damping: Option<DampingName>,
    /// Steps that get a second-order correction, the geodesic acceleration; curved unless given
    #[arg(long, value_enum, value_name = "STEPS")]
    pub acceleration: Option<AccelerationName>,
    /// Scaling of the parameters in the damping; fading-maximum unless given
    #[arg(long, value_enum, value_name = "RULE")]
    pub scaling: Option<ScalingName>,
    /// Ends where a step changes the sum of squares by no more than this share
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub ftol: Option<f64>,
    /// Ends where a step changes the parameters by no more than this share
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub xtol: Option<f64>,
    /// Ends where the cosine between the residuals and each column of the Jacobian is no larger
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub gtol: Option<f64>,
    /// Limit of the number of evaluations of the curve
    #[arg(long, value_name = "NUMBER", alias = "max-nfev")]
    pub max_evaluations: Option<usize>,
    /// Limit of the number of iterations
    #[arg(long, value_name = "NUMBER")]
    pub max_iterations: Option<usize>,
    /// Limit of the time of a fit, in seconds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
    /// Prints each iteration while the fit runs
    #[arg(long)]
    pub watch: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DampingName {
    /// By the ratio of the actual to the predicted reduction (Nielsen)
    GainRatio,
    /// Within a trust region, as in MINPACK (Moré)
    TrustRegion,
    /// Up and down by 10 (Marquardt)
    Marquardt,
    /// Up by 2, down by 5 (Transtrum and Sethna)
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
    /// Where the gain ratio shows that the path is curved
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
    /// Their largest so far, as in MINPACK (Moré)
    RunningMaximum,
    /// Their largest so far, fading by 0.7 with each step
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
