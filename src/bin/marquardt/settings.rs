//! Settings of an analysis in a file: options by the names that they have on the command line.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, CommandFactory, FromArgMatches};
use serde_json::Value;

use crate::arguments::{Arguments, Command, GivenOption};
use crate::failure::Failure;
use crate::option_texts::texts;
use crate::output;

/// Options that are none of the analysis.
const CONFIG: &str = "config";
const WRITE_CONFIG: &str = "write_config";

/// First line of a file.
const HEADING: &str = concat!("# Settings of `marquardt`, version ", env!("CARGO_PKG_VERSION"), "\n");

/// The options of a run, and the file that they are to be written to.
pub struct Settings {
    pub arguments: Arguments,
    written: Option<(PathBuf, String)>,
}

impl Settings {
    /// Parses the command line. Options that it does not have are those of the file that `--config` names.
    pub fn parse() -> Result<Self, Failure> {
        let given: Vec<OsString> = std::env::args_os().collect();
        let of_file = of_file(&given)?.unwrap_or_default();
        let begun = given.len().min(2);
        let all = [&given[..begun], &of_file, &given[begun..]].concat();
        let matches = Arguments::command().get_matches_from(&all);
        let mut arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let Some((name, matches)) = matches.subcommand() else { return Ok(Settings { arguments, written: None }) };
        let is_given = |id: &str| matches.try_get_one::<PathBuf>(id).ok().flatten().is_some();
        if ![WRITE_CONFIG, "report"].into_iter().any(is_given) {
            return Ok(Settings { arguments, written: None });
        }
        let options = options(name, matches);
        let written = written(matches, &options)?;
        if let Command::Fit(fit) = &mut arguments.command {
            fit.settings.words = without_config(&all[1..]);
            fit.settings.options =
                options.into_iter().map(|(name, value)| given_option(name, value, &of_file)).collect();
        }
        Ok(Settings { arguments, written })
    }

    /// Writes the options to the file that `--write-config` names.
    pub fn write(&self) -> Result<(), Failure> {
        self.written.as_ref().map_or(Ok(()), |(path, text)| output::write(path, text))
    }
}

/// Options that the file of `--config` has, and the command line has not.
fn of_file(given: &[OsString]) -> Result<Option<Vec<OsString>>, Failure> {
    if !given.iter().any(|word| word.to_string_lossy().starts_with("--config")) {
        return Ok(None);
    }
    // Options that require each other may be in different places.
    let Ok(matches) = Arguments::command().ignore_errors(true).try_get_matches_from(given) else { return Ok(None) };
    let Some((name, matches)) = matches.subcommand() else { return Ok(None) };
    let Some(path) = matches.try_get_one::<PathBuf>(CONFIG).ok().flatten() else { return Ok(None) };
    let in_file = |problem: String| Failure::new(format!("{}: {problem}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| in_file(error.to_string()))?;
    let settings: BTreeMap<String, Value> = basic_toml::from_str(&text).map_err(|error| in_file(error.to_string()))?;
    let (command, mut options) = (Arguments::command(), Vec::new());
    let command = command.find_subcommand(name).expect("it was found");
    for (key, value) in settings {
        let is_called = |argument: &&clap::Arg| argument.get_long().unwrap_or(argument.get_id().as_str()) == key;
        let Some(argument) = command.get_arguments().find(is_called).filter(|argument| !is_of_file(argument)) else {
            return Err(in_file(format!("{key:?} is no option of `marquardt {name}`")));
        };
        if matches.value_source(argument.get_id().as_str()) != Some(ValueSource::CommandLine) {
            let key = argument.get_long();
            options.extend(
                texts(value).map_err(|value| in_file(format!("{value} is no value of an option")))?.into_iter().map(
                    |text| match (key, text) {
                        (Some(key), Some(text)) => format!("--{key}={text}"),
                        (Some(key), None) => format!("--{key}"),
                        (None, text) => text.unwrap_or_default(),
                    },
                ),
            );
        }
    }
    Ok(Some(options.into_iter().map(OsString::from).collect()))
}

fn is_of_file(argument: &clap::Arg) -> bool {
    [CONFIG, WRITE_CONFIG].contains(&argument.get_id().as_str())
}

/// An option on the command line or, if these are words of it, in the file.
fn given_option(name: String, value: Value, of_file: &[OsString]) -> GivenOption {
    let option = format!("--{name}");
    let is_of_file = of_file.iter().map(|word| word.to_string_lossy()).any(|word| match word.strip_prefix("--") {
        Some(_) => word == option || word.strip_prefix(&option).is_some_and(|rest| rest.starts_with('=')),
        None => name == "file",
    });
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let value = match &value {
        Value::Bool(_) => "on".to_owned(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        value => text(value),
    };
    GivenOption { name, value, is_of_file }
}

/// Words of the command line without the file of settings.
fn without_config(words: &[OsString]) -> Vec<OsString> {
    let (mut kept, mut is_path) = (Vec::new(), false);
    for word in words {
        let text = word.to_string_lossy();
        if !is_path && text != "--config" && !text.starts_with("--config=") {
            kept.push(word.clone());
        }
        is_path = text == "--config";
    }
    kept
}

/// The options that were given, by name.
fn options(name: &str, matches: &ArgMatches) -> BTreeMap<String, Value> {
    let command = Arguments::command();
    let arguments = command.find_subcommand(name).expect("it was found").get_arguments();
    let mut options = BTreeMap::new();
    for argument in arguments.filter(|argument| !is_of_file(argument)) {
        let id = argument.get_id().as_str();
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let raw = matches.get_raw(id).into_iter().flatten();
        let mut values: Vec<Value> = raw.map(|text| Value::from(text.to_string_lossy())).collect();
        let value = match argument.get_action() {
            ArgAction::SetTrue => Value::from(true),
            ArgAction::Append => Value::from(values),
            _ => values.pop().unwrap_or_default(),
        };
        options.insert(argument.get_long().unwrap_or(id).to_owned(), value);
    }
    options
}

/// The file of `--write-config`, and its text.
fn written(matches: &ArgMatches, options: &BTreeMap<String, Value>) -> Result<Option<(PathBuf, String)>, Failure> {
    let Some(path) = matches.try_get_one::<PathBuf>(WRITE_CONFIG).ok().flatten() else { return Ok(None) };
    output::check_extension(path, &["toml"])?;
    output::check_file(
        path,
        &matches.try_get_one::<PathBuf>("file").ok().flatten().map_or(Vec::new(), |file| vec![Path::new(file)]),
    )?;
    let text = basic_toml::to_string(options).map_err(|error| Failure::new(error.to_string()))?;
    Ok(Some((path.clone(), HEADING.to_owned() + &text)))
}
