//! The optimizers by name.

use std::fmt;

use clap::ValueEnum;
use marquardt::LevenbergMarquardt;
use marquardt::optim::{Adam, Optimizer};

/// An optimizer, as it is called on the command line.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Named {
    Lm,
    Adam,
}

impl Named {
    /// The one to compare with.
    pub fn other(self) -> Named {
        match self {
            Named::Lm => Named::Adam,
            Named::Adam => Named::Lm,
        }
    }

    /// The optimizer, at this learning rate or the best that we found for these images.
    pub fn with_learning_rate(self, rate: Option<f64>) -> Box<dyn Optimizer<f64>> {
        match self {
            Named::Lm => Box::new(LevenbergMarquardt::new().with_learning_rate(rate.unwrap_or(1.0))),
            Named::Adam => Box::new(Adam::new(rate.unwrap_or(0.01))),
        }
    }

    /// After as many epochs the accuracy has stopped to rise.
    pub fn epochs(self) -> usize {
        match self {
            Named::Lm => 15,
            Named::Adam => 60,
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Named::Lm => "lm",
            Named::Adam => "adam",
        })
    }
}
