//! Reports on fits, in all formats.

use std::fmt::Write;

use marquardt::curve::{FitSummary, ParameterState};
use serde_json::Value;

use crate::failure::{Ending, Failure};
use crate::inference::Inference;
use crate::stored::FitOfColumns;
use crate::table::{Cell, Format, ResultTable};

/// A fit with its additional intervals and tests.
#[derive(Debug)]
pub struct FitReport {
    pub summary: FitSummary,
    pub inference: Inference,
    pub minima: Option<ResultTable>,
    pub outliers: Option<ResultTable>,
    /// Stored fit of a single curve.
    pub stored: Option<FitOfColumns>,
    /// Ending of the fit alone.
    pub fitted: Ending,
}

impl FitReport {
    /// The ending of the fit, and of all that follows it.
    pub fn ending(&self) -> Ending {
        if self.inference.is_interrupted { Ending::NotConverged } else { self.fitted }
    }

    /// The report in a format.
    pub fn render(&self, format: Format) -> Result<String, Failure> {
        match format {
            Format::Json => Ok(format!("{:#}\n", self.to_json()?)),
            Format::Csv => self.parameters().to_csv(),
            Format::Markdown => Ok(self.to_markdown()),
        }
    }

    /// The report for the terminal, with meaningful digits or a fixed number of them.
    pub fn to_text(&self, digits: Option<u8>) -> String {
        let mut text = match digits {
            Some(digits) => format!("{:.*}\n", usize::from(digits), self.summary),
            None => format!("{}\n", self.summary),
        };
        for (title, _, table) in self.tables() {
            writeln!(text, "\n{title}\n{table}").expect("strings can be written to");
        }
        text
    }

    /// The summary with the tables under their names.
    pub fn to_json(&self) -> Result<Value, Failure> {
        let mut value = serde_json::from_str::<Value>(&self.summary.to_json())?;
        if let Some(stored) = &self.stored {
            stored.write(&mut value)?;
        }
        for (_, key, table) in self.tables() {
            value[key] = table.to_json();
        }
        if let Some(regions) = &self.inference.regions {
            value["contours"] = regions.points().to_json();
        }
        Ok(value)
    }

    pub fn to_markdown(&self) -> String {
        let mut text = self.summary.to_markdown();
        for (title, _, table) in self.tables() {
            write!(text, "\n### {title}\n\n{}", table.to_markdown()).expect("strings can be written to");
        }
        text
    }

    /// A row for each parameter.
    pub fn parameters(&self) -> ResultTable {
        parameters(&self.summary)
    }

    /// Tables besides the summary: titles, keys in JSON, and rows.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, &'static str, &ResultTable)> {
        let minima = self.minima.as_ref().map(|table| ("Minima", "minima", table));
        let profile = self.inference.profile.as_ref();
        let profile = profile.map(|table| ("Profile-likelihood intervals at 95 %", "profile", table));
        let bootstrap = self.inference.bootstrap.as_ref();
        let bootstrap = bootstrap.map(|table| ("Bootstrap, percentile intervals at 95 %", "bootstrap", table));
        let unknowns = self.inference.unknowns.as_ref();
        let unknowns = unknowns.map(|table| ("Unknowns, intervals at 95 %", "unknowns", table));
        let tests =
            self.inference.residual_tests.as_ref().map(|table| ("Tests of the residuals", "residual_tests", table));
        let outliers = self.outliers.as_ref().map(|table| ("Outliers, left out", "outliers", table));
        let regions = self.inference.region_ends.as_ref();
        let regions = regions.map(|table| ("Joint confidence regions", "regions", table));
        [minima, outliers, profile, regions, bootstrap, unknowns, tests].into_iter().flatten()
    }
}

/// A row for each parameter of a fit.
pub fn parameters(summary: &FitSummary) -> ResultTable {
    let mut table = ResultTable::new(["parameter", "value", "standard_error", "low", "high", "state"]);
    for parameter in summary.parameters.iter().chain(&summary.derived) {
        let interval = parameter.interval.filter(|interval| interval.low.is_finite() || interval.high.is_finite());
        table.row([
            Cell::from(parameter.name.as_str()),
            Cell::Number(parameter.value),
            Cell::from(Some(parameter.standard_error).filter(|error| !error.is_nan())),
            Cell::from(interval.map(|interval| interval.low)),
            Cell::from(interval.map(|interval| interval.high)),
            state(parameter.state),
        ]);
    }
    table
}

/// The name of a state, as JSON has it.
fn state(state: ParameterState) -> Cell {
    match serde_json::to_value(state) {
        Ok(Value::String(name)) => Cell::Text(name),
        _ => Cell::Empty,
    }
}
