//! Steps on burn's modules against those on the same networks of marquardt, and what goes wrong.

mod common;
mod refusals;

use burn::module::{Module, ParamGroup};
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig};
use burn::tensor::activation::tanh;
use burn::tensor::{Int, Tensor, TensorData};
use common::{
    BoxedLoss, Net, PlainNet, SAMPLES, SIZES, array, device, labels, number, numbers, own_network, start, tensor,
};
use marquardt::LevenbergMarquardt;
use marquardt::linear::LinearForm;
use marquardt::nn::{MeanSquaredError, SparseCategoricalCrossentropy};
use marquardt::optim::{Adam, Optimizer};
use marquardt::solver::Acceleration;
use marquardt_burn::{
    Element, Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, LeastSquaresTrainer, Linear, LinearConfig,
};

fn agree<T: Element>(loss: fn() -> BoxedLoss<T>, targets: &Tensor<2>, tolerance: f64) {
    let x = tensor::<T, 2>([SAMPLES, SIZES[0]], 0.2);
    let mut net = start::<T, _>(Net::new());
    let (mut network, mut variables) = own_network::<T>(&net, loss());
    let (inputs, own_targets) = (array::<T, 2>(&x), array::<T, 2>(targets));
    // The network's second derivatives are exact, and the model's differences.
    let settings = || LevenbergMarquardt::<T>::new().with_acceleration(Acceleration::Never);
    let (mut optimizer, mut trainer) = (settings(), LeastSquaresTrainer::<T>::new(settings(), loss()));
    for step in 0..6 {
        let batch = network.batch(&[inputs.view()], &[own_targets.view()]).unwrap();
        let expected = optimizer.step(batch, &mut variables).unwrap();
        let found;
        (net, found) = trainer.step(net, targets.clone(), |net| net.forward(x.clone())).unwrap();
        assert!(found.is_recorded);
        let found = found.step;
        assert_eq!(found.applied, expected.applied, "step {step}");
        assert_eq!(found.damped.unwrap().linear_form, expected.damped.unwrap().linear_form);
        let difference = (number(found.loss) - number(expected.loss)).abs();
        assert!(difference <= tolerance * number(expected.loss), "step {step}");
        // The module holds what the trainer says, but for the rows of weights.
        let [weight, bias] = ["output.weight", "output.bias"].map(|name| trainer.variables().find(name).unwrap());
        let [weight, bias] = [weight, bias].map(|variable| trainer.variables().get(variable));
        let of_trainer: Vec<T> = weight.t().iter().chain(bias.iter()).copied().collect();
        let of_module =
            [numbers::<T, 2>(&net.output.weight), numbers::<T, 1>(&net.output.bias.as_ref().unwrap().val())];
        assert_eq!(of_module.concat(), of_trainer);
    }
}

#[test]
fn steps_are_those_of_the_same_network() {
    let values = [tensor::<f64, 2>([SAMPLES, SIZES[2]], 1.1), tensor::<f32, 2>([SAMPLES, SIZES[2]], 1.1)];
    agree::<f64>(|| BoxedLoss(Box::new(MeanSquaredError)), &values[0], 1e-9);
    agree::<f32>(|| BoxedLoss(Box::new(MeanSquaredError)), &values[1], 1e-3);
    let labels = labels().float().unsqueeze_dim(1);
    agree::<f64>(|| BoxedLoss(Box::new(SparseCategoricalCrossentropy)), &labels, 1e-9);
    agree::<f32>(|| BoxedLoss(Box::new(SparseCategoricalCrossentropy)), &labels, 1e-3);
}

/// Trains as the example `friedman` does, on fewer points: the same losses in the same steps, with accelerated steps.
#[test]
fn minibatches_take_the_steps_of_the_same_network() {
    const BATCH: usize = 64;
    let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(&device());
    #[derive(Module, Debug)]
    struct Deep {
        layers: Vec<Linear>,
    }
    let mut net = start::<f64, _>(Deep { layers: vec![layer(10, 16), layer(16, 16), layer(16, 1)] });
    let scale = |t: Tensor<2>| t * 0.3;
    for layer in &mut net.layers {
        layer.weight = layer.weight.clone().map(|weight| scale(weight).detach().require_grad());
    }
    let forward = |net: &Deep, x: Tensor<2>| {
        let [first, second, third] = [0, 1, 2].map(|k| &net.layers[k]);
        third.forward(tanh(second.forward(tanh(first.forward(x)))))
    };
    let layers = marquardt::nn::Sequential::new(10).dense(16).tanh().dense(16).tanh().dense(1);
    let mut variables = marquardt::Variables::new();
    let mut network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
    let of_net = |net: &Deep| -> Vec<f64> {
        let of_layer = |layer: &Linear| {
            let bias = layer.bias.as_ref().unwrap().val();
            [numbers::<f64, 2>(&layer.weight.val().transpose()), numbers::<f64, 1>(&bias)].concat()
        };
        net.layers.iter().flat_map(of_layer).collect()
    };
    variables.values_mut().copy_from_slice(&of_net(&net));
    let mut optimizer = LevenbergMarquardt::<f64>::new();
    let mut trainer = LeastSquaresTrainer::<f64>::new(LevenbergMarquardt::new(), MeanSquaredError);
    let x = tensor::<f64, 2>([8 * BATCH, 10], 0.2);
    let y = (x.clone().narrow(1, 0, 1) * x.clone().narrow(1, 1, 1) * 3.0).sin() + x.clone().narrow(1, 2, 1).square();
    let mut last = 1.0;
    for step in 0..24 {
        let (x, y) = (x.clone().narrow(0, step % 8 * BATCH, BATCH), y.clone().narrow(0, step % 8 * BATCH, BATCH));
        let (inputs, targets) = (array::<f64, 2>(&x), array::<f64, 2>(&y));
        let batch = network.batch(&[inputs.view()], &[targets.view()]).unwrap();
        let expected = optimizer.step(batch, &mut variables).unwrap();
        let found;
        (net, found) = trainer.step(net, y, |net| forward(net, x.clone())).unwrap();
        assert_eq!(found.step.applied, expected.applied, "step {step}");
        last = expected.loss;
        let difference = (found.step.loss - last).abs();
        // Steps amplify the rounding errors of two orders of summation, relative to a loss that falls to 10⁻⁸.
        assert!(difference <= 1e-4 * last.max(1e-6), "step {step}: {} and {last}", found.step.loss);
    }
    assert!(last < 1e-3, "{last}");
}

#[test]
fn models_of_burns_own_layers_train_by_products() {
    let x = tensor::<f64, 2>([SAMPLES, SIZES[0]], 0.2);
    let targets = tensor::<f64, 2>([SAMPLES, SIZES[2]], 1.1);
    let mut net = start::<f64, _>(PlainNet::new());
    let mut trainer = LeastSquaresTrainer::<f64>::new(LevenbergMarquardt::new(), MeanSquaredError);
    let mut step = || trainer.step_in_place(&mut net, targets.clone(), |net| net.forward(x.clone())).unwrap();
    let reports: Vec<_> = (0..30).map(|_| step()).collect();
    assert!(reports.iter().all(|report| !report.is_recorded));
    assert_eq!(reports[0].step.damped.unwrap().linear_form, LinearForm::TruncatedConjugateGradients);
    assert!(reports[29].step.loss < 0.9 * reports[0].step.loss, "{:?}", reports[29]);
}

#[test]
fn first_order_optimizers_step_by_burns_gradients() {
    let x = tensor::<f64, 2>([SAMPLES, SIZES[0]], 0.2);
    let targets = tensor::<f64, 2>([SAMPLES, SIZES[2]], 1.1);
    let mut net = start::<f64, _>(Net::new());
    let (mut network, mut variables) = own_network::<f64>(&net, MeanSquaredError);
    let mut trainer = LeastSquaresTrainer::<f64, _>::new(Adam::new(0.01), MeanSquaredError);
    let mut adam = Adam::new(0.01);
    let (inputs, own_targets) = (array::<f64, 2>(&x), array::<f64, 2>(&targets));
    let mut calls = 0;
    for _ in 0..10 {
        let batch = network.batch(&[inputs.view()], &[own_targets.view()]).unwrap();
        let expected = adam.step(batch, &mut variables).unwrap().loss;
        let forward = |net: &Net| {
            calls += 1;
            net.forward(x.clone())
        };
        let found = trainer.step_in_place(&mut net, targets.clone(), forward).unwrap();
        assert!(!found.is_recorded && (found.step.loss - expected).abs() < 1e-12 * expected);
    }
    assert_eq!(calls, 10);
}

/// A table, positions, a normalisation, and a layer that is used at all positions.
#[derive(Module, Debug)]
struct Sequence {
    table: Embedding,
    norm: LayerNorm,
    mix: Linear,
    output: Linear,
}

impl Sequence {
    fn new() -> Self {
        let device = device();
        Sequence {
            table: EmbeddingConfig::new(7, 5).init(&device),
            norm: LayerNormConfig::new(5).init(&device),
            mix: LinearConfig::new(5, 6).init(&device),
            output: LinearConfig::new(6, 2).init(&device),
        }
    }

    fn forward(&self, x: Tensor<2, Int>) -> Tensor<2> {
        let hidden = tanh(self.mix.forward(self.norm.forward(self.table.forward(x))));
        self.output.forward(hidden.mean_dim(1).squeeze_dim(1))
    }
}

#[test]
fn sequences_are_recorded() {
    let numbers: Vec<i64> = (0..SAMPLES as i64 * 4).map(|i| (i * i / 3 + i) % 7).collect();
    let x = Tensor::<2, Int>::from_data(TensorData::new(numbers, [SAMPLES, 4]), &device());
    let targets = tensor::<f64, 2>([SAMPLES, 2], 1.1);
    let mut net = start::<f64, _>(Sequence::new());
    let mut trainer = LeastSquaresTrainer::<f64>::new(LevenbergMarquardt::new(), MeanSquaredError);
    let mut step = || trainer.step_in_place(&mut net, targets.clone(), |net| net.forward(x.clone())).unwrap();
    let reports: Vec<_> = (0..30).map(|_| step()).collect();
    // A gradient by the layers was compared with burn's: they are all that there is.
    assert!(reports.iter().all(|report| report.is_recorded));
    assert!(reports[29].step.loss < 0.9 * reports[0].step.loss, "{:?}, {:?}", reports[0], reports[29]);
}

#[test]
fn outside_of_steps_layers_are_burns_and_have_their_records() {
    let plain = start::<f64, _>(PlainNet::new());
    let net = Net::new().load_record(plain.clone().into_record());
    let x = tensor::<f64, 2>([SAMPLES, SIZES[0]], 0.2);
    assert_eq!(net.forward(x.clone()).to_data(), plain.forward(x.clone()).to_data());
    assert_eq!(net.to_string().replace("Net", "PlainNet"), plain.to_string());
    let gradients = net.forward(x).backward();
    assert!(net.hidden.weight.grad(&gradients).is_some());
    let back: burn::nn::Linear = net.hidden.clone().into();
    assert_eq!(Linear::from(back).weight.to_data(), plain.hidden.weight.to_data());
}

/// A weight that acts outside of its layer as well is noticed, and steps are made of products.
#[test]
fn tied_weights_are_noticed() {
    let net = start::<f64, _>(Net::new());
    let x = tensor::<f64, 2>([SAMPLES, SIZES[0]], 0.2);
    let targets = tensor::<f64, 2>([SAMPLES, SIZES[2]], 1.1);
    let mut trainer = LeastSquaresTrainer::<f64>::new(LevenbergMarquardt::new(), MeanSquaredError);
    let tied = |net: &Net| net.forward(x.clone()) + net.output.weight.val().sum().unsqueeze();
    let (_, report) = trainer.step(net, targets, tied).unwrap();
    assert!(!report.is_recorded && report.step.applied);
}

/// A state goes on where it was left, with the parameters of burn's own file.
#[test]
fn trainings_are_resumed() {
    let x = tensor::<f64, 2>([SAMPLES, SIZES[0]], 0.2);
    let targets = tensor::<f64, 2>([SAMPLES, SIZES[2]], 1.1);
    let trainer = || LeastSquaresTrainer::<f64>::new(LevenbergMarquardt::new(), MeanSquaredError);
    let mut net = start::<f64, _>(Net::new());
    let mut first = trainer();
    for _ in 0..3 {
        (net, _) = first.step(net, targets.clone(), |net| net.forward(x.clone())).unwrap();
    }
    let path = std::env::temp_dir().join(format!("marquardt-burn-{}.bpk", std::process::id()));
    net.clone().save_file(&path).unwrap();
    let state = serde_json::to_string(&first.optimizer().state()).unwrap();
    let mut expected = Vec::new();
    for _ in 0..3 {
        let report;
        (net, report) = first.step(net, targets.clone(), |net| net.forward(x.clone())).unwrap();
        expected.push(report);
    }

    let mut loaded = start::<f64, _>(Net::new()).load_file(&path);
    let mut second = trainer();
    second.restore(&loaded, &serde_json::from_str(&state).unwrap()).unwrap();
    for expected in expected {
        let report;
        (loaded, report) = second.step(loaded, targets.clone(), |net| net.forward(x.clone())).unwrap();
        assert_eq!(report, expected);
    }
    // burn reads files when it needs what is in them.
    std::fs::remove_file(path).unwrap();
    assert_eq!(first.variables().values(), second.variables().values());
    assert_eq!(loaded.output.weight.to_data(), net.output.weight.to_data());
}

/// Frozen parameters are constants, be it those of a layer or its bias alone.
#[test]
fn frozen_parameters_are_constants() {
    let x = tensor::<f64, 2>([SAMPLES, SIZES[0]], 0.2);
    let targets = tensor::<f64, 2>([SAMPLES, SIZES[2]], 1.1);
    let mut net = start::<f64, _>(Net::new());
    net.hidden = net.hidden.freeze();
    let group = ParamGroup::from_ids(vec![net.output.bias.as_ref().unwrap().id]);
    net = net.freeze_group(group);
    let before = net.clone();
    let mut trainer = LeastSquaresTrainer::<f64>::new(LevenbergMarquardt::new(), MeanSquaredError);
    let (net, report) = trainer.step(net, targets, |net| net.forward(x.clone())).unwrap();
    assert!(report.is_recorded && report.step.applied);
    assert_eq!(trainer.variables().values().len(), SIZES[1] * SIZES[2]);
    assert_eq!(net.hidden.weight.to_data(), before.hidden.weight.to_data());
    assert_eq!(net.output.bias.as_ref().unwrap().to_data(), before.output.bias.as_ref().unwrap().to_data());
    assert_ne!(net.output.weight.to_data(), before.output.weight.to_data());
}

#[derive(Module, Debug)]
struct Dropping {
    net: Net,
    dropout: Dropout,
}

/// The same numbers are dropped in all passes of a step, and others in the next step.
#[test]
fn masks_of_dropout_are_held_in_a_step() {
    let x = tensor::<f64, 2>([SAMPLES, SIZES[0]], 0.2);
    let targets = tensor::<f64, 2>([SAMPLES, SIZES[2]], 1.1);
    let mut net = start::<f64, _>(Dropping { net: Net::new(), dropout: DropoutConfig::new(0.4).init() });
    let mut trainer = LeastSquaresTrainer::<f64>::new(LevenbergMarquardt::new(), MeanSquaredError);
    let mut of_steps = Vec::new();
    for _ in 0..3 {
        let mut masks = Vec::new();
        let report;
        (net, report) = trainer
            .step(net, targets.clone(), |net| {
                let dropped = net.dropout.forward(x.ones_like());
                masks.push(dropped.to_data());
                net.net.forward(x.clone() * dropped)
            })
            .unwrap();
        assert!(report.is_recorded);
        assert!(masks.len() > 2 && masks.iter().all(|mask| *mask == masks[0]));
        of_steps.push(masks.swap_remove(0));
    }
    assert!(of_steps[0] != of_steps[1] && of_steps[1] != of_steps[2]);
}

#[derive(Module, Debug)]
pub struct Normalized {
    net: Net,
    norm: BatchNorm,
}

#[test]
fn batch_normalization_is_refused_unless_it_is_frozen() {
    let x = tensor::<f32, 2>([SAMPLES, SIZES[0]], 0.2);
    let targets = tensor::<f32, 2>([SAMPLES, SIZES[2]], 1.1);
    let mut net = Normalized { net: start::<f32, _>(Net::new()), norm: BatchNormConfig::new(SIZES[2]).init(&device()) };
    let mut trainer = LeastSquaresTrainer::<f32>::new(LevenbergMarquardt::new(), MeanSquaredError);
    let forward = |net: &Normalized| net.norm.forward::<2>(net.net.forward(x.clone()));
    let error = trainer.step_in_place(&mut net, targets.clone(), forward).unwrap_err();
    assert!(error.to_string().contains("batch normalisation norm is in training mode"), "{error}");
    let mut adam = LeastSquaresTrainer::<f32, _>::new(Adam::new(1e-3), MeanSquaredError);
    assert!(adam.step_in_place(&mut net, targets.clone(), forward).unwrap().step.applied);
    net.norm = net.norm.freeze();
    let mut trainer = LeastSquaresTrainer::<f32>::new(LevenbergMarquardt::new(), MeanSquaredError);
    assert!(trainer.step_in_place(&mut net, targets, forward).unwrap().is_recorded);
}
