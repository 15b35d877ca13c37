//! Random networks: stacks of layers with shared weights, shortcuts, several outputs, embeddings and dropout.

#![allow(dead_code, reason = "no single suite takes all of it")]

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::Variables;
use marquardt::nn::{
    Bidirectional, Function, GRU, HalfSumOfSquares, LSTM, Layer, LayerNormalization, MeanSquaredError,
    MultiHeadAttention, Network, Node, Padding, Sequential, Shape, SimpleRNN, Tape, Window,
};
use marquardt::variables::Variable;
use ndarray::{Array1, Array2};
use proptest::prelude::*;
use rand_distr::{Distribution, StandardNormal};

/// Rows of the smallest tables that embeddings look numbers up in.
const TABLE_ROWS: usize = 4;

/// One step of a random network: what to do, with which of the nodes so far, and a choice that depends on it.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    kind: usize,
    a: usize,
    b: usize,
    choice: usize,
}

/// A random network, and how large its batch is.
#[derive(Debug, Clone)]
pub struct Recipe {
    pub steps: Vec<Step>,
    pub rows: usize,
    pub seed: u64,
    /// Whether there may be kinks, which differences could fall on.
    pub kinks: bool,
}

/// Smooth networks of a few layers.
pub fn smooth_recipes(rows: std::ops::Range<usize>) -> impl Strategy<Value = Recipe> {
    recipes(rows).prop_map(|recipe| Recipe { kinks: false, ..recipe })
}

/// Networks of a few layers.
pub fn recipes(rows: std::ops::Range<usize>) -> impl Strategy<Value = Recipe> {
    let step = (0..24_usize, any::<usize>(), any::<usize>(), any::<usize>());
    let steps = prop::collection::vec(step.prop_map(|(kind, a, b, choice)| Step { kind, a, b, choice }), 1..9);
    (steps, rows, any::<u64>()).prop_map(|(steps, rows, seed)| Recipe { steps, rows, seed, kinks: true })
}

/// A network, its variables, and data to bind it to.
pub struct Built {
    pub network: Network<f64>,
    pub variables: Variables<f64>,
    pub inputs: [Array2<f64>; 2],
    pub target: Array2<f64>,
    pub weights: Vec<f64>,
    /// All nodes, inputs first.
    #[allow(dead_code, reason = "not every suite asks for derivatives by nodes")]
    pub nodes: Vec<Node>,
}

impl Built {
    /// Binds the data.
    pub fn bind(&mut self) {
        let inputs = self.inputs.each_ref().map(|input| input.view());
        self.network.weighted_batch(&inputs, &[self.target.view()], &self.weights).unwrap();
    }
}

/// Variables that are made as they are needed, or used again where the shape fits.
struct Pool {
    variables: Variables<f64>,
    random: ChaCha8Rng,
}

impl Pool {
    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.random)
    }

    fn matrix(&mut self, rows: usize, columns: usize, share: bool) -> Variable {
        let fits = |v: &Variable| v.rows() == rows && v.columns() == columns;
        if let Some(known) = self.variables.iter().find(fits).filter(|_| share) {
            return known;
        }
        let scale = 1.0 / (columns as f64).sqrt();
        let values = Array2::from_shape_simple_fn((rows, columns), || scale * self.normal());
        let name = format!("{}", self.variables.len());
        self.variables.add(name, values.view()).unwrap()
    }

    fn vector(&mut self, length: usize) -> Variable {
        let values = Array1::from_shape_simple_fn(length, || 0.5 * self.normal());
        let name = format!("{}", self.variables.len());
        self.variables.add(name, values.view()).unwrap()
    }
}

/// Smooth functions whose values and derivatives stay moderate.
const FUNCTIONS: [Function<f64>; 8] = [
    Function::Tanh,
    Function::Sigmoid,
    Function::Softplus,
    Function::Silu,
    Function::Gelu,
    Function::Sin,
    Function::Cos,
    Function::Negate,
];

/// A node as an image of one or two channels.
fn image(tape: &Tape<f64>, x: Node, choice: usize) -> Node {
    let channels = if x.width().is_multiple_of(2) { 1 + choice % 2 } else { 1 };
    let height = if x.width().is_multiple_of(3 * channels) { 3 } else { 1 };
    let shape = Shape::Image { channels, height, width: x.width() / (channels * height) };
    tape.reshape(x, shape).unwrap()
}

/// A window that fits onto any image.
fn window(choice: usize) -> Window {
    let (size, strides) = ([1 + choice / 7 % 3, 1 + choice / 2 % 3], [1 + choice / 5 % 2, 1 + choice / 3 % 2]);
    Window::new(size).with_strides(strides).with_padding(Padding::Same)
}

/// A convolution, with a function of it.
fn convolution(tape: &mut Tape<f64>, pool: &mut Pool, x: Node, choice: usize) -> Node {
    let x = image(tape, x, choice);
    let Shape::Image { channels, .. } = x.shape() else { unreachable!() };
    let (kernel, filters) = ([1 + choice / 11 % 3, 1 + choice / 2 % 2], 1 + choice / 4 % 3);
    let window = Window::new(kernel).with_padding(Padding::Same).with_strides([1 + choice / 5 % 2, 1 + choice / 3 % 3]);
    let weight = pool.matrix(filters * channels * kernel[0], kernel[1], choice.is_multiple_of(2));
    let bias = if choice.is_multiple_of(3) { None } else { Some(pool.vector(filters)) };
    let y = tape.conv2d(x, weight, bias, window.with_dilation([1, 1 + choice / 13 % 2])).unwrap();
    let y = tape.flatten(y);
    tape.apply(FUNCTIONS[choice / 5 % FUNCTIONS.len()], y)
}

/// A node as a sequence of one to three steps, if its width allows that; masked for some choices.
fn sequence(tape: &mut Tape<f64>, x: Node, numbers: Node, choice: usize) -> Node {
    let steps = [3, 2, 1].into_iter().find(|&steps| x.width().is_multiple_of(steps)).unwrap();
    let x = tape.reshape(x, Shape::Sequence { steps, features: x.width() / steps }).unwrap();
    if choice % 2 == 1 && steps == 2 {
        let mask = tape.not_equal(numbers, 0.0);
        tape.set_mask(x, mask).unwrap();
    }
    x
}

/// Layers with variables of their own behind a node.
fn append(tape: &mut Tape<f64>, pool: &mut Pool, x: Node, layer: impl Layer<f64> + 'static) -> Node {
    let name = format!("layer{}", pool.variables.len());
    Sequential::new(x.width()).named(name).push(layer).append(tape, x, &mut pool.variables, x.width() as u64).unwrap()
}

fn recurrent(tape: &mut Tape<f64>, pool: &mut Pool, x: Node, numbers: Node, choice: usize) -> Node {
    let (x, units) = (sequence(tape, x, numbers, choice), 1 + choice / 2 % 2);
    let (sequences, backwards, state) = (choice / 4 % 2 == 1, choice / 8 % 2 == 1, choice / 16 % 2 == 1);
    macro_rules! set {
        ($layer:expr) => {{
            let layer = $layer.with_return_sequences(sequences).with_return_state(state);
            let y = if choice / 32 % 4 == 0 {
                append(tape, pool, x, Bidirectional::new(layer))
            } else {
                append(tape, pool, x, layer.with_go_backwards(backwards))
            };
            tape.flatten(y)
        }};
    }
    match choice / 128 % 4 {
        0 => set!(SimpleRNN::new(units)),
        1 => set!(LSTM::new(units)),
        2 => set!(GRU::new(units)),
        _ => set!(GRU::new(units).with_reset_after(false)),
    }
}

fn attention(tape: &mut Tape<f64>, pool: &mut Pool, [a, b]: [Node; 2], numbers: Node, choice: usize) -> Node {
    let (a, b) = (sequence(tape, a, numbers, choice), sequence(tape, b, numbers, choice / 2));
    let mut layer =
        MultiHeadAttention::new(1 + choice / 4 % 2, 1 + choice / 8 % 2).with_causal_mask(choice / 16 % 2 == 1);
    if choice / 32 % 2 == 1 {
        layer = layer.with_value(b).with_value_dim(1);
    }
    let y = append(tape, pool, a, layer);
    let y = append(tape, pool, y, LayerNormalization::new().with_epsilon(0.1));
    tape.flatten(y)
}

/// Follows a recipe.
pub fn build(recipe: &Recipe) -> Built {
    let mut pool = Pool { variables: Variables::new(), random: ChaCha8Rng::seed_from_u64(recipe.seed) };
    let mut tape = Tape::new();
    let (x, numbers) = (tape.input(3), tape.input(2));
    let mut nodes = vec![x, numbers];
    let first = pool.matrix(4, 3, false);
    let bias = pool.vector(4);
    let hidden = tape.dense(x, first, Some(bias)).unwrap();
    nodes.push(tape.tanh(hidden));
    for &Step { kind, a, b, choice } in &recipe.steps {
        // Row numbers are data for embeddings only.
        let pick = |place: usize| match place % (nodes.len() - 1) {
            0 => nodes[0],
            place => nodes[place + 1],
        };
        let (a, b, last) = (pick(a), pick(b), nodes[nodes.len() - 1]);
        let node = match kind {
            0..=2 => {
                let rows = 1 + choice % 5;
                let weight = pool.matrix(rows, last.width(), choice % 2 == 0);
                let bias = if choice % 3 == 0 { None } else { Some(pool.vector(rows)) };
                let dense = tape.dense(last, weight, bias).unwrap();
                tape.apply(FUNCTIONS[choice / 5 % FUNCTIONS.len()], dense)
            }
            3 => {
                let weight = pool.matrix(1 + choice % 5, a.width(), true);
                tape.dense(a, weight, None).unwrap()
            }
            4 => tape.concat(&[a, b, a]).unwrap(),
            5 => {
                let start = choice % a.width();
                tape.slice(a, start..start + 1 + choice % (a.width() - start)).unwrap()
            }
            6 => tape.row_sum(a),
            7 => {
                let table = pool.matrix(TABLE_ROWS * (1 + choice / 2 % 3), 1 + choice % 2, choice % 4 < 2);
                tape.embedding(numbers, table).unwrap()
            }
            8 => tape.dropout(a, 0.25).unwrap(),
            9 => {
                let curve = pool.vector(a.width());
                let curve = tape.variable(curve);
                tape.mul(a, curve).unwrap()
            }
            10 => {
                let constant = tape.constant(&vec![0.5; a.width()]);
                tape.sub(constant, a).unwrap()
            }
            // Weight and bias used again and again.
            11 => {
                let (width, weight) = (8 + choice % 4, pool.matrix(8 + choice % 4, 8 + choice % 4, true));
                let bias = if choice % 3 == 0 { None } else { Some(pool.vector(width)) };
                let start = pool.matrix(width, last.width(), false);
                let mut state = tape.dense(last, start, bias.filter(|_| choice % 5 == 0)).unwrap();
                for _ in 0..1 + choice / 4 % 3 {
                    let next = tape.dense(state, weight, bias).unwrap();
                    state = tape.tanh(next);
                }
                state
            }
            12 => convolution(&mut tape, &mut pool, a, choice),
            13 => {
                let (image, window) = (image(&tape, a, choice), window(choice));
                let pooled = if recipe.kinks && choice % 2 == 0 {
                    tape.max_pooling2d(image, window)
                } else {
                    tape.average_pooling2d(image, window)
                };
                tape.flatten(pooled.unwrap())
            }
            14 => {
                let (sum, share) = (tape.row_sum(a), 1.0 / a.width() as f64);
                let mean = tape.scale(sum, share);
                let centred = tape.sub(a, mean).unwrap();
                let squares = tape.square(centred);
                let sum = tape.row_sum(squares);
                let variance = tape.scale(sum, share);
                let shifted = tape.shift(variance, 0.1);
                let deviation = tape.sqrt(shifted);
                tape.div(centred, deviation).unwrap()
            }
            // Derivatives by an input, and one of a derivative; what has a kink has none.
            15 => tape.derivative(a, x, choice % 3).unwrap_or(a),
            16 => tape.laplacian(a, x, &[0, 1, 2][..1 + choice % 3]).unwrap_or(a),
            17 => {
                let first = tape.derivative(a, x, choice % 3);
                first.and_then(|first| tape.derivative(first, x, choice / 3 % 3)).unwrap_or(a)
            }
            18 | 19 => recurrent(&mut tape, &mut pool, a, numbers, choice),
            20 => attention(&mut tape, &mut pool, [a, b], numbers, choice),
            _ => {
                let b = if a.width() == b.width() { b } else { tape.row_sum(b) };
                let b = tape.tanh(b);
                match choice % 4 {
                    0 => tape.add(a, b),
                    1 => tape.sub(b, a),
                    2 => tape.mul(a, b),
                    _ => {
                        let positive = tape.softplus(b);
                        tape.div(a, positive)
                    }
                }
                .unwrap()
            }
        };
        nodes.push(node);
    }
    let (last, middle) = (nodes[nodes.len() - 1], nodes[2 + (nodes.len() - 2) / 2]);
    let residual = tape.tanh(middle);
    // A variable that nothing depends on, and one that is frozen.
    pool.vector(2);
    pool.variables.set_trainable(first, false);

    let network = Network::new(tape, &pool.variables).unwrap().with_seed(recipe.seed);
    let network = network.with_weighted_loss(last, MeanSquaredError, 0.7).unwrap();
    let network = network.with_loss(residual, HalfSumOfSquares).unwrap();
    let network = network.with_weighted_loss(last, HalfSumOfSquares, 0.1).unwrap();
    let rows = recipe.rows;
    let inputs = [
        Array2::from_shape_simple_fn((rows, 3), || pool.normal()),
        Array2::from_shape_simple_fn((rows, 2), || (pool.normal().abs() * 1.5).floor().min(TABLE_ROWS as f64 - 1.0)),
    ];
    let target = Array2::from_shape_simple_fn((rows, last.width()), || pool.normal());
    let weights = (0..rows).map(|_| pool.normal().abs()).collect();
    Built { network, variables: pool.variables, inputs, target, weights, nodes }
}
