//! Classifies digits of 8 × 8 pixels by two convolutions with pooling between them.
//!
//! ```text
//! cargo run --release -p marquardt-candle --example convolution -- --optimizer lm
//! cargo run --release -p marquardt-candle --example convolution -- --optimizer adamw --epochs 60
//! ```

mod common;
#[path = "common/images.rs"]
mod images;

use std::error::Error;

use candle_core::{DType, Device, Module, Tensor};
use candle_nn::{Conv2dConfig, VarBuilder, VarMap};
use clap::Parser;
use common::{Options, Race, cross_entropy, initialize, train};
use images::{accuracy, digits};
use marquardt::nn::SparseCategoricalCrossentropy;
use marquardt_candle::{Conv2d, Linear, conv2d, linear};

struct Net {
    first: Conv2d,
    second: Conv2d,
    output: Linear,
}

impl Net {
    fn new(vb: VarBuilder) -> candle_core::Result<Self> {
        let same = Conv2dConfig { padding: 1, ..Conv2dConfig::default() };
        Ok(Net {
            first: conv2d(1, 8, 3, same, vb.pp("first"))?,
            second: conv2d(8, 12, 3, Conv2dConfig::default(), vb.pp("second"))?,
            output: linear(12 * 2 * 2, 10, vb.pp("output"))?,
        })
    }

    /// Computes logits from rows of pixels.
    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let images = x.reshape(((), 1, 8, 8))?;
        let pooled = self.first.forward(&images)?.tanh()?.avg_pool2d(2)?;
        self.output.forward(&self.second.forward(&pooled)?.tanh()?.flatten_from(1)?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let (training, test) = digits(options.seed)?;
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu))?;
    initialize(&varmap, options.seed)?;
    let net = |x: &Tensor| net.forward(x);
    let title = "candle convolution";
    let race = Race { title, data: &training, batch: 64, epochs: 8, goal: 1e-4, net: &net, varmap: &varmap };
    let last = train::<f32, _>(&options, &race, SparseCategoricalCrossentropy, cross_entropy)?;
    options.report("candle", last, &format!(" accuracy={:.4}", accuracy(&net(&test.x)?, &test.y)?));
    Ok(())
}
