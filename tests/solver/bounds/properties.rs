//! Random problems in random boxes.

use marquardt::problem::{BoundSide, Bounded};
use marquardt::{AutoDiff, Bounds, Covariance, EvaluationError, LevenbergMarquardt, Report, Residuals, Scalar};
use proptest::collection::vec;
use proptest::prelude::*;

use super::problems::{Fenced, kkt_residual, solvers};
use crate::common::{Wavy, config, wavy};

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

/// A box around some centre, open or closed on every side, and a start within: sides that some starts are on, and now and
/// then a pair of equal bounds.
fn fence(n: usize, around: f64) -> impl Strategy<Value = (Bounds<f64>, Vec<f64>)> {
    let room = || vec(prop_oneof![1 => Just(0.0), 4 => 0.0..around, 2 => Just(f64::INFINITY)], n);
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
        prop_assert!(left < 1e-8, "{left:e} of {:?}, {:?}\n{}", bounds, solver, report);
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
        (c, d) in (0.5..3.0, 1.5..3.0),
        noise in vec(-0.01..0.01, 20),
        cuts in [0.6..1.3, 0.6..1.3],
    ) {
        let mut y = vec![0.0; 20];
        Decays { y: vec![0.0; 20] }.evaluate(&[a, b, c, d], 0, &mut y).unwrap();
        y.iter_mut().zip(&noise).for_each(|(y, noise)| *y += noise);
        // One rate from below, the other from above; equal ones would leave the heights undetermined.
        let bounds = Bounds::new([0.0, b * cuts[0], 0.0, 0.87], [10.0, b * 1.4, 10.0, d * cuts[1]]).unwrap();
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
