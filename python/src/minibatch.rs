//! Levenberg–Marquardt over parameters of another library, one minibatch at a time.

use marquardt::optim::{Optimizer, OptimizerState};
use marquardt::problem::{Analytic, SumOfSquares};
use marquardt::{LevenbergMarquardt, Variables};
use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callable::{fill, fill_matrix};
use crate::errors::{FirstException, value_error};
use crate::run;

/// Name of the one variable that holds all parameters.
const PARAMETERS: &str = "parameters";

/// Lists of numbers by name.
type Numbers = Vec<(String, Vec<f64>)>;

/// Damping, momentum and scaling, which are carried from one minibatch to the next.
#[pyclass(module = "marquardt._engine")]
pub struct MinibatchSolver {
    optimizer: LevenbergMarquardt<f64>,
    parameters: usize,
}

#[pymethods]
impl MinibatchSolver {
    /// A solver for this number of parameters.
    #[new]
    fn new(parameters: usize) -> Self {
        MinibatchSolver { optimizer: LevenbergMarquardt::new().with_log(false), parameters }
    }

    /// Sets a hyperparameter by its name.
    fn set(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.optimizer.set_hyperparameter(name, value.into()).map_err(value_error)
    }

    /// One damped step from `x`, of least loss `½‖r‖²` over this number of residuals.
    ///
    /// `residuals(x)` returns `r`, and `linearize(x)` returns `r` and its Jacobian. Returns the parameters after the step, and what was done.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        x: PyReadonlyArray1<'py, f64>,
        count: usize,
        residuals: Py<PyAny>,
        linearize: Py<PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyDict>)> {
        if x.len() != self.parameters {
            return Err(value_error(format!("x has {} entries for {} parameters", x.len(), self.parameters)));
        }
        let mut variables = Variables::new();
        variables.add(PARAMETERS, x.as_array()).map_err(value_error)?;
        let exception = FirstException::default();
        let of_function = exception.clone();
        let function = move |at: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
            let evaluated = Python::attach(|py| {
                let point = PyArray1::from_slice(py, at);
                let Some(jacobian) = jacobian else {
                    return fill(&residuals.bind(py).call1((point,))?, r, "residuals");
                };
                let (values, matrix): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                    linearize.bind(py).call1((point,))?.extract()?;
                fill(&values, r, "residuals")?;
                fill_matrix(&matrix, [r.len(), at.len()], jacobian)
            });
            evaluated.map_err(|exception| of_function.keep(exception))
        };
        let mut batch = SumOfSquares::new(Analytic::new(self.parameters, count, function));
        let optimizer = &mut self.optimizer;
        let made = run::here(py, || optimizer.step(&mut batch, &mut variables));
        exception.raise()?;
        let made = made.map_err(value_error)?;
        let done = PyDict::new(py);
        done.set_item("loss", made.loss)?;
        done.set_item("loss_after", made.loss_after)?;
        done.set_item("applied", made.applied)?;
        if let Some(damped) = made.damped {
            done.set_item("damping", damped.damping)?;
            done.set_item("gain_ratio", damped.gain_ratio)?;
            done.set_item("attempts", damped.attempts)?;
            done.set_item("form", format!("{:?}", damped.linear_form))?;
        }
        Ok((PyArray1::from_slice(py, variables.values()), done))
    }

    /// Steps made, slots, and other numbers, from which the solver goes on.
    fn state(&self) -> (u64, Numbers, Numbers) {
        let mut state = OptimizerState::default();
        self.optimizer.save_into(&mut state);
        (state.iterations, state.slots, state.numbers)
    }

    /// Goes on from a state, with the hyperparameters that are set.
    fn restore(&mut self, iterations: u64, slots: Numbers, numbers: Numbers) -> PyResult<()> {
        let mut variables = Variables::new();
        let zeros = vec![0.0; self.parameters];
        variables.add(PARAMETERS, ArrayView1::from(&zeros)).map_err(value_error)?;
        let of_variables = match slots.is_empty() {
            true => Vec::new(),
            false => vec![(PARAMETERS.to_owned(), vec![self.parameters])],
        };
        let optimizer = self.optimizer.name().to_owned();
        let state =
            OptimizerState { optimizer, iterations, variables: of_variables, slots, numbers, ..Default::default() };
        self.optimizer.restore(&state, &variables).map_err(value_error)
    }
}
