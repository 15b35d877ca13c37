//! RMSprop.

use crate::optim::{
    Convention, FirstOrder, Hyperparameter, HyperparameterDomain, HyperparameterSpec, SlotSpec, Slots, StepContext,
    UpdateRule, hyperparameter_builders,
};
use crate::real::Real;

/// RMSprop: the gradient divided by the root of its average square.
///
/// - `v ← ρv + (1 − ρ)g²`, and if centered `a ← ρa + (1 − ρ)g`, which makes `v − a²` of `v` below
/// - by Keras' formulas `d = √(v + ε)`, and with a momentum `β` `m ← βm + ηg/d`, `w ← w − m`
/// - by PyTorch's `d = √v + ε`, and with a momentum `m ← βm + g/d`, `w ← w − ηm`
///
/// Without momentum `w ← w − ηg/d`. A sparse gradient gives the same step as the dense one.
///
/// Hinton, *Neural Networks for Machine Learning*, lecture 6, 2012.
pub type RmsProp<T> = FirstOrder<T, RmsPropRule>;

/// The rule of [`RmsProp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RmsPropRule {
    centered: bool,
}

impl<T: Real> RmsProp<T> {
    /// Keras' formulas and defaults. Its default rate is 0.001.
    pub fn new(learning_rate: impl Into<Hyperparameter>) -> Self {
        FirstOrder::from_rule(RmsPropRule::default(), learning_rate)
    }

    /// PyTorch's formulas and defaults: a `rho`, which it calls alpha, of 0.99, and an epsilon of 1e-8. Its default rate is
    /// 0.01.
    pub fn pytorch(learning_rate: impl Into<Hyperparameter>) -> Self {
        Self::new(learning_rate).with_convention(Convention::PyTorch).with_rho(0.99).with_epsilon(1e-8)
    }

    hyperparameter_builders! {
        /// Sets the decay rate of the averages; 0.9 unless set.
        with_rho = "rho";
        /// The part of the last step that is made again; 0 unless set.
        with_momentum = "momentum";
        /// Stability constant `ε`, added to the denominator; 1e-7 unless set.
        with_epsilon = "epsilon";
    }

    /// Divides by the root of the variance instead of the average square; `false` unless set.
    pub fn with_centered(self, centered: bool) -> Self {
        self.with_rule(|rule| rule.centered = centered)
    }
}

/// Numbers of one step: with `d = √(v + inside) + outside`, `m ← momentum · m + into_momentum · g / d`,
/// `w ← w − from_momentum · m`.
#[derive(Debug, Clone, Copy)]
pub struct RmsPropStep<T> {
    rho: T,
    into_average: T,
    inside: T,
    outside: T,
    momentum: T,
    into_momentum: T,
    from_momentum: T,
}

impl<T: Real> RmsPropStep<T> {
    /// The new average square, and `g / d`.
    #[inline(always)]
    fn scaled(&self, g: T, v: &mut T) -> T {
        *v = self.rho * *v + self.into_average * (g * g);
        g / ((*v + self.inside).sqrt() + self.outside)
    }

    /// Returns the scaled gradient of the centered rule.
    #[inline(always)]
    fn scaled_centered(&self, g: T, v: &mut T, average: &mut T) -> T {
        *v = self.rho * *v + self.into_average * (g * g);
        *average = self.rho * *average + self.into_average * g;
        // A variance of zero rounds to either side.
        let variance = (*v - *average * *average).max(T::ZERO);
        g / ((variance + self.inside).sqrt() + self.outside)
    }

    /// The new momentum, and the step of `w`.
    #[inline(always)]
    fn step(&self, scaled: T, m: &mut T) -> T {
        *m = self.momentum * *m + self.into_momentum * scaled;
        self.from_momentum * *m
    }
}

impl<T: Real> UpdateRule<T> for RmsPropRule {
    type Step = RmsPropStep<T>;
    const NAME: &'static str = "rmsprop";
    const HYPERPARAMETERS: &'static [HyperparameterSpec] = &[
        HyperparameterSpec::new("rho", 0.9, HyperparameterDomain::Fraction),
        HyperparameterSpec::new("momentum", 0.0, HyperparameterDomain::Fraction),
        HyperparameterSpec::new("epsilon", 1e-7, HyperparameterDomain::NonNegative),
    ];

    fn slots(&self, hyperparameters: &[Hyperparameter]) -> Vec<SlotSpec> {
        let mut slots = vec![SlotSpec::zeros("velocity")];
        slots.extend(self.centered.then_some(SlotSpec::zeros("average_gradient")));
        let has_momentum = hyperparameters[1] != Hyperparameter::Number(0.0);
        slots.extend(has_momentum.then_some(SlotSpec::zeros("momentum")));
        slots
    }

    fn switches(&self) -> Vec<(&'static str, bool)> {
        vec![("centered", self.centered)]
    }

    fn prepare(&self, step: &StepContext<'_>) -> RmsPropStep<T> {
        let [rho, momentum, epsilon] = step.hyperparameters();
        let rate = step.learning_rate;
        let (inside, outside, into_momentum, from_momentum) = match step.convention {
            Convention::Keras => (epsilon, 0.0, rate, 1.0),
            Convention::PyTorch => (0.0, epsilon, 1.0, rate),
        };
        let [rho, into_average, inside, outside] = [rho, 1.0 - rho, inside, outside].map(T::from_f64);
        let [momentum, into_momentum, from_momentum] = [momentum, into_momentum, from_momentum].map(T::from_f64);
        RmsPropStep { rho, into_average, inside, outside, momentum, into_momentum, from_momentum }
    }

    #[inline(always)]
    fn update(&self, step: &RmsPropStep<T>, w: &mut [T], gradient: &[T], slots: Slots<'_, T>) {
        let rate = step.into_momentum * step.from_momentum;
        let w = w.iter_mut().zip(gradient);
        match (self.centered, slots.len()) {
            (false, 1) => {
                let [v] = slots.take();
                for ((w, &g), v) in w.zip(v) {
                    *w -= rate * step.scaled(g, v);
                }
            }
            (false, _) => {
                let [v, m] = slots.take();
                for (((w, &g), v), m) in w.zip(v).zip(m) {
                    *w -= step.step(step.scaled(g, v), m);
                }
            }
            (true, 2) => {
                let [v, average] = slots.take();
                for (((w, &g), v), average) in w.zip(v).zip(average) {
                    *w -= rate * step.scaled_centered(g, v, average);
                }
            }
            (true, _) => {
                let [v, average, m] = slots.take();
                for ((((w, &g), v), average), m) in w.zip(v).zip(average).zip(m) {
                    *w -= step.step(step.scaled_centered(g, v, average), m);
                }
            }
        }
    }
}
