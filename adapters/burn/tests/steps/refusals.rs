//! Bad input is refused by an error that names it, and the module is as it was.

use crate::common::{Net, SAMPLES, SIZES, device, start, tensor};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};
use marquardt::LevenbergMarquardt;
use marquardt::nn::{MeanSquaredError, ModelError, SparseCategoricalCrossentropy};
use marquardt_burn::{LeastSquaresTrainer, LinearConfig, TrainerError};

fn trainer() -> LeastSquaresTrainer<f64> {
    LeastSquaresTrainer::new(LevenbergMarquardt::new(), MeanSquaredError)
}

fn inputs() -> Tensor<2> {
    tensor::<f64, 2>([SAMPLES, SIZES[0]], 0.2)
}

fn targets() -> Tensor<2> {
    tensor::<f64, 2>([SAMPLES, SIZES[2]], 1.1)
}

/// The error of a step, which has left the module alone.
#[track_caller]
fn refused<const D: usize>(
    trainer: &mut LeastSquaresTrainer<f64>,
    targets: Tensor<2>,
    forward: impl FnMut(&Net) -> Tensor<D>,
) -> TrainerError {
    let mut net = start::<f64, _>(Net::new());
    let numbers = |net: &Net| {
        let of_layer =
            |layer: &marquardt_burn::Linear| (layer.weight.to_data(), layer.bias.as_ref().unwrap().to_data());
        (of_layer(&net.hidden), of_layer(&net.output))
    };
    let before = numbers(&net);
    let error = trainer.step_in_place(&mut net, targets, forward).unwrap_err();
    assert_eq!(numbers(&net), before, "{error}");
    assert!(net.hidden.weight.is_require_grad());
    error
}

#[test]
fn targets_that_do_not_fit_are_refused() {
    let x = inputs();
    let mut forward = |net: &Net| net.forward(x.clone());
    let error = refused(&mut trainer(), targets().narrow(0, 0, 5), &mut forward);
    assert!(matches!(&error, TrainerError::Model(ModelError::LayerInput { samples: 5, .. })), "{error}");
    let error = refused(&mut trainer(), targets().narrow(1, 0, 2), &mut forward);
    assert!(error.to_string().contains("target 0 must have 4 columns"), "{error}");
    let error = refused(&mut trainer(), targets() / 0.0, &mut forward);
    assert!(error.to_string().contains("row 1, column 1"), "{error}");
    let mut classes = LeastSquaresTrainer::new(LevenbergMarquardt::new(), SparseCategoricalCrossentropy);
    let error = refused(&mut classes, targets().narrow(1, 0, 1).zeros_like() + 7.0, &mut forward);
    assert!(error.to_string().contains('7'), "{error}");
}

#[test]
fn outputs_that_do_not_fit_are_refused() {
    let x = inputs();
    let mut trainer = trainer();
    let error = refused(&mut trainer, targets(), |net| net.forward(x.clone()).narrow(0, 0, 7));
    let of_seven = |error: &_| matches!(error, ModelError::Batch { targets: SAMPLES, outputs } if outputs == &[7, 4]);
    assert!(matches!(&error, TrainerError::Model(error) if of_seven(error)), "{error}");
    for factor in [f64::INFINITY, f64::NAN] {
        let error = refused(&mut trainer, targets(), |net| net.forward(x.clone()) * factor);
        let is_first = matches!(error, TrainerError::Model(ModelError::NonFiniteOutput { sample: 0, output: 0, .. }));
        assert!(is_first, "{error}");
    }
    // The second call, at a trial point.
    let mut calls = 0;
    let error = refused(&mut trainer, targets(), |net| {
        calls += 1;
        let y = net.forward(x.clone());
        if calls == 2 { y.narrow(1, 0, 2) } else { y }
    });
    assert!(matches!(&error, TrainerError::Model(ModelError::ChangingOutputs { .. })), "{error}");
    // A pass that leaves out layers, in a second one at the same point.
    let mut calls = 0;
    let error = refused(&mut trainer, targets(), |net| {
        calls += 1;
        if calls == 1 {
            net.forward(x.clone())
        } else {
            net.output.forward(Tensor::<2>::ones([SAMPLES, SIZES[1]], (&device(), x.dtype())))
        }
    });
    assert!(matches!(&error, TrainerError::ChangingLayers { before: 2, now: 1 }), "{error}");
    let mut net = start::<f64, _>(Net::new());
    let report = trainer.step_in_place(&mut net, targets(), |net| net.forward(x.clone())).unwrap();
    assert!(report.step.applied && report.is_recorded);
}

#[test]
fn samples_that_depend_on_each_other_are_refused() {
    let x = inputs();
    let error = refused(&mut trainer(), targets(), |net| {
        let y = net.forward(x.clone());
        y.clone() - y.mean_dim(0)
    });
    assert!(error.to_string().contains("mixes samples"), "{error}");
    let error = refused(&mut trainer(), targets(), |net| {
        // The sum of all samples goes through a layer.
        net.forward(x.clone()) + net.output.forward(net.hidden.forward(x.clone()).sum_dim(0))
    });
    let of_one = |error: &_| matches!(error, ModelError::LayerInput { shape, samples: SAMPLES } if shape == &[1, 9]);
    assert!(matches!(&error, TrainerError::Model(error) if of_one(error)), "{error}");
}

#[test]
fn parameters_that_are_not_used_are_refused() {
    let x = inputs();
    let mut trainer = trainer();
    let error = refused(&mut trainer, targets(), |net| {
        net.output.forward(Tensor::<2>::zeros([SAMPLES, SIZES[1]], (&device(), x.dtype())))
    });
    assert!(matches!(&error, TrainerError::UnusedParameter { name } if name == "hidden.weight"), "{error}");
    let error = refused(&mut trainer, targets(), |_| targets());
    assert!(matches!(&error, TrainerError::UnusedParameter { name } if name == "hidden.weight"), "{error}");
}

#[test]
fn modules_that_do_not_fit_are_refused() {
    let x = inputs();
    let mut forward = |net: &Net| net.forward(x.clone());
    let mut trainer = trainer();
    let mut net = start::<f32, _>(Net::new());
    let error = trainer.step_in_place(&mut net, targets(), &mut forward).unwrap_err();
    assert!(matches!(&error, TrainerError::DType { name, .. } if name == "hidden.weight"), "{error}");
    let frozen = start::<f64, _>(Net::new()).freeze();
    let error = trainer.step(frozen, targets(), &mut forward).unwrap_err();
    assert!(matches!(error, TrainerError::NoParameters), "{error}");
    let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(&Device::flex());
    let mut net = Net { hidden: layer(SIZES[0], SIZES[1]), output: layer(SIZES[1], SIZES[2]) };
    let error = trainer.step_in_place(&mut net, targets(), &mut forward).unwrap_err();
    assert!(error.to_string().contains("autodiff"), "{error}");
    // Another module of the same shape is one that was loaded; of another shape it is another.
    trainer.step(start::<f64, _>(Net::new()), targets(), &mut forward).unwrap();
    trainer.step(start::<f64, _>(Net::new()), targets(), &mut forward).unwrap();
    let mut net = start::<f64, _>(Net::new());
    net.output.bias = None;
    let error = trainer.step_in_place(&mut net, targets(), &mut forward).unwrap_err();
    assert!(matches!(&error, TrainerError::ChangedModule { name } if name == "output.bias"), "{error}");
    net.output.bias = Some(Param::from_tensor(tensor::<f64, 1>([2], 0.0)));
    let error = trainer.step_in_place(&mut net, targets(), &mut forward).unwrap_err();
    assert!(matches!(&error, TrainerError::ChangedModule { name } if name == "output.bias"), "{error}");
}

#[test]
fn a_panic_in_the_closure_ends_recording() {
    let x = inputs();
    let net = start::<f64, _>(Net::new());
    let mut trainer = trainer();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = trainer.step(net.clone(), targets(), |net| -> Tensor<2> {
            net.forward(x.clone());
            panic!("the closure fails")
        });
    }));
    assert!(panicked.is_err());
    // Layers would panic, or keep all that goes through them.
    let gradients = net.forward(x.clone()).backward();
    assert!(net.hidden.weight.grad(&gradients).is_some());
    assert!(trainer.step(net, targets(), |net| net.forward(x.clone())).unwrap().1.is_recorded);
}
