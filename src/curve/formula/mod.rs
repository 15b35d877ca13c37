//! Formulas that are known at run time only.

mod affinity;
mod axes;
mod builder;
mod error;
mod function;
mod operators;
mod parser;
mod parts;
mod program;
mod recorded;
mod sample;
#[cfg(feature = "serde")]
mod serial;
mod sizes;
mod start;
#[cfg(test)]
mod tests;
mod tile;
mod token;

use std::fmt;
use std::str::FromStr;

pub use builder::{BuiltFormula, Expression, FormulaBuilder, FormulaBuilderError};
pub use error::{FormulaError, FormulaProblem};
use parser::{Parsed, parse};
pub use program::Program;
pub(super) use program::program_methods;

use super::models::{AnyModel, Guess};
use crate::autodiff::Complex;
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// A formula given as text at run time: a [`Model`] with the same exact derivatives as one of [`model!`](crate::model!).
///
/// ```
/// use marquardt::{CurveFit, Formula};
///
/// let x = [1.0, 2.0, 4.0, 8.0, 16.0];
/// let y = [1.8, 3.3, 5.4, 8.0, 9.6];
/// let saturation = Formula::parse("top * (1 - exp(-rate * x))")?;
/// assert_eq!(saturation.parameters(), ["top", "rate"]);
/// let fit = CurveFit::model(saturation, &x, &y, &[8.0, 0.1]).fit()?;
/// assert!((fit.parameter("top").unwrap().value - 10.0_f64).abs() < 0.3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`CurveFit`](crate::CurveFit), [`FitMany`](crate::FitMany) and sums of models accept it as any other model.
/// [`Tie::parse`](crate::Tie::parse) makes ties and derived quantities from the same texts. The text is compiled once, into straight-line
/// code without repeated subexpressions. The code runs in vector registers, for many rows at a time, and is differentiated exactly, in
/// reverse. It takes about 1.5 times as long as the same [`model!`](crate::model!) in a fit of many points, and 3 times as long in
/// thousands of small fits.
///
/// # What it may consist of
///
/// - `+ - * / ^` and parentheses, with the precedences of mathematics: `-x^2` is `-(x^2)`, and `2^3^2` is `2^(3^2)`. `**` is `^`,
///   too. A product takes a `*`.
/// - Functions of one argument: those of [`Scalar`](crate::Scalar), `exp`, `ln` or `log`, `log10`, `sqrt`, `sin`, `asin`, `tanh`,
///   `abs`, `floor`, `ceil`, `erf`, `erfc`, `gamma`, `lgamma`, `j0`, `j1` and so on, and `step(x)`, which is 0 below zero and 1 from there on.
/// - `sign(x)`, which is −1, 0 or 1; `sinc(x) = sin(x)/x`, which is 1 at zero (that of NumPy is `sinc(pi*x)`); and
///   `voigt(x, sigma, gamma)`, the Voigt profile of area 1.
/// - Bessel functions of integer order: `jn(n, x)`, `yn(n, x)` and the modified `in(n, x)`, `kn(n, x)`, with a constant `n`, and `y0(x)`,
///   `y1(x)`, `i0(x)`, `i1(x)`, `k0(x)`, `k1(x)`. The names of SciPy and gnuplot, such as `jv` and `besjn`, are known, too. A name of
///   these that is not called is a parameter, as in `y0 + k1*x`.
/// - The regularised incomplete gamma functions `gammainc(a, x)`, the lower one, or `igamma`, and `gammaincc(a, x)`, the upper one, and the
///   regularised incomplete beta function `betainc(a, b, x)`, or `ibeta`. Their shapes `a` and `b` may be parameters, too.
/// - `pow(a, b)`, `atan2(y, x)`, `hypot(a, b)`, `min(a, b)`, `max(a, b)`, `beta(a, b)`, and `mod(a, b) = a - b*floor(a/b)`,
///   which has the sign of `b`.
/// - `if(a < b, then, otherwise)`, or `a < b ? then : otherwise`, with `<`, `<=`, `>`, `>=`, `==` or `!=`. Both are worked out.
///   Comparisons are joined by `and` or `&&`, `or` or `||`, and negated by `not` or `!`; `and` comes before `or`.
/// - Numbers, as `3`, `.5` or `1e-3`, and `pi`. Euler's number is `exp(1)`; a bare `e` is a name like any other.
/// - Names: the predictors, and all others are parameters, in the order in which they occur. A name is a word of letters, digits and
///   underscores, but not `not`, or anything in double quotes, such as `"dose (mM)"` or `"beta"`.
#[derive(Clone, PartialEq)]
pub struct Formula {
    text: String,
    predictors: Vec<String>,
    parameters: Vec<String>,
    /// The text is one of complex numbers, whether its value is complex or not.
    knows_complex: bool,
    /// Program of a real formula; NaN for a complex one.
    program: Program,
    /// Programs of the real and the imaginary part of a complex formula.
    parts: Option<Box<[Program; 2]>>,
}

impl Formula {
    /// A formula over the predictor `x`.
    ///
    /// # Errors
    ///
    /// [`FormulaError`] says what is wrong, and points at it.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        Formula::with_predictors(text, ["x"])
    }

    /// Parses a formula over predictors with these names, in the order of their columns. A predictor may have the name of a constant or a
    /// function; the name then means the predictor, except before a parenthesis.
    ///
    /// ```
    /// use marquardt::{Formula, Model};
    ///
    /// let isotherm = Formula::with_predictors("q * b * p / (1 + b * p * exp(-h / t))", ["p", "t"])?;
    /// assert_eq!(isotherm.parameters(), ["q", "b", "h"]);
    /// assert_eq!(isotherm.response(&[2.0, 300.0], &[3.0, 0.5, 0.0]), 1.5);
    /// # Ok::<(), marquardt::curve::FormulaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FormulaError`] says what is wrong, and points at it.
    pub fn with_predictors(
        text: &str,
        predictors: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, FormulaError> {
        Formula::parsed(text, predictors.into_iter().map(Into::into).collect(), false)
    }

    /// A formula of complex numbers over predictors of these names.
    ///
    /// `i`, and `j`, are the imaginary unit; in double quotes, they are parameters. Predictors and parameters are real. There are also
    /// `re(z)`, `im(z)`, `arg(z)` and `conj(z)`, `abs(z)` is the modulus, and `sqrt`, `exp`, `ln`, `log10`, `recip`, `pow`, the
    /// trigonometric and the hyperbolic functions take complex numbers. Functions of real numbers stay real: `sqrt(-1)` is NaN, and
    /// `sqrt(-1 + 0*i)` is `i`. Comparisons and all other functions take real numbers.
    ///
    /// A formula whose value is complex has two responses to a row, and is fitted as [`CurveFit::complex`](crate::CurveFit::complex)
    /// fits a closure. One whose value is real, such as `abs(1 / (1 + i*w*tau))`, is like any other formula.
    ///
    /// ```
    /// use marquardt::{Complex, CurveFit, Formula};
    ///
    /// let omega = [10.0, 100.0, 1e3, 1e4, 1e5];
    /// let z = [(110.0, -1.0), (109.1, -9.9), (59.8, -50.1), (11.1, -9.8), (10.1, -1.1)];
    /// let z = z.map(|(re, im)| Complex::new(re, im));
    /// let randles = Formula::complex("r0 + r1 / (1 + i*w*r1*c)", ["w"])?;
    /// assert!(randles.is_complex());
    /// let fit = CurveFit::complex_formula(randles, &omega, &z, &[1.0, 50.0, 2e-6]).fit()?;
    /// assert!((fit.parameter("r1").unwrap().value - 100.0_f64).abs() < 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FormulaError`] says what is wrong, and points at it.
    pub fn complex(text: &str, predictors: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, FormulaError> {
        Formula::parsed(text, predictors.into_iter().map(Into::into).collect(), true)
    }

    fn parsed(text: &str, predictors: Vec<String>, knows_complex: bool) -> Result<Self, FormulaError> {
        let Parsed { program, imaginary, parameters } = parse(text, &predictors, knows_complex)?;
        let (program, parts) = match imaginary {
            None => (program, None),
            Some(imaginary) => (Program::undefined(), Some(Box::new([program, imaginary]))),
        };
        Ok(Formula { text: text.trim().to_owned(), predictors, parameters, knows_complex, program, parts })
    }

    /// Returns true if the value is complex.
    pub fn is_complex(&self) -> bool {
        self.parts.is_some()
    }

    /// The value at a row of predictors, real or complex, in any scalar.
    ///
    /// ```
    /// use marquardt::{Complex, Formula};
    ///
    /// let impedance = Formula::complex("1 / (1/r + i*w*c)", ["w"])?;
    /// let z = impedance.complex_value(&[1e4], &[100.0, 1e-6]);
    /// assert!((z - Complex::new(50.0, -50.0)).abs() < 1e-12);
    /// # Ok::<(), marquardt::curve::FormulaError>(())
    /// ```
    pub fn complex_value<S: Scalar>(&self, x: &[S::Real], b: &[S]) -> Complex<S> {
        match self.parts.as_deref() {
            Some([re, im]) => Complex::new(re.value(x, b), im.value(x, b)),
            None => Complex::real(self.program.value(x, b)),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of the predictors, in the order of their columns.
    pub fn predictors(&self) -> &[String] {
        &self.predictors
    }

    /// The names of the predictors that occur in the text, in the order of their columns.
    ///
    /// ```
    /// use marquardt::Formula;
    ///
    /// let line = Formula::with_predictors("a + b * dose", ["time", "dose"])?;
    /// assert_eq!(line.used_predictors().collect::<Vec<_>>(), ["dose"]);
    /// # Ok::<(), marquardt::curve::FormulaError>(())
    /// ```
    pub fn used_predictors(&self) -> impl Iterator<Item = &str> {
        let programs = self.parts.as_deref().map_or(std::slice::from_ref(&self.program), |parts| parts);
        let is_used = |index: usize| programs.iter().any(|program| program.uses_predictor(index));
        self.predictors.iter().enumerate().filter(move |(index, _)| is_used(*index)).map(|(_, name)| name.as_str())
    }

    /// The names of the parameters, in the order in which they occur.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// Compiled program of the formula.
    pub(super) fn program(&self) -> &Program {
        &self.program
    }
}

/// Parses a formula of the predictor `x`.
impl FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Self, FormulaError> {
        Formula::parse(text)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Formula")
            .field("text", &self.text)
            .field("predictors", &self.predictors)
            .finish_non_exhaustive()
    }
}

impl<T: Real> Model<T> for Formula {
    program_methods!();

    fn as_parts(&self) -> Option<&[Program; 2]> {
        self.parts.as_deref()
    }

    fn to_any_model(&self) -> Option<AnyModel> {
        Some(AnyModel::Formula(self.clone()))
    }
}

/// The start is found by a search. The parameters in which the formula is linear are eliminated. The others are sought around natural
/// sizes, which follow from the formula and the ranges of the data: the argument of an exponential is of size one, terms of a sum are of
/// one size. Frequencies are sought up to half an oscillation from one row to the next, and places, such as `c` in `x - c`, among
/// the data. It takes about a millisecond for 64 rows, and a tenth of a second for several frequencies in hundreds of rows. The start is
/// one for each parameter if the search finds nothing better, or if there are more than 63 parameters.
///
/// ```
/// use marquardt::{CurveFit, Formula};
///
/// let x: Vec<f64> = (0..60).map(|i| 1000.0 + i as f64).collect();
/// let y: Vec<f64> = x.iter().map(|x| 5e4 * (-(x - 1022.0).powi(2) / 32.0).exp() + 70.0).collect();
/// let peak = Formula::parse("height * exp(-((x - center)/width)^2 / 2) + background")?;
/// let fit = CurveFit::guessed(peak, &x, &y).fit()?;
/// assert!((fit.parameter("center").unwrap().value - 1022.0).abs() < 1e-9);
/// assert!((fit.parameter("width").unwrap().value - 4.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<T: Real> Guess<T> for Formula {
    fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
        match self.parts.as_deref() {
            None => start::start(&self.program, self.parameters.len(), x, y),
            Some(parts) => start::complex_start(parts, self.parameters.len(), x, y),
        }
    }
}
