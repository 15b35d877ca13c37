//! Summary of a network: its layers, and their cost.

use super::Network;
use crate::linear::{LinearForm, LinearSolver, MEMORY_BUDGET, Plan, Size, StandIn, Truncation};
use crate::nn::BatchError;
use crate::nn::factor_plan::FactorPlan;
use crate::nn::factors::Factors;
use crate::nn::summary::{Cost, StepCost, Summary, summarize_layers};
use crate::nn::sweep::{coming_from, leading_to};
use crate::nn::work::{forward_work, gradient_work};
use crate::problem::kronecker::cost;
use crate::problem::{KroneckerBlock, Work};
use crate::real::Real;
use crate::solver::Curvature;
use crate::variables::Variables;

impl<T: Real> Network<T> {
    /// Layers, shapes and parameters, as Keras prints them, and the estimated cost of a batch of `rows` rows: of a forward
    /// and a backward pass, and of a step of Levenberg–Marquardt in each form of its linear system, with the one marked that
    /// it takes at its default settings. The choice follows from the same estimates.
    ///
    /// ```
    /// use marquardt::Variables;
    /// use marquardt::linear::LinearForm;
    /// use marquardt::nn::{MeanSquaredError, Sequential};
    ///
    /// let mut variables = Variables::<f64>::new();
    /// let layers = Sequential::new(8).dense(64).tanh().dense(1);
    /// let network = layers.compile(&mut variables, 0, MeanSquaredError)?;
    ///
    /// let summary = network.summary(&variables, 128)?;
    /// assert_eq!((summary.parameters, summary.chosen_form()), (641, Some(LinearForm::FactoredDual)));
    /// println!("{summary}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BatchError::Variables`] or [`BatchError::ForeignVariables`] for other variables than the network's.
    pub fn summary(&self, variables: &Variables<T>, rows: usize) -> Result<Summary, BatchError> {
        self.check_point(variables.values())?;
        if !variables.iter().eq(self.variables.iter()) {
            return Err(BatchError::ForeignVariables);
        }
        let (layers, taken) = summarize_layers(&self.sweeps.tape);
        let trainable = |variable: &_| variables.is_trainable(*variable);
        let parameters = variables.values().len();
        let forward = self.forward_work(rows);
        let residuals = rows.saturating_mul(self.rows_per_sample());
        let steps = self.step_costs(variables, rows, forward);
        let kronecker = self.kronecker_cost(rows);
        let trainable_parameters = variables.iter().filter(trainable).map(|variable| variable.len()).sum();
        let chosen = steps.iter().find(|step| step.is_chosen && residuals < trainable_parameters);
        let curvature = match (chosen, kronecker) {
            (Some(exact), Some((kronecker, _))) if self.dispersion_of_losses().is_some() => {
                Curvature::by_times(exact.cost.time - forward.time(), kronecker.time)
            }
            _ => Curvature::Exact,
        };
        Ok(Summary {
            layers,
            parameters,
            trainable_parameters,
            unused_parameters: parameters - taken,
            number_size: size_of::<T>(),
            rows,
            residuals,
            forward: Cost::of::<T>(forward),
            backward: (!self.sweeps.terms.is_empty()).then(|| Cost::of::<T>(self.backward_work(rows))),
            steps,
            kronecker,
            curvature,
            not_least_squares: self.check_forms().err(),
        })
    }

    /// Cost of the losses of a batch, or, where there are none, all nodes.
    fn forward_work(&self, rows: usize) -> Work {
        let mut wanted = vec![true; self.sweeps.tape.records().len()];
        if !self.sweeps.terms.is_empty() {
            leading_to(self.sweeps.tape.records(), self.sweeps.terms.iter().map(|term| term.output), &mut wanted);
        }
        forward_work(&self.sweeps.tape, &wanted).of(rows)
    }

    /// Cost of the gradient of the losses after that.
    fn backward_work(&self, rows: usize) -> Work {
        let (mut needed, mut reached) = (Vec::new(), Vec::new());
        coming_from(self.sweeps.tape.records(), |_| true, None, &mut needed);
        gradient_work(&self.sweeps.tape, self.sweeps.terms.iter().map(|term| term.output), &needed, &mut reached)
            .of(rows)
    }

    /// Average cost of a step with Kronecker factors, and its bytes.
    fn kronecker_cost(&self, rows: usize) -> Option<(Cost, usize)> {
        if self.sweeps.terms.is_empty() || rows == 0 || self.sets.count > 1 || self.check_forms().is_err() {
            return None;
        }
        let blocks = FactorPlan::new(&self.sweeps.tape, &self.variables, &self.sweeps.loss_nodes[0]).ok()?.blocks;
        let work = self.kronecker_work(&blocks, rows);
        let numbers = cost::kept_numbers(&blocks, self.variables.values().len());
        Some((Cost::of::<T>(work), numbers.saturating_mul(size_of::<T>())))
    }

    /// Average work of a step with Kronecker factors: the gradient; in every tenth step factors of half of the rows, by one more reverse
    /// sweep, their inverses, and a tangent sweep, about two forward sweeps; products with inverses, by rows of the batch in all other
    /// steps.
    pub(super) fn kronecker_work(&self, blocks: &[KroneckerBlock], rows: usize) -> Work {
        let (parameters, sampled, forward) = (self.variables.values().len(), rows.div_ceil(2), self.forward_work(rows));
        let sample = self.backward_work(sampled) + cost::moments_work(blocks, sampled as f64);
        forward * 1.2
            + self.backward_work(rows)
            + sample * 0.1
            + cost::inverse_work(blocks) * 0.1
            + cost::precondition_work(blocks, Some(rows)) * 0.9
            + cost::precondition_work(blocks, None) * 0.1
            + Work::elementwise(parameters as f64, 8.0, 6.0)
    }

    /// Cost of a step in each form.
    fn step_costs(&self, variables: &Variables<T>, rows: usize, trial: Work) -> Vec<StepCost> {
        let columns = variables.trainable_ranges();
        let (group, n) = (self.rows_per_sample(), columns.iter().map(|range| range.len()).sum());
        let m = rows.saturating_mul(group);
        if m == 0 || n == 0 || self.check_forms().is_err() {
            return Vec::new();
        }
        let products = Factors::default().work(self.sweeps.taped(&self.variables), &columns, rows);
        let size = Size::plain(m, n, group, products, Truncation::default());
        // A step of training takes conjugate gradients where they are estimated to cost less than the factorisation.
        let stand_in = products.and_then(|work| Some(StandIn::new(&work, m, group)?.work(&work)));
        let chosen = Plan::new::<T>(LinearSolver::Auto, &size, MEMORY_BUDGET).ok().map(|plan| plan.form);
        let step_cost = |form: LinearForm| {
            let (work, memory) = (form.work::<T>(&size)? + trial, form.bytes::<T>(&size)?);
            let iterative = stand_in.filter(|_| form == LinearForm::FactoredDual);
            let iterative = iterative.map(|work| Cost::of::<T>(work + trial));
            Some(StepCost { form, cost: Cost::of::<T>(work), iterative, memory, is_chosen: chosen == Some(form) })
        };
        LinearForm::ALL.into_iter().filter_map(step_cost).collect()
    }
}
