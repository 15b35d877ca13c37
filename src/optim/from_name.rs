//! Optimizers by name.

use super::{
    Adagrad, Adam, AdamW, KroneckerLevenbergMarquardt, Optimizer, OptimizerError, OptimizerResult, RmsProp, Sgd,
};
use crate::real::Real;
use crate::solver::LevenbergMarquardt;

/// Names of the optimizers.
const NAMES: [&str; 7] =
    ["adagrad", "adam", "adamw", "kronecker_levenberg_marquardt", "levenberg_marquardt", "rmsprop", "sgd"];

/// Returns the optimizer of this name with its defaults, as Keras' `optimizers.get`; learning rates are Keras' too, 0.01 for SGD and 0.001 for
/// the other first-order rules. Case, `_` and `-` do not count, so that Keras' `RMSprop` and `adamw` are known.
///
/// ```
/// use marquardt::optim::{from_name, Optimizer};
///
/// let mut optimizer: Box<dyn Optimizer<f64>> = from_name("RMSprop")?;
/// assert_eq!(optimizer.name(), "rmsprop");
/// let error = from_name::<f64>("lion").err().unwrap();
/// assert!(error.to_string().contains("levenberg_marquardt"));
/// # Ok::<(), marquardt::optim::OptimizerError>(())
/// ```
///
/// # Errors
///
/// [`OptimizerError::UnknownOptimizer`], with the names that are known.
pub fn from_name<T: Real>(name: &str) -> OptimizerResult<Box<dyn Optimizer<T>>> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
    let found = NAMES.into_iter().find(|known| plain(known) == plain(name));
    Ok(match found {
        Some("adagrad") => Box::new(Adagrad::new(0.001)),
        Some("adam") => Box::new(Adam::new(0.001)),
        Some("adamw") => Box::new(AdamW::new(0.001)),
        Some("kronecker_levenberg_marquardt") => Box::new(KroneckerLevenbergMarquardt::new()),
        Some("levenberg_marquardt") => Box::new(LevenbergMarquardt::new()),
        Some("rmsprop") => Box::new(RmsProp::new(0.001)),
        Some("sgd") => Box::new(Sgd::new(0.01)),
        _ => return Err(OptimizerError::UnknownOptimizer { name: name.to_owned(), known: NAMES.to_vec() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_that_of_its_optimizer() {
        for name in NAMES {
            assert_eq!(from_name::<f32>(name).unwrap().name(), name);
        }
    }
}
