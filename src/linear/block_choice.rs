//! Choice of the linear form for a Jacobian of blocks, once its structure is known.

use std::cell::LazyCell;
use std::sync::Arc;

use super::block_normal::{BlockNormal, BlockSystem};
use super::block_rows::BlockStructure;
use super::cgnr::Cgnr;
use super::choice::{Plan, PlanError};
use super::dispatch::BoxedModel;
use super::form::LinearForm;
use super::independent_set::{connected_share, independent_set, least_kept};
use super::iterative_schur::IterativeSchur;
use super::schur::Schur;
use super::sparse_normal::SparsePlan;
use crate::problem::{BlockJacobian, Work};
use crate::real::Real;

/// Longest factorisation that is preferred to conjugate gradients, in rounds of these: `max(fewest, of_depth · d)` for a structure of
/// [depth](BlockStructure::depth) `d`. A round carries information over one residual block.
#[derive(Clone, Copy)]
struct Rounds {
    fewest: f64,
    of_depth: f64,
}

/// Conjugate gradients took 4 to 35 `d` rounds for maps of 1,700 to 100,000 poses. A factorisation solves exactly, and so takes fewer
/// iterations: for a grid of 20³ poses in space, both take the same time.
const OF_MAPS: Rounds = Rounds { fewest: 1000.0, of_depth: 12.0 };

/// Conjugate gradients took 2 to 3 `d` rounds for Schur complements of 300 and 1,000 cameras. With 1,000 cameras and 10⁵ points, each
/// seen by ten of the hundred nearest cameras, the factorisation takes 1.6 times this limit; by ten of the twenty nearest, a twentieth of it.
const OF_BUNDLES: Rounds = Rounds { fewest: 30.0, of_depth: 3.0 };

/// Estimated time of conjugate gradients for one system, in nanoseconds, and its ratio to the time of the factorisation. Beyond both, they
/// do not replace a factorisation that exceeds the memory budget: the error asks for more memory.
const HOPELESS: f64 = 1e10;
const HOPELESS_RATIO: f64 = 10.0;

/// Largest share of the columns that the Schur complement of a bundle has.
const KEPT_OF_BUNDLES: f64 = 0.25;

/// Share of the pairs of kept blocks that are connected from which a Schur complement counts as dense: its factor fills in.
const DENSE: f64 = 0.25;

/// Share of the columns below which the Schur complement pays.
const WORTHWHILE: f64 = 0.5;

/// A model of a problem of blocks: of the form that is planned, or by conjugate gradients where the factor does not fit the
/// memory budget, or takes far longer.
pub(super) fn of_blocks<T: Real>(plan: &Plan, blocks: &dyn BlockJacobian<T>) -> Result<BoxedModel<T>, PlanError> {
    let structure = Arc::new(BlockStructure::new(blocks, plan.n)?);
    match plan.form {
        LinearForm::Cgnr => inexact(plan, &structure, Cgnr::new),
        LinearForm::IterativeSchur => {
            let set = independent_set(&structure, &structure.residual_blocks_of_all());
            inexact(plan, &structure, |structure| IterativeSchur::new(structure, set))
        }
        LinearForm::Schur => model(plan, &structure, Schur::new(&structure, plan.budget)?),
        _ if plan.may_iterate => chosen(plan, &structure),
        _ => Ok(Box::new(SparsePlan::new(structure)?.build(plan.budget)?)),
    }
}

/// The sparse Cholesky factorisation, or conjugate gradients where it takes far longer, or does not fit the memory budget.
fn chosen<T: Real>(plan: &Plan, structure: &Arc<BlockStructure>) -> Result<BoxedModel<T>, PlanError> {
    let fits = structure.bytes::<T>(plan.m) <= plan.budget;
    let entries = structure.entries(plan.m) as f64;
    let round = Work::elementwise(entries, 4.0, 1.0) + Work::elementwise(plan.n as f64, 12.0, 12.0);
    let residual_blocks = LazyCell::new(|| structure.residual_blocks_of_all());
    let depth = LazyCell::new(|| structure.depth(&residual_blocks) as f64);
    let time_of = |rounds: Rounds| (round * rounds.fewest.max(rounds.of_depth * *depth)).time();
    let is_far = |factorization: Work, rounds: Rounds| {
        fits && factorization.time() > (round * rounds.fewest).time() && factorization.time() > time_of(rounds)
    };
    let set = LazyCell::new(|| independent_set(structure, &residual_blocks));
    let kept = LazyCell::new(|| (plan.n - set.iter().map(|&block| structure.size(block)).sum::<usize>()) as f64);
    let most_of_bundles = KEPT_OF_BUNDLES * plan.n as f64;
    // The set takes long to find as well, and is looked for only where it may matter.
    let is_bundle = is_far(Work::cholesky(most_of_bundles), OF_BUNDLES)
        && (least_kept(structure) as f64) < most_of_bundles
        && *kept < most_of_bundles;
    // The order of elimination takes long to find where the Schur complement is dense, and tells nothing more.
    if is_bundle
        && is_far(Work::cholesky(*kept), OF_BUNDLES)
        && connected_share(structure, &residual_blocks, &set) > DENSE
    {
        return model(plan, structure, IterativeSchur::new(structure, set.clone()));
    }
    let sparse = SparsePlan::new(Arc::clone(structure))?;
    let factorization = sparse.factorization();
    let rounds = if is_bundle { OF_BUNDLES } else { OF_MAPS };
    if !is_far(factorization, rounds) {
        match sparse.build(plan.budget) {
            Ok(normal) => return Ok(Box::new(normal)),
            // The error names the least memory that would do.
            Err(PlanError::Memory { .. }) if !fits => {
                PlanError::check_budget(structure.bytes::<T>(plan.m), plan.budget)?;
            }
            Err(PlanError::Memory { .. }) if time_of(rounds) < HOPELESS.max(HOPELESS_RATIO * factorization.time()) => {}
            Err(error) => return Err(error),
        }
    }
    // The Schur complement where that is small, and else the normal equations.
    if *kept < WORTHWHILE * plan.n as f64 {
        return model(plan, structure, IterativeSchur::new(structure, set.clone()));
    }
    model(plan, structure, Cgnr::new(structure))
}

/// Conjugate gradients on a system for this structure.
fn inexact<T: Real, S: BlockSystem<T> + Send + Sync + 'static>(
    plan: &Plan,
    structure: &Arc<BlockStructure>,
    system: impl FnOnce(&BlockStructure) -> S,
) -> Result<BoxedModel<T>, PlanError> {
    PlanError::check_budget(structure.bytes::<T>(plan.m), plan.budget)?;
    model(plan, structure, system(structure))
}

fn model<T: Real>(
    plan: &Plan,
    structure: &Arc<BlockStructure>,
    system: impl BlockSystem<T> + Send + Sync + 'static,
) -> Result<BoxedModel<T>, PlanError> {
    Ok(Box::new(BlockNormal::new(structure, plan.inexact, system)?))
}

#[cfg(test)]
mod tests {
    use super::super::choice::LinearSolver;
    use super::super::cost::Size;
    use super::super::independent_set::tests::structure;
    use super::*;
    use crate::linear::Truncation;

    /// Poses of six numbers on a grid: residual blocks of six residuals touch those beside each other.
    fn grid(sides: &[usize]) -> (BlockStructure, usize) {
        let count: usize = sides.iter().product();
        let mut touched = Vec::new();
        let mut step = 1;
        for side in sides {
            touched.extend((0..count).filter(|k| !(k / step).is_multiple_of(*side)).map(|k| vec![k - step, k]));
            step *= side;
        }
        let rows = 6 * touched.len();
        (structure(vec![6; count], touched), rows)
    }

    fn form((structure, m): (BlockStructure, usize), budget: usize) -> Result<LinearForm, PlanError> {
        let truncation = Truncation { rounds: 20, tolerance: 1e-3 };
        let size = Size { blocks: true, ..Size::plain(m, structure.columns(), 1, None, truncation) };
        let plan = Plan { budget, ..Plan::new::<f64>(LinearSolver::Auto, &size, usize::MAX)? };
        Ok(chosen::<f64>(&plan, &Arc::new(structure))?.form())
    }

    #[test]
    fn deep_maps_are_factorised_and_dense_ones_iterated() {
        assert_eq!(form(grid(&[100, 100]), usize::MAX).unwrap(), LinearForm::SparseCholesky);
        assert_eq!(form(grid(&[5000]), usize::MAX).unwrap(), LinearForm::SparseCholesky);
        assert_eq!(form(grid(&[10, 10, 10]), usize::MAX).unwrap(), LinearForm::SparseCholesky);
        assert_eq!(form(grid(&[28, 28, 28]), usize::MAX).unwrap(), LinearForm::Cgnr);
    }

    /// Conjugate gradients stand in for a factor that does not fit, unless they would take for ever.
    #[test]
    fn more_memory_is_asked_for_where_conjugate_gradients_are_hopeless() {
        for (side, is_hopeless) in [(40, false), (200, true)] {
            let (structure, m) = grid(&[side, side]);
            let rows = structure.bytes::<f64>(m);
            match form((structure, m), rows) {
                Ok(form) => assert!(form == LinearForm::Cgnr && !is_hopeless, "{side}: {form:?}"),
                Err(PlanError::Memory { needed, .. }) => assert!(is_hopeless && needed > rows, "{side}: {needed}"),
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}
