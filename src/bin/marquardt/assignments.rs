//! Assignments to parameters by name, as they are written on the command line.

use std::ops::RangeInclusive;

use thiserror::Error;

/// Reason why a text is no assignment.
#[derive(Debug, Error, PartialEq)]
pub enum AssignmentError {
    #[error("{expected} is expected")]
    Form { expected: &'static str },
    #[error("{text:?} is not a number")]
    NotANumber { text: String },
}

/// A parameter by name, with its value, bounds or formula.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedValue<V> {
    pub name: String,
    pub value: V,
}

/// Start of a parameter, `NAME=VALUE`.
pub fn start(text: &str) -> Result<NamedValue<f64>, AssignmentError> {
    assignment(text, "NAME=VALUE", |value| number(value).map(Some))
}

/// Bounds or range of a parameter, `NAME=LOW..HIGH`; infinite where an end is left out.
pub fn range(text: &str) -> Result<NamedValue<RangeInclusive<f64>>, AssignmentError> {
    assignment(text, "NAME=LOW..HIGH", |range| {
        let Some((low, high)) = range.split_once("..") else { return Ok(None) };
        let end = |text: &str, none| if text.trim().is_empty() { Ok(none) } else { number(text) };
        Ok(Some(end(low, f64::NEG_INFINITY)?..=end(high.trim_start_matches('='), f64::INFINITY)?))
    })
}

/// Parameter that is not fitted, `NAME` or `NAME=VALUE`.
pub fn fix(text: &str) -> Result<NamedValue<Option<f64>>, AssignmentError> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    Ok(NamedValue { name: name.trim().to_owned(), value: value.map(number).transpose()? })
}

/// Mean and standard deviation of the Gaussian prior of a parameter, `NAME=MEAN~DEVIATION`.
pub fn prior(text: &str) -> Result<NamedValue<(f64, f64)>, AssignmentError> {
    assignment(text, "NAME=MEAN~DEVIATION", |prior| match prior.split_once('~').or_else(|| prior.split_once('±')) {
        Some((mean, deviation)) => Ok(Some((number(mean)?, number(deviation)?))),
        None => Ok(None),
    })
}

/// Parameter that follows from others by a formula, `NAME=FORMULA`.
pub fn tie(text: &str) -> Result<NamedValue<String>, AssignmentError> {
    assignment(text, "NAME=FORMULA", |formula| Ok(Some(formula.trim().to_owned())))
}

/// Responses to one unknown predictor.
#[derive(Debug, Clone, PartialEq)]
pub struct Replicates(pub Vec<f64>);

/// Replicates of a response, `NUMBER+NUMBER+...`.
pub fn replicates(text: &str) -> Result<Replicates, AssignmentError> {
    match number(text) {
        Ok(one) => Ok(Replicates(vec![one])),
        Err(_) => text.split('+').map(number).collect::<Result<_, _>>().map(Replicates),
    }
}

/// The assignment of what `read` finds behind the `=`, if that has the expected form.
fn assignment<V>(
    text: &str,
    expected: &'static str,
    read: impl FnOnce(&str) -> Result<Option<V>, AssignmentError>,
) -> Result<NamedValue<V>, AssignmentError> {
    let form = || AssignmentError::Form { expected };
    let (name, value) = text.split_once('=').ok_or_else(form)?;
    Ok(NamedValue { name: name.trim().to_owned(), value: read(value)?.ok_or_else(form)? })
}

fn number(text: &str) -> Result<f64, AssignmentError> {
    text.trim().parse().map_err(|_| AssignmentError::NotANumber { text: text.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(text: &str) -> Result<(f64, f64), AssignmentError> {
        range(text).map(|bounds| bounds.value.into_inner())
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
        let name = || "a".to_owned();
        assert_eq!(start("a = -1e-2"), Ok(NamedValue { name: name(), value: -0.01 }));
        assert_eq!(start("a"), Err(AssignmentError::Form { expected: "NAME=VALUE" }));
        assert_eq!(fix("a"), Ok(NamedValue { name: name(), value: None }));
        assert_eq!(fix("a="), Err(AssignmentError::NotANumber { text: String::new() }));
        let expected = NamedValue { name: name(), value: (1.0, 0.2) };
        assert_eq!(["a=1~0.2", "a = 1 ± 0.2"].map(prior), [Ok(expected.clone()), Ok(expected)]);
        assert_eq!(tie("a=2*b"), Ok(NamedValue { name: name(), value: "2*b".into() }));
    }
}
