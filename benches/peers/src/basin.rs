//! `basin`: a trust region on normal equations, over several linear-algebra crates.

use std::convert::Infallible;
use std::marker::PhantomData;

use basin::{Executor, Jacobian, LevenbergMarquardt, PointState, Residual, Solver};
use faer::{Col, Mat};
use nalgebra::{DMatrix, DVector};

use crate::contest::Fit;
use crate::workloads::Workload;

/// Any workload, on nalgebra's matrices and Cholesky factorisation, with default settings.
pub fn nalgebra<W: Workload>(workload: &W, start: &[f64]) -> Fit {
    fit::<W, Nalgebra>(workload, start, LevenbergMarquardt::new())
}

/// The same with relative stopping tests.
pub fn nalgebra_relative<W: Workload>(workload: &W, start: &[f64]) -> Fit {
    fit::<W, Nalgebra>(workload, start, with_relative_tests(LevenbergMarquardt::new()))
}

/// Any workload, on faer's matrices and Cholesky factorisation, with default settings.
pub fn faer<W: Workload>(workload: &W, start: &[f64]) -> Fit {
    cleaned_up(fit::<W, Faer>(workload, start, LevenbergMarquardt::new()))
}

/// The same with relative stopping tests.
pub fn faer_relative<W: Workload>(workload: &W, start: &[f64]) -> Fit {
    cleaned_up(fit::<W, Faer>(workload, start, with_relative_tests(LevenbergMarquardt::new())))
}

/// Adds the stopping tests and tolerances that MINPACK's other descendants here use.
///
/// By default only an absolute gradient test is on. Data on a large scale never pass it, and their fits go on until a
/// step is lost to rounding; a user who minds the time turns these on.
fn with_relative_tests<V, M>(solver: LevenbergMarquardt<V, M>) -> LevenbergMarquardt<V, M> {
    let tolerance = 30.0 * f64::EPSILON;
    solver
        .with_relative_model_reduction_tolerance(tolerance)
        .with_relative_step_tolerance(tolerance)
        .with_gradient_orthogonality_tolerance(tolerance)
}

/// Cleans the vector registers after a fit on faer, for the sake of whoever runs next.
///
/// Within the fit they stay as faer's products left them, because that is what a user of the crate gets.
fn cleaned_up(fit: Fit) -> Fit {
    clear_upper_halves();
    fit
}

fn fit<'a, W, B>(workload: &'a W, start: &[f64], solver: LevenbergMarquardt<B::Vector, B::Matrix>) -> Fit
where
    W: Workload,
    B: Backend,
    LevenbergMarquardt<B::Vector, B::Matrix>: Solver<Problem<'a, W, B>, PointState<B::Vector>, Error = Infallible>,
{
    let problem = Problem { workload, backend: PhantomData::<B> };
    let start = PointState::new(B::vector(start.to_vec()));
    let Ok(result) = Executor::new(problem, solver, start).run();
    let evaluations = usize::try_from(result.counts.residual_evals).ok();
    Fit { parameters: B::values(result.param()).to_vec(), evaluations }
}

/// The vectors and matrices of a linear-algebra crate, as slices.
trait Backend {
    type Vector: Clone;
    type Matrix;

    fn vector(values: Vec<f64>) -> Self::Vector;
    fn values(vector: &Self::Vector) -> &[f64];
    fn values_mut(vector: &mut Self::Vector) -> &mut [f64];
    fn zeros(rows: usize, columns: usize) -> Self::Matrix;
    fn columns(matrix: &mut Self::Matrix) -> Vec<&mut [f64]>;
}

struct Nalgebra;

impl Backend for Nalgebra {
    type Vector = DVector<f64>;
    type Matrix = DMatrix<f64>;

    fn vector(values: Vec<f64>) -> DVector<f64> {
        values.into()
    }

    fn values(vector: &DVector<f64>) -> &[f64] {
        vector.as_slice()
    }

    fn values_mut(vector: &mut DVector<f64>) -> &mut [f64] {
        vector.as_mut_slice()
    }

    fn zeros(rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::zeros(rows, columns)
    }

    fn columns(matrix: &mut DMatrix<f64>) -> Vec<&mut [f64]> {
        let rows = matrix.nrows();
        matrix.as_mut_slice().chunks_exact_mut(rows).collect()
    }
}

struct Faer;

impl Backend for Faer {
    type Vector = Col<f64>;
    type Matrix = Mat<f64>;

    fn vector(values: Vec<f64>) -> Col<f64> {
        values.into_iter().collect()
    }

    fn values(vector: &Col<f64>) -> &[f64] {
        vector.try_as_col_major().expect("an owned column is contiguous").as_slice()
    }

    fn values_mut(vector: &mut Col<f64>) -> &mut [f64] {
        vector.try_as_col_major_mut().expect("an owned column is contiguous").as_slice_mut()
    }

    fn zeros(rows: usize, columns: usize) -> Mat<f64> {
        Mat::zeros(rows, columns)
    }

    fn columns(matrix: &mut Mat<f64>) -> Vec<&mut [f64]> {
        let contiguous = "an owned matrix is column-major";
        matrix.col_iter_mut().map(|column| column.try_as_col_major_mut().expect(contiguous).as_slice_mut()).collect()
    }
}

/// A workload over a backend.
///
/// Buffers are reused wherever the crate offers them. Its Levenberg–Marquardt solver hands in only such as already have
/// the right shape, so they are overwritten as they are.
struct Problem<'a, W, B> {
    workload: &'a W,
    backend: PhantomData<B>,
}

impl<W: Workload, B: Backend> Residual for Problem<'_, W, B> {
    type Param = B::Vector;
    type Output = B::Vector;
    type Error = Infallible;

    fn residual(&self, p: &B::Vector) -> Result<B::Vector, Infallible> {
        let mut r = B::vector(vec![0.0; self.workload.residual_count()]);
        self.workload.residuals(B::values(p), 0, B::values_mut(&mut r));
        Ok(r)
    }

    fn residual_into(&self, p: &B::Vector, r: &mut B::Vector) -> Result<(), Infallible> {
        self.workload.residuals(B::values(p), 0, B::values_mut(r));
        Ok(())
    }
}

impl<W: Workload, B: Backend> Jacobian for Problem<'_, W, B> {
    type Jacobian = B::Matrix;

    fn jacobian(&self, p: &B::Vector) -> Result<B::Matrix, Infallible> {
        self.residual_and_jacobian(p).map(|(_, j)| j)
    }

    fn jacobian_into(&self, p: &B::Vector, j: &mut B::Matrix) -> Result<(), Infallible> {
        let mut r = vec![0.0; self.workload.residual_count()];
        self.workload.linearize_columns(B::values(p), &mut r, &mut B::columns(j));
        Ok(())
    }

    fn residual_and_jacobian(&self, p: &B::Vector) -> Result<(B::Vector, B::Matrix), Infallible> {
        let mut r = B::vector(vec![0.0; self.workload.residual_count()]);
        let mut j = B::zeros(self.workload.residual_count(), self.workload.parameter_count());
        self.workload.linearize_columns(B::values(p), B::values_mut(&mut r), &mut B::columns(&mut j));
        Ok((r, j))
    }
}

/// Clears the upper halves of the vector registers where a processor has them.
///
/// faer's AVX-512 products leave them dirty, and until something clears them SSE instructions can run at half their
/// speed: the models of all other contestants might pay for it.
fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has just said that it knows AVX.
        unsafe { zero_upper() }
    }
}

/// # Safety
///
/// The processor must know AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn zero_upper() {
    std::arch::x86_64::_mm256_zeroupper();
}
