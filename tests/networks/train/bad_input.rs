//! Bad input: a typed error, and nothing changed.

use marquardt::optim::Sgd;
use marquardt::train::{TrainError, Trainer};
use ndarray::{Array2, s};

use super::problems::{Data, network};

/// What `fit` says, having changed nothing.
#[track_caller]
fn refusal(data: &Data, set: impl for<'a> FnOnce(Trainer<'a, f64>) -> Trainer<'a, f64>) -> TrainError {
    let (mut network, mut variables) = network(0.5);
    let before = variables.clone();
    let mut optimizer = Sgd::new(0.1);
    let mut trainer = set(Trainer::new(&mut network, &mut variables, &mut optimizer));
    let error = trainer.fit(&data.inputs(), &data.targets()).unwrap_err();
    assert!(error.history().is_none() && trainer.checkpoint().is_none());
    drop(trainer);
    assert_eq!((variables, network.mask_step()), (before, 0));
    error
}

#[test]
fn settings_that_make_no_sense() {
    let data = Data::new(10);
    assert_eq!(refusal(&data, |trainer| trainer.batch_size(0)).to_string(), "the batch size is 0");
    for split in [0.0, 1.0, -0.5, 1.5, f64::NAN, 0.99] {
        let error = refusal(&data, |trainer| trainer.validation_split(split));
        assert!(matches!(error, TrainError::ValidationSplit { rows: 10, .. }), "{error}");
    }
    let error = refusal(&data, |trainer| trainer.batch_size(11).drop_remainder(true));
    assert_eq!(error.to_string(), "10 rows do not fill a minibatch of 11, and drop_remainder is set");
    let error = refusal(&data, |trainer| trainer.initial_epoch(3).epochs(2));
    assert_eq!(error.to_string(), "the initial epoch is 3, but there are 2 epochs");
}

#[cfg(feature = "checkpoint")]
#[test]
fn a_backup_that_cannot_be_written() {
    let data = Data::new(10);
    let file = std::env::temp_dir().join(format!("marquardt-backup-{}", std::process::id()));
    std::fs::write(&file, "no folder").unwrap();
    for path in [std::env::temp_dir(), file.join("checkpoint"), "/no/such/folder/checkpoint".into()] {
        let error = refusal(&data, |trainer| trainer.backup(1, &path)).to_string();
        assert!(error.starts_with(&format!("{}: ", path.display())), "{error}");
    }
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn data_that_do_not_fit() {
    let mut data = Data::new(10);
    data.y = data.y.slice(s![..9, ..]).to_owned();
    assert_eq!(refusal(&data, |t| t).to_string(), "target 0 has 9 rows, where the first array has 10");
    let mut data = Data::new(10);
    data.x[[7, 1]] = f64::NAN;
    assert_eq!(refusal(&data, |t| t).to_string(), "input 0 is NaN in row 8, column 2");
    let data = Data::new(0);
    assert_eq!(refusal(&data, |t| t).to_string(), "the data have no rows");
}

#[test]
fn validation_data_and_weights_that_do_not_fit() {
    let data = Data::new(10);
    let (mut network, mut variables) = network(0.0);
    let mut optimizer = Sgd::new(0.1);
    let wide = Array2::zeros((10, 3));
    let trainer = Trainer::new(&mut network, &mut variables, &mut optimizer);
    let error = trainer.validation(&[wide.view()], &data.targets()).fit(&data.inputs(), &data.targets()).unwrap_err();
    assert_eq!(error.to_string(), "validation: input 0 must have 2 columns, but has 3");

    let (few, mut bad) = (vec![1.0; 9], vec![1.0; 10]);
    bad[4] = -1.0;
    for (weights, message) in [(few, "10 rows, but 9 sample weights"), (bad, "the sample weight of row 5 is -1")] {
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).sample_weights(&weights);
        let error = trainer.fit(&data.inputs(), &data.targets()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

/// A minibatch that is refused leaves metrics, masks and variables as they were.
#[test]
fn a_step_that_fails_is_as_if_it_had_not_been_asked_for() {
    let data = Data::new(10);
    let (mut network, mut variables) = network(0.5);
    let before = variables.clone();
    let mut optimizer = Sgd::new(0.1);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer);
    let error = trainer.train_step(&data.inputs(), &data.targets(), &[3, 10]).unwrap_err();
    assert_eq!(error.to_string(), "row 10 was asked for, but there are 10");
    drop(trainer);
    assert_eq!((network.mask_step(), &variables), (0, &before));

    let mut optimizer = Sgd::new(f64::NAN);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer);
    assert!(matches!(trainer.train_step(&data.inputs(), &data.targets(), &[3]), Err(TrainError::Optimizer(_))));
    drop(trainer);
    assert_eq!((network.mask_step(), &variables), (0, &before));
}
