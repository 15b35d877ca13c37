//! Layers: what they are called, how large they are, what they start from, and what they compute.

use marquardt::nn::{BatchNormalization, Dense, Initializer, Model, NetworkError, Residual, Sequential, Tape};
use marquardt::{VariableError, Variables};

/// What building says, having added no variable.
fn refusal(network: Sequential<f64>) -> String {
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
    let Model { input, output, .. } = network.build(&mut variables, 0).unwrap();
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
