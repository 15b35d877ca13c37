//! Programs of functions that were recorded in Python.

use marquardt::curve::{BuiltFormula, Expression, FormulaBuilder};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::errors::value_error;

/// Compiles the result of a graph: tuples of an operation and its arguments, each after those that it takes.
pub fn compile(
    parameters: &[String],
    columns: usize,
    nodes: &Bound<'_, PyList>,
    result: usize,
) -> PyResult<BuiltFormula> {
    let mut builder = FormulaBuilder::new();
    // No name of a parameter is one of these.
    let columns: Vec<Expression> = (0..columns).map(|index| builder.predictor(&format!("\0{index}"))).collect();
    let parameters: Vec<Expression> = parameters.iter().map(|name| builder.parameter(name)).collect();
    let mut made: Vec<Expression> = Vec::with_capacity(result + 1);
    let unknown = || PyValueError::new_err("a node takes what is not there");
    for node in nodes.iter().take(result + 1) {
        let node = node.cast::<PyTuple>()?;
        let operation = node.get_item(0)?;
        let operation = operation.extract::<std::borrow::Cow<'_, str>>()?;
        let argument = |place: usize| -> PyResult<Expression> {
            let index = node.get_item(place)?.extract::<usize>()?;
            made.get(index).copied().ok_or_else(unknown)
        };
        let of = |list: &[Expression]| -> PyResult<Expression> {
            list.get(node.get_item(1)?.extract::<usize>()?).copied().ok_or_else(unknown)
        };
        let expression = match &*operation {
            "const" => builder.constant(node.get_item(1)?.extract()?),
            "column" => of(&columns)?,
            "param" => of(&parameters)?,
            "add" => builder.add(argument(1)?, argument(2)?),
            "sub" => builder.subtract(argument(1)?, argument(2)?),
            "mul" => builder.multiply(argument(1)?, argument(2)?),
            "div" => builder.divide(argument(1)?, argument(2)?),
            "neg" => builder.negate(argument(1)?),
            "select" => builder.select_less(argument(1)?, argument(2)?, argument(3)?, argument(4)?),
            name => {
                let arguments = (1..node.len()).map(argument).collect::<PyResult<Vec<_>>>()?;
                builder.call(name, &arguments)
            }
        };
        made.push(expression);
    }
    let response = *made.last().ok_or_else(unknown)?;
    builder.finish(response).map_err(value_error)
}
