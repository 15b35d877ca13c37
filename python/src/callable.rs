//! Functions of Python that no program repeats. They are called by the thread alone that asked for the fit.

use std::sync::Arc;

use marquardt::EvaluationError;
use marquardt::autodiff::Difference;
use marquardt::curve::Curve;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::FirstException;

/// A function `f(x, *parameters)` of a model.
#[derive(Clone)]
pub struct Callable {
    function: Arc<Py<PyAny>>,
    /// The predictors as they were given. The engine has the numbers of the rows in their place.
    x: Arc<Py<PyAny>>,
    rows: usize,
    jacobian: Option<Arc<Py<PyAny>>>,
    /// Parameters at which the responses are known.
    known: Option<Arc<(Vec<f64>, Vec<f64>)>>,
    pub parameters: Vec<String>,
    pub difference: Difference,
    pub exception: FirstException,
}

/// The differences of this name in SciPy.
pub fn difference(name: &str) -> PyResult<Difference> {
    match name {
        "2-point" => Ok(Difference::Forward),
        "3-point" | "cs" => Ok(Difference::Central),
        _ => Err(PyValueError::new_err(format!("jac must be '2-point', '3-point', 'cs' or a function, not {name:?}"))),
    }
}

impl Callable {
    pub fn new(
        function: Py<PyAny>,
        (x, rows): (Py<PyAny>, usize),
        parameters: Vec<String>,
        jacobian: Option<Py<PyAny>>,
        of_name: &str,
    ) -> PyResult<Self> {
        Ok(Callable {
            function: Arc::new(function),
            x: Arc::new(x),
            rows,
            jacobian: jacobian.map(Arc::new),
            known: None,
            parameters,
            difference: difference(of_name)?,
            exception: FirstException::default(),
        })
    }

    /// The same with its value at some parameters.
    pub fn knowing(self, at: Vec<f64>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut responses = vec![0.0; self.rows];
        fill(value, &mut responses, "f")?;
        Ok(Callable { known: Some(Arc::new((at, responses))), ..self })
    }

    pub fn has_jacobian(&self) -> bool {
        self.jacobian.is_some()
    }

    /// Calls a function with the predictors and parameters, and hands its result to `take`.
    fn call(
        &self,
        function: &Py<PyAny>,
        parameters: &[f64],
        take: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
    ) -> Result<(), EvaluationError> {
        if self.exception.is_raised() {
            return Err("the function has raised an exception".into());
        }
        let called = Python::attach(|py| {
            // Parameters are NumPy's numbers, as from SciPy: they overflow to infinity where Python's raise an exception.
            let numbers = PyArray1::from_slice(py, parameters);
            let mut arguments = Vec::with_capacity(1 + parameters.len());
            arguments.push(self.x.bind(py).clone());
            for number in numbers.try_iter()? {
                arguments.push(number?);
            }
            take(&function.bind(py).call1(PyTuple::new(py, arguments)?)?)
        });
        called.map_err(|exception| self.exception.keep(exception))
    }

    /// Fills in the responses to rows of these numbers.
    pub fn responses(&self, rows: &[f64], parameters: &[f64], responses: &mut [f64]) -> Result<(), EvaluationError> {
        if self.are_all(rows) {
            if let Some(known) = self.known.as_ref().filter(|known| known.0 == parameters) {
                responses.copy_from_slice(&known.1);
                return Ok(());
            }
            return self.call(&self.function, parameters, |result| fill(result, responses, "f"));
        }
        let mut all = vec![0.0; self.rows];
        self.call(&self.function, parameters, |result| fill(result, &mut all, "f"))?;
        self.gather(rows, &all, 1, responses)
    }

    /// These are all rows, in their order.
    fn are_all(&self, rows: &[f64]) -> bool {
        rows.len() == self.rows && rows.iter().enumerate().all(|(index, &row)| row == index as f64)
    }

    /// Copies the entries of some rows of a matrix.
    fn gather(&self, rows: &[f64], all: &[f64], width: usize, values: &mut [f64]) -> Result<(), EvaluationError> {
        for (&row, to) in rows.iter().zip(values.chunks_exact_mut(width)) {
            let index = row as usize;
            if row != index as f64 || index >= self.rows {
                return Err("a function of Python is evaluated where it has data alone".into());
            }
            to.copy_from_slice(&all[index * width..(index + 1) * width]);
        }
        Ok(())
    }
}

/// Copies what a function has returned; a single number stands for all.
pub fn fill(result: &Bound<'_, PyAny>, values: &mut [f64], name: &str) -> PyResult<()> {
    if let Ok(array) = result.extract::<PyReadonlyArray1<'_, f64>>() {
        return copy(&array, values, name);
    }
    if result.is_none() {
        return Err(PyTypeError::new_err(format!("{name} returned None instead of an array; is a return missing?")));
    }
    let py = result.py();
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (result,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if kind == "c" {
        return Err(PyTypeError::new_err(format!("{name} returned complex numbers; return real and imaginary parts")));
    }
    let array = numpy.call_method1("asarray", (array, "float64"))?.call_method0("ravel")?;
    copy(&array.extract::<PyReadonlyArray1<'_, f64>>()?, values, name)
}

fn copy(array: &PyReadonlyArray1<'_, f64>, values: &mut [f64], name: &str) -> PyResult<()> {
    let found = array.len();
    match found {
        1 if values.len() != 1 => values.fill(array.as_array()[0]),
        _ if found == values.len() => values.iter_mut().zip(array.as_array()).for_each(|(to, from)| *to = *from),
        _ => {
            let expected = values.len();
            return Err(PyValueError::new_err(format!(
                "operands could not be broadcast together: {name} returned {found} values for {expected} observations"
            )));
        }
    }
    Ok(())
}

/// A function with derivatives of the user's.
impl Curve<f64> for Callable {
    fn parameter_count(&self) -> usize {
        self.parameters.len()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.parameters[index].clone()
    }

    fn takes_all_rows(&self) -> bool {
        true
    }

    fn derivatives_are_cheap(&self) -> bool {
        false
    }

    fn responses(&self, x: &[f64], _width: usize, b: &[f64], y: &mut [f64]) -> Result<(), EvaluationError> {
        Callable::responses(self, x, b, y)
    }

    fn linearize(
        &self,
        x: &[f64],
        width: usize,
        b: &[f64],
        y: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        Callable::responses(self, x, b, y)?;
        self.differentiate(x, width, b, y, jacobian).map(|_| ())
    }

    fn differentiate(
        &self,
        x: &[f64],
        _width: usize,
        b: &[f64],
        _y: &[f64],
        jacobian: &mut [f64],
    ) -> Result<bool, EvaluationError> {
        let Some(function) = &self.jacobian else { return Ok(false) };
        let shape = [self.rows, b.len()];
        if self.are_all(x) {
            self.call(function, b, |result| fill_matrix(result, shape, jacobian))?;
            return Ok(true);
        }
        let mut all = vec![0.0; self.rows * b.len()];
        self.call(function, b, |result| fill_matrix(result, shape, &mut all))?;
        self.gather(x, &all, b.len(), jacobian)?;
        Ok(true)
    }
}

/// Copies a matrix that a function has returned, an array or a sparse matrix.
pub fn fill_matrix(result: &Bound<'_, PyAny>, [rows, columns]: [usize; 2], values: &mut [f64]) -> PyResult<()> {
    let py = result.py();
    let dense = if result.hasattr("toarray")? { result.call_method0("toarray")? } else { result.clone() };
    let array = py.import("numpy")?.call_method1("atleast_2d", (dense,))?.call_method1("astype", ("float64",))?;
    let array = array.extract::<PyReadonlyArray2<'_, f64>>()?;
    if array.shape() != [rows, columns] {
        let found = array.shape();
        return Err(PyValueError::new_err(format!(
            "jac returned a matrix of shape ({}, {}), expected ({rows}, {columns})",
            found[0], found[1]
        )));
    }
    values.iter_mut().zip(array.as_array()).for_each(|(to, from)| *to = *from);
    Ok(())
}
