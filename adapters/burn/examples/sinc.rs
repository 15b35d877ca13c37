//! Fits a network of 1-20-1 tanh units to sinc(10x).
//!
//! ```text
//! cargo run --release --example sinc -- --optimizer lm
//! cargo run --release --example sinc -- --optimizer adam --learning-rate 1e-2
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

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let data = Data::new::<f64>(data::sinc());
    let net = initialize::<f64, _>(Net::new(&device()), options.seed);
    let race = Race { title: "burn sinc", data: &data, batch: 1000, epochs: 150, goal: 1e-6, forward: Net::forward };
    let (_, last) = train::<f64, _, _>(&options, &race, net, MeanSquaredError, mean_squared_error)?;
    options.report("burn", last, "");
    Ok(())
}
