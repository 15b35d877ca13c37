//! The evaluation of a problem on one rank.

use super::parallel_sums::ParallelSums;
use super::tiles::Tiles;
use super::{Along, Costs, Counts, Evaluation, Forcing, LinearChange, RightHandSide, RowSums};
use crate::kernels::vector::dot;
use crate::manifold::Manifold;
use crate::problem::{BlockJacobian, Evaluated, JacobianProducts, LeastSquares, LeastSquaresExt};
use crate::real::Real;
use crate::storage::Storage;

/// Memory of an evaluation. It outlives the problem of a minibatch.
pub(crate) struct RowWorkspace<T: Real, S: Storage<T>> {
    tiles: Tiles<T, S>,
    /// Sums of many rows on all cores; `None` for few rows.
    parallel: Option<ParallelSums<T>>,
    counts: Counts,
    /// A cost was not `½‖r‖²`: the rows stand for another loss, and `J` is not their derivative.
    has_own_cost: bool,
}

impl<T: Real, S: Storage<T>> RowWorkspace<T, S> {
    /// Creates the memory for `m` rows that come in groups, with `n` columns of the Jacobian.
    #[inline]
    pub(crate) fn new(m: usize, n: usize, group: usize) -> Self {
        RowWorkspace { tiles: Tiles::new(m, n, group), parallel: None, counts: Counts::default(), has_own_cost: false }
    }

    /// Makes room for another number of rows.
    pub(crate) fn resize(&mut self, m: usize, n: usize, group: usize) {
        self.tiles.resize(m, n, group);
    }

    /// Keeps all rows of the Jacobian between linearisations, if they take little memory.
    pub(crate) fn keep_rows(&mut self, m: usize) {
        self.tiles.keep_all(m);
    }

    /// Sums many rows on all cores.
    pub(crate) fn use_all_cores(&mut self, m: usize, n: usize, group: usize) {
        if S::TILE_ROWS == 0 {
            self.parallel = ParallelSums::new(m, n, group);
        }
    }
}

/// A problem, and memory for its rows.
///
/// The problem may [keep evaluations](crate::problem::Capabilities::keep_evaluations) until this is dropped.
pub(crate) struct ProblemRows<'p, T: Real, S: Storage<T>, P: LeastSquares<T> + ?Sized> {
    problem: &'p mut P,
    workspace: &'p mut RowWorkspace<T, S>,
}

impl<'p, T: Real, S: Storage<T>, P: LeastSquares<T> + ?Sized> ProblemRows<'p, T, S, P> {
    #[inline]
    pub(crate) fn new(problem: &'p mut P, workspace: &'p mut RowWorkspace<T, S>) -> Self {
        problem.capabilities().keep_evaluations(true);
        ProblemRows { problem, workspace }
    }

    /// Adds the rows of the problem, a tile at a time.
    #[inline]
    fn sum_tiles(&mut self, x: &[T], sums: &mut dyn RowSums<T>) -> Evaluated<Costs<T>> {
        let tiles = &mut self.workspace.tiles;
        if !tiles.forms_columns() {
            tiles.form_columns(self.problem.column_count(), self.problem.row_group());
        }
        let (mut cost, mut squares) = (T::ZERO, T::ZERO);
        tiles.linearize(self.problem, x, |problem, rows, r, jacobian| {
            let of_rows = dot(r, r);
            cost += problem.capabilities().cost_of(rows.start, r).unwrap_or(T::from_f64(0.5) * of_rows);
            squares += of_rows;
            sums.add(rows.start, r, jacobian);
            Ok(())
        })?;
        if sums.overwrites() {
            tiles.forget();
        }
        Ok(Costs { cost, squares })
    }

    /// Adds rows of second derivatives along `v`, with the rows of the Jacobian only where there is no other way.
    fn bend(
        &mut self,
        (x, v): (&[T], &[T]),
        (ahead, probe): (&[T], T),
        rhs: &mut dyn RightHandSide<T>,
    ) -> Evaluated<bool> {
        let RowWorkspace { tiles, counts, has_own_cost, parallel } = &mut *self.workspace;
        if let Some(parallel) = parallel
            && let Some(sums) = rhs.sums().filter(|_| !*has_own_cost)
            && let Some(rows) = self.problem.capabilities().concurrent(x)
            && parallel.force(rows, (v, ahead, probe), sums)?
        {
            counts.jacobians += 1;
            counts.residuals += 1;
            return Ok(true);
        }
        let mut by_difference = false;
        let evaluated = tiles.revisit(self.problem, x, |problem, first, at_hand, second| {
            let Some((r, jacobian)) = at_hand else { return bend_without(problem, (x, v), first, second, rhs) };
            let linear = r.iter().zip(jacobian.chunks_exact(S::size(v.len()))).map(|(&r, row)| (r, dot(row, v)));
            let ahead = Some((ahead, probe)).filter(|_| !*has_own_cost);
            by_difference |= second_derivatives(problem, (x, v), first, ahead, linear, second)?;
            rhs.add(second, jacobian);
            Ok(true)
        })?;
        counts.jacobians += usize::from(evaluated);
        counts.residuals += usize::from(by_difference);
        Ok(true)
    }

    /// Adds rows of second derivatives along `v`, for a Jacobian that is not formed.
    fn bend_linear(
        &mut self,
        (x, v): (&[T], &[T]),
        (ahead, probe): (&[T], T),
        linear: &LinearChange<'_, T>,
        rhs: &mut dyn RightHandSide<T>,
    ) -> Evaluated<bool> {
        let RowWorkspace { tiles, counts, .. } = &mut *self.workspace;
        let mut by_difference = false;
        tiles.visit(self.problem, |problem, first, second| {
            let rows = linear.residuals.iter().zip(linear.image).skip(first).map(|(&r, &slope)| (r, slope));
            let ahead = Some((ahead, probe)).filter(|_| linear.is_exact);
            by_difference |= second_derivatives(problem, (x, v), first, ahead, rows, second)?;
            rhs.add(second, &[]);
            Ok(())
        })?;
        counts.residuals += usize::from(by_difference);
        Ok(true)
    }

    /// Adds `Jᵀu`, by the rows that are kept or by the problem's product.
    fn pull_back(&mut self, x: &[T], u: &[T], rhs: &mut dyn RightHandSide<T>) -> Evaluated<bool> {
        let RowWorkspace { tiles, has_own_cost, .. } = &mut *self.workspace;
        if *has_own_cost {
            return Ok(false);
        }
        if tiles.visit_kept(u.len(), |rows, jacobian| rhs.add(&u[rows], jacobian)) {
            return Ok(true);
        }
        let Some(sums) = rhs.sums() else { return Ok(false) };
        let mut is_known = true;
        tiles.visit(self.problem, |problem, first, r| {
            r.copy_from_slice(&u[first..first + r.len()]);
            is_known = is_known && problem.capabilities().transposed_product(x, first, r, sums)?;
            Ok(())
        })?;
        Ok(is_known)
    }
}

impl<T: Real, S: Storage<T>, P: LeastSquares<T> + ?Sized> Drop for ProblemRows<'_, T, S, P> {
    #[inline]
    fn drop(&mut self) {
        self.problem.capabilities().keep_evaluations(false);
    }
}

impl<T: Real, S: Storage<T>, P: LeastSquares<T> + ?Sized> Evaluation<T> for ProblemRows<'_, T, S, P> {
    fn size(&self) -> (usize, usize) {
        (self.problem.residual_count(), self.problem.row_group().max(1))
    }

    #[inline]
    fn cost(&mut self, x: &[T]) -> Evaluated<T> {
        let RowWorkspace { tiles, parallel, counts, .. } = &mut *self.workspace;
        counts.residuals += 1;
        if let Some(parallel) = parallel
            && let Some(rows) = self.problem.capabilities().concurrent(x)
        {
            return parallel.cost(rows);
        }
        tiles.cost(self.problem, x)
    }

    fn residuals(&mut self, x: &[T], kept: &mut [T]) -> Evaluated<T> {
        let RowWorkspace { tiles, counts, .. } = &mut *self.workspace;
        counts.residuals += 1;
        let mut cost = T::ZERO;
        tiles.visit(self.problem, |problem, first, r| {
            problem.residuals(x, first, r)?;
            cost += problem.cost_of_rows(first, r);
            kept[first..first + r.len()].copy_from_slice(r);
            Ok(())
        })?;
        Ok(cost)
    }

    #[inline]
    fn sum_rows(&mut self, x: &[T], sums: &mut dyn RowSums<T>) -> Evaluated<Costs<T>> {
        self.workspace.counts.jacobians += 1;
        sums.begin();
        let costs = if let Some(parallel) = &mut self.workspace.parallel
            && let Some((gram, gradient)) = sums.gram()
            && let Some(rows) = self.problem.capabilities().concurrent(x)
        {
            self.workspace.tiles.forget();
            let (cost, squares) = parallel.linearize(rows, gram, gradient)?;
            Costs { cost, squares }
        } else {
            self.sum_tiles(x, sums)?
        };
        let twice = costs.cost + costs.cost;
        self.workspace.has_own_cost |= (twice - costs.squares).abs() > T::EPSILON.sqrt() * costs.squares;
        Ok(costs)
    }

    fn force(&mut self, along: &Along<'_, T>, rhs: &mut dyn RightHandSide<T>) -> Evaluated<bool> {
        let &Along { x, v, ref by } = along;
        rhs.begin();
        match by {
            Forcing::Curvature { ahead, probe, linear: None } => self.bend((x, v), (ahead, *probe), rhs),
            Forcing::Curvature { ahead, probe, linear: Some(linear) } => {
                self.bend_linear((x, v), (ahead, *probe), linear, rhs)
            }
            Forcing::Residuals(residuals) => self.pull_back(x, residuals, rhs),
        }
    }

    fn squared_change(&mut self, x: &[T], y: &[T]) -> Evaluated<T> {
        let RowWorkspace { tiles, counts, .. } = &mut *self.workspace;
        let mut sum = T::ZERO;
        tiles.visit_pairs(self.problem, |problem, first, here, there| {
            problem.residuals(x, first, here)?;
            problem.residuals(y, first, there)?;
            sum += here
                .iter()
                .zip(there.iter())
                .fold(T::ZERO, |sum, (&here, &there)| sum + (there - here) * (there - here));
            Ok(())
        })?;
        counts.residuals += 2;
        Ok(if sum.is_finite() { sum } else { T::ZERO })
    }

    fn blocks(&mut self) -> Evaluated<&mut dyn BlockJacobian<T>> {
        self.problem.capabilities().blocks().ok_or_else(|| "the Jacobian is not made of blocks any more".into())
    }

    fn products(&mut self) -> Evaluated<&mut dyn JacobianProducts<T>> {
        self.problem
            .capabilities()
            .products()
            .ok_or_else(|| "the problem does not multiply by its Jacobian any more".into())
    }

    fn count_linearization(&mut self) {
        self.workspace.counts.jacobians += 1;
        self.workspace.tiles.forget();
    }

    #[inline]
    fn take_back(&mut self) {
        self.workspace.tiles.take_back();
    }

    #[inline]
    fn learn(&mut self, gain_ratio: T) {
        if let Some(blocks) = self.problem.capabilities().blocks() {
            blocks.learn(gain_ratio);
        }
    }

    fn is_cheap(&mut self) -> bool {
        self.problem.derivatives_are_cheap()
    }

    fn is_rough(&mut self) -> bool {
        self.problem.capabilities().derivatives_are_rough()
    }

    #[inline]
    fn counts(&self) -> Counts {
        self.workspace.counts
    }

    #[inline]
    fn manifold(&self) -> Option<&dyn Manifold<T>> {
        self.problem.domain().manifold()
    }

    fn column_name(&self, index: usize) -> String {
        self.problem.column_name(index)
    }
}

/// Adds rows of second derivatives without their Jacobian; `false` where that cannot be done.
fn bend_without<T: Real, P: LeastSquares<T> + ?Sized>(
    problem: &mut P,
    (x, v): (&[T], &[T]),
    first: usize,
    second: &mut [T],
    rhs: &mut dyn RightHandSide<T>,
) -> Evaluated<bool> {
    if let Some(sums) = rhs.sums() {
        return problem.capabilities().second_derivative_product(x, v, first, second, sums);
    }
    let exact = problem.capabilities().second_directional_derivative(x, v, first, second)?;
    if exact {
        rhs.add(second, &[]);
    }
    Ok(exact)
}

/// Fills `second` with the second derivatives of rows along `v`: the problem's own, or else differences to the point `ahead`, which is a
/// share of `v` away, of rows of which `linear` gives each residual and its slope. Without such a point they are zero. Returns true for
/// differences.
#[inline]
fn second_derivatives<T: Real, P: LeastSquares<T> + ?Sized>(
    problem: &mut P,
    (x, v): (&[T], &[T]),
    first: usize,
    ahead: Option<(&[T], T)>,
    linear: impl Iterator<Item = (T, T)>,
    second: &mut [T],
) -> Evaluated<bool> {
    if problem.capabilities().second_directional_derivative(x, v, first, second)? {
        return Ok(false);
    }
    let Some((ahead, probe)) = ahead else {
        second.fill(T::ZERO);
        return Ok(false);
    };
    problem.residuals(ahead, first, second)?;
    for (second, (r, slope)) in second.iter_mut().zip(linear) {
        *second = ((*second - r) / probe - slope) * T::from_f64(2.0) / probe;
    }
    Ok(true)
}
