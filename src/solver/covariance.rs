//! Covariance of the parameters at a solution.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use thiserror::Error;

use super::pseudo_inverse::{MANY_PARAMETERS, PseudoInverse};
use super::triangle::Triangle;
use crate::kernels::vector::{all_finite, safe_norm, underflows};
use crate::precision::compile_once;
use crate::problem::{Bounds, EvaluationError, LeastSquares, LeastSquaresExt};
use crate::real::Real;

/// Covariance of the parameters: `s² (JᵀJ)⁻¹` at the solution, with `s² = ‖r‖² / (m − rank J)`.
///
/// `J` is reduced to its triangle `R` by Householder reflections, a tile of rows at a time, in `2mn² + O(n³)` flops. The rank is that of
/// `R` with its columns scaled to length 1, by their singular values. `JᵀJ` is not formed, because that would lose half of the digits. For
/// 16 parameters or more, the inverse of `R` is tried first, in `⅔n³` flops instead of about `100 n³`; it shows whether the rank is full.
/// For a large `J` in double precision (10⁶ entries, or `mn² > 10⁷`), `JᵀJ` is formed first, on all cores and in `mn²` flops. Its Cholesky
/// factor serves as `R` if the variance inflation factors show that standard errors keep 9 digits. Otherwise the reflections follow, and
/// the problem is evaluated a second time unless all of its rows are one group.
///
/// # Likelihoods
///
/// Where `½‖r‖²` stands for another loss, such as a cross-entropy, `JᵀJ` is its second derivative but for the curvature of
/// the model. If that loss is minus the logarithm of a likelihood, then [`unscaled`](Self::unscaled) is the asymptotic
/// covariance of maximum-likelihood estimates; if it is the mean of `N` such, that is `N` times too large.
///
/// # Undetermined parameters
///
/// If columns of `J` are dependent, some combinations of parameters can change without a change of the residuals. The parameters of these
/// combinations are [`undetermined`](Self::undetermined); their variance is infinite. The variances of the other parameters stay finite.
///
/// # Bounds
///
/// A parameter at a bound beyond which the cost would fall is [`held`](Self::held): its variance is 0. The variances of the other
/// parameters and the degrees of freedom treat it as a constant.
///
/// ```
/// use marquardt::{Covariance, LevenbergMarquardt};
/// use marquardt::problem::FiniteDifference;
///
/// // a and b enter only as their sum.
/// let y = [1.0, 2.1, 2.9, 4.2];
/// let mut problem = FiniteDifference::new(3, 4, |p: &[f64], r: &mut [f64]| {
///     for i in 0..4 {
///         r[i] = p[0] + p[1] + p[2] * i as f64 - y[i];
///     }
///     Ok(())
/// });
/// let report = LevenbergMarquardt::new().minimize(&mut problem, &[0.0, 0.0, 0.0])?;
/// let covariance = Covariance::at(&mut problem, &report.x)?;
/// assert_eq!(covariance.undetermined(), ["x[0]", "x[1]"]);
/// assert!(covariance.standard_errors()[2] < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Covariance<T> {
    /// A root `F` of `(JᵀJ)⁻¹ = F Fᵀ`, in which no digits are lost to cancellation; zeros for held and undetermined parameters.
    pub(super) root: Array2<T>,
    pub(super) unscaled: Array2<T>,
    pub(super) sum_of_squares: T,
    pub(super) degrees_of_freedom: usize,
    pub(super) undetermined: Vec<String>,
    pub(super) is_undetermined: Vec<bool>,
    pub(super) held: Vec<String>,
    /// Factor of `unscaled` in `matrix`.
    pub(super) variance: Option<T>,
    /// True if the residuals have unit variance, which is then not estimated from them.
    pub(super) absolute: bool,
}

/// Reasons why a covariance could not be computed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CovarianceError {
    /// The residual function returned an error.
    #[error("the residuals could not be evaluated: {0}")]
    Evaluation(#[source] EvaluationError),
    /// The point has the wrong number of parameters.
    #[error("the problem has {expected} parameters, but the point has {found}")]
    WrongLength {
        /// Parameters of the problem.
        expected: usize,
        /// Numbers in the point.
        found: usize,
    },
    /// The problem's bounds are of another number of parameters.
    #[error("the problem has {expected} parameters, but bounds of {found}")]
    WrongBoundsLength {
        /// Parameters of the problem.
        expected: usize,
        /// Parameters that the bounds are for.
        found: usize,
    },
    /// The problem has no residuals.
    #[error("the problem has no residuals")]
    NoResiduals,
    /// A residual or derivative is NaN or infinite at the point.
    #[error("a residual or derivative is not finite at this point")]
    NonFinite,
}

/// Distance to which a random walk is taken to lead, in its standard deviations.
const FARTHEST: f64 = 16.0;

/// Arguments of [`Covariance::at`].
struct Evaluation<'a, T: Real> {
    problem: &'a mut (dyn LeastSquares<T> + 'a),
    x: &'a [T],
}

compile_once!(evaluate(Evaluation) -> Result<Covariance, CovarianceError>);

impl<T: Real> Evaluation<'_, T> {
    fn run(self) -> Result<Covariance<T>, CovarianceError> {
        Covariance::of(self.problem, self.x)
    }
}

impl<T: Real> Covariance<T> {
    /// The covariance of the parameters of `problem` at `x`.
    ///
    /// # Errors
    ///
    /// [`CovarianceError`] when `x` has the wrong length or the problem cannot be evaluated there.
    pub fn at<P: LeastSquares<T> + ?Sized>(mut problem: &mut P, x: &[T]) -> Result<Self, CovarianceError> {
        evaluate(Evaluation { problem: &mut problem, x })
    }

    fn of(problem: &mut dyn LeastSquares<T>, x: &[T]) -> Result<Self, CovarianceError> {
        let (expected, n) = (problem.parameter_count(), problem.column_count());
        if x.len() != expected || n == 0 {
            return Err(CovarianceError::WrongLength { expected, found: x.len() });
        }
        if let Some(found) = problem.domain().bounds().map(Bounds::len).filter(|&found| found != n) {
            return Err(CovarianceError::WrongBoundsLength { expected: n, found });
        }
        let Triangle { mut triangle, gradient, sum_of_squares, rows: m, .. } =
            Triangle::at(problem, x).map_err(CovarianceError::Evaluation)?;
        if m == 0 {
            return Err(CovarianceError::NoResiduals);
        }
        let holds = |bounds: &Bounds<T>, j: usize| bounds.holds(j, x[j], gradient[j]).is_some();
        let is_held: Vec<bool> =
            (0..n).map(|j| problem.domain().bounds().is_some_and(|bounds| holds(bounds, j))).collect();
        for j in (0..n).filter(|&j| is_held[j]) {
            triangle.iter_mut().skip(j).step_by(n).for_each(|r| *r = T::ZERO);
        }
        let lengths: Vec<T> = (0..n)
            .map(|j| length(triangle.iter().skip(j).step_by(n).copied()))
            .map(|length| if length > T::ZERO { length } else { T::ONE })
            .collect();
        if sum_of_squares.to_f64().is_nan() || !all_finite(&lengths) {
            return Err(CovarianceError::NonFinite);
        }
        let scaled: Vec<T> = triangle.iter().enumerate().map(|(k, &r)| r / lengths[k % n]).collect();
        let rounding = T::EPSILON * T::from_f64(rounding_errors(m).max(n as f64));
        let PseudoInverse { entries, rank, freedom } =
            PseudoInverse::of(scaled, n, rounding).ok_or(CovarianceError::NonFinite)?;
        let entry = |j: usize, k: usize| entries[j * rank + k] / lengths[j];
        let is_undetermined: Vec<bool> = (0..n)
            .map(|j| !is_held[j] && (freedom[j] > T::EPSILON.sqrt() || !(0..rank).all(|k| entry(j, k).is_finite())))
            .collect();
        let is_constant = |j: usize| is_held[j] || is_undetermined[j];
        let root = Array2::from_shape_fn((n, rank), |(j, k)| if is_constant(j) { T::ZERO } else { entry(j, k) });
        let unscaled = square(&root, &is_undetermined);
        let degrees_of_freedom = m.saturating_sub(rank);
        let names = |which: &[bool]| (0..n).filter(|&j| which[j]).map(|j| problem.column_name(j)).collect();
        let (undetermined, held) = (names(&is_undetermined), names(&is_held));
        let covariance = Covariance {
            root,
            unscaled,
            sum_of_squares,
            degrees_of_freedom,
            undetermined,
            is_undetermined,
            held,
            variance: None,
            absolute: false,
        };
        let variance = covariance.residual_variance();
        Ok(covariance.with_variance(variance))
    }

    /// A covariance of which nothing is known: parameters of these names are undetermined if they are free, and constants otherwise.
    pub(crate) fn unknown<'n>(
        parameters: impl Iterator<Item = (&'n str, bool)>,
        sum_of_squares: T,
        degrees_of_freedom: usize,
    ) -> Self {
        let (names, is_undetermined): (Vec<_>, Vec<_>) = parameters.unzip();
        let root = Array2::from_elem((names.len(), 0), T::ZERO);
        let named = names.into_iter().zip(&is_undetermined).filter(|(_, is_undetermined)| **is_undetermined);
        let covariance = Covariance {
            unscaled: square(&root, &is_undetermined),
            root,
            sum_of_squares,
            degrees_of_freedom,
            undetermined: named.map(|(name, _)| name.to_owned()).collect(),
            is_undetermined,
            held: Vec::new(),
            variance: None,
            absolute: false,
        };
        let variance = covariance.residual_variance();
        covariance.with_variance(variance)
    }

    /// `(JᵀJ)⁻¹`: the covariance when the residuals have been divided by known standard deviations
    /// (SciPy's `absolute_sigma=True`).
    pub fn unscaled(&self) -> ArrayView2<'_, T> {
        self.unscaled.view()
    }

    /// `s² (JᵀJ)⁻¹`: the covariance when the size of the noise is estimated from the residuals. Without degrees of freedom, variances are
    /// infinite. Where the noise is [known](Self::is_absolute), it is the [`unscaled`](Self::unscaled) covariance.
    pub fn matrix(&self) -> Array2<T> {
        match self.variance {
            Some(variance) => Array2::from_shape_fn(self.unscaled.dim(), |(i, j)| {
                let (row, other) = (self.root.row(i), self.root.row(j));
                match self.unscaled[[i, j]] {
                    c if c.is_finite() => variance * c,
                    c if i == j && self.is_undetermined[i] => c,
                    _ => product(row, other, variance.sqrt()),
                }
            }),
            None => Array2::from_shape_fn(self.unscaled.dim(), |(i, j)| {
                if i == j && self.unscaled[[i, i]] > T::ZERO { T::INFINITY } else { T::ZERO }
            }),
        }
    }

    /// Standard errors of the parameters: the roots of the diagonal of [`matrix`](Self::matrix), also where a variance over- or
    /// underflows.
    pub fn standard_errors(&self) -> Array1<T> {
        Array1::from_shape_fn(self.root.nrows(), |j| self.scaled_by_noise(self.unscaled_error(j)))
    }

    /// Root of a diagonal entry of [`unscaled`](Self::unscaled).
    fn unscaled_error(&self, j: usize) -> T {
        if self.is_undetermined[j] { T::INFINITY } else { safe_norm(self.root.row(j).iter().copied()) }
    }

    /// Scales a standard error by the noise; infinite where the noise is not known.
    pub(super) fn scaled_by_noise(&self, unscaled_error: T) -> T {
        match self.variance {
            Some(variance) if unscaled_error.is_finite() => variance.sqrt() * unscaled_error,
            _ if unscaled_error > T::ZERO => T::INFINITY,
            _ => T::ZERO,
        }
    }

    /// Correlation of the parameters; an undetermined or held one is correlated with itself alone.
    pub fn correlation(&self) -> Array2<T> {
        let n = self.root.nrows();
        let errors: Vec<T> = (0..n).map(|j| self.unscaled_error(j)).collect();
        let is_known = |j: usize| errors[j] > T::ZERO && errors[j].is_finite();
        Array2::from_shape_fn((n, n), |(i, j)| {
            if i == j {
                return T::ONE;
            }
            if !(is_known(i) && is_known(j)) {
                return T::ZERO;
            }
            let pairs = self.root.row(i).into_iter().zip(self.root.row(j));
            pairs.fold(T::ZERO, |sum, (&a, &b)| sum + (a / errors[i]) * (b / errors[j]))
        })
    }

    /// `s² = ‖r‖² / (m − rank J)`; `None` without degrees of freedom, or where the squares overflow.
    pub fn residual_variance(&self) -> Option<T> {
        let freedom = self.degrees_of_freedom;
        let variance = (freedom > 0).then(|| self.sum_of_squares / T::from_f64(freedom as f64));
        variance.filter(|variance| variance.is_finite())
    }

    /// `s`; `None` where there is no [`residual_variance`](Self::residual_variance).
    pub fn residual_standard_deviation(&self) -> Option<T> {
        self.residual_variance().map(|variance| variance.sqrt())
    }

    /// Degrees of freedom of the residuals, `m − rank J`.
    pub fn degrees_of_freedom(&self) -> usize {
        self.degrees_of_freedom
    }

    /// The size of the noise is known, and the residuals have been divided by it.
    pub fn is_absolute(&self) -> bool {
        self.absolute
    }

    /// Degrees of freedom of Student's t distribution: infinite for a noise that is known.
    pub(crate) fn freedom(&self) -> f64 {
        if self.absolute { f64::INFINITY } else { self.degrees_of_freedom as f64 }
    }

    /// Names of the parameters that the data do not determine.
    pub fn undetermined(&self) -> &[String] {
        &self.undetermined
    }

    /// Names of the parameters that bounds hold.
    pub fn held(&self) -> &[String] {
        &self.held
    }
}

/// Units of rounding in sums over `m` rows: no more than one a row, and of many rows no more than a random walk leads to.
fn rounding_errors(m: usize) -> f64 {
    let m = m as f64;
    m.min(FARTHEST * m.sqrt())
}

/// The length of a column, also where its square over- or underflows.
fn length<T: Real>(column: impl Iterator<Item = T> + Clone) -> T {
    let square = column.clone().fold(T::ZERO, |sum, r| sum + r * r);
    if square.is_finite() && !underflows(square) { square.sqrt() } else { safe_norm(column) }
}

/// `F Fᵀ`, with infinite variances for undetermined parameters.
pub(super) fn square<T: Real>(root: &Array2<T>, is_undetermined: &[bool]) -> Array2<T> {
    let (n, rank) = root.dim();
    let mut gram = vec![T::ZERO; if n >= MANY_PARAMETERS { n * n } else { 0 }];
    if let Some(rows) = root.as_slice().filter(|_| rank > 0 && !gram.is_empty()) {
        T::row_gram(&mut gram, rows, rank);
    }
    Array2::from_shape_fn((n, n), |(i, j)| {
        if i == j && is_undetermined[i] {
            return T::INFINITY;
        }
        let entry = match gram.get(i.max(j) * n + i.min(j)) {
            Some(&entry) => entry,
            None => root.row(i).iter().zip(root.row(j)).fold(T::ZERO, |sum, (&a, &b)| sum + a * b),
        };
        if entry.is_finite() { entry } else { product(root.row(i), root.row(j), T::ONE) }
    })
}

/// The product of two rows, each times a scale, where terms of it overflow.
fn product<T: Real>(a: ArrayView1<'_, T>, b: ArrayView1<'_, T>, scale: T) -> T {
    let [of_a, of_b] = [a, b].map(|row| safe_norm(row.iter().copied()));
    let cosine = a.iter().zip(b).fold(T::ZERO, |sum, (&a, &b)| sum + (a / of_a) * (b / of_b));
    if cosine == T::ZERO { cosine } else { cosine * (scale * of_a) * (scale * of_b) }
}
