//! Reads the table of a file, and selects its rows.

use std::collections::BTreeMap;

use marquardt::curve::{Separator, Table, TableError, TableReader};

use crate::arguments::DataArguments;
use crate::assignments::NamedValue;
use crate::condition::Condition;
use crate::conversion::Converted;
use crate::failure::Failure;
use crate::needed_columns::{self, Needs, WideTables};
use crate::row_formula::RowFormula;
use crate::source;
use crate::terminal::note;

/// Data that come with the program.
const ENZYME: &str = include_str!("../../../examples/data/enzyme.csv");

/// Model of the data that come with the program.
pub const ENZYME_MODEL: &str = "michaelis_menten";

/// Reads the file, and selects its rows.
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
pub fn origins(table: &Table) -> BTreeMap<String, String> {
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
pub fn of_heading(error: TableError, table: &Table) -> Failure {
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
