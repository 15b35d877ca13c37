//! Data that a network cannot be evaluated on is refused by name, and what was bound before stays bound.

use marquardt::Variables;
use marquardt::nn::{
    BinaryCrossentropy, HalfSumOfSquares, MeanSquaredError, Network, Node, SparseCategoricalCrossentropy, Tape,
    TapeError,
};
use marquardt::problem::Objective;
use marquardt::variables::Gradients;
use ndarray::{Array1, Array2, ArrayView2, array};

/// Two inputs, the second of row numbers; a number and one of three classes as targets.
fn network() -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let table = variables.add("table", array![[0.1, 0.2], [0.3, 0.4]].view()).unwrap();
    let head = variables.add("head", array![[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0], [0.5; 4]].view()).unwrap();
    let mut tape = Tape::new();
    let (x, numbers) = (tape.input(2), tape.input(1));
    let looked_up = tape.embedding(numbers, table).unwrap();
    let all = tape.concat(&[x, looked_up]).unwrap();
    let classes = tape.dense(all, head, None).unwrap();
    let sum = tape.row_sum(x);
    let network = Network::new(tape, &variables).unwrap().with_loss(sum, MeanSquaredError).unwrap();
    (network.with_loss(classes, SparseCategoricalCrossentropy).unwrap(), variables)
}

/// A batch.
struct Data {
    inputs: [Array2<f64>; 2],
    targets: [Array2<f64>; 2],
}

/// Something that goes wrong.
type Spoil = fn(&mut Data);

fn good() -> Data {
    Data {
        inputs: [array![[0.5, -1.0], [2.0, 0.0], [1.0, 1.0]], array![[0.0], [1.0], [1.0]]],
        targets: [array![[1.0], [0.0], [2.0]], array![[0.0], [2.0], [1.0]]],
    }
}

fn views(arrays: &[Array2<f64>]) -> Vec<ArrayView2<'_, f64>> {
    arrays.iter().map(|array| array.view()).collect()
}

#[test]
fn what_is_wrong_is_named() {
    let spoil: [(Spoil, &str); 12] = [
        (|data| data.inputs[0] = Array2::zeros((3, 5)), "input 0 must have 2 columns, but has 5"),
        (|data| data.inputs[1] = Array2::zeros((2, 1)), "input 1 has 2 rows, where the first array has 3"),
        (|data| data.targets[1] = Array2::zeros((4, 1)), "target 1 has 4 rows, where the first array has 3"),
        (|data| data.targets[0] = Array2::zeros((3, 2)), "target 0 must have 1 columns, but has 2"),
        (|data| data.inputs[0][[2, 1]] = f64::NAN, "input 0 is NaN in row 3, column 2"),
        (|data| data.targets[0][[1, 0]] = f64::INFINITY, "target 0 is inf in row 2, column 1"),
        (|data| data.inputs[1][[2, 0]] = 2.0, "input 1 is 2 in row 3: not a row number of a table with 2 rows"),
        (|data| data.inputs[1][[0, 0]] = -1.0, "input 1 is -1 in row 1: not a row number of a table with 2 rows"),
        (|data| data.inputs[1][[1, 0]] = 0.5, "input 1 is 0.5 in row 2: not a row number of a table with 2 rows"),
        (|data| data.targets[1][[1, 0]] = 3.0, "target 1 is 3 in row 2: not one of the classes 0 to 2"),
        (|data| data.targets[1][[0, 0]] = 0.5, "target 1 is 0.5 in row 1: not one of the classes 0 to 2"),
        (
            |data| {
                data.inputs = [Array2::zeros((0, 2)), Array2::zeros((0, 1))];
                data.targets = [Array2::zeros((0, 1)), Array2::zeros((0, 1))];
            },
            "the batch has no rows",
        ),
    ];
    let (mut network, variables) = network();
    network.batch(&views(&good().inputs), &views(&good().targets)).unwrap();
    let loss = network.loss(variables.values()).unwrap();
    for (spoil, message) in spoil {
        let mut data = good();
        spoil(&mut data);
        let (inputs, targets) = (views(&data.inputs), views(&data.targets));
        assert_eq!(network.batch(&inputs, &targets).unwrap_err().to_string(), message);
        assert_eq!(network.evaluate(&variables, &inputs, &targets).unwrap_err().to_string(), message);
        assert_eq!(network.loss(variables.values()).unwrap(), loss, "the batch from before is still there");
    }
}

#[test]
fn counts_weights_and_rows_are_checked() {
    let ((mut network, variables), data) = (network(), good());
    let (inputs, targets) = (views(&data.inputs), views(&data.targets));
    assert_eq!(
        network.loss(variables.values()).unwrap_err().to_string(),
        "no batch is bound: call network.batch(inputs, targets) first"
    );
    let refused = |network: &mut Network<f64>, weights: &[f64]| {
        network.weighted_batch(&inputs, &targets, weights).unwrap_err().to_string()
    };
    assert_eq!(refused(&mut network, &[1.0; 2]), "3 rows, but 2 sample weights");
    assert_eq!(refused(&mut network, &[1.0, -0.5, 1.0]), "the sample weight of row 2 is -0.5");
    assert_eq!(refused(&mut network, &[1.0, 1.0, f64::NAN]), "the sample weight of row 3 is NaN");
    let said = |result: Result<&mut Network<f64>, marquardt::nn::BatchError>| result.unwrap_err().to_string();
    assert_eq!(said(network.batch(&inputs[..1], &targets)), "the network has 2 inputs, but 1 arrays were given");
    assert_eq!(said(network.batch(&inputs, &[])), "the losses need 2 targets, but 0 arrays were given");
    assert_eq!(said(network.batch_rows(&inputs, &targets, &[0, 3])), "row 3 was asked for, but there are 3");
    assert_eq!(said(network.batch_rows(&inputs, &targets, &[])), "the batch has no rows");
}

/// Only the rows of the minibatch are looked at.
#[test]
fn rows_that_are_not_asked_for_may_be_anything() {
    let ((mut network, _), mut data) = (network(), good());
    data.inputs[0][[1, 0]] = f64::NAN;
    let (inputs, targets) = (views(&data.inputs), views(&data.targets));
    assert!(network.batch_rows(&inputs, &targets, &[2, 0, 2]).is_ok());
    let error = network.batch_rows(&inputs, &targets, &[2, 1]).unwrap_err();
    assert_eq!(error.to_string(), "input 0 is NaN in row 2, column 1");
}

#[test]
fn probabilities_are_checked() {
    let variables = Variables::<f64>::new();
    let mut tape = Tape::new();
    let x = tape.input(2);
    let mut network = Network::new(tape, &variables).unwrap().with_loss(x, BinaryCrossentropy).unwrap();
    let error = network.batch(&[array![[0.0, 1.0]].view()], &[array![[0.0, 1.5]].view()]).unwrap_err();
    assert_eq!(error.to_string(), "target 0 is 1.5 in row 1, column 2: not a probability");
}

#[test]
fn strangers_are_refused() {
    let ((mut network, variables), data) = (network(), good());
    let (inputs, targets) = (views(&data.inputs), views(&data.targets));
    network.batch(&inputs, &targets).unwrap();

    let mut longer = variables.clone();
    longer.add("more", array![1.0].view()).unwrap();
    let said = "the network was made for variables of 16 numbers, but these hold 17";
    assert_eq!(network.loss(longer.values()).unwrap_err().to_string(), said);
    assert_eq!(network.evaluate(&longer, &inputs, &targets).unwrap_err().to_string(), said);
    assert_eq!(network.per_example_gradients(&longer).unwrap_err().to_string(), said);
    let error = network.loss_and_gradient(variables.values(), &mut Gradients::new(&longer)).unwrap_err();
    assert_eq!(error.to_string(), "the gradients are those of other variables than the network's");

    let stranger: Node = Tape::<f64>::new().input(2);
    assert_eq!(network.predict(&variables, &inputs, stranger).unwrap_err().to_string(), "a node of another tape");
    assert_eq!(network.gradient_of(&variables, stranger).unwrap_err().to_string(), "a node of another tape");
    let error = network.with_loss(stranger, MeanSquaredError).unwrap_err();
    assert_eq!(error, TapeError::ForeignNode { operation: "mean squared error" });
}

#[test]
fn tapes_that_cannot_be_evaluated() {
    let mut variables = Variables::<f64>::new();
    variables.add("w", Array2::zeros((3, 2)).view()).unwrap();
    let mut others = Variables::<f64>::new();
    let other = others.add("w", Array2::zeros((2, 2)).view()).unwrap();
    let nothing = others.add("nothing", Array1::zeros(0).view()).unwrap();

    let refused = |tape: Tape<f64>, variables: &Variables<f64>| Network::new(tape, variables).unwrap_err().to_string();
    let mut tape = Tape::new();
    let x = tape.input(2);
    tape.dense(x, other, None).unwrap();
    assert_eq!(refused(tape, &variables), "dense: a variable that is not among the network's (number 0, shape 2 × 2)");
    let mut tape = Tape::new();
    tape.variable(nothing);
    assert_eq!(refused(tape, &others), "variable: nothing to work on: the result would have no columns");
    let mut tape = Tape::new();
    tape.constant(&[0.0, f64::NAN]);
    assert_eq!(refused(tape, &others), "constant: NaN at 1");
    let mut tape = Tape::new();
    tape.tanh(x);
    assert_eq!(refused(tape, &others), "apply: a node of another tape");

    let mut tape = Tape::new();
    let x = tape.input(2);
    let mut network = Network::new(tape, &variables).unwrap();
    let inputs = array![[1.0, 2.0]];
    network.batch(&[inputs.view()], &[]).unwrap();
    assert_eq!(
        network.loss(variables.values()).unwrap_err().to_string(),
        "the network has no loss: call with_loss first"
    );
    for weight in [-1.0, f64::NAN] {
        let network = Network::new(network.tape().clone(), &variables).unwrap();
        let error = network.with_weighted_loss(x, HalfSumOfSquares, weight).unwrap_err();
        assert!(matches!(error, TapeError::LossWeight { .. }), "{error}");
    }
}
