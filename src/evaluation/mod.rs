//! Evaluation of a problem: what the loop, the linear models and the refinements of a step ask for.
//!
//! A linear model pulls what it is made of: rows, blocks or products. [`ProblemRows`] asks the problem; [`OverRanks`] combines the
//! results of ranks, and [`WithRidge`] adds the ridge of weight decay.

mod checked_problem;
#[cfg(test)]
mod given_rows;
mod over_ranks;
mod parallel_sums;
mod pass_on;
mod problem_rows;
mod rank_sync;
mod tiles;
mod with_ridge;

pub(crate) use checked_problem::CheckedProblem;
#[cfg(test)]
pub(crate) use given_rows::GivenRows;
pub(crate) use over_ranks::OverRanks;
pub(crate) use parallel_sums::ParallelSums;
pub(crate) use problem_rows::{ProblemRows, RowWorkspace};
use rank_sync::RankSync;
pub(crate) use tiles::Tiles;
pub(crate) use with_ridge::{WithRidge, ridge_cost};

use crate::manifold::Manifold;
use crate::problem::{BlockJacobian, Evaluated, JacobianProducts};
use crate::real::Real;

/// The cost at a point.
#[derive(Debug, Clone, Copy)]
pub struct Costs<T> {
    /// `½‖r‖²`, or the loss that the rows stand for.
    pub cost: T,
    /// `‖r‖²` of the rows: twice the cost, unless the problem has a cost of its own. Where the Jacobian is not formed, it is taken to be
    /// that.
    pub squares: T,
}

impl<T: Real> Costs<T> {
    /// At a point that is not known.
    pub const UNKNOWN: Self = Costs { cost: T::INFINITY, squares: T::INFINITY };

    /// `‖r‖²` is twice the cost.
    #[inline]
    pub fn of_squares(cost: T) -> Self {
        Costs { cost, squares: (cost + cost).abs() }
    }
}

/// Numbers of evaluations of the residuals, and of linearisations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub residuals: usize,
    pub jacobians: usize,
}

impl Counts {
    /// All evaluations.
    pub fn total(&self) -> usize {
        self.residuals + self.jacobians
    }
}

/// A result that is computed from rows, and can be combined with those of other ranks.
pub trait Partial<T: Real> {
    /// Starts afresh.
    fn begin(&mut self);

    /// Returns true if the entries of ranks are added up; otherwise [`read`](Self::read) is given those of one rank after the other.
    fn adds_up(&self) -> bool;

    /// Appends the entries of this rank.
    fn write(&self, entries: &mut Vec<T>);

    /// Takes over the sums of all ranks' entries, or adds those of one rank.
    fn read(&mut self, entries: &[T]);
}

/// Sums over the rows of a linearisation.
pub trait RowSums<T: Real>: Partial<T> {
    /// Adds the rows from `first` on; they may be overwritten.
    fn add(&mut self, first: usize, r: &mut [T], jacobian: &mut [T]);

    /// Returns true if [`add`](Self::add) overwrites the rows, or the rows are not those of the model.
    fn overwrites(&self) -> bool {
        false
    }

    /// Lower triangle of `JᵀJ`, and `Jᵀr`, if these are the sums.
    fn gram(&mut self) -> Option<(&mut [T], &mut [T])> {
        None
    }

    /// Adds the ridge `½ Σ w_j x_j²`.
    fn add_ridge(&mut self, weights: &[T], x: &[T]) {
        let _ = (weights, x);
    }
}

/// The other right-hand side `Jᵀw` that a step is corrected by.
pub trait RightHandSide<T: Real>: Partial<T> {
    /// Adds rows `w`, with the rows of `J` that they belong to; those are empty where [`sums`](Self::sums) are not kept.
    fn add(&mut self, w: &[T], jacobian: &[T]);

    /// The sums `Jᵀw`; `None` in the dual forms, which keep the rows `w`.
    fn sums(&mut self) -> Option<&mut [T]>;
}

/// A correction of the step `v` from `x`.
#[derive(Clone, Copy)]
pub struct Along<'a, T> {
    pub x: &'a [T],
    pub v: &'a [T],
    pub by: Forcing<'a, T>,
}

/// The rows `w` of the other right-hand side.
#[derive(Clone, Copy)]
pub enum Forcing<'a, T> {
    /// Second derivatives of the residuals along `v`; `ahead` is the point a share `probe` of the way.
    Curvature { ahead: &'a [T], probe: T, linear: Option<LinearChange<'a, T>> },
    /// The residuals of all rows of this rank at another point.
    Residuals(&'a [T]),
}

/// `r` and `Jv` of a model that does not form `J`.
#[derive(Clone, Copy)]
pub struct LinearChange<'a, T> {
    pub residuals: &'a [T],
    pub image: &'a [T],
    /// `J` is the derivative of the residuals, which do not stand for another loss.
    pub is_exact: bool,
}

/// A problem as the loop sees it.
pub trait Evaluation<T: Real> {
    /// Number of residuals on all ranks, and the largest number of them that are computed together.
    fn size(&self) -> (usize, usize);

    /// The cost.
    fn cost(&mut self, x: &[T]) -> Evaluated<T>;

    /// The cost; the residuals of this rank are kept.
    fn residuals(&mut self, x: &[T], kept: &mut [T]) -> Evaluated<T>;

    /// Linearises, row by row.
    fn sum_rows(&mut self, x: &[T], sums: &mut dyn RowSums<T>) -> Evaluated<Costs<T>>;

    /// Computes the other right-hand side at the point of the last linearisation; `false` if the problem cannot.
    fn force(&mut self, along: &Along<'_, T>, rhs: &mut dyn RightHandSide<T>) -> Evaluated<bool>;

    /// `‖r(y) − r(x)‖²`; zero where that is not finite.
    fn squared_change(&mut self, x: &[T], y: &[T]) -> Evaluated<T>;

    /// The problem as one of blocks, to be linearised.
    fn blocks(&mut self) -> Evaluated<&mut dyn BlockJacobian<T>>;

    /// The problem as one that multiplies by its Jacobian.
    fn products(&mut self) -> Evaluated<&mut dyn JacobianProducts<T>>;

    /// Counts a linearisation by blocks or products.
    fn count_linearization(&mut self);

    /// Weight `ω` of a ridge `½ω‖x‖²` that no sums contain, as there are none.
    fn ridge(&self) -> T {
        T::ZERO
    }

    /// Forgets the rows of the last linearisation, which was not taken.
    fn take_back(&mut self);

    /// Tells the problem the gain ratio of a trial.
    fn learn(&mut self, gain_ratio: T);

    /// Returns true if a linearisation costs little more than the residuals, on all ranks.
    fn is_cheap(&mut self) -> bool;

    /// Returns true if derivatives are rough, on any rank.
    fn is_rough(&mut self) -> bool;

    /// Evaluations so far, on this rank.
    fn counts(&self) -> Counts;

    /// The manifold that points are on; `None` in Euclidean space.
    fn manifold(&self) -> Option<&dyn Manifold<T>>;

    /// Name of a column of the Jacobian.
    fn column_name(&self, index: usize) -> String;

    /// Asks to stop for this reason. Returns true on a single rank; several ranks [stop](Self::stopped) with the next message.
    fn stop(&mut self, reason: usize) -> bool {
        let _ = reason;
        true
    }

    /// Reason why the ranks have agreed to stop.
    fn stopped(&self) -> Option<usize> {
        None
    }
}
