//! The triangle of a Jacobian.

use crate::distributed::Communicator;
use crate::evaluation::{ParallelSums, Tiles};
use crate::kernels::Scratch;
use crate::kernels::triangular::{absorb_rows, read_triangle, write_triangle};
use crate::kernels::triangular_inverse::invert_upper;
use crate::kernels::vector::{add_rows_times, add_scaled, all_finite, dot};
use crate::problem::{Evaluated, EvaluationError, LeastSquares, LeastSquaresExt};
use crate::real::Real;
use crate::storage::Dynamic;

/// Numbers in a Jacobian in double precision from which its normal equations are formed first.
const MANY_NUMBERS: usize = 100_000;

/// Products of two numbers in rows of `JᵀJ`, in double precision, from which these equations are formed first.
const MANY_PRODUCTS: usize = 10_000_000;

/// Share of the digits that the normal equations may lose: nine are left.
const DIGITS_LOST: f64 = 0.4;

/// The Jacobian at a point, reduced.
pub(crate) struct Triangle<T> {
    /// The triangle `R` of `QR = J`.
    pub(crate) triangle: Vec<T>,
    /// `Jᵀr`.
    pub(super) gradient: Vec<T>,
    /// `‖r‖²`; NaN if a residual or derivative is not finite.
    pub(crate) sum_of_squares: T,
    /// Rows of the Jacobian.
    pub(crate) rows: usize,
}

impl<T: Real> Triangle<T> {
    /// Returns the triangle of a matrix without rows.
    fn new(n: usize) -> Self {
        Triangle { triangle: vec![T::ZERO; n * n], gradient: vec![T::ZERO; n], sum_of_squares: T::ZERO, rows: 0 }
    }

    /// Returns the triangle of the Jacobian at `x`, with the rows of all ranks.
    pub(crate) fn at(problem: &mut dyn LeastSquares<T>, x: &[T]) -> Evaluated<Self> {
        let (here, columns) = (Self::here(problem, x), problem.column_count());
        match problem.capabilities().communicator().filter(|ranks| ranks.size() > 1) {
            None => here,
            Some(ranks) => Self::of_all(ranks, columns, here),
        }
    }

    /// Returns the triangle of this rank's rows.
    fn here(problem: &mut dyn LeastSquares<T>, x: &[T]) -> Evaluated<Self> {
        let (m, n) = (problem.residual_count(), problem.column_count());
        let mut tiles = Tiles::new(m, n, problem.row_group());
        if size_of::<T>() == size_of::<f64>()
            && (m.saturating_mul(n) >= MANY_NUMBERS || m.saturating_mul(n).saturating_mul(n) >= MANY_PRODUCTS)
            && let Some(here) = Self::by_normal_equations(&mut tiles, problem, x)?
        {
            return Ok(here);
        }
        Self::by_reflections(&mut tiles, problem, x)
    }

    /// Reflects a tile of rows after the other. The triangle of some tiles is absorbed by that of all, so that rounding errors of the same
    /// sign, as those of long data are, add up over no more than the square root of their number.
    fn by_reflections(tiles: &mut Tiles<T, Dynamic>, problem: &mut dyn LeastSquares<T>, x: &[T]) -> Evaluated<Self> {
        let (m, n) = (problem.residual_count(), problem.column_count());
        let mut room = Room::new(n);
        let (mut all, mut some) = (Self::new(n), Self::new(n));
        let most = (m as f64 * tiles.rows_at_a_time() as f64).sqrt() as usize;
        tiles.linearize_or_reuse(problem, x, |r, jacobian| {
            some.rows += r.len();
            some.sum_of_squares += dot(r, r);
            add_rows_times(&mut some.gradient, jacobian, r);
            let is_suspect = !(some.sum_of_squares.is_finite() && all_finite(&some.gradient));
            if is_suspect && !(all_finite(r) && all_finite(jacobian)) {
                // Reflections would leave such a column out.
                some.sum_of_squares = T::from_f64(f64::NAN);
            }
            room.absorb(&mut some.triangle, jacobian, r);
            if some.rows >= most && all.rows + some.rows < m {
                all.absorb(&mut some, &mut room);
                some = Self::new(n);
            }
        })?;
        if all.rows > 0 {
            some.absorb(&mut all, &mut room);
        }
        Ok(some)
    }

    /// Takes over the rows of another, whose triangle stands for them and is overwritten.
    fn absorb(&mut self, other: &mut Self, room: &mut Room<T>) {
        self.rows += other.rows;
        self.sum_of_squares += other.sum_of_squares;
        add_scaled(&mut self.gradient, T::ONE, &other.gradient);
        let mut r = vec![T::ZERO; other.gradient.len()];
        room.absorb(&mut self.triangle, &mut other.triangle, &mut r);
    }

    /// Factorises `JᵀJ`; `None` where that may lose more than [its share](DIGITS_LOST) of the digits, or `‖r‖²` is not finite.
    fn by_normal_equations(
        tiles: &mut Tiles<T, Dynamic>,
        problem: &mut dyn LeastSquares<T>,
        x: &[T],
    ) -> Evaluated<Option<Self>> {
        let (n, group) = (problem.column_count(), problem.row_group());
        let mut here = Triangle { rows: problem.residual_count(), ..Self::new(n) };
        let Triangle { triangle: gram, gradient, sum_of_squares, rows } = &mut here;
        let are_shared = problem.capabilities().communicator().is_some_and(|ranks| ranks.size() > 1);
        if let Some(mut sums) = ParallelSums::new(*rows, n, group).filter(|_| !are_shared)
            && let Some(concurrent) = problem.capabilities().concurrent(x)
        {
            *sum_of_squares = sums.linearize(concurrent, gram, gradient)?.1;
        } else {
            tiles.linearize(problem, x, |_, _, r, jacobian| {
                *sum_of_squares += dot(r, r);
                T::add_products(gram, gradient, jacobian, r);
                Ok(())
            })?;
        }
        Ok((sum_of_squares.is_finite() && factorize(gram, n)).then_some(here))
    }

    /// Combines the triangles of all ranks into that of all rows: a triangle is absorbed as the rows that it stands for.
    fn of_all(ranks: &Communicator, n: usize, here: Evaluated<Self>) -> Evaluated<Self> {
        let mut rows = [here.as_ref().map_or(0.0, |here| here.rows as f64)];
        ranks.all_sum(&mut rows).map_err(EvaluationError::new)?;
        let message = here.map(|here| {
            let mut message = vec![here.sum_of_squares];
            message.extend_from_slice(&here.gradient);
            write_triangle(&here.triangle, n, &mut message);
            message
        });
        let message = message.as_ref().map(Vec::as_slice);
        let (mut all, mut rank, mut room) = (Self::new(n), Self::new(n), Room::new(n));
        for message in ranks.try_all_gather(message).map_err(EvaluationError::new)? {
            let (sum_of_squares, message) = message.split_at(1);
            let (gradient, triangle) = message.split_at(n);
            rank.sum_of_squares = sum_of_squares[0];
            rank.gradient.copy_from_slice(gradient);
            read_triangle(triangle, n, &mut rank.triangle);
            all.absorb(&mut rank, &mut room);
        }
        all.rows = rows[0] as usize;
        Ok(all)
    }
}

/// Room for reflections; their right-hand sides are of no interest.
struct Room<T> {
    rotated: Vec<T>,
    work: Vec<T>,
}

impl<T: Real> Room<T> {
    fn new(n: usize) -> Self {
        Room { rotated: vec![T::ZERO; n], work: vec![T::ZERO; n] }
    }

    /// Absorbs rows into a triangle.
    fn absorb(&mut self, triangle: &mut [T], jacobian: &mut [T], r: &mut [T]) {
        absorb_rows(triangle, &mut self.rotated, jacobian, r, &mut self.work);
    }
}

/// Overwrites `A`, of which the lower triangle is read, by the upper triangle `R` of `RᵀR = A`. Returns `false` where too many digits
/// may be lost: the sum of the variance inflation factors is the trace of `A⁻¹` for an `A` with a diagonal of ones, so no less than its
/// largest eigenvalue, and the relative errors of variances are `ε` times that, about.
fn factorize<T: Real>(a: &mut [T], n: usize) -> bool {
    let squares: Vec<T> = a.iter().step_by(n + 1).copied().collect();
    let smallest = T::MIN_POSITIVE / T::EPSILON;
    if !squares.iter().all(|square| *square >= smallest && square.is_finite()) {
        return false;
    }
    let lengths: Vec<T> = squares.into_iter().map(T::sqrt).collect();
    for (i, row) in a.chunks_exact_mut(n).enumerate() {
        row.iter_mut().zip(&lengths).for_each(|(entry, &length)| *entry = *entry / length / lengths[i]);
    }
    let mut inverse_pivots = vec![T::ZERO; n];
    if !T::cholesky(a, &mut inverse_pivots, &mut Scratch::default()) {
        return false;
    }
    for (i, row) in a.chunks_exact_mut(n).enumerate() {
        let pivot = inverse_pivots[i].recip().sqrt();
        row[..i].fill(T::ZERO);
        row[i] = pivot;
        row[i + 1..].iter_mut().for_each(|entry| *entry *= pivot);
    }
    let mut inverse = a.to_vec();
    invert_upper(&mut inverse, n);
    if !(dot(&inverse, &inverse) <= T::EPSILON.powf(T::from_f64(-DIGITS_LOST))) {
        return false;
    }
    a.chunks_exact_mut(n).for_each(|row| row.iter_mut().zip(&lengths).for_each(|(entry, &length)| *entry *= length));
    true
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::kernels::registers::tests::in_all;

    const ROWS: usize = 100_000;
    const COLUMNS: usize = 10;

    /// Residuals of one, and columns that are functions of evenly spaced `t` in `0..1`.
    struct Columns<F> {
        of: F,
        group: usize,
        rows_asked: usize,
    }

    impl<F: Fn(f64, usize) -> f64> LeastSquares<f64> for Columns<F> {
        fn parameter_count(&self) -> usize {
            COLUMNS
        }

        fn residual_count(&self) -> usize {
            ROWS
        }

        fn row_group(&self) -> usize {
            self.group
        }

        fn residuals(&mut self, _: &[f64], _: usize, r: &mut [f64]) -> Evaluated {
            r.fill(1.0);
            Ok(())
        }

        fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Evaluated {
            self.rows_asked += r.len();
            for (i, row) in j.chunks_exact_mut(COLUMNS).enumerate() {
                let t = ((first + i) as f64 + 0.5) / ROWS as f64;
                row.iter_mut().enumerate().for_each(|(j, entry)| *entry = (self.of)(t, j));
            }
            self.residuals(x, first, r)
        }
    }

    fn columns<F: Fn(f64, usize) -> f64>(of: F) -> Columns<F> {
        Columns { of, group: 1, rows_asked: 0 }
    }

    fn both_ways(problem: &mut dyn LeastSquares<f64>) -> [Option<Triangle<f64>>; 2] {
        let (tiles, x) = (|| Tiles::new(ROWS, COLUMNS, 1), [0.0; COLUMNS]);
        let reflected = Triangle::by_reflections(&mut tiles(), problem, &x).unwrap();
        [Triangle::by_normal_equations(&mut tiles(), problem, &x).unwrap(), Some(reflected)]
    }

    /// Cosines at these points are orthogonal: `R` is the diagonal of their lengths.
    #[test]
    fn cosines_need_one_evaluation() {
        in_all(|| {
            let mut problem = columns(|t, j| (PI * j as f64 * t).cos());
            let found = Triangle::here(&mut problem, &[0.0; COLUMNS]).unwrap();
            assert_eq!((problem.rows_asked, found.rows, found.sum_of_squares), (ROWS, ROWS, ROWS as f64));
            for (i, row) in found.triangle.chunks_exact(COLUMNS).enumerate() {
                for (j, entry) in row.iter().enumerate() {
                    let length = if j == 0 { ROWS as f64 } else { 0.5 * ROWS as f64 }.sqrt();
                    let expected = if i == j { length } else { 0.0 };
                    assert!((entry - expected).abs() < 1e-10 * length, "({i}, {j}): {entry}");
                }
            }
            assert!((found.gradient[0] - ROWS as f64).abs() < 1e-6 && found.gradient[1].abs() < 1e-6);
        });
    }

    /// Powers of `t` are almost dependent. A problem whose rows are all in one tile is not asked for them again.
    #[test]
    fn powers_are_reflected() {
        for (group, rows_asked) in [(1, 2 * ROWS), (ROWS, ROWS)] {
            let mut problem = Columns { group, ..columns(|t, j| t.powi(j as i32)) };
            let found = Triangle::here(&mut problem, &[0.0; COLUMNS]).unwrap();
            assert_eq!(problem.rows_asked, rows_asked);
            let [None, Some(reflected)] = both_ways(&mut problem) else { panic!("the normal equations are refused") };
            // The signs of rows depend on the number of tiles.
            let pairs = found.triangle.iter().zip(&reflected.triangle);
            assert!(
                pairs.fold(0.0, |largest: f64, (found, other)| largest.max((found.abs() - other.abs()).abs())) < 1e-6
            );
        }
    }

    /// The nearer to one `a` is, the more of each column is in the others.
    #[test]
    fn what_is_accepted_has_nine_digits() {
        let close_to_ones = |a: f64| columns(move |t, j| a + (1.0 - a) * (PI * j as f64 * t).cos());
        for a in [0.0, 0.9, 0.99] {
            let [Some(normal), Some(reflected)] = both_ways(&mut close_to_ones(a)) else { panic!("{a} is refused") };
            for i in 0..COLUMNS {
                let [found, other] = [&normal, &reflected].map(|by| by.triangle[i * COLUMNS + i].abs());
                assert!((found - other).abs() < 1e-9 * other, "a = {a}, row {i}: {found} is not {other}");
            }
        }
        assert!(matches!(both_ways(&mut close_to_ones(0.999)), [None, Some(_)]));
    }

    #[test]
    fn what_cannot_be_factorised_is_refused() {
        for a in [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, f64::NAN, 1.0], [1.0, 0.0, 0.0, f64::INFINITY]] {
            assert!(!factorize(&mut a.clone(), 2), "{a:?}");
        }
        assert!(!factorize(&mut [1.0, 0.0, 0.0, 1e-300], 2), "squares of almost nothing have lost digits");
        assert!(!factorize(&mut [1.0, 0.0, 1.0, 1.0 + 1e-9], 2), "the columns are almost dependent");
        assert!(factorize(&mut [1e-200, 0.0, 0.0, 1e200], 2), "of whatever size they are");
    }
}
