//! Digits of 8 × 8 pixels.

use std::error::Error;

use candle_core::{DType, Device, IndexOp, Tensor};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::common::{Data, random};

/// E. Alpaydin & C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository 1998, doi 10.24432/C50P49,
/// under CC BY 4.0.
const FILE: &str = include_str!("../../../../examples/classify/digits.csv");

/// Images that a network is trained with; all others test it.
const TRAINING: usize = 1437;

/// Grey values from 0 to 1, and the digit of each image, in a random order: those that train and those that test.
pub fn digits(seed: u64) -> Result<(Data, Data), Box<dyn Error>> {
    let mut rows: Vec<Vec<f32>> = Vec::new();
    for line in FILE.lines() {
        rows.push(line.split(',').map(str::parse).collect::<Result<_, _>>()?);
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    random::shuffle(&mut order, &mut ChaCha8Rng::seed_from_u64(seed));
    let numbers: Vec<f32> = order.iter().flat_map(|&row| rows[row].iter().copied()).collect();
    let table = Tensor::from_vec(numbers, (rows.len(), 65), &Device::Cpu)?;
    let all = Data { x: (table.i((.., ..64))? / 16.0)?.contiguous()?, y: table.i((.., 64..))?.contiguous()? };
    Ok((all.part(0, TRAINING)?, all.part(TRAINING, rows.len() - TRAINING)?))
}

/// Share of the images whose digit has the largest logit.
pub fn accuracy(logits: &Tensor, digits: &Tensor) -> candle_core::Result<f32> {
    let found = logits.argmax(1)?.to_dtype(DType::F32)?;
    found.eq(&digits.flatten_all()?)?.to_dtype(DType::F32)?.mean_all()?.to_scalar()
}
