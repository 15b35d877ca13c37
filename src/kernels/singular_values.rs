//! Singular values and right singular vectors.

#[cfg(feature = "faer")]
use super::registers::Registers;
use super::simd::{self, Kernel, multiply_add};
use super::vector::{all_finite, dot_in_lanes};
use super::vectors::Vectors;
use crate::real::Real;

/// Rows of a block; pairs of two blocks are rotated before the next block is read.
const BLOCK: usize = 4;

/// Most sweeps over all pairs of rows. No matrix in the tests took more than about ten.
const MAX_SWEEPS: usize = 40;

/// Entries summed side by side.
const LANES: usize = 16;

/// Number of columns from which faer is faster: by two at 32, and by six at 400.
#[cfg(feature = "faer")]
const MANY_COLUMNS: usize = 32;

/// The singular values of a square matrix, largest first, and its right singular vectors, one a row; `None` if an entry is not
/// finite. Values below the [least length](least), in units of the largest entry, are zero.
///
/// One-sided Jacobi rotations after a QR factorisation with column pivoting (Drmač and Veselić 2008): with `AΠ = QR` the rows of
/// `R` are rotated until they are orthogonal, and are then the right singular vectors of `R`, each times its singular value.
/// The cost is about `15 n³` flops. Vectors are orthogonal to rounding, and values of a matrix whose columns differ in length alone
/// have as many digits as those of one whose columns do not. With the feature `faer` a matrix of many columns is made
/// bidiagonal instead: small values then have the error of the largest, and none is made zero.
pub(super) fn singular_values<T: Vectors>(a: &[T], n: usize) -> Option<(Vec<T>, Vec<T>)> {
    if !all_finite(a) {
        return None;
    }
    let largest = a.iter().fold(T::ZERO, |largest, a| largest.max(a.abs()));
    // A power of two, by which division is exact.
    let unit = if largest > T::ZERO { largest.max(T::MIN_POSITIVE).exponent().exp2() } else { T::ONE };
    let mut rows: Vec<T> = a.iter().map(|&a| a / unit).collect();
    #[cfg(feature = "faer")]
    if n >= MANY_COLUMNS
        && Registers::are_the_widest()
        && let Some((values, vectors)) = super::faer::singular_values(&rows, n)
    {
        return Some((values.into_iter().map(|value| value * unit).collect(), vectors));
    }
    let (mut order, mut lengths): (Vec<usize>, _) = ((0..n).collect(), vec![T::ZERO; n]);
    let mut work = vec![T::ZERO; 3 * n];
    simd::run(PivotedQr { rows: &mut rows, order: &mut order, work: &mut work });
    simd::run(OrthogonalRows { rows: &mut rows, lengths: &mut lengths });
    lengths.iter_mut().filter(|length| **length < least()).for_each(|length| *length = T::ZERO);
    for (row, &length) in rows.chunks_exact_mut(n).zip(&lengths).filter(|(_, length)| **length > T::ZERO) {
        row.iter_mut().for_each(|v| *v /= length);
    }
    complete(&mut rows, &lengths);
    let mut by_size: Vec<usize> = (0..n).collect();
    by_size.sort_by(|&i, &k| lengths[k].partial_cmp(&lengths[i]).unwrap_or(std::cmp::Ordering::Equal));
    let mut vectors = vec![T::ZERO; n * n];
    for (vector, &i) in vectors.chunks_exact_mut(n).zip(&by_size) {
        for (&column, &v) in order.iter().zip(&rows[i * n..(i + 1) * n]) {
            vector[column] = v;
        }
    }
    Some((by_size.iter().map(|&i| lengths[i] * unit).collect(), vectors))
}

/// Least length of a row whose square has all its digits. Angles between shorter rows are not known, and rotations by them would not
/// converge.
fn least<T: Real>() -> T {
    (T::MIN_POSITIVE / T::EPSILON).sqrt()
}

/// Fills zero rows with unit vectors that are orthogonal to all others.
fn complete<T: Real>(rows: &mut [T], lengths: &[T]) {
    let n = lengths.len();
    let mut is_there: Vec<bool> = lengths.iter().map(|&length| length > T::ZERO).collect();
    for missing in 0..n {
        if is_there[missing] {
            continue;
        }
        let others = || (0..n).filter(|&i| is_there[i]);
        // The axis that the others reach least.
        let reach = |j: usize| others().map(|i| rows[i * n + j] * rows[i * n + j]).sum::<T>();
        let (axis, _) = (0..n)
            .map(|j| (j, reach(j)))
            .fold((0, T::INFINITY), |best, next| if next.1 < best.1 { next } else { best });
        let mut vector = vec![T::ZERO; n];
        vector[axis] = T::ONE;
        for _ in 0..2 {
            for row in others().map(|i| &rows[i * n..(i + 1) * n]) {
                let share: T = row.iter().zip(&vector).map(|(&a, &b)| a * b).sum();
                vector.iter_mut().zip(row).for_each(|(v, &a)| *v -= share * a);
            }
            let length = vector.iter().map(|&v| v * v).sum::<T>().sqrt();
            vector.iter_mut().for_each(|v| *v /= length);
        }
        rows[missing * n..(missing + 1) * n].copy_from_slice(&vector);
        is_there[missing] = true;
    }
}

/// Overwrites a square matrix with the triangle `R` of `AΠ = QR`; each step takes the column with the longest
/// remainder orthogonal to those before. Ends where all remaining columns are shorter than the [least length](least).
struct PivotedQr<'a, T> {
    rows: &'a mut [T],
    /// Overwritten with the index in `A` of each column.
    order: &'a mut [usize],
    /// Three times as many entries as there are columns.
    work: &'a mut [T],
}

impl<T: Real> Kernel for PivotedQr<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const FUSED: bool>(self) {
        let n = self.order.len();
        let (squares, work) = self.work.split_at_mut(n);
        let (reflector, products) = work.split_at_mut(n);
        squares.fill(T::ZERO);
        for row in self.rows.chunks_exact(n) {
            for (square, &a) in squares.iter_mut().zip(row) {
                *square = multiply_add::<T, FUSED>(a, a, *square);
            }
        }
        for k in 0..n {
            let longest = (k..n).fold(k, |longest, j| if squares[j] > squares[longest] { j } else { longest });
            if !(squares[longest] >= least::<T>() * least()) {
                return;
            }
            if longest != k {
                self.order.swap(k, longest);
                squares.swap(k, longest);
                self.rows.chunks_exact_mut(n).for_each(|row| row.swap(k, longest));
            }
            let below = &mut self.rows[k * n..];
            let reflector = &mut reflector[k..];
            for (v, row) in reflector.iter_mut().zip(below.chunks_exact(n)) {
                *v = row[k];
            }
            let length = reflector.iter().fold(T::ZERO, |sum, &v| multiply_add::<T, FUSED>(v, v, sum)).sqrt();
            let diagonal = if reflector[0] > T::ZERO { -length } else { length };
            reflector[0] -= diagonal;
            // H = I − vvᵀ / factor.
            let factor = -(diagonal * reflector[0]);
            let products = &mut products[k + 1..];
            products.fill(T::ZERO);
            for (&v, row) in reflector.iter().zip(below.chunks_exact(n)) {
                for (product, &a) in products.iter_mut().zip(&row[k + 1..]) {
                    *product = multiply_add::<T, FUSED>(v, a, *product);
                }
            }
            products.iter_mut().for_each(|product| *product /= factor);
            let squares = &mut squares[k + 1..];
            squares.fill(T::ZERO);
            for (i, (&v, row)) in reflector.iter().zip(below.chunks_exact_mut(n)).enumerate() {
                row[k] = if i == 0 { diagonal } else { T::ZERO };
                let row = &mut row[k + 1..];
                for (a, &product) in row.iter_mut().zip(&*products) {
                    *a = multiply_add::<T, FUSED>(-v, product, *a);
                }
                if i > 0 {
                    for (square, &a) in squares.iter_mut().zip(&*row) {
                        *square = multiply_add::<T, FUSED>(a, a, *square);
                    }
                }
            }
        }
    }
}

/// Rotates the rows of a square matrix until they are orthogonal to rounding.
struct OrthogonalRows<'a, T> {
    rows: &'a mut [T],
    /// Overwritten with the lengths of the rows.
    lengths: &'a mut [T],
}

impl<T: Real> Kernel for OrthogonalRows<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const FUSED: bool>(self) {
        let n = self.lengths.len();
        for (row, length) in self.rows.chunks_exact(n).zip(&mut *self.lengths) {
            *length = dot_in_lanes::<T, LANES, FUSED>(row, row).sqrt();
        }
        let rounding = T::EPSILON * T::from_f64(n as f64).sqrt();
        for _ in 0..MAX_SWEEPS {
            let mut is_orthogonal = true;
            for above in (0..n).step_by(BLOCK) {
                for below in (above..n).step_by(BLOCK) {
                    for i in above..n.min(above + BLOCK) {
                        for k in below.max(i + 1)..n.min(below + BLOCK) {
                            let (before, after) = self.rows.split_at_mut(k * n);
                            let pair = (&mut before[i * n..(i + 1) * n], &mut after[..n]);
                            let lengths = [self.lengths[i], self.lengths[k]];
                            if let Some(lengths) = rotate::<T, FUSED>(pair, lengths, rounding) {
                                [self.lengths[i], self.lengths[k]] = lengths;
                                is_orthogonal = false;
                            }
                        }
                    }
                }
            }
            if is_orthogonal {
                return;
            }
        }
    }
}

/// Rotates two rows of these lengths until they are orthogonal. Returns the new lengths; `None` if they already were.
#[inline(always)]
fn rotate<T: Real, const FUSED: bool>((a, b): (&mut [T], &mut [T]), lengths: [T; 2], rounding: T) -> Option<[T; 2]> {
    let [of_a, of_b] = lengths;
    if of_a < least() || of_b < least() {
        return None;
    }
    let cosine = dot_in_lanes::<T, LANES, FUSED>(a, b) / of_a / of_b;
    if !(cosine.abs() > rounding) {
        return None;
    }
    let two = T::ONE + T::ONE;
    let cotangent = (of_b / of_a - of_a / of_b) / (two * cosine);
    let tangent = if cotangent.abs() * T::EPSILON.sqrt() > T::ONE {
        (two * cotangent).recip()
    } else {
        (cotangent.abs() + (T::ONE + cotangent * cotangent).sqrt()).recip().copy_sign(cotangent)
    };
    let c = (T::ONE + tangent * tangent).sqrt().recip();
    let s = c * tangent;
    let (mut squares_a, mut squares_b) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    let (a_blocks, a_rest) = a.as_chunks_mut::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks_mut::<LANES>();
    let turn = |a: T, b: T| (multiply_add::<T, FUSED>(c, a, -(s * b)), multiply_add::<T, FUSED>(s, a, c * b));
    for (a, b) in a_blocks.iter_mut().zip(b_blocks) {
        for l in 0..LANES {
            (a[l], b[l]) = turn(a[l], b[l]);
            squares_a[l] = multiply_add::<T, FUSED>(a[l], a[l], squares_a[l]);
            squares_b[l] = multiply_add::<T, FUSED>(b[l], b[l], squares_b[l]);
        }
    }
    let (mut square_a, mut square_b) = (T::ZERO, T::ZERO);
    for (a, b) in a_rest.iter_mut().zip(b_rest) {
        (*a, *b) = turn(*a, *b);
        square_a = multiply_add::<T, FUSED>(*a, *a, square_a);
        square_b = multiply_add::<T, FUSED>(*b, *b, square_b);
    }
    let sum = |lanes: [T; LANES], rest: T| lanes.into_iter().fold(rest, |sum, lane| sum + lane).sqrt();
    Some([sum(squares_a, square_a), sum(squares_b, square_b)])
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::kernels::registers::tests::in_all;

    /// Asserts that vectors are orthonormal, that values fall and are not negative, and that `‖Av‖` is the value of each
    /// vector, and `Av` orthogonal to the others, to a number of roundings of the largest value.
    fn checked<T: Vectors>(a: &[T], n: usize) -> Vec<f64> {
        let (values, vectors) = singular_values(a, n).expect("the entries are finite");
        let values: Vec<f64> = values.into_iter().map(T::to_f64).collect();
        let vectors: Vec<f64> = vectors.into_iter().map(T::to_f64).collect();
        let a: Vec<f64> = a.iter().map(|&a| a.to_f64()).collect();
        let rounding = 10.0 * n as f64 * T::EPSILON.to_f64();
        assert!(values.windows(2).all(|pair| pair[0] >= pair[1] && pair[1] >= 0.0), "{values:?}");
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // In units of the largest entry, so that squares neither over- nor underflow.
        let unit = a.iter().fold(0.0_f64, |unit, a| unit.max(a.abs())).max(f64::MIN_POSITIVE);
        let images: Vec<Vec<f64>> = vectors
            .chunks_exact(n)
            .map(|v| a.chunks_exact(n).map(|row| row.iter().zip(v).map(|(a, v)| a / unit * v).sum()).collect())
            .collect();
        let largest = values[0] / unit;
        for i in 0..n {
            for k in 0..=i {
                let expected = f64::from(u8::from(i == k));
                let found = dot(&vectors[i * n..(i + 1) * n], &vectors[k * n..(k + 1) * n]);
                assert!((found - expected).abs() <= rounding, "vectors {i}, {k} of {n}: {found}");
                let expected = if i == k { (values[i] / unit).powi(2) } else { 0.0 };
                let found = dot(&images[i], &images[k]);
                assert!((found - expected).abs() <= rounding * largest * largest, "images {i}, {k} of {n}: {found}");
            }
        }
        values
    }

    /// Asserts that the values are nalgebra's, to so many roundings of the largest.
    #[track_caller]
    fn agrees_with_nalgebra(a: &[f64], n: usize) {
        let (ours, mut theirs) =
            (checked(a, n), DMatrix::from_row_slice(n, n, a).singular_values().as_slice().to_vec());
        theirs.sort_by(|a, b| b.total_cmp(a));
        for (ours, other) in ours.iter().zip(&theirs) {
            assert!((ours - other).abs() <= 1e-14 * n as f64 * theirs[0], "{ours} {other}");
        }
    }

    fn wave(n: usize) -> Vec<f64> {
        (0..n * n).map(|k| (k as f64 * k as f64 * 0.7 + k as f64).sin()).collect()
    }

    #[test]
    fn values_agree_with_another_library() {
        in_all(|| (1..20).chain([33, 60]).for_each(|n| agrees_with_nalgebra(&wave(n), n)));
    }

    proptest! {
        #[test]
        fn any_matrix_has_them(
            (n, a) in (1..9_usize).prop_flat_map(|n| (Just(n), vec(-1.0..1.0_f64, n * n))),
            rank in 1..9_usize,
            exponents in vec(-8..8_i32, 9),
        ) {
            // Rows beyond the rank repeat those before; columns differ in size.
            let graded: Vec<f64> =
                (0..n * n).map(|k| a[(k / n % rank) * n + k % n] * 10.0_f64.powi(exponents[k % n])).collect();
            in_all(|| {
                agrees_with_nalgebra(&a, n);
                agrees_with_nalgebra(&graded, n);
                checked(&a.iter().map(|&a| a as f32).collect::<Vec<_>>(), n);
            });
            let values = checked(&graded, n);
            prop_assert!(values[rank.min(n)..].iter().all(|&value| value <= 1e-14 * values[0]), "{:?}", values);
        }

        /// Rows and columns of any size, some of them copies of others, zeros, or subnormal numbers: what triangles of Jacobians are
        /// made of where parameters run away.
        #[test]
        fn no_matrix_is_too_singular(
            n in 1..9_usize,
            a in vec(-1.0..1.0_f32, 64),
            copies in vec((0..8_usize, 0..8_usize), 0..6),
            exponents in vec(prop_oneof![Just(0), -8..1_i32, -45..39_i32], 16),
            flattened in 0.0..0.5_f32,
        ) {
            let mut a = a;
            for (from, to) in copies {
                (0..8).for_each(|k| a[to * 8 + k] = a[from * 8 + k]);
                (0..8).for_each(|i| a[i * 8 + from] = a[i * 8 + to]);
            }
            let a = |i: usize, j: usize| if a[i * 8 + j].abs() < flattened { 0.0 } else { a[i * 8 + j] };
            let scale = |i: usize, j: usize| 10.0_f64.powi(exponents[i].min(0)) * 10.0_f64.powi(exponents[8 + j]);
            let graded: Vec<f64> = (0..n * n).map(|k| f64::from(a(k / n, k % n)) * scale(k / n, k % n)).collect();
            let largest = graded.iter().fold(0.0_f64, |largest, a| largest.max(a.abs()));
            in_all(|| {
                checked(&graded, n);
                // In units in which small entries are subnormal, and in those in which large ones all but overflow.
                for unit in [1.0, 1e-38, 1e37] {
                    let narrowed: Vec<f32> = graded.iter().map(|a| (a / largest.max(1e-300) * unit) as f32).collect();
                    checked(&narrowed, n);
                }
            });
        }

        /// As many columns as faer takes, where it is there: some repeat others, up to rounding, and columns differ in size.
        #[test]
        fn many_columns_of_any_rank_agree(
            n in 30..40_usize,
            seed in 0..1000_usize,
            rank in 1..45_usize,
            exponents in vec(-30..9_i32, 40),
            noise in prop_oneof![Just(0.0), Just(1e-15), Just(1e-9)],
        ) {
            let wave = |k: usize| ((k * k + seed) as f64 * 0.7).sin();
            let entry = |i: usize, j: usize| {
                (wave(i * n + j % rank) + noise * wave(seed + i * n + j)) * 10.0_f64.powi(exponents[j])
            };
            let a: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
            in_all(|| {
                agrees_with_nalgebra(&a, n);
                for unit in [1.0, 1e-30, 1e28] {
                    checked(&a.iter().map(|a| (a * unit) as f32).collect::<Vec<_>>(), n);
                }
            });
        }

        /// Small values have as many digits as large ones where columns differ in length alone.
        #[test]
        fn graded_matrices_keep_their_digits(a in vec(-0.1..0.1_f64, 16), exponents in vec(-60..60_i32, 4)) {
            let well_conditioned = |k: usize| a[k] + f64::from(u8::from(k / 4 == k % 4));
            let graded: Vec<f64> = (0..16).map(|k| well_conditioned(k) * 2.0_f64.powi(exponents[k % 4])).collect();
            let values = checked(&graded, 4);
            // The product of the values is the determinant, by the well-conditioned part.
            let part: Vec<f64> = (0..16).map(well_conditioned).collect();
            let determinant: f64 = checked(&part, 4).iter().product();
            let scale: f64 = exponents.iter().map(|&exponent| 2.0_f64.powi(exponent)).product();
            let product: f64 = values.iter().product();
            prop_assert!((product / scale / determinant - 1.0).abs() < 1e-13, "{} {}", product / scale, determinant);
        }
    }

    #[test]
    fn zero_is_of_rank_zero() {
        for n in 1..5 {
            assert_eq!(checked(&vec![0.0_f64; n * n], n), vec![0.0; n]);
        }
    }

    #[test]
    fn columns_of_zeros_have_vectors_too() {
        let mut a = wave(7);
        for row in a.chunks_exact_mut(7) {
            (row[2], row[5]) = (0.0, 0.0);
        }
        let values = checked(&a, 7);
        assert!(values[4] > 1e-3 && values[5..] == [0.0, 0.0], "{values:?}");
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        for strange in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in 0..9 {
                let mut a = wave(3);
                a[at] = strange;
                assert!(singular_values(&a, 3).is_none(), "{strange} at {at}");
            }
        }
    }

    #[test]
    fn the_range_of_floats_is_no_limit() {
        for unit in [1e-300, 1e-160, 1e160, 1e307] {
            let values: Vec<f64> = checked(&wave(6).iter().map(|a| a * unit).collect::<Vec<_>>(), 6);
            for (value, expected) in values.iter().zip(checked(&wave(6), 6)) {
                assert!((value / unit - expected).abs() < 1e-13, "{unit}: {value}");
            }
        }
        assert_eq!(checked(&[-3.0_f32], 1), [3.0]);
        assert_eq!(singular_values(&[f64::MAX], 1).expect("it is finite").0, [f64::MAX]);
    }

    /// The matrix on which QR without pivoting, and Jacobi rotations without QR, take long.
    #[test]
    fn hilbert_matrices_converge() {
        for n in [5, 10, 40] {
            let hilbert: Vec<f64> = (0..n * n).map(|k| 1.0 / (k / n + k % n + 1) as f64).collect();
            agrees_with_nalgebra(&hilbert, n);
        }
    }
}
