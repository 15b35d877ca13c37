//! Variables in the safetensors format, which PyTorch, candle and burn read and write.

use std::cmp::Ordering;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use ndarray::ArrayViewD;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors, serialize};
use thiserror::Error;

use super::{VariableError, Variables};
use crate::atomic_file;
use crate::real::Real;

/// Errors of saving or loading variables in the safetensors format.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SafetensorsError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The bytes are not in the safetensors format.
    #[error("this is not in the safetensors format: {0}")]
    Format(#[source] Box<dyn Error + Send + Sync>),
    /// There is no tensor for a variable.
    #[error("there is no tensor named {name}")]
    Missing {
        /// The variable's name.
        name: String,
    },
    /// No variable has a name that begins with that of a layer.
    #[error("there is no variable whose name begins with {name} and a dot")]
    UnknownLayer {
        /// The beginning of the name.
        name: String,
    },
    /// A tensor holds no floats of 32 or 64 bits.
    #[error("{name} holds {found} numbers, not F32 or F64")]
    NumberType {
        /// The tensor's name.
        name: String,
        /// Type of its entries, as the format names it.
        found: String,
    },
    /// A tensor without entries whose shape is too large for an array.
    #[error("{name} has the shape {shape:?}, which is too large")]
    ShapeOverflow {
        /// The tensor's name.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// A number is too large for the floats of the variables.
    #[error("{name}[{index}] is {value}, which is too large")]
    Overflow {
        /// The tensor's name.
        name: String,
        /// Index of the number in it, in row-major order.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A tensor has another shape than its variable, or a value is NaN or infinite.
    #[error(transparent)]
    Variable(#[from] VariableError),
}

impl From<SafeTensorError> for SafetensorsError {
    fn from(error: SafeTensorError) -> Self {
        SafetensorsError::Format(Box::new(error))
    }
}

/// Saving and loading in the safetensors format, for the exchange of weights with other frameworks. Feature `safetensors`.
///
/// ```
/// use marquardt::Variables;
/// use ndarray::array;
///
/// let mut trained = Variables::<f32>::new();
/// trained.add("0.weight", array![[1.0, 2.0], [3.0, 4.0]].view())?;
/// let bytes = trained.to_safetensors()?;
///
/// let mut model = Variables::<f64>::new();
/// let weight = model.add("0.weight", array![[0.0, 0.0], [0.0, 0.0]].view())?;
/// let unused = model.load_safetensors_bytes(&bytes)?;
/// assert!(unused.is_empty());
/// assert_eq!(model.get(weight), array![[1.0, 2.0], [3.0, 4.0]].into_dyn());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<T: Real> Variables<T> {
    /// All variables as the content of a safetensors file, each under its name.
    ///
    /// # Errors
    ///
    /// [`VariableError::NonFinite`], as such a file could not be loaded again.
    pub fn to_safetensors(&self) -> Result<Vec<u8>, SafetensorsError> {
        let (dtype, size) = if size_of::<T>() == 4 { (Dtype::F32, 4) } else { (Dtype::F64, 8) };
        let mut data = Vec::with_capacity(self.values().len() * size);
        for variable in self.iter() {
            for (index, value) in self.values()[variable.range()].iter().map(|value| value.to_f64()).enumerate() {
                if !value.is_finite() {
                    let name = self.name(variable).to_owned();
                    return Err(VariableError::NonFinite { name, index, value }.into());
                }
                match dtype {
                    Dtype::F32 => data.extend_from_slice(&(value as f32).to_le_bytes()),
                    _ => data.extend_from_slice(&value.to_le_bytes()),
                }
            }
        }
        let tensors: Vec<(&str, TensorView)> = self
            .iter()
            .map(|variable| {
                let bytes = &data[variable.range().start * size..variable.range().end * size];
                Ok((self.name(variable), TensorView::new(dtype, self.shape(variable).to_vec(), bytes)?))
            })
            .collect::<Result<_, SafeTensorError>>()?;
        Ok(serialize(tensors, None)?)
    }

    /// Writes all variables into a safetensors file. The file is replaced as a whole: after an error or a crash it has its
    /// old content.
    ///
    /// # Errors
    ///
    /// [`SafetensorsError::File`], and those of [`to_safetensors`](Self::to_safetensors).
    pub fn save_safetensors(&self, path: impl AsRef<Path>) -> Result<(), SafetensorsError> {
        let path = path.as_ref();
        atomic_file::write(path, &[&self.to_safetensors()?])
            .map_err(|source| SafetensorsError::File { path: path.into(), source })
    }

    /// Sets the values of all variables from the tensors of the same names in a safetensors file. Returns the names of the tensors without
    /// a variable.
    ///
    /// # Errors
    ///
    /// A [`SafetensorsError`] when the file lacks a variable, or holds it in another shape or with values that are not
    /// finite; the variables are unchanged then.
    pub fn load_safetensors(&mut self, path: impl AsRef<Path>) -> Result<Vec<String>, SafetensorsError> {
        self.load_safetensors_bytes(&read(path.as_ref())?)
    }

    /// [`load_safetensors`](Self::load_safetensors) from the content of a file.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn load_safetensors_bytes(&mut self, bytes: &[u8]) -> Result<Vec<String>, SafetensorsError> {
        let tensors = SafeTensors::deserialize(bytes)?;
        let mut values = Vec::with_capacity(self.values().len());
        for variable in self.iter() {
            let name = self.name(variable);
            let tensor = tensors.tensor(name).map_err(|_| SafetensorsError::Missing { name: name.to_owned() })?;
            if tensor.shape() != self.shape(variable) {
                let (expected, found) = (self.shape(variable).to_vec(), tensor.shape().to_vec());
                return Err(VariableError::Shape { name: name.to_owned(), expected, found }.into());
            }
            decode(name, &tensor, &mut values)?;
        }
        self.values_mut().copy_from_slice(&values);
        let mut unused: Vec<String> =
            tensors.iter().map(|(name, _)| name.to_owned()).filter(|name| self.find(name).is_none()).collect();
        unused.sort_by(|a, b| natural_order(a, b));
        Ok(unused)
    }

    /// Variables from a whole safetensors file, in the natural order of their names: `2.weight` comes before
    /// `10.weight`.
    ///
    /// # Errors
    ///
    /// A [`SafetensorsError`] when the file cannot be read, or holds something other than finite floats.
    pub fn open_safetensors(path: impl AsRef<Path>) -> Result<Self, SafetensorsError> {
        Self::from_safetensors(&read(path.as_ref())?)
    }

    /// [`open_safetensors`](Self::open_safetensors) from the content of a file.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, SafetensorsError> {
        let tensors = SafeTensors::deserialize(bytes)?;
        let mut named: Vec<(&str, TensorView)> = tensors.iter().collect();
        named.sort_by(|(a, _), (b, _)| natural_order(a, b));
        let mut variables = Variables::new();
        let mut values = Vec::new();
        for (name, tensor) in named {
            values.clear();
            decode(name, &tensor, &mut values)?;
            // The format checks sizes, but a zero hides any other number of a shape there.
            let array = ArrayViewD::from_shape(tensor.shape(), &values).map_err(|_| {
                SafetensorsError::ShapeOverflow { name: name.to_owned(), shape: tensor.shape().to_vec() }
            })?;
            variables.add(name, array)?;
        }
        Ok(variables)
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, SafetensorsError> {
    fs::read(path).map_err(|source| SafetensorsError::File { path: path.into(), source })
}

/// Appends the entries of a tensor.
pub(super) fn decode<T: Real>(name: &str, tensor: &TensorView, values: &mut Vec<T>) -> Result<(), SafetensorsError> {
    let data = tensor.data();
    let f32s = data.as_chunks().0.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes)));
    let f64s = data.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes));
    match tensor.dtype() {
        Dtype::F32 => append(name, f32s, values),
        Dtype::F64 => append(name, f64s, values),
        other => Err(SafetensorsError::NumberType { name: name.to_owned(), found: other.to_string() }),
    }
}

fn append<T: Real>(
    name: &str,
    numbers: impl Iterator<Item = f64>,
    values: &mut Vec<T>,
) -> Result<(), SafetensorsError> {
    for (index, value) in numbers.enumerate() {
        let converted = T::from_f64(value);
        if !converted.is_finite() {
            let name = name.to_owned();
            return Err(match value.is_finite() {
                true => SafetensorsError::Overflow { name, index, value },
                false => VariableError::NonFinite { name, index, value }.into(),
            });
        }
        values.push(converted);
    }
    Ok(())
}

/// Orders runs of digits by the number they write, everything else by its bytes.
fn natural_order(a: &str, b: &str) -> Ordering {
    let alike = |a: &u8, b: &u8| a.is_ascii_digit() == b.is_ascii_digit();
    let by_number = |a: &[u8], b: &[u8]| {
        if !(a[0].is_ascii_digit() && b[0].is_ascii_digit()) {
            return a.cmp(b);
        }
        let significant = |run: &[u8]| run.iter().position(|&digit| digit != b'0').unwrap_or(run.len());
        let (a, b) = (&a[significant(a)..], &b[significant(b)..]);
        a.len().cmp(&b.len()).then(a.cmp(b))
    };
    a.as_bytes()
        .chunk_by(alike)
        .zip(b.as_bytes().chunk_by(alike))
        .map(|(a, b)| by_number(a, b))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| a.len().cmp(&b.len()).then(a.cmp(b)))
}

#[cfg(test)]
mod tests {
    use ndarray::{ArrayD, IxDyn, arr0, array};

    use super::*;

    /// A file by hand: header, padding as the format allows, data.
    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn f64s(numbers: &[f64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// `a` of shape (2, 2) and a scalar `b`, all zero.
    fn model<T: Real>() -> Variables<T> {
        let mut variables = Variables::new();
        variables.add("a", ArrayD::from_elem(IxDyn(&[2, 2]), T::ZERO).view()).unwrap();
        variables.add("b", arr0(T::ZERO).view()).unwrap();
        variables
    }

    const BY_HAND: &str = concat!(
        r#"{"b":{"dtype":"F64","shape":[],"data_offsets":[0,8]},"#,
        r#""a":{"dtype":"F64","shape":[2,2],"data_offsets":[8,40]},"__metadata__":{"format":"pt"}}"#
    );

    #[test]
    fn survives_a_round_trip_in_both_widths() {
        fn round_trip<T: Real>() {
            let mut saved = model::<T>();
            for (i, value) in saved.values_mut().iter_mut().enumerate() {
                *value = T::from_f64(i as f64).sin() / T::from_f64(3.0);
            }
            let bytes = saved.to_safetensors().unwrap();
            let mut loaded = model::<T>();
            assert_eq!(loaded.load_safetensors_bytes(&bytes).unwrap(), [""; 0]);
            assert_eq!(loaded, saved);
            assert_eq!(Variables::from_safetensors(&bytes).unwrap(), saved);
        }
        round_trip::<f32>();
        round_trip::<f64>();
    }

    #[test]
    fn reads_and_writes_files() {
        let path = std::env::temp_dir().join(format!("marquardt-{}.safetensors", std::process::id()));
        let mut saved = model::<f64>();
        saved.values_mut().copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        saved.save_safetensors(&path).unwrap();
        let mut loaded = model();
        loaded.load_safetensors(&path).unwrap();
        let opened = Variables::open_safetensors(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!((&loaded, &opened), (&saved, &saved));
        let error = loaded.load_safetensors(&path).unwrap_err();
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    }

    #[test]
    fn reads_a_file_written_by_hand_and_converts_widths() {
        let bytes = file(BY_HAND, &f64s(&[9.5, 1.0, 2.0, 3.0, 4.0]));
        let mut variables = model::<f32>();
        variables.load_safetensors_bytes(&bytes).unwrap();
        assert_eq!(variables.values(), [1.0, 2.0, 3.0, 4.0, 9.5]);
        let all = Variables::<f64>::from_safetensors(&bytes).unwrap();
        assert_eq!(all.get(all.find("a").unwrap()), array![[1.0, 2.0], [3.0, 4.0]].into_dyn());
    }

    #[test]
    fn tensors_without_a_variable_are_listed() {
        let mut variables = Variables::<f64>::new();
        variables.add("b", arr0(0.0).view()).unwrap();
        let unused = variables.load_safetensors_bytes(&file(BY_HAND, &f64s(&[9.5, 1.0, 2.0, 3.0, 4.0]))).unwrap();
        assert_eq!((unused, variables.values()), (vec!["a".to_owned()], &[9.5][..]));
    }

    #[test]
    fn refusals_name_the_tensor_and_change_nothing() {
        let good = f64s(&[9.5, 1.0, 2.0, 3.0, 4.0]);
        let changed = |from: &str, to: &str| file(&BY_HAND.replace(from, to), &good);
        let cases = [
            (changed("\"a\"", "\"c\""), "there is no tensor named a"),
            (changed("[2,2]", "[4]"), "a has the shape [2, 2], but the values have [4]"),
            (changed("F64\",\"shape\":[2", "I64\",\"shape\":[2"), "a holds I64 numbers, not F32 or F64"),
            (file(BY_HAND, &f64s(&[9.5, 1.0, 2.0, f64::NAN, 4.0])), "a[2] is NaN"),
            (file(BY_HAND, &f64s(&[1e300, 1.0, 2.0, 3.0, 4.0])), "b[0] is 1e300, which is too large"),
            (file(BY_HAND, &good[8..]), "this is not in the safetensors format"),
            (b"PK".to_vec(), "this is not in the safetensors format"),
        ];
        for (bytes, message) in cases {
            let mut variables = model::<f32>();
            let error = variables.load_safetensors_bytes(&bytes).unwrap_err().to_string();
            assert!(error.starts_with(message.replace("1e300", &1e300.to_string()).as_str()), "{error}");
            assert_eq!(variables, model());
        }
    }

    #[test]
    fn shapes_that_no_array_has_are_refused() {
        let header = |shape: &str| format!(r#"{{"a":{{"dtype":"F64","shape":[{shape}],"data_offsets":[0,0]}}}}"#);
        let bytes = file(&header(&format!("0,{}", usize::MAX)), &[]);
        let error = Variables::<f64>::from_safetensors(&bytes).unwrap_err();
        assert_eq!(error.to_string(), format!("a has the shape [0, {}], which is too large", usize::MAX));
        let error = model::<f64>().load_safetensors_bytes(&bytes).unwrap_err().to_string();
        assert_eq!(error, format!("a has the shape [2, 2], but the values have [0, {}]", usize::MAX));
        // Empty tensors as such are welcome.
        let empty = Variables::<f64>::from_safetensors(&file(&header("0,3"), &[])).unwrap();
        assert_eq!(empty.shape(empty.find("a").unwrap()), [0, 3]);
    }

    #[test]
    fn what_could_not_be_loaded_again_is_not_saved() {
        let mut variables = model::<f64>();
        variables.values_mut()[3] = f64::INFINITY;
        assert_eq!(variables.to_safetensors().unwrap_err().to_string(), "a[3] is inf");
    }

    #[test]
    fn names_are_in_natural_order() {
        let mut names = ["10.weight", "2.weight", "x", "2.bias", "02.bias", "2", "block10.0", "block9.1"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["2", "2.bias", "02.bias", "2.weight", "10.weight", "block9.1", "block10.0", "x"]);
    }
}
