//! Variable projection: minimisation over the nonlinear parameters.

use super::damping::AnyPolicy;
use super::damping::DampingPolicy;
use super::engine::SolveCall;
use super::{LevenbergMarquardt, Report, SolveError, Status};
use crate::kernels::vector::dot;
use crate::linear::Forms;
use crate::precision::compile_once;
use crate::problem::{Evaluated, LeastSquares, Separable, SeparableError, linear_parameters};
use crate::real::Real;

/// Costs that are further apart, relative to the lower one, are not the same.
const MISMATCH: f64 = 1e-2;

impl<T: Real, D: DampingPolicy<T>> LevenbergMarquardt<T, D> {
    /// Minimises by variable projection: the parameters that the residuals are affine in are found, as [`Separable::detect`] does, and
    /// eliminated, and the solver iterates on the others. The result is that of [`minimize`](Self::minimize), usually after fewer
    /// iterations, and the starts of the linear parameters do not matter.
    ///
    /// The report holds all parameters; iterations and evaluations are those of the reduced problem, and the initial cost is that of the
    /// start with the linear parameters at their best. If all parameters are linear, the solve is direct, and the iteration only confirms
    /// the result; if none is, this is [`minimize`](Self::minimize). If a parameter that was taken for linear proves to be nonlinear, all
    /// parameters are solved for from the start; the report counts the work of both solves, and limits hold for both together.
    ///
    /// A parameter with bounds is not eliminated. The problem's cost must be the plain sum of squares.
    ///
    /// # Errors
    ///
    /// As [`minimize`](Self::minimize).
    ///
    /// ```
    /// use marquardt::{AutoDiff, EvaluationError, LevenbergMarquardt, Residuals, Scalar};
    ///
    /// /// y = b₀ e^(−b₁ t) + b₂ e^(−b₃ t)
    /// struct TwoDecays;
    ///
    /// impl Residuals<f64> for TwoDecays {
    ///     fn parameter_count(&self) -> usize {
    ///         4
    ///     }
    ///     fn residual_count(&self) -> usize {
    ///         30
    ///     }
    ///     fn evaluate<S: Scalar<Real = f64>>(
    ///         &self,
    ///         b: &[S],
    ///         first: usize,
    ///         r: &mut [S],
    ///     ) -> Result<(), EvaluationError> {
    ///         for (i, r) in (first..).zip(r) {
    ///             let t = i as f64 / 10.0;
    ///             let y = 3.0 * (-0.5 * t).exp() + 1.0 * (-4.0 * t).exp();
    ///             *r = b[0] * (-b[1] * t).exp() + b[2] * (-b[3] * t).exp() - y;
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// // The amplitudes b₀ and b₂ need no start.
    /// let report = LevenbergMarquardt::new()
    ///     .minimize_separable(&mut AutoDiff(TwoDecays), &[0.0, 1.0, 0.0, 2.0])?;
    /// assert!(report.x.iter().zip([3.0, 0.5, 1.0, 4.0]).all(|(found, b)| (found - b).abs() < 1e-9));
    /// # Ok::<(), marquardt::SolveError>(())
    /// ```
    pub fn minimize_separable<P: LeastSquares<T> + ?Sized>(
        &self,
        mut problem: &mut P,
        start: &[T],
    ) -> Result<Report<T>, SolveError> {
        project(Projection { solver: self.with_any_policy(), problem: &mut problem, start })
    }

    /// [`minimize_separable`](Self::minimize_separable) for a problem as of [`minimize_rows`](Self::minimize_rows).
    pub(crate) fn minimize_separable_rows(
        &self,
        problem: &mut dyn LeastSquares<T>,
        start: &[T],
    ) -> Result<Report<T>, SolveError> {
        project_rows(ProjectionOfRows(Projection { solver: self.with_any_policy(), problem, start }))
    }

    fn with_any_policy(&self) -> LevenbergMarquardt<T, AnyPolicy<'_, T>> {
        let damping = AnyPolicy::new(self.damping.clone());
        LevenbergMarquardt { damping, settings: self.settings.clone(), carried: None }
    }
}

/// Arguments of a solve by variable projection.
struct Projection<'a, T: Real> {
    solver: LevenbergMarquardt<T, AnyPolicy<'a, T>>,
    problem: &'a mut (dyn LeastSquares<T> + 'a),
    start: &'a [T],
}

compile_once!(project(Projection) -> Result<Report, SolveError>);

/// The same for a problem of rows.
struct ProjectionOfRows<'a, T: Real>(Projection<'a, T>);

compile_once!(project_rows(ProjectionOfRows) -> Result<Report, SolveError>);

impl<T: Real> Projection<'_, T> {
    fn run(self) -> Result<Report<T>, SolveError> {
        self.solver.eliminate(self.problem, self.start, Forms::ALL)
    }
}

impl<T: Real> ProjectionOfRows<'_, T> {
    fn run(self) -> Result<Report<T>, SolveError> {
        self.0.solver.eliminate(self.0.problem, self.0.start, Forms::ROWS)
    }
}

impl<T: Real> LevenbergMarquardt<T, AnyPolicy<'_, T>> {
    /// A solve in these forms.
    fn minimize_in(
        &self,
        forms: Forms<T>,
        problem: &mut dyn LeastSquares<T>,
        start: &[T],
    ) -> Result<Report<T>, SolveError> {
        let (settings, damping) = (&self.settings, self.damping.clone());
        SolveCall { settings, damping, problem, start, observer: &mut () }.in_forms(forms)
    }

    /// Variable projection, and a solve for all parameters where it fails.
    fn eliminate(
        &self,
        problem: &mut dyn LeastSquares<T>,
        start: &[T],
        forms: Forms<T>,
    ) -> Result<Report<T>, SolveError> {
        let checked = self.settings.open(problem, start)?;
        if !checked.is_whole() {
            return Err(SolveError::SpreadOut { what: "variable projection".to_owned(), ranks: checked.ranks() });
        }
        let linear = match linear_parameters(&mut &mut *problem, start) {
            Ok(linear) => linear,
            Err(SeparableError::Evaluation(error)) => return Err(SolveError::Evaluation(error)),
            // What is wrong with the start is for the solver to say.
            Err(_) => Vec::new(),
        };
        if linear.is_empty() {
            return self.minimize_in(forms, problem, start);
        }
        let mut separable = Separable::without(&mut *problem, linear);
        let alpha = separable.reduced(start);
        if alpha.is_empty() {
            let x = separable.full(&alpha).map_err(SolveError::Evaluation)?;
            return self.minimize_in(forms, problem, &x);
        }
        let report = self.minimize_in(forms, &mut separable, &alpha)?;
        // Another evaluation that fails now must not lose what was found.
        let (x, completed) = match separable.full(&report.x) {
            Ok(x) => (x, Ok(())),
            Err(error) => (separable.beside(start, &report.x), Err(error)),
        };
        let mut report = report.map(|_| x);
        for active in &mut report.active {
            active.parameter = separable.place_of(active.parameter).unwrap_or(active.parameter);
        }
        // Derivatives that contradict the residuals may be those by parameters that are not linear.
        let is_consistent = report.status != Status::WrongDerivatives;
        match completed.and_then(|()| Ok(is_consistent && are_linear(problem, &report)?)) {
            Ok(true) if !report.is_converged() => Ok(report),
            // The derivatives that are left may be rounding errors: the point is judged by those in all parameters.
            Ok(true) => {
                let (mut rest, x) = (self.clone(), report.x.clone());
                rest.settings.spend(report.iterations, 1, report.evaluations.total(), report.elapsed);
                match rest.minimize_in(forms, problem, &x) {
                    Ok(whole) => {
                        // Both are costs of the start if nothing was gained, but for rounding.
                        let initial_cost = report.initial_cost.max(whole.initial_cost);
                        Ok(Report { initial_cost, ..whole.after(report) })
                    }
                    // No step along derivatives this small can be told.
                    Err(SolveError::Underflow { .. }) => Ok(report),
                    Err(error) => Ok(report.ended_by(error)),
                }
            }
            Ok(false) => {
                let mut rest = self.clone();
                rest.settings.spend(report.iterations, 1, report.evaluations.total(), report.elapsed);
                Ok(rest.minimize_in(forms, problem, start)?.after(report))
            }
            Err(error) => Ok(report.failed(error)),
        }
    }
}

/// Returns true if the cost at the point found is that of the problem with eliminated parameters: these are linear there. A
/// parameter that looks linear at the start may not be elsewhere, as the frequency of a sine near zero.
fn are_linear<T: Real>(problem: &mut dyn LeastSquares<T>, found: &Report<T>) -> Evaluated<bool> {
    let mut r = vec![T::ZERO; problem.residual_count()];
    problem.residuals(&found.x, 0, &mut r)?;
    let cost = T::from_f64(0.5) * dot(&r, &r);
    Ok(cost - found.cost <= T::from_f64(MISMATCH) * found.cost + T::EPSILON * found.initial_cost)
}
