//! `rmpfit`: CMPFIT in Rust, on plain slices.

use rmpfit::{MPFitter, MPPar, MPResult, MPSide};

use crate::contest::Fit;
use crate::workloads::{Family, ManyCurves, Workload};

/// Any workload, every derivative supplied by the user.
pub fn analytic<W: Workload>(workload: &W, start: &[f64]) -> Fit {
    let mut parameters = start.to_vec();
    let settings = start.iter().map(|_| MPPar { side: MPSide::User, ..MPPar::new() }).collect();
    let status = Problem { workload, settings }.mpfit(&mut parameters);
    Fit { parameters, evaluations: status.ok().map(|status| status.n_fev) }
}

/// Many curves, one after the other.
pub fn many<F: Family>(curves: &ManyCurves<F>) -> Vec<f64> {
    curves.each().flat_map(|curve| analytic(&curve, curve.start).parameters).collect()
}

struct Problem<'a, W> {
    workload: &'a W,
    settings: Vec<MPPar>,
}

impl<W: Workload> MPFitter for Problem<'_, W> {
    fn eval(&mut self, p: &[f64], r: &mut [f64]) -> MPResult<()> {
        self.workload.residuals(p, 0, r);
        Ok(())
    }

    fn number_of_points(&self) -> usize {
        self.workload.residual_count()
    }

    fn parameters(&self) -> &[MPPar] {
        &self.settings
    }

    fn jacobian(&mut self, p: &[f64], r: &mut [f64], columns: &mut [Option<Vec<f64>>]) -> MPResult<()> {
        let mut columns: Vec<&mut [f64]> = columns.iter_mut().flatten().map(Vec::as_mut_slice).collect();
        self.workload.linearize_columns(p, r, &mut columns);
        Ok(())
    }
}
