//! Products with a network's Jacobian that is never formed, against those with the Jacobian itself.

use std::ops::Range;

use marquardt::nn::{HalfSumOfSquares, Huber, MeanSquaredError, Network, Sequential, Shape, Tape, Window};
use marquardt::problem::JacobianProducts;
use marquardt::{LeastSquares, Real, Variables};
use ndarray::{Array2, Array4};
use proptest::prelude::*;

use crate::common::cost_of;
use crate::random::{build, recipes};

/// All that a Jacobian is multiplied for.
#[derive(Debug, Clone, PartialEq)]
struct Products<T> {
    /// Lower triangle, zeros above.
    gram: Vec<T>,
    blocks: Vec<T>,
    product: Vec<T>,
    transposed: Vec<T>,
}

/// Any numbers.
fn wave<T: Real>(count: usize) -> Vec<T> {
    (0..count).map(|k| T::from_f64((k as f64 * 0.7 + 0.3).sin())).collect()
}

/// From what the network keeps. Whatever is not written is no number.
fn from_factors<T: Real>(network: &mut Network<T>, m: usize, n: usize) -> Products<T> {
    let (group, nan) = (network.row_group(), T::from_f64(f64::NAN));
    let zeros = |count: usize| vec![nan; count];
    let mut products =
        Products { gram: zeros(m * m), blocks: zeros(m * group), product: zeros(m), transposed: zeros(n) };
    network.row_gram(&mut products.gram).unwrap();
    assert!(network.row_gram_blocks(&mut products.blocks).unwrap());
    network.multiply(&wave(n), &mut products.product).unwrap();
    network.multiply_transposed(&wave(m), &mut products.transposed).unwrap();
    for (i, row) in products.gram.chunks_exact_mut(m).enumerate() {
        row[i + 1..].fill(T::ZERO);
    }
    products
}

/// From a Jacobian.
fn from_jacobian<T: Real>(jacobian: &[T], n: usize, group: usize) -> Products<T> {
    let m = jacobian.len() / n;
    let row = |i: usize| &jacobian[i * n..(i + 1) * n];
    let dot = |a: &[T], b: &[T]| a.iter().zip(b).map(|(&a, &b)| a * b).sum::<T>();
    let places = |count: usize, width: usize| (0..count * width).map(move |at| (at / width, at % width));
    let (v, u) = (wave(n), wave(m));
    Products {
        gram: places(m, m).map(|(i, j)| if j <= i { dot(row(i), row(j)) } else { T::ZERO }).collect(),
        blocks: places(m, group).map(|(i, k)| dot(row(i), row(i / group * group + k))).collect(),
        product: (0..m).map(|i| dot(row(i), &v)).collect(),
        transposed: (0..n).map(|j| (0..m).map(|i| jacobian[i * n + j] * u[i]).sum()).collect(),
    }
}

fn close<T: Real>(found: &[T], expected: &[T], tolerance: f64) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(0.0_f64, |scale, e| scale.max(e.to_f64().abs()));
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        prop_assert!((f.to_f64() - e.to_f64()).abs() <= tolerance * scale, "number {}: {} instead of {}", k, f, e);
    }
    Ok(())
}

/// Whether residuals, cost and products at a point are those of the Jacobian's columns.
fn agree<T: Real>(
    network: &mut Network<T>,
    x: &[T],
    columns: &[Range<usize>],
    tolerance: f64,
) -> Result<(), TestCaseError> {
    let (m, n) = (network.residual_count(), columns.iter().map(Range::len).sum());
    let (mut expected_r, mut jacobian, mut r) = (vec![T::ZERO; m], vec![T::ZERO; m * n], wave::<T>(m));
    let work = network.work(columns).unwrap();
    let flops = [work.linearize, work.row_gram.unwrap(), work.product].map(|work| work.flops());
    prop_assert!(flops[0] > 0.0 && flops.iter().all(|&flops| flops >= 0.0));
    let cost = network.linearize_products(x, columns, &mut r).unwrap();
    network.capabilities().linearize_columns(x, 0, &mut expected_r, columns, &mut jacobian).unwrap();
    close(&r, &expected_r, 0.0)?;
    close(&[cost], &[cost_of(network, 0, &expected_r)], tolerance)?;
    let expected = from_jacobian(&jacobian, n, network.row_group());
    let found = from_factors(network, m, n);
    close(&found.gram, &expected.gram, tolerance)?;
    close(&found.blocks, &expected.blocks, tolerance)?;
    close(&found.product, &expected.product, tolerance)?;
    close(&found.transposed, &expected.transposed, tolerance)?;
    agree_on_the_gram_matrix(network, &jacobian, work.gram_product.is_some(), tolerance)
}

/// Whether products with `JJᵀ`, and its blocks of one residual of all samples each, are those of the Jacobian, where they are known.
fn agree_on_the_gram_matrix<T: Real>(
    network: &mut Network<T>,
    jacobian: &[T],
    is_known: bool,
    tolerance: f64,
) -> Result<(), TestCaseError> {
    let (m, group) = (network.residual_count(), network.row_group());
    let (n, samples, u) = (jacobian.len() / m, m / group, wave::<T>(m));
    let row = |i: usize| &jacobian[i * n..(i + 1) * n];
    let dot = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(&a, &b)| a * b).sum::<T>();
    let mut product = vec![T::from_f64(f64::NAN); m];
    prop_assert_eq!(network.multiply_row_gram(&u, &mut product).unwrap(), is_known);
    if is_known {
        let expected: Vec<T> = (0..m).map(|i| (0..m).map(|j| dot(i, j) * u[j]).sum()).collect();
        close(&product, &expected, tolerance)?;
    }
    let mut blocks = vec![T::from_f64(f64::NAN); m * samples];
    if network.row_gram_of_residuals(&mut blocks).unwrap() {
        for (residual, block) in blocks.chunks_exact(samples * samples).enumerate() {
            let lower = (0..samples).flat_map(|i| (0..=i).map(move |j| (i, j)));
            let found: Vec<T> = lower.clone().map(|(i, j)| block[i * samples + j]).collect();
            let expected: Vec<T> = lower.map(|(i, j)| dot(i * group + residual, j * group + residual)).collect();
            close(&found, &expected, tolerance)?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn factors_stand_for_the_jacobian(recipe in recipes(1..7), frozen in any::<u64>()) {
        let mut built = build(&recipe);
        built.bind();
        let mut variables = built.variables.clone();
        let x = variables.values().to_vec();
        agree(&mut built.network, &x, std::slice::from_ref(&(0..x.len())), 1e-12)?;
        for (k, variable) in built.variables.iter().enumerate() {
            variables.set_trainable(variable, frozen >> (k % 64) & 1 == 0);
        }
        let columns = variables.trainable_ranges();
        if !columns.is_empty() {
            agree(&mut built.network, &x, &columns, 1e-12)?;
        }
    }
}

/// Layers of `tanh`, bound to a batch.
fn bound<T: Real>(widths: &[usize], rows: usize) -> (Network<T>, Variables<T>) {
    let layers =
        widths[1..widths.len() - 1].iter().fold(Sequential::new(widths[0]), |layers, &w| layers.dense(w).tanh());
    let mut variables = Variables::new();
    let mut network =
        layers.dense(widths[widths.len() - 1]).compile(&mut variables, 0, MeanSquaredError).expect("layers fit");
    bind(&mut network, widths, rows);
    (network, variables)
}

fn bind<T: Real>(network: &mut Network<T>, widths: &[usize], rows: usize) {
    let (inputs, outputs) = (widths[0], widths[widths.len() - 1]);
    let (x, y) = (wave(rows * inputs), wave(rows * outputs));
    let shaped = |numbers, width| Array2::from_shape_vec((rows, width), numbers).unwrap();
    network.batch(&[shaped(x, inputs).view()], &[shaped(y, outputs).view()]).unwrap();
}

/// More rows than a tile and than a block of the Gram matrix have, and many residuals of each sample.
#[test]
fn large_batches_and_single_precision() {
    for (widths, rows) in [([3, 8, 7, 1], 530), ([4, 9, 6, 3], 70), ([2, 2, 1, 65], 9)] {
        let (mut network, variables) = bound::<f64>(&widths, rows);
        let all = 0..variables.values().len();
        agree(&mut network, variables.values(), std::slice::from_ref(&all), 1e-12).unwrap();
        let (mut network, variables) = bound::<f32>(&widths, rows);
        agree(&mut network, variables.values(), std::slice::from_ref(&all), 1e-4).unwrap();
    }
}

/// More rows than a stack of adjoints has.
#[test]
fn many_residuals_of_many_samples() {
    let (mut network, variables) = bound::<f64>(&[2, 3, 70], 40);
    let (x, m) = (variables.values(), 2800);
    let mut r = vec![0.0; m];
    network.linearize_products(x, std::slice::from_ref(&(0..x.len())), &mut r).unwrap();
    let (mut found, mut expected) = (vec![f64::NAN; m], vec![f64::NAN; m]);
    network.multiply(&wave(x.len()), &mut found).unwrap();
    network.jacobian_vector(x, &wave(x.len()), &mut expected).unwrap();
    close(&found, &expected, 1e-13).unwrap();
    let (mut found, mut expected) = (vec![f64::NAN; x.len()], vec![f64::NAN; x.len()]);
    network.multiply_transposed(&r, &mut found).unwrap();
    network.jacobian_transposed_vector(x, &r, &mut expected).unwrap();
    close(&found, &expected, 1e-13).unwrap();
}

/// A kernel of `4 × 4` numbers that is the weight of a dense layer as well.
#[test]
fn one_variable_as_matrices_of_several_shapes() {
    let mut variables = Variables::new();
    let kernel = Array4::from_shape_vec((1, 1, 4, 4), wave::<f64>(16)).unwrap();
    let kernel = variables.add("kernel", kernel.view()).unwrap();
    let mut tape = Tape::new();
    let (image, row) = (tape.input(16), tape.input(4));
    let image = tape.reshape(image, Shape::Image { channels: 1, height: 4, width: 4 }).unwrap();
    let convolved = tape.conv2d(image, kernel, None, Window::new([4, 4])).unwrap();
    let dense = tape.dense(row, kernel, None).unwrap();
    let y = tape.mul(dense, convolved).unwrap();
    let mut network = Network::new(tape, &variables).unwrap().with_loss(y, MeanSquaredError).unwrap();
    let shaped = |width| Array2::from_shape_vec((5, width), wave(5 * width)).unwrap();
    network.batch(&[shaped(16).view(), shaped(4).view()], &[shaped(4).view()]).unwrap();
    agree(&mut network, variables.values(), std::slice::from_ref(&(0..16)), 1e-13).unwrap();
}

/// A loss that is no sum of squares, and one that is, of two outputs.
#[test]
fn the_cost_is_the_loss() {
    let mut variables = Variables::new();
    let weight = variables.add("weight", Array2::from_shape_vec((3, 4), wave::<f64>(12)).unwrap().view()).unwrap();
    let mut tape = Tape::new();
    let x = tape.input(4);
    let hidden = tape.dense(x, weight, None).unwrap();
    let bounded = tape.tanh(hidden);
    let network = Network::new(tape, &variables).unwrap();
    let network = network.with_weighted_loss(bounded, Huber::new(0.1).unwrap(), 3.0).unwrap();
    let mut network = network.with_weighted_loss(hidden, HalfSumOfSquares, 0.2).unwrap();
    let shaped = |rows, width, seed| Array2::from_shape_fn((rows, width), |(i, k)| ((seed + i * 3 + k) as f64).cos());
    network.batch(&[shaped(6, 4, 1).view()], &[shaped(6, 3, 2).view()]).unwrap();
    agree(&mut network, variables.values(), std::slice::from_ref(&(0..12)), 1e-13).unwrap();
}

#[test]
fn products_stay_those_of_their_point() {
    let widths = [3, 8, 2];
    let (mut network, variables) = bound::<f64>(&widths, 10);
    let (x, all) = (variables.values(), 0..variables.values().len());
    let elsewhere: Vec<f64> = x.iter().map(|x| x + 0.5).collect();
    let mut r = vec![0.0; 20];
    network.linearize_products(x, std::slice::from_ref(&all), &mut r).unwrap();
    let before = from_factors(&mut network, 20, x.len());

    network.residuals(&elsewhere, 0, &mut r).unwrap();
    network.linearize(&elsewhere, 0, &mut r, &mut vec![0.0; 20 * x.len()]).unwrap();
    network.work(std::slice::from_ref(&(0..24))).unwrap();
    assert_eq!(network.work(std::slice::from_ref(&(0..3))), None);
    network.linearize_products(&elsewhere, &[0..24, 26..40], &mut r).unwrap_err();
    network.linearize_products(&elsewhere[1..], std::slice::from_ref(&all), &mut r).unwrap_err();
    bind(&mut network, &widths, 30);
    network.residuals(&elsewhere, 0, &mut [0.0; 60]).unwrap();
    assert_eq!(from_factors(&mut network, 20, x.len()), before);

    network.linearize_products(&elsewhere, std::slice::from_ref(&all), &mut [0.0; 60]).unwrap();
    assert_ne!(from_factors(&mut network, 60, x.len()).transposed, before.transposed);
}

/// Memory is that of layers, not of their weights, and work follows the batch.
#[test]
fn work_is_that_of_the_layers() {
    let widths = [100, 50, 10];
    let (mut network, variables) = bound::<f64>(&widths, 8);
    let n = variables.values().len();
    let of_eight = network.work(std::slice::from_ref(&(0..n))).unwrap();
    assert_eq!(of_eight.numbers, 8 * (100 + 50) + 80 * (50 + 10));
    let forward = 8.0 * 2.0 * (100 * 50 + 50 * 10) as f64;
    let linearize = of_eight.linearize.flops();
    assert!(linearize > forward && linearize < 3.0 * forward, "{of_eight:?}");
    // The head alone needs no adjoints of the hidden layer.
    let of_head = network.work(std::slice::from_ref(&(5050..n))).unwrap();
    assert_eq!(of_head.numbers, 8 * 50 + 80 * 10);
    assert!(
        of_head.linearize.flops() < linearize
            && of_head.row_gram.unwrap().flops() < 0.5 * of_eight.row_gram.unwrap().flops()
    );
    bind(&mut network, &widths, 16);
    let of_sixteen = network.work(std::slice::from_ref(&(0..n))).unwrap();
    assert!((of_sixteen.linearize.flops() / linearize - 2.0).abs() < 0.01);
    assert_eq!(of_sixteen.numbers, 2 * of_eight.numbers);
}
