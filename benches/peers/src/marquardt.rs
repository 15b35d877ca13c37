//! `marquardt`: this library, at its default settings.

use marquardt::{FixedAutoDiff, LevenbergMarquardt};
use nalgebra_of_marquardt::SVector;

use crate::contest::Fit;
use crate::problems::{Analytic, Misra1aResiduals};
use crate::workloads::{Misra1a, Workload};

/// Any workload, with its derivatives by hand.
pub fn analytic<W: Workload>(workload: &W, start: &[f64]) -> Fit {
    let solver = LevenbergMarquardt::new().with_log(false);
    let report = solver.minimize(&mut Analytic(workload), start).expect("the start is valid");
    let evaluations = report.evaluations.residuals + report.evaluations.jacobians;
    Fit { parameters: report.x, evaluations: Some(evaluations) }
}

/// Misra1a with its size known to the compiler and dual numbers: nothing is allocated.
pub fn misra1a(workload: &Misra1a, start: &[f64]) -> Fit {
    let mut problem = FixedAutoDiff::<_, 2>(Misra1aResiduals(workload));
    let start = SVector::from([start[0], start[1]]);
    let report = LevenbergMarquardt::new().minimize_fixed(&mut problem, start).expect("the start is valid");
    let evaluations = report.evaluations.residuals + report.evaluations.jacobians;
    Fit { parameters: report.x.as_slice().to_vec(), evaluations: Some(evaluations) }
}
