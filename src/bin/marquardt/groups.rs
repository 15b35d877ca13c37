//! Fits of groups of rows: each by itself, or with parameters that all share.

use marquardt::{FitSummary, FromModel, GlobalFit, ParameterState, Plot};
use serde_json::Value;

use crate::arguments::FitArguments;
use crate::assignments::Start;
use crate::curve::AnyCurve;
use crate::curve_fit::{self, Solved};
use crate::data::Data;
use crate::failure::{Ending, Failure};
use crate::fit::{residuals, title, titled};
use crate::inference::Inference;
use crate::output;
use crate::parameter_tests::ParameterTests;
use crate::report::{Report, groups_to_json, parameters};
use crate::stored::StoredFit;
use crate::table::{Cell, Format, Table, significant};

/// A group of rows.
pub struct Group {
    pub name: String,
    pub data: Data,
    /// Where its fit by itself ended.
    pub found: Vec<Start>,
}

/// Fits all groups, prints the results, and draws them in one plot.
pub fn run(
    arguments: &FitArguments,
    curve: &AnyCurve,
    table: &marquardt::Table,
    by: &str,
    x_names: Vec<String>,
) -> Result<Ending, Failure> {
    let mut groups = Vec::new();
    for (name, rows) in table.group_by(by)? {
        let data = Data::select(&rows, &arguments.data, x_names.clone())?;
        groups.push(Group { name, data, found: Vec::new() });
    }
    for name in arguments.groups.share.iter().chain(&arguments.groups.test) {
        if !curve.parameters().contains(name) {
            let known = curve.parameters().join(", ");
            return Err(Failure::new(format!(
                "there is no parameter {name} to share or test; the parameters are {known}"
            )));
        }
    }
    let mut reports = Vec::new();
    let mut plot = Plot::new().x_label(x_names.join(", ")).y_label(&groups[0].data.y_name);
    plot = plot.title(title(arguments, curve, &groups[0].data));
    let mut all_residuals = Table::default();
    for group in &mut groups {
        let fit = curve_fit::build(curve, &group.data, &arguments.curve, &arguments.method)?;
        let of_group = |failure: Failure| Failure::new(format!("{by} {}: {}", group.name, failure.one_line()));
        let Solved { fit, minima } = curve_fit::solve(fit, &arguments.method)
            .map_err(|error| of_group(curve_fit::explain(error, &group.data)))?;
        let summary = titled(fit.summary(), &format!("{by} {}", group.name), curve, &group.data);
        let inference =
            Inference::of(&fit, arguments.profile, arguments.bootstrap, arguments.method.seed).map_err(of_group)?;
        if arguments.output.plot.is_some() && arguments.groups.share.is_empty() {
            plot = fit.plot_series()?.into_iter().fold(plot, |plot, series| plot.series(series.name(&group.name)));
        }
        if arguments.groups.share.is_empty() {
            all_residuals.append(residuals(&fit, &group.data).in_group(by, &group.name));
        }
        let is_found = |state| !matches!(state, ParameterState::Fixed | ParameterState::Tied);
        let found = summary.parameters.iter().filter(|parameter| is_found(parameter.state));
        group.found = found.map(|found| Start { name: found.name.clone(), value: found.value }).collect();
        let stored = Some(StoredFit::of(&fit, curve, &group.data));
        reports.push(Report { summary, inference, minima, stored });
    }
    let shared = match arguments.groups.share.is_empty() {
        true => None,
        false => {
            let fit = joined(curve, &groups, arguments, &arguments.groups.share)?.curve_fit()?;
            let Solved { fit, .. } = curve_fit::solve(fit, &arguments.method)?;
            if arguments.output.plot.is_some() {
                plot = fit.plot_series()?.into_iter().fold(plot, Plot::series);
            }
            for (group, set) in groups.iter().zip(fit.data_sets()?) {
                all_residuals.append(of_set(&group.data, &set.fitted, &set.residuals).in_group(by, &group.name));
            }
            let inference = Inference::of(&fit, arguments.profile, arguments.bootstrap, arguments.method.seed)?;
            let mut summary = FitSummary { title: Some(title(arguments, curve, &groups[0].data)), ..fit.summary() };
            summary.model = Some(format!("{} = {}", groups[0].data.y_name, curve.formula()));
            Some(Report { summary, inference, minima: None, stored: None })
        }
    };
    let tests = ParameterTests::of(curve, &groups, arguments)?;
    if let Some(path) = &arguments.output.plot {
        output::draw(plot, &arguments.output, path)?;
    }
    if let Some(path) = &arguments.output.residuals {
        output::write(path, &all_residuals.to_csv()?)?;
    }
    let is_solved = reports.iter().chain(&shared).all(Report::is_solved);
    let results = Results { by, groups: &groups, reports, shared, tests: tests.table };
    results.print(arguments)?;
    Ok(Ending::of(is_solved))
}

/// One fit of all groups, in which they share these parameters, from where the fits of the groups ended.
pub fn joined<'a>(
    curve: &AnyCurve,
    groups: &'a [Group],
    arguments: &FitArguments,
    shared: &[String],
) -> Result<GlobalFit<'a, f64>, Failure> {
    let mut global = GlobalFit::new();
    for group in groups {
        let mut fit: marquardt::CurveFit<'a, f64, FromModel<AnyCurve>> =
            curve_fit::build(curve, &group.data, &arguments.curve, &arguments.method)?;
        for Start { name, value } in &group.found {
            fit = fit.start(name, *value);
        }
        global = global.data_set(&group.name, fit);
    }
    Ok(global.shared(shared.iter().cloned()))
}

fn of_set(data: &Data, fitted: &[f64], residuals: &[f64]) -> Table {
    let names = data.x_names.iter().map(String::as_str).chain([data.y_name.as_str(), "fitted", "residual"]);
    let mut table = Table::new(["line"].into_iter().chain(names));
    for (row, x) in data.x.rows().into_iter().enumerate() {
        let numbers = x.iter().copied().chain([data.y[row], fitted[row], residuals[row]]);
        table.row([Cell::Count(data.line(row))].into_iter().chain(numbers.map(Cell::Number)));
    }
    table
}

/// All that was found.
struct Results<'r> {
    by: &'r str,
    groups: &'r [Group],
    reports: Vec<Report>,
    shared: Option<Report>,
    tests: Option<Table>,
}

impl Results<'_> {
    fn print(&self, arguments: &FitArguments) -> Result<(), Failure> {
        let mut has_printed = false;
        for (format, path) in arguments.output.formats() {
            let text = match format {
                Format::Json => format!("{:#}\n", self.to_json()?),
                Format::Csv => self.parameters().to_csv()?,
                Format::Markdown => self.to_markdown(),
            };
            output::write(path, &text)?;
            has_printed |= path.as_os_str() == "-";
        }
        if has_printed {
            return Ok(());
        }
        let tables =
            self.tables().into_iter().map(|(title, table)| format!("\n{title}\n{table}\n")).collect::<String>();
        let first = match &self.shared {
            Some(shared) => shared.to_text(arguments.output.digits),
            None => format!("{}\n", self.overview()),
        };
        output::write("-".as_ref(), &(first + &tables))
    }

    /// A row for each group.
    fn overview(&self) -> Table {
        let names = self.reports[0].summary.parameters.iter().map(|parameter| parameter.name.clone());
        let heading = [self.by.to_owned(), "rows".to_owned()].into_iter().chain(names);
        let mut table = Table::new(heading.chain(["residual_sd", "status"].map(str::to_owned)));
        for (group, report) in self.groups.iter().zip(&self.reports) {
            let summary = &report.summary;
            let values = summary.parameters.iter().map(|parameter| {
                let value = significant(parameter.value, 6);
                Cell::Text(match parameter.standard_error {
                    error if error > 0.0 && error.is_finite() => format!("{value} ± {}", significant(error, 3)),
                    _ => value,
                })
            });
            let status = if summary.is_converged { "converged" } else { summary.status.as_str() };
            let first = [Cell::from(group.name.as_str()), Cell::Count(summary.data.observations)];
            let last = [Cell::from(summary.statistics.residual_standard_deviation), Cell::from(status)];
            table.row(first.into_iter().chain(values).chain(last));
        }
        table
    }

    /// Intervals of all groups, and the tests.
    fn tables(&self) -> Vec<(&'static str, Table)> {
        let mut tables = Vec::new();
        if self.shared.is_none() {
            let mut of_groups: Vec<(&'static str, Table)> = Vec::new();
            for (group, report) in self.groups.iter().zip(&self.reports) {
                for (title, _, table) in report.tables() {
                    let table = table.clone().in_group(self.by, &group.name);
                    match of_groups.iter_mut().find(|(known, _)| *known == title) {
                        Some((_, all)) => all.append(table),
                        None => of_groups.push((title, table)),
                    }
                }
            }
            tables.extend(of_groups);
        }
        tables.extend(self.tests.clone().map(|tests| ("Is a parameter the same in all groups?", tests)));
        tables
    }

    /// A row for each parameter of each group.
    fn parameters(&self) -> Table {
        if let Some(shared) = &self.shared {
            return shared.parameters();
        }
        let mut all = Table::default();
        for (group, report) in self.groups.iter().zip(&self.reports) {
            all.append(parameters(&report.summary).in_group(self.by, &group.name));
        }
        all
    }

    fn to_markdown(&self) -> String {
        let first = match &self.shared {
            Some(shared) => shared.to_markdown(),
            None => self.overview().to_markdown(),
        };
        let tables = self.tables().into_iter();
        first + &tables.map(|(title, table)| format!("\n### {title}\n\n{}", table.to_markdown())).collect::<String>()
    }

    fn to_json(&self) -> Result<Value, Failure> {
        let mut reports = Vec::new();
        for (group, report) in self.groups.iter().zip(&self.reports) {
            reports.push((group.name.clone(), report.to_json()?));
        }
        let shared = self.shared.as_ref().map(Report::to_json).transpose()?;
        Ok(groups_to_json(self.by, &reports, self.tests.as_ref(), shared))
    }
}
