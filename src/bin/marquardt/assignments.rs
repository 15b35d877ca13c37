//! Assignments to parameters by name, as they are written on the command line.

use std::str::FromStr;

use thiserror::Error;

/// Reason why a text is no assignment.
#[derive(Debug, Error, PartialEq)]
pub enum AssignmentError {
    #[error("{expected} is expected")]
    Form { expected: &'static str },
    #[error("{text:?} is not a number")]
    NotANumber { text: String },
}

/// Start of a parameter, `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq)]
pub struct StartAssignment {
    pub name: String,
    pub value: f64,
}

/// Bounds or range of a parameter, `NAME=LOW..HIGH`; infinite where an end is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeAssignment {
    pub name: String,
    pub low: f64,
    pub high: f64,
}

/// Parameter that is not fitted, `NAME` or `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq)]
pub struct FixAssignment {
    pub name: String,
    pub value: Option<f64>,
}

/// Gaussian prior of a parameter, `NAME=MEAN~DEVIATION`.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorAssignment {
    pub name: String,
    pub mean: f64,
    pub deviation: f64,
}

/// Parameter that follows from others, `NAME=FORMULA`.
#[derive(Debug, Clone, PartialEq)]
pub struct TieAssignment {
    pub name: String,
    pub formula: String,
}

impl FromStr for StartAssignment {
    type Err = AssignmentError;

    fn from_str(text: &str) -> Result<Self, AssignmentError> {
        let (name, value) = split(text, "NAME=VALUE")?;
        Ok(StartAssignment { name, value: number(value)? })
    }
}

impl FromStr for RangeAssignment {
    type Err = AssignmentError;

    fn from_str(text: &str) -> Result<Self, AssignmentError> {
        let expected = "NAME=LOW..HIGH";
        let (name, range) = split(text, expected)?;
        let (low, high) = range.split_once("..").ok_or(AssignmentError::Form { expected })?;
        let end = |text: &str, none| if text.trim().is_empty() { Ok(none) } else { number(text) };
        let high = high.trim_start_matches('=');
        Ok(RangeAssignment { name, low: end(low, f64::NEG_INFINITY)?, high: end(high, f64::INFINITY)? })
    }
}

impl FromStr for FixAssignment {
    type Err = AssignmentError;

    fn from_str(text: &str) -> Result<Self, AssignmentError> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        Ok(FixAssignment { name: name.trim().to_owned(), value: value.map(number).transpose()? })
    }
}

impl FromStr for PriorAssignment {
    type Err = AssignmentError;

    fn from_str(text: &str) -> Result<Self, AssignmentError> {
        let expected = "NAME=MEAN~DEVIATION";
        let (name, value) = split(text, expected)?;
        let (mean, deviation) =
            value.split_once('~').or_else(|| value.split_once('±')).ok_or(AssignmentError::Form { expected })?;
        Ok(PriorAssignment { name, mean: number(mean)?, deviation: number(deviation)? })
    }
}

impl FromStr for TieAssignment {
    type Err = AssignmentError;

    fn from_str(text: &str) -> Result<Self, AssignmentError> {
        let (name, formula) = split(text, "NAME=FORMULA")?;
        Ok(TieAssignment { name, formula: formula.trim().to_owned() })
    }
}

fn split<'t>(text: &'t str, expected: &'static str) -> Result<(String, &'t str), AssignmentError> {
    let (name, value) = text.split_once('=').ok_or(AssignmentError::Form { expected })?;
    Ok((name.trim().to_owned(), value))
}

fn number(text: &str) -> Result<f64, AssignmentError> {
    text.trim().parse().map_err(|_| AssignmentError::NotANumber { text: text.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(text: &str) -> Result<(f64, f64), AssignmentError> {
        text.parse().map(|RangeAssignment { low, high, .. }| (low, high))
    }

    #[test]
    fn ends_of_bounds_may_be_left_out() {
        let none = f64::INFINITY;
        assert_eq!(bounds("k=0.."), Ok((0.0, none)));
        assert_eq!(bounds("k= ..=3"), Ok((-none, 3.0)));
        assert_eq!(bounds("k=-1.5..2e-1"), Ok((-1.5, 0.2)));
        assert_eq!(bounds("k=3"), Err(AssignmentError::Form { expected: "NAME=LOW..HIGH" }));
        assert_eq!(bounds("k=3..four"), Err(AssignmentError::NotANumber { text: "four".into() }));
    }

    #[test]
    fn assignments_have_their_forms() {
        assert_eq!("a = -1e-2".parse(), Ok(StartAssignment { name: "a".into(), value: -0.01 }));
        assert_eq!("a".parse::<StartAssignment>(), Err(AssignmentError::Form { expected: "NAME=VALUE" }));
        assert_eq!("a".parse(), Ok(FixAssignment { name: "a".into(), value: None }));
        assert_eq!("a=".parse::<FixAssignment>(), Err(AssignmentError::NotANumber { text: String::new() }));
        let prior = PriorAssignment { name: "a".into(), mean: 1.0, deviation: 0.2 };
        assert_eq!(["a=1~0.2", "a = 1 ± 0.2"].map(str::parse), [Ok(prior.clone()), Ok(prior)]);
        assert_eq!("a=2*b".parse(), Ok(TieAssignment { name: "a".into(), formula: "2*b".into() }));
    }
}
