//! Products of large matrices, in bands of rows.

use super::matrix_product::{Matrix, MatrixProduct, multiply_in_tiles};
use super::vectors::Vectors;
use crate::parallel;

/// Rows of a band.
const BAND: usize = 256;

/// Products of two entries from which a product is divided: a tenth of a millisecond, which is long beside the start of a task.
const MANY_TERMS: usize = 1 << 22;

/// Computes a product. A large one is divided into bands of rows where there are several threads. The bits of an entry do not depend on
/// that.
pub(super) fn multiply<T: Vectors>(product: MatrixProduct<'_, T>) {
    let [m, depth, n] = product.shape;
    if m.saturating_mul(depth).saturating_mul(n) < MANY_TERMS || parallel::threads() == 1 {
        multiply_in_tiles(product);
    } else {
        multiply_in_bands(product);
    }
}

fn multiply_in_bands<T: Vectors>(product: MatrixProduct<'_, T>) {
    let bands = product.shape[0].div_ceil(BAND);
    if bands < 2 {
        return multiply_in_tiles(product);
    }
    let (above, below) = product.split_at_row(bands / 2 * BAND);
    parallel::join(|| multiply_in_bands(above), || multiply_in_bands(below));
}

impl<T: Copy> MatrixProduct<'_, T> {
    /// Divides the product: the rows above this one, and the others.
    fn split_at_row(self, row: usize) -> (Self, Self) {
        let MatrixProduct { c, stride, shape: [m, depth, n], accumulate, lower, a, b } = self;
        let (above, below) = c.split_at_mut(row * stride);
        let columns = lower.map_or(n, |first| n.min(first + row));
        let a_below = Matrix { entries: &a.entries[if a.transposed { row } else { row * a.stride }..], ..a };
        let lower_below = lower.map(|first| first + row);
        (
            MatrixProduct { c: above, stride, shape: [row, depth, columns], accumulate, lower, a, b },
            MatrixProduct {
                c: below,
                stride,
                shape: [m - row, depth, n],
                accumulate,
                lower: lower_below,
                a: a_below,
                b,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::registers::tests::in_all;

    /// Asserts that bands have the bits of the whole product, wherever entries are asked for.
    fn bands_agree<T: Vectors>([m, depth, n]: [usize; 3], transposed: [bool; 2], lower: Option<usize>) {
        let wave = |count: usize| (0..count).map(|k| T::from_f64((k as f64 * 0.37).sin())).collect::<Vec<_>>();
        let (a, b, gap) = (wave(m * depth), wave(depth * n), 3);
        let product = |multiply: fn(MatrixProduct<'_, T>)| {
            let mut c = wave(m * (n + gap));
            let a = Matrix { entries: &a, stride: if transposed[0] { m } else { depth }, transposed: transposed[0] };
            let b = Matrix { entries: &b, stride: if transposed[1] { depth } else { n }, transposed: transposed[1] };
            multiply(MatrixProduct { c: &mut c, stride: n + gap, shape: [m, depth, n], accumulate: true, lower, a, b });
            c
        };
        let (whole, bands) = (product(multiply_in_tiles), product(multiply_in_bands));
        for (at, (whole, band)) in whole.iter().zip(&bands).enumerate() {
            let (i, j) = (at / (n + gap), at % (n + gap));
            let is_asked_for = lower.is_none_or(|first| j <= first + i || j >= n);
            assert!(!is_asked_for || whole == band, "({i}, {j}) of {m} × {depth} × {n}: {whole} is not {band}");
        }
    }

    #[test]
    fn bands_have_the_bits_of_the_whole() {
        in_all(|| {
            for transposed in [[false, false], [false, true], [true, false], [true, true]] {
                for m in [BAND, BAND + 1, 3 * BAND + 7] {
                    bands_agree::<f64>([m, 5, 30], transposed, None);
                    bands_agree::<f32>([m, 3, m], transposed, Some(0));
                    bands_agree::<f64>([m, 2, m + 11], transposed, Some(11));
                }
            }
        });
    }
}
