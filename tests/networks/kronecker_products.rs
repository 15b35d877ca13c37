//! Steps of wide layers on few rows, whose products with the inverses of output factors are formed row by row.

use marquardt::distributed::{Communicator, on_threads};
use marquardt::nn::{Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::{KroneckerLevenbergMarquardt, KroneckerStep, Optimizer};
use marquardt::{Real, Variables};
use ndarray::Array2;

use super::faulty_network::{Fault, Faulty};

const ROWS: usize = 90;
const CLASSES: usize = 5;

fn inputs<T: Real>(columns: usize) -> Array2<T> {
    Array2::from_shape_fn((ROWS, columns), |(i, k)| T::from_f64(((i * (2 * k + 3)) as f64 * 0.37 + k as f64).sin()))
}

/// Variables after 14 steps, on minibatches of nine rows of which every other one is short, by products of gradients and, where the network
/// forms them, of rows.
fn both_ways<T: Real>(
    layers: &Sequential<T>,
    optimizer: &KroneckerLevenbergMarquardt<T>,
    frozen: &[usize],
) -> [Vec<f64>; 2] {
    let labels = Array2::from_shape_fn((ROWS, 1), |(i, _)| T::from_f64(((i * i + 3 * i) % CLASSES) as f64));
    [false, true].map(|by_rows| {
        let mut variables = Variables::new();
        let mut network = layers.compile(&mut variables, 3, SparseCategoricalCrossentropy).unwrap();
        let handles: Vec<_> = variables.iter().collect();
        frozen.iter().for_each(|&index| variables.set_trainable(handles[index], false));
        let x = inputs::<T>(40);
        let mut optimizer = optimizer.clone();
        for step in 0..14 {
            let rows: Vec<usize> = (0..ROWS).skip(step * 6).take(9 - 4 * (step % 2)).collect();
            let batch = network.batch_rows(&[x.view()], &[labels.view()], &rows).unwrap();
            if by_rows {
                optimizer.step(batch, &mut variables).unwrap();
            } else {
                optimizer.step(&mut Faulty(batch, Fault::NoProducts), &mut variables).unwrap();
            }
        }
        variables.values().iter().map(|value| value.to_f64()).collect()
    })
}

fn largest_difference([a, b]: &[Vec<f64>; 2]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn layers<T: Real>() -> Sequential<T> {
    Sequential::new(40).dense(48).tanh().dense(44).tanh().dense(CLASSES)
}

/// Matrices and sketches for input factors, in both forms of the step.
fn optimizers<T: Real>() -> Vec<KroneckerLevenbergMarquardt<T>> {
    let forms = [KroneckerStep::Averaged, KroneckerStep::Quadratic];
    let of_form =
        |form| [128, 12].map(|rank| KroneckerLevenbergMarquardt::new().with_step(form).with_factor_rank(rank));
    forms.into_iter().flat_map(of_form).collect()
}

#[test]
fn products_of_rows_make_the_steps_of_products_of_gradients() {
    for optimizer in optimizers::<f64>() {
        let values = both_ways(&layers(), &optimizer, &[]);
        let difference = largest_difference(&values);
        assert!(difference < 1e-10, "{difference:e}");
        assert!(difference > 0.0, "other sums are rounded otherwise: these were the same");
    }
    for optimizer in optimizers::<f32>() {
        let difference = largest_difference(&both_ways(&layers::<f32>(), &optimizer, &[]));
        assert!(difference < 1e-3, "{difference:e}");
    }
}

#[test]
fn positions_are_rows() {
    let convolution = Sequential::image(1, 5, 8).conv2d(40, [5, 7]).tanh().flatten().dense(CLASSES);
    for optimizer in optimizers::<f64>() {
        let difference = largest_difference(&both_ways(&convolution, &optimizer, &[]));
        assert!(difference > 0.0 && difference < 1e-10, "{difference:e}");
    }
}

/// Decay is added to the gradient, and a layer of which a part is frozen is no whole block.
#[test]
fn gradients_that_are_changed_are_multiplied_themselves() {
    for optimizer in optimizers::<f64>() {
        let values = both_ways(&layers(), &optimizer.clone().with_weight_decay(0.01), &[]);
        assert_eq!(values[0], values[1]);
        let (first_bias, second_weight) = (1, 2);
        let values = both_ways(&layers(), &optimizer, &[first_bias, second_weight]);
        assert_eq!(values[0], values[1]);
    }
}

/// A model of the loss along the direction would see what is left in it.
#[test]
fn products_of_a_failed_step_leave_nothing() {
    for optimizer in optimizers::<f64>() {
        let values = [false, true].map(|fails| {
            let mut variables = Variables::new();
            let mut network = layers().compile(&mut variables, 3, SparseCategoricalCrossentropy).unwrap();
            let (x, mut optimizer) = (inputs::<f64>(40), optimizer.clone());
            let labels = Array2::from_shape_fn((ROWS, 1), |(i, _)| (i % CLASSES) as f64);
            for step in 0..12 {
                let rows: Vec<usize> = (6 * step..6 * step + 9).collect();
                let batch = network.batch_rows(&[x.view()], &[labels.view()], &rows).unwrap();
                // Frozen before the fault and after it, so that no other step clears the direction there.
                let second_weight = variables.iter().nth(2).unwrap();
                if step == 7 && fails {
                    let before = variables.values().to_vec();
                    variables.set_trainable(second_weight, true);
                    optimizer.step(&mut Faulty(batch, Fault::Products), &mut variables).unwrap_err();
                    assert_eq!(variables.values(), before);
                }
                variables.set_trainable(second_weight, step < 6);
                optimizer.step(batch, &mut variables).unwrap();
            }
            variables.values().to_vec()
        });
        assert_eq!(values[0], values[1]);
    }
}

/// On several ranks gradients are multiplied, as their rows are added up.
#[test]
fn ranks_and_resumed_trainings_take_the_same_steps() {
    let new = || KroneckerLevenbergMarquardt::new().with_factor_share(1.0);
    let train = |ranks: &Communicator, is_resumed: bool| {
        let mut variables = Variables::new();
        let network = layers().compile(&mut variables, 3, SparseCategoricalCrossentropy).unwrap();
        let (mut network, mut optimizer) = (network.with_communicator(ranks), new());
        let x = inputs::<f64>(40);
        let labels = Array2::from_shape_fn((ROWS, 1), |(i, _)| (i % CLASSES) as f64);
        for step in 0..14 {
            if is_resumed && step == 7 {
                let state = optimizer.state();
                optimizer = new();
                optimizer.restore(&state, &variables).unwrap();
            }
            let own = [0..8, 0..3, 3..8][if ranks.size() == 1 { 0 } else { 1 + ranks.rank() }].clone();
            let rows: Vec<usize> = own.map(|row| 6 * step + row).collect();
            let batch = network.batch_rows(&[x.view()], &[labels.view()], &rows).unwrap();
            optimizer.step(batch, &mut variables).unwrap();
        }
        variables.values().to_vec()
    };
    let alone = train(&Communicator::single(), false);
    assert_eq!(train(&Communicator::single(), true), alone);
    for of_rank in on_threads(2, |ranks| train(&ranks, false)) {
        let difference = largest_difference(&[of_rank, alone.clone()]);
        assert!(difference < 1e-10, "{difference:e}");
    }
}
