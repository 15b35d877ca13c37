//! Sums over a problem's dense rows, a cache-sized tile at a time.

use std::ops::Range;

use crate::problem::{Evaluated, LeastSquares, LeastSquaresExt};
use crate::real::Real;
use crate::storage::Storage;

/// Bytes of Jacobian in one tile: small enough to stay in the second-level cache between being written and being read.
const TILE_BYTES: usize = 128 * 1024;

/// Bytes of a Jacobian that is kept as a whole at most.
const MOST_KEPT_BYTES: usize = 32 * 1024 * 1024;

/// Rows in a tile of a wide problem, whatever their bytes: each tile passes over the whole of `JᵀJ`, which is not in the
/// cache by then.
const FEWEST_ROWS: usize = 96;

/// A reusable buffer that a problem's rows are evaluated into, tile after tile.
pub(crate) struct Tiles<T: Real, S: Storage<T>> {
    /// Rows in a tile: a multiple of the problem's row group.
    rows: usize,
    /// Columns of the Jacobian that are formed.
    columns: usize,
    /// Rows that there is room for: those of a tile, or all.
    kept: usize,
    /// Rows of the last linearisation, and of the one before, to which a rejected step [returns](Self::take_back).
    linearized: [Linearized<T, S>; 2],
    /// The second of these is the last.
    second: bool,
    /// There is room for both: one small tile has all rows.
    keeps_two: bool,
    trial_residuals: Buffer<T, S::Column>,
}

/// Rows of a linearisation.
struct Linearized<T: Real, S: Storage<T>> {
    jacobian: Buffer<T, S::Tile>,
    residuals: Buffer<T, S::Column>,
    /// All rows are still here.
    complete: bool,
}

impl<T: Real, S: Storage<T>> Linearized<T, S> {
    /// Room for rows of `n` columns.
    #[inline]
    fn new(rows: usize, n: usize) -> Self {
        let fits = rows <= S::TILE_ROWS;
        Linearized {
            jacobian: Buffer::new(S::tile(), rows * n, fits),
            residuals: Buffer::new(S::column(), rows, fits),
            complete: false,
        }
    }
}

impl<T: Real, S: Storage<T>> Tiles<T, S> {
    /// A buffer for `m` rows of `n` parameters that come in groups.
    #[inline]
    pub(crate) fn new(m: usize, n: usize, group: usize) -> Self {
        let rows = Self::rows(m, n, group);
        Self::of_rows(rows, n, Self::fit_twice(rows, m, n))
    }

    /// There is room for rows of the Jacobian.
    #[inline]
    pub(super) fn forms_columns(&self) -> bool {
        self.columns > 0
    }

    /// Makes room for one group of rows of the Jacobian after the other.
    #[cold]
    pub(super) fn form_columns(&mut self, n: usize, group: usize) {
        *self = Self::of_rows(group.max(1), n, false);
    }

    #[inline]
    fn of_rows(rows: usize, n: usize, keeps_two: bool) -> Self {
        Tiles {
            rows,
            columns: n,
            kept: rows,
            linearized: [Linearized::new(rows, n), Linearized::new(if keeps_two { rows } else { 0 }, n)],
            second: false,
            keeps_two,
            trial_residuals: Buffer::new(S::column(), rows, rows <= S::TILE_ROWS),
        }
    }

    /// All of `m` rows are in a tile of these rows, and take so little room that there may be two of it.
    #[inline]
    fn fit_twice(rows: usize, m: usize, n: usize) -> bool {
        rows == m && Self::kept_bytes(m, n) <= TILE_BYTES
    }

    /// Rows in a tile.
    pub(crate) fn rows_at_a_time(&self) -> usize {
        self.rows
    }

    /// Rows of the last linearisation.
    #[inline]
    fn last(&mut self) -> &mut Linearized<T, S> {
        &mut self.linearized[usize::from(self.second)]
    }

    /// Makes room for another number of rows, which forgets those that are here.
    pub(crate) fn resize(&mut self, m: usize, n: usize, group: usize) {
        self.rows = Self::rows(m, n, group);
        self.columns = n;
        self.kept = self.rows;
        self.keeps_two = Self::fit_twice(self.rows, m, n);
        let rows = self.rows;
        for (second, linearized) in [false, true].into_iter().zip(&mut self.linearized) {
            linearized.complete = false;
            if second == self.second || self.keeps_two {
                linearized.jacobian.grow(rows * n);
                linearized.residuals.grow(rows);
            }
        }
        self.trial_residuals.grow(rows);
    }

    /// Makes room to keep all of `m` rows for later visits, if they take no more than [`MOST_KEPT_BYTES`].
    pub(crate) fn keep_all(&mut self, m: usize) {
        if S::TILE_ROWS == 0 && Self::kept_bytes(m, self.columns) <= MOST_KEPT_BYTES {
            self.kept = m.max(self.rows);
            let (kept, columns, last) = (self.kept, self.columns, self.last());
            last.jacobian.grow(kept * columns);
            last.residuals.grow(kept);
        }
    }

    /// Bytes of all rows.
    pub(crate) fn kept_bytes(m: usize, n: usize) -> usize {
        m.saturating_mul(n).saturating_mul(size_of::<T>())
    }

    /// Rows that fit a tile: whole groups, at least one.
    #[inline]
    pub(crate) fn rows(m: usize, n: usize, group: usize) -> usize {
        let wanted = match S::TILE_ROWS {
            0 => (TILE_BYTES / size_of::<T>() / n.max(1)).clamp(FEWEST_ROWS, 1024),
            on_stack => on_stack,
        };
        let group = group.max(1);
        let whole_groups = (wanted / group).max(1) * group;
        whole_groups.min(m).max(1)
    }

    /// Numbers that the buffer of a problem holds.
    pub(crate) fn numbers(m: usize, n: usize, group: usize) -> usize {
        Self::rows(m, n, group).saturating_mul(n.saturating_add(2))
    }

    /// Visits the residuals and Jacobian rows at `x`.
    #[inline]
    pub(crate) fn linearize<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        x: &[T],
        mut visit: impl FnMut(&mut P, Range<usize>, &mut [T], &mut [T]) -> Evaluated,
    ) -> Evaluated {
        let (m, columns, kept) = (problem.residual_count(), S::size(self.columns), self.kept);
        self.second ^= self.keeps_two;
        let ranges = ranges(m, self.rows);
        let last = self.last();
        last.complete = false;
        for rows in ranges {
            let place = if kept >= m { rows.start } else { 0 };
            let r = last.residuals.part(place, rows.len());
            let jacobian = last.jacobian.part(place * columns, rows.len() * columns);
            problem.linearize(x, rows.start, r, jacobian)?;
            visit(problem, rows, r, jacobian)?;
        }
        last.complete = kept >= m;
        Ok(())
    }

    /// Visits the residuals and Jacobian rows at `x`, where the last [`linearize`](Self::linearize) was, if there was any: the problem is
    /// asked only for rows that are not here any more. `visit` may overwrite them.
    pub(crate) fn linearize_or_reuse(
        &mut self,
        problem: &mut dyn LeastSquares<T>,
        x: &[T],
        mut visit: impl FnMut(&mut [T], &mut [T]),
    ) -> Evaluated {
        let (ranges, columns, last) = (ranges(problem.residual_count(), self.rows), S::size(self.columns), self.last());
        let are_here = std::mem::take(&mut last.complete);
        for rows in ranges {
            let place = if are_here { rows.start } else { 0 };
            let r = last.residuals.part(place, rows.len());
            let jacobian = last.jacobian.part(place * columns, rows.len() * columns);
            if !are_here {
                problem.linearize(x, rows.start, r, jacobian)?;
            }
            visit(r, jacobian);
        }
        Ok(())
    }

    /// Visits the rows of the Jacobian of the last [`linearize`](Self::linearize), a tile at a time; `false` where they are not here
    /// any more.
    pub(crate) fn visit_kept(&mut self, m: usize, mut visit: impl FnMut(Range<usize>, &[T])) -> bool {
        let (ranges, columns, last) = (ranges(m, self.rows), S::size(self.columns), self.last());
        if last.complete {
            for rows in ranges {
                visit(rows.clone(), last.jacobian.part(rows.start * columns, rows.len() * columns));
            }
        }
        last.complete
    }

    /// Visits the rows of the last [`linearize`](Self::linearize), which was at `x`, with room for a second column beside
    /// the residuals. Where the rows are not here any more, `visit` is called without them first; only if it returns
    /// `false` is the problem asked again. Returns whether it was.
    #[inline]
    pub(crate) fn revisit<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        x: &[T],
        mut visit: impl FnMut(&mut P, usize, Option<(&[T], &[T])>, &mut [T]) -> Evaluated<bool>,
    ) -> Evaluated<bool> {
        let columns = S::size(self.columns);
        let last = &mut self.linearized[usize::from(self.second)];
        let mut asked = false;
        for Range { start: first, end } in ranges(problem.residual_count(), self.rows) {
            let count = end - first;
            let column = self.trial_residuals.first(count);
            if !last.complete && visit(problem, first, None, column)? {
                continue;
            }
            let place = if last.complete { first } else { 0 };
            let r = last.residuals.part(place, count);
            let jacobian = last.jacobian.part(place * columns, count * columns);
            if !last.complete {
                asked = true;
                problem.linearize(x, first, r, jacobian)?;
            }
            visit(problem, first, Some((r, jacobian)), column)?;
        }
        Ok(asked)
    }

    /// The rows here are not those of the points that count, or have been overwritten.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.linearized.iter_mut().for_each(|linearized| linearized.complete = false);
    }

    /// Undoes the last [`linearize`](Self::linearize): where the rows of the one before are not here any more, none are. If rows have been
    /// linearised elsewhere since, those here must have been [forgotten](Self::forget).
    #[inline]
    pub(crate) fn take_back(&mut self) {
        self.last().complete = false;
        self.second ^= self.keeps_two;
    }

    /// Visits a column of numbers for all rows, without the Jacobian.
    pub(crate) fn visit<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        mut visit: impl FnMut(&mut P, usize, &mut [T]) -> Evaluated,
    ) -> Evaluated {
        for rows in ranges(problem.residual_count(), self.rows) {
            visit(problem, rows.start, self.trial_residuals.first(rows.len()))?;
        }
        Ok(())
    }

    /// Visits two columns of numbers for all rows, without the Jacobian, whose rows are forgotten.
    pub(crate) fn visit_pairs<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        mut visit: impl FnMut(&mut P, usize, &mut [T], &mut [T]) -> Evaluated,
    ) -> Evaluated {
        let last = &mut self.linearized[usize::from(self.second)];
        last.complete = false;
        for rows in ranges(problem.residual_count(), self.rows) {
            visit(problem, rows.start, last.residuals.first(rows.len()), self.trial_residuals.first(rows.len()))?;
        }
        Ok(())
    }

    /// The cost at `x`.
    #[inline]
    pub(crate) fn cost<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P, x: &[T]) -> Evaluated<T> {
        let mut cost = T::ZERO;
        self.visit(problem, |problem, first, r| {
            problem.residuals(x, first, r)?;
            cost += problem.cost_of_rows(first, r);
            Ok(())
        })?;
        Ok(cost)
    }
}

/// `m` rows, tile after tile.
#[inline]
fn ranges(m: usize, tile: usize) -> impl Iterator<Item = Range<usize>> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let rows = first..m.min(first + tile);
        first = rows.end;
        (!rows.is_empty()).then_some(rows)
    })
}

/// Room for numbers: on the stack if they fit there, else on the heap.
struct Buffer<T, A> {
    stack: A,
    heap: Vec<T>,
}

impl<T: Real, A: AsMut<[T]>> Buffer<T, A> {
    #[inline]
    fn new(stack: A, numbers: usize, fits: bool) -> Self {
        Buffer { stack, heap: if fits { Vec::new() } else { vec![T::ZERO; numbers] } }
    }

    /// Makes room for at least this number of numbers on the heap.
    fn grow(&mut self, numbers: usize) {
        if self.heap.len() < numbers {
            self.heap.resize(numbers, T::ZERO);
        }
    }

    /// Returns the first numbers.
    #[inline]
    fn first(&mut self, count: usize) -> &mut [T] {
        self.part(0, count)
    }

    /// Returns numbers from a place on.
    #[inline]
    fn part(&mut self, start: usize, count: usize) -> &mut [T] {
        let numbers = if self.heap.is_empty() { self.stack.as_mut() } else { &mut self.heap };
        &mut numbers[start..start + count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Dynamic;

    /// Rows whose numbers say where they are, and how often they were asked for.
    struct Numbered {
        asked: usize,
    }

    const ROWS: usize = 700;
    const COLUMNS: usize = 200;

    impl LeastSquares<f64> for Numbered {
        fn parameter_count(&self) -> usize {
            COLUMNS
        }

        fn residual_count(&self) -> usize {
            ROWS
        }

        fn residuals(&mut self, _: &[f64], first: usize, r: &mut [f64]) -> Evaluated {
            r.iter_mut().zip(first..).for_each(|(r, row)| *r = row as f64);
            Ok(())
        }

        fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], jacobian: &mut [f64]) -> Evaluated {
            self.asked += 1;
            self.residuals(x, first, r)?;
            jacobian.iter_mut().zip(first * COLUMNS..).for_each(|(number, place)| *number = place as f64);
            Ok(())
        }
    }

    #[test]
    fn kept_rows_are_visited_without_asking_again() {
        let (mut problem, x) = (Numbered { asked: 0 }, [0.0; COLUMNS]);
        for keeps in [false, true] {
            let mut tiles = Tiles::<f64, Dynamic>::new(ROWS, COLUMNS, 1);
            if keeps {
                tiles.keep_all(ROWS);
            }
            assert!(!tiles.visit_kept(ROWS, |_, _| panic!("nothing is here yet")));
            problem.asked = 0;
            tiles.linearize(&mut problem, &x, |_, _, _, _| Ok(())).unwrap();
            let asked = std::mem::take(&mut problem.asked);
            assert!(asked > 1, "the rows should take several tiles");
            let mut next = 0;
            let visited = tiles.visit_kept(ROWS, |rows, jacobian| {
                assert_eq!((rows.start, jacobian.len()), (next, rows.len() * COLUMNS));
                assert!(jacobian.iter().zip(next * COLUMNS..).all(|(&number, place)| number == place as f64));
                next = rows.end;
            });
            assert_eq!((visited, next), (keeps, if keeps { ROWS } else { 0 }));
            let again = tiles.revisit(&mut problem, &x, |_, first, rows, _| {
                let Some((r, jacobian)) = rows else { return Ok(false) };
                assert_eq!((r[0], jacobian[1]), (first as f64, (first * COLUMNS + 1) as f64));
                Ok(true)
            });
            assert_eq!((again.unwrap(), problem.asked), if keeps { (false, 0) } else { (true, asked) });
            tiles.forget();
            assert!(!tiles.visit_kept(ROWS, |_, _| panic!("the rows are forgotten")));
        }
    }

    /// Of few rows, those before the last linearisation are here, too, until they are forgotten.
    #[test]
    fn a_linearisation_is_taken_back() {
        const FEW: usize = 20;
        struct Few;
        impl LeastSquares<f64> for Few {
            fn parameter_count(&self) -> usize {
                1
            }
            fn residual_count(&self) -> usize {
                FEW
            }
            fn residuals(&mut self, x: &[f64], _: usize, r: &mut [f64]) -> Evaluated {
                r.fill(x[0]);
                Ok(())
            }
            fn linearize(&mut self, x: &[f64], _: usize, r: &mut [f64], j: &mut [f64]) -> Evaluated {
                r.fill(x[0]);
                j.fill(x[0]);
                Ok(())
            }
        }
        let mut tiles = Tiles::<f64, Dynamic>::new(FEW, 1, 1);
        let linearize = |tiles: &mut Tiles<f64, Dynamic>, x: f64| {
            tiles.linearize(&mut Few, &[x], |_, _, _, _| Ok(())).unwrap();
        };
        let here = |tiles: &mut Tiles<f64, Dynamic>| {
            let mut found = None;
            tiles.visit_kept(FEW, |_, jacobian| found = Some(jacobian[0]));
            found
        };
        linearize(&mut tiles, 1.0);
        tiles.take_back();
        assert_eq!(here(&mut tiles), None);
        linearize(&mut tiles, 2.0);
        linearize(&mut tiles, 3.0);
        assert_eq!(here(&mut tiles), Some(3.0));
        tiles.take_back();
        assert_eq!(here(&mut tiles), Some(2.0));
        linearize(&mut tiles, 4.0);
        tiles.take_back();
        assert_eq!(here(&mut tiles), Some(2.0));
        tiles.forget();
        tiles.take_back();
        assert_eq!(here(&mut tiles), None);
    }

    #[test]
    fn rows_that_are_too_many_are_not_kept() {
        let (mut problem, x) = (Numbered { asked: 0 }, [0.0; COLUMNS]);
        let many = MOST_KEPT_BYTES / size_of::<f64>() / COLUMNS + 1;
        let mut tiles = Tiles::<f64, Dynamic>::new(many, COLUMNS, 1);
        tiles.keep_all(many);
        tiles.linearize(&mut problem, &x, |_, _, _, _| Ok(())).unwrap();
        assert!(!tiles.visit_kept(ROWS, |_, _| panic!("there is room for a tile")));
    }
}
