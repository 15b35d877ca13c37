//! Summaries: what they list, that it adds up, and that the form that they mark is the one that is taken.

use marquardt::linear::LinearForm;
use marquardt::nn::{
    Conv2D, HalfSumOfSquares, LayerSummary, MeanAbsoluteError, MeanSquaredError, Network, Sequential, Shape, Summary,
    Tape, Window,
};
use marquardt::optim::Optimizer;
use marquardt::{LevenbergMarquardt, Real, Variables};
use ndarray::{Array1, Array2, Array4};
use proptest::prelude::*;

use crate::random::{build, recipes};

fn summary<T: Real>(layers: &Sequential<T>, rows: usize) -> Summary {
    let mut variables = Variables::new();
    let network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
    network.summary(&variables, rows).unwrap()
}

/// The upper half of the table.
fn layer_table(summary: &Summary) -> String {
    summary.to_string().split("\n\n").next().unwrap().to_owned()
}

/// Numbers in the variables that nothing took before.
fn counts(layers: &[LayerSummary]) -> Vec<(&str, usize, bool)> {
    layers.iter().map(|layer| (layer.name.as_str(), layer.parameters, layer.shares_parameters)).collect()
}

fn flops(summary: &Summary, form: LinearForm) -> f64 {
    summary.steps.iter().find(|step| step.form == form).unwrap().cost.flops
}

#[test]
fn layers_are_listed_as_by_keras() {
    let inner = Sequential::new(36).dense(20).tanh().dense(36);
    let layers = Sequential::<f32>::image(1, 12, 12).conv2d(4, [3, 3]).relu().average_pooling2d([3, 3]).flatten();
    let layers = layers.residual(inner).push(Sequential::new(36).layer_normalization().dense(1000));
    let expected = "\
Layer (type)                Output shape           Param #
──────────────────────────────────────────────────────────
input (input)               (batch, 144)                 0
0 (conv2d)                  (batch, 4, 10, 10)          40
1 (relu)                    (batch, 4, 10, 10)           0
2 (average pooling)         (batch, 4, 3, 3)             0
3 (flatten)                 (batch, 36)                  0
4 (residual)                (batch, 36)              1,496
  4.0 (dense)               (batch, 20)                740
  4.1 (tanh)                (batch, 20)                  0
  4.2 (dense)               (batch, 36)                756
5 (sequential)              (batch, 1000)           37,072
  5.0 (layer normalization) (batch, 36)                 72
  5.1 (dense)               (batch, 1000)           37,000
──────────────────────────────────────────────────────────
Total params: 38,608 (151 KiB)
Trainable params: 38,608 (151 KiB)
Non-trainable params: 0 (0 B)";
    let found = layer_table(&summary(&layers, 10));
    let squeezed = |table: &str| table.replace('─', "").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(squeezed(&found), squeezed(expected), "{found}");
    let widths: Vec<usize> = found.lines().take(13).map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|&width| width == widths[0]), "{found}");
}

#[test]
fn what_is_recorded_by_hand_is_listed_by_operations_and_shared_variables_count_once() {
    let mut variables = Variables::<f64>::new();
    let filters = variables.add("filters", Array4::ones((2, 1, 3, 3)).view()).unwrap();
    let square = variables.add("square", Array2::ones((8, 8)).view()).unwrap();
    let bias = variables.add("bias", Array1::ones(8).view()).unwrap();
    variables.add("idle", Array1::ones(5).view()).unwrap();
    let mut tape = Tape::new();
    let x = tape.input(16);
    let image = tape.reshape(x, Shape::Image { channels: 1, height: 4, width: 4 }).unwrap();
    let y = tape.conv2d(image, filters, None, Window::new([3, 3])).unwrap();
    let y = tape.flatten(y);
    let y = tape.dense(y, square, None).unwrap();
    let y = tape.tanh(y);
    let y = tape.dense(y, square, Some(bias)).unwrap();
    let y = tape.tanh(y);
    let y = Sequential::new(8).named("head").dense(1).append(&mut tape, y, &mut variables, 0).unwrap();
    let y = tape.square(y);
    variables.set_trainable(square, false);
    let network = Network::new(tape, &variables).unwrap().with_loss(y, HalfSumOfSquares).unwrap();

    let summary = network.summary(&variables, 10).unwrap();
    let expected = [
        ("input", 0, false),
        ("take", 0, false),
        ("dense", 18, false),
        ("take_1", 0, false),
        ("dense_1", 64, false),
        ("tanh", 0, false),
        ("dense_2", 8, true),
        ("tanh_1", 0, false),
        ("head.0", 9, false),
        ("square", 0, false),
    ];
    assert_eq!(counts(&summary.layers), expected);
    assert_eq!(summary.layers[3].output, Shape::Image { channels: 2, height: 2, width: 2 });
    assert_eq!((summary.parameters, summary.trainable_parameters), (104, 40));
    assert_eq!((summary.frozen_parameters(), summary.unused_parameters), (64, 5));
    assert_eq!(summary.parameter_bytes(), 832);
    let text = summary.to_string();
    assert!(text.contains("shared + 8\n") && text.contains("Unused params: 5 (40 B)\n"), "{text}");
}

#[test]
fn layers_that_failed_are_not_listed() {
    let mut variables = Variables::<f64>::new();
    let mut tape = Tape::new();
    let x = tape.input(3);
    Sequential::new(3).dense(2).push(Sequential::new(9).tanh()).append(&mut tape, x, &mut variables, 0).unwrap_err();
    let y = Sequential::new(3).dense(2).append(&mut tape, x, &mut variables, 0).unwrap();
    let network = Network::new(tape, &variables).unwrap().with_loss(y, MeanSquaredError).unwrap();
    let summary = network.summary(&variables, 1).unwrap();
    assert_eq!(counts(&summary.layers), [("input", 0, false), ("0", 8, false)]);
}

#[test]
fn flops_are_those_of_the_matrix_products_and_functions() {
    let layers = Sequential::<f64>::new(30).dense(20).tanh().dense(10);
    let (weights, activations) = ((30 * 20 + 20 * 10) as f64, 20.0);
    let of = |rows: usize| summary(&layers, rows);
    assert_eq!(of(7).forward.flops, 7.0 * (2.0 * weights + 20.0 * activations));
    // Gradients of all weights, and the adjoint of the hidden layer.
    assert_eq!(of(7).backward.unwrap().flops, 7.0 * (2.0 * weights + 2.0 * 200.0 + 3.0 * activations));
    // The first layer's values take a number for each position.
    let convolution = Sequential::<f64>::image(2, 9, 9).push(Conv2D::new(3, [2, 2]).without_bias());
    let mut variables = Variables::new();
    let network = convolution.compile(&mut variables, 0, MeanSquaredError).unwrap();
    let found = network.summary(&variables, 5).unwrap();
    assert_eq!(found.forward.flops, 5.0 * (2.0 * 64.0 * 8.0 * 3.0 + 64.0 * 8.0 + 64.0 * 3.0));

    let small = of(8);
    let large = of(16);
    assert!(large.forward.bytes < 2.0 * small.forward.bytes, "weights are read once");
    for (small, large) in small.steps.iter().zip(&large.steps) {
        assert!(small.cost.flops < large.cost.flops && small.cost.bytes < large.cost.bytes, "{small:?}, {large:?}");
        assert!(small.memory <= large.memory);
    }
    // `n³/3` in the one form, `m³/3` in the other.
    let (n, m) = (30.0 * 20.0 + 20.0 + 20.0 * 10.0 + 10.0, 160.0);
    let cholesky = flops(&large, LinearForm::Cholesky) - (m * n * n + n * n * n / 3.0);
    assert!(cholesky > 0.0 && cholesky < 0.01 * n * n * n, "{cholesky}");
    assert!(flops(&large, LinearForm::FactoredDual) < 0.1 * flops(&large, LinearForm::Cholesky));
}

#[test]
fn bytes_are_those_of_the_type() {
    let double = summary(&Sequential::<f64>::new(5).dense(7).tanh().dense(1), 9);
    let single = summary(&Sequential::<f32>::new(5).dense(7).tanh().dense(1), 9);
    assert_eq!((single.forward.flops, 2.0 * single.forward.bytes), (double.forward.flops, double.forward.bytes));
    assert_eq!((single.number_size, single.parameter_bytes()), (4, 4 * (42 + 8)));
    assert!(single.steps.iter().zip(&double.steps).all(|(single, double)| 2 * single.memory <= double.memory + 8));
}

/// The one that the engine takes.
#[test]
fn the_marked_form_is_the_one_that_is_taken() {
    for (widths, rows) in [([2, 3, 1], 100), ([2, 3, 1], 4), ([5, 30, 2], 10), ([5, 30, 2], 60), ([20, 10, 1], 200)] {
        let [input, hidden, output] = widths;
        let mut variables = Variables::<f64>::new();
        let layers = Sequential::new(input).dense(hidden).tanh().dense(output);
        let mut network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
        for frozen in [false, true] {
            variables.set_trainable(variables.find("0.weight").unwrap(), !frozen);
            let summary = network.summary(&variables, rows).unwrap();
            let wave = |(i, k)| ((3 * i + 7 * k) as f64 * 0.1).sin();
            let (x, y) = (Array2::from_shape_fn((rows, input), wave), Array2::from_shape_fn((rows, output), wave));
            network.batch(&[x.view()], &[y.view()]).unwrap();
            let report = LevenbergMarquardt::new().step(&mut network, &mut variables).unwrap();
            let damped = report.damped.unwrap();
            assert_eq!(summary.chosen_form(), Some(damped.linear_form), "{widths:?}, {rows}, {frozen}");
            assert_eq!((summary.residuals, summary.trainable_parameters), (damped.rows, damped.columns));
        }
    }
}

#[test]
fn there_are_no_steps_where_none_can_be_made() {
    let layers = Sequential::<f64>::new(4).dense(2);
    let mut variables = Variables::new();
    let network = layers.compile(&mut variables, 0, MeanAbsoluteError).unwrap();
    let found = network.summary(&variables, 8).unwrap();
    assert!(found.steps.is_empty() && found.backward.is_some() && found.chosen_form().is_none());
    assert!(found.to_string().ends_with(&format!("No LM step: {}\n", found.not_least_squares.clone().unwrap())));

    let mut variables = Variables::new();
    let network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
    assert!(network.summary(&variables, 0).unwrap().steps.is_empty());
    for variable in variables.iter().collect::<Vec<_>>() {
        variables.set_trainable(variable, false);
    }
    let found = network.summary(&variables, 8).unwrap();
    assert!(found.steps.is_empty() && found.not_least_squares.is_none());
    assert_eq!((found.trainable_parameters, found.frozen_parameters()), (0, 10));

    let mut variables = Variables::new();
    let model = layers.build(&mut variables, 0).unwrap();
    let found = Network::new(model.tape, &variables).unwrap().summary(&variables, 8).unwrap();
    assert!(found.steps.is_empty() && found.backward.is_none());
    assert_eq!((found.residuals, found.forward.flops), (0, 8.0 * 16.0));
}

#[test]
fn a_batch_beyond_all_memory_has_a_summary() {
    let summary = summary(&Sequential::<f64>::new(4).dense(2).tanh().dense(1), usize::MAX);
    // The normal equations do not grow with the rows.
    assert_eq!(summary.chosen_form(), Some(LinearForm::Cholesky));
    assert!(summary.to_string().lines().count() > 10);
}

#[test]
fn other_variables_are_refused() {
    let mut variables = Variables::<f64>::new();
    let network = Sequential::new(4).dense(2).compile(&mut variables, 0, MeanSquaredError).unwrap();
    let message = |variables: &Variables<f64>| network.summary(variables, 1).unwrap_err().to_string();
    assert_eq!(message(&Variables::new()), "the network was made for variables of 10 numbers, but these hold 0");
    let mut others = Variables::new();
    others.add("all", Array1::zeros(10).view()).unwrap();
    assert_eq!(message(&others), "the variables are not those that the network was made for");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parameters_add_up_and_estimates_grow(recipe in recipes(1..6)) {
        let built = build(&recipe);
        let of = |rows: usize| built.network.summary(&built.variables, rows).unwrap();
        let summary = of(recipe.rows);
        let taken: usize = summary.layers.iter().filter(|layer| layer.depth == 0).map(|layer| layer.parameters).sum();
        prop_assert_eq!(taken + summary.unused_parameters, built.variables.values().len());
        prop_assert_eq!(summary.parameters, built.variables.values().len());
        let trainable: usize = built.variables.trainable_ranges().iter().map(|range| range.len()).sum();
        prop_assert_eq!(summary.trainable_parameters, trainable);
        prop_assert!(summary.to_string().lines().count() > summary.layers.len());
        prop_assert!(summary.chosen_form().is_some());

        let larger = of(recipe.rows + 1);
        let costs = |summary: &Summary| -> Vec<_> {
            let passes = [summary.forward, summary.backward.unwrap()];
            passes.into_iter().chain(summary.steps.iter().map(|step| step.cost)).collect()
        };
        for (small, large) in costs(&summary).into_iter().zip(costs(&larger)) {
            prop_assert!(small.flops.is_finite() && small.bytes.is_finite());
            prop_assert!(small.flops <= large.flops && small.bytes <= large.bytes, "{:?}, {:?}", small, large);
        }
        for (small, large) in summary.steps.iter().zip(&larger.steps) {
            prop_assert!(small.cost.flops < large.cost.flops && small.cost.bytes < large.cost.bytes);
            prop_assert!(small.memory <= large.memory);
        }
    }
}

/// Where conjugate gradients are estimated to cost less than the factorisation of `JJᵀ`, a step of training takes them, and the summary says so.
#[test]
fn conjugate_gradients_that_stand_in_are_shown() {
    let of = |hidden: usize, rows: usize| {
        let layers = Sequential::<f64>::new(784).dense(hidden).tanh().dense(10);
        let (mut variables, mut optimizer) = (Variables::new(), LevenbergMarquardt::new());
        let mut network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
        let summary = network.summary(&variables, rows).unwrap();
        let x = Array2::from_shape_fn((rows, 784), |(i, j)| ((i * 784 + j) as f64).sin());
        let y = Array2::from_shape_fn((rows, 10), |(i, j)| f64::from(u8::from(i % 10 == j)));
        network.batch(&[x.view()], &[y.view()]).unwrap();
        let step = optimizer.step(&mut network, &mut variables).unwrap();
        (summary, step.damped.unwrap().linear_form)
    };
    let (summary, form) = of(64, 128);
    assert_eq!(form, LinearForm::ConjugateGradients);
    let chosen = *summary.steps.iter().find(|step| step.is_chosen).unwrap();
    assert_eq!(chosen.form, LinearForm::FactoredDual);
    assert!(chosen.iterative.unwrap().time < chosen.cost.time, "{summary}");
    assert!(summary.to_string().contains("in training, conjugate gradients ← chosen"), "{summary}");
    let (summary, form) = of(8, 16);
    assert_eq!(form, LinearForm::FactoredDual);
    assert!(summary.steps.iter().all(|step| step.iterative.is_none()), "{summary}");
}
