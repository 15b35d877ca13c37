//! A metric of one output.

use crate::nn::{Network, Predictions};
use crate::real::Real;
use crate::train::{Logs, Metric, TrainError};

/// A metric of the output of one of the losses.
#[derive(Debug)]
pub(super) struct Measured<T> {
    pub(super) name: String,
    pub(super) validation_name: String,
    pub(super) metric: Box<dyn Metric<T>>,
    term: usize,
    /// Its state before the minibatch at hand.
    saved: Vec<f64>,
}

impl<T: Real> Measured<T> {
    pub(super) fn new(term: usize, metric: Box<dyn Metric<T>>) -> Self {
        let prefix = if term == 0 { String::new() } else { format!("output_{term}_") };
        let name = format!("{prefix}{}", metric.name());
        let validation_name = format!("val_{name}");
        Measured { name, validation_name, metric, term, saved: Vec::new() }
    }

    /// Checks that the metrics apply to the network, and to several ranks together.
    pub(super) fn check(&mut self, network: &Network<T>) -> Result<(), TrainError> {
        let can_merge = network.several_ranks().is_none() || self.can_merge();
        let refuse = |reason| Err(TrainError::Metric { metric: self.name.clone(), reason });
        let count = network.term_targets().len();
        match network.term_targets().nth(self.term) {
            Some(_) if !can_merge => refuse("it does not merge what several ranks have measured".to_owned()),
            Some((kind, width)) => self.metric.check(kind, width).or_else(refuse),
            None => refuse(format!("it is of loss {}, but the network has {count}", self.term)),
        }
    }

    /// Returns true if the metric can take in the state of another.
    fn can_merge(&mut self) -> bool {
        self.save();
        let can_merge = self.metric.merge(&self.saved);
        self.go_back();
        can_merge
    }

    pub(super) fn update(&mut self, predictions: &Predictions<'_, T>) {
        if predictions.term == self.term {
            self.metric.update(predictions);
        }
    }

    /// Keeps the state, to go back if the step fails.
    pub(super) fn save(&mut self) {
        self.saved.clear();
        self.metric.state(&mut self.saved);
    }

    pub(super) fn go_back(&mut self) {
        self.metric.restore(&self.saved);
    }

    pub(super) fn log(&self, is_validation: bool, logs: &mut Logs) {
        logs.set(if is_validation { &self.validation_name } else { &self.name }, self.metric.result());
    }
}
