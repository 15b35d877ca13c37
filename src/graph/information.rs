//! Square roots of information matrices.

use nalgebra::{DMatrix, SymmetricEigen};

use super::error::GraphError;
use crate::real::Real;

/// Most negative eigenvalue that counts as rounding, where the diagonal is one.
const ROUNDING: f64 = 0.02;

/// The upper triangle `L` with `LᵀL = A`.
///
/// # Errors
///
/// A matrix that is not finite, not symmetric or not positive definite.
pub(super) fn root_of<T: Real, const N: usize>(matrix: [[T; N]; N]) -> Result<[[T; N]; N], GraphError> {
    check(&matrix)?;
    let mut root = [[T::ZERO; N]; N];
    for i in 0..N {
        for j in i..N {
            let sum = (0..i).fold(matrix[i][j], |sum, k| sum - root[k][i] * root[k][j]);
            root[i][j] = if i == j { sum.sqrt() } else { sum / root[i][i] };
        }
        if !(root[i][i] > T::ZERO && root[i].iter().all(|entry| entry.is_finite())) {
            return Err(GraphError::InformationNotPositiveDefinite { row: i });
        }
    }
    Ok(root)
}

/// The upper triangle `L` with `LᵀL` the semi-definite matrix nearest to `A` in the units of its diagonal.
///
/// # Errors
///
/// A matrix that is not finite, not symmetric, or that has a diagonal entry or an eigenvalue that is negative by more than rounding.
pub(super) fn rounded_root_of<T: Real, const N: usize>(matrix: [[T; N]; N]) -> Result<[[T; N]; N], GraphError> {
    check(&matrix)?;
    let units: [f64; N] = std::array::from_fn(|i| matrix[i][i].to_f64().sqrt());
    let is_empty = units.iter().all(|&unit| unit == 0.0);
    if let Some(row) = units.iter().position(|unit| is_empty || !(*unit >= 0.0)) {
        return Err(GraphError::InformationNotPositiveDefinite { row });
    }
    let correlations = DMatrix::from_fn(N, N, |i, j| {
        let unit = units[i] * units[j];
        if unit > 0.0 { matrix[i][j].to_f64() / unit } else { 0.0 }
    });
    let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new(correlations);
    if let Some(row) = eigenvalues.iter().position(|&value| !(value >= -ROUNDING)) {
        return Err(GraphError::InformationNotPositiveDefinite { row: eigenvectors.column(row).icamax() });
    }
    let root = DMatrix::from_fn(N, N, |i, j| eigenvalues[i].max(0.0).sqrt() * eigenvectors[(j, i)] * units[j]);
    let triangle = root.qr().r();
    Ok(std::array::from_fn(|i| std::array::from_fn(|j| T::from_f64(if j >= i { triangle[(i, j)] } else { 0.0 }))))
}

fn check<T: Real, const N: usize>(matrix: &[[T; N]; N]) -> Result<(), GraphError> {
    for (row, entries) in matrix.iter().enumerate() {
        if let Some(column) = entries.iter().position(|entry| !entry.is_finite()) {
            return Err(GraphError::InformationNotFinite { row, column });
        }
    }
    for row in 0..N {
        for column in row + 1..N {
            let (entry, mirrored) = (matrix[row][column], matrix[column][row]);
            let size =
                entry.abs().max(mirrored.abs()).max((matrix[row][row].abs() * matrix[column][column].abs()).sqrt());
            if !((entry - mirrored).abs() <= T::EPSILON.sqrt() * size) {
                return Err(GraphError::InformationNotSymmetric { row, column });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square_of<const N: usize>(root: [[f64; N]; N]) -> [[f64; N]; N] {
        std::array::from_fn(|i| std::array::from_fn(|j| (0..N).map(|k| root[k][i] * root[k][j]).sum()))
    }

    #[test]
    fn roots_give_back_their_matrix() {
        let matrix = [[4.0, 1.0, -2.0], [1.0, 3.0, 0.5], [-2.0, 0.5, 9.0]];
        for root in [root_of(matrix).unwrap(), rounded_root_of(matrix).unwrap()] {
            for (row, expected) in square_of(root).iter().zip(matrix) {
                assert!(row.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13), "{row:?}");
            }
        }
        assert!(rounded_root_of([[4.0_f32, 1.0], [1.0, 3.0]]).is_ok());
    }

    /// Units differ by ten orders of magnitude, and the third row is the sum of the others, rounded.
    #[test]
    fn what_is_semi_definite_by_rounding_has_a_rounded_root() {
        let matrix = [[1e10, 0.0, 1e10], [0.0, 1e-10, 1e-10], [1e10, 1e-10, 0.9999e10]];
        assert!(matches!(root_of(matrix), Err(GraphError::InformationNotPositiveDefinite { row: 2 })));
        let square = square_of(rounded_root_of(matrix).unwrap());
        for i in 0..3 {
            for j in 0..3 {
                let unit = (matrix[i][i] * matrix[j][j]).sqrt();
                assert!((square[i][j] - matrix[i][j]).abs() < 1e-3 * unit, "({i}, {j}): {}", square[i][j]);
            }
        }
        let no_information = [[1.0, 0.0], [0.0, 0.0]];
        assert_eq!(square_of(rounded_root_of(no_information).unwrap()), no_information);
        for wrong in [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.0, -1e-9]], [[0.0; 2]; 2]] {
            assert!(matches!(rounded_root_of(wrong), Err(GraphError::InformationNotPositiveDefinite { .. })));
        }
    }
}
