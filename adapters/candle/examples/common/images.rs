//! Digits of 8 × 8 pixels.

use std::error::Error;

use candle_core::{DType, Tensor};

use crate::common::{Data, data};

/// Grey values, and the digit of each image: those that train and those that test.
pub fn digits(seed: u64) -> Result<(Data, Data), Box<dyn Error>> {
    let all = Data::new::<f32>(data::digits(seed)?)?;
    let training = data::TRAINING_DIGITS;
    Ok((all.part(0, training)?, all.part(training, all.samples()? - training)?))
}

/// Share of the images whose digit has the largest logit.
pub fn accuracy(logits: &Tensor, digits: &Tensor) -> candle_core::Result<f32> {
    let found = logits.argmax(1)?.to_dtype(DType::F32)?;
    found.eq(&digits.flatten_all()?)?.to_dtype(DType::F32)?.mean_all()?.to_scalar()
}
