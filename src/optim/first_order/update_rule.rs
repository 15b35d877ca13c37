//! Update rules: the part that differs between first-order optimizers.

use super::Slots;
use crate::optim::{Convention, Hyperparameter, HyperparameterSpec};
use crate::real::Real;

/// The update of one variable from its gradient: all that an own first-order optimizer has to say.
///
/// [`FirstOrder`](super::FirstOrder) does the rest: hyperparameters by name, schedules, clipping, weight decay,
/// accumulation, averages, sparse rows, saving, restoring.
///
/// ```
/// use marquardt::{Real, Variables};
/// use marquardt::optim::{FirstOrder, Optimizer, Slots, StepContext, UpdateRule};
/// use marquardt::variables::Gradients;
/// use ndarray::array;
///
/// /// Goes against the sign of the gradient.
/// struct SignDescent;
///
/// impl<T: Real> UpdateRule<T> for SignDescent {
///     type Step = T;
///     const NAME: &'static str = "sign_descent";
///     fn prepare(&self, step: &StepContext<'_>) -> T { T::from_f64(step.learning_rate) }
///     fn update(&self, &rate: &T, w: &mut [T], gradient: &[T], _: Slots<'_, T>) {
///         for (w, &g) in w.iter_mut().zip(gradient) {
///             if g > T::ZERO { *w -= rate } else if g < T::ZERO { *w += rate }
///         }
///     }
/// }
///
/// let mut optimizer: Box<dyn Optimizer<f64>> =
///     Box::new(FirstOrder::from_rule(SignDescent, 0.5).with_weight_decay(0.1));
/// let mut variables = Variables::new();
/// let w = variables.add("w", array![1.0, 2.0, 0.0].view())?;
/// let mut gradients = Gradients::new(&variables);
/// gradients.dense_mut(w).copy_from_slice(&[-3.0, 0.0, 7.0]);
/// optimizer.apply_gradients(&gradients, &mut variables)?;
/// assert_eq!(variables.values(), [1.0 - 0.05 + 0.5, 2.0 - 0.1, -0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait UpdateRule<T: Real>: Send {
    /// The numbers of one step, worked out once for all variables.
    type Step;

    /// The optimizer's name, in snake case.
    const NAME: &'static str;

    /// Hyperparameters beyond those that every first-order optimizer has.
    const HYPERPARAMETERS: &'static [HyperparameterSpec] = &[];

    /// Slots: numbers kept for every entry of the variables from step to step. It may depend on the hyperparameters, which come
    /// in the order of [`HYPERPARAMETERS`](Self::HYPERPARAMETERS).
    fn slots(&self, hyperparameters: &[Hyperparameter]) -> Vec<SlotSpec> {
        let _ = hyperparameters;
        Vec::new()
    }

    /// Settings that are no hyperparameters. A saved state is only restored where they are the same.
    fn switches(&self) -> Vec<(&'static str, bool)> {
        Vec::new()
    }

    /// Works out the numbers of a step.
    fn prepare(&self, step: &StepContext<'_>) -> Self::Step;

    /// Updates one variable `w` and its slots.
    fn update(&self, step: &Self::Step, w: &mut [T], gradient: &[T], slots: Slots<'_, T>);

    /// Returns true if rows without a gradient stay as they are, with their slots. Of a sparse gradient only the given rows are
    /// then [updated](Self::update_rows). Otherwise their gradient is zero, and the whole variable is updated.
    fn is_lazy(&self, step: &Self::Step) -> bool {
        let _ = step;
        false
    }

    /// Updates some rows of a variable, which has `columns`; `gradient` has as many for every one of them. No row comes
    /// twice. Unless written otherwise, every row is [updated](Self::update) as if it were a variable.
    fn update_rows(
        &self,
        step: &Self::Step,
        w: &mut [T],
        columns: usize,
        rows: &[usize],
        gradient: &[T],
        mut slots: Slots<'_, T>,
    ) {
        for (&row, gradient) in rows.iter().zip(gradient.chunks_exact(columns)) {
            let range = row * columns..(row + 1) * columns;
            self.update(step, &mut w[range.clone()], gradient, slots.part(range));
        }
    }
}

/// A slot: a number kept for every entry of the variables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlotSpec {
    /// Its name, in snake case.
    pub name: &'static str,
    /// Its value before the first step.
    pub initial: f64,
}

impl SlotSpec {
    /// A slot that starts at zero.
    pub const fn zeros(name: &'static str) -> Self {
        SlotSpec { name, initial: 0.0 }
    }
}

/// Numbers that a step is computed from.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StepContext<'a> {
    /// Steps made before.
    pub iterations: u64,
    /// The learning rate of this step.
    pub learning_rate: f64,
    /// Convention of the formulas.
    pub convention: Convention,
    pub(super) hyperparameters: &'a [f64],
}

impl StepContext<'_> {
    /// The rule's own hyperparameters in this step, in the order in which it lists them.
    ///
    /// # Panics
    ///
    /// When it lists another number of them.
    pub fn hyperparameters<const N: usize>(&self) -> [f64; N] {
        self.hyperparameters.try_into().expect("as many hyperparameters as the rule lists")
    }
}
