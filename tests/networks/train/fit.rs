//! The loop itself.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::nn::{MeanSquaredError, Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::{Adam, MovingAverage, Optimizer, Sgd, StepReport};
use marquardt::solver::CancelToken;
use marquardt::train::{Callback, CallbackError, Context, EarlyStopping, MeanError, StopReason, TrainError, Trainer};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::{Array2, s};
use rand_distr::{Distribution, StandardNormal};

use super::bits;
use super::problems::{Data, Make, network};

/// Without shuffling `fit` is the loop that one would write.
#[test]
fn fit_is_a_loop_over_minibatches() {
    let data = Data::new(50);
    let optimizers: [Make; 3] = [
        || Box::new(LevenbergMarquardt::new()),
        || Box::new(Adam::new(0.01)),
        || Box::new(Sgd::new(0.05).with_momentum(0.9)),
    ];
    for make in optimizers {
        let (mut network, mut by_hand) = network(0.2);
        let mut optimizer = make();
        let mut losses = Vec::new();
        for _ in 0..3 {
            let mut sum = 0.0;
            for first in (0..50).step_by(16) {
                let rows = first..(first + 16).min(50);
                let (x, y) = (data.x.slice(s![rows.clone(), ..]), data.y.slice(s![rows.clone(), ..]));
                let report = optimizer.step(network.batch(&[x], &[y]).unwrap(), &mut by_hand).unwrap();
                sum += report.loss * rows.len() as f64;
            }
            losses.push(sum / 50.0);
        }

        let (mut network, mut variables) = super::problems::network(0.2);
        let mut optimizer = make();
        let mut trainer = Trainer::new(&mut network, &mut variables, optimizer.as_mut());
        trainer = trainer.epochs(3).batch_size(16).shuffle(None);
        let history = trainer.fit(&data.inputs(), &data.targets()).unwrap();
        drop(trainer);
        assert_eq!(history.column("loss").unwrap(), losses);
        assert_eq!(history.epochs(), [0, 1, 2]);
        assert_eq!(history.stop_reason(), Some(&StopReason::Completed));
        assert_eq!(history.column("applied").unwrap(), [1.0; 3]);
        assert_eq!(history.column("damping").is_some(), optimizer.name() == "levenberg_marquardt");
        assert!(history.column("seconds").unwrap().iter().all(|&seconds| seconds > 0.0));
        assert_eq!(variables.values(), by_hand.values());
        assert_eq!(optimizer.iterations(), 12);
    }
}

#[test]
fn levenberg_marquardt_logs_its_damping() {
    let data = Data::new(60);
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = LevenbergMarquardt::new();
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(4).batch_size(60);
    let history = trainer.fit(&data.inputs(), &data.targets()).unwrap();
    for name in ["damping", "gain_ratio", "attempts", "applied", "learning_rate"] {
        assert!(history.column(name).unwrap().iter().all(|value| value.is_finite()), "{name}");
    }
    assert!(history.column("attempts").unwrap().iter().all(|&attempts| attempts >= 1.0));
    assert_eq!(history.last("learning_rate"), Some(1.0));
}

/// What rows come, and how many at a time.
#[derive(Default)]
struct Batches(Vec<(usize, usize)>);

impl Callback<f64> for Batches {
    fn name(&self) -> &str {
        "batches"
    }

    fn on_batch_end(&mut self, _: &StepReport<f64>, context: &mut Context<'_, f64>) -> Result<(), CallbackError> {
        self.0.push((context.epoch, context.batch));
        assert_eq!(context.batches, 4 - usize::from(self.0.len() > 1000));
        Ok(())
    }
}

#[test]
fn a_ragged_last_minibatch_is_kept_or_dropped() {
    let data = Data::new(50);
    for (drop_remainder, steps) in [(false, 4), (true, 3)] {
        let (mut network, mut variables) = network(0.0);
        let mut optimizer = Sgd::new(0.01);
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).batch_size(16);
        trainer = trainer.drop_remainder(drop_remainder).epochs(2);
        trainer.fit(&data.inputs(), &data.targets()).unwrap();
        let (network, variables) = trainer.finish();
        assert!(network.evaluate(variables, &data.inputs(), &data.targets()).unwrap().is_finite());
        assert_eq!(optimizer.iterations(), 2 * steps);
    }
    let mut batches = Batches::default();
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = Sgd::new(0.01);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).batch_size(16).callback(&mut batches);
    trainer.fit(&data.inputs(), &data.targets()).unwrap();
    drop(trainer);
    assert_eq!(batches.0, [(0, 1), (0, 2), (0, 3), (0, 4)]);
}

/// An epoch that begins at a number has that number's order.
#[test]
fn the_order_depends_on_seed_and_epoch_alone() {
    let data = Data::new(40);
    let train = |seed, first: usize, epochs, variables: Option<Variables<f64>>| {
        let (mut network, fresh) = network(0.0);
        let mut variables = variables.unwrap_or(fresh);
        let mut optimizer = Sgd::new(0.1);
        let trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).batch_size(7).shuffle(seed);
        trainer.initial_epoch(first).epochs(epochs).fit(&data.inputs(), &data.targets()).unwrap();
        variables
    };
    let whole = train(5, 0, 4, None);
    assert_eq!(train(5, 2, 4, Some(train(5, 0, 2, None))).values(), whole.values());
    assert_ne!(train(5, 0, 2, Some(train(5, 0, 2, None))).values(), whole.values());
    assert_ne!(train(6, 0, 4, None).values(), whole.values());
}

#[test]
fn validation_data_are_evaluated_and_not_trained_on() {
    let data = Data::new(50);
    let fit = |split: bool| {
        let (mut network, mut variables) = network(0.0);
        let mut optimizer = Adam::new(0.02);
        let (x, y) = (data.x.view().split_at(ndarray::Axis(0), 40), data.y.view().split_at(ndarray::Axis(0), 40));
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(3).batch_size(8);
        trainer = trainer.metric(MeanError::absolute());
        let history = if split {
            trainer.validation_split(0.2).fit(&data.inputs(), &data.targets()).unwrap()
        } else {
            trainer.validation(&[x.1], &[y.1]).fit(&[x.0], &[y.0]).unwrap()
        };
        let loss = network.evaluate(&variables, &[x.1], &[y.1]).unwrap();
        assert_eq!(history.last("val_loss"), Some(loss));
        let names: Vec<&str> = history.names().collect();
        assert_eq!(names, ["loss", "mae", "val_loss", "val_mae", "learning_rate", "applied", "seconds"]);
        bits(&history)
    };
    assert_eq!(fit(true), fit(false));
}

/// Rows of weight zero are as if they were not there, but for the mean.
#[test]
fn sample_weights_go_with_their_rows() {
    let data = Data::new(40);
    let weights: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = LevenbergMarquardt::new().with_loss_damping(0.0);
    let trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(5).batch_size(40);
    let history = trainer.sample_weights(&weights).metric(MeanError::squared()).fit(&data.inputs(), &data.targets());
    let history = history.unwrap();

    let (mut network, mut other) = super::problems::network(0.0);
    let mut optimizer = LevenbergMarquardt::new().with_loss_damping(0.0);
    let trainer = Trainer::new(&mut network, &mut other, &mut optimizer).epochs(5).batch_size(20);
    let (x, y) = (data.x.slice(s![..;2, ..]), data.y.slice(s![..;2, ..]));
    let half = trainer.metric(MeanError::squared()).fit(&[x], &[y]).unwrap();
    for (name, factor) in [("loss", 2.0), ("mse", 1.0)] {
        for (a, b) in history.column(name).unwrap().iter().zip(half.column(name).unwrap()) {
            assert!((factor * a - b).abs() < 1e-8 * b, "{name}: {a} {b}");
        }
    }
}

#[test]
fn cancelling_ends_after_the_minibatch_at_hand() {
    struct CancelAt(usize, CancelToken);
    impl Callback<f64> for CancelAt {
        fn name(&self) -> &str {
            "cancel_at"
        }

        fn on_batch_end(&mut self, _: &StepReport<f64>, context: &mut Context<'_, f64>) -> Result<(), CallbackError> {
            if context.epoch * context.batches + context.batch == self.0 {
                self.1.cancel();
            }
            Ok(())
        }
    }
    let data = Data::new(40);
    let token = CancelToken::new();
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = MovingAverage::new(Sgd::new(0.1));
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(10).batch_size(10);
    trainer = trainer.cancel_token(token.clone()).callback(CancelAt(6, token));
    trainer = trainer.callback(EarlyStopping::monitor("loss").with_restore_best_weights(true));
    let history = trainer.fit(&data.inputs(), &data.targets()).unwrap();
    assert_eq!((history.len(), history.stop_reason()), (1, Some(&StopReason::Cancelled)));
    let checkpoint = trainer.checkpoint().unwrap();
    assert_eq!((checkpoint.epoch(), checkpoint.batch()), (1, 2));
    // Neither the best weights nor averages take the place of the last.
    assert_eq!(trainer.variables().values(), checkpoint.values());
    drop(trainer);
    assert_eq!(optimizer.iterations(), 6);
}

/// Averaged weights are put in at the end, and not before.
#[test]
fn averages_are_finalised() {
    let data = Data::new(40);
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = MovingAverage::new(Adam::new(0.1)).with_average_decay(0.9);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(3);
    trainer.fit(&data.inputs(), &data.targets()).unwrap();
    let before = trainer.checkpoint().unwrap().values().to_vec();
    drop(trainer);
    assert_ne!(variables.values(), before);
    let first = variables.iter().next().unwrap();
    assert_eq!(optimizer.slot(first, "average").unwrap(), variables.get(first));
}

#[test]
fn single_precision_is_served() {
    let x = Array2::from_shape_fn((64, 1), |(i, _)| i as f32 / 32.0 - 1.0);
    let y = x.mapv(|x| x * x);
    let mut variables = Variables::<f32>::new();
    let mut network = Sequential::new(1).dense(6).tanh().dense(1).compile(&mut variables, 0, MeanSquaredError).unwrap();
    let mut optimizer = LevenbergMarquardt::new();
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(20).batch_size(64);
    let history = trainer.fit(&[x.view()], &[y.view()]).unwrap();
    assert!(history.last("loss").unwrap() < 1e-4);
    let predictions = trainer.predict(&[x.view()]).unwrap();
    assert!((&predictions - &y).iter().all(|error| error.abs() < 0.05));
}

/// A training with these class weights or sample weights, on labels of two classes of three.
fn weighted(class_weights: Option<&[f64]>, sample_weights: Option<&[f64]>) -> Result<(Vec<f64>, f64), TrainError> {
    let data = Data::new(40);
    let labels = data.y.mapv(|y| if y > 0.1 { 2.0 } else { 0.0 });
    let mut variables = Variables::new();
    let layers = Sequential::new(2).dense(4).tanh().dense(3);
    let mut network = layers.compile(&mut variables, 1, SparseCategoricalCrossentropy).unwrap();
    let mut optimizer = Adam::new(0.05);
    let mut trainer =
        Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(3).batch_size(7).validation_split(0.25);
    if let Some(weights) = class_weights {
        trainer = trainer.class_weights(weights);
    }
    if let Some(weights) = sample_weights {
        trainer = trainer.sample_weights(weights);
    }
    let history = trainer.fit(&data.inputs(), &[labels.view()])?;
    Ok((trainer.variables().values().to_vec(), history.last("val_loss").unwrap()))
}

#[test]
fn class_weights_multiply_those_of_training_rows() {
    let of_classes = [0.5, 7.0, 2.0];
    let labels = Data::new(40).y.mapv(|y| if y > 0.1 { 2 } else { 0 });
    // The last rows are those of the validation.
    let rows: Vec<f64> =
        labels.iter().enumerate().map(|(i, &label)| if i < 30 { of_classes[label] } else { 1.0 }).collect();
    let (by_class, by_row) = (weighted(Some(&of_classes), None).unwrap(), weighted(None, Some(&rows)).unwrap());
    assert_eq!(by_class, by_row);
    assert_ne!(by_class.0, weighted(None, None).unwrap().0);
    let ones = vec![3.0; 40];
    let both: Vec<f64> = rows.iter().map(|weight| 3.0 * weight).collect();
    assert_eq!(weighted(Some(&of_classes), Some(&ones)).unwrap().0, weighted(None, Some(&both)).unwrap().0);
    for (weights, says) in [(vec![1.0, 2.0], "2 class weights for 3"), (vec![1.0, -1.0, 1.0], "class 1 is -1")] {
        let error = weighted(Some(&weights), None).unwrap_err();
        assert!(matches!(error, TrainError::NoClasses { .. }) && error.to_string().contains(says), "{error}");
    }
}

/// The mean squared error between the sine and a network of 20 units, trained on 60 rows with noise of 0.3, and the weight decay.
fn noisy(
    seed: u64,
    batch_size: usize,
    by_evidence: bool,
    optimizer: &mut dyn Optimizer<f64>,
) -> Result<(f64, Option<f64>), TrainError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f64 / 29.5 - 1.0);
    let y = x.mapv(|x| {
        let normal: f64 = StandardNormal.sample(&mut random);
        (3.0 * x).sin() + 0.3 * normal
    });
    let mut variables = Variables::new();
    let layers = Sequential::new(1).dense(20).tanh().dense(1).normalized(x.view(), y.view()).unwrap();
    let mut network = layers.compile(&mut variables, seed, MeanSquaredError).unwrap();
    let trainer = Trainer::new(&mut network, &mut variables, optimizer).epochs(40).batch_size(batch_size);
    let mut trainer = trainer.weight_decay_by_evidence(by_evidence);
    let history = trainer.fit(&[x.view()], &[y.view()])?;
    let errors = trainer.predict(&[x.view()])? - x.mapv(|x| (3.0 * x).sin());
    Ok((errors.iter().map(|e| e * e).sum::<f64>() / 60.0, history.last("weight_decay")))
}

#[test]
fn the_weight_decay_of_the_evidence_is_found_in_epochs() {
    let mut sums = [0.0; 2];
    for seed in 0..3 {
        let (with, whole) = noisy(seed, 60, true, &mut LevenbergMarquardt::new()).unwrap();
        let (without, none) = noisy(seed, 60, false, &mut LevenbergMarquardt::new()).unwrap();
        assert_eq!(none, None);
        sums = [sums[0] + with, sums[1] + without];
        let (_, decay) = noisy(seed, 20, true, &mut LevenbergMarquardt::new()).unwrap();
        let ratio = decay.unwrap() / whole.unwrap();
        assert!((0.3..3.0).contains(&ratio), "{decay:?} in minibatches, {whole:?} of all rows");
    }
    assert!(1.5 * sums[0] < sums[1], "{sums:?}");
    let error = noisy(0, 20, true, &mut Adam::new(0.01)).unwrap_err();
    assert!(error.to_string().contains("adam does not find its own"), "{error}");
}
