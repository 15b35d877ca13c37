//! `marquardt bundle`: cameras and points, adjusted to where the points are seen.

use std::io::{self, Write};

use marquardt::curve::LegendPlace;
use marquardt::graph::{Bundle, BundleFileError, BundleReport, BundleSolver, GraphError};
use serde_json::json;

use crate::arguments::{BundleArguments, memory_option};
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::table::ResultTable;

/// Width and height of the picture, in pixels.
const SIZE: (u32, u32) = (1240, 640);

/// Worst images that the report names.
const WORST_IMAGES: usize = 5;

/// Reads a bundle, adjusts it, and says how well points agree with images.
pub fn run(arguments: &BundleArguments) -> Result<Ending, Failure> {
    let file = arguments.file.display();
    let given = Bundle::read(&arguments.file).map_err(|error| match error {
        // The file is in the text.
        error @ BundleFileError::Io { .. } => Failure::new(error.to_string()),
        error => Failure::new(format!("{file}: {error}")),
    })?;
    let mut bundle = given.clone();
    let solved = solver(arguments).solve(&mut bundle).map_err(|error| explain(&error, arguments, &given))?;
    if let Some(path) = &arguments.save {
        let is_colmap = arguments.colmap || arguments.file.is_dir();
        let saved = if is_colmap { bundle.save_colmap(path) } else { bundle.save_bal(path) };
        saved.map_err(|error| Failure::new(error.to_string()))?;
    }
    if let Some(path) = &arguments.plot {
        // Both along the same directions.
        let axes = bundle.axes();
        let [before, after] = [("before", solved.given_error), ("after", solved.error)]
            .map(|(when, error)| format!("{when}: {error:.2} pixels"));
        let left = given.plot_along(axes).title(&before).legend(LegendPlace::None);
        let plot = left.beside(bundle.plot_along(axes).title(&after)).size(SIZE.0, SIZE.1);
        plot.save(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    }
    let mut out = io::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", as_json(&bundle, &solved))?;
    } else {
        print(&mut out, &bundle, &solved, arguments)?;
    }
    Ok(Ending::of(solved.report.is_converged()))
}

fn solver(arguments: &BundleArguments) -> BundleSolver {
    let bundles = BundleSolver::new();
    let mut solver = bundles.solver().clone().with_ftol(arguments.ftol).with_cancel_token(interrupt::token());
    solver = arguments.memory.limit(solver);
    if let Some(iterations) = arguments.max_iterations {
        solver = solver.with_max_iterations(iterations);
    }
    let bundles = bundles.with_solver(solver).with_fixed_intrinsics(arguments.fix_intrinsics);
    let bundles = bundles.with_free_principal_points(arguments.free_principal_points);
    match arguments.robust {
        Some(loss) => bundles.with_loss(loss, arguments.scale),
        None => bundles,
    }
}

/// The error, with its observation if it has one.
fn explain(error: &GraphError, arguments: &BundleArguments, bundle: &Bundle) -> Failure {
    let file = arguments.file.display();
    let seen = bundle.observation_of(error).map(|k| &bundle.observations()[k]);
    Failure::new(match seen.and_then(|seen| Some((seen.image, seen.point?))) {
        Some((image, point)) => {
            let (image, point) = (bundle.images()[image].id, bundle.points()[point].id);
            format!("{file}: point {point} in image {image}: {error}")
        }
        None => format!("{file}: {error}{}", memory_option(error)),
    })
}

fn print(out: &mut impl Write, bundle: &Bundle, solved: &BundleReport, arguments: &BundleArguments) -> io::Result<()> {
    let report = &solved.report;
    let seen = bundle.observations().iter().filter(|seen| seen.point.is_some()).count();
    let (images, cameras, points) = (bundle.images().len(), bundle.cameras().len(), bundle.points().len());
    writeln!(out, "{images} images by {cameras} cameras, {points} points, {seen} observations")?;
    let (before, after) = (solved.given_error, solved.error);
    writeln!(out, "reprojection error (root mean square): {before:.4} pixels before, {after:.4} after")?;
    writeln!(out, "cost: {:.8e} before, {:.8e} after", report.initial_cost, report.cost)?;
    writeln!(out, "status: {}; iterations: {}; by {}", report.status, report.iterations, report.linear_form)?;
    if arguments.robust.is_some() {
        let lengths = bundle.observations().iter().filter_map(|seen| bundle.error_of(seen));
        let beyond = lengths.filter(|[x, y]| x.hypot(*y) > arguments.scale).count();
        writeln!(out, "observations beyond {} pixels: {beyond}", arguments.scale)?;
    }
    let worst = worst_images(bundle);
    if !worst.is_empty() {
        writeln!(out, "\nworst images")?;
        let mut table = ResultTable::new(["image", "name", "observations", "error in pixels"]);
        for (image, count, error) in worst {
            let image = &bundle.images()[image];
            table.texts([image.id.to_string(), image.name.clone(), count.to_string(), format!("{error:.4}")]);
        }
        writeln!(out, "{table}")?;
    }
    Ok(())
}

/// Images of largest error: index, number of observations, and root mean square of the distances.
fn worst_images(bundle: &Bundle) -> Vec<(usize, usize, f64)> {
    let mut sums = vec![(0, 0.0); bundle.images().len()];
    for seen in bundle.observations() {
        if let Some([x, y]) = bundle.error_of(seen) {
            let (count, sum) = &mut sums[seen.image];
            *count += 1;
            *sum += x * x + y * y;
        }
    }
    let errors = sums.into_iter().enumerate().filter(|(_, (count, _))| *count > 0);
    let mut errors: Vec<_> = errors.map(|(image, (count, sum))| (image, count, (sum / count as f64).sqrt())).collect();
    errors.sort_by(|a, b| b.2.total_cmp(&a.2));
    errors.truncate(WORST_IMAGES);
    errors
}

fn as_json(bundle: &Bundle, solved: &BundleReport) -> serde_json::Value {
    let report = &solved.report;
    let worst = worst_images(bundle).into_iter().map(|(image, _, error)| {
        let image = &bundle.images()[image];
        json!({"image": image.id, "name": image.name, "error": error})
    });
    json!({
        "status": report.status.to_string(),
        "converged": report.is_converged(),
        "given_error": solved.given_error,
        "error": solved.error,
        "initial_cost": report.initial_cost,
        "cost": report.cost,
        "iterations": report.iterations,
        "worst_images": worst.collect::<Vec<_>>(),
    })
}
