//! Solves whose rows are spread over ranks: the answer is that of one rank with all rows, to the same bits on every rank,
//! and whatever goes wrong on one of them reaches all.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use marquardt::distributed::{Communicator, RankError, on_threads};
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::optim::{Adam, Optimizer};
use marquardt::problem::{
    Bounded, FiniteDifference, FixedAutoDiff, Robust, Separable, SeparableError, Sharded, SumOfSquares,
};
use marquardt::solver::damping::{Multiplicative, TrustRegion};
use marquardt::solver::{Acceleration, CancelToken, CovarianceError, IterationRecord, Observer, Status};
use marquardt::{
    AutoDiff, Bounds, Covariance, EvaluationError, LeastSquares, LevenbergMarquardt, Loss, Report, SolveError,
    Variables,
};
use nalgebra::SVector;
use ndarray::ArrayView1;
use proptest::prelude::*;

use crate::common::{self, Wavy};

/// `y = 2 + 3 e^(−t/2) + e^(−4t)` and some noise, as differences from a model.
fn decays(rows: usize) -> Wavy<f64> {
    let t = |i: usize| 10.0 * i as f64 / rows as f64;
    let slopes = (0..rows).flat_map(|i| [1.0, t(i).sin(), t(i).cos()]).collect();
    let waves = (0..rows).flat_map(|i| [0.0, (-t(i)).exp(), (-3.0 * t(i)).exp()]).collect();
    let y = (0..rows).map(|i| 2.0 + 0.3 * (1.0 + i as f64).ln().sin() + 0.01 * (7.0 * i as f64).sin()).collect();
    Wavy { parameters: 3, slopes, waves, y, bend: 0.5, row_group: 1 }
}

/// The rows of one rank, if the first `cuts[0]` are rank 0's, and so on.
fn shard(all: &Wavy<f64>, cuts: &[usize], rank: usize) -> Wavy<f64> {
    let end = |rank: usize| cuts.get(rank).copied().unwrap_or(all.y.len());
    let start = if rank == 0 { 0 } else { end(rank - 1) };
    all.permuted(&(start..end(rank)).collect::<Vec<_>>())
}

fn spread(all: &Wavy<f64>, cuts: &[usize], ranks: &Communicator) -> Sharded<AutoDiff<Wavy<f64>>> {
    Sharded::new(AutoDiff(shard(all, cuts, ranks.rank())), ranks)
}

const START: [f64; 3] = [0.5, 0.1, -0.2];

/// The same bits on every rank.
fn assert_bitwise(reports: &[Report<f64>]) {
    let bits = |report: &Report<f64>| {
        let numbers = report.x.iter().chain([&report.cost, &report.gradient_norm, &report.damping]);
        numbers.map(|number| number.to_bits()).collect::<Vec<_>>()
    };
    for report in reports {
        assert_eq!(bits(report), bits(&reports[0]));
        assert_eq!((report.status, report.iterations), (reports[0].status, reports[0].iterations));
    }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1e-3), "{found} instead of {expected}");
    }
}

/// Solves with all rows on one rank and with shards of them, and compares.
fn compare(
    all: &Wavy<f64>,
    cuts: &[usize],
    solve: impl Fn(&mut dyn LeastSquares<f64>) -> Report<f64> + Sync,
) -> Vec<Report<f64>> {
    let alone = solve(&mut AutoDiff(all.clone()));
    let reports = on_threads(cuts.len() + 1, |ranks| solve(&mut spread(all, cuts, &ranks)));
    assert_bitwise(&reports);
    assert!(reports[0].is_converged(), "{}", reports[0]);
    assert_close(&reports[0].x, &alone.x, 1e-12);
    reports
}

proptest! {
    #![proptest_config(common::config())]

    /// Ragged shards, empty ones among them.
    #[test]
    fn the_answer_is_that_of_one_rank(
        cuts in prop::collection::vec(0..40_usize, 0..4),
        form in prop::sample::select(vec![LinearForm::Cholesky, LinearForm::Qr, LinearForm::Dual]),
    ) {
        let all = decays(40);
        let mut cuts = cuts;
        cuts.sort_unstable();
        let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
        let reports = compare(&all, &cuts, |problem| solver.minimize(problem, &START).unwrap());
        prop_assert_eq!(reports[0].linear_form, form);
    }
}

#[test]
fn every_policy_and_correction_takes_the_same_way_on_all_ranks() {
    let (all, cuts) = (decays(50), [20, 20]);
    let always = LevenbergMarquardt::new().with_acceleration(Acceleration::Always);
    compare(&all, &cuts, |problem| always.minimize(problem, &START).unwrap());
    let dual = always.clone().with_linear_solver(LinearSolver::Always(LinearForm::Dual));
    compare(&all, &cuts, |problem| dual.minimize(problem, &START).unwrap());
    compare(&all, &cuts, |problem| {
        always.clone().with_damping(TrustRegion::default()).minimize(problem, &START).unwrap()
    });
    let factors = LevenbergMarquardt::new().with_damping(Multiplicative::default());
    compare(&all, &cuts, |problem| factors.minimize(problem, &START).unwrap());
}

#[test]
fn bounds_are_kept_on_all_ranks() {
    let all = decays(50);
    let within = |problem: &mut dyn LeastSquares<f64>| {
        let bounds = Bounds::new(vec![-1.0, -0.05, -1.0], vec![1.5, 1.0, 1.0]).unwrap();
        LevenbergMarquardt::new().minimize(&mut Bounded::new(problem, bounds).unwrap(), &[0.5, 0.0, 0.0]).unwrap()
    };
    let reports = compare(&all, &[10, 45], within);
    assert!(!reports[0].active.is_empty());
}

#[test]
fn robust_losses_are_summed() {
    let mut all = decays(50);
    all.y[13] += 30.0;
    let robust = |problem: &mut dyn LeastSquares<f64>| {
        LevenbergMarquardt::new().minimize(&mut Robust::new(problem, Loss::Huber, 0.5).unwrap(), &START).unwrap()
    };
    compare(&all, &[20], robust);
}

#[test]
fn covariances_are_of_all_rows() {
    let all = decays(50);
    let x = LevenbergMarquardt::new().minimize(&mut AutoDiff(all.clone()), &START).unwrap().x;
    let alone = Covariance::at(&mut AutoDiff(all.clone()), &x).unwrap();
    let spread_out = on_threads(3, |ranks| Covariance::at(&mut spread(&all, &[0, 2], &ranks), &x).unwrap());
    for covariance in &spread_out {
        assert_eq!(covariance.standard_errors(), spread_out[0].standard_errors());
        assert_eq!(covariance.degrees_of_freedom(), 47);
        assert_close(
            covariance.standard_errors().as_slice().unwrap(),
            alone.standard_errors().as_slice().unwrap(),
            1e-12,
        );
    }
    let none = on_threads(2, |ranks| {
        let nothing = Sharded::new(AutoDiff(all.permuted(&[])), &ranks);
        Covariance::at(&mut { nothing }, &x).unwrap_err()
    });
    assert!(none.iter().all(|error| matches!(error, CovarianceError::NoResiduals)));
}

#[test]
fn sizes_known_at_compile_time_are_spread_as_well() {
    let all = decays(50);
    let alone = LevenbergMarquardt::new().minimize(&mut AutoDiff(all.clone()), &START).unwrap();
    let found = on_threads(2, |ranks| {
        let rows = FixedAutoDiff::<_, 3>(shard(&all, &[17], ranks.rank()));
        LevenbergMarquardt::new().minimize_fixed(&mut Sharded::new(rows, &ranks), SVector::from(START)).unwrap().x
    });
    assert_eq!(found[0], found[1]);
    assert_close(found[0].as_slice(), &alone.x, 1e-12);
}

/// Closures compute all rows of a rank at once, and ranks have different numbers of them.
#[test]
fn closures_are_spread_as_well() {
    let y = |row: usize| 2.0 * (-0.3 * row as f64).exp() + 0.01 * (5.0 * row as f64).sin();
    let fit = |ranks: &Communicator, rows: std::ops::Range<usize>| {
        let closure = FiniteDifference::new(2, rows.len(), |b: &[f64], r: &mut [f64]| {
            r.iter_mut().zip(rows.clone()).for_each(|(r, row)| *r = b[0] * (-b[1] * row as f64).exp() - y(row));
            Ok(())
        });
        LevenbergMarquardt::new().minimize(&mut Sharded::new(closure, ranks), &[1.0, 1.0]).unwrap()
    };
    let alone = fit(&Communicator::single(), 0..20);
    let ends = [0, 13, 13, 20];
    let reports = on_threads(3, |ranks| fit(&ranks, ends[ranks.rank()]..ends[ranks.rank() + 1]));
    assert_bitwise(&reports);
    assert_close(&reports[0].x, &alone.x, 1e-9);
}

#[test]
fn minibatches_and_gradients_are_spread_as_well() {
    let all = decays(50);
    let steps = |problem: &mut dyn LeastSquares<f64>, optimizer: &mut dyn Optimizer<f64>| {
        let mut variables = Variables::new();
        let x = variables.add("x", ArrayView1::from(&START)).unwrap();
        let mut objective = SumOfSquares::new(problem);
        let losses: Vec<f64> = (0..3).map(|_| optimizer.step(&mut objective, &mut variables).unwrap().loss).collect();
        [losses, variables.get(x).iter().copied().collect()].concat()
    };
    let optimizer = |is_first_order: bool| -> Box<dyn Optimizer<f64>> {
        if is_first_order { Box::new(Adam::new(0.1)) } else { Box::new(LevenbergMarquardt::new().with_momentum(0.2)) }
    };
    for is_first_order in [false, true] {
        let alone = steps(&mut AutoDiff(all.clone()), &mut *optimizer(is_first_order));
        let found = on_threads(3, |ranks| steps(&mut spread(&all, &[11, 11], &ranks), &mut *optimizer(is_first_order)));
        assert!(found.iter().all(|numbers| *numbers == found[0]));
        assert_close(&found[0], &alone, 1e-12);
    }
}

/// A problem that fails after so many evaluations, on one rank.
struct Failing<P> {
    problem: P,
    left: usize,
    value: Option<f64>,
}

impl<P: LeastSquares<f64>> LeastSquares<f64> for Failing<P> {
    fn parameter_count(&self) -> usize {
        self.problem.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.problem.residual_count()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.problem.residuals(x, first, r)?;
        if self.left > 0 {
            self.left -= 1;
            return Ok(());
        }
        match self.value {
            Some(value) => r[0] = value,
            None => return Err("the simulator is not running".into()),
        }
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.problem.linearize(x, first, r, j)?;
        self.residuals(x, first, r)
    }
}

/// Solves on three ranks, of which rank 1 fails after so many evaluations.
fn solve_with_failing_rank(left: usize, value: Option<f64>, form: LinearForm) -> Vec<Result<Report<f64>, SolveError>> {
    let all = decays(60);
    on_threads(3, |ranks| {
        let left = if ranks.rank() == 1 { left } else { usize::MAX };
        let rows = Failing { problem: AutoDiff(shard(&all, &[20, 40], ranks.rank())), left, value };
        let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
        solver.minimize(&mut Sharded::new(rows, &ranks), &START)
    })
}

#[test]
fn an_error_of_one_rank_is_that_of_all() {
    for form in [LinearForm::Cholesky, LinearForm::Qr] {
        for error in solve_with_failing_rank(0, None, form).into_iter().map(Result::unwrap_err) {
            let expected = "the residuals could not be evaluated at the start: rank 1: the simulator is not running";
            assert_eq!(error.to_string(), expected);
        }
        for left in 1..9 {
            let reports: Vec<_> = solve_with_failing_rank(left, None, form).into_iter().map(Result::unwrap).collect();
            assert_bitwise(&reports);
            for report in &reports {
                assert_eq!(report.status, Status::EvaluationFailed);
                assert_eq!(report.error.as_ref().unwrap().to_string(), "rank 1: the simulator is not running");
                assert!(report.cost <= report.initial_cost && report.x.iter().all(|x| x.is_finite()));
            }
        }
    }
}

#[test]
fn a_value_of_one_rank_that_is_not_finite_counts_for_all() {
    for value in [f64::NAN, f64::INFINITY] {
        for error in solve_with_failing_rank(0, Some(value), LinearForm::Cholesky).into_iter().map(Result::unwrap_err) {
            let SolveError::Rank(RankError { rank: 1, message }) = error else { panic!("{error}") };
            assert_eq!(message, format!("residual 0 is {value} at the start"));
        }
        // From the third evaluation on, every trial is refused, and the best point so far is kept.
        let reports: Vec<_> =
            solve_with_failing_rank(3, Some(value), LinearForm::Cholesky).into_iter().map(Result::unwrap).collect();
        assert_bitwise(&reports);
        assert!(reports[0].cost < reports[0].initial_cost && reports[0].status == Status::NoProgress, "{}", reports[0]);
    }
}

#[test]
fn what_has_to_be_equal_is_checked() {
    let all = decays(30);
    type Change = dyn Fn(usize, &mut Wavy<f64>, &mut Vec<f64>) + Sync;
    let errors = |change: &Change| {
        on_threads(3, |ranks| {
            let (mut rows, mut start) = (shard(&all, &[10, 20], ranks.rank()), START.to_vec());
            change(ranks.rank(), &mut rows, &mut start);
            let mut problem = Sharded::new(AutoDiff(rows), &ranks);
            LevenbergMarquardt::new().minimize(&mut problem, &start).unwrap_err().to_string()
        })
    };
    let same = |errors: Vec<String>, expected: &str| assert!(errors.iter().all(|e| e == expected), "{errors:?}");
    same(errors(&|rank, _, x| x[0] += (rank / 2) as f64), "the start of rank 2 is not that of rank 0");
    same(errors(&|rank, _, x| x.truncate(3 - rank)), "rank 1: the problem has 3 parameters, but the start has 2");
    same(errors(&|_, rows, _| *rows = rows.permuted(&[])), "the problem has no residuals");
}

#[test]
fn what_needs_all_rows_on_one_rank_is_refused() {
    let all = decays(30);
    let errors = on_threads(2, |ranks| {
        let mut problem = spread(&all, &[9], &ranks);
        let separable = Separable::new(&mut problem, &[0]).unwrap_err();
        assert!(matches!(separable, SeparableError::SpreadOut { ranks: 2 }));
        LevenbergMarquardt::new().minimize_separable(&mut problem, &START).unwrap_err().to_string()
    });
    for separable in errors {
        assert_eq!(separable, "variable projection needs all rows on one rank, but they are spread over 2");
    }
}

/// Ends the solve of one rank, after the second iteration or the first of the polish.
struct Impatient {
    is_here: bool,
    in_polish: bool,
}

impl Observer<f64> for Impatient {
    fn observe(&mut self, record: &IterationRecord<f64>, _: &[f64]) -> ControlFlow<()> {
        let has_seen_enough = if self.in_polish { record.polish } else { record.iteration == 2 };
        if self.is_here && has_seen_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn one_rank_can_stop_all() {
    let all = decays(60);
    let slow = LevenbergMarquardt::new().with_damping(Multiplicative::new(1e3, 2.0, 1.5));
    let solve = |ranks: &Communicator, solver: LevenbergMarquardt<f64, _>, observer: bool| {
        let mut observer = Impatient { is_here: observer, in_polish: false };
        solver.minimize_observed(&mut spread(&all, &[20], ranks), &START, &mut observer).unwrap()
    };
    let stops_all = |reports: Vec<Report<f64>>, status: Status| {
        assert_bitwise(&reports);
        assert!(reports[0].status == status && reports[0].iterations < 9, "{}", reports[0]);
    };
    stops_all(on_threads(2, |ranks| solve(&ranks, slow.clone(), ranks.rank() == 1)), Status::Cancelled);
    let cancelled = on_threads(2, |ranks| {
        let token = CancelToken::new();
        if ranks.rank() == 1 {
            token.cancel();
        }
        solve(&ranks, slow.clone().with_cancel_token(token), false)
    });
    stops_all(cancelled, Status::Cancelled);
    let in_polish = on_threads(2, |ranks| {
        let mut observer = Impatient { is_here: ranks.rank() == 1, in_polish: true };
        let solver = LevenbergMarquardt::new().with_ftol(1e-3);
        solver.minimize_observed(&mut spread(&all, &[20], &ranks), &START, &mut observer).unwrap()
    });
    assert!(in_polish[0].log.iter().filter(|record| record.polish).count() == 1, "{:?}", in_polish[0].log);
    stops_all(in_polish, Status::Cancelled);
    let limits = [Duration::MAX, Duration::ZERO];
    let limited = on_threads(2, |ranks| solve(&ranks, slow.clone().with_time_limit(limits[ranks.rank()]), false));
    stops_all(limited, Status::TimeLimit);
    let evaluations = [usize::MAX, 4];
    let limited =
        on_threads(2, |ranks| solve(&ranks, slow.clone().with_max_evaluations(evaluations[ranks.rank()]), false));
    stops_all(limited, Status::MaxEvaluations);
}

#[test]
fn a_rank_that_leaves_is_not_waited_for() {
    let all = decays(60);
    let left = AtomicUsize::new(0);
    let outcomes = on_threads(3, |ranks| {
        if ranks.rank() == 2 {
            left.fetch_add(1, Ordering::SeqCst);
            return None;
        }
        Some(LevenbergMarquardt::new().minimize(&mut spread(&all, &[20, 40], &ranks), &START).unwrap_err())
    });
    assert_eq!(left.into_inner(), 1);
    for error in outcomes.into_iter().flatten() {
        assert!(error.to_string().ends_with("rank 2 has gone"), "{error}");
    }
}
