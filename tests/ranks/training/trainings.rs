//! Trainings whose data are spread over ranks.

use marquardt::LevenbergMarquardt;
use marquardt::distributed::{Communicator, on_threads};
use marquardt::optim::{Adam, Optimizer, Sgd};
use marquardt::train::{EarlyStopping, History, MeanError, R2Score, ReduceLearningRateOnPlateau, StopReason, Trainer};

use super::problems::{CUTS, Data, assert_close, network, shard, the_same_on_all};

type Make = fn() -> Box<dyn Optimizer<f64>>;

const OPTIMIZERS: [Make; 3] = [
    || Box::new(Adam::new(0.02)),
    || Box::new(Sgd::new(0.1).with_momentum(0.5)),
    || Box::new(LevenbergMarquardt::new()),
];

/// All columns but the seconds, and the variables.
pub fn numbers(history: &History, variables: &[f64]) -> Vec<f64> {
    let names = history.names().filter(|&name| name != "seconds");
    let columns = names.flat_map(|name| history.column(name).unwrap().to_vec());
    columns.chain(variables.iter().copied()).collect()
}

/// Where a training ends that has everything: dropout, ragged minibatches, weights, metrics and a validation split.
fn train(
    make: Make,
    cuts: &[f64],
    ranks: &Communicator,
    settle: impl Fn(Trainer<'_, f64>) -> Trainer<'_, f64>,
) -> Vec<f64> {
    let (network, mut variables) = network(0.1);
    let mut network = network.with_communicator(ranks);
    let own = shard(cuts, ranks, 70);
    let (data, weights) = (Data::new(70), (0..70).map(|i| 0.5 + (i % 4) as f64).collect::<Vec<_>>());
    let (data, weights) = (data.rows(own.clone()), &weights[own]);
    let mut optimizer = make();
    let trainer = Trainer::new(&mut network, &mut variables, &mut *optimizer)
        .epochs(4)
        .batch_size(16)
        .sample_weights(weights)
        .metric(MeanError::absolute())
        .metric(R2Score::new());
    let history = settle(trainer).fit(&data.inputs(), &data.targets()).unwrap();
    assert_eq!((history.len(), history.stop_reason()), (4, Some(&StopReason::Completed)));
    numbers(&history, variables.values())
}

#[test]
fn a_training_does_not_depend_on_the_ranks() {
    for (make, tolerance) in OPTIMIZERS.into_iter().zip([1e-12, 1e-12, 1e-10]) {
        let alone = train(make, &[1.0], &Communicator::single(), |trainer| trainer.validation_split(0.3));
        for cuts in CUTS {
            let found =
                on_threads(cuts.len(), |ranks| train(make, cuts, &ranks, |trainer| trainer.validation_split(0.3)));
            assert_close(the_same_on_all(&found), &alone, tolerance);
        }
    }
}

#[test]
fn remainders_are_dropped_and_orders_kept_on_all_ranks() {
    let alone =
        train(OPTIMIZERS[0], &[1.0], &Communicator::single(), |trainer| trainer.drop_remainder(true).shuffle(None));
    for cuts in CUTS {
        let found = on_threads(cuts.len(), |ranks| {
            train(OPTIMIZERS[0], cuts, &ranks, |trainer| trainer.drop_remainder(true).shuffle(None))
        });
        assert_close(the_same_on_all(&found), &alone, 1e-12);
    }
}

/// When and where a training stops that gets worse.
fn stop_early(cuts: &[f64], ranks: &Communicator) -> Vec<f64> {
    let (network, mut variables) = network(0.0);
    let mut network = network.with_communicator(ranks);
    let (data, validation) = (Data::new(30), Data::new(45).rows(30..45));
    let data = data.rows(shard(cuts, ranks, 30));
    // The other way round, so that no rank has much of both.
    let reversed: Vec<f64> = cuts.iter().rev().skip(1).map(|cut| 1.0 - cut).chain([1.0]).collect();
    let validation = validation.rows(shard(&reversed, ranks, 15));
    let mut optimizer = Adam::new(0.3);
    let mut stopping = EarlyStopping::monitor("val_mae").with_patience(3).with_restore_best_weights(true);
    let mut plateau = ReduceLearningRateOnPlateau::monitor("loss").with_patience(1);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer)
        .epochs(100)
        .batch_size(10)
        .metric(MeanError::absolute())
        .validation(&validation.inputs(), &validation.targets())
        .callback(&mut stopping)
        .callback(&mut plateau);
    let history = trainer.fit(&data.inputs(), &data.targets()).unwrap();
    let logs = trainer.evaluate(&validation.inputs(), &validation.targets()).unwrap();
    drop(trainer);
    assert!(
        matches!(history.stop_reason(), Some(StopReason::Callback { callback, .. }) if callback == "early_stopping")
    );
    let logs: Vec<f64> = logs.iter().map(|(_, value)| value).collect();
    let epochs = [history.len() as f64, stopping.best_epoch().unwrap() as f64];
    [&epochs, &logs[..], &numbers(&history, variables.values())].concat()
}

#[test]
fn all_ranks_stop_at_the_same_epoch() {
    let alone = stop_early(&[1.0], &Communicator::single());
    assert!(alone[0] < 100.0);
    for cuts in CUTS {
        let found = on_threads(cuts.len(), |ranks| stop_early(cuts, &ranks));
        assert_close(the_same_on_all(&found), &alone, 1e-9);
    }
}

#[test]
fn seconds_are_those_of_the_first_rank() {
    let seconds = on_threads(3, |ranks| {
        let (network, mut variables) = network(0.0);
        let mut network = network.with_communicator(&ranks);
        let data = Data::new(30).rows(ranks.shard(30));
        let mut optimizer = Adam::new(0.01);
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(3);
        trainer.fit(&data.inputs(), &data.targets()).unwrap().column("seconds").unwrap().to_vec()
    });
    assert!(the_same_on_all(&seconds).iter().all(|&seconds| seconds > 0.0));
}

#[cfg(all(feature = "csv", feature = "safetensors", feature = "checkpoint"))]
#[test]
fn only_the_first_rank_writes() {
    use std::fs;

    use marquardt::train::{CsvLogger, ModelCheckpoint};

    let folder = |rank: usize| std::env::temp_dir().join(format!("marquardt-ranks-{}-{rank}", std::process::id()));
    on_threads(2, |ranks| {
        let folder = folder(ranks.rank());
        fs::create_dir_all(&folder).unwrap();
        let (network, mut variables) = network(0.0);
        let mut network = network.with_communicator(&ranks);
        let data = Data::new(30).rows(ranks.shard(30));
        let mut optimizer = Adam::new(0.01);
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer)
            .epochs(2)
            .backup(1, folder.join("backup"))
            .callback(CsvLogger::new(folder.join("log.csv")))
            .callback(ModelCheckpoint::best("loss", folder.join("best.safetensors")));
        trainer.fit(&data.inputs(), &data.targets()).unwrap();
    });
    let files = |rank: usize| fs::read_dir(folder(rank)).unwrap().count();
    assert_eq!((files(0), files(1)), (3, 0));
    (0..2).for_each(|rank| fs::remove_dir_all(folder(rank)).unwrap());
}
