//! Problems of closures over vectors and matrices of other libraries.

use std::marker::PhantomData;

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, Matrix, OVector, RawStorage, U1};
use ndarray::{Array1, Array2};

use super::{EvaluationError, LeastSquares};
use crate::real::Real;

/// A vector of another library: nalgebra's `SVector` and `DVector`, ndarray's `Array1`, and faer's `Col` with the feature `faer`.
pub trait DenseVector<T> {
    /// Creates a vector of these entries; panics if the type has another number of them.
    fn from_entries(entries: &[T]) -> Self;
    /// Number of entries.
    fn count(&self) -> usize;
    /// An entry.
    fn entry(&self, i: usize) -> T;
}

/// A matrix of another library: any of nalgebra's, ndarray's `Array2`, and faer's `Mat` with the feature `faer`.
pub trait DenseMatrix<T> {
    /// Numbers of rows and columns.
    fn dimensions(&self) -> (usize, usize);
    /// The entry in this row and column.
    fn entry(&self, i: usize, j: usize) -> T;
}

/// The least-squares problem of a closure that returns a vector of residuals, and of another that returns their Jacobian, over
/// [vectors](DenseVector) and [matrices](DenseMatrix) of nalgebra, ndarray or faer.
///
/// [`minimize_vector`](crate::LevenbergMarquardt::minimize_vector) starts at such a vector, and reports one. A result of another size than
/// that of the problem is an [`EvaluationError`].
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::nalgebra::{Matrix2, Vector2};
/// use marquardt::problem::VectorFunction;
///
/// // Rosenbrock's valley.
/// let mut valley = VectorFunction::new(
///     2,
///     2,
///     |x: &Vector2<f64>| Vector2::new(10.0 * (x.y - x.x * x.x), 1.0 - x.x),
///     |x: &Vector2<f64>| Matrix2::new(-20.0 * x.x, 10.0, -1.0, 0.0),
/// );
/// let report = LevenbergMarquardt::new().minimize_vector(&mut valley, &Vector2::new(-1.2, 1.0))?;
/// assert!((report.x - Vector2::new(1.0, 1.0)).norm() < 1e-12);
/// # Ok::<(), marquardt::SolveError>(())
/// ```
#[derive(Debug, Clone)]
pub struct VectorFunction<V, R, J> {
    parameters: usize,
    residuals: usize,
    function: R,
    jacobian: J,
    vector: PhantomData<fn(&V)>,
}

impl<V, R, J> VectorFunction<V, R, J> {
    /// Creates a problem of this number of parameters and residuals.
    pub fn new<Y, M>(parameters: usize, residuals: usize, function: R, jacobian: J) -> Self
    where
        R: FnMut(&V) -> Y,
        J: FnMut(&V) -> M,
    {
        VectorFunction { parameters, residuals, function, jacobian, vector: PhantomData }
    }
}

impl<T, V, Y, M, R, J> LeastSquares<T> for VectorFunction<V, R, J>
where
    T: Real,
    V: DenseVector<T>,
    Y: DenseVector<T>,
    M: DenseMatrix<T>,
    R: FnMut(&V) -> Y,
    J: FnMut(&V) -> M,
{
    fn parameter_count(&self) -> usize {
        self.parameters
    }

    fn residual_count(&self) -> usize {
        self.residuals
    }

    fn row_group(&self) -> usize {
        self.residuals.max(1)
    }

    fn residuals(&mut self, x: &[T], _: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        let found = (self.function)(&V::from_entries(x));
        if found.count() != r.len() {
            return Err(format!("there are {} residuals instead of {}", found.count(), r.len()).into());
        }
        r.iter_mut().enumerate().for_each(|(i, r)| *r = found.entry(i));
        Ok(())
    }

    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        self.residuals(x, first, r)?;
        let found = (self.jacobian)(&V::from_entries(x));
        let (expected, (rows, columns)) = ((r.len(), x.len()), found.dimensions());
        if (rows, columns) != expected {
            let (m, n) = expected;
            return Err(format!("the Jacobian is {rows} × {columns} instead of {m} × {n}").into());
        }
        jacobian.iter_mut().enumerate().for_each(|(k, entry)| *entry = found.entry(k / columns, k % columns));
        Ok(())
    }
}

impl<T: Real, D: Dim> DenseVector<T> for OVector<T, D>
where
    DefaultAllocator: Allocator<D>,
{
    fn from_entries(entries: &[T]) -> Self {
        OVector::from_iterator_generic(D::from_usize(entries.len()), U1, entries.iter().copied())
    }
    fn count(&self) -> usize {
        self.len()
    }
    fn entry(&self, i: usize) -> T {
        self[i]
    }
}

impl<T: Real, R: Dim, C: Dim, S: RawStorage<T, R, C>> DenseMatrix<T> for Matrix<T, R, C, S> {
    fn dimensions(&self) -> (usize, usize) {
        self.shape()
    }
    fn entry(&self, i: usize, j: usize) -> T {
        self[(i, j)]
    }
}

impl<T: Real> DenseVector<T> for Array1<T> {
    fn from_entries(entries: &[T]) -> Self {
        Array1::from_vec(entries.to_vec())
    }
    fn count(&self) -> usize {
        self.len()
    }
    fn entry(&self, i: usize) -> T {
        self[i]
    }
}

impl<T: Real> DenseMatrix<T> for Array2<T> {
    fn dimensions(&self) -> (usize, usize) {
        self.dim()
    }
    fn entry(&self, i: usize, j: usize) -> T {
        self[[i, j]]
    }
}

#[cfg(feature = "faer")]
impl<T: Real> DenseVector<T> for faer::Col<T> {
    fn from_entries(entries: &[T]) -> Self {
        faer::Col::from_fn(entries.len(), |i| entries[i])
    }
    fn count(&self) -> usize {
        self.nrows()
    }
    fn entry(&self, i: usize) -> T {
        self[i]
    }
}

#[cfg(feature = "faer")]
impl<T: Real> DenseMatrix<T> for faer::Mat<T> {
    fn dimensions(&self) -> (usize, usize) {
        self.shape()
    }
    fn entry(&self, i: usize, j: usize) -> T {
        self[(i, j)]
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector, Matrix2, Vector2};

    use super::*;
    use crate::LevenbergMarquardt;

    fn valley<T: Real>([x, y]: [T; 2]) -> ([T; 2], [[T; 2]; 2]) {
        let ten = T::from_f64(10.0);
        ([ten * (y - x * x), T::ONE - x], [[-(ten + ten) * x, ten], [-T::ONE, T::ZERO]])
    }

    /// Asserts that the valley's floor is found over these vectors and matrices.
    fn finds_the_floor<T: Real, V: DenseVector<T>, M: DenseMatrix<T>>(of: fn(usize, usize, [[T; 2]; 2]) -> M) {
        let point = |x: &V| [x.entry(0), x.entry(1)];
        let function = |x: &V| V::from_entries(&valley(point(x)).0);
        let mut problem = VectorFunction::new(2, 2, function, |x: &V| of(2, 2, valley(point(x)).1));
        let start = V::from_entries(&[-1.2, 1.0].map(T::from_f64));
        let report = LevenbergMarquardt::new().minimize_vector(&mut problem, &start).unwrap();
        assert!(report.is_converged() && report.x.count() == 2, "{:?}", report.status);
        let error = (report.x.entry(0) - T::ONE).abs() + (report.x.entry(1) - T::ONE).abs();
        assert!(error < T::EPSILON * T::from_f64(100.0), "{error}");
    }

    #[test]
    fn every_library_finds_the_floor_of_a_valley() {
        finds_the_floor::<f64, Vector2<f64>, _>(|_, _, j| Matrix2::from_fn(|i, k| j[i][k]));
        finds_the_floor::<f32, Vector2<f32>, _>(|_, _, j| Matrix2::from_fn(|i, k| j[i][k]));
        finds_the_floor::<f64, DVector<f64>, _>(|m, n, j| DMatrix::from_fn(m, n, |i, k| j[i][k]));
        finds_the_floor::<f64, Array1<f64>, _>(|m, n, j| Array2::from_shape_fn((m, n), |(i, k)| j[i][k]));
        #[cfg(feature = "faer")]
        finds_the_floor::<f64, faer::Col<f64>, _>(|m, n, j| faer::Mat::from_fn(m, n, |i, k| j[i][k]));
    }

    #[test]
    fn results_of_another_size_are_errors() {
        let start = DVector::from_vec(vec![1.0, 2.0]);
        let solve = |rows: usize, columns: usize, count: usize| {
            let function = move |_: &DVector<f64>| DVector::from_element(count, 1.0);
            let jacobian = move |_: &DVector<f64>| DMatrix::from_element(rows, columns, 1.0);
            let mut problem = VectorFunction::new(2, 3, function, jacobian);
            LevenbergMarquardt::new().minimize_vector(&mut problem, &start)
        };
        assert!(solve(3, 2, 3).is_ok());
        for (rows, columns, count, words) in [(3, 2, 4, "4 residuals"), (2, 3, 3, "2 × 3"), (0, 0, 3, "0 × 0")] {
            let error = solve(rows, columns, count).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
