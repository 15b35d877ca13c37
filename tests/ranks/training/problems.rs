//! Small problems, and shards of them.

use std::ops::Range;

use marquardt::Variables;
use marquardt::distributed::Communicator;
use marquardt::nn::{MeanSquaredError, Network, Tape};
use ndarray::{Array1, Array2, ArrayView2, s};

/// Numbers, names of things, and what is to be learnt.
#[derive(Debug, Clone)]
pub struct Data {
    pub x: Array2<f64>,
    pub names: Array2<f64>,
    pub y: Array2<f64>,
}

impl Data {
    pub fn new(rows: usize) -> Self {
        let x = Array2::from_shape_fn((rows, 2), |(i, k)| ((3 * i + 7 * k) as f64).sin());
        let names = Array2::from_shape_fn((rows, 1), |(i, _)| ((i * i + 3 * i) % 40) as f64);
        let y = Array2::from_shape_fn((rows, 1), |(i, _)| {
            (2.0 * x[[i, 0]]).sin() * x[[i, 1]] + 0.1 * (i as f64).cos() + 0.2 * names[[i, 0]].sin()
        });
        Data { x, names, y }
    }

    pub fn rows(&self, rows: Range<usize>) -> Self {
        let cut = |array: &Array2<f64>| array.slice(s![rows.clone(), ..]).to_owned();
        Data { x: cut(&self.x), names: cut(&self.names), y: cut(&self.y) }
    }

    pub fn inputs(&self) -> [ArrayView2<'_, f64>; 2] {
        [self.x.view(), self.names.view()]
    }

    pub fn targets(&self) -> [ArrayView2<'_, f64>; 1] {
        [self.y.view()]
    }
}

/// A network with an embedding, whose gradient is sparse, and dropout of this rate.
pub fn network(dropout: f64) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let wave = |scale: f64| move |(i, k): (usize, usize)| scale * ((5 * i + 3 * k + 7 * i * k * k) as f64 + 0.5).sin();
    let table = variables.add("table", Array2::from_shape_fn((40, 2), wave(0.5)).view()).unwrap();
    let first = variables.add("first", Array2::from_shape_fn((5, 4), wave(0.8)).view()).unwrap();
    let bias = variables.add("bias", Array1::from_elem(5, 0.1).view()).unwrap();
    let last = variables.add("last", Array2::from_shape_fn((1, 5), wave(0.6)).view()).unwrap();
    let mut tape = Tape::new();
    let (x, names) = (tape.input(2), tape.input(1));
    let looked_up = tape.embedding(names, table).unwrap();
    let all = tape.concat(&[x, looked_up]).unwrap();
    let hidden = tape.dense(all, first, Some(bias)).unwrap();
    let hidden = tape.tanh(hidden);
    let hidden = tape.dropout(hidden, dropout).unwrap();
    let y = tape.dense(hidden, last, None).unwrap();
    let network = Network::new(tape, &variables).unwrap().with_seed(11).with_loss(y, MeanSquaredError).unwrap();
    (network, variables)
}

/// Where the shards of one, two and three ranks end: even, ragged and empty ones.
pub const CUTS: [&[f64]; 5] = [&[1.0], &[0.5, 1.0], &[0.3, 0.4, 1.0], &[0.0, 0.9, 1.0], &[0.6, 1.0, 1.0]];

/// A rank's rows of so many.
pub fn shard(cuts: &[f64], ranks: &Communicator, rows: usize) -> Range<usize> {
    let end = |rank: usize| (cuts[rank] * rows as f64).round() as usize;
    ranks.rank().checked_sub(1).map_or(0, end)..end(ranks.rank())
}

pub fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1e-3_f64, |scale, number| scale.max(number.abs()));
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * scale, "number {place}: {found} instead of {expected}");
    }
}

/// The first is that of all, to the bit.
pub fn the_same_on_all(found: &[Vec<f64>]) -> &[f64] {
    found.iter().for_each(|numbers| assert_eq!(bits(numbers), bits(&found[0])));
    &found[0]
}
