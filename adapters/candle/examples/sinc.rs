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
use common::{Data, Options, Race, initialize, mean_squared_error, report, train};
use marquardt::nn::MeanSquaredError;
use marquardt_candle::{Linear, linear};

struct Net {
    hidden: Linear,
    output: Linear,
}

impl Net {
    fn new(vb: VarBuilder) -> candle_core::Result<Self> {
        Ok(Net { hidden: linear(1, 20, vb.pp("hidden"))?, output: linear(20, 1, vb.pp("output"))? })
    }

    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        self.output.forward(&self.hidden.forward(x)?.tanh()?)
    }
}

/// Twenty thousand points from -1 to 1.
fn data() -> candle_core::Result<Data> {
    const POINTS: usize = 20_000;
    let x: Vec<f64> = (0..POINTS).map(|i| (2 * i + 1) as f64 / POINTS as f64 - 1.0).collect();
    let y: Vec<f64> = x.iter().map(|x| (10.0 * x).sin() / (10.0 * x)).collect();
    let device = Device::Cpu;
    Ok(Data { x: Tensor::from_vec(x, (POINTS, 1), &device)?, y: Tensor::from_vec(y, (POINTS, 1), &device)? })
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let data = data()?;
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu))?;
    initialize(&varmap, options.seed)?;
    let net = |x: &Tensor| net.forward(x);
    let race =
        Race { title: "candle sinc", data: &data, batch: 1000, epochs: 150, goal: 1e-6, net: &net, varmap: &varmap };
    let last = train::<f64, _>(&options, &race, MeanSquaredError, mean_squared_error)?;
    report(&options, &last, "");
    Ok(())
}
