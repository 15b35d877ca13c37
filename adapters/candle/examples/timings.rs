//! Milliseconds of a step, here and of the same network of marquardt's, by turns on the same batches.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release -p marquardt-candle --example timings
//! ```
//!
//! The least of all steps is what counts on a machine that does other things as well.

use std::error::Error;
use std::time::Instant;

use candle_core::{Device, Module, Result, Tensor};
use candle_nn::{VarBuilder, VarMap};
use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::number::Number;
use marquardt::optim::Optimizer;
use marquardt::{LevenbergMarquardt, Real, Variables};
use marquardt_candle::{Element, LeastSquaresTrainer};
use ndarray::Array2;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Milliseconds of the quickest step and of the one in the middle.
fn summary(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (1e3 * times[0], 1e3 * times[times.len() / 2])
}

/// Steps on layers of these sizes with tanh between them, and samples of a smooth function.
fn time<T: Element, L: Module>(
    title: &str,
    sizes: &[usize],
    (batch, steps): (usize, usize),
    layer: fn(usize, usize, VarBuilder) -> Result<L>,
) -> std::result::Result<(), Box<dyn Error>> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, T::DTYPE, &Device::Cpu);
    let layers: Result<Vec<L>> =
        sizes.windows(2).enumerate().map(|(i, size)| layer(size[0], size[1], vb.pp((2 * i).to_string()))).collect();
    let layers = layers?;
    let forward = |x: &Tensor| {
        let mut y = layers[0].forward(x)?;
        for layer in &layers[1..] {
            y = layer.forward(&y.tanh()?)?;
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
    let mut optimizer = LevenbergMarquardt::<T>::new();
    let mut trainer = LeastSquaresTrainer::<T>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError)?;
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (mut here, mut there) = (Vec::new(), Vec::new());
    let (mut last, mut is_recorded) = ((T::ZERO, T::ZERO), false);
    for _ in 0..steps {
        let x = Array2::from_shape_simple_fn((batch, sizes[0]), || {
            <T as Number>::from_f64((random.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
        });
        let y = Array2::from_shape_fn((batch, 1), |(sample, _)| {
            let row = x.row(sample);
            <T as Number>::from_f64(
                row.iter().enumerate().map(|(i, &x)| (Real::to_f64(x) * (1.0 + i as f64)).sin()).sum::<f64>() / 2.0,
            )
        });
        let tensors = (
            Tensor::from_vec(x.iter().copied().collect(), (batch, sizes[0]), &Device::Cpu)?,
            Tensor::from_vec(y.iter().copied().collect::<Vec<T>>(), (batch, 1), &Device::Cpu)?,
        );
        let begun = Instant::now();
        let bound = network.batch(&[x.view()], &[y.view()])?;
        let own = optimizer.step(bound, &mut variables)?;
        there.push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let report = trainer.step(&tensors.1, || forward(&tensors.0))?;
        here.push(begun.elapsed().as_secs_f64());
        (last, is_recorded) = ((report.step.loss, own.loss), report.is_recorded);
    }
    let ((here, here_middle), (there, there_middle)) = (summary(here), summary(there));
    println!(
        "{title:24} recorded={is_recorded:5} here {here:8.3} ms (middle {here_middle:8.3})  own {there:8.3} ms (middle \
         {there_middle:8.3})  ratio {:6.2}  last losses {:.3e} {:.3e}",
        here / there,
        Real::to_f64(last.0),
        Real::to_f64(last.1),
    );
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let recorded = marquardt_candle::linear;
    time::<f32, _>("friedman 10-32-32-1 f32", &[10, 32, 32, 1], (128, 400), recorded)?;
    time::<f64, _>("sinc 1-20-1 f64", &[1, 20, 1], (1000, 150), recorded)?;
    time::<f32, _>("10-256-256-1 f32", &[10, 256, 256, 1], (512, 30), recorded)?;
    time::<f32, _>("friedman of candle_nn's", &[10, 32, 32, 1], (128, 200), candle_nn::linear)
}
