//! `levenberg-marquardt`: MINPACK's trust region over nalgebra, sizes static or dynamic.

use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{Const, DMatrix, DVector, Dyn, SMatrix, SVector};

use crate::contest::Fit;
use crate::workloads::{Family, ManyCurves, Misra1a, Workload};

/// Any workload, with sizes known at run time.
pub fn dynamic<W: Workload>(workload: &W, start: &[f64]) -> Fit {
    let problem = Dynamic { workload, p: DVector::from_column_slice(start) };
    let (solved, report) = LevenbergMarquardt::new().minimize(problem);
    Fit { parameters: solved.p.as_slice().to_vec(), evaluations: Some(report.number_of_evaluations) }
}

/// Misra1a, with sizes known to the compiler: nothing is allocated.
pub fn misra1a(workload: &Misra1a, start: &[f64]) -> Fit {
    let problem =
        Static::<_, { Misra1a::POINTS }, { Misra1a::PARAMETERS }> { workload, p: SVector::from_column_slice(start) };
    let (solved, report) = LevenbergMarquardt::new().minimize(problem);
    Fit { parameters: solved.p.as_slice().to_vec(), evaluations: Some(report.number_of_evaluations) }
}

/// Curves of four parameters and 64 points, with sizes known to the compiler: nothing is allocated.
pub fn many<F: Family>(curves: &ManyCurves<F>) -> Vec<f64> {
    let mut parameters = Vec::with_capacity(curves.start.len());
    for curve in curves.each() {
        let problem = Static::<_, 64, 4> { workload: &curve, p: SVector::from(*curve.start) };
        let (solved, _) = LevenbergMarquardt::new().minimize(problem);
        parameters.extend_from_slice(solved.p.as_slice());
    }
    parameters
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

/// Any workload of `M` residuals and `N` parameters.
struct Static<'a, W, const M: usize, const N: usize> {
    workload: &'a W,
    p: SVector<f64, N>,
}

impl<W: Workload, const M: usize, const N: usize> LeastSquaresProblem<f64, Const<M>, Const<N>> for Static<'_, W, M, N> {
    type ResidualStorage = Owned<f64, Const<M>>;
    type JacobianStorage = Owned<f64, Const<M>, Const<N>>;
    type ParameterStorage = Owned<f64, Const<N>>;

    fn set_params(&mut self, p: &SVector<f64, N>) {
        self.p = *p;
    }

    fn params(&self) -> SVector<f64, N> {
        self.p
    }

    fn residuals(&self) -> Option<SVector<f64, M>> {
        let mut r = SVector::<f64, M>::zeros();
        self.workload.residuals(self.p.as_slice(), 0, r.as_mut_slice());
        Some(r)
    }

    fn jacobian(&self) -> Option<SMatrix<f64, M, N>> {
        let (mut r, mut j) = ([0.0; M], SMatrix::<f64, M, N>::zeros());
        let mut columns = j.as_mut_slice().chunks_exact_mut(M);
        let mut columns: [&mut [f64]; N] = std::array::from_fn(|_| columns.next().expect("a column a parameter"));
        self.workload.linearize_columns(self.p.as_slice(), &mut r, &mut columns);
        Some(j)
    }
}
