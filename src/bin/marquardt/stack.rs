//! Data sets with one predictor: rows of an array, or columns of a table.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use marquardt::curve::Table;
use marquardt::npy::RowReader;
use ndarray::{Array2, s};

use crate::conversion::NPY;
use crate::curve::read_predictor;
use crate::data;
use crate::failure::Failure;
use crate::output;

/// Data sets that are read block by block.
pub enum Stack {
    /// The last axis of an array has the points.
    Array(RowReader<f64>),
    /// Columns of a table after the first, which is the predictor.
    Columns { x_label: String, names: Vec<String>, x: Vec<f64>, rows: Array2<f64>, next: usize },
}

impl Stack {
    /// Opens an array in a `.npy` file, or reads a table.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let mut head = Vec::new();
        // An error comes again where the file is read.
        let _ = File::open(path).and_then(|file| file.take(NPY.len() as u64).read_to_end(&mut head));
        if head == NPY || output::extension(path).as_deref() == Some("npy") {
            return Ok(Stack::Array(RowReader::open(path)?));
        }
        let table = Table::from_csv(path)?;
        let all: Vec<String> = table.column_names().map(str::to_owned).collect();
        let (first, names) = all.split_first().expect("a table has a column");
        if names.is_empty() {
            return Err(Failure::new(format!(
                "{}: there is one column, the predictor, and no data set",
                path.display()
            )));
        }
        let x = table.column(first)?.to_vec();
        let mut rows = Array2::zeros((names.len(), x.len()));
        for (name, mut row) in names.iter().zip(rows.rows_mut()) {
            row.assign(&ndarray::aview1(table.column(name)?));
        }
        data::note_of_reading(&table, &all)?;
        Ok(Stack::Columns { x_label: table.label(first)?, names: names.to_vec(), x, rows, next: 0 })
    }

    /// Points of each data set, and the shape of the stack without them.
    pub fn shape(&self) -> (usize, Vec<usize>) {
        match self {
            Stack::Array(reader) => {
                reader.shape().split_last().map(|(&points, before)| (points, before.to_vec())).unwrap_or_default()
            }
            Stack::Columns { names, x, .. } => (x.len(), vec![names.len()]),
        }
    }

    /// The predictor: that of a file, or else the first column, or 0, 1, 2, ….
    pub fn predictor(&self, file: Option<&Path>) -> Result<Vec<f64>, Failure> {
        match (file, self) {
            (Some(file), _) => read_predictor(file),
            (None, Stack::Columns { x, .. }) => Ok(x.clone()),
            (None, Stack::Array(_)) => Ok((0..self.shape().0).map(|point| point as f64).collect()),
        }
    }

    /// Label of the predictor.
    pub fn x_label(&self) -> &str {
        if let Stack::Columns { x_label, .. } = self { x_label } else { "x" }
    }

    /// Data sets that have not been read.
    pub fn left(&self) -> usize {
        match self {
            Stack::Array(reader) => reader.rows_left(),
            Stack::Columns { rows, next, .. } => rows.nrows() - next,
        }
    }

    /// The next data sets, up to this number; `None` at the end.
    pub fn read(&mut self, count: usize) -> Result<Option<Array2<f64>>, Failure> {
        match self {
            Stack::Array(reader) => Ok(reader.read(count)?),
            Stack::Columns { rows, next, .. } => {
                let end = rows.nrows().min(*next + count);
                let block = rows.slice(s![std::mem::replace(next, end)..end, ..]).to_owned();
                Ok((block.nrows() > 0).then_some(block))
            }
        }
    }

    /// Names of the data sets, if they have names.
    pub fn names(&self) -> Option<&[String]> {
        if let Stack::Columns { names, .. } = self { Some(names) } else { None }
    }
}
