//! Refused input: errors that name it, and a map that is as before.

use candle_core::{DType, Device, Module, ModuleT, Result, Tensor};
use candle_nn::{VarBuilder, VarMap};
use marquardt::LevenbergMarquardt;
use marquardt::nn::{MeanSquaredError, ModelError, SparseCategoricalCrossentropy};
use marquardt_candle::{Dropout, LeastSquaresTrainer, TrainerError, batch_norm, linear};

use crate::{Net, SAMPLES, SIZES, numbers_of, start, tensor};

#[test]
fn bad_input_is_refused_by_name_and_the_map_is_as_before() {
    let varmap = VarMap::new();
    let none = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).err().unwrap();
    assert!(matches!(none, TrainerError::NoVariables), "{none}");
    let vb = VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu);
    let net = Net::new(vb.clone(), linear).unwrap();
    let wrong = LeastSquaresTrainer::<f32>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).err().unwrap();
    assert!(matches!(&wrong, TrainerError::DType { name, .. } if name == "0.bias"), "{wrong}");

    let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let values = || numbers_of(&varmap);
    let before = values();
    let mut refused = |targets: &Tensor, forward: &mut dyn FnMut() -> Result<Tensor>| {
        let error = trainer.step(targets, forward).unwrap_err();
        assert_eq!(values(), before, "{error}");
        error
    };
    let error = refused(&targets.narrow(0, 0, 5).unwrap(), &mut || net.forward(&x));
    assert!(matches!(&error, TrainerError::Model(ModelError::LayerInput { samples: 5, .. })), "{error}");
    let error = refused(&targets.narrow(1, 0, 2).unwrap(), &mut || net.forward(&x));
    assert!(matches!(error, TrainerError::Model(ModelError::Targets(_))), "{error:?}");
    assert!(error.to_string().contains("target 0 must have 4 columns"), "{error}");
    let error = refused(&(&targets / 0.0).unwrap(), &mut || net.forward(&x));
    assert!(error.to_string().contains("row 1, column 1"), "{error}");
    let error = refused(&targets, &mut || net.forward(&x)? / 0.0);
    assert!(matches!(error, TrainerError::Model(ModelError::NonFiniteOutput { sample: 0, output: 0, .. })), "{error}");
    let error = refused(&targets, &mut || net.forward(&x)?.narrow(0, 0, 12));
    let of_twelve = |error: &_| matches!(error, ModelError::Batch { targets: SAMPLES, outputs } if outputs == &[12, 4]);
    assert!(matches!(&error, TrainerError::Model(error) if of_twelve(error)), "{error}");
    let error = refused(&targets, &mut || candle_core::bail!("the device is out of memory"));
    assert!(matches!(&error, TrainerError::Candle(_)) && error.to_string().contains("out of memory"), "{error}");
    // At a trial point, as the device is out of memory later.
    let mut calls = 0;
    let error = refused(&targets, &mut || {
        calls += 1;
        if calls == 2 {
            candle_core::bail!("the device is out of memory")
        }
        net.forward(&x)
    });
    assert!(error.to_string().contains("out of memory"), "{error}");
    let mut calls = 0;
    let error = refused(&targets, &mut || {
        calls += 1;
        let y = net.forward(&x)?;
        if calls == 2 { y.narrow(1, 0, 2) } else { Ok(y) }
    });
    assert!(matches!(&error, TrainerError::Model(ModelError::ChangingOutputs { .. })), "{error}");
    let report = trainer.step(&targets, || net.forward(&x)).unwrap();
    assert!(report.step.applied && report.is_recorded);

    // Batch normalisation, in short: looked for in the first step.
    let before = values();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let normalized = || {
        let y = net.forward(&x)?;
        y.broadcast_sub(&y.mean_keepdim(0)?)
    };
    let error = trainer.step(&targets, normalized).unwrap_err();
    let after = |error: &_| matches!(error, ModelError::MixedSamples { parameter } if parameter == "0.weight[0]");
    assert!(matches!(&error, TrainerError::Model(error) if after(error)), "{error}");
    assert_eq!(values(), before);

    // A variable that is not used.
    vb.get_with_hints((2, 2), "spare", candle_nn::Init::Const(1.0)).unwrap();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let error = trainer.step(&targets, || net.forward(&x)).unwrap_err();
    assert!(matches!(&error, TrainerError::UnusedVariable { name } if name == "spare"), "{error}");
}

/// The error of the first step of a model with two dense layers.
fn error_of_step(
    forward: impl Fn(&Net<marquardt_candle::Linear>, &VarBuilder<'_>, &Tensor) -> Result<Tensor>,
) -> TrainerError {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu);
    let net = Net::new(vb.clone(), linear).unwrap();
    start(&varmap);
    let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
    // The variables of all layers are there before the trainer.
    forward(&net, &vb, &x).unwrap();
    let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let before = numbers_of(&varmap);
    let error = trainer.step(&targets, || forward(&net, &vb, &x)).unwrap_err();
    assert_eq!(numbers_of(&varmap), before, "{error}");
    error
}

#[test]
fn batch_normalisation_in_training_mode_is_refused_by_name() {
    let recorded = error_of_step(|net, vb, x| {
        let norm = batch_norm(SIZES[1], 1e-5, vb.pp("inner.norm"))?;
        net.output.forward(&norm.forward_t(&net.hidden.forward(x)?, true)?.tanh()?)
    });
    let plain = error_of_step(|net, vb, x| {
        let norm = candle_nn::batch_norm(SIZES[1], 1e-5, vb.pp("inner.norm"))?;
        net.output.forward(&norm.forward_t(&net.hidden.forward(x)?, true)?.tanh()?)
    });
    for error in [recorded, plain] {
        assert!(matches!(&error, TrainerError::BatchNormalization { name } if name == "inner.norm"), "{error}");
    }
}

#[test]
fn random_outputs_are_refused() {
    // candle's own masks are drawn anew in each pass.
    let dropout = candle_nn::Dropout::new(0.5);
    let error = error_of_step(|net, _, x| net.forward(&dropout.forward(x, true)?));
    assert!(matches!(error, TrainerError::RandomOutputs), "{error}");
    let calls = std::cell::Cell::new(0);
    let held = Dropout::new(0.5);
    let error = error_of_step(|net, _, x| {
        calls.set(calls.get() + 1);
        let mask =
            held.forward(&Tensor::ones(if calls.get() == 3 { 4 } else { 5 }, DType::F64, &Device::Cpu)?, true)?;
        net.forward(x)?.broadcast_mul(&(mask.sum_all()? * 0.0)?.exp()?)
    });
    assert!(
        matches!(&error, TrainerError::ChangingDropout { before, now } if (&before[..], &now[..]) == (&[5], &[4])),
        "{error}"
    );
}

#[test]
fn layers_of_something_else_than_samples_are_refused() {
    let error = error_of_step(|net, _, x| {
        let first = net.hidden.forward(&x.narrow(0, 0, 5)?)?.mean_keepdim(0)?;
        net.output.forward(&net.hidden.forward(x)?.broadcast_add(&first)?)
    });
    let of_five = |error: &_| matches!(error, ModelError::LayerInput { shape, samples: SAMPLES } if shape == &[5, 3]);
    assert!(matches!(&error, TrainerError::Model(error) if of_five(error)), "{error}");
}

#[test]
fn labels_that_are_no_classes_are_refused() {
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu), linear).unwrap();
    let x = tensor::<f32>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let mut trainer =
        LeastSquaresTrainer::<f32>::new(&varmap, LevenbergMarquardt::new(), SparseCategoricalCrossentropy).unwrap();
    let labels = Tensor::full(SIZES[2] as u32, SAMPLES, &Device::Cpu).unwrap();
    let before = numbers_of(&varmap);
    let error = trainer.step(&labels, || net.forward(&x)).unwrap_err();
    assert!(matches!(error, TrainerError::Model(ModelError::Targets(_))), "{error}");
    assert_eq!(numbers_of(&varmap), before);
}

/// Tests that half precision is refused by its name.
#[test]
fn other_types_of_numbers_are_refused_by_name() {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F16, &Device::Cpu);
    linear(3, 3, vb.pp("half")).unwrap();
    let error = LeastSquaresTrainer::<f32>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).err().unwrap();
    let TrainerError::DType { name, expected: DType::F32, found: DType::F16 } = &error else { panic!("{error}") };
    assert_eq!(name, "half.bias");
}
