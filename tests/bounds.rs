//! Minima within bounds: the conditions of Karush, Kuhn and Tucker, SciPy's minima, and no point outside.

mod common;
#[path = "nist/mod.rs"]
#[allow(dead_code, reason = "the certified values are of other minima")]
mod data;
#[path = "reference/mod.rs"]
#[allow(dead_code, reason = "other suites take the rest")]
mod reference;

use common::{Wavy, config, linearized, wavy};
use data::{DataSet, Model};
use marquardt::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::optim::{Adam, Optimizer};
use marquardt::{
    Acceleration, AutoDiff, BoundSide, Bounded, Bounds, BoundsError, Covariance, Difference, EvaluationError,
    FiniteDifference, FixedAutoDiff, LeastSquares, LevenbergMarquardt, LinearForm, LinearSolver, Report, Residuals,
    Scalar, SolveError, SumOfSquares, Variables, check_derivatives,
};
use nalgebra::SVector;
use proptest::collection::vec;
use proptest::prelude::*;
use reference::Reference;

const NONE: f64 = f64::INFINITY;

/// A problem that must never be asked for anything outside of its bounds.
struct Fenced<F> {
    problem: AutoDiff<F>,
    bounds: Bounds<f64>,
}

impl<F: Residuals<f64>> Fenced<F> {
    fn new(function: F, bounds: &Bounds<f64>) -> Self {
        Fenced { problem: AutoDiff(function), bounds: bounds.clone() }
    }

    fn check(&self, x: &[f64]) {
        assert!(self.bounds.contains(x), "{x:?} is outside of {:?}", self.bounds);
    }
}

impl<F: Residuals<f64>> LeastSquares<f64> for Fenced<F> {
    fn bounds(&self) -> Option<&Bounds<f64>> {
        Some(&self.bounds)
    }

    fn parameter_count(&self) -> usize {
        self.problem.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.problem.residual_count()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.check(x);
        self.problem.residuals(x, first, r)
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.check(x);
        self.problem.linearize(x, first, r, j)
    }
}

/// `r_i = b₀ exp(−b₁ t_i) + b₂ exp(−b₃ t_i) − y_i`.
#[derive(Debug, Clone)]
struct Decays {
    y: Vec<f64>,
}

impl Residuals<f64> for Decays {
    fn parameter_count(&self) -> usize {
        4
    }

    fn residual_count(&self) -> usize {
        self.y.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (i, r) in (first..).zip(r) {
            let t = 0.3 * i as f64;
            *r = b[0] * (-b[1] * t).exp() + b[2] * (-b[3] * t).exp() - self.y[i];
        }
        Ok(())
    }
}

/// How far `x` is from a minimum within the bounds: the largest cosine between the residuals and a column of the Jacobian
/// along which `x` could move downhill.
fn kkt_residual(problem: &mut impl LeastSquares<f64>, bounds: &Bounds<f64>, x: &[f64]) -> f64 {
    let (r, jacobian) = linearized(problem, x);
    let free_cosine = |j: usize| {
        let gradient = jacobian.column(j).dot(&r);
        let (at_lower, at_upper) = (x[j] == bounds.lower()[j], x[j] == bounds.upper()[j]);
        let uphill = (at_lower && gradient >= 0.0) || (at_upper && gradient <= 0.0) || (at_lower && at_upper);
        let size = jacobian.column(j).norm() * r.norm();
        if uphill || size == 0.0 { 0.0 } else { gradient.abs() / size }
    };
    (0..x.len()).map(free_cosine).fold(0.0, f64::max)
}

fn policies() -> [Damping<f64>; 3] {
    [GainRatio::default().into(), TrustRegion::default().into(), Multiplicative::default().into()]
}

fn solvers() -> impl Iterator<Item = LevenbergMarquardt<f64>> {
    let forms = [LinearSolver::Always(LinearForm::Cholesky), LinearSolver::Always(LinearForm::Qr), LinearSolver::Auto];
    let accelerations = [Acceleration::WhereCurved, Acceleration::Always, Acceleration::Never];
    policies().into_iter().flat_map(move |policy| {
        forms.into_iter().zip(accelerations).map(move |(form, acceleration)| {
            LevenbergMarquardt::new().with_damping(policy).with_linear_solver(form).with_acceleration(acceleration)
        })
    })
}

/// A box around some centre, open or closed on every side, and a start within: sides that some starts are on, and now and
/// then a pair of equal bounds.
fn fence(n: usize, around: f64) -> impl Strategy<Value = (Bounds<f64>, Vec<f64>)> {
    let room = || vec(prop_oneof![1 => Just(0.0), 4 => 0.0..around, 2 => Just(NONE)], n);
    (vec(-around..around, n), room(), room()).prop_map(move |(start, down, up)| {
        let lower: Vec<f64> = start.iter().zip(&down).map(|(x, down)| x - down).collect();
        let upper: Vec<f64> = start.iter().zip(&up).map(|(x, up)| x + up).collect();
        (Bounds::new(lower, upper).unwrap(), start)
    })
}

/// Solves in every way, and checks each result.
fn check_all<F: Residuals<f64> + Clone>(
    function: &F,
    bounds: &Bounds<f64>,
    start: &[f64],
) -> Result<(), TestCaseError> {
    for solver in solvers() {
        let mut problem = Fenced::new(function.clone(), bounds);
        let report = solver.minimize(&mut problem, start).unwrap();
        prop_assert!(report.is_converged(), "{:?}\n{}", solver, report);
        prop_assert!(bounds.contains(&report.x));
        let left = kkt_residual(&mut problem, bounds, &report.x);
        prop_assert!(left < 1e-10, "{left:e} of {:?}, {:?}\n{}", bounds, solver, report);
        for active in &report.active {
            let (j, fixed) = (active.parameter, bounds.lower()[active.parameter] == bounds.upper()[active.parameter]);
            match active.side {
                BoundSide::Lower => {
                    prop_assert!(report.x[j] == bounds.lower()[j] && (fixed || active.gradient > 0.0));
                }
                BoundSide::Upper => {
                    prop_assert!(report.x[j] == bounds.upper()[j] && (fixed || active.gradient < 0.0));
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases / 8, ..config() })]

    #[test]
    fn linear_problems_end_at_their_minimum(problem in wavy(9, 5, 0.0), (bounds, start) in fence(5, 1.0)) {
        check_all(&problem, &bounds, &start)?;
    }

    #[test]
    fn curved_problems_end_at_a_minimum(problem in wavy(8, 4, 0.2), (bounds, start) in fence(4, 1.5)) {
        check_all(&problem, &bounds, &start)?;
    }

    /// Boxes so narrow that nearly all parameters end at a side.
    #[test]
    fn narrow_boxes_are_no_trap(problem in wavy(12, 8, 0.2), (bounds, start) in fence(8, 0.05)) {
        check_all(&problem, &bounds, &start)?;
    }

    #[test]
    fn sums_of_decays_end_at_a_minimum(
        (a, b) in (0.5..3.0, 0.2..0.6),
        (c, d) in (0.5..3.0, 1.0..3.0),
        noise in vec(-0.05..0.05, 20),
        cuts in [0.6..1.3, 0.6..1.3],
    ) {
        let mut y = vec![0.0; 20];
        Decays { y: vec![0.0; 20] }.evaluate(&[a, b, c, d], 0, &mut y).unwrap();
        y.iter_mut().zip(&noise).for_each(|(y, noise)| *y += noise);
        // One rate from below, the other from above.
        let bounds = Bounds::new([0.0, b * cuts[0], 0.0, 0.1], [10.0, 5.0, 10.0, d * cuts[1]]).unwrap();
        let mut start = [1.0, 0.5, 1.0, 1.5];
        bounds.project(&mut start);
        check_all(&Decays { y }, &bounds, &start)?;
    }

    /// Bounds that are none change no bit.
    #[test]
    fn infinite_bounds_change_nothing(problem in wavy(8, 3, 0.5), start in vec(-1.0..1.0, 3)) {
        for solver in solvers() {
            let plain = solver.minimize(&mut AutoDiff(problem.clone()), &start).unwrap();
            let mut unbounded = Bounded::new(AutoDiff(problem.clone()), Bounds::unbounded(3)).unwrap();
            let bounded = solver.minimize(&mut unbounded, &start).unwrap();
            prop_assert!(same_bits(&plain, &bounded), "{plain}\n{bounded}");
        }
    }

    /// Far bounds change the way at most, but not the minimum.
    #[test]
    fn distant_bounds_do_not_move_the_minimum(problem in wavy(8, 3, 0.2), start in vec(-1.0..1.0, 3)) {
        let plain = LevenbergMarquardt::new().minimize(&mut AutoDiff(problem.clone()), &start).unwrap();
        let distant = Bounds::new([-1e6; 3], [1e6; 3]).unwrap();
        let bounded = LevenbergMarquardt::new().minimize(&mut Fenced::new(problem, &distant), &start).unwrap();
        prop_assert!(plain.x.iter().zip(&bounded.x).all(|(a, b)| (a - b).abs() < 1e-12), "{plain}\n{bounded}");
        prop_assert!(bounded.active.is_empty());
    }

    /// A parameter between equal bounds is a constant: of the fit, and of its uncertainties.
    #[test]
    fn equal_bounds_take_a_parameter_out(problem in wavy(9, 4, 0.3), start in vec(-1.0..1.0, 4), at in -1.0..1.0_f64) {
        let bounds = Bounds::unbounded(4).with(2, at, at).unwrap();
        let mut start = start;
        start[2] = at;
        let mut held = Fenced::new(problem.clone(), &bounds);
        let report = LevenbergMarquardt::new().minimize(&mut held, &start).unwrap();
        let mut without = AutoDiff(Without { problem, at });
        let expected = LevenbergMarquardt::new().minimize(&mut without, &[start[0], start[1], start[3]]).unwrap();
        let free = [report.x[0], report.x[1], report.x[3]];
        prop_assert!(report.x[2] == at && report.active.len() == 1);
        prop_assert!(free.iter().zip(&expected.x).all(|(a, b)| (a - b).abs() < 1e-10), "{report}\n{expected}");

        let covariance = Covariance::at(&mut held, &report.x).unwrap();
        let expected = Covariance::at(&mut without, &expected.x).unwrap();
        prop_assert_eq!(covariance.held(), ["x[2]"]);
        prop_assert_eq!(covariance.degrees_of_freedom(), expected.degrees_of_freedom());
        let (found, matrix) = (covariance.matrix(), expected.matrix());
        for (i, a) in [0, 1, 3].into_iter().enumerate() {
            for (j, b) in [0, 1, 3].into_iter().enumerate() {
                prop_assert!((found[[a, b]] - matrix[[i, j]]).abs() < 1e-8 * matrix[[i, i]].max(matrix[[j, j]]));
            }
        }
        prop_assert!((0..4).all(|j| found[[2, j]] == 0.0 && found[[j, 2]] == 0.0));
        prop_assert_eq!(covariance.correlation()[[2, 0]], 0.0);
    }
}

/// A problem of four parameters with the third constant.
struct Without {
    problem: Wavy<f64>,
    at: f64,
}

impl Residuals<f64> for Without {
    fn parameter_count(&self) -> usize {
        3
    }

    fn residual_count(&self) -> usize {
        self.problem.y.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        self.problem.evaluate(&[x[0], x[1], S::constant(self.at), x[2]], first, r)
    }
}

fn same_bits(a: &Report<f64>, b: &Report<f64>) -> bool {
    let bits = |report: &Report<f64>| report.x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let rest = |report: &Report<f64>| {
        let numbers = [report.cost, report.gradient_norm, report.gradient_cosine, report.damping].map(f64::to_bits);
        (numbers, report.iterations, report.accepted, report.evaluations, report.status)
    };
    bits(a) == bits(b) && rest(a) == rest(b)
}

/// Fifteen of NIST's sets with bounds that cut off their certified minima: SciPy's numbers, from both starts, and nothing
/// outside is evaluated.
#[test]
fn nist_sets_with_bounds_agree_with_scipy() {
    let reference = Reference::read("bounds.csv");
    let mut worst = 0.0_f64;
    for &model in Model::ALL {
        let name = model.name();
        if !reference.has(name) {
            continue;
        }
        let set = DataSet::load(model);
        let bounds = Bounds::new(reference.of(name, "lower"), reference.of(name, "upper")).unwrap();
        let (expected, held) = (reference.of(name, "x"), reference.of(name, "held"));
        for policy in policies().into_iter().take(2) {
            let mut start = set.starts[1].clone();
            bounds.project(&mut start);
            let mut problem = Fenced::new(&set, &bounds);
            let report = LevenbergMarquardt::new().with_damping(policy).minimize(&mut problem, &start).unwrap();
            assert!(report.is_converged(), "{name}: {report}");
            for (j, (found, expected)) in report.x.iter().zip(expected).enumerate() {
                assert!((found / expected - 1.0).abs() < 1e-8, "{name}: x[{j}] is not {expected}\n{report}");
            }
            let sum = reference.of(name, "sum_of_squares")[0];
            assert!((report.sum_of_squares() / sum - 1.0).abs() < 1e-9, "{name}: {sum}\n{report}");
            let active: Vec<usize> = report.active.iter().map(|active| active.parameter).collect();
            let listed: Vec<usize> = (0..held.len()).filter(|&j| held[j] == 1.0).collect();
            assert_eq!(active, listed, "{name}");
            worst = worst.max(kkt_residual(&mut problem, &bounds, &report.x));
        }
    }
    assert!(worst < 1e-11, "{worst:e}");
}

/// Rosenbrock's valley.
#[derive(Debug, Clone, Copy)]
struct Rosenbrock;

impl Residuals<f64> for Rosenbrock {
    fn parameter_count(&self) -> usize {
        2
    }

    fn residual_count(&self) -> usize {
        2
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let all = [(x[1] - x[0] * x[0]) * 10.0, -x[0] + 1.0];
        r.copy_from_slice(&all[first..first + r.len()]);
        Ok(())
    }

    fn parameter_name(&self, index: usize) -> String {
        ["east", "north"][index].into()
    }
}

#[test]
fn the_valley_is_followed_to_its_fence() {
    // x₀ ≤ ½: the minimum is (½, ¼). x₁ ≤ ¼: on the line x₁ = ¼, 200 x₀³ − 49 x₀ − 1 = 0.
    let across = |x: f64| 200.0 * x.powi(3) - 49.0 * x - 1.0;
    for solver in solvers() {
        let first = Bounds::new([-2.0, -2.0], [0.5, 2.0]).unwrap();
        let report = solver.minimize(&mut Fenced::new(Rosenbrock, &first), &[-1.2, 1.0]).unwrap();
        assert!(report.x[0] == 0.5 && (report.x[1] - 0.25).abs() < 1e-13, "{solver:?}\n{report}");
        assert_eq!(report.active[0].side, BoundSide::Upper);
        assert!((report.active[0].gradient + 0.5).abs() < 1e-12, "{report}");

        let second = Bounds::unbounded(2).with(1, -NONE, 0.25).unwrap();
        let report = solver.minimize(&mut Fenced::new(Rosenbrock, &second), &[1.2, 0.25]).unwrap();
        assert!(report.x[1] == 0.25 && across(report.x[0]).abs() < 1e-11, "{solver:?}\n{report}");
    }
}

#[test]
fn fixed_sizes_keep_bounds() {
    let bounds = Bounds::new([-2.0, -2.0], [0.5, 2.0]).unwrap();
    for solver in solvers() {
        let mut problem = Bounded::new(FixedAutoDiff::<_, 2>(Rosenbrock), bounds.clone()).unwrap();
        let report = solver.minimize_fixed(&mut problem, SVector::from([-1.2, 1.0])).unwrap();
        assert!(report.x[0] == 0.5 && (report.x[1] - 0.25).abs() < 1e-13, "{report}");
        assert_eq!(report.active.len(), 1);
    }
}

#[test]
fn single_precision_keeps_bounds() {
    let bounds = Bounds::new([0.0_f32, 0.0, -1.0], [0.2, 0.2, 1.0]).unwrap();
    let problem = Wavy {
        parameters: 3,
        slopes: vec![3.0, 0.5, 0.1, 0.2, 3.0, 0.3, 0.1, 0.2, 3.0, 1.0, 1.0, 1.0],
        waves: vec![0.5; 12],
        y: vec![1.0, -1.0, 0.3, 0.5],
        bend: 0.1,
        row_group: 1,
    };
    for form in [LinearForm::Cholesky, LinearForm::Qr] {
        let solver = LevenbergMarquardt::<f32>::new().with_linear_solver(LinearSolver::Always(form));
        let mut problem = Bounded::new(AutoDiff(problem.single()), bounds.clone()).unwrap();
        let report = solver.minimize(&mut problem, &[0.1, 0.1, 0.0]).unwrap();
        assert!(report.is_converged() && report.x[0] == 0.2 && report.x[1] == 0.0, "{report}");
        assert_eq!(
            report.active.iter().map(|active| active.side).collect::<Vec<_>>(),
            [BoundSide::Upper, BoundSide::Lower]
        );
        assert!(report.gradient_cosine < 1e-5, "{report}");
    }
}

/// From the very corner that is the minimum, and from the one across.
#[test]
fn starts_on_bounds_are_starts() {
    let bounds = Bounds::new([0.0, 0.5], [0.5, 1.0]).unwrap();
    for (start, few) in [([0.5, 0.5], 1), ([0.0, 0.5], 50), ([0.0, 1.0], 50), ([0.5, 1.0], 50)] {
        for solver in solvers() {
            let mut problem = Fenced::new(Rosenbrock, &bounds);
            let report = solver.minimize(&mut problem, &start).unwrap();
            assert!(report.is_converged() && kkt_residual(&mut problem, &bounds, &report.x) < 1e-12, "{report}");
            assert!(report.x == [0.5, 0.5] && report.iterations < few, "{report}");
        }
    }
}

/// Everything is held: there is nothing to do, and no degree of freedom is lost.
#[test]
fn a_box_of_one_point_is_its_minimum() {
    let bounds = Bounds::new([0.3, 0.4], [0.3, 0.4]).unwrap();
    for solver in solvers() {
        let mut problem = Fenced::new(Rosenbrock, &bounds);
        let report = solver.minimize(&mut problem, &[0.3, 0.4]).unwrap();
        assert!(report.is_converged() && report.x == [0.3, 0.4] && report.active.len() == 2, "{report}");
        assert_eq!((report.gradient_norm, report.gradient_cosine), (0.0, 0.0));
        let covariance = Covariance::at(&mut problem, &report.x).unwrap();
        assert_eq!((covariance.degrees_of_freedom(), covariance.held()), (2, &["x[0]".into(), "x[1]".into()][..]));
        assert_eq!(covariance.standard_errors().to_vec(), [0.0, 0.0]);
    }
}

/// Two parameters that act as one, and one that does nothing.
#[test]
fn dependent_columns_do_not_break_the_step() {
    let rows = |x: &[f64], r: &mut [f64]| {
        for (i, r) in r.iter_mut().enumerate() {
            *r = (x[0] + x[1]) * i as f64 + x[3] - 2.0 * i as f64 - 3.0;
        }
        Ok(())
    };
    let bounds = Bounds::new([0.0, 0.0, -1.0, -9.0], [0.5, NONE, 1.0, 2.0]).unwrap();
    for solver in solvers() {
        let mut problem = FiniteDifference::new(4, 6, rows).with_bounds(bounds.clone());
        let report = solver.minimize(&mut problem, &[0.25, 0.0, 0.5, 0.0]).unwrap();
        assert!(report.x[3] == 2.0 && report.x[2] == 0.5, "{solver:?}\n{report}");
        // Σ i (s i + 2 − 2 i − 3) = 0.
        assert!((report.x[0] + report.x[1] - (2.0 + 15.0 / 55.0)).abs() < 1e-6, "{solver:?}\n{report}");
        let covariance = Covariance::at(&mut problem, &report.x).unwrap();
        assert!(covariance.held().contains(&"x[3]".into()) && covariance.undetermined().contains(&"x[2]".into()));
    }
}

/// `√x` and `ln x`, whose edges a difference must not step over.
#[test]
fn differences_stay_within() {
    let rows = |x: &[f64], r: &mut [f64]| {
        assert!((0.0..=4.0).contains(&x[0]) && (1.0..=2.0).contains(&x[1]), "{x:?}");
        r.copy_from_slice(&[x[0].sqrt() + x[0] + 0.5, (x[1] - 0.5).ln() - 1.0, 0.1 * x[1] * x[0]]);
        Ok(())
    };
    for difference in [Difference::Central, Difference::Forward] {
        let bounds = Bounds::new([0.0, 1.0], [4.0, 2.0]).unwrap();
        let mut problem = FiniteDifference::new(2, 3, rows).with_difference(difference).with_bounds(bounds);
        let report = LevenbergMarquardt::new().minimize(&mut problem, &[4.0, 1.0]).unwrap();
        assert!(report.is_converged() && report.x == [0.0, 2.0], "{report}");
        let check = check_derivatives(&mut problem, &[4.0, 1.0]).unwrap();
        assert!(difference == Difference::Forward || check.passed(), "{check}");
    }
}

#[test]
fn a_start_outside_is_refused() {
    let bounds = Bounds::new([-2.0, 0.0], [0.5, NONE]).unwrap();
    let refuse = |start: &[f64]| {
        LevenbergMarquardt::new().minimize(&mut Fenced::new(Rosenbrock, &bounds), start).unwrap_err().to_string()
    };
    assert_eq!(refuse(&[0.0, -1.5]), "the start value of x[1] is -1.5, outside its bounds 0 and inf");
    let mut named = Bounded::new(AutoDiff(Rosenbrock), bounds.clone()).unwrap();
    let error = LevenbergMarquardt::new().minimize(&mut named, &[0.75, 1.0]).unwrap_err();
    assert!(matches!(&error, SolveError::StartOutOfBounds { name, value: 0.75, .. } if name == "east"), "{error}");
    let mut fixed = Bounded::new(FixedAutoDiff::<_, 2>(Rosenbrock), bounds).unwrap();
    assert!(LevenbergMarquardt::new().minimize_fixed(&mut fixed, SVector::from([0.75, 1.0])).is_err());
}

#[test]
fn bounds_of_another_length_are_refused() {
    let three = Bounds::<f64>::unbounded(3);
    let error = Bounded::new(AutoDiff(Rosenbrock), three.clone()).unwrap_err();
    assert_eq!(error, BoundsError::WrongLength { parameters: 2, bounds: 3 });
    let mut problem = Fenced { problem: AutoDiff(Rosenbrock), bounds: three };
    let error = LevenbergMarquardt::new().minimize(&mut problem, &[0.0, 0.0]).unwrap_err();
    assert!(matches!(error, SolveError::WrongBoundsLength { expected: 2, found: 3 }), "{error}");
    assert!(Covariance::at(&mut problem, &[0.0, 0.0]).unwrap_err().to_string().contains("bounds of 3"));
}

#[test]
fn forms_that_hold_nothing_are_refused() {
    let bounds = Bounds::new([0.0, 0.0], [1.0, 1.0]).unwrap();
    for form in [LinearForm::Dual, LinearForm::FactoredDual, LinearForm::ConjugateGradients] {
        let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
        let error = solver.minimize(&mut Fenced::new(Rosenbrock, &bounds), &[0.5, 0.5]).unwrap_err();
        assert!(matches!(error, SolveError::BoundedForm { form: refused } if refused == form), "{error}");
        let mut fixed = Bounded::new(FixedAutoDiff::<_, 2>(Rosenbrock), bounds.clone()).unwrap();
        let error = solver.minimize_fixed(&mut fixed, SVector::from([0.5, 0.5])).unwrap_err();
        assert!(matches!(error, SolveError::BoundedForm { .. }), "{error}");
    }
}

/// Full solves over variables keep bounds, also with some variables frozen; steps refuse what they could not keep.
#[test]
fn variables_keep_bounds_or_are_refused() {
    let bounds = Bounds::new([-2.0, -2.0], [0.5, 2.0]).unwrap();
    let mut objective = SumOfSquares::new(Bounded::new(AutoDiff(Rosenbrock), bounds).unwrap());
    let mut variables = Variables::new();
    variables.add("east", ndarray::array![-1.0].view()).unwrap();
    let north = variables.add("north", ndarray::array![1.0].view()).unwrap();
    let mut optimizers: [Box<dyn Optimizer<f64>>; 2] = [Box::new(LevenbergMarquardt::new()), Box::new(Adam::new(0.1))];
    for optimizer in &mut optimizers {
        let error = optimizer.step(&mut objective, &mut variables).unwrap_err();
        assert!(error.to_string().contains("bounds"), "{error}");
        assert_eq!(variables.values(), [-1.0, 1.0]);
    }
    LevenbergMarquardt::new().minimize_variables(&mut objective, &mut variables).unwrap();
    assert!(variables.values()[0] == 0.5 && (variables.values()[1] - 0.25).abs() < 1e-12);
    variables.set_trainable(north, false);
    variables.values_mut().copy_from_slice(&[0.0, 1.0]);
    let report = LevenbergMarquardt::new().minimize_variables(&mut objective, &mut variables).unwrap();
    assert_eq!((variables.values(), report.active.len()), (&[0.5, 1.0][..], 1));
}

#[test]
fn the_report_says_what_is_at_a_bound() {
    let bounds = Bounds::new([-2.0, -2.0], [0.5, 2.0]).unwrap();
    let report = LevenbergMarquardt::new().minimize(&mut Fenced::new(Rosenbrock, &bounds), &[0.0, 0.0]).unwrap();
    assert!(report.to_string().contains("x[0] = 5.0000000000e-1, its upper bound\n"), "{report}");
}
