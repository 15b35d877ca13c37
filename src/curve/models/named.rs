//! Models by name, and their sums.

use std::fmt;
use std::str::FromStr;

use super::compose::{Sum, compose};
use super::registry::Kind;
use super::{AnyModel, Guess, GuessCache, UnknownModel};
use crate::curve::Model;
use crate::curve::formula::{Program, program_methods};
use crate::number::{Number, ScalarOf};
use crate::real::Real;

/// A model of the library by its name, for programs whose users choose the model.
///
/// ```
/// use marquardt::CurveFit;
/// use marquardt::models::{Guess, Named};
///
/// let model: Named = "michaelis_menten".parse()?;
/// assert_eq!(model.formula(), "vmax x / (km + x)");
/// assert_eq!(model.parameters(), ["vmax", "km"]);
///
/// let x = [0.02, 0.06, 0.11, 0.22, 0.56, 1.10_f64];
/// let y = [61.5, 102.0, 131.0, 155.5, 194.0, 203.5];
/// let fit = CurveFit::model(model.clone(), &x, &y, &model.guess(&x, &y)).fit()?;
/// assert!((fit.parameter("vmax").unwrap().value - 215.0).abs() < 5.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Polynomials of a degree from 3 to 9 are named `polynomial3` to `polynomial9`; below are `constant`, `linear` and
/// `quadratic`.
///
/// Names with `+` between them are the sum of those models, such as a peak on a background. Parameters keep their names if these differ. If
/// two terms have a parameter name in common, the name of the term is put before all of its parameters, with a number if the sum has
/// several terms of this kind.
///
/// ```
/// use marquardt::models::Named;
///
/// let peaks: Named = "gaussian + gaussian + linear".parse()?;
/// assert_eq!(peaks.name(), "gaussian+gaussian+linear");
/// assert_eq!(peaks.parameters()[1], "gaussian1_center");
/// assert_eq!(peaks.parameters()[4], "gaussian2_center");
/// assert_eq!(peaks.parameters()[6..], ["slope", "intercept"]);
///
/// let unknown = "gausian+linear".parse::<Named>().unwrap_err();
/// assert_eq!(unknown.to_string(), "there is no model \"gausian\"; did you mean gaussian?");
/// # Ok::<(), marquardt::models::UnknownModel>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Named {
    /// There is at least one.
    terms: Vec<Kind>,
    name: String,
    formula: String,
    parameters: Vec<String>,
    program: Program,
}

compose! { [] Named; }

impl Named {
    /// All of them, without sums.
    pub fn all() -> impl Iterator<Item = Named> {
        Kind::all().map(|kind| Named::of_terms(vec![kind]))
    }

    /// The model of this name, or the sum of models; `None` if there is none; [`str::parse`] returns an error instead.
    pub fn of_name(name: &str) -> Option<Named> {
        name.parse().ok()
    }

    /// Its name, in snake case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Formula of the model.
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// Names of its parameters.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// The models of a sum, or the model alone. Their parameters follow each other in [`parameters`](Self::parameters).
    ///
    /// ```
    /// # use marquardt::models::Named;
    /// let peak: Named = "gaussian + linear".parse()?;
    /// assert_eq!(peak.terms().map(|term| term.name().to_owned()).collect::<Vec<_>>(), ["gaussian", "linear"]);
    /// # Ok::<(), marquardt::models::UnknownModel>(())
    /// ```
    pub fn terms(&self) -> impl Iterator<Item = Named> {
        self.terms.iter().map(|&term| Named::of_terms(vec![term]))
    }

    /// Names and formulas of quantities that follow from the parameters, such as the full width of a peak at half its maximum.
    ///
    /// The formulas are over the names of [`parameters`](Self::parameters), as [`Tie::parse`](crate::Tie::parse) reads them. In a sum
    /// the names have the prefix of the parameters of their term.
    ///
    /// ```
    /// # use marquardt::models::Named;
    /// let decay: Named = "exponential_decay".parse()?;
    /// assert_eq!(decay.derived_quantities()[0], ("half_life".into(), "ln(2) * decay".into()));
    /// # Ok::<(), marquardt::models::UnknownModel>(())
    /// ```
    pub fn derived_quantities(&self) -> Vec<(String, String)> {
        let mut quantities = Vec::new();
        for (index, term) in self.terms.iter().enumerate() {
            let (entry, prefix) = (term.entry(), prefix(&self.terms, index));
            for &(name, formula) in entry.derived {
                let has_it =
                    |other: &Kind| other != term && other.entry().derived.iter().any(|derived| derived.0 == name);
                let own_name = if prefix.is_empty() && self.terms.iter().any(has_it) {
                    format!("{}_{name}", entry.name)
                } else {
                    format!("{prefix}{name}")
                };
                quantities.push((own_name, prefixed(formula, entry.parameters, &prefix)));
            }
        }
        quantities
    }

    /// The curve is that of another model of the library, by other parameters, as those of `langmuir` and `michaelis_menten`. `false` for sums.
    pub fn is_reparameterized(&self) -> bool {
        matches!(self.terms[..], [term] if term.is_reparameterized())
    }

    /// The sum that has its peak twice; `None` without a peak, or with several.
    ///
    /// ```
    /// # use marquardt::models::Named;
    /// let peak: Named = "gaussian + linear".parse()?;
    /// let peaks = peak.with_second_peak().expect("it has one");
    /// assert_eq!(peaks.name(), "gaussian+gaussian+linear");
    /// assert_eq!(peaks.with_second_peak(), None);
    /// # Ok::<(), marquardt::models::UnknownModel>(())
    /// ```
    pub fn with_second_peak(&self) -> Option<Named> {
        let mut peaks = (0..self.terms.len()).filter(|&index| self.terms[index].is_peak());
        let (Some(peak), None) = (peaks.next(), peaks.next()) else { return None };
        let mut terms = self.terms.clone();
        terms.insert(peak, terms[peak]);
        Some(Named::of_terms(terms))
    }

    /// The record of the model.
    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    fn of_terms(terms: Vec<Kind>) -> Named {
        let (mut names, mut formulas, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
        for (index, term) in terms.iter().enumerate() {
            let (entry, prefix) = (term.entry(), prefix(&terms, index));
            let formula = prefixed(entry.formula, entry.parameters, &prefix);
            names.push(entry.name);
            // Those with a comma explain themselves behind it.
            formulas.push(if terms.len() > 1 && formula.contains(',') { format!("[{formula}]") } else { formula });
            parameters.extend(entry.parameters.iter().map(|parameter| format!("{prefix}{parameter}")));
        }
        let program = Program::record(parameters.len(), |x, b| Terms(&terms).response(x, b));
        Named { name: names.join("+"), formula: formulas.join(" + "), parameters, program, terms }
    }
}

impl FromStr for Named {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Self, UnknownModel> {
        let term = |name: &str| {
            Kind::all().find(|kind| kind.entry().name == name).ok_or_else(|| UnknownModel::new(name, Kind::all()))
        };
        let terms = name.split('+').map(|name| term(name.trim())).collect::<Result<_, _>>()?;
        Ok(Named::of_terms(terms))
    }
}

/// Its name.
impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Prefix of the parameters of a term: nothing where no other term has one of the same name.
fn prefix(terms: &[Kind], index: usize) -> String {
    let own = terms[index].entry();
    let is_like = |term: &&Kind| **term == terms[index];
    let has_own = |term: &Kind| term.entry().parameters.iter().any(|parameter| own.parameters.contains(parameter));
    let mut others = terms.iter().enumerate().filter(|&(other, _)| other != index);
    match terms.iter().filter(is_like).count() {
        _ if !others.any(|(_, other)| has_own(other)) => String::new(),
        1 => format!("{}_", own.name),
        _ => format!("{}{}_", own.name, 1 + terms[..index].iter().filter(is_like).count()),
    }
}

/// The formula with a prefix to the names of its parameters.
fn prefixed(formula: &str, parameters: &[&str], prefix: &str) -> String {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let (mut text, mut rest) = (String::new(), formula);
    while let Some(first) = rest.chars().next() {
        let end =
            if is_of_name(first) { rest.find(|c| !is_of_name(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, behind) = rest.split_at(end);
        if parameters.contains(&word) {
            text.push_str(prefix);
        }
        text.push_str(word);
        rest = behind;
    }
    text
}

/// The sum of these, one at least.
struct Terms<'a>(&'a [Kind]);

impl<'a> Terms<'a> {
    /// Splits a sum into two parts; `None` for a single term.
    fn halves(&self) -> Option<Sum<Terms<'a>, Terms<'a>>> {
        let (first, second) = self.0.split_at(self.0.len().div_ceil(2));
        (!second.is_empty()).then_some(Sum(Terms(first), Terms(second)))
    }
}

impl<T: Real> Model<T> for Terms<'_> {
    const IN_LANES: bool = false;

    fn parameter_count(&self) -> usize {
        self.0.iter().map(|term| term.entry().parameters.len()).sum()
    }

    #[inline(always)]
    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
        let mut sum = S::constant(S::Real::from_f64(0.0));
        let mut rest = b;
        for term in self.0 {
            let (own, behind) = rest.split_at(term.entry().parameters.len());
            sum += term.response(x, own);
            rest = behind;
        }
        sum
    }
}

impl<T: Real> Guess<T> for Terms<'_> {
    fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
        self.guess_with(x, y, &GuessCache::default())
    }

    fn guess_with(&self, x: &[T], y: &[T], cache: &GuessCache) -> Vec<T> {
        match self.halves() {
            Some(halves) => halves.guess_with(x, y, cache),
            None => self.0[0].guess_with(x, y, cache),
        }
    }

    fn linear_parameters(&self) -> Vec<usize> {
        match self.halves() {
            Some(halves) => Guess::<T>::linear_parameters(&halves),
            None => Guess::<T>::linear_parameters(&self.0[0]),
        }
    }

    fn scale_response(&self, start: &mut [f64], factor: f64) {
        match self.halves() {
            Some(halves) => Guess::<T>::scale_response(&halves, start, factor),
            None => Guess::<T>::scale_response(&self.0[0], start, factor),
        }
    }
}

impl<T: Real> Model<T> for Named {
    fn to_any_model(&self) -> Option<AnyModel> {
        Some(AnyModel::Named(self.clone()))
    }

    program_methods!();
}

/// Guesses as the single model does; a sum guesses as its [`Sum`] does.
impl<T: Real> Guess<T> for Named {
    fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
        Terms(&self.terms).guess(x, y)
    }

    fn guess_with(&self, x: &[T], y: &[T], cache: &GuessCache) -> Vec<T> {
        Terms(&self.terms).guess_with(x, y, cache)
    }

    fn linear_parameters(&self) -> Vec<usize> {
        Guess::<T>::linear_parameters(&Terms(&self.terms))
    }

    fn scale_response(&self, start: &mut [f64], factor: f64) {
        Guess::<T>::scale_response(&Terms(&self.terms), start, factor);
    }
}
