//! The 27 nonlinear-regression sets of the NIST Statistical Reference Datasets (public domain,
//! <https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml>): data, certified values and models.

use std::f64::consts::PI;

use marquardt::number::Number;
use marquardt::{EvaluationError, Residuals, Scalar, ScalarOf};

/// Digits are counted up to here: the certified values have eleven.
pub const MAX_DIGITS: f64 = 11.0;

/// The sets, with their models as NIST prints them; `b` are the parameters and `x` the predictors of one observation.
macro_rules! models {
    ($($name:ident: |$b:ident, $x:ident| $formula:expr;)*) => {
        /// A model of the collection.
        #[allow(clippy::upper_case_acronyms, reason = "the names are NIST's")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Model {
            $($name,)*
        }

        impl Model {
            /// All of them.
            pub const ALL: &[Model] = &[$(Model::$name,)*];

            /// The name of the set.
            pub fn name(self) -> &'static str {
                match self {
                    $(Model::$name => stringify!($name),)*
                }
            }

            /// The file of the set, as NIST publishes it.
            fn file(self) -> &'static str {
                match self {
                    $(Model::$name => include_str!(concat!(stringify!($name), ".dat")),)*
                }
            }

            /// The predicted response.
            #[inline(always)]
            pub fn response<S: ScalarOf<f64>>(self, b: &[S], x: &[S::Real]) -> S {
                match self {
                    $(Model::$name => {
                        let ($b, $x) = (|i: usize| b[i - 1], |k: usize| x[k - 1]);
                        $formula
                    })*
                }
            }
        }
    };
}

models! {
    Bennett5: |b, x| b(1) * (b(2) + x(1)).pow(-b(3).recip());
    BoxBOD: |b, x| b(1) * (-(-b(2) * x(1)).exp() + 1.0);
    Chwirut1: |b, x| (-b(1) * x(1)).exp() / (b(2) + b(3) * x(1));
    Chwirut2: |b, x| (-b(1) * x(1)).exp() / (b(2) + b(3) * x(1));
    DanWood: |b, x| b(1) * S::constant(x(1)).pow(b(2));
    ENSO: |b, x| b(1) + wave(b(2), b(3), S::constant(S::Real::splat(12.0)), x(1)) + wave(b(5), b(6), b(4), x(1))
        + wave(b(8), b(9), b(7), x(1));
    Eckerle4: |b, x| b(1) / b(2) * (((-b(3) + x(1)) / b(2)).powi(2) * -0.5).exp();
    Gauss1: |b, x| decay_and_peaks(b, x(1));
    Gauss2: |b, x| decay_and_peaks(b, x(1));
    Gauss3: |b, x| decay_and_peaks(b, x(1));
    Hahn1: |b, x| cubic_over_cubic(b, x(1));
    Kirby2: |b, x| (b(1) + (b(2) + b(3) * x(1)) * x(1)) / ((b(4) + b(5) * x(1)) * x(1) + 1.0);
    Lanczos1: |b, x| three_decays(b, x(1));
    Lanczos2: |b, x| three_decays(b, x(1));
    Lanczos3: |b, x| three_decays(b, x(1));
    MGH09: |b, x| b(1) * (b(2) * x(1) + x(1) * x(1)) / (b(3) * x(1) + b(4) + x(1) * x(1));
    MGH10: |b, x| b(1) * (b(2) / (b(3) + x(1))).exp();
    MGH17: |b, x| b(1) + b(2) * (-b(4) * x(1)).exp() + b(3) * (-b(5) * x(1)).exp();
    Misra1a: |b, x| b(1) * (-(-b(2) * x(1)).exp() + 1.0);
    Misra1b: |b, x| b(1) * (-(b(2) * (x(1) / 2.0) + 1.0).powi(-2) + 1.0);
    Misra1c: |b, x| b(1) * (-(b(2) * (x(1) * 2.0) + 1.0).powf(S::Real::splat(-0.5)) + 1.0);
    Misra1d: |b, x| b(1) * b(2) * x(1) / (b(2) * x(1) + 1.0);
    Nelson: |b, x| b(1) - b(2) * x(1) * (-b(3) * x(2)).exp();
    Rat42: |b, x| b(1) / ((b(2) - b(3) * x(1)).exp() + 1.0);
    Rat43: |b, x| b(1) / ((b(2) - b(3) * x(1)).exp() + 1.0).pow(b(4).recip());
    Roszman1: |b, x| b(1) - b(2) * x(1) - (b(3) / (-b(4) + x(1))).atan() / PI;
    Thurber: |b, x| cubic_over_cubic(b, x(1));
}

#[inline(always)]
fn wave<S: ScalarOf<f64>>(cosine: S, sine: S, period: S, x: S::Real) -> S {
    let phase = period.recip() * (x * (2.0 * PI));
    cosine * phase.cos() + sine * phase.sin()
}

#[inline(always)]
fn decay_and_peaks<S: ScalarOf<f64>>(b: impl Fn(usize) -> S, x: S::Real) -> S {
    let peak = |height: S, center: S, width: S| height * (-((-center + x) / width).powi(2)).exp();
    b(1) * (-b(2) * x).exp() + peak(b(3), b(4), b(5)) + peak(b(6), b(7), b(8))
}

#[inline(always)]
fn cubic_over_cubic<S: ScalarOf<f64>>(b: impl Fn(usize) -> S, x: S::Real) -> S {
    (b(1) + (b(2) + (b(3) + b(4) * x) * x) * x) / ((b(5) + (b(6) + b(7) * x) * x) * x + 1.0)
}

#[inline(always)]
fn three_decays<S: ScalarOf<f64>>(b: impl Fn(usize) -> S, x: S::Real) -> S {
    b(1) * (-b(2) * x).exp() + b(3) * (-b(4) * x).exp() + b(5) * (-b(6) * x).exp()
}

/// One set: observations, starts and certified values.
#[derive(Debug, Clone)]
pub struct DataSet {
    pub model: Model,
    /// Predictors, a row an observation.
    pub x: Vec<Vec<f64>>,
    /// Responses; logarithms for Nelson, whose model is of `log(y)`.
    pub y: Vec<f64>,
    /// The two starts, the far one first.
    pub starts: [Vec<f64>; 2],
    pub certified: Vec<f64>,
    pub standard_deviations: Vec<f64>,
    pub residual_sum_of_squares: f64,
    pub residual_standard_deviation: f64,
}

impl DataSet {
    /// Reads the set of a model from its file.
    pub fn load(model: Model) -> DataSet {
        let text = model.file();
        let parameters: Vec<Vec<f64>> =
            text.lines().filter(|line| is_parameter(line)).map(numbers_after_equals).collect();
        let column = |k: usize| parameters.iter().map(|row| row[k]).collect::<Vec<_>>();
        let mut observations = text.lines().skip_while(|line| !is_heading_of_data(line)).skip(1).map(numbers);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        while let Some(row) = observations.next().filter(|row| !row.is_empty()) {
            y.push(if model == Model::Nelson { row[0].ln() } else { row[0] });
            x.push(row[1..].to_vec());
        }
        DataSet {
            model,
            x,
            y,
            starts: [column(0), column(1)],
            certified: column(2),
            standard_deviations: column(3),
            residual_sum_of_squares: labelled(text, "Residual Sum of Squares:"),
            residual_standard_deviation: labelled(text, "Residual Standard Deviation:"),
        }
    }

    /// Fewest correct digits among the parameters.
    pub fn parameter_digits(&self, found: &[f64]) -> f64 {
        digits(found, &self.certified)
    }
}

/// Fewest correct digits among values, between 0 and [`MAX_DIGITS`].
pub fn digits(found: &[f64], certified: &[f64]) -> f64 {
    assert_eq!(found.len(), certified.len());
    let each = found.iter().zip(certified).map(|(found, certified)| {
        let error = ((found - certified) / certified).abs();
        if error.is_finite() { (-error.log10()).clamp(0.0, MAX_DIGITS) } else { 0.0 }
    });
    each.fold(MAX_DIGITS, f64::min)
}

impl Residuals<f64> for &DataSet {
    fn parameter_count(&self) -> usize {
        self.certified.len()
    }

    fn residual_count(&self) -> usize {
        self.y.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (r, (x, &y)) in r.iter_mut().zip(self.x[first..].iter().zip(&self.y[first..])) {
            *r = self.model.response(b, x) - y;
        }
        Ok(())
    }

    fn parameter_name(&self, index: usize) -> String {
        format!("b{}", index + 1)
    }
}

/// `  b1 =  500  250  2.3894212918E+02  2.7070075241E+00`
fn is_parameter(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('b') && line.split_once('=').is_some_and(|(_, numbers)| numbers.split_whitespace().count() == 4)
}

fn is_heading_of_data(line: &str) -> bool {
    line.starts_with("Data:") && line.split_whitespace().nth(1) == Some("y")
}

fn numbers_after_equals(line: &str) -> Vec<f64> {
    numbers(line.split_once('=').expect("a parameter line").1)
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().map_while(|word| word.parse().ok()).collect()
}

fn labelled(text: &str, label: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(label)).expect("the file holds the label");
    line.trim().parse().expect("a number follows the label")
}
