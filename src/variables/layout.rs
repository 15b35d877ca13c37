//! The names and shapes of variables, and where they lie in the flat vector.

use ndarray::{ArrayView, ArrayViewD, IxDyn};

use super::variables::NamedArray;
use super::{Variable, Variables};
use crate::real::Real;

/// Layout of the variables when something was built for them.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    entries: Vec<NamedArray>,
}

impl Layout {
    pub(crate) fn of<T>(variables: &Variables<T>) -> Self {
        Layout { entries: variables.entries.clone() }
    }

    /// The variables.
    pub(crate) fn variables(&self) -> impl ExactSizeIterator<Item = Variable> {
        self.entries.iter().map(|entry| entry.handle)
    }

    /// Names and shapes.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &[usize])> {
        self.entries.iter().map(|entry| (entry.name.as_str(), entry.shape.as_slice()))
    }

    /// Entries in all variables.
    pub(crate) fn numbers(&self) -> usize {
        self.entries.last().map_or(0, |last| last.handle.range().end)
    }

    /// Describes the first difference between two layouts of variables or gradients in memory; `None` if there is none. Compares
    /// no names, as every step calls it.
    pub(crate) fn difference(&self, mut handles: impl ExactSizeIterator<Item = Variable>) -> Option<String> {
        let (expected, found) = (self.entries.len(), handles.len());
        if expected != found {
            return Some(format!("{expected} then, {found} now"));
        }
        let entry = self.entries.iter().find(|entry| handles.next() != Some(entry.handle))?;
        Some(format!("{} had the shape {:?}", entry.name, entry.shape))
    }

    /// Names and shapes, to be saved.
    pub(crate) fn to_saved(&self) -> Vec<(String, Vec<usize>)> {
        self.iter().map(|(name, shape)| (name.to_owned(), shape.to_vec())).collect()
    }

    /// Describes the first difference of names and shapes that were saved; `None` if there is none.
    pub(crate) fn difference_of_saved(&self, saved: &[(String, Vec<usize>)]) -> Option<String> {
        let (expected, found) = (self.entries.len(), saved.len());
        if expected != found {
            return Some(format!("it is of {found} variables, not {expected}"));
        }
        self.iter().zip(saved).find_map(|((expected_name, expected_shape), (name, shape))| {
            if expected_name != name {
                return Some(format!("it has {name} in place of {expected_name}"));
            }
            let difference = || format!("{name} has the shape {shape:?} there and {expected_shape:?} here");
            (expected_shape != shape).then(difference)
        })
    }

    /// Overwrites the trainable variables with as many entries as all variables have.
    pub(crate) fn write_trainable<T: Real>(&self, values: &[T], variables: &mut Variables<T>) {
        for variable in self.variables() {
            if variables.is_trainable(variable) {
                variables.values_mut()[variable.range()].copy_from_slice(&values[variable.range()]);
            }
        }
    }

    /// The shape of a variable; `None` where it is not one of these.
    pub(crate) fn shape(&self, variable: Variable) -> Option<&[usize]> {
        self.entries.get(variable.index()).filter(|entry| entry.handle == variable).map(|entry| entry.shape.as_slice())
    }

    /// One variable's part of as many entries as all variables have; `None` where it is not one of these.
    pub(crate) fn view<'a, T>(&self, variable: Variable, flat: &'a [T]) -> Option<ArrayViewD<'a, T>> {
        let shape = IxDyn(self.shape(variable)?);
        Some(ArrayView::from_shape(shape, &flat[variable.range()]).expect("a range has its shape's size"))
    }
}
