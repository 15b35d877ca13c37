//! Learns to read Roman numerals: letters from a table, a convolution along them, and a sum.
//!
//! ```text
//! cargo run --release -p marquardt-candle --example sequence -- --optimizer lm
//! cargo run --release -p marquardt-candle --example sequence -- --optimizer adamw --epochs 100
//! ```

mod common;

use std::error::Error;

use candle_core::{DType, Device, Module, Tensor};
use candle_nn::{Conv1dConfig, VarBuilder, VarMap};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use clap::Parser;
use common::{Data, Options, Race, initialize, mean_squared_error, shuffle, train};
use marquardt::nn::MeanSquaredError;
use marquardt_candle::{Conv1d, Embedding, Linear, conv1d, embedding, linear};

/// Letters of the longest numeral, 3888.
const LENGTH: usize = 15;

/// Numerals that the network is trained with; all others test it.
const TRAINING: usize = 3200;

struct Net {
    letters: Embedding,
    pairs: Conv1d,
    output: Linear,
}

impl Net {
    fn new(vb: VarBuilder) -> candle_core::Result<Self> {
        let config = Conv1dConfig { padding: 1, ..Conv1dConfig::default() };
        Ok(Net {
            letters: embedding(8, 6, vb.pp("letters"))?,
            pairs: conv1d(6, 16, 3, config, vb.pp("pairs"))?,
            output: linear(16, 1, vb.pp("output"))?,
        })
    }

    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let letters = self.letters.forward(x)?.transpose(1, 2)?;
        self.output.forward(&self.pairs.forward(&letters)?.tanh()?.sum(2)?)
    }
}

/// The letters of a number: 1 to 7 for I, V, X, L, C, D, M.
fn numeral(mut number: usize) -> Vec<u32> {
    const PARTS: [(usize, &[u32]); 13] = [
        (1000, &[7]),
        (900, &[5, 7]),
        (500, &[6]),
        (400, &[5, 6]),
        (100, &[5]),
        (90, &[3, 5]),
        (50, &[4]),
        (40, &[3, 4]),
        (10, &[3]),
        (9, &[1, 3]),
        (5, &[2]),
        (4, &[1, 2]),
        (1, &[1]),
    ];
    let mut letters = Vec::new();
    for (value, part) in PARTS {
        while number >= value {
            number -= value;
            letters.extend(part);
        }
    }
    letters
}

/// Numerals with nothing behind them, and thousandths of their numbers, in a random order.
fn data(seed: u64) -> candle_core::Result<Data> {
    let mut numbers: Vec<usize> = (1..4000).collect();
    shuffle(&mut numbers, &mut ChaCha8Rng::seed_from_u64(seed));
    let letters = numbers.iter().flat_map(|&number| {
        let mut letters = numeral(number);
        letters.resize(LENGTH, 0);
        letters
    });
    let x = Tensor::from_vec(letters.collect::<Vec<u32>>(), (numbers.len(), LENGTH), &Device::Cpu)?;
    let y: Vec<f32> = numbers.iter().map(|&number| number as f32 / 1000.0).collect();
    Ok(Data { x, y: Tensor::from_vec(y, (numbers.len(), 1), &Device::Cpu)? })
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let all = data(options.seed)?;
    let (training, test) = (all.part(0, TRAINING)?, all.part(TRAINING, all.samples()? - TRAINING)?);
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu))?;
    initialize(&varmap, options.seed)?;
    let net = |x: &Tensor| net.forward(x);
    let title = "candle sequence";
    let race = Race { title, data: &training, batch: 100, epochs: 60, goal: 1e-7, net: &net, varmap: &varmap };
    let last = train::<f32, _>(&options, &race, MeanSquaredError, mean_squared_error)?;
    // A numeral is read where its number is the nearest.
    let errors = ((net(&test.x)? - &test.y)? * 1000.0)?.abs()?;
    let right = errors.lt(0.5)?.to_dtype(DType::F32)?.mean_all()?.to_scalar::<f32>()?;
    options.report("candle", last, &format!(" accuracy={right:.4}"));
    Ok(())
}
