//! Derivatives by inputs agree with differences and with each other, for random networks.

use marquardt::nn::{Function, Network, Node, Recording, Sequential, Tape, TapeError};
use marquardt::{Real, Variables};
use ndarray::Array2;
use proptest::prelude::*;

const SMOOTH: [Function<f64>; 10] = [
    Function::Tanh,
    Function::Sigmoid,
    Function::Softplus,
    Function::Silu,
    Function::Gelu,
    Function::GeluTanh,
    Function::Sin,
    Function::Cos,
    Function::Negate,
    Function::Scale { factor: 0.7 },
];

fn layers(functions: &[usize]) -> Sequential<f64> {
    let start = Sequential::new(3).dense(5);
    let hidden = functions.iter().enumerate().fold(start, |layers, (place, &function)| match (function, place) {
        (10, _) => layers.layer_normalization(),
        (11, _) => layers.residual(Sequential::new(5).dense(5).tanh()),
        (function, _) => layers.apply(SMOOTH[function]).dense(5),
    });
    hidden.tanh().dense(2)
}

/// The entries of a node at a point.
fn value_at(network: &mut Network<f64>, variables: &Variables<f64>, at: [f64; 3], node: Node) -> Vec<f64> {
    let at = Array2::from_shape_vec((1, 3), at.to_vec()).unwrap();
    network.predict(variables, &[at.view()], node).unwrap().row(0).to_vec()
}

fn moved(mut at: [f64; 3], by: usize, h: f64) -> [f64; 3] {
    at[by] += h;
    at
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn they_are_those_of_the_outputs(
        functions in prop::collection::vec(0..12_usize, 1..4),
        seed in any::<u64>(),
        at in prop::array::uniform3(-1.0..1.0_f64),
        by in (0..3_usize, 0..3_usize),
    ) {
        let mut variables = Variables::new();
        let Recording { mut tape, input, output } = layers(&functions).build(&mut variables, seed).unwrap();
        let first = tape.derivative(output, input, by.0).unwrap();
        let mixed = tape.derivative(first, input, by.1).unwrap();
        let other = tape.derivative(output, input, by.1).unwrap();
        let swapped = tape.derivative(other, input, by.0).unwrap();
        let seconds: Vec<_> = (0..3).map(|k| tape.laplacian(output, input, &[k]).unwrap()).collect();
        let laplacian = tape.laplacian(output, input, &[0, 1, 2]).unwrap();
        let mut network = Network::new(tape, &variables).unwrap();
        let mut value = |at, node| value_at(&mut network, &variables, at, node);
        let h = 1e-5;
        let moved = |by, h| moved(at, by, h);
        let (found, bent) = (value(at, first), value(at, mixed));
        let bent_too = value(at, swapped);
        let mut sum = [0.0; 2];
        for &second in &seconds {
            sum.iter_mut().zip(value(at, second)).for_each(|(sum, part)| *sum += part);
        }
        let collapsed = value(at, laplacian);
        if by.0 == by.1 {
            prop_assert!(value(at, seconds[by.0]).iter().zip(&bent).all(|(a, b)| (a - b).abs() < 1e-10 * (1.0 + b.abs())));
        }
        for k in 0..2 {
            let difference = (value(moved(by.0, h), output)[k] - value(moved(by.0, -h), output)[k]) / (2.0 * h);
            prop_assert!((found[k] - difference).abs() < 1e-7 * (1.0 + difference.abs()), "{} {}", found[k], difference);
            let difference = (value(moved(by.1, h), first)[k] - value(moved(by.1, -h), first)[k]) / (2.0 * h);
            prop_assert!((bent[k] - difference).abs() < 1e-6 * (1.0 + difference.abs()), "{} {}", bent[k], difference);
            prop_assert!((bent[k] - bent_too[k]).abs() < 1e-10 * (1.0 + bent[k].abs()));
            prop_assert!((collapsed[k] - sum[k]).abs() < 1e-10 * (1.0 + sum[k].abs()));
        }
    }
}

/// Functions with derivatives of any order.
const SMOOTHER: [Function<f64>; 11] = [
    Function::Tanh,
    Function::Sigmoid,
    Function::Softplus,
    Function::Silu,
    Function::Sin,
    Function::Cos,
    Function::Exp,
    Function::Square,
    Function::Ln,
    Function::Sqrt,
    Function::Reciprocal,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Orders three and four, of which the former are differences of second derivatives, and the latter of third ones.
    #[test]
    fn higher_ones_are_those_of_the_lower(
        functions in prop::collection::vec(0..11_usize, 1..3),
        seed in any::<u64>(),
        at in prop::array::uniform3(-1.0..1.0_f64),
        by in prop::array::uniform4(0..3_usize),
    ) {
        let start = Sequential::new(3).dense(4).tanh();
        let layers = functions.iter().fold(start, |layers, &function| {
            // Logarithms, roots and reciprocals have positive arguments.
            layers.dense(4).tanh().apply(Function::Shift { offset: 2.5 }).apply(SMOOTHER[function])
        });
        let mut variables = Variables::new();
        let Recording { mut tape, input, output } = layers.dense(2).build(&mut variables, seed).unwrap();
        let mut nodes = vec![output];
        for by in by {
            let next = tape.derivative(nodes[nodes.len() - 1], input, by).unwrap();
            nodes.push(next);
        }
        let laplacian = tape.laplacian(output, input, &[0, 2]).unwrap();
        let by_first = tape.derivative(laplacian, input, 1).unwrap();
        let first = tape.derivative(output, input, 1).unwrap();
        let of_first = tape.laplacian(first, input, &[0, 2]).unwrap();
        let biharmonic = tape.laplacian(laplacian, input, &[0, 2]).unwrap();
        let twice: Vec<_> = [0, 2].map(|k| {
            let once = tape.derivative(laplacian, input, k).unwrap();
            tape.derivative(once, input, k).unwrap()
        }).into();
        let mut network = Network::new(tape, &variables).unwrap();
        let mut value = |at, node| value_at(&mut network, &variables, at, node);
        let h = 1e-5;
        let moved = |by, h| moved(at, by, h);
        for order in 3..5 {
            let (lower, by) = (nodes[order - 1], by[order - 1]);
            let (up, down) = (value(moved(by, h), lower), value(moved(by, -h), lower));
            for (k, found) in value(at, nodes[order]).into_iter().enumerate() {
                let difference = (up[k] - down[k]) / (2.0 * h);
                prop_assert!((found - difference).abs() < 1e-5 * (1.0 + difference.abs()), "{order}: {found} {difference}");
            }
        }
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs()));
        prop_assert!(near(&value(at, by_first), &value(at, of_first)));
        let sum: Vec<f64> = value(at, twice[0]).iter().zip(value(at, twice[1])).map(|(a, b)| a + b).collect();
        prop_assert!(near(&value(at, biharmonic), &sum));
    }
}

#[test]
fn functions_without_higher_derivatives_are_named() {
    for (function, name) in [(Function::Gelu, "gelu"), (Function::GeluTanh, "gelu_tanh")] {
        let mut variables = Variables::<f64>::new();
        let layers = Sequential::new(1).dense(3).apply(function).dense(1);
        let Recording { mut tape, input, output } = layers.build(&mut variables, 0).unwrap();
        let second = tape.laplacian(output, input, &[0]).unwrap();
        assert_eq!(tape.derivative(second, input, 0).unwrap_err(), TapeError::DerivativeOrder { function: name });
    }
}

/// `u = sin(w·x)` has the Laplacian `−|w|² u`, here in single and double precision.
fn plane_wave<T: Real>(tolerance: f64) {
    let mut variables = Variables::<T>::new();
    let numbers = [1.5, -0.5, 0.25].map(T::from_f64);
    let weight = variables.add("w", Array2::from_shape_vec((1, 3), numbers.to_vec()).unwrap().view()).unwrap();
    let mut tape = Tape::new();
    let x = tape.input(3);
    let phase = tape.dense(x, weight, None).unwrap();
    let u = tape.sin(phase);
    let laplacian = tape.laplacian(u, x, &[2, 0, 1]).unwrap();
    let biharmonic = tape.laplacian(laplacian, x, &[0, 1, 2]).unwrap();
    let mut network = Network::new(tape, &variables).unwrap();
    let at = Array2::from_shape_fn((7, 3), |(i, k)| T::from_f64(0.3 * i as f64 - 0.2 * k as f64));
    let [u, laplacian, biharmonic] =
        [u, laplacian, biharmonic].map(|node| network.predict(&variables, &[at.view()], node).unwrap());
    for ((u, laplacian), biharmonic) in u.iter().zip(&laplacian).zip(&biharmonic) {
        assert!((laplacian.to_f64() + 2.5625 * u.to_f64()).abs() < tolerance);
        assert!((biharmonic.to_f64() - 2.5625 * 2.5625 * u.to_f64()).abs() < 8.0 * tolerance);
    }
}

#[test]
fn the_laplacian_of_a_wave_is_a_multiple_of_it() {
    plane_wave::<f64>(1e-14);
    plane_wave::<f32>(1e-6);
}
