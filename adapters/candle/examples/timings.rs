//! Milliseconds of a step, here and of the same network of marquardt's, by turns on the same batches; and the loss that they come to.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release -p marquardt-candle --example timings
//! ```
//!
//! The least of all steps is what counts on a machine that does other things as well.

#[allow(dead_code, reason = "nothing races here")]
mod common;

use std::error::Error;
use std::time::Instant;

use candle_core::{Device, Module, Result, Tensor};
use candle_nn::{VarBuilder, VarMap};
use common::{Data, data, mean_squared_error};
use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::number::Number;
use marquardt::optim::Optimizer;
use marquardt::{LevenbergMarquardt, Real, Variables};
use marquardt_candle::{Element, LeastSquaresTrainer, linear, tanh};
use ndarray::{Array2, s};

/// Milliseconds of the quickest step and of the one in the middle.
fn summary(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    format!("{:7.3} ms (middle {:7.3})", 1e3 * times[0], 1e3 * times[times.len() / 2])
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// So many steps on batches of so many samples, with layers of these sizes and an activation between them.
fn time<T: Element, L: Module>(
    title: &str,
    (sizes, (x, y)): (&[usize], (Vec<f64>, Vec<f64>)),
    (batch, steps): (usize, usize),
    layer: fn(usize, usize, VarBuilder) -> Result<L>,
    activation: fn(&Tensor) -> Result<Tensor>,
) -> std::result::Result<(), Box<dyn Error>> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, T::DTYPE, &Device::Cpu);
    let layers: Result<Vec<L>> =
        sizes.windows(2).enumerate().map(|(i, size)| layer(size[0], size[1], vb.pp((2 * i).to_string()))).collect();
    let layers = layers?;
    let forward = |x: &Tensor| {
        let mut y = layers[0].forward(x)?;
        for layer in &layers[1..] {
            y = layer.forward(&activation(&y)?)?;
        }
        Ok(y)
    };
    let mut own = Sequential::new(sizes[0]);
    for (i, &units) in sizes[1..].iter().enumerate() {
        own = if i > 0 { own.tanh().dense(units) } else { own.dense(units) };
    }
    let mut variables = Variables::new();
    let mut network = own.compile(&mut variables, 1, MeanSquaredError)?;
    for variable in variables.iter() {
        let values: Vec<T> = variables.get(variable).iter().copied().collect();
        let var = varmap.data().lock().map_err(|_| "poisoned")?[variables.name(variable)].clone();
        var.set(&Tensor::from_vec(values, var.shape(), &Device::Cpu)?)?;
    }
    // In an order without a pattern, since sinc's points are sorted.
    let samples = y.len();
    let order: Vec<usize> = (0..samples).map(|i| i * 7919 % samples).collect();
    let array = |numbers: &[f64]| {
        let columns = numbers.len() / samples;
        Array2::from_shape_fn((samples, columns), |(i, j)| <T as Number>::from_f64(numbers[order[i] * columns + j]))
    };
    let (x, y) = (array(&x), array(&y));
    let flat = |numbers: &Array2<T>| numbers.iter().map(|&number| Real::to_f64(number)).collect();
    let data = Data::new::<T>((flat(&x), flat(&y)))?;
    let mut optimizer = LevenbergMarquardt::<T>::new();
    let mut trainer = LeastSquaresTrainer::<T>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError)?;
    let (mut here, mut there, mut is_recorded) = (Vec::new(), Vec::new(), false);
    for step in 0..steps {
        let first = step % (samples / batch) * batch;
        let rows = s![first..first + batch, ..];
        let begun = Instant::now();
        let bound = network.batch(&[x.slice(rows)], &[y.slice(rows)])?;
        optimizer.step(bound, &mut variables)?;
        there.push(begun.elapsed().as_secs_f64());
        let Data { x, y } = data.part(first, batch)?;
        let begun = Instant::now();
        is_recorded = trainer.step(&y, || forward(&x))?.is_recorded;
        here.push(begun.elapsed().as_secs_f64());
    }
    let ratio = least(&here) / least(&there);
    let loss =
        mean_squared_error(&forward(&data.x)?, &data.y)?.to_dtype(candle_core::DType::F64)?.to_scalar::<f64>()?;
    let own_loss = Real::to_f64(network.evaluate(&variables, &[x.view()], &[y.view()])?);
    let (here, there) = (summary(here), summary(there));
    println!(
        "{title:28} recorded={is_recorded:5} here {here}  own {there}  ratio {ratio:5.2}  losses after {steps} steps {loss:.2e} \
         {own_loss:.2e}"
    );
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let (small, large) = ([10, 32, 32, 1], [10, 256, 256, 1]);
    let friedman = || data::friedman(0);
    let candles = |x: &Tensor| x.tanh();
    time::<f32, _>("friedman f32", (&small, friedman()), (128, 400), linear, tanh)?;
    time::<f32, _>("friedman f32, candle's tanh", (&small, friedman()), (128, 400), linear, candles)?;
    time::<f64, _>("sinc f64", (&[1, 20, 1], data::sinc()), (1000, 150), linear, tanh)?;
    time::<f64, _>("sinc f64, candle's tanh", (&[1, 20, 1], data::sinc()), (1000, 150), linear, candles)?;
    time::<f32, _>("10-256-256-1 f32", (&large, friedman()), (512, 30), linear, tanh)?;
    time::<f32, _>("10-256-256-1, candle's tanh", (&large, friedman()), (512, 30), linear, candles)?;
    time::<f32, _>("friedman, nothing recorded", (&small, friedman()), (128, 300), candle_nn::linear, candles)
}
