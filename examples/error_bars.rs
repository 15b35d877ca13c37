//! Predictions with error bars: a network trained by the evidence, and the Laplace approximation of its weights. Draws error_bars.svg.
//!
//! ```text
//! cargo run --release --example error_bars
//! ```

use std::error::Error;

use marquardt::curve::{Plot, Series};
use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::optim::Laplace;
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::Array2;

/// Sums of three numbers that are spread evenly have nearly normal noise.
fn noise(i: usize) -> f64 {
    let fraction = |k: f64| (k * (i * i + i) as f64).fract() - 0.5;
    0.4 * (fraction(0.618_034) + fraction(0.414_214) + fraction(0.732_051))
}

fn main() -> Result<(), Box<dyn Error>> {
    // Rows on the left and on the right, and none between.
    let x = Array2::from_shape_fn((60, 1), |(i, _)| if i < 30 { i as f64 / 20.0 - 3.0 } else { i as f64 / 20.0 - 0.5 });
    let y = Array2::from_shape_fn((60, 1), |(i, _)| (1.5 * x[[i, 0]]).sin() + noise(i));

    let layers = Sequential::new(1).dense(12).tanh().dense(1).normalized(x.view(), y.view())?;
    let mut variables = Variables::new();
    let mut network = layers.compile(&mut variables, 1, MeanSquaredError)?;
    network.batch(&[x.view()], &[y.view()])?;
    let found = LevenbergMarquardt::new().minimize_variables_by_evidence(&mut network, &mut variables)?;
    println!(
        "{:.1} of {} parameters are determined; noise {:.3}\n",
        found.effective_parameters,
        found.parameters,
        found.target_noise()
    );

    let posterior = Laplace::of_evidence(&found).fit(&mut network, &variables)?;
    let grid = Array2::from_shape_fn((201, 1), |(i, _)| 0.04 * i as f64 - 4.0);
    let predicted = posterior.predict_with_std(&mut network, &[grid.view()])?;
    let [lower, upper] = predicted.interval(0.95);
    println!("x      output   std of output   std of a new target");
    for i in (0..=200).step_by(25) {
        let [x, mean, of_mean, std] =
            [&grid, &predicted.mean, &predicted.std_of_mean, &predicted.std].map(|of| of[[i, 0]]);
        println!("{x:5.2}  {mean:7.3}  {of_mean:14.3}  {std:20.3}");
    }

    let line = |of: &Array2<f64>| grid.iter().copied().zip(of.iter().copied()).collect::<Vec<_>>();
    let band = |low: &Array2<f64>, high: &Array2<f64>| {
        line(low).into_iter().zip(line(high)).map(|((x, low), (_, high))| (x, low, high)).collect::<Vec<_>>()
    };
    let twice = 1.96 * &predicted.std_of_mean;
    let series = Series::new()
        .points(x.iter().copied().zip(y.iter().copied()))
        .curve(line(&predicted.mean))
        .confidence_band(0.95, band(&(&predicted.mean - &twice), &(&predicted.mean + &twice)))
        .prediction_band(0.95, band(&lower, &upper))
        .name("network");
    let plot = Plot::new().title("A network's prediction with error bars").series(series);
    plot.x_label("x").y_label("y").save("error_bars.svg")?;
    println!("\ndrawn to error_bars.svg");
    Ok(())
}
