//! The space that the parameters are in: how a step moves a point, and which variables are held.

mod boxed;
mod boxed_manifold;
mod euclidean;
mod on_manifold;

pub(super) use boxed::BoxSpace;
pub(super) use boxed_manifold::BoxedManifoldSpace;
pub(super) use euclidean::EuclideanSpace;
pub(super) use on_manifold::ManifoldSpace;

use super::damping::IllConditioned;
use crate::evaluation::Evaluation;
use crate::linear::Held;
use crate::pass_on::pass_on;
use crate::problem::{BoundSide, LeastSquares};
use crate::real::Real;
use crate::storage::Storage;

/// The damped system, which can be solved with variables held.
pub(super) trait Faces<T: Real> {
    /// Solves for the free variables; those that are held keep their steps. Returns `‖Dδ‖`.
    fn solve_face(&mut self, held: Held<'_>, step: &mut [T]) -> Result<T, IllConditioned>;

    /// `Jᵀr`.
    fn gradient(&self) -> &[T];

    /// `‖Jv‖²`.
    fn quadratic_form(&self, v: &[T]) -> T;

    /// `JᵀJv`.
    fn gram_times(&self, v: &[T], product: &mut [T]);

    /// `λ` and `D`.
    fn damping(&self) -> (T, &[T]);
}

/// A space of points and steps.
pub(super) trait Space<T: Real> {
    /// Moves `x` by a share of the step, without regard to bounds.
    fn look_ahead(&mut self, evaluation: &dyn Evaluation<T>, x: &[T], share: T, step: &[T], moved: &mut [T]);

    /// Moves `x` by the step that was solved for, exactly within bounds.
    #[inline(always)]
    fn plus(&mut self, evaluation: &dyn Evaluation<T>, x: &[T], step: &[T], moved: &mut [T]) {
        self.look_ahead(evaluation, x, T::ONE, step, moved);
    }

    /// Computes the step that leads from `x` to `y`.
    #[inline(always)]
    fn minus(&self, evaluation: &dyn Evaluation<T>, y: &[T], x: &[T], step: &mut [T]) {
        let _ = evaluation;
        for ((step, &y), &x) in step.iter_mut().zip(y).zip(x) {
            *step = y - x;
        }
    }

    /// Solves for the step from `x`, and returns `‖Dδ‖`.
    #[inline(always)]
    fn solve(&mut self, system: &mut impl Faces<T>, x: &[T], step: &mut [T]) -> Result<T, IllConditioned> {
        let _ = x;
        system.solve_face(&[], step)
    }

    /// A point has become the current one.
    #[inline(always)]
    fn arrive(&mut self, evaluation: &dyn Evaluation<T>, x: &[T]) {
        let _ = (evaluation, x);
    }

    /// Sizes of the current point `x`, in the units of the entries of a step.
    #[inline(always)]
    fn sizes<'a>(&'a self, x: &'a [T]) -> &'a [T] {
        x
    }

    /// There are bounds.
    #[inline(always)]
    fn is_bounded(&self) -> bool {
        false
    }

    /// The bound that each variable was held at by the last step; empty where there are none.
    #[inline(always)]
    fn held(&self) -> Held<'_> {
        &[]
    }

    /// The bound that holds variable `j` at the point `x`, where the cost has this derivative.
    #[inline(always)]
    fn holds(&self, j: usize, x: &[T], derivative: T) -> Option<BoundSide> {
        let _ = (j, x, derivative);
        None
    }

    /// Entry `j` of a step from `x` may have this value.
    #[inline(always)]
    fn contains(&self, j: usize, x: &[T], entry: T) -> bool {
        let _ = (j, x, entry);
        true
    }

    /// Index of the coordinate that entry `j` of a step changes, for an entry with bounds.
    #[inline(always)]
    fn coordinate(&self, j: usize) -> usize {
        j
    }

    /// The step from `x` stays within bounds.
    #[inline(always)]
    fn allows(&self, x: &[T], step: &[T]) -> bool {
        let _ = (x, step);
        true
    }

    /// Moves a point to the nearest one within bounds.
    #[inline(always)]
    fn clamp(&self, x: &mut [T]) {
        let _ = x;
    }
}

/// Any space.
pub(super) enum AnySpace<T: Real, S: Storage<T>> {
    Euclidean(EuclideanSpace),
    Boxed(BoxSpace<T, S>),
    OnManifold(ManifoldSpace<T>),
    BoxedManifold(BoxedManifoldSpace<T, S>),
}

impl<T: Real, S: Storage<T>> AnySpace<T, S> {
    /// The space of a problem that was checked.
    #[inline]
    pub(super) fn of<P: LeastSquares<T> + ?Sized>(problem: &P) -> Self {
        let domain = problem.domain();
        match (domain.manifold(), domain.bounds().filter(|bounds| !bounds.is_unbounded())) {
            (None, None) => AnySpace::Euclidean(EuclideanSpace),
            (None, Some(bounds)) => AnySpace::Boxed(BoxSpace::new(bounds.lower(), bounds.upper())),
            (Some(manifold), None) => AnySpace::OnManifold(ManifoldSpace::new(manifold.tangent_size())),
            (Some(manifold), Some(bounds)) => AnySpace::BoxedManifold(BoxedManifoldSpace::new(manifold, bounds)),
        }
    }
}

macro_rules! each {
    ($this:expr, $method:ident($($argument:expr),*)) => {
        match $this {
            AnySpace::Euclidean(space) => Space::<T>::$method(space, $($argument),*),
            AnySpace::Boxed(space) => Space::<T>::$method(space, $($argument),*),
            AnySpace::OnManifold(space) => Space::<T>::$method(space, $($argument),*),
            AnySpace::BoxedManifold(space) => Space::<T>::$method(space, $($argument),*),
        }
    };
}

impl<T: Real, S: Storage<T>> Space<T> for AnySpace<T, S> {
    pass_on! { each
        mut look_ahead(evaluation: &dyn Evaluation<T>, x: &[T], share: T, step: &[T], moved: &mut [T]) -> ();
        mut plus(evaluation: &dyn Evaluation<T>, x: &[T], step: &[T], moved: &mut [T]) -> ();
        ref minus(evaluation: &dyn Evaluation<T>, y: &[T], x: &[T], step: &mut [T]) -> ();
        mut arrive(evaluation: &dyn Evaluation<T>, x: &[T]) -> ();
        ref held() -> Held<'_>;
        ref holds(j: usize, x: &[T], derivative: T) -> Option<BoundSide>;
        ref contains(j: usize, x: &[T], entry: T) -> bool;
        ref coordinate(j: usize) -> usize;
        ref allows(x: &[T], step: &[T]) -> bool;
        ref clamp(x: &mut [T]) -> ();
    }

    #[inline(always)]
    fn solve(&mut self, system: &mut impl Faces<T>, x: &[T], step: &mut [T]) -> Result<T, IllConditioned> {
        match self {
            AnySpace::Boxed(space) => space.solve(system, x, step),
            AnySpace::BoxedManifold(space) => space.solve(system, x, step),
            AnySpace::Euclidean(_) | AnySpace::OnManifold(_) => system.solve_face(&[], step),
        }
    }

    #[inline(always)]
    fn sizes<'a>(&'a self, x: &'a [T]) -> &'a [T] {
        each!(self, sizes(x))
    }

    #[inline(always)]
    fn is_bounded(&self) -> bool {
        matches!(self, AnySpace::Boxed(_) | AnySpace::BoxedManifold(_))
    }
}
