//! Training up to an accuracy, against the clock.

use std::error::Error;
use std::time::{Duration, Instant};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::Variables;
use marquardt::nn::Network;
use marquardt::train::History;
use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::optimizers::Named;
use crate::random::shuffle;
use crate::{Options, Outcome, data, network};

/// Trains until so many of the images for the test are classified rightly, or the epochs are over. The clock stands still
/// where the accuracy is looked at.
pub fn train(
    options: &Options,
    named: Named,
    goal: f64,
    (pixels, labels): (&Array2<f64>, &Array2<f64>),
    targets: &Array2<f64>,
) -> Result<Outcome, Box<dyn Error>> {
    if options.batch == 0 {
        return Err("a minibatch needs an image".into());
    }
    let (training_pixels, test_pixels) = data::split(pixels);
    let (training_targets, _) = data::split(targets);
    let (_, test_labels) = data::split(labels);
    let rate = options.learning_rate.filter(|_| named == options.optimizer.chosen());
    let mut variables = Variables::new();
    let mut network = network(options, &mut variables)?;
    let mut optimizer = named.with_learning_rate(rate);

    let mut order: Vec<usize> = (0..training_pixels.nrows()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let (mut clock, mut reached) = (Duration::ZERO, 0.0);
    'epochs: for _ in 0..options.epochs.unwrap_or(named.epochs()) {
        let mut begun = Instant::now();
        shuffle(&mut order, &mut random);
        for rows in order.chunks(options.batch) {
            optimizer.step(network.batch_rows(&[training_pixels], &[training_targets], rows)?, &mut variables)?;
            clock += begun.elapsed();
            reached = accuracy(&mut network, &variables, test_pixels, test_labels)?;
            if reached >= goal {
                break 'epochs;
            }
            begun = Instant::now();
        }
        clock += begun.elapsed();
    }
    let loss = network.evaluate(&variables, &[training_pixels], &[training_targets])?;
    let (steps, seconds) = (optimizer.iterations(), clock.as_secs_f64());
    Ok(Outcome { optimizer: named, steps, seconds, history: History::default(), loss, accuracy: reached })
}

/// The part of the images whose largest output is that of their digit.
fn accuracy(
    network: &mut Network<f64>,
    variables: &Variables<f64>,
    pixels: ArrayView2<'_, f64>,
    labels: ArrayView2<'_, f64>,
) -> Result<f64, Box<dyn Error>> {
    let output = *network.outputs().first().ok_or("the network has no output")?;
    let outputs = network.predict(variables, &[pixels], output)?;
    let largest = |row: ArrayView1<'_, f64>| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
    let hits = outputs
        .rows()
        .into_iter()
        .zip(labels)
        .filter(|(row, label)| largest(row.view()).is_some_and(|class| class as f64 == **label));
    Ok(hits.count() as f64 / labels.len() as f64)
}
