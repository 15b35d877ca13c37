//! What cannot be solved within bounds is refused, and says why.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::optim::{Adam, Optimizer};
use marquardt::problem::{Bounded, BoundsError, FixedAutoDiff, SumOfSquares};
use marquardt::{AutoDiff, Bounds, Covariance, LevenbergMarquardt, SolveError, Variables};
use nalgebra::SVector;

use super::problems::{Fenced, Rosenbrock};

#[test]
fn a_start_outside_is_refused() {
    let bounds = Bounds::new([-2.0, 0.0], [0.5, f64::INFINITY]).unwrap();
    let refuse = |start: &[f64]| {
        LevenbergMarquardt::new().minimize(&mut Fenced::new(Rosenbrock, &bounds), start).unwrap_err().to_string()
    };
    assert_eq!(refuse(&[0.0, -1.5]), "the start value of \"x[1]\" is -1.5, outside its bounds 0 and inf");
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
