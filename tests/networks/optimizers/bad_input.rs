//! Steps that cannot be made: a typed error, and everything as it was.

use marquardt::optim::{
    Adagrad, Adam, AdamW, ExponentialDecay, Hyperparameter, LinearWarmup, MovingAverage, NonFinite, Optimizer,
    OptimizerError, RmsProp, Sgd,
};
use marquardt::variables::Gradients;
use marquardt::{Real, Variables};
use ndarray::array;

use super::problems::{Bowl, dense_gradient, dense_steps, dense_variables, table};

/// Makes a step that must fail and change nothing. Returns the error in words.
fn fails(optimizer: &mut dyn Optimizer<f64>, gradients: &Gradients<f64>, variables: &mut Variables<f64>) -> String {
    let (values, state) = (variables.values().to_vec(), optimizer.state());
    let error = optimizer.apply_gradients(gradients, variables).unwrap_err();
    assert_eq!(variables.values(), values);
    // A state that was not built yet may be now; all else is the same.
    if !state.variables.is_empty() {
        assert_eq!(optimizer.state(), state);
    }
    error.to_string()
}

/// Optimizers of all kinds, after three steps.
fn trained() -> Vec<(Box<dyn Optimizer<f64>>, Variables<f64>)> {
    let optimizers: [Box<dyn Optimizer<f64>>; 7] = [
        Box::new(Sgd::new(0.1).with_momentum(0.9)),
        Box::new(Adam::new(0.1).with_amsgrad(true).with_ema(0.9)),
        Box::new(AdamW::new(0.1).with_clipnorm(1.0)),
        Box::new(RmsProp::new(0.1).with_centered(true).with_momentum(0.9)),
        Box::new(Adagrad::new(0.1).with_weight_decay(0.1)),
        Box::new(Adam::new(0.1).with_gradient_accumulation_steps(2)),
        Box::new(MovingAverage::new(Sgd::new(0.1))),
    ];
    let train = |mut optimizer: Box<dyn Optimizer<f64>>| {
        let mut variables = dense_variables();
        dense_steps(&mut *optimizer, &mut variables, 1..=3).unwrap();
        (optimizer, variables)
    };
    optimizers.into_iter().map(train).collect()
}

#[test]
fn gradients_that_are_not_finite() {
    for (mut optimizer, mut variables) in trained() {
        let mut gradients = Gradients::new(&variables);
        for (bad, name) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
            dense_gradient(4, &variables, &mut gradients);
            gradients.flat_mut()[8] = bad;
            let error = fails(&mut *optimizer, &gradients, &mut variables);
            assert_eq!(error, format!("the gradient of b[2] is {name}"));
        }
    }
    let (mut variables, table) = table();
    let mut gradients = Gradients::new(&variables);
    gradients.add_row(table, 3, &[1.0, 1.0]);
    gradients.add_row(table, 4, &[1.0, f64::NAN]);
    let error = fails(&mut Adam::new(0.1), &gradients, &mut variables);
    assert_eq!(error, "the gradient of table[9] is NaN");
}

#[test]
fn bad_steps_can_be_skipped() {
    let mut variables = dense_variables();
    let mut optimizer = Adam::new(0.1).with_non_finite(NonFinite::Skip);
    dense_steps(&mut optimizer, &mut variables, 1..=3).unwrap();
    let (values, state) = (variables.values().to_vec(), optimizer.state());

    let mut bowl = Bowl::new(&[1.0; 10]);
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        bowl.target[3] = bad;
        let report = optimizer.step(&mut bowl, &mut variables).unwrap();
        assert!(!report.applied);
        assert_eq!((variables.values(), optimizer.state()), (&values[..], state.clone()));
    }
    bowl.target[3] = 1.0;
    assert!(optimizer.step(&mut bowl, &mut variables).unwrap().applied);
    assert_eq!(optimizer.iterations(), 4);
}

#[test]
fn losses_that_are_not_finite_or_not_there() {
    let mut variables = dense_variables();
    let mut optimizer = Adam::new(0.1);
    let mut bowl = Bowl::new(&[1.0; 10]);
    bowl.target[3] = f64::NAN;
    let error = optimizer.step(&mut bowl, &mut variables).unwrap_err();
    assert_eq!(error.to_string(), "the loss is NaN");
    bowl.fails = true;
    let error = optimizer.step(&mut bowl, &mut variables).unwrap_err();
    assert_eq!(error.to_string(), "the loss could not be evaluated: the bowl is broken");
    assert_eq!((variables.values(), optimizer.iterations()), (dense_variables().values(), 0));
}

/// Finite gradients whose squares are not, or steps beyond the largest float.
#[test]
fn steps_that_overflow() {
    fn overflow<T: Real>(mut optimizer: impl Optimizer<T>, size: f64) -> String {
        let mut variables = Variables::new();
        variables.add("w", array![T::ONE, T::ONE].view()).unwrap();
        let mut gradients = Gradients::new(&variables);
        gradients.flat_mut().fill(T::ONE);
        optimizer.apply_gradients(&gradients, &mut variables).unwrap();
        let (values, state) = (variables.values().to_vec(), optimizer.state());
        gradients.flat_mut()[1] = T::from_f64(size);
        let error = optimizer.apply_gradients(&gradients, &mut variables).unwrap_err();
        assert_eq!((variables.values(), optimizer.state()), (&values[..], state));
        error.to_string()
    }
    assert_eq!(overflow::<f32>(Adam::new(0.1), 1e30), "the step would make the velocity of w[1] inf");
    assert_eq!(overflow::<f64>(RmsProp::new(0.1), 1e200), "the step would make the velocity of w[1] inf");
    assert_eq!(overflow::<f64>(Adagrad::new(0.1), -1e200), "the step would make the accumulator of w[1] inf");
    assert_eq!(overflow::<f32>(Sgd::new(1e10), 1e30), "the step would make w[1] -inf");
    let accumulating = Sgd::new(0.1).with_gradient_accumulation_steps(2);
    let mut variables = dense_variables();
    let mut gradients = Gradients::new(&variables);
    gradients.flat_mut().fill(1e308);
    let mut optimizer: Box<dyn Optimizer<f64>> = Box::new(accumulating);
    optimizer.apply_gradients(&gradients, &mut variables).unwrap();
    assert_eq!(fails(&mut *optimizer, &gradients, &mut variables), "the gradient of a[0] is inf");
}

/// The rows of a lazy update are taken back, too.
#[test]
fn sparse_steps_that_overflow() {
    for decay in [0.0, 0.1] {
        let (mut variables, table) = table();
        let mut gradients = Gradients::new(&variables);
        gradients.add_row(table, 5, &[1.0, 1.0]);
        gradients.add_row(table, 0, &[1.0, 1.0]);
        let mut optimizer = Adagrad::new(0.1).with_weight_decay(decay);
        optimizer.apply_gradients(&gradients, &mut variables).unwrap();
        gradients.add_row(table, 2, &[0.0, 1e300]);
        let error = fails(&mut optimizer, &gradients, &mut variables);
        assert_eq!(error, "the step would make the accumulator of table[5] inf");
    }
}

#[test]
fn nothing_to_do() {
    for (mut optimizer, mut variables) in trained() {
        let mut gradients = Gradients::new(&variables);
        let error = fails(&mut *optimizer, &gradients, &mut variables);
        assert_eq!(error, "the loss depends on none of the trainable variables");
        gradients.flat_mut();
        let all: Vec<_> = variables.iter().collect();
        for &variable in &all {
            variables.set_trainable(variable, false);
        }
        let error = fails(&mut *optimizer, &gradients, &mut variables);
        assert_eq!(error, "there is nothing to train: all variables are frozen");
        variables.set_trainable(all[0], true);
        gradients.clear();
        gradients.dense_mut(all[1]);
        let error = fails(&mut *optimizer, &gradients, &mut variables);
        assert_eq!(error, "the loss depends on none of the trainable variables");
    }
}

#[test]
fn rows_that_are_not_there() {
    let (mut variables, table) = table();
    let mut gradients = Gradients::new(&variables);
    gradients.add_row(table, 2, &[1.0, 1.0]);
    gradients.add_row(table, 6, &[1.0, 1.0]);
    for mut optimizer in [Adam::new(0.1), Adam::new(0.1).with_lazy_rows(true)] {
        let error = fails(&mut optimizer, &gradients, &mut variables);
        assert_eq!(error, "the gradient of table has a row 6, but the variable has 6");
    }
}

#[test]
fn variables_that_are_others() {
    for (mut optimizer, mut variables) in trained() {
        let (mut other, table) = table();
        let (of_these, mut of_other) = (Gradients::new(&variables), Gradients::new(&other));
        of_other.dense_mut(table);
        let name = optimizer.name();
        let error = fails(&mut *optimizer, &of_other, &mut other);
        assert_eq!(error, format!("{name} was built for other variables: 2 then, 1 now"));
        // The variables are right, but the gradients are not.
        assert!(fails(&mut *optimizer, &of_other, &mut variables).ends_with("2 then, 1 now"));
        assert!(fails(&mut *optimizer, &of_these, &mut other).ends_with("2 then, 1 now"));
        assert!(optimizer.slot(table, "average").is_err());

        let mut other = Variables::new();
        other.add("a", array![[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]].view()).unwrap();
        other.add("b", array![0.0, 0.0, 0.0, 0.0].view()).unwrap();
        let error = fails(&mut *optimizer, &Gradients::new(&other), &mut other);
        assert_eq!(error, format!("{name} was built for other variables: a had the shape [3, 2]"));
        optimizer.build(&other).unwrap();
        assert_eq!(optimizer.iterations(), 0);
    }
}

#[test]
fn names_that_are_unknown() {
    let mut adam: Box<dyn Optimizer<f64>> = Box::new(Adam::new(0.1));
    let known = "learning_rate, beta_1, beta_2, epsilon, weight_decay, l2, clipvalue, clipnorm, global_clipnorm, \
                 ema_momentum";
    let message = format!("adam has no hyperparameter lr; it has {known}");
    assert_eq!(adam.hyperparameters().join(", "), known);
    assert_eq!(adam.hyperparameter("lr").unwrap_err().to_string(), message);
    assert_eq!(adam.set_hyperparameter("lr", 0.1.into()).unwrap_err().to_string(), message);
    let mut variables = dense_variables();
    let a = variables.find("a").unwrap();
    assert!(matches!(adam.slot(a, "velocity"), Err(OptimizerError::NotBuilt { .. })));
    dense_steps(&mut *adam, &mut variables, 1..=1).unwrap();
    let error = adam.slot(a, "v").unwrap_err();
    assert_eq!(error.to_string(), "adam has no slot v; it has momentum, velocity");
    assert_eq!(adam.slots(), ["momentum", "velocity"]);
}

#[test]
fn hyperparameters_that_make_no_sense() {
    let sgd = |rate: Hyperparameter| Sgd::<f64>::new(rate);
    let adam = || Adam::<f64>::new(0.1);
    let cases: [(Box<dyn Optimizer<f64>>, &str); 12] = [
        (Box::new(sgd((-0.1).into())), "learning_rate must be at least 0, not -0.1"),
        (Box::new(sgd(f64::NAN.into())), "learning_rate must be at least 0, not NaN"),
        (Box::new(sgd(0.1.into()).with_momentum(1.5)), "momentum must be between 0 and 1, not 1.5"),
        (Box::new(adam().with_beta_1(1.0)), "beta_1 must be at least 0 and below 1, not 1"),
        (Box::new(adam().with_epsilon(-1e-8)), "epsilon must be at least 0, not -0.00000001"),
        (Box::new(adam().with_clipnorm(-1.0)), "clipnorm must be at least 0, not -1"),
        (
            Box::new(adam().with_clipnorm(1.0).with_global_clipnorm(2.0)),
            "global_clipnorm must be 0 where clipnorm is set, not 2",
        ),
        (Box::new(adam().with_ema(2.0)), "ema_momentum must be between 0 and 1, not 2"),
        (Box::new(adam().with_gradient_accumulation_steps(0)), "gradient_accumulation_steps must be at least 1, not 0"),
        (Box::new(adam().with_ema_overwrite_frequency(0)), "ema_overwrite_frequency must be at least 1, not 0"),
        (
            Box::new(sgd(ExponentialDecay::new(0.1, 0, 0.5).into())),
            "ExponentialDecay: decay_steps must be at least 1, not 0",
        ),
        (
            Box::new(MovingAverage::new(sgd(0.1.into())).with_average_decay(-0.5)),
            "average_decay must be between 0 and 1, not -0.5",
        ),
    ];
    for (mut optimizer, message) in cases {
        let mut variables = dense_variables();
        let mut gradients = Gradients::new(&variables);
        gradients.flat_mut();
        assert_eq!(fails(&mut *optimizer, &gradients, &mut variables), message);
        assert_eq!(optimizer.build(&variables).unwrap_err().to_string(), message);
    }

    let mut adam: Box<dyn Optimizer<f64>> = Box::new(adam().with_clipvalue(1.0));
    assert!(adam.set_hyperparameter("clipnorm", 1.0.into()).is_err());
    assert!(adam.set_hyperparameter("beta_2", (-0.1).into()).is_err());
    assert!(adam.set_hyperparameter("learning_rate", ExponentialDecay::new(0.1, 1, -1.0).into()).is_err());
    assert_eq!(adam.state(), Adam::<f64>::new(0.1).with_clipvalue(1.0).state());
}

/// A schedule may leave the domain only later.
#[test]
fn schedules_that_go_astray() {
    let mut variables = dense_variables();
    let mut optimizer = Sgd::new(0.1).with_momentum(LinearWarmup::new(4, 2.0));
    dense_steps(&mut optimizer, &mut variables, 1..=3).unwrap();
    let mut gradients = Gradients::new(&variables);
    dense_gradient(4, &variables, &mut gradients);
    let error = fails(&mut optimizer, &gradients, &mut variables);
    assert_eq!(error, "momentum must be between 0 and 1, not 1.5");
}

#[test]
#[should_panic(expected = "adam has no hyperparameter gamma")]
fn builders_know_their_names() {
    let _ = Adam::<f64>::new(0.1).with_hyperparameter("gamma", 0.1);
}
