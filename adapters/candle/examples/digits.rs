//! Classifies digits of 8 × 8 pixels, by the cross-entropy of a network of 64-64-10 units.
//!
//! ```text
//! cargo run --release -p marquardt-candle --example digits -- --optimizer lm
//! cargo run --release -p marquardt-candle --example digits -- --optimizer adamw --epochs 60
//! ```

mod common;

use std::error::Error;

use candle_core::{DType, Device, IndexOp, Module, Tensor};
use candle_nn::{VarBuilder, VarMap};
use clap::Parser;
use common::{Data, Options, Race, cross_entropy, initialize, report, train};
use marquardt::nn::SparseCategoricalCrossentropy;
use marquardt_candle::{Linear, linear};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// E. Alpaydin & C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository 1998, doi 10.24432/C50P49,
/// under CC BY 4.0.
const FILE: &str = include_str!("../../../examples/classify/digits.csv");

/// Images that the network is trained with; all others test it.
const TRAINING: usize = 1437;

struct Net {
    hidden: Linear,
    output: Linear,
}

impl Net {
    fn new(vb: VarBuilder) -> candle_core::Result<Self> {
        Ok(Net { hidden: linear(64, 64, vb.pp("hidden"))?, output: linear(64, 10, vb.pp("output"))? })
    }

    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        self.output.forward(&self.hidden.forward(x)?.tanh()?)
    }
}

/// Grey values from 0 to 1, and the digit of each image, in a random order.
fn data(seed: u64) -> Result<Data, Box<dyn Error>> {
    let mut rows: Vec<Vec<f32>> = Vec::new();
    for line in FILE.lines() {
        rows.push(line.split(',').map(str::parse).collect::<Result<_, _>>()?);
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    common::random::shuffle(&mut order, &mut ChaCha8Rng::seed_from_u64(seed));
    let numbers: Vec<f32> = order.iter().flat_map(|&row| rows[row].iter().copied()).collect();
    let table = Tensor::from_vec(numbers, (rows.len(), 65), &Device::Cpu)?;
    Ok(Data { x: (table.i((.., ..64))? / 16.0)?.contiguous()?, y: table.i((.., 64..))?.contiguous()? })
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let all = data(options.seed)?;
    let part = |start: usize, count: usize| -> candle_core::Result<Data> {
        Ok(Data { x: all.x.narrow(0, start, count)?, y: all.y.narrow(0, start, count)? })
    };
    let (training, test) = (part(0, TRAINING)?, part(TRAINING, all.samples()? - TRAINING)?);
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu))?;
    initialize(&varmap, options.seed)?;
    let net = |x: &Tensor| net.forward(x);
    let race =
        Race { title: "candle digits", data: &training, batch: 64, epochs: 8, goal: 1e-4, net: &net, varmap: &varmap };
    let last = train::<f32, _>(&options, &race, SparseCategoricalCrossentropy, cross_entropy)?;
    let found = net(&test.x)?.argmax(1)?.to_dtype(DType::F32)?;
    let right = found.eq(&test.y.flatten_all()?)?.to_dtype(DType::F32)?.mean_all()?.to_scalar::<f32>()?;
    report(&options, &last, &format!(" accuracy={right:.4}"));
    Ok(())
}
