//! Layers for sequences: properties over random shapes and settings, limits, refusals, optimizers and files.

use marquardt::nn::{
    Bidirectional, Cell, Embedding, GRU, HalfSumOfSquares, LSTM, MeanSquaredError, MultiHeadAttention, Network,
    NetworkError, Recording, Recurrent, Sequential, Shape, SimpleRNN, Tape, TapeError,
};
use marquardt::optim::{Adam, KroneckerLevenbergMarquardt, Optimizer, Sgd};
use marquardt::problem::{JacobianProducts, Objective};
use marquardt::variables::Gradients;
use marquardt::{LeastSquares, LevenbergMarquardt, Real, Variables};
use ndarray::{Array2, array};
use proptest::prelude::*;

/// Numbers between −1 and 1 without a pattern.
fn numbers<T: Real>(rows: usize, columns: usize, seed: usize) -> Array2<T> {
    Array2::from_shape_fn((rows, columns), |(row, column)| {
        T::from_f64((1.7 * row as f64 + 2.3 * column as f64 + 0.9 * seed as f64).sin())
    })
}

/// Sizes and settings of a network with one layer for sequences.
#[derive(Debug, Clone)]
struct Settings {
    kind: usize,
    steps: usize,
    features: usize,
    units: usize,
    rows: usize,
    sequences: bool,
    backwards: bool,
    both: bool,
    masked: bool,
}

fn settings() -> impl Strategy<Value = Settings> {
    let sizes = (0..5_usize, 1..5_usize, 1..4_usize, 1..4_usize, 1..4_usize);
    (sizes, any::<[bool; 4]>()).prop_map(|((kind, steps, features, units, rows), flags)| {
        let [sequences, backwards, both, masked] = flags;
        Settings { kind, steps, features, units, rows, sequences, backwards, both, masked }
    })
}

impl Settings {
    fn recurrent<C: Cell<f64> + 'static>(&self, layers: Sequential<f64>, layer: Recurrent<C, f64>) -> Sequential<f64> {
        let layer = layer.with_return_sequences(self.sequences).with_go_backwards(self.backwards);
        if self.both { layers.push(Bidirectional::new(layer)) } else { layers.push(layer) }
    }

    fn layers(&self) -> Sequential<f64> {
        let layers = Sequential::sequence(self.steps, self.features);
        let layers = if self.masked { layers.masking(0.0) } else { layers };
        let layers = match self.kind {
            0 => self.recurrent(layers, SimpleRNN::new(self.units)),
            1 => self.recurrent(layers, LSTM::new(self.units)),
            2 => self.recurrent(layers, GRU::new(self.units)),
            3 => self.recurrent(layers, GRU::new(self.units).with_reset_after(false)),
            _ => layers.push(MultiHeadAttention::new(self.units, 2).with_causal_mask(self.backwards)),
        };
        layers.dense(2)
    }

    /// Inputs, of which some steps are padding if there is a mask.
    fn inputs(&self) -> Array2<f64> {
        let mut x = numbers(self.rows, self.steps * self.features, self.kind);
        if self.masked {
            for ((row, place), x) in x.indexed_iter_mut() {
                if (row + place / self.features).is_multiple_of(3) {
                    *x = 0.0;
                }
            }
        }
        x
    }
}

/// A network of the sum of squares of its outputs, bound to inputs, and its variables with random values.
fn bound<T: Real>(layers: &Sequential<T>, inputs: &Array2<T>) -> (Network<T>, Variables<T>) {
    let mut variables = Variables::new();
    let mut network = layers.compile(&mut variables, 0, HalfSumOfSquares).unwrap();
    for (k, value) in variables.values_mut().iter_mut().enumerate() {
        *value = T::from_f64(0.7 * (1.3 * k as f64 + 0.2).sin());
    }
    network.batch(&[inputs.view()], &[]).unwrap();
    (network, variables)
}

/// Residuals and their Jacobian.
fn linearized<T: Real>(network: &mut Network<T>, x: &[T]) -> (Vec<T>, Vec<T>) {
    let (m, n) = (network.residual_count(), x.len());
    let (mut r, mut jacobian) = (vec![T::ZERO; m], vec![T::ZERO; m * n]);
    network.linearize(x, 0, &mut r, &mut jacobian).unwrap();
    (r, jacobian)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every row of the Jacobian is that of central differences, `JJᵀ` is that of the rows, and the gradient is `Jᵀr`.
    #[test]
    fn derivatives_are_those_of_differences(settings in settings()) {
        let (mut network, variables) = bound(&settings.layers(), &settings.inputs());
        let x = variables.values().to_vec();
        let (r, jacobian) = linearized(&mut network, &x);
        let (m, n) = (r.len(), x.len());
        let mut at = |k: usize, h: f64| {
            let mut moved = x.clone();
            moved[k] += h;
            let mut r = vec![0.0; m];
            network.residuals(&moved, 0, &mut r).unwrap();
            r
        };
        for k in 0..n {
            let (up, down) = (at(k, 1e-5), at(k, -1e-5));
            for i in 0..m {
                let difference = (up[i] - down[i]) / 2e-5;
                prop_assert!((jacobian[i * n + k] - difference).abs() < 1e-8, "{} {}", jacobian[i * n + k], difference);
            }
        }
        let mut gradients = Gradients::new(&variables);
        network.loss_and_gradient(&x, &mut gradients).unwrap();
        for (k, &found) in gradients.flat_mut().iter().enumerate() {
            let expected: f64 = (0..m).map(|i| jacobian[i * n + k] * r[i]).sum();
            prop_assert!((found - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{} {}", found, expected);
        }
        let (mut gram, mut again) = (vec![0.0; m * m], vec![0.0; m]);
        network.linearize_products(&x, std::slice::from_ref(&(0..n)), &mut again).unwrap();
        network.row_gram(&mut gram).unwrap();
        for (i, j) in (0..m).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            let expected: f64 = (0..n).map(|k| jacobian[i * n + k] * jacobian[j * n + k]).sum();
            prop_assert!((gram[i * m + j] - expected).abs() < 1e-12 * (1.0 + expected.abs()));
        }
    }

    /// Entries of masked steps change neither outputs nor derivatives.
    #[test]
    fn masked_steps_have_no_influence(settings in settings(), other in -1e3..1e3_f64) {
        let Settings { steps, features, rows, .. } = settings;
        let layers = |masked: bool| Settings { masked, sequences: false, ..settings.clone() }.layers();
        // The mask comes from a second input, and the first one is free.
        let outputs = |padding: f64| {
            let (mut tape, mut variables) = (Tape::new(), Variables::new());
            let (x, marks) = (tape.input(steps * features), tape.input(steps));
            let x = tape.reshape(x, Shape::Sequence { steps, features }).unwrap();
            let mask = tape.not_equal(marks, 0.0);
            tape.set_mask(x, mask).unwrap();
            let y = layers(false).append(&mut tape, x, &mut variables, 1).unwrap();
            let output = if let Shape::Sequence { .. } = y.shape() {
                let pooled = Sequential::new(y.width()).named("pooled").global_average_pooling1d();
                pooled.append(&mut tape, y, &mut variables, 1).unwrap()
            } else {
                y
            };
            let mut network = Network::new(tape, &variables).unwrap().with_loss(output, HalfSumOfSquares).unwrap();
            let marks = Array2::from_shape_fn((rows, steps), |(row, step)| ((row + step) % 3) as f64);
            let mut x = numbers(rows, steps * features, 5);
            for ((row, place), x) in x.indexed_iter_mut() {
                if marks[[row, place / features]] == 0.0 {
                    *x = padding;
                }
            }
            network.batch(&[x.view(), marks.view()], &[]).unwrap();
            linearized(&mut network, variables.values())
        };
        prop_assert_eq!(outputs(0.5), outputs(other));
    }
}

/// All layers, with everything that is optional.
fn kinds<T: Real>() -> Vec<Sequential<T>> {
    let sequence = || Sequential::sequence(4, 2);
    vec![
        sequence().simple_rnn(3).dense(1),
        sequence().lstm(3).dense(1),
        sequence().gru(3).dense(1),
        sequence().push(Bidirectional::new(GRU::new(2).with_return_sequences(true))).lstm(2).dense(1),
        sequence().push(MultiHeadAttention::new(2, 2)).layer_normalization().global_average_pooling1d().dense(1),
        Sequential::new(4).push(Embedding::new(5, 3).with_mask_zero(true)).lstm(2).dense(1),
    ]
}

fn inputs_of<T: Real>(kind: usize, rows: usize) -> Array2<T> {
    match kind {
        5 => Array2::from_shape_fn((rows, 4), |(row, step)| T::from_f64(((row * 3 + step * 7) % 5) as f64)),
        _ => numbers(rows, 8, kind),
    }
}

/// In single precision, outputs, gradients and rows are those in double precision, rounded.
#[test]
fn single_precision_agrees_with_double() {
    for (kind, (single, double)) in kinds::<f32>().iter().zip(kinds::<f64>()).enumerate() {
        let (mut single, x) = bound(single, &inputs_of(kind, 5));
        let found = linearized(&mut single, x.values());
        let (mut double, x) = bound(&double, &inputs_of(kind, 5));
        let expected = linearized(&mut double, x.values());
        let pairs = found.0.iter().zip(&expected.0).chain(found.1.iter().zip(&expected.1));
        for (&found, &expected) in pairs {
            assert!((f64::from(found) - expected).abs() < 2e-5 * (1.0 + expected.abs()), "{kind}: {found} {expected}");
        }
    }
}

/// Gates that are saturated to the last bit give finite numbers, and so do scores far beyond the range of exponentials.
#[test]
fn saturated_gates_give_no_nan() {
    for (kind, layers) in kinds::<f64>().iter().enumerate().take(5) {
        for size in [1e6, 1e30, 1e150] {
            let (mut network, variables) = bound(layers, &inputs_of(kind, 3).mapv(|x: f64| x * size));
            let (r, jacobian) = linearized(&mut network, variables.values());
            let finite = r.iter().chain(&jacobian).all(|number| number.is_finite());
            assert!(finite, "{kind}, inputs of {size}");
        }
    }
}

/// Where all steps are masked, outputs are those of no steps at all: zeros before the last layer.
#[test]
fn all_steps_may_be_masked() {
    let layers: Vec<Sequential<f64>> = vec![
        Sequential::sequence(3, 2).masking(0.5).lstm(2),
        Sequential::sequence(3, 2).masking(0.5).push(Bidirectional::new(GRU::new(2).with_return_sequences(true))),
        Sequential::sequence(3, 2).masking(0.5).global_average_pooling1d(),
        Sequential::sequence(3, 2).masking(0.5).push(MultiHeadAttention::new(2, 2).without_bias()),
    ];
    for layers in &layers {
        let (mut network, variables) = bound(layers, &Array2::from_elem((1, 6), 0.5));
        let (r, jacobian) = linearized(&mut network, variables.values());
        assert!(r.iter().chain(&jacobian).all(|&number| number == 0.0), "{layers:?}");
    }
}

/// A mask of all steps, and a sequence of one step: the same as no mask, and as the cell's equation.
#[test]
fn one_step_is_the_equation_of_the_cell() {
    let x = array![[0.3, -0.7]];
    let layers = Sequential::sequence(1, 2).lstm(1);
    let (network, mut variables) = bound(&layers, &x);
    let v = variables.values().to_vec();
    // Four rows of two weights, four recurrent ones, four biases.
    let gate = |k: usize| v[2 * k] * x[[0, 0]] + v[2 * k + 1] * x[[0, 1]] + v[12 + k];
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let c = sigmoid(gate(0)) * gate(2).tanh();
    let expected = sigmoid(gate(3)) * c.tanh();
    let output = network.outputs()[0];
    let mut network = network;
    let found = network.predict(&variables, &[x.view()], output).unwrap()[[0, 0]];
    assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    // And training it works: the recurrent weights have no effect, and stay.
    let mut network = layers.compile(&mut Variables::new(), 0, MeanSquaredError).unwrap();
    network.batch(&[x.view()], &[array![[0.4]].view()]).unwrap();
    let report = LevenbergMarquardt::new().minimize_variables(&mut network, &mut variables).unwrap();
    assert!(report.cost < 1e-12, "{report:?}");
    assert_eq!(&variables.values()[8..12], &v[8..12]);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let said = |layers: Sequential<f64>| layers.build(&mut Variables::new(), 0).unwrap_err().to_string();
    assert_eq!(
        said(Sequential::new(4).lstm(2)),
        "layer 0 (lstm): lstm: a row of 4 is not a sequence (steps × features); reshape it"
    );
    assert_eq!(
        said(Sequential::image(1, 2, 2).gru(2)),
        "layer 0 (gru): gru: an image of 1 × 2 × 2 (channels × height × width) is not a sequence (steps × features); \
         reshape it"
    );
    let refused = said(Sequential::sequence(3, 2).simple_rnn(0));
    assert_eq!(refused, "layer 0 (simple rnn): simple rnn: nothing to work on: the result would have no columns");
    assert!(said(Sequential::sequence(3, 2).push(MultiHeadAttention::new(0, 2))).contains("nothing to work on"));
    assert!(said(Sequential::sequence(0, 2).lstm(2)).contains("nothing to work on"));
    assert!(said(Sequential::sequence(3, 2).lstm(4).lstm(2)).starts_with("layer 1 (lstm): lstm: a row of 4"));
    assert!(said(Sequential::new(3).global_average_pooling1d()).contains("is not a sequence"));
    assert!(said(Sequential::sequence(3, 2).conv2d(1, [1, 1])).contains("is not an image"));

    let (mut tape, mut variables) = (Tape::<f64>::new(), Variables::new());
    let x = tape.input(6);
    let x = tape.reshape(x, Shape::Sequence { steps: 3, features: 2 }).unwrap();
    let [state, narrow] = [tape.input(4), tape.input(1)];
    let mut append = |layer: Box<dyn Fn() -> LSTM<f64>>| {
        Sequential::sequence(3, 2).push(layer()).append(&mut tape, x, &mut variables, 0).unwrap_err()
    };
    let error = append(Box::new(move || LSTM::new(4).with_initial_state(&[state])));
    assert_eq!(error.to_string(), "layer 0 (lstm): lstm: 2 states are needed, but 1 were given");
    let error = append(Box::new(move || LSTM::new(4).with_initial_state(&[state, narrow])));
    assert_eq!(error.to_string(), "layer 0 (lstm): made for a row of 4, not for a row of 1");
    let stranger = Tape::<f64>::new().input(4);
    let error = append(Box::new(move || LSTM::new(4).with_initial_state(&[stranger, stranger])));
    assert!(matches!(error, NetworkError::Layer { source: TapeError::ForeignNode { .. }, .. }), "{error}");
    assert!(variables.is_empty());

    let short = tape.input(2);
    let mask = tape.not_equal(short, 0.0);
    assert_eq!(tape.set_mask(x, mask).unwrap_err().to_string(), "reshape: a row of 2 cannot become a row of 3");
    let other = tape.reshape(state, Shape::Sequence { steps: 2, features: 2 }).unwrap();
    let attention = MultiHeadAttention::new(1, 2).with_value(x).with_key(other);
    let error = Sequential::sequence(3, 2).push(attention).append(&mut tape, x, &mut variables, 0).unwrap_err();
    assert!(matches!(error, NetworkError::Layer { source: TapeError::Shapes { .. }, .. }), "{error}");
}

/// A mask travels through layers that keep the steps, and ends where the steps do.
#[test]
fn masks_are_carried() {
    let embedding = Embedding::new(5, 2).with_mask_zero(true);
    let residual = Sequential::sequence(4, 3).dense(3).dropout(0.5);
    let layers = Sequential::<f64>::new(4).push(embedding).dense(3).tanh().layer_normalization().residual(residual);
    let Recording { tape, output, .. } = layers.build(&mut Variables::new(), 0).unwrap();
    assert_eq!(output.shape(), Shape::Sequence { steps: 4, features: 3 });
    assert_eq!(tape.mask(output).unwrap().width(), 4);
    let Recording { tape, output, .. } = layers.flatten().build(&mut Variables::new(), 0).unwrap();
    assert!(tape.mask(output).is_none());
}

/// Numbers of a sequence, some time ago.
fn memory(rows: usize) -> (Array2<f64>, Array2<f64>) {
    let inputs = numbers(rows, 8, 3);
    let targets = Array2::from_shape_fn((rows, 1), |(row, _)| inputs[[row, 3]] * inputs[[row, 4]]);
    (inputs, targets)
}

/// The loss after some epochs falls under every optimizer.
#[test]
fn every_optimizer_trains_them() {
    fn train(layers: &Sequential<f64>, mut optimizer: impl Optimizer<f64>, steps: usize) -> [f64; 2] {
        let (inputs, targets) = memory(16);
        let mut variables = Variables::new();
        let mut network = layers.compile(&mut variables, 2, MeanSquaredError).unwrap();
        network.batch(&[inputs.view()], &[targets.view()]).unwrap();
        let before = network.loss(variables.values()).unwrap();
        for _ in 0..steps {
            optimizer.step(&mut network, &mut variables).unwrap();
        }
        [before, network.loss(variables.values()).unwrap()]
    }
    for (kind, layers) in kinds::<f64>().iter().enumerate().take(5) {
        for (name, [before, after]) in [
            ("lm", train(layers, LevenbergMarquardt::new(), 12)),
            ("kfac", train(layers, KroneckerLevenbergMarquardt::new(), 12)),
            ("adam", train(layers, Adam::new(0.02), 40)),
            ("sgd", train(layers, Sgd::new(0.05).with_momentum(0.9), 40)),
        ] {
            assert!(after < 0.8 * before, "{kind} by {name}: {before} to {after}");
        }
        let (inputs, targets) = memory(16);
        let mut variables = Variables::new();
        let mut network = layers.compile(&mut variables, 2, MeanSquaredError).unwrap();
        network.batch(&[inputs.view()], &[targets.view()]).unwrap();
        let optimizer = LevenbergMarquardt::new().with_max_iterations(30);
        let report = optimizer.minimize_variables(&mut network, &mut variables).unwrap();
        // Attention does not know which steps are wanted.
        let goal = if kind == 4 { 0.5 } else { 0.1 };
        assert!(report.cost < goal * report.initial_cost, "{kind}: {report}");
    }
}

#[test]
fn variables_start_as_keras_do() {
    let layers = Sequential::sequence(3, 2).push(LSTM::<f64>::new(3).with_return_sequences(true)).gru(2);
    let mut variables = Variables::new();
    layers.build(&mut variables, 0).unwrap();
    let named: Vec<_> = variables.iter().map(|v| (variables.name(v).to_owned(), variables.shape(v).to_vec())).collect();
    let expected: [(&str, &[usize]); 7] = [
        ("0.weight", &[12, 2]),
        ("0.recurrent_weight", &[12, 3]),
        ("0.bias", &[12]),
        ("1.weight", &[6, 3]),
        ("1.recurrent_weight", &[6, 2]),
        ("1.bias", &[6]),
        ("1.recurrent_bias", &[6]),
    ];
    assert_eq!(named, expected.map(|(name, shape)| (name.to_owned(), shape.to_vec())));
    let bias = variables.find("0.bias").unwrap();
    let forget = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(variables.values()[bias.range()], forget);
    let recurrent = variables.find("0.recurrent_weight").unwrap();
    let recurrent = Array2::from_shape_vec((12, 3), variables.values()[recurrent.range()].to_vec()).unwrap();
    let product = recurrent.t().dot(&recurrent);
    assert!(product.indexed_iter().all(|((i, j), p)| (p - if i == j { 1.0 } else { 0.0 }).abs() < 1e-14));

    let plain = Sequential::sequence(3, 2).push(LSTM::<f64>::new(3).with_unit_forget_bias(false));
    let mut variables = Variables::new();
    plain.build(&mut variables, 0).unwrap();
    let bias = variables.find("0.bias").unwrap();
    assert!(variables.values()[bias.range()].iter().all(|&number| number == 0.0));
}

#[cfg(feature = "safetensors")]
#[test]
fn variables_are_saved_and_loaded_by_name() {
    let path = std::env::temp_dir().join(format!("marquardt-sequences-{}.safetensors", std::process::id()));
    let layers = Sequential::sequence(3, 2).push(Bidirectional::new(GRU::<f64>::new(2)));
    let (mut variables, mut other) = (Variables::new(), Variables::new());
    layers.build(&mut variables, 0).unwrap();
    layers.build(&mut other, 7).unwrap();
    assert_ne!(other.values(), variables.values());
    variables.save_safetensors(&path).unwrap();
    assert!(other.load_safetensors(&path).unwrap().is_empty());
    std::fs::remove_file(&path).unwrap();
    assert_eq!(other.values(), variables.values());
}
