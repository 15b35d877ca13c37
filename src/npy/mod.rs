//! Arrays of numbers in NumPy's `.npy` files, version 1 to 3 of the
//! [format](https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
//!
//! ```
//! use marquardt::{FitMany, model, npy};
//! use ndarray::{Array2, Ix2};
//!
//! // numpy.save("pixels.npy", pixels) would do this in Python.
//! let folder = std::env::temp_dir();
//! let path = folder.join(format!("marquardt-pixels-{}.npy", std::process::id()));
//! npy::write(
//!     &path,
//!     &Array2::from_shape_fn((3, 20), |(row, i)| (row as f64 + 1.0) * (-0.2 * i as f64).exp()),
//! )?;
//!
//! let pixels = npy::read::<f64, Ix2>(&path)?;
//! let t: Vec<f64> = (0..20).map(f64::from).collect();
//! let decay = model!(|t; height, rate| height * exp(-rate * t));
//! let fits = FitMany::new(decay, &t, &pixels).start(&[1.0, 0.1]).fit()?;
//! npy::write(&path, &fits.parameters)?;
//! assert!((npy::read::<f64, Ix2>(&path)?[[2, 1]] - 0.2).abs() < 1e-9);
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod header;
mod rows;

use std::fs;
use std::path::Path;

use ndarray::{Array, ArrayRef, Dimension, IxDyn, ShapeBuilder};

use crate::atomic_file;
use crate::real::Real;
pub use error::NpyError;
use header::Header;
pub use rows::{RowReader, RowWriter};

/// Reads an array of `D` dimensions (`Ix1`, `Ix2`, …, or `IxDyn` for any number), in row-major order, whatever its order in the
/// file. Floats of 4 and 8 bytes, integers of 1 to 8 and booleans, of either byte order, become the nearest `T`.
///
/// # Errors
///
/// [`NpyError`] names the file and what is wrong with it.
pub fn read<T: Real, D: Dimension>(path: impl AsRef<Path>) -> Result<Array<T, D>, NpyError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    match fs::read(path) {
        Ok(bytes) => parse(&name, &bytes),
        Err(source) => Err(NpyError::Io { source_name: name, source }),
    }
}

/// Reads an array from the bytes of a file, as [`read`] does; errors call it `input`.
///
/// # Errors
///
/// [`NpyError`] says what is wrong.
pub fn from_bytes<T: Real, D: Dimension>(bytes: &[u8]) -> Result<Array<T, D>, NpyError> {
    parse("input", bytes)
}

/// Writes an array, in row-major order, as floats of 8 bytes, or of 4 for `f32`. A file that is there is replaced as a whole, or
/// not at all.
///
/// # Errors
///
/// [`NpyError::Io`] says why the file cannot be written.
pub fn write<T: Real, D: Dimension>(path: impl AsRef<Path>, array: &ArrayRef<T, D>) -> Result<(), NpyError> {
    let path = path.as_ref();
    let error = |source| NpyError::Io { source_name: path.display().to_string(), source };
    atomic_file::write(path, &[&to_bytes(array)]).map_err(error)
}

/// The bytes of the file that [`write()`] writes.
pub fn to_bytes<T: Real, D: Dimension>(array: &ArrayRef<T, D>) -> Vec<u8> {
    let size = size_of::<T>();
    let header = Header { descr: format!("<f{size}"), fortran_order: false, shape: array.shape().to_vec() };
    [header.to_bytes(), to_number_bytes(array)].concat()
}

/// The bytes of the numbers, in row-major order.
fn to_number_bytes<T: Real, D: Dimension>(array: &ArrayRef<T, D>) -> Vec<u8> {
    let size = size_of::<T>();
    let mut bytes = Vec::with_capacity(size * array.len());
    for &value in array {
        let value = value.to_f64();
        match size {
            // It came from an `f32`, and is one again.
            4 => bytes.extend((value as f32).to_le_bytes()),
            _ => bytes.extend(value.to_le_bytes()),
        }
    }
    bytes
}

fn parse<T: Real, D: Dimension>(name: &str, bytes: &[u8]) -> Result<Array<T, D>, NpyError> {
    let source_name = || name.to_owned();
    let not_npy = |reason| NpyError::NotNpy { source_name: source_name(), reason };
    let (Header { descr, fortran_order, shape }, numbers) = Header::split(bytes).map_err(not_npy)?;
    let decode = decoder::<T>(&descr).ok_or(NpyError::Type { source_name: source_name(), descr })?;
    let count = shape.iter().try_fold(1, |count: usize, &size| count.checked_mul(size));
    let expected = count.and_then(|count| count.checked_mul(decode.size)).unwrap_or(usize::MAX);
    if numbers.len() != expected {
        return Err(NpyError::Length { source_name: source_name(), shape, expected, found: numbers.len() });
    }
    if let Some(dimensions) = D::NDIM.filter(|&dimensions| dimensions != shape.len()) {
        let found = shape.len();
        return Err(NpyError::Dimensions { source_name: source_name(), shape, expected: dimensions, found });
    }
    let values: Vec<T> = numbers.chunks_exact(decode.size).map(|number| (decode.number)(number)).collect();
    let array = Array::from_shape_vec(IxDyn(&shape).set_f(fortran_order), values);
    // Sizes other than zero may overflow beside one that is zero.
    let array = array.map_err(|error| not_npy(format!("its shape is {shape:?}: {error}")))?;
    let array = if array.is_standard_layout() { array } else { array.as_standard_layout().into_owned() };
    Ok(array.into_dimensionality().expect("the number of dimensions was looked at"))
}

/// Decoder of the numbers of a type.
struct Decoder<T> {
    /// Bytes of a number.
    size: usize,
    number: fn(&[u8]) -> T,
}

/// Returns the decoder of a type; `None` if it is not a type of real numbers.
fn decoder<T: Real>(descr: &str) -> Option<Decoder<T>> {
    let (order, kind) = descr.split_at_checked(1)?;
    let is_big = match order {
        "<" => false,
        ">" => true,
        "|" if kind.ends_with('1') => false,
        _ => return None,
    };
    macro_rules! of {
        ($number:ty) => {
            Decoder {
                size: size_of::<$number>(),
                number: if is_big { of!($number, from_be_bytes) } else { of!($number, from_le_bytes) },
            }
        };
        ($number:ty, $from:ident) => {
            |bytes| {
                let value = <$number>::$from(bytes.try_into().expect("as many bytes as the number has"));
                T::from_f64(value as f64)
            }
        };
    }
    Some(match kind {
        "f8" => of!(f64),
        "f4" => of!(f32),
        "i8" => of!(i64),
        "i4" => of!(i32),
        "i2" => of!(i16),
        "i1" => of!(i8),
        "u8" => of!(u64),
        "u4" => of!(u32),
        "u2" => of!(u16),
        "u1" | "b1" => of!(u8),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2, Array3, ArrayD, Ix1, Ix2, array};

    use super::*;

    fn file(descr: &str, fortran_order: bool, shape: &[usize], numbers: &[u8]) -> Vec<u8> {
        let mut bytes = Header { descr: descr.into(), fortran_order, shape: shape.to_vec() }.to_bytes();
        bytes.extend(numbers);
        bytes
    }

    fn message(bytes: &[u8]) -> String {
        from_bytes::<f64, Ix1>(bytes).unwrap_err().to_string()
    }

    /// `numpy.save` of NumPy 2 wrote these bytes for `numpy.array([[1, 2, 3], [4, 5, 6]], dtype="<i2", order="F")`.
    #[test]
    fn a_file_of_numpys_is_read() {
        let header = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }";
        let mut bytes = b"\x93NUMPY\x01\x00v\x00".to_vec();
        bytes.extend(format!("{header:<117}\n").into_bytes());
        bytes.extend([1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0]);
        let read = from_bytes::<f64, Ix2>(&bytes).unwrap();
        assert_eq!(read, array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        assert!(read.is_standard_layout());
    }

    #[test]
    fn arrays_come_back_bit_for_bit() {
        let one = Array1::from(vec![0.1, -0.0, f64::INFINITY, 5e-324, 1.0 / 3.0]);
        let bits = |array: &Array1<f64>| array.mapv(f64::to_bits);
        assert_eq!(bits(&from_bytes(&to_bytes(&one)).unwrap()), bits(&one));
        let single = Array2::from_shape_fn((4, 3), |(i, j)| (i as f32 - 0.3).powi(j as i32));
        assert_eq!(from_bytes::<f32, Ix2>(&to_bytes(&single.t())).unwrap(), single.t());
        let three = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 100 + j * 10 + k) as f64);
        assert_eq!(from_bytes::<f64, IxDyn>(&to_bytes(&three)).unwrap(), three.into_dyn());
        let empty = Array2::<f64>::zeros((0, 5));
        assert_eq!(from_bytes::<f64, Ix2>(&to_bytes(&empty)).unwrap(), empty);
        let scalar = ArrayD::from_elem(IxDyn(&[]), 2.5);
        assert_eq!(from_bytes::<f64, IxDyn>(&to_bytes(&scalar)).unwrap(), scalar);
        assert!(from_bytes::<f64, Ix1>(&to_bytes(&array![f64::NAN])).unwrap()[0].is_nan());
    }

    #[test]
    fn every_type_of_number_is_read() {
        let cases: [(&str, Vec<u8>, f64); 14] = [
            ("<f8", 2.5_f64.to_le_bytes().to_vec(), 2.5),
            (">f8", 2.5_f64.to_be_bytes().to_vec(), 2.5),
            ("<f4", 2.5_f32.to_le_bytes().to_vec(), 2.5),
            (">f4", 2.5_f32.to_be_bytes().to_vec(), 2.5),
            ("<i8", (-70_000_i64).to_le_bytes().to_vec(), -70_000.0),
            (">i4", (-70_000_i32).to_be_bytes().to_vec(), -70_000.0),
            ("<i2", (-300_i16).to_le_bytes().to_vec(), -300.0),
            (">u8", 70_000_u64.to_be_bytes().to_vec(), 70_000.0),
            ("<u4", 70_000_u32.to_le_bytes().to_vec(), 70_000.0),
            (">u2", 300_u16.to_be_bytes().to_vec(), 300.0),
            ("|i1", (-3_i8).to_le_bytes().to_vec(), -3.0),
            ("|u1", vec![200], 200.0),
            ("|b1", vec![1], 1.0),
            ("<u1", vec![7], 7.0),
        ];
        for (descr, bytes, value) in cases {
            assert_eq!(from_bytes::<f64, Ix1>(&file(descr, false, &[1], &bytes)).unwrap(), array![value], "{descr}");
        }
    }

    #[test]
    fn wrong_files_are_refused_by_what_is_wrong() {
        assert_eq!(message(b"x,y\n1,2\n"), "input is not an .npy file: it does not begin with \\x93NUMPY");
        assert_eq!(message(b"\x93NUMPY\x01\x00"), "input is not an .npy file: it ends within its header");
        assert_eq!(message(b"\x93NUMPY\x09\x00aaaa"), "input is not an .npy file: version 9 of the format is unknown");
        assert!(message(b"\x93NUMPY\x01\x00\x02\x00{}").ends_with("its header is \"{}\""));
        assert!(message(&file("<c16", false, &[1], &[0; 16])).starts_with("input has numbers of the type <c16;"));
        assert!(message(&file("|O", false, &[1], &[0; 16])).starts_with("input has numbers of the type |O;"));
        assert!(message(&file("", false, &[1], &[0; 16])).starts_with("input has numbers of the type ;"));
        let short = "input has 15 bytes of numbers, but its shape [2] takes 16";
        assert_eq!(message(&file("<f8", false, &[2], &[0; 15])), short);
        let endless = file("<f8", false, &[usize::MAX, 3], &[]);
        assert!(message(&endless).contains(&format!("takes {}", usize::MAX)));
        let two = file("<f8", false, &[1, 2], &[0; 16]);
        assert_eq!(message(&two), "input has an array of 2 dimensions, of shape [1, 2], but 1 are expected");
        let hollow = file("<f8", false, &[0, usize::MAX, 4], &[]);
        assert!(from_bytes::<f64, IxDyn>(&hollow).unwrap_err().to_string().starts_with("input is not an .npy file"));
    }

    #[test]
    fn files_are_named() {
        let path = std::env::temp_dir().join(format!("marquardt-no-such-{}.npy", std::process::id()));
        let error = read::<f64, Ix1>(&path).unwrap_err().to_string();
        assert!(error.starts_with(&path.display().to_string()), "{error}");
        let folder = path.join("file.npy");
        assert!(matches!(write(&folder, &array![1.0]), Err(NpyError::Io { .. })));
    }
}
