//! Slots and workspace.

use std::ops::Range;

use super::curvature::KroneckerCurvature;
use super::quadratic_model::Combination;
use super::scalars::Scalars;
use super::settings::{KroneckerHyperparameters, KroneckerSettings};
use crate::kernels::vector::{dot, long_dot};
use crate::optim::OptimizerResult;
use crate::optim::gradients::{drop_frozen, parts, push_range};
use crate::real::Real;
use crate::variables::{Gradient, Gradients, Layout, Variable, Variables, pattern};

/// State of the optimizer for variables of one layout.
#[derive(Debug, Clone)]
pub(super) struct KroneckerMemory<T> {
    pub(super) layout: Layout,
    /// For each variable, true if its weights decay.
    pub(super) decays: Vec<bool>,
    pub(super) gradients: Gradients<T>,
    /// The parts of the variables that are adjusted.
    pub(super) trainable: Vec<Range<usize>>,
    /// Ranges of the entries with a gradient.
    pub(super) moving: Vec<Range<usize>>,
    /// Ranges of the entries that the last step changed; all others of `velocity` are zero.
    pub(super) moved: Vec<Range<usize>>,
    /// The last step, and the one at work.
    pub(super) velocity: Vec<T>,
    pub(super) next: Vec<T>,
    /// The preconditioned gradient.
    pub(super) direction: Vec<T>,
    /// Workspace for the next values.
    pub(super) values: Vec<T>,
    /// Curvature; none before the first step, which knows the layers.
    pub(super) curvature: Option<KroneckerCurvature<T>>,
    pub(super) scalars: Scalars,
}

impl<T: Real> KroneckerMemory<T> {
    pub(super) fn new(settings: &KroneckerSettings, variables: &Variables<T>) -> Self {
        let decays = |name: &str| !settings.exclusions.iter().any(|pattern| pattern::matches(pattern, name));
        let zeros = vec![T::ZERO; variables.values().len()];
        KroneckerMemory {
            layout: Layout::of(variables),
            decays: variables.iter().map(|variable| decays(variables.name(variable))).collect(),
            gradients: Gradients::new(variables),
            trainable: Vec::new(),
            moving: Vec::new(),
            moved: std::iter::once(0..zeros.len()).collect(),
            velocity: zeros.clone(),
            next: zeros.clone(),
            direction: zeros.clone(),
            values: zeros,
            curvature: None,
            scalars: Scalars::new(),
        }
    }

    /// Clears the direction of the last step, as the next one may move other entries.
    pub(super) fn clear_direction(&mut self) {
        for range in &self.moving {
            self.direction[range.clone()].fill(T::ZERO);
        }
    }

    /// Drops gradients of frozen variables, sums those of repeated rows, and lists the entries that have one.
    pub(super) fn list_moving(&mut self, variables: &Variables<T>) {
        drop_frozen(&mut self.gradients, variables);
        self.gradients.sum_repeated_rows();
        self.moving.clear();
        for variable in self.layout.variables() {
            parts(&self.gradients, variable).for_each(|(range, _)| push_range(&mut self.moving, range));
        }
    }

    /// Adds the gradient of `½ decay ‖x‖²`, where weights decay.
    pub(super) fn add_decay(&mut self, decay: T, values: &[T]) {
        for variable in self.layout.variables().filter(|variable| self.decays[variable.index()]) {
            let start = variable.range().start;
            let add = |gradient: &mut [T], values: &[T]| {
                gradient.iter_mut().zip(values).for_each(|(gradient, &x)| *gradient += decay * x);
            };
            if let Gradient::Dense(_) = self.gradients.of(variable) {
                add(self.gradients.given_mut(variable), &values[variable.range()]);
                continue;
            }
            let columns = variable.columns();
            let mut index = 0;
            while let Gradient::Rows { rows, .. } = self.gradients.of(variable)
                && let Some(&row) = rows.get(index)
            {
                let gradient = &mut self.gradients.given_mut(variable)[index * columns..(index + 1) * columns];
                add(gradient, &values[start + row * columns..][..columns]);
                index += 1;
            }
        }
    }

    /// Adds a multiple of the last step and of a direction that was computed elsewhere.
    pub(super) fn apply_direction(
        &mut self,
        now: &KroneckerHyperparameters,
        gradients: &Gradients<T>,
        variables: &mut Variables<T>,
    ) -> OptimizerResult<()> {
        for variable in gradients.variables() {
            self.gradients.set(variable, gradients.of(variable));
        }
        self.list_moving(variables);
        for variable in self.layout.variables() {
            parts(&self.gradients, variable).for_each(|(range, values)| self.direction[range].copy_from_slice(values));
        }
        let combination = Combination { direction: -now.learning_rate, last: now.momentum, predicted: 0.0 };
        self.form_step(now, &combination, variables)?;
        self.take_step(variables);
        Ok(())
    }

    /// Makes the step at work the last one, and its values those of the variables.
    pub(super) fn take_step(&mut self, variables: &mut Variables<T>) {
        if self.moved != self.moving {
            self.moved.drain(..).for_each(|range| self.velocity[range].fill(T::ZERO));
            self.moved.clone_from(&self.moving);
        }
        let moves_all = self.moving.len() == 1 && self.moving[0].len() == self.next.len();
        if moves_all {
            std::mem::swap(&mut self.velocity, &mut self.next);
        }
        for range in &self.moving {
            if !moves_all {
                self.velocity[range.clone()].copy_from_slice(&self.next[range.clone()]);
            }
            variables.values_mut()[range.clone()].copy_from_slice(&self.values[range.clone()]);
        }
    }

    /// The product of the gradient with a vector.
    pub(super) fn gradient_times(&self, vector: &[T]) -> T {
        let of_variable = |variable: Variable| {
            let is_dense = matches!(self.gradients.of(variable), Gradient::Dense(_));
            let product = if is_dense { long_dot } else { dot };
            parts(&self.gradients, variable).map(|(range, values)| product(values, &vector[range])).sum()
        };
        self.layout.variables().map(of_variable).sum()
    }

    /// The product of two vectors over the numbers that move: all, and those of variables that decay.
    pub(super) fn product(&self, a: &[T], b: &[T]) -> [f64; 2] {
        let mut products = [0.0; 2];
        for range in &self.moving {
            products[0] += long_dot(&a[range.clone()], &b[range.clone()]).to_f64();
        }
        if self.decays.iter().all(|&decays| decays) {
            return [products[0]; 2];
        }
        for variable in self.layout.variables().filter(|variable| self.decays[variable.index()]) {
            let of_variable = variable.range();
            for range in &self.moving {
                let range = range.start.max(of_variable.start)..range.end.min(of_variable.end);
                if range.start < range.end {
                    products[1] += long_dot(&a[range.clone()], &b[range]).to_f64();
                }
            }
        }
        products
    }
}
