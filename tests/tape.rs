//! What a tape computes: all derivatives agree with each other, and with differences of losses, for random networks.

mod networks;

use marquardt::nn::{BatchError, MeanSquaredError, Network, Tape};
use marquardt::{Gradients, LeastSquares, Objective, Variables};
use ndarray::{Array2, ArrayView2, array, s};
use networks::{Built, build, recipes};
use proptest::prelude::*;

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
    fn the_gradient_is_that_of_the_loss(recipe in recipes(1..7)) {
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
    fn some_columns_are_columns_of_the_whole(recipe in recipes(1..5), cuts in prop::collection::vec(0..1000_usize, 4)) {
        let mut built = build(&recipe);
        built.bind();
        let (r, jacobian) = linearize(&mut built);
        let (m, n) = (r.len(), built.variables.values().len());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (n + 1)).collect();
        cuts.sort_unstable();
        for columns in [vec![cuts[0]..cuts[1], cuts[2]..cuts[3]], built.variables.trainable_ranges(), vec![0..n]] {
            let wanted: Vec<usize> = columns.iter().cloned().flatten().collect();
            let (mut some_r, mut some) = (vec![f64::NAN; m], vec![f64::NAN; m * wanted.len()]);
            let x = built.variables.values();
            prop_assert!(built.network.linearize_columns(x, 0, &mut some_r, &columns, &mut some).unwrap());
            let expected: Vec<f64> = (0..m).flat_map(|i| wanted.iter().map(move |&k| (i, k))).map(|(i, k)| jacobian[i * n + k]).collect();
            prop_assert_eq!(&some_r, &r);
            prop_assert_eq!(&some, &expected);
        }
    }

    #[test]
    fn the_gradient_reaches_inputs_and_nodes(recipe in recipes(1..4)) {
        let mut built = build(&recipe);
        built.bind();
        let x = built.variables.values().to_vec();
        let gradient = built.network.gradient_of(&built.variables, built.nodes[0]).unwrap();
        let mut differences = Vec::new();
        for place in 0..built.inputs[0].len() {
            let index = (place / 3, place % 3);
            let (here, step) = (built.inputs[0][index], 1e-5);
            // A new batch would be a new dropout mask.
            let mut loss_at = |value| {
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
