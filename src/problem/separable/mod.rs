//! Variable projection: a least-squares problem without the parameters that enter linearly.

mod error;
mod linear_parameters;

use std::ops::Range;

pub use error::SeparableError;
pub(crate) use linear_parameters::{largest_clique, linear_parameters};

use super::selected::{count, gather, scatter};
use super::{Bounds, Capabilities, EvaluationError, LeastSquares, LeastSquaresExt, ParameterDomain};
use crate::distributed::Communicator;
use crate::kernels::column_space::ColumnSpace;
use crate::kernels::vector::all_finite;
use crate::real::Real;

/// A least-squares problem over its nonlinear parameters `α`. The parameters `c` in which the residuals are affine are eliminated: for each
/// `α` they take their optimal values `c(α)`, the solution of a linear least-squares problem.
///
/// The minima are those of the whole problem and are reached in fewer iterations; `c` needs no start. Amplitudes, offsets and polynomial
/// coefficients are such parameters. [`detect`](Self::detect) finds them;
/// [`LevenbergMarquardt::minimize_separable`](crate::LevenbergMarquardt::minimize_separable) does all in one call.
///
/// # Algorithm
///
/// With `P⊥` the projection onto the orthogonal complement of the columns `∂r/∂c`, the residuals are `r(α, c(α))`, and the Jacobian
/// is Kaufman's, `P⊥ ∂r/∂α`: of the derivative of `P⊥` it leaves out a part that is orthogonal to the residuals' other
/// derivatives, so that the gradient is exact. Linear parameters that the data do not determine are zero, or take
/// the part that the others leave.
///
/// All rows are evaluated at once and kept: `2mn` entries of memory, and one additional linearisation of the problem for each point.
///
/// # References
///
/// Golub & Pereyra 1973, *The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
/// separate*; Kaufman 1975; Golub & Pereyra 2003, *Separable nonlinear least squares: the variable projection method and
/// its applications*.
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::problem::{FiniteDifference, Separable};
///
/// // y = b₀ e^(−b₁ t) + b₂
/// let t = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0_f64];
/// let y = [3.0, 2.21, 1.735, 1.445, 1.27, 1.165];
/// let decay = FiniteDifference::new(3, 6, |b: &[f64], r: &mut [f64]| {
///     for i in 0..6 {
///         r[i] = b[0] * (-b[1] * t[i]).exp() + b[2] - y[i];
///     }
///     Ok(())
/// });
/// let mut rate_alone = Separable::new(decay, &[0, 2])?;
/// let report = LevenbergMarquardt::new().minimize(&mut rate_alone, &[1.0])?;
/// let b = rate_alone.full(&report.x)?;
/// assert!((b[0] - 2.0).abs() < 0.01 && (b[1] - 0.5).abs() < 0.01 && (b[2] - 1.0).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Separable<T, P> {
    problem: P,
    /// The eliminated parameters, ascending.
    linear: Vec<usize>,
    linear_columns: Vec<Range<usize>>,
    other_columns: Vec<Range<usize>>,
    /// The bounds of the others.
    bounds: Option<Bounds<T>>,
    /// Other parameters, for which [`x`](Self::x) holds the best linear ones; `solved` says if there are any.
    alpha: Vec<T>,
    solved: bool,
    finite: bool,
    /// All parameters.
    x: Vec<T>,
    /// Residuals without the linear parameters.
    residuals: Vec<T>,
    /// Rows of the Jacobian.
    rows: Vec<T>,
    /// Columns of the Jacobian, one after the other.
    columns: Vec<T>,
    coefficients: Vec<T>,
    space: ColumnSpace<T>,
}

impl<T: Real, P: LeastSquares<T>> Separable<T, P> {
    /// The problem without the parameters `linear`. Its residuals must be jointly affine in them, without products of two of them, and its
    /// cost must be the plain sum of squares.
    ///
    /// # Errors
    ///
    /// [`SeparableError`] when a parameter does not exist, is named twice, or has bounds, or when there are none, or no others.
    pub fn new(mut problem: P, linear: &[usize]) -> Result<Self, SeparableError> {
        check_ranks(&mut problem)?;
        if problem.domain().manifold().is_some() {
            return Err(SeparableError::OnManifold);
        }
        let parameters = problem.parameter_count();
        let mut ascending = linear.to_vec();
        ascending.sort_unstable();
        if let Some(&index) = ascending.iter().find(|&&index| index >= parameters) {
            return Err(SeparableError::Index { index, parameters });
        }
        if let Some(pair) = ascending.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SeparableError::Repeated { name: problem.parameter_name(pair[0]) });
        }
        if let Some(&index) = ascending.iter().find(|&&index| is_bounded(&problem, index)) {
            let (lower, upper) =
                problem.domain().bounds().map_or((-T::INFINITY, T::INFINITY), |bounds| bounds.of(index));
            let name = problem.parameter_name(index);
            return Err(SeparableError::Bounded { name, lower: lower.to_f64(), upper: upper.to_f64() });
        }
        if ascending.is_empty() {
            return Err(SeparableError::NoLinearParameters);
        }
        if ascending.len() == parameters {
            return Err(SeparableError::AllLinear);
        }
        Ok(Self::without(problem, ascending))
    }

    /// The problem without its linear parameters. They are detected from changes of the Jacobian around `at`: the largest set of parameters
    /// such that no column of the set depends on a parameter of the set, and the first of several such sets.
    ///
    /// A parameter with bounds is not in the set, and nothing is evaluated outside of bounds: `at` is brought within first.
    ///
    /// That takes `4n + 3` linearisations. Columns must repeat to about ten digits of [`f64`] to count as unchanged, which
    /// exact derivatives and central differences do; forward differences are too coarse.
    ///
    /// ```
    /// use marquardt::problem::{Analytic, Separable};
    ///
    /// // r = b₀ t^b₁ + b₂ − y
    /// let power = Analytic::new(3, 5, |b: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
    ///     for i in 0..5 {
    ///         r[i] = b[0] * (1.0 + i as f64).powf(b[1]) + b[2] - 3.0 * i as f64;
    ///     }
    ///     for (i, row) in jacobian.into_iter().flat_map(|rows| rows.chunks_exact_mut(3)).enumerate()
    ///     {
    ///         let t = 1.0 + i as f64;
    ///         row.copy_from_slice(&[t.powf(b[1]), b[0] * t.powf(b[1]) * t.ln(), 1.0]);
    ///     }
    ///     Ok(())
    /// });
    /// let separable = Separable::detect(power, &[1.0, 1.0, 1.0])?;
    /// assert_eq!(separable.linear_parameters(), [0, 2]);
    /// # Ok::<(), marquardt::problem::SeparableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeparableError`] when `at` has the wrong length or the problem cannot be evaluated there, and when no or all
    /// parameters are linear.
    pub fn detect(mut problem: P, at: &[T]) -> Result<Self, SeparableError> {
        check_ranks(&mut problem)?;
        let linear = linear_parameters(&mut problem, at)?;
        Self::new(problem, &linear)
    }

    /// The problem without these parameters, ascending, which may be all.
    pub(crate) fn without(problem: P, linear: Vec<usize>) -> Self {
        let n = problem.parameter_count();
        let is_linear = |j: &usize| linear.binary_search(j).is_ok();
        let linear_columns = ranges((0..n).filter(is_linear));
        let other_columns = ranges((0..n).filter(|j| !is_linear(j)));
        Separable {
            // The solver refuses bounds of another length.
            bounds: problem
                .domain()
                .bounds()
                .map(|bounds| if bounds.len() == n { bounds.of_columns(&other_columns) } else { bounds.clone() }),
            problem,
            linear_columns,
            other_columns,
            alpha: Vec::new(),
            solved: false,
            finite: false,
            x: vec![T::ZERO; n],
            residuals: Vec::new(),
            rows: Vec::new(),
            columns: Vec::new(),
            coefficients: vec![T::ZERO; linear.len()],
            space: ColumnSpace::default(),
            linear,
        }
    }

    /// The eliminated parameters, ascending.
    pub fn linear_parameters(&self) -> &[usize] {
        &self.linear
    }

    /// The whole problem.
    pub fn problem(&self) -> &P {
        &self.problem
    }

    /// The whole problem, to change.
    pub fn problem_mut(&mut self) -> &mut P {
        self.solved = false;
        &mut self.problem
    }

    /// Returns the whole problem.
    pub fn into_problem(self) -> P {
        self.problem
    }

    /// The parameters that are left, out of all of them: a start for the solver, for example.
    ///
    /// # Panics
    ///
    /// When `x` does not hold all parameters of the problem.
    pub fn reduced(&self, x: &[T]) -> Vec<T> {
        assert_eq!(x.len(), self.x.len(), "a number for each parameter");
        let mut alpha = vec![T::ZERO; count(&self.other_columns)];
        gather(&mut alpha, x, &self.other_columns);
        alpha
    }

    /// Returns the index among all parameters of a parameter that is not eliminated.
    pub(crate) fn place_of(&self, index: usize) -> Option<usize> {
        self.other_columns.iter().flat_map(Range::clone).nth(index)
    }

    /// All parameters: those in `alpha` put among the others of `x`.
    pub(crate) fn beside(&self, x: &[T], alpha: &[T]) -> Vec<T> {
        let mut all = x.to_vec();
        scatter(&mut all, alpha, &self.other_columns);
        all
    }

    /// All parameters: those in `alpha`, with the best of the eliminated ones filled in. They are NaN where the problem
    /// is not finite.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] from the problem, or when `alpha` does not hold a number for each parameter that is left.
    pub fn full(&mut self, alpha: &[T]) -> Result<Vec<T>, EvaluationError> {
        let (expected, found) = (count(&self.other_columns), alpha.len());
        if expected != found {
            return Err(format!("{expected} parameters are left, not {found}").into());
        }
        self.eliminate(alpha)?;
        Ok(self.x.clone())
    }

    /// Finds the linear parameters that are best for these others.
    fn eliminate(&mut self, alpha: &[T]) -> Result<(), EvaluationError> {
        if self.solved && self.alpha == alpha {
            return Ok(());
        }
        self.solved = false;
        let (m, p) = (self.problem.residual_count(), self.linear.len());
        scatter(&mut self.x, alpha, &self.other_columns);
        self.coefficients.fill(T::ZERO);
        scatter(&mut self.x, &self.coefficients, &self.linear_columns);
        self.residuals.resize(m, T::ZERO);
        let Separable { problem, x, residuals, rows, linear_columns, .. } = &mut *self;
        linearize_columns(problem, x, residuals, linear_columns, rows)?;
        self.columns.clear();
        for k in 0..p {
            self.columns.extend(self.rows[..m * p].iter().skip(k).step_by(p));
        }
        self.finite = all_finite(&self.residuals) && all_finite(&self.columns);
        if self.finite {
            // Residuals −(y − Φc), with the part of y that the columns do not fit.
            self.space.factorize(m, &self.columns);
            self.space.project_out(&mut self.residuals);
            self.space.solve(&mut self.coefficients);
            self.coefficients.iter_mut().for_each(|c| *c = T::ZERO - *c);
            // The best value may be beyond the largest float.
            self.finite = all_finite(&self.coefficients);
        }
        if !self.finite {
            self.coefficients.fill(T::from_f64(f64::NAN));
        }
        scatter(&mut self.x, &self.coefficients, &self.linear_columns);
        self.alpha.clear();
        self.alpha.extend_from_slice(alpha);
        self.solved = true;
        Ok(())
    }
}

/// The largest absolute value.
fn largest<T: Real>(column: &[T]) -> T {
    column.iter().fold(T::ZERO, |largest, value| largest.max(value.abs()))
}

/// Returns true if the parameter has a bound.
fn is_bounded<T: Real, P: LeastSquares<T>>(problem: &P, index: usize) -> bool {
    problem.domain().bounds().is_some_and(|bounds| bounds.is_bounded(index))
}

/// Fills `r`, and the front of `rows` with rows of these columns.
fn linearize_columns<T: Real, P: LeastSquares<T>>(
    problem: &mut P,
    x: &[T],
    r: &mut [T],
    columns: &[Range<usize>],
    rows: &mut Vec<T>,
) -> Result<(), EvaluationError> {
    let (n, width) = (x.len(), count(columns));
    rows.resize(r.len() * n, T::ZERO);
    if problem.capabilities().linearize_columns(x, 0, r, columns, &mut rows[..r.len() * width])? {
        return Ok(());
    }
    problem.linearize(x, 0, r, rows)?;
    // Rows become shorter, so that none is overwritten before it is read.
    for i in 0..r.len() {
        let mut to = i * width;
        for range in columns {
            rows.copy_within(i * n + range.start..i * n + range.end, to);
            to += range.len();
        }
    }
    Ok(())
}

/// Refuses rows that are distributed over ranks.
fn check_ranks<T: Real, P: LeastSquares<T>>(problem: &mut P) -> Result<(), SeparableError> {
    match problem.capabilities().communicator().map_or(1, Communicator::size) {
        1 => Ok(()),
        ranks => Err(SeparableError::SpreadOut { ranks }),
    }
}

/// Ascending indices as ranges.
fn ranges(indices: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for j in indices {
        match ranges.last_mut() {
            Some(last) if last.end == j => last.end += 1,
            _ => ranges.push(j..j + 1),
        }
    }
    ranges
}

/// Geodesic acceleration takes differences of these residuals. Kaufman's Jacobian is not quite their derivative, but
/// the difference lies in the space of the columns that are projected out, and so does not change `Jᵀr_vv`.
impl<T: Real, P: LeastSquares<T>> LeastSquares<T> for Separable<T, P> {
    fn parameter_count(&self) -> usize {
        count(&self.other_columns)
    }

    fn residual_count(&self) -> usize {
        self.problem.residual_count()
    }

    fn row_group(&self) -> usize {
        self.problem.residual_count()
    }

    fn residuals(&mut self, x: &[T], _first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        self.eliminate(x)?;
        if self.finite {
            return self.problem.residuals(&self.x, 0, r);
        }
        self.explain(r);
        Ok(())
    }

    fn linearize(&mut self, x: &[T], _first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        self.eliminate(x)?;
        if !self.finite {
            self.explain(r);
            jacobian.fill(T::from_f64(f64::NAN));
            return Ok(());
        }
        let Separable { problem, x: all, rows, columns, space, other_columns, .. } = &mut *self;
        linearize_columns(problem, all, r, other_columns, rows)?;
        let width = x.len();
        for k in 0..width {
            columns.clear();
            columns.extend(rows[..r.len() * width].iter().skip(k).step_by(width));
            let size = largest(columns);
            space.project_out(columns);
            // A column within the span of the linear columns leaves only rounding error, which is no direction.
            if largest(columns) <= T::from_f64(8.0 * r.len() as f64) * T::EPSILON * size {
                columns.fill(T::ZERO);
            }
            for (row, &projected) in jacobian.chunks_exact_mut(width).zip(&*columns) {
                row[k] = projected;
            }
        }
        Ok(())
    }

    fn domain(&self) -> ParameterDomain<'_, T> {
        self.bounds.as_ref().into()
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }

    fn parameter_name(&self, index: usize) -> String {
        self.place_of(index).map_or_else(|| format!("x[{index}]"), |all| self.problem.parameter_name(all))
    }
}

impl<T: Real, P: LeastSquares<T>> Capabilities<T> for Separable<T, P> {
    super::forward::forward!(self => self.problem.capabilities(); derivatives_are_rough keep_evaluations);

    fn derivatives_are_cheap(&mut self) -> Option<bool> {
        Some(self.problem.derivatives_are_cheap())
    }
}

impl<T: Real, P: LeastSquares<T>> Separable<T, P> {
    /// Fills `r` with the problem's own residuals where there are no linear parameters and they are not finite.
    fn explain(&self, r: &mut [T]) {
        if all_finite(&self.residuals) {
            r.fill(T::from_f64(f64::NAN));
        } else {
            r.copy_from_slice(&self.residuals);
        }
    }
}
