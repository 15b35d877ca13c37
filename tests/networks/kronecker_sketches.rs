//! Sketches of wide factors, on inputs that are hard for them.

use marquardt::nn::{Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::{KroneckerLevenbergMarquardt, Optimizer};
use marquardt::{Real, Variables};
use ndarray::Array2;

const INPUTS: usize = 300;
const ROWS: usize = 64;

/// A kind of inputs, of a row and a column.
type Inputs = fn(usize, usize) -> f64;

fn wave(i: usize, j: usize) -> f64 {
    (12.9898 * (i * INPUTS + j) as f64).sin()
}

const KINDS: [(&str, Inputs); 8] = [
    ("independent", wave),
    ("zero", |_, _| 0.0),
    ("constant", |_, _| 3.0),
    ("of rank one", |i, _| wave(i, 0)),
    ("nearly constant", |i, j| 1.0 + 1e-4 * wave(i, j)),
    ("of all scales", |i, j| wave(i, j) * 10.0_f64.powi((j % 9) as i32 - 6)),
    ("large", |i, j| 1e5 * wave(i, j)),
    ("sparse", |i, j| if (7 * i + j).is_multiple_of(97) { 1.0 } else { 0.0 }),
];

/// Losses before each step.
fn train<T: Real>(inputs: Inputs, (rank, rows, steps): (usize, usize, usize)) -> Vec<f64> {
    let mut variables = Variables::<T>::new();
    let layers = Sequential::new(INPUTS).dense(12).tanh().dense(3);
    let mut network = layers.compile(&mut variables, 0, SparseCategoricalCrossentropy).unwrap();
    let x = Array2::from_shape_fn((rows, INPUTS), |(i, j)| T::from_f64(inputs(i, j)));
    let y = Array2::from_shape_fn((rows, 1), |(i, _)| T::from_f64(((wave(i, 0) + 1.0) * 1.5).floor().min(2.0)));
    let mut optimizer = KroneckerLevenbergMarquardt::new().with_factor_rank(rank);
    let step = |_| {
        let batch = network.batch(&[x.view()], &[y.view()]).unwrap();
        optimizer.step(batch, &mut variables).unwrap().loss.to_f64()
    };
    (0..steps).map(step).collect()
}

fn hard_inputs_do_not_diverge<T: Real>() {
    for (kind, inputs) in KINDS {
        for (rows, rank) in [(1, 32), (ROWS, 1), (ROWS, 32)] {
            let losses = train::<T>(inputs, (rank, rows, 30));
            let (first, last) = (losses[0], *losses.last().unwrap());
            let most = losses.iter().copied().fold(0.0, f64::max);
            let what = format!("{kind} inputs, {rows} rows, rank {rank}: {first} to {last}, at most {most}");
            assert!(last <= 1.01 * first && most < 5.0 * first + 1.0, "{what}");
        }
    }
}

#[test]
fn hard_inputs_do_not_diverge_in_either_precision() {
    hard_inputs_do_not_diverge::<f64>();
    hard_inputs_do_not_diverge::<f32>();
}

/// Of a network that can fit all rows, the loss vanishes with sketches, too.
#[test]
fn what_can_be_fitted_is_fitted() {
    for (precision, train) in [("double", train::<f64> as fn(_, _) -> _), ("single", train::<f32>)] {
        for kind in [0, 5, 6] {
            let losses: Vec<f64> = train(KINDS[kind].1, (32, ROWS, 80));
            let last = losses[losses.len() - 1];
            assert!(last < 0.02, "{precision} precision, {} inputs: {last}", KINDS[kind].0);
        }
    }
}
