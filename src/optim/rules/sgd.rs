//! Stochastic gradient descent.

use crate::optim::{
    Convention, FirstOrder, Hyperparameter, HyperparameterDomain, HyperparameterSpec, SlotSpec, Slots, StepContext,
    UpdateRule, hyperparameter_builders,
};
use crate::real::Real;

/// Stochastic gradient descent, with momentum where it is set.
///
/// Without momentum `w ← w − ηg`. With a momentum `β`:
///
/// | | Keras | PyTorch |
/// |---|---|---|
/// | first | `m ← βm − ηg` | `m ← βm + (1 − dampening) g`, and `m ← g` in the first step |
/// | then | `w ← w + m` | `w ← w − ηm` |
/// | or, with Nesterov's | `w ← w + βm − ηg` | `w ← w − η(g + βm)` |
///
/// Without momentum a sparse gradient costs no more than its rows.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::optim::{Optimizer, Sgd};
/// use marquardt::variables::Gradients;
/// use ndarray::array;
///
/// let mut variables = Variables::new();
/// let w = variables.add("w", array![1.0, 2.0].view())?;
/// let mut gradients = Gradients::new(&variables);
/// gradients.dense_mut(w).copy_from_slice(&[4.0, -4.0]);
///
/// let mut optimizer = Sgd::new(0.25).with_momentum(0.5);
/// optimizer.apply_gradients(&gradients, &mut variables)?;
/// optimizer.apply_gradients(&gradients, &mut variables)?;
/// assert_eq!(variables.values(), [1.0 - 1.0 - 1.5, 2.0 + 1.0 + 1.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Sgd<T> = FirstOrder<T, SgdRule>;

/// The rule of [`Sgd`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SgdRule {
    nesterov: bool,
}

impl<T: Real> Sgd<T> {
    /// Creates the optimizer without momentum, by Keras' formulas. Both frameworks have a default rate: Keras 0.01, PyTorch
    /// 0.001.
    pub fn new(learning_rate: impl Into<Hyperparameter>) -> Self {
        FirstOrder::from_rule(SgdRule::default(), learning_rate)
    }

    /// Creates the optimizer without momentum, by PyTorch's formulas.
    pub fn pytorch(learning_rate: impl Into<Hyperparameter>) -> Self {
        Self::new(learning_rate).with_convention(Convention::PyTorch)
    }

    hyperparameter_builders! {
        /// The part of the last step that is made again; 0 unless set.
        with_momentum = "momentum";
        /// The part of a gradient that stays out of the momentum, by PyTorch's formulas; 0 unless set. Keras has none.
        with_dampening = "dampening";
    }

    /// Enables Nesterov momentum; `false` unless set. It has no effect without momentum.
    pub fn with_nesterov(self, nesterov: bool) -> Self {
        self.with_rule(|rule| rule.nesterov = nesterov)
    }
}

/// Numbers of one step: `m ← momentum · m + into_momentum · g`, `w ← w + from_momentum · m + from_gradient · g`.
#[derive(Debug, Clone, Copy)]
pub struct SgdStep<T> {
    momentum: T,
    into_momentum: T,
    from_momentum: T,
    from_gradient: T,
    learning_rate: T,
}

impl<T: Real> UpdateRule<T> for SgdRule {
    type Step = SgdStep<T>;
    const NAME: &'static str = "sgd";
    const HYPERPARAMETERS: &'static [HyperparameterSpec] = &[
        HyperparameterSpec::new("momentum", 0.0, HyperparameterDomain::Fraction),
        HyperparameterSpec::new("dampening", 0.0, HyperparameterDomain::Fraction),
    ];

    fn slots(&self, hyperparameters: &[Hyperparameter]) -> Vec<SlotSpec> {
        if hyperparameters[0] == Hyperparameter::Number(0.0) { Vec::new() } else { vec![SlotSpec::zeros("momentum")] }
    }

    fn switches(&self) -> Vec<(&'static str, bool)> {
        vec![("nesterov", self.nesterov)]
    }

    fn prepare(&self, step: &StepContext<'_>) -> SgdStep<T> {
        let [momentum, dampening] = step.hyperparameters();
        let rate = step.learning_rate;
        let (into_momentum, from_momentum) = match step.convention {
            Convention::Keras => (-rate, 1.0),
            Convention::PyTorch if step.iterations == 0 => (1.0, -rate),
            Convention::PyTorch => (1.0 - dampening, -rate),
        };
        let (from_momentum, from_gradient) =
            if self.nesterov { (from_momentum * momentum, -rate) } else { (from_momentum, 0.0) };
        let [momentum, into_momentum, from_momentum] = [momentum, into_momentum, from_momentum].map(T::from_f64);
        let [from_gradient, learning_rate] = [from_gradient, rate].map(T::from_f64);
        SgdStep { momentum, into_momentum, from_momentum, from_gradient, learning_rate }
    }

    #[inline(always)]
    fn update(&self, step: &SgdStep<T>, w: &mut [T], gradient: &[T], slots: Slots<'_, T>) {
        if slots.is_empty() {
            for (w, &g) in w.iter_mut().zip(gradient) {
                *w -= step.learning_rate * g;
            }
            return;
        }
        let [m] = slots.take();
        for ((w, m), &g) in w.iter_mut().zip(m).zip(gradient) {
            *m = step.momentum * *m + step.into_momentum * g;
            *w += step.from_momentum * *m + step.from_gradient * g;
        }
    }

    /// With momentum, rows without a gradient move as well.
    fn is_lazy(&self, step: &SgdStep<T>) -> bool {
        step.momentum == T::ZERO
    }
}
