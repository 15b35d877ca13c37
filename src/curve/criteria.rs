//! Information criteria, which weigh the quality of a fit against its number of parameters.

use crate::real::Real;

/// Noise models, and the likelihoods that they give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub(super) enum NoiseKind {
    /// The size of the noise is estimated from the residuals.
    Relative,
    /// The size of the noise is known.
    Absolute,
    /// The noise is that of counts (Poisson).
    Counts,
    /// The size of the noise is estimated from the residuals of a robust fit, which has no likelihood.
    Robust,
}

/// Likelihood and size of a fit, as plain numbers: its information criteria follow, by which fits of different curves are
/// [compared](crate::curve::Comparison).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "T: Real"))]
#[non_exhaustive]
pub struct Criteria<T> {
    /// Number of responses and priors.
    pub observations: usize,
    /// Number of free parameters that the data determine.
    pub parameters: usize,
    /// Sum of the squared whitened residuals; Pearson's `Σ (y − μ)²/μ` of counts.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub chi_square: T,
    /// The logarithm of the likelihood.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub log_likelihood: T,
    pub(super) noise: NoiseKind,
}

impl<T: Real> Criteria<T> {
    /// Observations in excess of the parameters.
    pub fn degrees_of_freedom(&self) -> usize {
        self.observations - self.parameters
    }

    /// `χ²` divided by the degrees of freedom; `None` without degrees of freedom. If sigma is absolute and the curve is right, it is about
    /// 1.
    pub fn reduced_chi_square(&self) -> Option<T> {
        let freedom = self.degrees_of_freedom();
        (freedom > 0).then(|| self.chi_square / T::from_f64(freedom as f64))
    }

    /// Akaike's information criterion, of `n` observations and `p` parameters: `n ln(χ²/n) + 2p`, as in lmfit, or
    /// `−2 ln L + 2p` where the noise is known. Less is better; only differences between fits of the same data count.
    ///
    /// R and statsmodels always take `−2 ln L` with its constants, and R counts the size of the noise as one more parameter where it is not
    /// known: their differences are the same. They follow from [`log_likelihood`](crate::FittedCurve::log_likelihood). `-∞` for a curve
    /// through all responses if the size of the noise is not known.
    pub fn aic(&self) -> T {
        self.deviance() + T::from_f64(2.0 * self.parameters as f64)
    }

    /// Akaike's information criterion corrected for few observations: the [AIC](Self::aic) plus `2p(p + 1)/(n − p − 1)`. Infinite for `n ≤
    /// p + 1`. Differences of the AICc are not those of R, which counts the size of the noise as a parameter.
    pub fn aicc(&self) -> T {
        let (n, p) = (self.observations as f64, self.parameters as f64);
        if n > p + 1.0 { self.aic() + T::from_f64(2.0 * p * (p + 1.0) / (n - p - 1.0)) } else { T::INFINITY }
    }

    /// The Bayesian information criterion: the [AIC](Self::aic) with `p ln n` in place of `2p`.
    pub fn bic(&self) -> T {
        self.deviance() + T::from_f64(self.parameters as f64 * (self.observations as f64).ln())
    }

    /// `−2 ln L`, up to a constant that all fits of the same data have in common.
    fn deviance(&self) -> T {
        match self.noise {
            NoiseKind::Relative | NoiseKind::Robust => {
                let n = T::from_f64(self.observations as f64);
                n * (self.chi_square / n).ln()
            }
            NoiseKind::Absolute | NoiseKind::Counts => T::from_f64(-2.0) * self.log_likelihood,
        }
    }
}
