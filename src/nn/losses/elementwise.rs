//! Losses that are a mean over the outputs.

use crate::number::Number;
use crate::problem::RobustRow;
use crate::real::Real;

/// Outputs of some samples, their width, and the targets.
pub(super) type Samples<'a, T> = (&'a [T], usize, &'a [T]);

/// Fills the samples' losses with the mean over outputs of `loss(output, target)`.
pub(super) fn means<T: Real>((outputs, width, targets): Samples<'_, T>, losses: &mut [T], loss: impl Fn(T, T) -> T) {
    let share = T::from_f64(1.0 / width as f64);
    let rows = outputs.chunks_exact(width).zip(targets.chunks_exact(width));
    for (mean, (outputs, targets)) in losses.iter_mut().zip(rows) {
        *mean = share * outputs.iter().zip(targets).map(|(&y, &t)| loss(y, t)).sum::<T>();
    }
}

/// Fills the gradients of such losses, given `derivative(output, target)`.
pub(super) fn gradients<T: Real>(
    (outputs, width, targets): Samples<'_, T>,
    gradients: &mut [T],
    derivative: impl Fn(T, T) -> T,
) {
    let share = T::from_f64(1.0 / width as f64);
    for (gradient, (&y, &t)) in gradients.iter_mut().zip(outputs.iter().zip(targets)) {
        *gradient = share * derivative(y, t);
    }
}

/// Fills residuals and roots for the mean of `½ weight e²` over the errors `e`.
pub(super) fn squares<T: Real>(
    (outputs, width, targets): Samples<'_, T>,
    [residuals, roots]: [&mut [T]; 2],
    weight: T,
) {
    let root = (T::from_f64(1.0 / width as f64) * weight).sqrt();
    let errors = outputs.iter().zip(targets).map(|(&y, &t)| y - t);
    for ((r, s), e) in residuals.iter_mut().zip(roots).zip(errors) {
        *s = root;
        *r = root * e;
    }
}

/// Fills residuals and roots for the mean of a robust loss of the errors `e`, given its first derivative divided by `e`, and its
/// second: by the rows that robust fits have.
pub(super) fn robust<T: Real>(samples: Samples<'_, T>, to: [&mut [T]; 2], derivatives: impl Fn(T) -> [T; 2]) {
    curved(samples, to, |y, t| {
        let [slope, curvature] = derivatives(y - t);
        let row = RobustRow::of_derivatives(y - t, slope, curvature, T::ZERO);
        (row.residual, row.root)
    });
}

/// Fills residuals and roots for the mean of a convex loss, given both for each `(output, target)`.
pub(super) fn curved<T: Real>(
    (outputs, width, targets): Samples<'_, T>,
    [residuals, roots]: [&mut [T]; 2],
    residual_and_root: impl Fn(T, T) -> (T, T),
) {
    let root_share = T::from_f64(1.0 / width as f64).sqrt();
    for ((r, s), (&y, &t)) in residuals.iter_mut().zip(roots).zip(outputs.iter().zip(targets)) {
        let (residual, root) = residual_and_root(y, t);
        *r = root_share * residual;
        *s = root_share * root;
    }
}

/// Smallest root for a target that contributes the gradient `pull`: `√(ε pull)`. The residual, the gradient over the root,
/// stays moderate, and the square of the root is lost to rounding error beside the largest second derivative.
#[inline(always)]
pub(super) fn least_root<N: Number>(pull: N) -> N {
    (N::splat(N::Element::EPSILON) * pull).sqrt()
}
