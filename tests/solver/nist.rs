//! The 27 NIST sets from both starts, with one configuration for all: the default.

use marquardt::autodiff::Difference;
use marquardt::problem::FiniteDifference;
use marquardt::solver::Status;
use marquardt::{AutoDiff, Covariance, EvaluationError, LevenbergMarquardt, Report, Residuals};

use crate::nist_data::{DataSet, MAX_DIGITS, Model, digits};

fn all_sets() -> impl Iterator<Item = DataSet> {
    Model::ALL.iter().map(|&model| DataSet::load(model))
}

/// The report from each start of each set.
fn all_fits<'a>(
    sets: &'a [DataSet],
    fit: impl Fn(&'a DataSet, &[f64]) -> Report<f64>,
) -> Vec<(&'a DataSet, Report<f64>)> {
    sets.iter().flat_map(|set| set.starts.iter().map(|start| (set, fit(set, start))).collect::<Vec<_>>()).collect()
}

fn exact(set: &DataSet, start: &[f64]) -> Report<f64> {
    LevenbergMarquardt::new().minimize(&mut AutoDiff(set), start).unwrap()
}

fn by_differences(set: &DataSet, start: &[f64]) -> Report<f64> {
    by(Difference::Central, set, start).0
}

/// The report, and the number of calls of the closure.
fn by(difference: Difference, set: &DataSet, start: &[f64]) -> (Report<f64>, usize) {
    let mut calls = 0;
    let evaluate = |b: &[f64], r: &mut [f64]| -> Result<(), EvaluationError> {
        calls += 1;
        set.evaluate(b, 0, r)
    };
    let problem = FiniteDifference::new(set.certified.len(), set.y.len(), evaluate);
    let report = LevenbergMarquardt::new().minimize(&mut problem.with_difference(difference), start).unwrap();
    (report, calls)
}

#[test]
fn exact_derivatives_solve_all_54_runs() {
    let sets: Vec<_> = all_sets().collect();
    let fits = all_fits(&sets, exact);
    assert_eq!(fits.len(), 54);
    for (set, report) in &fits {
        let digits = set.parameter_digits(&report.x);
        assert!(digits > 6.0, "{}: {digits:.2} digits\n{report}", set.model.name());
        assert!(report.is_converged(), "{}: {}", set.model.name(), report.status);
    }
    let mean = fits.iter().map(|(set, report)| set.parameter_digits(&report.x)).sum::<f64>() / 54.0;
    assert!(mean >= 9.8, "mean of the fewest digits: {mean:.3}");
}

#[test]
fn differences_solve_at_least_52_of_54_runs() {
    let sets: Vec<_> = all_sets().collect();
    let fits = all_fits(&sets, by_differences);
    let failed: Vec<_> = fits
        .iter()
        .map(|(set, report)| (set.model.name(), set.parameter_digits(&report.x), report.status))
        .filter(|&(_, digits, _)| digits <= 4.0)
        .collect();
    assert!(failed.len() <= 2, "{failed:?}");
    for (set, report) in &fits {
        // Lanczos1 is fitted to rounding level, far below what differences can tell of the gradient.
        let honest = report.is_converged() || set.model == Model::Lanczos1 && report.status == Status::NoProgress;
        assert!(honest, "{}: {}", set.model.name(), report.status);
    }
}

/// Half of the runs take no more than 60 calls of the closure, of which each parameter takes one a linearisation.
#[test]
fn forward_differences_take_few_calls() {
    let mut calls = Vec::new();
    for set in all_sets() {
        for start in &set.starts {
            let (report, count) = by(Difference::Forward, &set, start);
            assert!(report.is_converged(), "{}: {}", set.model.name(), report.status);
            assert!(set.parameter_digits(&report.x) > 4.0, "{}: {report}", set.model.name());
            calls.push(count);
        }
    }
    calls.sort_unstable();
    assert!((calls[26] + calls[27]) / 2 <= 60, "{calls:?}");
}

/// The residuals of Lanczos1 are rounding errors of its data, so its standard errors are, too.
#[test]
fn standard_errors_are_certified_on_26_sets() {
    for set in all_sets().filter(|set| set.model != Model::Lanczos1) {
        let name = set.model.name();
        let report = exact(&set, &set.starts[1]);
        let covariance = Covariance::at(&mut AutoDiff(&set), &report.x).unwrap();
        let errors = covariance.standard_errors();
        let found = digits(errors.as_slice().unwrap(), &set.standard_deviations);
        assert!(found >= 9.0, "{name}: {found:.2} digits of the standard errors");
        let deviation = covariance.residual_standard_deviation().unwrap();
        let found = digits(&[deviation], &[set.residual_standard_deviation]);
        assert!(found >= 9.0, "{name}: {found:.2} digits of the residual standard deviation");
        let found = digits(&[report.sum_of_squares()], &[set.residual_sum_of_squares]);
        assert!(found >= 9.0, "{name}: {found:.2} digits of the sum of squares");
        assert!(covariance.undetermined().is_empty(), "{name}: {:?}", covariance.undetermined());
        assert_eq!(covariance.degrees_of_freedom(), set.y.len() - set.certified.len(), "{name}");
    }
}

/// Checks the data files and models, without any fit.
#[test]
fn certified_parameters_reproduce_certified_residuals() {
    for set in all_sets() {
        let name = set.model.name();
        let mut r = vec![0.0; set.y.len()];
        (&set).evaluate(&set.certified, 0, &mut r).unwrap();
        let sum: f64 = r.iter().map(|r| r * r).sum();
        if set.model == Model::Lanczos1 {
            // Its residuals are smaller than what the rounding of the certified parameters to 11 digits makes of them.
            assert!(sum < 1e-17, "{name}: {sum:e}");
        } else {
            let found = digits(&[sum], &[set.residual_sum_of_squares]);
            assert!(found >= 6.0, "{name}: {found:.2} digits of the sum of squares");
        }
        // Rat43's file prints 9 degrees of freedom; its certified deviation is of 11.
        let freedom = (set.y.len() - set.certified.len()) as f64;
        let deviation = (set.residual_sum_of_squares / freedom).sqrt();
        assert!(
            digits(&[deviation], &[set.residual_standard_deviation]) >= 9.0,
            "{name}: {freedom} degrees of freedom"
        );
    }
}

#[test]
fn digits_are_counted_right() {
    assert_eq!(digits(&[1.0, 2.0], &[1.0, 2.0]), MAX_DIGITS);
    assert!((digits(&[1.0, 2.002], &[1.0, 2.0]) - 3.0).abs() < 1e-9);
    assert_eq!(digits(&[f64::NAN], &[1.0]), 0.0);
}
