//! Convolution, pooling and layer normalisation against PyTorch's, and "same" padding against Keras', which
//! `tests/reference/generate.py` wrote down.

use marquardt::nn::{
    AveragePooling2D, Conv2D, HalfSumOfSquares, LayerNormalization, MaxPooling2D, Network, Node, Padding, Recording,
    Sequential,
};
use marquardt::problem::Objective;
use marquardt::variables::Gradients;
use marquardt::{LeastSquares, Variables};
use ndarray::Array2;

use crate::reference::{Reference, assert_equal, weights};

const SAMPLES: usize = 3;

fn inputs(width: usize) -> Array2<f64> {
    Array2::from_shape_fn((SAMPLES, width), |(row, column)| (0.9 * row as f64 + 1.1 * column as f64).cos())
}

fn padding(rows: usize, columns: usize) -> Padding {
    Padding::Explicit { rows, columns }
}

/// The network of a case, with the weights of the file, and the inputs that it is bound to.
struct Case {
    network: Network<f64>,
    variables: Variables<f64>,
    inputs: Array2<f64>,
    input: Node,
    output: Node,
}

fn case(layers: &Sequential<f64>) -> Case {
    let mut variables = Variables::new();
    let Recording { tape, input, output } = layers.build(&mut variables, 0).unwrap();
    weights(&mut variables);
    let mut network = Network::new(tape, &variables).unwrap().with_loss(output, HalfSumOfSquares).unwrap();
    let inputs = inputs(input.width());
    network.batch(&[inputs.view()], &[]).unwrap();
    Case { network, variables, inputs, input, output }
}

/// Outputs, gradient, and the Jacobian's row of every sample's last output.
#[track_caller]
fn check(reference: &Reference, name: &str, layers: &Sequential<f64>) {
    let Case { mut network, variables, inputs, output, .. } = case(layers);
    let outputs = network.predict(&variables, &[inputs.view()], output).unwrap();
    assert_equal(name, &outputs, reference.of(name, "outputs"));

    let mut gradients = Gradients::new(&variables);
    network.loss_and_gradient(variables.values(), &mut gradients).unwrap();
    assert_equal(name, gradients.flat_mut().iter(), reference.of(name, "gradient"));

    let (m, n) = (network.residual_count(), variables.values().len());
    let (mut r, mut jacobian) = (vec![f64::NAN; m], vec![f64::NAN; m * n]);
    network.linearize(variables.values(), 0, &mut r, &mut jacobian).unwrap();
    assert_equal(name, &r, reference.of(name, "outputs"));
    for sample in 0..SAMPLES {
        let last = (sample + 1) * output.width() - 1;
        let expected = reference.of(name, &format!("jacobian_{sample}"));
        assert_equal(name, &jacobian[last * n..(last + 1) * n], expected);
    }
}

#[test]
fn convolutions_are_pytorchs() {
    let reference = Reference::read("images.csv");
    let image = Sequential::image;
    let conv = Conv2D::new;
    for (name, layers) in [
        ("conv", image(2, 4, 5).conv2d(3, [3, 2])),
        ("conv_1x1", image(3, 2, 2).conv2d(2, [1, 1])),
        ("conv_whole", image(2, 3, 3).conv2d(2, [3, 3])),
        ("conv_no_bias", image(1, 4, 4).push(conv(1, [2, 2]).without_bias())),
        ("conv_same", image(2, 4, 3).push(conv(2, [3, 2]).with_padding(Padding::Same))),
        ("conv_strides", image(2, 5, 6).push(conv(3, [2, 3]).with_strides([2, 1]))),
        ("conv_padding", image(1, 4, 3).push(conv(2, [3, 3]).with_strides([1, 2]).with_padding(padding(1, 2)))),
        ("conv_dilation", image(1, 6, 5).push(conv(2, [3, 2]).with_dilation([2, 3]).with_padding(padding(1, 1)))),
    ] {
        check(&reference, name, &layers);
    }
}

#[test]
fn pooling_is_pytorchs() {
    let reference = Reference::read("images.csv");
    let image = Sequential::image;
    let overlapping = MaxPooling2D::new([3, 2]).with_strides([1, 2]).with_padding(padding(1, 1));
    let average = AveragePooling2D::new([3, 3]).with_strides([2, 2]).with_padding(padding(1, 1));
    for (name, layers) in [
        ("max", image(2, 4, 5).conv2d(2, [1, 1]).max_pooling2d([2, 2])),
        ("max_overlapping", image(1, 5, 5).conv2d(2, [2, 2]).push(overlapping)),
        ("average", image(2, 4, 5).conv2d(2, [1, 1]).push(AveragePooling2D::new([2, 3]).with_strides([1, 2]))),
        ("average_padding", image(1, 4, 4).conv2d(2, [1, 1]).push(average)),
        ("global_average", image(1, 4, 4).conv2d(3, [2, 2]).silu().global_average_pooling2d()),
    ] {
        check(&reference, name, &layers);
    }
}

#[test]
fn layer_normalisation_is_pytorchs() {
    let reference = Reference::read("images.csv");
    let plain = LayerNormalization::new().without_affine();
    for (name, layers) in [
        ("layer_norm", Sequential::new(5).dense(4).layer_normalization().tanh()),
        (
            "layer_norm_image",
            Sequential::image(1, 3, 4).conv2d(2, [2, 2]).push(LayerNormalization::new().with_epsilon(1e-3)).tanh(),
        ),
        ("layer_norm_plain", Sequential::new(4).dense(3).push(plain).tanh()),
    ] {
        check(&reference, name, &layers);
    }
}

fn cnn() -> Sequential<f64> {
    let first = Conv2D::new(2, [3, 3]).with_padding(Padding::Same);
    let layers = Sequential::image(1, 7, 7).push(first).tanh().max_pooling2d([2, 2]).conv2d(3, [2, 2]).relu();
    layers.flatten().layer_normalization().dense(2)
}

#[test]
fn a_network_of_all_of_them_is_pytorchs() {
    check(&Reference::read("images.csv"), "cnn", &cnn());
}

#[cfg(feature = "safetensors")]
#[test]
fn its_weights_come_from_pytorchs_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/torch_cnn.safetensors");
    let Case { mut network, variables: expected, inputs, output, .. } = case(&cnn());
    let mut variables = Variables::new();
    cnn().build(&mut variables, 1).unwrap();
    assert!(variables.load_safetensors(path).unwrap().is_empty());
    assert_equal("weights", variables.values(), expected.values());
    let outputs = network.predict(&variables, &[inputs.view()], output).unwrap();
    assert_equal("outputs", &outputs, Reference::read("images.csv").of("cnn", "outputs"));
}

#[test]
fn same_padding_is_keras() {
    let reference = Reference::read("images.csv");
    let image = Sequential::image;
    let conv = |filters, kernel| Conv2D::new(filters, kernel).with_padding(Padding::Same);
    let max = MaxPooling2D::new([2, 3]).with_strides([2, 2]).with_padding(Padding::Same);
    let average = AveragePooling2D::new([3, 2]).with_strides([2, 3]).with_padding(Padding::Same);
    for (name, layers) in [
        ("keras_conv", image(2, 5, 6).push(conv(3, [3, 2]).with_strides([2, 3]))),
        ("keras_conv_dilation", image(1, 4, 5).push(conv(2, [2, 3]).with_dilation([3, 2]))),
        ("keras_max", image(2, 5, 6).push(max)),
        ("keras_average", image(2, 5, 4).push(average)),
    ] {
        let Case { mut network, variables, inputs, input, output } = case(&layers);
        let outputs = network.predict(&variables, &[inputs.view()], output).unwrap();
        assert_equal(name, &outputs, reference.of(name, "outputs"));
        let gradient = network.gradient_of(&variables, input).unwrap();
        assert_equal(name, &gradient, reference.of(name, "input_gradient"));
    }
}
