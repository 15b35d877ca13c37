//! Models that can be named in a file.

use std::fmt;

use super::{Guess, GuessCache, Named};
use crate::curve::formula::{Program, program_methods};
use crate::curve::{Formula, Model};
use crate::real::Real;

/// A model of the library by its name, or a [`Formula`]: a model that a program chooses at run time, and that a file can name.
///
/// ```
/// use marquardt::{CurveFit, Formula};
/// use marquardt::models::{AnyModel, Guess, Named};
///
/// let named = AnyModel::from("linear".parse::<Named>()?);
/// let formula = AnyModel::from(Formula::parse("slope * x + intercept")?);
/// for model in [named, formula] {
///     assert_eq!(model.parameters(), ["slope", "intercept"]);
///     let (x, y) = ([0.0, 1.0, 2.0], [1.0, 3.0, 5.0]);
///     let fit = CurveFit::model(model.clone(), &x, &y, &model.guess(&x, &y)).fit()?;
///     assert!((fit.parameter("slope").unwrap().value - 2.0_f64).abs() < 1e-12);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum AnyModel {
    /// A model of the library, or a sum of such.
    Named(Named),
    /// A formula.
    Formula(Formula),
}

impl AnyModel {
    /// The name of the model, or the text of the formula.
    pub fn name(&self) -> &str {
        match self {
            AnyModel::Named(model) => model.name(),
            AnyModel::Formula(formula) => formula.text(),
        }
    }

    /// Formula of the model.
    pub fn formula(&self) -> &str {
        match self {
            AnyModel::Named(model) => model.formula(),
            AnyModel::Formula(formula) => formula.text(),
        }
    }

    /// The names of its parameters.
    pub fn parameters(&self) -> &[String] {
        match self {
            AnyModel::Named(model) => model.parameters(),
            AnyModel::Formula(formula) => formula.parameters(),
        }
    }

    /// Number of predictors in a row.
    pub fn predictor_count(&self) -> usize {
        match self {
            AnyModel::Named(_) => 1,
            AnyModel::Formula(formula) => formula.predictors().len(),
        }
    }

    /// Number of responses to a row: two for a [complex formula](Formula::complex).
    pub fn response_count(&self) -> usize {
        match self {
            AnyModel::Formula(formula) if formula.is_complex() => 2,
            _ => 1,
        }
    }

    fn program(&self) -> &Program {
        match self {
            AnyModel::Named(model) => model.program(),
            AnyModel::Formula(formula) => formula.program(),
        }
    }
}

impl From<Named> for AnyModel {
    fn from(model: Named) -> Self {
        AnyModel::Named(model)
    }
}

impl From<Formula> for AnyModel {
    fn from(formula: Formula) -> Self {
        AnyModel::Formula(formula)
    }
}

/// Its name.
impl fmt::Display for AnyModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<T: Real> Model<T> for AnyModel {
    fn to_any_model(&self) -> Option<AnyModel> {
        Some(self.clone())
    }

    fn as_parts(&self) -> Option<&[Program; 2]> {
        match self {
            AnyModel::Named(_) => None,
            AnyModel::Formula(formula) => Model::<T>::as_parts(formula),
        }
    }

    program_methods!();
}

impl<T: Real> Guess<T> for AnyModel {
    fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
        match self {
            AnyModel::Named(model) => model.guess(x, y),
            AnyModel::Formula(formula) => formula.guess(x, y),
        }
    }

    fn guess_with(&self, x: &[T], y: &[T], cache: &GuessCache) -> Vec<T> {
        match self {
            AnyModel::Named(model) => model.guess_with(x, y, cache),
            AnyModel::Formula(formula) => formula.guess(x, y),
        }
    }

    fn linear_parameters(&self) -> Vec<usize> {
        match self {
            AnyModel::Named(model) => Guess::<T>::linear_parameters(model),
            AnyModel::Formula(formula) => Guess::<T>::linear_parameters(formula),
        }
    }

    fn scale_response(&self, start: &mut [f64], factor: f64) {
        match self {
            AnyModel::Named(model) => Guess::<T>::scale_response(model, start, factor),
            AnyModel::Formula(formula) => Guess::<T>::scale_response(formula, start, factor),
        }
    }
}
