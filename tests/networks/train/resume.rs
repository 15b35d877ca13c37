//! A training that is interrupted and resumed ends as one that is not.

use std::fs;
use std::path::PathBuf;

use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::optim::{Adam, CosineDecay, Optimizer, Sgd, StepReport};
use marquardt::solver::{CancelToken, Curvature};
use marquardt::train::{
    Callback, CallbackError, Checkpoint, CheckpointError, Context, EarlyStopping, History, LearningRateScheduler,
    MeanError, R2Score, ReduceLearningRateOnPlateau, StopReason, TrainError, Trainer,
};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::Array2;

use super::bits;
use super::problems::{Data, Make, network};

const OPTIMIZERS: [Make; 5] = [
    || Box::new(LevenbergMarquardt::new().with_momentum(0.3)),
    || Box::new(Adam::new(0.02)),
    || Box::new(Sgd::new(0.05).with_momentum(0.9)),
    || Box::new(marquardt::optim::MovingAverage::new(Adam::new(0.02))),
    || Box::new(LevenbergMarquardt::new().with_curvature(Curvature::Kronecker)),
];

/// Cancels after so many steps.
struct CancelAfter {
    steps: usize,
    token: CancelToken,
}

impl Callback<f64> for CancelAfter {
    fn name(&self) -> &str {
        "cancel_after"
    }

    fn on_batch_end(&mut self, _: &StepReport<f64>, context: &mut Context<'_, f64>) -> Result<(), CallbackError> {
        if context.epoch * context.batches + context.batch == self.steps {
            self.token.cancel();
        }
        Ok(())
    }
}

/// A whole training, as it is left: with dropout, shuffling and ragged minibatches.
#[derive(Debug, PartialEq)]
struct Left {
    variables: Variables<f64>,
    optimizer: String,
    mask_step: u64,
    history: Vec<(String, Vec<u64>)>,
    reason: Option<StopReason>,
}

/// What callbacks a training has.
#[derive(Clone, Copy, Debug)]
enum With {
    Nothing,
    EarlyStopping,
    Plateau,
    Scheduler,
}

/// Trains for `epochs`, from a checkpoint if there is one, cancelled after so many steps.
fn train(
    make: Make,
    with: With,
    epochs: usize,
    cancel_after: usize,
    resume: Option<&PathBuf>,
    save: Option<&PathBuf>,
) -> (Left, Option<Checkpoint<f64>>) {
    let data = Data::new(46);
    let (mut network, mut variables) = network(0.1);
    let mut optimizer = make();
    let token = CancelToken::new();
    let mut trainer = Trainer::new(&mut network, &mut variables, optimizer.as_mut())
        .epochs(epochs)
        .batch_size(8)
        .shuffle(11)
        .validation_split(0.2)
        .metric(R2Score::new())
        .metric(MeanError::root_squared())
        .cancel_token(token.clone())
        .callback(CancelAfter { steps: cancel_after, token });
    let stopping = || EarlyStopping::monitor("val_loss").with_patience(3).with_restore_best_weights(true);
    trainer = match with {
        With::Nothing => trainer,
        With::EarlyStopping => trainer.callback(stopping()),
        With::Plateau => {
            let reduce = ReduceLearningRateOnPlateau::monitor("val_loss").with_patience(1).with_factor(0.5);
            trainer.callback(reduce.with_cooldown(1))
        }
        With::Scheduler => trainer.callback(LearningRateScheduler::new(|_, rate| rate * 0.9)),
    };
    if let Some(path) = resume {
        trainer = trainer.restore(Checkpoint::load(path).unwrap());
    }
    if let Some(path) = save {
        trainer = trainer.backup(0, path);
    }
    let history: History = trainer.fit(&data.inputs(), &data.targets()).unwrap();
    let checkpoint = trainer.checkpoint().cloned();
    drop(trainer);
    let left = Left {
        variables,
        optimizer: serde_json::to_string(&optimizer.state()).unwrap(),
        mask_step: network.mask_step(),
        history: bits(&history),
        reason: history.stop_reason().cloned(),
    };
    (left, checkpoint)
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("marquardt-resume-{}-{name}", std::process::id()))
}

const NEVER: usize = usize::MAX;

/// Between epochs, in the middle of one, before its end, and at the very first step.
#[test]
fn a_resumed_training_ends_to_the_bit_as_one_that_was_not_interrupted() {
    for (number, make) in OPTIMIZERS.into_iter().enumerate() {
        for with in [With::Nothing, With::EarlyStopping, With::Plateau, With::Scheduler] {
            let path = path(&format!("{number}-{with:?}"));
            let (whole, _) = train(make, with, 8, NEVER, None, None);
            // By the number of epochs.
            train(make, with, 3, NEVER, None, Some(&path));
            assert_eq!(train(make, with, 8, NEVER, Some(&path), None).0, whole, "{number} {with:?}");
            // By a token; an epoch has 5 steps.
            for steps in [1, 5, 12] {
                let (left, _) = train(make, with, 8, steps, None, Some(&path));
                assert_eq!(left.reason, Some(StopReason::Cancelled));
                assert_eq!(train(make, with, 8, NEVER, Some(&path), None).0, whole, "{number} {with:?} after {steps}");
            }
            fs::remove_file(&path).unwrap();
        }
    }
}

/// The cases above are worth something: callbacks act in them.
#[test]
fn the_callbacks_of_the_test_above_act() {
    let sgd = OPTIMIZERS[2];
    let (plain, _) = train(sgd, With::Nothing, 8, NEVER, None, None);
    for with in [With::Plateau, With::Scheduler] {
        assert_ne!(train(sgd, with, 8, NEVER, None, None).0.history, plain.history, "{with:?}");
    }
    let (stopped, _) = train(OPTIMIZERS[0], With::EarlyStopping, 30, NEVER, None, None);
    assert!(matches!(stopped.reason, Some(StopReason::Callback { .. })), "{stopped:?}");
}

/// Twice interrupted, and by a schedule of steps.
#[test]
fn interruptions_may_come_again() {
    let make: Make = || Box::new(Adam::new(CosineDecay::new(0.05, 40)));
    let path = path("twice");
    let (whole, _) = train(make, With::EarlyStopping, 10, NEVER, None, None);
    train(make, With::EarlyStopping, 10, 7, None, Some(&path));
    train(make, With::EarlyStopping, 10, 23, Some(&path), Some(&path));
    assert_eq!(train(make, With::EarlyStopping, 10, NEVER, Some(&path), None).0, whole);
    fs::remove_file(&path).unwrap();
}

#[test]
fn a_file_gives_back_what_was_saved() {
    let path = path("file");
    let (_, checkpoint) = train(OPTIMIZERS[0], With::EarlyStopping, 8, 12, None, Some(&path));
    let checkpoint = checkpoint.unwrap();
    let loaded = Checkpoint::<f64>::load(&path).unwrap();
    assert_eq!(loaded, checkpoint);
    assert_eq!((loaded.epoch(), loaded.batch(), loaded.optimizer().iterations), (2, 2, 12));
    assert_eq!(bits(loaded.history()), bits(checkpoint.history()));
    fs::remove_file(&path).unwrap();
}

#[test]
fn files_that_are_not_right_are_refused_by_name() {
    let path = path("damaged");
    let load = || Checkpoint::<f64>::load(&path).unwrap_err();
    assert!(matches!(load(), CheckpointError::File { .. }));
    fs::write(&path, "PK").unwrap();
    assert!(matches!(load(), CheckpointError::Foreign { .. }));
    fs::write(&path, "{\"epoch\":3}\n").unwrap();
    assert!(matches!(load(), CheckpointError::Foreign { .. }));

    train(OPTIMIZERS[1], With::Nothing, 2, NEVER, None, Some(&path));
    let good = fs::read(&path).unwrap();
    Checkpoint::<f64>::load(&path).unwrap();
    for (place, end) in [(0, 30), (0, good.len() - 1), (good.len() / 2, good.len())] {
        let mut bad = good[..end].to_vec();
        bad[place.max(25)] ^= 1;
        fs::write(&path, bad).unwrap();
        assert!(matches!(load(), CheckpointError::Damaged { .. }), "{}", load());
    }
    let newer = String::from_utf8(good).unwrap().replacen("checkpoint 1", "checkpoint 2", 1);
    fs::write(&path, newer).unwrap();
    let error = load().to_string();
    assert!(error.ends_with("a checkpoint of version 2, and only 1 is known"), "{error}");
    fs::remove_file(&path).unwrap();
}

/// Settings of a trainer.
type Set = dyn for<'a> Fn(Trainer<'a, f64>) -> Trainer<'a, f64>;

/// Another training is not gone on with, and nothing is changed.
#[test]
fn a_checkpoint_of_another_training_is_refused() {
    let (_, checkpoint) = train(OPTIMIZERS[1], With::Nothing, 2, NEVER, None, None);
    let checkpoint = checkpoint.unwrap();
    let data = Data::new(46);
    let refusal = |set: &Set, optimizer: &mut dyn Optimizer<f64>| {
        let (mut network, mut variables) = network(0.1);
        let before = variables.clone();
        let trainer = Trainer::new(&mut network, &mut variables, optimizer).epochs(8).batch_size(8).shuffle(11);
        let trainer = trainer.validation_split(0.2).metric(R2Score::new()).metric(MeanError::root_squared());
        let mut trainer = set(trainer).restore(checkpoint.clone());
        let error = trainer.fit(&data.inputs(), &data.targets()).unwrap_err();
        drop(trainer);
        assert_eq!((variables, network.mask_step()), (before, 0));
        error
    };
    fn callback(trainer: Trainer<'_, f64>) -> Trainer<'_, f64> {
        trainer.callback(CancelAfter { steps: NEVER, token: CancelToken::new() })
    }
    let mut adam = Adam::new(0.02);
    let cases: [(&Set, &str); 4] = [
        (&|trainer| trainer, "callbacks: cancel_after there, none here"),
        (&|trainer| callback(trainer).batch_size(9), "batch size: 8 there, 9 here"),
        (&|trainer| callback(trainer).shuffle(None), "seed of the order: 11 there, none here"),
        (
            &|trainer| callback(trainer).metric(MeanError::squared()),
            "metrics: r2_score, rmse there, r2_score, rmse, mse here",
        ),
    ];
    for (set, message) in cases {
        let error = refusal(set, &mut adam).to_string();
        assert_eq!(error, format!("the checkpoint is of another training: {message}"));
    }
    let error = refusal(&callback, &mut Sgd::new(0.1));
    assert!(matches!(error, TrainError::Optimizer(_)), "{error}");
}

/// A checkpoint after an edit of its JSON.
fn edited(checkpoint: &Checkpoint<f64>, place: &str, value: serde_json::Value) -> Checkpoint<f64> {
    let mut json = serde_json::to_value(checkpoint).unwrap();
    *json.pointer_mut(place).expect(place) = value;
    serde_json::from_value(json).unwrap()
}

/// Counters that no training reaches, and parts that contradict each other, are refused; nothing overflows.
#[test]
fn edited_checkpoints_are_refused_or_gone_on_with() {
    let data = Data::new(46);
    let fit = |checkpoint: Checkpoint<f64>| {
        let (mut network, mut variables) = network(0.1);
        let (before, mut optimizer) = (variables.clone(), Adam::new(0.02));
        let trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(8).batch_size(8).shuffle(11);
        let trainer = trainer.validation_split(0.2).metric(R2Score::new()).metric(MeanError::root_squared());
        let trainer = trainer.callback(CancelAfter { steps: NEVER, token: CancelToken::new() });
        let trainer = trainer.callback(EarlyStopping::monitor("val_loss").with_patience(99));
        let history = trainer.restore(checkpoint).fit(&data.inputs(), &data.targets());
        assert!(history.is_ok() || variables == before, "a training that does not begin changes nothing");
        history.map(|_| network.mask_step()).map_err(|error| error.to_string())
    };
    let (_, checkpoint) = train(OPTIMIZERS[1], With::EarlyStopping, 2, NEVER, None, None);
    let checkpoint = checkpoint.unwrap();
    assert_eq!(fit(checkpoint.clone()), Ok(40));
    assert_eq!(fit(edited(&checkpoint, "/mask_step", u64::MAX.into())), Ok(29));
    assert_eq!(fit(edited(&checkpoint, "/epoch", usize::MAX.into())), Ok(10));
    let cases = [
        ("/batch", 6.into(), "the checkpoint contradicts itself: 6 minibatches are done of an epoch of 5"),
        ("/metrics", [0; 0].into(), "the checkpoint contradicts itself: it does not have the state of every metric"),
        (
            "/callbacks",
            [0; 0].into(),
            "the checkpoint contradicts itself: it does not have the state of every callback",
        ),
        (
            "/history/columns/1/1",
            [1.0].as_slice().into(),
            "the checkpoint contradicts itself: the column r2_score of the history is not as long as the others",
        ),
        (
            "/optimizer/iterations",
            u64::MAX.into(),
            "the saved state does not fit: 18446744073709551615 iterations are more than 9007199254740992",
        ),
        (
            "/callbacks/1/1/entries/0/1/0",
            1e19.into(),
            "early_stopping: the saved state does not fit: wait is 10000000000000000000, not a whole number up to \
             9007199254740992",
        ),
        (
            "/callbacks/1/1/entries/2/1/0",
            (-1.0).into(),
            "early_stopping: the saved state does not fit: best_epoch is -1, not a whole number up to 9007199254740992",
        ),
        (
            "/callbacks/1/1/entries/3/1/0",
            "NaN".into(),
            "early_stopping: the saved state does not fit: best_weights holds a number that is not finite",
        ),
        (
            "/callbacks/1/1/entries/3/1",
            [0.5; 8].as_slice().into(),
            "early_stopping: the saved state does not fit: best_weights has 8 numbers",
        ),
    ];
    for (place, value, message) in cases {
        assert_eq!(fit(edited(&checkpoint, place, value)), Err(message.to_owned()), "{place}");
    }
}

/// Single precision comes back to the bit, and is not taken for double.
#[test]
fn checkpoints_know_their_precision() {
    let x = Array2::from_shape_fn((30, 1), |(i, _)| i as f32 / 15.0 - 1.0);
    let path = path("single");
    let run = |epochs, resume: bool| {
        let mut variables = Variables::<f32>::new();
        let layers = Sequential::new(1).dense(3).tanh().dense(1);
        let mut network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
        let mut optimizer = LevenbergMarquardt::new();
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(epochs).backup(1, &path);
        if resume {
            trainer = trainer.restore(Checkpoint::load(&path).unwrap());
        }
        trainer.fit(&[x.view()], &[x.view()]).unwrap();
        drop(trainer);
        variables
    };
    let whole = run(6, false);
    run(3, false);
    assert_eq!(run(6, true), whole);

    let (mut network, mut variables) = network(0.1);
    let data = Data::new(46);
    let mut optimizer = LevenbergMarquardt::new();
    let trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(8);
    let error = trainer.restore(Checkpoint::load(&path).unwrap()).fit(&data.inputs(), &data.targets()).unwrap_err();
    assert_eq!(error.to_string(), "the checkpoint is of another training: bits of a float: 32 there, 64 here");
    fs::remove_file(&path).unwrap();
}

#[cfg(feature = "csv")]
#[test]
fn a_log_file_is_gone_on_with() {
    use marquardt::train::CsvLogger;

    let (log, save) = (path("log.csv"), path("log.checkpoint"));
    let data = Data::new(40);
    let run = |epochs, resume: Option<Checkpoint<f64>>| {
        let (mut network, mut variables) = network(0.0);
        let mut optimizer = Adam::new(0.01);
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(epochs).backup(2, &save);
        trainer = trainer.callback(CsvLogger::new(&log));
        if let Some(checkpoint) = resume {
            trainer = trainer.restore(checkpoint);
        }
        trainer.fit(&data.inputs(), &data.targets()).unwrap();
        let text = fs::read_to_string(&log).unwrap();
        text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect::<Vec<_>>()
    };
    let whole = run(6, None);
    run(2, None);
    let checkpoint = Checkpoint::load(&save).unwrap();
    // Two more lines, which no checkpoint knows of.
    run(4, Some(checkpoint.clone()));
    assert_eq!(run(6, Some(checkpoint)), whole);
    fs::remove_file(&log).unwrap();
    fs::remove_file(&save).unwrap();
}

/// A weight decay of the evidence is carried on.
#[test]
fn the_weight_decay_of_the_evidence_is_carried_on() {
    let data = Data::new(30);
    let fit = |epochs: usize, from: Option<Checkpoint<f64>>| {
        let (mut network, mut variables) = network(0.1);
        let mut optimizer = LevenbergMarquardt::new();
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer)
            .epochs(epochs)
            .batch_size(8)
            .weight_decay_by_evidence(true);
        if let Some(from) = from {
            trainer = trainer.restore(from);
        }
        let history = trainer.fit(&data.inputs(), &data.targets()).unwrap();
        let checkpoint = trainer.checkpoint().unwrap().clone();
        (trainer.variables().values().to_vec(), history.last("weight_decay").unwrap(), checkpoint)
    };
    let whole = fit(8, None);
    let resumed = fit(8, Some(fit(3, None).2));
    assert_eq!((&whole.0, whole.1), (&resumed.0, resumed.1));
}
