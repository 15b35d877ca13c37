//! Epochs allocate, steps do not.

use marquardt::LevenbergMarquardt;
use marquardt::optim::{Adam, StepReport};
use marquardt::solver::Acceleration;
use marquardt::train::{Accuracy, Callback, CallbackError, Context, MeanError, R2Score, Trainer};

use crate::allocator::account;
use crate::problems::{Data, Make, network};

/// Does nothing after every step.
struct Nothing;

impl Callback<f64> for Nothing {
    fn name(&self) -> &str {
        "nothing"
    }

    fn on_batch_end(&mut self, _: &StepReport<f64>, _: &mut Context<'_, f64>) -> Result<(), CallbackError> {
        Ok(())
    }
}

/// However many steps an epoch has, a training allocates as often.
#[test]
fn steps_allocate_nothing() {
    let data = Data::new(240);
    let weights = vec![1.0; 240];
    let optimizers: [Make; 2] =
        [|| Box::new(Adam::new(0.01)), || Box::new(LevenbergMarquardt::new().with_acceleration(Acceleration::Never))];
    for make in optimizers {
        let count = |batch_size: usize, epochs: usize| {
            let (mut network, mut variables) = network(0.1);
            let mut optimizer = make();
            let trainer = Trainer::new(&mut network, &mut variables, optimizer.as_mut()).batch_size(batch_size);
            let trainer = trainer.metric(R2Score::new()).metric(MeanError::absolute()).metric(Accuracy::new());
            let mut trainer = trainer.epochs(epochs).callback(Nothing).sample_weights(&weights);
            // Makes all room.
            trainer.train_step(&data.inputs(), &data.targets(), &(0..80).collect::<Vec<_>>()).unwrap();
            account(|| trainer.fit(&data.inputs(), &data.targets()).unwrap()).1.allocations
        };
        assert_eq!(count(30, 2), count(80, 2));
    }
}
