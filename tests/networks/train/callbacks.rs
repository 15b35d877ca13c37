//! Callbacks against Keras' rules.

use marquardt::nn::Targets;
use marquardt::optim::{Adam, ExponentialDecay, Optimizer, Sgd};
use marquardt::train::{
    Callback, CallbackError, Context, EarlyStopping, LearningRateScheduler, Logs, Mode, OnEpochEnd,
    ReduceLearningRateOnPlateau, StopReason, TerminateOnNonFinite, TrainError, Trainer,
};

use super::problems::{Data, network};

/// Puts numbers of our choice into the logs, before the callbacks that look at them.
struct Script<'s>(&'s [f64]);

impl Callback<f64> for Script<'_> {
    fn name(&self) -> &str {
        "script"
    }

    fn on_epoch_end(&mut self, logs: &mut Logs, context: &mut Context<'_, f64>) -> Result<(), CallbackError> {
        logs.set("loss", self.0[context.epoch]);
        // The variables tell the epoch.
        context.variables.values_mut().fill(context.epoch as f64);
        Ok(())
    }
}

/// Trains with these losses, and returns the losses seen, the learning rates after each epoch, the first number of the
/// variables, and why it ended.
fn run<'c>(losses: &'c [f64], callback: impl Callback<f64> + 'c) -> (Vec<f64>, Vec<f64>, f64, StopReason) {
    let data = Data::new(10);
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = Sgd::new(1.0);
    let mut rates = Vec::new();
    let record = OnEpochEnd::new(|_: &mut Logs, context: &mut Context<'_, f64>| {
        rates.push(context.learning_rate()?);
        Ok(())
    });
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(losses.len());
    trainer = trainer.callback(Script(losses)).callback(callback).callback(record);
    let history = trainer.fit(&data.inputs(), &data.targets()).unwrap();
    drop(trainer);
    let losses = history.column("loss").unwrap().to_vec();
    (losses, rates, variables.values()[0], history.stop_reason().unwrap().clone())
}

#[test]
fn early_stopping_waits_as_keras_does() {
    let losses = [5.0, 4.0, 4.1, 4.2, 3.0, 3.5, 3.4, 3.3, 3.2, 1.0];
    let epochs = |patience| run(&losses, EarlyStopping::monitor("loss").with_patience(patience)).0.len();
    assert_eq!([0, 1, 2, 3, 4, 5].map(epochs), [3, 3, 4, 8, 9, 10]);
    let (_, _, last, reason) = run(&losses, EarlyStopping::monitor("loss").with_patience(3));
    assert_eq!(last, 7.0);
    let StopReason::Callback { callback, reason } = reason else { panic!("{reason}") };
    assert_eq!(callback, "early_stopping");
    assert_eq!(reason, "loss has not improved on 3.000000e0 of epoch 4 for 3 epochs");
}

#[test]
fn early_stopping_restores_the_best_weights() {
    let losses = [5.0, 4.0, 4.1, 4.2, 3.0, 3.5, 3.4, 3.3, 3.2, 1.0];
    let stopping = |patience| EarlyStopping::monitor("loss").with_patience(patience).with_restore_best_weights(true);
    assert_eq!(run(&losses, stopping(3)).2, 4.0);
    assert_eq!(run(&losses, stopping(1)).2, 1.0);
    // Also where it did not stop the training.
    assert_eq!(run(&losses[..6], stopping(3)).2, 4.0);
    let mut seen = stopping(3);
    run(&losses, &mut seen);
    assert_eq!((seen.best(), seen.best_epoch(), seen.stopped_epoch()), (Some(3.0), Some(4), Some(7)));
}

#[test]
fn early_stopping_has_keras_settings() {
    let losses = [5.0, 4.0, 3.5, 3.4, 3.3, 3.2, 3.1];
    let epochs = |stopping: EarlyStopping<f64>| run(&losses, stopping).0.len();
    assert_eq!(epochs(EarlyStopping::monitor("loss").with_min_delta(0.45)), 4);
    assert_eq!(epochs(EarlyStopping::monitor("loss").with_mode(Mode::Max)), 2);
    assert_eq!(epochs(EarlyStopping::monitor("loss").with_mode(Mode::Max).with_start_from_epoch(3)), 5);
    // Improving is not enough while the baseline is out of reach.
    assert_eq!(epochs(EarlyStopping::monitor("loss").with_baseline(3.0).with_patience(3)), 7);
    let rising = [5.0, 6.0, 7.0, 2.0, 8.0, 8.0, 8.0];
    let stopping = EarlyStopping::monitor("loss").with_baseline(3.0).with_patience(2);
    assert_eq!(run(&rising, stopping).0.len(), 2);
    let not_a_number = [f64::NAN, f64::NAN, f64::NAN];
    assert_eq!(run(&not_a_number, EarlyStopping::monitor("loss").with_patience(2)).0.len(), 2);
}

#[test]
fn the_learning_rate_is_reduced_on_a_plateau() {
    let losses = [5.0, 4.0, 4.0, 4.0, 4.0, 4.0, 3.0, 3.0, 3.0, 3.0];
    let reduce = || ReduceLearningRateOnPlateau::monitor("loss").with_patience(2).with_factor(0.5);
    assert_eq!(run(&losses, reduce()).1, [1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125]);
    let cooled = reduce().with_cooldown(2);
    assert_eq!(run(&losses, cooled).1, [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25]);
    let bounded = reduce().with_min_learning_rate(0.3);
    assert_eq!(run(&losses, bounded).1, [1.0, 1.0, 1.0, 0.5, 0.5, 0.3, 0.3, 0.3, 0.3, 0.3]);
    // An improvement by less than min_delta is none.
    let creeping = [1.0, 0.99995, 0.9999, 0.99985, 0.9998];
    assert_eq!(run(&creeping, reduce()).1, [1.0, 1.0, 0.5, 0.5, 0.5]);
}

#[test]
fn a_scheduler_sees_epoch_and_rate() {
    let schedule = LearningRateScheduler::new(|epoch, rate| if epoch == 0 { rate } else { rate / (epoch + 1) as f64 });
    assert_eq!(run(&[1.0; 4], schedule).1, [1.0, 0.5, 0.5 / 3.0, 0.5 / 3.0 / 4.0]);
}

#[test]
fn what_is_not_finite_ends_the_training_with_a_reason() {
    let data = Data::new(20);
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = Sgd::new(1e200);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(50).batch_size(5);
    trainer = trainer.callback(TerminateOnNonFinite);
    let history = trainer.fit(&data.inputs(), &data.targets()).unwrap();
    let reason = history.stop_reason().unwrap().to_string();
    assert!(reason.starts_with("terminate_on_non_finite: the"), "{reason}");
    drop(trainer);
    assert!(variables.values().iter().all(|value| value.is_finite()));

    // Without the callback it is the optimizer's error.
    let (mut network, mut variables) = super::problems::network(0.0);
    let mut optimizer = Sgd::new(1e200);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(50).batch_size(5);
    let error = trainer.fit(&data.inputs(), &data.targets()).unwrap_err();
    assert!(matches!(error, TrainError::BrokenOff { ref source, .. } if matches!(**source, TrainError::Optimizer(_))));
    assert!(trainer.checkpoint().is_some());
    drop(trainer);
    assert!(variables.values().iter().all(|value| value.is_finite()));
}

/// The error of a callback keeps what the epochs gave, that epoch's included.
#[test]
fn an_error_keeps_the_history() {
    let data = Data::new(20);
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = Adam::new(0.01);
    let fail = OnEpochEnd::new(|_: &mut Logs, context: &mut Context<'_, f64>| match context.epoch {
        2 => Err(CallbackError::Other("the disk is full".into())),
        _ => Ok(()),
    });
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(9).callback(fail);
    let error = trainer.fit(&data.inputs(), &data.targets()).unwrap_err();
    assert_eq!(error.to_string(), "in epoch 3, minibatch 0: on_epoch_end: the disk is full");
    assert_eq!(error.history().unwrap().epochs(), [0, 1, 2]);
    assert_eq!(error.history().unwrap().stop_reason(), None);
    assert_eq!(trainer.checkpoint().unwrap().epoch(), 3);
    drop(trainer);
    assert_eq!(optimizer.iterations(), 3);
}

#[test]
fn a_monitor_must_be_known() {
    let data = Data::new(20);
    let callbacks: [Box<dyn Callback<f64>>; 2] =
        [Box::new(EarlyStopping::monitor("val_loss")), Box::new(ReduceLearningRateOnPlateau::monitor("val_loss"))];
    for callback in callbacks {
        let (mut network, mut variables) = network(0.0);
        let (before, mut optimizer) = (variables.clone(), Adam::new(0.01));
        let name = callback.name().to_owned();
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).callback(callback);
        let error = trainer.fit(&data.inputs(), &data.targets()).unwrap_err().to_string();
        let known = "loss, learning_rate, applied, damping, gain_ratio, attempts, seconds";
        assert_eq!(error, format!("{name}: there is no val_loss to monitor; there are {known}"));
        drop(trainer);
        assert_eq!(variables, before);
    }
    // What only Levenberg–Marquardt has is missed after the first epoch.
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = Adam::new(0.01);
    let stopping = EarlyStopping::monitor("damping");
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).callback(stopping);
    let error = trainer.fit(&data.inputs(), &data.targets()).unwrap_err();
    assert!(
        error.to_string().ends_with("there is no damping to monitor; there are loss, learning_rate, applied, seconds")
    );
    assert_eq!(error.history().unwrap().len(), 1);
}

#[test]
fn a_schedule_and_a_callback_cannot_both_set_the_rate() {
    let data = Data::new(20);
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = Adam::new(ExponentialDecay::new(0.1, 10, 0.5));
    let callback = LearningRateScheduler::new(|_, rate| rate);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).callback(callback);
    let error = trainer.fit(&data.inputs(), &data.targets()).unwrap_err().to_string();
    let expected = "the learning rate follows a schedule: this callback needs a number";
    assert_eq!(error, format!("learning_rate_scheduler: {expected}"));
}

/// A user's metric says which way is better.
#[test]
fn the_mode_follows_the_metric() {
    #[derive(Debug)]
    struct Constant;
    impl marquardt::train::Metric<f64> for Constant {
        fn name(&self) -> &str {
            "constant"
        }
        fn mode(&self) -> Mode {
            Mode::Max
        }
        fn check(&self, kind: Targets, width: usize) -> Result<(), String> {
            assert_eq!((kind, width), (Targets::Values, 1));
            Ok(())
        }
        fn reset(&mut self) {}
        fn update(&mut self, samples: &marquardt::train::Predictions<'_, f64>) {
            assert_eq!((samples.outputs.len(), samples.term), (samples.targets.len(), 0));
        }
        fn result(&self) -> f64 {
            1.0
        }
        fn state(&self, _: &mut Vec<f64>) {}
        fn restore(&mut self, _: &[f64]) {}
    }
    let data = Data::new(20);
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = Sgd::new(0.0);
    let mut modes = Vec::new();
    let look = OnEpochEnd::new(|_: &mut Logs, context: &mut Context<'_, f64>| {
        modes.extend([context.mode("constant")?, context.mode("val_constant")?, context.mode("val_loss")?]);
        Ok(())
    });
    let trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).metric(Constant).callback(look);
    trainer.validation_split(0.5).fit(&data.inputs(), &data.targets()).unwrap();
    assert_eq!(modes, [Mode::Max, Mode::Max, Mode::Min]);
    assert_eq!(optimizer.iterations(), 1);
}

/// A path of its own in the directory for temporary files.
#[cfg(any(feature = "csv", feature = "safetensors"))]
fn path(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("marquardt-callbacks-{}-{name}", std::process::id()))
}

#[cfg(feature = "csv")]
#[test]
fn epochs_are_lines_of_a_file() {
    use marquardt::train::CsvLogger;

    let path = path("log.csv");
    let data = Data::new(20);
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = Adam::new(0.01);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(3);
    trainer = trainer.callback(CsvLogger::new(&path));
    let history = trainer.fit(&data.inputs(), &data.targets()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), "epoch,loss,learning_rate,applied,seconds");
    for (epoch, line) in lines.enumerate() {
        let numbers: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        assert_eq!(numbers[..2], [epoch as f64, history.column("loss").unwrap()[epoch]]);
    }
    assert_eq!(text.lines().count(), 4);

    let (mut network, mut variables) = super::problems::network(0.0);
    let mut optimizer = Adam::new(0.01);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer);
    trainer = trainer.callback(CsvLogger::new("/no/such/directory/log.csv"));
    let error = trainer.fit(&data.inputs(), &data.targets()).unwrap_err().to_string();
    assert!(error.starts_with("csv_logger: /no/such/directory/log.csv: "), "{error}");
}

#[cfg(feature = "safetensors")]
#[test]
fn weights_are_saved_when_best_or_every_so_often() {
    use marquardt::Variables;
    use marquardt::train::ModelCheckpoint;

    let losses = [5.0, 3.0, 4.0, 2.0, 2.5];
    let best = path("best.safetensors");
    run(&losses, ModelCheckpoint::best("loss", &best));
    assert_eq!(Variables::<f64>::open_safetensors(&best).unwrap().values()[0], 3.0);
    std::fs::remove_file(&best).unwrap();
    run(&losses, ModelCheckpoint::best("loss", &best).with_initial_value_threshold(1.0));
    assert!(!best.exists());

    let data = Data::new(10);
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = Sgd::new(1.0);
    let trainer = Trainer::new(&mut network, &mut variables, &mut optimizer);
    let callback = ModelCheckpoint::best("loss", "/no/such/folder/{epoch}.safetensors");
    let error = trainer.callback(callback).fit(&data.inputs(), &data.targets()).unwrap_err();
    assert!(matches!(error, TrainError::Callback { .. }) && error.history().is_none(), "{error}");
    assert!(error.to_string().starts_with("model_checkpoint: /no/such/folder/{epoch}.safetensors: "), "{error}");

    run(&losses, ModelCheckpoint::every(2, path("{epoch}-{loss}.safetensors")));
    for (epoch, name) in [(1.0, "1-3.000000.safetensors"), (3.0, "3-2.000000.safetensors")] {
        assert_eq!(Variables::<f64>::open_safetensors(path(name)).unwrap().values()[0], epoch);
        std::fs::remove_file(path(name)).unwrap();
    }
    assert!(!path("4-2.500000.safetensors").exists());
}

#[cfg(feature = "progress")]
#[test]
fn bars_are_drawn_without_a_terminal() {
    use marquardt::train::Progress;

    assert_eq!(run(&[1.0; 3], Progress::new()).0.len(), 3);
    assert_eq!(run(&[1.0; 3], Progress::brief()).0.len(), 3);
}
