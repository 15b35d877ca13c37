//! The damping of Kronecker-factored Levenberg–Marquardt.

use marquardt::Variables;
use marquardt::nn::{Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::{KroneckerLevenbergMarquardt, Optimizer};
use ndarray::Array2;

const ROWS: usize = 16;

/// Columns of signs that are orthogonal to each other and to a column of ones, so that the input factor is the identity.
fn signs() -> Array2<f64> {
    Array2::from_shape_fn((ROWS, 7), |(i, k)| if (i & (k + 1)).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 })
}

fn labels() -> Array2<f64> {
    Array2::from_shape_fn((ROWS, 1), |(i, _)| ((i * i + i / 3) % 2) as f64)
}

/// With weights of zero and two classes, the factors are `I₈` and `¼ [1 −1; −1 1]`. So `π = 2`, and the effective number of
/// parameters is `8 / (1 + 2√λ) · 1 / (1 + √λ)`.
#[test]
fn the_damping_leaves_as_many_effective_parameters_as_are_wanted() {
    for per_row in [0.15, 0.25, 0.35] {
        let mut variables = Variables::new();
        let layers = Sequential::new(7).dense(2);
        let mut network = layers.compile(&mut variables, 0, SparseCategoricalCrossentropy).unwrap();
        variables.values_mut().fill(0.0);
        // All three lie between a thirtieth and ten times this part of the loss.
        let optimizer = KroneckerLevenbergMarquardt::new().with_effective_parameters(per_row).with_loss_damping(0.1);
        let optimizer = optimizer.with_factor_share(1.0).with_factor_interval(1).with_inverse_interval(1);
        // The weights stay where they are.
        let mut optimizer = optimizer.with_learning_rate(1e-9);
        for _ in 0..80 {
            let batch = network.batch(&[signs().view()], &[labels().view()]).unwrap();
            optimizer.step(batch, &mut variables).unwrap();
        }
        let root = optimizer.damping().unwrap().sqrt();
        let effective = 8.0 / ((1.0 + 2.0 * root) * (1.0 + root));
        let wanted = per_row * ROWS as f64;
        assert!((effective / wanted - 1.0).abs() < 0.1, "{effective} instead of {wanted}");
    }
}

/// The damping of the first step is that of the guess, or the one that its factors, of random signs, tell of where this is very different.
#[test]
fn the_first_damping_is_adjusted_before_the_step() {
    for (per_row, is_adjusted) in [(0.15, true), (0.25, false)] {
        let mut variables = Variables::new();
        let layers = Sequential::new(7).dense(2);
        let mut network = layers.compile(&mut variables, 0, SparseCategoricalCrossentropy).unwrap();
        variables.values_mut().fill(0.0);
        let optimizer = KroneckerLevenbergMarquardt::new().with_effective_parameters(per_row).with_loss_damping(0.1);
        let mut optimizer = optimizer.with_factor_share(1.0);
        let batch = network.batch(&[signs().view()], &[labels().view()]).unwrap();
        optimizer.step(batch, &mut variables).unwrap();
        let guess = 0.1 * 2.0_f64.ln();
        let effective = 8.0 / ((1.0 + 2.0 * guess.sqrt()) * (1.0 + guess.sqrt()));
        let factor = if is_adjusted { (effective / (per_row * ROWS as f64)).powf(1.5) } else { 1.0 };
        let damping = optimizer.damping().unwrap();
        assert!((damping / (guess * factor) - 1.0).abs() < 0.1, "{damping} instead of {guess} times {factor}");
    }
}

#[test]
fn without_a_number_of_parameters_the_damping_is_a_fixed_part_of_the_loss() {
    let mut variables = Variables::new();
    let layers = Sequential::new(7).dense(5).tanh().dense(2);
    let mut network = layers.compile(&mut variables, 0, SparseCategoricalCrossentropy).unwrap();
    let mut optimizer = KroneckerLevenbergMarquardt::new().with_effective_parameters(0.0).with_loss_damping(0.2);
    let mut average = None;
    for _ in 0..25 {
        let batch = network.batch(&[signs().view()], &[labels().view()]).unwrap();
        let loss: f64 = optimizer.step(batch, &mut variables).unwrap().loss;
        let next = average.map_or(loss, |average| 0.9 * average + 0.1 * loss);
        average = Some(next);
        let damping = optimizer.damping().unwrap();
        assert!((damping - 0.2 * next).abs() < 1e-12 * damping, "{damping} at a loss of {next}");
    }
}

/// The factor of the loss stays within bounds, however few parameters are wanted. The upper one is 30 for minibatches of 64.
#[test]
fn the_damping_has_bounds() {
    for (per_row, bound) in [(1e-9, 30.0 * 64.0 / ROWS as f64), (1e9, 0.05)] {
        let mut variables = Variables::new();
        let layers = Sequential::new(7).dense(2);
        let mut network = layers.compile(&mut variables, 0, SparseCategoricalCrossentropy).unwrap();
        let mut optimizer = KroneckerLevenbergMarquardt::new().with_effective_parameters(per_row);
        let mut optimizer_without = KroneckerLevenbergMarquardt::new().with_effective_parameters(0.0);
        let start = variables.clone();
        let mut damping = |optimizer: &mut KroneckerLevenbergMarquardt<f64>| {
            // Twice at one point, so that losses are the same.
            for _ in 0..2 {
                variables = start.clone();
                let batch = network.batch(&[signs().view()], &[labels().view()]).unwrap();
                optimizer.step(batch, &mut variables).unwrap();
            }
            optimizer.damping().unwrap()
        };
        let ratio = damping(&mut optimizer) / damping(&mut optimizer_without);
        assert!((ratio / bound - 1.0).abs() < 1e-12, "{ratio}");
    }
}
