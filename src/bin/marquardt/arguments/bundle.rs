//! Arguments of `marquardt bundle`.

use std::path::PathBuf;

use clap::Args;
use marquardt::Loss;

use super::memory::MemoryArguments;
use super::method::losses;

/// Arguments of `marquardt bundle`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  marquardt bundle problem.txt                                  the errors in pixels before and after, and the worst images
  marquardt bundle problem.txt --save adjusted.txt --plot scene.svg
  marquardt bundle problem.txt --robust                         wrong observations count little
  marquardt bundle problem.txt --robust=cauchy --scale 2 --json
  marquardt bundle problem.txt --save sparse --colmap           cameras.txt, images.txt and points3D.txt in a directory")]
pub struct BundleArguments {
    /// File in the format of "Bundle Adjustment in the Large", or directory with the files cameras.txt, images.txt and points3D.txt of
    /// COLMAP
    pub file: PathBuf,
    /// Robust loss of each observation, which gives outliers little weight
    #[arg(long, value_name = "LOSS", value_parser = losses(), num_args = 0..=1, require_equals = true,
          default_missing_value = "huber")]
    pub robust: Option<Loss>,
    /// Scale of the loss, in pixels: observations beyond this distance lose weight
    #[arg(long, value_name = "PIXELS", default_value_t = 1.0, requires = "robust")]
    pub scale: f64,
    /// Keeps the focal lengths and other intrinsic parameters of the cameras fixed
    #[arg(long)]
    pub fix_intrinsics: bool,
    /// Adjusts the principal points of the cameras as well; images determine them poorly
    #[arg(long, conflicts_with = "fix_intrinsics")]
    pub free_principal_points: bool,
    /// Relative tolerance of the cost: the solve ends once a step reduces it by at most this fraction
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-6)]
    pub ftol: f64,
    /// Largest number of trial steps
    #[arg(long, value_name = "COUNT")]
    pub max_iterations: Option<usize>,
    #[command(flatten)]
    pub memory: MemoryArguments,
    /// File for the adjusted cameras and points in the format of the input; a directory for that of COLMAP
    #[arg(long, value_name = "PATH")]
    pub save: Option<PathBuf>,
    /// Saves in the format of COLMAP, whatever the input
    #[arg(long, requires = "save")]
    pub colmap: bool,
    /// Picture of cameras and points from above, before and after, .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}
