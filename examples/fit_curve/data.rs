//! The data to fit: a published set, or a file of one's own.

use std::fs::File;
use std::io;

use csv::{ReaderBuilder, StringRecord, Trim};
use thiserror::Error;

use crate::nist;

/// Points, and what to write at the axes.
#[derive(Debug, Clone)]
pub struct Data {
    pub title: String,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub x_label: String,
    pub y_label: String,
}

/// What is wrong with a file. Lines and columns count from 1.
#[derive(Debug, Error)]
pub enum DataError {
    #[error("{path}: {error}")]
    Open { path: String, error: io::Error },
    #[error("{path}: {error}")]
    Read { path: String, error: csv::Error },
    #[error("{path}, line {line}: two columns are needed, x and y, but there is only one")]
    MissingColumn { path: String, line: u64 },
    #[error("{path}, line {line}, column {column}: {text:?} is not a finite number")]
    NotANumber { path: String, line: u64, column: usize, text: String },
    #[error("{path}: there are no data")]
    Empty { path: String },
}

/// Transmittance of an optical interference filter against wavelength, measured at NIST (K. Eckerle).
pub fn interference_filter() -> Data {
    let set = nist::DataSet::load(nist::Model::Eckerle4);
    Data {
        title: "Transmittance of an interference filter (NIST, Eckerle4)".to_owned(),
        x: set.x.iter().map(|row| row[0]).collect(),
        y: set.y,
        x_label: "wavelength (nm)".to_owned(),
        y_label: "transmittance".to_owned(),
    }
}

/// The first two columns of a CSV file. A first line without any number is a heading; `#` begins a comment.
pub fn read(path: &str) -> Result<Data, DataError> {
    let file = File::open(path).map_err(|error| DataError::Open { path: path.to_owned(), error })?;
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).comment(Some(b'#')).from_reader(file);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let (mut x_label, mut y_label) = ("x".to_owned(), "y".to_owned());
    for (index, record) in reader.records().enumerate() {
        let record = record.map_err(|error| DataError::Read { path: path.to_owned(), error })?;
        if index == 0 && is_heading(&record) {
            x_label = record.get(0).unwrap_or("x").to_owned();
            y_label = record.get(1).unwrap_or("y").to_owned();
            continue;
        }
        x.push(number(path, &record, 0)?);
        y.push(number(path, &record, 1)?);
    }
    if x.is_empty() {
        return Err(DataError::Empty { path: path.to_owned() });
    }
    Ok(Data { title: path.to_owned(), x, y, x_label, y_label })
}

fn is_heading(record: &StringRecord) -> bool {
    record.iter().all(|field| field.parse::<f64>().is_err())
}

fn number(path: &str, record: &StringRecord, column: usize) -> Result<f64, DataError> {
    let line = record.position().map_or(0, csv::Position::line);
    let text = record.get(column).ok_or_else(|| DataError::MissingColumn { path: path.to_owned(), line })?;
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| DataError::NotANumber {
        path: path.to_owned(),
        line,
        column: column + 1,
        text: text.to_owned(),
    })
}
