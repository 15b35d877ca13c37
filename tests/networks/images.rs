//! Layers on images: what they refuse, what they start from, what they compute, and that they are trained.

use marquardt::nn::{
    AveragePooling2D, Conv2D, Flatten, HalfSumOfSquares, Initializer, Layer, LayerNormalization, MaxPooling2D,
    MeanSquaredError, Network, NetworkError, Node, Padding, Recorder, Recording, Residual, Sequential, Shape, Tape,
    TapeError, Window,
};
use marquardt::optim::{Adam, Optimizer};
use marquardt::problem::Objective;
use marquardt::variables::Gradients;
use marquardt::{LeastSquares, LevenbergMarquardt, Real, Variables};
use ndarray::{Array2, Array4, array};

use crate::layers::refusal;

const IMAGE: Shape = Shape::Image { channels: 2, height: 3, width: 4 };

#[test]
fn shapes_that_do_not_fit_are_refused_by_name() {
    let image = || Sequential::<f64>::image(2, 3, 4);
    let explicit = |rows, columns| Padding::Explicit { rows, columns };
    for (network, message) in [
        (
            Sequential::new(24).conv2d(1, [2, 2]),
            "layer 0 (conv2d): conv2d: a row of 24 is not an image (channels × height × width); reshape it",
        ),
        (
            image().flatten().max_pooling2d([2, 2]),
            "layer 1 (max pooling): max pooling: a row of 24 is not an image (channels × height × width); reshape it",
        ),
        (
            image().flatten().global_average_pooling2d(),
            "layer 1 (global average pooling): average pooling: a row of 24 is not an image (channels × height × width); \
             reshape it",
        ),
        (
            image().tanh().dense(2),
            "layer 1 (dense): dense: an image of 2 × 3 × 4 (channels × height × width) is not a row; flatten it",
        ),
        (
            image().conv2d(1, [4, 2]),
            "layer 0 (conv2d): conv2d: a window of 4 × 2 pixels does not fit into an image of 2 × 3 × 4 (channels × height \
             × width)",
        ),
        (
            image().push(Conv2D::new(1, [2, 3]).with_dilation([1, 2])),
            "layer 0 (conv2d): conv2d: a window of 2 × 5 pixels does not fit into an image of 2 × 3 × 4 (channels × height \
             × width)",
        ),
        (
            image().push(Conv2D::new(1, [1 << 31, 2]).with_padding(Padding::Same)),
            "layer 0 (conv2d): conv2d: there are too many windows on an image of 2 × 3 × 4 (channels × height × width)",
        ),
        (
            image().average_pooling2d([4, 2]),
            "layer 0 (average pooling): average pooling: a window of 4 × 2 pixels does not fit into an image of 2 × 3 × 4 \
             (channels × height × width)",
        ),
        (image().conv2d(1, [0, 2]), "layer 0 (conv2d): kernel of conv2d must be at least 1, not 0"),
        (
            image().push(Conv2D::new(1, [2, 2]).with_strides([1, 0])),
            "layer 0 (conv2d): stride of conv2d must be at least 1, not 0",
        ),
        (
            image().push(Conv2D::new(1, [2, 2]).with_dilation([0, 1])),
            "layer 0 (conv2d): dilation of conv2d must be at least 1, not 0",
        ),
        (image().conv2d(0, [2, 2]), "layer 0 (conv2d): conv2d: nothing to work on: the result would have no columns"),
        (image().max_pooling2d([0, 2]), "layer 0 (max pooling): kernel of max pooling must be at least 1, not 0"),
        (
            image().push(MaxPooling2D::new([2, 2]).with_padding(explicit(1, 2))),
            "layer 0 (max pooling): padding of max pooling must be less than the size of the window, not 2",
        ),
        (
            image().push(AveragePooling2D::new([2, 2]).with_padding(explicit(3, 1))),
            "layer 0 (average pooling): padding of average pooling must be less than the size of the window, not 3",
        ),
        (
            image().reshape(Shape::Row { width: 23 }),
            "layer 0 (reshape): reshape: an image of 2 × 3 × 4 (channels × height × width) cannot become a row of 23",
        ),
        (
            Sequential::new(23).reshape(IMAGE),
            "layer 0 (reshape): reshape: a row of 23 cannot become an image of 2 × 3 × 4 (channels × height × width)",
        ),
        (
            image().push(Sequential::image(2, 4, 3)),
            "layer 0 (sequential): made for an image of 2 × 4 × 3 (channels × height × width), not for an image of 2 × 3 × \
             4 (channels × height × width)",
        ),
        (
            Sequential::new(8).push(Sequential::image(2, 4, 3)),
            "layer 0 (sequential): made for an image of 2 × 4 × 3 (channels × height × width), not for a row of 8",
        ),
        (
            image().residual(image().flatten().reshape(Shape::Image { channels: 1, height: 4, width: 6 })),
            "layer 0 (residual): add: an image of 2 × 3 × 4 (channels × height × width) and an image of 1 × 4 × 6 (channels \
             × height × width) do not go together",
        ),
        (
            image().layer_normalization().dense(2),
            "layer 1 (dense): dense: an image of 2 × 3 × 4 (channels × height × width) is not a row; flatten it",
        ),
        (
            image().push(LayerNormalization::new().with_epsilon(0.0)),
            "layer 0 (layer normalization): epsilon of layer normalization must be positive and finite, not 0",
        ),
        (Sequential::image(2, 0, 4).flatten(), "input: nothing to work on: the result would have no columns"),
    ] {
        assert_eq!(refusal(network), message);
    }
}

#[test]
fn the_tape_refuses_what_is_no_filter_and_records_nothing() {
    let mut variables = Variables::<f64>::new();
    let weight = variables.add("w", Array4::zeros((5, 1, 2, 2)).view()).unwrap();
    let filters = variables.add("f", Array4::zeros((5, 2, 2, 2)).view()).unwrap();
    let bias = variables.add("b", array![0.0, 0.0].view()).unwrap();
    let mut tape = Tape::<f64>::new();
    let row = tape.input(24);
    let image = tape.reshape(row, IMAGE).unwrap();
    let before = format!("{tape:?}");
    let window = Window::new([2, 2]);
    assert_eq!(
        tape.conv2d(image, weight, None, window).unwrap_err().to_string(),
        "conv2d: a weight of the shape 10 × 2 (all dimensions but the last × the last) for filters of 2 × 2 × 2 (channels × \
         height × width)"
    );
    assert!(matches!(tape.conv2d(image, filters, None, Window::new([4, 1])), Err(TapeError::Window { .. })));
    assert!(matches!(tape.conv2d(image, filters, None, Window::new([2, 1])), Err(TapeError::Filters { .. })));
    assert_eq!(
        tape.conv2d(image, filters, Some(bias), window).unwrap_err().to_string(),
        "conv2d: a bias of 2 numbers and a weight with 5 rows"
    );
    let other = Tape::<f64>::new().input(24);
    assert!(matches!(tape.reshape(other, IMAGE), Err(TapeError::ForeignNode { operation: "reshape" })));
    assert!(matches!(tape.max_pooling2d(other, window), Err(TapeError::ForeignNode { operation: "max pooling" })));
    let huge = Shape::Image { channels: usize::MAX, height: 2, width: 2 };
    assert!(matches!(tape.reshape(row, huge), Err(TapeError::Reshape { .. })));
    assert_eq!(format!("{tape:?}"), before);
}

#[test]
fn shapes_follow_the_operations() {
    let mut tape = Tape::<f64>::new();
    let (row, single, narrow) = (tape.input(24), tape.input(1), tape.input(12));
    let image = tape.reshape(row, IMAGE).unwrap();
    let flat = tape.reshape(narrow, Shape::Image { channels: 1, height: 3, width: 4 }).unwrap();
    assert_eq!(tape.tanh(image).shape(), IMAGE);
    assert_eq!(tape.dropout(image, 0.5).unwrap().shape(), IMAGE);
    assert_eq!(tape.add(row, image).unwrap().shape(), IMAGE);
    assert_eq!(tape.mul(single, image).unwrap().shape(), IMAGE);
    assert_eq!(tape.sub(image, single).unwrap().shape(), IMAGE);
    assert_eq!(tape.flatten(image), row);
    assert_eq!(tape.concat(&[image, flat]).unwrap().shape(), Shape::Image { channels: 3, height: 3, width: 4 });
    assert_eq!(tape.concat(&[image, row]).unwrap().shape(), Shape::Row { width: 48 });
    assert_eq!(tape.slice(image, 0..12).unwrap().shape(), Shape::Row { width: 12 });
    let window = |padding| Window::new([3, 2]).with_strides([2, 3]).with_padding(padding);
    for (padding, height, width) in
        [(Padding::Valid, 1, 1), (Padding::Same, 2, 2), (Padding::Explicit { rows: 1, columns: 1 }, 2, 2)]
    {
        let pooled = tape.max_pooling2d(image, window(padding)).unwrap();
        assert_eq!(pooled.shape(), Shape::Image { channels: 2, height, width });
    }
}

/// The network's outputs.
fn predict(model: &Recording<f64>, variables: &Variables<f64>, inputs: &Array2<f64>) -> Array2<f64> {
    let mut network = Network::new(model.tape.clone(), variables).unwrap();
    network.predict(variables, &[inputs.view()], model.output).unwrap()
}

#[test]
fn of_equal_numbers_the_first_is_the_largest() {
    let mut variables = Variables::new();
    let model = Sequential::image(1, 2, 2).max_pooling2d([2, 2]).build(&mut variables, 0).unwrap();
    let mut network = Network::new(model.tape, &variables).unwrap().with_loss(model.output, HalfSumOfSquares).unwrap();
    let inputs = array![[1.0, 3.0, 3.0, 2.0], [2.0, 2.0, 2.0, 2.0], [-1.0, -3.0, -1.0, -0.5]];
    network.batch(&[inputs.view()], &[]).unwrap();
    let gradient = network.gradient_of(&variables, model.input).unwrap();
    assert_eq!(gradient, array![[0.0, 3.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, -0.5]]);
}

#[test]
fn padding_is_never_the_largest_nor_part_of_a_mean() {
    let padding = Padding::Explicit { rows: 1, columns: 1 };
    let mut variables = Variables::new();
    let mut build = |layer: &dyn Fn(Sequential<f64>) -> Sequential<f64>| {
        layer(Sequential::image(1, 2, 2)).build(&mut variables, 0).unwrap()
    };
    let max = build(&|image| image.push(MaxPooling2D::new([3, 3]).with_padding(padding)));
    let average = build(&|image| image.push(AveragePooling2D::new([3, 3]).with_padding(padding)));
    let inputs = array![[-1.0, -2.0, -3.0, -6.0]];
    assert_eq!(predict(&max, &variables, &inputs), array![[-1.0]]);
    assert_eq!(predict(&average, &variables, &inputs), array![[-3.0]]);
}

#[test]
fn a_number_that_is_none_is_not_hidden() {
    let mut variables = Variables::new();
    let model = Sequential::image(1, 1, 4).apply(marquardt::nn::Function::Ln).max_pooling2d([1, 2]);
    let model = model.build(&mut variables, 0).unwrap();
    let outputs = predict(&model, &variables, &array![[-1.0, 2.0, 3.0, 1.0], [2.0, -1.0, 1.0, 3.0]]);
    assert!(outputs[[0, 0]].is_nan() && outputs[[1, 0]].is_nan(), "{outputs}");
    assert_eq!(outputs[[0, 1]], 3.0_f64.ln());
}

#[test]
fn filters_start_from_the_numbers_that_they_see() {
    let mut variables = Variables::<f64>::new();
    let orthogonal = Conv2D::new(3, [2, 2]).with_initializer(Initializer::Orthogonal { gain: 2.0 });
    Sequential::image(4, 6, 6)
        .conv2d(8, [3, 5])
        .with_initializer(Initializer::HeUniform)
        .conv2d(2, [2, 1])
        .push(orthogonal.with_bias_initializer(Initializer::Ones))
        .build(&mut variables, 3)
        .unwrap();
    let values = |name| variables.get(variables.find(name).unwrap());
    for (name, limit) in [("0.weight", (6.0_f64 / (15.0 * 12.0)).sqrt()), ("1.weight", (6.0_f64 / 16.0).sqrt())] {
        let largest = values(name).iter().fold(0.0, |largest: f64, w| largest.max(w.abs()));
        assert!(largest <= limit && largest > 0.9 * limit, "{name}: {largest}, {limit}");
    }
    assert!(values("0.bias").iter().all(|&bias| bias == 0.0));
    assert_eq!(values("2.bias"), array![1.0, 1.0, 1.0].into_dyn());
    let weight = values("2.weight").to_owned().into_shape_with_order((3, 8)).unwrap();
    let product = weight.dot(&weight.t());
    for ((i, j), &value) in product.indexed_iter() {
        let expected = if i == j { 4.0 } else { 0.0 };
        assert!((value - expected).abs() < 1e-14, "({i}, {j}) is {value}");
    }
}

/// Twice the image, whatever its shape.
#[derive(Debug)]
struct Twice;

impl Layer<f64> for Twice {
    fn kind(&self) -> &'static str {
        "twice"
    }

    fn record(&self, recorder: &mut Recorder<'_, f64>, x: Node) -> Result<Node, NetworkError> {
        let factors = recorder.variable("factors", &[x.width()], 1, 1, Initializer::Constant { value: 2.0 })?;
        let factors = recorder.tape().variable(factors);
        Ok(recorder.tape().mul(factors, x)?)
    }
}

#[test]
fn layers_of_ones_own_keep_the_shape() {
    let mut variables = Variables::<f64>::new();
    let block = Sequential::image(2, 3, 4).push(Conv2D::new(2, [3, 3]).with_padding(Padding::Same)).tanh();
    let layers = Sequential::image(2, 3, 4).push(Twice).push(Residual::new(block)).max_pooling2d([3, 2]).push(Flatten);
    let output = layers.dense(1).build(&mut variables, 0).unwrap().output;
    assert_eq!(output.width(), 1);
    let names: Vec<&str> = variables.iter().map(|variable| variables.name(variable)).collect();
    assert_eq!(names, ["0.factors", "1.0.weight", "1.0.bias", "4.weight", "4.bias"]);
}

/// Max pooling between smooth layers.
fn kinked<T: Real>() -> (Network<T>, Variables<T>) {
    let mut variables = Variables::new();
    let layers = Sequential::image(2, 4, 5).conv2d(3, [2, 2]).tanh().max_pooling2d([2, 2]).conv2d(2, [1, 2]).tanh();
    let mut network = layers.flatten().compile(&mut variables, 4, HalfSumOfSquares).unwrap();
    let inputs = Array2::from_shape_fn((7, 40), |(i, k)| T::from_f64(((i * 40 + k) as f64 * 1.7).sin()));
    network.batch(&[inputs.view()], &[]).unwrap();
    (network, variables)
}

#[test]
fn the_largest_bends_as_it_is_computed() {
    let (mut network, variables) = kinked::<f64>();
    let (x, m) = (variables.values(), network.residual_count());
    let v: Vec<f64> = (0..x.len()).map(|k| (k as f64).cos()).collect();
    let mut along = |t: f64| {
        let at: Vec<f64> = x.iter().zip(&v).map(|(x, v)| x + t * v).collect();
        let (mut r, mut slope) = (vec![f64::NAN; m], vec![f64::NAN; m]);
        network.residuals(&at, 0, &mut r).unwrap();
        network.jacobian_vector(&at, &v, &mut slope).unwrap();
        (r, slope)
    };
    let (here, above, below) = (along(0.0), along(1e-5), along(-1e-5));
    let mut second = vec![f64::NAN; m];
    assert!(network.capabilities().second_directional_derivative(x, &v, 0, &mut second).unwrap());
    for (k, &second) in second.iter().enumerate() {
        let (slope, bend) = ((above.0[k] - below.0[k]) / 2e-5, (above.1[k] - below.1[k]) / 2e-5);
        assert!((here.1[k] - slope).abs() < 1e-7, "{k}: {}, {slope}", here.1[k]);
        assert!((second - bend).abs() < 1e-6 && bend.abs() > 1e-4, "{k}: {second}, {bend}");
    }
}

#[test]
fn single_precision_agrees_with_double() {
    fn jacobian<T: Real>() -> Vec<f64> {
        let (mut network, variables) = kinked::<T>();
        let (m, n) = (network.residual_count(), network.parameter_count());
        let (mut r, mut jacobian) = (vec![T::ZERO; m], vec![T::ZERO; m * n]);
        network.linearize(variables.values(), 0, &mut r, &mut jacobian).unwrap();
        r.into_iter().chain(jacobian).map(T::to_f64).collect()
    }
    for (single, double) in jacobian::<f32>().into_iter().zip(jacobian::<f64>()) {
        assert!((single - double).abs() < 1e-5, "{single}, {double}");
    }
}

/// One variable is a matrix of 2 × 4 to the convolution, and one of 4 × 2 to the embedding.
#[test]
fn filters_can_be_a_table() {
    let mut variables = Variables::<f64>::new();
    let values = Array4::from_shape_fn((2, 1, 2, 2), |(f, _, i, k)| (3 * f + 2 * i + k) as f64 / 5.0 - 0.6);
    let weight = variables.add("weight", values.view()).unwrap();
    let mut tape = Tape::new();
    let (x, numbers) = (tape.input(6), tape.input(1));
    let image = tape.reshape(x, Shape::Image { channels: 1, height: 2, width: 3 }).unwrap();
    let product = tape.conv2d(image, weight, None, Window::new([2, 2])).unwrap();
    let rows = tape.embedding(numbers, weight).unwrap();
    let y = tape.concat(&[product, rows]).unwrap();
    let y = tape.tanh(y);
    let mut network = Network::new(tape, &variables).unwrap().with_loss(y, HalfSumOfSquares).unwrap();
    let inputs = Array2::from_shape_fn((2, 6), |(i, k)| ((6 * i + k) as f64).sin());
    network.batch(&[inputs.view(), array![[3.0], [1.0]].view()], &[]).unwrap();
    let mut gradients = Gradients::new(&variables);
    network.loss_and_gradient(variables.values(), &mut gradients).unwrap();
    let (mut r, mut jacobian) = ([f64::NAN; 12], [f64::NAN; 12 * 8]);
    network.linearize(variables.values(), 0, &mut r, &mut jacobian).unwrap();
    for (k, &found) in gradients.flat_mut().iter().enumerate() {
        let expected: f64 = (0..12).map(|i| jacobian[i * 8 + k] * r[i]).sum();
        assert!((found - expected).abs() < 1e-14, "{k}: {found}, {expected}");
    }
}

/// Images of 6 × 6 with a bright bar, and how steep it is.
fn bars(count: usize) -> (Array2<f64>, Array2<f64>) {
    let slope = |i: usize| (1.3 * i as f64).sin();
    let inputs = Array2::from_shape_fn((count, 36), |(i, pixel)| {
        let (y, x) = ((pixel / 6) as f64 - 2.5, (pixel % 6) as f64 - 2.5);
        (-(y - slope(i) * x - 0.5 * (0.7 * i as f64).cos()).powi(2)).exp()
    });
    (inputs, Array2::from_shape_fn((count, 1), |(i, _)| slope(i)))
}

#[test]
fn levenberg_marquardt_trains_a_convolutional_network() {
    let train = |optimizer: &mut dyn Optimizer<f64>| {
        let mut variables = Variables::new();
        let layers = Sequential::image(1, 6, 6).conv2d(2, [3, 3]).tanh().average_pooling2d([2, 2]);
        let layers = layers.flatten().layer_normalization().dense(1);
        let mut network = layers.compile(&mut variables, 1, MeanSquaredError).unwrap();
        let (inputs, targets) = bars(60);
        let before = network.evaluate(&variables, &[inputs.view()], &[targets.view()]).unwrap();
        for _ in 0..15 {
            let batch = network.batch(&[inputs.view()], &[targets.view()]).unwrap();
            optimizer.step(batch, &mut variables).unwrap();
        }
        (before, network.evaluate(&variables, &[inputs.view()], &[targets.view()]).unwrap())
    };
    let (before, after) = train(&mut LevenbergMarquardt::new());
    assert!(after < 1e-2 * before, "{before} to {after}");
    let (_, adam) = train(&mut Adam::new(0.01));
    assert!(after < adam && adam < before, "{before} to {adam}");
}
