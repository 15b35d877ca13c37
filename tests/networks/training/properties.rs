//! What is true of every step, on random problems.

use std::sync::{Arc, Mutex};

use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::optim::Optimizer;
use marquardt::problem::Objective;
use marquardt::solver::Scaling;
use marquardt::solver::damping::{DampedSystem, Damping, DampingPolicy, IllConditioned, Trial};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::Array2;
use proptest::collection::vec;
use proptest::prelude::*;

use super::attempts::POLICIES;
use super::problems::damped;
use crate::common::config;

/// A policy whose trials are noted down.
#[derive(Clone)]
struct Watched {
    policy: Damping<f64>,
    trials: Arc<Mutex<Vec<Trial<f64>>>>,
}

impl DampingPolicy<f64> for Watched {
    fn start(&mut self, scaled_start: f64) {
        self.policy.start(scaled_start);
    }

    fn damp(&mut self, system: &mut dyn DampedSystem<f64>) -> Result<f64, IllConditioned> {
        self.policy.damp(system)
    }

    fn update(&mut self, trial: &Trial<f64>) {
        self.trials.lock().unwrap().push(*trial);
        self.policy.update(trial);
    }

    fn damp_more(&mut self) {
        self.policy.damp_more();
    }
}

const SCALINGS: [Scaling; 4] = [Scaling::Identity, Scaling::Marquardt, Scaling::RunningMaximum, Scaling::FadingMaximum];

/// A linear model with data of any rank, small or large, and settings of a step that is no momentum's.
#[derive(Debug, Clone)]
struct Case {
    batches: Vec<(Vec<f64>, Vec<f64>)>,
    inputs: usize,
    policy: usize,
    scaling: usize,
    learning_rate: f64,
    weight_decay: f64,
    minimum_damping: f64,
    clip: f64,
}

fn cases() -> impl Strategy<Value = Case> {
    let batch = |inputs: usize| {
        (1..8_usize).prop_flat_map(move |rows| {
            let number = prop_oneof![4 => -2.0..2.0, 1 => Just(0.0), 1 => -100.0..100.0];
            (vec(number, rows * inputs), vec(-5.0..5.0, rows))
        })
    };
    let settings = (
        0..POLICIES.len(),
        0..SCALINGS.len(),
        prop_oneof![Just(1.0), 0.05..2.0],
        prop_oneof![Just(0.0), 1e-3..1.0],
        prop_oneof![Just(0.0), 1e-6..1.0],
        prop_oneof![Just(0.0), 1e-2..1.0],
    );
    ((1..5_usize).prop_flat_map(move |inputs| (vec(batch(inputs), 1..6), Just(inputs))), settings).prop_map(
        |((batches, inputs), (policy, scaling, learning_rate, weight_decay, minimum_damping, clip))| Case {
            batches,
            inputs,
            policy,
            scaling,
            learning_rate,
            weight_decay,
            minimum_damping,
            clip,
        },
    )
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_step_raises_the_loss_of_its_batch(case in cases()) {
        let mut variables = Variables::new();
        let layers = Sequential::new(case.inputs).dense(1);
        let mut network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
        let trials = Arc::new(Mutex::new(Vec::new()));
        let policy = Watched { policy: POLICIES[case.policy].1(), trials: trials.clone() };
        let optimizer = LevenbergMarquardt::new().with_damping(policy).with_scaling(SCALINGS[case.scaling]);
        let optimizer = optimizer.with_learning_rate(case.learning_rate).with_weight_decay(case.weight_decay);
        let optimizer = optimizer.with_minimum_damping(case.minimum_damping);
        let mut optimizer = optimizer.with_global_clipnorm(case.clip);
        let penalty = |x: &[f64]| 0.5 * case.weight_decay * x.iter().map(|x| x * x).sum::<f64>();

        for (inputs, targets) in &case.batches {
            let x = Array2::from_shape_vec((targets.len(), case.inputs), inputs.clone()).unwrap();
            let y = Array2::from_shape_vec((targets.len(), 1), targets.clone()).unwrap();
            let before = variables.values().to_vec();
            trials.lock().unwrap().clear();
            let batch = network.batch(&[x.view()], &[y.view()]).unwrap();
            let report = optimizer.step(batch, &mut variables).unwrap();

            let loss_before = batch.loss(&before).unwrap();
            let loss_after = batch.loss(variables.values()).unwrap();
            let (total_before, total_after) = (loss_before + penalty(&before), loss_after + penalty(variables.values()));
            prop_assert!(total_after <= total_before * (1.0 + 1e-13), "{total_after} after {total_before}");
            prop_assert!((report.loss - loss_before).abs() <= 1e-12 * total_before);
            prop_assert!((report.loss_after.unwrap() - loss_after).abs() <= 1e-12 * total_before);
            prop_assert_eq!(report.applied, before != variables.values());
            prop_assert_eq!(damped(&report).rows, targets.len());

            for trial in trials.lock().unwrap().iter() {
                // Rounding in the sum of two terms as large as the loss.
                prop_assert!(trial.predicted >= -1e-12 * total_before, "{trial:?}");
                prop_assert!(trial.lambda >= case.minimum_damping, "{trial:?}");
                let tolerance = 1e-6 * trial.predicted + 1e-9 * total_before;
                prop_assert!((trial.actual - trial.predicted).abs() <= tolerance, "a quadratic loss: {trial:?}");
            }
        }
    }
}
