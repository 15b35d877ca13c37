//! `multicalc`: fixed-size arrays, derivatives by dual numbers.

use multicalc::optimization::LevenbergMarquardt;
use multicalc::scalar::{Numeric, VectorFn};

use crate::contest::Fit;
use crate::workloads::Misra1a;

/// Misra1a; the crate wants the number of rows at compile time, so other workloads are out of its reach.
pub fn misra1a(workload: &Misra1a, start: &[f64]) -> Fit {
    let start = start.first_chunk().expect("two parameters");
    let report = LevenbergMarquardt::new().minimize(&Residuals(workload), start).expect("the fit converges");
    Fit { parameters: report.solution.to_vec(), evaluations: Some(report.evaluations) }
}

struct Residuals<'a>(&'a Misra1a);

impl VectorFn<{ Misra1a::PARAMETERS }, { Misra1a::POINTS }> for Residuals<'_> {
    fn eval<S: Numeric>(&self, b: &[S; Misra1a::PARAMETERS]) -> [S; Misra1a::POINTS] {
        let mut points = self.0.samples().starting_at(0);
        std::array::from_fn(|_| {
            let (x, y) = points.next().expect("as many points as rows");
            b[0] * (S::ONE - (-b[1] * S::from_f64(x)).exp()) - S::from_f64(y)
        })
    }
}
