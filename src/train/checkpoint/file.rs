//! Checkpoints in files.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Checkpoint, CheckpointError};
use crate::Real;
use crate::checksum::checksum;
use crate::optim::OptimizerState;
use crate::train::write::write_atomically;

const MAGIC: &str = "marquardt checkpoint";
const VERSION: u32 = 1;

/// A file has a line with the version and a checksum, and a line of JSON, in which floats have as many digits as it takes.
///
/// ```
/// use marquardt::nn::{MeanSquaredError, Sequential};
/// use marquardt::train::{Checkpoint, Trainer};
/// use marquardt::{LevenbergMarquardt, Variables};
/// use ndarray::Array2;
///
/// let path = std::env::temp_dir().join("marquardt-doc.checkpoint");
/// let x = Array2::from_shape_fn((50, 1), |(i, _)| i as f64 / 25.0 - 1.0);
/// let mut variables = Variables::new();
/// let mut network = Sequential::new(1).dense(4).tanh().dense(1).compile(&mut variables, 0, MeanSquaredError)?;
/// let mut optimizer = LevenbergMarquardt::new();
/// let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(5).backup(1, &path);
/// if path.exists() {
///     trainer = trainer.restore(Checkpoint::load(&path)?);
/// }
/// trainer.fit(&[x.view()], &[x.view()])?;
/// assert_eq!(Checkpoint::<f64>::load(&path)?.epoch(), 5);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<T: Real + Serialize + DeserializeOwned> Checkpoint<T> {
    /// Writes the checkpoint into a file, which is there either whole or as it was before.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::File`], or [`CheckpointError::NonFinite`] for what could not be loaded again.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CheckpointError> {
        let path = path.as_ref();
        if self.values.iter().any(|value| !value.is_finite()) {
            return Err(CheckpointError::NonFinite { name: "a variable".to_owned() });
        }
        check_finite(&self.optimizer)?;
        let file_error = |source| CheckpointError::File { path: path.to_owned(), source };
        let body = serde_json::to_vec(self).map_err(|error| file_error(error.into()))?;
        let head = format!("{MAGIC} {VERSION} {:016x}\n", checksum(&body));
        write_atomically(path, &[head.as_bytes(), &body]).map_err(file_error)
    }

    /// Reads a checkpoint from a file.
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the file is not there, is no checkpoint, or is damaged.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| CheckpointError::File { path: path.to_owned(), source })?;
        let damaged = |reason: String| CheckpointError::Damaged { path: path.to_owned(), reason };
        let rest =
            bytes.strip_prefix(MAGIC.as_bytes()).ok_or_else(|| CheckpointError::Foreign { path: path.into() })?;
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| damaged("it ends too soon".to_owned()))?;
        let (head, body) = (String::from_utf8_lossy(&rest[..end]), &rest[end + 1..]);
        let (version, sum) = head.trim_start().split_once(' ').unwrap_or((head.trim(), ""));
        if version != VERSION.to_string() {
            let found = version.to_owned();
            return Err(CheckpointError::Version { path: path.to_owned(), found, expected: VERSION });
        }
        if sum != format!("{:016x}", checksum(body)) {
            return Err(damaged("its checksum is not that of its content".to_owned()));
        }
        serde_json::from_slice(body).map_err(|error| damaged(error.to_string()))
    }
}

fn check_finite<T: Real>(state: &OptimizerState<T>) -> Result<(), CheckpointError> {
    let slots = state.slots.iter().map(|(name, slot)| (name, slot.iter().all(|number| number.is_finite())));
    let numbers = state.numbers.iter().map(|(name, list)| (name, list.iter().all(|number| number.is_finite())));
    if let Some((name, _)) = slots.chain(numbers).find(|(_, is_finite)| !is_finite) {
        return Err(CheckpointError::NonFinite { name: format!("{} of {}", name, state.optimizer) });
    }
    state.parts.iter().try_for_each(check_finite)
}
