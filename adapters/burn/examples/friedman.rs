//! Fits a network of 10-32-32-1 tanh units to Friedman's first function.
//!
//! ```text
//! cargo run --release --example friedman -- --optimizer lm
//! cargo run --release --example friedman -- --optimizer adam --learning-rate 3e-3
//! ```

mod common;

use std::error::Error;

use burn::module::Module;
use burn::tensor::activation::tanh;
use burn::tensor::{Device, Tensor};
use clap::Parser;
use common::{Data, Options, Race, device, initialize, mean_squared_error, report, tensor, train, unit};
use marquardt::nn::MeanSquaredError;
use marquardt_burn::{Linear, LinearConfig};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

#[derive(Module, Debug)]
struct Net {
    first: Linear,
    second: Linear,
    third: Linear,
}

impl Net {
    fn new(device: &Device) -> Self {
        let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        Net { first: layer(10, 32), second: layer(32, 32), third: layer(32, 1) }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.third.forward(tanh(self.second.forward(tanh(self.first.forward(x)))))
    }
}

/// Points in `[-1, 1]¹⁰`, and the function there with mean 0 and variance 1.
///
/// J. H. Friedman, Multivariate Adaptive Regression Splines, Annals of Statistics 19 (1991), 1–67.
fn data(seed: u64) -> Data {
    const POINTS: usize = 8000;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let x: Vec<f64> = (0..10 * POINTS).map(|_| unit(&mut random)).collect();
    let friedman = |x: &[f64]| {
        10.0 * (std::f64::consts::PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4]
    };
    let y: Vec<f64> = x.chunks_exact(10).map(friedman).collect();
    let mean = y.iter().sum::<f64>() / POINTS as f64;
    let variance = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / POINTS as f64;
    let x = x.into_iter().map(|x| 2.0 * x - 1.0).collect();
    let y = y.into_iter().map(|y| (y - mean) / variance.sqrt()).collect();
    Data { x: tensor::<f32>(x, 10), y: tensor::<f32>(y, 1) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let data = data(options.seed);
    let net = initialize::<f32, _>(Net::new(&device()), options.seed);
    let race = Race { title: "burn friedman", data: &data, batch: 128, epochs: 350, goal: 1e-5, forward: Net::forward };
    let (_, last) = train::<f32, _, _>(&options, &race, net, MeanSquaredError, mean_squared_error)?;
    report(&options, &last, "");
    Ok(())
}
