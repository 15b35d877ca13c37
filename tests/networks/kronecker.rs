//! Kronecker-factored Levenberg–Marquardt.

use marquardt::nn::{
    Embedding, HalfSumOfSquares, MeanAbsoluteError, MeanSquaredError, Network, Sequential,
    SparseCategoricalCrossentropy, Tape,
};
use marquardt::optim::{
    Groups, KroneckerLevenbergMarquardt, KroneckerStep, NonFinite, Optimizer, OptimizerError, PiecewiseConstantDecay,
};
use marquardt::problem::{FactorSample, KroneckerFactors, NotLeastSquares, Objective};
use marquardt::variables::Gradients;
use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt, Real, Variables};
use ndarray::Array2;

use super::faulty_network::{Fault, Faulty};

fn inputs(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, k)| ((i * (2 * k + 3)) as f64 * 0.37 + k as f64).sin())
}

fn labels(rows: usize, classes: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 1), |(i, _)| ((i * i + 3 * i) % classes) as f64)
}

/// Three classes of 40 samples with four numbers.
struct Task {
    network: Network<f64>,
    variables: Variables<f64>,
    x: Array2<f64>,
    y: Array2<f64>,
}

impl Task {
    fn new() -> Self {
        let mut variables = Variables::new();
        let layers = Sequential::new(4).dense(6).tanh().layer_normalization().dense(3);
        let network = layers.compile(&mut variables, 1, SparseCategoricalCrossentropy).unwrap();
        Task { network, variables, x: inputs(40, 4), y: labels(40, 3) }
    }

    /// A minibatch of one of four parts, the last of which is smaller.
    fn bind(&mut self, step: usize) -> &mut Network<f64> {
        let rows: Vec<usize> = (0..40).skip(11 * (step % 4)).take(11).collect();
        self.network.batch_rows(&[self.x.view()], &[self.y.view()], &rows).unwrap()
    }

    fn step(&mut self, step: usize, optimizer: &mut dyn Optimizer<f64>) -> f64 {
        let rows: Vec<usize> = (0..40).skip(11 * (step % 4)).take(11).collect();
        let batch = self.network.batch_rows(&[self.x.view()], &[self.y.view()], &rows).unwrap();
        optimizer.step(batch, &mut self.variables).unwrap().loss
    }
}

fn both_forms() -> [KroneckerLevenbergMarquardt<f64>; 2] {
    [KroneckerStep::Averaged, KroneckerStep::Quadratic].map(|step| KroneckerLevenbergMarquardt::new().with_step(step))
}

/// The factors of all rows, as matrices.
fn factors<T: Real>(network: &mut Network<T>, variables: &Variables<T>, signs: [u64; 2]) -> KroneckerFactors<T> {
    sketched_factors(network, variables, signs, usize::MAX)
}

fn sketched_factors<T: Real>(
    network: &mut Network<T>,
    variables: &Variables<T>,
    signs: [u64; 2],
    rank: usize,
) -> KroneckerFactors<T> {
    let n = variables.values().len();
    let problem = network.kronecker_factored().unwrap();
    let mut factors = KroneckerFactors::new(problem.kronecker_blocks(), rank);
    let sample = Some(FactorSample { factors: &mut factors, share: 1.0, signs });
    let mut gradients = Gradients::new(variables);
    let all = 0..n;
    let all = std::slice::from_ref(&all);
    problem.linearize_factored(variables.values(), all, &mut gradients, sample, false).unwrap();
    factors
}

fn jacobian(network: &mut Network<f64>, variables: &Variables<f64>) -> Vec<f64> {
    let m = network.residual_count();
    let (mut r, mut jacobian) = (vec![0.0; m], vec![0.0; m * variables.values().len()]);
    network.linearize(variables.values(), 0, &mut r, &mut jacobian).unwrap();
    jacobian
}

fn full(factor: marquardt::problem::KroneckerFactor<'_, f64>) -> Vec<f64> {
    match factor {
        marquardt::problem::KroneckerFactor::Full(numbers) => numbers.to_vec(),
        other => panic!("{other:?} is not full"),
    }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1e-300_f64, |scale, number| scale.max(number.abs()));
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * scale, "{k}: {found} instead of {expected}");
    }
}

/// With one layer and one output, `A ⊗ G` is the whole Gauss–Newton matrix.
#[test]
fn a_step_of_one_layer_is_that_of_exact_levenberg_marquardt() {
    let (x, y) = (inputs(30, 4), inputs(30, 1));
    let run = |optimizer: &mut dyn Optimizer<f64>| {
        let mut variables = Variables::new();
        let mut network = Sequential::new(4).dense(1).compile(&mut variables, 3, MeanSquaredError).unwrap();
        optimizer.step(network.batch(&[x.view()], &[y.view()]).unwrap(), &mut variables).unwrap();
        variables.values().to_vec()
    };
    let exact = run(&mut LevenbergMarquardt::new().with_damping(marquardt::solver::damping::GainRatio::new(1e-14)));
    for optimizer in both_forms() {
        let optimizer = optimizer.with_loss_damping(0.0).with_damping(1e-18).with_minimum_damping(1e-18);
        let found = run(&mut optimizer.with_momentum(0.0).with_factor_share(1.0));
        assert_close(&found, &exact, 1e-5);
    }
}

/// Of one output, the signs are squared away, and the factors are those of the Jacobian whose rows are `δ ⊗ [a 1]`.
#[test]
fn factors_are_those_of_the_explicit_jacobian() {
    let (x, y) = (inputs(17, 3), inputs(17, 1));
    let mut variables = Variables::new();
    let mut network = Sequential::new(3).dense(5).tanh().dense(1).compile(&mut variables, 3, MeanSquaredError).unwrap();
    network.batch(&[x.view()], &[y.view()]).unwrap();
    let (n, rows) = (variables.values().len(), 17);
    let j = jacobian(&mut network, &variables);
    let factors = factors(&mut network, &variables, [7, 3]);
    for (block, (weight, inputs, outputs)) in [(0, 3, 5), (15 + 5, 5, 1)].into_iter().enumerate() {
        let bias = weight + inputs * outputs;
        let delta = |row: usize, i: usize| j[row * n + bias + i];
        let input = |row: usize, k: usize| if k == inputs { 1.0 } else { j[row * n + weight + k] / delta(row, 0) };
        let moments = |size: usize, of: &dyn Fn(usize, usize) -> f64, scale: f64| -> Vec<f64> {
            let moment = |k: usize| (0..rows).map(|row| of(row, k / size) * of(row, k % size)).sum::<f64>() * scale;
            (0..size * size).map(moment).collect()
        };
        let [a, g] = factors.of(block);
        assert_close(&full(a), &moments(inputs + 1, &input, 1.0 / rows as f64), 1e-12);
        assert_close(&full(g), &moments(outputs, &delta, 1.0), 1e-12);
    }
}

/// Random signs give the output factor in the mean: the sum over all residuals of `δδᵀ`.
#[test]
fn sampled_factors_are_right_in_the_mean() {
    let mut task = Task::new();
    task.network.batch(&[task.x.view()], &[task.y.view()]).unwrap();
    let j = jacobian(&mut task.network, &task.variables);
    let n = task.variables.values().len();
    let last = n - 3..n;
    let exact: Vec<f64> =
        (0..9).map(|k| j.chunks_exact(n).map(|row| row[last.start + k / 3] * row[last.start + k % 3]).sum()).collect();
    let mut mean = vec![0.0; 9];
    for count in 0..2000 {
        let factors = factors(&mut task.network, &task.variables, [5, count]);
        let block = factors.blocks().len() - 1;
        let numbers = full(factors.of(block)[1]);
        mean.iter_mut().zip(numbers).for_each(|(mean, number)| *mean += number / 2000.0);
    }
    assert_close(&mean, &exact, 0.02);
}

/// What several samples say, one with a weight says as well; and weights of zero say nothing.
#[test]
fn weights_count_as_repeated_rows() {
    let (x, y) = (inputs(4, 3), inputs(4, 1));
    let mut variables = Variables::new();
    let layers = Sequential::new(3).dense(5).tanh().dense(1);
    let mut network = layers.compile(&mut variables, 3, MeanSquaredError).unwrap();
    network.weighted_batch(&[x.view()], &[y.view()], &[2.0, 1.0, 0.0, 3.0]).unwrap();
    let weighted = factors(&mut network, &variables, [0, 0]);
    network.batch_rows(&[x.view()], &[y.view()], &[0, 0, 1, 3, 3, 3]).unwrap();
    let repeated = factors(&mut network, &variables, [0, 0]);
    for block in 0..2 {
        let ([a, g], [b, h]) = (weighted.of(block), repeated.of(block));
        assert_close(&full(a), &full(b), 1e-13);
        // The mean is over four samples here and over six there.
        let scaled: Vec<f64> = full(h).iter().map(|number| number * 6.0 / 4.0).collect();
        assert_close(&full(g), &scaled, 1e-13);
    }
}

/// A network whose factors are sketched, on 40 rows.
fn wide() -> Task {
    let mut variables = Variables::new();
    let layers = Sequential::new(250).dense(300).tanh().dense(3);
    let network = layers.compile(&mut variables, 1, SparseCategoricalCrossentropy).unwrap();
    Task { network, variables, x: inputs(40, 250), y: labels(40, 3) }
}

/// No two of 40 rows are added to the same row of such a sketch.
#[test]
fn sketches_of_as_many_rows_as_samples_are_exact() {
    let Task { mut network, variables, x, y } = wide();
    network.weighted_batch(&[x.view()], &[y.view()], &[1.5; 40]).unwrap();
    let whole = factors(&mut network, &variables, [1, 1]);
    let sketched = sketched_factors(&mut network, &variables, [1, 1], 40);
    let mut count = 0;
    for block in 0..2 {
        for (input, (found, expected)) in sketched.of(block).into_iter().zip(whole.of(block)).enumerate() {
            let marquardt::problem::KroneckerFactor::Sketch(numbers) = found else { continue };
            let size = numbers.len() / 40;
            let columns = if input == 0 { size - 1 } else { size };
            let entry =
                |row: usize, k: usize| numbers[if k < columns { row * columns + k } else { 40 * columns + row }];
            let moment = |k: usize| (0..40).map(|row| entry(row, k / size) * entry(row, k % size)).sum::<f64>();
            assert_close(&(0..size * size).map(moment).collect::<Vec<_>>(), &full(expected), 1e-12);
            count += 1;
        }
    }
    assert_eq!(count, 3, "both factors of the first layer are sketched, and the inputs of the second");
}

#[test]
fn a_step_with_exact_sketches_is_that_with_matrices() {
    for step in [KroneckerStep::Averaged, KroneckerStep::Quadratic] {
        let [sketched, whole] = [40, usize::MAX].map(|rank| {
            let Task { mut network, mut variables, x, y } = wide();
            let optimizer = KroneckerLevenbergMarquardt::new().with_step(step).with_factor_share(1.0);
            let batch = network.batch(&[x.view()], &[y.view()]).unwrap();
            optimizer.with_factor_rank(rank).step(batch, &mut variables).unwrap();
            variables.values().to_vec()
        });
        assert_close(&sketched, &whole, 1e-9);
        assert_ne!(sketched, whole, "they are rounded otherwise");
    }
}

/// `uᵀFv` in all tiles and parts of a batch.
#[test]
fn curvature_is_that_of_the_jacobian() {
    let mut task = Task::new();
    task.network.batch(&[task.x.view()], &[task.y.view()]).unwrap();
    let n = task.variables.values().len();
    let [u, v] = [1.0, 2.0].map(|phase| (0..n).map(|k| (k as f64 * 0.9 + phase).sin()).collect::<Vec<f64>>());
    let j = jacobian(&mut task.network, &task.variables);
    let times =
        |v: &[f64]| -> Vec<f64> { j.chunks_exact(n).map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum()).collect() };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (ju, jv) = (times(&u), times(&v));
    let mut products = [0.0; 4];
    let problem = task.network.kronecker_factored().unwrap();
    problem.curvature(task.variables.values(), &[&u, &v], &mut products).unwrap();
    assert_close(&products, &[dot(&ju, &ju), dot(&ju, &jv), dot(&ju, &jv), dot(&jv, &jv)], 1e-12);
}

/// The step of the quadratic form is stationary along itself and along the step before, which span the plane.
#[test]
fn the_step_is_the_minimum_along_both_directions() {
    let mut task = Task::new();
    let mut optimizer = KroneckerLevenbergMarquardt::new().with_step(KroneckerStep::Quadratic).with_weight_decay(0.01);
    let mut last = vec![0.0; task.variables.values().len()];
    for step in 0..14 {
        let before = task.variables.values().to_vec();
        let damping = optimizer.damping();
        task.step(step, &mut optimizer);
        let delta: Vec<f64> = task.variables.values().iter().zip(&before).map(|(x, b)| x - b).collect();
        if step > 0 {
            let mut gradients = Gradients::new(&task.variables);
            let network = task.bind(step);
            network.loss_and_gradient(&before, &mut gradients).unwrap();
            let problem = network.kronecker_factored().unwrap();
            let mut products = [0.0; 4];
            problem.curvature(&before, &[&delta, &last], &mut products).unwrap();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let ridge = damping.unwrap() + 0.01;
            let gradient: Vec<f64> = gradients.flat_mut().iter().zip(&before).map(|(g, x)| g + 0.01 * x).collect();
            for (direction, product) in [(&delta, products[0]), (&last, products[1])] {
                let (slope, bend) = (dot(&gradient, direction), product + ridge * dot(&delta, direction));
                assert!((slope + bend).abs() < 1e-9 * slope.abs().max(bend.abs()), "{step}: {slope} {bend}");
            }
        }
        last = delta;
    }
}

/// Without damping, the step in function space does not know the units of the inputs.
#[test]
fn rescaled_inputs_change_nothing_without_damping() {
    let (x, y) = (inputs(60, 3), inputs(60, 2));
    let scales = [10.0, 0.1, 3.0];
    let run = |scales: [f64; 3]| {
        let mut variables = Variables::new();
        let mut network =
            Sequential::new(3).dense(2).tanh().dense(2).compile(&mut variables, 3, MeanSquaredError).unwrap();
        for (k, weight) in variables.values_mut()[..6].iter_mut().enumerate() {
            *weight /= scales[k % 3];
        }
        let x = Array2::from_shape_fn(x.dim(), |(i, k)| x[[i, k]] * scales[k]);
        let optimizer = KroneckerLevenbergMarquardt::new().with_loss_damping(0.0).with_minimum_damping(1e-28);
        let mut optimizer = optimizer.with_factor_share(1.0);
        for _ in 0..6 {
            optimizer.step(network.batch(&[x.view()], &[y.view()]).unwrap(), &mut variables).unwrap();
        }
        let output = network.outputs()[0];
        network.predict(&variables, &[x.view()], output).unwrap().into_raw_vec_and_offset().0
    };
    assert_close(&run(scales), &run([1.0; 3]), 1e-6);
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_seed_others() {
    for optimizer in both_forms() {
        let run = |seed: u64| {
            let (mut task, mut optimizer) = (Task::new(), optimizer.clone().with_seed(seed));
            (0..20).for_each(|step| _ = task.step(step, &mut optimizer));
            task.variables.values().to_vec()
        };
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
    }
}

/// From any step, in the middle of all intervals.
#[test]
fn a_restored_state_goes_on_to_the_same_bits() {
    for optimizer in both_forms() {
        let mut optimizer = optimizer.with_learning_rate(PiecewiseConstantDecay::new([5], [1.0, 0.5]));
        let mut task = Task::new();
        for step in 0..17 {
            let (state, variables) = (optimizer.state(), task.variables.clone());
            let mut other = optimizer.clone();
            other.build(&variables).unwrap();
            other.restore(&state, &variables).unwrap();
            assert_eq!(other.state(), state);
            let mut again = Task { variables, ..Task::new() };
            for next in step..step + 12 {
                again.step(next, &mut other);
            }
            let mut straight = Task { variables: task.variables.clone(), ..Task::new() };
            let mut clone = optimizer.clone();
            for next in step..step + 12 {
                straight.step(next, &mut clone);
            }
            assert_eq!(again.variables.values(), straight.variables.values());
            task.step(step, &mut optimizer);
        }
    }
}

#[test]
fn states_that_do_not_fit_are_refused_and_change_nothing() {
    let mut task = Task::new();
    let mut optimizer = KroneckerLevenbergMarquardt::new();
    (0..3).for_each(|step| _ = task.step(step, &mut optimizer));
    let state = optimizer.state();
    let spoils: [fn(&mut marquardt::optim::OptimizerState<f64>); 8] = [
        |state| state.optimizer.push('x'),
        |state| state.numbers[0].1[0] = 1.0,
        |state| _ = state.numbers[1].1.pop(),
        |state| state.numbers[2].1[0] = 7.0,
        |state| _ = state.numbers[3].1.pop(),
        |state| state.numbers[4].1[0] = f64::NAN,
        |state| _ = state.numbers[5].1.pop(),
        |state| _ = state.slots[0].1.pop(),
    ];
    for (k, spoil) in spoils.into_iter().enumerate() {
        let mut spoilt = state.clone();
        spoil(&mut spoilt);
        let refused = optimizer.restore(&spoilt, &task.variables);
        assert!(matches!(refused, Err(OptimizerError::State { .. })), "{k}: {refused:?}");
        assert_eq!(optimizer.state(), state);
    }
}

/// In the first step and in a later one: weights and state stay, and the training goes on as if nothing had been.
#[test]
fn faults_of_every_kind_leave_everything_as_it_was() {
    use Fault::{Curvature, CurvatureEvaluation, Evaluation, Factors, Gradient, Loss, LossAfter};
    for (optimizer, is_quadratic) in both_forms().into_iter().zip([false, true]) {
        for fault in [Evaluation, Loss, Gradient, Factors, Curvature, CurvatureEvaluation, LossAfter] {
            if fault == LossAfter && !is_quadratic {
                continue;
            }
            // Steps in which all is renewed, so that every fault strikes.
            let renewing = |optimizer: &KroneckerLevenbergMarquardt<f64>| {
                let optimizer = optimizer.clone().with_factor_interval(1).with_inverse_interval(1);
                optimizer.with_model_interval(1)
            };
            let (mut optimizer, mut undisturbed) = (renewing(&optimizer), renewing(&optimizer));
            let (mut task, mut other) = (Task::new(), Task::new());
            for step in 0..12 {
                if [0, 4, 9].contains(&step) && (fault != LossAfter || step > 0) {
                    let (state, values) = (optimizer.state(), task.variables.values().to_vec());
                    let Task { network, variables, x, y } = &mut task;
                    let rows: Vec<usize> = (0..11).collect();
                    network.batch_rows(&[x.view()], &[y.view()], &rows).unwrap();
                    let mut faulty = Faulty(network, fault);
                    optimizer.step(&mut faulty, variables).unwrap_err();
                    assert_eq!(task.variables.values(), values, "{fault:?}");
                    // Before the first step only the memory may have been made.
                    if step > 0 {
                        assert_eq!(optimizer.state(), state, "{fault:?}");
                    }
                }
                task.step(step, &mut optimizer);
                other.step(step, &mut undisturbed);
            }
            assert_eq!(task.variables.values(), other.variables.values(), "{fault:?}");
        }
    }
}

#[test]
fn non_finite_numbers_are_passed_over_where_that_is_wanted() {
    for fault in [Fault::Loss, Fault::Gradient, Fault::Factors, Fault::Curvature] {
        let mut task = Task::new();
        let mut optimizer = KroneckerLevenbergMarquardt::new().with_non_finite(NonFinite::Skip);
        task.step(0, &mut optimizer);
        let before = task.variables.values().to_vec();
        let Task { network, variables, .. } = &mut task;
        let report = optimizer.step(&mut Faulty(network, fault), variables).unwrap();
        assert!(!report.applied);
        assert_eq!((task.variables.values(), optimizer.iterations()), (&before[..], 1));
    }
    let mut task = Task::new();
    let mut optimizer = KroneckerLevenbergMarquardt::new().with_learning_rate(1e300).with_momentum(0.0);
    task.variables.values_mut()[0] = 1e300;
    let Task { network, variables, x, y } = &mut task;
    let before = variables.values().to_vec();
    let batch = network.batch(&[x.view()], &[y.view()]).unwrap();
    for _ in 0..3 {
        if optimizer.step(batch, variables).is_err() {
            break;
        }
    }
    assert!(variables.values().iter().all(|x| x.is_finite()), "{before:?}");
}

#[test]
fn what_cannot_be_factored_is_refused_by_name() {
    let (x, y) = (inputs(10, 4), inputs(10, 1));
    let mut variables = Variables::new();
    let mut optimizer = KroneckerLevenbergMarquardt::new();
    struct NoLayers;
    impl Objective<f64> for NoLayers {
        fn loss(&mut self, _: &[f64]) -> Result<f64, EvaluationError> {
            Ok(0.0)
        }
        fn loss_and_gradient(&mut self, _: &[f64], _: &mut Gradients<f64>) -> Result<f64, EvaluationError> {
            Ok(0.0)
        }
        fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<f64>, NotLeastSquares> {
            Err(NotLeastSquares { loss: "none".to_owned() })
        }
    }
    let mut network = Sequential::new(4).dense(1).compile(&mut variables, 0, MeanAbsoluteError).unwrap();
    let values = variables.values().to_vec();
    let error = optimizer.step(&mut NoLayers, &mut variables).unwrap_err().to_string();
    assert_eq!(
        error,
        "the objective does not consist of layers, of which Kronecker factors are formed: take another optimizer, such as LevenbergMarquardt"
    );
    let error = optimizer.step(network.batch(&[x.view()], &[y.view()]).unwrap(), &mut variables).unwrap_err();
    assert!(error.to_string().starts_with("mean absolute error is not a sum of squares"), "{error}");
    assert_eq!(variables.values(), values);

    let mut variables = Variables::new();
    let table = variables.add("table", Array2::<f64>::zeros((4, 4)).view()).unwrap();
    let mut tape = Tape::new();
    let rows = tape.input(1);
    let row = tape.embedding(rows, table).unwrap();
    let out = tape.dense(row, table, None).unwrap();
    let mut network = Network::new(tape, &variables).unwrap().with_loss(out, HalfSumOfSquares).unwrap();
    let y = labels(4, 4);
    let mut optimizer = KroneckerLevenbergMarquardt::new();
    let error = optimizer.step(network.batch(&[y.view()], &[]).unwrap(), &mut variables).unwrap_err().to_string();
    assert!(error.starts_with("table is used as a table and as a weight of 4 × 4"), "{error}");

    let error = optimizer.set_hyperparameter("momentum", 1.0.into()).unwrap_err().to_string();
    assert!(error.starts_with("momentum"), "{error}");
    assert!(matches!(optimizer.hyperparameter("lr"), Err(OptimizerError::UnknownHyperparameter { .. })));
}

#[test]
fn other_layers_than_at_first_are_refused() {
    let mut task = Task::new();
    let mut optimizer = KroneckerLevenbergMarquardt::new();
    task.step(0, &mut optimizer);
    let mut tape = Tape::new();
    let x = tape.input(4);
    let weight = task.variables.iter().next().unwrap();
    let y = tape.dense(x, weight, None).unwrap();
    let mut network = Network::new(tape, &task.variables).unwrap().with_loss(y, HalfSumOfSquares).unwrap();
    let batch = network.batch(&[task.x.view()], &[]).unwrap();
    assert!(matches!(optimizer.step(batch, &mut task.variables), Err(OptimizerError::OtherLayers)));
}

/// Convolution, pooling, normalisation, dropout, embedding, several losses: all are stepped on, in both forms and precisions.
#[test]
fn all_layers_train() {
    fn train<T: Real>(optimizer: &mut dyn Optimizer<T>) -> [f64; 2] {
        let layers = Sequential::image(1, 6, 6).conv2d(3, [3, 3]).tanh().max_pooling2d([2, 2]);
        let layers = layers.flatten().layer_normalization().dropout(T::from_f64(0.05)).dense(3);
        let mut variables = Variables::<T>::new();
        let mut network = layers.compile(&mut variables, 0, SparseCategoricalCrossentropy).unwrap();
        let y = Array2::from_shape_fn((48, 1), |(i, _)| T::from_f64((i % 3) as f64));
        let x = Array2::from_shape_fn((48, 36), |(i, k)| {
            T::from_f64(((i % 3 + 1) as f64 * k as f64 * 0.4).sin() + 0.3 * ((i * k) as f64).cos())
        });
        let views = (&[x.view()], &[y.view()]);
        let before = network.evaluate(&variables, views.0, views.1).unwrap().to_f64();
        for _ in 0..40 {
            optimizer.step(network.batch(views.0, views.1).unwrap(), &mut variables).unwrap();
        }
        [before, network.evaluate(&variables, views.0, views.1).unwrap().to_f64()]
    }
    for step in [KroneckerStep::Averaged, KroneckerStep::Quadratic] {
        let losses = [
            train::<f64>(&mut KroneckerLevenbergMarquardt::new().with_step(step)),
            train::<f32>(&mut KroneckerLevenbergMarquardt::new().with_step(step)),
            train::<f64>(&mut KroneckerLevenbergMarquardt::new().with_step(step).with_factor_rank(3)),
        ];
        for [before, after] in losses {
            assert!(after < 0.1 * before, "{step:?}: {before} to {after}");
        }
    }
}

/// Rows that are not looked up stay as they are, and the others learn.
/// Beside inputs that large, the column of ones for the bias is rounding.
#[test]
fn inputs_of_any_size_train() {
    fn train<T: Real>(size: f64, step: KroneckerStep) -> [f64; 2] {
        let mut variables = Variables::new();
        let layers = Sequential::new(3).dense(4).dense(2);
        let mut network = layers.compile(&mut variables, 5, MeanSquaredError).unwrap();
        let x = inputs(64, 3).mapv(|x| T::from_f64(size * x));
        let y = Array2::from_shape_fn((64, 2), |(i, k)| T::from_f64((i as f64 * 0.37 + k as f64).sin()));
        let mut optimizer = KroneckerLevenbergMarquardt::<T>::new().with_step(step);
        let mut losses = [0.0; 2];
        for step in 0..60 {
            let report = optimizer.step(network.batch(&[x.view()], &[y.view()]).unwrap(), &mut variables);
            let loss = report.unwrap_or_else(|error| panic!("{size:e}, step {step}: {error}")).loss.to_f64();
            losses[usize::from(step > 0)] = loss;
        }
        losses
    }
    for step in [KroneckerStep::Averaged, KroneckerStep::Quadratic] {
        for size in [1.0, 1e6, 1e8, 1e9, 1e12] {
            for [first, last] in [train::<f32>(size, step), train::<f64>(size, step)] {
                assert!(last < 0.5 * first, "{step:?} {size:e}: {first} {last}");
            }
        }
        let [first, last] = train::<f64>(1e20, step);
        assert!(last < 0.5 * first, "{step:?}: {first} {last}");
    }
}

#[test]
fn rows_of_a_table_move_where_they_are_looked_up() {
    let mut variables = Variables::new();
    let layers = Sequential::new(2).push(Embedding::new(7, 3)).flatten().tanh().dense(2);
    let mut network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
    let x = Array2::from_shape_fn((24, 2), |(i, k)| ((i + 2 * k) % 5) as f64);
    let y = Array2::from_shape_fn((24, 2), |(i, k)| x[[i, k]] - 2.0);
    let before = variables.values().to_vec();
    let mut optimizer = KroneckerLevenbergMarquardt::new();
    for _ in 0..60 {
        optimizer.step(network.batch(&[x.view()], &[y.view()]).unwrap(), &mut variables).unwrap();
    }
    assert_eq!(variables.values()[15..21], before[15..21]);
    assert!(network.evaluate(&variables, &[x.view()], &[y.view()]).unwrap() < 1e-2);
}

#[test]
fn frozen_variables_stay_and_can_be_thawed() {
    let mut task = Task::new();
    let weight = task.variables.iter().next().unwrap();
    task.variables.set_trainable(weight, false);
    let before = task.variables.values().to_vec();
    let mut optimizer = KroneckerLevenbergMarquardt::new();
    (0..8).for_each(|step| _ = task.step(step, &mut optimizer));
    assert_eq!(task.variables.values()[weight.range()], before[weight.range()]);
    assert_ne!(task.variables.values()[weight.range().end..], before[weight.range().end..]);
    task.variables.set_trainable(weight, true);
    (8..11).for_each(|step| _ = task.step(step, &mut optimizer));
    assert_ne!(task.variables.values()[weight.range()], before[weight.range()]);
}

/// Kronecker factors for the body, exact steps for the head.
#[test]
fn groups_share_a_network_with_exact_steps() {
    let mut task = Task::new();
    let kronecker = KroneckerLevenbergMarquardt::new();
    let mut optimizer = Groups::new().with_group(["3.*"], LevenbergMarquardt::new()).with_rest(kronecker);
    // Of all samples: an exact step on a few of them would fit their labels, which are arbitrary.
    let batch = task.network.batch(&[task.x.view()], &[task.y.view()]).unwrap();
    let mut step = || optimizer.step(batch, &mut task.variables).unwrap().loss;
    let first = step();
    (0..40).for_each(|_| _ = step());
    let last = step();
    assert!(last < 0.7 * first, "{first} to {last}");
}

#[test]
fn steps_are_clipped_and_weights_decay() {
    let mut task = Task::new();
    let before = task.variables.values().to_vec();
    let mut optimizer = KroneckerLevenbergMarquardt::new().with_global_clipnorm(1e-3);
    task.step(0, &mut optimizer);
    let length = task.variables.values().iter().zip(&before).map(|(x, b)| (x - b) * (x - b)).sum::<f64>().sqrt();
    assert!((length - 1e-3).abs() < 1e-12, "{length}");

    let norm = |optimizer: &mut dyn Optimizer<f64>| {
        let mut task = Task::new();
        (0..60).for_each(|step| _ = task.step(step, optimizer));
        task.variables.values()[..24].iter().map(|x| x * x).sum::<f64>()
    };
    let free = norm(&mut KroneckerLevenbergMarquardt::new());
    let decayed = norm(&mut KroneckerLevenbergMarquardt::new().with_weight_decay(0.1));
    let excluded = KroneckerLevenbergMarquardt::new().with_weight_decay(0.1).exclude_from_weight_decay(["*"]);
    assert!(decayed < 0.5 * free, "{decayed} {free}");
    assert_eq!(norm(&mut { excluded }), free);
}
