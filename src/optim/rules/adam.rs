//! Adam.

use crate::optim::{
    Convention, FirstOrder, Hyperparameter, HyperparameterDomain, HyperparameterSpec, SlotSpec, Slots, StepContext,
    UpdateRule, hyperparameter_builders,
};
use crate::real::Real;

/// Adam: steps of equal size in all directions, from averages of the gradient and of its square.
///
/// In step `t = 1, 2, …`
///
/// - `m ← m + (1 − β₁)(g − m)`, `v ← v + (1 − β₂)(g² − v)`
/// - by Keras' formulas `w ← w − η √(1 − β₂ᵗ)/(1 − β₁ᵗ) · m / (√v + ε)`
/// - by PyTorch's `w ← w − η/(1 − β₁ᵗ) · m / (√(v/(1 − β₂ᵗ)) + ε)`
///
/// AMSGrad puts the largest `v` so far in the place of `v`.
///
/// A sparse gradient gives the same step as the dense one, so all rows move. With [lazy rows](Self::with_lazy_rows) only
/// its own rows do, which is another optimizer: PyTorch's `SparseAdam` at an epsilon of 1e-8.
///
/// Kingma and Ba, *Adam: A Method for Stochastic Optimization*, 2015; Reddi, Kale and Kumar, *On the Convergence of Adam
/// and Beyond*, 2018.
pub type Adam<T> = FirstOrder<T, AdamRule>;

/// The rule of [`Adam`], and of [`AdamW`](super::AdamW) where weight decay is `DECOUPLED` by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AdamRule<const DECOUPLED: bool = false> {
    amsgrad: bool,
    lazy_rows: bool,
}

/// PyTorch's epsilon.
pub(super) const PYTORCH_EPSILON: f64 = 1e-8;

impl<T: Real> Adam<T> {
    /// Keras' formulas and defaults. Both frameworks take a rate of 0.001 by default.
    pub fn new(learning_rate: impl Into<Hyperparameter>) -> Self {
        FirstOrder::from_rule(AdamRule::default(), learning_rate)
    }

    /// PyTorch's formulas and defaults.
    pub fn pytorch(learning_rate: impl Into<Hyperparameter>) -> Self {
        Self::new(learning_rate).with_convention(Convention::PyTorch).with_epsilon(PYTORCH_EPSILON)
    }
}

impl<T: Real, const DECOUPLED: bool> FirstOrder<T, AdamRule<DECOUPLED>> {
    hyperparameter_builders! {
        /// Sets the decay rate of the average gradient; 0.9 unless set.
        with_beta_1 = "beta_1";
        /// Sets the decay rate of the average squared gradient; 0.999 unless set.
        with_beta_2 = "beta_2";
        /// Stability constant `ε`, added to the denominator; 1e-7 unless set, 1e-8 in PyTorch.
        with_epsilon = "epsilon";
    }

    /// Divides by the largest average square so far (AMSGrad); `false` unless set.
    pub fn with_amsgrad(self, amsgrad: bool) -> Self {
        self.with_rule(|rule| rule.amsgrad = amsgrad)
    }

    /// Leaves the other rows and their slots alone when a gradient is sparse; `false` unless set.
    pub fn with_lazy_rows(self, lazy_rows: bool) -> Self {
        self.with_rule(|rule| rule.lazy_rows = lazy_rows)
    }
}

/// Numbers of one step: `w ← w − rate · m / (root_factor · √v + epsilon)`.
#[derive(Debug, Clone, Copy)]
pub struct AdamStep<T> {
    rate: T,
    into_m: T,
    into_v: T,
    root_factor: T,
    epsilon: T,
}

impl<T: Real, const DECOUPLED: bool> UpdateRule<T> for AdamRule<DECOUPLED> {
    type Step = AdamStep<T>;
    const NAME: &'static str = if DECOUPLED { "adamw" } else { "adam" };
    const HYPERPARAMETERS: &'static [HyperparameterSpec] = &[
        HyperparameterSpec::new("beta_1", 0.9, HyperparameterDomain::FractionBelowOne),
        HyperparameterSpec::new("beta_2", 0.999, HyperparameterDomain::FractionBelowOne),
        HyperparameterSpec::new("epsilon", 1e-7, HyperparameterDomain::NonNegative),
    ];

    fn slots(&self, _: &[Hyperparameter]) -> Vec<SlotSpec> {
        let slots = [SlotSpec::zeros("momentum"), SlotSpec::zeros("velocity"), SlotSpec::zeros("velocity_hat")];
        slots[..if self.amsgrad { 3 } else { 2 }].to_vec()
    }

    fn switches(&self) -> Vec<(&'static str, bool)> {
        vec![("amsgrad", self.amsgrad), ("lazy_rows", self.lazy_rows)]
    }

    fn prepare(&self, step: &StepContext<'_>) -> AdamStep<T> {
        let [beta_1, beta_2, epsilon] = step.hyperparameters();
        let t = (step.iterations + 1) as f64;
        let correction = (1.0 - beta_2.powf(t)).sqrt();
        let rate = step.learning_rate / (1.0 - beta_1.powf(t));
        let (rate, root_factor) = match step.convention {
            Convention::Keras => (rate * correction, 1.0),
            Convention::PyTorch => (rate, 1.0 / correction),
        };
        let [into_m, into_v] = [beta_1, beta_2].map(|beta| T::from_f64(1.0 - beta));
        let [rate, root_factor, epsilon] = [rate, root_factor, epsilon].map(T::from_f64);
        AdamStep { rate, into_m, into_v, root_factor, epsilon }
    }

    #[inline(always)]
    fn update(&self, step: &AdamStep<T>, w: &mut [T], gradient: &[T], slots: Slots<'_, T>) {
        let &AdamStep { rate, into_m, into_v, root_factor, epsilon } = step;
        if self.amsgrad {
            let [m, v, largest] = slots.take();
            for ((((w, m), v), largest), &g) in w.iter_mut().zip(m).zip(v).zip(largest).zip(gradient) {
                *m += into_m * (g - *m);
                *v += into_v * (g * g - *v);
                *largest = largest.max(*v);
                *w -= rate * *m / (root_factor * largest.sqrt() + epsilon);
            }
        } else {
            let [m, v] = slots.take();
            for (((w, m), v), &g) in w.iter_mut().zip(m).zip(v).zip(gradient) {
                *m += into_m * (g - *m);
                *v += into_v * (g * g - *v);
                *w -= rate * *m / (root_factor * v.sqrt() + epsilon);
            }
        }
    }

    fn is_lazy(&self, _: &AdamStep<T>) -> bool {
        self.lazy_rows
    }
}
