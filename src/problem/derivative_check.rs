//! A check of hand-written derivatives.

use std::fmt;

use crate::autodiff::Difference;
use crate::autodiff::difference::Stencil;
use crate::problem::{EvaluationError, LeastSquares, LeastSquaresExt};
use crate::real::Real;

/// One entry of the Jacobian against its finite difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Discrepancy<T> {
    /// Index of the residual, the row of the Jacobian.
    pub residual: usize,
    /// Index of the parameter, the column of the Jacobian.
    pub parameter: usize,
    /// Name of the parameter.
    pub parameter_name: String,
    /// The problem's own derivative.
    pub given: T,
    /// The derivative by central differences.
    pub difference: T,
    /// `|given − difference|`, relative to the size of the entry and of its column.
    pub error: T,
}

/// Result of [`check_derivatives`].
#[derive(Debug, Clone, PartialEq)]
pub struct DerivativeCheck<T> {
    /// The entry that differs most.
    pub worst: Discrepancy<T>,
    /// Number of entries whose error exceeds [`tolerance`](Self::tolerance).
    pub wrong_entries: usize,
    /// Largest error that the inaccuracy of the differences explains.
    pub tolerance: T,
}

impl<T: Real> DerivativeCheck<T> {
    /// Returns true if no entry has an error above [`tolerance`](Self::tolerance).
    pub fn passed(&self) -> bool {
        self.wrong_entries == 0
    }
}

impl<T: Real> fmt::Display for DerivativeCheck<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Discrepancy { residual, parameter_name, given, difference, error, .. } = &self.worst;
        if self.passed() {
            write!(f, "derivatives agree with differences; the worst entry is ")?;
        } else {
            write!(f, "{} entries of the Jacobian are wrong; the worst is ", self.wrong_entries)?;
        }
        write!(
            f,
            "∂r[{residual}]/∂{parameter_name}: given {given:e}, by differences {difference:e} (relative error {error:.1e})"
        )
    }
}

/// Compares every entry of the Jacobian at `x` with central differences and names the worst.
///
/// An entry's error is measured against the larger of the entry itself and a ten-thousandth of the largest entry of its column. Choose a
/// point away from zeros, kinks and symmetries of the function, for example a random one.
///
/// Differences stay within the bounds of the problem; a parameter that its bounds hold is not checked.
///
/// Costs `2n + 1` evaluations and `mn` entries of memory.
///
/// # Errors
///
/// The problem's own error, or a message when a residual or derivative is not finite at `x`.
///
/// ```
/// use marquardt::problem::{Analytic, check_derivatives};
///
/// let mut problem =
///     Analytic::new(1, 2, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
///         r.copy_from_slice(&[x[0].sin(), x[0] * x[0]]);
///         if let Some(jacobian) = jacobian {
///             jacobian.copy_from_slice(&[x[0].cos(), x[0]]); // should be 2x
///         }
///         Ok(())
///     });
/// let check = check_derivatives(&mut problem, &[0.7])?;
/// assert!(!check.passed());
/// assert_eq!((check.worst.residual, check.worst.parameter), (1, 0));
/// # Ok::<(), marquardt::EvaluationError>(())
/// ```
pub fn check_derivatives<T: Real>(
    problem: &mut (impl LeastSquares<T> + ?Sized),
    x: &[T],
) -> Result<DerivativeCheck<T>, EvaluationError> {
    let (m, n) = (problem.residual_count(), problem.column_count());
    if x.len() != problem.parameter_count() || n == 0 || m == 0 {
        return Err(format!("{m} residuals of {n} columns cannot be checked at a point of {} numbers", x.len()).into());
    }
    let (mut r, mut jacobian) = (vec![T::ZERO; m], vec![T::ZERO; m * n]);
    problem.linearize(x, 0, &mut r, &mut jacobian)?;
    let tolerance = T::EPSILON.cbrt() * T::from_f64(20.0);
    let (mut ahead, mut behind) = (vec![T::ZERO; m], vec![T::ZERO; m]);
    let mut moved = x.to_vec();
    let mut worst: Option<Discrepancy<T>> = None;
    let mut wrong_entries = 0;
    // On a manifold, a direction has its zero at the point.
    let on_manifold = problem.domain().manifold().is_some();
    let center_of = |j: usize| if on_manifold { T::ZERO } else { x[j] };
    // By how much parameters of their size change each residual: numbers within its formula are as large.
    let sizes: Vec<T> = (0..n).map(|j| Difference::Central.step(center_of(j)).abs() / T::EPSILON.cbrt()).collect();
    let changes = jacobian.chunks_exact(n).map(|row| {
        row.iter().zip(&sizes).fold(T::ZERO, |largest, (&derivative, &size)| largest.max((derivative * size).abs()))
    });
    let changes: Vec<T> = changes.collect();
    for j in 0..n {
        let center = center_of(j);
        let step = Difference::Central.step(center);
        let (lower, upper) = problem
            .domain()
            .bounds()
            .filter(|_| !on_manifold)
            .map_or((-T::INFINITY, T::INFINITY), |bounds| bounds.of(j));
        let stencil = Difference::Central.stencil(center, lower, upper);
        if stencil == Stencil::Nowhere {
            continue;
        }
        for (point, values) in stencil.points().into_iter().zip([&mut ahead, &mut behind]) {
            move_along(problem, x, j, point.unwrap_or(center), &mut moved);
            problem.residuals(&moved, 0, values)?;
        }
        move_along(problem, x, j, center, &mut moved);
        let difference = |i: usize| stencil.slope(center, r[i], ahead[i], behind[i]);
        let column_size = (0..m).fold(T::ZERO, |size, i| size.max(difference(i).abs()));
        let residual_size = ahead.iter().chain(&behind).fold(T::ZERO, |size, r| size.max(r.abs()));
        // Differences do not resolve derivatives below the rounding error of the residuals, which formulas make several units large.
        let unit = T::from_f64(8.0) * T::EPSILON / (step.abs() * tolerance);
        for i in 0..m {
            let (given, difference) = (jacobian[i * n + j], difference(i));
            if !(given.is_finite() && difference.is_finite()) {
                return Err(format!("∂r[{i}]/∂{} is not finite", problem.column_name(j)).into());
            }
            let size = given.abs().max(difference.abs()).max(column_size * T::from_f64(1e-4));
            let size = size.max(unit * residual_size.max(changes[i]));
            let error = if size == T::ZERO { T::ZERO } else { (given - difference).abs() / size };
            wrong_entries += usize::from(error > tolerance);
            if worst.as_ref().is_none_or(|worst| error > worst.error) {
                let parameter_name = problem.column_name(j);
                worst = Some(Discrepancy { residual: i, parameter: j, parameter_name, given, difference, error });
            }
        }
    }
    let Some(worst) = worst else { return Err("bounds leave no parameter room for a difference".into()) };
    Ok(DerivativeCheck { worst, wrong_entries, tolerance })
}

/// Moves the point `x` so that its coordinate `j` has this value; on a manifold, by a step of this length along direction `j`.
fn move_along<T: Real>(problem: &(impl LeastSquares<T> + ?Sized), x: &[T], j: usize, value: T, moved: &mut [T]) {
    match problem.domain().manifold() {
        None => moved[j] = value,
        Some(manifold) => {
            let mut step = vec![T::ZERO; manifold.tangent_size()];
            step[j] = value;
            manifold.plus(x, &step, moved);
        }
    }
}
