//! The first linearisation, and the errors of a start that cannot be judged.

use super::SolveError;
use super::descent::{Descent, DescentParts};
use super::space::Space;
use crate::distributed::RankError;
use crate::evaluation::{Evaluation, Partial, RowSums};
use crate::kernels::vector::underflows;
use crate::linear::LinearModel;
use crate::real::Real;

/// Starts a descent at its trial point.
///
/// # Errors
///
/// A point, a residual or a derivative that is not finite, squares that vanish of entries that do not, or the error of the evaluation.
pub(super) fn start<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
) -> Result<(), SolveError> {
    if !descent.start(evaluation).map_err(SolveError::Evaluation)? {
        return Err(explain_non_finite(descent, evaluation));
    }
    find_underflow(descent, evaluation)?;
    descent.follow();
    Ok(())
}

/// Refuses a start where squares vanish of numbers that do not: their sums would call any point a minimum. Derivatives that are
/// lost beside the residuals are no underflow, but those of a parameter without influence.
#[inline]
fn find_underflow<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
) -> Result<(), SolveError> {
    let cost_is_lost = underflows(descent.here.costs.cost);
    let may_be_lost = cost_is_lost || descent.scale.norms().contains(&T::ZERO);
    if may_be_lost && descent.model.form().forms_rows() { underflow(descent, evaluation, cost_is_lost) } else { Ok(()) }
}

/// Error for residuals or a column whose squares underflow.
#[cold]
fn underflow<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
    cost_is_lost: bool,
) -> Result<(), SolveError> {
    let x = descent.here.x.as_ref();
    let mut largest =
        LargestEffects { sizes: descent.space.sizes(x), residual: T::ZERO, effects: descent.step.delta.as_mut() };
    evaluation.sum_rows(x, &mut largest).map_err(SolveError::Evaluation)?;
    let LargestEffects { residual, effects, .. } = largest;
    let lost = |&j: &usize| descent.scale.norms()[j] == T::ZERO && effects[j] > T::EPSILON * residual;
    if let Some(j) = (0..effects.len()).find(lost) {
        let name = evaluation.column_name(j);
        return Err(SolveError::Underflow { what: format!("the derivatives with respect to {name}") });
    }
    let effect = effects.iter().fold(T::ZERO, |largest, &effect| largest.max(effect));
    if cost_is_lost && residual > T::EPSILON * effect {
        return Err(SolveError::Underflow { what: "the residuals".to_owned() });
    }
    Ok(())
}

/// Returns the error that names the number that is not finite at the start, on any rank.
#[cold]
fn explain_non_finite<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
) -> SolveError {
    if descent.model.form().takes_blocks() {
        // Rows of the whole Jacobian may not fit the memory.
        return SolveError::Overflow;
    }
    let mut first = FirstNonFinite { columns: descent.step.delta.as_ref().len(), ranks: 0, found: None };
    if let Err(error) = evaluation.sum_rows(descent.trial.x.as_ref(), &mut first) {
        return SolveError::Evaluation(error);
    }
    let Some(NonFiniteEntry { rank, row, column, value }) = first.found else { return SolveError::Overflow };
    let error = match column {
        None => SolveError::NonFiniteResidual { index: row, value },
        Some(column) => SolveError::NonFiniteDerivative { name: evaluation.column_name(column), residual: row, value },
    };
    match rank {
        None => error,
        Some(rank) => SolveError::Rank(RankError { rank, message: error.to_string() }),
    }
}

/// The largest residual, and the largest changes of a residual by the parameters.
struct LargestEffects<'a, T> {
    /// Sizes of the parameters.
    sizes: &'a [T],
    residual: T,
    effects: &'a mut [T],
}

impl<T: Real> Partial<T> for LargestEffects<'_, T> {
    fn begin(&mut self) {
        self.residual = T::ZERO;
        self.effects.fill(T::ZERO);
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn write(&self, entries: &mut Vec<T>) {
        entries.push(self.residual);
        entries.extend_from_slice(self.effects);
    }

    fn read(&mut self, entries: &[T]) {
        let [residual, effects @ ..] = entries else { return };
        self.residual = self.residual.max(*residual);
        self.effects.iter_mut().zip(effects).for_each(|(effect, &other)| *effect = effect.max(other));
    }
}

impl<T: Real> RowSums<T> for LargestEffects<'_, T> {
    fn add(&mut self, _: usize, r: &mut [T], jacobian: &mut [T]) {
        self.residual = r.iter().fold(self.residual, |largest, r| largest.max(r.abs()));
        for row in jacobian.chunks_exact(self.sizes.len()) {
            for (effect, (&derivative, &x)) in self.effects.iter_mut().zip(row.iter().zip(self.sizes)) {
                *effect = effect.max((derivative * x).abs());
            }
        }
    }

    fn overwrites(&self) -> bool {
        true
    }
}

/// The first residual or derivative that is not finite, in the order of the ranks and of their rows.
struct FirstNonFinite {
    columns: usize,
    /// Ranks seen.
    ranks: usize,
    found: Option<NonFiniteEntry>,
}

struct NonFiniteEntry {
    /// `None` where there is but one rank.
    rank: Option<usize>,
    row: usize,
    /// `None` for a residual.
    column: Option<usize>,
    value: f64,
}

impl<T: Real> Partial<T> for FirstNonFinite {
    fn begin(&mut self) {
        (self.ranks, self.found) = (0, None);
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn write(&self, entries: &mut Vec<T>) {
        if let Some(NonFiniteEntry { row, column, value, .. }) = self.found {
            // No index is ever the number of columns.
            let place = [row, column.unwrap_or(self.columns)].map(|index| T::from_f64(index as f64));
            entries.extend([place[0], place[1], T::from_f64(value)]);
        }
    }

    fn read(&mut self, entries: &[T]) {
        if let (None, &[row, column, value]) = (&self.found, entries) {
            let [row, column] = [row, column].map(|index| index.to_f64() as usize);
            let (rank, column) = (Some(self.ranks), Some(column).filter(|&column| column < self.columns));
            self.found = Some(NonFiniteEntry { rank, row, column, value: value.to_f64() });
        }
        self.ranks += 1;
    }
}

impl<T: Real> RowSums<T> for FirstNonFinite {
    fn add(&mut self, first: usize, r: &mut [T], jacobian: &mut [T]) {
        if self.found.is_some() {
            return;
        }
        let residual = r.iter().position(|r| !r.is_finite()).map(|i| (first + i, None, r[i]));
        let derivative = || {
            let k = jacobian.iter().position(|entry| !entry.is_finite())?;
            Some((first + k / self.columns, Some(k % self.columns), jacobian[k]))
        };
        let found = residual.or_else(derivative);
        self.found =
            found.map(|(row, column, value)| NonFiniteEntry { rank: None, row, column, value: value.to_f64() });
    }

    fn overwrites(&self) -> bool {
        true
    }
}
