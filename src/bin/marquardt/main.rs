//! Command `marquardt`: fits curves to data in files.

mod arguments;
mod assignments;
mod batch;
mod compare;
mod condition;
mod conversion;
mod curve;
mod curve_fit;
mod data;
mod failure;
mod fit;
mod group_results;
mod groups;
mod inference;
mod interrupt;
mod many;
mod models;
mod needed_columns;
mod output;
mod parameter_tests;
mod predict;
mod report;
mod row_values;
mod shell;
mod source;
mod stack;
mod stored;
mod table;
mod terminal;
mod wildcard;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::{Ending, Failure};

fn main() -> ExitCode {
    let Arguments { command } = Arguments::parse();
    match run(&command) {
        Ok(ending) => ending.into(),
        // A reader that has seen enough, such as `head`, is no failure.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            terminal::note(format_args!("{} {}", terminal::red("error:"), failure.message()));
            Ending::BadInput.into()
        }
    }
}

fn run(command: &Command) -> Result<Ending, Failure> {
    match command {
        Command::Fit(arguments) => fit::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Many(arguments) => many::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Models(arguments) => models::run(arguments),
        Command::Completions { shell } => shell::completions(*shell),
        Command::Man => shell::man_page(),
    }
}
