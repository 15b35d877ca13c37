//! Whether the form of the linear system that is chosen is the faster one: steps in both forms over a grid of shapes.
//!
//! ```text
//! cargo bench --bench choice
//! ```
//!
//! Networks with one hidden layer, on one minibatch after the other. A form is not timed where its estimate is more than
//! [`HOPELESS`] times that of the other. The last line is the worst ratio of the chosen form's time to the better one's.

use std::time::Instant;

use marquardt::nn::{MeanSquaredError, Network, Sequential, StepCost};
use marquardt::optim::Optimizer;
use marquardt::{Acceleration, LevenbergMarquardt, LinearForm, LinearSolver, Scaling, Variables};
use ndarray::Array2;

const INPUTS: [usize; 4] = [10, 30, 100, 300];
const HIDDEN: [usize; 4] = [8, 24, 80, 256];
const OUTPUTS: [usize; 2] = [1, 10];
const BATCHES: [usize; 6] = [16, 32, 64, 128, 256, 512];

/// A form that is estimated to take so many times as long as the other is not waited for.
const HOPELESS: f64 = 10.0;

/// Rounds over the whole grid; the least time of all counts.
const ROUNDS: usize = 2;

/// Seconds for the steps of one form and shape in a round, and the most steps.
const SECONDS: f64 = 0.02;
const STEPS: usize = 30;

/// A shape, and what its steps take.
struct Shape {
    sizes: [usize; 4],
    n: usize,
    estimates: [StepCost; 2],
    /// Milliseconds, infinite where it was not timed.
    times: [f64; 2],
}

const FORMS: [LinearForm; 2] = [LinearForm::Cholesky, LinearForm::FactoredDual];

impl Shape {
    fn new(sizes: [usize; 4]) -> Self {
        let (network, variables) = compile(sizes);
        let summary = network.summary(&variables, sizes[3]).expect("the variables are its own");
        let of = |form| *summary.steps.iter().find(|step| step.form == form).expect("a network has both");
        Shape { sizes, n: summary.parameters, estimates: FORMS.map(of), times: [f64::INFINITY; 2] }
    }

    /// Whether a form, or the other, is out of the question.
    fn is_hopeless(&self, form: usize) -> bool {
        self.estimates[form].cost.time > HOPELESS * self.estimates[1 - form].cost.time
    }

    fn measure(&mut self) {
        for (form, best) in self.times.iter_mut().enumerate() {
            if self.estimates[form].cost.time <= HOPELESS * self.estimates[1 - form].cost.time {
                *best = best.min(milliseconds(self.sizes, FORMS[form]));
            }
        }
    }

    /// The form that is chosen.
    fn chosen(&self) -> usize {
        usize::from(self.estimates[1].is_chosen)
    }

    /// The chosen form's time over the better one's.
    fn ratio(&self) -> f64 {
        self.times[self.chosen()] / self.times[0].min(self.times[1])
    }
}

fn compile([inputs, hidden, outputs, _]: [usize; 4]) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(inputs).dense(hidden).tanh().dense(outputs);
    (layers.compile(&mut variables, 0, MeanSquaredError).expect("layers fit"), variables)
}

/// The least time of a step from the same start.
fn milliseconds(sizes: [usize; 4], form: LinearForm) -> f64 {
    let [inputs, _, outputs, rows] = sizes;
    let (mut network, mut variables) = compile(sizes);
    let wave = |(i, k)| ((3 * i + 7 * k) as f64 * 0.1).sin();
    let inputs = Array2::from_shape_fn((rows, inputs), wave);
    let targets = Array2::from_shape_fn((rows, outputs), wave);
    network.batch(&[inputs.view()], &[targets.view()]).expect("arrays fit");
    let optimizer = LevenbergMarquardt::<f64>::new().with_linear_solver(LinearSolver::Always(form));
    let mut optimizer = optimizer.with_scaling(Scaling::Identity).with_acceleration(Acceleration::Never);
    let start = variables.values().to_vec();
    let (begun, mut best) = (Instant::now(), f64::INFINITY);
    for step in 0..STEPS {
        variables.values_mut().copy_from_slice(&start);
        let step_begun = Instant::now();
        optimizer.step(&mut network, &mut variables).expect("a batch is bound");
        if step > 0 {
            best = best.min(step_begun.elapsed().as_secs_f64());
        }
        if step > 2 && begun.elapsed().as_secs_f64() > SECONDS {
            break;
        }
    }
    1000.0 * best
}

fn main() {
    let grid = INPUTS.into_iter().flat_map(|inputs| {
        let shapes = HIDDEN.into_iter().flat_map(move |hidden| OUTPUTS.map(|outputs| [inputs, hidden, outputs]));
        shapes.flat_map(|[inputs, hidden, outputs]| BATCHES.map(|batch| Shape::new([inputs, hidden, outputs, batch])))
    });
    let mut grid: Vec<Shape> = grid.collect();
    for _ in 0..ROUNDS {
        grid.iter_mut().for_each(Shape::measure);
    }
    println!("inputs-hidden-outputs  batch  parameters  Cholesky ms  dual ms  estimated  chosen    ratio");
    for shape in &grid {
        let [inputs, hidden, outputs, batch] = shape.sizes;
        let time =
            |form: usize| if shape.is_hopeless(form) { "-".to_owned() } else { format!("{:.3}", shape.times[form]) };
        let [cholesky, dual] = shape.estimates.map(|estimate| estimate.cost.time);
        println!(
            "{:<21}  {batch:>5}  {:>10}  {:>11}  {:>7}  {:>9.2}  {:<8}  {:.2}",
            format!("{inputs}-{hidden}-{outputs}"),
            shape.n,
            time(0),
            time(1),
            cholesky / dual,
            ["Cholesky", "dual"][shape.chosen()],
            shape.ratio(),
        );
    }
    let worst = grid.iter().map(Shape::ratio).fold(1.0, f64::max);
    println!("worst ratio of {} shapes: {worst:.2}", grid.len());
}
