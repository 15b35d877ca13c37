//! Predictions with error bars, by the Laplace approximation.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use marquardt::nn::{
    BinaryCrossentropy, Huber, Loss, MeanSquaredError, Network, Normalization, Sequential,
    SparseCategoricalCrossentropy,
};
use marquardt::optim::{Adam, Laplace, LaplacePosterior, Optimizer, OptimizerError};
use marquardt::{LevenbergMarquardt, Real, Variables};
use nalgebra::{DMatrix, DVector};
use ndarray::{Array2, array};
use rand_distr::{Distribution, StandardNormal};

use super::problems::Data;

fn normal(random: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(random)
}

/// A number from −1 to 1.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    random.next_u64() as f64 / 2.0_f64.powi(63) - 1.0
}

/// A network of `units` units, trained on data for a while.
fn trained(
    data: &Data,
    units: usize,
    loss: impl Loss<f64> + 'static,
    outputs: usize,
    decay: f64,
) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(data.x.ncols()).dense(units).tanh().dense(outputs);
    let mut network = layers.compile(&mut variables, 3, loss).unwrap();
    network.batch(&[data.x.view()], &[data.y.view()]).unwrap();
    let solver = LevenbergMarquardt::new().with_weight_decay(decay).with_max_iterations(50);
    solver.minimize_variables(&mut network, &mut variables).unwrap();
    (network, variables)
}

/// The outputs' Jacobian by differences, a row for each output.
fn jacobian(network: &mut Network<f64>, variables: &Variables<f64>, x: &Array2<f64>) -> DMatrix<f64> {
    let output = network.outputs()[0];
    let mut moved = variables.clone();
    let mut columns = Vec::new();
    for j in 0..variables.values().len() {
        let mut at = |by: f64| {
            moved.values_mut()[j] = variables.values()[j] + by;
            let values = network.predict(&moved, &[x.view()], output).unwrap();
            moved.values_mut()[j] = variables.values()[j];
            DVector::from_iterator(values.len(), values.iter().copied())
        };
        columns.push((at(1e-5) - at(-1e-5)) / 2e-5);
    }
    DMatrix::from_columns(&columns)
}

/// A table of numbers: `y = sin(3 x₁) + x₂ + noise`.
fn table(rows: usize, noise: f64, seed: u64) -> Data {
    let mut data = Data::new(rows, 2, seed);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for (x, y) in data.x.rows_mut().into_iter().zip(data.y.iter_mut()) {
        *y = (3.0 * x[0]).sin() + x[1] + noise * normal(&mut random);
    }
    data
}

/// Standard deviations, noise, effective parameters, evidence and log-likelihood are those of the formulas, written out.
#[test]
fn squares_have_the_written_out_posterior() {
    // More residuals than parameters, and fewer, whose matrix is that of the residuals.
    for (rows, units) in [(60, 4), (20, 30)] {
        let (data, decay) = (table(rows, 0.2, 5), 0.01);
        let (mut network, variables) = trained(&data, units, MeanSquaredError, 1, decay);
        let posterior = Laplace::new().with_weight_decay(decay).fit(&mut network, &variables).unwrap();
        let new = Array2::from_shape_fn((7, 2), |(i, k)| 0.4 * i as f64 - 1.0 + 0.3 * k as f64);
        let found = posterior.predict_with_std(&mut network, &[new.view()]).unwrap();

        let (m, n) = (rows as f64, variables.values().len() as f64);
        let j = jacobian(&mut network, &variables, &data.x);
        let unit = 2.0 / m;
        let h = j.transpose() * &j * unit + DMatrix::identity(j.ncols(), j.ncols()) * decay;
        let output = network.outputs()[0];
        let errors = network.predict(&variables, &[data.x.view()], output).unwrap() - &data.y;
        let sum = errors.iter().map(|e| e * e).sum::<f64>();
        let inverse = h.clone().try_inverse().unwrap();
        let effective = n - decay * inverse.trace();
        let noise = (sum / (m - effective)).sqrt();
        assert!((posterior.effective_parameters - effective).abs() < 1e-5 * n, "{posterior:?}");
        assert!((posterior.noise.as_ref().unwrap()[0] / noise - 1.0).abs() < 1e-6);

        let at = jacobian(&mut network, &variables, &new);
        let covariance = &at * inverse * at.transpose() * (unit * noise * noise);
        let mut likelihoods = [0.0; 2];
        for i in 0..7 {
            let std = covariance[(i, i)].sqrt();
            assert!(
                (found.std_of_mean[[i, 0]] / std - 1.0).abs() < 1e-5,
                "{i}: {} is not {std}",
                found.std_of_mean[[i, 0]]
            );
            // Negative log-likelihood of a target of one half.
            let of = |mean: f64, std: f64| 0.5 * ((0.5 - mean) / std).powi(2) + std.ln();
            likelihoods[0] += of(found.mean[[i, 0]], found.std[[i, 0]]);
            likelihoods[1] += of(found.mean[[i, 0]], std.hypot(noise));
        }
        assert!((likelihoods[0] - likelihoods[1]).abs() < 1e-5, "{likelihoods:?}");

        // ln p(y | α, β) with the largest β.
        let squares = variables.values().iter().map(|x| x * x).sum::<f64>();
        let misfit = unit * sum + decay * squares;
        let log_determinant = h.cholesky().unwrap().l().diagonal().iter().map(|l| 2.0 * l.ln()).sum::<f64>();
        let of_noise = m * (2.0 * std::f64::consts::PI * misfit / m).ln() + m;
        let evidence = 0.5 * (n * decay.ln() - log_determinant - of_noise);
        assert!((posterior.log_evidence - evidence).abs() < 1e-4 * m, "{} is not {evidence}", posterior.log_evidence);
    }
}

/// Of a linear model without weight decay, intervals are those of linear regression.
#[test]
fn lines_have_the_intervals_of_regression() {
    let mut data = table(12, 0.3, 8);
    data.y.iter_mut().zip(data.x.rows()).for_each(|(y, x)| *y = 0.5 * x[0] - x[1] + 0.1 * (7.0 * x[0]).cos());
    let mut variables = Variables::new();
    let mut network = Sequential::new(2).dense(1).compile(&mut variables, 0, MeanSquaredError).unwrap();
    network.batch(&[data.x.view()], &[data.y.view()]).unwrap();
    LevenbergMarquardt::new().minimize_variables(&mut network, &mut variables).unwrap();
    let posterior = Laplace::new().with_weight_decay(0.0).fit(&mut network, &variables).unwrap();
    let found = posterior.predict_with_std(&mut network, &[array![[0.3, -0.2]].view()]).unwrap();
    let x = DMatrix::from_fn(12, 3, |i, j| if j < 2 { data.x[[i, j]] } else { 1.0 });
    let y = DVector::from_fn(12, |i, _| data.y[[i, 0]]);
    let inverse = (x.transpose() * &x).try_inverse().unwrap();
    let line = &inverse * x.transpose() * &y;
    let variance = (y - &x * &line).norm_squared() / 9.0;
    let at = DVector::from_vec(vec![0.3, -0.2, 1.0]);
    let half = 2.262_157_162_798_204 * (variance * (1.0 + at.dot(&(inverse * &at)))).sqrt();
    let [lower, upper] = found.interval(0.95);
    assert!((upper[[0, 0]] - at.dot(&line) - half).abs() < 1e-9, "{upper}");
    assert!((lower[[0, 0]] - at.dot(&line) + half).abs() < 1e-9, "{lower}");
}

/// Logits have the covariance of the likelihood's Gauss–Newton matrix, which has no noise.
#[test]
fn classes_have_the_written_out_posterior() {
    for outputs in [1, 3] {
        let (mut data, decay) = (table(40, 0.0, 6), 0.02);
        data.y.mapv_inplace(|y| {
            if outputs == 1 { f64::from(u8::from(y > 0.0)) } else { (y + 1.5).clamp(0.0, 2.9).floor() }
        });
        let (mut network, variables) = if outputs == 1 {
            trained(&data, 3, BinaryCrossentropy, 1, decay)
        } else {
            trained(&data, 3, SparseCategoricalCrossentropy, 3, decay)
        };
        let posterior = Laplace::new().with_weight_decay(decay).fit(&mut network, &variables).unwrap();
        assert!(posterior.noise.is_none());
        let j = jacobian(&mut network, &variables, &data.x);
        let logits = network.predict(&variables, &[data.x.view()], network.outputs()[0]).unwrap();
        let n = j.ncols();
        // Precision: the sum over rows of Jᵀ(diag p − ppᵀ)J, and the decay of the mean loss times the rows.
        let mut precision = DMatrix::identity(n, n) * (decay * 40.0);
        for (i, row) in logits.rows().into_iter().enumerate() {
            let p: Vec<f64> = if outputs == 1 {
                vec![1.0 / (1.0 + (-row[0]).exp())]
            } else {
                let sum: f64 = row.iter().map(|f| f.exp()).sum();
                row.iter().map(|f| f.exp() / sum).collect()
            };
            let here = j.rows(i * outputs, outputs);
            let of_outputs =
                DMatrix::from_fn(outputs, outputs, |a, b| f64::from(u8::from(a == b)) * p[a] - p[a] * p[b]);
            precision += here.transpose() * of_outputs * here;
        }
        let covariance = precision.try_inverse().unwrap();
        let new = array![[0.1, 0.2], [-2.0, 1.0], [8.0, 8.0]];
        let found = posterior.predict_with_std(&mut network, &[new.view()]).unwrap();
        let at = jacobian(&mut network, &variables, &new);
        let of_logits = &at * covariance * at.transpose();
        let probabilities = found.probabilities().unwrap();
        for i in 0..3 {
            let mut scaled = Vec::new();
            for k in 0..outputs {
                let variance = of_logits[(i * outputs + k, i * outputs + k)];
                assert!((found.std_of_mean[[i, k]] / variance.sqrt() - 1.0).abs() < 1e-5, "{outputs}: {i}, {k}");
                scaled.push((found.mean[[i, k]] / (1.0 + std::f64::consts::PI / 8.0 * variance).sqrt()).exp());
            }
            let sum = scaled.iter().sum::<f64>() + if outputs == 1 { 1.0 } else { 0.0 };
            for k in 0..outputs {
                assert!((probabilities[[i, k]] - scaled[k] / sum).abs() < 1e-6);
            }
        }
    }
}

/// Tasks of four functions, several numbers of rows and sizes of noise, 0 to 19.
struct Task {
    kind: usize,
    rows: usize,
    noise: f64,
}

impl Task {
    fn new(index: usize) -> Self {
        Task { kind: index % 4, rows: [40, 80, 150, 300, 60][index / 4], noise: [0.1, 0.3, 0.05, 0.2, 0.5][index / 4] }
    }

    fn inputs(&self) -> usize {
        [1, 1, 2, 3][self.kind]
    }

    fn draw<T: Real>(&self, rows: usize, random: &mut ChaCha8Rng) -> [Array2<T>; 2] {
        let x = Array2::from_shape_fn((rows, self.inputs()), |_| uniform(random));
        let y = Array2::from_shape_fn((rows, 1), |(i, _)| {
            let x = x.row(i);
            let y = match self.kind {
                0 => (4.0 * x[0]).sin(),
                1 => (-8.0 * x[0] * x[0]).exp() + 0.5 * x[0],
                2 => x[0] * x[1] + (2.0 * x[0]).sin(),
                _ => x[0].powi(2) - x[1] * x[2],
            };
            y + self.noise * normal(random)
        });
        [x.mapv(T::from_f64), y.mapv(T::from_f64)]
    }
}

/// Shares of 1,000 new targets within their intervals of 95 %, after a training by the evidence, and the mean negative log-likelihood.
fn coverage<T: Real>(index: usize) -> [f64; 2] {
    let (task, mut random) = (Task::new(index), ChaCha8Rng::seed_from_u64(index as u64));
    let [x, y] = task.draw::<T>(task.rows, &mut random);
    let mut variables = Variables::new();
    let last = Normalization::new().adapt(y.view()).unwrap().inverted();
    let layers = Sequential::new(task.inputs()).dense(12).tanh().dense(1).push(last);
    let mut network = layers.compile(&mut variables, index as u64, MeanSquaredError).unwrap();
    network.batch(&[x.view()], &[y.view()]).unwrap();
    let found = LevenbergMarquardt::new().minimize_variables_by_evidence(&mut network, &mut variables).unwrap();
    let posterior = Laplace::of_evidence(&found).fit(&mut network, &variables).unwrap();
    let [x, y] = task.draw::<T>(1000, &mut random);
    let predicted = posterior.predict_with_std(&mut network, &[x.view()]).unwrap();
    let [lower, upper] = predicted.interval(0.95);
    let inside =
        y.iter().zip(lower.iter().zip(&upper)).filter(|(y, (lower, upper))| *lower <= *y && *y <= *upper).count();
    let terms = y
        .iter()
        .zip(predicted.mean.iter().zip(&predicted.std))
        .map(|(y, (mean, std))| 0.5 * ((*y - *mean).to_f64() / std.to_f64()).powi(2) + std.to_f64().ln());
    [inside as f64 / 1000.0, terms.sum::<f64>() / 1000.0]
}

#[test]
fn intervals_cover_what_they_promise() {
    for covered in [coverage::<f64>(0), coverage::<f64>(16), coverage::<f32>(17)] {
        assert!((0.91..0.985).contains(&covered[0]), "{covered:?}");
    }
}

/// `cargo test --features full --test networks -- --ignored --nocapture coverage_of_20_tasks`
#[test]
#[ignore = "a table, which takes a minute"]
fn coverage_of_20_tasks() {
    let (mut sum, mut outside) = (0.0, 0);
    for index in 0..20 {
        let ([inside, likelihood], task) = (coverage::<f64>(index), Task::new(index));
        println!("{index} kind {} rows {} noise {}: {inside:.3}, {likelihood:.3}", task.kind, task.rows, task.noise);
        (sum, outside) = (sum + inside, outside + usize::from(!(0.92..=0.98).contains(&inside)));
    }
    println!("mean {:.4}, {outside} outside of 92 to 98 %", sum / 20.0);
    assert!((0.93..0.97).contains(&(sum / 20.0)));
}

#[test]
fn what_has_no_error_bars_is_refused() {
    let data = table(30, 0.2, 5);
    let reason = |fitted: Result<LaplacePosterior<f64>, OptimizerError>| match fitted {
        Err(OptimizerError::NoEvidence { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let (mut network, variables) = trained(&data, 3, Huber::new(1.0).unwrap(), 1, 0.01);
    assert!(reason(Laplace::new().fit(&mut network, &variables)).contains("neither a sum of squares"));
    let (mut network, mut variables) = trained(&data, 20, MeanSquaredError, 1, 0.01);
    let of = |laplace: Laplace<f64>, network: &mut Network<f64>, variables: &Variables<f64>| {
        reason(laplace.fit(network, variables))
    };
    assert!(of(Laplace::new().with_weight_decay(0.0), &mut network, &variables).contains("determine"));
    assert!(of(Laplace::new().with_weight_decay(f64::NAN), &mut network, &variables).contains("weight decay is NaN"));
    assert!(of(Laplace::new().with_noise(-1.0), &mut network, &variables).contains("noise is -1"));
    assert!(of(Laplace::new().exclude_from_weight_decay(["*"]), &mut network, &variables).contains("excluded"));
    assert!(matches!(
        Laplace::new().with_variables(["none"]).fit(&mut network, &variables),
        Err(OptimizerError::NothingToTrain)
    ));
    // The last layer alone, and no more than that where the others are frozen.
    let last = Laplace::new().with_weight_decay(0.01).with_variables(["2.*"]).fit(&mut network, &variables).unwrap();
    let first = variables.find("0.weight").unwrap();
    let bias = variables.find("0.bias").unwrap();
    [first, bias].into_iter().for_each(|variable| variables.set_trainable(variable, false));
    let frozen = Laplace::new().with_weight_decay(0.01).fit(&mut network, &variables).unwrap();
    let [last, frozen] =
        [last, frozen].map(|posterior| posterior.predict_with_std(&mut network, &[data.x.view()]).unwrap());
    assert_eq!(last, frozen);
    let error = Laplace::new().with_weight_decay(0.01).fit(&mut network, &variables).unwrap();
    assert!(error.predict_with_std(&mut network, &[array![[1.0]].view()]).is_err());
}

/// Whatever trained the network, the weight decay is found at its weights.
#[test]
fn weight_decay_is_found_after_training() {
    let data = table(80, 0.2, 5);
    let (mut network, mut variables) = trained(&data, 8, MeanSquaredError, 1, 0.0);
    let mut adam = Adam::new(0.01);
    for _ in 0..200 {
        adam.step(&mut network, &mut variables).unwrap();
    }
    let posterior = Laplace::new().fit(&mut network, &variables).unwrap();
    let again = Laplace::new().with_weight_decay(posterior.weight_decay).fit(&mut network, &variables).unwrap();
    assert!(posterior.weight_decay > 0.0 && (posterior.log_evidence - again.log_evidence).abs() < 1e-9);
    for factor in [0.5, 2.0] {
        let other =
            Laplace::new().with_weight_decay(factor * posterior.weight_decay).fit(&mut network, &variables).unwrap();
        assert!(other.log_evidence < posterior.log_evidence, "{factor}: {}", other.log_evidence);
    }
    assert!((posterior.noise.unwrap()[0] - 0.2).abs() < 0.06);
}
