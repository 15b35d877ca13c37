//! Second derivatives along a step, by differences of residuals.

use std::iter::zip;

use crate::manifold::Manifold;
use crate::problem::EvaluationError;
use crate::real::Real;

/// Step of the difference, relative to the step: two of them go as far as geodesic acceleration does.
const PROBE: f64 = 0.05;

/// Residuals at the point and ahead of it, along a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Probe<T> {
    point: Vec<T>,
    /// Residuals at the point; filled in before [`difference`](Self::difference) is asked for.
    pub(crate) here: Vec<T>,
    further: Vec<T>,
}

impl<T: Real> Probe<T> {
    /// Fills `second` with `d²r(x ⊞ tv)/dt²`, by residuals between `x` and `x ⊞ v`: where both may be, so may they. `residuals` moves
    /// the point that it is given to `x ⊞ tv`, and evaluates there.
    pub(crate) fn difference(
        &mut self,
        second: &mut [T],
        mut residuals: impl FnMut(T, &mut Vec<T>, &mut [T]) -> Result<(), EvaluationError>,
    ) -> Result<(), EvaluationError> {
        let Probe { point, here, further } = self;
        further.resize(second.len(), T::ZERO);
        let step = T::from_f64(PROBE);
        for (steps, values) in [(step, &mut *second), (step + step, &mut **further)] {
            residuals(steps, point, values)?;
        }
        for ((ahead, &further), &here) in zip(zip(second, &*further), &*here) {
            *ahead = ((further - *ahead) - (*ahead - here)) / (step * step);
        }
        Ok(())
    }
}

/// Makes `point` the one that lies `share` times `v` ahead of `x`: `x ⊞ share·v`.
pub(crate) fn advance<T: Real>(manifold: Option<&dyn Manifold<T>>, x: &[T], share: T, v: &[T], point: &mut Vec<T>) {
    point.clear();
    match manifold {
        None => point.extend(zip(x, v).map(|(&x, &v)| x + share * v)),
        Some(manifold) => {
            let step: Vec<T> = v.iter().map(|&v| share * v).collect();
            point.resize(x.len(), T::ZERO);
            manifold.plus(x, &step, point);
        }
    }
}
