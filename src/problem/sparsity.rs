//! Pattern of a sparse Jacobian.

use thiserror::Error;

use crate::lists::Lists;

/// Reasons why a sparsity pattern is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SparsityError {
    /// A row names a column that is not there.
    #[error("row {row} of the pattern has an entry in column {column}, but there are {columns} columns")]
    Column {
        /// Index of the row.
        row: usize,
        /// Index of the column.
        column: usize,
        /// Number of columns.
        columns: usize,
    },
    /// A residual depends on a parameter that is not in its row.
    #[error("residual {row} depends on parameter {column}, which is not in row {row} of the pattern")]
    Entry {
        /// Index of the residual.
        row: usize,
        /// Index of the first such parameter.
        column: usize,
    },
    /// The pattern is of another size than the problem.
    #[error(
        "the pattern has {rows} rows and {columns} columns, but the problem {residuals} residuals and {parameters} parameters"
    )]
    Size {
        /// Rows of the pattern.
        rows: usize,
        /// Columns of the pattern.
        columns: usize,
        /// Residuals of the problem.
        residuals: usize,
        /// Parameters of the problem.
        parameters: usize,
    },
}

/// Sparsity pattern, the parameters on which each residual depends: SciPy's `jac_sparsity`.
///
/// Columns without a common row have the same colour and are differentiated together (Curtis, Powell & Reid 1974). The Jacobian takes one
/// evaluation for each [colour](Self::color_count), or two with central differences. The normal equations are solved by a sparse Cholesky
/// factorisation, whose condition number is the square of the Jacobian's: from about 1e7 on, steps keep damping. An entry that is missing
/// from the pattern makes differences wrong; [`check_derivatives`](crate::problem::check_derivatives) finds it.
/// [`AutoDiff::with_sparsity`](crate::AutoDiff::with_sparsity) finds it by itself.
///
/// ```
/// use marquardt::problem::Sparsity;
///
/// // Each residual depends on three neighbours.
/// let sparsity = Sparsity::banded(1000, 1, 1);
/// assert_eq!((sparsity.entries(), sparsity.color_count()), (2998, 3));
/// let arrow = Sparsity::new(4, [vec![0, 3], vec![1, 3], vec![2, 3]])?;
/// assert_eq!(arrow.color_count(), 2);
/// # Ok::<(), marquardt::problem::SparsityError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sparsity {
    columns: usize,
    /// Columns of the entries of each row, ascending.
    by_row: Lists<u32>,
    /// Columns by their colour.
    colors: Vec<Vec<usize>>,
    /// Rows of the entries of each column, and their places among all entries.
    by_column: Lists<(u32, usize)>,
}

impl Sparsity {
    /// Creates the pattern of a Jacobian with `columns` columns, whose rows have entries in these; an entry may be named twice.
    ///
    /// # Errors
    ///
    /// [`SparsityError::Column`].
    pub fn new(columns: usize, rows: impl IntoIterator<Item = Vec<usize>>) -> Result<Self, SparsityError> {
        let mut by_row = Lists::new();
        for (row, mut columns_of_row) in rows.into_iter().enumerate() {
            if let Some(&column) = columns_of_row.iter().find(|&&column| column >= columns) {
                return Err(SparsityError::Column { row, column, columns });
            }
            columns_of_row.sort_unstable();
            columns_of_row.dedup();
            by_row.items.extend(columns_of_row.into_iter().map(|column| column as u32));
            by_row.end();
        }
        let places = (0..by_row.len()).flat_map(|row| by_row.range(row).map(move |place| (row as u32, place)));
        let by_column = Lists::sorted(columns, places.map(|entry| (by_row.items[entry.1] as usize, entry)));
        let mut sparsity = Sparsity { columns, by_row, colors: Vec::new(), by_column };
        sparsity.color();
        Ok(sparsity)
    }

    /// The pattern of a square Jacobian whose row `i` has entries in the columns `i − lower..=i + upper`, as far as they exist.
    pub fn banded(n: usize, lower: usize, upper: usize) -> Self {
        let rows =
            (0..n).map(|i| (i.saturating_sub(lower)..n.min(i.saturating_add(upper).saturating_add(1))).collect());
        Self::new(n, rows).expect("the band is within the columns")
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.by_row.len()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.by_row.items.len()
    }

    /// Number of groups of columns that are differentiated together.
    pub fn color_count(&self) -> usize {
        self.colors.len()
    }

    /// Columns that are differentiated together.
    pub(crate) fn colors(&self) -> &[Vec<usize>] {
        &self.colors
    }

    /// Columns of the entries of a row.
    pub(crate) fn row(&self, row: usize) -> &[u32] {
        self.by_row.of(row)
    }

    /// Places of the entries of a row among all.
    pub(crate) fn places(&self, row: usize) -> std::ops::Range<usize> {
        self.by_row.range(row)
    }

    /// Calls `visit` with the columns of each row.
    pub(crate) fn visit_rows(&self, visit: &mut dyn FnMut(&[usize])) {
        let mut columns = Vec::new();
        for row in 0..self.rows() {
            columns.clear();
            columns.extend(self.row(row).iter().map(|&column| column as usize));
            visit(&columns);
        }
    }

    /// Rows of the entries of a column, and their places among all.
    pub(crate) fn column(&self, column: usize) -> &[(u32, usize)] {
        self.by_column.of(column)
    }

    /// The pattern is that of a problem of this size.
    pub(crate) fn check(&self, residuals: usize, parameters: usize) -> Result<(), SparsityError> {
        let (rows, columns) = (self.rows(), self.columns);
        if (rows, columns) == (residuals, parameters) {
            return Ok(());
        }
        Err(SparsityError::Size { rows, columns, residuals, parameters })
    }

    /// Gives each column, one after the other, the first colour that no column with a row in common has.
    fn color(&mut self) {
        let mut color_of = vec![usize::MAX; self.columns];
        let mut seen_by = Vec::new();
        for column in 0..self.columns {
            for &(row, _) in self.column(column) {
                for &other in self.row(row as usize) {
                    if let Some(seen) = seen_by.get_mut(color_of[other as usize]) {
                        *seen = column;
                    }
                }
            }
            let color = seen_by.iter().position(|&seen| seen != column).unwrap_or(seen_by.len());
            if color == seen_by.len() {
                seen_by.push(usize::MAX);
                self.colors.push(Vec::new());
            }
            color_of[column] = color;
            self.colors[color].push(column);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_two_columns_of_a_color_share_a_row(rows in prop::collection::vec(prop::collection::vec(0..12_usize, 0..5), 0..20)) {
            let sparsity = Sparsity::new(12, rows.clone()).unwrap();
            let mut colors = [None; 12];
            for (color, columns) in sparsity.colors().iter().enumerate() {
                for &column in columns {
                    prop_assert_eq!(colors[column].replace(color), None);
                }
            }
            prop_assert!(colors.iter().all(Option::is_some));
            for (row, mut columns) in rows.into_iter().enumerate() {
                columns.sort_unstable();
                columns.dedup();
                let found: Vec<usize> = sparsity.row(row).iter().map(|&column| column as usize).collect();
                prop_assert_eq!(&found, &columns);
                let mut of_row: Vec<_> = columns.iter().map(|&column| colors[column]).collect();
                of_row.sort_unstable();
                of_row.dedup();
                prop_assert_eq!(of_row.len(), columns.len());
                for (place, &column) in sparsity.places(row).zip(&columns) {
                    prop_assert!(sparsity.column(column).contains(&(row as u32, place)));
                }
            }
        }
    }

    #[test]
    fn columns_that_are_not_there_are_named() {
        let error = Sparsity::new(3, [vec![0], vec![1, 3]]).unwrap_err();
        assert_eq!(error, SparsityError::Column { row: 1, column: 3, columns: 3 });
        assert!(Sparsity::banded(5, 9, 0).check(4, 5).is_err());
    }
}
