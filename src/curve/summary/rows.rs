//! Rows that every rendering shows: the same rows, as text.

use super::number::{self, DIGITS, NumberFormat, number};
use super::{FitSummary, ParameterState, ParameterSummary};
use crate::curve::counted::counted;

/// The largest relative error that is printed, in percent.
const LARGEST_PERCENTAGE: f64 = 1000.0;

/// One column of the table of parameters.
pub(super) struct ReportColumn {
    pub(super) heading: String,
    pub(super) is_number: bool,
    pub(super) cells: Vec<String>,
}

/// Number of digits: as many as are significant by the standard error, or a fixed number of significant ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digits {
    /// Follow the standard errors; six digits where there are none.
    Meaningful,
    /// This number of significant digits for each number.
    Significant(usize),
}

impl Digits {
    /// A number of which no error is known.
    fn of(self, value: f64) -> String {
        self.by(value, number)
    }

    /// Writes a fraction, such as R².
    fn of_share(self, value: f64) -> String {
        self.by(value, number::share)
    }

    fn by(self, value: f64, write: impl Fn(f64, usize) -> String) -> String {
        match self {
            Digits::Meaningful => write(value, DIGITS),
            Digits::Significant(digits) => number(value, digits),
        }
    }

    /// Returns the format of a value and its standard error; `None` if digits are fixed.
    fn form(self, parameter: &ParameterSummary) -> Option<NumberFormat> {
        NumberFormat::of(parameter.value, parameter.standard_error)
            .filter(|_| self == Digits::Meaningful && has_error(parameter))
    }
}

/// A table of parameters, or of quantities derived from them, without columns that would be empty.
pub(super) fn parameters(heading: &str, parameters: &[ParameterSummary], digits: Digits) -> Vec<ReportColumn> {
    let column = |heading: &str, is_number, cell: &dyn Fn(&ParameterSummary) -> String| ReportColumn {
        heading: heading.to_owned(),
        is_number,
        cells: parameters.iter().map(cell).collect(),
    };
    let level = parameters.iter().find_map(|parameter| parameter.interval).map_or(0.95, |found| found.level);
    let mut columns = vec![
        column(heading, false, &|p| p.name.clone()),
        column("value ± standard error", true, &|p| measured(p, digits)),
        column("relative", true, &relative_error),
        column(&format!("{} % interval", brief(100.0 * level)), true, &|p| interval(p, digits)),
        column("start", true, &|p| p.start.map_or_else(String::new, brief)),
        column("note", false, &note),
    ];
    let mut place = 0;
    columns.retain(|column| {
        place += 1;
        place <= 2 || column.cells.iter().any(|cell| !cell.is_empty())
    });
    columns
}

/// There is a standard error that says something.
fn has_error(parameter: &ParameterSummary) -> bool {
    let is_judged = !matches!(parameter.state, ParameterState::Undetermined | ParameterState::Fixed);
    is_judged && parameter.standard_error.is_finite()
}

fn measured(parameter: &ParameterSummary, digits: Digits) -> String {
    let (value, error) = (parameter.value, parameter.standard_error);
    let is_undetermined = parameter.state == ParameterState::Undetermined || error.is_infinite();
    match digits.form(parameter) {
        Some(form) => form.measured(value, error),
        None if parameter.state == ParameterState::Fixed => digits.of(value),
        None if is_undetermined => format!("{} ± undetermined", digits.of(value)),
        None if has_error(parameter) => format!("{} ± {}", digits.of(value), digits.of(error)),
        None => digits.of(value),
    }
}

fn interval(parameter: &ParameterSummary, digits: Digits) -> String {
    let Some(interval) = parameter.interval else { return String::new() };
    match digits.form(parameter) {
        Some(form) if interval.low.is_finite() && interval.high.is_finite() => {
            form.interval(interval.low, interval.high)
        }
        _ => format!("[{}, {}]", digits.of(interval.low), digits.of(interval.high)),
    }
}

fn relative_error(parameter: &ParameterSummary) -> String {
    match parameter.relative_error().map(|relative| 100.0 * relative) {
        Some(_) if matches!(parameter.state, ParameterState::Fixed | ParameterState::Undetermined) => String::new(),
        Some(percentage) if percentage > LARGEST_PERCENTAGE => format!("> {LARGEST_PERCENTAGE} %"),
        Some(percentage) => format!("{percentage:.2} %"),
        None => String::new(),
    }
}

fn note(parameter: &ParameterSummary) -> String {
    let bound = |bound: Option<f64>| bound.map_or_else(String::new, |bound| format!(" {}", brief(bound)));
    let state = match parameter.state {
        ParameterState::Fixed => "fixed".to_owned(),
        ParameterState::Tied => format!("= {}", parameter.tie.as_deref().unwrap_or("tied")),
        ParameterState::AtLowerBound => format!("at lower bound{}", bound(parameter.lower)),
        ParameterState::AtUpperBound => format!("at upper bound{}", bound(parameter.upper)),
        ParameterState::Free | ParameterState::Undetermined => match (parameter.lower, parameter.upper) {
            (Some(lower), Some(upper)) => format!("within [{}, {}]", brief(lower), brief(upper)),
            (Some(lower), None) => format!("≥ {}", brief(lower)),
            (None, Some(upper)) => format!("≤ {}", brief(upper)),
            (None, None) => String::new(),
        },
    };
    let prior = parameter
        .prior
        .map_or_else(String::new, |prior| format!("prior {} ± {}", brief(prior.mean), brief(prior.standard_deviation)));
    [state, prior].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Data and statistics, a name and a value each.
pub(super) fn statistics(summary: &FitSummary, digits: Digits) -> Vec<(&'static str, String)> {
    let (data, statistics) = (&summary.data, &summary.statistics);
    let mut rows = vec![("observations", data.observations.to_string())];
    if data.omitted > 0 {
        rows.push(("rows left out", data.omitted.to_string()));
    }
    if !data.noise.is_empty() {
        rows.push(("noise", data.noise.clone()));
    }
    if let Some(loss) = &data.loss {
        rows.push(("loss", format!("{}, scale {}", loss.name, digits.of(loss.scale))));
    }
    rows.push(("degrees of freedom", statistics.degrees_of_freedom.to_string()));
    rows.push(("residual sum of squares", digits.of(statistics.residual_sum_of_squares)));
    let deviation = statistics.residual_standard_deviation.map(|deviation| digits.of(deviation));
    let unknown = || "unknown (no degrees of freedom)".to_owned();
    rows.push(("residual standard deviation", deviation.unwrap_or_else(unknown)));
    // Of criteria differences count, and of these hundredths.
    let criterion = |value: f64| match digits {
        Digits::Meaningful => format!("{value:.2}"),
        Digits::Significant(_) => digits.of(value),
    };
    let further = [
        ("χ²", statistics.chi_squared.map(|value| digits.of(value))),
        ("reduced χ²", statistics.reduced_chi_squared.map(|value| digits.of(value))),
        ("R²", statistics.r_squared.map(|value| digits.of_share(value))),
        ("AIC", statistics.aic.map(criterion)),
        ("AICc", statistics.aicc.map(criterion)),
        ("BIC", statistics.bic.map(criterion)),
    ];
    rows.extend(further.into_iter().filter_map(|(name, value)| Some((name, value?))));
    rows
}

/// Returns the status of the solve, and the numbers of its iterations and evaluations.
pub(super) fn verdict(summary: &FitSummary) -> (&'static str, String) {
    let verdict = if summary.is_converged { "Converged" } else { "Not converged" };
    let work = [counted(summary.iterations, "iteration"), counted(summary.evaluations, "evaluation")];
    let attempts = match &summary.kept_attempt {
        Some(kept) => format!(" in {} attempts, of which {kept} was kept", summary.attempts),
        None => String::new(),
    };
    (verdict, format!("{} ({} with derivatives){attempts}", work.join(", "), summary.derivative_evaluations))
}

/// A number of six digits at most.
fn brief(value: f64) -> String {
    number(value, DIGITS)
}
