//! One loop for every optimizer, and the same result for the same seed.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::optim::{Adagrad, Adam, AdamW, Optimizer, RmsProp, Sgd};
use marquardt::solver::damping::{Multiplicative, TrustRegion};
use marquardt::{LevenbergMarquardt, Real, Variables};
use ndarray::Array2;

use super::problems::assert_same_bits;

/// Trains a network with dropout on a sine, from seeds for the network and for the order of the data. Returns the
/// variables, and the loss before and after.
fn train<T: Real>(optimizer: &mut dyn Optimizer<T>, seeds: [u64; 2], epochs: usize) -> (Variables<T>, [T; 2]) {
    let x = Array2::from_shape_fn((70, 1), |(i, _)| T::from_f64(i as f64 / 35.0 - 1.0));
    let y = x.mapv(|x| (x * T::from_f64(3.0)).sin());
    let mut variables = Variables::new();
    let layers = Sequential::new(1).dense(8).tanh().dropout(T::from_f64(0.05)).dense(1);
    let mut network = layers.compile(&mut variables, seeds[0], MeanSquaredError).unwrap();
    let first = network.evaluate(&variables, &[x.view()], &[y.view()]).unwrap();
    // With weight decay it is the sum of loss and penalty that falls.
    let decays = optimizer.hyperparameter("weight_decay").is_ok_and(|decay| decay != 0.0.into());
    let mut order: Vec<usize> = (0..70).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seeds[1]);
    for _ in 0..epochs {
        for last in (1..order.len()).rev() {
            order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
        }
        for rows in order.chunks(32) {
            let batch = network.batch_rows(&[x.view()], &[y.view()], rows).unwrap();
            let report = optimizer.step(batch, &mut variables).unwrap();
            assert!(report.loss.is_finite());
            assert!(decays || report.loss_after.is_none_or(|after| after <= report.loss));
        }
    }
    let last = network.evaluate(&variables, &[x.view()], &[y.view()]).unwrap();
    (variables, [first, last])
}

fn optimizers<T: Real>() -> Vec<Box<dyn Optimizer<T>>> {
    vec![
        Box::new(LevenbergMarquardt::new()),
        Box::new(LevenbergMarquardt::new().with_damping(TrustRegion::default()).with_momentum(0.2)),
        Box::new(LevenbergMarquardt::new().with_damping(Multiplicative::default()).with_weight_decay(1e-4)),
        Box::new(Sgd::new(0.05).with_momentum(0.9)),
        Box::new(Adam::new(0.01)),
        Box::new(AdamW::new(0.01)),
        Box::new(RmsProp::new(0.01)),
        Box::new(Adagrad::new(0.1)),
    ]
}

fn every_optimizer_lowers_the_loss<T: Real>() {
    let mut names = Vec::new();
    for mut optimizer in optimizers::<T>() {
        let (variables, [first, last]) = train(optimizer.as_mut(), [0, 0], 20);
        assert!(last < T::from_f64(0.7) * first, "{}: from {first} to {last}", optimizer.name());
        assert_eq!(optimizer.iterations(), 60, "{}", optimizer.name());
        assert!(variables.values().iter().all(|x| x.is_finite()));
        names.push(optimizer.name());
    }
    let expected = ["levenberg_marquardt"; 3].into_iter().chain(["sgd", "adam", "adamw", "rmsprop", "adagrad"]);
    assert_eq!(names, expected.collect::<Vec<_>>());
}

#[test]
fn one_loop_serves_every_optimizer() {
    every_optimizer_lowers_the_loss::<f64>();
    every_optimizer_lowers_the_loss::<f32>();
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    for (mut first, mut second) in optimizers::<f64>().into_iter().zip(optimizers::<f64>()) {
        let [a, b] = [&mut first, &mut second].map(|optimizer| train(optimizer.as_mut(), [1, 2], 5).0);
        assert_same_bits(a.values(), b.values(), first.name());
        assert_eq!(first.state(), second.state());
    }
}

#[test]
fn other_seeds_give_other_results() {
    for seeds in [[1, 3], [4, 2]] {
        let [a, b] = [[1, 2], seeds].map(|seeds| train(&mut LevenbergMarquardt::<f64>::new(), seeds, 5).0);
        assert!(a != b, "{seeds:?}");
    }
}

/// An optimizer that is built anew forgets what it has learnt.
#[test]
fn building_starts_afresh() {
    let mut used = LevenbergMarquardt::<f64>::new().with_momentum(0.3);
    let (variables, _) = train(&mut used, [5, 5], 3);
    used.build(&variables).unwrap();
    assert_eq!(used.iterations(), 0);
    let (again, _) = train(&mut used, [5, 5], 3);
    assert_same_bits(again.values(), variables.values(), "the second time");
}
