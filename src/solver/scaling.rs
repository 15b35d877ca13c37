//! The scaling `D` of the damping.

use crate::kernels::triangular::lost_digits;
use crate::real::Real;

/// Share of the fading maximum that is kept from one step to the next. From 0.4 to 0.8 all NIST runs are solved.
const FADE: f64 = 0.7;

/// Scaling of the parameters in the damping: the `D` of `JᵀJ + λD²`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scaling {
    /// `D = I` (Levenberg 1944). For parameters of the same unit and size, such as the weights of a network.
    Identity,
    /// `D_jj = ‖J_j‖` at the current point (Marquardt 1963). The steps do not depend on the units of the parameters.
    Marquardt,
    /// `D_jj` is the largest `‖J_j‖` so far (Moré 1978). As Marquardt's, but the damping of a parameter whose column shrinks does not fall.
    /// The default for variables, such as those of a network.
    RunningMaximum,
    /// `D_jj` is the largest `‖J_j‖` so far, multiplied by 0.7 after each step. As the running maximum, but very large columns of early
    /// points lose their effect. The default.
    #[default]
    FadingMaximum,
}

impl Scaling {
    /// Default scaling of a network's weights. Neurons saturate and return: the fading maximum would set the weights of a
    /// saturated one free, for steps that are long and lead nowhere. Over 16 trainings of sinc to 1e-6, the running maximum takes
    /// 0.83 of its steps; on the differential equations of the example `pinn`, 0.6, and none of five seeds is lost. In
    /// minibatches the last digits come later: sin(5x) ends at 4e-10 after 200 steps instead of 1e-11, but is at 3e-7 after 40
    /// instead of 2e-5.
    pub(crate) const OF_WEIGHTS: Scaling = Scaling::RunningMaximum;

    /// Brings `d` up to date at a point of these sizes with these column norms; `d` is zero before the first point. A column that is
    /// [lost](Influences::is_lost) among the others may consist of rounding errors. Scales that can fall treat it as zero.
    #[inline]
    pub(crate) fn update<T: Real>(self, d: &mut [T], column_norms: &[T], sizes: &[T]) {
        let can_fall = matches!(self, Scaling::Marquardt | Scaling::FadingMaximum);
        let influences = Influences::of(column_norms, sizes);
        for ((d, &norm), &size) in d.iter_mut().zip(column_norms).zip(sizes) {
            *d = match self {
                Scaling::Identity => T::ONE,
                _ if norm == T::ZERO || can_fall && influences.is_lost(norm, size) => {
                    // A parameter without influence is still damped, by something rather than nothing.
                    if *d == T::ZERO { T::ONE } else { *d }
                }
                Scaling::Marquardt => norm,
                Scaling::RunningMaximum => d.max(norm),
                Scaling::FadingMaximum => (T::from_f64(FADE) * *d).max(norm),
            };
        }
    }
}

/// The influences of all parameters, `‖J_j‖·|x_j|`: how far a change of a parameter by its own size moves the residuals.
pub(super) struct Influences<T> {
    /// The largest.
    largest: T,
    /// The largest `‖J_j‖`.
    largest_norm: T,
    /// `ε^¾`: 1.8e-12 in double precision, 6.4e-6 in single.
    share: T,
}

impl<T: Real> Influences<T> {
    #[inline]
    pub(super) fn of(column_norms: &[T], sizes: &[T]) -> Self {
        let influences = column_norms.iter().zip(sizes).map(|(&norm, &size)| norm * size.abs());
        let root = T::EPSILON.sqrt();
        Influences {
            largest: influences.fold(T::ZERO, T::max),
            largest_norm: column_norms.iter().copied().fold(T::ZERO, T::max),
            share: root * root.sqrt(),
        }
    }

    /// The scale that holds a parameter of this size in proportion to it.
    pub(super) fn hold(&self, size: T) -> T {
        self.largest / size.abs()
    }

    /// The influence of a parameter is lost among the others', and so is its column. Such a column may consist of rounding errors, as
    /// that of a saturated neuron does. A parameter that is zero has no size: its column has to be a rounding error of the largest.
    #[inline]
    pub(super) fn is_lost(&self, norm: T, size: T) -> bool {
        let influence = norm * size.abs();
        if influence > T::ZERO {
            influence < self.share * self.largest && norm < self.share * self.largest_norm
        } else {
            norm > T::ZERO && norm < lost_digits::<T>() * self.largest_norm
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_rounding_errors_is_no_scale() {
        for scaling in [Scaling::Marquardt, Scaling::FadingMaximum] {
            let mut d = [0.0; 2];
            scaling.update(&mut d, &[10.0, 1e-16], &[1.0, 0.5]);
            assert_eq!(d, [10.0, 1.0]);
            scaling.update(&mut d, &[10.0, 4.0], &[1.0, 0.5]);
            assert_eq!(d, [10.0, 4.0]);
            scaling.update(&mut d, &[10.0, 1e-17], &[1.0, 0.5]);
            assert_eq!(d, [10.0, 4.0], "it is not set free");
        }
    }

    #[test]
    fn neither_a_small_column_nor_a_small_parameter_is_lost() {
        let (norms, sizes) = ([1.0, 1e-16, 1e-16, 1.0, 0.0, 1e-12, 1e-17], [2.0, -20.0, 1e15, 1e-100, 1.0, 0.0, 0.0]);
        let influences = Influences::of(&norms, &sizes);
        let lost = [0, 1, 2, 3, 4, 5, 6].map(|j| influences.is_lost(norms[j], sizes[j]));
        assert_eq!(lost, [false, true, false, false, false, false, true]);
    }
}
