//! Options of the command line.

use std::path::PathBuf;

use clap::Parser;
use marquardt::Loss;
use marquardt::graph::Start;
use marquardt::linear::LinearForm;

use crate::names::{forms, losses};

/// Finds the poses of a graph of measured relative poses, and draws the graph before and after.
///
/// Without a file, a small graph in space is solved.
#[derive(Debug, Parser)]
pub struct Options {
    /// Graph in the format of g2o or TORO, in the plane or in space. The first pose is constant if there is no FIX line
    pub file: Option<PathBuf>,
    /// Robust loss of the loop closures: edges whose vertices do not follow each other in the file. Printed costs are
    /// those of the loss
    #[arg(long, value_name = "LOSS", value_parser = losses())]
    pub loss: Option<Loss>,
    /// Scale of the loss, in standard deviations
    #[arg(long, value_name = "SCALE", default_value_t = 1.0, value_parser = positive, requires = "loss")]
    pub scale: f64,
    /// Finds false loop closures, and leaves them out
    #[arg(long, conflicts_with = "loss")]
    pub robust: bool,
    /// Start: best of the others, given, odometry, chordal or spectral relaxation
    #[arg(long, value_name = "START", default_value = "best", value_parser = start)]
    pub start: Start,
    /// Ends when a step reduces the cost by less than this, relative to the cost
    #[arg(long, default_value_t = 1e-8, value_parser = not_negative)]
    pub ftol: f64,
    /// Form of the linear systems; by default the one that is estimated to be fastest
    #[arg(long, value_name = "FORM", value_parser = forms())]
    pub form: Option<LinearForm>,
    /// Most trial steps; the solver's own limit unless given
    #[arg(long, value_name = "COUNT")]
    pub max_iterations: Option<usize>,
    /// File of the drawing, .svg
    #[arg(long, value_name = "FILE", default_value = "pose_graph.svg")]
    pub plot: PathBuf,
    /// File of the solved graph, in the format of g2o with all digits; none unless given
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

fn start(text: &str) -> Result<Start, String> {
    match text {
        "best" => Ok(Start::Best),
        "given" => Ok(Start::Given),
        "odometry" => Ok(Start::Odometry),
        "chordal" => Ok(Start::Chordal),
        "spectral" => Ok(Start::Spectral),
        _ => Err("best, given, odometry, chordal or spectral is expected".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = not_negative(text)?;
    if number > 0.0 { Ok(number) } else { Err("a positive number is expected".to_owned()) }
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if number >= 0.0 && number.is_finite() { Ok(number) } else { Err("a number from 0 is expected".to_owned()) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(["pose_graph"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn all_options_have_defaults() {
        Options::command().debug_assert();
        let options = parse("").unwrap();
        assert!(options.file.is_none() && options.loss.is_none() && options.save.is_none());
        assert_eq!((options.ftol, options.max_iterations), (1e-8, None));
        assert_eq!(options.plot, Path::new("pose_graph.svg"));
    }

    #[test]
    fn all_options_are_read() {
        let line = "map.g2o --loss geman_mcclure --scale 2.5 --form cgnr --ftol 0 --max-iterations 7 --plot a.svg --save solved.g2o";
        let options = parse(line).unwrap();
        assert_eq!((options.loss, options.scale), (Some(Loss::GemanMcClure), 2.5));
        assert_eq!((options.form, options.ftol, options.max_iterations), (Some(LinearForm::Cgnr), 0.0, Some(7)));
        assert_eq!(options.file.as_deref(), Some(Path::new("map.g2o")));
        assert_eq!(options.save.as_deref(), Some(Path::new("solved.g2o")));
    }

    #[test]
    fn wrong_values_are_refused() {
        let kind = |line: &str| parse(line).unwrap_err().kind();
        assert_eq!(kind("--scale 2"), ErrorKind::MissingRequiredArgument);
        assert_eq!(kind("--loss hubert"), ErrorKind::InvalidValue);
        assert_eq!(kind("--form dense"), ErrorKind::InvalidValue);
        for wrong in ["--loss huber --scale 0", "--ftol=-1", "--ftol NaN", "--ftol inf", "--max-iterations some"] {
            assert_eq!(kind(wrong), ErrorKind::ValueValidation, "{wrong}");
        }
    }
}
