//! A linear inequality between parameters.

use std::fmt;

use thiserror::Error;

use crate::curve::{FormulaError, Tie};
use crate::real::Real;

/// Scales of the points at which the sides of a relation are checked to be linear.
const PROBES: [f64; 6] = [1.0, -1.0, 1e3, -1e3, 1e6, -1e6];

/// Relative rounding error of a linear function.
const ROUNDING: f64 = 1e-12;

/// Linear inequality between parameters, `Σ coefficient · parameter ≤ limit`, which
/// [`FitOptions::constrain`](crate::curve::FitOptions::constrain) adds to a fit.
///
/// ```
/// use marquardt::curve::Relation;
///
/// let text: Relation<f64> = Relation::parse("a + b <= 1")?;
/// assert_eq!(text.to_string(), "a + b <= 1");
/// let terms = Relation::new([("a", 1.0), ("b", -2.0)], 0.5);
/// assert_eq!(terms.to_string(), "a - 2*b <= 0.5");
/// let error = Relation::<f64>::parse("a * b < 1").unwrap_err();
/// assert_eq!(error.to_string(), "\"a * b\" is not linear in its parameters");
/// # Ok::<(), marquardt::curve::RelationError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Relation<T> {
    terms: Vec<(String, T)>,
    limit: T,
    /// The text it was parsed from.
    text: Option<String>,
}

/// Errors of a text that is not a relation.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RelationError {
    /// The text compares nothing.
    #[error("{text:?} has no <, <=, > or >=")]
    NoComparison {
        /// The text.
        text: String,
    },
    /// The text has more than one comparison.
    #[error("{text:?} has several comparisons; each is a relation of its own")]
    SeveralComparisons {
        /// The text.
        text: String,
    },
    /// A side is not a linear function of its parameters.
    #[error("{side:?} is not linear in its parameters")]
    NotLinear {
        /// The side.
        side: String,
    },
    /// A side is no formula.
    #[error(transparent)]
    Formula(#[from] FormulaError),
}

impl<T: Real> Relation<T> {
    /// `Σ coefficient · parameter ≤ limit`; a parameter that occurs twice has the sum of its coefficients.
    pub fn new<S: Into<String>>(terms: impl IntoIterator<Item = (S, T)>, limit: T) -> Self {
        let mut relation = Relation { terms: Vec::new(), limit, text: None };
        terms.into_iter().for_each(|(name, coefficient)| relation.add(name.into(), coefficient));
        relation
    }

    /// Two linear expressions of parameters with `<`, `<=`, `>` or `>=` between them; `<` means the same as `<=`. The expressions are
    /// [formulas](crate::Formula), so names that are no words stand in double quotes.
    ///
    /// # Errors
    ///
    /// [`RelationError`] if there is not one comparison, or if a side is no formula or not linear.
    pub fn parse(text: &str) -> Result<Self, RelationError> {
        let mut is_quoted = false;
        let is_sign = |&(_, character): &(usize, char)| {
            is_quoted ^= character == '"';
            !is_quoted && matches!(character, '<' | '>' | '≤' | '≥')
        };
        let signs: Vec<(usize, char)> = text.char_indices().filter(is_sign).collect();
        let (at, sign) = match signs[..] {
            [sign] => sign,
            [] => return Err(RelationError::NoComparison { text: text.to_owned() }),
            _ => return Err(RelationError::SeveralComparisons { text: text.to_owned() }),
        };
        let after = &text[at + sign.len_utf8()..];
        let sides = [&text[..at], after.strip_prefix('=').unwrap_or(after)].map(linear_function);
        let ([left, right], is_below) = (sides, matches!(sign, '<' | '≤'));
        let ((left, left_constant), (right, right_constant)) = (left?, right?);
        let signed = |value: f64| T::from_f64(if is_below { value } else { -value });
        let mut relation = Relation::new(left.into_iter().map(|(name, slope)| (name, signed(slope))), T::ZERO);
        right.into_iter().for_each(|(name, slope)| relation.add(name, signed(-slope)));
        relation.limit = signed(right_constant - left_constant);
        relation.text = Some(text.trim().to_owned());
        Ok(relation)
    }

    fn add(&mut self, name: String, coefficient: T) {
        match self.terms.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += coefficient,
            None => self.terms.push((name, coefficient)),
        }
    }

    /// Names of the parameters, and their coefficients.
    pub fn terms(&self) -> &[(String, T)] {
        &self.terms
    }

    /// Largest value of the sum.
    pub fn limit(&self) -> T {
        self.limit
    }

    /// Renames the parameters.
    pub(in crate::curve) fn renamed(&self, rename: impl Fn(&str) -> String) -> Self {
        Relation::new(self.terms.iter().map(|(name, coefficient)| (rename(name), *coefficient)), self.limit)
    }
}

/// The text that was parsed, or `Σ coefficient*parameter <= limit`.
impl<T: Real> fmt::Display for Relation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        for (place, (name, coefficient)) in self.terms.iter().enumerate() {
            let sign = match (place, *coefficient < T::ZERO) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            f.write_str(sign)?;
            if coefficient.abs() != T::ONE {
                write!(f, "{}*", coefficient.abs())?;
            }
            f.write_str(name)?;
        }
        write!(f, "{} <= {}", if self.terms.is_empty() { "0" } else { "" }, self.limit)
    }
}

/// Slopes and constant of a linear function of parameters.
fn linear_function(text: &str) -> Result<(Vec<(String, f64)>, f64), RelationError> {
    let function = Tie::<f64>::parse(text)?;
    let at = |point: &[f64]| {
        let mut slopes = vec![0.0; point.len()];
        (function.value(point, Some(&mut slopes)), slopes)
    };
    let count = function.of().len();
    let (constant, slopes) = at(&vec![0.0; count]);
    let is_near = |a: f64, b: f64, size: f64| (a - b).abs() <= ROUNDING * size;
    for scale in PROBES {
        // Numbers of either sign, of which none is a simple multiple of another.
        let point: Vec<f64> = (0..count).map(|k| scale * (1.7 * (k + 1) as f64 + scale.abs().log10()).sin()).collect();
        let (value, here) = at(&point);
        let terms: Vec<f64> = slopes.iter().zip(&point).map(|(slope, x)| slope * x).collect();
        let size = constant.abs() + terms.iter().map(|term| term.abs()).sum::<f64>();
        let is_linear = is_near(value, constant + terms.iter().sum::<f64>(), size)
            && here.iter().zip(&slopes).all(|(&here, &slope)| is_near(here, slope, slope.abs()));
        if !is_linear {
            return Err(RelationError::NotLinear { side: text.trim().to_owned() });
        }
    }
    Ok((function.of().iter().cloned().zip(slopes).collect(), constant))
}
