//! Models by name, and their guesses.

use std::collections::HashSet;

use marquardt::Model;
use marquardt::models::{Guess, Named};

pub const WORDS: &[&str] = &[
    "+",
    " + ",
    "constant",
    "linear",
    "quadratic",
    "exponential_decay",
    "bi_exponential",
    "stretched_exponential",
    "power_law",
    "logarithmic",
    "gaussian",
    "lorentzian",
    "voigt",
    "moffat",
    "skewed_gaussian",
    "log_normal",
    "logistic",
    "logistic4",
    "logistic5",
    "gompertz",
    "richards",
    "hill",
    "sine",
    "damped_sine",
    "arrhenius",
    "rational",
    "casson",
    "baranyi_roberts",
    "antoine",
    "eyring",
    "toth",
    "breit_wigner",
    "polynomial3",
    "polynomial9",
    "polynomial10",
    "é",
];

/// More terms make a model that is only slower.
const MOST_TERMS: usize = 6;

pub fn run(bytes: &[u8]) -> bool {
    let name = String::from_utf8_lossy(bytes);
    let model: Named = match name.parse() {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    assert_eq!(model.to_string().parse::<Named>().as_ref(), Ok(&model));
    assert!(!model.formula().is_empty());
    let parameters = model.parameters();
    assert_eq!(parameters.len(), Model::<f64>::parameter_count(&model));
    assert_eq!(parameters.iter().collect::<HashSet<_>>().len(), parameters.len(), "{parameters:?}");
    if name.split('+').count() > MOST_TERMS {
        return true;
    }
    // The text itself is the data.
    let y: Vec<f64> = bytes.iter().map(|&byte| f64::from(byte) - 90.0).collect();
    let x: Vec<f64> = (0..y.len()).map(|i| 0.5 * i as f64).collect();
    let guess = model.guess(&x, &y);
    assert!(guess.len() == parameters.len() && guess.iter().all(|value| value.is_finite()), "{guess:?}");
    let linear = Guess::<f64>::linear_parameters(&model);
    assert!(linear.iter().all(|&index| index < parameters.len()));
    true
}
