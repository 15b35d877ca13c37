//! Warnings about a fit that has ended.

use std::fmt;

use super::quoted::quoted;
use crate::digits::number;
use crate::problem::BoundSide;
use crate::solver::Status;

/// Warning about the result of a fit; [`FittedCurve::warnings`](super::FittedCurve::warnings) lists all. `Display` prints it as a sentence.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The solve did not end at a minimum.
    NotConverged {
        /// Reason why it ended.
        status: Status,
    },
    /// The solve ended at a point where the remaining gradient is smaller than its rounding error.
    EndedByRounding {
        /// Largest cosine between the residuals and a column of the Jacobian.
        gradient_cosine: f64,
    },
    /// The curve describes the data worse than a constant does.
    WorseThanMean {
        /// [`R²`](super::FittedCurve::r_squared), below zero; `None` under a robust loss, whose value is compared instead.
        r_squared: Option<f64>,
    },
    /// The parameter ran away: it is far from zero or from its start, and the cost does not rise if it moves further away.
    ///
    /// Its standard error is more than 100 times its value, and the cost does not rise if it moves away from zero by that error, or twice
    /// as far with at least twice the error; or it has at least doubled since the start, and its correlation with such a parameter is
    /// at least 0.999. Where the Jacobian is singular, it is more than 100 times as large as at the start, and the cost does not rise
    /// if it grows tenfold, by itself or with all other such parameters.
    RanAway {
        /// Its name.
        parameter: String,
        /// Its value.
        value: f64,
        /// Its standard error; infinite where the Jacobian is singular.
        standard_error: f64,
    },
    /// The data do not determine these parameters: the Jacobian is singular.
    Undetermined {
        /// Their names.
        parameters: Vec<String>,
    },
    /// There are no standard errors.
    NoStandardErrors {
        /// The reason.
        reason: String,
    },
    /// A bound holds the parameter: the fit would be better beyond it.
    AtBound {
        /// Its name.
        parameter: String,
        /// The bound that holds it.
        side: BoundSide,
        /// The bound.
        bound: f64,
    },
    /// A relation between parameters holds as an equation: the fit would be better beyond it.
    AtRelation {
        /// The relation.
        relation: String,
    },
}

impl Warning {
    /// Returns true if the fit is unusable: a parameter ran away, or a constant describes the data better. Remedies are another start,
    /// bounds, or another curve.
    pub fn is_unusable(&self) -> bool {
        matches!(self, Warning::WorseThanMean { .. } | Warning::RanAway { .. })
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NotConverged { status } => write!(f, "the fit has not converged: {status}"),
            Warning::EndedByRounding { gradient_cosine } => {
                write!(f, "rounding errors ended the fit: the gradient's largest cosine is {gradient_cosine:.1e}")
            }
            Warning::WorseThanMean { r_squared: Some(r_squared) } => {
                let r_squared = number(*r_squared, 3);
                write!(f, "the curve describes the data worse than their mean does: R² is {r_squared}")
            }
            Warning::WorseThanMean { r_squared: None } => {
                f.write_str("the curve describes the data worse than their median does")
            }
            Warning::RanAway { parameter, value, standard_error } => {
                write!(f, "{parameter:?} ran away to {}", number(*value, 3))?;
                if standard_error.is_finite() {
                    write!(f, " ± {},", number(*standard_error, 3))?;
                }
                f.write_str(" and is not determined: the fit is as good if it goes farther")
            }
            Warning::Undetermined { parameters } => write!(f, "the data do not determine {}", quoted(parameters)),
            Warning::NoStandardErrors { reason } => write!(f, "there are no standard errors: {reason}"),
            Warning::AtBound { parameter, side, bound } => {
                let side = match side {
                    BoundSide::Lower => "lower",
                    BoundSide::Upper => "upper",
                };
                write!(f, "{parameter:?} is at its {side} bound, {}", number(*bound, 6))
            }
            Warning::AtRelation { relation } => write!(f, "the relation {relation} holds the fit at its limit"),
        }
    }
}
