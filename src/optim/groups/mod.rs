//! Several optimizers, each for some of the variables.

mod assignment;
mod optimizer;
mod step;

use assignment::Assignment;

use super::{Optimizer, OptimizerState};
use crate::real::Real;
use crate::variables::{Gradients, Layout, Variables};

const NAME: &str = "groups";

/// Several optimizers, each for the variables whose names match its patterns: Levenberg–Marquardt for the head of a
/// network, say, and Adam for the rest.
///
/// In a pattern `*` stands for any characters. Every trainable variable must belong to one group, and every pattern must
/// match some variable. A group sees the other groups' variables frozen.
///
/// # A step
///
/// First the optimizers that are not of first order make their steps, in the order in which they were added. Then one
/// gradient is evaluated, at the point that they have reached, and the first-order optimizers apply their parts of it.
/// Clipping by the global norm is by the norm of a group. A loss that is NaN or infinite is always an error here. When one of them fails, variables and all optimizers are what
/// they were; for this every step copies the variables and the states of all groups but the last.
///
/// Hyperparameters: reading one asks the first group that has it, and setting one sets it in every group that has it.
/// [`group_mut`](Self::group_mut) gives a single one.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::optim::{Adam, Groups, Optimizer, Sgd};
/// use marquardt::variables::Gradients;
/// use ndarray::array;
///
/// let mut variables = Variables::new();
/// let weight = variables.add("head.weight", array![1.0, 1.0].view())?;
/// let other = variables.add("body.weight", array![1.0].view())?;
/// let mut gradients = Gradients::new(&variables);
/// gradients.flat_mut().fill(4.0);
///
/// let mut optimizer =
///     Groups::new().with_group(["head.*"], Sgd::new(0.25)).with_rest(Adam::new(0.125));
/// optimizer.apply_gradients(&gradients, &mut variables)?;
/// assert_eq!(variables.values()[..2], [0.0, 0.0]);
/// assert!((variables.values()[2] - 0.875_f64).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Groups<T: Real> {
    groups: Vec<OptimizerGroup<T>>,
    iterations: u64,
    memory: Option<GroupsMemory<T>>,
}

struct OptimizerGroup<T: Real> {
    /// Patterns of names; none for the group that takes the rest.
    patterns: Option<Vec<String>>,
    optimizer: Box<dyn Optimizer<T>>,
    /// Its state before the step at work, if it has stepped.
    before: OptimizerState<T>,
    has_stepped: bool,
    /// True for the last group to step, after which nothing can fail.
    is_last: bool,
}

/// State that is kept for the variables it was built for.
struct GroupsMemory<T> {
    layout: Layout,
    assignment: Assignment,
    gradients: Gradients<T>,
    /// The variables before the step at work.
    values: Vec<T>,
    /// For each variable, true if it was trainable then.
    trainable: Vec<bool>,
}

impl<T: Real> Groups<T> {
    /// No groups yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an optimizer for the variables whose names match one of these patterns.
    pub fn with_group<P: Into<String>>(
        self,
        patterns: impl IntoIterator<Item = P>,
        optimizer: impl Optimizer<T> + 'static,
    ) -> Self {
        self.with(Some(patterns.into_iter().map(Into::into).collect()), Box::new(optimizer))
    }

    /// Adds an optimizer for the variables whose names match no other group's patterns.
    pub fn with_rest(self, optimizer: impl Optimizer<T> + 'static) -> Self {
        self.with(None, Box::new(optimizer))
    }

    fn with(mut self, patterns: Option<Vec<String>>, optimizer: Box<dyn Optimizer<T>>) -> Self {
        let before = OptimizerState::default();
        self.groups.push(OptimizerGroup { patterns, optimizer, before, has_stepped: false, is_last: false });
        self.iterations = 0;
        self.memory = None;
        self
    }

    /// The optimizer of a group, in the order in which they were added.
    pub fn group(&self, index: usize) -> Option<&dyn Optimizer<T>> {
        self.groups.get(index).map(|group| &*group.optimizer)
    }

    /// The optimizer of a group, to change.
    pub fn group_mut(&mut self, index: usize) -> Option<&mut (dyn Optimizer<T> + 'static)> {
        self.groups.get_mut(index).map(|group| &mut *group.optimizer)
    }
}

impl<T: Real> GroupsMemory<T> {
    /// Records the layout of the variables.
    fn record(&mut self, variables: &Variables<T>) {
        self.values.clear();
        self.values.extend_from_slice(variables.values());
        self.trainable.clear();
        self.trainable.extend(variables.iter().map(|variable| variables.is_trainable(variable)));
    }

    /// Leaves only one group's variables trainable.
    fn restrict(&self, group: usize, variables: &mut Variables<T>) {
        for (variable, &trainable) in self.layout.variables().zip(&self.trainable) {
            variables.set_trainable(variable, trainable && self.assignment.is_in(variable, group));
        }
    }

    /// Makes those variables trainable that were.
    fn release(&self, variables: &mut Variables<T>) {
        for (variable, &trainable) in self.layout.variables().zip(&self.trainable) {
            variables.set_trainable(variable, trainable);
        }
    }
}
