//! Choice of the linear form, by estimates of the time and the memory of each.

use std::cmp::Ordering;

use super::cgls::Truncation;
use super::cost::{Ridge, Size};
use super::form::LinearForm;
use super::preconditioned::Inexact;
use super::sparse::TooLarge;
use crate::evaluation::Tiles;
use crate::problem::{ProductWork, Work};
use crate::real::Real;
use crate::storage::Dynamic;

/// Method for the damped linear systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LinearSolver {
    /// The fastest form by estimated [work](crate::problem::Work) that fits the memory budget, QR in place of a Cholesky factorisation
    /// that turns out too badly conditioned to trust, and conjugate gradients where nothing else fits, a sparse factorisation
    /// would take far longer, or, in training, that of `JJᵀ` would.
    #[default]
    Auto,
    /// Always takes this form. A system it cannot solve reliably is answered by more damping.
    Always(LinearForm),
}

/// Bytes that the matrices of a linear system may take unless said otherwise: 4 GiB, and 1 GiB of the 4 that 32 bits address.
pub(crate) const MEMORY_BUDGET: usize = 1 << if usize::BITS > 32 { 32 } else { 30 };

/// Cheaper than this, a QR factorisation is taken without a second thought when a Cholesky factorisation fails.
const AFFORDABLE_FLOPS: f64 = 2e8;

/// The form that a problem of `m` residuals, in groups, and `n` parameters is solved in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) group: usize,
    pub(crate) form: LinearForm,
    /// QR may take over from a Cholesky factorisation that cannot be trusted.
    pub(crate) may_orthogonalize: bool,
    /// The whole Jacobian would fit the memory budget beside what the form keeps.
    pub(crate) may_keep_rows: bool,
    /// Bytes that a form may take whose structure has yet to be analysed.
    pub(crate) budget: usize,
    /// Conjugate gradients may take over from a sparse Cholesky factorisation that fills in too much, and in training from a dense one.
    pub(crate) may_iterate: bool,
    /// Accuracy of conjugate gradients.
    pub(crate) inexact: Inexact,
    /// Truncation of conjugate gradients.
    pub(crate) truncation: Truncation,
    /// Points are tested by their gradients, as those of a full solve.
    pub(crate) forms_gradient: bool,
}

/// There is no plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanError {
    /// No form fits the memory budget.
    Memory { needed: usize, rows_that_fit: usize },
    /// The problem is not one for the form that it should always take.
    Form(LinearForm),
    /// The problem has bounds, which the form that it should always take has no place for.
    Bounded(LinearForm),
    /// The blocks of columns are not those of the Jacobian, or a residual block names one that is not there, or twice.
    Blocks { residual_block: Option<usize> },
}

impl PlanError {
    /// Refuses what takes more than the memory budget, in bytes.
    pub(crate) fn check_budget(needed: usize, budget: usize) -> Result<(), PlanError> {
        if needed <= budget { Ok(()) } else { Err(PlanError::Memory { needed, rows_that_fit: 0 }) }
    }
}

impl From<TooLarge> for PlanError {
    fn from(_: TooLarge) -> Self {
        PlanError::Memory { needed: usize::MAX, rows_that_fit: 0 }
    }
}

impl Plan {
    /// Chooses the form for a problem.
    pub(crate) fn new<T: Real>(solver: LinearSolver, size: &Size, budget: usize) -> Result<Plan, PlanError> {
        let Some(form) = choose::<T>(solver, size, budget)? else {
            let bytes = candidates(&solver, size).iter().filter_map(|form| form.bytes::<T>(size));
            return Err(PlanError::Memory {
                needed: bytes.min().unwrap_or(0),
                rows_that_fit: rows_that_fit::<T>(solver, size, budget),
            });
        };
        let may_orthogonalize = solver == LinearSolver::Auto
            && form == LinearForm::Cholesky
            && LinearForm::Qr.work::<T>(size).is_some_and(|work| work.flops() <= AFFORDABLE_FLOPS)
            && [LinearForm::Cholesky, LinearForm::Qr]
                .into_iter()
                .filter_map(|form| form.bytes::<T>(size))
                .fold(0, usize::saturating_add)
                <= budget;
        let &Size { m, n, group, truncation, .. } = size;
        let all_rows = Tiles::<T, Dynamic>::kept_bytes(m, form.formed_columns(n));
        let may_keep_rows = form.bytes::<T>(size).is_some_and(|bytes| bytes.saturating_add(all_rows) <= budget);
        let may_iterate = solver == LinearSolver::Auto && !size.bounded;
        let of_rows = Self::of_rows(form, may_orthogonalize, (m, n), group);
        Ok(Plan { may_keep_rows, budget, may_iterate, truncation, ..of_rows })
    }

    /// The plan for a number of parameters fixed at compile time, where the workspace is on the stack.
    pub(crate) fn stacked(
        solver: LinearSolver,
        (m, n): (usize, usize),
        group: usize,
        bounded: bool,
    ) -> Result<Plan, PlanError> {
        match solver {
            LinearSolver::Always(form) if bounded && !form.holds_variables() => Err(PlanError::Bounded(form)),
            LinearSolver::Always(form) if !form.forms_rows() => Err(PlanError::Form(form)),
            LinearSolver::Always(form) => Ok(Self::of_rows(form, false, (m, n), group)),
            LinearSolver::Auto => Ok(Self::of_rows(LinearForm::Cholesky, true, (m, n), group)),
        }
    }

    /// The plan for a form whose memory is not counted.
    pub(crate) fn of_rows(form: LinearForm, may_orthogonalize: bool, (m, n): (usize, usize), group: usize) -> Plan {
        Plan {
            m,
            n,
            group,
            form,
            may_orthogonalize,
            may_keep_rows: false,
            budget: 0,
            may_iterate: false,
            inexact: Inexact::default(),
            truncation: Truncation::default(),
            forms_gradient: true,
        }
    }
}

/// The forms that come into question.
fn candidates<'a>(solver: &'a LinearSolver, size: &Size) -> &'a [LinearForm] {
    use LinearForm::{Cholesky, ConjugateGradients, Dual, FactoredDual, SparseCholesky, TruncatedConjugateGradients};
    let knows_gram = size.products.is_some_and(|products| products.row_gram.is_some());
    let multiplies = size.products.is_some() && size.ridge != Ridge::Varied && !size.bounded;
    let wide = size.m < size.n && size.ridge == Ridge::None && !size.bounded && !size.spread;
    match (solver, multiplies, wide) {
        (LinearSolver::Always(form), ..) => std::slice::from_ref(form),
        (LinearSolver::Auto, ..) if size.blocks && !size.spread => &[SparseCholesky],
        (LinearSolver::Auto, true, true) if !knows_gram => &[Dual, Cholesky, TruncatedConjugateGradients],
        (LinearSolver::Auto, true, false) if !knows_gram => &[Cholesky, TruncatedConjugateGradients],
        (LinearSolver::Auto, true, true) => &[FactoredDual, Dual, Cholesky, ConjugateGradients],
        (LinearSolver::Auto, true, false) => &[FactoredDual, Cholesky, ConjugateGradients],
        (LinearSolver::Auto, false, true) => &[Dual, Cholesky],
        (LinearSolver::Auto, false, false) => &[Cholesky],
    }
}

/// Returns the fastest form that fits the budget, if there is one.
fn choose<T: Real>(solver: LinearSolver, size: &Size, budget: usize) -> Result<Option<LinearForm>, PlanError> {
    if let LinearSolver::Always(form) = solver {
        if size.bounded && !form.holds_variables() {
            return Err(PlanError::Bounded(form));
        }
        if form.work::<T>(size).is_none() {
            return Err(PlanError::Form(form));
        }
    }
    let possible = |form: &LinearForm| {
        form.work::<T>(size).is_some() && form.bytes::<T>(size).is_some_and(|bytes| bytes <= budget)
    };
    let affordable = candidates(&solver, size).iter().copied().filter(possible);
    // What solves exactly comes first.
    let time = |form: LinearForm| form.work::<T>(size).map_or(f64::INFINITY, Work::time);
    let rank = |form: LinearForm| (form.is_iterative(), time(form));
    Ok(affordable.min_by(|&a, &b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal)))
}

/// The most residuals, in whole groups, for which there would be a plan.
fn rows_that_fit<T: Real>(solver: LinearSolver, size: &Size, budget: usize) -> usize {
    let group = size.group.max(1);
    let fits = |groups: usize| {
        let m = groups * group;
        let share = |numbers: usize| (numbers as f64 * (m as f64 / size.m as f64)).ceil() as usize;
        let products = size.products.map(|work| ProductWork { numbers: share(work.numbers), ..work });
        matches!(choose::<T>(solver, &Size { m, products, ..*size }, budget), Ok(Some(_)))
    };
    let (mut fit, mut too_many) = (0, size.m / group);
    while fit + 1 < too_many {
        let middle = fit.midpoint(too_many);
        if fits(middle) { fit = middle } else { too_many = middle }
    }
    fit * group
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(solver: LinearSolver, m: usize, n: usize, budget: usize) -> Result<Plan, PlanError> {
        Plan::new::<f64>(
            solver,
            &Size {
                m,
                n,
                group: 1,
                products: None,
                ridge: Ridge::None,
                bounded: false,
                blocks: false,
                spread: false,
                truncation: Truncation::default(),
            },
            budget,
        )
    }

    #[test]
    fn the_cheaper_form_is_taken() {
        let form = |m, n| plan(LinearSolver::Auto, m, n, usize::MAX).unwrap().form;
        assert_eq!(form(1000, 10), LinearForm::Cholesky);
        assert_eq!(form(10, 1000), LinearForm::Dual);
        assert_eq!(plan(LinearSolver::Always(LinearForm::Qr), 1000, 10, usize::MAX).unwrap().form, LinearForm::Qr);
    }

    /// Work whose parts take these times.
    fn products(linearize: f64, row_gram: f64, jacobian: f64) -> ProductWork {
        let [linearize, row_gram, jacobian] =
            [linearize, row_gram, jacobian].map(|count| Work::elementwise(count, 1.0, 1.0));
        ProductWork {
            linearize,
            row_gram: Some(row_gram),
            product: linearize,
            gram_product: None,
            jacobian: Some(jacobian),
            numbers: 1000,
        }
    }

    #[test]
    fn the_form_with_the_least_estimate_is_taken() {
        let mut taken = std::collections::HashSet::new();
        for (m, n) in [(100, 20), (100, 90), (100, 100), (100, 110), (20, 100), (30, 2000)] {
            for (linearize, row_gram, jacobian) in [(1e3, 1e3, 1e3), (1e6, 1e3, 1e3), (1e3, 1e6, 1e3), (1e3, 1e3, 1e7)]
            {
                let products = Some(products(linearize, row_gram, jacobian));
                let size = Size {
                    m,
                    n,
                    group: 1,
                    products,
                    ridge: Ridge::Uniform,
                    bounded: false,
                    blocks: false,
                    spread: false,
                    truncation: Truncation::default(),
                };
                let form = Plan::new::<f64>(LinearSolver::Auto, &size, usize::MAX).unwrap().form;
                let time = |form: LinearForm| form.work::<f64>(&size).unwrap().time();
                let least =
                    [LinearForm::Cholesky, LinearForm::FactoredDual].map(time).into_iter().fold(f64::MAX, f64::min);
                assert_eq!(time(form), least, "{size:?}");
                taken.insert(form);
                // What does not solve exactly is for what has no room.
                let tight = LinearForm::ConjugateGradients.bytes::<f64>(&size).unwrap();
                let fits = |form: &LinearForm| form.bytes::<f64>(&size).unwrap() <= tight;
                let exact = [LinearForm::Cholesky, LinearForm::FactoredDual].iter().any(fits);
                let form = Plan::new::<f64>(LinearSolver::Auto, &size, tight).unwrap().form;
                assert_eq!(form == LinearForm::ConjugateGradients, !exact, "{size:?}");
            }
        }
        assert_eq!(taken.len(), 2);
    }

    #[test]
    fn bounds_are_for_the_primal_forms() {
        let products = Some(products(1.0, 1.0, 1.0));
        let size = Size {
            m: 10,
            n: 1000,
            group: 1,
            products,
            ridge: Ridge::None,
            bounded: true,
            blocks: false,
            spread: false,
            truncation: Truncation::default(),
        };
        let form = |solver| Plan::new::<f64>(solver, &size, usize::MAX).map(|plan| plan.form);
        assert_eq!(form(LinearSolver::Auto), Ok(LinearForm::Cholesky));
        for dual in [LinearForm::Dual, LinearForm::FactoredDual, LinearForm::ConjugateGradients] {
            let solver = LinearSolver::Always(dual);
            assert_eq!(form(solver), Err(PlanError::Bounded(dual)));
            assert!(matches!(Plan::stacked(solver, (10, 3), 1, true), Err(PlanError::Bounded(_))));
        }
        assert_eq!(form(LinearSolver::Always(LinearForm::Qr)), Ok(LinearForm::Qr));
    }

    #[test]
    fn qr_takes_over_only_where_it_is_affordable_and_allowed() {
        let may = |solver, m| plan(solver, m, 10, usize::MAX).unwrap().may_orthogonalize;
        assert!(may(LinearSolver::Auto, 1000));
        assert!(!may(LinearSolver::Auto, 10_000_000));
        assert!(!may(LinearSolver::Always(LinearForm::Cholesky), 1000));
    }

    #[test]
    fn the_budget_is_kept() {
        let Err(PlanError::Memory { needed, rows_that_fit: 0 }) = plan(LinearSolver::Auto, 100, 50, 1000) else {
            panic!("a thousand bytes are too few")
        };
        assert!(plan(LinearSolver::Auto, 100, 50, needed).is_ok());
        assert!(plan(LinearSolver::Auto, 100, 50, needed - 1).is_err());
        // Sizes beyond counting are refused, not wrapped around.
        assert!(plan(LinearSolver::Auto, usize::MAX / 4, usize::MAX / 4, usize::MAX - 1).is_err());
    }
}
