//! Whether the form of the linear system that is chosen is the fastest one: steps in all forms over a grid of shapes.
//!
//! ```text
//! cargo bench --bench choice            # double precision
//! cargo bench --bench choice -- f32     # single
//! ```
//!
//! Networks with one hidden layer, in batches from 16 to 512, and in those in which the normal equations and the dual are
//! estimated to be closest. A form is timed where its estimate is within [`CLOSE`] times the least, and that is no more than
//! [`LONGEST`]. The last line is the worst ratio of the chosen form's time to the best one's.

use std::time::Instant;

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{MeanSquaredError, Network, Sequential, StepCost};
use marquardt::optim::Optimizer;
use marquardt::solver::{Acceleration, Scaling};
use marquardt::{LevenbergMarquardt, Real, Variables};
use ndarray::Array2;

const INPUTS: [usize; 4] = [10, 30, 100, 300];
const HIDDEN: [usize; 4] = [8, 24, 80, 256];
const OUTPUTS: [usize; 2] = [1, 10];
const BATCHES: [usize; 6] = [16, 32, 64, 128, 256, 512];

/// Estimates that are further apart leave no doubt.
const CLOSE: f64 = 5.0;

/// Nominal nanoseconds of a step, the most that are waited for.
const LONGEST: f64 = 3e8;

/// Rounds over the whole grid; the least time of all counts.
const ROUNDS: usize = 2;

/// Seconds for the steps of one form and shape in a round, and the most steps.
const SECONDS: f64 = 0.05;
const STEPS: usize = 100;

const FORMS: [LinearForm; 3] = [LinearForm::Cholesky, LinearForm::FactoredDual, LinearForm::Dual];

/// A shape, and what its steps take.
struct Shape {
    widths: [usize; 3],
    batch: usize,
    parameters: usize,
    estimates: [StepCost; 3],
    /// Seconds, infinite where they were not taken.
    times: [f64; 3],
}

impl Shape {
    fn new(widths: [usize; 3], batch: usize) -> Self {
        let (network, variables) = compile::<f64>(widths);
        let summary = network.summary(&variables, batch).expect("the variables are its own");
        let of = |form| *summary.steps.iter().find(|step| step.form == form).expect("a network has them all");
        Shape { widths, batch, parameters: summary.parameters, estimates: FORMS.map(of), times: [f64::INFINITY; 3] }
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

    /// Whether the estimate of a form leaves a doubt.
    fn is_close(&self, form: usize) -> bool {
        self.estimates[form].cost.time < CLOSE * self.least_estimate()
    }

    fn least_estimate(&self) -> f64 {
        self.estimates.iter().map(|estimate| estimate.cost.time).fold(f64::INFINITY, f64::min)
    }

    /// Whether more than one form is timed.
    fn is_timed(&self) -> bool {
        self.least_estimate() <= LONGEST && (0..FORMS.len()).filter(|&form| self.is_close(form)).count() > 1
    }

    fn measure<T: Real>(&mut self) {
        for (form, of) in FORMS.into_iter().enumerate() {
            if self.is_timed() && self.is_close(form) {
                self.times[form] = self.times[form].min(seconds::<T>(self.widths, self.batch, of));
            }
        }
    }

    /// The form that is chosen.
    fn chosen(&self) -> usize {
        self.estimates.iter().position(|estimate| estimate.is_chosen).expect("one fits into the memory")
    }

    /// The chosen form's time over the best one's.
    fn ratio(&self) -> f64 {
        let best = self.times.into_iter().fold(f64::INFINITY, f64::min);
        if self.is_timed() { self.times[self.chosen()] / best } else { 1.0 }
    }
}

fn compile<T: Real>([inputs, hidden, outputs]: [usize; 3]) -> (Network<T>, Variables<T>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(inputs).dense(hidden).tanh().dense(outputs);
    (layers.compile(&mut variables, 0, MeanSquaredError).expect("layers fit"), variables)
}

/// The least time of a step from the same start.
fn seconds<T: Real>(widths: [usize; 3], batch: usize, form: LinearForm) -> f64 {
    let (mut network, mut variables) = compile::<T>(widths);
    let wave = |(i, k)| T::from_f64(((3 * i + 7 * k) as f64 * 0.1).sin());
    let (inputs, targets) =
        (Array2::from_shape_fn((batch, widths[0]), wave), Array2::from_shape_fn((batch, widths[2]), wave));
    network.batch(&[inputs.view()], &[targets.view()]).expect("arrays fit");
    let optimizer = LevenbergMarquardt::<T>::new().with_linear_solver(LinearSolver::Always(form));
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
    let measure =
        if std::env::args().any(|argument| argument == "f32") { Shape::measure::<f32> } else { Shape::measure::<f64> };
    for _ in 0..ROUNDS {
        grid.iter_mut().for_each(measure);
    }
    println!("network      batch  parameters  Cholesky ms  factored dual ms    dual ms  chosen         times the best");
    for shape in grid.iter().filter(|shape| shape.is_timed()) {
        let milliseconds =
            |seconds: f64| if seconds < f64::INFINITY { format!("{:.3}", 1000.0 * seconds) } else { "-".to_owned() };
        let [cholesky, factored, dual] = shape.times.map(milliseconds);
        println!(
            "{:<11}  {:>5}  {:>10}  {cholesky:>11}  {factored:>16}  {dual:>9}  {:<13}  {:>14.2}",
            shape.widths.map(|width| width.to_string()).join("-"),
            shape.batch,
            shape.parameters,
            ["Cholesky", "factored dual", "dual"][shape.chosen()],
            shape.ratio(),
        );
    }
    let timed = grid.iter().filter(|shape| shape.is_timed()).count();
    let worst = grid.iter().map(Shape::ratio).fold(1.0, f64::max);
    println!("{} shapes, {timed} of them timed: at worst {worst:.2} times the best", grid.len());
}
