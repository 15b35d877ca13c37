//! What every rendering shows: the same rows, as text.

use super::{FitSummary, ParameterState, ParameterSummary};

/// One column of the table of parameters.
pub(super) struct Column {
    pub(super) heading: String,
    pub(super) is_number: bool,
    pub(super) cells: Vec<String>,
}

/// The table of parameters, without columns that would be empty.
pub(super) fn parameters(summary: &FitSummary) -> Vec<Column> {
    let column = |heading: &str, is_number, cell: &dyn Fn(&ParameterSummary) -> String| Column {
        heading: heading.to_owned(),
        is_number,
        cells: summary.parameters.iter().map(cell).collect(),
    };
    let level = summary.parameters.iter().find_map(|parameter| parameter.interval).map_or(0.95, |found| found.level);
    let mut columns = vec![
        column("parameter", false, &|p| p.name.clone()),
        column("value", true, &|p| format!("{:.10e}", p.value)),
        column("standard error", true, &standard_error),
        column("relative", true, &relative_error),
        column(&format!("{} % interval", brief(100.0 * level)), true, &|p| {
            p.interval.map_or_else(String::new, |interval| format!("[{:.6e}, {:.6e}]", interval.low, interval.high))
        }),
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

fn standard_error(parameter: &ParameterSummary) -> String {
    match parameter.standard_error {
        _ if parameter.state == ParameterState::Undetermined => "undetermined".to_owned(),
        _ if parameter.state == ParameterState::Fixed => String::new(),
        error if error.is_infinite() => "undetermined".to_owned(),
        error if error.is_nan() => String::new(),
        error => format!("{error:.6e}"),
    }
}

fn relative_error(parameter: &ParameterSummary) -> String {
    match parameter.relative_error() {
        Some(_) if matches!(parameter.state, ParameterState::Fixed | ParameterState::Undetermined) => String::new(),
        Some(relative) if relative < 100.0 => format!("{:.2} %", 100.0 * relative),
        Some(relative) => format!("{:.1e} %", 100.0 * relative),
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
pub(super) fn statistics(summary: &FitSummary) -> Vec<(&'static str, String)> {
    let (data, statistics) = (&summary.data, &summary.statistics);
    let mut rows = vec![("observations", data.observations.to_string())];
    if data.omitted > 0 {
        rows.push(("rows left out", data.omitted.to_string()));
    }
    if !data.noise.is_empty() {
        rows.push(("noise", data.noise.clone()));
    }
    if let Some(loss) = &data.loss {
        rows.push(("loss", format!("{}, scale {:.6e}", loss.name, loss.scale)));
    }
    rows.push(("degrees of freedom", statistics.degrees_of_freedom.to_string()));
    rows.push(("residual sum of squares", format!("{:.10e}", statistics.residual_sum_of_squares)));
    let deviation = statistics.residual_standard_deviation.map(|deviation| format!("{deviation:.10e}"));
    let unknown = || "unknown (no degrees of freedom)".to_owned();
    rows.push(("residual standard deviation", deviation.unwrap_or_else(unknown)));
    let further = [
        ("χ²", statistics.chi_squared.map(|value| format!("{value:.10e}"))),
        ("reduced χ²", statistics.reduced_chi_squared.map(|value| format!("{value:.10e}"))),
        ("R²", statistics.r_squared.map(|value| format!("{value:.10}"))),
        ("AIC", statistics.aic.map(|value| format!("{value:.6}"))),
        ("AICc", statistics.aicc.map(|value| format!("{value:.6}"))),
        ("BIC", statistics.bic.map(|value| format!("{value:.6}"))),
    ];
    rows.extend(further.into_iter().filter_map(|(name, value)| Some((name, value?))));
    rows
}

/// Why the solve ended, and what it took.
pub(super) fn verdict(summary: &FitSummary) -> (&'static str, String) {
    let verdict = if summary.is_converged { "Converged" } else { "Not converged" };
    let (iterations, evaluations) = (summary.iterations, summary.evaluations);
    let with_derivatives = summary.derivative_evaluations;
    (verdict, format!("{iterations} iterations, {evaluations} evaluations ({with_derivatives} with derivatives)"))
}

/// A number of six digits at most.
fn brief(value: f64) -> String {
    // Adding zero turns -0 into 0.
    let rounded = format!("{value:.5e}").parse().unwrap_or(value) + 0.0;
    let is_plain = rounded == 0.0 || !rounded.is_finite() || (1e-4..1e6).contains(&rounded.abs());
    if is_plain { rounded.to_string() } else { format!("{rounded:e}") }
}
