//! Numbers that are both burn's and marquardt's.

use burn::tensor::{DType, TensorData};
use marquardt::Real;

use crate::TrainerError;

/// The type of a model's numbers: `f32` or `f64`.
pub trait Element: Real + burn::tensor::Element {}

impl Element for f32 {}
impl Element for f64 {}

/// The type of the numbers as burn calls it.
pub(crate) fn dtype<T: Element>() -> DType {
    <T as burn::tensor::Element>::dtype()
}

/// Numbers of a tensor as `T`, in the order of its shape.
pub(crate) fn converted<T: Element>(data: TensorData) -> Result<TensorData, TrainerError> {
    if data.dtype() == dtype::<T>() { Ok(data) } else { Ok(data.try_cast_as::<T>()?) }
}

/// Copies the numbers of a tensor, in the order of its shape.
pub(crate) fn read<T: Element>(data: TensorData, numbers: &mut [T]) -> Result<(), TrainerError> {
    let data = converted::<T>(data)?;
    let of_tensor = data.as_slice::<T>()?;
    if of_tensor.len() != numbers.len() {
        return Err(TrainerError::Count { expected: numbers.len(), shape: data.shape().to_vec() });
    }
    numbers.copy_from_slice(of_tensor);
    Ok(())
}

/// Writes the transpose of a matrix, which is given row after row.
pub(crate) fn transpose<T: Element>(rows: usize, columns: usize, matrix: &[T], transposed: &mut [T]) {
    for (i, row) in matrix.chunks_exact(columns.max(1)).enumerate() {
        for (&number, place) in row.iter().zip(transposed[i..].iter_mut().step_by(rows)) {
            *place = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_twice_changes_nothing() {
        let matrix: Vec<f64> = (0..12).map(f64::from).collect();
        let (mut transposed, mut back) = (vec![0.0; 12], vec![0.0; 12]);
        transpose(3, 4, &matrix, &mut transposed);
        assert_eq!(transposed[..4], [0.0, 4.0, 8.0, 1.0]);
        transpose(4, 3, &transposed, &mut back);
        assert_eq!(back, matrix);
    }

    #[test]
    fn numbers_are_converted_and_counted() {
        let mut numbers = [0.0_f64; 3];
        read(TensorData::from([1_i32, 2, 3]), &mut numbers).unwrap();
        assert_eq!(numbers, [1.0, 2.0, 3.0]);
        let error = read(TensorData::from([1.0_f32, 2.0]), &mut numbers).unwrap_err();
        assert!(matches!(&error, TrainerError::Count { expected: 3, shape } if *shape == [2]), "{error}");
    }
}
