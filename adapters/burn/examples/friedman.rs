//! Fits a network of 10-32-32-1 tanh units to Friedman's first function.
//!
//! ```text
//! cargo run --release --example friedman -- --optimizer lm
//! cargo run --release --example friedman -- --optimizer adam --learning-rate 3e-3
//! ```

mod common;

use std::error::Error;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use clap::Parser;
use common::{Data, Options, Race, data, device, initialize, mean_squared_error, train};
use marquardt::nn::MeanSquaredError;
use marquardt_burn::{Linear, LinearConfig, tanh};

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

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let data = Data::new::<f32>(data::friedman(options.seed));
    let net = initialize::<f32, _>(Net::new(&device()), options.seed);
    let race = Race { title: "burn friedman", data: &data, batch: 128, epochs: 350, goal: 1e-5, forward: Net::forward };
    let (_, last) = train::<f32, _, _>(&options, &race, net, MeanSquaredError, mean_squared_error)?;
    options.report("burn", last, "");
    Ok(())
}
