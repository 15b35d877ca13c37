//! Arguments for profiles and joint confidence regions.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Inference")]
pub struct ContourArguments {
    /// Draws the profiles of --profile into a .svg or .png file
    #[arg(long, value_name = "FILE", requires = "profile")]
    pub profile_plot: Option<PathBuf>,
    /// Computes joint confidence regions of two parameters at 68.3 % and 95 %, by the profile likelihood
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    pub contour: Vec<String>,
    /// Draws the borders of these regions into a .svg or .png file
    #[arg(long, value_name = "FILE", requires = "contour")]
    pub contour_plot: Option<PathBuf>,
    /// Writes the points of these borders as CSV
    #[arg(long, value_name = "FILE", requires = "contour")]
    pub contour_points: Option<PathBuf>,
}
