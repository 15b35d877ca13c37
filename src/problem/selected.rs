//! A problem in some of its parameters, the others held where they are.

use std::ops::Range;

use super::forward::forward;
use super::{
    Bounds, Capabilities, EvaluationError, JacobianProducts, LeastSquares, LeastSquaresExt, ParameterDomain,
    ProductWork,
};
use crate::real::Real;

/// A problem seen as one in the parameters of some `columns`, ascending ranges.
pub(crate) struct Selected<'a, T, P: ?Sized> {
    pub(crate) problem: &'a mut P,
    pub(crate) columns: &'a [Range<usize>],
    pub(crate) memory: &'a mut SelectionMemory<T>,
}

/// Memory of a [`Selected`], kept between uses.
#[derive(Default)]
pub(crate) struct SelectionMemory<T> {
    /// All parameters, those that are held included.
    pub(crate) all: Vec<T>,
    /// The bounds of the selected parameters.
    pub(crate) bounds: Option<Bounds<T>>,
    /// A direction in all parameters.
    direction: Vec<T>,
    /// Rows of the whole Jacobian.
    rows: Vec<T>,
}

impl<T: Real> SelectionMemory<T> {
    /// Memory for a selection of these entries.
    pub(crate) fn of(all: &[T]) -> Self {
        SelectionMemory { all: all.to_vec(), bounds: None, direction: Vec::new(), rows: Vec::new() }
    }

    /// Sets the point and the direction of the selected parameters; the direction is zero along the others.
    fn take_up(&mut self, x: &[T], v: &[T], columns: &[Range<usize>]) {
        scatter(&mut self.all, x, columns);
        self.direction.clear();
        self.direction.resize(self.all.len(), T::ZERO);
        scatter(&mut self.direction, v, columns);
    }
}

/// Returns the number of parameters in these columns.
pub(crate) fn count(columns: &[Range<usize>]) -> usize {
    columns.iter().map(Range::len).sum()
}

/// Copies the entries of these columns to the front of `selected`.
pub(crate) fn gather<T: Copy>(selected: &mut [T], all: &[T], columns: &[Range<usize>]) {
    let mut start = 0;
    for range in columns {
        selected[start..start + range.len()].copy_from_slice(&all[range.clone()]);
        start += range.len();
    }
}

/// Copies `selected` to where these columns are.
pub(crate) fn scatter<T: Copy>(all: &mut [T], selected: &[T], columns: &[Range<usize>]) {
    let mut start = 0;
    for range in columns {
        all[range.clone()].copy_from_slice(&selected[start..start + range.len()]);
        start += range.len();
    }
}

impl<T: Real, P: LeastSquares<T> + ?Sized> LeastSquares<T> for Selected<'_, T, P> {
    fn parameter_count(&self) -> usize {
        count(self.columns)
    }

    forward!(self => self.problem; residual_count row_group);

    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        scatter(&mut self.memory.all, x, self.columns);
        self.problem.residuals(&self.memory.all, first, r)
    }

    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        let SelectionMemory { all, rows, .. } = &mut *self.memory;
        scatter(all, x, self.columns);
        if self.problem.capabilities().linearize_columns(all, first, r, self.columns, jacobian)? {
            return Ok(());
        }
        rows.resize(r.len() * all.len(), T::ZERO);
        self.problem.linearize(all, first, r, rows)?;
        for (selected, row) in jacobian.chunks_exact_mut(x.len()).zip(rows.chunks_exact(all.len())) {
            gather(selected, row, self.columns);
        }
        Ok(())
    }

    fn domain(&self) -> ParameterDomain<'_, T> {
        self.memory.bounds.as_ref().into()
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }

    fn parameter_name(&self, index: usize) -> String {
        let mut left = index;
        for range in self.columns {
            if left < range.len() {
                return self.problem.parameter_name(range.start + left);
            }
            left -= range.len();
        }
        format!("x[{index}]")
    }
}

impl<T: Real, P: LeastSquares<T> + ?Sized> Capabilities<T> for Selected<'_, T, P> {
    forward!(self => self.problem.capabilities(); communicator cost_of derivatives_are_rough keep_evaluations);

    fn derivatives_are_cheap(&mut self) -> Option<bool> {
        Some(self.problem.derivatives_are_cheap())
    }

    fn second_directional_derivative(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.memory.take_up(x, v, self.columns);
        let SelectionMemory { all, direction, .. } = &*self.memory;
        self.problem.capabilities().second_directional_derivative(all, direction, first, second)
    }

    fn second_derivative_product(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
        product: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.memory.take_up(x, v, self.columns);
        let SelectionMemory { all, direction, rows, .. } = &mut *self.memory;
        rows.clear();
        rows.resize(all.len(), T::ZERO);
        scatter(rows, product, self.columns);
        let done = self.problem.capabilities().second_derivative_product(all, direction, first, second, rows)?;
        gather(product, rows, self.columns);
        Ok(done)
    }

    fn transposed_product(
        &mut self,
        x: &[T],
        first: usize,
        u: &[T],
        product: &mut [T],
    ) -> Result<bool, EvaluationError> {
        let SelectionMemory { all, rows, .. } = &mut *self.memory;
        scatter(all, x, self.columns);
        rows.clear();
        rows.resize(all.len(), T::ZERO);
        scatter(rows, product, self.columns);
        let done = self.problem.capabilities().transposed_product(all, first, u, rows)?;
        gather(product, rows, self.columns);
        Ok(done)
    }

    fn products(&mut self) -> Option<&mut dyn JacobianProducts<T>> {
        if self.problem.capabilities().products().is_some() { Some(self) } else { None }
    }
}

/// Products in the selected parameters: the problem's own, for these columns.
impl<T: Real, P: LeastSquares<T> + ?Sized> JacobianProducts<T> for Selected<'_, T, P> {
    fn work(&mut self, _all: &[Range<usize>]) -> Option<ProductWork> {
        self.problem.capabilities().products()?.work(self.columns)
    }

    fn linearize_products(&mut self, x: &[T], _all: &[Range<usize>], r: &mut [T]) -> Result<T, EvaluationError> {
        scatter(&mut self.memory.all, x, self.columns);
        let products = self.problem.capabilities().products().ok_or("the problem has no products any more")?;
        products.linearize_products(&self.memory.all, self.columns, r)
    }

    fn multiply(&mut self, v: &[T], product: &mut [T]) -> Result<bool, EvaluationError> {
        self.own_products()?.multiply(v, product)
    }

    fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) -> Result<(), EvaluationError> {
        self.own_products()?.multiply_transposed(u, product)
    }

    fn row_gram(&mut self, gram: &mut [T]) -> Result<(), EvaluationError> {
        self.own_products()?.row_gram(gram)
    }

    fn row_gram_blocks(&mut self, blocks: &mut [T]) -> Result<bool, EvaluationError> {
        self.own_products()?.row_gram_blocks(blocks)
    }

    fn row_gram_of_residuals(&mut self, blocks: &mut [T]) -> Result<bool, EvaluationError> {
        self.own_products()?.row_gram_of_residuals(blocks)
    }

    fn multiply_row_gram(&mut self, u: &[T], product: &mut [T]) -> Result<bool, EvaluationError> {
        self.own_products()?.multiply_row_gram(u, product)
    }
}

impl<T: Real, P: LeastSquares<T> + ?Sized> Selected<'_, T, P> {
    /// The products that the last linearisation has found.
    fn own_products(&mut self) -> Result<&mut dyn JacobianProducts<T>, EvaluationError> {
        self.problem.capabilities().products().ok_or_else(|| "the problem has no products any more".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Analytic;
    use crate::solver::LevenbergMarquardt;

    /// `r = (a + b + c − 6, a − 1, b c − 6)`, with `b` held.
    #[test]
    fn a_held_parameter_stays_where_it_is() {
        let mut problem = Analytic::new(3, 3, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
            r.copy_from_slice(&[x[0] + x[1] + x[2] - 6.0, x[0] - 1.0, x[1] * x[2] - 6.0]);
            if let Some(jacobian) = jacobian {
                jacobian.copy_from_slice(&[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, x[2], x[1]]);
            }
            Ok(())
        });
        let columns = [0..1, 2..3];
        let mut memory = SelectionMemory::of(&[9.0, 2.0, 9.0]);
        let mut selected = Selected { problem: &mut problem, columns: &columns, memory: &mut memory };
        assert_eq!(selected.parameter_name(1), "x[2]");
        let report = LevenbergMarquardt::new().minimize(&mut selected, &[0.0, 0.0]).unwrap();
        assert!((report.x[0] - 1.0).abs() < 1e-12 && (report.x[1] - 3.0).abs() < 1e-12);
        assert_eq!(memory.all[1], 2.0);
    }
}
