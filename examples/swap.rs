//! One training loop, three optimizers.
//!
//! ```text
//! cargo run --release --example swap
//! ```

use std::error::Error;

use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::optim::{Adam, Optimizer, Sgd};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::{Array2, Axis};

/// Fits a network of 31 weights to sin(5x) in minibatches of 50. Returns the mean squared error before and after.
fn train(optimizer: &mut dyn Optimizer<f64>) -> Result<[f64; 2], Box<dyn Error>> {
    // From -1 to 1, in an order that spreads every minibatch evenly.
    let x = Array2::from_shape_fn((200, 1), |(i, _)| 2.0 * (0.618034 * i as f64).fract() - 1.0);
    let y = x.mapv(|x| (5.0 * x).sin());
    let mut variables = Variables::new();
    let layers = Sequential::new(1).dense(10).tanh().dense(1);
    let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;

    let before = network.evaluate(&variables, &[x.view()], &[y.view()])?;
    for _epoch in 0..50 {
        for (x, y) in x.axis_chunks_iter(Axis(0), 50).zip(y.axis_chunks_iter(Axis(0), 50)) {
            let minibatch = network.batch(&[x], &[y])?;
            optimizer.step(minibatch, &mut variables)?;
        }
    }
    let after = network.evaluate(&variables, &[x.view()], &[y.view()])?;
    Ok([before, after])
}

fn main() -> Result<(), Box<dyn Error>> {
    let optimizers: [Box<dyn Optimizer<f64>>; 3] =
        [Box::new(LevenbergMarquardt::new()), Box::new(Adam::new(0.05)), Box::new(Sgd::new(0.1).with_momentum(0.9))];
    for mut optimizer in optimizers {
        let [before, after] = train(optimizer.as_mut())?;
        println!("{:<20} {} steps   {before:.1e} -> {after:.1e}", optimizer.name(), optimizer.iterations());
    }
    Ok(())
}
