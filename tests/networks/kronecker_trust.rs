//! Trust of Kronecker-factored Levenberg–Marquardt in its quadratic model.

use marquardt::Variables;
use marquardt::nn::{Network, Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::{KroneckerLevenbergMarquardt, KroneckerStep, Optimizer, StepReport};
use marquardt::variables::{Gradient, Gradients};
use ndarray::Array2;

const CLASSES: usize = 4;

/// Numbers that look random, between −1 and 1.
fn noise(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Array2::from_shape_simple_fn((rows, columns), || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    })
}

/// Classes that look random.
fn random_classes(rows: usize, seed: u64) -> Array2<f64> {
    noise(rows, 1, seed + 1000).mapv(|number| ((number + 1.0) * 0.5 * CLASSES as f64).floor())
}

/// Points with their classes, and a network of one hidden layer.
struct Task {
    network: Network<f64>,
    variables: Variables<f64>,
    x: Array2<f64>,
    y: Array2<f64>,
}

impl Task {
    fn new(x: Array2<f64>, y: Array2<f64>, seed: u64) -> Self {
        Self::of_layers(Sequential::new(x.ncols()).dense(24).tanh().dense(CLASSES), x, y, seed)
    }

    fn of_layers(layers: Sequential<f64>, x: Array2<f64>, y: Array2<f64>, seed: u64) -> Self {
        let mut variables = Variables::new();
        let network = layers.compile(&mut variables, seed, SparseCategoricalCrossentropy).unwrap();
        Task { network, variables, x, y }
    }

    fn loss(&mut self) -> f64 {
        self.network.evaluate(&self.variables, &[self.x.view()], &[self.y.view()]).unwrap()
    }

    fn step(&mut self, rows: &[usize], optimizer: &mut KroneckerLevenbergMarquardt<f64>) -> StepReport<f64> {
        let batch = self.network.batch_rows(&[self.x.view()], &[self.y.view()], rows).unwrap();
        optimizer.step(batch, &mut self.variables).unwrap()
    }

    /// Trains in minibatches, in the order of the rows. Returns the loss over all rows at the end, and the largest that two steps in
    /// succession left: a single bad step is taken back by the one after it.
    fn train(&mut self, batch: usize, steps: usize) -> [f64; 2] {
        let mut optimizer = KroneckerLevenbergMarquardt::new();
        let rows: Vec<usize> = (0..self.x.nrows()).collect();
        let (mut largest, mut last) = (0.0_f64, 0.0_f64);
        for rows in rows.chunks_exact(batch).cycle().take(steps) {
            self.step(rows, &mut optimizer);
            let loss = self.loss();
            largest = largest.max(loss.min(last));
            last = loss;
        }
        [last, largest]
    }
}

/// Inputs of rank two have few directions, of very different curvature. Steps whose length was that of other directions took the
/// loss to many times what it was.
#[test]
fn inputs_of_low_rank_with_random_classes_do_not_diverge() {
    for (seed, rank, batch) in [(0, 2, 256), (1, 2, 64), (2, 1, 256), (3, 2, 256), (4, 3, 32), (5, 2, 256)] {
        let x = noise(256, rank, seed).dot(&(3.0 * noise(rank, 24, seed + 50)));
        let mut task = Task::new(x, random_classes(256, seed), seed);
        let before = task.loss();
        let [last, largest] = task.train(batch, 120);
        assert!(last < before && largest < 1.5 * before, "rank {rank}, batch {batch}: {before} to {largest} to {last}");
    }
}

/// Inputs that tell nothing, or are out of all proportion.
#[test]
fn inputs_that_tell_little_do_not_diverge() {
    let inputs: [(&str, Array2<f64>); 4] = [
        ("zeros", Array2::zeros((256, 24))),
        ("ones", Array2::ones((256, 24))),
        ("tiny", 1e-3 * noise(256, 2, 1).dot(&noise(2, 24, 2))),
        ("large", 1e3 * noise(256, 24, 3)),
    ];
    for (name, x) in inputs {
        for seed in 0..3 {
            let mut task = Task::new(x.clone(), random_classes(256, seed), seed);
            let before = task.loss();
            let [last, largest] = task.train(64, 120);
            assert!(last < 1.1 * before && largest < 2.0 * before, "{name}: {before} to {largest} to {last}");
        }
    }
}

/// The first steps of units that are not bounded go far beyond what the quadratic model holds for.
#[test]
fn large_inputs_of_unbounded_units_come_down() {
    let layers = || Sequential::new(24).dense(24).relu().dense(CLASSES);
    for seed in 0..3 {
        let x = 30.0 * noise(256, 2, seed).dot(&(3.0 * noise(2, 24, seed + 50)));
        let mut task = Task::of_layers(layers(), x, random_classes(256, seed), seed);
        let before = task.loss();
        let [last, _] = task.train(64, 120);
        assert!(last < 0.2 * before && last < 4.0, "{before} to {last}");
    }
}

/// A single row tells of its own noise alone: damping has to come from the losses of the rows that follow.
#[test]
fn minibatches_of_one_row_learn() {
    for seed in 0..3 {
        let y = random_classes(128, seed);
        let x = Array2::from_shape_fn((128, 8), |(i, k)| f64::from(u8::from(k % CLASSES == y[[i, 0]] as usize)))
            + 0.3 * noise(128, 8, seed);
        let [last, _] = Task::new(x, y, seed).train(1, 600);
        assert!(last < 0.5, "{last}");
    }
}

/// Makes a few steps, and then a step of this length in every number, which the optimizer is told of as a gradient.
fn after_a_step_of(length: f64, step: KroneckerStep) -> (Task, KroneckerLevenbergMarquardt<f64>, Vec<f64>) {
    let x = noise(64, 6, 0);
    let y = Array2::from_shape_fn((64, 1), |(i, _)| f64::from(u8::from(x[[i, 0]] > 0.0)));
    let mut task = Task::new(x, y, 0);
    let mut optimizer = KroneckerLevenbergMarquardt::new().with_step(step).with_momentum(0.0);
    let rows: Vec<usize> = (0..32).collect();
    (0..3).for_each(|_| _ = task.step(&rows, &mut optimizer));
    let good = task.variables.values().to_vec();
    let mut gradients = Gradients::new(&task.variables);
    for variable in task.variables.iter() {
        let numbers = variable.range().map(|place| if place % 3 == 0 { length } else { -length });
        gradients.set(variable, Gradient::Dense(&numbers.collect::<Vec<_>>()));
    }
    optimizer.apply_gradients(&gradients, &mut task.variables).unwrap();
    (task, optimizer, good)
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
    }
}

#[test]
fn a_step_that_another_minibatch_is_worse_off_with_is_taken_back() {
    for step in [KroneckerStep::Averaged, KroneckerStep::Quadratic] {
        let (mut task, mut optimizer, good) = after_a_step_of(5.0, step);
        let damping = optimizer.damping().unwrap();
        let rows: Vec<usize> = (32..64).collect();
        let report = task.step(&rows, &mut optimizer);
        assert!(report.applied && report.loss_after.is_some_and(|after| 2.0 * after < report.loss), "{report:?}");
        assert_close(task.variables.values(), &good, 1e-12);
        assert!((optimizer.damping().unwrap() / damping - 8.0).abs() < 1e-9);
        for variable in task.variables.iter() {
            assert!(optimizer.slot(variable, "momentum").unwrap().iter().all(|&number| number == 0.0));
        }
        // It goes on from there, with a shorter step.
        let before = task.loss();
        let report = task.step(&rows, &mut optimizer);
        assert!(task.loss() < 1.2 * before && task.variables.values() != good, "{report:?}");
    }
}

/// Numbers so large that the loss is not finite any more.
#[test]
fn a_step_out_of_all_numbers_is_taken_back() {
    let (mut task, mut optimizer, good) = after_a_step_of(1e306, KroneckerStep::Averaged);
    let rows: Vec<usize> = (32..64).collect();
    let report = task.step(&rows, &mut optimizer);
    assert!(!report.loss.is_finite() || report.loss > 1e300, "{report:?}");
    // What was added to numbers so much smaller is lost in rounding, but they are numbers again.
    assert!(task.variables.values().iter().all(|number| number.abs() < 10.0) && good.len() > 100);
    (0..20).for_each(|_| _ = task.step(&rows, &mut optimizer));
    assert!(task.loss() < 2.0, "{}", task.loss());
}

/// The loss of a minibatch of wrong classes is high with or without the last step.
#[test]
fn steps_are_not_taken_back_for_minibatches_that_are_harder() {
    let (mut task, mut optimizer, _) = after_a_step_of(1e-3, KroneckerStep::Averaged);
    let rows: Vec<usize> = (0..32).collect();
    (0..20).for_each(|_| _ = task.step(&rows, &mut optimizer));
    task.y.mapv_inplace(|class| 1.0 - class);
    let before = task.variables.values().to_vec();
    let report = task.step(&rows, &mut optimizer);
    assert!(report.loss > 1.0 && report.loss_after.is_none(), "{report:?}");
    assert_ne!(task.variables.values(), before);
}
