//! A refinement: every step is halved.

use super::{EuclideanSpace, GainRatio, normal_equations, solve, valley};
use crate::problem::Evaluated;
use crate::solver::Refusal;
use crate::solver::damping::Trial;
use crate::solver::refinement::Refinement;
use crate::solver::system::StepSystem;

struct Halved {
    trials: usize,
}

impl Refinement<f64> for Halved {
    fn refine(&mut self, system: &mut impl StepSystem<f64>, trial: &mut Trial<f64>) -> Evaluated<Option<Refusal>> {
        system.draw((0.5, &[], f64::INFINITY), trial)
    }

    fn learn(&mut self, _: &Trial<f64>) {
        self.trials += 1;
    }
}

#[test]
fn halved_steps_find_the_minimum() {
    let parts = (normal_equations(2, 2), EuclideanSpace, Halved { trials: 0 }, GainRatio::default());
    let report = solve(&mut valley(), &[-1.2, 1.0], parts);
    assert!(report.x.iter().all(|x| (x - 1.0).abs() < 1e-9), "{report}");
    assert!(report.iterations > 30, "half steps halve the distance: {report}");
}
