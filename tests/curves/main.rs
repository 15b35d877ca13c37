//! Curve fits: their data, parameters, models, statistics, summaries and plots.

mod bootstrap;
mod bounds;
mod calibration;
mod certified;
mod certified_without_starts;
#[path = "../common/mod.rs"]
mod common;
mod complex;
mod coverage;
mod data;
mod derived;
mod differential_equations;
mod errors_in_x;
mod fit;
mod fit_plots;
mod formula_starts;
mod global;
mod inference;
mod models;
mod multi_start;
mod named_residuals;
#[path = "../nist/mod.rs"]
mod nist;
mod numeric_rows;
mod owned;
mod parameters;
mod plots;
mod profile;
#[path = "../reference/mod.rs"]
mod reference;
mod relations;
mod replicates;
mod robust;
mod rotated_peak;
mod runaways;
mod scripts;
mod second_attempts;
mod starts;
mod statistics;
#[cfg(all(feature = "json", feature = "plot"))]
mod stored;
mod summary;
mod tables;
#[cfg(feature = "rayon")]
mod threads;
mod undefined_derivatives;
mod warnings;
