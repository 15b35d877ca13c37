//! Truncated conjugate gradients, on networks of which only products with the Jacobian are known; and products that fail.

use std::ops::Range;

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{MeanSquaredError, Network, Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::{Optimizer, OptimizerError};
use marquardt::problem::{Capabilities, JacobianProducts, NotLeastSquares, Objective, ProductWork};
use marquardt::variables::Gradients;
use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt, Real, SolveError, Variables};
use ndarray::Array2;

/// A network that only multiplies by its Jacobian and the transpose, so many times.
struct ByProducts<T> {
    network: Network<T>,
    products_left: usize,
    /// Whether it multiplies by its Jacobian, too, and not by the transpose alone.
    knows_forward: bool,
}

impl<T: Real> ByProducts<T> {
    fn count(&mut self) -> Result<(), EvaluationError> {
        self.products_left = self.products_left.checked_sub(1).ok_or("the device is out of memory")?;
        Ok(())
    }
}

impl<T: Real> LeastSquares<T> for ByProducts<T> {
    fn parameter_count(&self) -> usize {
        self.network.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.network.residual_count()
    }

    fn row_group(&self) -> usize {
        self.network.row_group()
    }

    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        self.network.residuals(x, first, r)
    }

    fn linearize(&mut self, _: &[T], _: usize, _: &mut [T], _: &mut [T]) -> Result<(), EvaluationError> {
        Err("rows of the Jacobian are not known".into())
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

impl<T: Real> Capabilities<T> for ByProducts<T> {
    fn cost_of(&mut self, first: usize, r: &[T]) -> Option<T> {
        self.network.cost_of(first, r)
    }

    fn second_directional_derivative(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.network.second_directional_derivative(x, v, first, second)
    }

    fn products(&mut self) -> Option<&mut dyn JacobianProducts<T>> {
        Some(self)
    }
}

impl<T: Real> JacobianProducts<T> for ByProducts<T> {
    fn work(&mut self, columns: &[Range<usize>]) -> Option<ProductWork> {
        let work = self.network.products()?.work(columns)?;
        Some(ProductWork { row_gram: None, jacobian: None, ..work })
    }

    fn linearize_products(&mut self, x: &[T], columns: &[Range<usize>], r: &mut [T]) -> Result<T, EvaluationError> {
        self.network.linearize_products(x, columns, r)
    }

    fn multiply(&mut self, v: &[T], product: &mut [T]) -> Result<bool, EvaluationError> {
        self.count()?;
        if self.knows_forward { self.network.multiply(v, product) } else { Ok(false) }
    }

    fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) -> Result<(), EvaluationError> {
        self.count()?;
        self.network.multiply_transposed(u, product)
    }
}

impl<T: Real> Objective<T> for ByProducts<T> {
    fn loss(&mut self, x: &[T]) -> Result<T, EvaluationError> {
        self.network.loss(x)
    }

    fn loss_and_gradient(&mut self, x: &[T], gradients: &mut Gradients<T>) -> Result<T, EvaluationError> {
        self.network.loss_and_gradient(x, gradients)
    }

    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<T>, NotLeastSquares> {
        Ok(self)
    }
}

/// A network on a wave, of 25 samples and 37 parameters.
fn regression<T: Real>() -> (ByProducts<T>, Variables<T>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(1).dense(12).tanh().dense(1);
    let mut network = layers.compile(&mut variables, 3, MeanSquaredError).unwrap();
    let x = Array2::from_shape_fn((25, 1), |(i, _)| T::from_f64(i as f64 / 12.0 - 1.0));
    let y = x.mapv(|x| (T::from_f64(3.0) * x).sin());
    network.batch(&[x.view()], &[y.view()]).unwrap();
    (ByProducts { network, products_left: usize::MAX, knows_forward: true }, variables)
}

/// The variables after a few steps.
fn trained(mut optimizer: LevenbergMarquardt<f64>, expected: LinearForm) -> Vec<f64> {
    let (mut problem, mut variables) = regression::<f64>();
    for _ in 0..4 {
        let report = optimizer.step(&mut problem, &mut variables).unwrap();
        assert_eq!(report.damped.unwrap().linear_form, expected);
        assert!(report.applied);
    }
    variables.values().to_vec()
}

#[test]
fn many_rounds_make_the_exact_step() {
    let settings: [fn(LevenbergMarquardt<f64>) -> LevenbergMarquardt<f64>; 3] = [
        |optimizer| optimizer,
        |optimizer| optimizer.with_momentum(0.5),
        |optimizer| optimizer.with_weight_decay(1e-3).with_learning_rate(0.7),
    ];
    for set in settings {
        let truncated = set(LevenbergMarquardt::new().with_truncation(400, 1e-14));
        let found = trained(truncated, LinearForm::TruncatedConjugateGradients);
        let form = LinearForm::ConjugateGradients;
        let exact = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
        let expected = trained(set(exact), form);
        let difference = found.iter().zip(&expected).fold(0.0_f64, |largest, (a, b)| largest.max((a - b).abs()));
        assert!(difference < 1e-5, "{difference:e}");
    }
}

#[test]
fn a_few_rounds_train() {
    fn losses<T: Real>() -> (f64, f64) {
        let (mut problem, mut variables) = regression::<T>();
        let mut optimizer = LevenbergMarquardt::new();
        let mut losses = (0..60).map(|_| optimizer.step(&mut problem, &mut variables).unwrap().loss.to_f64());
        (losses.next().unwrap(), losses.last().unwrap())
    }
    for (first, last) in [losses::<f32>(), losses::<f64>()] {
        assert!(last < 1e-3 * first, "{first:e}, {last:e}");
    }
}

/// Three classes in the plane.
fn classification() -> (ByProducts<f64>, Variables<f64>) {
    let mut variables = Variables::<f64>::new();
    let layers = Sequential::new(2).dense(6).tanh().dense(3);
    let mut network = layers.compile(&mut variables, 3, SparseCategoricalCrossentropy).unwrap();
    let x = Array2::from_shape_fn((30, 2), |(i, j)| ((1.7 * i as f64 + 0.4 * j as f64).sin() + (i % 3) as f64) / 2.0);
    let y = Array2::from_shape_fn((30, 1), |(i, _)| (i % 3) as f64);
    network.batch(&[x.view()], &[y.view()]).unwrap();
    (ByProducts { network, products_left: usize::MAX, knows_forward: true }, variables)
}

#[test]
fn classes_are_learnt() {
    let (mut problem, mut variables) = classification();
    let mut optimizer = LevenbergMarquardt::new();
    let steps = (0..40).map(|_| optimizer.step(&mut problem, &mut variables).unwrap().loss_after.unwrap());
    let last = steps.last().unwrap();
    assert!(last < 0.2, "{last}");
}

/// Of the Jacobian only the transpose is known, and residuals are differenced.
#[test]
fn products_with_the_transpose_are_enough() {
    let steps = |knows_forward: bool| {
        let (mut problem, mut variables) = regression::<f64>();
        problem.knows_forward = knows_forward;
        // Momentum takes a product of its own.
        let mut optimizer = LevenbergMarquardt::new().with_momentum(0.3);
        for _ in 0..5 {
            assert!(optimizer.step(&mut problem, &mut variables).unwrap().applied);
        }
        variables.values().to_vec()
    };
    let difference = steps(true).iter().zip(steps(false)).fold(0.0_f64, |largest, (a, b)| largest.max((a - b).abs()));
    // Rounds of conjugate gradients multiply the errors of differences, of about `√ε`.
    assert!(difference > 0.0 && difference < 1e-3, "{difference:e}");

    // Residuals that stand for a loss have another derivative than `J`.
    let (mut problem, mut variables) = classification();
    problem.knows_forward = false;
    let before = variables.values().to_vec();
    let error = LevenbergMarquardt::new().step(&mut problem, &mut variables).unwrap_err();
    assert!(error.to_string().contains("Jv is not known"), "{error}");
    assert_eq!(variables.values(), before);
}

#[test]
fn a_full_solve_ends_at_a_minimum() {
    let (mut problem, variables) = regression::<f64>();
    let optimizer = LevenbergMarquardt::new().with_max_iterations(300);
    let report = optimizer.minimize(&mut problem, variables.values()).unwrap();
    assert_eq!(report.linear_form, LinearForm::TruncatedConjugateGradients);
    assert!(report.cost < 1e-4 * report.initial_cost, "{report:?}");
}

#[test]
fn products_that_fail_end_the_step_and_change_nothing() {
    for form in [LinearForm::TruncatedConjugateGradients, LinearForm::ConjugateGradients] {
        // The gradient, a product of the rounds, and one of the step after it.
        for products_left in [0, 1, 2, 7] {
            let (mut problem, mut variables) = regression::<f64>();
            let before = variables.values().to_vec();
            problem.products_left = products_left;
            let mut optimizer = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
            let Err(error) = optimizer.step(&mut problem, &mut variables) else { panic!("{form}: {products_left}") };
            assert!(error.to_string().contains("out of memory"), "{error}");
            assert_eq!(variables.values(), before);
            // The next step finds the device as it should be.
            problem.products_left = usize::MAX;
            assert!(optimizer.step(&mut problem, &mut variables).unwrap().applied);
        }
    }
}

#[test]
fn nonsense_is_refused() {
    for (rounds, tolerance, named) in [(0, 0.1, "rounds"), (5, 1.0, "tolerance"), (5, f64::NAN, "tolerance")] {
        let (mut problem, mut variables) = regression::<f64>();
        let optimizer = LevenbergMarquardt::new().with_truncation(rounds, tolerance);
        let error = optimizer.minimize(&mut problem, variables.values()).unwrap_err();
        assert!(matches!(error, SolveError::Setting { .. }) && error.to_string().contains(named), "{error}");
        let error = { optimizer }.step(&mut problem, &mut variables).unwrap_err();
        assert!(matches!(error, OptimizerError::Solve(SolveError::Setting { .. })), "{error:?}");
    }
    // What is not known cannot be asked for.
    let (mut problem, variables) = regression::<f64>();
    for form in [LinearForm::FactoredDual, LinearForm::Cholesky, LinearForm::Qr] {
        let optimizer = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
        assert!(optimizer.minimize(&mut problem, variables.values()).is_err(), "{form}");
    }
}
