//! Tables: their bytes, and what was read of them.

use marquardt::curve::Table;
use serde_json::{Value, json};

use crate::arguments::DataArguments;
use crate::data;
use crate::failure::Failure;
use crate::memory::Exchange;
use crate::needed_columns::{Needs, WideTables};
use crate::options::Options;
use crate::source;

use super::member;

/// Rows that are shown as texts.
const SHOWN: usize = 200;

/// Keeps the bytes of slot 1 as a file.
pub fn keep(request: &Value, exchange: &Exchange) -> Result<Value, Failure> {
    source::keep(member(request, "name")?, exchange.bytes(1).to_vec());
    Ok(Value::Null)
}

/// Reads a file: columns, the first rows as texts, and notes. Arrays of the answer are the lines of the rows, and the numbers of the columns
/// that have some.
pub fn read(settings: Value, exchange: &mut Exchange) -> Result<Value, Failure> {
    let mut options = Options::of(settings)?;
    let arguments = DataArguments::of(&mut options)?;
    options.finish()?;
    let (table, is_wide) = data::read_as(&arguments, &all(), WideTables::Plain)?;
    exchange.results.push(table.lines().iter().map(|&line| line as f64).collect());
    let columns = table.column_names().map(|name| column(&table, name, exchange)).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({
        "rows": table.rows(), "columns": columns, "notes": table.notes(), "isWide": is_wide, "source": table.source_name(),
    }))
}

/// All columns are needed.
fn all() -> Needs<'static> {
    Needs::default()
}

fn column(table: &Table, name: &str, exchange: &mut Exchange) -> Result<Value, Failure> {
    let numbers = table.column(name);
    let texts = table.text_column(name)?;
    let shown: Vec<&str> = texts.iter().take(SHOWN).copied().collect();
    let mut value =
        json!({ "name": name, "label": table.label(name)?, "texts": shown, "notes": table.column_notes(name)? });
    match numbers {
        Ok(numbers) if numbers.iter().any(|number| !number.is_nan()) => {
            value["numbers"] = exchange.results.len().into();
            value["missing"] = numbers.iter().filter(|number| number.is_nan()).count().into();
            value["origin"] = table.origin(name)?.into();
            exchange.results.push(numbers.to_vec());
        }
        numbers => {
            let distinct = texts.iter().collect::<std::collections::BTreeSet<_>>().len();
            value["distinct"] = distinct.into();
            value["problem"] = numbers.err().map(|error| error.to_string()).into();
        }
    }
    Ok(value)
}
