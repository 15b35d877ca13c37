//! Arguments of `marquardt graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use marquardt::Loss;
use marquardt::graph::Start;

use super::memory::MemoryArguments;
use super::method::losses;

/// Arguments of `marquardt graph`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  marquardt graph map.g2o                                       the costs before and after, and the worst edges
  marquardt graph map.g2o --save solved.g2o --plot map.svg      the poses, in a file and a picture
  marquardt graph map.g2o --robust                              false loop closures are found and left out
  marquardt graph map.g2o --loss=cauchy --scale 2               loop closures under a robust loss
  marquardt graph map.g2o --start chordal --json")]
pub struct GraphArguments {
    /// Pose graph in the format of g2o or TORO, in the plane or in space
    pub file: PathBuf,
    /// Finds false loop closures by graduated non-convexity and leaves them out; edges between consecutive poses are trusted
    #[arg(long, conflicts_with = "loss")]
    pub robust: bool,
    /// Standard deviation of the residuals of true edges. Default: 1, as the information matrices imply, or less if the residuals are
    /// smaller
    #[arg(long, value_name = "NUMBER", requires = "robust")]
    pub noise_scale: Option<f64>,
    /// Probability that a true loop closure is kept
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.999, requires = "robust")]
    pub confidence: f64,
    /// Robust loss of loop closures
    #[arg(long, value_name = "LOSS", value_parser = losses())]
    pub loss: Option<Loss>,
    /// Scale of the loss, in standard deviations
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, requires = "loss")]
    pub scale: f64,
    /// Start of the solve
    #[arg(long, value_enum, value_name = "START", default_value = "best")]
    pub start: StartName,
    /// Relative tolerance of the cost: the solve ends once a step reduces it by at most this fraction
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-8)]
    pub ftol: f64,
    /// Largest number of trial steps
    #[arg(long, value_name = "COUNT")]
    pub max_iterations: Option<usize>,
    #[command(flatten)]
    pub memory: MemoryArguments,
    /// File for the solved graph, in the format of g2o
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Picture of the graph before and after, .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

/// Name of a start.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum StartName {
    /// The start of lowest cost: the poses of the file or, if their rotations are off by more than 1 rad, also the relaxations
    Best,
    /// Poses of the file
    Given,
    /// Poses along the edges from each pose to the next
    Odometry,
    /// Chordal relaxation of the rotations
    Chordal,
    /// Spectral relaxation of the rotations
    Spectral,
}

impl From<StartName> for Start {
    fn from(name: StartName) -> Self {
        match name {
            StartName::Best => Start::Best,
            StartName::Given => Start::Given,
            StartName::Odometry => Start::Odometry,
            StartName::Chordal => Start::Chordal,
            StartName::Spectral => Start::Spectral,
        }
    }
}
