//! Which form of the linear system to take, by estimated flops and bytes.

use std::cmp::Ordering;
use std::fmt;

use super::shape::Dynamic;
use super::tiles::Tiles;
use crate::{ProductWork, Real};

/// How the damped systems should be solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinearSolver {
    /// The cheapest form by estimated flops that fits the memory budget, QR in place of a Cholesky factorisation
    /// that turns out too badly conditioned to trust, and conjugate gradients where nothing else fits.
    #[default]
    Auto,
    /// Always this form. A system it cannot solve reliably is answered by more damping.
    Always(LinearForm),
}

/// A form of the damped linear system `(JᵀJ + λD²)δ = −Jᵀr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LinearForm {
    /// The normal equations: Cholesky of `JᵀJ + λD²`. Fastest for more residuals than parameters.
    Cholesky,
    /// The triangle of `J` by Householder reflections, damped by further rows: the condition number is not squared.
    Qr,
    /// Cholesky of `JD⁻²Jᵀ + λI`, a matrix of the size of the residuals, from the rows of `J`: for fewer residuals than
    /// parameters.
    Dual,
    /// Cholesky of `JJᵀ + λI`, where a problem knows `JJᵀ` without forming `J`, as a [network](crate::nn::Network) does
    /// from the inputs and sensitivities of its layers. `D` is the identity.
    FactoredDual,
    /// Conjugate gradients on `JJᵀ + λI`, where a problem multiplies by `J` without forming it: no matrix at all. `D` is
    /// the identity.
    ConjugateGradients,
}

impl fmt::Display for LinearForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LinearForm::Cholesky => "Cholesky of JᵀJ",
            LinearForm::Qr => "QR of J",
            LinearForm::Dual => "Cholesky of JJᵀ",
            LinearForm::FactoredDual => "Cholesky of JJᵀ, without J",
            LinearForm::ConjugateGradients => "conjugate gradients on JJᵀ",
        })
    }
}

/// The size of a problem, as far as the choice depends on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Residuals.
    pub(crate) m: usize,
    /// Parameters.
    pub(crate) n: usize,
    /// Residuals that are computed together.
    pub(crate) group: usize,
    /// What products with the Jacobian cost where it need not be formed.
    pub(crate) products: Option<ProductWork>,
    /// Whether there is a ridge on top of the damping.
    pub(crate) ridge: Ridge,
}

/// A ridge `½ Σ w_j x_j²`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ridge {
    None,
    /// With the same weight for all parameters.
    Uniform,
    /// With weights that differ.
    Varied,
}

/// Rounds of conjugate gradients that a step is expected to take.
const ROUNDS: f64 = 50.0;

impl LinearForm {
    /// Whether the Jacobian is only multiplied by.
    pub(crate) fn multiplies(self) -> bool {
        matches!(self, LinearForm::FactoredDual | LinearForm::ConjugateGradients)
    }

    /// Estimated flops of a linearisation and one damped solve; `None` where the problem is not one for this form.
    pub(crate) fn flops(self, size: &Size) -> Option<f64> {
        let (m, n) = (size.m as f64, size.n as f64);
        Some(match self {
            LinearForm::Cholesky => m * n * n + n * n * n / 3.0,
            LinearForm::Qr => 2.0 * m * n * n + 4.0 * n * n * n / 3.0,
            LinearForm::Dual => m * m * n + m * m * m / 3.0 + 4.0 * m * n,
            LinearForm::FactoredDual => {
                let products = size.products?;
                products.linearize + products.row_gram + m * m * m / 3.0 + 6.0 * m * m + products.product
            }
            LinearForm::ConjugateGradients => {
                let products = size.products?;
                products.linearize + (2.0 * ROUNDS + 1.0) * products.product
            }
        })
    }

    /// Numbers that the form keeps in memory.
    fn numbers(self, &Size { m, n, group, products, .. }: &Size) -> Option<usize> {
        let square = |n: usize| n.saturating_mul(n);
        let of_products = || products.map(|products| products.numbers);
        Some(match self {
            LinearForm::Cholesky => square(n).saturating_mul(3).saturating_add(n.saturating_mul(4)),
            LinearForm::Qr => square(n).saturating_mul(4).saturating_add(n.saturating_mul(8)),
            LinearForm::Dual => m.saturating_mul(n).saturating_mul(3).saturating_add(square(m).saturating_mul(2)),
            LinearForm::FactoredDual => {
                of_products()?.saturating_add(square(m).saturating_mul(2)).saturating_add(m.saturating_mul(8))
            }
            LinearForm::ConjugateGradients => {
                let columns = group.saturating_mul(2).saturating_add(12);
                of_products()?.saturating_add(m.saturating_mul(columns)).saturating_add(n)
            }
        })
    }

    /// Bytes that the form needs, with the vectors that every form needs.
    fn bytes<T: Real>(self, size: &Size) -> Option<usize> {
        let tile = Tiles::<T, Dynamic>::numbers(size.m, if self.multiplies() { 0 } else { size.n }, size.group);
        let vectors = size.n.saturating_mul(8);
        Some(self.numbers(size)?.saturating_add(tile).saturating_add(vectors).saturating_mul(size_of::<T>()))
    }
}

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
}

/// There is no plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanError {
    /// No form fits the memory budget.
    Memory { needed: usize, rows_that_fit: usize },
    /// The problem is not one for the form that it should always take.
    Form(LinearForm),
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
            && LinearForm::Qr.flops(size).is_some_and(|flops| flops <= AFFORDABLE_FLOPS)
            && [LinearForm::Cholesky, LinearForm::Qr]
                .into_iter()
                .filter_map(|form| form.bytes::<T>(size))
                .fold(0, usize::saturating_add)
                <= budget;
        let &Size { m, n, group, .. } = size;
        Ok(Plan { m, n, group, form, may_orthogonalize })
    }

    /// The plan for a number of parameters fixed at compile time, where the workspace is on the stack.
    pub(crate) fn stacked(solver: LinearSolver, m: usize, n: usize, group: usize) -> Result<Plan, PlanError> {
        match solver {
            LinearSolver::Always(form) if form.multiplies() => Err(PlanError::Form(form)),
            LinearSolver::Always(form) => Ok(Plan { m, n, group, form, may_orthogonalize: false }),
            LinearSolver::Auto => Ok(Plan { m, n, group, form: LinearForm::Cholesky, may_orthogonalize: true }),
        }
    }
}

/// The forms that come into question.
fn candidates<'a>(solver: &'a LinearSolver, size: &Size) -> &'a [LinearForm] {
    use LinearForm::{Cholesky, ConjugateGradients, Dual, FactoredDual};
    let multiplies = size.products.is_some() && size.ridge != Ridge::Varied;
    let wide = size.m < size.n && size.ridge == Ridge::None;
    match (solver, multiplies, wide) {
        (LinearSolver::Always(form), ..) => std::slice::from_ref(form),
        (LinearSolver::Auto, true, true) => &[FactoredDual, Dual, Cholesky, ConjugateGradients],
        (LinearSolver::Auto, true, false) => &[FactoredDual, Cholesky, ConjugateGradients],
        (LinearSolver::Auto, false, true) => &[Dual, Cholesky],
        (LinearSolver::Auto, false, false) => &[Cholesky],
    }
}

/// The cheapest form that fits the budget, if there is one.
fn choose<T: Real>(solver: LinearSolver, size: &Size, budget: usize) -> Result<Option<LinearForm>, PlanError> {
    if let LinearSolver::Always(form) = solver
        && form.flops(size).is_none()
    {
        return Err(PlanError::Form(form));
    }
    let affordable =
        candidates(&solver, size).iter().copied().filter(|form| form.bytes::<T>(size).is_some_and(|b| b <= budget));
    // What solves exactly comes first.
    let rank = |form: LinearForm| (form == LinearForm::ConjugateGradients, form.flops(size).unwrap_or(f64::INFINITY));
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
        Plan::new::<f64>(solver, &Size { m, n, group: 1, products: None, ridge: Ridge::None }, budget)
    }

    #[test]
    fn the_cheaper_form_is_taken() {
        let form = |m, n| plan(LinearSolver::Auto, m, n, usize::MAX).unwrap().form;
        assert_eq!(form(1000, 10), LinearForm::Cholesky);
        assert_eq!(form(10, 1000), LinearForm::Dual);
        assert_eq!(plan(LinearSolver::Always(LinearForm::Qr), 1000, 10, usize::MAX).unwrap().form, LinearForm::Qr);
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
