//! Sums over the rows of a large problem, on all cores.

use std::ops::Range;

use super::tiles::Tiles;
use crate::kernels::vector::{dot, drop_subnormals};
use crate::parallel;
use crate::problem::{ConcurrentRows, Evaluated};
use crate::real::Real;
use crate::storage::Dynamic;

/// Fewest flops of a part.
const FEWEST_FLOPS: f64 = 1e6;

/// Flops of a row besides those of its products, about.
const ROW_FLOPS: f64 = 40.0;

/// Most numbers of the sums of all parts.
const MOST_NUMBERS: usize = 1 << 23;

/// The rows in parts, each with sums of its own, which are added in the order of the parts.
///
/// The parts follow from the size of the problem. So the sums do not depend on the number of threads.
pub(crate) struct ParallelSums<T> {
    parts: Vec<RowPart<T>>,
    /// Groups of rows that are computed together, the rows of each, and the fewest of a part.
    groups: usize,
    group: usize,
    fewest: usize,
    /// Rows in a tile.
    tile: usize,
    n: usize,
}

/// Rows that follow each other, and the sums over them.
struct RowPart<T> {
    rows: Range<usize>,
    /// `JᵀJ`, lower triangle.
    gram: Vec<T>,
    /// `Jᵀr`.
    gradient: Vec<T>,
    squares: T,
    outcome: Evaluated<T>,
    /// Residuals and Jacobian of a tile.
    r: Vec<T>,
    jacobian: Vec<T>,
    room: Vec<T>,
}

impl<T: Real> ParallelSums<T> {
    /// Sums over `m` rows of `n` columns that come in groups; `None` for a problem of a single part. They take memory once they
    /// are needed.
    pub(crate) fn new(m: usize, n: usize, group: usize) -> Option<Self> {
        let flops = m as f64 * (n as f64 * (n as f64 + 1.0) + ROW_FLOPS);
        let fitting = MOST_NUMBERS / n.saturating_mul(n).max(1);
        let wanted = ((flops / FEWEST_FLOPS) as usize).min(fitting).max(1);
        let groups = m / group.max(1);
        let sums = ParallelSums {
            parts: Vec::new(),
            groups,
            group,
            fewest: groups.div_ceil(wanted).max(1),
            tile: Tiles::<T, Dynamic>::rows(m, n, group),
            n,
        };
        Some(sums).filter(|sums| sums.ranges().len() > 1)
    }

    /// Groups of rows of each part.
    fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + use<T> {
        parallel::parts(self.groups, self.fewest)
    }

    /// The cost.
    pub(crate) fn cost(&mut self, problem: &dyn ConcurrentRows<T>) -> Evaluated<T> {
        let tile = self.tile;
        self.for_each_part(|part| {
            let mut cost = T::ZERO;
            part.r.resize(tile, T::ZERO);
            for first in part.rows.clone().step_by(tile) {
                let count = tile.min(part.rows.end - first);
                cost += problem.evaluate_rows(first, &mut part.r[..count])?;
            }
            Ok(cost)
        })
    }

    /// Adds `JᵀJ` and `Jᵀr`; returns the cost, and the sum of the squares of the rows.
    pub(crate) fn linearize(
        &mut self,
        problem: &dyn ConcurrentRows<T>,
        gram: &mut [T],
        gradient: &mut [T],
    ) -> Evaluated<(T, T)> {
        let (tile, n) = (self.tile, self.n);
        let cost = self.for_each_part(|part| {
            let mut cost = T::ZERO;
            part.squares = T::ZERO;
            part.gram.clear();
            part.gram.resize(n * n, T::ZERO);
            part.gradient.clear();
            part.gradient.resize(n, T::ZERO);
            part.r.resize(tile, T::ZERO);
            for first in part.rows.clone().step_by(tile) {
                let count = tile.min(part.rows.end - first);
                let (rows, (gram, gradient)) = (first..first + count, (&mut part.gram, &mut part.gradient));
                if let Some(squares) = problem.add_products(rows, gram, gradient) {
                    cost += T::from_f64(0.5) * squares;
                    part.squares += squares;
                    continue;
                }
                part.jacobian.resize(tile * n, T::ZERO);
                let (r, jacobian) = (&mut part.r[..count], &mut part.jacobian[..count * n]);
                cost += problem.linearize_rows(first, r, jacobian, &mut part.room)?;
                drop_subnormals(jacobian);
                part.squares += dot(r, r);
                T::add_products(&mut part.gram, &mut part.gradient, jacobian, r);
            }
            Ok(cost)
        })?;
        let mut squares = T::ZERO;
        for part in &self.parts {
            squares += part.squares;
            gram.iter_mut().zip(&part.gram).for_each(|(sum, &number)| *sum += number);
            gradient.iter_mut().zip(&part.gradient).for_each(|(sum, &number)| *sum += number);
        }
        Ok((cost, squares))
    }

    /// Adds `Jᵀw` to `sums`; `false`, with nothing added, where the rows have to be [formed](ConcurrentRows::add_forcing).
    pub(crate) fn force(
        &mut self,
        problem: &dyn ConcurrentRows<T>,
        along: (&[T], &[T], T),
        sums: &mut [T],
    ) -> Evaluated<bool> {
        let (tile, n) = (self.tile, self.n);
        let left = self.for_each_part(|part| {
            part.gradient.clear();
            part.gradient.resize(n, T::ZERO);
            part.r.resize(tile, T::ZERO);
            for first in part.rows.clone().step_by(tile) {
                let count = tile.min(part.rows.end - first);
                let room = &mut part.r[..count];
                if !problem.add_forcing(first..first + count, along, room, &mut part.gradient)? {
                    return Ok(T::ONE);
                }
            }
            Ok(T::ZERO)
        })?;
        if left == T::ZERO {
            for part in &self.parts {
                sums.iter_mut().zip(&part.gradient).for_each(|(sum, &number)| *sum += number);
            }
        }
        Ok(left == T::ZERO)
    }

    /// The sum of what `work` returns for the parts, or the error of the first that has one.
    fn for_each_part(&mut self, work: impl Fn(&mut RowPart<T>) -> Evaluated<T> + Sync) -> Evaluated<T> {
        if self.parts.is_empty() {
            let group = self.group;
            self.parts = self.ranges().map(|groups| RowPart::new(groups.start * group..groups.end * group)).collect();
        }
        parallel::for_each_mut(&mut self.parts, &|part: &mut RowPart<T>| part.outcome = work(part));
        self.parts.iter_mut().map(|part| std::mem::replace(&mut part.outcome, Ok(T::ZERO))).sum()
    }
}

impl<T: Real> RowPart<T> {
    fn new(rows: Range<usize>) -> Self {
        let [gram, gradient, r, jacobian, room] = std::array::from_fn(|_| Vec::new());
        RowPart { rows, gram, gradient, squares: T::ZERO, outcome: Ok(T::ZERO), r, jacobian, room }
    }
}
