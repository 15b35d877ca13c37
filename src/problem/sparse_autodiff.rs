//! A residual function written once for every scalar, with a known pattern of its Jacobian.

use super::autodiff::{AutoDiff, Residuals};
use super::sparsity::{Sparsity, SparsityError};
use super::{BlockJacobian, Capabilities, EvaluationError, LeastSquares};
use crate::autodiff::Dual;
use crate::real::Real;

/// Rows that are differentiated at once; more for larger groups of rows.
const STRIP: usize = 256;

/// The least-squares problem of a [`Residuals`] function whose Jacobian has a known [pattern](Sparsity), with exact derivatives by
/// [`Dual`] numbers. Made by [`AutoDiff::with_sparsity`].
#[derive(Debug, Clone)]
pub struct SparseAutoDiff<F> {
    function: F,
    sparsity: Sparsity,
    /// Colour of each column.
    colors: Vec<u32>,
}

impl<F> AutoDiff<F> {
    /// Pattern of the Jacobian, for problems whose residuals depend on few of many parameters (SciPy's `jac_sparsity`): one
    /// direction for each [colour](Sparsity::color_count) in place of each parameter, up to 15 in a pass, and a sparse linear
    /// system. One more direction, in which all parameters move, shows whether the pattern has all entries: an evaluation fails with
    /// [`SparsityError::Entry`] ([inside](EvaluationError::downcast_ref) of its error) where a residual depends on a parameter that is not in its row.
    ///
    /// ```
    /// use marquardt::{AutoDiff, EvaluationError, LevenbergMarquardt, Residuals, Scalar};
    /// use marquardt::problem::Sparsity;
    ///
    /// /// Broyden's tridiagonal function.
    /// struct Broyden(usize);
    ///
    /// impl Residuals<f64> for Broyden {
    ///     fn parameter_count(&self) -> usize {
    ///         self.0
    ///     }
    ///     fn residual_count(&self) -> usize {
    ///         self.0
    ///     }
    ///     fn evaluate<S: Scalar<Real = f64>>(
    ///         &self,
    ///         x: &[S],
    ///         first: usize,
    ///         r: &mut [S],
    ///     ) -> Result<(), EvaluationError> {
    ///         for (i, r) in (first..).zip(r) {
    ///             *r = x[i] * (-x[i] * 2.0 + 3.0) + 1.0;
    ///             if i > 0 {
    ///                 *r -= x[i - 1];
    ///             }
    ///             if i + 1 < self.0 {
    ///                 *r -= x[i + 1] * 2.0;
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let n = 1000;
    /// let mut problem = AutoDiff(Broyden(n)).with_sparsity(Sparsity::banded(n, 1, 1))?;
    /// let report = LevenbergMarquardt::new().minimize(&mut problem, &vec![-1.0; n])?;
    /// assert!(report.is_converged() && report.cost < 1e-20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SparsityError::Size`].
    pub fn with_sparsity<T: Real>(self, sparsity: Sparsity) -> Result<SparseAutoDiff<F>, SparsityError>
    where
        F: Residuals<T>,
    {
        sparsity.check(self.0.residual_count(), self.0.parameter_count())?;
        let mut colors = vec![0; sparsity.columns()];
        for (color, columns) in sparsity.colors().iter().enumerate() {
            columns.iter().for_each(|&column| colors[column] = color as u32);
        }
        Ok(SparseAutoDiff { function: self.0, sparsity, colors })
    }
}

/// Share of column `j` in the direction in which all columns move: between a half and one, and different for neighbours.
fn share<T: Real>(j: usize) -> T {
    let fraction = (j as f64 * 0.618_033_988_749_894_9).fract();
    T::from_f64(0.5 + 0.5 * fraction)
}

impl<F> SparseAutoDiff<F> {
    /// Fills `r` and the entries of these rows, in the order of the pattern.
    fn fill<T: Real>(&self, x: &[T], first: usize, r: &mut [T], entries: &mut [T]) -> Result<(), EvaluationError>
    where
        F: Residuals<T>,
    {
        match self.sparsity.color_count() {
            0..=3 => self.fill_in_passes::<T, 4>(x, first, r, entries),
            4..=7 => self.fill_in_passes::<T, 8>(x, first, r, entries),
            _ => self.fill_in_passes::<T, 16>(x, first, r, entries),
        }
    }

    /// [`fill`](Self::fill) by passes of `W` directions. In the last direction all columns move.
    fn fill_in_passes<T: Real, const W: usize>(
        &self,
        x: &[T],
        first: usize,
        r: &mut [T],
        entries: &mut [T],
    ) -> Result<(), EvaluationError>
    where
        F: Residuals<T>,
    {
        let colors = self.sparsity.color_count();
        let start = self.sparsity.places(first).start;
        let group = self.function.row_group().max(1);
        let strip = group * STRIP.div_ceil(group);
        let mut moving: Vec<Dual<T, W>> = Vec::with_capacity(x.len());
        let mut rows = vec![Dual::constant(T::ZERO); strip.min(r.len())];
        for pass in (0..colors.max(1)).step_by(W - 1) {
            let is_last = pass + W > colors;
            moving.clear();
            moving.extend(x.iter().zip(&self.colors).enumerate().map(|(j, (&value, &color))| {
                let mut dual = Dual::constant(value);
                if let Some(lane) = (color as usize).checked_sub(pass).filter(|&lane| lane < W - 1) {
                    dual.gradient[lane] = T::ONE;
                }
                if is_last {
                    dual.gradient[W - 1] = share(j);
                }
                dual
            }));
            for (block, r) in r.chunks_mut(strip).enumerate() {
                let rows = &mut rows[..r.len()];
                let begin = first + block * strip;
                self.function.evaluate(&moving, begin, rows)?;
                for (row, (dual, r)) in (begin..).zip(rows.iter().zip(r)) {
                    *r = dual.value;
                    let columns = self.sparsity.row(row);
                    let own = self.sparsity.places(row);
                    let entries = &mut entries[own.start - start..own.end - start];
                    for (&column, entry) in columns.iter().zip(&mut *entries) {
                        let color = self.colors[column as usize] as usize;
                        if let Some(lane) = color.checked_sub(pass).filter(|&lane| lane < W - 1) {
                            *entry = dual.gradient[lane];
                        }
                    }
                    if is_last {
                        self.check_row(x, row, entries, dual.gradient[W - 1])?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns true if the entries of the pattern explain the row's derivative in the direction in which all columns move.
    fn check_row<T: Real>(&self, x: &[T], row: usize, entries: &[T], along: T) -> Result<(), EvaluationError>
    where
        F: Residuals<T>,
    {
        let (mut sum, mut size) = (T::ZERO, T::ZERO);
        for (&column, &entry) in self.sparsity.row(row).iter().zip(entries) {
            let part = entry * share(column as usize);
            sum += part;
            size += part.abs();
        }
        let tolerance = T::EPSILON.sqrt() * (size + along.abs());
        if (along - sum).abs() > tolerance { self.find_entry(x, row, tolerance) } else { Ok(()) }
    }

    /// Names the first column outside of the pattern on which a row depends by more than rounding.
    #[cold]
    fn find_entry<T: Real>(&self, x: &[T], row: usize, tolerance: T) -> Result<(), EvaluationError>
    where
        F: Residuals<T>,
    {
        const W: usize = 16;
        let group = self.function.row_group().max(1);
        let mut rows = vec![Dual::<T, W>::constant(T::ZERO); group];
        for first in (0..x.len()).step_by(W) {
            let moving: Vec<Dual<T, W>> =
                x.iter().enumerate().map(|(j, &value)| Dual::variable(value, j.wrapping_sub(first))).collect();
            self.function.evaluate(&moving, row - row % group, &mut rows)?;
            let gradient = &rows[row % group].gradient[..W.min(x.len() - first)];
            let is_outside = |column: usize| self.sparsity.row(row).binary_search(&(column as u32)).is_err();
            let mut columns = (first..).zip(gradient);
            if let Some((column, _)) = columns.find(|&(column, entry)| entry.abs() > tolerance && is_outside(column)) {
                return Err(EvaluationError::new(SparsityError::Entry { row, column }));
            }
        }
        Ok(())
    }
}

impl<T: Real, F: Residuals<T>> BlockJacobian<T> for SparseAutoDiff<F> {
    fn column_blocks(&self) -> Vec<usize> {
        vec![1; self.sparsity.columns()]
    }

    fn visit_structure(&self, visit: &mut dyn FnMut(&[usize])) {
        self.sparsity.visit_rows(visit);
    }

    fn linearize_blocks(&mut self, x: &[T], visit: &mut dyn FnMut(&[T], &[T])) -> Result<T, EvaluationError> {
        let mut r = vec![T::ZERO; self.sparsity.rows()];
        let mut entries = vec![T::ZERO; self.sparsity.entries()];
        self.fill(x, 0, &mut r, &mut entries)?;
        for (row, r) in r.chunks_exact(1).enumerate() {
            visit(r, &entries[self.sparsity.places(row)]);
        }
        Ok(T::from_f64(0.5) * r.iter().fold(T::ZERO, |sum, &r| sum + r * r))
    }
}

impl<T: Real, F: Residuals<T>> LeastSquares<T> for SparseAutoDiff<F> {
    fn parameter_count(&self) -> usize {
        self.function.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.function.residual_count()
    }

    fn row_group(&self) -> usize {
        self.function.row_group()
    }

    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        self.function.evaluate(x, first, r)
    }

    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        if r.is_empty() {
            return Ok(());
        }
        let start = self.sparsity.places(first).start;
        let mut entries = vec![T::ZERO; self.sparsity.places(first + r.len() - 1).end - start];
        self.fill(x, first, r, &mut entries)?;
        jacobian.fill(T::ZERO);
        for (row, jacobian) in (first..).zip(jacobian.chunks_exact_mut(x.len())) {
            let places = self.sparsity.places(row);
            let own = self.sparsity.row(row).iter().zip(&entries[places.start - start..places.end - start]);
            own.for_each(|(&column, &entry)| jacobian[column as usize] = entry);
        }
        Ok(())
    }

    fn parameter_name(&self, index: usize) -> String {
        self.function.parameter_name(index)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

impl<T: Real, F: Residuals<T>> Capabilities<T> for SparseAutoDiff<F> {
    fn blocks(&mut self) -> Option<&mut dyn BlockJacobian<T>> {
        Some(self)
    }

    fn derivatives_are_cheap(&mut self) -> Option<bool> {
        Some(self.sparsity.color_count() <= 15)
    }
}
