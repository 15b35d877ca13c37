//! The optimizers by name.

use std::fmt;

use clap::ValueEnum;
use marquardt::optim::{Adagrad, Adam, AdamW, Optimizer, RmsProp, Sgd};
use marquardt::{LevenbergMarquardt, Real};

/// An optimizer, as it is called on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub enum Named {
    Lm,
    Adam,
    #[value(name = "adamw")]
    AdamW,
    Sgd,
    Rmsprop,
    Adagrad,
}

impl Named {
    /// The optimizer, at this learning rate or its default.
    pub fn with_learning_rate<T: Real>(self, rate: Option<f64>) -> Box<dyn Optimizer<T>> {
        match self {
            Named::Lm => Box::new(LevenbergMarquardt::new().with_learning_rate(rate.unwrap_or(1.0))),
            Named::Adam => Box::new(Adam::new(rate.unwrap_or(0.01))),
            Named::AdamW => Box::new(AdamW::new(rate.unwrap_or(0.01))),
            Named::Sgd => Box::new(Sgd::new(rate.unwrap_or(0.05)).with_momentum(0.9)),
            Named::Rmsprop => Box::new(RmsProp::new(rate.unwrap_or(0.001))),
            Named::Adagrad => Box::new(Adagrad::new(rate.unwrap_or(0.1))),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value().expect("no optimizer is hidden");
        f.write_str(value.get_name())
    }
}
