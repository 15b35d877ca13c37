//! Products with a vector in them.

use super::array::array_of;
use super::simd::{self, Kernel, multiply_add};
use super::tile::{underflow_guard, without_guard};
use crate::real::Real;

/// Columns summed side by side: eight registers of four doubles, so that no sum waits for the one before.
const WIDE: usize = 32;

/// `y = Aᵀx` or `y += Aᵀx`, for an `A` whose rows have as many entries as `y`.
pub(super) struct RowsTimes<'a, T> {
    pub(super) y: &'a mut [T],
    pub(super) accumulate: bool,
    pub(super) rows: &'a [T],
    pub(super) x: &'a [T],
}

impl<T: Real> Kernel for RowsTimes<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { y, accumulate, rows, x } = self;
        let n = y.len();
        if !accumulate {
            y.fill(T::ZERO);
        }
        if n > 2 * WIDE {
            return add_rows::<T, FUSED>(y, rows, x);
        }
        for left in (0..n).step_by(WIDE) {
            let columns = left..n.min(left + WIDE);
            let y = &mut y[columns.clone()];
            let mut sums = [T::ZERO; WIDE];
            let done = strip::<T, FUSED>(rows.get(left..).unwrap_or_default(), n, x, &mut sums);
            for (y, sum) in y.iter_mut().zip(sums) {
                *y += without_guard(sum);
            }
            for (row, &x) in rows.chunks_exact(n).zip(x).skip(done) {
                for (y, &a) in y.iter_mut().zip(&row[columns.clone()]) {
                    *y = multiply_add::<T, FUSED>(x, a, *y);
                }
            }
        }
    }
}

/// Rows that are added at once.
const ROWS: usize = 8;

/// `y += Aᵀx` for long rows, which are read one after the other, as they lie in memory.
#[inline(always)]
fn add_rows<T: Real, const FUSED: bool>(y: &mut [T], rows: &[T], x: &[T]) {
    let n = y.len();
    let (x, x_rest) = x.as_chunks::<ROWS>();
    for (x, rows) in x.iter().zip(rows.chunks_exact(ROWS * n)) {
        let rows: [&[T]; ROWS] = array_of(|k| &rows[k * n..][..n]);
        for (j, y) in y.iter_mut().enumerate() {
            let mut sum = *y;
            for k in 0..ROWS {
                sum = multiply_add::<T, FUSED>(x[k], rows[k][j], sum);
            }
            *y = sum;
        }
    }
    for (row, &x) in rows.chunks_exact(n).skip(x.len() * ROWS).zip(x_rest) {
        for (y, &a) in y.iter_mut().zip(row) {
            *y = multiply_add::<T, FUSED>(x, a, *y);
        }
    }
}

/// Sums the first `WIDE` entries of rows of `step` entries, each times an entry of `x`. Where rows are shorter than that,
/// the rest is of no use, but does no harm; near the end there is no such rest, and the rows that are left are not summed.
/// Returns how many are. Sums begin from the [guard](underflow_guard).
#[inline(always)]
fn strip<T: Real, const FUSED: bool>(mut rows: &[T], step: usize, x: &[T], result: &mut [T; WIDE]) -> usize {
    // In an array of its own, so that it is kept in registers.
    let mut sums = [underflow_guard(); WIDE];
    let mut done = 0;
    while let (Some(row), Some(&x)) = (rows.first_chunk::<WIDE>(), x.get(done)) {
        for j in 0..WIDE {
            sums[j] = multiply_add::<T, FUSED>(x, row[j], sums[j]);
        }
        done += 1;
        rows = rows.get(step..).unwrap_or_default();
    }
    *result = sums;
    done
}

/// `y = Ax` or `y += Ax`, for an `A` whose rows have as many entries as `x`.
pub(super) struct RowDots<'a, T> {
    pub(super) y: &'a mut [T],
    pub(super) accumulate: bool,
    pub(super) rows: &'a [T],
    pub(super) x: &'a [T],
}

/// Entries of a row multiplied side by side.
const LANES: usize = 8;

/// Number of lanes at the end of a row, where fewer entries are left.
const FEW_LANES: usize = LANES / 2;

impl<T: Real> Kernel for RowDots<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { y, accumulate, rows, x } = self;
        let (x_blocks, x_rest) = x.as_chunks::<LANES>();
        let (x_few, x_last) = x_rest.as_chunks::<FEW_LANES>();
        for (y, row) in y.iter_mut().zip(rows.chunks_exact(x.len())) {
            let (blocks, rest) = row.as_chunks::<LANES>();
            let (few, last) = rest.as_chunks::<FEW_LANES>();
            let mut lanes = [T::ZERO; LANES];
            for (a, x) in blocks.iter().zip(x_blocks) {
                lanes = array_of(|lane| multiply_add::<T, FUSED>(a[lane], x[lane], lanes[lane]));
            }
            // The end of a row has sums of its own: added to some of the lanes, it would send them all through memory.
            let mut sums: [T; FEW_LANES] = array_of(|lane| lanes[lane] + lanes[lane + FEW_LANES]);
            for (a, x) in few.iter().zip(x_few) {
                sums = array_of(|lane| multiply_add::<T, FUSED>(a[lane], x[lane], sums[lane]));
            }
            let last = last.iter().zip(x_last).fold(T::ZERO, |sum, (&a, &x)| multiply_add::<T, FUSED>(a, x, sum));
            // In the order of the lanes: in pairs, LLVM would work with half as many lanes throughout.
            let sum = sums.into_iter().fold(last, |sum, lane| sum + lane);
            *y = if accumulate { *y + sum } else { sum };
        }
    }
}

/// `product = Ku`, for the lower triangle of a symmetric `K`.
pub(crate) fn symmetric_times<T: Real>(gram: &[T], u: &[T], product: &mut [T]) {
    simd::run(SymmetricTimes { gram, u, product });
}

struct SymmetricTimes<'a, T> {
    gram: &'a [T],
    u: &'a [T],
    product: &'a mut [T],
}

impl<T: Real> Kernel for SymmetricTimes<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { gram, u, product } = self;
        for (i, row) in gram.chunks_exact(u.len()).enumerate() {
            // A row is read once, for its own product and for its part in those above.
            let (above, own) = product.split_at_mut(i);
            let (blocks, rest) = row[..i].as_chunks::<LANES>();
            let (u_blocks, u_rest) = u[..i].as_chunks::<LANES>();
            let (above_blocks, above_rest) = above.as_chunks_mut::<LANES>();
            let mut lanes = [T::ZERO; LANES];
            for ((above, a), u_block) in above_blocks.iter_mut().zip(blocks).zip(u_blocks) {
                lanes = array_of(|lane| multiply_add::<T, FUSED>(a[lane], u_block[lane], lanes[lane]));
                *above = array_of(|lane| multiply_add::<T, FUSED>(a[lane], u[i], above[lane]));
            }
            let mut sum = row[i] * u[i];
            for ((above, &a), &u_rest) in above_rest.iter_mut().zip(rest).zip(u_rest) {
                sum = multiply_add::<T, FUSED>(a, u_rest, sum);
                *above = multiply_add::<T, FUSED>(a, u[i], *above);
            }
            own[0] = lanes.into_iter().fold(sum, |sum, lane| sum + lane);
        }
    }
}

/// Entries of a row that are worked on side by side where it may be short.
const BLOCK: usize = 4;

/// `C = abᵀ` or `C += abᵀ`, for a `C` whose rows have as many entries as `b`.
pub(super) struct Outer<'a, T> {
    pub(super) c: &'a mut [T],
    pub(super) accumulate: bool,
    pub(super) a: &'a [T],
    pub(super) b: &'a [T],
}

impl<T: Real> Kernel for Outer<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { c, accumulate, a, b } = self;
        let entry = |a: T, b: T, c: T| if accumulate { multiply_add::<T, FUSED>(a, b, c) } else { a * b };
        // In blocks of one register, as rows are often too short for the longer ones that a compiler chooses.
        let (b_blocks, b_rest) = b.as_chunks::<BLOCK>();
        for (c, &a) in c.chunks_exact_mut(b.len()).zip(a) {
            let (blocks, rest) = c.as_chunks_mut::<BLOCK>();
            for (c, b) in blocks.iter_mut().zip(b_blocks) {
                *c = array_of(|lane| entry(a, b[lane], c[lane]));
            }
            for (c, &b) in rest.iter_mut().zip(b_rest) {
                *c = entry(a, b, *c);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::registers::tests::in_all;
    use crate::kernels::{Factor, Kernels};

    /// Small whole numbers, whose products are exact in every order.
    fn numbers<T: Real>(count: usize, seed: usize) -> Vec<T> {
        (0..count).map(|k| T::from_f64(((k * 7 + seed * 5) % 11) as f64 - 5.0)).collect()
    }

    /// `AB` or `C + AB`, term by term.
    fn expected<T: Real>(c: &[T], accumulate: bool, a: &[T], b: &[T], [m, depth, n]: [usize; 3]) -> Vec<T> {
        let entry = |at: usize| {
            let (i, j) = (at / n, at % n);
            let sum: T = (0..depth).map(|k| a[i * depth + k] * b[k * n + j]).sum();
            if accumulate { c[at] + sum } else { sum }
        };
        (0..m * n).map(entry).collect()
    }

    /// The transpose of a matrix with rows of `n` entries.
    fn transposed<T: Real>(a: &[T], n: usize) -> Vec<T> {
        let m = a.len().checked_div(n).unwrap_or(0);
        (0..a.len()).map(|at| a[(at % m) * n + at / m]).collect()
    }

    fn products_agree<T: Real>(shape: [usize; 3]) {
        let [m, depth, n] = shape;
        let (a, b, before): (Vec<T>, _, _) = (numbers(m * depth, 1), numbers(depth * n, 2), numbers(m * n, 3));
        let (a_transposed, b_transposed) = (transposed(&a, depth), transposed(&b, n));
        for accumulate in [false, true] {
            let expected = expected(&before, accumulate, &a, &b, shape);
            for a in [Factor::Plain(a.as_slice()), Factor::Transposed(a_transposed.as_slice())] {
                let mut c = before.clone();
                T::multiply(&mut c, accumulate, a, &b, depth, n);
                assert_eq!(c, expected, "{shape:?}, {accumulate}, {a:?}");
            }
            let mut c = before.clone();
            T::multiply_transposed(&mut c, accumulate, &a, &b_transposed, depth, n);
            assert_eq!(c, expected, "{shape:?}, {accumulate}, second factor transposed");
        }
    }

    #[test]
    fn products_of_every_small_shape_agree() {
        in_all(|| {
            for m in 0..10 {
                for depth in 0..10 {
                    for n in 0..10 {
                        products_agree::<f32>([m, depth, n]);
                        products_agree::<f64>([m, depth, n]);
                    }
                }
            }
        });
    }

    #[test]
    fn products_of_larger_shapes_agree() {
        in_all(|| {
            for shape in
                [[1, 50, 33], [33, 50, 1], [70, 1, 40], [1, 1, 100], [64, 1, 1], [40, 30, 50], [1, 70, 1], [1, 19, 100]]
            {
                products_agree::<f32>(shape);
                products_agree::<f64>(shape);
            }
        });
    }

    /// The copies for other processors than this one.
    #[test]
    fn every_set_of_instructions_agrees() {
        for n in 1..100 {
            for deep in [0, 1, 2, 40] {
                let (rows, x, before): (Vec<f64>, _, _) = (numbers(deep * n, 1), numbers(deep, 2), numbers(n, 3));
                for accumulate in [false, true] {
                    let expected = expected(&before, accumulate, &x, &rows, [1, deep, n]);
                    let copies: [fn(RowsTimes<'_, f64>); 3] =
                        [|rows| rows.run::<4, false>(), |rows| rows.run::<4, true>(), |rows| rows.run::<8, true>()];
                    for run in copies {
                        let mut y = before.clone();
                        run(RowsTimes { y: &mut y, accumulate, rows: &rows, x: &x });
                        assert_eq!(y, expected, "{deep} rows of {n}, {accumulate}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_triangle_stands_for_a_symmetric_matrix() {
        in_all(|| {
            for n in (1..30).chain([40]) {
                let mut gram: Vec<f64> = numbers(n * n, 1);
                let u = numbers(n, 2);
                let entry = |i: usize, j: usize| gram[i.max(j) * n + i.min(j)];
                let expected: Vec<f64> = (0..n).map(|i| (0..n).map(|j| entry(i, j) * u[j]).sum()).collect();
                for i in 0..n {
                    gram[i * n + i + 1..(i + 1) * n].fill(f64::NAN);
                }
                let mut product = vec![f64::NAN; n];
                symmetric_times(&gram, &u, &mut product);
                assert_eq!(product, expected, "{n}");
            }
        });
    }

    /// The entries behind a short row are read along with it, but must not count.
    #[test]
    fn a_number_that_is_not_finite_stays_in_its_column() {
        in_all(|| {
            let mut rows = numbers::<f64>(300, 1);
            rows[31] = f64::NAN;
            rows[62] = f64::INFINITY;
            let mut y = [0.0; 3];
            f64::multiply(&mut y, false, Factor::Transposed(&rows), &[1.0; 100], 100, 1);
            assert!(y[0].is_finite() && y[1].is_nan() && y[2] == f64::INFINITY, "{y:?}");
        });
    }
}
