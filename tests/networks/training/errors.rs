//! A step that fails names what is at fault, and leaves everything as it was.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{BatchArray, BatchError, MeanAbsoluteError, Sequential};
use marquardt::optim::{
    Adam, ExponentialDecay, Hyperparameter, HyperparameterError, MovingAverage, Optimizer, OptimizerError, Sgd,
};
use marquardt::problem::{Capabilities, NotLeastSquares, SumOfSquares};
use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt, SolveError, Variables};
use ndarray::{Array2, array};

use super::attempts::POLICIES;
use super::problems::{Affine, Data, Snapshot, Spoilt, assert_same_bits, curved, refused};

/// After a step, so that there is something to leave as it was.
fn underway() -> (LevenbergMarquardt<f64>, marquardt::nn::Network<f64>, Variables<f64>, Data) {
    let data = Data::new(30, 2, 60);
    let (mut network, mut variables) = curved(2, 4);
    let mut optimizer = LevenbergMarquardt::new().with_momentum(0.5);
    optimizer.step(data.bind(&mut network), &mut variables).unwrap();
    (optimizer, network, variables, data)
}

#[test]
fn bad_data_is_refused_before_the_optimizer_sees_it() {
    let (mut optimizer, mut network, mut variables, data) = underway();
    let mut spoilt = data.x.clone();
    spoilt[[7, 1]] = f64::NAN;
    let error = network.batch(&[spoilt.view()], &[data.y.view()]).unwrap_err();
    assert!(matches!(error, BatchError::NonFinite { array: BatchArray::Input(0), row: 7, column: 1, .. }), "{error}");
    let error = network.batch_rows(&[data.x.view()], &[data.y.view()], &[]).unwrap_err();
    assert!(matches!(error, BatchError::Empty), "{error}");
    let error = network.batch(&[Array2::zeros((0, 2)).view()], &[Array2::zeros((0, 1)).view()]).unwrap_err();
    assert!(matches!(error, BatchError::Empty), "{error}");
    assert!(optimizer.step(&mut network, &mut variables).is_ok(), "the batch from before is still bound");
}

#[test]
fn a_network_without_a_batch_is_refused() {
    let (mut network, mut variables) = curved(2, 4);
    let optimizers: [Box<dyn Optimizer<f64>>; 4] = [
        Box::new(LevenbergMarquardt::new()),
        Box::new(LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(LinearForm::Dual))),
        Box::new(Adam::new(0.01)),
        Box::new(MovingAverage::new(Sgd::new(0.01))),
    ];
    for mut optimizer in optimizers {
        optimizer.build(&variables).unwrap();
        let error = refused(&mut *optimizer, &mut network, &mut variables);
        assert!(error.to_string().contains("no batch is bound: call network.batch(inputs, targets) first"), "{error}");
    }
    let error = LevenbergMarquardt::new().minimize_variables(&mut network, &mut variables).unwrap_err();
    assert!(error.to_string().contains("no batch is bound: call network.batch"), "{error}");
}

#[test]
fn variables_that_are_not_finite_are_named() {
    for trainable in [true, false] {
        let (mut optimizer, mut network, mut variables, data) = underway();
        let bias = variables.find("0.bias").unwrap();
        variables.set_trainable(bias, trainable);
        let good = variables.get(bias)[[2]];
        variables.get_mut(bias)[[2]] = f64::NAN;
        let error = refused(&mut optimizer, data.bind(&mut network), &mut variables);
        assert!(error.to_string().contains("NaN"), "{error}");
        if trainable {
            assert!(error.to_string().contains("0.bias[2]"), "{error}");
        }
        variables.get_mut(bias)[[2]] = good;
        assert!(optimizer.step(data.bind(&mut network), &mut variables).unwrap().applied);
    }
}

/// What the objective says reaches the caller, wherever it happened.
#[test]
fn an_objective_that_refuses_ends_the_step() {
    for first_steps in [0, 2] {
        for (name, policy) in POLICIES {
            let make = || LevenbergMarquardt::new().with_momentum(0.3).with_learning_rate(0.5).with_damping(policy());
            let (mut optimizer, mut unharmed) = (make(), make());
            let (good, mut variables) = Affine::new(20, 5, 61);
            let mut others = variables.clone();
            optimizer.build(&variables).unwrap();
            for _ in 0..first_steps {
                optimizer.step(&mut good.clone(), &mut variables).unwrap();
                unharmed.step(&mut good.clone(), &mut others).unwrap();
            }
            let bad_jacobian = good.spoil_jacobian(Spoilt::Refused);
            for mut bad in [good.spoil(1, Spoilt::Refused), bad_jacobian] {
                let error = refused(&mut optimizer, &mut bad, &mut variables);
                assert!(matches!(error, OptimizerError::Evaluation(_)), "{error:?}");
                assert!(error.to_string().contains("the oven is off"), "{error}");
            }
            let mut bad = good.spoil_jacobian(Spoilt::NotFinite);
            let error = refused(&mut optimizer, &mut bad, &mut variables);
            assert!(matches!(error, OptimizerError::Solve(SolveError::NonFiniteDerivative { .. })), "{error:?}");
            // A refusal after a rejected attempt takes that attempt's damping back, too.
            let trials = vec![Spoilt::Large, Spoilt::Refused];
            let mut twice = SumOfSquares::new(Sequence { good: good.clone(), trials });
            refused(&mut optimizer, &mut twice, &mut variables);
            assert!(twice.problem().trials.is_empty());

            for _ in 0..2 {
                let report = optimizer.step(&mut good.clone(), &mut variables).unwrap();
                assert_eq!(report, unharmed.step(&mut good.clone(), &mut others).unwrap(), "{name}: no trace is left");
                assert_same_bits(variables.values(), others.values(), name);
            }
        }
    }
}

/// Trials that are spoilt one after the other.
struct Sequence {
    good: Affine,
    trials: Vec<Spoilt>,
}

impl LeastSquares<f64> for Sequence {
    fn parameter_count(&self) -> usize {
        self.good.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.good.residual_count()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        if !self.trials.is_empty() {
            self.good.trials = (1, self.trials.remove(0));
        }
        self.good.residuals(x, first, r)
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.good.linearize(x, first, r, j)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for Sequence {
    fn second_directional_derivative(
        &mut self,
        x: &[f64],
        v: &[f64],
        first: usize,
        second: &mut [f64],
    ) -> Result<bool, EvaluationError> {
        self.good.second_directional_derivative(x, v, first, second)
    }
}

#[test]
fn losses_that_are_no_sums_of_squares_are_named() {
    let name = "mean absolute error";
    let mut variables = Variables::new();
    let layers = Sequential::new(2).dense(3).sigmoid();
    let mut network = layers.compile(&mut variables, 1, MeanAbsoluteError).unwrap();
    let x = array![[0.1, 0.2], [0.3, 0.4], [0.5, -0.5]];
    let mut optimizer = LevenbergMarquardt::new();
    optimizer.build(&variables).unwrap();
    let batch = network.batch(&[x.view()], &[Array2::zeros((3, 3)).view()]).unwrap();
    let error = refused(&mut optimizer, batch, &mut variables);
    assert!(matches!(&error, OptimizerError::NotLeastSquares(NotLeastSquares { loss }) if loss == name), "{error:?}");
    assert!(error.to_string().contains(name), "{error}");
    let before = variables.clone();
    let error = optimizer.minimize_variables(&mut network, &mut variables).unwrap_err();
    assert!(matches!(error, OptimizerError::NotLeastSquares(_)), "{error:?}");
    assert!(variables == before);
}

#[test]
fn hyperparameters_are_checked() {
    let (mut optimizer, mut network, mut variables, data) = underway();
    let before = Snapshot::of(&optimizer, &variables);
    let known = "learning_rate, momentum, weight_decay, minimum_damping, loss_damping, global_clipnorm, attempts";
    let unknown = format!("levenberg_marquardt has no hyperparameter beta_1; it has {known}");
    assert_eq!(optimizer.hyperparameter("beta_1").unwrap_err().to_string(), unknown);
    for value in [0.9, -1.0, f64::NAN] {
        let error = optimizer.set_hyperparameter("beta_1", value.into()).unwrap_err();
        assert_eq!(error.to_string(), unknown);
    }
    for (name, value) in [
        ("learning_rate", 0.0),
        ("learning_rate", f64::NAN),
        ("learning_rate", f64::INFINITY),
        ("momentum", 1.0),
        ("momentum", -0.1),
        ("momentum", f64::NAN),
        ("weight_decay", -1e-9),
        ("weight_decay", f64::INFINITY),
        ("minimum_damping", f64::NAN),
        ("global_clipnorm", -1.0),
        ("attempts", 0.0),
        ("attempts", 2.5),
    ] {
        let error = optimizer.set_hyperparameter(name, value.into()).unwrap_err();
        assert!(
            matches!(&error, OptimizerError::Hyperparameter(HyperparameterError::Value { name: n, .. }) if n == name),
            "{error:?}"
        );
        assert!(error.to_string().starts_with(&format!("{name} must be ")), "{error}");
    }
    let senseless: Hyperparameter = ExponentialDecay::new(0.1, 0, 0.5).into();
    assert!(optimizer.set_hyperparameter("learning_rate", senseless).is_err());
    assert_eq!(Snapshot::of(&optimizer, &variables), before);
    optimizer.set_hyperparameter("learning_rate", 0.5.into()).unwrap();
    assert_eq!(optimizer.hyperparameter("learning_rate").unwrap(), Hyperparameter::Number(0.5));
    assert!(optimizer.step(data.bind(&mut network), &mut variables).is_ok());

    // Builders cannot fail, so that the first step does.
    let mut bad = [
        LevenbergMarquardt::new().with_learning_rate(-1.0),
        LevenbergMarquardt::new().with_momentum(1.0),
        LevenbergMarquardt::new().with_weight_decay(f64::NAN),
        LevenbergMarquardt::new().with_minimum_damping(-1.0),
        LevenbergMarquardt::new().with_global_clipnorm(f64::NAN),
        LevenbergMarquardt::new().with_attempts(0),
        LevenbergMarquardt::new().with_learning_rate(ExponentialDecay::new(0.1, 0, 0.5)),
    ];
    for optimizer in &mut bad {
        refused(optimizer, data.bind(&mut network), &mut variables);
        assert!(optimizer.build(&variables).is_err());
    }
}

#[test]
fn other_variables_are_refused() {
    let (mut optimizer, _, variables, data) = underway();
    // Another shape, and one more.
    let (mut wider, wide) = curved(2, 5);
    let mut longer = variables.clone();
    longer.add("more", array![1.0].view()).unwrap();
    let (mut network, _) = curved(2, 4);
    for (network, mut others, says) in
        [(&mut wider, wide, "0.weight had the shape [4, 2]"), (&mut network, longer, "4 then, 5 now")]
    {
        let error = refused(&mut optimizer, data.bind(network), &mut others);
        assert!(matches!(error, OptimizerError::OtherVariables { .. }), "{error:?}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

/// The batch is of a network that was made for other variables.
#[test]
fn a_batch_of_another_network_is_refused() {
    let (mut optimizer, _, mut variables, data) = underway();
    let (mut wider, _) = curved(2, 5);
    let error = refused(&mut optimizer, data.bind(&mut wider), &mut variables);
    assert!(error.to_string().contains("17") && error.to_string().contains("21"), "{error}");
    let bias = variables.find("0.bias").unwrap();
    for trainable in [true, false] {
        variables.set_trainable(bias, trainable);
        let before = variables.clone();
        let error = optimizer.minimize_variables(data.bind(&mut wider), &mut variables).unwrap_err();
        let wrong_length = SolveError::WrongStartLength { expected: 21, found: 17 }.to_string();
        assert_eq!(error.to_string(), wrong_length);
        assert!(variables == before);
    }
}
