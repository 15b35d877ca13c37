//! J, Jv, Jᵀu and JJᵀ of recorded models against those of the same networks of marquardt.

use std::collections::HashMap;
use std::rc::Rc;

use candle_core::{Device, IndexOp, Module, Result, Tensor};
use candle_nn::{Conv2dConfig, VarBuilder, VarMap};
use marquardt::nn::{Conv2D, External, Loss, MeanSquaredError, Network, Sequential, SparseCategoricalCrossentropy};
use marquardt::number::Number;
use marquardt::{LeastSquares, Real, Variables};
use ndarray::Array2;

use crate::element::dtype;
use crate::masks::Masks;
use crate::model::{CandleModel, Place, token};
use crate::{Element, conv2d, linear};

const SAMPLES: usize = 7;

/// Numbers without a pattern.
fn wave<T: Real>(count: usize, phase: f64) -> Vec<T> {
    (0..count).map(|k| T::from_f64((k as f64 * 0.7 + phase).sin())).collect()
}

/// Residuals, J, Jv, Jᵀu and the lower triangle of JJᵀ, with columns in this order.
fn derivatives<T: Real>(problem: &mut dyn LeastSquares<T>, x: &[T], order: &[usize]) -> [Vec<T>; 5] {
    let (m, n) = (problem.residual_count(), x.len());
    let mut found = [m, m * n, m, n, m * m].map(|count| vec![T::ZERO; count]);
    let [r, jacobian, product, transposed, gram] = &mut found;
    problem.linearize(x, 0, r, jacobian).unwrap();
    let in_order = |row: &mut [T]| {
        let before = row.to_vec();
        row.iter_mut().zip(order).for_each(|(number, &place)| *number = before[place]);
    };
    jacobian.chunks_exact_mut(n).for_each(in_order);
    let mut v = vec![T::ZERO; n];
    order.iter().zip(wave::<T>(n, 0.1)).for_each(|(&place, number)| v[place] = number);
    let products = problem.capabilities().products().unwrap();
    products.linearize_products(x, std::slice::from_ref(&(0..n)), r).unwrap();
    assert!(products.multiply(&v, product).unwrap());
    products.multiply_transposed(&wave::<T>(m, 0.2), transposed).unwrap();
    in_order(transposed);
    products.row_gram(gram).unwrap();
    gram.chunks_exact_mut(m).enumerate().for_each(|(i, row)| row[i + 1..].fill(T::ZERO));
    found
}

/// Compares with a network whose variables have the names of the map's.
fn compare<T: Element, L: Loss<T> + 'static>(
    (varmap, layers): (&VarMap, Sequential<T>),
    (x, inputs): (&Tensor, Vec<T>),
    targets: &Array2<T>,
    loss: fn() -> L,
    mut forward: impl FnMut() -> Result<Tensor>,
    tolerance: f64,
) {
    let mut variables = Variables::new();
    let mut network: Network<T> = layers.compile(&mut variables, 0, loss()).unwrap();
    let mut named: Vec<_> =
        varmap.data().lock().unwrap().iter().map(|(name, var)| (name.clone(), var.clone())).collect();
    named.sort_by(|(a, _), (b, _)| a.cmp(b));
    let (mut vars, mut places, mut at, mut order) = (Vec::new(), HashMap::new(), Vec::new(), Vec::new());
    for (index, (name, var)) in named.into_iter().enumerate() {
        let start = at.len();
        at.extend(
            wave::<T>(var.elem_count(), index as f64).into_iter().map(|number| number * <T as Number>::from_f64(0.4)),
        );
        var.set(&Tensor::from_slice(&at[start..], var.shape(), &Device::Cpu).unwrap()).unwrap();
        // Where the network has this variable.
        let own = variables.iter().find(|&own| variables.name(own) == name).unwrap();
        variables.values_mut()[own.range()].copy_from_slice(&at[start..]);
        order.extend(own.range());
        places.insert(var.id(), start);
        vars.push(Place { name, var, start });
    }
    assert_eq!(x.dtype(), dtype::<T>());
    let width = inputs.len() / SAMPLES;
    let inputs = Array2::from_shape_vec((SAMPLES, width), inputs).unwrap();
    network.batch(&[inputs.view()], &[targets.view()]).unwrap();
    let expected = derivatives(&mut network, variables.values(), &order);

    let (places, token) = (Rc::new(places), token::<T>(&Device::Cpu).unwrap());
    let parts = (vars.as_slice(), &places, &token);
    let mut model = CandleModel::new(parts, &mut forward, Masks::new(0, 0), (SAMPLES, true), at.clone()).unwrap();
    let outputs = model.width();
    let mut external = External::new(loss());
    let mut batch = external.bind(&mut model, (&at, outputs), targets.view(), None).unwrap();
    assert!(batch.is_recorded());
    let same: Vec<usize> = (0..at.len()).collect();
    let found = derivatives(&mut batch, &at, &same);
    // Rounding of a sum is judged by the sizes of what is summed.
    let [sizes_of_rows, sizes_of_columns] = sums_of_sizes(&expected[1], at.len());
    let size = |numbers: &[T]| numbers.iter().fold(0.0_f64, |size, &number| size.max(Real::to_f64(number).abs()));
    let sizes = [size(&expected[0]), size(&expected[1]), sizes_of_rows, sizes_of_columns, size(&expected[4])];
    for (index, what) in ["r", "J", "Jv", "Jᵀu", "JJᵀ"].iter().enumerate() {
        let difference = found[index].iter().zip(&expected[index]).fold(0.0_f64, |largest, (&found, &expected)| {
            largest.max((Real::to_f64(found) - Real::to_f64(expected)).abs())
        });
        assert!(difference <= tolerance * sizes[index], "{what}: {difference:e} of {:e}", sizes[index]);
    }
}

/// The largest sum of the sizes of the numbers in a row of `J`, and in a column.
fn sums_of_sizes<T: Real>(jacobian: &[T], n: usize) -> [f64; 2] {
    let mut of_columns = vec![0.0; n];
    let mut of_row: f64 = 0.0;
    for row in jacobian.chunks_exact(n) {
        of_row = of_row.max(row.iter().map(|&number| Real::to_f64(number).abs()).sum());
        of_columns.iter_mut().zip(row).for_each(|(sum, &number)| *sum += Real::to_f64(number).abs());
    }
    [of_row, of_columns.into_iter().fold(0.0, f64::max)]
}

fn dense<T: Element, L: Loss<T> + 'static>(targets: &Array2<T>, loss: fn() -> L, tolerance: f64) {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, T::DTYPE, &Device::Cpu);
    let (hidden, output) = (linear(5, 9, vb.pp("0")).unwrap(), linear(9, 4, vb.pp("2")).unwrap());
    let inputs = wave::<T>(SAMPLES * 5, 0.2);
    let x = Tensor::from_vec(inputs.clone(), (SAMPLES, 5), &Device::Cpu).unwrap();
    let forward = || output.forward(&hidden.forward(&x)?.tanh()?);
    let layers = Sequential::new(5).dense(9).tanh().dense(4);
    compare((&varmap, layers), (&x, inputs), targets, loss, forward, tolerance);
}

fn convolutional<T: Element, L: Loss<T> + 'static>(targets: &Array2<T>, loss: fn() -> L, tolerance: f64) {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, T::DTYPE, &Device::Cpu);
    let first = conv2d(2, 3, 3, Conv2dConfig::default(), vb.pp("0")).unwrap();
    let strided = Conv2dConfig { stride: 2, ..Conv2dConfig::default() };
    let second = conv2d(3, 4, 2, strided, vb.pp("2")).unwrap();
    let output = linear(16, 4, vb.pp("5")).unwrap();
    let inputs = wave::<T>(SAMPLES * 72, 0.2);
    let x = Tensor::from_vec(inputs.clone(), (SAMPLES, 2, 6, 6), &Device::Cpu).unwrap();
    let forward = || {
        let seen = second.forward(&first.forward(&x.i(..)?)?.tanh()?)?;
        output.forward(&seen.tanh()?.flatten_from(1)?)
    };
    let layers = Sequential::image(2, 6, 6)
        .conv2d(3, [3, 3])
        .tanh()
        .push(Conv2D::new(4, [2, 2]).with_strides([2, 2]))
        .tanh()
        .flatten()
        .dense(4);
    compare((&varmap, layers), (&x, inputs), targets, loss, forward, tolerance);
}

#[test]
fn derivatives_are_those_of_the_same_network() {
    fn check<T: Element>(tolerance: f64) {
        let values = Array2::from_shape_vec((SAMPLES, 4), wave::<T>(SAMPLES * 4, 1.1)).unwrap();
        dense(&values, || MeanSquaredError, tolerance);
        convolutional(&values, || MeanSquaredError, tolerance);
        let labels =
            Array2::from_shape_fn((SAMPLES, 1), |(sample, _)| <T as Number>::from_f64((sample * sample % 4) as f64));
        dense(&labels, || SparseCategoricalCrossentropy, tolerance);
        convolutional(&labels, || SparseCategoricalCrossentropy, tolerance);
    }
    check::<f64>(1e-14);
    check::<f32>(1e-6);
}
