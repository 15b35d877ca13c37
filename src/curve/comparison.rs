//! Fits of different curves to the same data, compared.

use std::fmt;

use thiserror::Error;

use super::Criteria;
use super::criteria::NoiseKind;
use crate::digits::number;
use crate::real::Real;

/// Reasons why fits cannot be compared.
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum ComparisonError {
    /// There are no fits.
    #[error("there are no fits to compare")]
    NoFits,
    /// The fits are of different data.
    #[error("the fits are of {first} and of {second} observations: only fits of the same data can be compared")]
    Observations {
        /// Observations of one fit.
        first: usize,
        /// Observations of the other fit.
        second: usize,
    },
    /// The fits have different noise models.
    #[error("the fits have different noise models: relative sigma, absolute sigma, or counts")]
    Noise,
    /// A fit is robust: it does not maximise a likelihood.
    #[error("robust fits cannot be compared by their likelihoods")]
    Robust,
    /// No fit has enough observations for the AICc: at least `p + 2` for `p` parameters.
    #[error("{observations} observations are too few for the AICc of any of these fits")]
    TooFewObservations {
        /// Observations of each.
        observations: usize,
    },
    /// The second of nested fits has no more parameters than the first.
    #[error("the fuller of nested curves must have more parameters: {full} are not more than {simple}")]
    Parameters {
        /// Parameters of the simpler one.
        simple: usize,
        /// Parameters of the fuller one.
        full: usize,
    },
    /// The second of nested fits describes the data worse than the first, which it contains.
    #[error(
        "the fuller curve fits worse ({full} for {simple}): it does not contain the simpler, or its fit is not the best"
    )]
    Worse {
        /// Cost of the simpler one.
        simple: f64,
        /// Cost of the fuller one.
        full: f64,
    },
    /// The fuller fit has no degrees of freedom to estimate the noise from.
    #[error("the fuller curve has as many parameters as observations: no degrees of freedom are left to test it")]
    NoDegreesOfFreedom,
}

/// One of the fits of a [`Comparison`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compared<T> {
    /// Its name.
    pub name: String,
    /// Likelihood and information criteria of the fit.
    pub criteria: Criteria<T>,
    /// Difference between its AICc and the least AICc.
    pub difference: T,
    /// Akaike weight: `exp(−½ difference)`, divided by the sum of these terms over all fits. The probability, by the AICc, that this curve
    /// is the best of those compared; from 0 to 1.
    pub weight: T,
}

impl<T: Real> Compared<T> {
    /// Evidence ratio `exp(½ difference)`: the factor by which the data support the best fit more than this one. 1 for the best fit;
    /// infinite if the exponential overflows.
    pub fn evidence_ratio(&self) -> T {
        (T::from_f64(0.5) * self.difference).exp()
    }
}

/// Fits of different curves to the same data, best first by the AICc. `Display` prints a table.
///
/// ```
/// use marquardt::curve_fit;
/// use marquardt::curve::Comparison;
///
/// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0_f64];
/// let y = [1.1, 2.8, 5.2, 7.1, 8.8, 11.2, 12.9];
/// let line = curve_fit(|x, [a, b]| a + b * x, &x, &y, [0.0, 1.0])?;
/// let parabola = curve_fit(|x, [a, b, c]| a + b * x + c * x * x, &x, &y, [0.0, 1.0, 0.0])?;
/// let comparison =
///     Comparison::of([("line", line.criteria()), ("parabola", parabola.criteria())])?;
/// assert_eq!(comparison.best().name, "line");
/// println!("{comparison}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison<T> {
    fits: Vec<Compared<T>>,
}

impl<T: Real> Comparison<T> {
    /// Compares fits by their names and [criteria](crate::FittedCurve::criteria).
    ///
    /// # Errors
    ///
    /// [`ComparisonError`] if there are no fits, if they differ in their numbers of observations or their noise models, or if no fit has
    /// enough observations for its AICc.
    pub fn of<S: Into<String>>(fits: impl IntoIterator<Item = (S, Criteria<T>)>) -> Result<Self, ComparisonError> {
        let named =
            |(name, criteria): (S, _)| Compared { name: name.into(), criteria, difference: T::ZERO, weight: T::ZERO };
        let mut fits: Vec<Compared<T>> = fits.into_iter().map(named).collect();
        let aicc = |fit: &Compared<T>| fit.criteria.aicc();
        fits.sort_by(|a, b| aicc(a).to_f64().total_cmp(&aicc(b).to_f64()));
        let first = fits.first().ok_or(ComparisonError::NoFits)?;
        fits.iter().try_for_each(|fit| check_same_data(&first.criteria, &fit.criteria))?;
        let (least, observations) = (aicc(first), first.criteria.observations);
        if least == T::INFINITY {
            return Err(ComparisonError::TooFewObservations { observations });
        }
        for fit in &mut fits {
            // The least may be -∞, and more than one such.
            fit.difference = if aicc(fit) == least { T::ZERO } else { aicc(fit) - least };
            fit.weight = (T::from_f64(-0.5) * fit.difference).exp();
        }
        let total: T = fits.iter().map(|fit| fit.weight).sum();
        fits.iter_mut().for_each(|fit| fit.weight /= total);
        Ok(Comparison { fits })
    }

    /// The fits, best first.
    pub fn fits(&self) -> &[Compared<T>] {
        &self.fits
    }

    /// The best fit.
    pub fn best(&self) -> &Compared<T> {
        &self.fits[0]
    }
}

/// Checks that two fits are of the same data, as far as their numbers tell.
pub(super) fn check_same_data<T>(first: &Criteria<T>, second: &Criteria<T>) -> Result<(), ComparisonError> {
    if first.observations != second.observations {
        return Err(ComparisonError::Observations { first: first.observations, second: second.observations });
    }
    match (first.noise, second.noise) {
        (NoiseKind::Robust, _) | (_, NoiseKind::Robust) => Err(ComparisonError::Robust),
        (first, second) if first == second => Ok(()),
        _ => Err(ComparisonError::Noise),
    }
}

impl<T: Real> fmt::Display for Comparison<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.fits.iter().map(|fit| fit.name.chars().count()).chain([3]).max().unwrap_or(3);
        write!(f, "{:<width$}  {:>10}  {:>12}", "fit", "parameters", "χ²")?;
        write!(f, "  {:>10}  {:>10}  {:>10}  {:>10}  {:>8}", "AIC", "AICc", "BIC", "ΔAICc", "weight")?;
        for Compared { name, criteria, difference, weight } in &self.fits {
            let chi_square = number(criteria.chi_square.to_f64(), 6);
            write!(f, "\n{name:<width$}  {:>10}  {chi_square:>12}", criteria.parameters)?;
            for value in [criteria.aic(), criteria.aicc(), criteria.bic(), *difference] {
                write!(f, "  {value:>10.3}")?;
            }
            write!(f, "  {weight:>8.4}")?;
        }
        Ok(())
    }
}
