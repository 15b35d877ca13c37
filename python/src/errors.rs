//! Errors of the engine as Python's exceptions.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex};

use marquardt::EvaluationError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// An exception of a user's function, on its way through the engine.
#[derive(Debug)]
struct Raised(String);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Raised {}

/// The first exception of a user's function during a fit. It is raised once the fit has ended, whatever became of it.
#[derive(Clone, Default)]
pub struct FirstException(Arc<Mutex<Option<PyErr>>>);

impl FirstException {
    /// Keeps an exception, and returns the error that ends the fit.
    pub fn keep(&self, exception: PyErr) -> EvaluationError {
        let message = exception.to_string();
        self.lock().get_or_insert(exception);
        EvaluationError::new(Raised(message))
    }

    /// An exception was raised before.
    pub fn is_raised(&self) -> bool {
        self.lock().is_some()
    }

    /// Raises the exception, if there was one.
    pub fn raise(&self) -> PyResult<()> {
        self.lock().take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// `ValueError` for wrong arguments.
pub fn value_error(error: impl fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// `RuntimeError` for failures after the arguments were accepted.
pub fn runtime_error(error: impl fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
