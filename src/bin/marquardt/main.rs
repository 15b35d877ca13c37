//! Command `marquardt`: fits curves to data in files.

mod arguments;
mod assignments;
mod bars;
mod batch;
mod bundle;
mod compare;
mod condition;
mod contours;
mod conversion;
mod curve;
mod curve_fit;
mod data;
#[cfg(feature = "ode")]
mod equations;
mod failure;
mod fit;
mod graph;
mod group_results;
mod groups;
mod inference;
mod inference_pictures;
mod interrupt;
mod live;
mod many;
mod models;
mod needed_columns;
mod option_texts;
mod output;
mod page;
mod parameter_options;
mod parameter_tests;
mod pictures;
mod predict;
mod report;
mod row_formula;
mod row_values;
mod selected_data;
mod settings;
mod shell;
mod source;
mod stack;
mod stored;
mod table;
mod terminal;
mod wildcard;

use std::process::ExitCode;

use arguments::Command;
use failure::{Ending, Failure};
use settings::Settings;

fn main() -> ExitCode {
    match run_as_asked() {
        Ok(ending) => ending.into(),
        // A reader that has seen enough, such as `head`, is no failure.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            terminal::note(format_args!("{} {}", terminal::red("error:"), failure.message()));
            Ending::BadInput.into()
        }
    }
}

/// Runs by the command line and the settings that it names, and writes these where that is asked for.
fn run_as_asked() -> Result<Ending, Failure> {
    let settings = Settings::parse()?;
    let ending = run(&settings.arguments.command)?;
    settings.write()?;
    Ok(ending)
}

fn run(command: &Command) -> Result<Ending, Failure> {
    match command {
        #[cfg(feature = "ode")]
        Command::Fit(arguments) if !arguments.equations.ode.is_empty() => equations::run(arguments),
        Command::Fit(arguments) => fit::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Many(arguments) => many::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Graph(arguments) => graph::run(arguments),
        Command::Bundle(arguments) => bundle::run(arguments),
        Command::Models(arguments) => models::run(arguments),
        Command::Completions { shell } => shell::completions(*shell),
        Command::Man => shell::man_page(),
    }
}
