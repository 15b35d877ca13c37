//! Trainings whose rows are spread over ranks.

use std::ops::Range;

use marquardt::distributed::Communicator;
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{MeanSquaredError, Network, Sequential};
use marquardt::optim::{Adam, Optimizer, Sgd};
use marquardt::train::{Checkpoint, MeanError, Trainer};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::Array2;

use crate::{Scenario, assert_bitwise, assert_close, shards};

pub const SCENARIOS: &[Scenario] = &[
    ("training is that of one rank with all rows", optimizers),
    ("training with an embedding is that of one rank with all rows", embedding),
    ("a training goes on on another number of ranks", resume),
    ("a rank whose rows are not what the network takes is an error of all", bad_rows),
];

const ROWS: usize = 90;

/// Points of a curve, for a network of 2-6-1.
fn points(rows: Range<usize>) -> Data {
    let x = |row: usize| 2.0 * (0.618_034 * row as f64).fract() - 1.0;
    let inputs =
        Array2::from_shape_fn(
            (rows.len(), 2),
            |(i, j)| if j == 0 { x(rows.start + i) } else { x(3 * (rows.start + i) + 1) },
        );
    let targets = Array2::from_shape_fn((rows.len(), 1), |(i, _)| (3.0 * inputs[[i, 0]]).sin() * inputs[[i, 1]]);
    (inputs, targets)
}

/// Words of a vocabulary of 20, for an embedding, with some noise.
fn words(rows: Range<usize>) -> Data {
    let word = |row: usize| ((7 * row) % 20) as f64;
    let target = |row: usize| (0.9 * word(row)).sin() + 0.1 * (5.0 * row as f64).cos();
    let column = |of: &dyn Fn(usize) -> f64| Array2::from_shape_fn((rows.len(), 1), |(i, _)| of(rows.start + i));
    (column(&word), column(&target))
}

type Make = fn() -> Box<dyn Optimizer<f64>>;
type Compile = fn(&mut Variables<f64>) -> Network<f64>;

/// Inputs and targets.
type Data = (Array2<f64>, Array2<f64>);

fn dense(variables: &mut Variables<f64>) -> Network<f64> {
    Sequential::new(2).dense(6).tanh().dense(1).compile(variables, 3, MeanSquaredError).unwrap()
}

fn embedded(variables: &mut Variables<f64>) -> Network<f64> {
    Sequential::new(1).embedding(20, 3).dense(1).compile(variables, 3, MeanSquaredError).unwrap()
}

/// Trains, and returns the variables, the last epoch's logs, and where it ended.
fn train(
    compile: Compile,
    (x, y): &Data,
    make: Make,
    ranks: Option<&Communicator>,
    epochs: usize,
    resume: Option<Checkpoint<f64>>,
) -> (Vec<f64>, Checkpoint<f64>) {
    let mut variables = Variables::new();
    let mut network = compile(&mut variables);
    if let Some(ranks) = ranks {
        network = network.with_communicator(ranks);
    }
    let mut optimizer = make();
    let trainer = Trainer::new(&mut network, &mut variables, optimizer.as_mut());
    let trainer = trainer.epochs(epochs).batch_size(40).validation_split(0.2).metric(MeanError::absolute());
    let mut trainer = match resume {
        Some(checkpoint) => trainer.restore(checkpoint),
        None => trainer,
    };
    let history = trainer.fit(&[x.view()], &[y.view()]).unwrap();
    let checkpoint = trainer.checkpoint().unwrap().clone();
    drop(trainer);
    let last = |name: &str| history.column(name).into_iter().flatten().last().unwrap().to_owned();
    let logs = ["loss", "val_loss", "mae", "val_mae"].map(last);
    ([variables.values(), &logs[..]].concat(), checkpoint)
}

const LM: Make = || Box::new(LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(LinearForm::Cholesky)));
const DUAL: Make =
    || Box::new(LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(LinearForm::FactoredDual)));
const ADAM: Make = || Box::new(Adam::new(0.02).with_global_clipnorm(0.05));
const SGD: Make = || Box::new(Sgd::new(0.05).with_momentum(0.9));

fn compare(ranks: &Communicator, compile: Compile, data: fn(Range<usize>) -> Data, optimizers: &[Make]) {
    for &make in optimizers {
        let (alone, _) = train(compile, &data(0..ROWS), make, None, 3, None);
        for rows in shards(ranks, ROWS) {
            let (found, _) = train(compile, &data(rows), make, Some(ranks), 3, None);
            assert_close(&found, &alone, 1e-8);
            assert_bitwise(ranks, &found);
        }
    }
}

fn optimizers(ranks: &Communicator) {
    compare(ranks, dense, points, &[LM, DUAL, ADAM, SGD]);
}

fn embedding(ranks: &Communicator) {
    compare(ranks, embedded, words, &[LM, ADAM, SGD]);
}

fn resume(ranks: &Communicator) {
    for make in [LM, ADAM] {
        let data = points(ranks.shard(ROWS));
        let (uninterrupted, _) = train(dense, &data, make, Some(ranks), 4, None);
        let (_, checkpoint) = train(dense, &data, make, Some(ranks), 2, None);
        let (resumed, _) = train(dense, &data, make, Some(ranks), 4, Some(checkpoint.clone()));
        assert_eq!(resumed, uninterrupted);
        // Every rank by itself, with all rows.
        let (alone, _) = train(dense, &points(0..ROWS), make, None, 4, Some(checkpoint));
        assert_close(&alone, &uninterrupted, 1e-8);
    }
}

fn bad_rows(ranks: &Communicator) {
    let last = ranks.size() - 1;
    let (mut x, y) = points(ranks.shard(ROWS));
    if ranks.rank() == last {
        x = Array2::zeros((x.nrows(), 3));
    }
    let mut variables = Variables::new();
    let mut network = dense(&mut variables).with_communicator(ranks);
    let before = variables.values().to_vec();
    let mut optimizer = Adam::new(0.01);
    let outcome = Trainer::new(&mut network, &mut variables, &mut optimizer).fit(&[x.view()], &[y.view()]);
    let error = outcome.unwrap_err().to_string();
    assert_bitwise(ranks, &error.bytes().map(f64::from).collect::<Vec<_>>());
    assert_eq!(error.contains(&format!("rank {last}: ")), last > 0, "{error}");
    assert_eq!(variables.values(), before);
}
