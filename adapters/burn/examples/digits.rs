//! Classifies digits of 8 × 8 pixels, by the cross-entropy of a network of 64-64-10 units.
//!
//! ```text
//! cargo run --release --example digits -- --optimizer lm
//! cargo run --release --example digits -- --optimizer adam --epochs 60
//! ```

mod common;

use std::error::Error;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use clap::Parser;
use common::{Data, Options, Race, cross_entropy, data, device, initialize, train};
use marquardt::nn::SparseCategoricalCrossentropy;
use marquardt_burn::{Linear, LinearConfig, tanh};

#[derive(Module, Debug)]
struct Net {
    hidden: Linear,
    output: Linear,
}

impl Net {
    fn new(device: &Device) -> Self {
        let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        Net { hidden: layer(64, 64), output: layer(64, 10) }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.output.forward(tanh(self.hidden.forward(x)))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let all = Data::new::<f32>(data::digits(options.seed)?);
    let count = data::TRAINING_DIGITS;
    let (training, test) = (all.part(0, count), all.part(count, all.samples() - count));
    let net = initialize::<f32, _>(Net::new(&device()), options.seed);
    let race = Race { title: "burn digits", data: &training, batch: 64, epochs: 8, goal: 1e-4, forward: Net::forward };
    let (net, last) = train::<f32, _, _>(&options, &race, net, SparseCategoricalCrossentropy, cross_entropy)?;
    let right = net.forward(test.x).argmax(1).equal(test.y.int()).float().mean().into_scalar::<f32>();
    options.report("burn", last, &format!(" accuracy={right:.4}"));
    Ok(())
}
