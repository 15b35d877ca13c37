//! Whether the form of the linear system that is chosen is the faster one: steps in both forms over a grid of shapes.
//!
//! ```text
//! cargo bench --bench choice
//! ```
//!
//! Networks with one hidden layer, in batches from 16 to 512, and in those in which the forms are estimated to be closest.
//! Where the estimates are further apart than [`CLOSE`], nothing is timed. The last line is the worst ratio of the chosen
//! form's time to the better one's.

use std::time::Instant;

use marquardt::nn::{MeanSquaredError, Network, Sequential, StepCost};
use marquardt::optim::Optimizer;
use marquardt::{Acceleration, LevenbergMarquardt, LinearForm, LinearSolver, Scaling, Variables};
use ndarray::Array2;

const INPUTS: [usize; 4] = [10, 30, 100, 300];
const HIDDEN: [usize; 4] = [8, 24, 80, 256];
const OUTPUTS: [usize; 2] = [1, 10];
const BATCHES: [usize; 6] = [16, 32, 64, 128, 256, 512];

/// Estimates that are further apart leave no doubt.
const CLOSE: f64 = 5.0;

/// Rounds over the whole grid; the least time of all counts.
const ROUNDS: usize = 2;

/// Seconds for the steps of one form and shape in a round, and the most steps.
const SECONDS: f64 = 0.05;
const STEPS: usize = 100;

const FORMS: [LinearForm; 2] = [LinearForm::Cholesky, LinearForm::FactoredDual];

/// A shape, and what its steps take.
struct Shape {
    widths: [usize; 3],
    batch: usize,
    parameters: usize,
    estimates: [StepCost; 2],
    /// Seconds, infinite where they were not taken.
    times: [f64; 2],
}

impl Shape {
    fn new(widths: [usize; 3], batch: usize) -> Self {
        let (network, variables) = compile(widths);
        let summary = network.summary(&variables, batch).expect("the variables are its own");
        let of = |form| *summary.steps.iter().find(|step| step.form == form).expect("a network has both");
        Shape { widths, batch, parameters: summary.parameters, estimates: FORMS.map(of), times: [f64::INFINITY; 2] }
    }

    /// The batch in which the estimates are closest.
    fn closest(widths: [usize; 3]) -> Self {
        let (mut low, mut high) = (BATCHES[0], BATCHES[BATCHES.len() - 1]);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if Shape::new(widths, middle).estimated_ratio() > 1.0 { low = middle } else { high = middle }
        }
        Shape::new(widths, high)
    }

    /// How many times as long the normal equations are estimated to take as the dual.
    fn estimated_ratio(&self) -> f64 {
        self.estimates[0].cost.time / self.estimates[1].cost.time
    }

    /// Whether the estimates leave a doubt.
    fn is_close(&self) -> bool {
        (1.0 / CLOSE..CLOSE).contains(&self.estimated_ratio())
    }

    fn measure(&mut self) {
        if self.is_close() {
            for (best, form) in self.times.iter_mut().zip(FORMS) {
                *best = best.min(seconds(self.widths, self.batch, form));
            }
        }
    }

    /// The form that is chosen.
    fn chosen(&self) -> usize {
        usize::from(self.estimates[1].is_chosen)
    }

    /// The chosen form's time over the better one's.
    fn ratio(&self) -> f64 {
        if self.is_close() { self.times[self.chosen()] / self.times[0].min(self.times[1]) } else { 1.0 }
    }
}

fn compile([inputs, hidden, outputs]: [usize; 3]) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(inputs).dense(hidden).tanh().dense(outputs);
    (layers.compile(&mut variables, 0, MeanSquaredError).expect("layers fit"), variables)
}

/// The least time of a step from the same start.
fn seconds(widths: [usize; 3], batch: usize, form: LinearForm) -> f64 {
    let (mut network, mut variables) = compile(widths);
    let wave = |(i, k)| ((3 * i + 7 * k) as f64 * 0.1).sin();
    let (inputs, targets) =
        (Array2::from_shape_fn((batch, widths[0]), wave), Array2::from_shape_fn((batch, widths[2]), wave));
    network.batch(&[inputs.view()], &[targets.view()]).expect("arrays fit");
    let optimizer = LevenbergMarquardt::<f64>::new().with_linear_solver(LinearSolver::Always(form));
    let mut optimizer = optimizer.with_scaling(Scaling::Identity).with_acceleration(Acceleration::Never);
    let start = variables.values().to_vec();
    let (begun, mut best) = (Instant::now(), f64::INFINITY);
    for step in 0..STEPS {
        variables.values_mut().copy_from_slice(&start);
        let step_begun = Instant::now();
        optimizer.step(&mut network, &mut variables).expect("a batch is bound");
        // The first step makes room.
        if step > 0 {
            best = best.min(step_begun.elapsed().as_secs_f64());
            if begun.elapsed().as_secs_f64() > SECONDS {
                break;
            }
        }
    }
    best
}

fn main() {
    let widths = INPUTS
        .into_iter()
        .flat_map(|inputs| HIDDEN.into_iter().flat_map(move |hidden| OUTPUTS.map(|outputs| [inputs, hidden, outputs])));
    let shapes = widths.flat_map(|widths| {
        let batches = BATCHES.into_iter().map(move |batch| Shape::new(widths, batch));
        batches.chain(Some(Shape::closest(widths)).filter(|shape| !BATCHES.contains(&shape.batch)))
    });
    let mut grid: Vec<Shape> = shapes.collect();
    for _ in 0..ROUNDS {
        grid.iter_mut().for_each(Shape::measure);
    }
    println!("network      batch  parameters  Cholesky ms    dual ms  estimated ratio  chosen    times the better");
    for shape in grid.iter().filter(|shape| shape.is_close()) {
        let [cholesky, dual] = shape.times.map(|seconds| 1000.0 * seconds);
        println!(
            "{:<11}  {:>5}  {:>10}  {cholesky:>11.3}  {dual:>9.3}  {:>15.2}  {:<8}  {:>16.2}",
            shape.widths.map(|width| width.to_string()).join("-"),
            shape.batch,
            shape.parameters,
            shape.estimated_ratio(),
            ["Cholesky", "dual"][shape.chosen()],
            shape.ratio(),
        );
    }
    let timed = grid.iter().filter(|shape| shape.is_close()).count();
    let worst = grid.iter().map(Shape::ratio).fold(1.0, f64::max);
    println!("{} shapes, {timed} of them timed: at worst {worst:.2} times the better", grid.len());
}
