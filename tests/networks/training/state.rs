//! Saved and restored, training goes on as if nothing had happened.

use marquardt::linear::LinearForm;
use marquardt::nn::{MeanSquaredError, Network, Sequential};
use marquardt::optim::{Adam, ExponentialDecay, Hyperparameter, Optimizer, OptimizerError, OptimizerState, StepReport};
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::solver::{Acceleration, Scaling};
use marquardt::{LevenbergMarquardt, Real, Variables};
use ndarray::Array2;

use super::attempts::POLICIES;
use super::problems::{Data, Snapshot, curved};

fn policies<T: Real>() -> [Damping<T>; 3] {
    [GainRatio::default().into(), TrustRegion::default().into(), Multiplicative::default().into()]
}

fn make<T: Real>(damping: Damping<T>) -> LevenbergMarquardt<T> {
    let optimizer = LevenbergMarquardt::new().with_damping(damping).with_acceleration(Acceleration::Always);
    optimizer.with_momentum(0.4).with_learning_rate(ExponentialDecay::new(0.9, 10, 0.9))
}

fn network<T: Real>() -> (Network<T>, Variables<T>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(2).dense(6).tanh().dense(1);
    (layers.compile(&mut variables, 1, MeanSquaredError).unwrap(), variables)
}

/// Ragged minibatches `steps` of the data.
fn train<T: Real>(
    optimizer: &mut LevenbergMarquardt<T>,
    network: &mut Network<T>,
    variables: &mut Variables<T>,
    steps: std::ops::Range<usize>,
) -> Vec<StepReport<T>> {
    let data = Data::new(100, 2, 40);
    let [x, y] = [&data.x, &data.y].map(|array| array.mapv(T::from_f64));
    let rows = |step: usize| (0..[30, 8, 50][step % 3]).map(|row| (step * 31 + row) % 100).collect::<Vec<_>>();
    let mut reports = Vec::new();
    for step in steps {
        let batch = network.batch_rows(&[x.view()], &[y.view()], &rows(step)).unwrap();
        reports.push(optimizer.step(batch, variables).unwrap());
    }
    reports
}

fn goes_on<T: Real>(through: impl Fn(OptimizerState<T>) -> OptimizerState<T>) {
    for damping in policies::<T>() {
        let ((mut network, mut variables), mut optimizer) = (self::network(), make(damping));
        train(&mut optimizer, &mut network, &mut variables, 0..10);
        let saved = through(optimizer.state());
        assert_eq!(saved, optimizer.state(), "{damping:?}");
        let mut later = variables.clone();
        let expected = train(&mut optimizer, &mut network, &mut variables, 10..30);

        let ((mut network, _), mut restored) = (self::network(), make(damping));
        restored.set_hyperparameter("momentum", 0.1.into()).unwrap();
        restored.restore(&saved, &later).unwrap();
        assert_eq!(restored.iterations(), 10);
        let found = train(&mut restored, &mut network, &mut later, 10..30);
        assert_eq!(found, expected, "{damping:?}");
        assert!(later.values() == variables.values(), "{damping:?}");
        assert_eq!(restored.state(), optimizer.state(), "{damping:?}");
        assert!(expected.iter().any(|report| report.applied));
    }
}

#[test]
fn a_restored_optimizer_goes_on_to_the_last_bit() {
    goes_on::<f64>(|state| state);
    goes_on::<f32>(|state| state);
}

#[cfg(feature = "serde")]
#[test]
fn a_state_survives_a_file() {
    goes_on::<f64>(|state| serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap());
    goes_on::<f32>(|state| serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap());
}

/// At every moment of a training whose steps are accelerated only where the path is curved.
#[test]
fn every_moment_can_be_saved() {
    for damping in policies::<f64>() {
        let make = || LevenbergMarquardt::new().with_damping(damping).with_scaling(Scaling::RunningMaximum);
        let ((mut network, mut variables), mut optimizer) = (self::network(), make());
        let mut accelerated = 0;
        for step in 0..30 {
            let state = optimizer.state();
            accelerated += state.numbers.iter().filter(|(name, flags)| name == "flags" && flags[1] != 0.0).count();
            let (mut restored, mut others) = (make(), variables.clone());
            restored.restore(&state, &variables).unwrap();
            let report = train(&mut optimizer, &mut network, &mut variables, step..step + 1);
            let expected = train(&mut restored, &mut self::network().0, &mut others, step..step + 1);
            assert_eq!(report, expected, "{damping:?}, step {step}");
            assert!(variables.values() == others.values(), "{damping:?}, step {step}");
            assert_eq!(optimizer.state(), restored.state(), "{damping:?}, step {step}");
        }
        assert!((1..30).contains(&accelerated), "{damping:?}: {accelerated} accelerated");
    }
}

/// Also when QR takes the place of normal equations that single precision resolves to too few digits.
#[test]
fn every_moment_of_single_precision_can_be_saved() {
    let make = || LevenbergMarquardt::<f32>::new().with_damping(Damping::from(GainRatio::new(1e-5)));
    let ((mut network, mut variables), mut optimizer) = (network::<f32>(), make());
    let mut forms = Vec::new();
    for step in 0..30 {
        let (mut restored, mut others) = (make(), variables.clone());
        restored.restore(&optimizer.state(), &variables).unwrap();
        let report = train(&mut optimizer, &mut network, &mut variables, step..step + 1);
        let expected = train(&mut restored, &mut self::network().0, &mut others, step..step + 1);
        assert_eq!(report, expected, "step {step}");
        assert!(variables.values() == others.values(), "step {step}");
        assert_eq!(optimizer.state(), restored.state(), "step {step}");
        forms.extend(report[0].damped.map(|damped| damped.linear_form));
    }
    let first = forms.iter().position(|&form| form == LinearForm::Qr).expect("QR is needed");
    assert!(!forms[first..].contains(&LinearForm::Cholesky), "{forms:?}");
}

/// A state is of one moment: restoring it into the optimizer it came from goes back.
#[test]
fn a_restored_state_goes_back_in_time() {
    let ((mut network, start), mut optimizer) = (network::<f64>(), make(GainRatio::default().into()));
    let unbuilt = optimizer.state();
    let mut variables = start.clone();
    let first = train(&mut optimizer, &mut network, &mut variables, 0..5);
    optimizer.restore(&unbuilt, &start).unwrap();
    assert_eq!((optimizer.iterations(), optimizer.state()), (0, unbuilt));
    let mut variables = start;
    assert_eq!(train(&mut optimizer, &mut network, &mut variables, 0..5), first);
}

/// Saving does not disturb the training.
#[test]
fn saving_changes_nothing() {
    let run = |save: bool| {
        let ((mut network, mut variables), mut optimizer) = (network::<f64>(), make(TrustRegion::default().into()));
        for step in 0..10 {
            train(&mut optimizer, &mut network, &mut variables, step..step + 1);
            if save {
                optimizer.save_into(&mut optimizer.state());
            }
        }
        variables
    };
    assert!(run(false) == run(true));
}

/// The state is refused with a message, and nothing is changed.
#[track_caller]
fn refuses(
    optimizer: &mut LevenbergMarquardt<f64>,
    variables: &Variables<f64>,
    state: &OptimizerState<f64>,
    says: &[&str],
) {
    let before = Snapshot::of(optimizer, variables);
    let error = optimizer.restore(state, variables).expect_err("a state that does not fit");
    assert!(matches!(error, OptimizerError::State { .. }), "{error:?}");
    let message = error.to_string();
    assert!(says.iter().all(|says| message.contains(says)), "{message:?} does not say {says:?}");
    assert_eq!(Snapshot::of(optimizer, variables), before);
}

#[test]
fn a_state_that_does_not_fit_is_refused() {
    let data = Data::new(50, 2, 41);
    let trained = |hidden| {
        let (mut network, mut variables) = curved(2, hidden);
        let mut optimizer = LevenbergMarquardt::new().with_momentum(0.5);
        for _ in 0..3 {
            optimizer.step(data.bind(&mut network), &mut variables).unwrap();
        }
        (optimizer, network, variables)
    };
    let (mut optimizer, mut network, mut variables) = trained(6);
    let good = optimizer.state();

    refuses(&mut optimizer, &variables, &trained(7).0.state(), &["0.weight", "[6, 2]", "[7, 2]"]);
    let mut state = good.clone();
    state.variables[1].0 = "0.offset".to_owned();
    refuses(&mut optimizer, &variables, &state, &["0.bias", "0.offset"]);
    let mut state = good.clone();
    state.variables.pop();
    refuses(&mut optimizer, &variables, &state, &["3 variables", "4"]);

    let mut adam = Adam::<f64>::new(0.1);
    adam.step(data.bind(&mut network), &mut variables).unwrap();
    refuses(&mut optimizer, &variables, &adam.state(), &["adam", "levenberg_marquardt"]);
    let before = adam.state();
    assert!(matches!(adam.restore(&good, &variables), Err(OptimizerError::State { .. })));
    assert_eq!(adam.state(), before);

    for (name, policy) in &POLICIES[2..] {
        let mut other = LevenbergMarquardt::new().with_damping(policy());
        other.step(data.bind(&mut network), &mut variables.clone()).unwrap();
        refuses(&mut optimizer, &variables, &other.state(), &["damping"]);
        let before = other.state();
        assert!(matches!(other.restore(&good, &variables), Err(OptimizerError::State { .. })), "{name}");
        assert_eq!(other.state(), before);
    }

    let mut state = good.clone();
    state.slots[0].1.pop();
    refuses(&mut optimizer, &variables, &state, &["momentum", "24", "25"]);
    let mut state = good.clone();
    state.iterations = u64::MAX;
    refuses(&mut optimizer, &variables, &state, &["18446744073709551615 iterations"]);
    for (number, says) in [(f64::NAN, "scaling of levenberg_marquardt holds NaN"), (-1.0, "a negative number")] {
        let mut state = good.clone();
        state.slots[1].1[3] = number;
        refuses(&mut optimizer, &variables, &state, &[says]);
    }
    let mut state = good.clone();
    state.numbers[0].1[0] = f64::NAN;
    refuses(&mut optimizer, &variables, &state, &["damping of levenberg_marquardt holds NaN"]);
    let mut state = good.clone();
    state.slots.pop();
    refuses(&mut optimizer, &variables, &state, &["scaling"]);
    let mut state = good.clone();
    state.slots.push(("velocity".to_owned(), vec![0.0; 25]));
    refuses(&mut optimizer, &variables, &state, &["velocity"]);
    let mut state = good.clone();
    state.numbers.clear();
    refuses(&mut optimizer, &variables, &state, &["damping"]);

    for (name, value) in [("momentum", 1.5), ("beta", 0.5)] {
        let mut state = good.clone();
        state.hyperparameters.push((name.to_owned(), value.into()));
        let before = Snapshot::of(&optimizer, &variables);
        optimizer.restore(&state, &variables).unwrap_err();
        assert_eq!(Snapshot::of(&optimizer, &variables), before);
    }

    optimizer.restore(&good, &variables).unwrap();
    assert!(optimizer.step(data.bind(&mut network), &mut variables).unwrap().applied);
}

/// What can be set is saved with the state.
#[test]
fn hyperparameters_are_part_of_the_state() {
    let optimizer = LevenbergMarquardt::<f64>::new().with_scaling(Scaling::Identity);
    let optimizer = optimizer.with_learning_rate(0.5).with_momentum(0.25).with_weight_decay(0.125);
    let optimizer =
        optimizer.with_minimum_damping(1e-6).with_loss_damping(0.25).with_global_clipnorm(2.0).with_attempts(5);
    let mut restored = LevenbergMarquardt::<f64>::new();
    let (_, variables) = curved(2, 3);
    restored.restore(&optimizer.state(), &variables).unwrap();
    let expected = [
        ("learning_rate", 0.5),
        ("momentum", 0.25),
        ("weight_decay", 0.125),
        ("minimum_damping", 1e-6),
        ("loss_damping", 0.25),
        ("global_clipnorm", 2.0),
        ("attempts", 5.0),
    ];
    assert_eq!(restored.hyperparameters(), expected.map(|(name, _)| name));
    for (name, value) in expected {
        assert_eq!(restored.hyperparameter(name).unwrap(), Hyperparameter::Number(value), "{name}");
    }
}

/// Slots have their variables' shapes.
#[test]
fn slots_are_by_variable_and_name() {
    let data = Data::new(50, 2, 42);
    let (mut network, mut variables) = curved(2, 3);
    let mut optimizer = LevenbergMarquardt::new();
    let weight = variables.find("0.weight").unwrap();
    assert!(matches!(optimizer.slot(weight, "momentum"), Err(OptimizerError::NotBuilt { .. })));
    let before: Array2<f64> = variables.get(weight).to_owned().into_dimensionality().unwrap();
    optimizer.step(data.bind(&mut network), &mut variables).unwrap();
    assert_eq!(optimizer.slots(), ["momentum", "scaling"]);
    let moved = variables.get(weight).to_owned() - before;
    let momentum = optimizer.slot(weight, "momentum").unwrap();
    assert_eq!(momentum.shape(), [3, 2]);
    assert!((&moved - &momentum).iter().all(|difference| difference.abs() < 1e-14));
    let error = optimizer.slot(weight, "velocity").unwrap_err().to_string();
    assert_eq!(error, "levenberg_marquardt has no slot velocity; it has momentum, scaling");

    let (_, larger) = curved(5, 9);
    let stranger = larger.find("2.bias").unwrap();
    assert!(matches!(optimizer.slot(stranger, "momentum"), Err(OptimizerError::OtherVariables { .. })));
}
