//! The report for documents.

use super::FitSummary;
use super::rows::{self, Digits};

impl FitSummary {
    /// Writes the summary as Markdown, with tables in GitHub's style.
    pub fn to_markdown(&self) -> String {
        let mut blocks = Vec::new();
        blocks.extend(self.title.as_ref().map(|title| format!("## {}", escaped(title))));
        blocks.extend(self.model.as_ref().map(|model| format!("`{}`", model.replace('`', "'"))));
        let (verdict, effort) = rows::verdict(self);
        blocks.push(format!("**{verdict}**: {}; {effort}", escaped(&self.status)));

        let tables = [("parameter", &self.parameters), ("quantity", &self.derived)];
        for (heading, of) in tables.into_iter().filter(|(_, of)| !of.is_empty()) {
            let columns = rows::parameters(heading, of, Digits::Meaningful);
            let heading: Vec<_> = columns.iter().map(|column| (column.heading.as_str(), column.is_number)).collect();
            let row = |index: usize| columns.iter().map(|column| column.cells[index].clone()).collect();
            blocks.push(table(&heading, (0..of.len()).map(row)));
        }

        let statistics = rows::statistics(self, Digits::Meaningful).into_iter();
        let statistics = statistics.map(|(name, value)| vec![name.to_owned(), value]);
        blocks.push(table(&[("statistic", false), ("value", true)], statistics));

        if !self.correlations.is_empty() {
            let pairs = self.correlations.iter();
            let pairs =
                pairs.map(|pair| vec![pair.first.clone(), pair.second.clone(), format!("{:+.4}", pair.correlation)]);
            blocks.push(table(&[("parameter", false), ("and", false), ("correlation", true)], pairs));
        }
        blocks.extend(self.warnings.iter().map(|warning| format!("> **Warning:** {}", escaped(warning))));
        blocks.join("\n\n") + "\n"
    }
}

fn table(heading: &[(&str, bool)], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let names = line(heading.iter().map(|(name, _)| (*name).to_owned()).collect());
    let rule: String = heading.iter().map(|(_, is_number)| if *is_number { "|--:" } else { "|---" }).collect();
    let rows = rows.map(|cells| line(cells.iter().map(|cell| escaped(cell)).collect()));
    [names, rule + "|"].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

/// Escapes the characters that Markdown would interpret.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '<' | '#' => escaped.extend(['\\', c]),
            '\n' | '\r' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
