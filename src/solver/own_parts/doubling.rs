//! A damping policy: the damping doubles until a step is taken, and is halved then.

use super::{EuclideanSpace, GeodesicAcceleration, normal_equations, solve, valley};
use crate::solver::Acceleration;
use crate::solver::damping::{DampedSystem, DampingPolicy, IllConditioned, Trial};

#[derive(Clone)]
struct Doubling {
    lambda: f64,
}

impl DampingPolicy<f64> for Doubling {
    fn start(&mut self, _: f64) {
        self.lambda = 1.0;
    }

    fn damp(&mut self, system: &mut dyn DampedSystem<f64>) -> Result<f64, IllConditioned> {
        system.solve(self.lambda)?;
        Ok(self.lambda)
    }

    fn update(&mut self, trial: &Trial<f64>) {
        self.lambda *= if trial.accepted { 0.5 } else { 2.0 };
    }

    fn damp_more(&mut self) {
        self.lambda *= 2.0;
    }
}

#[test]
fn a_damping_that_doubles_finds_the_minimum() {
    let refinement = GeodesicAcceleration::new(Acceleration::Never);
    let parts = (normal_equations(2, 2), EuclideanSpace, refinement, Doubling { lambda: 0.0 });
    let report = solve(&mut valley(), &[-1.2, 1.0], parts);
    assert!(report.x.iter().all(|x| (x - 1.0).abs() < 1e-12), "{report}");
}
