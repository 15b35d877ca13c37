//! Gradients of a loss, one for each variable.

use super::{Variable, Variables};
use crate::Real;

/// The gradient with respect to one variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gradient<'a, T> {
    /// The loss does not depend on the variable.
    Absent,
    /// As many numbers as the variable has, in the same order.
    Dense(&'a [T]),
    /// Some rows of it; all others are zero. A row that appears more than once counts as often: its values are summed.
    Rows {
        /// Which rows.
        rows: &'a [usize],
        /// Their values, row after row.
        values: &'a [T],
    },
}

/// Gradients of a loss with respect to all variables, in memory that is used again from step to step.
///
/// ```
/// use marquardt::{Gradient, Gradients, Variables};
/// use ndarray::{array, Array2};
///
/// let mut variables = Variables::new();
/// let table = variables.add("table", Array2::zeros((100, 2)).view())?;
/// let bias = variables.add("bias", array![0.0].view())?;
///
/// let mut gradients = Gradients::new(&variables);
/// gradients.dense_mut(bias)[0] += 1.0;
/// gradients.add_row(table, 7, &[0.5, -0.5]);
/// assert_eq!(gradients.of(table), Gradient::Rows { rows: &[7], values: &[0.5, -0.5] });
/// # Ok::<(), marquardt::VariableError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gradients<T> {
    /// As many numbers as the variables have together; those of a variable count while it is dense.
    flat: Vec<T>,
    entries: Vec<Entry<T>>,
}

#[derive(Debug, Clone)]
struct Entry<T> {
    variable: Variable,
    kind: Kind,
    rows: Vec<usize>,
    values: Vec<T>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Absent,
    Dense,
    Rows,
}

impl<T: Real> Gradients<T> {
    /// Room for these variables' gradients; all absent.
    pub fn new(variables: &Variables<T>) -> Self {
        let entry = |variable| Entry { variable, kind: Kind::Absent, rows: Vec::new(), values: Vec::new() };
        Gradients { flat: vec![T::ZERO; variables.values().len()], entries: variables.iter().map(entry).collect() }
    }

    /// Forgets all gradients.
    pub fn clear(&mut self) {
        for entry in &mut self.entries {
            entry.kind = Kind::Absent;
            entry.rows.clear();
            entry.values.clear();
        }
    }

    /// How many variables these are the gradients of.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The variables, in order.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = Variable> + '_ {
        self.entries.iter().map(|entry| entry.variable)
    }

    /// The gradient of one variable.
    pub fn of(&self, variable: Variable) -> Gradient<'_, T> {
        let entry = &self.entries[variable.index()];
        match entry.kind {
            Kind::Absent => Gradient::Absent,
            Kind::Dense => Gradient::Dense(&self.flat[variable.range()]),
            Kind::Rows => Gradient::Rows { rows: &entry.rows, values: &entry.values },
        }
    }

    /// The dense gradient of one variable, to add to. An absent one starts at zero; rows are added in.
    pub fn dense_mut(&mut self, variable: Variable) -> &mut [T] {
        let Entry { kind, rows, values, .. } = &mut self.entries[variable.index()];
        let dense = &mut self.flat[variable.range()];
        if *kind != Kind::Dense {
            dense.fill(T::ZERO);
            let columns = variable.columns();
            for (&row, values) in rows.iter().zip(values.chunks_exact(columns.max(1))) {
                for (dense, &value) in dense[row * columns..].iter_mut().zip(values) {
                    *dense += value;
                }
            }
            rows.clear();
            values.clear();
            *kind = Kind::Dense;
        }
        dense
    }

    /// All gradients as one dense vector, to add to.
    pub fn flat_mut(&mut self) -> &mut [T] {
        for index in 0..self.entries.len() {
            self.dense_mut(self.entries[index].variable);
        }
        &mut self.flat
    }

    /// Adds a row to the gradient of one variable.
    pub fn add_row(&mut self, variable: Variable, row: usize, values: &[T]) {
        let entry = &mut self.entries[variable.index()];
        if entry.kind == Kind::Dense {
            let start = variable.range().start + row * variable.columns();
            for (dense, &value) in self.flat[start..].iter_mut().zip(values) {
                *dense += value;
            }
        } else {
            entry.kind = Kind::Rows;
            entry.rows.push(row);
            entry.values.extend_from_slice(values);
        }
    }

    /// Multiplies all gradients by `factor`.
    pub fn scale(&mut self, factor: T) {
        for entry in &mut self.entries {
            let numbers = match entry.kind {
                Kind::Absent => continue,
                Kind::Dense => &mut self.flat[entry.variable.range()],
                Kind::Rows => entry.values.as_mut_slice(),
            };
            for number in numbers {
                *number *= factor;
            }
        }
    }
}
