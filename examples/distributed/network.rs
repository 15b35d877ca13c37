//! A network that learns sinc(10x) from points that ranks make for themselves.

use std::error::Error;
use std::f64::consts::PI;
use std::time::Instant;

use marquardt::distributed::Communicator;
use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::train::{OnEpochEnd, Trainer};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::Array2;

use super::Outcome;

/// Trains 20 tanh units on this rank's share of so many points with that of the others, in minibatches of 250.
pub fn train(ranks: &Communicator, points: usize, epochs: usize) -> Result<Outcome, Box<dyn Error>> {
    let shard = ranks.shard(points);
    let point = |(row, _): (usize, usize)| 2.0 * (shard.start + row) as f64 / (points - 1) as f64 - 1.0;
    let x = Array2::from_shape_fn((shard.len(), 1), point);
    let y = x.mapv(|x| if x == 0.0 { 1.0 } else { (10.0 * PI * x).sin() / (10.0 * PI * x) });

    let mut variables = Variables::new();
    let layers = Sequential::new(1).dense(20).tanh().dense(1);
    let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?.with_communicator(ranks);
    let mut optimizer = LevenbergMarquardt::new();
    let is_root = ranks.is_root();
    let begin = Instant::now();
    Trainer::new(&mut network, &mut variables, &mut optimizer)
        .epochs(epochs)
        .batch_size(250)
        .callback(OnEpochEnd::new(|logs, context| {
            if is_root {
                println!("network: epoch {}, loss {:.3e}", context.epoch + 1, logs.get("loss").unwrap_or(f64::NAN));
            }
            Ok(())
        }))
        .fit(&[x.view()], &[y.view()])?;
    let seconds = begin.elapsed().as_secs_f64();
    let loss = network.evaluate(&variables, &[x.view()], &[y.view()])?;
    Ok(Outcome { rows: points, seconds, loss })
}
