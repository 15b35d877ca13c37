//! Levenberg–Marquardt's choice between exact steps and steps with Kronecker factors.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{Loss, MeanSquaredError, Network, Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::{KroneckerLevenbergMarquardt, Optimizer, OptimizerError, StepReport};
use marquardt::solver::{Curvature, Scaling};
use marquardt::{LevenbergMarquardt, Real, Variables};
use ndarray::Array2;

use super::problems::{Bowl, dense_variables};

const ROWS: usize = 96;
const CLASSES: usize = 6;

/// A network of 24 inputs, with labels or values to train it by.
struct Case<T: Real> {
    network: Network<T>,
    variables: Variables<T>,
    x: Array2<T>,
    y: Array2<T>,
}

impl<T: Real> Case<T> {
    fn new(hidden: usize, loss: impl Loss<T> + 'static) -> Self {
        let mut variables = Variables::new();
        let layers = Sequential::new(24).dense(hidden).tanh().dense(CLASSES);
        let network = layers.compile(&mut variables, 3, loss).unwrap();
        let x = Array2::from_shape_fn((ROWS, 24), |(i, j)| T::from_f64((7.3 * (i * i + 5 * i * j + j) as f64).sin()));
        let y = Array2::from_shape_fn((ROWS, 1), |(i, _)| {
            let score = 0.9 + x[[i, 0]].to_f64() + 0.5 * x[[i, 1]].to_f64();
            T::from_f64((2.0 * score).floor().clamp(0.0, CLASSES as f64 - 1.0))
        });
        Case { network, variables, x, y }
    }

    fn classes(hidden: usize) -> Self {
        Case::new(hidden, SparseCategoricalCrossentropy)
    }

    fn squares(hidden: usize) -> Self {
        let case: Case<T> = Case::new(hidden, MeanSquaredError);
        let y = Array2::from_shape_fn((ROWS, CLASSES), |(i, j)| {
            if case.y[[i, 0]] == T::from_f64(j as f64) { T::ONE } else { T::ZERO }
        });
        Case { y, ..case }
    }

    fn step(&mut self, optimizer: &mut dyn Optimizer<T>, step: usize) -> Result<StepReport<T>, OptimizerError> {
        let Case { network, variables, x, y } = self;
        let rows: Vec<usize> = (0..32).map(|row| (row + 32 * step) % ROWS).collect();
        optimizer.step(network.batch_rows(&[x.view()], &[y.view()], &rows).unwrap(), variables)
    }
}

fn auto<T: Real>() -> LevenbergMarquardt<T> {
    LevenbergMarquardt::new()
}

#[test]
fn wide_minibatches_of_classes_turn_to_kronecker_factors() {
    let (mut case, mut other) = (Case::<f64>::classes(80), Case::classes(80));
    let (mut chosen, mut kronecker) = (auto(), KroneckerLevenbergMarquardt::new());
    assert_eq!(chosen.curvature(), Curvature::Auto);
    for step in 0..30 {
        let [a, b] = [case.step(&mut chosen, step), other.step(&mut kronecker, step)].map(Result::unwrap);
        assert_eq!(a, b);
        assert!(a.damped.is_none() && a.factored.is_some_and(|step| step.damping > 0.0 && step.length > 0.0), "{a:?}");
    }
    assert_eq!(case.variables, other.variables);
    assert_eq!(
        (chosen.curvature(), chosen.name(), chosen.iterations()),
        (Curvature::Kronecker, "levenberg_marquardt", 30)
    );
    assert_eq!(case.network.summary(&case.variables, 32).unwrap().curvature, Curvature::Kronecker);
    let text = case.network.summary(&case.variables, 32).unwrap().to_string();
    assert!(text.contains("LM step, Kronecker factors ← chosen for training"), "{text}");
    let weight = case.variables.iter().next().unwrap();
    assert_eq!(chosen.slots(), ["momentum"]);
    assert_eq!(chosen.slot(weight, "momentum").unwrap(), kronecker.slot(weight, "momentum").unwrap());
    chosen.build(&case.variables).unwrap();
    assert_eq!((chosen.curvature(), chosen.iterations()), (Curvature::Auto, 0));
}

#[test]
fn all_else_stays_exact() {
    let exact = |mut case: Case<f64>, mut optimizer: LevenbergMarquardt<f64>, what: &str| {
        let report = case.step(&mut optimizer, 0).unwrap();
        assert!(report.damped.is_some() && report.factored.is_none(), "{what}: {report:?}");
        assert_eq!(optimizer.curvature(), Curvature::Exact, "{what}");
        case.network.summary(&case.variables, 32).unwrap().curvature
    };
    let by_default = Curvature::Exact;
    assert_eq!(exact(Case::squares(80), auto(), "squares"), by_default);
    assert_eq!(exact(Case::classes(4), auto(), "more residuals than parameters"), by_default);
    exact(Case::classes(80), auto().with_curvature(Curvature::Exact), "as set");
    exact(Case::classes(80), auto().with_momentum(0.1), "momentum");
    exact(Case::classes(80), auto().with_loss_damping(0.2), "damping");
    exact(Case::classes(80), auto().with_scaling(Scaling::Identity), "scaling");
    let dual = LinearSolver::Always(LinearForm::FactoredDual);
    exact(Case::classes(80), auto().with_linear_solver(dual), "linear form");
    // Of what is left to adjust, there are fewer than residuals.
    let mut case = Case::<f64>::classes(80);
    let first: Vec<_> = case.variables.iter().take(2).collect();
    first.into_iter().for_each(|variable| case.variables.set_trainable(variable, false));
    case.network.batch(&[case.x.view()], &[case.y.view()]).unwrap();
    let mut optimizer = auto();
    assert!(optimizer.step(&mut case.network, &mut case.variables).unwrap().damped.is_some());
}

#[test]
fn what_is_asked_for_is_made_or_refused() {
    let mut asked = auto::<f64>().with_curvature(Curvature::Kronecker);
    let mut case = Case::<f64>::squares(80);
    assert!(case.step(&mut asked, 0).unwrap().factored.is_some());
    asked.build(&case.variables).unwrap();
    assert_eq!(asked.curvature(), Curvature::Kronecker);

    let mut variables = dense_variables();
    let before = variables.clone();
    let mut asked = auto::<f64>().with_curvature(Curvature::Kronecker);
    let error = asked.step(&mut Bowl::new(&[0.0; 10]), &mut variables).unwrap_err();
    assert!(matches!(error, OptimizerError::NotKroneckerFactored(_)), "{error:?}");
    assert_eq!((variables, asked.iterations()), (before, 0));
}

fn goes_on<T: Real>() {
    let (mut case, mut optimizer) = (Case::<T>::classes(80), auto().with_weight_decay(1e-4));
    (0..7).for_each(|step| assert!(case.step(&mut optimizer, step).unwrap().applied));
    let (saved, variables) = (optimizer.state(), case.variables.clone());
    let expected: Vec<_> = (7..20).map(|step| case.step(&mut optimizer, step).unwrap()).collect();

    let mut again = Case::classes(80);
    again.variables = variables;
    let mut restored = auto();
    restored.restore(&saved, &again.variables).unwrap();
    assert_eq!((restored.curvature(), restored.iterations()), (Curvature::Kronecker, 7));
    let found: Vec<_> = (7..20).map(|step| again.step(&mut restored, step).unwrap()).collect();
    assert_eq!(found, expected);
    assert_eq!(again.variables, case.variables);
    assert_eq!(restored.state(), optimizer.state());

    let mut exact = auto::<T>().with_curvature(Curvature::Exact);
    let error = exact.restore(&saved, &again.variables).unwrap_err().to_string();
    assert!(error.contains("Kronecker"), "{error}");
    let mut case = Case::<T>::classes(80);
    case.step(&mut exact, 0).unwrap();
    let mut asked = auto::<T>().with_curvature(Curvature::Kronecker);
    let error = asked.restore(&exact.state(), &case.variables).unwrap_err().to_string();
    assert!(error.contains("exact"), "{error}");

    let other = Case::<T>::classes(40);
    let before = restored.state();
    assert!(matches!(restored.restore(&saved, &other.variables), Err(OptimizerError::State { .. })));
    assert_eq!(restored.state(), before);
}

#[test]
fn a_training_that_is_resumed_has_the_same_bits() {
    goes_on::<f64>();
    goes_on::<f32>();
}

#[test]
fn the_learning_rate_is_passed_on() {
    let (mut case, mut optimizer) = (Case::<f64>::classes(80), auto());
    case.step(&mut optimizer, 0).unwrap();
    for rate in [1e-3, 1e-5] {
        optimizer.set_hyperparameter("learning_rate", rate.into()).unwrap();
        // The last step fades.
        (0..40).for_each(|step| assert!(case.step(&mut optimizer, step).unwrap().applied));
        let before = case.variables.clone();
        case.step(&mut optimizer, 0).unwrap();
        let moved = before.values().iter().zip(case.variables.values()).map(|(a, b)| (a - b).abs());
        let moved = moved.fold(0.0, f64::max);
        assert!(moved > 0.0 && moved < 10.0 * rate, "{rate}: {moved}");
    }
    optimizer.set_hyperparameter("attempts", 3.0.into()).unwrap();
    assert_eq!(optimizer.hyperparameter("attempts").unwrap(), 3.0.into());
}

#[test]
fn a_first_step_that_fails_decides_nothing() {
    let (mut case, mut optimizer) = (Case::<f64>::classes(80), auto());
    let before = case.variables.clone();
    case.x[[3, 5]] = f64::NAN;
    let rows: Vec<usize> = (0..32).collect();
    let Case { network, variables, x, y } = &mut case;
    let failed = match network.batch_rows(&[x.view()], &[y.view()], &rows) {
        Ok(batch) => optimizer.step(batch, variables).is_err(),
        Err(_) => true,
    };
    assert!(failed);
    assert_eq!((case.variables, optimizer.curvature(), optimizer.iterations()), (before, Curvature::Auto, 0));
}
