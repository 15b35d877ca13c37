//! A classifier as Keras' users train it: whether a point lies within a circle; beside it, `examples/python/keras_classifier.py`. With
//! `LevenbergMarquardt::new()` for an optimizer nothing else changes.
//!
//! ```text
//! cargo run --release --example keras_classifier
//! ```

use marquardt::{Variables, nn, optim, train};
use ndarray::Array2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x =
        Array2::from_shape_fn((400, 2), |(i, k)| 2.0 * (0.618034 * (i + 1) as f64 * (k as f64 + 1.3)).fract() - 1.0);
    let y = Array2::from_shape_fn((400, 1), |(i, _)| f64::from(u8::from(x[[i, 0]].hypot(x[[i, 1]]) < 0.8)));

    let mut variables = Variables::new();
    let layers = nn::Sequential::new(2).dense(16).tanh().dense(2);
    let mut network = layers.compile(&mut variables, 0, nn::SparseCategoricalCrossentropy)?;
    let mut optimizer = optim::Adam::new(optim::Schedule::cosine(0.05, 360));
    let stop = train::EarlyStopping::monitor("val_loss").with_patience(10).with_restore_best_weights(true);
    let trainer = train::Trainer::new(&mut network, &mut variables, &mut optimizer).batch_size(50).epochs(60);
    let mut trainer = trainer.validation_split(0.25).metric(train::Accuracy::new()).callback(stop);
    println!("{}", trainer.fit(&[x.view()], &[y.view()])?);
    println!("accuracy {:?}", trainer.evaluate(&[x.view()], &[y.view()])?.get("accuracy"));
    Ok(())
}
