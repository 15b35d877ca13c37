//! Variable projection: the same answers, in fewer iterations.

use std::ops::Range;

use marquardt::problem::{Analytic, Bounded, Capabilities, FiniteDifference, Separable, SeparableError};
use marquardt::solver::Status;
use marquardt::{
    AutoDiff, Bounds, CurveFit, Dual, EvaluationError, LeastSquares, LevenbergMarquardt, Real, Report, Residuals,
    Scalar, SolveError,
};
use proptest::prelude::*;

use crate::common::{close, config, cost, linearized, wavy};
use crate::nist_data::{DataSet, Model, digits};

/// The largest sets of parameters that enter linearly, by the formulas; the first where there are several.
fn linear_by_formula(model: Model) -> &'static [usize] {
    use Model::*;
    match model {
        Chwirut1 | Chwirut2 => &[],
        Nelson | Roszman1 => &[0, 1],
        Gauss1 | Gauss2 | Gauss3 => &[0, 2, 5],
        Lanczos1 | Lanczos2 | Lanczos3 => &[0, 2, 4],
        Kirby2 | MGH17 => &[0, 1, 2],
        Hahn1 | Thurber => &[0, 1, 2, 3],
        ENSO => &[0, 1, 2, 4, 5, 7, 8],
        _ => &[0],
    }
}

fn detected<P: LeastSquares<f64>>(problem: P, at: &[f64]) -> Vec<usize> {
    match Separable::detect(problem, at) {
        Ok(separable) => separable.linear_parameters().to_vec(),
        Err(SeparableError::NoLinearParameters) => Vec::new(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn linear_parameters_of_all_27_sets_are_found() {
    for &model in Model::ALL {
        let set = DataSet::load(model);
        for at in &set.starts {
            assert_eq!(detected(AutoDiff(&set), at), linear_by_formula(model), "{} at {at:?}", model.name());
        }
    }
}

/// Differences see most of them, and never one that is not.
#[test]
fn differences_find_no_parameter_that_is_not_linear() {
    let (mut found, mut all) = (0, 0);
    for &model in Model::ALL {
        let set = DataSet::load(model);
        for start in &set.starts {
            let evaluate = |b: &[f64], r: &mut [f64]| (&set).evaluate(b, 0, r);
            let linear = detected(FiniteDifference::new(set.certified.len(), set.y.len(), evaluate), start);
            assert!(linear.iter().all(|j| linear_by_formula(model).contains(j)), "{}: {linear:?}", model.name());
            found += linear.len();
            all += linear_by_formula(model).len();
        }
    }
    assert!(found >= all - 4, "{found} of {all}");
}

/// The near start, with ones for all linear parameters.
fn without_linear_starts(set: &DataSet) -> Vec<f64> {
    let mut start = set.starts[1].clone();
    linear_by_formula(set.model).iter().for_each(|&j| start[j] = 1.0);
    start
}

#[test]
fn answers_are_those_of_the_whole_problem_in_fewer_iterations() {
    use Model::*;
    let (mut eliminated, mut whole) = (0, 0);
    let sets =
        [Misra1a, Misra1b, Lanczos3, MGH17, Gauss1, Gauss2, BoxBOD, Chwirut2, Thurber, Nelson, Hahn1, Bennett5, ENSO];
    for set in sets.map(DataSet::load) {
        let name = set.model.name();
        let solver = LevenbergMarquardt::new();
        let full = solver.minimize(&mut AutoDiff(&set), &set.starts[1]).unwrap();
        let found = solver.minimize_separable(&mut AutoDiff(&set), &without_linear_starts(&set)).unwrap();
        assert!(found.is_converged(), "{name}: {found}");
        assert!(digits(&found.x, &full.x) >= 10.0, "{name}: {found}\n{full}");
        assert!((found.cost / full.cost - 1.0).abs() < 1e-10, "{name}: {found}\n{full}");
        assert!(found.iterations <= full.iterations + 1, "{name}: {}, {}", found.iterations, full.iterations);
        eliminated += found.iterations;
        whole += full.iterations;
    }
    assert!(3 * eliminated <= 2 * whole, "{eliminated} iterations instead of {whole}");
}

/// Starts that take plain iterations far around.
#[test]
fn far_starts_are_less_far_without_linear_parameters() {
    for (model, most) in [(Model::MGH10, 60), (Model::Bennett5, 10), (Model::BoxBOD, 25), (Model::Lanczos3, 25)] {
        let set = DataSet::load(model);
        let found = LevenbergMarquardt::new().minimize_separable(&mut AutoDiff(&set), &set.starts[0]).unwrap();
        assert!(set.parameter_digits(&found.x) > 10.0 && found.iterations <= most, "{}: {found}", model.name());
    }
}

/// `r = x₀ e^(−x₁ t) + x₂ e^(−x₃ t) + x₄ − y`, row by row with a weight.
#[derive(Debug, Clone)]
struct Decays<T> {
    y: Vec<T>,
    /// Two parameters more, with the columns of `x₄` and of nothing at all.
    twins: bool,
}

impl<T: Real> Decays<T> {
    fn new(y: impl Fn(f64) -> f64) -> Self {
        Decays { y: (0..20).map(|i| T::from_f64(y(f64::from(i) / 4.0))).collect(), twins: false }
    }
}

impl<T: Real> Residuals<T> for Decays<T> {
    fn parameter_count(&self) -> usize {
        if self.twins { 7 } else { 5 }
    }

    fn residual_count(&self) -> usize {
        self.y.len()
    }

    fn evaluate<S: Scalar<Real = T>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (i, r) in (first..).zip(r) {
            let (t, weight) = (T::from_f64(i as f64 / 4.0), T::from_f64(1.0 + (i % 3) as f64));
            let mut y = x[0] * (-x[1] * t).exp() + x[2] * (-x[3] * t).exp() + x[4];
            if self.twins {
                y += x[5] + x[6] * T::ZERO;
            }
            *r = (y - self.y[i]) * weight;
        }
        Ok(())
    }

    fn parameter_name(&self, index: usize) -> String {
        format!("p{index}")
    }
}

fn truth(t: f64) -> f64 {
    3.0 * (-0.4 * t).exp() - 2.0 * (-2.5 * t).exp() + 0.5
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_gradient_is_that_of_the_reduced_cost(
        slow in 0.1..0.8_f64,
        fast in 1.2..5.0_f64,
        waves in 0.0..2.0_f64,
    ) {
        let decays = Decays::new(|t| truth(t) + waves * (9.0 * t).sin());
        let mut problem = Separable::new(AutoDiff(decays), &[4, 0, 2]).unwrap();
        let at = [slow, fast];
        let (r, jacobian) = linearized(&mut problem, &at);
        let gradient = jacobian.transpose() * &r;
        let numeric: Vec<f64> = (0..2).map(|j| {
            let mut value = |h: f64| { let mut at = at; at[j] += h; cost(&mut problem, &at) };
            let h = 1e-3;
            (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h)
        }).collect();
        prop_assert!(close(gradient.as_slice(), &numeric, 1e-7), "{gradient}, {numeric:?}");

        // The eliminated ones are at their best: no column of theirs is left in the residuals.
        let x = problem.full(&at).unwrap();
        let (r, whole) = linearized(problem.problem_mut(), &x);
        for j in [0, 2, 4] {
            let column = whole.column(j);
            prop_assert!(column.dot(&r).abs() <= 1e-12 * column.norm() * (1.0 + r.norm()));
        }
        prop_assert!((gradient[0] - whole.column(1).dot(&r)).abs() <= 1e-10 * (1.0 + gradient[0].abs()));
    }

    /// What Kaufman's Jacobian leaves out of the derivative does not reach the second-order correction.
    #[test]
    fn the_jacobian_is_the_derivative_where_steps_see_it(slow in 0.2..0.8_f64, fast in 1.2..5.0_f64) {
        let mut problem = Separable::new(AutoDiff(Decays::new(|t| truth(t) + (9.0 * t).sin())), &[0, 2, 4]).unwrap();
        let (r, jacobian) = linearized(&mut problem, &[slow, fast]);
        let h = 1e-6;
        for j in 0..2 {
            let mut at = |h: f64| {
                let mut at = [slow, fast];
                at[j] += h;
                linearized(&mut problem, &at).0
            };
            let missing = (at(h) - at(-h)) / (2.0 * h) - jacobian.column(j);
            prop_assert!((jacobian.transpose() * missing).norm() <= 1e-6 * (1.0 + jacobian.norm() * r.norm()));
        }
    }

    #[test]
    fn a_linear_problem_is_solved_directly(linear in wavy(8, 3, 0.0)) {
        let solver = LevenbergMarquardt::new();
        let direct = solver.minimize_separable(&mut AutoDiff(linear.clone()), &[5.0, -7.0, 9.0]).unwrap();
        let expected = solver.minimize(&mut AutoDiff(linear.clone()), &[0.0; 3]).unwrap();
        // All that is left is to polish rounding.
        let gained = direct.initial_cost - direct.cost;
        prop_assert!(direct.is_converged() && gained.abs() <= 1e-14 * direct.cost + 1e-28, "{direct}");
        prop_assert!(close(&direct.x, &expected.x, 1e-12), "{direct}\n{expected}");
        let refused = Separable::detect(AutoDiff(linear), &[5.0, -7.0, 9.0]);
        prop_assert!(matches!(refused, Err(SeparableError::AllLinear)));
    }
}

#[test]
fn columns_that_repeat_or_vanish_do_not_stop_it() {
    let decays = Decays { twins: true, ..Decays::new(truth) };
    let mut problem = Separable::new(AutoDiff(decays.clone()), &[0, 2, 4, 5, 6]).unwrap();
    let report = LevenbergMarquardt::new().minimize(&mut problem, &[0.2, 4.0]).unwrap();
    let x = problem.full(&report.x).unwrap();
    let expected = [3.0, 0.4, -2.0, 2.5];
    assert!(report.is_converged() && close(&x[..4], &expected, 1e-9), "{x:?}");
    assert!((x[4] + x[5] - 0.5).abs() < 1e-9 && x[6] == 0.0, "{x:?}");
    // A parameter without effect is left alone.
    assert_eq!(detected(AutoDiff(decays), &[1.0, 0.2, 1.0, 4.0, 1.0, 1.0, 1.0]), [0, 2, 4, 5]);
}

/// More linear parameters than residuals: every point fits.
#[test]
fn fewer_residuals_than_linear_parameters_are_fitted_exactly() {
    let decays = Decays { y: vec![1.0, 2.0], twins: false };
    let report =
        LevenbergMarquardt::new().minimize_separable(&mut AutoDiff(decays), &[1.0, 0.2, 1.0, 4.0, 1.0]).unwrap();
    assert!(report.is_converged() && report.cost < 1e-28, "{report}");
}

/// Rows by columns, where the problem can do so.
struct ByColumns(AutoDiff<Decays<f64>>, usize);

impl LeastSquares<f64> for ByColumns {
    fn parameter_count(&self) -> usize {
        5
    }

    fn residual_count(&self) -> usize {
        20
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.0.residuals(x, first, r)
    }

    fn linearize(&mut self, _: &[f64], _: usize, _: &mut [f64], _: &mut [f64]) -> Result<(), EvaluationError> {
        Err("columns alone are asked for".into())
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for ByColumns {
    fn linearize_columns(
        &mut self,
        x: &[f64],
        first: usize,
        r: &mut [f64],
        columns: &[Range<usize>],
        jacobian: &mut [f64],
    ) -> Result<bool, EvaluationError> {
        self.1 += 1;
        let mut whole = vec![0.0; r.len() * 5];
        self.0.linearize(x, first, r, &mut whole)?;
        let selected = whole.chunks_exact(5).flat_map(|row| columns.iter().flat_map(|range| &row[range.clone()]));
        jacobian.iter_mut().zip(selected).for_each(|(entry, &selected)| *entry = selected);
        Ok(true)
    }
}

#[test]
fn columns_are_asked_for_where_they_can_be_had() {
    let mut problem = Separable::new(ByColumns(AutoDiff(Decays::new(truth)), 0), &[0, 2, 4]).unwrap();
    let report = LevenbergMarquardt::new().minimize(&mut problem, &[0.2, 4.0]).unwrap();
    assert!(close(&problem.full(&report.x).unwrap(), &[3.0, 0.4, -2.0, 2.5, 0.5], 1e-9), "{report}");
    // At a point whose residuals were asked for, the linear parameters are known.
    let asked = problem.problem().1;
    let mut r = [0.0; 20];
    problem.residuals(&[0.3, 3.0], 0, &mut r).unwrap();
    problem.linearize(&[0.3, 3.0], 0, &mut r, &mut [0.0; 40]).unwrap();
    assert_eq!(problem.problem().1, asked + 2);
}

#[test]
fn single_precision_is_served() {
    let start = [1.0, 0.2, 1.0, 4.0, 1.0];
    let mut decays = AutoDiff(Decays::<f32>::new(truth));
    assert_eq!(Separable::detect(&mut decays, &start).unwrap().linear_parameters(), [0, 2, 4]);
    let report = LevenbergMarquardt::new().minimize_separable(&mut decays, &start).unwrap();
    let near = report.x.iter().zip([3.0, 0.4, -2.0, 2.5, 0.5]).all(|(found, truth)| (found - truth).abs() < 1e-3);
    assert!(near, "{report}");
}

#[test]
fn parameters_keep_their_names_and_places() {
    let mut problem = Separable::new(AutoDiff(Decays::<f64>::new(truth)), &[2, 0]).unwrap();
    assert_eq!(problem.linear_parameters(), [0, 2]);
    assert_eq!((0..3).map(|j| problem.parameter_name(j)).collect::<Vec<_>>(), ["p1", "p3", "p4"]);
    assert_eq!(problem.reduced(&[1.0, 2.0, 3.0, 4.0, 5.0]), [2.0, 4.0, 5.0]);
    let x = problem.full(&[0.4, 2.5, 0.5]).unwrap();
    assert!(close(&x, &[3.0, 0.4, -2.0, 2.5, 0.5], 1e-13), "{x:?}");
    assert!(problem.full(&[0.4]).unwrap_err().to_string().contains("3 parameters are left, not 1"));
}

#[test]
fn what_cannot_be_eliminated_is_refused() {
    let refused = |linear: &[usize]| Separable::new(AutoDiff(Decays::<f64>::new(truth)), linear).unwrap_err();
    assert!(matches!(refused(&[0, 7]), SeparableError::Index { index: 7, parameters: 5 }));
    assert!(matches!(refused(&[2, 0, 2]), SeparableError::Repeated { name } if name == "p2"));
    assert!(matches!(refused(&[]), SeparableError::NoLinearParameters));
    assert!(matches!(refused(&[4, 3, 2, 1, 0]), SeparableError::AllLinear));

    let looked = |at: &[f64]| Separable::detect(AutoDiff(Decays::new(truth)), at).unwrap_err();
    assert!(matches!(looked(&[1.0]), SeparableError::WrongLength { expected: 5, found: 1 }));
    assert!(matches!(looked(&[1.0, -1e4, 1.0, 1.0, 1.0]), SeparableError::NonFinite));
}

/// Evaluates nothing outside of bounds, and eliminates nothing within.
#[test]
fn bounds_are_kept() {
    let bounds = Bounds::unbounded(5).with(1, 0.1, 0.3).unwrap().with(4, 0.0, f64::INFINITY).unwrap();
    let decays = Decays::<f64>::new(truth);
    let guarded = Analytic::new(5, 20, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        assert!(bounds.contains(x), "{x:?}");
        match jacobian {
            Some(jacobian) => AutoDiff(decays.clone()).linearize(x, 0, r, jacobian),
            None => AutoDiff(decays.clone()).residuals(x, 0, r),
        }
    });
    let mut problem = Bounded::new(guarded, bounds.clone()).unwrap();
    let start = [1.0, 0.3, 1.0, 4.0, 0.0];
    assert_eq!(Separable::detect(&mut problem, &start).unwrap().linear_parameters(), [0, 2]);
    let solver = LevenbergMarquardt::new();
    let found = solver.minimize_separable(&mut problem, &start).unwrap();
    let expected = solver.minimize(&mut problem, &start).unwrap();
    assert!(found.is_converged() && close(&found.x, &expected.x, 1e-10), "{found}\n{expected}");
    let active =
        |report: &marquardt::Report<f64>| report.active.iter().map(|bound| bound.parameter).collect::<Vec<_>>();
    assert!(active(&found) == [1] && active(&expected) == [1] && found.x[1] == 0.3, "{found}\n{expected}");

    let refused = Separable::new(&mut problem, &[0, 4]).err().expect("a refusal");
    assert_eq!(refused.to_string(), "\"x[4]\" has the bounds 0 and inf, and so cannot be eliminated");
}

/// Errors and values that are not finite go the usual ways.
#[test]
fn what_goes_wrong_is_said_as_ever() {
    let solver = LevenbergMarquardt::new();
    let start = |at: &[f64]| solver.minimize_separable(&mut AutoDiff(Decays::new(truth)), at).unwrap_err();
    assert!(matches!(start(&[1.0]), SolveError::WrongStartLength { expected: 5, found: 1 }));
    assert!(matches!(start(&[1.0, -1e4, 1.0, 1.0, 1.0]), SolveError::NonFiniteResidual { .. }));
    assert!(matches!(start(&[1.0, f64::NAN, 1.0, 1.0, 1.0]), SolveError::NonFiniteStart { .. }));

    let mut broken = Separable::new(AutoDiff(Decays::new(truth)), &[0, 2, 4]).unwrap();
    assert!(matches!(solver.minimize(&mut broken, &[-1e4, 1.0]), Err(SolveError::NonFiniteResidual { .. })));
    assert!(broken.full(&[-1e4, 1.0]).unwrap()[0].is_nan());

    let mut failing = Analytic::new(2, 2, |_: &[f64], _: &mut [f64], _: Option<&mut [f64]>| Err("no data".into()));
    let error = solver.minimize_separable(&mut failing, &[1.0, 1.0]).unwrap_err();
    assert!(matches!(&error, SolveError::Evaluation(error) if error.to_string() == "no data"), "{error}");
}

/// `a exp(k t)`, whose evaluations fail after so many.
#[test]
fn an_evaluation_that_fails_late_does_not_lose_what_was_found() {
    let solve = |good: usize| {
        let mut calls = 0;
        let mut problem = Analytic::new(2, 4, |x: &[f64], r: &mut [f64], mut jacobian: Option<&mut [f64]>| {
            calls += 1;
            if calls > good {
                return Err("no more".into());
            }
            for (i, y) in [3.1, 1.9, 1.0, 0.7].into_iter().enumerate() {
                let power = (x[1] * i as f64).exp();
                r[i] = x[0] * power - y;
                if let Some(jacobian) = &mut jacobian {
                    jacobian[2 * i..2 * i + 2].copy_from_slice(&[power, x[0] * i as f64 * power]);
                }
            }
            Ok(())
        });
        LevenbergMarquardt::new().minimize_separable(&mut problem, &[1.0, -2.0])
    };
    let whole = solve(usize::MAX).unwrap();
    assert!(whole.is_converged(), "{whole}");
    let found = (0..).map(solve).skip_while(Result::is_err).map(Result::unwrap);
    let failed: Vec<_> = found.take_while(|report| report.status == Status::EvaluationFailed).collect();
    assert!(failed.iter().all(|report| report.error.is_some() && report.cost <= report.initial_cost));
    // The last calls confirm the whole point; without an earlier one the linear parameter is the start's.
    let is_partial = |report: &&Report<f64>| report.x[0] == 1.0;
    let partial = failed.iter().take_while(is_partial).count();
    let complete = &failed[partial..];
    assert!(partial > 0 && !complete.is_empty());
    assert!(complete.iter().all(|report| (report.cost - whole.cost).abs() <= 1e-12 * whole.cost), "{complete:?}");
}

#[test]
fn without_linear_parameters_it_is_the_plain_solve() {
    let set = DataSet::load(Model::Chwirut2);
    let solver = LevenbergMarquardt::new();
    let plain = solver.minimize(&mut AutoDiff(&set), &set.starts[0]).unwrap();
    let same = solver.minimize_separable(&mut AutoDiff(&set), &set.starts[0]).unwrap();
    assert!(plain.x == same.x && plain.iterations == same.iterations);
}

/// A column of subnormal numbers, whose coefficient would be beyond all floats: the data do not determine it.
#[test]
fn no_parameter_is_eliminated_to_infinity() {
    let y = [0.05, 0.04, 0.03, 0.02, 0.02, 0.01];
    for tiny in [5e-324, 1e-310, 1e-300] {
        for x in [[1.0; 6], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]].map(|x| x.map(|x| x * tiny)) {
            // The bounds of `a` leave `b` to be eliminated, in which the curve is straight as far as can be seen.
            let fit = CurveFit::new(|x, [a, b]| a * (b * x).exp(), &x, &y, [1.0, -1.0]).bounds("b1", 0.5..=2.0);
            let fit = fit.variable_projection(true).fit().unwrap();
            let status = fit.report().status;
            assert!(status.is_converged() || status == Status::FlatValley, "{tiny}: {fit}");
            assert!(fit.report().x.iter().all(|value| value.is_finite()), "{tiny}: {fit}");
            assert!(fit.predict(&x).unwrap().iter().all(|y| y.is_finite()));
            assert!(fit.parameters().iter().all(|parameter| parameter.standard_error >= 0.0), "{tiny}: {fit}");
        }
    }
}

/// A column that has an inverse, but not for residuals as large as these.
#[test]
fn coefficients_beyond_all_floats_are_no_answer() {
    let problem = || {
        Analytic::new(2, 3, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
            for i in 0..3 {
                r[i] = x[0] * 1e-300 + x[1].exp() * 1e10 + 1e9 * i as f64;
            }
            for row in jacobian.into_iter().flat_map(|rows| rows.chunks_exact_mut(2)) {
                row.copy_from_slice(&[1e-300, x[1].exp() * 1e10]);
            }
            Ok(())
        })
    };
    let mut separable = Separable::new(problem(), &[0]).unwrap();
    assert!(separable.full(&[0.0]).unwrap()[0].is_nan());
    let error = LevenbergMarquardt::new().minimize(&mut separable, &[0.0]).unwrap_err();
    assert!(matches!(error, SolveError::NonFiniteResidual { .. }), "{error}");
    assert!(LevenbergMarquardt::new().minimize_separable(&mut problem(), &[0.0, 0.0]).is_err());
}

/// Rounding of a column that is projected to nothing is no direction to go.
#[test]
fn what_linear_parameters_explain_has_no_gradient() {
    let problem = Analytic::new(2, 5, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        for i in 0..5 {
            r[i] = (x[0] + 3.0 * x[1]) * (0.1 + 0.3 * i as f64).sin() - (1.7 * i as f64).cos();
        }
        for (i, row) in jacobian.into_iter().flat_map(|rows| rows.chunks_exact_mut(2)).enumerate() {
            let column = (0.1 + 0.3 * i as f64).sin();
            row.copy_from_slice(&[column, 3.0 * column]);
        }
        Ok(())
    });
    let mut separable = Separable::new(problem, &[0]).unwrap();
    let (_, jacobian) = linearized(&mut separable, &[0.7]);
    assert_eq!(jacobian.as_slice(), [0.0; 5]);
    let report = LevenbergMarquardt::new().minimize(&mut separable, &[0.7]).unwrap();
    assert!(report.is_converged() && report.x == [0.7] && report.gradient_cosine == 0.0, "{report}");
}

/// A sine of a frequency and a phase near zero is linear in both, as far as can be seen from there.
#[test]
fn what_looks_linear_at_the_start_alone_ends_at_a_minimum_of_all_parameters() {
    let x: Vec<f64> = (0..55).map(|i| i as f64 / 5.5).collect();
    let y: Vec<f64> = x.iter().map(|x| (10.0 * (5.0 * (0.8 * x + 1.0).sin() - 3.0)).round() / 10.0).collect();
    for [b, c] in [[-1.6e-7, -1.7e-6], [1e-9, 1e-12], [1e-3, 2e-3]] {
        let fit = CurveFit::new(|x, [a, b, c, d]| a * (b * x + c).sin() + d, &x, &y, [-3e-4, b, c, 8.8e6])
            .variable_projection(true)
            .fit()
            .expect("the start is valid");
        if fit.report().is_converged() {
            let mean: f64 = fit.residuals().iter().sum();
            let size = fit.residuals().iter().map(|r| r * r).sum::<f64>().sqrt();
            assert!(mean.abs() <= 1e-6 * size * 55.0_f64.sqrt(), "{fit}");
        }
    }
}

/// A parameter is linear up to five, and so a unit away from the start, and not beyond, where the minimum is.
#[test]
fn the_work_of_both_solves_is_counted_where_a_parameter_is_not_linear() {
    let x: Vec<f64> = (0..20).map(|i| 0.2 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 20.0 * x + (-0.5 * x).exp()).collect();
    let fit = |is_separable: bool| {
        let slope = |b: Dual<f64, 2>| if b.value < 5.0 { b } else { b * b / 5.0 };
        let curve = CurveFit::new(move |x, [b, c]| slope(b) * x + (c * x).exp(), &x, &y, [1.0, -1.0]);
        curve.variable_projection(is_separable).fit().expect("the start is valid")
    };
    let (whole, both) = (fit(false), fit(true));
    let (whole, both) = (whole.report(), both.report());
    assert_eq!(both.x, whole.x, "all parameters are solved for from the start");
    assert!(both.iterations > whole.iterations && both.accepted > whole.accepted, "{both}");
    assert!(both.evaluations.residuals > whole.evaluations.residuals, "{both}");
    assert!(both.log.iter().map(|record| record.iteration).eq(1..=both.iterations), "{both}");
}
