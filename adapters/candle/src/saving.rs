//! Trainings in files of candle's format.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{DType, Device, Tensor};
use marquardt::optim::{Optimizer, OptimizerState};

use crate::element::{dtype, read};
use crate::{Element, LeastSquaresTrainer, TrainerError};

/// Name of the tensor that holds names, counts and hyperparameters, and the beginning of the names of those that hold numbers.
const HEADER: &str = "marquardt.trainer";

impl<T: Element, O: Optimizer<T>> LeastSquaresTrainer<T, O> {
    /// Saves the training in one safetensors file: all variables of the map under their names, so that
    /// [`VarMap::load`](candle_nn::VarMap::load) reads them, and the state of the optimizer beside them.
    ///
    /// A file that was there is replaced once the new one is written.
    ///
    /// # Errors
    ///
    /// [`TrainerError::Candle`] where the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TrainerError> {
        let mut tensors: HashMap<String, Tensor> = HashMap::new();
        {
            let data = self.varmap.data().lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            tensors.extend(data.iter().map(|(name, var)| (name.clone(), var.as_detached_tensor())));
        }
        let header = (split(self.optimizer.state(), HEADER, &mut tensors)?, self.steps, self.seed);
        let header = serde_json::to_vec(&header).map_err(candle_core::Error::wrap)?;
        let count = header.len();
        tensors.insert(HEADER.to_owned(), Tensor::from_vec(header, count, &Device::Cpu)?);
        let mut part = path.as_ref().as_os_str().to_owned();
        part.push(".part");
        candle_core::safetensors::save(&tensors, &part)?;
        std::fs::rename(&part, path).map_err(candle_core::Error::wrap)?;
        Ok(())
    }

    /// Goes on with a training that was [saved](Self::save): the next step is to the last bit what it would have been. The trainer is
    /// to be made as it was then, for the same model.
    ///
    /// # Errors
    ///
    /// [`TrainerError::File`] for a file of something else, which names what differs; [`TrainerError::Optimizer`] for a state of
    /// another optimizer; [`TrainerError::Candle`] where there is no such file. Nothing has changed then.
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<(), TrainerError> {
        let path = path.as_ref();
        let mut tensors = candle_core::safetensors::load(path, &Device::Cpu)?;
        let (state, steps, seed, values) = self
            .match_file(&mut tensors)
            .map_err(|difference| TrainerError::File { path: path.display().to_string(), difference })?;
        self.optimizer.restore(&state, &self.variables)?;
        (self.steps, self.seed) = (steps, seed);
        let data = self.varmap.data().lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for (name, value) in values {
            if let Some(var) = data.get(&name) {
                var.set(&value.to_device(var.device())?)?;
            }
        }
        Ok(())
    }

    /// State, steps, seed and values of all variables in a file; or what differs.
    #[expect(clippy::type_complexity, reason = "named where it is taken apart")]
    fn match_file(
        &self,
        tensors: &mut HashMap<String, Tensor>,
    ) -> Result<(OptimizerState<T>, u64, u64, Vec<(String, Tensor)>), String> {
        let header = tensors.get(HEADER).ok_or("it holds no state of an optimizer")?;
        let header = header.to_vec1::<u8>().map_err(|error| error.to_string())?;
        let (header, steps, seed): (OptimizerState<f64>, u64, u64) =
            serde_json::from_slice(&header).map_err(|error| error.to_string())?;
        let state = join(header, HEADER, tensors)?;
        let data = self.varmap.data().lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut values = Vec::with_capacity(data.len());
        for (name, var) in data.iter() {
            let value = tensors.remove(name).ok_or_else(|| format!("variable {name} is missing"))?;
            if (value.dims(), value.dtype()) != (var.dims(), var.dtype()) {
                let [found, expected] = [(value.dtype(), value.dims()), (var.dtype(), var.dims())];
                return Err(format!("variable {name} is {found:?}, not {expected:?}"));
            }
            values.push((name.clone(), value));
        }
        Ok((state, steps, seed, values))
    }
}

/// Takes the numbers of a state out into tensors; their names stay.
fn split<T: Element>(
    state: OptimizerState<T>,
    prefix: &str,
    tensors: &mut HashMap<String, Tensor>,
) -> candle_core::Result<OptimizerState<f64>> {
    let OptimizerState { optimizer, iterations, hyperparameters, variables, slots, numbers, parts } = state;
    let mut header =
        OptimizerState { optimizer, iterations, hyperparameters, variables, ..OptimizerState::<f64>::default() };
    for (name, slot) in slots {
        put(tensors, format!("{prefix}.slot.{name}"), slot)?;
        header.slots.push((name, Vec::new()));
    }
    for (name, list) in numbers {
        put(tensors, format!("{prefix}.numbers.{name}"), list)?;
        header.numbers.push((name, Vec::new()));
    }
    for (index, part) in parts.into_iter().enumerate() {
        header.parts.push(split(part, &format!("{prefix}.part.{index}"), tensors)?);
    }
    Ok(header)
}

/// Puts the numbers of a state back; or says what is missing.
fn join<T: Element>(
    header: OptimizerState<f64>,
    prefix: &str,
    tensors: &HashMap<String, Tensor>,
) -> Result<OptimizerState<T>, String> {
    let OptimizerState { optimizer, iterations, hyperparameters, variables, slots, numbers, parts } = header;
    let mut state = OptimizerState { optimizer, iterations, hyperparameters, variables, ..OptimizerState::default() };
    for (name, _) in slots {
        let slot = take::<T>(tensors, &format!("{prefix}.slot.{name}"))?;
        state.slots.push((name, slot));
    }
    for (name, _) in numbers {
        let list = take::<f64>(tensors, &format!("{prefix}.numbers.{name}"))?;
        state.numbers.push((name, list));
    }
    for (index, part) in parts.into_iter().enumerate() {
        state.parts.push(join(part, &format!("{prefix}.part.{index}"), tensors)?);
    }
    Ok(state)
}

/// Lists without numbers have no tensor.
fn put<E: Element>(tensors: &mut HashMap<String, Tensor>, name: String, list: Vec<E>) -> candle_core::Result<()> {
    let count = list.len();
    if count > 0 {
        tensors.insert(name, Tensor::from_vec(list, count, &Device::Cpu)?);
    }
    Ok(())
}

fn take<E: Element>(tensors: &HashMap<String, Tensor>, name: &str) -> Result<Vec<E>, String> {
    let Some(tensor) = tensors.get(name) else { return Ok(Vec::new()) };
    let (found, expected): (DType, DType) = (tensor.dtype(), dtype::<E>());
    if found != expected {
        return Err(format!("{name} is of {found:?}, not of {expected:?}"));
    }
    let mut list = vec![E::ZERO; tensor.elem_count()];
    read(tensor, &mut list).map_err(|error| error.to_string())?;
    Ok(list)
}
