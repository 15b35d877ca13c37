//! Units of inputs and targets, and the normalisation that makes a training independent of them.

use marquardt::nn::{MeanSquaredError, NetworkError, Normalization, Sequential};
use marquardt::optim::KroneckerLevenbergMarquardt;
use marquardt::train::Trainer;
use marquardt::{LevenbergMarquardt, Real, Variables};
use ndarray::{Array2, array};
use proptest::prelude::*;

/// Units and origins of inputs and targets.
#[derive(Debug, Clone, Copy)]
struct Units {
    input: [f64; 2],
    target: [f64; 2],
}

const PLAIN: Units = Units { input: [1.0, 0.0], target: [1.0, 0.0] };

/// `sin 3x` in these units: inputs and targets.
fn data<T: Real>(units: Units, rows: usize) -> [Array2<T>; 2] {
    let place = |i: usize| 2.0 * i as f64 / (rows - 1) as f64 - 1.0;
    let array = |[unit, origin]: [f64; 2], value: &dyn Fn(f64) -> f64| {
        Array2::from_shape_fn((rows, 1), |(i, _)| T::from_f64(unit * (value(place(i)) + origin)))
    };
    [array(units.input, &|x| x), array(units.target, &|x| (3.0 * x).sin())]
}

/// A network of 1-10-1 between normalisations.
fn layers<T: Real>(x: &Array2<T>, y: &Array2<T>) -> Result<Sequential<T>, NetworkError> {
    let first = Normalization::new().adapt(x.view())?;
    let last = Normalization::new().adapt(y.view())?.inverted();
    Ok(Sequential::new(1).push(first).dense(10).tanh().dense(1).push(last))
}

/// The mean squared error over the variance of the targets, of predictions in their unit.
fn share<T: Real>(predictions: &Array2<T>, y: &Array2<T>) -> f64 {
    let mean = y.iter().map(|y| y.to_f64()).sum::<f64>() / y.len() as f64;
    let errors: f64 = predictions.iter().zip(y).map(|(p, y)| (p.to_f64() - y.to_f64()).powi(2)).sum();
    errors / y.iter().map(|y| (y.to_f64() - mean).powi(2)).sum::<f64>()
}

fn trained<T: Real>(units: Units, (rows, batch, epochs): (usize, usize, usize)) -> f64 {
    let mut optimizer = LevenbergMarquardt::new();
    let [x, y] = data::<T>(units, rows);
    let mut variables = Variables::new();
    let mut network = layers(&x, &y).unwrap().compile(&mut variables, 0, MeanSquaredError).unwrap();
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(epochs).batch_size(batch);
    trainer.fit(&[x.view()], &[y.view()]).unwrap();
    share(&trainer.predict(&[x.view()]).unwrap(), &y)
}

/// The same by K-FAC, between the layers of `Sequential::normalized`.
fn trained_by_factors<T: Real>(units: Units) -> f64 {
    let mut optimizer = KroneckerLevenbergMarquardt::new();
    let [x, y] = data::<T>(units, 96);
    let layers = Sequential::new(1).dense(10).tanh().dense(1).normalized(x.view(), y.view()).unwrap();
    let mut variables = Variables::new();
    let mut network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(5);
    trainer.fit(&[x.view()], &[y.view()]).unwrap();
    share(&trainer.predict(&[x.view()]).unwrap(), &y)
}

fn solved<T: Real>(units: Units, iterations: usize) -> f64 {
    let [x, y] = data::<T>(units, 60);
    let mut variables = Variables::new();
    let mut network = layers(&x, &y).unwrap().compile(&mut variables, 0, MeanSquaredError).unwrap();
    network.batch(&[x.view()], &[y.view()]).unwrap();
    let solver = LevenbergMarquardt::new().with_max_iterations(iterations);
    solver.minimize_variables(&mut network, &mut variables).unwrap();
    let output = network.outputs()[0];
    share(&network.predict(&variables, &[x.view()], output).unwrap(), &y)
}

fn check<T: Real>(units: Units) {
    let is_alike = |name: &str, loss: f64, plain: f64| {
        assert!((loss - plain).abs() <= 0.1 * plain, "{name}, {units:?}: {loss} instead of {plain}");
    };
    // Fewer residuals than parameters, more, and minibatches; as far as rounding errors have not grown.
    for terms in [(20, 20, 10), (200, 200, 6), (96, 32, 2)] {
        is_alike(&format!("{terms:?}"), trained::<T>(units, terms), trained::<T>(PLAIN, terms));
    }
    is_alike("K-FAC", trained_by_factors::<T>(units), trained_by_factors::<T>(PLAIN));
    is_alike("full solve", solved::<T>(units, 8), solved::<T>(PLAIN, 8));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_training_is_the_same_in_all_units(input in -6.0..6.0_f64, target in -6.0..6.0_f64, origin in -3.0..3.0_f64) {
        check::<f64>(Units { input: [10.0_f64.powf(input), 5.0 * origin], target: [10.0_f64.powf(target), origin] });
    }

    #[test]
    fn a_training_is_the_same_in_all_units_in_single_precision(input in -6.0..6.0_f64, target in -6.0..6.0_f64) {
        check::<f32>(Units { input: [10.0_f64.powf(input), 0.0], target: [10.0_f64.powf(target), 0.0] });
    }
}

/// The example of users who did not normalise: inputs 1500 to 3000, targets 2e5 to 3.5e5.
#[test]
fn large_units_are_learnt() {
    for unit in [1e-6, 1e-3, 1.0, 1e3, 1e5, 1e6] {
        let units = Units { input: [750.0 * unit, 3.0], target: [7.5e4 * unit, 3.7] };
        let shares = [(20, 20, 100), (200, 200, 100)].map(|terms| trained::<f64>(units, terms));
        assert!(shares.iter().all(|&share| share < 1e-5), "{unit}: {shares:?}");
    }
}

#[test]
fn normalisation_has_the_moments_of_its_data() {
    let x = array![[1.0, 5.0, 0.0], [3.0, 5.0, 1e200], [5.0, 5.0, -1e200]];
    let mut variables = Variables::new();
    let layers = Sequential::new(3).push(Normalization::new().adapt(x.view()).unwrap());
    let back = Normalization::new().adapt(x.view()).unwrap().inverted();
    let mut network = layers.push(back).compile(&mut variables, 0, MeanSquaredError).unwrap();
    let values: Vec<f64> = variables.values().to_vec();
    let expected = [3.0, 5.0, 0.0, (8.0_f64 / 3.0).sqrt(), 1.0, 1e200 * (2.0_f64 / 3.0).sqrt()];
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() <= 1e-15 * expected.abs(), "{values:?}");
    }
    assert!(variables.trainable_ranges().is_empty());
    let output = network.outputs()[0];
    let same = network.predict(&variables, &[x.view()], output).unwrap();
    assert!(same.iter().zip(&x).all(|(a, b)| (a - b).abs() <= 1e-14 * b.abs().max(1.0)), "{same}");
}

#[test]
fn data_that_cannot_be_normalised_by_are_refused() {
    let message = |data: Array2<f64>| Normalization::new().adapt(data.view()).unwrap_err().to_string();
    assert!(message(array![[1.0], [f64::NAN]]).contains("NaN"));
    assert!(message(Array2::zeros((0, 2))).contains("rows of data"));
    let narrow = Normalization::new().adapt(array![[1.0, 2.0]].view()).unwrap();
    let error = Sequential::<f64>::new(3).push(narrow).build(&mut Variables::new(), 0).unwrap_err();
    assert!(error.to_string().contains("normalization"), "{error}");
}

/// Without normalisation, the same training ends at a tenth of the variance, or at all of it: the history says so.
#[test]
fn data_far_from_the_size_of_one_are_warned_of() {
    let warned = |units: Units, normalized: bool| {
        let [x, y] = data::<f64>(units, 40);
        let plain = Sequential::new(1).dense(4).tanh().dense(1);
        let layers = if normalized { plain.normalized(x.view(), y.view()).unwrap() } else { plain };
        let (mut variables, mut optimizer) = (Variables::new(), LevenbergMarquardt::new());
        let mut network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
        let history = Trainer::new(&mut network, &mut variables, &mut optimizer).fit(&[x.view()], &[y.view()]).unwrap();
        assert!(history.warnings().iter().all(|warning| history.to_string().contains(warning)));
        history.warnings().to_vec()
    };
    assert!(warned(PLAIN, false).is_empty());
    let far = [[1e-6, 0.0], [1e3, 0.0], [1e6, 0.0], [1.0, 1e3]];
    for (input, target, name) in
        far.iter().flat_map(|&far| [(far, PLAIN.target, "input 0"), (PLAIN.input, far, "target 0")])
    {
        let found = warned(Units { input, target }, false);
        assert!(found.len() == 1 && found[0].contains(name), "{found:?}");
        assert!(warned(Units { input, target }, true).is_empty());
    }
}
