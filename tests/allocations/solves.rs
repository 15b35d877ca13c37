//! What a solve takes from the heap, counted by the allocator: nothing at fixed sizes, nothing for each iteration at
//! dynamic ones, and nothing that grows with the number of rows.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{Huber, MeanSquaredError, Network, SparseCategoricalCrossentropy, Tape};
use marquardt::optim::{
    Adagrad, Adam, AdamW, CosineDecay, Groups, LinearWarmup, MovingAverage, Optimizer, PiecewiseConstantDecay, RmsProp,
    Sgd,
};
use marquardt::problem::{Bounded, FixedAutoDiff, Objective, Robust, Separable, SumOfSquares};
use marquardt::solver::Acceleration;
use marquardt::variables::Gradients;
use marquardt::{
    AutoDiff, Bounds, EvaluationError, LeastSquares, LevenbergMarquardt, Loss, Residuals, Scalar, Variables,
};
use nalgebra::SVector;
use ndarray::{Array2, s};

use crate::allocator::account;

/// `y = b₁·(1 − exp(−b₂·x))`: NIST's Misra1a.
struct Misra1a;

const MISRA_X: [f64; 14] =
    [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0];
const MISRA_Y: [f64; 14] =
    [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78];

impl Residuals<f64> for Misra1a {
    fn parameter_count(&self) -> usize {
        2
    }

    fn residual_count(&self) -> usize {
        MISRA_X.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (r, (&x, &y)) in r.iter_mut().zip(MISRA_X[first..].iter().zip(&MISRA_Y[first..])) {
            *r = b[0] * (-(-b[1] * x).exp() + 1.0) - y;
        }
        Ok(())
    }
}

/// Meyer's function: a long way through a curved valley, accelerated.
struct Meyer;

const MEYER: [f64; 16] = [
    34780.0, 28610.0, 23650.0, 19630.0, 16370.0, 13720.0, 11540.0, 9744.0, 8261.0, 7030.0, 6005.0, 5147.0, 4427.0,
    3820.0, 3307.0, 2872.0,
];
const MEYER_START: [f64; 3] = [0.02, 4000.0, 250.0];

impl Residuals<f64> for Meyer {
    fn parameter_count(&self) -> usize {
        3
    }

    fn residual_count(&self) -> usize {
        MEYER.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (i, r) in (first..).zip(r) {
            *r = b[0] * (b[1] / (b[2] + (50.0 + 5.0 * i as f64))).exp() - MEYER[i];
        }
        Ok(())
    }
}

/// Parameters that only act as a sum, so that the system is singular and goes through QR, and rows for several tiles.
struct Redundant;

impl Residuals<f64> for Redundant {
    fn parameter_count(&self) -> usize {
        3
    }

    fn residual_count(&self) -> usize {
        50
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (i, r) in (first..).zip(r) {
            let x = i as f64 / 50.0;
            *r = b[0] + b[1] + b[2] * x - x.sin();
        }
        Ok(())
    }
}

#[test]
fn the_allocator_counts() {
    let (v, taken) = account(|| vec![0_u8; 1000]);
    assert_eq!((taken.allocations, taken.bytes, taken.peak), (1, 1000, 1000));
    let ((), taken) = account(|| drop(vec![0_u8; 500]));
    assert_eq!((taken.allocations, taken.bytes, taken.peak), (1, 0, 500));
    drop(v);
}

#[test]
fn fixed_sizes_leave_the_heap_alone() {
    let solver = LevenbergMarquardt::new();
    let (misra, taken) =
        account(|| solver.minimize_fixed(&mut FixedAutoDiff::<_, 2>(Misra1a), SVector::from([500.0, 1e-4])).unwrap());
    assert!(misra.is_converged() && (misra.x[0] - 238.94212918).abs() < 1e-7, "{misra}");
    assert_eq!(taken.allocations, 0, "Misra1a");

    let (redundant, taken) =
        account(|| solver.minimize_fixed(&mut FixedAutoDiff::<_, 3>(Redundant), SVector::from([0.0; 3])).unwrap());
    assert!(redundant.is_converged(), "{redundant}");
    assert_eq!(taken.allocations, 0, "a singular system");
}

#[test]
fn acceleration_at_fixed_sizes_leaves_the_heap_alone() {
    for acceleration in [Acceleration::Never, Acceleration::WhereCurved, Acceleration::Always] {
        let solver = LevenbergMarquardt::new().with_acceleration(acceleration);
        let mut problem = FixedAutoDiff::<_, 3>(Meyer);
        let (meyer, taken) = account(|| solver.minimize_fixed(&mut problem, SVector::from(MEYER_START)).unwrap());
        assert!(meyer.is_converged() && (meyer.sum_of_squares() - 87.945855).abs() < 1e-5, "{meyer}");
        assert_eq!(taken.allocations, 0, "{acceleration:?}");
    }
}

/// Room for the curvature of the residuals, a matrix and three vectors, which the normal equations take once several steps have
/// disappointed.
const CURVATURE: usize = 4;

/// Steps within bounds, at fixed sizes and at dynamic ones.
#[test]
fn bounds_leave_the_heap_alone() {
    let bounds = Bounds::new([0.0, 1000.0, 100.0], [0.1, 1e5, 1e4]).unwrap();
    let mut problem = Bounded::new(FixedAutoDiff::<_, 3>(Meyer), bounds.clone()).unwrap();
    let solver = LevenbergMarquardt::new();
    let (meyer, taken) = account(|| solver.minimize_fixed(&mut problem, SVector::from(MEYER_START)).unwrap());
    assert!(meyer.is_converged() && meyer.active.is_empty() && (meyer.sum_of_squares() - 87.945855).abs() < 1e-5);
    assert_eq!(taken.allocations, 0, "{meyer}");

    let mut problem = Bounded::new(AutoDiff(Meyer), bounds).unwrap();
    for form in [LinearForm::Cholesky, LinearForm::Qr] {
        let [_, few, many] = [3, 3, 30].map(|iterations| {
            let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form)).with_log(false);
            let solver = solver.with_max_iterations(iterations);
            let (report, taken) = account(|| solver.minimize(&mut problem, &MEYER_START).unwrap());
            assert_eq!(report.iterations, iterations, "{report}");
            taken.allocations
        });
        assert!([few, few + CURVATURE].contains(&many), "{form:?}: {few}, {many}");
    }
}

/// All forms of the linear system, with and without acceleration.
#[test]
fn iterations_leave_the_heap_alone() {
    let auto = [LinearSolver::Auto];
    let always = [LinearForm::Cholesky, LinearForm::Qr, LinearForm::Dual].map(LinearSolver::Always);
    for form in auto.into_iter().chain(always) {
        for acceleration in [Acceleration::Never, Acceleration::WhereCurved, Acceleration::Always] {
            // The first solve of a thread also pays for what the kernels keep for the thread.
            let [_, few, many] = [3, 3, 30].map(|iterations| {
                let solver = LevenbergMarquardt::new().with_linear_solver(form).with_acceleration(acceleration);
                let solver = solver.with_log(false).with_max_iterations(iterations);
                let (report, taken) = account(|| solver.minimize(&mut AutoDiff(Meyer), &MEYER_START).unwrap());
                assert_eq!(report.iterations, iterations, "{report}");
                taken.allocations
            });
            assert!([few, few + CURVATURE].contains(&many), "{form:?}, {acceleration:?}: {few}, {many}");
        }
    }
}

/// Problems that change another's rows.
#[test]
fn adaptors_leave_the_heap_alone() {
    let solver = |iterations| {
        let solver = LevenbergMarquardt::new().with_acceleration(Acceleration::Always).with_log(false);
        solver.with_max_iterations(iterations)
    };
    let [_, few, many] = [2, 2, 6].map(|iterations| {
        let mut problem = Robust::new(AutoDiff(Meyer), Loss::Cauchy, 1e3).unwrap();
        let (report, taken) = account(|| solver(iterations).minimize(&mut problem, &MEYER_START).unwrap());
        assert_eq!(report.iterations, iterations, "{report}");
        taken.allocations
    });
    assert_eq!(few, many, "Robust");
    let [_, few, many] = [2, 2, 6].map(|iterations| {
        let mut problem = Separable::new(AutoDiff(Meyer), &[0]).unwrap();
        let (report, taken) = account(|| solver(iterations).minimize(&mut problem, &MEYER_START[1..]).unwrap());
        assert_eq!(report.iterations, iterations, "{report}");
        taken.allocations
    });
    assert_eq!(few, many, "Separable");
}

/// A harmonic series through as many rows as wanted, none of which is stored.
struct Series {
    rows: usize,
}

impl LeastSquares<f64> for Series {
    fn parameter_count(&self) -> usize {
        8
    }

    fn residual_count(&self) -> usize {
        self.rows
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        let mut row = [0.0; 8];
        for (i, r) in (first..).zip(r) {
            *r = self.row(i, x, &mut row);
        }
        Ok(())
    }

    fn linearize(
        &mut self,
        x: &[f64],
        first: usize,
        r: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        for ((i, r), row) in (first..).zip(r).zip(jacobian.as_chunks_mut().0) {
            *r = self.row(i, x, row);
        }
        Ok(())
    }
}

impl Series {
    /// A residual and its derivatives.
    fn row(&self, i: usize, x: &[f64], row: &mut [f64; 8]) -> f64 {
        let t = i as f64 / self.rows as f64;
        let mut power = 1.0;
        let mut sum = -(3.0 * t).exp();
        for (x, derivative) in x.iter().zip(row) {
            sum += x * power;
            *derivative = power;
            power *= t;
        }
        sum
    }
}

#[test]
fn memory_does_not_grow_with_rows() {
    let [short, long] = [20_000, 200_000].map(|rows| {
        let solver = LevenbergMarquardt::new().with_max_iterations(3).with_log(false);
        let (report, taken) = account(|| solver.minimize(&mut Series { rows }, &[0.0; 8]).unwrap());
        assert!(report.cost < 1e-2 * report.initial_cost, "{report}");
        taken.peak
    });
    assert_eq!(short, long);
    assert!(long < 1 << 20, "{long} bytes, where the Jacobian has {}", 200_000 * 8 * 8);
}

/// Products with the Jacobian, for two choices of columns by turns.
#[test]
fn products_use_their_memory_again() {
    let mut variables = Variables::new();
    let mut add = |name: &str, rows, columns| {
        let values = Array2::from_shape_fn((rows, columns), |(i, k)| ((i * columns + k) as f64).sin());
        variables.add(name, values.view()).unwrap()
    };
    let (table, hidden, bias, again) =
        (add("table", 10, 2), add("hidden", 9, 5), add("bias", 1, 9), add("again", 9, 9));
    let (head, scale) = (add("head", 2, 9), add("scale", 1, 2));
    let mut tape = Tape::new();
    let (x, numbers) = (tape.input(3), tape.input(1));
    let looked_up = tape.embedding(numbers, table).unwrap();
    let all = tape.concat(&[x, looked_up]).unwrap();
    let mut state = tape.dense(all, hidden, Some(bias)).unwrap();
    for _ in 0..2 {
        let next = tape.dense(state, again, None).unwrap();
        state = tape.tanh(next);
    }
    let y = tape.dense(state, head, None).unwrap();
    let scale = tape.variable(scale);
    let y = tape.mul(y, scale).unwrap();
    let mut network = Network::new(tape, &variables).unwrap().with_loss(y, MeanSquaredError).unwrap();

    let inputs = [
        Array2::from_shape_fn((200, 3), |(i, k)| ((i + k) as f64).cos()),
        Array2::from_shape_fn((200, 1), |(i, _)| (i % 10) as f64),
    ];
    let targets = Array2::from_shape_fn((200, 2), |(i, k)| ((2 * i + k) as f64).sin());
    let (x, n) = (variables.values(), variables.values().len());
    let (mut rows, mut gram, mut product) = (vec![0.0; 400], vec![0.0; 400 * 400], vec![0.0; n]);
    let mut work = |rows_of_batch: usize| {
        let views = inputs.each_ref().map(|input| input.slice(s![..rows_of_batch, ..]));
        network.batch(&views, &[targets.slice(s![..rows_of_batch, ..])]).unwrap();
        for columns in [std::slice::from_ref(&(0..n)), &[0..20, 74..n]] {
            let (m, count) = (2 * rows_of_batch, columns.iter().map(|range| range.len()).sum::<usize>());
            let products = network.capabilities().products().unwrap();
            products.work(columns).unwrap();
            products.linearize_products(x, columns, &mut rows[..m]).unwrap();
            products.row_gram(&mut gram[..m * m]).unwrap();
            assert!(products.row_gram_blocks(&mut gram[..m * 2]).unwrap());
            products.multiply(&x[..count], &mut rows[..m]).unwrap();
            products.multiply_transposed(&rows[..m], &mut product[..count]).unwrap();
        }
    };
    work(200);
    for rows_of_batch in [200, 30, 131, 100, 64, 5] {
        let ((), taken) = account(|| work(rows_of_batch));
        assert_eq!(taken.allocations, 0, "{rows_of_batch} rows");
    }
}

/// Everything that a training loop asks a network for, on batches of several sizes.
#[test]
fn networks_use_their_memory_again() {
    let mut variables = Variables::new();
    let mut add = |name: &str, rows, columns| {
        let values = Array2::from_shape_fn((rows, columns), |(i, k)| ((i * columns + k) as f64).sin());
        variables.add(name, values.view()).unwrap()
    };
    let (table, hidden, head) = (add("table", 10, 2), add("hidden", 20, 5), add("head", 2, 20));
    let mut tape = Tape::new();
    let (x, numbers) = (tape.input(3), tape.input(1));
    let looked_up = tape.embedding(numbers, table).unwrap();
    let all = tape.concat(&[x, looked_up]).unwrap();
    let wide = tape.dense(all, hidden, None).unwrap();
    let wide = tape.gelu(wide);
    let dropped = tape.dropout(wide, 0.1).unwrap();
    let y = tape.dense(dropped, head, None).unwrap();
    let network = Network::new(tape, &variables).unwrap().with_loss(y, MeanSquaredError).unwrap();
    let network = network.with_weighted_loss(y, Huber::default(), 0.5).unwrap();
    let mut network = network.with_loss(y, SparseCategoricalCrossentropy).unwrap();

    let inputs = [
        Array2::from_shape_fn((900, 3), |(i, k)| ((i + k) as f64).cos()),
        Array2::from_shape_fn((900, 1), |(i, _)| (i % 10) as f64),
    ];
    let targets = Array2::from_shape_fn((900, 2), |(i, k)| ((2 * i + k) as f64).sin());
    let labels = Array2::from_shape_fn((900, 1), |(i, _)| (i % 2) as f64);
    let (x, n) = (variables.values(), variables.values().len());
    let mut gradients = Gradients::new(&variables);
    let (mut r, mut jacobian) = (vec![0.0; 100 * 6], vec![0.0; 100 * 6 * n]);
    let (mut rows, mut products) = (vec![0.0; 900 * 6], vec![0.0; n]);
    let mut predictions = Array2::zeros((900, 2));
    let mut work = |rows_of_batch: usize| {
        let views = inputs.each_ref().map(|input| input.slice(s![..rows_of_batch, ..]));
        let targets = [&targets, &targets, &labels].map(|targets| targets.slice(s![..rows_of_batch, ..]));
        network.batch(&views, &targets).unwrap();
        network.loss(x).unwrap();
        network.loss_and_gradient(x, &mut gradients).unwrap();
        network.residuals(x, 0, &mut r).unwrap();
        network.linearize(x, 0, &mut r, &mut jacobian).unwrap();
        network
            .capabilities()
            .linearize_columns(x, 0, &mut r, &[3..7, 90..100], &mut jacobian[..100 * 6 * 14])
            .unwrap();
        network.jacobian_vector(x, x, &mut rows[..rows_of_batch * 6]).unwrap();
        network.jacobian_transposed_vector(x, &rows[..rows_of_batch * 6], &mut products).unwrap();
        network.predict_into(&variables, &views, y, predictions.slice_mut(s![..rows_of_batch, ..])).unwrap();
        network.evaluate(&variables, &views, &targets).unwrap();
        let shuffled = std::array::from_fn::<usize, 100, _>(|k| (k * 37) % rows_of_batch);
        network.batch_rows(&views, &targets, &shuffled).unwrap();
        network.loss_and_gradient(x, &mut gradients).unwrap();
    };
    work(900);
    for rows_of_batch in [900, 100, 731] {
        let ((), taken) = account(|| work(rows_of_batch));
        assert_eq!(taken.allocations, 0, "{rows_of_batch} rows");
    }
}
#[test]
fn optimizers_leave_the_heap_alone_after_the_first_steps() {
    let rates = || PiecewiseConstantDecay::new([2, 4], [0.1, 0.01, 0.001]);
    let optimizers: [Box<dyn Optimizer<f64>>; 9] = [
        Box::new(Sgd::new(0.1)),
        Box::new(Sgd::new(rates()).with_momentum(0.9).with_nesterov(true).with_clipnorm(0.1)),
        Box::new(Adam::new(LinearWarmup::new(3, rates())).with_amsgrad(true).with_ema(0.9)),
        Box::new(Adam::new(0.1).with_lazy_rows(true).with_gradient_accumulation_steps(2)),
        Box::new(AdamW::new(CosineDecay::new(0.1, 100)).with_global_clipnorm(0.1)),
        Box::new(RmsProp::new(0.1).with_centered(true).with_clipvalue(0.1)),
        Box::new(Adagrad::new(0.1).with_l2(0.1)),
        Box::new(MovingAverage::new(Adam::new(0.1))),
        Box::new(Groups::new().with_group(["table"], Adam::new(rates())).with_rest(Sgd::new(0.1).with_momentum(0.9))),
    ];
    for mut optimizer in optimizers {
        let mut variables = Variables::new();
        let table = variables.add("table", Array2::ones((20, 5)).view()).unwrap();
        let weight = variables.add("weight", Array2::ones((4, 5)).view()).unwrap();
        let mut gradients = Gradients::new(&variables);
        let mut step = |t: usize| {
            gradients.clear();
            gradients.dense_mut(weight).fill(0.5);
            for row in [t, 3 * t, t] {
                gradients.add_row(table, row % 20, &[1.0, -1.0, 2.0, -2.0, 0.0]);
            }
            optimizer.apply_gradients(&gradients, &mut variables).unwrap();
        };
        // Accumulated rows change places with new ones: both have been at their most after two rounds.
        (1..5).for_each(&mut step);
        let ((), taken) = account(|| (5..20).for_each(&mut step));
        assert_eq!(taken.allocations, 0, "{}", optimizer.name());
    }
}

#[test]
fn objectives_leave_the_heap_alone_after_the_first_step() {
    let mut series = SumOfSquares::new(Series { rows: 20_000 });
    let mut variables = Variables::new();
    variables.add("x", Array2::zeros((2, 4)).view()).unwrap();
    let mut optimizer: Box<dyn Optimizer<f64>> = Box::new(Adam::new(0.01));
    let first = optimizer.step(&mut series, &mut variables).unwrap();
    let (last, taken) = account(|| (0..5).map(|_| optimizer.step(&mut series, &mut variables).unwrap()).last());
    assert!(last.unwrap().loss < first.loss);
    assert_eq!(taken.allocations, 0);
}
