//! Rows of an array in a `.npy` file, read and written in blocks, for files that are larger than the memory.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use ndarray::{Array2, ArrayRef, Ix2};

use super::header::Header;
use super::{Decoder, NpyError, decoder, to_number_bytes};
use crate::atomic_file::Replacement;
use crate::real::Real;

/// Bytes that are read from a file at once.
const BUFFER: usize = 1 << 18;

/// Reads an array in blocks of rows: the last axis of the array is a row, and each position on the axes before has one.
///
/// ```
/// use marquardt::npy::{self, RowReader, RowWriter};
/// use ndarray::{Array3, Ix2};
///
/// let folder = std::env::temp_dir();
/// let [stack, sums] = ["stack", "sums"]
///     .map(|name| folder.join(format!("marquardt-{name}-{}.npy", std::process::id())));
/// npy::write(&stack, &Array3::from_elem((2, 3, 4), 0.5))?;
///
/// let mut reader = RowReader::<f64>::open(&stack)?;
/// let mut writer = RowWriter::create(&sums, &[2, 3, 1])?;
/// while let Some(rows) = reader.read(4)? {
///     writer.write(&rows.sum_axis(ndarray::Axis(1)).insert_axis(ndarray::Axis(1)))?;
/// }
/// writer.finish()?;
/// assert_eq!(npy::read::<f64, ndarray::Ix3>(&sums)?, Array3::from_elem((2, 3, 1), 2.0));
/// # std::fs::remove_file(stack)?;
/// # std::fs::remove_file(sums)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RowReader<T> {
    name: String,
    numbers: BufReader<File>,
    shape: Vec<usize>,
    decode: Decoder<T>,
    /// Rows that have not been read yet.
    left: usize,
}

impl<T: Real> RowReader<T> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    ///
    /// [`NpyError`] names the file and what is wrong with it. An array in column-major order, whose rows are scattered over the
    /// file, is [`NpyError::ColumnMajor`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, NpyError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let failed = |source| NpyError::Io { source_name: name.clone(), source };
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut numbers = BufReader::with_capacity(BUFFER, file);
        let header = read_header(&mut numbers).map_err(failed)?;
        let not_npy = |reason| NpyError::NotNpy { source_name: name.clone(), reason };
        let (Header { descr, fortran_order, shape }, _) = Header::split(&header).map_err(not_npy)?;
        if fortran_order && shape.len() > 1 {
            return Err(NpyError::ColumnMajor { source_name: name });
        }
        let decode = decoder::<T>(&descr).ok_or(NpyError::Type { source_name: name.clone(), descr })?;
        let Some((_, before)) = shape.split_last() else {
            return Err(NpyError::Dimensions { source_name: name, shape, expected: 1, found: 0 });
        };
        let product = |sizes: &[usize]| sizes.iter().try_fold(1, |product: usize, &size| product.checked_mul(size));
        let expected = product(&shape).and_then(|count| count.checked_mul(decode.size)).unwrap_or(usize::MAX);
        let found = usize::try_from(length).unwrap_or(usize::MAX).saturating_sub(header.len());
        if found != expected {
            return Err(NpyError::Length { source_name: name, shape, expected, found });
        }
        // Sizes other than zero may overflow beside one that is zero.
        let overflow = || NpyError::NotNpy { source_name: name.clone(), reason: format!("its shape is {shape:?}") };
        let left = product(before).ok_or_else(overflow)?;
        Ok(RowReader { name, numbers, shape, decode, left })
    }

    /// The sizes of the array; the last is that of a row.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Rows that have not been read yet.
    pub fn rows_left(&self) -> usize {
        self.left
    }

    /// Reads the next rows, up to a largest number; `None` after the last one, or if none is asked for.
    ///
    /// # Errors
    ///
    /// [`NpyError::Io`] says why the file cannot be read.
    pub fn read(&mut self, rows: usize) -> Result<Option<Array2<T>>, NpyError> {
        let (count, width) = (rows.min(self.left), self.shape[self.shape.len() - 1]);
        if count == 0 {
            return Ok(None);
        }
        let mut bytes = vec![0; count * width * self.decode.size];
        let failed = |source| NpyError::Io { source_name: self.name.clone(), source };
        self.numbers.read_exact(&mut bytes).map_err(failed)?;
        self.left -= count;
        let values = bytes.chunks_exact(self.decode.size).map(self.decode.number).collect();
        Ok(Some(Array2::from_shape_vec((count, width), values).expect("the bytes are those of the rows")))
    }
}

/// The bytes up to the end of the header.
fn read_header(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(12).read_to_end(&mut bytes)?;
    let length = match bytes[..] {
        [_, _, _, _, _, _, 1, _, low, high, ..] => 10 + usize::from(u16::from_le_bytes([low, high])),
        [_, _, _, _, _, _, 2 | 3, _, a, b, c, d] => (u32::from_le_bytes([a, b, c, d]) as usize).saturating_add(12),
        _ => 0,
    };
    reader.take(length.saturating_sub(bytes.len()) as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes an array in blocks of rows. [`finish`](Self::finish), after the last row, creates the file or replaces an existing one; until
/// then no file changes.
pub struct RowWriter {
    name: String,
    replacement: Replacement,
    shape: Vec<usize>,
    /// Numbers that have not been written yet.
    left: usize,
}

impl RowWriter {
    /// Begins an array of floats of 8 bytes.
    ///
    /// # Errors
    ///
    /// [`NpyError::Io`] says why the file cannot be written.
    pub fn create(path: impl AsRef<Path>, shape: &[usize]) -> Result<Self, NpyError> {
        let name = path.as_ref().display().to_string();
        let header = Header { descr: "<f8".to_owned(), fortran_order: false, shape: shape.to_vec() };
        let begin = || {
            let mut replacement = Replacement::begin(path.as_ref())?;
            replacement.write(&header.to_bytes())?;
            Ok(replacement)
        };
        match begin() {
            Ok(replacement) => Ok(RowWriter { name, replacement, shape: shape.to_vec(), left: count(shape) }),
            Err(source) => Err(NpyError::Io { source_name: name, source }),
        }
    }

    /// Writes the next rows.
    ///
    /// # Errors
    ///
    /// [`NpyError::Io`] says why the file cannot be written; [`NpyError::Length`], that the array has no room for these rows.
    pub fn write(&mut self, rows: &ArrayRef<f64, Ix2>) -> Result<(), NpyError> {
        self.left = self.left.checked_sub(rows.len()).ok_or_else(|| self.wrong_length(rows.len()))?;
        let failed = |source| NpyError::Io { source_name: self.name.clone(), source };
        self.replacement.write(&to_number_bytes(rows)).map_err(failed)
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    ///
    /// [`NpyError::Io`] says why the file cannot be written; [`NpyError::Length`], that rows are missing.
    pub fn finish(self) -> Result<(), NpyError> {
        if self.left > 0 {
            return Err(self.wrong_length(0));
        }
        self.replacement.commit().map_err(|source| NpyError::Io { source_name: self.name, source })
    }

    /// The array has fewer numbers left.
    fn wrong_length(&self, more: usize) -> NpyError {
        let bytes = |numbers: usize| numbers.saturating_mul(size_of::<f64>());
        let expected = bytes(count(&self.shape));
        let found = bytes((count(&self.shape) - self.left).saturating_add(more));
        NpyError::Length { source_name: self.name.clone(), shape: self.shape.clone(), expected, found }
    }
}

/// Returns the number of entries of an array of this shape, or the largest number if it is larger still.
fn count(shape: &[usize]) -> usize {
    shape.iter().fold(1, |count: usize, &size| count.saturating_mul(size))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ndarray::{Array2, Array3};

    use super::*;
    use crate::npy;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("marquardt-rows-{}-{name}.npy", std::process::id()))
    }

    #[test]
    fn blocks_are_the_whole_array() {
        let path = path("blocks");
        let whole = Array3::from_shape_fn((3, 5, 2), |(i, j, k)| (100 * i + 10 * j + k) as f64);
        npy::write(&path, &whole).unwrap();
        for block in [1, 4, 15, 100] {
            let mut reader = RowReader::<f64>::open(&path).unwrap();
            assert_eq!((reader.shape(), reader.rows_left()), (&[3, 5, 2][..], 15));
            let mut read = Vec::new();
            while let Some(rows) = reader.read(block).unwrap() {
                assert!(rows.nrows() <= block);
                read.extend(rows);
            }
            assert_eq!(read, whole.iter().copied().collect::<Vec<_>>());
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn wrong_files_are_refused() {
        let path = path("wrong");
        let message = || RowReader::<f64>::open(&path).err().unwrap().to_string();
        assert!(message().contains("No such file"));
        for bytes in [&b""[..], b"x,y\n1,2\n3,4\n", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x01\x00\xff\xff{}"] {
            std::fs::write(&path, bytes).unwrap();
            assert!(message().contains("is not an .npy file"), "{}", message());
        }
        let mut bytes = npy::to_bytes(&Array2::<f64>::zeros((2, 3)));
        bytes.pop();
        std::fs::write(&path, bytes).unwrap();
        assert!(message().ends_with("has 47 bytes of numbers, but its shape [2, 3] takes 48"));
        let header = Header { descr: "<f8".into(), fortran_order: true, shape: vec![2, 3] }.to_bytes();
        std::fs::write(&path, [header, vec![0; 48]].concat()).unwrap();
        assert!(message().contains("column-major"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn an_array_of_another_length_does_not_replace_the_file() {
        let path = path("length");
        std::fs::write(&path, "old").unwrap();
        let mut writer = RowWriter::create(&path, &[2, 2]).unwrap();
        assert!(writer.write(&Array2::zeros((3, 2))).unwrap_err().to_string().contains("48 bytes"));
        writer.write(&Array2::zeros((1, 2))).unwrap();
        assert!(writer.finish().unwrap_err().to_string().contains("16 bytes"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        let endless = RowWriter::create(&path, &[usize::MAX, 3]).unwrap();
        assert!(endless.finish().unwrap_err().to_string().contains(&format!("takes {}", usize::MAX)));
        std::fs::remove_file(path).unwrap();
    }
}
