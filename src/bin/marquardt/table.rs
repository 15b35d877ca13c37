//! Tables of results: for the terminal, and as CSV, Markdown and JSON.

use std::fmt;

use marquardt::digits;
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// Format of an output besides the report for the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Csv,
    Markdown,
}

impl Format {
    /// Extensions of files in this format.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::Json => &["json", "txt"],
            Format::Csv => &["csv", "txt"],
            Format::Markdown => &["md", "markdown", "txt"],
        }
    }
}

/// A field of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Text(String),
    Number(f64),
    Count(usize),
    Empty,
}

impl From<Option<f64>> for Cell {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Cell::Empty, Cell::Number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}

impl Cell {
    /// Six significant digits.
    fn short(&self) -> String {
        match self {
            Cell::Number(value) => digits::number(*value, 6),
            other => other.exact(),
        }
    }

    /// Writes a number with as many digits as tell it from its neighbours.
    fn exact(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(value) => exact(*value),
            Cell::Count(count) => count.to_string(),
            Cell::Empty => String::new(),
        }
    }

    fn value(&self) -> Value {
        match self {
            Cell::Text(text) => Value::from(text.clone()),
            Cell::Number(value) => number(*value),
            Cell::Count(count) => Value::from(*count),
            Cell::Empty => Value::Null,
        }
    }
}

/// Formats a number with as many digits as tell it from its neighbours.
pub fn exact(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
    if is_plain || !value.is_finite() { value.to_string() } else { format!("{value:e}") }
}

/// A number as JSON, as the library writes it: `"inf"`, `"-inf"` and `"NaN"` are texts.
pub fn number(value: f64) -> Value {
    match value {
        value if value.is_finite() => Value::from(value),
        value if value.is_nan() => Value::from("NaN"),
        value => Value::from(if value > 0.0 { "inf" } else { "-inf" }),
    }
}

/// Rows under a heading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultTable {
    heading: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl ResultTable {
    pub fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>) -> Self {
        ResultTable { heading: heading.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Adds a row of texts.
    pub fn texts(&mut self, cells: impl IntoIterator<Item = String>) {
        self.row(cells.into_iter().map(Cell::Text));
    }

    /// Adds a column in front, with the same text in all rows.
    pub fn in_group(mut self, name: &str, text: &str) -> Self {
        self.heading.insert(0, name.to_owned());
        self.rows.iter_mut().for_each(|row| row.insert(0, Cell::from(text)));
        self
    }

    /// Adds the rows of another table, by its heading if this one has none.
    pub fn append(&mut self, other: ResultTable) {
        if self.heading.is_empty() {
            self.heading = other.heading;
        }
        self.rows.extend(other.rows);
    }

    /// The table in a format.
    pub fn render(&self, format: Format) -> Result<String, Failure> {
        match format {
            Format::Json => Ok(format!("{:#}\n", self.to_json())),
            Format::Csv => self.to_csv(),
            Format::Markdown => Ok(self.to_markdown()),
        }
    }

    pub fn to_csv(&self) -> Result<String, Failure> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.heading)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Cell::exact))?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    pub fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let escaped = |text: String| text.replace('|', "\\|").replace('\n', " ");
        let rule = (0..self.heading.len()).map(|column| if self.is_right(column) { "--:" } else { "---" });
        let rule = format!("|{}|\n", rule.collect::<Vec<_>>().join("|"));
        let rows = self.rows.iter().map(|row| line(row.iter().map(|cell| escaped(cell.short())).collect()));
        [line(self.heading.clone()), rule].into_iter().chain(rows).collect()
    }

    /// An object for each row.
    pub fn to_json(&self) -> Value {
        let object = |row: &Vec<Cell>| -> Value {
            let fields = self.heading.iter().cloned().zip(row.iter().map(Cell::value));
            Value::Object(fields.collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }

    /// The heading and the rows, in order.
    pub fn to_json_rows(&self) -> Value {
        json!({ "heading": self.heading, "rows": self.rows.iter().map(|row| row.iter().map(Cell::value).collect()).collect::<Vec<Value>>() })
    }

    /// A column of numbers.
    fn is_right(&self, column: usize) -> bool {
        self.rows.iter().any(|row| matches!(row[column], Cell::Number(_) | Cell::Count(_)))
    }
}

/// Columns side by side, numbers to the right.
impl fmt::Display for ResultTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(Cell::short).collect()).collect();
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.chain([self.heading[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.heading.len()).map(width).collect();
        for (number, row) in [&self.heading].into_iter().chain(&rows).enumerate() {
            let cell = |(column, text): (usize, &String)| match self.is_right(column) {
                true => format!("{text:>0$}", widths[column]),
                false => format!("{text:<0$}", widths[column]),
            };
            let line = row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ");
            write!(f, "{}{}", if number == 0 { "" } else { "\n" }, line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let texts = [0.1, 123_456.789, -6.00541e14, -1.5e-9, 1e300, 0.0, f64::INFINITY, f64::NAN, 100.0];
        let texts = texts.map(|value| digits::number(value, 6));
        assert_eq!(texts, ["0.1", "123457", "-6.00541e14", "-1.5e-9", "1e300", "0", "inf", "NaN", "100"]);
        for value in [0.1 + 0.2, 1e-300, -1.5e22, 123.0, f64::NEG_INFINITY] {
            assert_eq!(Cell::Number(value).exact().parse(), Ok(value));
        }
    }

    #[test]
    fn tables_have_several_forms() {
        let mut table = ResultTable::new(["name", "value"]);
        table.row([Cell::from("a,\"b\""), Cell::Number(1.0 / 3.0)]);
        table.row([Cell::from("c|d"), Cell::Empty]);
        assert_eq!(table.to_string(), "name      value\na,\"b\"  0.333333\nc|d");
        assert_eq!(table.to_csv().unwrap(), "name,value\n\"a,\"\"b\"\"\",0.3333333333333333\nc|d,\n");
        assert_eq!(table.to_markdown(), "| name | value |\n|---|--:|\n| a,\"b\" | 0.333333 |\n| c\\|d |  |\n");
        assert_eq!(table.to_json()[1], serde_json::json!({"name": "c|d", "value": null}));
    }
}
