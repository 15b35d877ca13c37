//! Optimizers made of optimizers, and least-squares problems as objectives.

use marquardt::optim::{
    Adam, Groups, Hyperparameter, MovingAverage, Optimizer, OptimizerError, OptimizerState, Sgd, StepReport,
};
use marquardt::problem::{Analytic, Objective, SumOfSquares};
use marquardt::variables::{Gradients, Variable};
use marquardt::{EvaluationError, LeastSquares, Variables};
use ndarray::{ArrayViewD, array};

use super::problems::{Bowl, dense_steps, dense_variables};

/// Plain descent that says that it is not of first order, as Levenberg–Marquardt does.
struct SecondOrder(Sgd<f64>);

impl Optimizer<f64> for SecondOrder {
    fn name(&self) -> &'static str {
        "second_order"
    }
    fn build(&mut self, variables: &Variables<f64>) -> Result<(), OptimizerError> {
        self.0.build(variables)
    }
    fn step(
        &mut self,
        batch: &mut dyn Objective<f64>,
        variables: &mut Variables<f64>,
    ) -> Result<StepReport<f64>, OptimizerError> {
        let report = self.0.step(batch, variables)?;
        Ok(StepReport { loss_after: Some(batch.loss(variables.values())?), ..report })
    }
    fn apply_gradients(&mut self, g: &Gradients<f64>, variables: &mut Variables<f64>) -> Result<(), OptimizerError> {
        self.0.apply_gradients(g, variables)
    }
    fn iterations(&self) -> u64 {
        self.0.iterations()
    }
    fn hyperparameters(&self) -> Vec<&'static str> {
        vec!["learning_rate"]
    }
    fn hyperparameter(&self, name: &str) -> Result<Hyperparameter, OptimizerError> {
        self.0.hyperparameter(name)
    }
    fn set_hyperparameter(&mut self, name: &str, value: Hyperparameter) -> Result<(), OptimizerError> {
        self.0.set_hyperparameter(name, value)
    }
    fn slots(&self) -> Vec<&'static str> {
        self.0.slots()
    }
    fn slot(&self, variable: Variable, name: &str) -> Result<ArrayViewD<'_, f64>, OptimizerError> {
        self.0.slot(variable, name)
    }
    fn save_into(&self, state: &mut OptimizerState<f64>) {
        self.0.save_into(state);
    }
    fn restore(&mut self, state: &OptimizerState<f64>, variables: &Variables<f64>) -> Result<(), OptimizerError> {
        self.0.restore(state, variables)
    }
    fn is_first_order(&self) -> bool {
        false
    }
}

/// `head` with one number and `body.0`, `body.1` with one each, all at zero.
fn three() -> Variables<f64> {
    let mut variables = Variables::new();
    for name in ["head", "body.0", "body.1"] {
        variables.add(name, array![0.0].view()).unwrap();
    }
    variables
}

#[test]
fn averages_follow_the_weights() {
    for (dynamic_decay, start_step) in [(false, 0), (false, 3), (true, 0), (true, 2)] {
        let mut plain = dense_variables();
        let mut adam = Adam::new(0.1);
        let mut variables = dense_variables();
        let averaged = MovingAverage::new(Adam::new(0.1)).with_average_decay(0.8);
        let mut averaged = averaged.with_dynamic_decay(dynamic_decay).with_start_step(start_step);
        let mut average = variables.values().to_vec();
        for t in 1..=6 {
            dense_steps(&mut adam, &mut plain, t..=t).unwrap();
            dense_steps(&mut averaged, &mut variables, t..=t).unwrap();
            assert_eq!(plain.values(), variables.values());
            let decay = match u64::from(t - 1).checked_sub(start_step) {
                None => 0.0,
                Some(n) if dynamic_decay => f64::min(0.8, (1.0 + n as f64) / (10.0 + n as f64)),
                Some(_) => 0.8,
            };
            for (average, w) in average.iter_mut().zip(plain.values()) {
                *average = decay * *average + (1.0 - decay) * w;
            }
        }
        averaged.swap_weights(&mut variables).unwrap();
        assert!(averaged.is_swapped());
        assert_eq!(variables.values(), average);
        let error = dense_steps(&mut averaged, &mut variables, 7..=7).unwrap_err();
        assert!(matches!(error, OptimizerError::AveragesSwappedIn));
        assert_eq!(variables.values(), average);
        averaged.swap_weights(&mut variables).unwrap();
        assert_eq!(variables.values(), plain.values());
        dense_steps(&mut averaged, &mut variables, 7..=7).unwrap();
        averaged.finalize(&mut variables).unwrap();
        let a = variables.find("a").unwrap();
        assert_eq!(variables.get(a), averaged.slot(a, "average").unwrap());
    }
}

#[test]
fn averages_leave_out_what_is_frozen_and_what_was_not_stepped() {
    let mut variables = dense_variables();
    let start = variables.values().to_vec();
    let [a, b] = ["a", "b"].map(|name| variables.find(name).unwrap());
    variables.set_trainable(b, false);
    let inner = Sgd::new(0.1).with_gradient_accumulation_steps(2);
    let mut averaged: MovingAverage<f64, Box<dyn Optimizer<f64>>> = MovingAverage::new(Box::new(inner));
    dense_steps(&mut averaged, &mut variables, 1..=1).unwrap();
    assert_eq!(averaged.slot(a, "average").unwrap().as_slice().unwrap(), &start[a.range()]);
    dense_steps(&mut averaged, &mut variables, 2..=4).unwrap();
    assert_ne!(averaged.slot(a, "average").unwrap().as_slice().unwrap(), &start[a.range()]);
    averaged.swap_weights(&mut variables).unwrap();
    assert_eq!(variables.values()[b.range()], start[b.range()]);
}

#[test]
fn two_groups_of_one_kind_are_one_optimizer() {
    let sgd = || Sgd::new(0.05).with_momentum(0.9).with_weight_decay(0.1).with_clipnorm(0.8);
    let mut one = dense_variables();
    dense_steps(&mut sgd(), &mut one, 1..=50).unwrap();
    let mut two = dense_variables();
    let mut groups = Groups::new().with_group(["a"], sgd()).with_rest(sgd());
    dense_steps(&mut groups, &mut two, 1..=50).unwrap();
    assert_eq!(one.values(), two.values());
    assert!(groups.is_first_order());
    assert_eq!(groups.iterations(), 50);
    assert!(two.iter().all(|variable| two.is_trainable(variable)));
    let b = two.find("b").unwrap();
    assert!(groups.slot(b, "momentum").unwrap().iter().all(|&m| m != 0.0));
}

#[test]
fn first_order_groups_share_one_gradient_after_the_others() {
    let mut variables = three();
    let mut bowl = Bowl::new(&[8.0, 8.0, 8.0]);
    let mut groups = Groups::new()
        .with_group(["body.0"], Sgd::new(0.5))
        .with_group(["body.1"], Sgd::new(0.25))
        .with_group(["head"], SecondOrder(Sgd::new(1.0)));
    let report = groups.step(&mut bowl, &mut variables).unwrap();
    assert_eq!(variables.values(), [8.0, 4.0, 2.0]);
    assert_eq!(bowl.evaluations, 2);
    assert_eq!((report.loss, report.loss_after, report.applied), (96.0, None, true));
    assert!(!groups.is_first_order());

    // With its only variable frozen a group has nothing to do, and the gradient is shared by all that have.
    let body_1 = variables.find("body.1").unwrap();
    variables.set_trainable(body_1, false);
    groups.step(&mut bowl, &mut variables).unwrap();
    assert_eq!(variables.values(), [8.0, 6.0, 2.0]);
    assert!(!variables.is_trainable(body_1));
    let body_0 = variables.find("body.0").unwrap();
    variables.set_trainable(body_0, false);
    let report = groups.step(&mut bowl, &mut variables).unwrap();
    assert_eq!(report.loss_after, Some(20.0));
    assert_eq!(bowl.evaluations, 5);
}

/// Whichever group fails, variables and all optimizers are as they were, and go on as if nothing had happened.
#[test]
fn a_group_that_fails_takes_all_back() {
    for (broken, name) in ["body.0", "body.1", "head"].into_iter().enumerate() {
        let mut groups = Groups::new()
            .with_group(["body.0"], Adam::new(0.1))
            .with_group(["body.1"], Sgd::new(0.1).with_momentum(0.9))
            .with_group(["head"], SecondOrder(Sgd::new(0.1).with_momentum(0.5)));
        let mut bowl = Bowl::new(&[8.0, 8.0, 8.0]);
        let mut variables = three();
        for _ in 0..3 {
            groups.step(&mut bowl, &mut variables).unwrap();
        }
        let (values, state) = (variables.values().to_vec(), groups.state());

        let set = |groups: &mut Groups<f64>, rate: f64, decay: f64| {
            let group = groups.group_mut(broken).unwrap();
            group.set_hyperparameter("learning_rate", rate.into()).unwrap();
            group.set_hyperparameter("weight_decay", decay.into()).unwrap();
        };
        set(&mut groups, 1e200, 1e200);
        let error = groups.step(&mut bowl, &mut variables).unwrap_err();
        assert_eq!(error.to_string(), format!("the step would make {name}[0] -inf"));
        set(&mut groups, 0.1, 0.0);
        assert_eq!((variables.values(), groups.state()), (&values[..], state));
        assert!(variables.iter().all(|variable| variables.is_trainable(variable)));
        groups.step(&mut bowl, &mut variables).unwrap();
        assert_eq!(groups.iterations(), 4);
    }
}

/// The gradient can fail after the others have stepped.
#[test]
fn a_gradient_that_fails_takes_all_back() {
    struct Fragile(Bowl, usize);
    impl Objective<f64> for Fragile {
        fn loss(&mut self, x: &[f64]) -> Result<f64, EvaluationError> {
            self.0.loss(x)
        }
        fn loss_and_gradient(&mut self, x: &[f64], g: &mut Gradients<f64>) -> Result<f64, EvaluationError> {
            self.0.fails = self.0.evaluations == self.1;
            self.0.loss_and_gradient(x, g)
        }
        fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<f64>, marquardt::problem::NotLeastSquares> {
            self.0.least_squares()
        }
    }
    let mut variables = three();
    let second_order = SecondOrder(Sgd::new(0.1).with_momentum(0.5));
    let mut groups = Groups::new().with_group(["head"], second_order).with_rest(Adam::new(0.1));
    let mut bowl = Fragile(Bowl::new(&[8.0, 8.0, 8.0]), 5);
    for _ in 0..2 {
        groups.step(&mut bowl, &mut variables).unwrap();
    }
    let (values, state) = (variables.values().to_vec(), groups.state());
    let error = groups.step(&mut bowl, &mut variables).unwrap_err();
    assert!(matches!(error, OptimizerError::Evaluation(_)), "{error}");
    assert_eq!((variables.values(), groups.state()), (&values[..], state));
    groups.step(&mut bowl, &mut variables).unwrap();
}

#[test]
fn every_trainable_variable_has_one_group() {
    let sgd = || Sgd::new(0.1);
    let cases = [
        (Groups::new().with_group(["head"], sgd()), "body.0 matches no group"),
        (Groups::new(), "head matches no group"),
        (Groups::new().with_group(["*"], sgd()).with_group(["body.*"], sgd()), "body.0 matches the groups 0 and 1"),
        (
            Groups::new().with_group(["head"], sgd()).with_rest(sgd()).with_rest(sgd()),
            "body.0 matches the groups 1 and 2",
        ),
        (Groups::new().with_group(["heat"], sgd()).with_rest(sgd()), "the pattern heat matches no variable"),
    ];
    for (mut groups, message) in cases {
        assert_eq!(groups.build(&three()).unwrap_err().to_string(), message);
    }

    // What is frozen needs none, as long as it is.
    let mut variables = three();
    for body in ["body.0", "body.1"] {
        let body = variables.find(body).unwrap();
        variables.set_trainable(body, false);
    }
    let mut groups = Groups::new().with_group(["head"], sgd());
    let mut bowl = Bowl::new(&[1.0, 1.0, 1.0]);
    groups.step(&mut bowl, &mut variables).unwrap();
    assert_eq!(variables.values(), [0.1, 0.0, 0.0]);
    variables.set_trainable(variables.find("body.1").unwrap(), true);
    let error = groups.step(&mut bowl, &mut variables).unwrap_err();
    assert_eq!(error.to_string(), "body.1 belongs to no group");
    assert_eq!(variables.values(), [0.1, 0.0, 0.0]);
}

#[test]
fn groups_share_hyperparameters_by_name() {
    let mut groups = Groups::<f64>::new().with_group(["head"], Sgd::new(0.1)).with_rest(Adam::new(0.2));
    assert_eq!(groups.hyperparameter("learning_rate").unwrap(), 0.1.into());
    assert_eq!(groups.hyperparameter("beta_1").unwrap(), 0.9.into());
    groups.set_hyperparameter("learning_rate", 0.3.into()).unwrap();
    for group in 0..2 {
        assert_eq!(groups.group(group).unwrap().hyperparameter("learning_rate").unwrap(), 0.3.into());
    }
    assert!(groups.set_hyperparameter("learning_rate", (-1.0).into()).is_err());
    assert!(groups.set_hyperparameter("clipnorm", 1.0.into()).is_ok());
    // Clipping by value is refused by the second group alone, and so by both.
    groups.group_mut(0).unwrap().set_hyperparameter("clipnorm", 0.0.into()).unwrap();
    assert!(groups.set_hyperparameter("clipvalue", 1.0.into()).is_err());
    assert_eq!(groups.group(0).unwrap().hyperparameter("clipvalue").unwrap(), 0.0.into());
    let error = groups.set_hyperparameter("gamma", 1.0.into()).unwrap_err().to_string();
    assert!(error.starts_with("groups has no hyperparameter gamma; it has learning_rate, momentum"), "{error}");
}

/// A curve problem through the loop that all optimizers share.
#[test]
fn curves_are_fitted_by_first_order_optimizers() {
    let optimizers: [Box<dyn Optimizer<f64>>; 3] = [
        Box::new(Sgd::new(0.1).with_momentum(0.9)),
        Box::new(Adam::new(0.05)),
        Box::new(Groups::new().with_group(["slope"], Sgd::new(0.1)).with_rest(Adam::new(0.05))),
    ];
    for mut optimizer in optimizers {
        // y = 2 − 3t, without noise.
        let mut line = SumOfSquares::new(Analytic::new(2, 9, |x: &[f64], r: &mut [f64], j: Option<&mut [f64]>| {
            for (i, r) in r.iter_mut().enumerate() {
                let t = i as f64 / 8.0;
                *r = x[0] + x[1] * t - (2.0 - 3.0 * t);
            }
            for (i, row) in j.into_iter().flat_map(|j| j.chunks_exact_mut(2)).enumerate() {
                row.copy_from_slice(&[1.0, i as f64 / 8.0]);
            }
            Ok(())
        }));
        let mut variables = Variables::new();
        variables.add("intercept", array![0.0].view()).unwrap();
        variables.add("slope", array![0.0].view()).unwrap();
        let mut losses = Vec::new();
        for _ in 0..1000 {
            losses.push(optimizer.step(&mut line, &mut variables).unwrap().loss);
        }
        assert!(losses[0] > 1.0 && losses[999] < 1e-6, "{}: {} {}", optimizer.name(), losses[0], losses[999]);
        assert!((variables.values()[1] + 3.0).abs() < 1e-2, "{}", optimizer.name());
    }
}
