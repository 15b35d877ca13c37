//! The optimizers by name.

use std::fmt;

use clap::ValueEnum;
use marquardt::LevenbergMarquardt;
use marquardt::optim::{Adam, KroneckerLevenbergMarquardt, Optimizer};
use marquardt::solver::Curvature;

/// An optimizer, as it is called on the command line.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Named {
    /// Levenberg–Marquardt with exact steps
    Lm,
    /// Kronecker-factored Levenberg–Marquardt
    Kfac,
    Adam,
}

/// What is trained with.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Choice {
    /// Levenberg–Marquardt with exact steps, beside Adam
    Lm,
    /// Kronecker-factored Levenberg–Marquardt, beside Adam
    Kfac,
    /// Adam, beside Levenberg–Marquardt
    Adam,
    /// All of them, one after the other
    All,
}

impl Choice {
    /// The optimizers, the one that was asked for last.
    pub fn optimizers(self) -> &'static [Named] {
        match self {
            Choice::Lm => &[Named::Adam, Named::Lm],
            Choice::Kfac => &[Named::Adam, Named::Kfac],
            Choice::Adam => &[Named::Lm, Named::Adam],
            Choice::All => &[Named::Adam, Named::Lm, Named::Kfac],
        }
    }

    /// The one that was asked for.
    pub fn chosen(self) -> Named {
        match self {
            Choice::Lm => Named::Lm,
            Choice::Adam => Named::Adam,
            Choice::Kfac | Choice::All => Named::Kfac,
        }
    }
}

impl Named {
    /// The optimizer, at this learning rate or the best that we found for these images.
    pub fn with_learning_rate(self, rate: Option<f64>) -> Box<dyn Optimizer<f64>> {
        match self {
            // By default it would turn to Kronecker factors here.
            Named::Lm => {
                let exact = LevenbergMarquardt::new().with_curvature(Curvature::Exact);
                Box::new(exact.with_learning_rate(rate.unwrap_or(1.0)))
            }
            Named::Kfac => Box::new(KroneckerLevenbergMarquardt::new().with_learning_rate(rate.unwrap_or(1.0))),
            Named::Adam => Box::new(Adam::new(rate.unwrap_or(0.01))),
        }
    }

    /// After as many epochs the accuracy has stopped to rise.
    pub fn epochs(self) -> usize {
        match self {
            Named::Lm => 15,
            Named::Kfac => 20,
            Named::Adam => 60,
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Named::Lm => "lm",
            Named::Kfac => "kfac",
            Named::Adam => "adam",
        })
    }
}
