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
use common::{Data, Options, Race, data, initialize, mean_squared_error, train};
use marquardt::nn::MeanSquaredError;
use marquardt_candle::{Linear, linear, tanh};

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
        third.forward(&tanh(&second.forward(&tanh(&first.forward(x)?)?)?)?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let data = Data::new::<f32>(data::friedman(options.seed))?;
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu))?;
    initialize(&varmap, options.seed)?;
    let net = |x: &Tensor| net.forward(x);
    let race =
        Race { title: "candle friedman", data: &data, batch: 128, epochs: 350, goal: 1e-5, net: &net, varmap: &varmap };
    let last = train::<f32, _>(&options, &race, MeanSquaredError, mean_squared_error)?;
    options.report("candle", last, "");
    Ok(())
}
