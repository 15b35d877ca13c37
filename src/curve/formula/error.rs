//! Errors in formulas, and their places.

use std::fmt;

use thiserror::Error;

/// Error of a text that is not a formula. The message marks the character at fault.
///
/// ```
/// use marquardt::Formula;
///
/// let error = Formula::parse("a*sine(x) + c").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "there is no function \"sine\"; did you mean sin or sinh?\n  a*sine(x) + c\n    ^"
/// );
/// assert_eq!(error.position(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError(Box<Place>);

/// An error at one place of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    problem: FormulaProblem,
    text: String,
    /// The byte of the text.
    at: usize,
}

impl FormulaError {
    pub(super) fn new(problem: FormulaProblem, text: &str, at: usize) -> Self {
        FormulaError(Box::new(Place { problem, text: text.to_owned(), at }))
    }

    /// The reason.
    pub fn problem(&self) -> &FormulaProblem {
        &self.0.problem
    }

    /// Position of the fault in the text: the number of the character, counted from 1.
    pub fn position(&self) -> usize {
        1 + self.0.text[..self.0.at].chars().count()
    }
}

impl std::error::Error for FormulaError {}

/// The message, the formula, and below it a mark.
impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Characters that are shown on either side of the place.
        const AROUND: usize = 60;
        let line: Vec<char> = self.0.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let place = self.position() - 1;
        let from = place.saturating_sub(AROUND);
        let shown: String = line[from..line.len().min(place + AROUND)].iter().collect();
        write!(f, "{}\n  {}\n  {:>width$}", self.0.problem, shown.trim_end(), "^", width = place - from + 1)
    }
}

/// Reasons why a formula is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormulaProblem {
    /// Another token was expected here.
    #[error("{expected} is expected, but {found} found")]
    Unexpected {
        /// Tokens that may stand here.
        expected: &'static str,
        /// The token that stands here.
        found: String,
    },
    /// The name before a parenthesis is not that of a function.
    #[error("there is no function {name:?}{}", remedy(near))]
    UnknownFunction {
        /// The name.
        name: String,
        /// Names of functions that resemble it.
        near: Vec<&'static str>,
    },
    /// A function has another number of arguments.
    #[error("{name} takes {expected} argument{}, but {found} found", if *expected == 1 { "" } else { "s" })]
    Arguments {
        /// The function.
        name: String,
        /// Arguments that it takes.
        expected: usize,
        /// Arguments that it has here.
        found: usize,
    },
    /// A function stands without its arguments.
    #[error("{name} is a function: write {name}(…), or give the parameter another name")]
    BareFunction {
        /// The function.
        name: String,
    },
    /// The order of a Bessel function is no constant integer, or too large.
    #[error("the order of {name} is a constant integer, from -{most} to {most}")]
    Order {
        /// The function.
        name: String,
        /// Largest order.
        most: i32,
    },
    /// A comparison stands in the place of a number.
    #[error("a comparison stands in if(a < b, then, otherwise) or in a < b ? then : otherwise")]
    Comparison,
    /// A complex number stands in the place of a real number.
    #[error("{place} takes real numbers, but this one is complex")]
    ComplexNumber {
        /// The function or operator that takes the number.
        place: String,
    },
    /// A comparison is missing after `if` or before `?`.
    #[error("a comparison, such as x < a, is expected")]
    NoComparison,
    /// Parentheses, powers or conditions are nested too deeply.
    #[error("parentheses, powers and conditions are more than {most} deep")]
    TooDeep {
        /// Largest depth.
        most: usize,
    },
    /// The formula takes too many operations.
    #[error("the formula takes more than {most} operations")]
    TooLong {
        /// Largest number of operations.
        most: usize,
    },
    /// A predictor has a name that a formula cannot have, or one that another predictor has.
    #[error("{name:?} cannot be the name of a predictor: names are not empty, have no quotes, and occur once")]
    Predictor {
        /// The name.
        name: String,
    },
}

/// Advice for an unknown function.
fn remedy(near: &[&str]) -> String {
    match near {
        [] => "; a product takes a *".to_owned(),
        near => format!("; did you mean {}?", near.join(" or ")),
    }
}
