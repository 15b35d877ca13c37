//! A least-squares problem as an objective.

use super::{EvaluationError, LeastSquares, LeastSquaresExt, NotLeastSquares, Objective};
use crate::kernels::vector::add_rows_times;
use crate::real::Real;
use crate::variables::Gradients;

/// Entries of Jacobian that are evaluated at once.
const BLOCK: usize = 16 * 1024;

/// A least-squares problem as an [`Objective`] for any optimizer: the loss is its cost `½‖r‖²`, and the gradient is `Jᵀr`, summed over
/// blocks of rows.
///
/// The problem's parameters are the entries of all variables, in order. Bounds are supported by [full
/// solves](crate::LevenbergMarquardt::minimize_variables) only; all other optimizers return an error.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::optim::{Adam, Optimizer};
/// use marquardt::problem::{FiniteDifference, SumOfSquares};
/// use ndarray::array;
///
/// let t = [0.0, 1.0, 2.0, 3.0_f64];
/// let y = [2.0, 1.2, 0.75, 0.45];
/// let mut decay = SumOfSquares::new(FiniteDifference::new(2, 4, |b: &[f64], r: &mut [f64]| {
///     for i in 0..4 {
///         r[i] = b[0] * (-b[1] * t[i]).exp() - y[i];
///     }
///     Ok(())
/// }));
/// let mut variables = Variables::new();
/// let b = variables.add("b", array![1.0, 1.0].view())?;
/// let mut optimizer: Box<dyn Optimizer<f64>> = Box::new(Adam::new(0.05));
/// for _ in 0..500 {
///     optimizer.step(&mut decay, &mut variables)?;
/// }
/// assert!((variables.get(b)[[1]] - 0.5).abs() < 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SumOfSquares<T, P> {
    problem: P,
    residuals: Vec<T>,
    jacobian: Vec<T>,
}

impl<T: Real, P: LeastSquares<T>> SumOfSquares<T, P> {
    /// The cost of this problem.
    pub fn new(problem: P) -> Self {
        SumOfSquares { problem, residuals: Vec::new(), jacobian: Vec::new() }
    }

    /// The problem.
    pub fn problem(&self) -> &P {
        &self.problem
    }

    /// The problem, to change.
    pub fn problem_mut(&mut self) -> &mut P {
        &mut self.problem
    }

    /// Rows in a block: whole groups, at least one.
    fn rows(&self) -> usize {
        let wanted = BLOCK / self.problem.parameter_count().max(1);
        let group = self.problem.row_group().max(1);
        let whole_groups = (wanted / group).max(1) * group;
        whole_groups.min(self.problem.residual_count()).max(1)
    }

    fn check(&self, x: &[T]) -> Result<(), EvaluationError> {
        let (expected, found) = (self.problem.parameter_count(), x.len());
        if expected == found {
            return Ok(());
        }
        Err(format!("the problem has {expected} parameters, but the variables hold {found} numbers").into())
    }
}

impl<T: Real, P: LeastSquares<T>> SumOfSquares<T, P> {
    /// The loss of the rows that are here.
    fn loss_here(&mut self, x: &[T]) -> Result<T, EvaluationError> {
        self.check(x)?;
        let (m, rows) = (self.problem.residual_count(), self.rows());
        self.residuals.resize(rows, T::ZERO);
        let mut loss = T::ZERO;
        for first in (0..m).step_by(rows) {
            let r = &mut self.residuals[..rows.min(m - first)];
            self.problem.residuals(x, first, r)?;
            loss += self.problem.cost_of_rows(first, r);
        }
        Ok(loss)
    }

    /// The loss of the rows that are here, and their gradient, which is dense.
    fn loss_and_gradient_here(&mut self, x: &[T], gradients: &mut Gradients<T>) -> Result<T, EvaluationError> {
        self.check(x)?;
        if self.problem.domain().bounds().is_some_and(|bounds| !bounds.is_unbounded()) {
            return Err("the problem has bounds, which steps along a gradient do not keep; take a full solve".into());
        }
        if self.problem.domain().manifold().is_some() {
            return Err("the problem is on a manifold, which steps along a gradient leave; take a full solve".into());
        }
        gradients.clear();
        let gradient = gradients.flat_mut();
        self.check(gradient)?;
        let (m, n, rows) = (self.problem.residual_count(), x.len(), self.rows());
        self.residuals.resize(rows, T::ZERO);
        self.jacobian.resize(rows * n, T::ZERO);
        let mut loss = T::ZERO;
        for first in (0..m).step_by(rows) {
            let r = &mut self.residuals[..rows.min(m - first)];
            let jacobian = &mut self.jacobian[..r.len() * n];
            self.problem.linearize(x, first, r, jacobian)?;
            loss += self.problem.cost_of_rows(first, r);
            if n > 0 {
                add_rows_times(gradient, jacobian, r);
            }
        }
        Ok(loss)
    }

    /// Sums the losses of all ranks, and numbers besides.
    fn sum_over_ranks(&mut self, loss: Result<T, EvaluationError>, others: &mut [T]) -> Result<T, EvaluationError> {
        let Some(ranks) = self.problem.capabilities().communicator().filter(|ranks| ranks.size() > 1) else {
            return loss;
        };
        let (loss, own) = loss.map_or_else(|error| (T::ZERO, Err(error)), |loss| (loss, Ok(())));
        let mut message = [&*others, &[loss]].concat();
        ranks.try_all_sum(&mut message, own).map_err(EvaluationError::new)?;
        let (sums, loss) = message.split_at(others.len());
        others.copy_from_slice(sums);
        Ok(loss[0])
    }
}

impl<T: Real, P: LeastSquares<T>> Objective<T> for SumOfSquares<T, P> {
    fn loss(&mut self, x: &[T]) -> Result<T, EvaluationError> {
        let loss = self.loss_here(x);
        self.sum_over_ranks(loss, &mut [])
    }

    fn loss_and_gradient(&mut self, x: &[T], gradients: &mut Gradients<T>) -> Result<T, EvaluationError> {
        let loss = self.loss_and_gradient_here(x, gradients);
        self.sum_over_ranks(loss, gradients.flat_mut())
    }

    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<T>, NotLeastSquares> {
        Ok(&mut self.problem)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::variables::Variables;

    /// `r_i = i + x·a_i` with rows in pairs, which must never be torn apart.
    struct Pairs {
        rows: usize,
    }

    impl LeastSquares<f64> for Pairs {
        fn parameter_count(&self) -> usize {
            3
        }

        fn residual_count(&self) -> usize {
            self.rows
        }

        fn row_group(&self) -> usize {
            2
        }

        fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
            let mut jacobian = vec![0.0; 3 * r.len()];
            self.linearize(x, first, r, &mut jacobian)
        }

        fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
            assert!(first.is_multiple_of(2) && r.len().is_multiple_of(2));
            for ((i, r), row) in (first..).zip(r).zip(j.chunks_exact_mut(3)) {
                let i = i as f64;
                row.copy_from_slice(&[i.sin(), i.cos(), 1.0]);
                *r = 0.1 * i + x.iter().zip(row).map(|(x, a)| x * *a).sum::<f64>();
            }
            Ok(())
        }
    }

    fn variables() -> Variables<f64> {
        let mut variables = Variables::new();
        variables.add("a", array![0.5, -1.0].view()).unwrap();
        variables.add("b", array![[2.0]].view()).unwrap();
        variables
    }

    #[test]
    fn blocks_add_up_to_the_derivative_of_the_loss() {
        let rows = 3 * BLOCK / 3 + 8;
        let mut objective = SumOfSquares::new(Pairs { rows });
        let variables = variables();
        let mut gradients = Gradients::new(&variables);
        let loss = objective.loss_and_gradient(variables.values(), &mut gradients).unwrap();
        assert_eq!(loss, objective.loss(variables.values()).unwrap());
        let gradient = gradients.flat_mut().to_vec();
        for (index, gradient) in gradient.into_iter().enumerate() {
            let mut at = |step: f64| {
                let mut x = variables.values().to_vec();
                x[index] += step;
                objective.loss(&x).unwrap()
            };
            let difference = (at(0.5) - at(-0.5)) / 1.0;
            assert!((gradient - difference).abs() < 1e-9 * loss, "{gradient} {difference}");
        }
        assert_eq!(objective.least_squares().unwrap().residual_count(), rows);
    }

    #[test]
    fn another_number_of_variables_is_refused() {
        let mut objective = SumOfSquares::new(Pairs { rows: 4 });
        let error = objective.loss(&[1.0; 4]).unwrap_err();
        assert_eq!(error.to_string(), "the problem has 3 parameters, but the variables hold 4 numbers");
        let mut gradients = Gradients::new(&variables());
        assert!(objective.loss_and_gradient(&[1.0; 2], &mut gradients).is_err());
    }
}
