//! States of optimizers: a good one, edited, is restored or refused, and what was restored makes steps.

use marquardt::nn::{MeanSquaredError, Network, Sequential};
use marquardt::optim::{
    Adagrad, Adam, AdamW, CosineDecay, CosineDecayRestarts, ExponentialDecay, Groups, MovingAverage, Optimizer,
    OptimizerState, PiecewiseConstantDecay, PolynomialDecay, RmsProp, Sgd,
};
use marquardt::solver::damping::{Multiplicative, TrustRegion};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::Array2;

use super::edits::edit;
use crate::choices::Choices;

type Make = fn() -> Box<dyn Optimizer<f64>>;

const MAKERS: [Make; 10] = [
    || Box::new(LevenbergMarquardt::new().with_momentum(0.3)),
    || Box::new(LevenbergMarquardt::new().with_damping(TrustRegion::default())),
    || Box::new(LevenbergMarquardt::new().with_damping(Multiplicative::default())),
    || Box::new(Sgd::new(PiecewiseConstantDecay::new([3, 9], [0.1, 0.2, 0.3])).with_momentum(0.9)),
    || Box::new(Adam::new(ExponentialDecay::new(0.1, 10, 0.7)).with_amsgrad(true).with_gradient_accumulation_steps(3)),
    || Box::new(AdamW::new(CosineDecay::new(0.0, 20).with_warmup(0.1, 5)).with_ema(0.9)),
    || Box::new(RmsProp::new(CosineDecayRestarts::new(0.1, 3)).with_centered(true).with_momentum(0.9)),
    || Box::new(Adagrad::new(PolynomialDecay::new(0.1, 20)).with_global_clipnorm(1.0)),
    || Box::new(MovingAverage::new(Adam::new(0.1)).with_dynamic_decay(true)),
    || Box::new(Groups::new().with_group(["*weight"], LevenbergMarquardt::new()).with_rest(Sgd::new(0.1))),
];

fn network() -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(2).dense(3).tanh().dense(1);
    (layers.compile(&mut variables, 5, MeanSquaredError).expect("the layers fit"), variables)
}

/// Makes a step, which may fail, and looks at what it leaves.
fn step(optimizer: &mut dyn Optimizer<f64>, network: &mut Network<f64>, variables: &mut Variables<f64>, number: usize) {
    let x = Array2::from_shape_fn((8, 2), |(i, j)| ((5 * i + 3 * j + number) as f64).sin());
    let y = x.map_axis(ndarray::Axis(1), |row| row[0] * row[1]).insert_axis(ndarray::Axis(1));
    let before = variables.clone();
    let batch = network.batch(&[x.view()], &[y.view()]).expect("the data fit");
    if let Err(error) = optimizer.step(batch, variables) {
        assert!(!error.to_string().is_empty());
        assert_eq!(*variables, before);
    }
    assert!(variables.values().iter().all(|value| value.is_finite()));
}

pub fn run(bytes: &[u8]) -> bool {
    let mut choices = Choices(bytes);
    let (mut optimizer, (mut network, mut variables)) = (MAKERS[choices.below(MAKERS.len())](), network());
    for number in 0..choices.below(4) {
        step(&mut *optimizer, &mut network, &mut variables, number);
    }
    let before = optimizer.state();
    let mut json = serde_json::to_value(&before).expect("a state is written");
    for _ in 0..1 + choices.below(3) {
        edit(&mut json, &mut choices);
    }
    let Ok(state) = serde_json::from_value::<OptimizerState<f64>>(json) else { return false };
    match optimizer.restore(&state, &variables) {
        Ok(()) => {
            for number in 4..7 {
                step(&mut *optimizer, &mut network, &mut variables, number);
            }
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(optimizer.state(), before);
            false
        }
    }
}
