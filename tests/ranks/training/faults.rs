//! What goes wrong on one rank.

use marquardt::distributed::{Communicator, RankError, on_threads};
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{BatchError, Predictions};
use marquardt::optim::{Adam, Optimizer, OptimizerError, Sgd, StepReport};
use marquardt::problem::JacobianProducts;
use marquardt::train::{
    Callback, CallbackError, Context, History, Logs, MeanError, Metric, OnEpochEnd, StopReason, TrainError, Trainer,
};
use marquardt::{LevenbergMarquardt, Variables};

use super::problems::{Data, network};

type Make = fn() -> Box<dyn Optimizer<f64>>;

/// Has something to say on one rank.
struct On<F> {
    rank: usize,
    here: usize,
    act: F,
}

impl<F: FnMut(&mut Context<'_, f64>) -> Result<(), CallbackError>> Callback<f64> for On<F> {
    fn name(&self) -> &str {
        "on_one_rank"
    }

    fn on_batch_end(&mut self, _: &StepReport<f64>, context: &mut Context<'_, f64>) -> Result<(), CallbackError> {
        assert_eq!(context.is_root(), self.here == 0);
        if self.here == self.rank && context.epoch == 1 { (self.act)(context) } else { Ok(()) }
    }
}

/// A training on three ranks, which may be changed.
fn train<R: Send>(
    change: impl Fn(&Communicator, &mut Data, &mut Variables<f64>) + Sync,
    settle: impl for<'t> Fn(&Communicator, Trainer<'t, f64>) -> Trainer<'t, f64> + Sync,
    end: impl Fn(Result<History, TrainError>) -> R + Sync,
) -> Vec<R> {
    on_threads(3, |ranks| {
        let (network, mut variables) = network(0.0);
        let mut network = network.with_communicator(&ranks);
        let mut data = Data::new(40).rows(ranks.shard(40));
        change(&ranks, &mut data, &mut variables);
        let mut optimizer = Adam::new(0.01);
        let trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(3).batch_size(8);
        let outcome = settle(&ranks, trainer).fit(&data.inputs(), &data.targets());
        end(outcome)
    })
}

/// The error of rank 1 on all, before or after the training began.
fn rank_1(outcome: Result<History, TrainError>) -> (bool, String) {
    match outcome.unwrap_err() {
        TrainError::BrokenOff { source, history, .. } => match *source {
            TrainError::Rank(RankError { rank: 1, message }) => (history.len() == 1, message),
            other => panic!("{other}"),
        },
        TrainError::Rank(RankError { rank: 1, message }) => (false, message),
        other => panic!("{other}"),
    }
}

#[test]
fn bad_data_of_one_rank_are_refused_on_all() {
    let spoil = |ranks: &Communicator, data: &mut Data, _: &mut Variables<f64>| {
        if ranks.rank() == 1 {
            data.x[[3, 1]] = f64::NAN;
        }
    };
    let errors = train(spoil, |_, trainer| trainer, rank_1);
    assert_eq!(errors, vec![(false, "input 0 is NaN in row 4, column 2".to_owned()); 3]);

    let errors = on_threads(3, |ranks| {
        let (network, variables) = network(0.0);
        let mut network = network.with_communicator(&ranks);
        let mut data = Data::new(40).rows(ranks.shard(40));
        let good = data.clone();
        spoil(&ranks, &mut data, &mut Variables::new());
        network.batch(&good.inputs(), &good.targets()).unwrap();
        let rows = network.rows();
        let errors = [
            network.batch(&data.inputs(), &data.targets()).map(|_| ()).unwrap_err(),
            network.evaluate(&variables, &data.inputs(), &data.targets()).map(|_| ()).unwrap_err(),
        ];
        // What was bound before stays bound.
        assert_eq!((network.rows(), network.mask_step()), (rows, 1));
        errors
    });
    let expected = BatchError::Rank(RankError { rank: 1, message: "input 0 is NaN in row 4, column 2".to_owned() });
    assert!(errors.iter().flatten().all(|error| *error == expected), "{errors:?}");
}

#[test]
fn no_rows_anywhere_are_none() {
    let empty = |_: &Communicator, data: &mut Data, _: &mut Variables<f64>| *data = Data::new(0);
    let errors = train(empty, |_, trainer| trainer, |outcome| matches!(outcome, Err(TrainError::Empty)));
    assert_eq!(errors, [true; 3]);
    let errors = on_threads(2, |ranks| {
        let none = Data::new(0);
        network(0.0).0.with_communicator(&ranks).batch(&none.inputs(), &none.targets()).map(|_| ()).unwrap_err()
    });
    assert_eq!(errors, [BatchError::Empty, BatchError::Empty]);
}

#[test]
fn a_number_that_is_none_is_named_on_all_ranks() {
    let optimizers: [Make; 4] = [
        || Box::new(Adam::new(0.01)),
        || Box::new(Sgd::new(0.01)),
        || Box::new(LevenbergMarquardt::new()),
        || Box::new(LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(LinearForm::FactoredDual))),
    ];
    for make in optimizers {
        let errors = on_threads(3, |ranks| {
            let (network, mut variables) = network(0.0);
            let mut network = network.with_communicator(&ranks);
            let mut data = Data::new(40).rows(ranks.shard(40));
            if ranks.rank() == 2 {
                data.y[[1, 0]] = 1e200;
            }
            network.batch(&data.inputs(), &data.targets()).unwrap();
            let before = variables.clone();
            let error = make().step(&mut network, &mut variables).unwrap_err();
            assert_eq!(variables, before);
            let is_typed = matches!(error, OptimizerError::NonFiniteLoss { .. } | OptimizerError::Solve(_));
            (is_typed, error.to_string())
        });
        assert!(errors.iter().all(|error| error.0 && *error == errors[0]), "{errors:?}");
    }
}

#[test]
fn a_point_of_another_length_is_refused_on_all_ranks() {
    let errors = on_threads(2, |ranks| {
        let (network, variables) = network(0.0);
        let mut network = network.with_communicator(&ranks);
        let data = Data::new(10).rows(ranks.shard(10));
        network.batch(&data.inputs(), &data.targets()).unwrap();
        let x = &variables.values()[ranks.rank()..];
        let mut r = vec![0.0; 10];
        let columns = variables.trainable_ranges();
        [
            marquardt::problem::Objective::loss(&mut network, x).unwrap_err().to_string(),
            network.linearize_products(x, &columns, &mut r).unwrap_err().to_string(),
        ]
    });
    let message = "rank 1: the network was made for variables of 110 numbers, but these hold 109";
    assert_eq!(errors.concat(), [message; 4]);
}

#[test]
fn a_callback_that_fails_or_stops_does_so_for_all() {
    let same = |_: &Communicator, _: &mut Data, _: &mut Variables<f64>| ();
    let errors = train(
        same,
        |ranks, trainer| {
            let act = |_: &mut Context<'_, f64>| Err(CallbackError::Other("no more disk".into()));
            trainer.callback(On { rank: 1, here: ranks.rank(), act })
        },
        rank_1,
    );
    assert_eq!(errors, vec![(true, "on_one_rank: no more disk".to_owned()); 3]);

    let reasons = train(
        same,
        |ranks, trainer| {
            let act = |context: &mut Context<'_, f64>| {
                context.stop("it is enough");
                Ok(())
            };
            trainer.callback(On { rank: 2, here: ranks.rank(), act })
        },
        |outcome| outcome.unwrap().stop_reason().cloned(),
    );
    let reason = StopReason::Callback { callback: "on_one_rank".to_owned(), reason: "it is enough".to_owned() };
    assert_eq!(reasons, vec![Some(reason); 3]);
}

#[test]
fn ranks_that_drift_apart_are_found() {
    let change = |ranks: &Communicator, _: &mut Data, variables: &mut Variables<f64>| {
        if ranks.rank() == 2 {
            variables.values_mut()[5] += 1e-16 + variables.values()[5] * 1e-15;
        }
    };
    let differ = |outcome: Result<History, TrainError>| match outcome.unwrap_err() {
        TrainError::RanksDiffer { rank, what } => (rank, what),
        other => panic!("{other}"),
    };
    assert_eq!(train(change, |_, trainer| trainer, differ), [(2, "variables"); 3]);

    let same = |_: &Communicator, _: &mut Data, _: &mut Variables<f64>| ();
    let found = on_threads(2, |ranks| {
        let (network, mut variables) = network(0.0);
        let mut network = network.with_communicator(&ranks);
        let data = Data::new(40).rows(ranks.shard(40));
        let mut optimizer = Adam::new(if ranks.is_root() { 0.01 } else { 0.02 });
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer);
        differ(trainer.fit(&data.inputs(), &data.targets()))
    });
    assert_eq!(found, [(1, "optimizer's numbers"); 2]);
    let found = on_threads(2, |ranks| {
        let (network, mut variables) = network(0.0);
        let mut network = network.with_communicator(&ranks);
        let data = Data::new(40).rows(ranks.shard(40));
        let mut optimizer = Adam::new(0.01);
        let trainer = Trainer::new(&mut network, &mut variables, &mut optimizer);
        differ(trainer.epochs(3 + ranks.rank()).fit(&data.inputs(), &data.targets()))
    });
    assert_eq!(found, [(1, "settings"); 2]);

    // A callback that changes the variables of one rank.
    let found = train(
        same,
        |ranks, trainer| {
            let act = |context: &mut Context<'_, f64>| {
                context.variables.values_mut()[0] += 1.0;
                Ok(())
            };
            trainer.callback(On { rank: 1, here: ranks.rank(), act })
        },
        |outcome| match outcome.unwrap_err() {
            TrainError::BrokenOff { source, .. } => source.to_string(),
            other => panic!("{other}"),
        },
    );
    assert_eq!(found, ["the variables of rank 1 are not those of rank 0"; 3]);
}

#[test]
fn a_rank_that_has_gone_leaves_none_waiting() {
    let outcomes = on_threads(3, |ranks| {
        let (network, mut variables) = network(0.0);
        let mut network = network.with_communicator(&ranks);
        let data = Data::new(40).rows(ranks.shard(40));
        let mut optimizer = Adam::new(0.01);
        for step in 0..4 {
            if ranks.rank() == 2 && step == 2 {
                return None;
            }
            network.batch(&data.inputs(), &data.targets()).ok()?;
            if let Err(error) = optimizer.step(&mut network, &mut variables) {
                return Some(error.to_string());
            }
        }
        panic!("it went on without rank 2")
    });
    assert!(outcomes.iter().all(|error| error.as_ref().is_none_or(|error| error.contains("rank 2 has gone"))));
}

/// Does not merge.
#[derive(Debug, Default)]
struct Largest(f64);

impl Metric<f64> for Largest {
    fn name(&self) -> &str {
        "largest"
    }

    fn reset(&mut self) {
        self.0 = 0.0;
    }

    fn update(&mut self, samples: &Predictions<'_, f64>) {
        self.0 = samples.outputs.iter().copied().fold(self.0, f64::max);
    }

    fn result(&self) -> f64 {
        self.0
    }

    fn state(&self, numbers: &mut Vec<f64>) {
        numbers.push(self.0);
    }

    fn restore(&mut self, state: &[f64]) {
        self.0 = state[0];
    }
}

#[test]
fn a_metric_that_does_not_merge_is_refused_before_the_training() {
    let same = |_: &Communicator, _: &mut Data, _: &mut Variables<f64>| ();
    let errors = train(
        same,
        |_, trainer| trainer.metric(MeanError::absolute()).metric(Largest::default()),
        |outcome| outcome.unwrap_err().to_string(),
    );
    let expected = "rank 0: the metric largest: it does not merge what several ranks have measured";
    assert_eq!(errors, [expected; 3]);
}

#[cfg(feature = "checkpoint")]
#[test]
fn a_file_that_cannot_be_written_ends_the_training_on_all_ranks() {
    let same = |_: &Communicator, _: &mut Data, _: &mut Variables<f64>| ();
    let nowhere = std::env::temp_dir().join("marquardt-no-such-folder").join("backup");
    let errors = train(
        same,
        |_, trainer| trainer.backup(1, nowhere.clone()),
        |outcome| match outcome.unwrap_err() {
            // Before the training.
            TrainError::Rank(RankError { rank: 0, message }) => message,
            other => panic!("{other}"),
        },
    );
    assert!(errors.iter().all(|message| message.contains("marquardt-no-such-folder") && *message == errors[0]));
}

#[test]
fn logs_are_the_same_on_all_ranks() {
    let logs = on_threads(3, |ranks| {
        let (network, mut variables) = network(0.0);
        let mut network = network.with_communicator(&ranks);
        let data = Data::new(40).rows(ranks.shard(40));
        let (mut optimizer, mut seen) = (Adam::new(0.01), Vec::new());
        let look = OnEpochEnd::new(|logs: &mut Logs, _: &mut Context<'_, f64>| {
            seen.push(logs.clone());
            Ok(())
        });
        Trainer::new(&mut network, &mut variables, &mut optimizer)
            .epochs(2)
            .metric(MeanError::absolute())
            .callback(look)
            .fit(&data.inputs(), &data.targets())
            .unwrap();
        seen
    });
    assert_eq!(logs[0].len(), 2);
    assert!(logs.iter().all(|seen| *seen == logs[0]));
}
