//! Differential equations as formulas.

use thiserror::Error;

use super::FromDifferentialEquations;
use super::equations::Equations;
use crate::autodiff::Dual;
use crate::curve::formula::Program;
use crate::curve::{CurveFit, Formula, FormulaError, Rows};

/// Derivatives that a number carries.
const LANES: usize = 8;

/// A system of differential equations given at run time: [formulas](Formula) of the right sides, the initial values and the responses. All
/// names that are no states are parameters, in the order in which they occur. Feature `ode`.
///
/// ```
/// use marquardt::CurveFit;
/// use marquardt::curve::EquationFormulas;
///
/// // A drug by mouth: amounts in gut and blood, of which samples give the concentration in the blood.
/// let hours = [0.5, 1.0, 2.0, 4.0, 6.0, 9.0, 12.0];
/// let concentrations = [2.13, 2.99, 3.28, 2.26, 1.42, 0.66, 0.32];
/// let equations = [("gut", "-ka*gut"), ("blood", "ka*gut - ke*blood")];
/// let initial = [("gut", "100"), ("blood", "0")];
/// let system = EquationFormulas::parse("t", &equations, &initial, &["blood/volume"])?;
/// assert_eq!(system.parameters(), ["ka", "ke", "volume"]);
/// let fit =
///     CurveFit::differential_formulas(system, &hours, &concentrations, &[1.0, 0.1, 10.0]).fit()?;
/// assert!((fit.parameter("volume").unwrap().value - 20.0).abs() < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct EquationFormulas {
    states: Vec<String>,
    parameters: Vec<String>,
    /// Programs over the states and the parameters.
    right_sides: Vec<Program>,
    initial: Vec<Program>,
    observed: Vec<Program>,
}

/// Errors in the formulas of a system of differential equations.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EquationsError {
    /// A text is no formula.
    #[error("{of}: {source}")]
    Formula {
        /// Part of the system that has the formula.
        of: String,
        /// Its error.
        source: FormulaError,
    },
    /// There is no equation.
    #[error("there is no differential equation")]
    NoEquation,
    /// A state has two equations, or two initial values.
    #[error("{of} is given twice")]
    Twice {
        /// Part of the system that is given twice.
        of: String,
    },
    /// A state has no initial value.
    #[error("the state {state:?} has no initial value")]
    NoInitialValue {
        /// The state.
        state: String,
    },
    /// An initial value is given for a name that is no state.
    #[error("{name:?} has an initial value, but no equation")]
    NoState {
        /// The name.
        name: String,
    },
    /// An initial value depends on a state or on the time.
    #[error("the initial value of {state:?} depends on {name:?}, but it has parameters alone")]
    InitialValue {
        /// The state.
        state: String,
        /// A state, or the time.
        name: String,
    },
}

impl EquationFormulas {
    /// Parses the right sides of the states, `(state, formula)`, their initial values, and the responses; without any, all states are
    /// responses. `time` is the name of the time.
    ///
    /// # Errors
    ///
    /// [`EquationsError`] says which part is wrong.
    pub fn parse<S: AsRef<str>>(
        time: &str,
        equations: &[(S, S)],
        initial: &[(S, S)],
        observed: &[S],
    ) -> Result<Self, EquationsError> {
        let states: Vec<String> = equations.iter().map(|(state, _)| state.as_ref().to_owned()).collect();
        if states.is_empty() {
            return Err(EquationsError::NoEquation);
        }
        for (given, of) in [(equations, "the equation"), (initial, "the initial value")] {
            let names: Vec<&str> = given.iter().map(|(state, _)| state.as_ref()).collect();
            if let Some(twice) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
                return Err(EquationsError::Twice { of: format!("{of} of {:?}", names[twice]) });
            }
            if let Some(name) = names.iter().find(|name| !states.iter().any(|state| state == *name)) {
                return Err(EquationsError::NoState { name: (*name).to_owned() });
            }
        }
        let mut names = states.clone();
        let mut program = |text: &str, of: String| {
            let formula = Formula::with_predictors(text, [time]);
            let formula = formula.map_err(|source| EquationsError::Formula { of, source })?;
            let mut place = |name: &String| {
                names.iter().position(|known| known == name).unwrap_or_else(|| {
                    names.push(name.clone());
                    names.len() - 1
                })
            };
            let places: Vec<usize> = formula.parameters().iter().map(&mut place).collect();
            let first = formula
                .used_predictors()
                .next()
                .or(formula.parameters().iter().find_map(|name| states.contains(name).then_some(name.as_str())));
            Ok((formula.program().over(&places), first.map(str::to_owned)))
        };
        let mut right_sides = Vec::new();
        for (state, text) in equations {
            right_sides.push(program(text.as_ref(), format!("the equation of {:?}", state.as_ref()))?.0);
        }
        let mut initial_values = Vec::new();
        for state in &states {
            let given = initial.iter().find(|(name, _)| name.as_ref() == state);
            let (_, text) = given.ok_or_else(|| EquationsError::NoInitialValue { state: state.clone() })?;
            let (value, depends) = program(text.as_ref(), format!("the initial value of {state:?}"))?;
            if let Some(name) = depends {
                return Err(EquationsError::InitialValue { state: state.clone(), name });
            }
            initial_values.push(value);
        }
        let responses = observed.iter().map(|text| program(text.as_ref(), format!("the response {:?}", text.as_ref())));
        let observed = responses.map(|response| response.map(|(program, _)| program)).collect::<Result<_, _>>()?;
        let parameters = names.split_off(states.len());
        Ok(EquationFormulas { states, parameters, right_sides, initial: initial_values, observed })
    }

    /// The names of the states.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }
}

impl Equations<LANES> for EquationFormulas {
    fn states(&self) -> usize {
        self.states.len()
    }

    fn parameters(&self) -> usize {
        self.parameters.len()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.parameters[index].clone()
    }

    fn outputs(&self) -> usize {
        if self.observed.is_empty() { self.states.len() } else { self.observed.len() }
    }

    fn derivative(
        &self,
        time: f64,
        states: &[Dual<f64, LANES>],
        b: &[Dual<f64, LANES>],
        slopes: &mut [Dual<f64, LANES>],
    ) {
        slopes.copy_from_slice(&values(&self.right_sides, time, states, b));
    }

    fn initial(&self, b: &[Dual<f64, LANES>]) -> Vec<Dual<f64, LANES>> {
        values(&self.initial, f64::NAN, &vec![Dual::constant(f64::NAN); self.states.len()], b)
    }

    fn observed(&self, time: f64, states: &[Dual<f64, LANES>], b: &[Dual<f64, LANES>]) -> Vec<Dual<f64, LANES>> {
        if self.observed.is_empty() { states.to_vec() } else { values(&self.observed, time, states, b) }
    }
}

/// The values of programs over the states and the parameters.
fn values(
    programs: &[Program],
    time: f64,
    states: &[Dual<f64, LANES>],
    b: &[Dual<f64, LANES>],
) -> Vec<Dual<f64, LANES>> {
    let all = [states, b].concat();
    programs.iter().map(|program| program.value(&[time], &all)).collect()
}

impl<'a> CurveFit<'a, f64, ()> {
    /// Fits the solution of differential equations that are [formulas](EquationFormulas), as
    /// [`differential_equations`](Self::differential_equations) fits that of closures. Feature `ode`.
    pub fn differential_formulas(
        equations: EquationFormulas,
        t: impl Into<Rows<'a, f64>>,
        y: impl Into<Rows<'a, f64>>,
        start: &[f64],
    ) -> CurveFit<'a, f64, FromDifferentialEquations<EquationFormulas, LANES>> {
        CurveFit::curve(FromDifferentialEquations::new(equations), t, y, start)
    }
}
