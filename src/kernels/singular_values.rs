//! Singular values and right singular vectors.

use super::simd::{self, Kernel, multiply_add};
use crate::Real;

/// Rows that are rotated with each other, and with as many others, before the next are read.
const BLOCK: usize = 4;

/// Sweeps over all pairs of rows; about ten were the most that any matrix was seen to take.
const MAX_SWEEPS: usize = 40;

/// Numbers summed side by side.
const LANES: usize = 16;

/// The singular values of a square matrix, largest first, and its right singular vectors, one a row; `None` if an entry is not
/// finite. Values below the root of the smallest float, in units of the largest entry, are zero.
///
/// One-sided Jacobi rotations after a QR factorisation with column pivoting (Drmač and Veselić 2008): with `AΠ = QR` the rows of
/// `R` are rotated until they are orthogonal, and are then the right singular vectors of `R`, each times its singular value.
/// The cost is about `15 n³` flops. Vectors are orthogonal to rounding, and values of a matrix whose columns differ in length alone
/// have as many digits as those of one whose columns do not.
pub(super) fn singular_values<T: Real>(a: &[T], n: usize) -> Option<(Vec<T>, Vec<T>)> {
    let largest = a.iter().fold(T::ZERO, |largest, a| if a.abs() <= largest { largest } else { a.abs() });
    if !largest.is_finite() {
        return None;
    }
    // A power of two, by which division is exact; subnormal numbers stay as they are.
    let unit = if largest.recip().is_finite() { largest.exponent().exp2() } else { T::ONE };
    let mut rows: Vec<T> = a.iter().map(|&a| a / unit).collect();
    let (mut order, mut lengths): (Vec<usize>, _) = ((0..n).collect(), vec![T::ZERO; n]);
    let mut work = vec![T::ZERO; 3 * n];
    simd::run(PivotedQr { rows: &mut rows, order: &mut order, work: &mut work });
    let mut is_orthogonal = false;
    simd::run(OrthogonalRows { rows: &mut rows, lengths: &mut lengths, is_orthogonal: &mut is_orthogonal });
    if !is_orthogonal {
        return None;
    }
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

/// Fills rows of no length with unit vectors that are orthogonal to all others.
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
        let (axis, _) = (0..n).map(|j| (j, reach(j))).fold((0, T::INFINITY), |best, next| if next.1 < best.1 { next } else { best });
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

/// Overwrites a square matrix with the triangle `R` of `AΠ = QR`; each column is the longest of those that are left, less its
/// projection on those before. Where nothing is left, the rest stays as it is.
struct PivotedQr<'a, T> {
    rows: &'a mut [T],
    /// Overwritten with the place in `A` that each column comes from.
    order: &'a mut [usize],
    /// Three times as many numbers as there are columns.
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
            if !(squares[longest] > T::ZERO) {
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
            if !(factor > T::ZERO) {
                return;
            }
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
    is_orthogonal: &'a mut bool,
}

impl<T: Real> Kernel for OrthogonalRows<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const FUSED: bool>(self) {
        let n = self.lengths.len();
        for (row, length) in self.rows.chunks_exact(n).zip(&mut *self.lengths) {
            *length = dot::<T, FUSED>(row, row).sqrt();
        }
        let rounding = T::EPSILON * T::from_f64(n as f64).sqrt();
        for _ in 0..MAX_SWEEPS {
            *self.is_orthogonal = true;
            for above in (0..n).step_by(BLOCK) {
                for below in (above..n).step_by(BLOCK) {
                    for i in above..n.min(above + BLOCK) {
                        for k in below.max(i + 1)..n.min(below + BLOCK) {
                            let (before, after) = self.rows.split_at_mut(k * n);
                            let pair = (&mut before[i * n..(i + 1) * n], &mut after[..n]);
                            let lengths = [self.lengths[i], self.lengths[k]];
                            if let Some(lengths) = rotate::<T, FUSED>(pair, lengths, rounding) {
                                [self.lengths[i], self.lengths[k]] = lengths;
                                *self.is_orthogonal = false;
                            }
                        }
                    }
                }
            }
            if *self.is_orthogonal {
                return;
            }
        }
    }
}

/// Rotates two rows of these lengths so that they are orthogonal; returns the new lengths, or `None` where nothing is to be
/// done.
#[inline(always)]
fn rotate<T: Real, const FUSED: bool>((a, b): (&mut [T], &mut [T]), lengths: [T; 2], rounding: T) -> Option<[T; 2]> {
    let [of_a, of_b] = lengths;
    if !(of_a > T::ZERO && of_b > T::ZERO) {
        return None;
    }
    let cosine = dot::<T, FUSED>(a, b) / of_a / of_b;
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

#[inline(always)]
fn dot<T: Real, const FUSED: bool>(a: &[T], b: &[T]) -> T {
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [T::ZERO; LANES];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for l in 0..LANES {
            lanes[l] = multiply_add::<T, FUSED>(a[l], b[l], lanes[l]);
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(T::ZERO, |sum, (&a, &b)| multiply_add::<T, FUSED>(a, b, sum));
    lanes.into_iter().fold(rest, |sum, lane| sum + lane)
}
