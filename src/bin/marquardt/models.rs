//! `marquardt models`: the models of the library.

use std::io::{self, Write};

use marquardt::Formula;
use marquardt::models::{AnyModel, Named};
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
    let of_several = AnyModel::of_several_predictors();
    let of_several: Vec<(&str, Formula)> =
        of_several.filter(|(name, formula)| name.contains(&text) || formula.text().contains(&text)).collect();
    if models.is_empty() && of_several.is_empty() {
        return Err(Failure::new(format!("no model contains {text:?}; `marquardt models` lists all")));
    }
    let mut out = io::stdout().lock();
    if arguments.json {
        let object =
            |model: &Named| json!({"name": model.name(), "parameters": model.parameters(), "formula": model.formula()});
        let of_formula = |(name, formula): &(&str, Formula)| json!({"name": name, "parameters": formula.parameters(), "formula": formula.text()});
        let all = models.iter().map(object).chain(of_several.iter().map(of_formula));
        writeln!(out, "{:#}", all.collect::<serde_json::Value>())?;
        return Ok(Ending::Solved);
    }
    let mut table = ResultTable::new(["model", "parameters", "formula"]);
    for model in &models {
        table.texts([model.name().to_owned(), model.parameters().join(", "), model.formula().to_owned()]);
    }
    for (name, formula) in &of_several {
        table.texts([(*name).to_owned(), formula.parameters().join(", "), formula.text().to_owned()]);
    }
    writeln!(out, "{table}")?;
    writeln!(out, "\nNames with + between them are sums, such as gaussian+linear.")?;
    Ok(Ending::Solved)
}
