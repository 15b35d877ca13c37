//! Levenberg–Marquardt as an optimizer: one damped iteration for each minibatch.

use ndarray::ArrayViewD;

use super::layout::Checked;
use super::{DampedStep, Hyperparameter, Optimizer, OptimizerError, OptimizerState, StepReport};
use crate::damping::DampingPolicy;
use crate::problem::selected::{Selected, SelectionMemory, gather, scatter};
use crate::solver::{HYPERPARAMETERS, Training};
use crate::variables::{Gradient, Gradients, Variable, Variables};
use crate::{LevenbergMarquardt, Objective, Observer, Real, Report, SolveError};

const NAME: &str = "levenberg_marquardt";
const SLOTS: [&str; 2] = ["momentum", "scaling"];

/// # Training
///
/// As an [`Optimizer`], one step is one iteration on the minibatch at hand, the same as a full solve repeats: linearise,
/// solve the damped system, try the step, and try again with more damping until one lowers the loss *of that minibatch*
/// or the attempts are used up. Then the step is not taken. Damping and scaling are carried from batch to batch.
///
/// The learning rate, momentum and clipping act on the step before it is tried, and the gain ratio is judged on what is
/// tried. Weight decay is part of the damped system: `½ · weight_decay · ‖x‖²` is added to the loss.
impl<T: Real, D> LevenbergMarquardt<T, D> {
    /// Factor of the step when training. One by default: the damped step is taken whole.
    pub fn with_learning_rate(self, learning_rate: impl Into<Hyperparameter>) -> Self {
        self.with_hyperparameter("learning_rate", learning_rate)
    }

    /// Share of the last step that is added to the next when training. Zero by default.
    pub fn with_momentum(self, momentum: impl Into<Hyperparameter>) -> Self {
        self.with_hyperparameter("momentum", momentum)
    }

    /// Adds `½ · weight_decay · ‖x‖²` to the loss when training. Zero by default.
    pub fn with_weight_decay(self, weight_decay: impl Into<Hyperparameter>) -> Self {
        self.with_hyperparameter("weight_decay", weight_decay)
    }

    /// Patterns of the names of variables that do not decay, such as `*.bias`; `*` stands for any characters.
    pub fn exclude_from_weight_decay<P: Into<String>>(mut self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.settings.training.exclusions = patterns.into_iter().map(Into::into).collect();
        self.training = None;
        self
    }

    /// The least damping `λ` when training. Zero by default.
    pub fn with_minimum_damping(self, damping: impl Into<Hyperparameter>) -> Self {
        self.with_hyperparameter("minimum_damping", damping)
    }

    /// The longest step when training; longer ones are shortened. Zero, the default, stands for any length.
    pub fn with_global_clipnorm(self, norm: impl Into<Hyperparameter>) -> Self {
        self.with_hyperparameter("global_clipnorm", norm)
    }

    /// Trials for each minibatch when training. Eight by default.
    pub fn with_attempts(self, attempts: usize) -> Self {
        self.with_hyperparameter("attempts", attempts as f64)
    }

    /// Sets a hyperparameter, which is checked by the first step.
    fn with_hyperparameter(mut self, name: &str, value: impl Into<Hyperparameter>) -> Self {
        if let Some(place) = HYPERPARAMETERS.iter().position(|spec| spec.name == name) {
            self.settings.training.hyperparameters[place] = value.into();
        }
        self
    }
}

impl<T: Real, D: DampingPolicy<T>> LevenbergMarquardt<T, D> {
    /// Minimises `½‖r‖²` over the trainable variables: a full solve, to convergence.
    ///
    /// The variables end at the best point found, whatever the status. Several residual functions of several variables
    /// are several losses of one [`Network`](crate::nn::Network):
    ///
    /// ```
    /// use marquardt::nn::{HalfSumOfSquares, Network, Tape};
    /// use marquardt::{LevenbergMarquardt, Variables};
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
    /// let mut valley =
    ///     Network::new(tape, &variables)?.with_loss(across, HalfSumOfSquares)?.with_loss(along, HalfSumOfSquares)?;
    /// valley.batch(&[], &[])?;
    ///
    /// let report = LevenbergMarquardt::new().minimize_variables(&mut valley, &mut variables)?;
    /// assert!(report.is_converged());
    /// assert!(variables.values().iter().all(|value: &f64| (value - 1.0).abs() < 1e-12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`OptimizerError`] for what prevents a start; the variables are unchanged then.
    pub fn minimize_variables(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
    ) -> Result<Report<T>, OptimizerError> {
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
    ) -> Result<Report<T>, OptimizerError> {
        let columns = variables.trainable_ranges();
        if columns.is_empty() {
            return Err(OptimizerError::NothingToTrain);
        }
        let problem = objective.least_squares()?;
        let mut memory = SelectionMemory::of(variables.values());
        let mut start = vec![T::ZERO; crate::problem::selected::count(&columns)];
        gather(&mut start, variables.values(), &columns);
        let report = if start.len() == variables.values().len() {
            self.minimize_observed(problem, &start, observer)?
        } else {
            let mut selected = Selected { problem, columns: &columns, memory: &mut memory };
            self.minimize_observed(&mut selected, &start, observer)?
        };
        scatter(variables.values_mut(), &report.x, &columns);
        Ok(report)
    }

    /// What is carried from batch to batch, for these variables.
    fn training_for(&mut self, variables: &Variables<T>) -> Result<&mut Training<T, D>, OptimizerError> {
        let (settings, damping) = (&self.settings, &self.damping);
        if self.training.is_none() {
            check_hyperparameters(&settings.training.hyperparameters)?;
        }
        let training = self.training.get_or_insert_with(|| Box::new(Training::new(settings, damping, variables)));
        training.layout.check(NAME, variables.iter())?;
        let is_free = |variable: Variable| variables.is_trainable(variable) && !variable.is_empty();
        if variables.iter().any(is_free) { Ok(training) } else { Err(OptimizerError::NothingToTrain) }
    }
}

/// Checks hyperparameters, and schedules of them.
fn check_hyperparameters(hyperparameters: &[Hyperparameter]) -> Result<(), OptimizerError> {
    HYPERPARAMETERS.iter().zip(hyperparameters).try_for_each(|(spec, value)| spec.check(value))?;
    Ok(())
}

/// Where a hyperparameter is in the table.
fn place(name: &str) -> Result<usize, OptimizerError> {
    HYPERPARAMETERS.iter().position(|spec| spec.name == name).ok_or_else(|| OptimizerError::UnknownHyperparameter {
        optimizer: NAME.to_owned(),
        name: name.to_owned(),
        known: HYPERPARAMETERS.map(|spec| spec.name.to_owned()).to_vec(),
    })
}

impl<T: Real, D: DampingPolicy<T> + Send> Optimizer<T> for LevenbergMarquardt<T, D> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&mut self, variables: &Variables<T>) -> Result<(), OptimizerError> {
        check_hyperparameters(&self.settings.training.hyperparameters)?;
        self.training = Some(Box::new(Training::new(&self.settings, &self.damping, variables)));
        Ok(())
    }

    fn step(
        &mut self,
        batch: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
    ) -> Result<StepReport<T>, OptimizerError> {
        self.training_for(variables)?;
        let problem = batch.least_squares()?;
        let Some(training) = &mut self.training else { return Err(not_built()) };
        let step = training.step(&self.settings, problem, variables).map_err(own_error)?;
        Ok(StepReport {
            loss: step.loss,
            loss_after: Some(step.loss_after),
            applied: step.is_accepted(),
            damped: Some(DampedStep {
                damping: step.trial.map_or(T::ZERO, |trial| trial.lambda),
                gain_ratio: step.trial.map_or(T::ONE, |trial| trial.gain_ratio()),
                attempts: step.attempts,
                linear_form: step.form,
                rows: step.rows,
                columns: step.columns,
            }),
        })
    }

    /// Takes the gradients for a direction that was computed elsewhere: `x ← x − learning_rate · direction + momentum ·
    /// (last step)`.
    fn apply_gradients(
        &mut self,
        gradients: &Gradients<T>,
        variables: &mut Variables<T>,
    ) -> Result<(), OptimizerError> {
        let steps = self.iterations();
        let [learning_rate, momentum, ..] = self.settings.training.at(steps).map_err(OptimizerError::from)?;
        let (learning_rate, momentum) = (T::from_f64(learning_rate), T::from_f64(momentum));
        let training = self.training_for(variables)?;
        training.layout.check(NAME, gradients.variables())?;
        for variable in variables.iter().filter(|&variable| variables.is_trainable(variable)) {
            check_direction(gradients, variables, variable)?;
        }
        for index in 0..variables.len() {
            let Some(variable) = variables.iter().nth(index).filter(|&variable| variables.is_trainable(variable))
            else {
                continue;
            };
            let velocity = &mut training.velocity[variable.range()];
            for velocity in velocity.iter_mut() {
                *velocity *= momentum;
            }
            match gradients.of(variable) {
                Gradient::Absent => {}
                Gradient::Dense(direction) => {
                    for (velocity, &direction) in velocity.iter_mut().zip(direction) {
                        *velocity -= learning_rate * direction;
                    }
                }
                Gradient::Rows { rows, values } => {
                    let columns = variable.columns();
                    for (&row, values) in rows.iter().zip(values.chunks_exact(columns)) {
                        for (velocity, &direction) in velocity[row * columns..].iter_mut().zip(values) {
                            *velocity -= learning_rate * direction;
                        }
                    }
                }
            }
            for (value, &velocity) in variables.values_mut()[variable.range()].iter_mut().zip(velocity.iter()) {
                *value += velocity;
            }
        }
        training.steps += 1;
        Ok(())
    }

    fn iterations(&self) -> u64 {
        self.training.as_ref().map_or(0, |training| training.steps)
    }

    fn hyperparameters(&self) -> Vec<&'static str> {
        HYPERPARAMETERS.map(|spec| spec.name).to_vec()
    }

    fn hyperparameter(&self, name: &str) -> Result<Hyperparameter, OptimizerError> {
        Ok(self.settings.training.hyperparameters[place(name)?].clone())
    }

    fn set_hyperparameter(&mut self, name: &str, value: Hyperparameter) -> Result<(), OptimizerError> {
        let place = place(name)?;
        HYPERPARAMETERS[place].check(&value)?;
        self.settings.training.hyperparameters[place] = value;
        Ok(())
    }

    fn slots(&self) -> Vec<&'static str> {
        SLOTS.to_vec()
    }

    fn slot(&self, variable: Variable, name: &str) -> Result<ArrayViewD<'_, T>, OptimizerError> {
        let training = self.training.as_ref().ok_or_else(not_built)?;
        let slot = match name {
            "momentum" => &training.velocity,
            "scaling" => &training.scale,
            _ => {
                let known = SLOTS.map(str::to_owned).to_vec();
                return Err(OptimizerError::UnknownSlot { optimizer: NAME.to_owned(), name: name.to_owned(), known });
            }
        };
        training.layout.checked_view(NAME, variable, slot)
    }

    fn state(&self) -> OptimizerState<T> {
        let names = HYPERPARAMETERS.iter().map(|spec| spec.name.to_owned());
        let mut state = OptimizerState {
            optimizer: NAME.to_owned(),
            iterations: self.iterations(),
            hyperparameters: names.zip(self.settings.training.hyperparameters.iter().cloned()).collect(),
            ..OptimizerState::default()
        };
        if let Some(training) = &self.training {
            training.layout.save(&mut state);
            state.slots = vec![
                ("momentum".to_owned(), training.velocity.clone()),
                ("scaling".to_owned(), training.scale.clone()),
            ];
            state.numbers = training.save();
        }
        state
    }

    fn restore(&mut self, state: &OptimizerState<T>, variables: &Variables<T>) -> Result<(), OptimizerError> {
        let refuse = |difference: String| Err(OptimizerError::State { difference });
        if state.optimizer != NAME {
            return refuse(format!("it is of {}, not of {NAME}", state.optimizer));
        }
        let mut restored = self.clone();
        for (name, value) in &state.hyperparameters {
            restored.set_hyperparameter(name, value.clone())?;
        }
        if !state.variables.is_empty() {
            let mut training = Training::new(&restored.settings, &restored.damping, variables);
            training.layout.check_state(state)?;
            for (name, slot) in &state.slots {
                let target = match name.as_str() {
                    "momentum" => &mut training.velocity,
                    "scaling" => &mut training.scale,
                    _ => return refuse(format!("slot {name} is unknown")),
                };
                if slot.len() != target.len() {
                    return refuse(format!("slot {name} has {} numbers instead of {}", slot.len(), target.len()));
                }
                target.copy_from_slice(slot);
            }
            if !training.restore(&state.numbers) {
                return refuse("its damping is not that of this policy".to_owned());
            }
            training.steps = state.iterations;
            restored.training = Some(Box::new(training));
        }
        *self = restored;
        Ok(())
    }

    fn is_first_order(&self) -> bool {
        false
    }
}

/// Checks the direction for one variable.
fn check_direction<T: Real>(
    gradients: &Gradients<T>,
    variables: &Variables<T>,
    variable: Variable,
) -> Result<(), OptimizerError> {
    let name = || variables.name(variable).to_owned();
    let (values, rows): (&[T], &[usize]) = match gradients.of(variable) {
        Gradient::Absent => return Ok(()),
        Gradient::Dense(values) => (values, &[]),
        Gradient::Rows { rows, values } => (values, rows),
    };
    if let Some(&row) = rows.iter().find(|&&row| row >= variable.rows()) {
        return Err(OptimizerError::RowOutOfRange { variable: name(), row, rows: variable.rows() });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => {
            let value = values[index].to_f64();
            Err(OptimizerError::NonFiniteGradient { variable: name(), index, value })
        }
        None => Ok(()),
    }
}

fn not_built() -> OptimizerError {
    OptimizerError::NotBuilt { optimizer: NAME.to_owned() }
}

/// An error of the solver, under the name that all optimizers have for it.
fn own_error(error: SolveError) -> OptimizerError {
    match error {
        SolveError::Hyperparameter(error) => error.into(),
        SolveError::Evaluation(error) => error.into(),
        error => error.into(),
    }
}
