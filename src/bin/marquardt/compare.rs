//! `marquardt compare`: several curves to the same columns.

use marquardt::curve::Comparison;
use marquardt::models::Named;

use crate::arguments::{CompareArguments, ParameterArguments};
use crate::assignments::NamedValue;
use crate::curve::{self, Chosen};
use crate::curve_fit::{self, Solved};
use crate::data::{self, SelectedData};
use crate::failure::{Ending, Failure};
use crate::needed_columns::Needs;
use crate::output;
use crate::table::{Cell, ResultTable};
use crate::terminal::note;

/// Fits all of them, and prints them best first.
pub fn run(arguments: &CompareArguments) -> Result<Ending, Failure> {
    output::check_formats(arguments.formats.all())?;
    let formulas: Vec<&str> = arguments.formula.iter().map(String::as_str).collect();
    let table = data::read(&arguments.data, &Needs { formulas: &formulas, columns: &[] })?;
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
    let mut fits = Vec::new();
    let (mut failed, mut warnings) = (Vec::new(), Vec::new());
    for Chosen { curve, x_names, y_names } in candidates {
        let data = SelectedData::select(&table, &arguments.data, x_names, y_names)?;
        let is_own = |start: &&NamedValue<f64>| curve.parameters().contains(&start.name);
        let start = arguments.start.iter().filter(is_own).cloned().collect();
        let parameters = ParameterArguments { start, ..Default::default() };
        let fit = curve_fit::build(&curve, &data, &parameters, &arguments.method)?;
        match curve_fit::solve(fit, &arguments.method) {
            Ok(Solved { fit, .. }) if fit.report().is_converged() => {
                let unusable = fit.warnings().iter().filter(|warning| warning.is_unusable());
                warnings.extend(unusable.map(|warning| format!("warning: {:?}: {warning}", curve.to_string())));
                fits.push((curve.to_string(), fit.criteria(), fit.residual_standard_deviation()));
            }
            Ok(Solved { fit, .. }) => failed.push((curve.to_string(), fit.report().status.to_string())),
            Err(error) => failed.push((curve.to_string(), curve_fit::explain(error, &data).one_line())),
        }
    }
    if fits.is_empty() {
        let (name, reason) = &failed[0];
        return Err(Failure::new(format!("no curve could be fitted; {name:?}: {reason}")));
    }
    let comparison = Comparison::of(fits.iter().map(|(name, criteria, _)| (name.as_str(), *criteria)))?;
    let mut ranking = ResultTable::new(["model", "parameters", "AICc", "difference", "weight", "BIC", "residual_sd"]);
    for compared in comparison.fits() {
        let criteria = &compared.criteria;
        let deviation = fits.iter().find(|(name, ..)| *name == compared.name).and_then(|(.., deviation)| *deviation);
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
    left_out.into_iter().for_each(note);
    for (name, reason) in &failed {
        note(format_args!("note: {name:?} is left out: {reason}"));
    }
    warnings.iter().for_each(note);
    // Of all models of the library, some do not suit the data.
    let is_selection = !(arguments.models.is_empty() && arguments.formula.is_empty());
    Ok(match is_selection {
        true if !warnings.is_empty() => Ending::Unusable,
        _ => Ending::of(failed.is_empty() || !is_selection),
    })
}
