//! One row of a table.

use super::{Table, TableError};

/// A row of a [`Table`], as [`Table::filter`] shows it.
#[derive(Debug, Clone, Copy)]
pub struct TableRow<'a> {
    pub(super) table: &'a Table,
    pub(super) row: usize,
}

impl<'a> TableRow<'a> {
    /// The number in the column of that name, or else of that number, counted from 1; NaN where it is missing.
    ///
    /// # Errors
    ///
    /// [`TableError::NoSuchColumn`] lists the columns that there are; [`TableError::NotANumber`] and
    /// [`TableError::NotFinite`] name the line.
    pub fn number(&self, column: &str) -> Result<f64, TableError> {
        let column = self.table.find(column)?;
        match column.flaw_of(self.row) {
            Some(flaw) => Err(self.table.refuse(column, flaw)),
            None => Ok(column.values[self.row]),
        }
    }

    /// The text in the column of that name, or else of that number, counted from 1; empty where there is none.
    ///
    /// # Errors
    ///
    /// [`TableError::NoSuchColumn`] lists the columns that there are.
    pub fn text(&self, column: &str) -> Result<&'a str, TableError> {
        Ok(self.table.find(column)?.field(self.row))
    }

    /// Index of the row in its table, counted from 0.
    pub fn index(&self) -> usize {
        self.row
    }

    /// Line of the file at which the row ends, counted from 1.
    pub fn line(&self) -> usize {
        self.table.lines[self.row]
    }
}
