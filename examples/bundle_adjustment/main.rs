//! Adjusts cameras and points to where the points are seen in the images, and draws both from above.
//!
//! ```text
//! cargo run --release --example bundle_adjustment                               seven cameras around a scene
//! cargo run --release --example bundle_adjustment -- problem-49-7776-pre.txt    any file of the BAL collection
//! cargo run --release --example bundle_adjustment -- FILE --loss huber --save adjusted.txt
//! cargo run --release --example bundle_adjustment -- FILE --form iterative-schur
//! cargo run --release --example bundle_adjustment -- --help
//! ```
//!
//! The files are at <https://grail.cs.washington.edu/projects/bal/>.

#[path = "../common/names.rs"]
mod names;
mod options;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use marquardt::curve::LegendPlace;
use marquardt::graph::{Bundle, BundleReport, BundleSolver, GraphError};
use marquardt::linear::LinearSolver;
use options::Options;

/// Width and height of the picture, in pixels.
const SIZE: (u32, u32) = (1240, 640);

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let shipped = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/cameras.txt"));
    let file = options.file.clone().unwrap_or_else(shipped);
    let before = Bundle::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut after = before.clone();
    let start = Instant::now();
    let solved = adjust(&mut after, options).map_err(|error| format!("{}: {error}", file.display()))?;
    let seconds = start.elapsed().as_secs_f64();

    let mut out = io::stdout();
    let BundleReport { report, given_error, error, .. } = &solved;
    let (status, iterations) = (report.status, report.iterations);
    writeln!(out, "{}: {status} after {iterations} iterations, by {}", file.display(), report.linear_form)?;
    writeln!(out, "reprojection error: {given_error:.3} pixels before, {error:.3} after (root mean square)")?;
    let axes = after.axes();
    let left = before.plot_along(axes).title(format!("before: {given_error:.2} pixels")).legend(LegendPlace::None);
    let right = after.plot_along(axes).title(format!("after: {error:.2} pixels"));
    let saved = left.beside(right).size(SIZE.0, SIZE.1).save(&options.plot);
    saved.map_err(|error| format!("{}: {error}", options.plot.display()))?;
    writeln!(out, "drawn to {}", options.plot.display())?;
    if let Some(file) = &options.save {
        after.save_bal(file)?;
        writeln!(out, "saved to {}", file.display())?;
    }
    writeln!(
        out,
        "bundle_adjustment: cameras={} points={} observations={} initial_cost={:.3} cost={:.3} iterations={iterations} \
         seconds={seconds:.3}",
        after.images().len(),
        after.points().len(),
        after.observations().len(),
        report.initial_cost,
        report.cost,
    )?;
    Ok(())
}

/// Adjusts a bundle.
fn adjust(bundle: &mut Bundle, options: &Options) -> Result<BundleReport, GraphError> {
    let bundles = BundleSolver::new();
    let solver = bundles
        .solver()
        .clone()
        .with_ftol(options.ftol)
        .with_max_iterations(options.max_iterations)
        .with_linear_solver(options.form.map_or(LinearSolver::Auto, LinearSolver::Always));
    let bundles = bundles.with_solver(solver);
    options.loss.map_or(bundles.clone(), |loss| bundles.with_loss(loss, options.scale)).solve(bundle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_scene_is_adjusted() {
        let scene = Bundle::read(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/cameras.txt")).unwrap();
        let adjusted = |line: &str| {
            let options = Options::parse_from(["bundle_adjustment"].into_iter().chain(line.split_whitespace()));
            adjust(&mut scene.clone(), &options).unwrap()
        };
        let plain = adjusted("");
        assert!(plain.report.is_converged(), "{}", plain.report.status);
        let sum = |error: f64| 0.5 * error.powi(2) * scene.observations().len() as f64;
        assert!((plain.report.initial_cost / sum(plain.given_error) - 1.0).abs() < 1e-12);
        assert!((plain.report.cost / sum(plain.error) - 1.0).abs() < 1e-12);
        assert!(plain.report.cost < 715.6 && plain.error < 1.35, "{}", plain.report.cost);
        let robust = adjusted("--loss huber").report;
        assert!(robust.is_converged() && robust.cost < 255.7, "{}", robust.cost);
        let limited = adjusted("--max-iterations 2").report;
        assert!(!limited.is_converged() && limited.iterations == 2);
    }
}
