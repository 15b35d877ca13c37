//! Intervals by profiles and by resampling.

use marquardt::FittedCurve;
use marquardt::curve::{
    CalibrationError, DerivedQuantity, FittedParameter, IntervalEnd, ParameterState, Profile, ProfileError,
    StatisticsError, Unknown,
};
use marquardt::statistics::Test;

use crate::arguments::FitArguments;
use crate::assignments::Replicates;
use crate::bars;
use crate::contours::Regions;
use crate::failure::{Failure, quoted};
use crate::interrupt;
use crate::selected_data::SelectedData;
use crate::table::{Cell, ResultTable};
use crate::terminal;

/// Confidence of all intervals.
pub const LEVEL: f64 = 0.95;

/// Points on either side of a profile that is drawn.
const DRAWN_POINTS: usize = 10;

/// Intervals besides those of the standard errors.
#[derive(Debug, Default)]
pub struct Inference {
    pub profile: Option<ResultTable>,
    /// Profiles for a page.
    pub profiles: Vec<Profile<f64>>,
    pub bootstrap: Option<ResultTable>,
    pub unknowns: Option<ResultTable>,
    pub residual_tests: Option<ResultTable>,
    pub regions: Option<Regions>,
    /// Ends of the regions.
    pub region_ends: Option<ResultTable>,
    pub is_interrupted: bool,
}

impl Inference {
    /// The intervals that are asked for.
    pub fn of(fit: &FittedCurve<'_, f64>, arguments: &FitArguments, data: &SelectedData) -> Result<Self, Failure> {
        let unknowns = (!arguments.x_for.is_empty()).then(|| unknowns(fit, arguments, data)).transpose()?;
        let is_drawn = arguments.output.report.is_some() || arguments.regions.profile_plot.is_some();
        let points = if is_drawn { DRAWN_POINTS } else { 0 };
        let profiles = if arguments.profile { profiles(fit, points) } else { Vec::new() };
        let profile = arguments.profile.then(|| profile_table(&profiles));
        let regions = Regions::of(fit, &arguments.regions)?;
        let region_ends = regions.as_ref().map(Regions::table);
        let seed = arguments.method.seed;
        let resampled = arguments.bootstrap.map(|replicates| bootstrap(fit, replicates, seed)).transpose();
        let is_interrupted = interrupt::token().is_cancelled();
        // An interrupt may leave too few replicates, but does not take away the fit.
        let bootstrap = if is_interrupted { resampled.unwrap_or_default() } else { resampled? };
        let residual_tests = arguments.residual_tests.then(|| residual_tests(fit));
        let profiles = profiles.into_iter().filter_map(|(_, _, profile)| profile.ok()).collect();
        Ok(Inference { profile, profiles, bootstrap, unknowns, residual_tests, regions, region_ends, is_interrupted })
    }
}

/// A row for each test of the residuals that they allow.
fn residual_tests(fit: &FittedCurve<'_, f64>) -> ResultTable {
    let mut table = ResultTable::new(["test", "statistic", "p_value"]);
    let tests = [
        ("runs", fit.runs_test()),
        ("Shapiro-Wilk", fit.shapiro_wilk()),
        ("D'Agostino-Pearson", fit.dagostino_pearson()),
        ("lack of fit", fit.lack_of_fit().map(|test| Test { statistic: test.statistic, p_value: test.p_value })),
        ("goodness of fit", fit.goodness_of_fit()),
    ];
    for (name, test) in tests {
        if let Some(Test { statistic, p_value }) = test {
            table.row([Cell::from(name), Cell::Number(statistic), Cell::Number(p_value)]);
        }
    }
    if let Some(statistic) = fit.durbin_watson() {
        table.row([Cell::from("Durbin-Watson"), Cell::Number(statistic), Cell::Empty]);
    }
    table
}

/// A row for each solution; one with the reason where there is none.
fn unknowns(fit: &FittedCurve<'_, f64>, arguments: &FitArguments, data: &SelectedData) -> Result<ResultTable, Failure> {
    let mut table = ResultTable::new(["response", "x", "standard_error", "low", "high", "note"]);
    for Replicates(responses) in &arguments.x_for {
        let texts: Vec<String> = responses.iter().map(f64::to_string).collect();
        let name = || Cell::Text(texts.join("+"));
        let mean = responses.iter().sum::<f64>() / responses.len() as f64;
        let sigma = arguments.x_for_sigma.or_else(|| data.sigma_of(mean));
        let unknown = fit.x_for(responses)?;
        match sigma.map_or(unknown.clone(), |sigma| unknown.sigma(sigma)).solve() {
            Ok(found) => found.into_iter().for_each(|Unknown { x, standard_error, interval, .. }| {
                let open = [("low", interval.low), ("high", interval.high)]
                    .map(|(end, value)| (!value.is_finite()).then(|| format!("{end}: beyond the data")));
                let numbers = [x, standard_error, interval.low, interval.high].map(Cell::Number);
                let note = Cell::Text(open.into_iter().flatten().collect::<Vec<_>>().join("; "));
                table.row([name()].into_iter().chain(numbers).chain([note]));
            }),
            Err(error) => {
                let empty = [(); 4].map(|()| Cell::Empty);
                let reason = match error {
                    CalibrationError::Statistics(StatisticsError::UnknownSigma) => {
                        "sigma differs from row to row; --x-for-sigma says what it is for this response".to_owned()
                    }
                    error => error.to_string(),
                };
                table.row([name()].into_iter().chain(empty).chain([Cell::Text(reason)]));
            }
        }
    }
    Ok(table)
}

/// Names, values and profiles of parameters and derived quantities, or the reasons why there is none.
type Profiles = Vec<(String, f64, Result<Profile<f64>, String>)>;

fn profiles(fit: &FittedCurve<'_, f64>, points: usize) -> Profiles {
    let is_profiled =
        |parameter: &&FittedParameter<f64>| !matches!(parameter.state, ParameterState::Fixed | ParameterState::Tied);
    let parameters = fit.parameters().iter().filter(is_profiled);
    let derived = fit.derived_quantities().into_iter().map(|quantity| (quantity.name, quantity.estimate.value));
    let all = parameters.map(|parameter| (parameter.name.clone(), parameter.value)).chain(derived);
    let profile = |name: &str| fit.profile(name, LEVEL, points).map_err(|error| no_profile(fit, &[name], &error));
    all.map(|(name, value)| (name.clone(), value, profile(&name))).collect()
}

/// The reason why parameters have no profile. Where the data do not determine one, a better fit differs by rounding alone.
pub fn no_profile(fit: &FittedCurve<'_, f64>, names: &[impl AsRef<str>], error: &ProfileError) -> String {
    let undetermined = fit.covariance().undetermined().iter();
    let own: Vec<_> = undetermined.filter(|name| names.iter().any(|own| own.as_ref() == *name)).collect();
    match error {
        ProfileError::BetterMinimum { .. } if !own.is_empty() => {
            format!("the data do not determine {}", quoted(&own))
        }
        error => error.to_string(),
    }
}

/// A row for each profile; one with the reason where there is none.
fn profile_table(profiles: &Profiles) -> ResultTable {
    let mut table = ResultTable::new(["parameter", "value", "low", "high", "note"]);
    for (name, value, profile) in profiles {
        let (name, value) = (Cell::from(name.as_str()), Cell::Number(*value));
        match profile {
            Ok(Profile { interval, .. }) => {
                let note = [("low", interval.low_end), ("high", interval.high_end)].map(|(end, kind)| note(end, kind));
                let note = note.into_iter().flatten().collect::<Vec<_>>().join("; ");
                table.row([name, value, Cell::Number(interval.low), Cell::Number(interval.high), Cell::Text(note)]);
            }
            Err(reason) => table.row([name, value, Cell::Empty, Cell::Empty, Cell::from(reason.as_str())]),
        }
    }
    table
}

fn note(end: &str, kind: IntervalEnd) -> Option<String> {
    let reason = match kind {
        IntervalEnd::Level => return None,
        IntervalEnd::Bound => "a bound",
        IntervalEnd::Edge => "the last value at which the curve could be fitted",
        IntervalEnd::Open => "open",
    };
    Some(format!("{end}: {reason}"))
}

fn bootstrap(fit: &FittedCurve<'_, f64>, replicates: u32, seed: u64) -> Result<ResultTable, Failure> {
    let fits = fit.bootstrap().replicates(replicates as usize).seed(seed).cancel_token(interrupt::token());
    let found = bars::of_replicates(fits).run()?;
    let mut table = ResultTable::new(["parameter", "value", "standard_error", "bias", "low", "high"]);
    let (errors, bias) = (found.standard_errors(), found.bias());
    for (index, parameter) in fit.parameters().iter().enumerate() {
        let interval = found.percentile_interval(&parameter.name, LEVEL)?;
        let numbers = [parameter.value, errors[index], bias[index], interval.low, interval.high].map(Cell::Number);
        table.row([Cell::from(parameter.name.as_str())].into_iter().chain(numbers));
    }
    for DerivedQuantity { name, quantity, estimate, .. } in fit.derived_quantities() {
        let interval = found.derived_interval(&quantity, LEVEL)?;
        let ends = [interval.low, interval.high].map(Cell::Number);
        let first = [Cell::from(name.as_str()), Cell::Number(estimate.value), Cell::Empty, Cell::Empty];
        table.row(first.into_iter().chain(ends));
    }
    let failed = found.failed().len();
    if failed > 0 {
        let reason = if interrupt::token().is_cancelled() { "were not fitted" } else { "could not be fitted" };
        terminal::note(format_args!("note: {failed} of {replicates} resampled data sets {reason}"));
    }
    Ok(table)
}
