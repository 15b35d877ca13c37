//! A space: positive numbers, which steps multiply.

use super::{GainRatio, GeodesicAcceleration, normal_equations, solve};
use crate::evaluation::Evaluation;
use crate::problem::Analytic;
use crate::solver::Acceleration;
use crate::solver::space::Space;

/// `x ⊞ δ = x·e^δ`.
struct Logarithmic {
    /// A step is without unit.
    ones: Vec<f64>,
}

impl Space<f64> for Logarithmic {
    fn look_ahead(&mut self, _: &dyn Evaluation<f64>, x: &[f64], share: f64, step: &[f64], moved: &mut [f64]) {
        for ((moved, x), step) in moved.iter_mut().zip(x).zip(step) {
            *moved = x * (share * step).exp();
        }
    }

    fn minus(&self, _: &dyn Evaluation<f64>, y: &[f64], x: &[f64], step: &mut [f64]) {
        for ((step, y), x) in step.iter_mut().zip(y).zip(x) {
            *step = (y / x).ln();
        }
    }

    fn sizes<'a>(&'a self, _: &'a [f64]) -> &'a [f64] {
        &self.ones
    }
}

/// `x₀x₁ = 6`, `x₀ = 1e-6 x₁`, whose first solution is positive: from any positive start, no point is not.
#[test]
fn points_stay_positive() {
    let mut problem = Analytic::new(2, 2, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        assert!(x.iter().all(|&x| x > 0.0), "{x:?}");
        r.copy_from_slice(&[x[0] * x[1] - 6.0, x[0] - 1e-6 * x[1]]);
        // By the entries of a step: the derivatives by x, times x.
        jacobian.into_iter().for_each(|j| j.copy_from_slice(&[x[0] * x[1], x[0] * x[1], x[0], -1e-6 * x[1]]));
        Ok(())
    });
    let space = Logarithmic { ones: vec![1.0; 2] };
    let refinement = GeodesicAcceleration::new(Acceleration::Never);
    let report = solve(&mut problem, &[1e3, 1e-3], (normal_equations(2, 2), space, refinement, GainRatio::default()));
    assert!((report.x[0] / 6e-6_f64.sqrt() - 1.0).abs() < 1e-9, "{report}");
    assert!((report.x[1] / 6e6_f64.sqrt() - 1.0).abs() < 1e-9, "{report}");
}
