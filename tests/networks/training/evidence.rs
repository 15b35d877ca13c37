//! Bayesian regularisation: weight decay and noise by the evidence.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::nn::{BinaryCrossentropy, Huber, MeanSquaredError, Network, Normalization, Sequential};
use marquardt::optim::{Evidence, OptimizerError};
use marquardt::{LevenbergMarquardt, Real, Variables};
use nalgebra::{DMatrix, DVector};
use ndarray::{Array2, array};
use rand_distr::{Distribution, StandardNormal};

use super::problems::{Data, curved, linear};

/// A linear model with noise: `y = 0.7 x₁ − 0.02 x₂ + 0.4 + noise`.
fn line() -> Data {
    let mut data = Data::new(30, 2, 7);
    for (x, y) in data.x.rows().into_iter().zip(data.y.iter_mut()) {
        *y = 0.7 * x[0] - 0.02 * x[1] + 0.4 + 0.3 * *y;
    }
    data
}

/// `ln N(y; 0, 1/β + X A⁻¹ Xᵀ)` of residuals in their unit, `√(2/m)` of the targets', with the precisions `A` of weights.
fn log_marginal(data: &Data, precisions: [f64; 3], beta: f64) -> f64 {
    let m = data.y.len();
    let unit = (2.0 / m as f64).sqrt();
    let x = DMatrix::from_fn(m, 3, |i, j| unit * if j < 2 { data.x[[i, j]] } else { 1.0 });
    let y = DVector::from_fn(m, |i, _| unit * data.y[[i, 0]]);
    let prior = DMatrix::from_diagonal(&DVector::from_fn(3, |j, _| precisions[j].recip()));
    let covariance = DMatrix::identity(m, m) / beta + &x * prior * x.transpose();
    let factor = covariance.cholesky().unwrap();
    let log_determinant: f64 = factor.l().diagonal().iter().map(|pivot| 2.0 * pivot.ln()).sum();
    -0.5 * (y.dot(&factor.solve(&y)) + log_determinant + m as f64 * (2.0 * std::f64::consts::PI).ln())
}

fn solve_line(solver: &LevenbergMarquardt<f64>) -> (Evidence<f64>, Variables<f64>) {
    let (mut network, mut variables) = linear(2);
    let found = solver.minimize_variables_by_evidence(line().bind(&mut network), &mut variables).unwrap();
    (found, variables)
}

/// The evidence of a linear model is a normal distribution of the targets, whose maximum is found.
#[test]
fn the_evidence_of_a_linear_model_is_largest() {
    let (found, variables) = solve_line(&LevenbergMarquardt::new());
    assert!(found.is_settled && found.report.is_converged(), "{found}");
    let (beta, data) = (found.noise.powi(-2), line());
    let alpha = found.weight_decay * beta;
    let share = found.bias_decay;
    let at = |a: f64, b: f64| {
        let alpha = alpha * a.exp();
        log_marginal(&data, [alpha, alpha, share * alpha], beta * b.exp())
    };
    assert!((found.log_evidence - at(0.0, 0.0)).abs() < 1e-8, "{found}");
    for (a, b) in [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01)] {
        assert!(at(a, b) < found.log_evidence - 1e-6, "{a}, {b}: {} is above {found}", at(a, b));
    }
    // The ridge of these precisions, and the trace of its hat matrix.
    let m = data.y.len() as f64;
    let x = DMatrix::from_fn(data.y.len(), 3, |i, j| if j < 2 { data.x[[i, j]] } else { 1.0 });
    let gram = x.transpose() * &x * (2.0 / m);
    let decays = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, share])) * found.weight_decay;
    let inverse = (&gram + decays).try_inverse().unwrap();
    assert!(((&inverse * &gram).trace() - found.effective_parameters).abs() < 1e-9, "{found}");
    let y = DVector::from_fn(data.y.len(), |i, _| data.y[[i, 0]]);
    let ridge = inverse * x.transpose() * &y * (2.0 / m);
    assert!(variables.values().iter().zip(&ridge).all(|(found, expected)| (found - expected).abs() < 1e-8));
    let errors = (&x * &ridge - &y).norm_squared();
    assert!((found.target_noise().powi(2) - errors / (m - found.effective_parameters)).abs() < 1e-9);
}

/// With a weight decay for each variable, the evidence is largest in both.
#[test]
fn each_variable_may_have_its_own_decay() {
    let (found, _) = solve_line(&LevenbergMarquardt::new().with_decay_per_variable(true));
    let [weight, bias] = found.weight_decays[..] else { panic!("{found}") };
    let (beta, data) = (found.noise.powi(-2), line());
    let at = |a: f64, b: f64| {
        log_marginal(&data, [weight * beta * a.exp(), weight * beta * a.exp(), bias * beta * b.exp()], beta)
    };
    assert!(found.is_settled && (found.log_evidence - at(0.0, 0.0)).abs() < 1e-8, "{found}");
    for (a, b) in [(0.02, 0.0), (-0.02, 0.0), (0.0, 0.02), (0.0, -0.02)] {
        assert!(at(a, b) < found.log_evidence - 1e-6, "{a}, {b}: {} is above {found}", at(a, b));
    }
    let (one, _) = solve_line(&LevenbergMarquardt::new());
    assert!(one.log_evidence < found.log_evidence && one.weight_decays.len() == 1);
    assert_eq!((found.bias_decay, one.bias_decay), (1.0, 0.1));
}

/// Of a logistic regression, weight decay and evidence are those of Laplace's approximation, written out.
#[test]
fn cross_entropies_have_evidence() {
    let mut data = line();
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for (x, y) in data.x.rows().into_iter().zip(data.y.iter_mut()) {
        let noise: f64 = StandardNormal.sample(&mut random);
        *y = f64::from(u8::from(2.0 * x[0] - x[1] + noise > 0.0));
    }
    let mut variables = Variables::new();
    let mut network = Sequential::new(2).dense(1).compile(&mut variables, 0, BinaryCrossentropy).unwrap();
    let found =
        LevenbergMarquardt::new().minimize_variables_by_evidence(data.bind(&mut network), &mut variables).unwrap();
    let (m, shares) = (30.0, DVector::from_vec(vec![1.0, 1.0, found.bias_decay]));
    // The evidence at the minimum with this precision, the minimum and the effective parameters, by Newton's method.
    let at = |alpha: f64| {
        let decays = DMatrix::from_diagonal(&shares) * alpha;
        let mut x = DVector::<f64>::zeros(3);
        let (mut hessian, mut likelihood) = (decays.clone(), 0.0);
        for _ in 0..50 {
            (hessian, likelihood) = (decays.clone(), 0.0);
            let mut gradient = &decays * &x;
            for (row, y) in data.x.rows().into_iter().zip(&data.y) {
                let at = DVector::from_vec(vec![row[0], row[1], 1.0]);
                let p = 1.0 / (1.0 + (-at.dot(&x)).exp());
                hessian += &at * at.transpose() * (p * (1.0 - p));
                gradient += &at * (p - y);
                likelihood += (y * p + (1.0 - y) * (1.0 - p)).ln();
            }
            x -= hessian.clone().try_inverse().unwrap() * gradient;
        }
        let inverse = hessian.try_inverse().unwrap();
        let determined = 3.0 - (&decays * &inverse).trace();
        let determinants = 0.5 * (decays.determinant() * inverse.determinant()).ln();
        (likelihood - 0.5 * x.dot(&(&decays * &x)) + determinants, x, determined)
    };
    let (evidence, x, determined) = at(m * found.weight_decay);
    assert!(found.is_settled && (evidence - found.log_evidence).abs() < 1e-6, "{evidence}: {found}");
    assert!((determined - found.effective_parameters).abs() < 1e-6, "{determined}: {found}");
    assert!(variables.values().iter().zip(&x).all(|(found, x)| (found - x).abs() < 1e-5), "{x}; {found}");
    for factor in [0.8, 1.25] {
        let (other, ..) = at(m * found.weight_decay * factor);
        assert!(other < evidence, "{factor}: {other} is above {evidence}; {found}");
    }
}

/// A bias that does not decay has a prior that is flat: the limit of a wide one, over its density.
#[test]
fn excluded_variables_are_determined_by_the_data_alone() {
    let (found, _) = solve_line(&LevenbergMarquardt::new().exclude_from_weight_decay(["*.bias"]));
    let (beta, wide) = (found.noise.powi(-2), 1e-7_f64);
    let alpha = found.weight_decay * beta;
    let at = |a: f64, b: f64| {
        let flat = log_marginal(&line(), [alpha * a.exp(), alpha * a.exp(), wide], beta * b.exp());
        flat - 0.5 * (wide / (2.0 * std::f64::consts::PI)).ln()
    };
    assert!(found.is_settled && (found.log_evidence - at(0.0, 0.0)).abs() < 1e-5, "{}: {found}", at(0.0, 0.0));
    for (a, b) in [(0.02, 0.0), (-0.02, 0.0), (0.0, 0.02), (0.0, -0.02)] {
        assert!(at(a, b) < at(0.0, 0.0), "{a}, {b}: {found}");
    }
    assert!((1.0..3.0).contains(&found.effective_parameters), "{found}");
}

/// Where the search begins does not matter.
#[test]
fn the_first_weight_decay_is_a_start() {
    let (found, _) = solve_line(&LevenbergMarquardt::new());
    for start in [1e-6, 1.0, 1e3] {
        let (other, _) = solve_line(&LevenbergMarquardt::new().with_weight_decay(start));
        assert!((other.weight_decay / found.weight_decay - 1.0).abs() < 1e-3, "{start}: {other}, {found}");
    }
}

/// Sines with noise of this size, in a unit: inputs, targets and a network of 20 units.
fn sine<T: Real>(seed: u64, noise: f64, unit: f64) -> (Network<T>, Variables<T>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let x = Array2::from_shape_fn((50, 1), |(i, _)| T::from_f64(i as f64 / 24.5 - 1.0));
    let y = x.mapv(|x| {
        let normal: f64 = StandardNormal.sample(&mut random);
        T::from_f64(unit * ((4.0 * x.to_f64()).sin() + noise * normal))
    });
    let mut variables = Variables::new();
    let last = Normalization::new().adapt(y.view()).unwrap().inverted();
    let layers = Sequential::new(1).dense(20).tanh().dense(1).push(last);
    let mut network = layers.compile(&mut variables, seed, MeanSquaredError).unwrap();
    network.batch(&[x.view()], &[y.view()]).unwrap();
    (network, variables)
}

/// The mean squared error between the sine and the network, between the points of the data.
fn error<T: Real>(network: &mut Network<T>, variables: &Variables<T>) -> f64 {
    let x = Array2::from_shape_fn((400, 1), |(i, _)| T::from_f64(i as f64 / 199.5 - 1.0));
    let output = network.outputs()[0];
    let predictions = network.predict(variables, &[x.view()], output).unwrap();
    let squares = predictions.iter().zip(&x).map(|(p, x)| (p.to_f64() - (4.0 * x.to_f64()).sin()).powi(2));
    squares.sum::<f64>() / 400.0
}

fn is_better_by_evidence<T: Real>() {
    let mut errors = [0.0; 2];
    for seed in 0..4 {
        let (mut network, mut variables) = sine::<T>(seed, 0.3, 1.0);
        LevenbergMarquardt::new().with_max_iterations(300).minimize_variables(&mut network, &mut variables).unwrap();
        let without = error(&mut network, &variables);
        let (mut network, mut variables) = sine::<T>(seed, 0.3, 1.0);
        let found = LevenbergMarquardt::new().minimize_variables_by_evidence(&mut network, &mut variables).unwrap();
        let with = error(&mut network, &variables);
        assert!(with < without, "seed {seed}: {with} instead of {without}; {found}");
        errors = [errors[0] + with, errors[1] + without];
        assert!(found.is_settled && (3.0..15.0).contains(&found.effective_parameters.to_f64()), "{found}");
        assert!((0.22..0.38).contains(&found.target_noise().to_f64()), "{found}");
    }
    assert!(2.0 * errors[0] < errors[1], "{errors:?}");
}

#[test]
fn networks_of_noisy_data_are_better_by_the_evidence() {
    is_better_by_evidence::<f64>();
    is_better_by_evidence::<f32>();
}

#[test]
fn the_evidence_has_the_unit_of_the_targets() {
    let of_unit = |unit: f64| {
        let (mut network, mut variables) = sine::<f64>(1, 0.3, unit);
        LevenbergMarquardt::new().minimize_variables_by_evidence(&mut network, &mut variables).unwrap()
    };
    let plain = of_unit(1.0);
    for unit in [1e-4, 1e4] {
        let found = of_unit(unit);
        assert!((found.effective_parameters / plain.effective_parameters - 1.0).abs() < 0.01, "{unit}: {found}");
        assert!((found.target_noise() / unit / plain.target_noise() - 1.0).abs() < 0.01, "{unit}: {found}");
    }
}

/// Neither an error nor a number that is none, and no claim to have settled.
#[test]
fn data_without_noise_and_noise_without_data() {
    let check = |found: &Evidence<f64>| {
        let numbers = [found.weight_decay, found.noise, found.effective_parameters];
        assert!(numbers.iter().all(|number| number.is_finite() && *number >= 0.0), "{found}");
        assert!(!found.log_evidence.is_nan() && found.report.x.iter().all(|x| x.is_finite()), "{found}");
    };
    let (mut network, mut variables) = sine::<f64>(0, 0.0, 1.0);
    let solver = LevenbergMarquardt::new().with_max_iterations(10);
    let found = solver.minimize_variables_by_evidence(&mut network, &mut variables).unwrap();
    check(&found);
    assert!(found.target_noise() < 1e-3 && error(&mut network, &variables) < 1e-6, "{found}");
    let (mut network, mut variables) = sine::<f32>(0, 0.0, 1.0);
    let single = LevenbergMarquardt::new().with_max_iterations(10);
    let found = single.minimize_variables_by_evidence(&mut network, &mut variables).unwrap();
    assert!(found.target_noise() < 1e-2 && found.weight_decay > 0.0 && !found.log_evidence.is_nan(), "{found}");
    assert!(error(&mut network, &variables) < 1e-4, "{found}");
    let data = Data::new(30, 2, 7);
    for targets in [Array2::zeros((30, 1)), data.y.mapv(|y| 1e-9 * y), Array2::ones((30, 1))] {
        let data = Data { x: data.x.clone(), y: targets };
        let (mut network, mut variables) = curved(2, 6);
        let found =
            LevenbergMarquardt::new().minimize_variables_by_evidence(data.bind(&mut network), &mut variables).unwrap();
        check(&found);
    }
}

#[test]
fn frozen_variables_are_held() {
    let (mut network, mut variables) = curved(2, 6);
    let first = variables.iter().next().unwrap();
    variables.set_trainable(first, false);
    let before = variables.values()[first.range()].to_vec();
    let solver = LevenbergMarquardt::new();
    let found = solver.minimize_variables_by_evidence(line().bind(&mut network), &mut variables).unwrap();
    assert_eq!((found.parameters, &variables.values()[first.range()]), (13, &before[..]));
}

#[test]
fn what_has_no_evidence_is_refused() {
    let data = line();
    let check = |network: &mut Network<f64>, variables: &mut Variables<f64>, patterns: &[&str], says: &str| {
        let before = variables.values().to_vec();
        let solver = LevenbergMarquardt::new().exclude_from_weight_decay(patterns.iter().copied());
        let error = solver.minimize_variables_by_evidence(network, variables).unwrap_err();
        assert!(matches!(error, OptimizerError::NoEvidence { .. }) && error.to_string().contains(says), "{error}");
        assert_eq!(variables.values(), before, "{error}");
    };
    let mut variables = Variables::new();
    let mut network = Sequential::new(2).dense(1).compile(&mut variables, 0, Huber::default()).unwrap();
    check(data.bind(&mut network), &mut variables, &[], "neither a sum of squares");
    let (mut network, mut variables) = linear(2);
    check(data.bind(&mut network), &mut variables, &["*"], "excluded");
    let same = Data { x: Array2::zeros((30, 2)), y: data.y.clone() };
    let first = variables.iter().next().unwrap();
    variables.set_trainable(first, true);
    check(same.bind(&mut network), &mut variables, &["*.weight"], "do not determine");
    let few = Data { x: array![[1.0, 2.0], [0.5, 1.0]], y: array![[1.0], [2.0]] };
    check(few.bind(&mut network), &mut variables, &["*.weight"], "do not decay");
    variables.iter().collect::<Vec<_>>().into_iter().for_each(|variable| variables.set_trainable(variable, false));
    let error = LevenbergMarquardt::new().minimize_variables_by_evidence(data.bind(&mut network), &mut variables);
    assert!(matches!(error, Err(OptimizerError::NothingToTrain)));
}
