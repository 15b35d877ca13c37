//! Several data sets that share parameters.

use thiserror::Error;

use super::checked_fit::CheckedFit;
use super::data::Data;
use super::global_curve::{DataSetCurve, GlobalCurve};
use super::method::FitMethod;
use super::noise::Noise;
use super::parameter::{Parameter, Role};
use super::ranks::agreed;
use super::{Curve, CurveError, CurveFit, FittedCurve, Relation, Tie};
use crate::real::Real;

/// A fit of several data sets that share some of their parameters.
///
/// Each data set comes as a [`CurveFit`] of its own, with its curve, names, start, bounds and sigma. Together they are one
/// [`CurveFit`], whose parameters are the shared ones by their names, and those of each set with the set in front, such as
/// `low.amplitude`.
///
/// ```
/// use marquardt::{CurveFit, GlobalFit};
///
/// let t = [0.0, 1.0, 2.0, 3.0_f64];
/// let (low, high) = ([2.1, 1.2, 0.8, 0.4], [10.0, 6.0, 3.7, 2.2, 1.4]);
/// let decay = |t: f64, [a, k]: [marquardt::Dual<f64, 2>; 2]| a * (-k * t).exp();
/// let fit = GlobalFit::new()
///     .data_set("low", CurveFit::new(decay, &t, &low, [1.0, 1.0]).names(["amplitude", "rate"]))
///     .data_set(
///         "high",
///         CurveFit::new(decay, &[0.0, 1.0, 2.0, 3.0, 4.0], &high, [5.0, 1.0])
///             .names(["amplitude", "rate"]),
///     )
///     .shared(["rate"])
///     .fit()?;
/// let names: Vec<_> = fit.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
/// assert_eq!(names, ["low.amplitude", "rate", "high.amplitude"]);
/// assert!((fit.parameter("rate").unwrap().value - 0.5).abs() < 0.02);
/// assert_eq!(fit.data_sets()?[1].residuals.len(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GlobalFit<'a, T: Real> {
    sets: Vec<DataSet<'a, T>>,
    shared: Vec<String>,
    retry: bool,
}

/// A data set and its curve.
struct DataSet<'a, T: Real> {
    name: String,
    checked: Result<CheckedFit<'a, T>, CurveError>,
}

/// Reasons why data sets cannot be fitted together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GlobalError {
    /// There are no data sets.
    #[error("there are no data sets")]
    NoDataSets,
    /// Two data sets have the same name.
    #[error("two data sets are called {name:?}")]
    DuplicateDataSet {
        /// The name.
        name: String,
    },
    /// A data set has an error.
    #[error("{name:?}: {source}")]
    DataSet {
        /// The data set.
        name: String,
        /// The reason.
        source: CurveError,
    },
    /// A parameter is not in two data sets.
    #[error(
        "{name:?} cannot be shared: it is a parameter of {}",
        .of.first().map_or("no data set".into(), |set| format!("{set:?} alone"))
    )]
    NotShared {
        /// The parameter.
        name: String,
        /// The data sets that have it.
        of: Vec<String>,
    },
    /// Data sets have different options for a shared parameter.
    #[error("{first:?} and {second:?} have different options for the shared parameter {name:?}: {what}")]
    Disagreement {
        /// The parameter.
        name: String,
        /// A data set.
        first: String,
        /// Another.
        second: String,
        /// The setting that they do not agree on.
        what: &'static str,
    },
    /// Data sets differ in an option that must be the same for all, such as the meaning of sigma.
    #[error("{first:?} and {second:?} must be alike: {what}")]
    Unlike {
        /// A data set.
        first: String,
        /// Another.
        second: String,
        /// The setting that they differ in.
        what: &'static str,
    },
    /// The fit of all of them together is refused.
    #[error(transparent)]
    Curve(#[from] CurveError),
}

impl<T: Real> Default for GlobalFit<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T: Real> GlobalFit<'a, T> {
    /// No data sets yet.
    pub fn new() -> Self {
        GlobalFit { sets: Vec::new(), shared: Vec::new(), retry: true }
    }

    /// Adds a data set. Curves may be of different kinds, but must have the same number of responses per row. Where ranks [share the
    /// rows](CurveFit::communicator) of one data set, they share those of all, and this is collective.
    pub fn data_set<'s: 'a, C>(mut self, name: &str, fit: CurveFit<'s, T, C>) -> Self
    where
        C: Curve<T> + 'a,
    {
        let checked = if fit.is_robust() {
            let (first, second) = ("a data set of a global fit", "a robust loss of its own");
            Err(CurveError::Conflict { first, second, reason: "its scale is for the residuals of all to say" })
        } else {
            fit.boxed().and_then(CurveFit::unchecked)
        };
        self.sets.push(DataSet { name: name.to_owned(), checked });
        self
    }

    /// Sets the names of the shared parameters. A parameter is shared by all data sets that have one of this name; its start is that of the
    /// first of these data sets.
    pub fn shared<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.shared.extend(names.into_iter().map(Into::into));
        self
    }

    /// Says whether a fit that ends badly is tried again in other ways, as [`CurveFit::retry`] does; `true` by default.
    pub fn retry(self, retry: bool) -> Self {
        GlobalFit { retry, ..self }
    }

    /// Returns the fit of all data sets as one [`CurveFit`], for further options such as a [robust](CurveFit::robust) loss or [many
    /// starts](CurveFit::multi_start). Solver and [variable projection](CurveFit::variable_projection) are those of the first data set.
    ///
    /// # Errors
    ///
    /// [`GlobalError`] names the data set and its error, or two data sets that cannot be combined. Sigma must be given for all data sets or
    /// for none; the same holds for [`absolute_sigma`](CurveFit::absolute_sigma).
    pub fn curve_fit(self) -> Result<CurveFit<'a, T, GlobalCurve<'a, T>>, GlobalError> {
        let mut sets: Vec<(String, CheckedFit<'a, T>)> = Vec::with_capacity(self.sets.len());
        for DataSet { name, checked } in self.sets {
            if sets.iter().any(|(other, _)| *other == name) {
                return Err(GlobalError::DuplicateDataSet { name });
            }
            match checked {
                Ok(checked) => sets.push((name, checked)),
                Err(source) => return Err(GlobalError::DataSet { name, source }),
            }
        }
        check_alike(&sets)?;
        check_shared(&sets, &self.shared)?;
        let JoinedParameters { parameters, own, derived, relations } = join(&sets, &self.shared)?;
        let data = agreed(sets[0].1.data.ranks(), Data::joined(sets.iter().map(|(_, checked)| &checked.data)))?;
        let start = parameters.iter().map(|parameter| parameter.start).collect();
        let options =
            sets[0].1.options.clone().with_parameters(&parameters).with_derived(derived).with_relations(relations);
        let method = FitMethod { retry: self.retry, ..sets[0].1.method.clone() };
        let parts = sets.into_iter().zip(own).map(|((name, checked), parameters)| DataSetCurve {
            name,
            curve: checked.curve,
            width: checked.data.predictors_in_row(),
            data_width: checked.data.width(),
            parameters,
        });
        let parts = parts.collect();
        let data_width = data.width();
        let names = parameters.into_iter().map(|parameter| parameter.name).collect();
        Ok(CurveFit::of_parts(GlobalCurve { parts, names, data_width }, data, start, options, method))
    }

    /// Fits all data sets together.
    ///
    /// # Errors
    ///
    /// As [`curve_fit`](Self::curve_fit), and as [`CurveFit::fit`].
    pub fn fit(self) -> Result<FittedCurve<'a, T>, GlobalError> {
        Ok(self.curve_fit()?.fit()?)
    }
}

/// A data set by its name.
type NamedFit<'a, T> = (String, CheckedFit<'a, T>);

/// Residuals of all data sets can be added up.
fn check_alike<T: Real>(sets: &[NamedFit<'_, T>]) -> Result<(), GlobalError> {
    let Some(((first, one), others)) = sets.split_first() else { return Err(GlobalError::NoDataSets) };
    let is_uniform = |checked: &CheckedFit<'_, T>| matches!(checked.data.noise, Noise::Uniform);
    for (second, other) in others {
        let what = if one.data.ranks().size() != other.data.ranks().size() {
            "other ranks share its rows"
        } else if one.curve.response_count() != other.curve.response_count() {
            "their curves have different numbers of responses"
        } else if one.options.counts != other.options.counts {
            "only one has counts"
        } else if is_uniform(one) != is_uniform(other) {
            "only one has a sigma"
        } else if one.options.absolute_sigma != other.options.absolute_sigma {
            "only one has an absolute sigma"
        } else {
            continue;
        };
        return Err(GlobalError::Unlike { first: first.clone(), second: second.clone(), what });
    }
    Ok(())
}

/// Checks that the shared parameters can be shared.
fn check_shared<T: Real>(sets: &[NamedFit<'_, T>], shared: &[String]) -> Result<(), GlobalError> {
    for name in shared {
        let with_it: Vec<_> = sets.iter().filter(|(_, checked)| checked.map.index(name).is_some()).collect();
        let of = || with_it.iter().map(|(set, _)| set.clone()).collect();
        let Some(((first, one), others)) = with_it.split_first().filter(|(_, others)| !others.is_empty()) else {
            return Err(GlobalError::NotShared { name: name.clone(), of: of() });
        };
        let parameter = |checked: &CheckedFit<'_, T>| {
            checked.map.parameters.iter().find(|parameter| parameter.name == *name).cloned()
        };
        for (second, other) in others {
            let (Some(one), Some(other)) = (parameter(one), parameter(other)) else { continue };
            if let Some(what) = disagreement(&one, &other) {
                let (name, first, second) = (name.clone(), first.clone(), second.clone());
                return Err(GlobalError::Disagreement { name, first, second, what });
            }
        }
    }
    Ok(())
}

/// Options of a parameter that differ here and there, but for its start.
fn disagreement<T: Real>(one: &Parameter<T>, other: &Parameter<T>) -> Option<&'static str> {
    let roles = match (&one.role, &other.role) {
        (Role::Free, Role::Free) => true,
        (Role::Fixed, Role::Fixed) => one.start == other.start,
        _ => false,
    };
    if !roles {
        Some("what it is fixed at or tied to")
    } else if (one.lower, one.upper) != (other.lower, other.upper) {
        Some("its bounds")
    } else if one.prior != other.prior {
        Some("its prior")
    } else if one.scale != other.scale {
        Some("its scale")
    } else {
        None
    }
}

/// All parameters, and of each data set which of them are its own.
struct JoinedParameters<T> {
    parameters: Vec<Parameter<T>>,
    own: Vec<Vec<usize>>,
    /// Derived quantities, with the names of their data sets.
    derived: Vec<(String, Tie<T>)>,
    /// Relations, with the names of all parameters.
    relations: Vec<Relation<T>>,
}

fn join<T: Real>(sets: &[NamedFit<'_, T>], shared: &[String]) -> Result<JoinedParameters<T>, CurveError> {
    let (mut parameters, mut own): (Vec<Parameter<T>>, _) = (Vec::new(), Vec::with_capacity(sets.len()));
    let (mut derived, mut relations) = (Vec::new(), Vec::new());
    for (set, checked) in sets {
        let is_shared = |name: &str| shared.iter().any(|shared| shared == name);
        let full = |name: &str| if is_shared(name) { name.into() } else { format!("{set}.{name}") };
        let mut indices = Vec::with_capacity(checked.map.count());
        for parameter in &checked.map.parameters {
            let name = full(&parameter.name);
            let known = parameters.iter().position(|other| other.name == name);
            if known.is_some() && !is_shared(&parameter.name) {
                return Err(CurveError::DuplicateName { name });
            }
            indices.push(known.unwrap_or(parameters.len()));
            if known.is_none() {
                parameters.push(parameter.renamed(name, full));
            }
        }
        own.push(indices);
        let quantities = checked.options.derived().iter();
        derived.extend(quantities.map(|(name, tie)| (format!("{set}.{name}"), tie.renamed(full))));
        relations.extend(checked.options.relations().iter().map(|relation| relation.renamed(full)));
    }
    Ok(JoinedParameters { parameters, own, derived, relations })
}
