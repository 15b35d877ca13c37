//! Points that pass for ends and are none: parameters that one ill-conditioned parameter excuses, saddles, columns of rounding errors;
//! and ends that have names of their own.

use marquardt::problem::FiniteDifference;
use marquardt::solver::Status;
use marquardt::{AutoDiff, CurveFit, EvaluationError, LevenbergMarquardt, Real, Report, Residuals, Scalar, curve_fit};
use proptest::prelude::*;

/// The logarithm's argument all but vanishes in the first row, where the last digit of `c` moves the residual by more than any step.
#[test]
fn one_ill_conditioned_parameter_excuses_no_other() {
    let x: Vec<f64> = (1..=8).map(f64::from).collect();
    let y = [-1.9, 3.3, 4.2, 3.8, 4.3, 5.4, 4.0, 1.4];
    for start in [[1.0, 2.0, 0.5], [0.0, 1.0, 0.0], [1.0, 2.0, -0.9]] {
        let fit = curve_fit(|x, [a, b, c]| a + b * (c + x).ln(), &x, &y, start).unwrap();
        let report = fit.report();
        // The best amplitudes for this shift, by the line through the logarithms.
        let logarithms: Vec<f64> = x.iter().map(|x| (report.x[2] + x).ln()).collect();
        let line = best_line(&logarithms, &y);
        assert!(2.0 * report.cost <= line * (1.0 + 1e-9), "{start:?}: {} with {line}: {report}", 2.0 * report.cost);
    }
}

/// `Σ r²` of the best line.
fn best_line(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let sums = x.iter().zip(y).fold([0.0; 3], |[xx, xy, yy], (x, y)| {
        let (x, y) = (x - mean_x, y - mean_y);
        [xx + x * x, xy + x * y, yy + y * y]
    });
    sums[2] - sums[1] * sums[1] / sums[0]
}

/// A system of polynomials.
struct System<F>(usize, usize, F);

/// Residuals of any number.
trait Equations<T: Real> {
    fn at<S: Scalar<Real = T>>(&self, x: &[S], r: &mut [S]);
}

impl<T: Real, F: Equations<T>> Residuals<T> for System<F> {
    fn parameter_count(&self) -> usize {
        self.0
    }

    fn residual_count(&self) -> usize {
        self.1
    }

    fn row_group(&self) -> usize {
        self.1
    }

    fn evaluate<S: Scalar<Real = T>>(&self, x: &[S], _: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        self.2.at(x, r);
        Ok(())
    }
}

fn k<S: Scalar>(value: f64) -> S::Real {
    <S::Real as marquardt::number::Number>::from_f64(value)
}

macro_rules! equations {
    ($($name:ident: $n:literal to $m:literal, |$x:ident, $r:ident, $scalar:ident| $body:block)*) => {
        $(
            struct $name;

            impl $name {
                fn solve<T: Real>(start: [f64; $n]) -> Report<T> {
                    let start = start.map(|x| <T as marquardt::number::Number>::from_f64(x));
                    LevenbergMarquardt::new().minimize(&mut AutoDiff(System($n, $m, $name)), &start).unwrap()
                }
            }

            impl<T: Real> Equations<T> for $name {
                fn at<$scalar: Scalar<Real = T>>(&self, $x: &[$scalar], $r: &mut [$scalar]) $body
            }
        )*
    };
}

equations! {
    // A line and a circle, symmetric in both unknowns.
    LineAndCircle: 2 to 2, |x, r, S| {
        r[0] = x[0] + x[1] - k::<S>(5.0);
        r[1] = x[0] * x[0] + x[1] * x[1] - k::<S>(17.0);
    }
    // Sums of powers of 1, 2, 3 and 4.
    PowerSum: 4 to 4, |x, r, S| {
        for (power, sum) in [10.0, 30.0, 100.0, 354.0].into_iter().enumerate() {
            let powers = x.iter().map(|&x| (0..power).fold(x, |product, _| product * x));
            let total = powers.reduce(|a, b| a + b).expect("there are four");
            r[power] = total - k::<S>(sum);
        }
    }
    // A product of which each factor vanishes along with the other's derivative.
    Product: 2 to 1, |x, r, S| {
        r[0] = x[0] * x[1] - k::<S>(1.0);
    }
    // CUTEst.
    Denschnd: 3 to 3, |x, r, S| {
        let square = x[0] * x[0];
        r[0] = square + x[1] * x[1] * x[1] - x[2] * x[2] * x[2] * x[2];
        r[1] = x[0] * x[1] * x[2] * k::<S>(2.0);
        r[2] = x[0] * x[1] * k::<S>(2.0) - x[1] * x[2] * k::<S>(3.0) + x[0] * x[2];
    }
    PowellSquare: 2 to 2, |x, r, S| {
        r[0] = x[0];
        r[1] = x[0] * k::<S>(10.0) / (x[0] + k::<S>(0.1)) + x[1] * x[1] * k::<S>(2.0);
    }
    Price4: 2 to 2, |x, r, S| {
        r[0] = x[0] * x[0] * x[0] * x[1] * k::<S>(2.0) - x[1] * x[1] * x[1];
        r[1] = x[0] * k::<S>(6.0) - x[1] * x[1] + x[1];
    }
    Quartic: 1 to 1, |x, r, S| {
        let from = x[0] - k::<S>(3.0);
        r[0] = from * from * from * from;
    }
}

#[test]
fn a_saddle_is_left() {
    for start in [[2.0, 2.0], [1.0, 1.0], [-3.0, -3.0], [100.0, 100.0]] {
        let report = LineAndCircle::solve::<f64>(start);
        assert!(report.is_converged() && report.cost < 1e-20, "{start:?}: {report}");
        let report = LineAndCircle::solve::<f32>(start);
        assert!(report.is_converged() && report.cost < 1e-8, "{start:?}: {report}");
    }
    for start in [[1.0; 4], [2.0; 4], [3.0; 4]] {
        let report = PowerSum::solve::<f64>(start);
        assert!(report.is_converged() && report.cost < 1e-15, "{start:?}: {report}");
    }
    let report = Product::solve::<f64>([0.0, 0.0]);
    assert!(report.is_converged() && report.cost < 1e-20, "{report}");
}

/// Both decays are the same at the start, and stay so without a look beside.
#[test]
fn twins_are_told_apart() {
    let x: Vec<f64> = (0..30).map(|i| f64::from(i) / 10.0).collect();
    let y: Vec<f64> = x.iter().map(|x| 3.0 * (-0.5 * x).exp() + (-4.0 * x).exp()).collect();
    let fit =
        curve_fit(|x, [a, b, c, d]| a * (-b * x).exp() + c * (-d * x).exp(), &x, &y, [1.0, 1.0, 1.0, 1.0]).unwrap();
    assert!(fit.report().is_converged() && fit.report().cost < 1e-20, "{}", fit.report());
}

#[test]
fn a_saddle_is_left_within_bounds_and_by_differences() {
    let residuals = |x: &[f64], r: &mut [f64]| {
        r.copy_from_slice(&[x[0] + x[1] - 5.0, x[0] * x[0] + x[1] * x[1] - 17.0]);
        Ok(())
    };
    let report = LevenbergMarquardt::new().minimize(&mut FiniteDifference::new(2, 2, residuals), &[2.0, 2.0]).unwrap();
    assert!(report.is_converged() && report.cost < 1e-15, "{report}");
    let bounds = marquardt::Bounds::new(vec![0.0, 2.0], vec![2.5, 6.0]).unwrap();
    let mut problem = marquardt::problem::Bounded::new(AutoDiff(System(2, 2, LineAndCircle)), bounds).unwrap();
    let report = LevenbergMarquardt::new().minimize(&mut problem, &[2.4, 2.4]).unwrap();
    assert!(report.is_converged() && report.cost < 1e-20, "{report}");
    assert!((report.x[0] - 1.0).abs() < 1e-9 && (report.x[1] - 4.0).abs() < 1e-9, "{report}");
}

/// Each step halves the distance from a root where the Jacobian is singular.
#[test]
fn roots_with_singular_jacobians_are_ends() {
    let reports = [
        Denschnd::solve::<f64>([10.0, 10.0, 10.0]),
        PowellSquare::solve([3.0, 1.0]),
        Price4::solve([1.0, 1.0]),
        Quartic::solve([10.0]),
        Quartic::solve([-1e5]),
    ];
    for report in reports {
        assert!(report.is_converged() && report.iterations < 300 && report.cost < 1e-20, "{report}");
    }
    for report in [Denschnd::solve::<f32>([10.0, 10.0, 10.0]), Quartic::solve([10.0])] {
        assert!(report.is_converged() && report.iterations < 300 && report.cost < 1e-8, "{report}");
    }
}

/// A cost that falls by the same share with each step from where an exponential is huge does not vanish.
#[test]
fn a_long_way_down_is_no_root() {
    let x: Vec<f64> = (0..12).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| 2.0 * (0.3 * x).exp() + 0.1 * (7.0 * x).sin()).collect();
    for rate in [5.0, 10.0, 25.0] {
        let fit = curve_fit(|x, [a, b]| a * (b * x).exp(), &x, &y, [1.0, rate]).unwrap();
        assert_ne!(fit.report().status, Status::ResidualsVanished, "{}", fit.report());
    }
}

/// A peak beside the data has no influence on them.
#[test]
fn the_floor_of_a_flat_valley_has_a_name() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| 1.0 + 0.1 * x.sin()).collect();
    let peak = |x: f64, [height, center, width, offset]: [f64; 4]| {
        height * (-0.5 * ((x - center) / width).powi(2)).exp() + offset
    };
    let start = [1.0, 64.0, 1.3, 0.0];
    let mut problem = FiniteDifference::new(4, 20, |b: &[f64], r: &mut [f64]| {
        for (r, (&x, y)) in r.iter_mut().zip(x.iter().zip(&y)) {
            *r = peak(x, [b[0], b[1], b[2], b[3]]) - y;
        }
        Ok(())
    });
    let report = LevenbergMarquardt::new().minimize(&mut problem, &start).unwrap();
    assert!(matches!(report.status, Status::FlatValley) || report.is_converged(), "{report}");
    assert!(report.iterations < 200, "{report}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No step in the amplitudes alone lowers a cost that counts as converged: they are at the best line.
    #[test]
    fn linear_parameters_are_at_their_best(
        y in prop::collection::vec(-5.0..5.0_f64, 6..14),
        start in (-3.0..3.0_f64, -3.0..3.0_f64, -0.99..3.0_f64),
    ) {
        let x: Vec<f64> = (1..=y.len()).map(|i| i as f64).collect();
        let fit = CurveFit::new(|x: f64, [a, b, c]| a + b * (c + x).ln(), &x, &y, [start.0, start.1, start.2]).fit();
        if let Ok(fit) = fit {
            let report = fit.report();
            let logarithms: Vec<f64> = x.iter().map(|x| (report.x[2] + x).ln()).collect();
            let best = best_line(&logarithms, &y);
            // The responses are differences of such terms.
            let terms = report.x[0].abs() + report.x[1].abs() * logarithms.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            let rounding = 8.0 * f64::EPSILON * terms * x.len() as f64;
            let is_best = 2.0 * report.cost <= best * (1.0 + 1e-8) + 2.0 * best.sqrt() * rounding + rounding * rounding;
            prop_assert!(!report.is_converged() || is_best, "{} over {best}: {report}", 2.0 * report.cost);
        }
    }
}
