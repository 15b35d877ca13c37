//! Options of the command line.

use std::path::PathBuf;

use clap::Parser;
use marquardt::Loss;
use marquardt::linear::LinearForm;

use crate::names::{forms, losses};

/// Finds the cameras and points that images have in common, from where the points are seen, and draws both from above.
///
/// Without a file, seven cameras and 150 points of a scene that was made up are adjusted.
#[derive(Debug, Parser)]
pub struct Options {
    /// File of "Bundle Adjustment in the Large", or directory of COLMAP in text form
    pub file: Option<PathBuf>,
    /// Robust loss of each observation; huber is the usual one
    #[arg(long, value_name = "LOSS", value_parser = losses())]
    pub loss: Option<Loss>,
    /// Distance in pixels from which on the loss takes an observation for an outlier
    #[arg(long, value_name = "PIXELS", default_value_t = 1.0, requires = "loss", value_parser = positive)]
    pub scale: f64,
    /// Ends the solve when a step lowers the cost by less than this share
    #[arg(long, default_value_t = 1e-5, value_parser = positive)]
    pub ftol: f64,
    /// Form of the linear systems; by default the one that is estimated to be fastest
    #[arg(long, value_name = "FORM", value_parser = forms())]
    pub form: Option<LinearForm>,
    /// Largest number of iterations
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    pub max_iterations: usize,
    /// Picture of cameras and points, .svg or .png
    #[arg(long, value_name = "FILE", default_value = "bundle_adjustment.svg")]
    pub plot: PathBuf,
    /// File for the adjusted cameras and points, in the format of the input
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("a positive number is expected".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(["bundle_adjustment"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn nothing_need_be_said() {
        Options::command().debug_assert();
        let options = parse("").unwrap();
        assert!(options.file.is_none() && options.loss.is_none() && options.save.is_none());
        assert_eq!((options.ftol, options.max_iterations), (1e-5, 200));
        assert_eq!(options.plot, Path::new("bundle_adjustment.svg"));
    }

    #[test]
    fn everything_can_be_said() {
        let line = "a.txt --loss huber --scale 2 --form iterative-schur --ftol 1e-8 --max-iterations 7 --plot a.svg --save b.txt";
        let options = parse(line).unwrap();
        assert_eq!((options.loss, options.scale), (Some(Loss::Huber), 2.0));
        assert_eq!((options.ftol, options.max_iterations), (1e-8, 7));
        assert_eq!(options.form, Some(LinearForm::IterativeSchur));
        let files = [options.file, Some(options.plot), options.save];
        assert_eq!(files, ["a.txt", "a.svg", "b.txt"].map(|file| Some(file.into())));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let kind = |line: &str| parse(line).unwrap_err().kind();
        assert_eq!(kind("--scale 2"), ErrorKind::MissingRequiredArgument);
        assert_eq!(kind("--loss hubert"), ErrorKind::InvalidValue);
        assert_eq!(kind("--form dense"), ErrorKind::InvalidValue);
        assert_eq!(kind("--loss huber --scale 0"), ErrorKind::ValueValidation);
        assert_eq!(kind("--ftol nan"), ErrorKind::ValueValidation);
    }
}
