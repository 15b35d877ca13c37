//! Classifies digits of 8 × 8 pixels, by the cross-entropy of a network of 64-64-10 units.
//!
//! ```text
//! cargo run --release -p marquardt-candle --example digits -- --optimizer lm
//! cargo run --release -p marquardt-candle --example digits -- --optimizer adamw --epochs 60
//! ```

mod common;
#[path = "common/images.rs"]
mod images;

use std::error::Error;

use candle_core::{DType, Device, Module, Tensor};
use candle_nn::{VarBuilder, VarMap};
use clap::Parser;
use common::{Options, Race, cross_entropy, initialize, train};
use images::{accuracy, digits};
use marquardt::nn::SparseCategoricalCrossentropy;
use marquardt_candle::{Linear, linear, tanh};

struct Net {
    hidden: Linear,
    output: Linear,
}

impl Net {
    fn new(vb: VarBuilder) -> candle_core::Result<Self> {
        Ok(Net { hidden: linear(64, 64, vb.pp("hidden"))?, output: linear(64, 10, vb.pp("output"))? })
    }

    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        self.output.forward(&tanh(&self.hidden.forward(x)?)?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let (training, test) = digits(options.seed)?;
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu))?;
    initialize(&varmap, options.seed)?;
    let net = |x: &Tensor| net.forward(x);
    let race =
        Race { title: "candle digits", data: &training, batch: 64, epochs: 8, goal: 1e-4, net: &net, varmap: &varmap };
    let last = train::<f32, _>(&options, &race, SparseCategoricalCrossentropy, cross_entropy)?;
    options.report("candle", last, &format!(" accuracy={:.4}", accuracy(&net(&test.x)?, &test.y)?));
    Ok(())
}
