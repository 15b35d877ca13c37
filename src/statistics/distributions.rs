//! Quantiles and tail probabilities, by the crate `statrs`.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, Normal, StudentsT};

/// Where the standard normal distribution has the probability `p` below.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// Probability that a standard normal number is above `z`.
pub(crate) fn normal_tail(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// Where Student's t distribution has the probability `p` below; the normal one's quantile for infinite `freedom`.
pub(crate) fn t_quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(p))
}

/// Where the χ² distribution has the probability `p` below.
pub(crate) fn chi_squared_quantile(p: f64, freedom: f64) -> f64 {
    ChiSquared::new(freedom).map_or(f64::NAN, |chi| chi.inverse_cdf(p))
}

/// Probability that a χ² number is above `x`.
pub(crate) fn chi_squared_tail(x: f64, freedom: f64) -> f64 {
    ChiSquared::new(freedom).map_or(f64::NAN, |chi| chi.sf(x))
}

/// Where the F distribution has the probability `p` below.
pub(crate) fn f_quantile(p: f64, numerator: f64, denominator: f64) -> f64 {
    FisherSnedecor::new(numerator, denominator).map_or(f64::NAN, |f| f.inverse_cdf(p))
}

/// Probability that an F number is above `x`.
pub(crate) fn f_tail(x: f64, numerator: f64, denominator: f64) -> f64 {
    FisherSnedecor::new(numerator, denominator).map_or(f64::NAN, |f| f.sf(x))
}
