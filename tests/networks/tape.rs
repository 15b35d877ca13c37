//! What a tape computes: all derivatives agree with each other, and with differences of losses, for random networks.

use marquardt::nn::{HalfSumOfSquares, Huber, MeanAbsoluteError, MeanSquaredError, Network, Tape};
use marquardt::problem::Objective;
use marquardt::variables::{Gradient, Gradients};
use marquardt::{LeastSquares, LevenbergMarquardt, Variables};
use ndarray::{Array2, array, s};
use proptest::prelude::*;

use crate::common::cost_of;
use crate::random::{Built, build, recipes, smooth_recipes};

/// The gradient of the loss as one dense vector.
fn gradient(built: &mut Built) -> Vec<f64> {
    let mut gradients = Gradients::new(&built.variables);
    built.network.loss_and_gradient(built.variables.values(), &mut gradients).unwrap();
    gradients.flat_mut().to_vec()
}

/// Residuals and Jacobian of all rows.
fn linearize(built: &mut Built) -> (Vec<f64>, Vec<f64>) {
    let (m, n) = (built.network.residual_count(), built.network.parameter_count());
    let (mut r, mut jacobian) = (vec![f64::NAN; m], vec![f64::NAN; m * n]);
    built.network.linearize(built.variables.values(), 0, &mut r, &mut jacobian).unwrap();
    (r, jacobian)
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0_f64, |scale, e| scale.max(e.abs()));
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        prop_assert!((f - e).abs() <= tolerance * scale, "number {}: {} instead of {}", k, f, e);
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_gradient_is_that_of_the_loss(recipe in smooth_recipes(1..7)) {
        let mut built = build(&recipe);
        built.bind();
        let gradient = gradient(&mut built);
        let mut x = built.variables.values().to_vec();
        let mut differences = Vec::new();
        for k in 0..x.len() {
            let (here, step) = (x[k], 1e-5);
            x[k] = here + step;
            let above = built.network.loss(&x).unwrap();
            x[k] = here - step;
            let below = built.network.loss(&x).unwrap();
            x[k] = here;
            differences.push((above - below) / (2.0 * step));
        }
        let loss = built.network.loss(&x).unwrap();
        assert_close(&gradient, &differences, 1e-7 * (1.0 + loss.abs()))?;
    }

    #[test]
    fn all_derivatives_agree(recipe in recipes(1..7)) {
        let mut built = build(&recipe);
        built.bind();
        let gradient = gradient(&mut built);
        let x = built.variables.values().to_vec();
        let (r, jacobian) = linearize(&mut built);
        let (m, n) = (r.len(), x.len());

        let loss = built.network.loss(&x).unwrap();
        prop_assert!((0.5 * dot(&r, &r) - loss).abs() <= 1e-13 * (1.0 + loss));

        let column = |k: usize| (0..m).map(|i| jacobian[i * n + k]).collect::<Vec<_>>();
        let transposed_times = |u: &[f64]| (0..n).map(|k| dot(&column(k), u)).collect::<Vec<_>>();
        assert_close(&gradient, &transposed_times(&r), 1e-12)?;

        let v: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
        let u: Vec<f64> = (0..m).map(|i| (i as f64).cos()).collect();
        let (mut jv, mut jtu) = (vec![f64::NAN; m], vec![f64::NAN; n]);
        built.network.jacobian_vector(&x, &v, &mut jv).unwrap();
        built.network.jacobian_transposed_vector(&x, &u, &mut jtu).unwrap();
        let times_v: Vec<f64> = jacobian.chunks_exact(n).map(|row| dot(row, &v)).collect();
        assert_close(&jv, &times_v, 1e-12)?;
        assert_close(&jtu, &transposed_times(&u), 1e-12)?;

        let per_example = built.network.per_example_gradients(&built.variables).unwrap();
        assert_close(&per_example.sum_axis(ndarray::Axis(0)).to_vec(), &gradient, 1e-12)?;
    }

    #[test]
    fn second_derivatives_are_those_of_the_residuals(recipe in smooth_recipes(1..7)) {
        let mut built = build(&recipe);
        built.bind();
        let x = built.variables.values().to_vec();
        let (m, n) = (built.network.residual_count(), x.len());
        let v: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
        let mut slope_at = |t: f64| {
            let ahead: Vec<f64> = x.iter().zip(&v).map(|(x, v)| x + t * v).collect();
            let mut slope = vec![f64::NAN; m];
            built.network.jacobian_vector(&ahead, &v, &mut slope).unwrap();
            slope
        };
        let (above, below) = (slope_at(1e-5), slope_at(-1e-5));
        let differences: Vec<f64> = above.iter().zip(&below).map(|(a, b)| (a - b) / 2e-5).collect();

        let (mut second, mut again) = (vec![f64::NAN; m], vec![f64::NAN; m]);
        let (mut product, mut expected) = (vec![1.0; n], vec![f64::NAN; n]);
        prop_assert!(built.network.capabilities().second_directional_derivative(&x, &v, 0, &mut second).unwrap());
        assert_close(&second, &differences, 1e-6)?;
        prop_assert!(built.network.capabilities().second_derivative_product(&x, &v, 0, &mut again, &mut product).unwrap());
        prop_assert_eq!(&again, &second);
        built.network.jacobian_transposed_vector(&x, &second, &mut expected).unwrap();
        expected.iter_mut().for_each(|expected| *expected += 1.0);
        assert_close(&product, &expected, 1e-12)?;
        product.fill(1.0);
        prop_assert!(built.network.capabilities().transposed_product(&x, 0, &second, &mut product).unwrap());
        assert_close(&product, &expected, 1e-12)?;
    }

    #[test]
    fn some_columns_are_columns_of_the_whole(recipe in recipes(1..5), cuts in prop::collection::vec(0..1000_usize, 4)) {
        let mut built = build(&recipe);
        built.bind();
        let (r, jacobian) = linearize(&mut built);
        let (m, n) = (r.len(), built.variables.values().len());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (n + 1)).collect();
        cuts.sort_unstable();
        let pieces = vec![cuts[0]..cuts[1], cuts[2]..cuts[3]];
        for columns in [pieces, built.variables.trainable_ranges(), std::iter::once(0..n).collect()] {
            let wanted: Vec<usize> = columns.iter().cloned().flatten().collect();
            let (mut some_r, mut some) = (vec![f64::NAN; m], vec![f64::NAN; m * wanted.len()]);
            let x = built.variables.values();
            prop_assert!(built.network.capabilities().linearize_columns(x, 0, &mut some_r, &columns, &mut some).unwrap());
            let expected: Vec<f64> = (0..m).flat_map(|i| wanted.iter().map(move |&k| (i, k))).map(|(i, k)| jacobian[i * n + k]).collect();
            prop_assert_eq!(&some_r, &r);
            prop_assert_eq!(&some, &expected);
        }
    }

    #[test]
    fn the_gradient_reaches_inputs_and_nodes(recipe in smooth_recipes(1..4)) {
        let mut built = build(&recipe);
        built.bind();
        let x = built.variables.values().to_vec();
        let gradient = built.network.gradient_of(&built.variables, built.nodes[0]).unwrap();
        let mut differences = Vec::new();
        for place in 0..built.inputs[0].len() {
            let index = (place / 3, place % 3);
            let (here, step) = (built.inputs[0][index], 1e-5);
            // A new batch would be a new dropout mask.
            let loss_at = |value| {
                let mut moved = build(&recipe);
                moved.inputs[0][index] = value;
                moved.bind();
                moved.network.loss(&x).unwrap()
            };
            differences.push((loss_at(here + step) - loss_at(here - step)) / (2.0 * step));
        }
        let loss = built.network.loss(&x).unwrap();
        assert_close(gradient.as_slice().unwrap(), &differences, 1e-7 * (1.0 + loss))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Batches of more rows than a tile has, taken whole and in blocks that fit no tile.
    #[test]
    fn tiles_do_not_matter(recipe in recipes(520..600)) {
        let mut built = build(&recipe);
        built.bind();
        let x = built.variables.values().to_vec();
        let (r, jacobian) = linearize(&mut built);
        let (n, block) = (x.len(), 37 * built.network.row_group());
        let (mut block_r, mut block_jacobian) = (Vec::new(), Vec::new());
        for first in (0..r.len()).step_by(block) {
            let count = block.min(r.len() - first);
            let (mut rows, mut jacobian) = (vec![f64::NAN; count], vec![f64::NAN; count * n]);
            built.network.linearize(&x, first, &mut rows, &mut jacobian).unwrap();
            block_r.extend(rows);
            block_jacobian.extend(jacobian);
        }
        assert_close(&block_r, &r, 1e-14)?;
        assert_close(&block_jacobian, &jacobian, 1e-13)?;
        let products: Vec<f64> = (0..n).map(|k| (0..r.len()).map(|i| jacobian[i * n + k] * r[i]).sum()).collect();
        assert_close(&gradient(&mut built), &products, 1e-12)?;
    }
}

/// `y = tanh(x W₁ᵀ + b₁) W₂ᵀ`, with dropout in between.
fn small(dropout: f64) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let first = variables.add("first", array![[0.4, -0.3], [0.2, 0.9], [-0.7, 0.1]].view()).unwrap();
    let bias = variables.add("bias", array![0.1, -0.2, 0.3].view()).unwrap();
    let second = variables.add("second", array![[0.5, -0.6, 0.8]].view()).unwrap();
    let mut tape = Tape::new();
    let x = tape.input(2);
    let hidden = tape.dense(x, first, Some(bias)).unwrap();
    let hidden = tape.tanh(hidden);
    let hidden = tape.dropout(hidden, dropout).unwrap();
    let y = tape.dense(hidden, second, None).unwrap();
    (Network::new(tape, &variables).unwrap().with_loss(y, MeanSquaredError).unwrap(), variables)
}

/// Inputs and targets for [`small`].
fn data(rows: usize) -> (Array2<f64>, Array2<f64>) {
    let inputs = Array2::from_shape_fn((rows, 2), |(i, k)| ((i * 2 + k) as f64).sin());
    let targets = Array2::from_shape_fn((rows, 1), |(i, _)| (i as f64 * 0.37).cos());
    (inputs, targets)
}

#[test]
fn dropout_stays_within_a_step_and_changes_between_steps() {
    let (network, variables) = small(0.5);
    let mut network = network.with_seed(3);
    let ((inputs, targets), x) = (data(40), variables.values());
    let mut bind_and_ask = || {
        network.batch(&[inputs.view()], &[targets.view()]).unwrap();
        let (loss, mut gradients) = (network.loss(x).unwrap(), Gradients::new(&variables));
        let with_gradient = network.loss_and_gradient(x, &mut gradients).unwrap();
        let mut r = vec![0.0; 40];
        network.residuals(x, 0, &mut r).unwrap();
        assert_eq!(loss, with_gradient);
        assert!((0.5 * dot(&r, &r) - loss).abs() < 1e-15);
        // Evaluation in between changes nothing.
        network.evaluate(&variables, &[inputs.view()], &[targets.view()]).unwrap();
        assert_eq!(network.loss(x).unwrap(), loss);
        loss
    };
    assert_ne!(bind_and_ask(), bind_and_ask());

    let first_losses = |seed| {
        let mut network = small(0.5).0.with_seed(seed);
        let mut ask = || network.batch(&[inputs.view()], &[targets.view()]).unwrap().loss(x).unwrap();
        [ask(), ask()]
    };
    assert_eq!(first_losses(3), first_losses(3));
    assert_ne!(first_losses(3), first_losses(4));
}

#[test]
fn evaluation_drops_nothing() {
    let ((mut with, variables), (mut without, _)) = (small(0.5), small(0.0));
    let (inputs, targets) = data(700);
    let plain = without.batch(&[inputs.view()], &[targets.view()]).unwrap().loss(variables.values()).unwrap();
    let evaluated = with.evaluate(&variables, &[inputs.view()], &[targets.view()]).unwrap();
    assert!((plain - evaluated).abs() < 1e-15);
    let output = with.outputs()[0];
    let predicted = with.predict(&variables, &[inputs.view()], output).unwrap();
    let errors = &predicted - &targets;
    assert!((errors.mapv(|e| e * e).mean().unwrap() - plain).abs() < 1e-15);
}

#[test]
fn arrays_may_lie_in_memory_as_they_like() {
    let (mut network, variables) = small(0.0);
    let (inputs, targets) = data(50);
    let plain = network.batch(&[inputs.view()], &[targets.view()]).unwrap().loss(variables.values()).unwrap();
    let columns_first = inputs.t().as_standard_layout().into_owned();
    let turned = columns_first.t();
    assert!(turned.as_slice().is_none());
    assert_eq!(network.batch(&[turned], &[targets.view()]).unwrap().loss(variables.values()).unwrap(), plain);
    let output = network.outputs()[0];
    let predicted = network.predict(&variables, &[inputs.view()], output).unwrap();
    assert_eq!(network.predict(&variables, &[turned], output).unwrap(), predicted);

    let rows: Vec<usize> = (0..50).rev().collect();
    let (backwards, targets_backwards) = (inputs.slice(s![..;-1, ..]), targets.slice(s![..;-1, ..]));
    let gathered = network.batch_rows(&[turned], &[targets.view()], &rows).unwrap().loss(variables.values()).unwrap();
    network.batch(&[backwards], &[targets_backwards]).unwrap();
    assert_eq!(network.loss(variables.values()).unwrap(), gathered);
    network.batch_rows(&[inputs.view()], &[targets.view()], &rows).unwrap();
    assert_eq!(network.loss(variables.values()).unwrap(), gathered);
}

#[test]
fn sample_weights_weigh_the_loss() {
    let (mut network, variables) = small(0.0);
    let (inputs, targets) = data(4);
    let x = variables.values();
    let weights = [0.5, 0.0, 2.0, 1.0];
    network.weighted_batch(&[inputs.view()], &[targets.view()], &weights).unwrap();
    let weighted = network.loss(x).unwrap();
    let mut r = [0.0; 4];
    network.residuals(x, 0, &mut r).unwrap();
    assert_eq!(r[1], 0.0);
    let alone = |row: usize| {
        let (mut network, _) = small(0.0);
        network.batch_rows(&[inputs.view()], &[targets.view()], &[row]).unwrap().loss(x).unwrap()
    };
    let expected: f64 = (0..4).map(|row| weights[row] * alone(row)).sum::<f64>() / 4.0;
    assert!((weighted - expected).abs() < 1e-15, "{weighted}, {expected}");
}

#[test]
fn weighted_terms_add_up() {
    let (network, variables) = small(0.0);
    let y = network.outputs()[0];
    let mut network = Network::new(network.tape().clone(), &variables)
        .and_then(|network| network.with_weighted_loss(y, MeanSquaredError, 0.7))
        .and_then(|network| network.with_weighted_loss(y, HalfSumOfSquares, 0.1))
        .unwrap();
    let (inputs, targets) = data(20);
    network.batch(&[inputs.view()], &[targets.view()]).unwrap();
    let predicted = network.predict(&variables, &[inputs.view()], y).unwrap();
    let errors = &predicted - &targets;
    let expected = 0.7 * errors.mapv(|e| e * e).mean().unwrap() + 0.1 * 0.5 * predicted.mapv(|y| y * y).sum();
    let loss = network.loss(variables.values()).unwrap();
    assert!((loss - expected).abs() < 1e-15, "{loss}, {expected}");
    let evaluated = network.evaluate(&variables, &[inputs.view()], &[targets.view()]).unwrap();
    assert!((evaluated - expected).abs() < 1e-15, "{evaluated}, {expected}");
}

/// Rosenbrock's valley, written on a tape of variables only.
#[test]
fn residuals_of_variables_alone() {
    let mut variables = Variables::new();
    let point = variables.add("point", array![-1.0, 2.0].view()).unwrap();
    let mut tape = Tape::new();
    let point = tape.variable(point);
    let (x, y) = (tape.slice(point, 0..1).unwrap(), tape.slice(point, 1..2).unwrap());
    let square = tape.square(x);
    let valley = tape.sub(y, square).unwrap();
    let valley = tape.scale(valley, 10.0);
    let floor = tape.shift(x, -1.0);
    let residuals = tape.concat(&[valley, floor]).unwrap();
    let mut network = Network::new(tape, &variables).unwrap().with_loss(residuals, HalfSumOfSquares).unwrap();
    network.batch(&[], &[]).unwrap();
    assert_eq!(network.predict(&variables, &[], residuals).unwrap(), array![[10.0, -2.0]]);
    let report = LevenbergMarquardt::new().minimize(&mut network, variables.values()).unwrap();
    assert!((report.x[0] - 1.0_f64).abs() < 1e-12 && (report.x[1] - 1.0_f64).abs() < 1e-12, "{report}");
}

#[test]
fn an_embedding_has_a_sparse_gradient() {
    let mut variables = Variables::new();
    let table = variables.add("table", Array2::from_shape_fn((50, 3), |(i, k)| (i + k) as f64 / 50.0).view()).unwrap();
    let mut tape = Tape::new();
    let numbers = tape.input(2);
    let looked_up = tape.embedding(numbers, table).unwrap();
    let y = tape.tanh(looked_up);
    let mut network = Network::new(tape, &variables).unwrap().with_loss(y, MeanSquaredError).unwrap();
    let inputs = array![[4.0, 40.0], [4.0, 4.0]];
    network.batch(&[inputs.view()], &[Array2::zeros((2, 6)).view()]).unwrap();

    let mut gradients = Gradients::new(&variables);
    network.loss_and_gradient(variables.values(), &mut gradients).unwrap();
    let Gradient::Rows { rows, values } = gradients.of(table) else { panic!("{:?}", gradients.of(table)) };
    assert_eq!((rows, values.len()), ([4, 40, 4, 4].as_slice(), 12));
    let (mut r, mut jacobian) = (vec![0.0; 12], vec![f64::NAN; 12 * 150]);
    network.linearize(variables.values(), 0, &mut r, &mut jacobian).unwrap();
    let dense = gradients.flat_mut();
    for (k, &found) in dense.iter().enumerate() {
        let expected: f64 = (0..12).map(|i| jacobian[i * 150 + k] * r[i]).sum();
        assert!((found - expected).abs() < 1e-15, "{k}: {found}, {expected}");
    }
}

#[test]
fn losses_that_are_no_sums_of_squares() {
    let (inputs, targets) = data(30);
    let rebuilt = |weight| {
        let (network, variables) = small(0.0);
        let y = network.outputs()[0];
        let network = Network::new(network.tape().clone(), &variables).unwrap();
        let network = network.with_weighted_loss(y, Huber::new(0.2).unwrap(), weight).unwrap();
        (network, variables, y)
    };
    let (mut network, variables, _) = rebuilt(1.5);
    let x = variables.values();
    network.batch(&[inputs.view()], &[targets.view()]).unwrap();
    let mut gradients = Gradients::new(&variables);
    let loss = network.loss_and_gradient(x, &mut gradients).unwrap();
    let seen = network.least_squares().unwrap();
    let (mut cost, mut expected) = (0.0, vec![0.0; x.len()]);
    for first in [0, 10, 20] {
        let (mut r, mut jacobian) = (vec![0.0; 10], vec![0.0; 10 * x.len()]);
        seen.linearize(x, first, &mut r, &mut jacobian).unwrap();
        cost += cost_of(seen, first, &r);
        for (row, r) in jacobian.chunks_exact(x.len()).zip(r) {
            expected.iter_mut().zip(row).for_each(|(sum, j)| *sum += r * j);
        }
    }
    assert!((cost - loss).abs() < 1e-14, "judged by the loss itself: {cost}, {loss}");
    assert!(gradients.flat_mut().iter().zip(&expected).all(|(g, e)| (g - e).abs() < 1e-14));

    let (network, _, y) = rebuilt(1.0);
    let mut network = network.with_loss(y, MeanAbsoluteError).unwrap();
    let targets = targets.view();
    let refused = network.batch(&[inputs.view()], &[targets, targets]).unwrap().least_squares().err().unwrap();
    assert_eq!(
        refused.to_string(),
        "mean absolute error is not a sum of squares: take a first-order optimizer, or another loss"
    );
    let error = network.residuals(x, 0, &mut [0.0; 60]).unwrap_err();
    assert_eq!(error.to_string(), refused.to_string());
}

/// A regulariser has the same strength in a full minibatch, in a ragged one, and for all rows.
#[test]
fn a_loss_of_variables_alone_counts_once_for_a_batch() {
    let mut variables = Variables::<f64>::new();
    let weight = variables.add("weight", array![[2.0, -1.0]].view()).unwrap();
    let mut tape = Tape::new();
    let input = tape.input(2);
    let output = tape.dense(input, weight, None).unwrap();
    let row = tape.variable(weight);
    let network = Network::new(tape, &variables).unwrap().with_loss(output, MeanSquaredError).unwrap();
    let mut network = network.with_weighted_loss(row, HalfSumOfSquares, 0.2).unwrap();
    for rows in [1, 7, 32, 100] {
        let x = Array2::from_elem((rows, 2), 1.0);
        let y = Array2::from_elem((rows, 1), 1.0);
        let loss = network.evaluate(&variables, &[x.view()], &[y.view()]).unwrap();
        assert!((loss - 0.5).abs() < 1e-14, "{rows} rows: {loss}");
        network.batch(&[x.view()], &[y.view()]).unwrap();
        let m = network.residual_count();
        let mut residuals = vec![0.0; m];
        network.residuals(variables.values(), 0, &mut residuals).unwrap();
        let cost = 0.5 * residuals.iter().map(|r| r * r).sum::<f64>();
        assert!((cost - 0.5).abs() < 1e-14, "{rows} rows: {cost}");
    }
}
