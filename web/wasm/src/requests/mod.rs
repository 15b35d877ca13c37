//! Requests and their answers.

mod arrays;
mod curves;
mod fits;
mod many;
mod tables;

use serde_json::{Value, json};

use crate::failure::{Ending, Failure};
use crate::memory::Exchange;
use crate::{host, interrupt, output, terminal};

/// The answer to the request in slot 0, and whether it is an error.
pub fn answer(exchange: &mut Exchange) -> (String, bool) {
    host::report_panics();
    interrupt::begin();
    // What a request before this one has left.
    output::take();
    terminal::take();
    match serde_json::from_slice(exchange.bytes(0)).map_err(Failure::from).and_then(|request| run(request, exchange)) {
        Ok(answer) => (answer.to_string(), false),
        Err(failure) => {
            let answer = json!({ "message": failure.message(), "line": failure.one_line(), "notes": terminal::take() });
            (answer.to_string(), true)
        }
    }
}

fn run(mut request: Value, exchange: &mut Exchange) -> Result<Value, Failure> {
    let settings = request["settings"].take();
    output::ask(member(&request, "formats")?);
    match request["do"].as_str().unwrap_or_default() {
        "file" => tables::keep(&request, exchange),
        "table" => tables::read(settings, exchange),
        "fit" => {
            let arguments = crate::arguments::FitArguments::of(settings)?;
            let is_of_equations = !arguments.equations.ode.is_empty();
            ended(if is_of_equations { crate::equations::run(&arguments) } else { crate::fit::run(&arguments) }?)
        }
        "compare" => ended(crate::compare::run(&crate::arguments::CompareArguments::of(settings)?)?),
        "models" => Ok(curves::models()),
        "names" => curves::names(&request),
        "formula" => curves::formula(&request),
        "guess" => curves::guess(settings),
        "curve" => curves::values(&request, exchange),
        "arrays" => arrays::fit(&request, settings, exchange),
        "many" => many::fit(&request, settings, exchange),
        "of" => fits::of(&request, exchange),
        "release" => fits::release(&request),
        other => Err(Failure::new(format!("there is no request {other:?}"))),
    }
}

/// The results of a command, with its notes.
fn ended(ending: Ending) -> Result<Value, Failure> {
    let mut answer = output::take();
    let ending = match ending {
        Ending::Solved => "solved",
        Ending::NotConverged => "not converged",
        Ending::Unusable => "unusable",
        Ending::BadInput => "bad input",
    };
    answer.insert("ending".to_owned(), ending.into());
    answer.insert("notes".to_owned(), terminal::take().into());
    Ok(Value::Object(answer))
}

/// A member of a request that has to be there.
fn member<T: serde::de::DeserializeOwned>(request: &Value, name: &str) -> Result<T, Failure> {
    let read = serde_json::from_value(request[name].clone());
    read.map_err(|error| Failure::new(format!("{name}: {error}")))
}
