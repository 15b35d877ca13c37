//! `marquardt compare`: several curves to the same columns.

use std::collections::BTreeSet;

use marquardt::FittedCurve;
use marquardt::curve::{Comparison, Criteria, Table};
use marquardt::models::{AnyModel, Named};
use marquardt::statistics::durbin_watson;

use crate::arguments::{CompareArguments, ParameterArguments};
use crate::assignments::NamedValue;
use crate::curve::{self, Chosen};
use crate::curve_fit::{self, Solved};
use crate::data;
use crate::failure::{Ending, Failure};
use crate::needed_columns::Needs;
use crate::output;
use crate::selected_data::SelectedData;
use crate::table::{Cell, ResultTable};
use crate::terminal::note;

/// Normal quantile of 99.5 %: residuals with a larger serial correlation, in units of its deviation, are no noise.
const BEYOND_CHANCE: f64 = 2.576;

/// Fits all of them, and prints them best first.
pub fn run(arguments: &CompareArguments) -> Result<Ending, Failure> {
    output::check_formats(arguments.formats.all())?;
    let formulas: Vec<&str> = arguments.formula.iter().map(String::as_str).collect();
    let table = data::read(&arguments.data, &Needs { formulas: &formulas, ..Needs::default() })?;
    let names = match (&arguments.models[..], &arguments.formula[..]) {
        ([], []) => {
            let distinct = Named::all().filter(|model| !model.is_reparameterized());
            distinct.map(|model| model.name().to_owned()).collect()
        }
        (models, _) => models.to_vec(),
    };
    let mut candidates = Vec::new();
    for name in names {
        candidates.push(curve::of_model(&name, &table, &arguments.data)?);
    }
    for formula in &arguments.formula {
        candidates.push(curve::in_columns(formula, &table, &arguments.data)?);
    }
    for NamedValue { name, .. } in &arguments.start {
        if !candidates.iter().any(|Chosen { curve, .. }| curve.parameters().contains(name)) {
            return Err(Failure::new(format!("--start: no curve has a parameter {name:?}")));
        }
    }
    candidates.iter().for_each(|chosen| curve::note_of_constants(&chosen.curve, &arguments.start));
    let left_out = candidates.first().and_then(|chosen| curve::note_of_response(&table, chosen, &arguments.data, None));
    let columns: BTreeSet<String> =
        candidates.iter().flat_map(|chosen| chosen.x_names.iter().chain(&chosen.y_names)).cloned().collect();
    let mut fits = Vec::new();
    let (mut failed, mut warnings) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let name = candidate.name.clone();
        match fit_candidate(candidate, &table, arguments)? {
            Ok(fit) => {
                warnings.extend(fit.unusable.iter().map(|warning| format!("warning: {name:?}: {warning}")));
                fits.push(fit);
            }
            Err(reason) => failed.push((name, reason)),
        }
    }
    if fits.is_empty() {
        let (name, reason) = &failed[0];
        return Err(Failure::new(format!("no curve could be fitted; {name:?}: {reason}")));
    }
    let have_all_converged = failed.is_empty();
    let mut reasons = Vec::new();
    for (peaks, reason) in second_peaks(&fits) {
        let name = peaks.name().to_owned();
        match fit_candidate(curve::of_model(&name, &table, &arguments.data)?, &table, arguments)? {
            Ok(fit) if fit.unusable.is_empty() => {
                reasons.push(format!("note: {name:?} is compared, too: {reason}"));
                fits.push(fit);
            }
            Ok(fit) => failed.push((name, fit.unusable.join("; "))),
            Err(reason) => failed.push((name, reason)),
        }
    }
    let comparison = Comparison::of(fits.iter().map(|fit| (fit.name.clone(), fit.criteria)))?;
    let mut ranking = ResultTable::new(["model", "parameters", "AICc", "difference", "weight", "BIC", "residual_sd"]);
    for compared in comparison.fits() {
        let criteria = &compared.criteria;
        let deviation = fits.iter().find(|fit| fit.name == compared.name).and_then(|fit| fit.deviation);
        ranking.row([
            Cell::from(compared.name.as_str()),
            Cell::Count(criteria.parameters),
            Cell::Number(criteria.aicc()),
            Cell::Number(compared.difference),
            Cell::Number(compared.weight),
            Cell::Number(criteria.bic()),
            Cell::from(deviation),
        ]);
    }
    output::print_table(&arguments.formats, &ranking)?;
    data::note_of_reading(&table, &columns)?;
    left_out.into_iter().chain(reasons).for_each(note);
    for (name, reason) in &failed {
        note(format_args!("note: {name:?} is left out: {reason}"));
    }
    warnings.iter().for_each(note);
    // Of all models of the library, some do not suit the data.
    let is_selection = !(arguments.models.is_empty() && arguments.formula.is_empty());
    Ok(match is_selection {
        true if !warnings.is_empty() => Ending::Unusable,
        _ => Ending::of(have_all_converged || !is_selection),
    })
}

/// A candidate that was fitted.
struct Candidate {
    name: String,
    curve: AnyModel,
    criteria: Criteria<f64>,
    /// The residual standard deviation.
    deviation: Option<f64>,
    /// Warnings of a fit that nothing can be concluded from.
    unusable: Vec<String>,
    /// Durbin-Watson statistic of residuals that follow each other more than noise does.
    correlation: Option<f64>,
}

/// Fits a candidate; the reason if that ends badly.
fn fit_candidate(
    Chosen { name, curve, x_names, y_names }: Chosen,
    table: &Table,
    arguments: &CompareArguments,
) -> Result<Result<Candidate, String>, Failure> {
    let data = SelectedData::select(table, &arguments.data, x_names, y_names)?;
    let is_own = |start: &&NamedValue<f64>| curve.parameters().contains(&start.name);
    let start = arguments.start.iter().filter(is_own).cloned().collect();
    let parameters = ParameterArguments { start, ..Default::default() };
    let fit = curve_fit::build(&curve, &data, &parameters, &arguments.method)?;
    Ok(match curve_fit::solve(fit, &arguments.method) {
        Ok(Solved { fit, .. }) if fit.report().is_converged() => {
            let unusable = fit.warnings().iter().filter(|warning| warning.is_unusable());
            let (unusable, correlation) =
                (unusable.map(|warning| warning.to_string()).collect(), correlation(&fit, &data));
            let (criteria, deviation) = (fit.criteria(), fit.residual_standard_deviation());
            Ok(Candidate { name, curve: curve.clone(), criteria, deviation, unusable, correlation })
        }
        Ok(Solved { fit, .. }) => Err(fit.report().status.to_string()),
        Err(error) => Err(curve_fit::explain(error, &data).one_line()),
    })
}

/// The Durbin-Watson statistic of the residuals in the order of the predictor, where it is too small for chance: `d` is about
/// `2 − 2z/√n`, with a normal `z`.
fn correlation(fit: &FittedCurve<'_, f64>, data: &SelectedData) -> Option<f64> {
    // Replicates of which means alone are known have no residuals of their own.
    fit.durbin_watson().filter(|_| data.y_names.len() == 1)?;
    let residuals = fit.whitened_residuals();
    let mut rows: Vec<usize> = (0..residuals.len()).collect();
    rows.sort_by(|&one, &other| data.x[[one, 0]].total_cmp(&data.x[[other, 0]]));
    let statistic = durbin_watson(&rows.into_iter().map(|row| residuals[row]).collect::<Vec<_>>())?;
    (statistic < 2.0 - 2.0 * BEYOND_CHANCE / (residuals.len() as f64).sqrt()).then_some(statistic)
}

/// Sums with the peaks of candidates twice, and reasons for them: none where the best candidate leaves residuals like noise.
fn second_peaks(fits: &[Candidate]) -> Vec<(Named, String)> {
    let best = fits.iter().min_by(|one, other| one.criteria.aicc().total_cmp(&other.criteria.aicc()));
    let peaks = fits.iter().filter(|_| best.is_some_and(|best| best.correlation.is_some())).filter_map(|fit| {
        let (AnyModel::Named(model), Some(statistic)) = (&fit.curve, fit.correlation) else { return None };
        let reason = format!("neighbouring residuals of {:?} are alike (Durbin-Watson {statistic:.2})", model.name());
        Some((model.with_second_peak()?, reason))
    });
    let is_new = |(peaks, _): &(Named, String)| !fits.iter().any(|fit| fit.curve == AnyModel::Named(peaks.clone()));
    peaks.filter(is_new).collect()
}
