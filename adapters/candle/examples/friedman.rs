//! Fits a network of 10-32-32-1 tanh units to Friedman's first function.
//!
//! ```text
//! cargo run --release -p marquardt-candle --example friedman -- --optimizer lm
//! cargo run --release -p marquardt-candle --example friedman -- --optimizer adamw --learning-rate 3e-3
//! ```

mod common;

use std::error::Error;

use candle_core::{DType, Device, Module, Tensor};
use candle_nn::{VarBuilder, VarMap};
use clap::Parser;
use common::{Data, Options, Race, initialize, mean_squared_error, report, train, unit};
use marquardt::nn::MeanSquaredError;
use marquardt_candle::{Linear, linear};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

struct Net {
    layers: [Linear; 3],
}

impl Net {
    fn new(vb: VarBuilder) -> candle_core::Result<Self> {
        let layer = |name: &str, inputs, outputs| linear(inputs, outputs, vb.pp(name));
        Ok(Net { layers: [layer("first", 10, 32)?, layer("second", 32, 32)?, layer("third", 32, 1)?] })
    }

    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let [first, second, third] = &self.layers;
        third.forward(&second.forward(&first.forward(x)?.tanh()?)?.tanh()?)
    }
}

/// Points in `[-1, 1]¹⁰`, and the function there with mean 0 and variance 1.
///
/// J. H. Friedman, Multivariate Adaptive Regression Splines, Annals of Statistics 19 (1991), 1–67.
fn data(seed: u64) -> candle_core::Result<Data> {
    const POINTS: usize = 8000;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let x: Vec<f64> = (0..10 * POINTS).map(|_| unit(&mut random)).collect();
    let friedman = |x: &[f64]| {
        10.0 * (std::f64::consts::PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4]
    };
    let y: Vec<f64> = x.chunks_exact(10).map(friedman).collect();
    let mean = y.iter().sum::<f64>() / POINTS as f64;
    let variance = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / POINTS as f64;
    let x = x.into_iter().map(|x| (2.0 * x - 1.0) as f32).collect();
    let y = y.into_iter().map(|y| ((y - mean) / variance.sqrt()) as f32).collect();
    let device = Device::Cpu;
    Ok(Data { x: Tensor::from_vec(x, (POINTS, 10), &device)?, y: Tensor::from_vec(y, (POINTS, 1), &device)? })
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let data = data(options.seed)?;
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu))?;
    initialize(&varmap, options.seed)?;
    let net = |x: &Tensor| net.forward(x);
    let race =
        Race { title: "candle friedman", data: &data, batch: 128, epochs: 350, goal: 1e-5, net: &net, varmap: &varmap };
    let last = train::<f32, _>(&options, &race, MeanSquaredError, mean_squared_error)?;
    report(&options, &last, "");
    Ok(())
}
