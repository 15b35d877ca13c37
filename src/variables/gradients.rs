//! Gradients of a loss, one for each variable.

mod all_sum;

use super::{Variable, Variables};
use crate::kernels::vector::add_scaled;
use crate::real::Real;

/// The gradient with respect to one variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gradient<'a, T> {
    /// The loss does not depend on the variable.
    Absent,
    /// One entry for each entry of the variable, in the same order.
    Dense(&'a [T]),
    /// Some rows of the gradient; all other rows are zero. The values of a repeated row are summed.
    Rows {
        /// Indices of the rows.
        rows: &'a [usize],
        /// Values of the rows, row after row.
        values: &'a [T],
    },
}

/// Gradients of a loss with respect to all variables; the memory is reused in each step.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::variables::{Gradient, Gradients};
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
/// # Ok::<(), marquardt::variables::VariableError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gradients<T> {
    /// A number for each of all variables'; those of a variable count while it is dense.
    flat: Vec<T>,
    entries: Vec<GradientEntry<T>>,
    /// Index of each row of the variable at work: one more than its first place among the rows given, or zero.
    places: Vec<usize>,
    /// Entries sent to other ranks.
    message: Vec<T>,
}

#[derive(Debug, Clone)]
struct GradientEntry<T> {
    variable: Variable,
    kind: GradientKind,
    rows: Vec<usize>,
    values: Vec<T>,
}

/// Kind of a gradient; a later kind replaces an earlier one, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GradientKind {
    Absent,
    Rows,
    Dense,
}

impl<T: Real> Gradients<T> {
    /// Creates the gradients of these variables, all absent.
    pub fn new(variables: &Variables<T>) -> Self {
        let entry =
            |variable| GradientEntry { variable, kind: GradientKind::Absent, rows: Vec::new(), values: Vec::new() };
        let flat = vec![T::ZERO; variables.values().len()];
        Gradients { flat, entries: variables.iter().map(entry).collect(), places: Vec::new(), message: Vec::new() }
    }

    /// Forgets all gradients.
    pub fn clear(&mut self) {
        for entry in &mut self.entries {
            entry.kind = GradientKind::Absent;
            entry.rows.clear();
            entry.values.clear();
        }
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no variables.
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
            GradientKind::Absent => Gradient::Absent,
            GradientKind::Dense => Gradient::Dense(&self.flat[variable.range()]),
            GradientKind::Rows => Gradient::Rows { rows: &entry.rows, values: &entry.values },
        }
    }

    /// The dense gradient of one variable, to add to. An absent one starts at zero; rows are added in.
    pub fn dense_mut(&mut self, variable: Variable) -> &mut [T] {
        let GradientEntry { variable, kind, rows, values } = &mut self.entries[variable.index()];
        let dense = &mut self.flat[variable.range()];
        if *kind != GradientKind::Dense {
            dense.fill(T::ZERO);
            let columns = variable.columns();
            for (&row, values) in rows.iter().zip(values.chunks_exact(columns.max(1))) {
                add_scaled(&mut dense[row * columns..], T::ONE, values);
            }
            rows.clear();
            values.clear();
            *kind = GradientKind::Dense;
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
    ///
    /// # Panics
    ///
    /// When there are not as many values as the variable has columns, or the gradient is dense and has no such row.
    pub fn add_row(&mut self, variable: Variable, row: usize, values: &[T]) {
        assert_eq!(values.len(), variable.columns(), "a row has as many numbers as the variable has columns");
        let entry = &mut self.entries[variable.index()];
        if entry.kind == GradientKind::Dense {
            let columns = row * variable.columns()..(row + 1) * variable.columns();
            add_scaled(&mut self.flat[variable.range()][columns], T::ONE, values);
        } else {
            entry.kind = GradientKind::Rows;
            entry.rows.push(row);
            entry.values.extend_from_slice(values);
        }
    }

    /// Replaces the gradient of one variable.
    pub fn set(&mut self, variable: Variable, gradient: Gradient<'_, T>) {
        let entry = &mut self.entries[variable.index()];
        entry.rows.clear();
        entry.values.clear();
        entry.kind = match gradient {
            Gradient::Absent => GradientKind::Absent,
            Gradient::Dense(values) => {
                self.flat[variable.range()].copy_from_slice(values);
                GradientKind::Dense
            }
            Gradient::Rows { rows, values } => {
                entry.rows.extend_from_slice(rows);
                entry.values.extend_from_slice(values);
                GradientKind::Rows
            }
        };
    }

    /// Adds the gradients of another loss with respect to the same variables.
    pub fn add(&mut self, other: &Gradients<T>) {
        for variable in other.variables() {
            match other.of(variable) {
                Gradient::Absent => (),
                Gradient::Dense(values) => add_scaled(self.dense_mut(variable), T::ONE, values),
                Gradient::Rows { rows, values } => {
                    for (&row, values) in rows.iter().zip(values.chunks_exact(variable.columns().max(1))) {
                        self.add_row(variable, row, values);
                    }
                }
            }
        }
    }

    /// Multiplies all gradients by `factor`.
    pub fn scale(&mut self, factor: T) {
        for index in 0..self.entries.len() {
            for number in self.given_mut(self.entries[index].variable) {
                *number *= factor;
            }
        }
    }

    /// The entries given for one variable: all, those of some rows, or none.
    pub(crate) fn given(&self, variable: Variable) -> &[T] {
        match self.of(variable) {
            Gradient::Absent => &[],
            Gradient::Dense(values) | Gradient::Rows { values, .. } => values,
        }
    }

    /// The entries given for one variable, to change.
    pub(crate) fn given_mut(&mut self, variable: Variable) -> &mut [T] {
        let entry = &mut self.entries[variable.index()];
        match entry.kind {
            GradientKind::Absent => &mut [],
            GradientKind::Dense => &mut self.flat[variable.range()],
            GradientKind::Rows => &mut entry.values,
        }
    }

    /// Sums the values of rows that appear more than once, so that each appears once. All rows must exist.
    pub(crate) fn sum_repeated_rows(&mut self) {
        let Gradients { entries, places, .. } = self;
        for GradientEntry { variable, rows, values, .. } in entries.iter_mut().filter(|entry| entry.rows.len() > 1) {
            let columns = variable.columns();
            if places.len() < variable.rows() {
                places.resize(variable.rows(), 0);
            }
            let mut distinct = 0;
            for given in 0..rows.len() {
                let row = rows[given];
                let (before, this) = values.split_at_mut(given * columns);
                if places[row] == 0 {
                    if distinct < given {
                        before[distinct * columns..][..columns].copy_from_slice(&this[..columns]);
                    }
                    rows[distinct] = row;
                    distinct += 1;
                    places[row] = distinct;
                } else {
                    add_scaled(&mut before[(places[row] - 1) * columns..][..columns], T::ONE, &this[..columns]);
                }
            }
            rows.truncate(distinct);
            values.truncate(distinct * columns);
            for &row in rows.iter() {
                places[row] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    #[test]
    fn repeated_rows_are_summed_in_the_order_of_their_first_appearance() {
        let mut variables = Variables::new();
        let table = variables.add("table", Array2::<f64>::zeros((9, 2)).view()).unwrap();
        let mut gradients = Gradients::new(&variables);
        for (row, value) in [(7, 1.0), (2, 2.0), (7, 4.0), (7, 8.0), (0, 16.0), (2, 32.0)] {
            gradients.add_row(table, row, &[value, -value]);
        }
        let mut dense = gradients.clone();
        gradients.sum_repeated_rows();
        let values = [13.0, -13.0, 34.0, -34.0, 16.0, -16.0];
        assert_eq!(gradients.of(table), Gradient::Rows { rows: &[7, 2, 0], values: &values });
        gradients.sum_repeated_rows();
        assert_eq!(gradients.of(table), Gradient::Rows { rows: &[7, 2, 0], values: &values });
        assert_eq!(gradients.dense_mut(table), dense.dense_mut(table));
    }

    #[test]
    fn gradients_of_every_kind_add_up() {
        let mut variables = Variables::new();
        let table = variables.add("table", Array2::<f64>::zeros((2, 1)).view()).unwrap();
        let mut of_kind = [Gradients::new(&variables), Gradients::new(&variables), Gradients::new(&variables)];
        of_kind[1].set(table, Gradient::Dense(&[1.0, 2.0]));
        of_kind[2].set(table, Gradient::Rows { rows: &[1, 1], values: &[4.0, 8.0] });
        let dense_of = [[0.0, 0.0], [1.0, 2.0], [0.0, 12.0]];
        for (a, a_dense) in of_kind.iter().zip(dense_of) {
            for (b, b_dense) in of_kind.iter().zip(dense_of) {
                let mut sum = a.clone();
                sum.add(b);
                assert_eq!(sum.dense_mut(table), [a_dense[0] + b_dense[0], a_dense[1] + b_dense[1]]);
            }
        }
    }
}
