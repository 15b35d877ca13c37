//! What the command line can say.

use std::fmt::Write;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use marquardt::Loss;
use marquardt::models::Named;
use thiserror::Error;

/// Fits a curve to two columns of a file, prints the report, and draws data, curve and residuals.
///
/// Without a file, a peak is fitted to measurements by NIST.
#[derive(Debug, Parser)]
#[command(after_long_help = list_of_models())]
pub struct Options {
    /// Columns of numbers, with their names above or without, between commas, semicolons, tabs or spaces
    #[arg(requires = "model")]
    pub file: Option<PathBuf>,
    /// The curve, such as gaussian or gaussian+linear; --help lists them
    #[arg(long, requires = "file")]
    pub model: Option<String>,
    /// Column of the predictor, by name or number; the first unless given
    #[arg(long, value_name = "COLUMN", requires = "file")]
    pub x: Option<String>,
    /// Column of the response; the second unless given
    #[arg(long, value_name = "COLUMN", requires = "file")]
    pub y: Option<String>,
    /// Column whose texts say which rows belong together, such as the name of a compound: each group is fitted by itself
    #[arg(long, value_name = "COLUMN", requires = "file")]
    pub by: Option<String>,
    /// Column of standard deviations of the responses
    #[arg(long, value_name = "COLUMN", requires = "file")]
    pub sigma: Option<String>,
    /// Sigma is the noise itself, and not only its size in one row relative to others
    #[arg(long, requires = "sigma")]
    pub absolute_sigma: bool,
    /// Where parameters start; the others are guessed from the data
    #[arg(long, value_name = "NAME=VALUE,...", value_delimiter = ',', requires = "file")]
    pub start: Vec<Start>,
    /// Bounds of parameters, either end of which may be missing
    #[arg(long, value_name = "NAME=LOW..HIGH,...", value_delimiter = ',', requires = "file")]
    pub bounds: Vec<Bounds>,
    /// Parameters that stay where they start, or at a value
    #[arg(long, value_name = "NAME[=VALUE],...", value_delimiter = ',', requires = "file")]
    pub fix: Vec<Fix>,
    /// A loss under which outliers do not decide
    #[arg(long, value_name = "LOSS", value_parser = losses(), requires = "file")]
    pub robust: Option<Loss>,
    /// The responses are counts: the Poisson likelihood is maximised
    #[arg(long, requires = "file")]
    pub counts: bool,
    /// Leaves out rows in which a number is missing
    #[arg(long, requires = "file")]
    pub omit_missing: bool,
    /// Where the plot goes, .svg or .png
    #[arg(long, value_name = "FILE", default_value = "fit_curve.svg")]
    pub plot: PathBuf,
    /// Where the report goes as JSON, besides
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Where the report goes as Markdown, besides
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

fn losses() -> impl TypedValueParser<Value = Loss> {
    let of_name = |name: String| Loss::ALL.into_iter().find(|loss| loss.name() == name);
    PossibleValuesParser::new(Loss::ALL.map(Loss::name)).map(move |name| of_name(name).expect("it is one of the names"))
}

fn list_of_models() -> String {
    let mut list = "Models, their parameters and formulas; + between names adds them:".to_owned();
    for model in Named::all() {
        write!(list, "\n  {} ({})\n      {}", model.name(), model.parameters().join(", "), model.formula())
            .expect("strings can be written to");
    }
    list
}

/// What is wrong with one of the settings below.
#[derive(Debug, Error, PartialEq)]
pub enum SettingError {
    #[error("{expected} is expected")]
    Form { expected: &'static str },
    #[error("{text:?} is not a number")]
    NotANumber { text: String },
}

/// Where a parameter starts, `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    pub name: String,
    pub value: f64,
}

/// Bounds of a parameter, `NAME=LOW..HIGH`; infinite where there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    pub name: String,
    pub low: f64,
    pub high: f64,
}

/// A parameter that does not move, `NAME` or `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Fix {
    pub name: String,
    pub value: Option<f64>,
}

impl FromStr for Start {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let (name, value) = text.split_once('=').ok_or(SettingError::Form { expected: "NAME=VALUE" })?;
        Ok(Start { name: name.trim().to_owned(), value: number(value)? })
    }
}

impl FromStr for Bounds {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let (name, range) = text.split_once('=').unwrap_or((text, ""));
        let ends = range.split_once("..").ok_or(SettingError::Form { expected: "NAME=LOW..HIGH" });
        let (low, high) = ends.map(|(low, high)| (low.trim(), high.trim_start_matches('=').trim()))?;
        let end = |text: &str, none| if text.is_empty() { Ok(none) } else { number(text) };
        let (low, high) = (end(low, f64::NEG_INFINITY)?, end(high, f64::INFINITY)?);
        Ok(Bounds { name: name.trim().to_owned(), low, high })
    }
}

impl FromStr for Fix {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        Ok(Fix { name: name.trim().to_owned(), value: value.map(number).transpose()? })
    }
}

fn number(text: &str) -> Result<f64, SettingError> {
    text.trim().parse().map_err(|_| SettingError::NotANumber { text: text.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(["fit_curve"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn nothing_need_be_said() {
        Options::command().debug_assert();
        let options = parse("").unwrap();
        assert!(options.file.is_none() && options.plot == Path::new("fit_curve.svg"));
    }

    #[test]
    fn everything_can_be_said() {
        let options = parse(
            "data.csv --x conc --y rate --model gaussian+linear --sigma s --absolute-sigma --start center=3,sigma=-1e-2 \
             --start slope=0 --bounds sigma=0..,center=-1.5..2 --bounds slope=..=3 --fix intercept --fix amplitude=4 \
             --robust soft_l1 --counts --omit-missing --plot a.png --json a.json --markdown a.md",
        )
        .unwrap();
        let start = |name: &str, value| Start { name: name.into(), value };
        assert_eq!(options.start, [start("center", 3.0), start("sigma", -0.01), start("slope", 0.0)]);
        let bounds = |name: &str, low, high| Bounds { name: name.into(), low, high };
        let none = f64::INFINITY;
        assert_eq!(
            options.bounds,
            [bounds("sigma", 0.0, none), bounds("center", -1.5, 2.0), bounds("slope", -none, 3.0)]
        );
        let fix = |name: &str, value| Fix { name: name.into(), value };
        assert_eq!(options.fix, [fix("intercept", None), fix("amplitude", Some(4.0))]);
        assert_eq!(options.robust, Some(Loss::SoftL1));
        assert!(options.absolute_sigma && options.counts && options.omit_missing);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let kind = |line: &str| parse(line).unwrap_err().kind();
        assert_eq!(kind("data.csv"), ErrorKind::MissingRequiredArgument);
        assert_eq!(kind("--model gaussian"), ErrorKind::MissingRequiredArgument);
        assert_eq!(kind("data.csv --model gaussian --absolute-sigma"), ErrorKind::MissingRequiredArgument);
        assert_eq!(kind("data.csv --model gaussian --robust hubert"), ErrorKind::InvalidValue);
        let message = |line: &str| parse(&format!("data.csv --model gaussian {line}")).unwrap_err().to_string();
        assert!(message("--start center").contains("NAME=VALUE is expected"));
        assert!(message("--start center=left").contains("\"left\" is not a number"));
        assert!(message("--bounds center=3").contains("NAME=LOW..HIGH is expected"));
        assert!(message("--bounds center=3..four").contains("\"four\" is not a number"));
        assert!(message("--fix center=").contains("\"\" is not a number"));
    }

    #[test]
    fn all_models_are_listed() {
        // Long lines are wrapped.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let help = words(&Options::command().render_long_help().to_string());
        assert!(Named::all().all(|model| help.contains(model.name()) && help.contains(model.formula())));
        assert!(help.contains("michaelis_menten (vmax, km) vmax x / (km + x)"));
        assert!(Loss::ALL.iter().all(|loss| help.contains(loss.name())));
    }
}
