//! What belongs to the samples of one minibatch: their weights, and what dropout drops of them.

use marquardt::nn::{MeanSquaredError, Network, Sequential};
use marquardt::optim::{Optimizer, StepReport};
use marquardt::problem::Objective;
use marquardt::solver::Scaling;
use marquardt::solver::damping::GainRatio;
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::{Array2, Axis, concatenate};

use super::problems::{Data, curved, damped, difference, norm};
use crate::common::close;

/// Ten steps on a batch, of an optimizer that does not see a factor of the loss.
fn train(
    bind: impl Fn(&mut Network<f64>) -> &mut Network<f64>,
    network: &mut Network<f64>,
    variables: &mut Variables<f64>,
) -> Vec<StepReport<f64>> {
    let optimizer = LevenbergMarquardt::new().with_damping(GainRatio::nielsen(0.1));
    let mut optimizer = optimizer.with_scaling(Scaling::Marquardt);
    (0..10)
        .map(|_| {
            let loss = bind(network).loss(variables.values()).unwrap();
            let report = optimizer.step(network, variables).unwrap();
            assert!((report.loss - loss).abs() <= 1e-13 * loss, "{} instead of {loss}", report.loss);
            let after = network.loss(variables.values()).unwrap();
            assert!((report.loss_after.unwrap() - after).abs() <= 1e-13 * loss);
            report
        })
        .collect()
}

/// tf-levenberg-marquardt solves without the sample weights.
#[test]
fn a_weight_of_two_is_the_sample_twice_and_zero_is_none() {
    let data = Data::new(30, 2, 5);
    let weights: Vec<_> = (0..30).map(|i| [1.0, 2.0, 0.0][i % 3]).collect();
    let copies: Vec<_> = (0..30).flat_map(|i| vec![i; [1, 2, 0][i % 3]]).collect();
    let ((mut network, start), mut weighted) = (curved(2, 5), curved(2, 5).1);
    let with_weights = train(|network| data.bind_weighted(network, &weights), &mut network, &mut weighted);
    let mut copied = start.clone();
    let with_copies = train(|network| data.bind_rows(network, &copies), &mut network, &mut copied);
    assert!(close(weighted.values(), copied.values(), 1e-9));
    for (weighted, copied) in with_weights.iter().zip(&with_copies) {
        // A mean is over the rows, and there were 30 of both.
        assert!((weighted.loss - copied.loss).abs() < 1e-9 * copied.loss);
        assert!((damped(weighted).gain_ratio - damped(copied).gain_ratio).abs() < 1e-5);
    }
    let mut plain = start;
    train(|network| data.bind(network), &mut network, &mut plain);
    assert!(norm(&difference(weighted.values(), plain.values())) > 1e-2, "weights matter");

    // With another number of rows the loss has another factor, which changes no step.
    let twice = [(0..30).collect::<Vec<_>>(), vec![4]].concat();
    let weights: Vec<_> = (0..30).map(|i| if i == 4 { 2.0 } else { 1.0 }).collect();
    let (mut weighted, mut copied) = (curved(2, 5).1, curved(2, 5).1);
    let with_weights = train(|network| data.bind_weighted(network, &weights), &mut network, &mut weighted);
    let with_copies = train(|network| data.bind_rows(network, &twice), &mut network, &mut copied);
    assert!(close(weighted.values(), copied.values(), 1e-9));
    assert!((with_weights[0].loss * 30.0 - with_copies[0].loss * 31.0).abs() < 1e-12);
}

#[test]
fn a_batch_without_weight_teaches_nothing() {
    let data = Data::new(10, 2, 6);
    let (mut network, mut variables) = curved(2, 5);
    let mut optimizer = LevenbergMarquardt::new();
    optimizer.step(data.bind(&mut network), &mut variables).unwrap();
    let before = variables.values().to_vec();
    let report = optimizer.step(data.bind_weighted(&mut network, &[0.0; 10]), &mut variables).unwrap();
    assert_eq!((report.loss, report.loss_after, report.applied), (0.0, Some(0.0), false));
    assert_eq!(variables.values(), before);
    assert!(optimizer.step(data.bind(&mut network), &mut variables).unwrap().applied);
}

/// Dropout, and a layer that is linear in its variables.
fn with_dropout(inputs: usize) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(inputs).dropout(0.5).dense(1);
    (layers.compile(&mut variables, 3, MeanSquaredError).unwrap(), variables)
}

/// tf-levenberg-marquardt takes the Jacobian with dropout and the loss of the trial without.
#[test]
fn a_step_sees_one_mask() {
    let data = Data::new(40, 6, 7);
    for learning_rate in [1e-3, 1.0] {
        let (mut network, mut variables) = with_dropout(6);
        let mut optimizer = LevenbergMarquardt::new().with_learning_rate(learning_rate);
        for _ in 0..5 {
            let before = variables.clone();
            let report = optimizer.step(data.bind(&mut network), &mut variables).unwrap();
            let gain = damped(&report).gain_ratio;
            assert!(report.applied && (gain - 1.0).abs() < 1e-9, "{report:?}");
            // The batch is still bound, with its mask.
            let [loss, after] = [&before, &variables].map(|variables| network.loss(variables.values()).unwrap());
            assert!((report.loss - loss).abs() < 1e-14 * loss, "{report:?}");
            assert!((report.loss_after.unwrap() - after).abs() < 1e-14 * loss, "{report:?}");
        }
    }
}

#[test]
fn the_next_minibatch_has_another_mask_and_evaluation_has_none() {
    let data = Data::new(40, 6, 8);
    let (mut network, variables) = with_dropout(6);
    let mut losses: Vec<_> = (0..10).map(|_| data.bind(&mut network).loss(variables.values()).unwrap()).collect();
    losses.sort_by(f64::total_cmp);
    losses.dedup();
    assert_eq!(losses.len(), 10, "ten masks");

    let (weights, bias) = variables.values().split_at(6);
    let weights = Array2::from_shape_vec((6, 1), weights.to_vec()).unwrap();
    let errors = data.x.dot(&weights) + bias[0] - &data.y;
    let expected = errors.mapv(|error| error * error).mean().unwrap();
    let loss = network.evaluate(&variables, &[data.x.view()], &[data.y.view()]).unwrap();
    assert!((loss - expected).abs() < 1e-14 * expected);
}

/// Frozen variables do not change what is dropped.
#[test]
fn a_step_on_some_variables_sees_the_same_mask() {
    let data = Data::new(40, 6, 9);
    let (mut network, mut variables) = with_dropout(6);
    let bias = variables.find("1.bias").unwrap();
    variables.set_trainable(bias, false);
    let mut optimizer = LevenbergMarquardt::new();
    for _ in 0..3 {
        let report = optimizer.step(data.bind(&mut network), &mut variables).unwrap();
        assert!((damped(&report).gain_ratio - 1.0).abs() < 1e-9, "{report:?}");
    }
}

/// Outputs of several columns are weighted by the sample, too.
#[test]
fn weights_are_of_samples_not_of_outputs() {
    let data = Data::new(12, 3, 10);
    let targets = concatenate![Axis(1), data.y, -2.0 * &data.y];
    let mut variables = Variables::new();
    let mut network = Sequential::new(3).dense(2).compile(&mut variables, 0, MeanSquaredError).unwrap();
    let weights: Vec<_> = (0..12).map(|i| (i % 4) as f64).collect();
    let mut optimizer = LevenbergMarquardt::new().with_damping(GainRatio::nielsen(1e-12));
    for _ in 0..3 {
        let batch = network.weighted_batch(&[data.x.view()], &[targets.view()], &weights).unwrap();
        optimizer.step(batch, &mut variables).unwrap();
    }
    let design = concatenate![Axis(1), data.x, Array2::ones((12, 1))];
    let design = nalgebra::DMatrix::from_fn(12, 4, |i, j| weights[i].sqrt() * design[[i, j]]);
    for output in 0..2 {
        let y = nalgebra::DVector::from_fn(12, |i, _| weights[i].sqrt() * targets[[i, output]]);
        let expected = design.clone().svd(true, true).solve(&y, 0.0).unwrap();
        let found = variables.values();
        let found = [found[3 * output], found[3 * output + 1], found[3 * output + 2], found[6 + output]];
        assert!(close(&found, expected.as_slice(), 1e-8), "{found:?} instead of {expected}");
    }
}
