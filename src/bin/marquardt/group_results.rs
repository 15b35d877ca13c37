//! Results of fits of groups, in all formats.

use marquardt::curve::ParameterState;
use marquardt::digits;
use serde_json::{Value, json};

use crate::arguments::FitArguments;
use crate::failure::{Ending, Failure};
use crate::output;
use crate::report::{FitReport, parameters};
use crate::stored::FitOfColumns;
use crate::table::{Cell, Format, ResultTable};
use crate::terminal::note;

/// Results of one group.
pub struct GroupReport {
    pub name: String,
    /// Report of the group's own fit.
    pub report: Option<FitReport>,
    pub stored: FitOfColumns,
}

/// Results of all groups.
pub struct GroupResults<'r> {
    /// The column of the names of the groups.
    pub by: &'r str,
    pub reports: Vec<GroupReport>,
    /// Report of the fit of all groups together.
    pub shared: Option<FitReport>,
    pub tests: Option<ResultTable>,
}

impl GroupResults<'_> {
    /// The ending of all fits.
    pub fn ending(&self) -> Ending {
        Ending::of_all(self.own().map(|(_, report)| report).chain(&self.shared).map(FitReport::ending))
    }

    /// Prints the warnings of all fits on the standard error stream.
    pub fn note_warnings(&self) {
        for (name, report) in self.own() {
            report.summary.warnings.iter().for_each(|warning| note(format_args!("warning: group {name:?}: {warning}")));
        }
        let shared = self.shared.iter().flat_map(|report| &report.summary.warnings);
        shared.for_each(|warning| note(format_args!("warning: {warning}")));
    }

    pub fn print(&self, arguments: &FitArguments) -> Result<(), Failure> {
        let render = |format| match format {
            Format::Json => Ok(format!("{:#}\n", self.to_json()?)),
            Format::Csv => self.parameters().to_csv(),
            Format::Markdown => Ok(self.to_markdown()),
        };
        output::print(&arguments.output.formats, render, || {
            let tables = self.tables().into_iter().map(|(title, table)| format!("\n{title}\n{table}\n"));
            let first = match &self.shared {
                Some(shared) => shared.to_text(arguments.output.digits),
                None => format!("{}\n", self.overview()),
            };
            first + &tables.collect::<String>()
        })
    }

    /// Groups with fits of their own.
    fn own(&self) -> impl Iterator<Item = (&str, &FitReport)> {
        self.reports.iter().filter_map(|group| Some((group.name.as_str(), group.report.as_ref()?)))
    }

    /// A row for each group.
    fn overview(&self) -> ResultTable {
        let mut table = ResultTable::default();
        for (name, report) in self.own() {
            let summary = &report.summary;
            let names = summary.parameters.iter().map(|parameter| parameter.name.clone());
            let heading = [self.by.to_owned(), "rows".to_owned()].into_iter().chain(names);
            let mut row = ResultTable::new(heading.chain(["residual_sd", "status"].map(str::to_owned)));
            let values = summary.parameters.iter().map(|parameter| {
                let value = digits::number(parameter.value, 6);
                Cell::Text(match parameter.standard_error {
                    _ if parameter.state == ParameterState::Undetermined => format!("{value} ± undetermined"),
                    error if error > 0.0 && error.is_finite() => format!("{value} ± {}", digits::number(error, 3)),
                    _ => value,
                })
            });
            let status = if summary.is_converged { "converged" } else { summary.status.as_str() };
            let first = [Cell::from(name), Cell::Count(summary.data.observations)];
            let last = [Cell::from(summary.statistics.residual_standard_deviation), Cell::from(status)];
            row.row(first.into_iter().chain(values).chain(last));
            table.append(row);
        }
        table
    }

    /// Intervals of all groups, and the tests.
    fn tables(&self) -> Vec<(&'static str, ResultTable)> {
        let mut tables: Vec<(&'static str, ResultTable)> = Vec::new();
        for (name, report) in self.own() {
            for (title, _, table) in report.tables() {
                let table = table.clone().in_group(self.by, name);
                match tables.iter_mut().find(|(known, _)| *known == title) {
                    Some((_, all)) => all.append(table),
                    None => tables.push((title, table)),
                }
            }
        }
        tables.extend(self.tests.clone().map(|tests| ("Is a parameter the same in all groups?", tests)));
        tables
    }

    /// A row for each parameter of each group.
    fn parameters(&self) -> ResultTable {
        if let Some(shared) = &self.shared {
            return shared.parameters();
        }
        let mut all = ResultTable::default();
        for (name, report) in self.own() {
            all.append(parameters(&report.summary).in_group(self.by, name));
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
        let mut groups = Vec::new();
        for GroupReport { name, report, stored } in &self.reports {
            let mut value = report.as_ref().map_or(Ok(json!({})), FitReport::to_json)?;
            value["group"] = Value::from(name.clone());
            stored.write(&mut value)?;
            groups.push(value);
        }
        Ok(json!({
            "group_by": self.by,
            "groups": groups,
            "global": self.shared.as_ref().map(FitReport::to_json).transpose()?,
            "tests": self.tests.as_ref().map(ResultTable::to_json),
        }))
    }
}
