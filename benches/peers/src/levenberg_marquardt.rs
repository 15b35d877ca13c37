//! `levenberg-marquardt`: MINPACK's trust region over nalgebra, sizes static or dynamic.

use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{Const, DMatrix, DVector, Dyn, SMatrix, SVector, Vector2};

use crate::contest::Fit;
use crate::workloads::{Misra1a, Workload};

/// Any workload, with sizes known at run time.
pub fn dynamic<W: Workload>(workload: &W, start: &[f64]) -> Fit {
    let problem = Dynamic { workload, p: DVector::from_column_slice(start) };
    let (solved, report) = LevenbergMarquardt::new().minimize(problem);
    Fit { parameters: solved.p.as_slice().to_vec(), evaluations: Some(report.number_of_evaluations) }
}

/// Misra1a, with sizes known to the compiler: nothing is allocated.
pub fn misra1a(workload: &Misra1a, start: &[f64]) -> Fit {
    let problem = Static { workload, p: Vector2::from_column_slice(start) };
    let (solved, report) = LevenbergMarquardt::new().minimize(problem);
    Fit { parameters: solved.p.as_slice().to_vec(), evaluations: Some(report.number_of_evaluations) }
}

struct Dynamic<'a, W> {
    workload: &'a W,
    p: DVector<f64>,
}

impl<W: Workload> LeastSquaresProblem<f64, Dyn, Dyn> for Dynamic<'_, W> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, p: &DVector<f64>) {
        self.p.copy_from(p);
    }

    fn params(&self) -> DVector<f64> {
        self.p.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        let mut r = vec![0.0; self.workload.residual_count()];
        self.workload.residuals(self.p.as_slice(), 0, &mut r);
        Some(r.into())
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let (m, n) = (self.workload.residual_count(), self.p.len());
        let (mut r, mut j) = (vec![0.0; m], vec![0.0; m * n]);
        let mut columns: Vec<&mut [f64]> = j.chunks_exact_mut(m).collect();
        self.workload.linearize_columns(self.p.as_slice(), &mut r, &mut columns);
        Some(DMatrix::from_vec(m, n, j))
    }
}

const M: usize = Misra1a::POINTS;
const N: usize = Misra1a::PARAMETERS;

struct Static<'a> {
    workload: &'a Misra1a,
    p: Vector2<f64>,
}

impl LeastSquaresProblem<f64, Const<M>, Const<N>> for Static<'_> {
    type ResidualStorage = Owned<f64, Const<M>>;
    type JacobianStorage = Owned<f64, Const<M>, Const<N>>;
    type ParameterStorage = Owned<f64, Const<N>>;

    fn set_params(&mut self, p: &Vector2<f64>) {
        self.p = *p;
    }

    fn params(&self) -> Vector2<f64> {
        self.p
    }

    fn residuals(&self) -> Option<SVector<f64, M>> {
        let mut r = SVector::<f64, M>::zeros();
        self.workload.residuals(self.p.as_slice(), 0, r.as_mut_slice());
        Some(r)
    }

    fn jacobian(&self) -> Option<SMatrix<f64, M, N>> {
        let (mut r, mut j) = ([0.0; M], SMatrix::<f64, M, N>::zeros());
        let (first, second) = j.as_mut_slice().split_at_mut(M);
        self.workload.linearize_columns(self.p.as_slice(), &mut r, &mut [first, second]);
        Some(j)
    }
}
