//! Checkpoints in files.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Checkpoint, CheckpointError};
use crate::atomic_file;
use crate::checksum::checksum;
use crate::real::Real;

const MAGIC: &str = "marquardt checkpoint";
const VERSION: u32 = 1;

/// A file has a line with the version and a checksum, and a line of JSON, in which floats have as many digits as it takes.
///
/// ```
/// use marquardt::{LevenbergMarquardt, Variables};
/// use marquardt::nn::{MeanSquaredError, Sequential};
/// use marquardt::train::{Checkpoint, Trainer};
/// use ndarray::Array2;
///
/// let path = std::env::temp_dir().join("marquardt-doc.checkpoint");
/// let x = Array2::from_shape_fn((50, 1), |(i, _)| i as f64 / 25.0 - 1.0);
/// let mut variables = Variables::new();
/// let mut network = Sequential::new(1).dense(4).tanh().dense(1).compile(
///     &mut variables,
///     0,
///     MeanSquaredError,
/// )?;
/// let mut optimizer = LevenbergMarquardt::new();
/// let mut trainer =
///     Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(5).backup(1, &path);
/// if path.exists() {
///     trainer = trainer.restore(Checkpoint::load(&path)?);
/// }
/// trainer.fit(&[x.view()], &[x.view()])?;
/// assert_eq!(Checkpoint::<f64>::load(&path)?.epoch(), 5);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<T: Real + Serialize + DeserializeOwned> Checkpoint<T> {
    /// Writes the checkpoint into a file. The file is replaced as a whole: after an error or a crash it has its old content.
    /// A symbolic link is followed.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::File`], or [`CheckpointError::NonFinite`] for what could not be loaded again.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CheckpointError> {
        let path = path.as_ref();
        if let Some(name) = self.first_non_finite() {
            return Err(CheckpointError::NonFinite { name });
        }
        let file_error = |source| CheckpointError::File { path: path.to_owned(), source };
        let body = serde_json::to_vec(self).map_err(|error| file_error(error.into()))?;
        let head = format!("{MAGIC} {VERSION} {:016x}\n", checksum(&body));
        atomic_file::write(path, &[head.as_bytes(), &body]).map_err(file_error)
    }

    /// Checks that a checkpoint can be saved there, as far as that is known beforehand.
    pub(in crate::train) fn check_path(path: &Path) -> Result<(), CheckpointError> {
        atomic_file::check(path).map_err(|source| CheckpointError::File { path: path.to_owned(), source })
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

    /// Name of the part that holds a number that is not finite.
    fn first_non_finite(&self) -> Option<String> {
        let is_finite = self.values.iter().all(|value| value.is_finite());
        if is_finite { self.optimizer.first_non_finite() } else { Some("a variable".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::OptimizerState;
    use crate::train::History;
    use crate::train::checkpoint::FitTerms;
    use crate::train::sums::EpochSums;

    fn checkpoint(values: Vec<f64>, optimizer: OptimizerState<f64>) -> Checkpoint<f64> {
        let terms = FitTerms::new([("batch size", "1".to_owned())]);
        let variables = vec![("a".to_owned(), vec![values.len()])];
        let (metrics, callbacks) = (Vec::new(), Vec::new());
        let (mask_step, epoch, batch, sums, history) = (0, 0, 0, EpochSums::default(), History::default());
        Checkpoint { terms, variables, values, optimizer, mask_step, epoch, batch, sums, metrics, callbacks, history }
    }

    /// An optimizer of two, the second of which has such a slot and such a number.
    fn state(slot: f64, number: f64) -> OptimizerState<f64> {
        let part = |slot, number| OptimizerState {
            optimizer: "part".to_owned(),
            slots: vec![("slot".to_owned(), vec![0.0, slot])],
            numbers: vec![("number".to_owned(), vec![0.0, number])],
            ..OptimizerState::default()
        };
        OptimizerState { parts: vec![part(0.0, 0.0), part(slot, number)], ..part(0.0, 0.0) }
    }

    #[test]
    fn what_could_not_be_loaded_again_is_not_saved() {
        let path = std::env::temp_dir().join(format!("marquardt-finite-{}", std::process::id()));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let cases = [
                (checkpoint(vec![0.0, bad], state(0.0, 0.0)), "a variable holds a number that is not finite"),
                (checkpoint(vec![0.0], state(bad, 0.0)), "slot of part holds a number that is not finite"),
                (checkpoint(vec![0.0], state(0.0, bad)), "number of part holds a number that is not finite"),
            ];
            for (checkpoint, message) in cases {
                assert_eq!(checkpoint.save(&path).unwrap_err().to_string(), message);
                assert!(!path.exists());
            }
        }
        // Of double precision, but too large for single.
        checkpoint(vec![0.0], state(1e300, 0.0)).save(&path).unwrap();
        assert!(Checkpoint::<f64>::load(&path).is_ok());
        let error = Checkpoint::<f32>::load(&path).unwrap_err().to_string();
        fs::remove_file(&path).unwrap();
        assert!(error.contains("the checkpoint is damaged: number out of range"), "{error}");
    }
}
