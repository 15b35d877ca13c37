//! Residuals given by a closure over floats, differentiated by differences.

use super::sparsity::{Sparsity, SparsityError};
use super::{BlockJacobian, Bounds, Capabilities, EvaluationError, LeastSquares, ParameterDomain, RecentEvaluations};
use crate::autodiff::difference::typical;
use crate::autodiff::{Difference, Stencil, Variable};
use crate::kernels::vector::safe_norm;
use crate::real::Real;

/// The least-squares problem of a plain closure, differentiated by finite differences.
///
/// The closure `|x, r|` fills all residuals `r` at `x`. Derivatives take one evaluation for each parameter ([`Difference::Forward`], about
/// 8 correct digits) or two ([`Difference::Central`], about 10 digits, the default). The whole Jacobian is kept in memory; up to 10⁶
/// entries it is kept for two points, so that a solve does not evaluate its last point again. Prefer [`AutoDiff`](super::AutoDiff) if the
/// function can be generic over its scalar.
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::problem::FiniteDifference;
///
/// let t = [0.0, 1.0, 2.0, 3.0_f64];
/// let y = [2.0, 1.2, 0.75, 0.45];
/// let mut decay = FiniteDifference::new(2, 4, |b: &[f64], r: &mut [f64]| {
///     for i in 0..4 {
///         r[i] = b[0] * (-b[1] * t[i]).exp() - y[i];
///     }
///     Ok(())
/// });
/// let report = LevenbergMarquardt::new().minimize(&mut decay, &[1.0, 1.0])?;
/// assert!((report.x[1] - 0.5).abs() < 0.02);
/// # Ok::<(), marquardt::SolveError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FiniteDifference<T, F> {
    parameters: usize,
    residuals: usize,
    function: F,
    difference: Difference,
    /// Relative accuracy of the residuals.
    accuracy: T,
    /// Typical sizes of the parameters, if they were given.
    typical_sizes: Option<Vec<T>>,
    /// Point at which the solve has differenced first, during a solve.
    start: Option<Vec<T>>,
    bounds: Option<Bounds<T>>,
    sparsity: Option<Sparsity>,
    x: Vec<T>,
    ahead: Vec<T>,
    behind: Vec<T>,
    /// Entries of a sparse Jacobian.
    entries: Vec<T>,
    /// The last evaluations, during a solve.
    recent: Option<RecentEvaluations<T>>,
}

impl<T: Real, F: FnMut(&[T], &mut [T]) -> Result<(), EvaluationError>> FiniteDifference<T, F> {
    /// Creates a problem of this number of parameters and residuals.
    pub fn new(parameters: usize, residuals: usize, function: F) -> Self {
        FiniteDifference {
            parameters,
            residuals,
            function,
            difference: Difference::default(),
            accuracy: T::EPSILON,
            typical_sizes: None,
            start: None,
            bounds: None,
            sparsity: None,
            x: Vec::new(),
            ahead: Vec::new(),
            behind: Vec::new(),
            entries: Vec::new(),
            recent: None,
        }
    }

    /// Chooses forward or central differences.
    pub fn with_difference(mut self, difference: Difference) -> Self {
        self.difference = difference;
        self
    }

    /// Sets the relative accuracy of the residuals, such as that of single precision or the tolerance of an integrator; default `ε`, the
    /// last digit of the float, which is also the smallest value with an effect. Steps of dense differences are proportional to its square
    /// root (forward) or cube root (central).
    ///
    /// ```
    /// use marquardt::LevenbergMarquardt;
    /// use marquardt::problem::FiniteDifference;
    ///
    /// // Computed in single precision.
    /// let mut root = FiniteDifference::new(1, 1, |x: &[f64], r: &mut [f64]| {
    ///     r[0] = f64::from((x[0] * x[0] - 2.0) as f32);
    ///     Ok(())
    /// })
    /// .with_accuracy(f64::from(f32::EPSILON));
    /// let report = LevenbergMarquardt::new().minimize(&mut root, &[1.0])?;
    /// assert!((report.x[0] - 2.0_f64.sqrt()).abs() < 1e-6);
    /// # Ok::<(), marquardt::SolveError>(())
    /// ```
    pub fn with_accuracy(mut self, relative: T) -> Self {
        self.accuracy = relative.max(T::EPSILON);
        self
    }

    /// Sets the typical sizes of the parameters, positive numbers: steps are proportional to the larger of a parameter and its typical
    /// size. By default, steps are proportional to the parameter, but not smaller than those for `ε^⅘` of its start (of 1 if the start is 0
    /// or above 1).
    ///
    /// ```
    /// use marquardt::LeastSquares;
    /// use marquardt::problem::FiniteDifference;
    ///
    /// // A shift that is zero but for rounding, in data of size 1.
    /// let shift = FiniteDifference::new(1, 1, |x: &[f64], r: &mut [f64]| {
    ///     r[0] = (x[0] + 1.0).ln();
    ///     Ok(())
    /// });
    /// let (mut r, mut jacobian) = ([0.0], [0.0]);
    /// shift.with_typical_sizes([1.0]).linearize(&[3e-17], 0, &mut r, &mut jacobian)?;
    /// assert!((jacobian[0] - 1.0).abs() < 1e-9);
    /// # Ok::<(), marquardt::EvaluationError>(())
    /// ```
    pub fn with_typical_sizes(mut self, sizes: impl Into<Vec<T>>) -> Self {
        self.typical_sizes = Some(sizes.into());
        self
    }

    /// Sets bounds on the parameters. They hold for differences as well: the closure is never evaluated outside of them.
    ///
    /// ```
    /// use marquardt::{Bounds, LevenbergMarquardt};
    /// use marquardt::problem::FiniteDifference;
    ///
    /// let root = FiniteDifference::new(1, 1, |x: &[f64], r: &mut [f64]| {
    ///     assert!(x[0] >= 0.0);
    ///     r[0] = x[0].sqrt() + x[0] + 1.0;
    ///     Ok(())
    /// });
    /// let mut root = root.with_bounds(Bounds::new([0.0], [4.0])?);
    /// let report = LevenbergMarquardt::new().minimize(&mut root, &[3.0])?;
    /// assert_eq!(report.x, [0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_bounds(mut self, bounds: Bounds<T>) -> Self {
        self.bounds = Some(bounds);
        self
    }

    /// Pattern of the Jacobian, for problems whose residuals depend on few of many parameters (SciPy's `jac_sparsity`): an
    /// evaluation or two for each [colour](Sparsity::color_count) in place of each parameter, and a sparse linear system.
    ///
    /// ```
    /// use marquardt::LevenbergMarquardt;
    /// use marquardt::problem::{FiniteDifference, Sparsity};
    ///
    /// // Broyden's tridiagonal function.
    /// let n = 500;
    /// let broyden = FiniteDifference::new(n, n, |x: &[f64], r: &mut [f64]| {
    ///     for i in 0..n {
    ///         let before = if i > 0 { x[i - 1] } else { 0.0 };
    ///         let after = x.get(i + 1).copied().unwrap_or(0.0);
    ///         r[i] = (3.0 - 2.0 * x[i]) * x[i] - before - 2.0 * after + 1.0;
    ///     }
    ///     Ok(())
    /// });
    /// let mut broyden = broyden.with_sparsity(Sparsity::banded(n, 1, 1))?;
    /// let report = LevenbergMarquardt::new().minimize(&mut broyden, &vec![-1.0; n])?;
    /// assert!(report.is_converged() && report.cost < 1e-20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SparsityError::Size`].
    pub fn with_sparsity(mut self, sparsity: Sparsity) -> Result<Self, SparsityError> {
        sparsity.check(self.residuals, self.parameters)?;
        self.sparsity = Some(sparsity);
        Ok(self)
    }

    /// Fills `r`, and derivatives, if they are known at `x`.
    fn recall(&mut self, x: &[T], r: &mut [T], derivatives: &mut [T]) -> bool {
        self.recent.as_mut().is_some_and(|recent| recent.recall(x, r, derivatives))
    }

    /// Keeps `r`, and derivatives, during a solve.
    fn keep(&mut self, x: &[T], r: &[T], derivatives: &[T]) {
        if let Some(recent) = &mut self.recent {
            recent.keep(x, r, derivatives);
        }
    }

    /// Fills `r`, by a call of the closure unless it is known at `x`.
    fn evaluate(&mut self, x: &[T], r: &mut [T]) -> Result<(), EvaluationError> {
        if !self.recall(x, r, &mut []) {
            (self.function)(x, r)?;
            self.keep(x, r, &[]);
        }
        Ok(())
    }

    /// The parameters at `x`, as residuals of this relative accuracy are differenced by them.
    fn variables(&mut self, x: &[T], accuracy: T) -> Result<Vec<Variable<T>>, EvaluationError> {
        if let Some(sizes) = &self.typical_sizes {
            if sizes.len() != x.len() {
                return Err(format!("{} typical sizes for {} parameters", sizes.len(), x.len()).into());
            }
            if let Some(j) = sizes.iter().position(|&size| !(size > T::ZERO && size < T::INFINITY)) {
                let size = sizes[j];
                return Err(format!("the typical size of parameter {j} must be positive and finite, not {size}").into());
            }
        } else if self.recent.is_some() && self.start.is_none() {
            self.start = Some(x.to_vec());
        }
        let bounds = |j: usize| self.bounds.as_ref().map_or((-T::INFINITY, T::INFINITY), |bounds| bounds.of(j));
        let variable = |(j, &value): (usize, &T)| {
            let (least_size, least_step) = match (&self.typical_sizes, &self.start) {
                (Some(sizes), _) => (sizes[j], T::ZERO),
                (None, Some(start)) => (T::ZERO, Variable::least_step(start[j], accuracy)),
                (None, None) => (T::ZERO, T::ZERO),
            };
            Variable { value, least_size, least_step, bounds: bounds(j), accuracy }
        };
        Ok(x.iter().enumerate().map(variable).collect())
    }

    /// Fills `r`, and the entries of the Jacobian in the order of the pattern.
    fn fill_entries(&mut self, sparsity: &Sparsity, x: &[T], r: &mut [T]) -> Result<(), EvaluationError> {
        let mut entries = std::mem::take(&mut self.entries);
        entries.resize(sparsity.entries(), T::ZERO);
        let is_known = self.recall(x, r, &mut entries);
        self.entries = entries;
        if is_known {
            return Ok(());
        }
        let difference = self.difference;
        self.evaluate(x, r)?;
        self.x.clear();
        self.x.extend_from_slice(x);
        let size = safe_norm(r.iter().copied());
        let typical = typical(size, r.len());
        let variables = self.variables(x, T::EPSILON)?;
        let mut moves: Vec<(usize, Stencil<T>)> = Vec::new();
        for columns in sparsity.colors() {
            let near = |&j: &usize| (j, difference.stencil_of(&variables[j]));
            moves.clear();
            moves.extend(columns.iter().map(near));
            differ(&mut self.function, &mut self.x, [&mut self.ahead, &mut self.behind], x, r.len(), &moves)?;
            let entries = &mut self.entries;
            for_each_slope(sparsity, &moves, x, r, &self.ahead, &self.behind, |_, place, slope| entries[place] = slope);
            let unresolved = columns.iter().filter_map(|&j| {
                let slopes = safe_norm(sparsity.column(j).iter().map(|&(_, place)| entries[place]));
                difference.further_stencil(&variables[j], size, slopes).map(|stencil| (j, stencil))
            });
            moves = unresolved.collect();
            let buffers = [&mut self.ahead, &mut self.behind];
            if moves.is_empty() || differ(&mut self.function, &mut self.x, buffers, x, r.len(), &moves).is_err() {
                continue;
            }
            for_each_slope(sparsity, &moves, x, r, &self.ahead, &self.behind, |(j, row), place, slope| {
                if difference.agrees(&variables[j], typical.max(r[row].abs()), entries[place], slope) {
                    entries[place] = slope;
                }
            });
        }
        if let Some(recent) = &mut self.recent {
            recent.keep(x, r, &self.entries);
        }
        Ok(())
    }
}

/// Evaluates the residuals where all these columns are moved, each to the points of its stencil.
fn differ<T: Real, F: FnMut(&[T], &mut [T]) -> Result<(), EvaluationError>>(
    function: &mut F,
    moved: &mut [T],
    values: [&mut Vec<T>; 2],
    x: &[T],
    rows: usize,
    moves: &[(usize, Stencil<T>)],
) -> Result<(), EvaluationError> {
    for (which, values) in values.into_iter().enumerate() {
        values.resize(rows, T::ZERO);
        let mut is_moved = false;
        for &(j, stencil) in moves {
            if let Some(point) = stencil.points()[which] {
                moved[j] = point;
                is_moved = true;
            }
        }
        let outcome = if is_moved { function(moved, values) } else { Ok(()) };
        moves.iter().for_each(|&(j, _)| moved[j] = x[j]);
        outcome?;
    }
    Ok(())
}

/// Calls `visit` for each entry of these columns with its column and row, its place, and its slope.
fn for_each_slope<T: Real>(
    sparsity: &Sparsity,
    moves: &[(usize, Stencil<T>)],
    x: &[T],
    r: &[T],
    ahead: &[T],
    behind: &[T],
    mut visit: impl FnMut((usize, usize), usize, T),
) {
    for &(j, stencil) in moves {
        for &(row, place) in sparsity.column(j) {
            let row = row as usize;
            visit((j, row), place, stencil.slope(x[j], r[row], ahead[row], behind[row]));
        }
    }
}

impl<T: Real, F: FnMut(&[T], &mut [T]) -> Result<(), EvaluationError>> BlockJacobian<T> for FiniteDifference<T, F> {
    fn column_blocks(&self) -> Vec<usize> {
        vec![1; self.parameters]
    }

    fn visit_structure(&self, visit: &mut dyn FnMut(&[usize])) {
        self.sparsity.iter().for_each(|sparsity| sparsity.visit_rows(visit));
    }

    fn linearize_blocks(&mut self, x: &[T], visit: &mut dyn FnMut(&[T], &[T])) -> Result<T, EvaluationError> {
        let Some(sparsity) = self.sparsity.take() else { return Err("there is no pattern".into()) };
        let mut r = vec![T::ZERO; self.residuals];
        let outcome = self.fill_entries(&sparsity, x, &mut r);
        if outcome.is_ok() {
            for (row, r) in r.chunks_exact(1).enumerate() {
                visit(r, &self.entries[sparsity.places(row)]);
            }
        }
        self.sparsity = Some(sparsity);
        outcome?;
        Ok(T::from_f64(0.5) * r.iter().fold(T::ZERO, |sum, &r| sum + r * r))
    }
}

impl<T: Real, F: FnMut(&[T], &mut [T]) -> Result<(), EvaluationError>> LeastSquares<T> for FiniteDifference<T, F> {
    fn domain(&self) -> ParameterDomain<'_, T> {
        self.bounds.as_ref().into()
    }

    fn parameter_count(&self) -> usize {
        self.parameters
    }

    fn residual_count(&self) -> usize {
        self.residuals
    }

    fn row_group(&self) -> usize {
        self.residuals
    }

    fn residuals(&mut self, x: &[T], _first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        self.evaluate(x, r)
    }

    fn linearize(&mut self, x: &[T], _first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        if let Some(sparsity) = self.sparsity.take() {
            let outcome = self.fill_entries(&sparsity, x, r);
            jacobian.fill(T::ZERO);
            for (row, jacobian) in jacobian.chunks_exact_mut(x.len()).enumerate() {
                let entries = sparsity.row(row).iter().zip(&self.entries[sparsity.places(row)]);
                entries.for_each(|(&column, &entry)| jacobian[column as usize] = entry);
            }
            self.sparsity = Some(sparsity);
            return outcome;
        }
        if self.recall(x, r, jacobian) {
            return Ok(());
        }
        self.evaluate(x, r)?;
        self.x.clear();
        self.x.extend_from_slice(x);
        for (j, variable) in self.variables(x, self.accuracy)?.into_iter().enumerate() {
            let FiniteDifference { function, x: moved, ahead, behind, .. } = self;
            self.difference.fill_column(&variable, r, (&mut *jacobian, j, x.len()), |stencil, jacobian| {
                differ(function, moved, [&mut *ahead, &mut *behind], x, r.len(), &[(j, stencil)])?;
                let values = r.iter().zip(ahead.iter().zip(&*behind));
                for (row, (&here, (&ahead, &behind))) in jacobian.chunks_exact_mut(x.len()).zip(values) {
                    row[j] = stencil.slope(x[j], here, ahead, behind);
                }
                Ok::<(), EvaluationError>(())
            })?;
        }
        self.keep(x, r, jacobian);
        Ok(())
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

impl<T: Real, F: FnMut(&[T], &mut [T]) -> Result<(), EvaluationError>> Capabilities<T> for FiniteDifference<T, F> {
    fn derivatives_are_cheap(&mut self) -> Option<bool> {
        Some(false)
    }

    fn derivatives_are_rough(&mut self) -> bool {
        self.difference.is_rough(self.accuracy)
    }

    fn keep_evaluations(&mut self, keeps: bool) {
        self.recent = keeps.then(RecentEvaluations::default);
        self.start = None;
    }

    fn blocks(&mut self) -> Option<&mut dyn BlockJacobian<T>> {
        if self.sparsity.is_some() { Some(self) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;
    use crate::problem::{Loss, Robust};
    use crate::solver::LevenbergMarquardt;

    const T: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];

    fn decay(x: &[f64], r: &mut [f64]) {
        for (r, t) in r.iter_mut().zip(T) {
            *r = x[0] * (-x[1] * t).exp() - 2.0 * (-0.4 * t).exp() - 0.05 * (3.0 * t).cos();
        }
    }

    /// Entries whose terms are much larger than they, at parameters that are zero but for rounding.
    fn shifted(x: &[f64], r: &mut [f64]) {
        for (i, r) in r.iter_mut().enumerate() {
            let t = 0.01 * i as f64;
            *r = (x[0] * (-t).exp() + x[1] * t + 3.0 + t) - (3.0 + t);
        }
    }

    #[test]
    fn slopes_by_parameters_that_became_zero_are_resolved() {
        for difference in [Difference::Forward, Difference::Central] {
            for size in [1e-10, 1e-13, 1e-16, 1e-20, 1e-30, -1e-15] {
                for is_sparse in [false, true] {
                    let mut problem = FiniteDifference::new(2, 200, |x: &[f64], r: &mut [f64]| {
                        shifted(x, r);
                        Ok(())
                    })
                    .with_difference(difference);
                    if is_sparse {
                        problem = problem.with_sparsity(Sparsity::new(2, vec![vec![0, 1]; 200]).unwrap()).unwrap();
                    }
                    let (mut r, mut jacobian) = ([0.0; 200], [0.0; 400]);
                    problem.keep_evaluations(true);
                    problem.linearize(&[1.0, 0.0], 0, &mut r, &mut jacobian).unwrap();
                    problem.linearize(&[size, 0.3 * size], 0, &mut r, &mut jacobian).unwrap();
                    let error = jacobian.chunks_exact(2).enumerate().fold(0.0, |error: f64, (i, row)| {
                        let t = 0.01 * i as f64;
                        error.max((row[0] - (-t).exp()).abs()).max((row[1] - t).abs())
                    });
                    assert!(error < 1e-2, "{difference:?}, {size:e}, sparse: {is_sparse}: {error:e}");
                }
            }
        }
    }

    /// A fit of rates that end far below their start, or far above, has no use of the start's size.
    #[test]
    fn starts_may_be_far_off() {
        for difference in [Difference::Forward, Difference::Central] {
            for factor in [1e-6, 1e-3, 1.0, 1e3, 1e6] {
                let mut problem = FiniteDifference::new(1, 6, |x: &[f64], r: &mut [f64]| {
                    r.iter_mut().zip(T).for_each(|(r, t)| *r = (-x[0] * t * 1e9).exp() - (-0.4 * t).exp());
                    Ok(())
                })
                .with_difference(difference);
                problem.keep_evaluations(true);
                let (mut r, mut jacobian) = ([0.0; 6], [0.0; 6]);
                problem.linearize(&[4e-10 * factor], 0, &mut r, &mut jacobian).unwrap();
                problem.linearize(&[4e-10], 0, &mut r, &mut jacobian).unwrap();
                for (slope, t) in jacobian.iter().zip(T) {
                    let expected = -t * 1e9 * (-0.4 * t).exp();
                    assert!((slope - expected).abs() <= 1e-4 * 1e9, "{difference:?}, {factor:e}: {slope} {expected}");
                }
            }
        }
    }

    /// Steps are not small beside the start alone: where it is far too large, they still resolve the parameter.
    #[test]
    fn a_start_may_be_far_too_large() {
        for difference in [Difference::Forward, Difference::Central] {
            for start in [1e2, 1e6, 1e10, 1e12, 1e15_f64] {
                let cubes = |b: &[f64], r: &mut [f64]| {
                    r.iter_mut().enumerate().for_each(|(i, r)| *r = (b[0].powi(3) - 1e-3) * (1.0 + i as f64));
                    Ok(())
                };
                let mut problem = FiniteDifference::new(1, 5, cubes).with_difference(difference);
                let report = LevenbergMarquardt::new().minimize(&mut problem, &[start]).unwrap();
                assert!(
                    report.is_converged() && (report.x[0] - 0.1).abs() < 1e-9,
                    "{difference:?} from {start}: {report}"
                );
            }
        }
    }

    #[test]
    fn typical_sizes_are_checked() {
        let problem = || {
            FiniteDifference::new(2, 6, |x: &[f64], r: &mut [f64]| {
                decay(x, r);
                Ok(())
            })
        };
        let (mut r, mut jacobian) = ([0.0; 6], [0.0; 12]);
        for (sizes, words) in [
            (vec![1.0], "1 typical sizes for 2 parameters"),
            (vec![1.0, 0.0], "parameter 1 must be positive and finite, not 0"),
            (vec![f64::NAN, 1.0], "parameter 0"),
        ] {
            let error = problem().with_typical_sizes(sizes).linearize(&[1.0, 0.1], 0, &mut r, &mut jacobian);
            assert!(error.unwrap_err().to_string().contains(words));
        }
        problem().with_typical_sizes([1.0, 1.0]).linearize(&[2.0, 0.0], 0, &mut r, &mut jacobian).unwrap();
        assert!((jacobian[11] + 10.0).abs() < 1e-6, "{}", jacobian[11]);
    }

    /// Neither by the problem itself, nor by those around it.
    #[test]
    fn no_point_is_evaluated_twice() {
        let calls = RefCell::new(Vec::new());
        let problem = || {
            calls.borrow_mut().clear();
            FiniteDifference::new(2, T.len(), |x: &[f64], r: &mut [f64]| {
                let x_bits: Vec<u64> = x.iter().map(|x| x.to_bits()).collect();
                assert!(!calls.borrow().contains(&x_bits), "{x:?} again");
                calls.borrow_mut().push(x_bits);
                decay(x, r);
                Ok(())
            })
        };
        let (solver, start) = (LevenbergMarquardt::new(), [1.0, 0.1]);
        for difference in [Difference::Forward, Difference::Central] {
            let problem = || problem().with_difference(difference);
            assert!(solver.minimize(&mut problem(), &start).unwrap().is_converged());
            let bounds = Bounds::new([0.0, 0.0], [10.0, 0.3]).unwrap();
            assert_eq!(solver.minimize(&mut problem().with_bounds(bounds), &start).unwrap().x[1], 0.3);
            let sparsity = Sparsity::banded(T.len(), 0, 0);
            let diagonal = FiniteDifference::new(T.len(), T.len(), |x: &[f64], r: &mut [f64]| {
                let x_bits: Vec<u64> = x.iter().map(|x| x.to_bits()).collect();
                assert!(!calls.borrow().contains(&x_bits), "{x:?} again");
                calls.borrow_mut().push(x_bits);
                r.iter_mut().zip(x).for_each(|(r, x)| *r = x.exp() - 2.0);
                Ok(())
            });
            let mut diagonal = diagonal.with_difference(difference).with_sparsity(sparsity).unwrap();
            assert!(solver.minimize(&mut diagonal, &[0.1; T.len()]).unwrap().is_converged());
            let mut robust = Robust::new(problem(), Loss::Huber, 0.05).unwrap();
            assert!(solver.minimize(&mut robust, &start).unwrap().is_converged());
        }
    }

    /// Only during a solve are residuals a function of the parameters alone.
    #[test]
    fn the_closure_may_change_between_solves() {
        let target = Cell::new(1.0);
        let mut problem = FiniteDifference::new(1, 1, |x: &[f64], r: &mut [f64]| {
            r[0] = x[0] - target.get();
            Ok(())
        });
        let mut x = vec![0.0];
        for next in [1.0, 2.0, 3.0] {
            target.set(next);
            x = LevenbergMarquardt::new().minimize(&mut problem, &x).unwrap().x;
            assert!((x[0] - next).abs() < 1e-9, "{} is not {next}", x[0]);
            target.set(-1.0);
            let mut r = [0.0];
            problem.residuals(&x, 0, &mut r).unwrap();
            assert_eq!(r[0], x[0] + 1.0);
        }
    }
}
