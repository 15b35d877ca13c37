//! Solves and covariances of rows that are spread over ranks.

use std::ops::Range;

use marquardt::distributed::{Communicator, RankError};
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::problem::Sharded;
use marquardt::solver::Status;
use marquardt::{
    AutoDiff, Covariance, EvaluationError, LeastSquares, LevenbergMarquardt, Report, Residuals, Scalar, SolveError,
};

use crate::{Scenario, assert_bitwise, assert_close, shards};

pub const SCENARIOS: &[Scenario] = &[
    ("a solve is that of one rank with all rows", solve),
    ("a linearisation is one message of sums, a trial is one number", messages),
    ("an error of one rank is that of all", error),
    ("what is not finite on one rank is an error of all", not_finite),
    ("covariances are those of all rows", covariance),
];

const ROWS: usize = 301;

/// Three peaks on a slope: 11 parameters.
struct Peaks {
    x: Vec<f64>,
    y: Vec<f64>,
}

const TRUTH: [f64; 11] = [1.0, -0.1, 3.0, 2.5, 0.4, 2.0, 5.0, 0.7, 4.0, 7.5, 0.5];
const START: [f64; 11] = [0.5, 0.0, 2.0, 2.3, 0.5, 2.5, 5.3, 0.5, 3.0, 7.3, 0.6];

fn peaks<S: Scalar<Real = f64>>(p: &[S], x: f64) -> S {
    let peak = |p: &[S]| {
        let z = (-p[1] + x) / p[2];
        p[0] * (z * z * -0.5).exp()
    };
    p[0] + p[1] * x + peak(&p[2..]) + peak(&p[5..]) + peak(&p[8..])
}

impl Peaks {
    fn new(rows: Range<usize>) -> Self {
        let x: Vec<f64> = rows.map(|row| 10.0 * row as f64 / ROWS as f64).collect();
        let y = x.iter().map(|&x| peaks(&TRUTH, x) + 0.05 * (1e4 * x).sin()).collect();
        Peaks { x, y }
    }
}

impl Residuals<f64> for Peaks {
    fn parameter_count(&self) -> usize {
        START.len()
    }

    fn residual_count(&self) -> usize {
        self.x.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, p: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (r, (&x, &y)) in r.iter_mut().zip(self.x[first..].iter().zip(&self.y[first..])) {
            *r = peaks(p, x) - y;
        }
        Ok(())
    }
}

/// Peaks that fail after so many evaluations.
struct Failing {
    rows: AutoDiff<Peaks>,
    left: usize,
    by: Option<f64>,
}

impl LeastSquares<f64> for Failing {
    fn parameter_count(&self) -> usize {
        self.rows.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.rows.residual_count()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.rows.residuals(x, first, r)?;
        self.fail(r)
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.rows.linearize(x, first, r, j)?;
        self.fail(r)
    }
}

impl Failing {
    fn fail(&mut self, r: &mut [f64]) -> Result<(), EvaluationError> {
        if self.left > 0 {
            self.left -= 1;
            return Ok(());
        }
        r[0] = self.by.ok_or("the simulator is not running")?;
        Ok(())
    }
}

fn assert_same(ranks: &Communicator, report: &Report<f64>) {
    let counts = [report.iterations as f64, report.evaluations.jacobians as f64, report.status as u8 as f64];
    assert_bitwise(ranks, &[&report.x[..], &[report.cost, report.gradient_norm, report.damping], &counts].concat());
}

fn solve(ranks: &Communicator) {
    for form in [LinearForm::Cholesky, LinearForm::Qr] {
        let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
        let alone = solver.minimize(&mut AutoDiff(Peaks::new(0..ROWS)), &START).unwrap();
        for rows in shards(ranks, ROWS) {
            let mut problem = Sharded::new(AutoDiff(Peaks::new(rows)), ranks);
            let report = solver.minimize(&mut problem, &START).unwrap();
            assert!(report.is_converged(), "{report}");
            assert_close(&report.x, &alone.x, 1e-12);
            assert_same(ranks, &report);
        }
    }
}

fn messages(ranks: &Communicator) {
    let n = START.len() as u64;
    let mut problem = Sharded::new(AutoDiff(Peaks::new(ranks.shard(ROWS))), ranks);
    let before = ranks.traffic();
    let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(LinearForm::Cholesky));
    let report = solver.minimize(&mut problem, &START).unwrap();
    let after = ranks.traffic();
    let (linearizations, trials) = (report.evaluations.jacobians as u64, report.evaluations.residuals as u64);
    assert!(linearizations > 3, "{report}");
    let (sums, numbers) = (after.sums - before.sums, after.summed_numbers - before.summed_numbers);
    if ranks.size() == 1 {
        assert_eq!((sums, numbers, after.gathers), (0, 0, 0));
    } else {
        assert_eq!(sums, linearizations + trials);
        assert_eq!(numbers, linearizations * (n * (n + 1) / 2 + n + 2) + trials);
        // What has to be the same on all ranks is compared once, before the first step.
        assert!(after.gathered_bytes - before.gathered_bytes < 100);
    }
}

fn fail_on_the_last(ranks: &Communicator, after: usize, by: Option<f64>) -> Result<Report<f64>, SolveError> {
    let left = if ranks.rank() + 1 == ranks.size() { after } else { usize::MAX };
    let rows = AutoDiff(Peaks::new(ranks.shard(ROWS)));
    LevenbergMarquardt::new().minimize(&mut Sharded::new(Failing { rows, left, by }, ranks), &START)
}

fn error(ranks: &Communicator) {
    let last = ranks.size() - 1;
    let message = |at: &str| {
        if last > 0 {
            format!("{at}rank {last}: the simulator is not running")
        } else {
            format!("{at}the simulator is not running")
        }
    };
    let error = fail_on_the_last(ranks, 0, None).unwrap_err();
    assert_eq!(error.to_string(), message("the residuals could not be evaluated at the start: "));
    for after in 3..6 {
        let report = fail_on_the_last(ranks, after, None).unwrap();
        assert_eq!(report.status, Status::EvaluationFailed);
        assert_eq!(report.error.as_ref().unwrap().to_string(), message(""));
        assert_same(ranks, &report);
    }
}

fn not_finite(ranks: &Communicator) {
    let last = ranks.size() - 1;
    for value in [f64::NAN, f64::INFINITY] {
        let error = fail_on_the_last(ranks, 0, Some(value)).unwrap_err();
        if last > 0 {
            let SolveError::Rank(RankError { rank, message }) = error else { panic!("{error}") };
            assert_eq!((rank, message), (last, format!("residual 0 is {value} at the start")));
        }
        let report = fail_on_the_last(ranks, 4, Some(value)).unwrap();
        assert!(report.cost < report.initial_cost && report.x.iter().all(|x| x.is_finite()));
        assert_same(ranks, &report);
    }
}

fn covariance(ranks: &Communicator) {
    let alone = Covariance::at(&mut AutoDiff(Peaks::new(0..ROWS)), &TRUTH).unwrap();
    for rows in shards(ranks, ROWS) {
        let all = Covariance::at(&mut Sharded::new(AutoDiff(Peaks::new(rows)), ranks), &TRUTH).unwrap();
        assert_eq!(all.degrees_of_freedom(), ROWS - START.len());
        let (errors, expected) = (all.standard_errors(), alone.standard_errors());
        assert_close(errors.as_slice().unwrap(), expected.as_slice().unwrap(), 1e-12);
        assert_bitwise(ranks, errors.as_slice().unwrap());
    }
}
