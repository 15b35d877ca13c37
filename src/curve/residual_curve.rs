//! Residuals as the curve of a fit whose observations are all zero.

use super::Curve;
use super::rows::index_of;
use crate::autodiff::Dual;
use crate::problem::Evaluated;
use crate::real::Real;

/// Residuals over `N` dual numbers, exactly differentiated. The responses are the negative residuals, so that observation (0) minus
/// response is the residual. A row of predictors is the index of a residual.
#[derive(Debug, Clone, Copy)]
pub struct FromResiduals<F, const N: usize> {
    residuals: F,
    count: usize,
}

impl<F, const N: usize> FromResiduals<F, N> {
    pub(super) fn new(residuals: F, count: usize) -> Self {
        FromResiduals { residuals, count }
    }

    /// All residuals, of which those that are not filled in are NaN.
    fn evaluate<T: Real>(&self, b: [Dual<T, N>; N]) -> Vec<Dual<T, N>>
    where
        F: Fn([Dual<T, N>; N], &mut [Dual<T, N>]),
    {
        let mut residuals = vec![Dual::constant(T::from_f64(f64::NAN)); self.count];
        (self.residuals)(b, &mut residuals);
        residuals
    }
}

/// Fills `y` with minus the residuals that rows of predictors ask for.
pub(super) fn fill_negatives<T: Real>(x: &[T], residuals: &[T], y: &mut [T]) -> Evaluated {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = -residuals[index_of(x, residuals.len(), "residual")?];
    }
    Ok(())
}

impl<T: Real, const N: usize, F: Fn([Dual<T, N>; N], &mut [Dual<T, N>]) + Send + Sync> Curve<T>
    for FromResiduals<F, N>
{
    fn parameter_count(&self) -> usize {
        N
    }

    fn takes_all_rows(&self) -> bool {
        true
    }

    fn responses(&self, x: &[T], _width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        let residuals = self.evaluate(std::array::from_fn(|j| Dual::constant(b[j])));
        let residuals: Vec<T> = residuals.iter().map(|residual| residual.value).collect();
        fill_negatives(x, &residuals, y)
    }

    fn linearize(&self, x: &[T], _width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        let residuals = self.evaluate(std::array::from_fn(|j| Dual::variable(b[j], j)));
        for ((y, row), &x) in y.iter_mut().zip(jacobian.chunks_exact_mut(N)).zip(x) {
            let negative = -residuals[index_of(x, self.count, "residual")?];
            *y = negative.value;
            row.copy_from_slice(&negative.gradient);
        }
        Ok(())
    }
}
