//! Adagrad.

use crate::optim::{
    Convention, FirstOrder, Hyperparameter, HyperparameterDomain, HyperparameterSpec, SlotSpec, Slots, StepContext,
    UpdateRule, hyperparameter_builders,
};
use crate::real::Real;

/// Adagrad: the gradient divided by the root of the sum of its squares so far.
///
/// - `a ← a + g²`
/// - by Keras' formulas `w ← w − ηg/√(a + ε)`, by PyTorch's `w ← w − ηg/(√a + ε)`
///
/// PyTorch's `lr_decay` is an [`InverseTimeDecay`](crate::optim::InverseTimeDecay) with one decay step. A sparse
/// gradient costs no more than its rows.
///
/// Duchi, Hazan and Singer, *Adaptive Subgradient Methods for Online Learning and Stochastic Optimization*, 2011.
pub type Adagrad<T> = FirstOrder<T, AdagradRule>;

/// The rule of [`Adagrad`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdagradRule {
    initial_accumulator_value: f64,
}

impl<T: Real> Adagrad<T> {
    /// Keras' formulas and defaults. Its default rate is 0.001.
    pub fn new(learning_rate: impl Into<Hyperparameter>) -> Self {
        FirstOrder::from_rule(AdagradRule { initial_accumulator_value: 0.1 }, learning_rate)
    }

    /// PyTorch's formulas and defaults: an initial sum of 0 and an epsilon of 1e-10. Its default rate is 0.01.
    pub fn pytorch(learning_rate: impl Into<Hyperparameter>) -> Self {
        let adagrad = Self::new(learning_rate).with_convention(Convention::PyTorch);
        adagrad.with_initial_accumulator_value(0.0).with_epsilon(1e-10)
    }

    /// Start of the sums of squares; 0.1 unless set.
    pub fn with_initial_accumulator_value(self, initial_accumulator_value: f64) -> Self {
        self.with_rule(|rule| rule.initial_accumulator_value = initial_accumulator_value)
    }

    hyperparameter_builders! {
        /// Stability constant `ε`, added to the denominator; 1e-7 unless set.
        with_epsilon = "epsilon";
    }
}

/// Numbers of one step: `w ← w − rate · g / (√(a + inside) + outside)`.
#[derive(Debug, Clone, Copy)]
pub struct AdagradStep<T> {
    rate: T,
    inside: T,
    outside: T,
}

impl<T: Real> UpdateRule<T> for AdagradRule {
    type Step = AdagradStep<T>;
    const NAME: &'static str = "adagrad";
    const HYPERPARAMETERS: &'static [HyperparameterSpec] =
        &[HyperparameterSpec::new("epsilon", 1e-7, HyperparameterDomain::NonNegative)];

    fn slots(&self, _: &[Hyperparameter]) -> Vec<SlotSpec> {
        vec![SlotSpec { name: "accumulator", initial: self.initial_accumulator_value }]
    }

    fn prepare(&self, step: &StepContext<'_>) -> AdagradStep<T> {
        let [epsilon] = step.hyperparameters();
        let (inside, outside) = match step.convention {
            Convention::Keras => (epsilon, 0.0),
            Convention::PyTorch => (0.0, epsilon),
        };
        let [rate, inside, outside] = [step.learning_rate, inside, outside].map(T::from_f64);
        AdagradStep { rate, inside, outside }
    }

    #[inline(always)]
    fn update(&self, step: &AdagradStep<T>, w: &mut [T], gradient: &[T], slots: Slots<'_, T>) {
        let [sum] = slots.take();
        for ((w, sum), &g) in w.iter_mut().zip(sum).zip(gradient) {
            *sum += g * g;
            *w -= step.rate * g / ((*sum + step.inside).sqrt() + step.outside);
        }
    }

    fn is_lazy(&self, _: &AdagradStep<T>) -> bool {
        true
    }
}
