//! A training that is interrupted on some ranks goes on on others.

use marquardt::LevenbergMarquardt;
use marquardt::distributed::{Communicator, on_threads};
use marquardt::optim::{Adam, Optimizer, StepReport};
use marquardt::solver::CancelToken;
use marquardt::train::{
    Callback, CallbackError, Checkpoint, Context, EarlyStopping, MeanError, R2Score, StopReason, Trainer,
};

use super::problems::{CUTS, Data, assert_close, network, shard, the_same_on_all};
use super::trainings::numbers;

/// Cancels after so many steps, if it is the one to do so.
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

type Make = fn() -> Box<dyn Optimizer<f64>>;

/// Where a training ends that is cancelled after so many steps, by the last rank, or goes on from a checkpoint.
fn run(
    make: Make,
    cuts: &[f64],
    ranks: &Communicator,
    steps: usize,
    from: Option<Checkpoint<f64>>,
) -> (Checkpoint<f64>, Vec<f64>) {
    let (network, mut variables) = network(0.1);
    let mut network = network.with_communicator(ranks);
    let data = Data::new(50).rows(shard(cuts, ranks, 50));
    let (mut optimizer, token) = (make(), CancelToken::new());
    let is_last = ranks.rank() + 1 == ranks.size();
    let canceller = CancelAfter { steps: if is_last { steps } else { usize::MAX }, token: token.clone() };
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut *optimizer)
        .epochs(5)
        .batch_size(15)
        .validation_split(0.2)
        .metric(MeanError::squared())
        .metric(R2Score::new())
        .callback(EarlyStopping::monitor("val_loss").with_patience(10))
        .callback(canceller)
        .cancel_token(token);
    if let Some(checkpoint) = from {
        trainer = trainer.restore(checkpoint);
    }
    let history = trainer.fit(&data.inputs(), &data.targets()).unwrap();
    let is_over = steps == usize::MAX;
    assert_eq!(history.stop_reason(), Some(if is_over { &StopReason::Completed } else { &StopReason::Cancelled }));
    let checkpoint = trainer.checkpoint().unwrap().clone();
    assert_eq!(checkpoint.epoch() * 3 + checkpoint.batch(), if is_over { 15 } else { steps });
    drop(trainer);
    (checkpoint, numbers(&history, variables.values()))
}

/// What the ranks end with, the same on all, and the checkpoint of the first.
fn on_all(make: Make, cuts: &[f64], steps: usize, from: Option<&Checkpoint<f64>>) -> (Checkpoint<f64>, Vec<f64>) {
    let (mut checkpoints, numbers): (Vec<_>, Vec<_>) =
        on_threads(cuts.len(), |ranks| run(make, cuts, &ranks, steps, from.cloned())).into_iter().unzip();
    checkpoints.iter().for_each(|checkpoint| assert_eq!(checkpoint, &checkpoints[0]));
    (checkpoints.swap_remove(0), the_same_on_all(&numbers).to_vec())
}

#[test]
fn a_training_goes_on_on_other_ranks() {
    let optimizers: [(Make, f64); 2] =
        [(|| Box::new(Adam::new(0.02)), 1e-12), (|| Box::new(LevenbergMarquardt::new()), 1e-10)];
    for (make, tolerance) in optimizers {
        let (_, alone) = on_all(make, &[1.0], usize::MAX, None);
        for (before, after) in [(CUTS[1], CUTS[0]), (CUTS[1], CUTS[2]), (CUTS[0], CUTS[3])] {
            // In the midst of an epoch, and at the end of one.
            for steps in [7, 9] {
                let (checkpoint, _) = on_all(make, before, steps, None);
                let (_, resumed) = on_all(make, after, usize::MAX, Some(&checkpoint));
                assert_close(&resumed, &alone, tolerance);
            }
        }
    }
}

#[test]
fn on_as_many_ranks_it_ends_bit_for_bit() {
    let make: Make = || Box::new(Adam::new(0.02));
    let (_, whole) = on_all(make, CUTS[2], usize::MAX, None);
    let (checkpoint, _) = on_all(make, CUTS[2], 7, None);
    let (_, resumed) = on_all(make, CUTS[2], usize::MAX, Some(&checkpoint));
    // Metrics of the epoch that was interrupted are in another order.
    assert_close(&resumed, &whole, 1e-14);
    let values = |numbers: &[f64]| super::problems::bits(&numbers[numbers.len() - 110..]);
    assert_eq!(values(&resumed), values(&whole));
}
