//! Formulas, parsed and evaluated.

use marquardt::{CurveFit, Formula, Model};

pub const WORDS: &[&str] = &[
    "a", "b", "x", "y1", "1", "2.5", "1e-3", "1e999", ".", "+", "-", "*", "**", "/", "^", "(", ")", ",", "<", "<=",
    ">", ">=", "==", "!=", "?", ":", "exp(", "ln(", "sin(", "atan2(", "pow(", "if(", "min(", "max(", "beta(", "gamma(",
    "lgamma(", "j1(", "step(", "pi", "e", "é", "\"", "\"a b\"",
];

pub fn run(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let formula = match Formula::parse(&text) {
        Ok(formula) => formula,
        Err(error) => {
            assert!(error.position() <= text.chars().count() + 1);
            assert_eq!(error.to_string().lines().count(), 3, "{error}");
            return false;
        }
    };
    assert_eq!(Formula::parse(formula.text()).as_ref(), Ok(&formula));
    let start = vec![0.5; formula.parameters().len()];
    let x: Vec<f64> = (0..40).map(|i| 0.25 * f64::from(i) - 3.0).collect();
    let one_by_one = x.iter().map(|&x| formula.response::<f64>(&[x], &start));
    let y: Vec<f64> = one_by_one.map(|y| if y.is_finite() { y } else { 0.0 }).collect();
    // The text itself is the data; a fit may be refused, but must not panic.
    if !start.is_empty() && formula.text().len() < 200 {
        let _ = CurveFit::model(formula, &x, &y, &start).fit();
    }
    true
}
