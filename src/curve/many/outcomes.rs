//! What became of a block of fits.

use std::ops::Range;

use crate::kernels::triangular::{cholesky, cholesky_inverse_form};
use crate::solver::lockstep::{Arrival, UNROLLED};
use crate::{FitStatus, Real};

/// Where the results of consecutive fits go.
pub(super) struct Outcomes<'o, T> {
    /// The number of the first.
    pub(super) first: usize,
    /// Parameters of each.
    pub(super) n: usize,
    pub(super) parameters: &'o mut [T],
    pub(super) standard_errors: &'o mut [T],
    pub(super) cost: &'o mut [T],
    pub(super) status: &'o mut [FitStatus],
    pub(super) iterations: &'o mut [usize],
}

/// What the full engine found.
pub(super) struct Fitted<T> {
    /// Values and standard errors.
    pub(super) parameters: Vec<(T, T)>,
    pub(super) cost: T,
    pub(super) status: FitStatus,
    pub(super) iterations: usize,
}

impl<T: Real> Outcomes<'_, T> {
    /// The numbers of the fits.
    pub(super) fn fits(&self) -> Range<usize> {
        self.first..self.first + self.cost.len()
    }

    /// The fit has not begun, or has ended in lockstep in a way that the full engine may better.
    pub(super) fn is_open(&self, fit: usize) -> bool {
        use FitStatus::*;
        matches!(self.status[fit - self.first], Cancelled | MaxIterations | NoProgress | NonFiniteStart)
    }

    /// A fit that could not begin at its start.
    pub(super) fn refuse(&mut self, fit: usize, status: FitStatus, start: &[T]) {
        let (fit, nothing) = (fit - self.first, T::from_f64(f64::NAN));
        let of_fit = fit * self.n..(fit + 1) * self.n;
        self.parameters[of_fit.clone()].copy_from_slice(start);
        self.standard_errors[of_fit].fill(nothing);
        (self.cost[fit], self.status[fit], self.iterations[fit]) = (nothing, status, 0);
    }

    /// A fit by the full engine.
    pub(super) fn take_fitted(&mut self, fit: usize, fitted: Fitted<T>) {
        let fit = fit - self.first;
        let of_fit = fit * self.n..(fit + 1) * self.n;
        let rows = self.parameters[of_fit.clone()].iter_mut().zip(&mut self.standard_errors[of_fit]);
        for ((parameter, standard_error), found) in rows.zip(fitted.parameters) {
            (*parameter, *standard_error) = found;
        }
        (self.cost[fit], self.status[fit], self.iterations[fit]) = (fitted.cost, fitted.status, fitted.iterations);
    }

    /// A fit in lockstep of so many points, whose residuals have this variance if it is known. It is left open where squares
    /// underflow, and where the normal equations do not determine all parameters: the full engine may.
    pub(super) fn take<const N: usize>(
        &mut self,
        fit: usize,
        points: usize,
        variance: Option<T>,
        arrival: Arrival<T, N>,
    ) {
        self.refuse(fit, arrival.status, &arrival.x[..self.n]);
        let fit = fit - self.first;
        self.iterations[fit] = arrival.iterations;
        if !arrival.cost.is_finite() {
            return;
        }
        self.cost[fit] = arrival.cost;
        let errors = &mut self.standard_errors[fit * self.n..][..self.n];
        let is_determined = standard_errors(&arrival, points, variance, errors);
        let is_exact = (0..self.n).all(|j| arrival.held[j] || arrival.gram[j][j] > least_square());
        let is_certain = is_determined && is_exact && arrival.cost > least_square();
        if arrival.status == FitStatus::Converged && !is_certain {
            self.status[fit] = FitStatus::NoProgress;
        }
    }
}

/// Sum of squares below which underflow may have taken terms of it.
pub(super) fn least_square<T: Real>() -> T {
    let smallest = if T::EPSILON.to_f64() > 1e-10 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    T::from_f64(smallest) / T::EPSILON
}

/// Fills in the roots of the diagonal of `s² (JᵀJ)⁻¹`: zero for what a bound holds, infinite where the matrix is too close to
/// singular; whether it is not.
fn standard_errors<T: Real, const N: usize>(
    arrival: &Arrival<T, N>,
    points: usize,
    variance: Option<T>,
    errors: &mut [T],
) -> bool {
    let n = errors.len();
    let takes_part = |j: usize| j < n && !arrival.held[j];
    let free = (0..n).filter(|&j| takes_part(j)).count();
    let variance = variance.unwrap_or_else(|| {
        let freedom = T::from_f64(points.saturating_sub(free) as f64);
        (arrival.cost + arrival.cost) / freedom
    });
    // In units in which all columns have length one; what does not take part is apart from the rest.
    let mut scale = [T::ONE; N];
    let size = if N <= UNROLLED { N } else { n };
    let mut room = [[T::ZERO; N]; N];
    let matrix = &mut room.as_flattened_mut()[..size * size];
    for i in 0..size {
        matrix[i * size + i] = T::ONE;
        if takes_part(i) {
            scale[i] = arrival.gram[i][i].sqrt();
            for k in (0..i).filter(|&k| takes_part(k)) {
                matrix[i * size + k] = arrival.gram[i][k] / (scale[i] * scale[k]);
            }
        }
    }
    let inverse_pivots = &mut [T::ONE; N][..size];
    let is_sound = cholesky(matrix, inverse_pivots);
    for (j, error) in errors.iter_mut().enumerate() {
        *error = if arrival.held[j] {
            T::ZERO
        } else if !is_sound {
            T::INFINITY
        } else {
            let unit = &mut [T::ZERO; N][..size];
            unit[j] = T::ONE;
            let inverse = cholesky_inverse_form(matrix, inverse_pivots, unit);
            (variance * inverse).sqrt() / scale[j]
        };
    }
    is_sound
}
