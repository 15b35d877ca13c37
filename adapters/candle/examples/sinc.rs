//! Fits a network of 1-20-1 tanh units to sinc(10x).
//!
//! ```text
//! cargo run --release -p marquardt-candle --example sinc -- --optimizer lm
//! cargo run --release -p marquardt-candle --example sinc -- --optimizer adamw --learning-rate 1e-2
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
    hidden: Linear,
    output: Linear,
}

impl Net {
    fn new(vb: VarBuilder) -> candle_core::Result<Self> {
        Ok(Net { hidden: linear(1, 20, vb.pp("hidden"))?, output: linear(20, 1, vb.pp("output"))? })
    }

    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        self.output.forward(&tanh(&self.hidden.forward(x)?)?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let data = Data::new::<f64>(data::sinc())?;
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu))?;
    initialize(&varmap, options.seed)?;
    let net = |x: &Tensor| net.forward(x);
    let race =
        Race { title: "candle sinc", data: &data, batch: 1000, epochs: 150, goal: 1e-6, net: &net, varmap: &varmap };
    let last = train::<f64, _>(&options, &race, MeanSquaredError, mean_squared_error)?;
    options.report("candle", last, "");
    Ok(())
}
