//! The space that the columns of a matrix span.

use super::triangular::solve_upper;
use super::vector::{add_scaled, dot};
use crate::real::Real;

/// An orthonormal basis `Q` of the columns of `A`, and the triangle `R` of `QR = AΠ`. `Π` takes the column with the largest remainder
/// first.
///
/// Gram–Schmidt with every column orthogonalised twice, after which `Q` is orthogonal to rounding (Daniel, Gragg, Kaufman
/// & Stewart 1976); `4mp²` flops. Columns are scaled to unit length. One whose remainder is rounding error is left out, and so
/// is one of subnormal entries, which have few digits and no finite inverse.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColumnSpace<T> {
    rows: usize,
    rank: usize,
    /// The basis, one column after the other, followed by the remainders of columns left out.
    basis: Vec<T>,
    /// `R`, row after row, with ones on the diagonal from the rank on.
    triangle: Vec<T>,
    /// Index in `A` of each column.
    order: Vec<usize>,
    /// Lengths of the columns of `A`.
    lengths: Vec<T>,
    coefficients: Vec<T>,
}

impl<T: Real> ColumnSpace<T> {
    /// Decomposes the columns of `a`, one after the other, each of `rows` rows. They must be finite.
    pub(crate) fn factorize(&mut self, rows: usize, a: &[T]) {
        let p = a.len() / rows;
        self.rows = rows;
        self.rank = 0;
        self.basis.clear();
        self.basis.extend_from_slice(a);
        self.triangle.clear();
        self.triangle.resize(p * p, T::ZERO);
        self.order.clear();
        self.order.extend(0..p);
        self.lengths.clear();
        for column in self.basis.chunks_exact_mut(rows) {
            // In units of the largest entry the squares neither over- nor underflow.
            let largest = column.iter().fold(T::ZERO, |largest, a| largest.max(a.abs()));
            if !largest.recip().is_finite() {
                column.fill(T::ZERO);
                self.lengths.push(T::ZERO);
                continue;
            }
            column.iter_mut().for_each(|a| *a /= largest);
            let length = dot(column, column).sqrt();
            column.iter_mut().for_each(|a| *a /= length);
            self.lengths.push(largest * length);
        }
        while self.rank < p && self.add_column() {}
        for k in self.rank..p {
            self.triangle[k * p..(k + 1) * p].fill(T::ZERO);
            self.triangle[k * p + k] = T::ONE;
        }
    }

    /// Adds the column with the largest remainder to the basis; `false` if all remainders are rounding error.
    fn add_column(&mut self) -> bool {
        let (m, p, k) = (self.rows, self.order.len(), self.rank);
        let squared_length = |column: &[T]| dot(column, column);
        let remains = self.basis.chunks_exact(m).skip(k).map(squared_length);
        let (largest, pivot) =
            remains.zip(k..).fold((T::ZERO, k), |best, (square, j)| if square > best.0 { (square, j) } else { best });
        let rounding = T::EPSILON * T::from_f64(m.max(p) as f64);
        if !(largest.sqrt() > rounding) {
            return false;
        }
        if pivot != k {
            let (left, right) = self.basis.split_at_mut(pivot * m);
            left[k * m..(k + 1) * m].swap_with_slice(&mut right[..m]);
            self.order.swap(k, pivot);
            (0..k).for_each(|i| self.triangle.swap(i * p + k, i * p + pivot));
        }
        let (before, rest) = self.basis.split_at_mut(k * m);
        let (column, after) = rest.split_at_mut(m);
        for (i, q) in before.chunks_exact(m).enumerate() {
            let share = dot(q, column);
            add_scaled(column, -share, q);
            self.triangle[i * p + k] += share;
        }
        let length = dot(column, column).sqrt();
        column.iter_mut().for_each(|a| *a /= length);
        self.triangle[k * p + k] = length;
        for (j, other) in (k + 1..).zip(after.chunks_exact_mut(m)) {
            let share = dot(column, other);
            add_scaled(other, -share, column);
            self.triangle[k * p + j] = share;
        }
        self.rank += 1;
        true
    }

    /// Subtracts from `v` its projection on the space, `v ← (I − QQᵀ)v`, and keeps the coefficients `Qᵀv`.
    pub(crate) fn project_out(&mut self, v: &mut [T]) {
        self.coefficients.clear();
        self.coefficients.resize(self.order.len(), T::ZERO);
        for _ in 0..2 {
            for (q, coefficient) in self.basis.chunks_exact(self.rows).take(self.rank).zip(&mut self.coefficients) {
                let share = dot(q, v);
                add_scaled(v, -share, q);
                *coefficient += share;
            }
        }
    }

    /// Fills `x` with the solution of `min ‖Ax − b‖`, right after [`project_out`](Self::project_out) of `b`: zero for
    /// the columns that were left out.
    pub(crate) fn solve(&mut self, x: &mut [T]) {
        solve_upper(&self.triangle, &mut self.coefficients);
        for (&j, &solution) in self.order.iter().zip(&self.coefficients) {
            let length = self.lengths[j];
            x[j] = if length > T::ZERO { solution / length } else { T::ZERO };
        }
    }

    /// Columns in the basis.
    #[cfg(test)]
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_left_is_orthogonal_to_every_column(
            a in vec(-1.0..1.0_f64, 9 * 4),
            b in vec(-1.0..1.0_f64, 9),
            exponents in vec(-100..100_i32, 4),
            tilt in 1..12_i32,
        ) {
            // The last column nearly repeats the first.
            let mut a = a;
            for i in 0..9 {
                a[27 + i] = a[i] + 10.0_f64.powi(-tilt) * a[27 + i];
            }
            for (column, &exponent) in a.chunks_exact_mut(9).zip(&exponents) {
                column.iter_mut().for_each(|a| *a *= 10.0_f64.powi(exponent));
            }
            let (mut space, mut left, mut x) = (ColumnSpace::default(), b.clone(), [0.0; 4]);
            space.factorize(9, &a);
            space.project_out(&mut left);
            space.solve(&mut x);
            prop_assert_eq!(space.rank(), 4);
            for column in a.chunks_exact(9) {
                let length = dot(column, column).sqrt();
                prop_assert!(dot(column, &left).abs() <= 1e-13 * length * 10.0_f64.powi(tilt).min(1e2));
            }
            let size: f64 = a.chunks_exact(9).zip(x).map(|(column, x)| x.abs() * dot(column, column).sqrt()).sum();
            for i in 0..9 {
                let fitted: f64 = (0..4).map(|j| a[9 * j + i] * x[j]).sum();
                prop_assert!((b[i] - fitted - left[i]).abs() <= 1e-13 * (1.0 + size));
            }
        }
    }

    #[test]
    fn columns_that_add_nothing_are_left_out() {
        let a = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 1.0, 2.0, 3.0_f64];
        let (mut space, mut left, mut x) = (ColumnSpace::default(), vec![3.0, 5.0, 7.0], [9.0; 4]);
        space.factorize(3, &a);
        space.project_out(&mut left);
        space.solve(&mut x);
        assert_eq!(space.rank(), 2);
        assert!(left.iter().all(|left| left.abs() < 1e-14), "{left:?}");
        assert!(x[1] == 0.0 && (x[0] == 0.0 || x[2] == 0.0), "{x:?}");
        assert!((x[0] + 2.0 * x[2] - 1.0).abs() < 1e-14 && (x[3] - 2.0).abs() < 1e-14, "{x:?}");
    }

    #[test]
    fn more_columns_than_rows_are_solved() {
        let (mut space, mut left, mut x) = (ColumnSpace::default(), vec![3.0, 4.0], [9.0; 3]);
        space.factorize(2, &[1.0, 0.0, 1.0, 1.0, 0.0, 2.0_f64]);
        space.project_out(&mut left);
        space.solve(&mut x);
        assert!(left.iter().all(|left| left.abs() < 1e-14) && x.contains(&0.0), "{left:?}, {x:?}");
    }
}
