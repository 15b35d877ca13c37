//! Tests of whether a parameter differs between groups.

use marquardt::curve::{Criteria, f_test, likelihood_ratio_test};

use crate::curve_fit::{self, Solved};
use crate::failure::Failure;
use crate::groups::GroupFits;
use crate::table::{Cell, ResultTable};

/// Groups among which all parameters are tested without being asked.
const MOST_GROUPS: usize = 12;

/// The tests that are asked for, or those of all parameters, a row each. In a fit of all groups, a parameter is the same in all, or
/// differs: an F test where the noise is judged by the residuals, a likelihood-ratio test where it is known.
pub fn parameter_tests(groups: &GroupFits<'_>) -> Result<Option<ResultTable>, Failure> {
    let arguments = groups.arguments;
    let (count, asked, share) = (groups.groups.len(), &arguments.groups.test, &arguments.groups.share);
    let is_too_much = asked.is_empty() && count > MOST_GROUPS;
    if count < 2 || is_too_much || arguments.method.robust.is_some() || !arguments.curve.parameters.prior.is_empty() {
        return Ok(None);
    }
    let tested: Vec<String> = match asked.is_empty() {
        false => asked.clone(),
        true => {
            groups.curve.parameters().iter().filter(|name| !arguments.curve.parameters.holds(name)).cloned().collect()
        }
    };
    let is_known = arguments.method.counts || arguments.method.absolute_sigma;
    let statistic = if is_known { "chi_squared" } else { "F" };
    let mut table = ResultTable::new(["parameter", "shared_value", statistic, "degrees_of_freedom", "p_value"]);
    for name in tested {
        let others: Vec<String> = share.iter().filter(|shared| **shared != name).cloned().collect();
        let with: Vec<String> = others.iter().chain([&name]).cloned().collect();
        let (full, simple) = (joint_fit(groups, &others, &name)?, joint_fit(groups, &with, &name)?);
        let row = full
            .zip(simple)
            .and_then(|(full, simple)| Some((test(&simple.criteria, &full.criteria, is_known)?, simple.value)));
        let first = Cell::from(name.as_str());
        table.row(match row {
            Some(((statistic, freedom, p_value), value)) => {
                [first, Cell::from(value), Cell::Number(statistic), Cell::Text(freedom), Cell::Number(p_value)]
            }
            None => [first, Cell::Empty, Cell::Empty, Cell::from("not tested: a fit did not converge"), Cell::Empty],
        });
    }
    Ok(Some(table))
}

/// The statistic, its degrees of freedom, and the probability of a larger one.
fn test(simple: &Criteria<f64>, full: &Criteria<f64>, is_known: bool) -> Option<(f64, String, f64)> {
    if is_known {
        let test = likelihood_ratio_test(simple, full).ok()?;
        return Some((test.statistic, (full.parameters - simple.parameters).to_string(), test.p_value));
    }
    let test = f_test(simple, full).ok()?;
    Some((test.statistic, format!("{}, {}", test.numerator, test.denominator), test.p_value))
}

/// Goodness of the fit of all groups, and its value of the parameter that is tested.
struct JointFit {
    criteria: Criteria<f64>,
    value: Option<f64>,
}

/// The fit of all groups that shares these parameters; none where it does not converge.
fn joint_fit(groups: &GroupFits<'_>, shared: &[String], name: &str) -> Result<Option<JointFit>, Failure> {
    let fit = groups.joined(shared)?.curve_fit()?;
    let Ok(Solved { fit, .. }) = curve_fit::solve_from_start(fit, &groups.arguments.method) else { return Ok(None) };
    let value = fit.parameter(name).map(|parameter| parameter.value);
    Ok(fit.report().is_converged().then(|| JointFit { criteria: fit.criteria(), value }))
}
