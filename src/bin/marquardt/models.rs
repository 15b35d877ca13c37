//! `marquardt models`: the models of the library.

use std::io::{self, Write};

use marquardt::models::Named;
use serde_json::json;

use crate::arguments::ModelsArguments;
use crate::failure::{Ending, Failure};
use crate::table::ResultTable;

/// Prints the models whose name, parameters or formula contain the text.
pub fn run(arguments: &ModelsArguments) -> Result<Ending, Failure> {
    let text = arguments.text.as_deref().unwrap_or_default().to_lowercase();
    let has_text = |model: &Named| {
        let mut texts = model.parameters().iter().map(String::as_str).chain([model.name(), model.formula()]);
        texts.any(|of_model| of_model.to_lowercase().contains(&text))
    };
    let models: Vec<Named> = Named::all().filter(has_text).collect();
    if models.is_empty() {
        return Err(Failure::new(format!("no model contains {text:?}; `marquardt models` lists all")));
    }
    let mut out = io::stdout().lock();
    if arguments.json {
        let object =
            |model: &Named| json!({"name": model.name(), "parameters": model.parameters(), "formula": model.formula()});
        writeln!(out, "{:#}", models.iter().map(object).collect::<serde_json::Value>())?;
        return Ok(Ending::Solved);
    }
    let mut table = ResultTable::new(["model", "parameters", "formula"]);
    for model in &models {
        table.texts([model.name().to_owned(), model.parameters().join(", "), model.formula().to_owned()]);
    }
    writeln!(out, "{table}")?;
    writeln!(out, "\nNames with + between them are sums, such as gaussian+linear.")?;
    Ok(Ending::Solved)
}
