//! A line of a file for each epoch.

use std::fs::{File, OpenOptions};
use std::io::Seek;
use std::path::PathBuf;

use super::{Callback, CallbackState, Context};
use crate::real::Real;
use crate::train::{CallbackError, Logs};

/// Writes a line of comma-separated values for each epoch, feature `csv`. As Keras' `CSVLogger`.
///
/// The first line has the names. A resumed training continues the same file: lines written after its checkpoint are removed. With several
/// ranks, the first rank writes.
#[derive(Debug)]
pub struct CsvLogger {
    path: PathBuf,
    names: Vec<String>,
    /// Content that is sure to belong to the training.
    bytes: u64,
    writer: Option<csv::Writer<File>>,
}

impl CsvLogger {
    /// Creates a logger for this file, which is overwritten.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        CsvLogger { path: path.into(), names: Vec::new(), bytes: 0, writer: None }
    }

    fn error(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> CallbackError {
        CallbackError::File { path: self.path.clone(), source: source.into() }
    }

    /// Opens the file, and truncates it to the rows known to be complete.
    fn open(&self) -> std::io::Result<File> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(&self.path)?;
        if file.metadata()?.len() < self.bytes {
            return Err(std::io::Error::other("the file is shorter than at the checkpoint"));
        }
        file.set_len(self.bytes)?;
        file.seek(std::io::SeekFrom::End(0))?;
        Ok(file)
    }

    /// Reads the names of a file that is gone on with.
    fn read_names(&mut self) -> Result<(), CallbackError> {
        let names = csv::Reader::from_path(&self.path).and_then(|mut reader| Ok(reader.headers()?.clone()));
        self.names = names.map_err(|source| self.error(source))?.iter().skip(1).map(str::to_owned).collect();
        Ok(())
    }

    fn write(&mut self, epoch: usize, logs: &Logs) -> Result<(), csv::Error> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        if self.names.is_empty() {
            self.names = logs.iter().map(|(name, _)| name.to_owned()).collect();
            writer.write_record(std::iter::once("epoch").chain(self.names.iter().map(String::as_str)))?;
        }
        let numbers = self.names.iter().map(|name| logs.get(name).map_or_else(String::new, |value| value.to_string()));
        writer.write_record(std::iter::once(epoch.to_string()).chain(numbers))?;
        writer.flush()?;
        self.bytes = writer.get_ref().metadata()?.len();
        Ok(())
    }
}

impl<T: Real> Callback<T> for CsvLogger {
    fn name(&self) -> &str {
        "csv_logger"
    }

    fn on_train_begin(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        self.names.clear();
        if !context.is_resumed() {
            self.bytes = 0;
        }
        if !context.is_root() {
            return Ok(());
        }
        let file = self.open().map_err(|source| self.error(source))?;
        if self.bytes > 0 {
            self.read_names()?;
        }
        self.writer = Some(csv::WriterBuilder::new().from_writer(file));
        Ok(())
    }

    fn on_epoch_end(&mut self, logs: &mut Logs, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        self.write(context.epoch, logs).map_err(|source| self.error(source))
    }

    fn on_train_end(&mut self, _context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        self.writer = None;
        Ok(())
    }

    fn state(&self) -> CallbackState {
        CallbackState::default().with("bytes", [self.bytes as f64])
    }

    fn restore(&mut self, state: &CallbackState) -> Result<(), CallbackError> {
        self.bytes = state.count("bytes")? as u64;
        Ok(())
    }
}
