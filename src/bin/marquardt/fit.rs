//! `marquardt fit`: one curve to columns of a file.

use std::path::Path;

use marquardt::curve::{FitSummary, MultiStartError, Outlier, Table};
use marquardt::models::AnyModel;
use ndarray::ArrayView2;

use crate::arguments::{DataArguments, FitArguments};
use crate::contours;
use crate::curve::{self, Chosen};
use crate::curve_fit::{self, Solved};
use crate::data;
use crate::failure::{Ending, Failure};
use crate::inference::Inference;
use crate::live::{self, LivePicture};
use crate::needed_columns::{Needs, WideTables};
use crate::page::FitOnPage;
use crate::pictures::Pictures;
use crate::report::FitReport;
use crate::selected_data::SelectedData;
use crate::stored::FitOfColumns;
use crate::table::{Cell, ResultTable};
use crate::terminal::note;
use crate::{batch, groups, output};

/// Fits, prints the report, and draws.
pub fn run(arguments: &FitArguments) -> Result<Ending, Failure> {
    if !arguments.groups.batch.is_empty() {
        return batch::run(arguments);
    }
    output::check(arguments)?;
    let (table, chosen, by) = read(arguments)?;
    curve::note_of_constants(&chosen.curve, &arguments.curve.parameters.start);
    let by = by.as_deref();
    let left_out = curve::note_of_response(&table, &chosen, &arguments.data, by);
    if let Some(by) = by {
        let ending = groups::run(arguments, &chosen, &table, by)?;
        data::note_of_reading(&table, chosen.x_names.iter().chain(&chosen.y_names))?;
        left_out.into_iter().for_each(note);
        return Ok(ending);
    }
    let Chosen { name, curve, x_names, y_names } = chosen;
    let data = SelectedData::select(&table, &arguments.data, x_names, y_names)?;
    data::note_of_reading(&table, &data.columns)?;
    note_of_groups(&table);
    drop(table);
    contours::pair(&arguments.regions, curve.parameters())?;
    let fit = curve_fit::build_with_quantities(&curve, &data, arguments)?;
    let titles = Titles { name, formula: curve.formula().to_owned() };
    let live = LivePicture::asked(&arguments.output, &data, &title(arguments, &titles.name, &data));
    let solved = curve_fit::solve_asked(fit, arguments, live.as_ref());
    let ending = finish(arguments, &data, solved, &titles, Some(&curve), live);
    if ending.is_ok() {
        left_out.into_iter().for_each(note);
    }
    ending
}

/// Texts that describe a curve.
pub struct Titles {
    pub name: String,
    pub formula: String,
}

/// Prints the report of a fit, and draws it.
pub fn finish(
    arguments: &FitArguments,
    data: &SelectedData,
    solved: Result<Solved<'_>, MultiStartError>,
    titles: &Titles,
    curve: Option<&AnyModel>,
    live: Option<LivePicture>,
) -> Result<Ending, Failure> {
    let Solved { fit, minima, outliers } = solved.map_err(|error| curve_fit::explain(error, data))?;
    if let Some(picture) = live {
        picture.finish(&fit);
    }
    let summary = titled(fit.summary(), &title(arguments, &titles.name, data), &titles.formula, data);
    let inference = Inference::of(&fit, arguments, data)?;
    let stored = Some(FitOfColumns::new(fit.to_stored_without_data(), data));
    let found = arguments.outliers.map(|_| outlier_table(data, &outliers));
    let report = FitReport { summary, inference, minima, outliers: found, stored, fitted: Ending::of_fit(&fit) };
    let shown = FitOnPage {
        name: None,
        fit: &fit,
        report: &report,
        data: &[data.without(fit.omitted_rows())],
        is_complex: curve.is_some_and(|curve| curve.response_count() == 2),
        outliers: &places(data, &outliers),
    };
    let mut pictures = Pictures::of(arguments, 1);
    pictures.add("", &shown)?;
    pictures.write(report.summary.title.as_deref().unwrap_or_default(), data, None, &[])?;
    let digits = arguments.output.digits;
    output::print(&arguments.output.formats, |format| report.render(format), || report.to_text(digits))?;
    fit.warnings().iter().for_each(|warning| note(format_args!("warning: {warning}")));
    Ok(report.ending())
}

/// Reads the file, and chooses the curve, its columns, and the column of the groups.
pub fn read(arguments: &FitArguments) -> Result<(Table, Chosen, Option<String>), Failure> {
    let model = arguments.curve.model.as_deref().and_then(AnyModel::of_name);
    let predictors = match &model {
        Some(AnyModel::Formula(formula)) => formula.predictors(),
        _ => &[],
    };
    let columns = arguments.groups.group_by.iter().chain(predictors).map(String::as_str).collect::<Vec<_>>();
    let formulas = arguments.curve.formula.as_deref().into_iter().collect::<Vec<_>>();
    let needs = Needs { formulas: &formulas, columns: &columns, ..Needs::default() };
    let DataArguments { x, y, no_heading, .. } = &arguments.data;
    let is_free = x.is_empty() && y.is_empty() && !no_heading && arguments.groups.batch.is_empty();
    let wide = match arguments.groups.x_from_heading {
        true => WideTables::All,
        false if is_free => WideTables::Plain,
        false => WideTables::Never,
    };
    let (table, is_wide) = data::read_as(&arguments.data, &needs, wide)?;
    let first_name = || table.column_names().nth(2).filter(|_| is_wide).map(str::to_owned);
    let by = arguments.groups.group_by.clone().or_else(first_name);
    let chosen = curve::choose(&arguments.curve, &table, &arguments.data)?;
    live::check(&arguments.output, &chosen.x_names)?;
    Ok((table, chosen, by))
}

/// Title of a report: the one given, or else the file and the curve.
pub fn title(arguments: &FitArguments, curve: &str, data: &SelectedData) -> String {
    let name =
        || Path::new(&data.source).file_name().map_or(data.source.as_str().into(), |name| name.to_string_lossy());
    arguments.output.title.clone().unwrap_or_else(|| format!("{}: {curve}", name()))
}

/// The summary with its title, the formula, and the rows that were left out.
pub fn titled(summary: FitSummary, title: &str, formula: &str, data: &SelectedData) -> FitSummary {
    let mut summary = FitSummary { title: Some(title.to_owned()), ..summary };
    summary.model = Some(format!("{} = {formula}", data.response()));
    summary.data.omitted += data.omitted;
    summary
}

/// Rows of the file with the fitted values and the residuals of a fit; `by` is the column of the groups, if it is one of several.
pub fn residuals_of(shown: &FitOnPage<'_, '_>, by: &str) -> Result<ResultTable, Failure> {
    let FitOnPage { name, fit, data, .. } = *shown;
    if let [data] = data {
        let own = residuals(data, &fit.fitted().to_vec(), fit.fitted_x());
        return Ok(if let Some(name) = name { own.in_group(by, name) } else { own });
    }
    let mut all = ResultTable::default();
    for (data, set) in data.iter().zip(fit.data_sets()?) {
        all.append(residuals(data, &set.fitted, None).in_group(by, &set.name));
    }
    Ok(all)
}

/// Rows of the file with the fitted values and the residuals.
fn residuals(data: &SelectedData, fitted: &[f64], fitted_x: Option<ArrayView2<'_, f64>>) -> ResultTable {
    let of_y = |kind: &str| -> Vec<String> {
        let named = |name: &String| if data.y_names.len() == 1 { kind.to_owned() } else { format!("{kind} {name}") };
        data.y_names.iter().map(named).collect()
    };
    let names = data.x_names.iter().chain(&data.y_names).cloned().chain(of_y("fitted")).chain(of_y("residual"));
    let of_x = data.x_names.iter().filter(|_| fitted_x.is_some()).map(|name| format!("fitted {name}"));
    let mut table = ResultTable::new(["line".to_owned()].into_iter().chain(names).chain(of_x));
    for ((row, x), fitted_row) in data.x.rows().into_iter().enumerate().zip(data.fitted_rows()) {
        let outputs = data.y_names.len();
        let (y, fitted) = (data.y.row(row), &fitted[fitted_row * outputs..(fitted_row + 1) * outputs]);
        let differences = y.iter().zip(fitted).map(|(y, fitted)| y - fitted);
        let numbers = x.iter().chain(y).chain(fitted).copied().chain(differences);
        let numbers = numbers.chain(fitted_x.iter().flat_map(|fitted_x| fitted_x.row(row).to_vec()));
        table.row([Cell::Count(data.line(row))].into_iter().chain(numbers.map(Cell::Number)));
    }
    table
}

/// The first predictors and the responses of outliers.
pub fn places(data: &SelectedData, outliers: &[Outlier<f64>]) -> Vec<(f64, f64)> {
    outliers.iter().map(|outlier| (data.x[[outlier.row, 0]], outlier.y)).collect()
}

/// A row for each outlier.
pub fn outlier_table(data: &SelectedData, outliers: &[Outlier<f64>]) -> ResultTable {
    let names =
        data.x_names.iter().map(String::as_str).chain(data.y_names.iter().map(String::as_str)).chain(["t", "p_value"]);
    let mut table = ResultTable::new(["line"].into_iter().chain(names));
    for Outlier { row, y, t, p_value, .. } in outliers {
        let numbers = data.x.row(*row).iter().copied().chain([*y, *t, *p_value]).map(Cell::Number).collect::<Vec<_>>();
        table.row([Cell::Count(data.line(*row))].into_iter().chain(numbers));
    }
    table
}

/// A column of repeated texts names groups, which a single fit ignores.
fn note_of_groups(table: &Table) {
    for name in table.column_names() {
        let Ok(texts) = table.text_column(name) else { continue };
        if table.column(name).is_ok() {
            continue;
        }
        let groups = texts.iter().collect::<std::collections::HashSet<_>>().len();
        if 1 < groups && groups < table.rows() {
            note(format_args!(
                "note: column {name:?} has {groups} texts; --group-by {name:?} fits each group by itself"
            ));
            return;
        }
    }
}
