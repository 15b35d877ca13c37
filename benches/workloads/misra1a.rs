//! Misra1a of the NIST Statistical Reference Datasets: a tiny fit with certified parameters.

use super::{Samples, Workload};

/// Volume `y` against pressure `x` of a monomolecular adsorption, modelled as `y = b₁·(1 − exp(−b₂·x))`.
#[derive(Clone, Debug)]
pub struct Misra1a {
    samples: Samples,
}

impl Misra1a {
    /// Number of parameters.
    pub const PARAMETERS: usize = 2;

    /// Number of observations.
    pub const POINTS: usize = 14;

    /// NIST's two starting points, the farther one first.
    pub const STARTS: [[f64; 2]; 2] = [[500.0, 1e-4], [250.0, 5e-4]];

    /// The certified least-squares parameters.
    pub const CERTIFIED: [f64; 2] = [2.389_421_291_8e2, 5.501_564_318_1e-4];

    /// The certified sum of squared residuals.
    pub const CERTIFIED_SUM_OF_SQUARES: f64 = 1.245_513_889_4e-1;

    const Y: [f64; Self::POINTS] =
        [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78];

    const X: [f64; Self::POINTS] =
        [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0];

    /// The published data.
    pub fn new() -> Self {
        Self { samples: Samples { x: Self::X.to_vec(), y: Self::Y.to_vec() } }
    }

    /// The observations.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// The model at `x` and its gradient, from one exponential.
    #[inline]
    pub fn model(b: &[f64; 2], x: f64) -> (f64, [f64; 2]) {
        let decay = (-b[1] * x).exp();
        let rise = 1.0 - decay;
        (b[0] * rise, [rise, b[0] * x * decay])
    }
}

impl Workload for Misra1a {
    fn parameter_count(&self) -> usize {
        Self::PARAMETERS
    }

    fn residual_count(&self) -> usize {
        self.samples.len()
    }

    fn residuals(&self, p: &[f64], first: usize, r: &mut [f64]) {
        let b = parameters(p);
        self.samples.residuals(first, r, |x| Self::model(b, x));
    }

    fn linearize(&self, p: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) {
        let b = parameters(p);
        self.samples.rows(first, r, j, |x| Self::model(b, x));
    }

    fn linearize_columns(&self, p: &[f64], r: &mut [f64], columns: &mut [&mut [f64]]) {
        let b = parameters(p);
        self.samples.columns(r, columns, |x| Self::model(b, x));
    }
}

fn parameters(p: &[f64]) -> &[f64; Misra1a::PARAMETERS] {
    p.try_into().expect("Misra1a has two parameters")
}
