//! Summary of a network: its layers, and their cost.

mod layers;
mod table;
mod units;

pub(crate) use layers::summarize_layers;

use super::Shape;
use crate::linear::LinearForm;
use crate::problem::{NotLeastSquares, Work};
use crate::solver::Curvature;

/// Layers, shapes and parameters of a network, and the cost of a batch: its `Display` is a table like Keras'.
///
/// [`Network::summary`](super::Network::summary) makes it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The layers, and the operations between them, in order; layers within layers follow these.
    pub layers: Vec<LayerSummary>,
    /// Entries in all variables.
    pub parameters: usize,
    /// Number of parameters that optimizers adjust.
    pub trainable_parameters: usize,
    /// Number of parameters that nothing on the network's tape uses.
    pub unused_parameters: usize,
    /// Bytes of each number.
    pub number_size: usize,
    /// Samples in the batch that costs are meant for.
    pub rows: usize,
    /// Residuals of that batch.
    pub residuals: usize,
    /// Computing the losses, or, where there are none, everything.
    pub forward: Cost,
    /// Computing the gradient of all losses' sum after a forward pass; `None` where there are none.
    pub backward: Option<Cost>,
    /// A step of Levenberg–Marquardt in each form of its linear system: one linearisation, one damped solve and one
    /// trial. There are none where that cannot minimise the losses, or nothing is to be adjusted.
    pub steps: Vec<StepCost>,
    /// A step of [`KroneckerLevenbergMarquardt`](crate::optim::KroneckerLevenbergMarquardt) at its default settings, on
    /// average over the steps, and bytes of memory; `None` where there are no factors.
    pub kronecker: Option<(Cost, usize)>,
    /// Curvature that training by [`LevenbergMarquardt`](crate::LevenbergMarquardt) chooses for such a batch by default.
    pub curvature: Curvature,
    /// Reason why Levenberg–Marquardt cannot minimise the losses; `None` if it can.
    pub not_least_squares: Option<NotLeastSquares>,
}

/// A layer, or an operation outside of layers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerSummary {
    /// The layer's place in the network, which its variables' names begin with; operations are numbered, as in `tanh_1`.
    pub name: String,
    /// Kind of layer or operation.
    pub kind: String,
    /// Number of layers that enclose it.
    pub depth: usize,
    /// The shape of its output, for each sample.
    pub output: Shape,
    /// Entries in the variables that it and the layers within it take, and nothing before.
    pub parameters: usize,
    /// True if something before it has used some of the same variables.
    pub shares_parameters: bool,
}

/// Estimated flops, memory traffic, and time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes read and written.
    pub bytes: f64,
    /// The time that both take on a nominal machine: of use only to compare it with others.
    pub time: f64,
}

impl Cost {
    /// The cost of work with numbers of a type.
    pub(crate) fn of<T>(work: Work) -> Self {
        Cost { flops: work.flops(), bytes: work.bytes::<T>(), time: work.time() }
    }
}

/// Cost of a step in a form of the linear system.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct StepCost {
    /// The form.
    pub form: LinearForm,
    /// Cost of a step.
    pub cost: Cost,
    /// Cost of a step of training whose conjugate gradients stand in for the factorisation of this form, in 50 rounds; `None` where they do
    /// not, as in a full solve.
    pub iterative: Option<Cost>,
    /// Bytes of memory that the form needs.
    pub memory: usize,
    /// True if [`LevenbergMarquardt`](crate::LevenbergMarquardt) chooses this form by default.
    pub is_chosen: bool,
}

impl Summary {
    /// Entries in variables that are frozen.
    pub fn frozen_parameters(&self) -> usize {
        self.parameters - self.trainable_parameters
    }

    /// Bytes of all variables.
    pub fn parameter_bytes(&self) -> usize {
        self.parameters * self.number_size
    }

    /// The form of the linear system that is chosen; `None` where there are no steps, or no form fits into the memory.
    pub fn chosen_form(&self) -> Option<LinearForm> {
        self.steps.iter().find(|step| step.is_chosen).map(|step| step.form)
    }
}
