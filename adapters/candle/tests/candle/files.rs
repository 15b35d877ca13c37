//! Trainings that go on from files.

use std::path::PathBuf;

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{VarBuilder, VarMap};
use marquardt::LevenbergMarquardt;
use marquardt::nn::MeanSquaredError;
use marquardt::optim::{Adam, Optimizer};
use marquardt_candle::{Dropout, LeastSquaresTrainer, Linear, TrainerError, linear};

use crate::{Net, SAMPLES, SIZES, numbers_of, start, tensor};

/// A model with dropout, whose masks a training that goes on has to draw again.
struct Training<O> {
    varmap: VarMap,
    net: Net<Linear>,
    dropout: Dropout,
    trainer: LeastSquaresTrainer<f64, O>,
}

impl<O: Optimizer<f64>> Training<O> {
    fn new(optimizer: O, phase: f64) -> Self {
        let varmap = VarMap::new();
        let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu), linear).unwrap();
        start(&varmap);
        for var in varmap.all_vars() {
            var.set(&(var.as_tensor() * phase).unwrap()).unwrap();
        }
        let trainer = LeastSquaresTrainer::new(&varmap, optimizer, MeanSquaredError).unwrap().with_seed(5);
        Training { varmap, net, dropout: Dropout::new(0.2), trainer }
    }

    fn run(&mut self, steps: usize) {
        let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
        let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
        let (net, dropout) = (&self.net, &self.dropout);
        let forward = || -> Result<Tensor> { net.forward(&dropout.forward(&x, true)?) };
        for _ in 0..steps {
            self.trainer.step(&targets, forward).unwrap();
        }
    }
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("marquardt-candle-{}-{name}.safetensors", std::process::id()))
}

/// Five steps, against three, a file, and two.
fn resumes<O: Optimizer<f64>>(optimizer: impl Fn() -> O, name: &str) {
    let path = file(name);
    let mut whole = Training::new(optimizer(), 1.0);
    whole.run(3);
    whole.trainer.save(&path).unwrap();
    let weights = numbers_of(&whole.varmap);
    whole.run(2);

    let mut resumed = Training::new(optimizer(), 0.5);
    resumed.run(1);
    resumed.trainer.load(&path).unwrap();
    assert_eq!(numbers_of(&resumed.varmap), weights);
    resumed.run(2);
    assert_eq!(numbers_of(&resumed.varmap), numbers_of(&whole.varmap));
    assert_eq!(resumed.trainer.optimizer().state(), whole.trainer.optimizer().state());

    // candle reads the weights, too.
    let mut other = Training::new(optimizer(), 0.5);
    other.varmap.load(&path).unwrap();
    assert_eq!(numbers_of(&other.varmap), weights);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn trainings_go_on_to_the_last_bit() {
    resumes(|| LevenbergMarquardt::new().with_momentum(0.3), "lm");
    resumes(|| Adam::new(0.01), "adam");
}

#[test]
fn files_of_something_else_are_refused() {
    let path = file("other");
    let mut training = Training::new(LevenbergMarquardt::new(), 1.0);
    training.run(1);
    let before = (numbers_of(&training.varmap), training.trainer.optimizer().state());
    let mut refused = |named: &str| {
        let error = training.trainer.load(&path).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
        assert_eq!((numbers_of(&training.varmap), training.trainer.optimizer().state()), before);
        error
    };
    let error = refused("");
    assert!(matches!(error, TrainerError::Candle(_)), "there is no file yet: {error}");
    training_of_candle().save(&path).unwrap();
    assert!(matches!(refused("no state of an optimizer"), TrainerError::File { .. }));

    let mut other = Training::new(Adam::new(0.01), 1.0);
    other.run(1);
    other.trainer.save(&path).unwrap();
    assert!(matches!(refused("it is of adam"), TrainerError::Optimizer(_)));

    let varmap = VarMap::new();
    linear(SIZES[0], SIZES[1] + 1, VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu).pp("0")).unwrap();
    let trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    trainer.save(&path).unwrap();
    assert!(matches!(refused("variable "), TrainerError::File { .. }));

    std::fs::write(&path, b"nonsense").unwrap();
    refused("");
    std::fs::remove_file(path).unwrap();
}

/// Weights without an optimizer.
fn training_of_candle() -> VarMap {
    let varmap = VarMap::new();
    Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu), candle_nn::linear).unwrap();
    varmap
}
