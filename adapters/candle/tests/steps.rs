//! Steps on candle's models against those on the same networks of marquardt, and what goes wrong.

use candle_core::{DType, Device, Module, Result, Tensor, Var};
use candle_nn::{VarBuilder, VarMap};
use marquardt::nn::{Loss, MeanSquaredError, Network, Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::{Adam, Optimizer};
use marquardt::{Acceleration, LevenbergMarquardt, LinearForm, Variables};
use marquardt_candle::{
    Element, Embedding, LayerNorm, LeastSquaresTrainer, Linear, TrainerError, embedding, layer_norm, linear,
};
use ndarray::Array2;

const SIZES: [usize; 3] = [3, 9, 4];
const SAMPLES: usize = 24;

/// Numbers without a pattern.
fn wave(count: usize, phase: f64) -> Vec<f64> {
    (0..count).map(|k| (k as f64 * 0.7 + phase).sin()).collect()
}

/// A tensor of such numbers.
fn tensor<T: Element>(shape: (usize, usize), phase: f64) -> Result<Tensor> {
    Tensor::from_vec(wave(shape.0 * shape.1, phase), shape, &Device::Cpu)?.to_dtype(T::DTYPE)
}

/// Weights that are the same in every run: candle's own starts have no seed.
fn start(varmap: &VarMap) {
    for (name, var) in varmap.data().lock().unwrap().iter() {
        let values = wave(var.elem_count(), name.len() as f64);
        var.set(&Tensor::from_vec(values, var.shape(), &Device::Cpu).unwrap()).unwrap();
    }
}

fn labels() -> Result<Tensor> {
    let labels: Vec<u32> = (0..SAMPLES as u32).map(|i| (i * i / 3) % SIZES[2] as u32).collect();
    Tensor::from_vec(labels, SAMPLES, &Device::Cpu)
}

fn array<T: Element>(tensor: &Tensor) -> Result<Array2<T>> {
    let columns = tensor.elem_count() / SAMPLES;
    let numbers = tensor.to_dtype(T::DTYPE)?.flatten_all()?.to_vec1::<T>()?;
    Array2::from_shape_vec((SAMPLES, columns), numbers).map_err(candle_core::Error::wrap)
}

/// Two layers, of this crate or of candle.
struct Net<L> {
    hidden: L,
    output: L,
}

impl<L: Module> Net<L> {
    fn new(vb: VarBuilder, layer: fn(usize, usize, VarBuilder) -> Result<L>) -> Result<Self> {
        Ok(Net { hidden: layer(SIZES[0], SIZES[1], vb.pp("a"))?, output: layer(SIZES[1], SIZES[2], vb.pp("b"))? })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.output.forward(&self.hidden.forward(x)?.tanh()?)
    }
}

/// The same network of marquardt's, with the weights of the map, which come bias first in the order of names.
fn own_network<T: Element>(varmap: &VarMap, loss: impl Loss<T> + 'static) -> Result<(Network<T>, Variables<T>)> {
    let mut variables = Variables::new();
    let layers = Sequential::new(SIZES[0]).dense(SIZES[1]).tanh().dense(SIZES[2]);
    let network = layers.compile(&mut variables, 0, loss).map_err(candle_core::Error::wrap)?;
    let data = varmap.data().lock().unwrap();
    let mut numbers = Vec::new();
    for name in ["a.weight", "a.bias", "b.weight", "b.bias"] {
        numbers.extend(data[name].flatten_all()?.to_vec1::<T>()?);
    }
    variables.values_mut().copy_from_slice(&numbers);
    Ok((network, variables))
}

fn largest_difference<T: Element>(found: &[T], expected: &[T]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).fold(0.0, |largest, (&a, &b)| largest.max((num(a) - num(b)).abs()))
}

fn num<T: Element>(number: T) -> f64 {
    marquardt::Real::to_f64(number)
}

fn agree<T: Element>(loss: fn() -> BoxedLoss<T>, targets: &Tensor, tolerance: f64) {
    let x = tensor::<T>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, T::DTYPE, &Device::Cpu), linear).unwrap();
    let (mut network, mut variables) = own_network::<T>(&varmap, loss()).unwrap();
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
        let names = ["a.bias", "a.weight", "b.bias", "b.weight"];
        let data = varmap.data().lock().unwrap();
        let held = names.iter().flat_map(|&name| data[name].flatten_all().unwrap().to_vec1::<T>().unwrap());
        assert_eq!(held.collect::<Vec<T>>(), trainer.variables().values());
    }
}

/// A loss of a type that is known late.
#[derive(Debug)]
struct BoxedLoss<T>(Box<dyn Loss<T>>);

impl<T: Element> Loss<T> for BoxedLoss<T> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn targets(&self) -> marquardt::nn::Targets {
        self.0.targets()
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        self.0.values(outputs, width, targets, losses);
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        self.0.gradients(outputs, width, targets, gradients);
    }

    fn least_squares(&self) -> Option<&dyn marquardt::nn::GaussNewton<T>> {
        self.0.least_squares()
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
    let (mut network, mut variables) = own_network::<f64>(&varmap, MeanSquaredError).unwrap();
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

/// A table, positions, a normalisation, and a layer that is used at all positions.
struct Sequence {
    table: Embedding,
    norm: LayerNorm,
    mix: Linear,
    output: Linear,
}

impl Sequence {
    fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Sequence {
            table: embedding(7, 5, vb.pp("table"))?,
            norm: layer_norm(5, 1e-5, vb.pp("norm"))?,
            mix: linear(5, 6, vb.pp("mix"))?,
            output: linear(6, 2, vb.pp("output"))?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let hidden = self.mix.forward(&self.norm.forward(&self.table.forward(x)?)?)?.tanh()?;
        self.output.forward(&hidden.mean(1)?)
    }
}

#[test]
fn sequences_are_recorded() {
    let numbers: Vec<u32> = (0..SAMPLES as u32 * 4).map(|i| (i * i / 3 + i) % 7).collect();
    let x = Tensor::from_vec(numbers, (SAMPLES, 4), &Device::Cpu).unwrap();
    let targets = tensor::<f64>((SAMPLES, 2), 1.1).unwrap();
    let varmap = VarMap::new();
    let net = Sequence::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu)).unwrap();
    start(&varmap);
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let reports: Vec<_> = (0..30).map(|_| trainer.step(&targets, || net.forward(&x)).unwrap()).collect();
    // A gradient by the layers was compared with candle's: they are all that there is.
    assert!(reports.iter().all(|report| report.is_recorded));
    assert!(reports[29].step.loss < 0.9 * reports[0].step.loss, "{:?}, {:?}", reports[0], reports[29]);
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

#[test]
fn bad_input_is_refused_by_name_and_the_map_is_as_before() {
    let varmap = VarMap::new();
    let none = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).err().unwrap();
    assert!(matches!(none, TrainerError::NoVariables), "{none}");
    let vb = VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu);
    let net = Net::new(vb.clone(), linear).unwrap();
    let wrong = LeastSquaresTrainer::<f32>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).err().unwrap();
    assert!(matches!(&wrong, TrainerError::DType { name, .. } if name == "a.bias"), "{wrong}");

    let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let values = || {
        let mut named: Vec<(String, Vec<f64>)> = varmap
            .data()
            .lock()
            .unwrap()
            .iter()
            .map(|(name, var)| (name.clone(), var.flatten_all().unwrap().to_vec1().unwrap()))
            .collect();
        named.sort_by(|(a, _), (b, _)| a.cmp(b));
        named
    };
    let before = values();
    let mut refused = |targets: &Tensor, forward: &mut dyn FnMut() -> Result<Tensor>| {
        let error = trainer.step(targets, forward).unwrap_err();
        assert_eq!(values(), before, "{error}");
        error
    };
    let error = refused(&targets.narrow(0, 0, 5).unwrap(), &mut || net.forward(&x));
    assert!(
        matches!(&error, TrainerError::LayerInput { samples: 5, .. } | TrainerError::Batch { targets: 5, .. }),
        "{error}"
    );
    let error = refused(&targets.narrow(1, 0, 2).unwrap(), &mut || net.forward(&x));
    assert!(error.to_string().contains("target 0 must have 4 columns"), "{error}");
    let error = refused(&(&targets / 0.0).unwrap(), &mut || net.forward(&x));
    assert!(error.to_string().contains("row 1, column 1"), "{error}");
    let error = refused(&targets, &mut || net.forward(&x)? / 0.0);
    assert!(matches!(error, TrainerError::Optimizer(_)), "{error}");
    let error = refused(&targets, &mut || candle_core::bail!("the device is out of memory"));
    assert!(matches!(&error, TrainerError::Candle(_)) && error.to_string().contains("out of memory"), "{error}");
    // The second call, at a trial point.
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
    assert!(matches!(&error, TrainerError::ChangingOutputs { .. }), "{error}");
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
    assert!(error.to_string().contains("mixes samples"), "{error}");
    assert_eq!(values(), before);

    // A variable that is not used.
    vb.get_with_hints((2, 2), "spare", candle_nn::Init::Const(1.0)).unwrap();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let error = trainer.step(&targets, || net.forward(&x)).unwrap_err();
    assert!(matches!(&error, TrainerError::UnusedVariable { name } if name == "spare"), "{error}");
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

/// A state goes on where it was left, with the weights of candle's own file.
#[test]
fn trainings_are_resumed() {
    let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
    let model = || {
        let varmap = VarMap::new();
        let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu), linear).unwrap();
        let trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
        (varmap, net, trainer)
    };
    let (varmap, net, mut trainer) = model();
    for _ in 0..3 {
        trainer.step(&targets, || net.forward(&x)).unwrap();
    }
    let path = std::env::temp_dir().join(format!("marquardt-candle-{}.safetensors", std::process::id()));
    varmap.save(&path).unwrap();
    let state = trainer.optimizer().state();
    let expected = trainer.step(&targets, || net.forward(&x)).unwrap();

    let (mut varmap, net, mut trainer) = model();
    varmap.load(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    trainer.restore(&state).unwrap();
    assert_eq!(trainer.step(&targets, || net.forward(&x)).unwrap(), expected);
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
