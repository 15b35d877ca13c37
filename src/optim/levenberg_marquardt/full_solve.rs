//! A full solve over variables.

use super::training::decays;
use crate::optim::{OptimizerError, OptimizerResult};
use crate::problem::selected::{Selected, SelectionMemory, count, gather, scatter};
use crate::problem::{Bounds, Objective};
use crate::real::Real;
use crate::solver::damping::DampingPolicy;
use crate::solver::{LevenbergMarquardt, Observer, Report, Scaling, SolveError};
use crate::variables::Variables;

/// Number of steps that are refused because a unit would lose its influence. Some such refusals save units that would saturate for good.
const INFLUENCE_REFUSALS: usize = 25;

impl<T: Real, D: DampingPolicy<T>> LevenbergMarquardt<T, D> {
    /// Minimises the loss over the trainable variables: a full solve, to convergence.
    ///
    /// The variables end at the best point found, whatever the status. Several residual functions of several variables
    /// are several losses of one [`Network`](crate::nn::Network):
    ///
    /// ```
    /// use marquardt::{LevenbergMarquardt, Variables};
    /// use marquardt::nn::{HalfSumOfSquares, Network, Tape};
    /// use ndarray::array;
    ///
    /// // Rosenbrock's valley: 10 (y - x²) and x - 1.
    /// let mut variables = Variables::new();
    /// let x = variables.add("x", array![-1.2].view())?;
    /// let y = variables.add("y", array![1.0].view())?;
    ///
    /// let mut tape = Tape::new();
    /// let (x, y) = (tape.variable(x), tape.variable(y));
    /// let squared = tape.square(x);
    /// let across = tape.sub(y, squared)?;
    /// let across = tape.scale(across, 10.0);
    /// let along = tape.shift(x, -1.0);
    /// let mut valley = Network::new(tape, &variables)?
    ///     .with_loss(across, HalfSumOfSquares)?
    ///     .with_loss(along, HalfSumOfSquares)?;
    /// valley.batch(&[], &[])?;
    ///
    /// let report = LevenbergMarquardt::new().minimize_variables(&mut valley, &mut variables)?;
    /// assert!(report.is_converged());
    /// assert!(variables.values().iter().all(|value: &f64| (value - 1.0).abs() < 1e-12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Weight decay adds `½ · weight_decay · ‖x‖²` to the cost, as in training; with a schedule, as it begins.
    ///
    /// # Errors
    ///
    /// [`OptimizerError`] for what prevents a start; the variables are unchanged then.
    pub fn minimize_variables(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
    ) -> OptimizerResult<Report<T>> {
        self.minimize_variables_observed(objective, variables, &mut ())
    }

    /// [`minimize_variables`](Self::minimize_variables) with an observer that sees each trial.
    ///
    /// # Errors
    ///
    /// As [`minimize_variables`](Self::minimize_variables).
    pub fn minimize_variables_observed(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
        observer: &mut (impl Observer<T> + ?Sized),
    ) -> OptimizerResult<Report<T>> {
        let [_, _, decay, ..] = self.settings.training.at(0)?;
        let ridge = if decay > 0.0 {
            let decays = decays(&self.settings.training.exclusions, variables);
            let trainable = variables.trainable_ranges().into_iter().flatten();
            trainable.map(|j| T::from_f64(decay) * decays[j]).collect()
        } else {
            Vec::new()
        };
        self.minimize_with_ridge(objective, variables, ridge, observer)
    }

    /// Minimises the loss and `½ Σ ridge_j x_j²` over the trainable entries; without a ridge if it is empty.
    pub(super) fn minimize_with_ridge(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
        ridge: Vec<T>,
        observer: &mut (impl Observer<T> + ?Sized),
    ) -> OptimizerResult<Report<T>> {
        let columns = variables.trainable_ranges();
        if columns.is_empty() {
            return Err(OptimizerError::NothingToTrain);
        }
        let problem = objective.least_squares()?;
        let (expected, found) = (problem.parameter_count(), variables.values().len());
        if expected != found {
            return Err(SolveError::WrongStartLength { expected, found }.into());
        }
        if let Some(found) = problem.domain().bounds().map(Bounds::len).filter(|&found| found != expected) {
            return Err(SolveError::WrongBoundsLength { expected, found }.into());
        }
        let mut memory = SelectionMemory::of(variables.values());
        memory.bounds = problem.domain().bounds().map(|bounds| bounds.of_columns(&columns));
        let mut start = vec![T::ZERO; count(&columns)];
        gather(&mut start, variables.values(), &columns);
        let solver = self.for_weights(ridge);
        let report = if start.len() == variables.values().len() {
            solver.minimize_observed(problem, &start, observer)?
        } else {
            let mut selected = Selected { problem, columns: &columns, memory: &mut memory };
            solver.minimize_observed(&mut selected, &start, observer)?
        };
        scatter(variables.values_mut(), &report.x, &columns);
        Ok(report)
    }

    /// Returns the same solver, with the scaling of weights unless another was set. A unit may lose its influence: where it is a rectifier,
    /// the best step often leads past its kink, and steps that stop short of it would never end.
    fn for_weights(&self, ridge: Vec<T>) -> Self {
        let mut settings = self.settings.clone();
        settings.formed_scaling = Scaling::OF_WEIGHTS;
        settings.influence_refusals = INFLUENCE_REFUSALS;
        settings.ridge = ridge;
        LevenbergMarquardt { damping: self.damping.clone(), settings, carried: None }
    }
}
