//! Workloads that are run a number of times, for `benches/instructions` to count their instructions.
//!
//! ```text
//! benches/instructions           ratios to benches/instructions.csv
//! benches/instructions --store   new numbers there
//! ```

#[path = "problems/mod.rs"]
mod problems;
#[path = "workloads/mod.rs"]
mod workloads;

use std::env;
use std::hint::black_box;

use marquardt::graph::{PoseGraph, PoseGraphSolver};
use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::optim::{Adam, Optimizer};
use marquardt::{CurveFit, FitMany, Formula, LevenbergMarquardt, Variables};
use ndarray::Array2;
use problems::{Analytic, Formula as _, Peaks};
use workloads::{Decays, Difficulty, ExponentialAndTwoPeaks, ManyCurves, Misra1a, OverlappingGaussians};

const SEED: u64 = 1;
const TINY_GRID: &str = include_str!("../examples/data/tiny_grid.g2o");

/// Makes the data of a workload, and runs it a number of times.
type Workload = fn(usize);

const WORKLOADS: [(&str, Workload); 8] = [
    ("misra1a", misra1a),
    ("formula", formula),
    ("exponential_and_two_peaks", exponential_and_two_peaks),
    ("peaks", peaks),
    ("many_decays", many_decays),
    ("pose_graph", pose_graph),
    ("network_lm", network_lm),
    ("network_adam", network_adam),
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [name, count] = &arguments[..] else {
        WORKLOADS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let run = WORKLOADS.iter().find(|(known, _)| known == name).expect("a name of the list").1;
    run(count.parse().expect("a number of repetitions"));
}

fn misra1a(count: usize) {
    let workload = Misra1a::new();
    for _ in 0..count {
        let start = black_box(Misra1a::STARTS[0]);
        black_box(LevenbergMarquardt::new().minimize(&mut Analytic(&workload), &start)).expect("a valid start");
    }
}

fn formula(count: usize) {
    let x: Vec<f64> = (0..1000).map(|i| 0.01 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 3.0 * (-0.7 * x).exp() + 0.5 + 0.01 * (70.0 * x).sin()).collect();
    for _ in 0..count {
        let curve = Formula::parse(black_box("a*exp(-k*x) + c")).expect("a formula");
        black_box(CurveFit::model(curve, &x, &y, &[1.0, 1.0, 0.0]).fit()).expect("a valid start");
    }
}

fn exponential_and_two_peaks(count: usize) {
    let workload = ExponentialAndTwoPeaks::new(2000, SEED);
    for _ in 0..count {
        let start = black_box(ExponentialAndTwoPeaks::START);
        black_box(LevenbergMarquardt::new().minimize(&mut Analytic(&workload), &start)).expect("a valid start");
    }
}

fn peaks(count: usize) {
    let workload = OverlappingGaussians::new(10, 2000, SEED);
    let (samples, start) = (workload.samples(), workload.start(SEED, Difficulty::Easy));
    for _ in 0..count {
        let fit = CurveFit::model(Peaks(10), &samples.x, &samples.y, black_box(&start)).fit();
        black_box(fit).expect("a valid start");
    }
}

fn many_decays(count: usize) {
    const FITS: usize = 1000;
    let curves = ManyCurves::<Decays>::new(FITS, 64, SEED);
    let rows = |values: &[f64]| {
        Array2::from_shape_vec((FITS, values.len() / FITS), values.to_vec()).expect("rows of one length")
    };
    let (y, start) = (rows(&curves.y), rows(&curves.start));
    let decay = Decays::formula();
    for _ in 0..count {
        black_box(FitMany::new(decay, &curves.x, black_box(&y)).start(&start).fit()).expect("rows of one length");
    }
}

fn pose_graph(count: usize) {
    for _ in 0..count {
        let mut graph = PoseGraph::parse(black_box(TINY_GRID)).expect("a graph");
        black_box(PoseGraphSolver::new().solve(&mut graph)).expect("a start");
    }
}

fn network_lm(count: usize) {
    train(&mut LevenbergMarquardt::new(), count);
}

fn network_adam(count: usize) {
    train(&mut Adam::new(0.01), count);
}

/// Steps on a minibatch of 50 rows.
fn train(optimizer: &mut impl Optimizer<f64>, steps: usize) {
    let x = Array2::from_shape_fn((50, 1), |(i, _)| 0.04 * i as f64 - 1.0);
    let y = x.mapv(|x: f64| (5.0 * x).sin());
    let mut variables = Variables::new();
    let layers = Sequential::new(1).dense(20).tanh().dense(1);
    let mut network = layers.compile(&mut variables, 0, MeanSquaredError).expect("layers fit");
    for _ in 0..steps {
        let minibatch = network.batch(&[x.view()], &[y.view()]).expect("arrays fit");
        optimizer.step(minibatch, &mut variables).expect("a finite loss");
    }
}
