//! An answer that does not depend on any contestant's stopping test.

use nalgebra::{DMatrix, DVector};

use crate::workloads::Workload;

/// Gauss–Newton steps taken. Each gains about two digits on these workloads, and a converged fit brings eight.
const STEPS: usize = 4;

/// `parameters`, carried on to the nearby minimiser by undamped Gauss–Newton steps, which nothing but the gradient
/// drives; as far as the parameters can be told apart.
pub fn refined<W: Workload>(workload: &W, parameters: &[f64]) -> Vec<f64> {
    let mut p = DVector::from_column_slice(parameters);
    for _ in 0..STEPS {
        let Some(step) = step(workload, &p) else { break };
        p -= step;
    }
    p.as_slice().to_vec()
}

fn step<W: Workload>(workload: &W, p: &DVector<f64>) -> Option<DVector<f64>> {
    let mut r = DVector::zeros(workload.residual_count());
    let mut j = DMatrix::zeros(r.len(), p.len());
    let mut columns: Vec<&mut [f64]> = j.as_mut_slice().chunks_exact_mut(r.len()).collect();
    workload.linearize_columns(p.as_slice(), r.as_mut_slice(), &mut columns);
    let normal = j.transpose() * &j;
    Some(normal.cholesky()?.solve(&j.tr_mul(&r)))
}
