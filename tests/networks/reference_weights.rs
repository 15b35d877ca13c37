//! Weights that Keras and PyTorch wrote, read as a user reads them, and the outputs of the layers beside theirs:
//! `tests/reference/generate_weights.py` and `generate.py` wrote the files.

use std::path::PathBuf;

use marquardt::Variables;
use marquardt::nn::{
    Bidirectional, Conv2D, Embedding, GRU, LSTM, LayerNormalization, MultiHeadAttention, Network, Recording, Sequential,
};
use ndarray::Array2;

use crate::reference::assert_equal;

const ROWS: usize = 3;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name)
}

fn inputs(width: usize) -> Array2<f64> {
    Array2::from_shape_fn((ROWS, width), |(row, column)| (0.7 * (row * width + column) as f64).cos())
}

/// Loads weights by pairs of a layer here and one of Keras' layers, and compares the outputs.
#[track_caller]
fn check(case: &str, layers: &Sequential<f64>, inputs: &Array2<f64>, pairs: &[(&str, &str)]) {
    let mut variables = Variables::new();
    let Recording { tape, output, .. } = layers.build(&mut variables, 0).unwrap();
    let paths: Vec<String> = pairs.iter().map(|(_, layer)| format!("{case}/{case}/{layer}")).collect();
    let pairs: Vec<_> = pairs.iter().zip(&paths).map(|((here, _), path)| (*here, path.as_str())).collect();
    let unused = variables.load_layers_safetensors(file("keras_layers.safetensors"), &pairs).unwrap();
    assert!(!unused.iter().any(|name| name.starts_with(&format!("{case}/{case}/"))), "{case}: {unused:?}");

    let mut keras = Variables::<f64>::new();
    keras.add(format!("{case}/outputs"), Array2::zeros((ROWS, output.width())).view()).unwrap();
    keras.load_safetensors(file("keras_layers.safetensors")).unwrap();
    let mut network = Network::new(tape, &variables).unwrap();
    let outputs = network.predict(&variables, &[inputs.view()], output).unwrap();
    assert_equal(case, &outputs, keras.values());
}

#[test]
fn dense_layers_and_embeddings_are_read_from_keras() {
    let dense = Sequential::new(3).dense(4).tanh().dense(2);
    check("dense", &dense, &inputs(3), &[("0", "dense"), ("2", "dense_1")]);
    let words = Array2::from_shape_fn((ROWS, 4), |(row, column)| ((row * 4 + column) % 5) as f64);
    check("embedding", &Sequential::new(4).push(Embedding::new(5, 3)), &words, &[("0", "embedding")]);
    let normalization = Sequential::new(5).push(LayerNormalization::new().with_epsilon(1e-3));
    check("layer_normalization", &normalization, &inputs(5), &[("0", "layer_normalization")]);
}

#[test]
fn convolutions_are_read_from_keras() {
    let layers = Sequential::image(2, 6, 7).conv2d(3, [2, 3]).push(Conv2D::new(2, [2, 2]).with_strides([2, 2]));
    // Keras has channels last.
    let last = inputs(6 * 7 * 2);
    let first = Array2::from_shape_fn((ROWS, 2 * 6 * 7), |(row, place)| last[[row, place % 42 * 2 + place / 42]]);
    check("conv", &layers, &first, &[("0", "conv2d"), ("1", "conv2d_1")]);
}

#[test]
fn layers_for_sequences_are_read_from_keras() {
    let sequence = || Sequential::sequence(4, 2);
    let x = inputs(8);
    check("simple_rnn", &sequence().simple_rnn(3), &x, &[("0", "simple_rnn")]);
    let lstm = sequence().push(LSTM::new(3).with_return_sequences(true)).lstm(2);
    check("lstm", &lstm, &x, &[("0", "lstm"), ("1", "lstm_1")]);
    check("lstm", &lstm, &x, &[("0", "lstm/lstm_cell"), ("1", "lstm_1/lstm_cell")]);
    check("gru", &sequence().gru(3), &x, &[("0", "gru")]);
    let before = GRU::new(3).with_reset_after(false);
    check("gru_reset_before", &sequence().push(before), &x, &[("0", "gru_1")]);
    let both = sequence().push(Bidirectional::new(GRU::new(2)));
    check("bidirectional", &both, &x, &[("0", "bidirectional")]);
    let attention = MultiHeadAttention::new(2, 3).with_value_dim(2);
    let attention = Sequential::sequence(4, 5).push(attention);
    check("attention", &attention, &inputs(20), &[("0", "cross_attention/attention")]);
}

/// The second layer of PyTorch's network stands elsewhere here.
#[test]
fn layers_of_pytorch_are_read_by_pairs() {
    let path = file("torch_mlp.safetensors");
    let mut theirs = Variables::<f64>::new();
    Sequential::new(3).dense(5).tanh().dense(4).tanh().dense(2).build(&mut theirs, 0).unwrap();
    theirs.load_safetensors(&path).unwrap();
    let second: Vec<_> = ["2.weight", "2.bias"].map(|name| theirs.find(name).unwrap()).to_vec();
    let shape = theirs.shape(second[0]).to_vec();
    let mut variables = Variables::<f64>::new();
    Sequential::new(shape[1]).tanh().dense(shape[0]).build(&mut variables, 0).unwrap();
    let unused = variables.load_layers_safetensors(&path, &[("1", "2")]).unwrap();
    assert_eq!(unused, ["0.bias", "0.weight", "4.bias", "4.weight"]);
    for (name, &of_theirs) in ["1.weight", "1.bias"].into_iter().zip(&second) {
        assert_eq!(variables.get(variables.find(name).unwrap()), theirs.get(of_theirs));
    }
    let before = variables.values().to_vec();
    let error = variables.load_layers_safetensors(&path, &[("1", "3")]).unwrap_err().to_string();
    assert!(error.contains("3/weight"), "{error}");
    assert_eq!(variables.values(), before);
}
