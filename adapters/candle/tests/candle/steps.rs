//! Steps on dense layers.

use candle_core::{DType, Device, Module, Tensor, Var};
use candle_nn::{VarBuilder, VarMap};
use marquardt::LevenbergMarquardt;
use marquardt::linear::LinearForm;
use marquardt::nn::{MeanSquaredError, SparseCategoricalCrossentropy};
use marquardt::optim::{Adam, Optimizer};
use marquardt::solver::Acceleration;
use marquardt_candle::{Element, LeastSquaresTrainer, Linear, linear};

use crate::{
    BoxedLoss, Net, SAMPLES, SIZES, array, labels, largest_difference, num, own_layers, own_network, start, tensor,
};

fn agree<T: Element>(loss: fn() -> BoxedLoss<T>, targets: &Tensor, tolerance: f64) {
    let x = tensor::<T>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, T::DTYPE, &Device::Cpu), linear).unwrap();
    let (mut network, mut variables) = own_network(own_layers::<T>(), &varmap, loss());
    let (inputs, own_targets) = (array::<T>(&x).unwrap(), array::<T>(targets).unwrap());
    // The network's second derivatives are exact, and the model's differences.
    let settings = || LevenbergMarquardt::<T>::new().with_acceleration(Acceleration::Never);
    let (mut optimizer, mut trainer) =
        (settings(), LeastSquaresTrainer::<T>::new(&varmap, settings(), loss()).unwrap());
    for step in 0..6 {
        let batch = network.batch(&[inputs.view()], &[own_targets.view()]).unwrap();
        let expected = optimizer.step(batch, &mut variables).unwrap();
        let found = trainer.step(targets, || net.forward(&x)).unwrap();
        assert!(found.is_recorded);
        let (found, expected) = (found.step, expected);
        assert_eq!(found.applied, expected.applied, "step {step}");
        assert_eq!(found.damped.unwrap().linear_form, expected.damped.unwrap().linear_form);
        assert!((num(found.loss) - num(expected.loss)).abs() <= tolerance * num(expected.loss), "step {step}");
        // What the map holds is what the trainer says.
        let names = ["0.bias", "0.weight", "2.bias", "2.weight"];
        let data = varmap.data().lock().unwrap();
        let held = names.iter().flat_map(|&name| data[name].flatten_all().unwrap().to_vec1::<T>().unwrap());
        assert_eq!(held.collect::<Vec<T>>(), trainer.variables().values());
    }
}

#[test]
fn steps_are_those_of_the_same_network() {
    let values = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
    agree::<f64>(|| BoxedLoss(Box::new(MeanSquaredError)), &values, 1e-9);
    agree::<f32>(|| BoxedLoss(Box::new(MeanSquaredError)), &values, 1e-3);
    let labels = labels().unwrap();
    agree::<f64>(|| BoxedLoss(Box::new(SparseCategoricalCrossentropy)), &labels, 1e-9);
    agree::<f32>(|| BoxedLoss(Box::new(SparseCategoricalCrossentropy)), &labels, 1e-3);
}

#[test]
fn models_of_candles_own_layers_train_by_products() {
    let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu);
    let net = Net::new(vb, candle_nn::linear).unwrap();
    start(&varmap);
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let reports: Vec<_> = (0..30).map(|_| trainer.step(&targets, || net.forward(&x)).unwrap()).collect();
    assert!(reports.iter().all(|report| !report.is_recorded));
    assert_eq!(reports[0].step.damped.unwrap().linear_form, LinearForm::TruncatedConjugateGradients);
    assert!(reports[29].step.loss < 0.9 * reports[0].step.loss, "{:?}", reports[29]);
}

#[test]
fn first_order_optimizers_step_by_candles_gradients() {
    let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu), linear).unwrap();
    let (mut network, mut variables) = own_network(own_layers::<f64>(), &varmap, MeanSquaredError);
    let mut trainer = LeastSquaresTrainer::<f64, _>::new(&varmap, Adam::new(0.01), MeanSquaredError).unwrap();
    let mut adam = Adam::new(0.01);
    let (inputs, own_targets) = (array::<f64>(&x).unwrap(), array::<f64>(&targets).unwrap());
    for _ in 0..10 {
        let batch = network.batch(&[inputs.view()], &[own_targets.view()]).unwrap();
        let expected = adam.step(batch, &mut variables).unwrap().loss;
        let found = trainer.step(&targets, || net.forward(&x)).unwrap();
        assert!(!found.is_recorded && (found.step.loss - expected).abs() < 1e-12 * expected);
    }
}

#[test]
fn outside_of_steps_layers_are_candles() {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu);
    let net = Net::new(vb.clone(), linear).unwrap();
    let plain = Net::new(vb, candle_nn::linear).unwrap();
    let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let bits = |y: Tensor| y.flatten_all().unwrap().to_vec1::<f64>().unwrap();
    assert_eq!(bits(net.forward(&x).unwrap()), bits(plain.forward(&x).unwrap()));
    let gradients = net.forward(&x).unwrap().sum_all().unwrap().backward().unwrap();
    assert!(gradients.get(net.hidden.weight()).is_some());
}

/// A weight that acts outside of its layer as well is noticed, and steps are made of products.
#[test]
fn tied_weights_are_noticed() {
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu), linear).unwrap();
    let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let tied = || net.forward(&x)?.broadcast_add(&net.output.weight().sum_all()?);
    let report = trainer.step(&targets, tied).unwrap();
    assert!(!report.is_recorded && report.step.applied);
}

/// Variables that are not of the map are constants to the trainer.
#[test]
fn layers_of_other_maps_are_constants() {
    let (varmap, other) = (VarMap::new(), VarMap::new());
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu), linear).unwrap();
    let frozen = linear(3, 3, VarBuilder::from_varmap(&other, DType::F64, &Device::Cpu)).unwrap();
    let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
    let before: Vec<Var> = other.all_vars();
    let before: Vec<Vec<f64>> = before.iter().map(|var| var.flatten_all().unwrap().to_vec1().unwrap()).collect();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let report = trainer.step(&targets, || net.forward(&frozen.forward(&x)?)).unwrap();
    assert!(report.is_recorded && report.step.applied);
    let after = other.all_vars();
    let after: Vec<Vec<f64>> = after.iter().map(|var| var.flatten_all().unwrap().to_vec1().unwrap()).collect();
    assert_eq!(largest_difference(&before.concat(), &after.concat()), 0.0);
}

/// 64-64-10 on digits of 8 × 8 pixels.
#[test]
fn digits_are_learnt_as_by_the_same_network() {
    const FILE: &str = include_str!("../../../../examples/classify/digits.csv");
    let rows: Vec<Vec<f32>> =
        FILE.lines().map(|line| line.split(',').map(|number| number.parse().unwrap()).collect()).collect();
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let (hidden, output) = (linear(64, 64, vb.pp("0")).unwrap(), linear(64, 10, vb.pp("2")).unwrap());
    start(&varmap);
    for (name, var) in varmap.data().lock().unwrap().iter() {
        let share = if name.ends_with("bias") { 0.0 } else { 0.2 };
        var.set(&(var.as_tensor() * share).unwrap()).unwrap();
    }
    let layers = marquardt::nn::Sequential::new(64).dense(64).tanh().dense(10);
    let (mut network, mut variables) = own_network::<f32>(layers, &varmap, SparseCategoricalCrossentropy);
    // The network's second derivatives are exact, and the model's differences: with these, losses are up to 4e-5 apart after twenty steps.
    let settings = || LevenbergMarquardt::<f32>::new().with_acceleration(Acceleration::Never);
    let mut optimizer = settings();
    let mut trainer = LeastSquaresTrainer::<f32>::new(&varmap, settings(), SparseCategoricalCrossentropy).unwrap();
    for step in 0..20 {
        let rows = &rows[64 * step..64 * (step + 1)];
        let x: Vec<f32> = rows.iter().flat_map(|row| row[..64].iter().map(|grey| grey / 16.0)).collect();
        let y: Vec<f32> = rows.iter().map(|row| row[64]).collect();
        let (inputs, labels) = (
            ndarray::Array2::from_shape_vec((64, 64), x.clone()).unwrap(),
            ndarray::Array2::from_shape_vec((64, 1), y.clone()).unwrap(),
        );
        let batch = network.batch(&[inputs.view()], &[labels.view()]).unwrap();
        let expected = optimizer.step(batch, &mut variables).unwrap();
        let x = Tensor::from_vec(x, (64, 64), &Device::Cpu).unwrap();
        let y = Tensor::from_vec(y, (64, 1), &Device::Cpu).unwrap();
        let found = trainer.step(&y, || output.forward(&hidden.forward(&x)?.tanh()?)).unwrap();
        assert!(found.is_recorded);
        assert!((found.step.loss - expected.loss).abs() <= 1e-5, "step {step}: {:?}, {expected:?}", found.step);
    }
}

/// A bias that two weights share has a column of its own, beside the layers' factors; the first step compares them with candle's gradient.
#[test]
fn layers_that_share_a_bias_are_recorded() {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu);
    let [first, second] = ["first", "second"].map(|name| vb.get((12, 12), name).unwrap());
    let bias = vb.get(12, "bias").unwrap();
    start(&varmap);
    let (first, second) = (Linear::new(first, Some(bias.clone())), Linear::new(second, Some(bias)));
    let x = tensor::<f64>((SAMPLES, 12), 0.2).unwrap();
    let targets = tensor::<f64>((SAMPLES, 12), 1.1).unwrap();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let mut step = || trainer.step(&targets, || second.forward(&first.forward(&x)?.tanh()?)).unwrap();
    let reports: Vec<_> = (0..12).map(|_| step()).collect();
    assert!(reports.iter().all(|report| report.is_recorded));
    assert!(reports[11].step.loss < 0.1 * reports[0].step.loss, "{:?}", reports[11]);
}
