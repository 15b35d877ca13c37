//! Choice of the linear form for a Jacobian of blocks, once its structure is known.

use std::sync::Arc;

use super::block_normal::{BlockNormal, BlockSystem};
use super::block_rows::BlockStructure;
use super::cgnr::Cgnr;
use super::choice::{Plan, PlanError};
use super::dispatch::BoxedModel;
use super::form::LinearForm;
use super::iterative_schur::IterativeSchur;
use super::schur::Schur;
use super::sparse_normal::SparseNormal;
use crate::problem::{BlockJacobian, Work};
use crate::real::Real;

/// Expected number of rounds of conjugate gradients where they take over.
const ROUNDS: f64 = 100.0;

/// Ratio of the estimated times from which conjugate gradients replace a factorisation. A factorisation solves exactly, and so takes fewer
/// iterations: both take the same time for a grid of 14³ poses in space; for 20³, conjugate gradients are three to four times as fast.
const FAR: f64 = 10.0;

/// Share of the columns below which the Schur complement pays.
const WORTHWHILE: f64 = 0.5;

/// A model of a problem of blocks: of the form that is planned, or by conjugate gradients where the factor does not fit the
/// memory budget, or takes far longer.
pub(super) fn of_blocks<T: Real>(plan: &Plan, blocks: &dyn BlockJacobian<T>) -> Result<BoxedModel<T>, PlanError> {
    let structure = Arc::new(BlockStructure::new(blocks, plan.n)?);
    match plan.form {
        LinearForm::Cgnr => inexact(plan, &structure, Cgnr::new),
        LinearForm::IterativeSchur => inexact(plan, &structure, IterativeSchur::new),
        LinearForm::Schur => Ok(model(plan, &structure, Schur::new(&structure, plan.budget)?)),
        _ => match SparseNormal::new(Arc::clone(&structure), plan.budget) {
            Ok(normal) if plan.may_iterate && is_far(&normal, &structure, plan) => iterative(plan, &structure),
            Ok(normal) => Ok(Box::new(normal)),
            // The error names the least memory that would do.
            Err(PlanError::Memory { .. }) if plan.may_iterate => iterative(plan, &structure),
            Err(error) => Err(error),
        },
    }
}

/// Returns true if [`ROUNDS`] rounds of conjugate gradients are far faster than the factorisation.
fn is_far<T: Real>(normal: &SparseNormal<T>, structure: &BlockStructure, plan: &Plan) -> bool {
    let entries = structure.entries(plan.m) as f64;
    let round = Work::elementwise(entries, 4.0, 1.0) + Work::elementwise(plan.n as f64, 12.0, 12.0);
    normal.factorization().time() > FAR * (round * ROUNDS).time() && structure.bytes::<T>(plan.m) <= plan.budget
}

/// Conjugate gradients on the Schur complement where that is small, and else on the normal equations.
fn iterative<T: Real>(plan: &Plan, structure: &Arc<BlockStructure>) -> Result<BoxedModel<T>, PlanError> {
    PlanError::check_budget(structure.bytes::<T>(plan.m), plan.budget)?;
    let schur = IterativeSchur::new(structure);
    if (schur.kept_columns() as f64) < WORTHWHILE * plan.n as f64 {
        return Ok(model(plan, structure, schur));
    }
    inexact(plan, structure, Cgnr::new)
}

/// Conjugate gradients on a system for this structure.
fn inexact<T: Real, S: BlockSystem<T> + Send + Sync + 'static>(
    plan: &Plan,
    structure: &Arc<BlockStructure>,
    system: impl FnOnce(&BlockStructure) -> S,
) -> Result<BoxedModel<T>, PlanError> {
    PlanError::check_budget(structure.bytes::<T>(plan.m), plan.budget)?;
    Ok(model(plan, structure, system(structure)))
}

fn model<T: Real>(
    plan: &Plan,
    structure: &Arc<BlockStructure>,
    system: impl BlockSystem<T> + Send + Sync + 'static,
) -> BoxedModel<T> {
    Box::new(BlockNormal::new(structure, plan.inexact, system))
}
