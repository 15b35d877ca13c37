//! Fits a network of 1-20-1 tanh units to sinc(10x).
//!
//! ```text
//! cargo run --release --example sinc -- --optimizer lm
//! cargo run --release --example sinc -- --optimizer adam --learning-rate 1e-2
//! ```

mod common;

use std::error::Error;

use burn::module::Module;
use burn::tensor::activation::tanh;
use burn::tensor::{Device, Tensor};
use clap::Parser;
use common::{Data, Options, Race, device, initialize, mean_squared_error, report, tensor, train};
use marquardt::nn::MeanSquaredError;
use marquardt_burn::{Linear, LinearConfig};

#[derive(Module, Debug)]
struct Net {
    hidden: Linear,
    output: Linear,
}

impl Net {
    fn new(device: &Device) -> Self {
        let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        Net { hidden: layer(1, 20), output: layer(20, 1) }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.output.forward(tanh(self.hidden.forward(x)))
    }
}

/// Twenty thousand points from -1 to 1.
fn data() -> Data {
    const POINTS: usize = 20_000;
    let x: Vec<f64> = (0..POINTS).map(|i| (2 * i + 1) as f64 / POINTS as f64 - 1.0).collect();
    let y: Vec<f64> = x.iter().map(|x| (10.0 * x).sin() / (10.0 * x)).collect();
    Data { x: tensor::<f64>(x, 1), y: tensor::<f64>(y, 1) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let data = data();
    let net = initialize::<f64, _>(Net::new(&device()), options.seed);
    let race = Race { title: "burn sinc", data: &data, batch: 1000, epochs: 150, goal: 1e-6, forward: Net::forward };
    let (_, last) = train::<f64, _, _>(&options, &race, net, MeanSquaredError, mean_squared_error)?;
    report(&options, &last, "");
    Ok(())
}
