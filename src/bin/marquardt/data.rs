//! Columns of a file that are fitted.

use std::collections::BTreeMap;

use marquardt::curve::{Separator, Table, TableError, TableReader};
use marquardt::{CurveError, Formula, Model};
use ndarray::{Array2, Axis, concatenate};

use crate::arguments::DataArguments;
use crate::assignments::NamedValue;
use crate::condition::Condition;
use crate::conversion::Converted;
use crate::curve::ABOUT_PI;
use crate::failure::{Failure, quoted};
use crate::needed_columns::{self, Needs, WideTables};
use crate::row_formula::RowFormula;
use crate::row_values::{RowValues, of_table};
use crate::source;
use crate::terminal::note;

/// Data that come with the program.
const ENZYME: &str = include_str!("../../../examples/data/enzyme.csv");

/// Model of the data that come with the program.
pub const ENZYME_MODEL: &str = "michaelis_menten";

/// Reads the file, and keeps the rows that are asked for.
pub fn read(arguments: &DataArguments, needs: &Needs<'_>) -> Result<Table, Failure> {
    Ok(read_as(arguments, needs, WideTables::Never)?.0)
}

/// Reads the file as [`read`] does; `true` if its headings are predictors, and the table has a row for each field below them.
pub fn read_as(arguments: &DataArguments, needs: &Needs<'_>, wide: WideTables) -> Result<(Table, bool), Failure> {
    let mut reader = TableReader::new().decimal_comma(arguments.decimal_comma).missing(&arguments.missing);
    if arguments.no_heading {
        reader = reader.heading(false);
    }
    if let Some(separator) = arguments.separator {
        reader = reader.separator(separator.into());
    }
    if let Some(separator) = arguments.thousands {
        reader = reader.thousands(separator);
    }
    if let Some(order) = arguments.date_order {
        reader = reader.date_order(order.into());
    }
    reader = match arguments.header_row {
        Some(line) => reader.skip(line.get() - 1).heading(true),
        None => reader.skip(arguments.skip),
    };
    let table = match &arguments.file {
        Some(file) => {
            let name = source::name(file);
            let Converted { bytes, is_converted } =
                Converted::of(source::open(file)?, &name, arguments.sheet.as_deref())?;
            if is_converted {
                reader = reader.separator(Separator::Comma).decimal_comma(false);
            }
            needed_columns::read(&reader, name, bytes, arguments, needs, wide)
                .map_err(|error| with_remedy(error, arguments))?
        }
        None => reader.read_named("enzyme.csv", ENZYME.as_bytes())?,
    };
    let is_wide = wide.are_like(&table);
    let table = if is_wide { table.unpivoted()? } else { table };
    let table = with_origins(table, arguments, needs)?;
    let (mut kept, mut conditions) = (table, arguments.conditions.iter().collect::<Vec<_>>());
    for NamedValue { name, value } in &arguments.computed {
        // Rows that are left out need not have a value.
        let (now, later) = conditions.into_iter().partition(|condition| condition.is_over(&kept));
        kept = filtered(kept, now)?;
        conditions = later;
        let values = RowFormula::parse(value, &kept, "--let")?.values(0..kept.rows());
        kept = kept.with_column(name, &values)?;
    }
    let kept = filtered(kept, conditions)?;
    if kept.rows() == 0 {
        return Err(Failure::new(format!("{}: no row fulfils the condition of --where", kept.source_name())));
    }
    Ok((kept, is_wide))
}

/// The table with the origins of times that are asked for, or needed.
fn with_origins(mut table: Table, arguments: &DataArguments, needs: &Needs<'_>) -> Result<Table, Failure> {
    let timed = origins(&table);
    if let Some(since) = &arguments.since {
        let counted: Vec<_> = timed.keys().map(|name| table.count_since(name, since)).collect();
        let first = counted.into_iter().reduce(|one, other| one.or(other));
        let nothing = || format!("--since {since:?}: {} has no column of dates or times", table.source_name());
        first.ok_or_else(|| Failure::new(nothing()))??;
        return Ok(table);
    }
    for (name, origin) in needs.origins {
        let name = column_name(&table, Some(name), 1);
        if timed.contains_key(&name) {
            table.count_since(&name, origin)?;
        }
    }
    Ok(table)
}

/// Origins of the times of columns that are kept.
fn origins(table: &Table) -> BTreeMap<String, String> {
    let origin = |name: &str| Some((name.to_owned(), table.origin(name).ok()??));
    table.column_names().filter_map(origin).collect()
}

/// The rows that fulfil all conditions.
fn filtered(table: Table, conditions: Vec<&Condition>) -> Result<Table, Failure> {
    conditions.into_iter().try_fold(table, |table, condition| condition.filter(table))
}

/// Says how the file and these columns were read.
pub fn note_of_reading<'n>(table: &Table, names: impl IntoIterator<Item = &'n String>) -> Result<(), Failure> {
    if !table.notes().is_empty() {
        note(format_args!("note: {}: {}", table.source_name(), table.notes().join("; ")));
    }
    for name in names {
        let notes = table.column_notes(name)?;
        if !notes.is_empty() {
            note(format_args!("note: column {name:?}: {}", notes.join("; ")));
        }
    }
    Ok(())
}

/// The error of a file, and the options that help if its table begins elsewhere.
fn with_remedy(error: TableError, arguments: &DataArguments) -> Failure {
    match error {
        TableError::RaggedRow { .. } if arguments.header_row.is_none() => Failure::new(format!(
            "{error}; --skip or --header-row says where the table begins, --separator how it is separated"
        )),
        TableError::NoData { .. } if arguments.skip > 0 || arguments.header_row.is_some() => {
            Failure::new(format!("{error} below the lines that --skip or --header-row skips"))
        }
        error => error.into(),
    }
}

/// The error of a column, and the option that helps if its first field is part of a heading of numbers.
fn of_heading(error: TableError, table: &Table) -> Failure {
    match error {
        TableError::NotANumber { line, .. }
            if table.lines().first() == Some(&line) && table.column_names().next() == Some("c1") =>
        {
            let has_comma = |name: &str| Some(table.text_column(name).ok()?.first()?.contains(','));
            if table.column_names().skip(1).filter_map(has_comma).any(|has_comma| has_comma) {
                return Failure::new(format!("{error}; --decimal-comma reads the numbers beside it"));
            }
            Failure::new(format!(
                "{error}; --header-row {line} takes this line for the heading, --x-from-heading its numbers for predictors"
            ))
        }
        error => error.into(),
    }
}

/// The name of a column, asked for by name or by number, counted from 1; the default number may be beyond the last column.
pub fn column_name(table: &Table, asked: Option<&str>, default: usize) -> String {
    let names: Vec<&str> = table.column_names().collect();
    let of_number =
        |number: usize| number.checked_sub(1).and_then(|index| names.get(index)).map(|&name| name.to_owned());
    match asked {
        Some(name) if names.contains(&name) => name.to_owned(),
        Some(name) => name.parse().ok().and_then(of_number).unwrap_or_else(|| name.to_owned()),
        None => of_number(default).unwrap_or_else(|| default.to_string()),
    }
}

/// The rows in which none of these columns has a missing number; the others are left out, or refused.
pub fn complete_rows(table: &Table, columns: &[(String, &[f64])], omits: bool) -> Result<Vec<usize>, Failure> {
    let missing = |row: usize| columns.iter().find(|(_, values)| values[row].is_nan());
    let mut rows = Vec::with_capacity(table.rows());
    for row in 0..table.rows() {
        match missing(row) {
            None => rows.push(row),
            Some(_) if omits => {}
            Some((name, _)) => {
                let (source, line) = (table.source_name(), table.lines()[row]);
                let text = table.text_column(name)?[row].to_owned();
                return Err(Failure::new(format!(
                    "{source}, line {line}, column {name:?}: {text:?} is a missing value; --omit-missing leaves such rows out"
                )));
            }
        }
    }
    if rows.is_empty() {
        return Err(Failure::new(format!("{}: a number is missing in every row", table.source_name())));
    }
    Ok(rows)
}

/// Numbers of replicates.
fn whole(counts: &[f64], table: &Table, lines: &[usize]) -> Result<Vec<usize>, Failure> {
    let count = |(&count, line): (&f64, &usize)| match count >= 1.0 && count.fract() == 0.0 {
        true => Ok(count as usize),
        false => Err(Failure::new(format!(
            "{}, line {line}: {count} of --replicates is no number of replicates, which is a positive integer",
            table.source_name()
        ))),
    };
    counts.iter().zip(lines).map(count).collect()
}

/// Formula of a response alone for its standard deviation, or its weight.
#[derive(Debug, Clone)]
struct ResponseSigma {
    formula: Formula,
    is_weight: bool,
}

/// Predictors, responses and their standard deviations.
#[derive(Debug)]
pub struct SelectedData {
    pub source: String,
    pub x_names: Vec<String>,
    /// Two if the response is complex.
    pub y_names: Vec<String>,
    /// Columns of the predictors and of the response, of which there are several if it has replicates.
    pub columns: Vec<String>,
    /// Labels of a plot's axes: the columns of the predictors and of the response, with their units.
    pub labels: [String; 2],
    /// Of these, and all others, a row for each observation.
    pub x: Array2<f64>,
    pub y: Array2<f64>,
    pub sigma: Option<Array2<f64>>,
    pub weights: Option<Array2<f64>>,
    pub sigma_x: Option<Array2<f64>>,
    /// Numbers of replicates, of which the responses are means, and their standard deviations.
    pub replicates: Option<(Vec<usize>, Array2<f64>)>,
    /// Origins of times, by the columns of the file.
    pub origins: BTreeMap<String, String>,
    /// Standard deviation of a response, if it follows from that alone.
    response_sigma: Option<ResponseSigma>,
    /// Rows that were left out, as a number is missing.
    pub omitted: usize,
    /// The line of the file at which each row ends.
    lines: Vec<usize>,
    sigma_name: String,
}

impl SelectedData {
    /// These columns of a table. Several columns for one response are replicates, one below the other.
    pub fn select(
        table: &Table,
        arguments: &DataArguments,
        x_names: Vec<String>,
        y_names: Vec<String>,
    ) -> Result<SelectedData, Failure> {
        if let ([pattern], [_, _, ..]) = (&arguments.y[..], &y_names[..]) {
            let select = |name| SelectedData::select(table, arguments, x_names.clone(), vec![name]);
            let replicates = y_names.into_iter().map(select).collect::<Result<Vec<_>, _>>()?;
            return Ok(SelectedData::stacked(&replicates, pattern));
        }
        let sigma = arguments.sigma.as_deref().map(|text| RowValues::of(table, text));
        let weights = arguments.weights.as_deref().map(|text| RowValues::of(table, text));
        let sigma_x: Vec<RowValues<'_>> = arguments.sigma_x.iter().map(|text| RowValues::of(table, text)).collect();
        if !(sigma_x.is_empty() || sigma_x.len() == x_names.len()) {
            let (given, predictors) = (sigma_x.len(), quoted(&x_names));
            return Err(Failure::new(format!("--sigma-x gives {given}, but the predictors are {predictors}")));
        }
        let [counts, sd] =
            [&arguments.replicates, &arguments.sd].map(|text| text.as_deref().map(|text| RowValues::of(table, text)));
        let sigma_name = sigma.as_ref().and_then(RowValues::column).unwrap_or_default().to_owned();
        let mut columns: Vec<(String, &[f64])> = Vec::new();
        let others = sigma.iter().chain(&weights).chain(&sigma_x).chain(&counts).flat_map(RowValues::columns);
        let others = others.map(|name| of_table(table, name, &y_names[0]));
        for name in x_names.iter().chain(&y_names).map(String::as_str).chain(others) {
            let numbers = table.column(name).map_err(|error| of_heading(error, table))?;
            columns.push((name.to_owned(), numbers));
        }
        let rows = complete_rows(table, &columns, arguments.omit_missing)?;
        let table_of = |columns: &[Vec<f64>]| {
            Array2::from_shape_fn((rows.len(), columns.len()), |(row, column)| columns[column][row])
        };
        let kept: Vec<Vec<f64>> =
            columns.iter().map(|(_, values)| rows.iter().map(|&row| values[row]).collect()).collect();
        let (x, y) = (table_of(&kept[..x_names.len()]), table_of(&kept[x_names.len()..][..y_names.len()]));
        let values = |of: &RowValues<'_>, response: &String| of.values(table, &rows, response);
        let of_responses = |of: Option<RowValues<'_>>| {
            let columns = |of| y_names.iter().map(|response| values(&of, response)).collect::<Result<Vec<_>, _>>();
            of.map(columns).transpose().map(|columns| columns.map(|columns| table_of(&columns)))
        };
        let of_response = |of: &Option<RowValues<'_>>| of.as_ref()?.of_response(table, &y_names[0]);
        let response_sigma = of_response(&sigma).map(|formula| ResponseSigma { formula, is_weight: false });
        let response_sigma =
            response_sigma.or(of_response(&weights).map(|formula| ResponseSigma { formula, is_weight: true }));
        let (sigma, weights) = (of_responses(sigma)?, of_responses(weights)?);
        let sigma_x = sigma_x.iter().map(|of| values(of, &y_names[0])).collect::<Result<Vec<_>, _>>()?;
        let sigma_x = (!sigma_x.is_empty()).then(|| table_of(&sigma_x));
        let lines: Vec<usize> = rows.iter().map(|&row| table.lines()[row]).collect();
        let counts = counts.map(|of| whole(&values(&of, &y_names[0])?, table, &lines)).transpose()?;
        let replicates = counts.zip(of_responses(sd)?);
        let label = |names: &[String]| {
            names.iter().map(|name| table.label(name)).collect::<Result<Vec<_>, _>>().map(|labels| labels.join(", "))
        };
        let labels = [label(&x_names)?, label(&y_names)?];
        let (source, omitted) = (table.source_name().to_owned(), table.rows() - rows.len());
        Ok(SelectedData {
            source,
            columns: x_names.iter().chain(&y_names).cloned().collect(),
            x_names,
            y_names,
            labels,
            x,
            y,
            sigma,
            weights,
            sigma_x,
            replicates,
            origins: origins(table),
            response_sigma,
            omitted,
            lines,
            sigma_name,
        })
    }

    /// Data one below the other; the response has a new name.
    fn stacked(parts: &[SelectedData], response: &str) -> SelectedData {
        let optional = |of: fn(&SelectedData) -> Option<&Array2<f64>>| {
            let views = parts.iter().map(|part| of(part).map(|values| values.view())).collect::<Option<Vec<_>>>()?;
            Some(concatenate(Axis(0), &views).expect("they have the same columns"))
        };
        let all = |of: fn(&SelectedData) -> Option<&Array2<f64>>| optional(of).expect("all have it");
        let counts = parts.iter().filter_map(|part| part.replicates.as_ref()).flat_map(|(counts, _)| counts);
        let deviations = optional(|part| part.replicates.as_ref().map(|(_, sd)| sd));
        let first = &parts[0];
        SelectedData {
            source: first.source.clone(),
            x_names: first.x_names.clone(),
            y_names: vec![response.to_owned()],
            columns: first.x_names.iter().chain(parts.iter().flat_map(|part| &part.y_names)).cloned().collect(),
            labels: [first.labels[0].clone(), response.to_owned()],
            x: all(|part| Some(&part.x)),
            y: all(|part| Some(&part.y)),
            sigma: optional(|part| part.sigma.as_ref()),
            weights: optional(|part| part.weights.as_ref()),
            sigma_x: optional(|part| part.sigma_x.as_ref()),
            replicates: deviations.map(|deviations| (counts.copied().collect(), deviations)),
            origins: first.origins.clone(),
            response_sigma: first.response_sigma.clone(),
            omitted: parts.iter().map(|part| part.omitted).sum(),
            lines: parts.iter().flat_map(|part| &part.lines).copied().collect(),
            sigma_name: first.sigma_name.clone(),
        }
    }

    /// The data without some rows, which ascend.
    pub fn without(&self, rows: &[usize]) -> SelectedData {
        let kept: Vec<usize> = (0..self.y.nrows()).filter(|row| rows.binary_search(row).is_err()).collect();
        let of_kept = |values: &Array2<f64>| values.select(Axis(0), &kept);
        SelectedData {
            source: self.source.clone(),
            x_names: self.x_names.clone(),
            y_names: self.y_names.clone(),
            columns: self.columns.clone(),
            labels: self.labels.clone(),
            x: of_kept(&self.x),
            y: of_kept(&self.y),
            sigma: self.sigma.as_ref().map(of_kept),
            weights: self.weights.as_ref().map(of_kept),
            sigma_x: self.sigma_x.as_ref().map(of_kept),
            replicates: self
                .replicates
                .as_ref()
                .map(|(counts, sd)| (kept.iter().map(|&row| counts[row]).collect(), of_kept(sd))),
            origins: self.origins.clone(),
            response_sigma: self.response_sigma.clone(),
            omitted: self.omitted,
            lines: kept.iter().map(|&row| self.lines[row]).collect(),
            sigma_name: self.sigma_name.clone(),
        }
    }

    /// The row of a fit that each row begins at: replicates have a row each.
    pub fn fitted_rows(&self) -> Vec<usize> {
        let count = |row: usize| self.replicates.as_ref().map_or(1, |(counts, _)| counts[row]);
        let first = |next: &mut usize, row: usize| Some(std::mem::replace(next, *next + count(row)));
        (0..self.y.nrows()).scan(0, first).collect()
    }

    /// Standard deviation of a response of this size by `--sigma` or `--weights`, if it follows from that alone.
    pub fn sigma_of(&self, response: f64) -> Option<f64> {
        let ResponseSigma { formula, is_weight } = self.response_sigma.as_ref()?;
        let value: f64 = formula.response(&vec![response; formula.predictors().len()], &[]);
        let sigma = if *is_weight { value.sqrt().recip() } else { value };
        Some(sigma).filter(|sigma| sigma.is_finite() && *sigma > 0.0)
    }

    /// The columns of the response.
    pub fn response(&self) -> String {
        self.y_names.join(", ")
    }

    /// The line of the file at which a row ends.
    pub fn line(&self, row: usize) -> usize {
        self.lines[row]
    }

    /// Says where in the file the reason of an error is.
    pub fn explain(&self, error: CurveError) -> Failure {
        let place = |row: usize, column: &str| {
            let column = if column.is_empty() { String::new() } else { format!(", column {column:?}") };
            format!("{}, line {}{column}", self.source, self.lines[row])
        };
        let at = |row: usize| {
            let x = self.x.row(row);
            let values = self.x_names.iter().zip(x).map(|(name, value)| format!("{name:?} = {value}"));
            values.collect::<Vec<_>>().join(", ")
        };
        Failure::new(match error {
            CurveError::NonPositiveSigma { row, value } if self.sigma_name.is_empty() => {
                format!("--sigma is {value}: a standard deviation must be positive (used from {})", place(row, ""))
            }
            CurveError::NonPositiveSigma { row, value } => {
                format!("{}: {value} is no standard deviation, which must be positive", place(row, &self.sigma_name))
            }
            CurveError::Weight { row, value } => {
                format!("{}: {value} of --weights is no weight, which must not be negative", place(row, ""))
            }
            CurveError::NegativeSigmaX { row, value, .. } => {
                format!("{}: {value} of --sigma-x is no standard deviation, which must not be negative", place(row, ""))
            }
            CurveError::ReplicateDeviation { row, value } => {
                format!("{}: {value} of --sd is no standard deviation, which must not be negative", place(row, ""))
            }
            CurveError::NegativeCount { row, value } => {
                format!("{}: {value} is no count, which must not be negative", place(row, &self.response()))
            }
            CurveError::FractionalCount { row, value } => {
                format!("{}: {value} is no count, which is an integer", place(row, &self.response()))
            }
            CurveError::NonFiniteResponse { row, value } => {
                let place = place(row, "");
                format!(
                    "{place}: the curve is {value} at {} with the starts of the parameters; --start gives others",
                    at(row)
                )
            }
            CurveError::NonPositiveMean { row, value } => {
                let place = place(row, "");
                format!(
                    "{place}: the curve is {value} at {} with the starts, but a mean of counts is positive",
                    at(row)
                )
            }
            CurveError::NoSuchParameter { ref name, .. } if name == "pi" => {
                format!("{}: {error}; {ABOUT_PI}", self.source)
            }
            error => format!("{}: {error}", self.source),
        })
    }
}
