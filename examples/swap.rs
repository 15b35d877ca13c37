//! One training loop, three optimizers.

use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::optim::{Adam, Optimizer, Sgd};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::Array2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x = Array2::from_shape_fn((200, 1), |(i, _)| i as f64 / 100.0 - 1.0);
    let y = x.mapv(|x| (5.0 * x).sin());
    let optimizers: [Box<dyn Optimizer<f64>>; 3] =
        [Box::new(LevenbergMarquardt::new()), Box::new(Adam::new(0.01)), Box::new(Sgd::new(0.05).with_momentum(0.9))];

    for mut optimizer in optimizers {
        let mut variables = Variables::new();
        let mut network = Sequential::new(1).dense(16).tanh().dense(1).compile(&mut variables, 0, MeanSquaredError)?;
        for _ in 0..100 {
            let batch = network.batch(&[x.view()], &[y.view()])?;
            optimizer.step(batch, &mut variables)?;
        }
        let loss = network.evaluate(&variables, &[x.view()], &[y.view()])?;
        println!("{:<20} {loss:.1e}", optimizer.name());
    }
    Ok(())
}
