//! The workloads as this library's problems. A file that takes this in has `mod workloads` at its crate's root.

#![allow(dead_code, reason = "no single user takes everything")]

use marquardt::number::Number;
use marquardt::{EvaluationError, LeastSquares, Model, Residuals, Scalar, ScalarOf, model};

use crate::workloads::{Decays, Family, GaussianPeaks, Misra1a, Samples, Workload};

/// Any workload, with its derivatives by hand.
pub struct Analytic<'a, W>(pub &'a W);

impl<W: Workload> LeastSquares<f64> for Analytic<'_, W> {
    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.0.residual_count()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.0.residuals(x, first, r);
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.0.linearize(x, first, r, j);
        Ok(())
    }
}

/// Misra1a for every scalar.
pub struct Misra1aResiduals<'a>(pub &'a Misra1a);

impl Residuals<f64> for Misra1aResiduals<'_> {
    fn parameter_count(&self) -> usize {
        Misra1a::PARAMETERS
    }

    fn residual_count(&self) -> usize {
        Misra1a::POINTS
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (r, (x, y)) in r.iter_mut().zip(self.0.samples().starting_at(first)) {
            *r = b[0] * (-(-b[1] * x).exp() + 1.0) - y;
        }
        Ok(())
    }
}

/// The sum of so many peaks, each of an amplitude, a centre and a width.
pub struct Peaks(pub usize);

impl Model<f64> for Peaks {
    fn parameter_count(&self) -> usize {
        3 * self.0
    }

    #[inline(always)]
    fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
        let mut sum = S::constant(S::Real::from_f64(0.0));
        for peak in b.chunks_exact(3) {
            let away = (-peak[1] + x[0]) / peak[2];
            sum += peak[0] * (away * away * -0.5).exp();
        }
        sum
    }
}

/// A family of curves as a formula of this library.
pub trait Formula: Family {
    /// Written once for a single fit and for many, in either precision.
    fn formula() -> impl Model<f64> + Model<f32> + Copy;
}

impl Formula for GaussianPeaks {
    fn formula() -> impl Model<f64> + Model<f32> + Copy {
        model!(|x; amplitude, center, width, offset| amplitude * exp(-0.5 * ((x - center) / width).powi(2)) + offset)
    }
}

impl Formula for Decays {
    fn formula() -> impl Model<f64> + Model<f32> + Copy {
        model!(|x; amplitude, lifetime, background, slope| amplitude * exp(-x / lifetime) + background + slope * x)
    }
}

/// A formula over observations, for every scalar.
pub struct CurveResiduals<'a, M>(pub &'a M, pub Samples<&'a [f64]>);

impl<M: Model<f64>> Residuals<f64> for CurveResiduals<'_, M> {
    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.1.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (r, (x, y)) in r.iter_mut().zip(self.1.starting_at(first)) {
            *r = self.0.response(&[x], b) - y;
        }
        Ok(())
    }
}
