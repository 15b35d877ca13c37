//! What the user's own scalar code costs right after the library was at work in wide registers.
//!
//! Every row times the very same residuals, compiled for plain scalar instructions, once: by themselves, or after a call
//! into the library that is not timed. All rows should be equal. One that is two to three times slower than `by_itself`
//! means that a call returns with the upper halves of the vector registers in use: on many processors every scalar
//! instruction then waits for what it merges into. The compiler ends each function that has wide registers with `vzeroupper`;
//! assembly of another library may not. Processors that keep no such state show nothing.
//!
//! ```text
//! cargo bench --bench upper_halves
//! ```

#[path = "problems/mod.rs"]
mod problems;
#[path = "workloads/mod.rs"]
mod workloads;

use divan::{Bencher, black_box};
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{Function, MeanSquaredError, Network, Sequential};
use marquardt::problem::Objective;
use marquardt::variables::Gradients;
use marquardt::{Covariance, EvaluationError, LeastSquares, LevenbergMarquardt, Variables};
use ndarray::Array2;
use workloads::{ExponentialAndTwoPeaks, Workload};

const POINTS: usize = 1000;

fn main() {
    divan::main();
}

/// Times the residuals of [`ExponentialAndTwoPeaks`] after each `call`.
fn model_after(bencher: Bencher<'_, '_>, mut call: impl FnMut()) {
    let workload = ExponentialAndTwoPeaks::new(POINTS, 1);
    let mut r = vec![0.0; POINTS];
    let mut evaluate = move || {
        workload.residuals(black_box(&ExponentialAndTwoPeaks::START), 0, &mut r);
        black_box(&r);
    };
    // In the caches.
    evaluate();
    bencher.with_inputs(&mut call).bench_local_values(|()| evaluate());
}

/// A linear problem with a Jacobian of cosines, far from singular.
struct Linear {
    m: usize,
    n: usize,
}

impl LeastSquares<f64> for Linear {
    fn parameter_count(&self) -> usize {
        self.n
    }

    fn residual_count(&self) -> usize {
        self.m
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        let mut row = vec![0.0; self.n];
        for (i, r) in r.iter_mut().enumerate() {
            self.fill(first + i, &mut row);
            *r = row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - 1.0;
        }
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        for (i, row) in j.chunks_exact_mut(self.n).enumerate() {
            self.fill(first + i, row);
        }
        self.residuals(x, first, r)
    }
}

impl Linear {
    fn fill(&self, i: usize, row: &mut [f64]) {
        for (j, a) in row.iter_mut().enumerate() {
            *a = if i % self.n == j { 2.0 } else { 0.01 * ((i * j + 1) as f64).cos() };
        }
    }

    /// One step from zero.
    fn step(m: usize, n: usize, form: LinearForm) -> impl FnMut() {
        let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form)).with_max_iterations(1);
        let (mut problem, start) = (Linear { m, n }, vec![0.0; n]);
        move || {
            black_box(solver.minimize(&mut problem, &start)).expect("the start is valid");
        }
    }
}

#[divan::bench(sample_size = 1, sample_count = 500)]
fn by_itself(bencher: Bencher<'_, '_>) {
    model_after(bencher, || {});
}

/// Sums of products, and the Cholesky factorisation, in registers of our own.
#[divan::bench(sample_size = 1, sample_count = 500, args = [3, 8, 20])]
fn after_a_step_by_small_kernels(bencher: Bencher<'_, '_>, n: usize) {
    model_after(bencher, Linear::step(2 * n, n, LinearForm::Cholesky));
}

/// A triangle of a product, and the Cholesky factorisation by panels.
#[divan::bench(sample_size = 1, sample_count = 100)]
fn after_a_wide_step(bencher: Bencher<'_, '_>) {
    model_after(bencher, Linear::step(200, 170, LinearForm::Cholesky));
}

#[divan::bench(sample_size = 1, sample_count = 100)]
fn after_a_step_by_qr(bencher: Bencher<'_, '_>) {
    model_after(bencher, Linear::step(60, 30, LinearForm::Qr));
}

/// The product `JJᵀ`, and the Cholesky factorisation by panels where rows are many.
#[divan::bench(sample_size = 1, sample_count = 100, args = [20, 170])]
fn after_a_step_by_the_dual_form(bencher: Bencher<'_, '_>, rows: usize) {
    model_after(bencher, Linear::step(rows, rows + 30, LinearForm::Dual));
}

/// Singular values.
#[divan::bench(sample_size = 1, sample_count = 100)]
fn after_a_covariance(bencher: Bencher<'_, '_>) {
    let (mut problem, x) = (Linear { m: 60, n: 30 }, vec![0.0; 30]);
    model_after(bencher, move || {
        black_box(Covariance::at(&mut problem, &x)).expect("the point is valid");
    });
}

/// An elementwise function in vector instructions.
#[divan::bench(sample_size = 1, sample_count = 500)]
fn after_an_elementwise_function(bencher: Bencher<'_, '_>) {
    let mut numbers = vec![0.5_f64; 100];
    model_after(bencher, move || Function::Tanh.apply(black_box(&mut numbers)));
}

/// Products of layers, with a vector where a batch is one row.
#[divan::bench(sample_size = 1, sample_count = 100, args = [1, 50])]
fn after_the_gradient_of_a_network(bencher: Bencher<'_, '_>, rows: usize) {
    let mut variables = Variables::<f64>::new();
    let layers = Sequential::new(10).dense(40).tanh().dense(3);
    let mut network: Network<f64> = layers.compile(&mut variables, 0, MeanSquaredError).expect("layers fit");
    let wave = |(i, k)| ((3 * i + 7 * k) as f64 * 0.1).sin();
    let (inputs, targets) = (Array2::from_shape_fn((rows, 10), wave), Array2::from_shape_fn((rows, 3), wave));
    network.batch(&[inputs.view()], &[targets.view()]).expect("arrays fit");
    let mut gradients = Gradients::new(&variables);
    model_after(bencher, move || {
        black_box(network.loss_and_gradient(variables.values(), &mut gradients)).expect("a batch is bound");
    });
}
