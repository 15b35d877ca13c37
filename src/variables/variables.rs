//! The variables: named ranges of one flat vector.

use std::ops::Range;

use ndarray::{ArrayView, ArrayViewD, ArrayViewMutD, Dimension};

use super::VariableError;
use crate::distributed::{Communicator, CommunicatorError};
use crate::real::Real;

/// A handle to one of the [`Variables`]: cheap to copy, and valid for the variables that it came from.
///
/// As a matrix, a variable has the columns of its last dimension, and its other dimensions are the rows; a vector is one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variable {
    index: usize,
    offset: usize,
    rows: usize,
    columns: usize,
}

impl Variable {
    /// Its place in the order of the variables.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Its place in the flat vector.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.len()
    }

    /// Rows, seen as a matrix.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns, seen as a matrix.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Reshapes the entries to a matrix of `rows` rows.
    pub(crate) fn with_rows(self, rows: usize) -> Self {
        Variable { rows, columns: self.len() / rows, ..self }
    }

    /// Number of entries that it holds.
    pub fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// Returns true if it holds no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The entries that an optimizer adjusts: one flat vector, seen as named arrays in row-major order.
///
/// Arrays are read and written as `ndarray` views. Optimizers do not change frozen variables.
///
/// ```
/// use marquardt::Variables;
/// use ndarray::array;
///
/// let mut variables = Variables::new();
/// let weight = variables.add("0.weight", array![[1.0, 2.0], [3.0, 4.0]].view())?;
/// let bias = variables.add("0.bias", array![0.0, 0.5].view())?;
/// assert_eq!(variables.values(), [1.0, 2.0, 3.0, 4.0, 0.0, 0.5]);
///
/// variables.get_mut(bias)[[0]] = 7.0;
/// variables.set_trainable(weight, false);
/// assert_eq!(variables.get(bias), array![7.0, 0.5].into_dyn());
/// assert_eq!(variables.trainable_ranges(), [4..6]);
/// # Ok::<(), marquardt::variables::VariableError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Variables<T> {
    values: Vec<T>,
    pub(super) entries: Vec<NamedArray>,
}

/// Layout of one variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedArray {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    pub(super) handle: Variable,
    trainable: bool,
}

impl<T: Real> Variables<T> {
    /// Creates an empty set of variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a trainable variable at the end.
    ///
    /// # Errors
    ///
    /// [`VariableError::Duplicate`], or [`VariableError::NonFinite`]; nothing is added then.
    pub fn add<D: Dimension>(
        &mut self,
        name: impl Into<String>,
        values: ArrayView<'_, T, D>,
    ) -> Result<Variable, VariableError> {
        let name = name.into();
        if self.find(&name).is_some() {
            return Err(VariableError::Duplicate { name });
        }
        if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(VariableError::NonFinite { name, index, value: value.to_f64() });
        }
        let columns = values.shape().last().copied().unwrap_or(1);
        let rows = values.len().checked_div(columns).unwrap_or(0);
        let handle = Variable { index: self.entries.len(), offset: self.values.len(), rows, columns };
        self.values.extend(values.iter());
        self.entries.push(NamedArray { name, shape: values.shape().to_vec(), handle, trainable: true });
        Ok(handle)
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no variables.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries of all variables.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All entries of all variables, to change.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Handles to all variables, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Variable> + Clone + '_ {
        self.entries.iter().map(|entry| entry.handle)
    }

    /// The variable of this name.
    pub fn find(&self, name: &str) -> Option<Variable> {
        self.entries.iter().find(|entry| entry.name == name).map(|entry| entry.handle)
    }

    /// A variable's name.
    pub fn name(&self, variable: Variable) -> &str {
        &self.entries[variable.index].name
    }

    /// A variable's shape.
    pub fn shape(&self, variable: Variable) -> &[usize] {
        &self.entries[variable.index].shape
    }

    /// A variable's values.
    pub fn get(&self, variable: Variable) -> ArrayViewD<'_, T> {
        ArrayViewD::from_shape(self.shape(variable), &self.values[variable.range()])
            .expect("a range has its shape's size")
    }

    /// A variable's values, to change.
    pub fn get_mut(&mut self, variable: Variable) -> ArrayViewMutD<'_, T> {
        let shape = self.entries[variable.index].shape.as_slice();
        ArrayViewMutD::from_shape(shape, &mut self.values[variable.range()]).expect("a range has its shape's size")
    }

    /// Replaces a variable's values.
    ///
    /// # Errors
    ///
    /// [`VariableError::Shape`]; the variable is unchanged then.
    pub fn assign<D: Dimension>(
        &mut self,
        variable: Variable,
        values: ArrayView<'_, T, D>,
    ) -> Result<(), VariableError> {
        if values.shape() != self.shape(variable) {
            let (name, expected) = (self.name(variable).to_owned(), self.shape(variable).to_vec());
            return Err(VariableError::Shape { name, expected, found: values.shape().to_vec() });
        }
        self.get_mut(variable).assign(&values.into_dyn());
        Ok(())
    }

    /// Gives all ranks the values of rank 0. Collective.
    ///
    /// Training over ranks starts from variables that are the same everywhere, as Keras' mirrored variables are: made from
    /// the same seed, loaded from the same file, or mirrored.
    ///
    /// # Errors
    ///
    /// [`CommunicatorError`]; also where ranks have not as many entries.
    pub fn mirror(&mut self, ranks: &Communicator) -> Result<(), CommunicatorError> {
        ranks.broadcast(&mut self.values)
    }

    /// Returns true if optimizers adjust the variable.
    pub fn is_trainable(&self, variable: Variable) -> bool {
        self.entries[variable.index].trainable
    }

    /// Sets whether optimizers adjust the variable (`true`, the default) or leave it frozen (`false`).
    pub fn set_trainable(&mut self, variable: Variable, trainable: bool) {
        self.entries[variable.index].trainable = trainable;
    }

    /// The parts of the flat vector that optimizers adjust, neighbours joined.
    pub fn trainable_ranges(&self) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        self.collect_trainable_ranges(&mut ranges);
        ranges
    }

    /// Replaces `ranges` by the [`trainable_ranges`](Self::trainable_ranges).
    pub(crate) fn collect_trainable_ranges(&self, ranges: &mut Vec<Range<usize>>) {
        ranges.clear();
        for entry in self.entries.iter().filter(|entry| entry.trainable && !entry.handle.is_empty()) {
            let range = entry.handle.range();
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range),
            }
        }
    }

    /// Name of a number of the flat vector: its variable's name and its place in it, `0.weight[3]`.
    pub fn parameter_name(&self, index: usize) -> String {
        match self.entries.iter().find(|entry| entry.handle.range().contains(&index)) {
            Some(entry) => format!("{}[{}]", entry.name, index - entry.handle.offset),
            None => format!("x[{index}]"),
        }
    }
}
