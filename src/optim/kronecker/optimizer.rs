//! The trait.

use ndarray::ArrayViewD;

use super::settings::HYPERPARAMETERS;
use super::{KroneckerLevenbergMarquardt, Memory, NAME, SLOTS};
use crate::optim::gradients::check_gradients;
use crate::optim::layout::Checked;
use crate::optim::{Hyperparameter, NonFinite, Optimizer, OptimizerError, OptimizerState, StepReport};
use crate::problem::Objective;
use crate::real::Real;
use crate::variables::{Gradients, Variable, Variables};

impl<T: Real> KroneckerLevenbergMarquardt<T> {
    /// Memory for these variables: made by the first step, and refused if it is for others.
    fn memory_for(&mut self, variables: &Variables<T>) -> Result<&mut Memory<T>, OptimizerError> {
        if self.memory.is_none() {
            self.build(variables)?;
        }
        let is_free = |variable: Variable| variables.is_trainable(variable) && !variable.is_empty();
        if !variables.iter().any(is_free) {
            return Err(OptimizerError::NothingToTrain);
        }
        let Some(memory) = &mut self.memory else { return Err(not_built()) };
        memory.layout.check(NAME, variables.iter())?;
        Ok(memory)
    }
}

impl<T: Real> Optimizer<T> for KroneckerLevenbergMarquardt<T> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&mut self, variables: &Variables<T>) -> Result<(), OptimizerError> {
        self.settings.check()?;
        self.memory = Some(Memory::new(&self.settings, variables));
        self.iterations = 0;
        Ok(())
    }

    fn step(
        &mut self,
        batch: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
    ) -> Result<StepReport<T>, OptimizerError> {
        self.memory_for(variables)?;
        let (settings, steps) = (&self.settings, self.iterations);
        let Some(memory) = &mut self.memory else { return Err(not_built()) };
        match memory.step(settings, steps, batch, variables) {
            Ok(report) => {
                self.iterations += 1;
                Ok(report)
            }
            Err(error) if settings.non_finite == NonFinite::Skip && is_non_finite(&error) => {
                let loss = if let OptimizerError::NonFiniteLoss { value } = error { value } else { f64::NAN };
                Ok(StepReport { loss: T::from_f64(loss), loss_after: None, applied: false, damped: None })
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the gradients for a direction that was computed elsewhere: `x ← x − learning_rate · direction + momentum ·
    /// (last step)`.
    fn apply_gradients(
        &mut self,
        gradients: &Gradients<T>,
        variables: &mut Variables<T>,
    ) -> Result<(), OptimizerError> {
        let now = self.settings.at(self.iterations)?;
        let memory = self.memory_for(variables)?;
        memory.layout.check(NAME, gradients.variables())?;
        check_gradients(gradients, variables)?;
        memory.apply_direction(&now, gradients, variables)?;
        self.iterations += 1;
        Ok(())
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn hyperparameters(&self) -> Vec<&'static str> {
        HYPERPARAMETERS.map(|spec| spec.name).to_vec()
    }

    fn hyperparameter(&self, name: &str) -> Result<Hyperparameter, OptimizerError> {
        Ok(self.settings.hyperparameters[place(name)?].clone())
    }

    fn set_hyperparameter(&mut self, name: &str, value: Hyperparameter) -> Result<(), OptimizerError> {
        let place = place(name)?;
        HYPERPARAMETERS[place].check(&value)?;
        self.settings.hyperparameters[place] = value;
        Ok(())
    }

    fn slots(&self) -> Vec<&'static str> {
        SLOTS.to_vec()
    }

    fn slot(&self, variable: Variable, name: &str) -> Result<ArrayViewD<'_, T>, OptimizerError> {
        if name != SLOTS[0] {
            return Err(OptimizerError::unknown_slot(NAME, name, SLOTS));
        }
        let memory = self.memory.as_ref().ok_or_else(not_built)?;
        memory.layout.checked_view(NAME, variable, &memory.velocity)
    }

    fn state(&self) -> OptimizerState<T> {
        let mut state = OptimizerState::default();
        self.save_into(&mut state);
        state
    }

    fn save_into(&self, state: &mut OptimizerState<T>) {
        self.save(state);
    }

    fn restore(&mut self, state: &OptimizerState<T>, variables: &Variables<T>) -> Result<(), OptimizerError> {
        self.take_over(state, variables)
    }

    fn is_first_order(&self) -> bool {
        false
    }
}

/// Returns the index of a hyperparameter in the table.
fn place(name: &str) -> Result<usize, OptimizerError> {
    let found = HYPERPARAMETERS.iter().position(|spec| spec.name == name);
    found.ok_or_else(|| OptimizerError::unknown_hyperparameter(NAME, name, HYPERPARAMETERS.map(|spec| spec.name)))
}

/// Returns true if the policy for NaN and infinity covers this error.
fn is_non_finite(error: &OptimizerError) -> bool {
    use OptimizerError::{NonFiniteCurvature, NonFiniteFactor, NonFiniteGradient, NonFiniteLoss, NonFiniteStep};
    matches!(
        error,
        NonFiniteLoss { .. }
            | NonFiniteGradient { .. }
            | NonFiniteStep { .. }
            | NonFiniteFactor { .. }
            | NonFiniteCurvature { .. }
    )
}

fn not_built() -> OptimizerError {
    OptimizerError::NotBuilt { optimizer: NAME.to_owned() }
}
