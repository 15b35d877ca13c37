//! Classifies digits of 8 × 8 pixels, by the cross-entropy of a network of 64-64-10 units.
//!
//! ```text
//! cargo run --release --example digits -- --optimizer lm
//! cargo run --release --example digits -- --optimizer adam --epochs 60
//! ```

mod common;

use std::error::Error;

use burn::module::Module;
use burn::tensor::activation::tanh;
use burn::tensor::{Device, Tensor};
use clap::Parser;
use common::{Data, Options, Race, cross_entropy, device, initialize, report, tensor, train};
use marquardt::nn::SparseCategoricalCrossentropy;
use marquardt_burn::{Linear, LinearConfig};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// E. Alpaydin & C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository 1998, doi 10.24432/C50P49,
/// under CC BY 4.0.
const FILE: &str = include_str!("../../../examples/classify/digits.csv");

/// Images that the network is trained with; all others test it.
const TRAINING: usize = 1437;

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

/// Grey values from 0 to 1, and the digit of each image, in a random order.
fn data(seed: u64) -> Result<Data, Box<dyn Error>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for line in FILE.lines() {
        rows.push(line.split(',').map(str::parse).collect::<Result<_, _>>()?);
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    common::random::shuffle(&mut order, &mut ChaCha8Rng::seed_from_u64(seed));
    let table = tensor::<f32>(order.iter().flat_map(|&row| rows[row].iter().copied()).collect(), 65);
    Ok(Data { x: table.clone().narrow(1, 0, 64) / 16.0, y: table.narrow(1, 64, 1) })
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let all = data(options.seed)?;
    let (training, test) = (all.range(0, TRAINING), all.range(TRAINING, all.x.dims()[0] - TRAINING));
    let net = initialize::<f32, _>(Net::new(&device()), options.seed);
    let race = Race { title: "burn digits", data: &training, batch: 64, epochs: 8, goal: 1e-4, forward: Net::forward };
    let (net, last) = train::<f32, _, _>(&options, &race, net, SparseCategoricalCrossentropy, cross_entropy)?;
    let right = net.forward(test.x).argmax(1).equal(test.y.int()).float().mean().into_scalar::<f32>();
    report(&options, &last, &format!(" accuracy={right:.4}"));
    Ok(())
}
