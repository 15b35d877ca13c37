//! An evaluation whose results are combined over ranks.

use super::pass_on::pass_on_evaluation;
use super::{Along, Costs, Counts, Evaluation, Forcing, LinearChange, RankSync, RightHandSide, RowSums};
use crate::manifold::Manifold;
use crate::problem::{BlockJacobian, Evaluated, JacobianProducts};
use crate::real::Real;

/// The evaluation of this rank's rows, and the ranks that it is combined over; `None` on a single rank.
pub(crate) struct OverRanks<E, T> {
    own: E,
    sync: Option<RankSync<T>>,
}

impl<E, T> OverRanks<E, T> {
    #[inline]
    pub(super) fn new(own: E, sync: Option<RankSync<T>>) -> Self {
        OverRanks { own, sync }
    }
}

macro_rules! own {
    ($this:expr, $($call:tt)+) => {
        $this.own.$($call)+
    };
}

impl<T: Real, E: Evaluation<T>> Evaluation<T> for OverRanks<E, T> {
    pass_on_evaluation!(own);

    fn size(&self) -> (usize, usize) {
        self.sync.as_ref().map_or_else(|| self.own.size(), |sync| (sync.residuals, sync.largest_group))
    }

    #[inline]
    fn cost(&mut self, x: &[T]) -> Evaluated<T> {
        let cost = self.own.cost(x);
        match &mut self.sync {
            None => cost,
            Some(sync) => sync.combine(&mut (), cost.map(|cost| [cost])).map(|[cost]| cost),
        }
    }

    fn residuals(&mut self, x: &[T], kept: &mut [T]) -> Evaluated<T> {
        let cost = self.own.residuals(x, kept);
        match &mut self.sync {
            None => cost,
            Some(sync) => sync.combine(&mut (), cost.map(|cost| [cost])).map(|[cost]| cost),
        }
    }

    #[inline]
    fn sum_rows(&mut self, x: &[T], sums: &mut dyn RowSums<T>) -> Evaluated<Costs<T>> {
        let costs = self.own.sum_rows(x, sums);
        let Some(sync) = &mut self.sync else { return costs };
        let costs = costs.map(|Costs { cost, squares }| [cost, squares]);
        sync.combine(sums, costs).map(|[cost, squares]| Costs { cost, squares })
    }

    fn force(&mut self, along: &Along<'_, T>, rhs: &mut dyn RightHandSide<T>) -> Evaluated<bool> {
        let Some(sync) = &mut self.sync else { return self.own.force(along, rhs) };
        let own = self.own.force(&of_rank(along, sync.before), rhs);
        // All ranks know their rows, or none takes them.
        let unknown = own.map(|is_known| [if is_known { T::ZERO } else { T::ONE }]);
        sync.combine(rhs, unknown).map(|[unknown]| unknown == T::ZERO)
    }

    fn squared_change(&mut self, x: &[T], y: &[T]) -> Evaluated<T> {
        let change = self.own.squared_change(x, y);
        let Some(sync) = &mut self.sync else { return change };
        let [sum] = sync.combine(&mut (), change.map(|change| [change]))?;
        Ok(if sum.is_finite() { sum } else { T::ZERO })
    }

    fn is_cheap(&mut self) -> bool {
        match &self.sync {
            None => self.own.is_cheap(),
            Some(sync) => sync.derivatives_are_cheap,
        }
    }

    fn is_rough(&mut self) -> bool {
        match &self.sync {
            None => self.own.is_rough(),
            Some(sync) => sync.derivatives_are_rough,
        }
    }

    fn stop(&mut self, reason: usize) -> bool {
        self.sync.as_mut().map(|sync| sync.stop(reason)).is_none()
    }

    #[inline]
    fn stopped(&self) -> Option<usize> {
        self.sync.as_ref()?.stopped
    }
}

/// Part of a correction that belongs to a rank; `before` is the number of rows of the ranks before it.
fn of_rank<'a, T: Copy>(along: &Along<'a, T>, before: usize) -> Along<'a, T> {
    let by = match along.by {
        Forcing::Curvature { ahead, probe, linear: Some(LinearChange { residuals, image, is_exact }) } => {
            let linear = LinearChange { residuals: &residuals[before..], image: &image[before..], is_exact };
            Forcing::Curvature { ahead, probe, linear: Some(linear) }
        }
        by => by,
    };
    Along { by, ..*along }
}
