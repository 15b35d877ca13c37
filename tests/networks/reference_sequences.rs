//! Layers for sequences against Keras', which `tests/reference/generate_sequences.py` wrote down: outputs, Jacobians, gradients,
//! and products with the Jacobian.

use marquardt::nn::{
    Bidirectional, Embedding, Function, GRU, HalfSumOfSquares, LSTM, LayerNormalization, MultiHeadAttention, Network,
    Node, Recording, Sequential, Shape, SimpleRNN, Tape,
};
use marquardt::problem::{JacobianProducts, Objective};
use marquardt::variables::Gradients;
use marquardt::{LeastSquares, Variables};
use ndarray::{Array2, array};

use crate::reference::{Reference, assert_equal, weights};

const ROWS: usize = 4;
const STEPS: usize = 5;
const FEATURES: usize = 2;

fn inputs() -> Array2<f64> {
    Array2::from_shape_fn((ROWS, STEPS * FEATURES), |(row, place)| {
        (0.9 * row as f64 + 1.1 * (place / FEATURES) as f64 + 0.7 * (place % FEATURES) as f64).cos()
    })
}

/// Samples whose first, last, or middle steps are padding of zeros; all steps of the last one are.
fn padded() -> Array2<f64> {
    let steps = [3..5, 0..2, 2..3, 0..5];
    let mut x = inputs();
    for (mut row, steps) in x.rows_mut().into_iter().zip(steps) {
        steps.for_each(|step| row.as_slice_mut().unwrap()[step * FEATURES..(step + 1) * FEATURES].fill(0.0));
    }
    x
}

/// Row numbers; 0 is padding.
fn words() -> Array2<f64> {
    array![[1.0, 2.0, 3.0, 0.0, 0.0], [4.0, 4.0, 1.0, 2.0, 0.0], [3.0, 1.0, 2.0, 4.0, 2.0], [0.0, 0.0, 2.0, 0.0, 1.0]]
}

fn sequence() -> Sequential<f64> {
    Sequential::sequence(STEPS, FEATURES)
}

fn masked() -> Sequential<f64> {
    sequence().masking(0.0)
}

fn embedded() -> Sequential<f64> {
    Sequential::new(STEPS).push(Embedding::new(5, 2).with_mask_zero(true))
}

fn lstm(units: usize) -> LSTM<f64> {
    LSTM::new(units)
}

fn gru(units: usize) -> GRU<f64> {
    GRU::new(units)
}

#[track_caller]
fn check(reference: &Reference, name: &str, layers: &Sequential<f64>, inputs: &Array2<f64>) {
    let mut variables = Variables::new();
    let Recording { tape, output, .. } = layers.build(&mut variables, 0).unwrap();
    check_tape(reference, name, (tape, variables, output), inputs);
}

#[track_caller]
fn check_tape(
    reference: &Reference,
    name: &str,
    (tape, mut variables, output): (Tape<f64>, Variables<f64>, Node),
    inputs: &Array2<f64>,
) {
    weights(&mut variables);
    let mut network = Network::new(tape, &variables).unwrap().with_loss(output, HalfSumOfSquares).unwrap();
    network.batch(&[inputs.view()], &[]).unwrap();
    let outputs = network.predict(&variables, &[inputs.view()], output).unwrap();
    assert_equal(name, &outputs, reference.of(name, "outputs"));

    let (m, n) = (network.residual_count(), variables.values().len());
    let (mut r, mut jacobian) = (vec![f64::NAN; m], vec![f64::NAN; m * n]);
    network.linearize(variables.values(), 0, &mut r, &mut jacobian).unwrap();
    let expected = reference.of(name, "jacobian");
    assert_equal(name, &jacobian, expected);
    assert_equal(name, &r, reference.of(name, "outputs"));

    let mut gradients = Gradients::new(&variables);
    network.loss_and_gradient(variables.values(), &mut gradients).unwrap();
    let doubled: Vec<f64> = gradients.flat_mut().iter().map(|&half| 2.0 * half).collect();
    assert_equal(name, &doubled, reference.of(name, "gradient"));

    network.linearize_products(variables.values(), std::slice::from_ref(&(0..n)), &mut r).unwrap();
    let mut gram = vec![f64::NAN; m * m];
    network.row_gram(&mut gram).unwrap();
    let row = |i: usize| &expected[i * n..(i + 1) * n];
    let of_rows = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum::<f64>();
    let places = || (0..m * m).map(|at| (at / m, at % m)).filter(|(i, j)| j <= i);
    let found: Vec<f64> = places().map(|(i, j)| gram[i * m + j]).collect();
    assert_equal(name, &found, &places().map(|(i, j)| of_rows(i, j)).collect::<Vec<_>>());
}

#[test]
fn recurrent_layers_are_keras() {
    let reference = Reference::read("sequences.csv");
    let plain = |layers: Sequential<f64>| (layers, inputs());
    let rnn = |units| SimpleRNN::<f64>::new(units);
    for (name, (layers, inputs)) in [
        ("simple_rnn", plain(sequence().simple_rnn(2))),
        ("lstm", plain(sequence().lstm(2))),
        ("gru", plain(sequence().gru(2))),
        ("simple_rnn_sequences", plain(sequence().push(rnn(1).with_return_sequences(true)).dense(1))),
        ("lstm_sequences", plain(sequence().push(lstm(1).with_return_sequences(true)).dense(1))),
        ("gru_sequences", plain(sequence().push(gru(1).with_return_sequences(true)).dense(1))),
        ("lstm_backwards", plain(sequence().push(lstm(1).with_go_backwards(true).with_return_sequences(true)))),
        ("lstm_without_bias", plain(sequence().push(lstm(2).without_bias()))),
        (
            "lstm_activations",
            plain(
                sequence().push(lstm(2).with_activation(Function::Softplus).with_recurrent_activation(Function::Tanh)),
            ),
        ),
        ("gru_reset_before", plain(sequence().push(gru(2).with_reset_after(false)))),
        ("bidirectional", plain(sequence().push(Bidirectional::new(gru(2))))),
        ("simple_rnn_masked", (masked().simple_rnn(2), padded())),
        ("lstm_masked", (masked().lstm(2), padded())),
        ("gru_masked", (masked().gru(2), padded())),
        (
            "bidirectional_masked",
            (masked().push(Bidirectional::new(lstm(2).with_return_sequences(true))).lstm(1), padded()),
        ),
        ("embedding_masked", (embedded().gru(2), words())),
    ] {
        check(&reference, name, &layers, &inputs);
    }
}

#[test]
fn pooling_and_normalisation_of_sequences_are_keras() {
    let reference = Reference::read("sequences.csv");
    check(&reference, "pooling_masked", &embedded().global_average_pooling1d(), &words());
    let normalized = sequence().dense(3).push(LayerNormalization::new().with_epsilon(1e-3));
    check(&reference, "layer_normalization", &normalized.global_average_pooling1d(), &inputs());
}

#[test]
fn attention_is_keras() {
    let reference = Reference::read("sequences.csv");
    let attention = MultiHeadAttention::new(2, 3);
    check(&reference, "attention", &sequence().push(attention).global_average_pooling1d(), &inputs());
    let causal = MultiHeadAttention::new(2, 1).with_value_dim(2).without_bias().with_output_width(1);
    check(&reference, "attention_causal", &sequence().push(causal.with_causal_mask(true)), &inputs());
    let attention = MultiHeadAttention::new(1, 2);
    check(&reference, "attention_masked", &embedded().push(attention).global_average_pooling1d(), &words());
}

#[test]
fn a_decoder_with_states_and_attention_is_keras() {
    let reference = Reference::read("sequences.csv");
    let (mut tape, mut variables) = (Tape::new(), Variables::new());
    let x = tape.input(STEPS * FEATURES);
    let encoder = lstm(2).with_return_sequences(true).with_return_state(true);
    let encoded = sequence().named("encoder").push(encoder).append(&mut tape, x, &mut variables, 0).unwrap();
    let [h, c] = [10..12, 12..14].map(|columns| tape.slice(encoded, columns).unwrap());
    let encoded = tape.slice(encoded, 0..10).unwrap();
    let encoded = tape.reshape(encoded, Shape::Sequence { steps: STEPS, features: 2 }).unwrap();
    let decoder = lstm(2).with_initial_state(&[h, c]).with_return_sequences(true);
    let decoded = sequence().named("decoder").push(decoder).append(&mut tape, x, &mut variables, 0).unwrap();
    let attention = MultiHeadAttention::new(1, 2).with_value(encoded);
    let head = sequence().named("head").push(attention).global_average_pooling1d();
    let output = head.append(&mut tape, decoded, &mut variables, 0).unwrap();
    check_tape(&reference, "decoder", (tape, variables, output), &inputs());
}
