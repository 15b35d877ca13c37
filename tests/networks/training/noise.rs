//! Minibatches of noisy data.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::nn::{Huber, MeanSquaredError, Sequential};
use marquardt::optim::{Adam, Optimizer};
use marquardt::train::Trainer;
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::{Array2, ArrayView1};
use rand_distr::{Distribution, StandardNormal, Uniform};

fn response(x: ArrayView1<'_, f64>) -> f64 {
    (2.0 * x[0]).sin() + x[1] * x[2] + 0.5 * x[1]
}

/// The mean over three seeds of the squared error on new rows without noise, after 30 epochs of 320 rows with noise of 0.3.
fn error(make: fn() -> Box<dyn Optimizer<f64>>) -> f64 {
    let of_seed = |seed: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut inputs =
            |rows| Array2::from_shape_simple_fn((rows, 3), || Uniform::new(-1.0, 1.0).unwrap().sample(&mut random));
        let (x, new) = (inputs(320), inputs(1000));
        let mut noise = || 0.3 * Distribution::<f64>::sample(&StandardNormal, &mut random);
        let y = Array2::from_shape_fn((320, 1), |(i, _)| response(x.row(i)) + noise());
        let mut variables = Variables::new();
        let layers = Sequential::new(3).dense(10).tanh().dense(1);
        let mut network = layers.compile(&mut variables, seed, MeanSquaredError).unwrap();
        let mut optimizer = make();
        let mut trainer = Trainer::new(&mut network, &mut variables, optimizer.as_mut()).epochs(30);
        trainer.fit(&[x.view()], &[y.view()]).unwrap();
        let predictions = trainer.predict(&[new.view()]).unwrap();
        let squares = new.rows().into_iter().zip(&predictions).map(|(x, p)| (p - response(x)).powi(2));
        squares.sum::<f64>() / 1000.0
    };
    (0..3).map(of_seed).sum::<f64>() / 3.0
}

/// An exact step fits the noise of its 32 rows; their mean does not.
#[test]
fn the_noise_of_minibatches_averages_out() {
    let averaged = error(|| Box::new(LevenbergMarquardt::new()));
    let every = error(|| Box::new(LevenbergMarquardt::new().with_noise_averaging(false)));
    let adam = error(|| Box::new(Adam::new(0.01)));
    assert!(averaged <= 0.0115 && averaged < adam && averaged < 0.4 * every, "{averaged}, {every}; Adam {adam}");
}

/// Losses that grow linearly leave less to remove to a step, and their noise averages out as well: inputs are far from zero, and no network ends worse than the
/// mean of the targets.
#[test]
fn the_noise_of_minibatches_averages_out_of_robust_losses() {
    let x = Array2::from_shape_fn((50, 1), |(i, _)| -10.0 + 2.0 * i as f64 / 49.0);
    let y = Array2::from_shape_fn((50, 1), |(i, _)| (i as f64 / 8.0).sin());
    let variance = y.var(0.0);
    let error = |seed: u64| {
        let mut variables = Variables::new();
        let layers = Sequential::new(1).dense(6).tanh().dense(1);
        let mut network = layers.compile(&mut variables, seed, Huber::new(0.1).unwrap()).unwrap();
        let mut optimizer = LevenbergMarquardt::new();
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(60).batch_size(16);
        trainer.fit(&[x.view()], &[y.view()]).unwrap();
        let predictions = trainer.predict(&[x.view()]).unwrap();
        (&predictions - &y).mapv(|error| error * error).mean().unwrap() / variance
    };
    let worst = (0..12).map(error).fold(0.0, f64::max);
    assert!(worst < 0.9, "{worst}");
}
