//! Domain of the parameters of a problem.

use super::Bounds;
use crate::manifold::Manifold;
use crate::real::Real;

/// Domain of the parameters of a problem: all of `Rⁿ`, a box, or a manifold.
///
/// ```
/// use marquardt::Bounds;
/// use marquardt::problem::ParameterDomain;
///
/// let positive = Bounds::unbounded(2).with(0, 0.0, f64::INFINITY)?;
/// let domain = ParameterDomain::default().with_bounds(&positive);
/// assert_eq!(domain.bounds().map(Bounds::len), Some(2));
/// assert!(domain.manifold().is_none());
/// # Ok::<(), marquardt::problem::BoundsError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ParameterDomain<'a, T: Real> {
    bounds: Option<&'a Bounds<T>>,
    manifold: Option<&'a dyn Manifold<T>>,
}

/// All of `Rⁿ`.
impl<T: Real> Default for ParameterDomain<'_, T> {
    #[inline]
    fn default() -> Self {
        ParameterDomain { bounds: None, manifold: None }
    }
}

/// A box, or all of `Rⁿ` without bounds.
impl<'a, T: Real> From<Option<&'a Bounds<T>>> for ParameterDomain<'a, T> {
    #[inline]
    fn from(bounds: Option<&'a Bounds<T>>) -> Self {
        ParameterDomain { bounds, manifold: None }
    }
}

impl<'a, T: Real> ParameterDomain<'a, T> {
    /// Sets bounds on the parameters. They hold for the minimum and for every point that the solver evaluates. A solve reads them once, at
    /// its start.
    #[inline]
    #[must_use]
    pub fn with_bounds(self, bounds: &'a Bounds<T>) -> Self {
        ParameterDomain { bounds: Some(bounds), ..self }
    }

    /// Manifold that points are on, of as many entries as there are parameters. The solver then moves a point `x` by a step `δ` to
    /// `x ⊞ δ`, and the Jacobian has a column for each entry of a step: `∂r(x ⊞ δ)/∂δ` at `δ = 0`. Only
    /// coordinates that [single entries of a step](Manifold::coordinate) move may have bounds: a solve refuses others with
    /// [`SolveError::OnManifold`](crate::SolveError::OnManifold).
    #[inline]
    #[must_use]
    pub fn with_manifold(self, manifold: &'a dyn Manifold<T>) -> Self {
        ParameterDomain { manifold: Some(manifold), ..self }
    }

    /// The bounds; `None` without any.
    #[inline]
    pub fn bounds(&self) -> Option<&'a Bounds<T>> {
        self.bounds
    }

    /// The manifold; `None` in Euclidean space.
    #[inline]
    pub fn manifold(&self) -> Option<&'a dyn Manifold<T>> {
        self.manifold
    }
}
