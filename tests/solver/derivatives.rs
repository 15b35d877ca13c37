//! Exact derivatives against differences, against each other, and against pencil and paper.

use marquardt::autodiff::Taylor;
use marquardt::problem::{Analytic, FixedAutoDiff, check_derivatives};
use marquardt::{AutoDiff, Dual, LeastSquares, LevenbergMarquardt, Residuals, Scalar};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::common::{Wavy, config, linearized, wavy};

type Number = Dual<f64, 2>;

/// Central differences are good for about ten digits; these functions are tame where they are tried.
fn agree(exact: f64, difference: f64, size: f64) -> bool {
    (exact - difference).abs() <= 1e-7 * (1.0 + size.abs() + exact.abs())
}

/// `f` of two arguments, moved along `v`, in all three kinds of numbers.
fn check(
    [x, y]: [f64; 2],
    v: [f64; 2],
    plain: impl Fn(f64, f64) -> f64,
    dual: impl Fn(Number, Number) -> Number,
    taylor: impl Fn(Taylor<f64>, Taylor<f64>) -> Taylor<f64>,
) -> Result<(), TestCaseError> {
    let value = plain(x, y);
    let gradient = |x, y| {
        let [x, y] = Dual::variables([x, y]);
        dual(x, y)
    };
    let along = |t: f64| {
        let at = gradient(x + t * v[0], y + t * v[1]);
        at.gradient[0] * v[0] + at.gradient[1] * v[1]
    };
    let h = 1e-5;
    let exact = gradient(x, y);
    prop_assert!((exact.value - value).abs() <= 1e-14 * (1.0 + value.abs()), "{exact:?} is not {value}");
    let differences =
        [(plain(x + h, y) - plain(x - h, y)) / (2.0 * h), (plain(x, y + h) - plain(x, y - h)) / (2.0 * h)];
    for (exact, difference) in exact.gradient.into_iter().zip(differences) {
        prop_assert!(agree(exact, difference, value), "the derivative is {difference}, not {exact}");
    }
    let moving = taylor(Taylor::along(x, v[0]), Taylor::along(y, v[1]));
    prop_assert!((moving.value - value).abs() <= 1e-14 * (1.0 + value.abs()), "{moving:?} is not {value}");
    let size = (exact.gradient[0] * v[0]).abs() + (exact.gradient[1] * v[1]).abs();
    prop_assert!((moving.first - along(0.0)).abs() <= 1e-12 * (size + 1.0), "{moving:?} and {exact:?}");
    let second = (along(h) - along(-h)) / (2.0 * h);
    prop_assert!(agree(moving.second, second, size), "the second derivative is {second}, not {}", moving.second);
    Ok(())
}

/// A test of each function on its domain.
macro_rules! functions {
    ($($name:ident on ($x_domain:expr, $y_domain:expr): |$x:ident, $y:ident| $formula:expr;)*) => {
        proptest! {
            #![proptest_config(config())]
            $(
                #[test]
                #[allow(unused_variables)]
                fn $name(x in $x_domain, y in $y_domain, v in [-1.0..1.0, -1.0..1.0]) {
                    check([x, y], v, |$x, $y| $formula, |$x, $y| $formula, |$x, $y| $formula)?;
                }
            )*
        }
    };
}

/// Positive or negative, but not near zero.
fn away_from_zero() -> impl Strategy<Value = f64> {
    prop_oneof![-4.0..-0.2, 0.2..4.0]
}

functions! {
    recip on (away_from_zero(), 0.0..1.0): |x, y| x.recip();
    sqrt on (0.1..9.0, 0.0..1.0): |x, y| x.sqrt();
    cbrt on (away_from_zero(), 0.0..1.0): |x, y| x.cbrt();
    exp on (-3.0..3.0, 0.0..1.0): |x, y| x.exp();
    exp2 on (-3.0..3.0, 0.0..1.0): |x, y| x.exp2();
    exp_m1 on (-3.0..3.0, 0.0..1.0): |x, y| x.exp_m1();
    ln on (0.1..9.0, 0.0..1.0): |x, y| x.ln();
    ln_1p on (-0.9..3.0, 0.0..1.0): |x, y| x.ln_1p();
    log2 on (0.1..9.0, 0.0..1.0): |x, y| x.log2();
    log10 on (0.1..9.0, 0.0..1.0): |x, y| x.log10();
    sin on (-6.0..6.0, 0.0..1.0): |x, y| x.sin();
    cos on (-6.0..6.0, 0.0..1.0): |x, y| x.cos();
    tan on (-1.3..1.3, 0.0..1.0): |x, y| x.tan();
    asin on (-0.9..0.9, 0.0..1.0): |x, y| x.asin();
    acos on (-0.9..0.9, 0.0..1.0): |x, y| x.acos();
    atan on (-5.0..5.0, 0.0..1.0): |x, y| x.atan();
    sinh on (-3.0..3.0, 0.0..1.0): |x, y| x.sinh();
    cosh on (-3.0..3.0, 0.0..1.0): |x, y| x.cosh();
    tanh on (-3.0..3.0, 0.0..1.0): |x, y| x.tanh();
    asinh on (-5.0..5.0, 0.0..1.0): |x, y| x.asinh();
    acosh on (1.2..5.0, 0.0..1.0): |x, y| x.acosh();
    atanh on (-0.9..0.9, 0.0..1.0): |x, y| x.atanh();
    abs on (away_from_zero(), 0.0..1.0): |x, y| x.abs();
    powi on (away_from_zero(), 0.0..1.0): |x, y| x.powi(3) + x.powi(-2) + x.powi(1) + x.powi(0);
    powf on (0.1..4.0, 0.0..1.0): |x, y| x.powf(1.7) + x.powf(-0.3) + x.powf(1.0) + x.powf(0.0);
    pow on (0.1..4.0, -2.0..2.0): |x, y| x.pow(y);
    atan2 on (away_from_zero(), away_from_zero()): |x, y| Scalar::atan2(x, y);
    hypot on (away_from_zero(), away_from_zero()): |x, y| Scalar::hypot(x, y);
    product on (-3.0..3.0, -3.0..3.0): |x, y| x * y * y - y * x;
    quotient on (-3.0..3.0, away_from_zero()): |x, y| (x + y) / y - x / (y * y);
    larger_and_smaller on (1.0..2.0, 3.0..4.0): |x, y| Scalar::max(x, y) * 3.0 + Scalar::min(x, y);
    constants_on_the_right on (away_from_zero(), away_from_zero()): |x, y| (x * 3.0 + 1.5) / 0.7 - (y - 2.0);
    constants_on_the_left on (away_from_zero(), away_from_zero()): |x, y| 3.0 * x + (1.5 - y) + 0.7 / x - (2.0 + y);
    negation on (-3.0..3.0, -3.0..3.0): |x, y| -x * -(-y);
    sum on (-3.0..3.0, -3.0..3.0): |x, y| [x, x * y, y * y].into_iter().sum();
    assignment on (-3.0..3.0, away_from_zero()): |x, y| {
        let mut z = x;
        z += x * y;
        z *= x;
        z -= y;
        z /= y;
        z
    };
    composition on (0.2..2.0, -1.0..1.0): |x, y| (x.ln() * y.sin()).exp() / (x.sqrt() + y.powi(2));
}

/// Where a function has no derivative, or a formula for it divides zero by zero.
#[test]
fn corners_are_as_on_paper() {
    let at = |x| Dual::<f64, 1>::variable(x, 0);
    let along = |x| Taylor::along(x, 1.0_f64);
    assert_eq!((at(0.0).abs().gradient, along(0.0).abs().first), ([0.0], 0.0));
    for (n, first, second) in [(0, 0.0, 0.0), (1, 1.0, 0.0), (2, 0.0, 2.0), (3, 0.0, 0.0)] {
        assert_eq!(at(0.0).powi(n).gradient, [first], "x^{n}");
        assert_eq!(at(0.0).powf(f64::from(n)).gradient, [first], "x^{n}");
        assert_eq!((along(0.0).powi(n).first, along(0.0).powi(n).second), (first, second), "x^{n}");
        let by_float = along(0.0).powf(f64::from(n));
        assert_eq!((by_float.first, by_float.second), (first, second), "x^{n}");
    }
    // On both axes, from either side.
    for (y, x, by_y, by_x) in
        [(0.0, -2.0, -0.5, 0.0), (0.0, 2.0, 0.5, 0.0), (2.0, 0.0, 0.0, -0.5), (-2.0, 0.0, 0.0, 0.5)]
    {
        let [dual_y, dual_x] = Dual::variables([y, x]);
        assert_eq!(dual_y.atan2(dual_x).gradient, [by_y, by_x], "atan2({y}, {x})");
        assert_eq!(along(y).atan2(Taylor::constant(x)).first, by_y, "atan2({y}, {x})");
        assert_eq!(Taylor::constant(y).atan2(along(x)).first, by_x, "atan2({y}, {x})");
        assert_eq!(along(y).atan2(Taylor::constant(x)).value, f64::atan2(y, x));
    }
}

/// A power law through the origin: `0^p` is flat in `p`.
#[test]
fn a_power_of_zero_is_flat() {
    let by_dual = Dual::<f64, 1>::constant(0.0).pow(Dual::variable(1.5, 0));
    assert_eq!((by_dual.value, by_dual.gradient), (0.0, [0.0]));
    let by_taylor = Taylor::constant(0.0).pow(Taylor::along(1.5, 1.0));
    assert_eq!((by_taylor.value, by_taylor.first, by_taylor.second), (0.0, 0.0, 0.0));
}

/// `(−2)³` with a whole, constant exponent has a derivative like any other power.
#[test]
fn a_negative_number_has_whole_powers() {
    let by_dual = Dual::<f64, 1>::variable(-2.0, 0).pow(Dual::constant(3.0));
    assert_eq!((by_dual.value, by_dual.gradient), (-8.0, [12.0]));
    let by_taylor = Taylor::along(-2.0, 1.0).pow(Taylor::constant(3.0));
    assert_eq!(by_taylor.value, -8.0);
    assert!((by_taylor.first - 12.0).abs() < 1e-13 && (by_taylor.second + 12.0).abs() < 1e-13, "{by_taylor:?}");
}

#[test]
fn single_precision_is_the_double_rounded() {
    fn formula<S: Scalar>(x: S, y: S) -> S {
        (x * y).sin() / (x + y).sqrt() + x.pow(y)
    }
    let double = formula(Dual::<f64, 2>::variable(1.25, 0), Dual::variable(0.5, 1));
    let single = formula(Dual::<f32, 2>::variable(1.25, 0), Dual::variable(0.5, 1));
    for (double, single) in double.gradient.into_iter().zip(single.gradient) {
        assert!((double - f64::from(single)).abs() < 1e-6, "{single} is not {double}");
    }
    let double = formula(Taylor::along(1.25_f64, 1.0), Taylor::along(0.5, -1.0)).second;
    let single = formula(Taylor::along(1.25_f32, 1.0), Taylor::along(0.5, -1.0)).second;
    assert!((double - f64::from(single)).abs() < 1e-5, "{single} is not {double}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..config() })]

    /// More parameters than tangents, rows in groups: the Jacobian is the same in pieces as in one.
    #[test]
    fn chunks_make_the_whole(problem in wavy(40, 40, 0.5), x in vec(-1.0..1.0, 40), group in select(vec![1, 5, 20, 40])) {
        let variables: [_; 40] = std::array::from_fn(|j| Dual::<f64, 40>::variable(x[j], j));
        let mut whole = vec![Dual::constant(0.0); 40];
        problem.evaluate(&variables, 0, &mut whole).unwrap();
        let problem = Wavy { row_group: group, ..problem };
        let pieces = linearized(&mut AutoDiff(problem.clone()), &x);
        let fixed = linearized(&mut FixedAutoDiff::<_, 40>(problem), &x);
        for (r, jacobian) in [pieces, fixed] {
            for (i, row) in whole.iter().enumerate() {
                prop_assert_eq!(r[i], row.value);
                prop_assert_eq!(jacobian.row(i).iter().copied().collect::<Vec<_>>(), row.gradient.to_vec());
            }
        }
    }

    /// A call for rows in the middle gives those rows.
    #[test]
    fn rows_are_where_they_belong(problem in wavy(50, 3, 0.5), x in vec(-1.0..1.0, 3), first in 0..50_usize) {
        let (r, jacobian) = linearized(&mut AutoDiff(problem.clone()), &x);
        let rows = 50 - first;
        let (mut part, mut part_jacobian) = (vec![0.0; rows], vec![0.0; rows * 3]);
        AutoDiff(problem).linearize(&x, first, &mut part, &mut part_jacobian).unwrap();
        for k in 0..rows {
            prop_assert_eq!(part[k], r[first + k]);
            prop_assert_eq!(part_jacobian[3 * k + 1], jacobian[(first + k, 1)]);
        }
    }

    #[test]
    fn second_directional_derivatives_are_differences_of_first(
        problem in wavy(6, 20, 1.0),
        x in vec(-1.0..1.0, 20),
        v in vec(-1.0..1.0, 20),
    ) {
        let mut problem = AutoDiff(problem);
        let mut second = [0.0; 6];
        prop_assert!(problem.capabilities().second_directional_derivative(&x, &v, 0, &mut second).unwrap());
        let direction = nalgebra::DVector::from(v.clone());
        let mut along = |t: f64| {
            let moved: Vec<_> = x.iter().zip(&v).map(|(x, v)| x + t * v).collect();
            linearized(&mut problem, &moved).1 * &direction
        };
        let h = 1e-5;
        let difference = (along(h) - along(-h)) / (2.0 * h);
        for (exact, difference) in second.iter().zip(&difference) {
            prop_assert!(agree(*exact, *difference, direction.norm_squared()), "{exact} is not {difference}");
        }
    }

    #[test]
    fn right_derivatives_pass_the_check(problem in wavy(7, 4, 1.0), x in vec(-1.0..1.0, 4)) {
        let check = check_derivatives(&mut AutoDiff(problem.clone()), &x).unwrap();
        prop_assert!(check.passed(), "{check}");
    }

    /// One entry is wrong by a hundredth of its column: the check names it, and no other.
    #[test]
    fn the_check_names_the_wrong_entry(
        problem in wavy(7, 4, 1.0),
        x in vec(-1.0..1.0, 4),
        (row, column) in (0..7_usize, 0..4_usize),
    ) {
        let mut right = AutoDiff(problem);
        let mut wrong = Analytic::new(4, 7, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| match jacobian {
            None => right.residuals(x, 0, r),
            Some(jacobian) => {
                right.linearize(x, 0, r, jacobian)?;
                let size = jacobian.iter().skip(column).step_by(4).fold(0.0, |size: f64, a| size.max(a.abs()));
                jacobian[row * 4 + column] += 0.01 * size;
                Ok(())
            }
        });
        let check = check_derivatives(&mut wrong, &x).unwrap();
        prop_assert!(!check.passed());
        prop_assert_eq!((check.wrong_entries, check.worst.residual, check.worst.parameter), (1, row, column));
        let name = format!("∂r[{row}]/∂x[{column}]");
        prop_assert!(check.to_string().contains(&name), "{check} does not name {name}");
    }
}

#[test]
fn the_check_knows_the_digits_of_single_precision() {
    let passes_with = |error: f32| {
        let mut problem = Analytic::new(1, 2, |x: &[f32], r: &mut [f32], jacobian: Option<&mut [f32]>| {
            r.copy_from_slice(&[x[0].sin(), x[0] * x[0]]);
            if let Some(jacobian) = jacobian {
                jacobian.copy_from_slice(&[x[0].cos(), 2.0 * x[0] * (1.0 + error)]);
            }
            Ok(())
        });
        check_derivatives(&mut problem, &[0.7]).unwrap().passed()
    };
    assert!(passes_with(0.0) && !passes_with(0.2));
}

#[test]
fn the_check_refuses_what_it_cannot_check() {
    let mut problem = Analytic::new(1, 1, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        r[0] = x[0].sqrt();
        if let Some(jacobian) = jacobian {
            jacobian[0] = 0.5 / x[0].sqrt();
        }
        Ok(())
    });
    assert!(check_derivatives(&mut problem, &[4.0]).unwrap().passed());
    assert!(check_derivatives(&mut problem, &[-1.0]).unwrap_err().to_string().contains("not finite"));
    assert!(check_derivatives(&mut problem, &[1.0, 2.0]).is_err());
}

/// The power law itself, with a datum at the origin: one that acceleration must not stumble over.
#[test]
fn acceleration_copes_with_a_power_law_through_the_origin() {
    struct PowerLaw;

    impl Residuals<f64> for PowerLaw {
        fn parameter_count(&self) -> usize {
            2
        }

        fn residual_count(&self) -> usize {
            5
        }

        fn evaluate<S: Scalar<Real = f64>>(
            &self,
            b: &[S],
            first: usize,
            r: &mut [S],
        ) -> Result<(), marquardt::EvaluationError> {
            for (i, r) in (first..).zip(r) {
                let x = i as f64;
                *r = b[0] * S::constant(x).pow(b[1]) - 2.0 * x.powf(1.5);
            }
            Ok(())
        }
    }

    let solver = LevenbergMarquardt::new().with_acceleration(marquardt::solver::Acceleration::Always);
    let report = solver.minimize(&mut AutoDiff(PowerLaw), &[1.0, 1.0]).unwrap();
    assert!(report.is_converged(), "{report}");
    assert!((report.x[0] - 2.0).abs() < 1e-9 && (report.x[1] - 1.5).abs() < 1e-9, "{report}");
}
