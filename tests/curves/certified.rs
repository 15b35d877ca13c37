//! Models of the NIST collection as models of curves.

use marquardt::{Model, ScalarOf};

use crate::nist;

/// A model with its number of parameters.
pub struct Certified(pub nist::Model, pub usize);

impl Model<f64> for Certified {
    fn parameter_count(&self) -> usize {
        self.1
    }

    #[inline(always)]
    fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
        self.0.response(b, x)
    }
}
