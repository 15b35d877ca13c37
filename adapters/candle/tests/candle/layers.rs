//! Recorded layers other than dense ones.

use std::cell::RefCell;

use candle_core::{DType, Device, Module, ModuleT, Result, Tensor, Var};
use candle_nn::{Conv1dConfig, Conv2dConfig, VarBuilder, VarMap};
use marquardt::LevenbergMarquardt;
use marquardt::nn::{AveragePooling2D, Conv2D, MeanSquaredError, Padding, Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::Optimizer;
use marquardt::solver::Acceleration;
use marquardt_candle::{
    BatchNorm, Conv1d, Conv2d, Dropout, Element, Embedding, LayerNorm, LeastSquaresTrainer, Linear, batch_norm, conv1d,
    conv2d, conv2d_no_bias, embedding, layer_norm, linear, linear_no_bias,
};

use crate::{Net, SAMPLES, SIZES, largest_difference, num, numbers_of, own_network, start, tensor, wave};

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

fn scale(varmap: &VarMap, share: f64) {
    for var in varmap.all_vars() {
        var.set(&(var.as_tensor() * share).unwrap()).unwrap();
    }
}

/// Twenty steps on a convolutional network, here and there; the losses before the last.
fn convolutions_agree<T: Element>(tolerance: f64) {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, T::DTYPE, &Device::Cpu);
    let strided = Conv2dConfig { padding: 1, stride: 2, ..Conv2dConfig::default() };
    let first = conv2d(2, 5, 3, Conv2dConfig::default(), vb.pp("0")).unwrap();
    let second = conv2d_no_bias(5, 6, 3, strided, vb.pp("3")).unwrap();
    let output = linear(6 * 2 * 2, 3, vb.pp("6")).unwrap();
    start(&varmap);
    scale(&varmap, 0.3);
    let explicit = Padding::Explicit { rows: 1, columns: 1 };
    let layers = Sequential::image(2, 10, 10)
        .push(Conv2D::new(5, [3, 3]))
        .tanh()
        .push(AveragePooling2D::new([2, 2]))
        .push(Conv2D::new(6, [3, 3]).with_strides([2, 2]).with_padding(explicit).without_bias())
        .tanh()
        .flatten()
        .dense(3);
    let (mut network, mut variables) = own_network::<T>(layers, &varmap, SparseCategoricalCrossentropy);
    // The network's second derivatives are exact, and the model's differences.
    let settings = || LevenbergMarquardt::<T>::new().with_acceleration(Acceleration::Never);
    let mut optimizer = settings();
    let mut trainer = LeastSquaresTrainer::<T>::new(&varmap, settings(), SparseCategoricalCrossentropy).unwrap();
    let mut difference = f64::INFINITY;
    for _ in 0..20 {
        let pixels: Vec<T> =
            wave(SAMPLES * 200, 0.0).into_iter().map(<T as marquardt::number::Number>::from_f64).collect();
        let classes: Vec<T> = (0..SAMPLES)
            .map(|sample| num(pixels[200 * sample]) + 0.3 * num(pixels[200 * sample + 7]))
            .map(|sum| {
                <T as marquardt::number::Number>::from_f64(if sum > 0.4 {
                    2.0
                } else if sum > -0.4 {
                    1.0
                } else {
                    0.0
                })
            })
            .collect();
        let images = ndarray::Array2::from_shape_vec((SAMPLES, 200), pixels.clone()).unwrap();
        let labels = ndarray::Array2::from_shape_vec((SAMPLES, 1), classes.clone()).unwrap();
        let batch = network.batch(&[images.view()], &[labels.view()]).unwrap();
        let expected = optimizer.step(batch, &mut variables).unwrap();
        let x = Tensor::from_vec(pixels, (SAMPLES, 2, 10, 10), &Device::Cpu).unwrap();
        let y = Tensor::from_vec(classes, (SAMPLES, 1), &Device::Cpu).unwrap();
        let forward = || -> Result<Tensor> {
            let pooled = first.forward(&x)?.tanh()?.avg_pool2d(2)?;
            output.forward(&second.forward(&pooled)?.tanh()?.flatten_from(1)?)
        };
        let found = trainer.step(&y, forward).unwrap();
        assert!(found.is_recorded);
        assert_eq!(found.step.damped.unwrap().linear_form, expected.damped.unwrap().linear_form);
        difference = (num(found.step.loss) - num(expected.loss)).abs();
    }
    assert!(difference <= tolerance, "{difference:e}");
}

#[test]
fn convolutional_networks_step_as_the_same_network() {
    convolutions_agree::<f64>(1e-9);
    convolutions_agree::<f32>(1e-5);
}

/// Strides, padding, dilation, groups, with and without a bias: a gradient by the layers is compared with candle's in the first step,
/// and steps are recorded only where they agree. Outside of steps the layer is candle's to the last bit.
#[test]
fn all_settings_of_convolutions_are_recorded() {
    let x = Tensor::from_vec(wave(SAMPLES * 4 * 7 * 6, 0.3), (SAMPLES, 4, 7, 6), &Device::Cpu).unwrap();
    let line = x.reshape((SAMPLES, 4, 42)).unwrap();
    for (padding, stride, dilation, groups) in [(0, 1, 1, 1), (1, 2, 1, 2), (2, 1, 2, 4), (3, 3, 2, 1)] {
        let varmap = VarMap::new();
        let vb = VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu);
        let config = Conv2dConfig { padding, stride, dilation, groups, ..Conv2dConfig::default() };
        let image = conv2d(4, 8, 3, config, vb.pp("image")).unwrap();
        let config = Conv1dConfig { padding, stride, dilation, groups, ..Conv1dConfig::default() };
        let row = conv1d(4, 4, 3, config, vb.pp("row")).unwrap();
        let output = linear_no_bias(12, 2, vb.pp("output")).unwrap();
        start(&varmap);
        let forward = || -> Result<Tensor> {
            // The same twice, so that what comes first has sensitivities from the second.
            let seen = image.forward(&x.tanh()?)?.tanh()?.mean((2, 3))?;
            output.forward(&Tensor::cat(&[seen, row.forward(&line)?.tanh()?.mean(2)?], 1)?)
        };
        let plain = candle_nn::Conv2d::new(image.weight().clone(), image.bias().cloned(), *image.config());
        let bits = |y: Tensor| y.flatten_all().unwrap().to_vec1::<f64>().unwrap();
        assert_eq!(bits(image.forward(&x).unwrap()), bits(plain.forward(&x).unwrap()));
        let targets = tensor::<f64>((SAMPLES, 2), 1.1).unwrap();
        let mut trainer =
            LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
        let reports: Vec<_> = (0..8).map(|_| trainer.step(&targets, forward).unwrap()).collect();
        assert!(reports.iter().all(|report| report.is_recorded), "{padding} {stride} {dilation} {groups}");
        assert!(reports[7].step.loss < reports[0].step.loss);
    }
}

/// Convolutions one after the other: images have gradients, too.
#[test]
fn gradients_go_through_convolutions() {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu);
    let config = Conv2dConfig { padding: 1, groups: 2, ..Conv2dConfig::default() };
    let first: Conv2d = conv2d(2, 4, 3, config, vb.pp("a")).unwrap();
    let second: Conv1d = conv1d(4, 4, 5, Conv1dConfig { padding: 2, ..Conv1dConfig::default() }, vb.pp("b")).unwrap();
    let output: Linear = linear(4, 2, vb.pp("c")).unwrap();
    start(&varmap);
    let x = Tensor::from_vec(wave(SAMPLES * 2 * 36, 0.4), (SAMPLES, 2, 6, 6), &Device::Cpu).unwrap();
    let targets = tensor::<f64>((SAMPLES, 2), 1.1).unwrap();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    let forward = || -> Result<Tensor> {
        let seen = second.forward(&first.forward(&x)?.tanh()?.flatten_from(2)?)?;
        output.forward(&seen.tanh()?.mean(2)?)
    };
    assert!((0..5).all(|_| trainer.step(&targets, forward).unwrap().is_recorded));
}

/// All passes of a step see the same masks, and the next step sees others.
#[test]
fn masks_are_held_during_a_step() {
    let train = |seed: u64| {
        let varmap = VarMap::new();
        let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu), linear).unwrap();
        start(&varmap);
        let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
        let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
        let dropout = Dropout::new(0.4);
        let trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
        let mut trainer = trainer.with_seed(seed);
        let mut of_steps = Vec::new();
        for _ in 0..3 {
            let seen = RefCell::new(Vec::new());
            let report = trainer.step(&targets, || {
                let hidden = net.hidden.forward(&x)?.tanh()?;
                let mask = dropout.forward(&hidden.ones_like()?, true)?;
                seen.borrow_mut().push(mask.flatten_all()?.to_vec1::<f64>()?);
                net.output.forward(&dropout.forward_t(&(hidden * mask)?, true)?)
            });
            assert!(report.unwrap().is_recorded);
            let seen = seen.into_inner();
            assert!(seen.len() > 1 && seen.iter().all(|mask| *mask == seen[0]));
            of_steps.push(seen[0].clone());
        }
        assert!(of_steps[0] != of_steps[1] && of_steps[1] != of_steps[2]);
        numbers_of(&varmap)
    };
    assert_eq!(train(1), train(1));
    assert_ne!(train(1), train(2));
}

/// A normalisation by statistics that were found before: recorded, and the statistics stay.
#[test]
fn batch_normalisation_is_recorded_where_it_normalises_by_running_statistics() {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu);
    let convolution = conv1d(3, 5, 2, Conv1dConfig::default(), vb.pp("convolution")).unwrap();
    let [images, rows]: [BatchNorm; 2] = ["images", "rows"].map(|name| batch_norm(5, 1e-3, vb.pp(name)).unwrap());
    let output = linear(5, 2, vb.pp("output")).unwrap();
    start(&varmap);
    for name in ["images", "rows"] {
        for (statistic, value) in [("running_mean", 0.1), ("running_var", 0.7)] {
            let var = varmap.data().lock().unwrap()[&format!("{name}.{statistic}")].clone();
            var.set(&(var.ones_like().unwrap() * value).unwrap()).unwrap();
        }
    }
    let statistics = |varmap: &VarMap| -> Vec<_> {
        numbers_of(varmap).into_iter().filter(|(name, _)| name.contains("running")).collect()
    };
    let before = statistics(&varmap);
    let x = Tensor::from_vec(wave(SAMPLES * 3 * 6, 0.4), (SAMPLES, 3, 6), &Device::Cpu).unwrap();
    let forward = || -> Result<Tensor> {
        let seen = images.forward_t(&convolution.forward(&x)?, false)?.tanh()?;
        output.forward(&rows.forward_t(&seen.mean(2)?, false)?)
    };
    let plain = {
        let data = varmap.data().lock().unwrap();
        let [mean, var, weight, bias] = ["running_mean", "running_var", "weight", "bias"]
            .map(|name| data[&format!("rows.{name}")].as_tensor().clone());
        candle_nn::BatchNorm::new(5, mean, var, weight, bias, 1e-3).unwrap()
    };
    let row = tensor::<f64>((SAMPLES, 5), 0.1).unwrap();
    let bits = |y: Tensor| y.flatten_all().unwrap().to_vec1::<f64>().unwrap();
    assert_eq!(bits(rows.forward_t(&row, false).unwrap()), bits(plain.forward_t(&row, false).unwrap()));
    let targets = tensor::<f64>((SAMPLES, 2), 1.1).unwrap();
    let mut trainer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError).unwrap();
    for _ in 0..5 {
        let report = trainer.step(&targets, forward).unwrap();
        assert!(report.is_recorded && report.step.applied);
    }
    assert_eq!(statistics(&varmap), before);
}

/// Trains the last layer of a model that was trained before; the others are constants.
#[test]
fn selected_variables_are_trained_alone() {
    let varmap = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &Device::Cpu), linear).unwrap();
    start(&varmap);
    let before = numbers_of(&varmap);
    let x = tensor::<f64>((SAMPLES, SIZES[0]), 0.2).unwrap();
    let targets = tensor::<f64>((SAMPLES, SIZES[2]), 1.1).unwrap();
    let of_output = |name: &str| name.starts_with("2.");
    let optimizer = LevenbergMarquardt::new();
    let mut trainer = LeastSquaresTrainer::<f64>::of_selected(&varmap, optimizer, MeanSquaredError, of_output).unwrap();
    let report = trainer.step(&targets, || net.forward(&x)).unwrap();
    assert!(report.is_recorded && report.step.applied);
    for ((name, before), (_, after)) in before.iter().zip(numbers_of(&varmap)) {
        assert_eq!(*before != after, of_output(name), "{name}");
    }
}

/// Functions in vector instructions have candle's values and gradients.
#[test]
fn activations_are_candles() {
    fn compare<T: Element>(own: fn(&Tensor) -> Result<Tensor>, candles: fn(&Tensor) -> Result<Tensor>) {
        let numbers = tensor::<T>((7, 9), 0.3).unwrap();
        let x = Var::from_tensor(&(numbers * 4.0).unwrap()).unwrap();
        // A transposed tensor is not contiguous.
        let [found, expected] = [own, candles].map(|function| {
            let y = function(&x.t().unwrap()).unwrap();
            let weighted = (&y * tensor::<T>((9, 7), 1.1).unwrap()).unwrap();
            let gradients = weighted.sum_all().unwrap().backward().unwrap();
            let numbers = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1::<T>().unwrap();
            [numbers(&y), numbers(gradients.get(&x).unwrap())]
        });
        for (found, expected) in found.iter().zip(&expected) {
            assert!(largest_difference(found, expected) <= 8.0 * num(T::EPSILON));
        }
    }
    compare::<f32>(marquardt_candle::tanh, |x| x.tanh());
    compare::<f64>(marquardt_candle::tanh, |x| x.tanh());
    compare::<f32>(marquardt_candle::sigmoid, candle_nn::ops::sigmoid);
    compare::<f64>(marquardt_candle::sigmoid, candle_nn::ops::sigmoid);
    // Half precision is candle's own.
    let half = tensor::<f32>((2, 2), 0.1).unwrap().to_dtype(DType::F16).unwrap();
    assert_eq!(marquardt_candle::tanh(&half).unwrap().dtype(), DType::F16);
}
