//! Arguments for the output: reports, plots and files.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use marquardt::curve::LegendPlace;

use super::FormatArguments;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output",
          group = ArgGroup::new("pictures").args(["plot", "report", "live"]).multiple(true),
          group = ArgGroup::new("drawings").args(["plot", "nyquist", "bode", "contour_plot", "profile_plot"]).multiple(true))]
pub struct OutputArguments {
    /// Draws data, curve, bands and residuals into a .svg or .png file
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Draws the Nyquist plot of a complex curve (imaginary over real part) into a .svg or .png file
    #[arg(long, value_name = "FILE", conflicts_with = "group_by")]
    pub nyquist: Option<PathBuf>,
    /// Draws the Bode plot of a complex curve (modulus and phase) into a .svg or .png file
    #[arg(long, value_name = "FILE", conflicts_with = "group_by")]
    pub bode: Option<PathBuf>,
    /// Writes a report, one .html page without other files: an interactive plot, tables, and the origin of the data
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Draws data and curve in the terminal (standard error stream) while the fit runs and at its end
    #[arg(long, conflicts_with = "watch")]
    pub live: bool,
    /// Logarithmic axis of the predictor
    #[arg(long, requires = "pictures")]
    pub log_x: bool,
    /// Logarithmic axis of the response
    #[arg(long, requires = "pictures")]
    pub log_y: bool,
    /// Width and height of plots in pixels, from 240 to 4096. Default: 900x680
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size, requires = "drawings")]
    pub size: Option<(u32, u32)>,
    /// Label of the predictor in plot and report. Default: its column, with its unit
    #[arg(long, value_name = "TEXT", alias = "xlabel", requires = "pictures")]
    pub x_label: Option<String>,
    /// Label of the response in plot and report. Default: its column, with its unit
    #[arg(long, value_name = "TEXT", alias = "ylabel", requires = "pictures")]
    pub y_label: Option<String>,
    /// Place of the legend of plots. Default: where it covers the least
    #[arg(long, value_name = "PLACE", value_enum, requires = "drawings")]
    pub legend: Option<LegendName>,
    /// Title of the report and the plot
    #[arg(long)]
    pub title: Option<String>,
    #[command(flatten)]
    pub formats: FormatArguments,
    /// Writes the fitted rows with fitted values and residuals as CSV
    #[arg(long, value_name = "FILE")]
    pub residuals: Option<PathBuf>,
    /// Number of significant digits in the report. Default: the digits that the standard errors leave meaningful
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=17))]
    pub digits: Option<u8>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LegendName {
    UpperLeft,
    UpperRight,
    LowerLeft,
    LowerRight,
    /// No legend
    None,
}

impl From<LegendName> for LegendPlace {
    fn from(name: LegendName) -> Self {
        match name {
            LegendName::UpperLeft => LegendPlace::UpperLeft,
            LegendName::UpperRight => LegendPlace::UpperRight,
            LegendName::LowerLeft => LegendPlace::LowerLeft,
            LegendName::LowerRight => LegendPlace::LowerRight,
            LegendName::None => LegendPlace::None,
        }
    }
}

/// Parses a size such as `900x680`.
fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', 'X', '×']);
    let parsed = sides.and_then(|(width, height)| Some((width.trim().parse().ok()?, height.trim().parse().ok()?)));
    let is_allowed = |side: u32| (240..=4096).contains(&side);
    parsed
        .filter(|&(width, height)| is_allowed(width) && is_allowed(height))
        .ok_or_else(|| "a size is a width and a height within 240 to 4096, such as 900x680".to_owned())
}
