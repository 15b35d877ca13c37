//! Errors of variables.

use thiserror::Error;

/// Errors of adding variables or setting their values.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum VariableError {
    /// There is a variable of this name already.
    #[error("there is a variable named {name} already")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// The values have another shape than the variable.
    #[error("{name} has the shape {expected:?}, but the values have {found:?}")]
    Shape {
        /// The variable's name.
        name: String,
        /// Its shape.
        expected: Vec<usize>,
        /// The shape of the values.
        found: Vec<usize>,
    },
    /// A value is NaN or infinite.
    #[error("{name}[{index}] is {value}")]
    NonFinite {
        /// The variable's name.
        name: String,
        /// Index of the number in it, in row-major order.
        index: usize,
        /// The value.
        value: f64,
    },
}
