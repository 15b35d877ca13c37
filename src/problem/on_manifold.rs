//! A problem whose points lie on a manifold.

use super::forward::forward;
use super::{Capabilities, EvaluationError, LeastSquares, LeastSquaresExt, ParameterDomain};
use crate::manifold::Manifold;
use crate::real::Real;

/// A problem whose parameters are the coordinates of a point on a manifold; steps stay on the manifold.
///
/// The inner problem and its derivatives are functions of these coordinates. The product of its Jacobian with
/// [`plus_jacobian`](Manifold::plus_jacobian) is the Jacobian of this problem. The inner problem must be defined on the manifold and, if it
/// is differentiated by differences, near it.
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::manifold::UnitSphere;
/// use marquardt::problem::{Analytic, OnManifold};
///
/// // The direction nearest to (1, 2, 2), which is not of length one.
/// let target = [1.0, 2.0, 2.0];
/// let nearest = Analytic::new(3, 3, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
///     for i in 0..3 {
///         r[i] = x[i] - target[i];
///     }
///     if let Some(jacobian) = jacobian {
///         jacobian.fill(0.0);
///         jacobian.iter_mut().step_by(4).for_each(|entry| *entry = 1.0);
///     }
///     Ok(())
/// });
/// let mut nearest = OnManifold::new(nearest, UnitSphere::<3>)?;
/// let report = LevenbergMarquardt::new().minimize(&mut nearest, &[1.0, 0.0, 0.0])?;
/// assert!(report.is_converged() && (report.x[0] - 1.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct OnManifold<T, P, M> {
    problem: P,
    manifold: M,
    /// Rows of the Jacobian by the numbers of the point.
    rows: Vec<T>,
    plus_jacobian: Vec<T>,
}

impl<T: Real, P: LeastSquares<T>, M: Manifold<T>> OnManifold<T, P, M> {
    /// The problem on this manifold.
    ///
    /// # Errors
    ///
    /// The number of parameters is not that of the numbers of a point.
    pub fn new(problem: P, manifold: M) -> Result<Self, EvaluationError> {
        let (parameters, ambient) = (problem.column_count(), manifold.ambient_size());
        if parameters != ambient {
            let name = manifold.name();
            return Err(format!("the problem has {parameters} parameters, but a point on {name} has {ambient}").into());
        }
        Ok(OnManifold { problem, manifold, rows: Vec::new(), plus_jacobian: Vec::new() })
    }

    /// The problem inside.
    pub fn into_inner(self) -> P {
        self.problem
    }
}

impl<T: Real, P: LeastSquares<T>, M: Manifold<T>> LeastSquares<T> for OnManifold<T, P, M> {
    forward!(self => self.problem; parameter_count residual_count row_group residuals parameter_name);

    fn domain(&self) -> ParameterDomain<'_, T> {
        ParameterDomain::default().with_manifold(&self.manifold)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }

    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        let (ambient, tangent) = (x.len(), self.manifold.tangent_size());
        self.rows.resize(r.len() * ambient, T::ZERO);
        self.plus_jacobian.resize(ambient * tangent, T::ZERO);
        self.manifold.plus_jacobian(x, &mut self.plus_jacobian);
        self.problem.linearize(x, first, r, &mut self.rows)?;
        for (row, wide) in jacobian.chunks_exact_mut(tangent).zip(self.rows.chunks_exact(ambient)) {
            row.fill(T::ZERO);
            for (&derivative, column) in wide.iter().zip(self.plus_jacobian.chunks_exact(tangent)) {
                row.iter_mut().zip(column).for_each(|(entry, &column)| *entry += derivative * column);
            }
        }
        Ok(())
    }
}

impl<T: Real, P: LeastSquares<T>, M: Manifold<T>> Capabilities<T> for OnManifold<T, P, M> {
    forward!(self => self.problem.capabilities(); communicator derivatives_are_cheap derivatives_are_rough keep_evaluations
        cost_of);
}
