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

/// Rounds of conjugate gradients that take as long as a factorisation may: the fewest, and for each residual block on the longest of the
/// shortest paths between blocks of columns. A round carries information over one residual block, and rounding and the condition of the system
/// multiply that: solves of worlds of 1,700 to 100,000 poses took 4 to 35 rounds for each. A factorisation solves exactly, and so takes fewer
/// iterations: for a grid of 20³ poses in space, both take the same time.
const ROUNDS: f64 = 1000.0;
const ROUNDS_OF_DEPTH: f64 = 12.0;

/// The fewest rounds for bundles, whose Schur complements take about 25 rounds a system. With 1,000 cameras and 10⁵ points, the factorisation
/// takes a fraction of the time of these rounds where each point is seen by ten neighbouring cameras, and 4 times as long where it is seen by any ten.
const ROUNDS_OF_BUNDLES: f64 = 100.0;

/// Conjugate gradients do not stand in for a factorisation that does not fit the memory budget where one system is estimated to take them
/// longer than this, in nanoseconds, and by this ratio longer than the factorisation: more memory is the better answer.
const HOPELESS: f64 = 1e10;
const HOPELESS_RATIO: f64 = 10.0;

/// Largest share of the columns that the Schur complement of a bundle has.
const OF_BUNDLES: f64 = 0.25;

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
    let rounds = |fewest: f64| round * fewest.max(ROUNDS_OF_DEPTH * *depth);
    let is_far = |factorization: Work, fewest: f64| {
        fits && factorization.time() > (round * fewest).time() && factorization.time() > rounds(fewest).time()
    };
    let set = LazyCell::new(|| independent_set(structure, &residual_blocks));
    let kept = LazyCell::new(|| (plan.n - set.iter().map(|&block| structure.size(block)).sum::<usize>()) as f64);
    let most_of_bundles = OF_BUNDLES * plan.n as f64;
    // The set takes long to find as well, and is looked for only where it may matter.
    let is_bundle = is_far(Work::cholesky(most_of_bundles), ROUNDS_OF_BUNDLES)
        && (least_kept(structure) as f64) < most_of_bundles
        && *kept < most_of_bundles;
    // The order of elimination takes long to find where the Schur complement is dense, and tells nothing more.
    if is_bundle
        && is_far(Work::cholesky(*kept), ROUNDS_OF_BUNDLES)
        && connected_share(structure, &residual_blocks, &set) > DENSE
    {
        return model(plan, structure, IterativeSchur::new(structure, set.clone()));
    }
    let sparse = SparsePlan::new(Arc::clone(structure))?;
    let factorization = sparse.factorization();
    if !is_far(factorization, if is_bundle { ROUNDS_OF_BUNDLES } else { ROUNDS }) {
        match sparse.build(plan.budget) {
            Ok(normal) => return Ok(Box::new(normal)),
            // The error names the least memory that would do.
            Err(PlanError::Memory { .. }) if !fits => {
                PlanError::check_budget(structure.bytes::<T>(plan.m), plan.budget)?;
            }
            Err(PlanError::Memory { .. })
                if rounds(ROUNDS_OF_BUNDLES).time() < HOPELESS.max(HOPELESS_RATIO * factorization.time()) => {}
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
