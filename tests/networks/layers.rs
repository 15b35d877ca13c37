//! Layers: what they are called, how large they are, what they start from, and what they compute.

use marquardt::nn::{
    BatchNormalization, BinaryCrossentropy, CategoricalCrossentropy, Dense, Function, HalfSumOfSquares, Huber,
    Initializer, LogCosh, Loss, MeanAbsoluteError, MeanSquaredError, Network, NetworkError, Poisson, Recording,
    Residual, Sequential, SparseCategoricalCrossentropy, Tape,
};
use marquardt::problem::Objective;
use marquardt::variables::{Gradient, Gradients, VariableError};
use marquardt::{LeastSquares, LevenbergMarquardt, Variables};
use ndarray::{Array2, array};

/// What building says, having added no variable.
pub fn refusal(network: Sequential<f64>) -> String {
    let mut variables = Variables::new();
    let error = network.build(&mut variables, 0).unwrap_err();
    assert!(variables.is_empty(), "variables were added");
    error.to_string()
}

#[test]
fn variables_are_named_and_shaped_as_in_pytorch() {
    let mut variables = Variables::<f64>::new();
    let block = Sequential::new(5).dense(7).silu().push(Dense::new(5).without_bias());
    let network = Sequential::new(3).dense(5).tanh().dropout(0.1).residual(block).leaky_relu(0.01).dense(2);
    let Recording { input, output, .. } = network.build(&mut variables, 0).unwrap();
    assert_eq!((input.width(), output.width()), (3, 2));
    let found: Vec<(&str, &[usize])> =
        variables.iter().map(|variable| (variables.name(variable), variables.shape(variable))).collect();
    let expected: [(&str, &[usize]); 7] = [
        ("0.weight", &[5, 3]),
        ("0.bias", &[5]),
        ("3.0.weight", &[7, 5]),
        ("3.0.bias", &[7]),
        ("3.2.weight", &[5, 7]),
        ("5.weight", &[2, 5]),
        ("5.bias", &[2]),
    ];
    assert_eq!(found, expected);
    assert_eq!(variables.values().len(), 15 + 5 + 35 + 7 + 35 + 10 + 2);
}

#[test]
fn networks_with_names_share_variables() {
    let mut variables = Variables::<f64>::new();
    let network = || Sequential::new(2).dense(3).tanh().dense(2);
    network().named("encoder").build(&mut variables, 0).unwrap();
    network().named("decoder").build(&mut variables, 1).unwrap();
    let names: Vec<&str> = variables.iter().map(|variable| variables.name(variable)).collect();
    assert_eq!(
        names,
        [
            "encoder.0.weight",
            "encoder.0.bias",
            "encoder.2.weight",
            "encoder.2.bias",
            "decoder.0.weight",
            "decoder.0.bias",
            "decoder.2.weight",
            "decoder.2.bias"
        ]
    );
}

#[test]
fn a_seed_is_one_stream_in_order_of_creation() {
    let build = |network: Sequential<f64>, seed| {
        let mut variables = Variables::new();
        network.build(&mut variables, seed).unwrap();
        variables.values().to_vec()
    };
    let short = || Sequential::new(3).dense(5).tanh();
    let (first, longer) = (build(short(), 7), build(short().dense(2), 7));
    assert_eq!(first, longer[..20], "later layers do not move earlier ones");
    assert_ne!(first, build(short(), 8));
    let separate = Initializer::GlorotUniform.sample::<f64>(&[2, 5], 5, 2, 7);
    assert_ne!(separate.as_slice().unwrap(), &longer[20..30], "the stream goes on from layer to layer");
    assert_eq!(build(short(), 7), first);
}

#[test]
fn initialisers_are_the_layers() {
    let mut variables = Variables::<f64>::new();
    Sequential::new(4)
        .dense(6)
        .with_initializer(Initializer::Constant { value: 0.5 })
        .dense(3)
        .push(
            Dense::new(3)
                .with_initializer(Initializer::Ones)
                .with_bias_initializer(Initializer::Constant { value: 2.0 }),
        )
        .dense(1)
        .build(&mut variables, 3)
        .unwrap();
    let values = |name| variables.get(variables.find(name).unwrap()).iter().copied().collect::<Vec<f64>>();
    let limit = (6.0_f64 / 10.0).sqrt();
    assert!(values("0.weight").iter().all(|w| w.abs() <= limit));
    assert!(values("0.weight").iter().any(|w| w.abs() > 0.5 * limit));
    assert_eq!(values("0.bias"), [0.0; 6]);
    assert_eq!(values("1.weight"), [0.5; 18]);
    assert_eq!((values("2.weight"), values("2.bias")), (vec![1.0; 9], vec![2.0; 3]));
    assert_eq!(values("3.weight"), [0.5; 3]);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let two = || Sequential::<f64>::new(2).dense(4);
    for (network, message) in [
        (
            two().residual(Sequential::new(4).dense(1)),
            "layer 1 (residual): an output of width 1 cannot be added to an input of width 4",
        ),
        (
            two().push(Residual::new(Sequential::new(3).dense(4))),
            "layer 1 (residual): made for an input of width 3, not 4",
        ),
        (two().push(Sequential::new(3)), "layer 1 (sequential): made for an input of width 3, not 4"),
        (
            two().push(BatchNormalization),
            "layer 1 (batch normalization): batch normalization mixes samples, so that a row of the Jacobian would depend on the whole batch",
        ),
        (
            two().residual(Sequential::new(4).dropout(1.0)),
            "layer 1.0 (dropout): dropout: the rate must be at least 0 and less than 1, not 1",
        ),
        (two().embedding(3, 2), "layer 1 (embedding): embedding: row numbers must come from an input, not from dense"),
        (two().dense(0), "layer 1 (dense): dense: nothing to work on: the result would have no columns"),
        (
            Sequential::new(1).embedding(0, 2),
            "layer 0 (embedding): embedding: nothing to work on: the result would have no columns",
        ),
        (Sequential::new(0).dense(2), "input: nothing to work on: the result would have no columns"),
        (
            two().push(Dense::new(2).with_initializer(Initializer::Constant { value: f64::INFINITY })),
            "1.weight[0] is inf",
        ),
    ] {
        assert_eq!(refusal(network), message);
    }
}

#[test]
fn a_refusal_leaves_tape_and_variables_alone() {
    let mut variables = Variables::<f64>::new();
    let network = || Sequential::new(2).named("f").dense(3).tanh().dense(2);
    network().build(&mut variables, 0).unwrap();
    let before = variables.clone();
    let duplicate = NetworkError::Variable(VariableError::Duplicate { name: "f.0.weight".to_owned() });
    assert_eq!(network().build(&mut variables, 0).unwrap_err(), duplicate);
    assert_eq!(
        Sequential::new(3).named("f").tanh().tanh().dense(1).build(&mut variables, 0).unwrap_err().to_string(),
        "there is a variable named f.2.weight already"
    );

    let (mut tape, mut other) = (Tape::new(), Tape::<f64>::new());
    let (x, foreign) = (tape.input(2), other.input(2));
    let untouched = format!("{tape:?}");
    let append = |network: Sequential<f64>, tape: &mut Tape<f64>, x, variables: &mut Variables<f64>| {
        network.append(tape, x, variables, 0).unwrap_err().to_string()
    };
    assert_eq!(append(network().named("g"), &mut tape, foreign, &mut variables), "sequential: a node of another tape");
    assert_eq!(
        append(Sequential::new(3).named("g"), &mut tape, x, &mut variables),
        "layer g (sequential): made for an input of width 3, not 2"
    );
    assert_eq!(
        append(Sequential::new(3), &mut tape, x, &mut variables),
        "layer sequential: made for an input of width 3, not 2"
    );
    assert_eq!((format!("{tape:?}"), variables), (untouched, before));
}

/// The network's outputs, in evaluation mode.
fn predict(model: &Recording<f64>, variables: &Variables<f64>, inputs: &Array2<f64>) -> Array2<f64> {
    let mut network = Network::new(model.tape.clone(), variables).unwrap();
    network.predict(variables, &[inputs.view()], model.output).unwrap()
}

#[test]
fn a_network_computes_what_its_layers_say() {
    let mut variables = Variables::new();
    let model = Sequential::new(2).dense(2).tanh().dense(1).build(&mut variables, 0).unwrap();
    variables.values_mut().copy_from_slice(&[0.5, -1.0, 2.0, 0.25, 0.1, -0.2, 3.0, -2.0, 0.75]);
    let outputs = predict(&model, &variables, &array![[1.0, 2.0], [-0.5, 0.3]]);
    for (output, [a, b]) in outputs.iter().zip([[1.0, 2.0], [-0.5, 0.3]]) {
        let hidden = [(0.5 * a - b + 0.1_f64).tanh(), (2.0 * a + 0.25 * b - 0.2_f64).tanh()];
        let expected = 3.0 * hidden[0] - 2.0 * hidden[1] + 0.75;
        assert!((output - expected).abs() < 1e-14, "{output}, {expected}");
    }
}

#[test]
fn a_residual_adds_what_its_layers_say() {
    let mut variables = Variables::new();
    let body = Sequential::new(2).push(Dense::new(2).without_bias()).apply(Function::Square);
    let model = Sequential::new(2).residual(body).build(&mut variables, 0).unwrap();
    variables.values_mut().copy_from_slice(&[1.0, 2.0, 0.0, -1.0]);
    let outputs = predict(&model, &variables, &array![[1.0, 2.0], [-3.0, 0.5]]);
    assert_eq!(outputs, array![[1.0 + 25.0, 2.0 + 4.0], [-3.0 + 4.0, 0.5 + 0.25]]);
}

#[test]
fn an_embedding_looks_rows_up_and_its_gradient_is_sparse() {
    let mut variables = Variables::<f64>::new();
    let model = Sequential::new(2).embedding(4, 3).build(&mut variables, 0).unwrap();
    let table = variables.find("0.weight").unwrap();
    assert!(variables.get(table).iter().all(|w| w.abs() <= 0.05));
    for (i, value) in variables.values_mut().iter_mut().enumerate() {
        *value = i as f64;
    }
    let rows = array![[3.0, 0.0], [1.0, 3.0]];
    let outputs = predict(&model, &variables, &rows);
    assert_eq!(outputs, array![[9.0, 10.0, 11.0, 0.0, 1.0, 2.0], [3.0, 4.0, 5.0, 9.0, 10.0, 11.0]]);

    let mut network = Network::new(model.tape, &variables).unwrap().with_loss(model.output, HalfSumOfSquares).unwrap();
    network.batch(&[rows.view()], &[]).unwrap();
    let mut gradients = Gradients::new(&variables);
    network.loss_and_gradient(variables.values(), &mut gradients).unwrap();
    let Gradient::Rows { rows: touched, .. } = gradients.of(table) else { panic!("{:?}", gradients.of(table)) };
    assert_eq!(touched, [3, 0, 1, 3]);

    let error = network.batch(&[array![[0.0, 1.0], [2.0, 4.0]].view()], &[]).unwrap_err();
    assert_eq!(error.to_string(), "input 0 is 4 in row 2: not a row number of a table with 4 rows");
}

const DROPPED: (usize, usize) = (200, 50);

/// Ones through dropout of 0.25; the loss of the numbers `1 / 0.75` that are kept is `½ Σ (1 / 0.75)²`.
fn dropping(seed: u64) -> Network<f64> {
    let network = Sequential::new(DROPPED.1).dropout(0.25);
    network.compile(&mut Variables::new(), seed, HalfSumOfSquares).unwrap()
}

/// The mask, as the gradient of the loss with respect to the kept ones.
fn mask(network: &mut Network<f64>) -> Array2<f64> {
    let output = network.outputs()[0];
    network.gradient_of(&Variables::new(), output).unwrap()
}

#[test]
fn dropout_keeps_its_share_and_scales_it() {
    let mut network = dropping(5);
    let ones = Array2::ones(DROPPED);
    network.batch(&[ones.view()], &[]).unwrap();
    let mask = mask(&mut network);
    assert!(mask.iter().all(|&m| m == 0.0 || (m - 4.0 / 3.0).abs() < 1e-15));
    let kept = mask.iter().filter(|&&m| m != 0.0).count() as f64 / mask.len() as f64;
    assert!((kept - 0.75).abs() < 4.0 * (0.75 * 0.25 / 10_000.0_f64).sqrt(), "{kept}");
    for lane in mask.columns().into_iter().chain(mask.rows()) {
        let share = lane.iter().filter(|&&m| m != 0.0).count() as f64 / lane.len() as f64;
        assert!((0.45..1.0).contains(&share), "the mask has structure: {share} of a row or column are kept");
    }
}

#[test]
fn a_mask_lasts_for_a_step() {
    let mut network = dropping(5);
    let ones = Array2::ones(DROPPED);
    network.batch(&[ones.view()], &[]).unwrap();
    let (first, variables, output) = (mask(&mut network), Variables::new(), network.outputs()[0]);
    let expected = 0.5 * first.iter().map(|m| m * m).sum::<f64>();
    for _ in 0..2 {
        let loss = network.loss(variables.values()).unwrap();
        assert!((loss - expected).abs() < 1e-9, "{loss}, {expected}");
        assert_eq!(mask(&mut network), first);
    }
    assert_eq!(network.predict(&variables, &[ones.view()], output).unwrap(), ones, "nothing is dropped");
    assert_eq!(network.evaluate(&variables, &[ones.view()], &[]).unwrap(), 5_000.0, "nothing is dropped");
    assert_eq!(mask(&mut network), first, "a prediction is no step");

    network.batch(&[ones.view()], &[]).unwrap();
    let second = mask(&mut network);
    let differing = second.iter().zip(&first).filter(|(a, b)| a != b).count() as f64 / 10_000.0;
    assert!((differing - 2.0 * 0.75 * 0.25).abs() < 0.03, "masks of two steps are not independent: {differing}");

    let mut again = dropping(5);
    again.batch(&[ones.view()], &[]).unwrap();
    let mut other = dropping(6);
    other.batch(&[ones.view()], &[]).unwrap();
    assert_eq!(mask(&mut again), first);
    assert_ne!(mask(&mut other), first);
}

#[test]
fn losses_are_weighted_means_over_the_batch() {
    fn loss(loss: impl Loss<f64> + 'static, targets: &Array2<f64>) -> f64 {
        let mut variables = Variables::new();
        let mut network = Sequential::new(2).apply(Function::Negate).compile(&mut variables, 0, loss).unwrap();
        let inputs = array![[0.0, 1.0], [2.0, 0.5]];
        network.weighted_batch(&[inputs.view()], &[targets.view()], &[1.0, 3.0]).unwrap();
        network.loss(variables.values()).unwrap()
    }
    let weighted = |first: f64, second: f64| (first + 3.0 * second) / 2.0;
    let softplus = |z: f64| (1.0 + z.exp()).ln();
    let values = array![[0.5, -1.0], [0.0, 3.5]];
    // The errors are −0.5, 0 and −2, −4; the logits are 0, −1 and −2, −0.5.
    for (found, expected) in [
        (loss(MeanSquaredError, &values), weighted(0.25 / 2.0, 20.0 / 2.0)),
        (loss(MeanAbsoluteError, &values), weighted(0.5 / 2.0, 6.0 / 2.0)),
        (loss(Huber::default(), &values), weighted(0.125 / 2.0, (1.5 + 3.5) / 2.0)),
        (
            loss(LogCosh, &values),
            weighted(0.5_f64.cosh().ln() / 2.0, (2.0_f64.cosh().ln() + 4.0_f64.cosh().ln()) / 2.0),
        ),
        (
            loss(BinaryCrossentropy, &array![[1.0, 0.0], [0.0, 1.0]]),
            weighted((softplus(0.0) + softplus(-1.0)) / 2.0, (softplus(-2.0) + softplus(0.5)) / 2.0),
        ),
        (
            loss(CategoricalCrossentropy, &array![[1.0, 0.0], [0.3, 0.7]]),
            weighted(softplus(-1.0), 0.3 * softplus(1.5) + 0.7 * softplus(-1.5)),
        ),
        (loss(SparseCategoricalCrossentropy, &array![[0.0], [1.0]]), weighted(softplus(-1.0), softplus(-1.5))),
        (
            loss(Poisson, &array![[3.0, 0.0], [0.5, 2.0]]),
            weighted((1.0 + (-1.0_f64).exp()) / 2.0, ((-2.0_f64).exp() + 1.0 + (-0.5_f64).exp() + 1.0) / 2.0),
        ),
    ] {
        assert!((found - expected).abs() < 1e-14, "{found}, {expected}");
    }
}

#[test]
fn targets_that_are_none_are_refused_by_row() {
    fn refusal(loss: impl Loss<f64> + 'static, targets: &Array2<f64>) -> String {
        let mut network = Sequential::new(2).tanh().compile(&mut Variables::new(), 0, loss).unwrap();
        let inputs = array![[0.0, 1.0], [2.0, 0.5], [1.0, 1.0]];
        network.batch(&[inputs.view()], &[targets.view()]).unwrap_err().to_string()
    }
    let label = |value: f64| refusal(SparseCategoricalCrossentropy, &array![[0.0], [1.0], [value]]);
    assert_eq!(label(2.0), "target 0 is 2 in row 3: not one of the classes 0 to 1");
    assert_eq!(label(-1.0), "target 0 is -1 in row 3: not one of the classes 0 to 1");
    assert_eq!(label(0.5), "target 0 is 0.5 in row 3: not one of the classes 0 to 1");
    let probability = array![[0.0, 1.0], [0.5, 1.5], [0.0, 1.0]];
    let message = "target 0 is 1.5 in row 2, column 2: not a probability";
    assert_eq!(refusal(BinaryCrossentropy, &probability), message);
    assert_eq!(refusal(CategoricalCrossentropy, &probability), message);
    let negative = array![[0.0, 1.0], [0.5, 1e9], [-0.5, 1.0]];
    assert_eq!(refusal(Poisson, &negative), "target 0 is -0.5 in row 3, column 1: negative");
    assert_eq!(refusal(LogCosh, &array![[0.0], [1.0], [2.0]]), "target 0 must have 2 columns, but has 1");
}

#[test]
fn levenberg_marquardt_finds_the_robust_minimum() {
    // A line with two outliers; Huber's gradient is the sum of the errors, cut off at ±delta, times 1 and x.
    let inputs = Array2::from_shape_fn((20, 1), |(i, _)| 0.1 * i as f64);
    let noise = |i: usize| 0.01 * (7.0 * i as f64).sin();
    let targets =
        Array2::from_shape_fn((20, 1), |(i, _)| 0.2 * i as f64 - 1.0 + noise(i) + if i % 13 == 4 { 50.0 } else { 0.0 });
    fn fit(loss: impl Loss<f64> + 'static, inputs: &Array2<f64>, targets: &Array2<f64>) -> [f64; 3] {
        let mut variables = Variables::new();
        let mut network = Sequential::new(1).dense(1).compile(&mut variables, 0, loss).unwrap();
        network.batch(&[inputs.view()], &[targets.view()]).unwrap();
        let report = LevenbergMarquardt::new().minimize(&mut network, variables.values()).unwrap();
        let mut gradients = Gradients::new(&variables);
        network.loss_and_gradient(&report.x, &mut gradients).unwrap();
        let largest = gradients.flat_mut().iter().fold(0.0, |largest: f64, g| largest.max(g.abs()));
        [report.x[0], report.x[1], largest]
    }
    for [slope, intercept, gradient] in
        [fit(Huber::new(0.1).unwrap(), &inputs, &targets), fit(LogCosh, &inputs, &targets)]
    {
        assert!(gradient < 1e-6, "the largest derivative is {gradient}");
        assert!((slope - 2.0).abs() < 0.3 && (intercept + 1.0).abs() < 0.3, "{slope} x + {intercept}");
    }
    let [_, intercept, _] = fit(MeanSquaredError, &inputs, &targets);
    assert!(intercept > 1.0, "squares follow the outliers: {intercept}");
}

#[test]
fn reweighted_residuals_bend_as_the_outputs_do() {
    /// Second derivatives of both residuals along a direction, and their first derivatives by the first parameters.
    fn bent(loss: impl Loss<f64> + 'static) -> ([f64; 2], [f64; 2]) {
        let mut network = Sequential::new(1).dense(2).tanh().compile(&mut Variables::new(), 0, loss).unwrap();
        network.batch(&[array![[1.0]].view()], &[array![[0.0, 3.0]].view()]).unwrap();
        let (mut second, mut r, mut jacobian) = ([f64::NAN; 2], [f64::NAN; 2], [f64::NAN; 8]);
        assert!(network.capabilities().second_directional_derivative(&[0.1; 4], &[1.0; 4], 0, &mut second).unwrap());
        network.linearize(&[0.1; 4], 0, &mut r, &mut jacobian).unwrap();
        (second, [jacobian[0], jacobian[5]])
    }
    // The weights are held, so that they multiply first and second derivatives alike.
    let (exact, slopes) = bent(MeanSquaredError);
    let (reweighted, reweighted_slopes) = bent(LogCosh);
    for k in 0..2 {
        assert!(exact[k].abs() > 0.1);
        assert!((reweighted[k] / exact[k] - reweighted_slopes[k] / slopes[k]).abs() < 1e-13);
    }
}
