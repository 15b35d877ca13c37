//! Arguments for the output: reports, plots and files.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::FormatArguments;
use crate::assignments;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output",
          group = ArgGroup::new("pictures").args(["plot", "report", "live"]).multiple(true),
          group = ArgGroup::new("drawings").args(["plot", "nyquist", "bode", "contour_plot", "profile_plot"]).multiple(true))]
pub struct OutputArguments {
    /// Draws data, curve, bands and residuals into a .svg or .png file
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Draws a complex curve as its imaginary over its real part into a .svg or .png file
    #[arg(long, value_name = "FILE", conflicts_with = "group_by")]
    pub nyquist: Option<PathBuf>,
    /// Draws a complex curve as its modulus and its phase into a .svg or .png file
    #[arg(long, value_name = "FILE", conflicts_with = "group_by")]
    pub bode: Option<PathBuf>,
    /// Writes a report to hand on: one .html page with an interactive plot, tables, and the origin of the data
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Draws data and curve in the terminal, on the standard error stream, while the fit runs and at its end
    #[arg(long, conflicts_with = "watch")]
    pub live: bool,
    /// Logarithmic axis of the predictor
    #[arg(long, requires = "pictures")]
    pub log_x: bool,
    /// Logarithmic axis of the response
    #[arg(long, requires = "pictures")]
    pub log_y: bool,
    /// Title of report and plot
    #[arg(long)]
    pub title: Option<String>,
    /// Label of the axis of the predictor; the column and its unit unless given
    #[arg(long, value_name = "TEXT", alias = "xlabel", requires = "pictures")]
    pub x_label: Option<String>,
    /// Label of the axis of the response; the column and its unit unless given
    #[arg(long, value_name = "TEXT", alias = "ylabel", requires = "pictures")]
    pub y_label: Option<String>,
    /// Width and height of plots in pixels, each from 240 to 4096; 900x680 unless given
    #[arg(long, value_name = "WIDTHxHEIGHT", requires = "drawings", value_parser = assignments::size)]
    pub size: Option<[u32; 2]>,
    #[command(flatten)]
    pub formats: FormatArguments,
    /// Writes each row used with the fitted value and the residual as CSV
    #[arg(long, value_name = "FILE")]
    pub residuals: Option<PathBuf>,
    /// Significant digits of numbers in the report; as many as the standard errors leave meaningful unless given
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=17))]
    pub digits: Option<u8>,
}
