//! Which form of the linear system to take, by estimated flops and bytes.

use std::fmt;

use super::shape::Dynamic;
use super::tiles::Tiles;
use crate::Real;

/// How the damped systems should be solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinearSolver {
    /// The cheapest form by estimated flops that fits the memory budget, and QR in place of a Cholesky factorisation
    /// that turns out too badly conditioned to trust.
    #[default]
    Auto,
    /// Always this form. A system it cannot solve reliably is answered by more damping.
    Always(LinearForm),
}

/// A form of the damped linear system `(JᵀJ + λD²)δ = −Jᵀr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinearForm {
    /// The normal equations: Cholesky of `JᵀJ + λD²`. Fastest for more residuals than parameters.
    Cholesky,
    /// The triangle of `J` by Householder reflections, damped by further rows: the condition number is not squared.
    Qr,
    /// Cholesky of `JD⁻²Jᵀ + λI`, a matrix of the size of the residuals: for fewer residuals than parameters.
    Dual,
}

impl fmt::Display for LinearForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LinearForm::Cholesky => "Cholesky of JᵀJ",
            LinearForm::Qr => "QR of J",
            LinearForm::Dual => "Cholesky of JJᵀ",
        })
    }
}

impl LinearForm {
    /// Estimated flops of a linearisation and one damped solve with `m` residuals and `n` parameters.
    ///
    /// ```
    /// use marquardt::LinearForm;
    ///
    /// assert!(LinearForm::Cholesky.flops(10_000, 10) < LinearForm::Qr.flops(10_000, 10));
    /// assert!(LinearForm::Dual.flops(20, 5_000) < LinearForm::Cholesky.flops(20, 5_000));
    /// ```
    pub fn flops(self, m: usize, n: usize) -> f64 {
        let (m, n) = (m as f64, n as f64);
        match self {
            LinearForm::Cholesky => m * n * n + n * n * n / 3.0,
            LinearForm::Qr => 2.0 * m * n * n + 4.0 * n * n * n / 3.0,
            LinearForm::Dual => m * m * n + m * m * m / 3.0 + 4.0 * m * n,
        }
    }

    /// Numbers that the form keeps in memory.
    fn numbers(self, m: usize, n: usize) -> usize {
        let square = |n: usize| n.saturating_mul(n);
        match self {
            LinearForm::Cholesky => square(n).saturating_mul(3).saturating_add(n.saturating_mul(4)),
            LinearForm::Qr => square(n).saturating_mul(4).saturating_add(n.saturating_mul(8)),
            LinearForm::Dual => m.saturating_mul(n).saturating_mul(3).saturating_add(square(m).saturating_mul(2)),
        }
    }
}

/// Cheaper than this, a QR factorisation is taken without a second thought when a Cholesky factorisation fails.
const AFFORDABLE_FLOPS: f64 = 2e8;

/// The form that a problem of `m` residuals and `n` parameters is solved in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) form: LinearForm,
    /// QR may take over from a Cholesky factorisation that cannot be trusted.
    pub(crate) may_orthogonalize: bool,
}

/// No form fits the memory budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlanError {
    pub(crate) needed: usize,
}

impl Plan {
    /// Chooses the form for a problem whose rows come in groups.
    pub(crate) fn new<T: Real>(
        solver: LinearSolver,
        m: usize,
        n: usize,
        group: usize,
        budget: usize,
    ) -> Result<Plan, PlanError> {
        let tile = Tiles::<T, Dynamic>::numbers(m, n, group);
        let vectors = n.saturating_mul(8);
        let bytes = |form: LinearForm| {
            form.numbers(m, n).saturating_add(tile).saturating_add(vectors).saturating_mul(size_of::<T>())
        };
        let candidates: &[LinearForm] = match &solver {
            LinearSolver::Always(form) => std::slice::from_ref(form),
            LinearSolver::Auto if m < n => &[LinearForm::Dual, LinearForm::Cholesky],
            LinearSolver::Auto => &[LinearForm::Cholesky],
        };
        let affordable = candidates.iter().copied().filter(|&form| bytes(form) <= budget);
        let Some(form) = affordable.min_by(|a, b| a.flops(m, n).total_cmp(&b.flops(m, n))) else {
            let needed = candidates.iter().map(|&form| bytes(form)).min().unwrap_or(0);
            return Err(PlanError { needed });
        };
        let may_orthogonalize = solver == LinearSolver::Auto
            && form == LinearForm::Cholesky
            && LinearForm::Qr.flops(m, n) <= AFFORDABLE_FLOPS
            && bytes(LinearForm::Cholesky).saturating_add(bytes(LinearForm::Qr)) <= budget;
        Ok(Plan { m, n, form, may_orthogonalize })
    }

    /// The plan for a number of parameters fixed at compile time, where the workspace is on the stack.
    pub(crate) fn stacked(solver: LinearSolver, m: usize, n: usize) -> Plan {
        match solver {
            LinearSolver::Always(form) => Plan { m, n, form, may_orthogonalize: false },
            LinearSolver::Auto => Plan { m, n, form: LinearForm::Cholesky, may_orthogonalize: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(solver: LinearSolver, m: usize, n: usize, budget: usize) -> Result<Plan, PlanError> {
        Plan::new::<f64>(solver, m, n, 1, budget)
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
        let needed = plan(LinearSolver::Auto, 100, 50, 1000).unwrap_err().needed;
        assert!(plan(LinearSolver::Auto, 100, 50, needed).is_ok());
        assert!(plan(LinearSolver::Auto, 100, 50, needed - 1).is_err());
        // Sizes beyond counting are refused, not wrapped around.
        assert!(plan(LinearSolver::Auto, usize::MAX / 4, usize::MAX / 4, usize::MAX - 1).is_err());
    }
}
