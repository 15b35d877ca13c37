//! Metrics by hand, and whatever the minibatches.

use marquardt::Variables;
use marquardt::nn::{
    BinaryCrossentropy, CategoricalCrossentropy, Loss, MeanSquaredError, Network, Node, Poisson,
    SparseCategoricalCrossentropy, Tape,
};
use marquardt::optim::Sgd;
use marquardt::train::{Accuracy, ConfusionMatrix, Logs, MeanError, Metric, R2Score, TrainError, Trainer};
use ndarray::{Array2, array};
use proptest::prelude::*;

/// A network that gives back its input, and has a variable for optimizers to look at.
fn identity(width: usize, loss: impl Loss<f64> + 'static) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let shift = variables.add("shift", Array2::<f64>::from_elem((1, width), 0.0).view()).unwrap();
    let mut tape = Tape::new();
    let x = tape.input(width);
    let shift: Node = tape.variable(shift);
    let y = tape.add(x, shift).unwrap();
    (Network::new(tape, &variables).unwrap().with_loss(y, loss).unwrap(), variables)
}

fn evaluate(
    loss: impl Loss<f64> + 'static,
    metric: impl Metric<f64> + 'static,
    outputs: &Array2<f64>,
    targets: &Array2<f64>,
) -> Result<Logs, TrainError> {
    let (mut network, mut variables) = identity(outputs.ncols(), loss);
    let mut optimizer = Sgd::new(0.1);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).metric(metric);
    trainer.evaluate(&[outputs.view()], &[targets.view()])
}

#[track_caller]
fn close(logs: Result<Logs, TrainError>, name: &str, expected: f64) {
    let value = logs.unwrap().get(name).unwrap();
    assert!((value - expected).abs() < 1e-15, "{name}: {value}");
}

#[test]
fn errors_are_means_over_samples_and_outputs() {
    let (outputs, targets) = (array![[1.0, 2.0], [3.0, 0.0]], array![[0.0, 2.0], [5.0, 1.0]]);
    close(evaluate(MeanSquaredError, MeanError::absolute(), &outputs, &targets), "mae", 1.0);
    close(evaluate(MeanSquaredError, MeanError::squared(), &outputs, &targets), "mse", 1.5);
    close(evaluate(MeanSquaredError, MeanError::root_squared(), &outputs, &targets), "rmse", 1.5_f64.sqrt());
    // 1 − 5 / 12.5 and 1 − 1 / 0.5.
    close(evaluate(MeanSquaredError, R2Score::new(), &outputs, &targets), "r2_score", (0.6 - 1.0) / 2.0);
}

#[test]
fn accuracy_is_chosen_by_the_targets() {
    let classes = array![[0.1, 2.0, -1.0], [3.0, 2.0, 1.0], [0.0, 0.5, 1.0], [1.0, 1.0, 0.0]];
    let labels = array![[1.0], [0.0], [1.0], [1.0]];
    close(evaluate(SparseCategoricalCrossentropy, Accuracy::new(), &classes, &labels), "accuracy", 0.5);
    let one_hot = array![[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]];
    close(evaluate(CategoricalCrossentropy, Accuracy::new(), &classes, &one_hot), "accuracy", 0.75);
    close(evaluate(MeanSquaredError, Accuracy::new(), &classes, &one_hot), "accuracy", 0.75);
    let (logits, binary) = (array![[0.3], [-0.1], [0.7], [-2.0]], array![[1.0], [1.0], [1.0], [0.0]]);
    close(evaluate(BinaryCrossentropy, Accuracy::new(), &logits, &binary), "accuracy", 0.75);
    close(evaluate(MeanSquaredError, Accuracy::new(), &logits, &binary), "accuracy", 0.5);
    let both = array![[1.0, -1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0], [1.0, -1.0, -1.0]];
    close(evaluate(BinaryCrossentropy, Accuracy::binary(), &both, &one_hot), "binary_accuracy", 8.0 / 12.0);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let (outputs, labels) = (array![[1.0, 2.0]], array![[1.0]]);
    let error = evaluate(SparseCategoricalCrossentropy, MeanError::absolute(), &outputs, &labels).unwrap_err();
    assert_eq!(error.to_string(), "the metric mae: the outputs of this loss are logits, not predictions");
    let error = evaluate(SparseCategoricalCrossentropy, Accuracy::binary(), &outputs, &labels).unwrap_err();
    assert_eq!(error.to_string(), "the metric binary_accuracy: class numbers are not binary");

    let (mut network, mut variables) = identity(1, MeanSquaredError);
    let mut optimizer = Sgd::new(0.1);
    let one = array![[1.0]];
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).metric_of(1, R2Score::new());
    let error = trainer.fit(&[one.view()], &[one.view()]).unwrap_err();
    assert_eq!(error.to_string(), "the metric output_1_r2_score: it is of loss 1, but the network has 1");
    drop(trainer);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).metric(R2Score::new());
    trainer = trainer.metric(R2Score::new());
    let error = trainer.fit(&[one.view()], &[one.view()]).unwrap_err();
    assert_eq!(error.to_string(), "the metric r2_score: there is one of this name already");
}

#[test]
fn every_output_can_be_measured() {
    let mut variables = Variables::<f64>::new();
    let mut tape = Tape::new();
    let (a, b) = (tape.input(1), tape.input(2));
    let shift = tape.variable(variables.add("shift", array![[0.0]].view()).unwrap());
    let y = tape.add(a, shift).unwrap();
    let network = Network::new(tape, &variables).unwrap().with_loss(y, MeanSquaredError).unwrap();
    let mut network = network.with_loss(b, CategoricalCrossentropy).unwrap();
    let mut optimizer = Sgd::new(0.1);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer);
    trainer = trainer.metric(MeanError::absolute()).metric_of(1, Accuracy::new());
    let (a, b) = (array![[1.0], [2.0]], array![[1.0, 0.0], [1.0, 0.0]]);
    let (s, t) = (array![[0.0], [0.0]], array![[1.0, 0.0], [0.0, 1.0]]);
    let logs = trainer.evaluate(&[a.view(), b.view()], &[s.view(), t.view()]).unwrap();
    assert_eq!((logs.get("mae"), logs.get("output_1_accuracy")), (Some(1.5), Some(0.5)));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    /// Fed in minibatches of any sizes, in the same order, metrics come to the same bits.
    #[test]
    fn metrics_do_not_depend_on_the_minibatches(
        numbers in prop::collection::vec(-5.0..5.0, 4 * 37), cuts in prop::collection::vec(0..37_usize, 0..6),
    ) {
        let outputs = Array2::from_shape_fn((37, 2), |(i, k)| numbers[2 * i + k]);
        let targets = Array2::from_shape_fn((37, 2), |(i, k)| numbers[74 + 2 * i + k]);
        let run = |cuts: &[usize]| {
            let (mut network, mut variables) = identity(2, MeanSquaredError);
            // A rate so small that the variables stay where they are.
            let mut optimizer = Sgd::new(1e-300);
            let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer)
                .metric(MeanError::absolute()).metric(MeanError::root_squared()).metric(R2Score::new())
                .metric(Accuracy::new());
            for rows in cuts.windows(2).filter(|cut| cut[0] < cut[1]) {
                let rows: Vec<usize> = (rows[0]..rows[1]).collect();
                trainer.train_step(&[outputs.view()], &[targets.view()], &rows).unwrap();
            }
            trainer.metrics().iter().map(|(_, value)| value.to_bits()).collect::<Vec<_>>()
        };
        let mut cuts = cuts;
        cuts.extend([0, 37]);
        cuts.sort_unstable();
        prop_assert_eq!(run(&cuts), run(&[0, 37]));
    }
}

fn confusion(
    loss: impl Loss<f64> + 'static,
    outputs: &Array2<f64>,
    targets: &Array2<f64>,
) -> Result<ConfusionMatrix, TrainError> {
    let (mut network, mut variables) = identity(outputs.ncols(), loss);
    let mut optimizer = Sgd::new(0.1);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer);
    trainer.confusion_matrix(&[outputs.view()], &[targets.view()])
}

#[test]
fn confusion_matrices_count_classes_by_predicted_classes() {
    let outputs = array![[0.1, 2.0, -1.0], [3.0, 2.0, 1.0], [0.0, 0.5, 1.0], [1.0, 1.0, 0.0]];
    let labels = array![[1.0], [0.0], [1.0], [1.0]];
    let matrix = confusion(SparseCategoricalCrossentropy, &outputs, &labels).unwrap();
    assert_eq!(matrix.counts(), array![[1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]);
    assert_eq!((matrix.accuracy(), matrix.precision(0), matrix.f1_score(1)), (0.5, 0.5, 0.5));
    assert!((matrix.recall(1) - 1.0 / 3.0).abs() < 1e-15 && matrix.recall(2).is_nan());
    assert!(matrix.to_string().lines().count() == 5, "{matrix}");

    let (logits, binary) = (array![[0.3], [-0.1], [0.7], [-2.0]], array![[1.0], [1.0], [1.0], [0.0]]);
    let matrix = confusion(BinaryCrossentropy, &logits, &binary).unwrap();
    assert_eq!(matrix.counts(), array![[1.0, 0.0], [1.0, 2.0]]);
    // Predictions of 0 and 1 by least squares have their threshold at one half.
    let matrix = confusion(MeanSquaredError, &logits, &binary).unwrap();
    assert_eq!(matrix.counts(), array![[1.0, 0.0], [2.0, 1.0]]);

    for (error, says) in
        [(confusion(MeanSquaredError, &logits, &logits), "0.3"), (confusion(Poisson, &logits, &binary), "counts")]
    {
        let error = error.unwrap_err();
        assert!(matches!(error, TrainError::NoClasses { .. }) && error.to_string().contains(says), "{error}");
    }
}
