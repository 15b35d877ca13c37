//! The report for the terminal.

use std::fmt;

use super::rows::{self, Digits, ReportColumn};
use super::{CorrelationSummary, FitSummary};

/// Space between columns.
const GAP: &str = "  ";

impl fmt::Display for FitSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().map_or(Digits::Meaningful, Digits::Significant);
        let above = [&self.title, &self.model];
        above.into_iter().flatten().try_for_each(|line| writeln!(f, "{line}"))?;
        if above.into_iter().any(Option::is_some) {
            writeln!(f)?;
        }
        let (verdict, effort) = rows::verdict(self);
        write!(f, "{verdict}: {}\n{effort}\n\n", self.status)?;
        write_table(f, &rows::parameters("parameter", &self.parameters, digits))?;
        if !self.derived.is_empty() {
            writeln!(f)?;
            write_table(f, &rows::parameters("quantity", &self.derived, digits))?;
        }
        let statistics = rows::statistics(self, digits);
        let width = statistics.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, value) in statistics {
            write!(f, "\n{name:<width$}{GAP}{value}")?;
        }
        if !self.correlations.is_empty() {
            write!(f, "\n\ncorrelations")?;
        }
        for CorrelationSummary { first, second, correlation } in &self.correlations {
            write!(f, "\n  {first}, {second}: {correlation:+.4}")?;
        }
        if !self.warnings.is_empty() {
            writeln!(f)?;
        }
        self.warnings.iter().try_for_each(|warning| write!(f, "\n{warning}"))
    }
}

fn write_table(f: &mut fmt::Formatter<'_>, columns: &[ReportColumn]) -> fmt::Result {
    let texts = |column: &ReportColumn| -> Vec<String> {
        let all = std::iter::once(&column.heading).chain(&column.cells);
        let width = all.clone().map(|cell| cell.chars().count()).max().unwrap_or(0);
        let pad = |cell: &String| if column.is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
        all.map(pad).collect()
    };
    let columns: Vec<Vec<String>> = columns.iter().map(texts).collect();
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).try_for_each(|row| {
        let cells: Vec<&str> = columns.iter().map(|column| column[row].as_str()).collect();
        writeln!(f, "{}", cells.join(GAP).trim_end())
    })
}
