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

mod bal;
mod camera;
mod drawing;
#[path = "../common/names.rs"]
mod names;
mod options;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use bal::Scene;
use camera::{Reprojection, project};
use clap::Parser;
use marquardt::graph::{GraphError, Problem};
use marquardt::linear::LinearSolver;
use marquardt::manifold::Euclidean;
use marquardt::solver::damping::GainRatio;
use marquardt::{LevenbergMarquardt, Report};
use options::Options;

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
    let before = Scene::load(&file)?;
    let (after, report, seconds) = adjust(&before, options).map_err(|error| format!("{}: {error}", file.display()))?;

    let mut out = io::stdout();
    let Report { status, iterations, linear_form, .. } = &report;
    writeln!(out, "{}: {status} after {iterations} iterations, by {linear_form}", file.display())?;
    let [start, end] = [&before, &after].map(pixel_error);
    writeln!(out, "reprojection error: {start:.3} pixels before, {end:.3} after (root mean square)")?;
    let titles = [("before", start), ("after", end)].map(|(name, error)| format!("{name}: {error:.2} pixels"));
    let svg = drawing::draw([(&titles[0], &before), (&titles[1], &after)]);
    fs::write(&options.plot, svg).map_err(|error| format!("{}: {error}", options.plot.display()))?;
    writeln!(out, "drawn to {}", options.plot.display())?;
    if let Some(file) = &options.save {
        after.save(file)?;
        writeln!(out, "saved to {}", file.display())?;
    }
    let Scene { cameras, points, observations } = &after;
    let [cameras, points, observations] = [cameras.len(), points.len(), observations.len()];
    let Report { initial_cost, cost, iterations, .. } = report;
    writeln!(
        out,
        "bundle_adjustment: cameras={cameras} points={points} observations={observations} initial_cost={initial_cost:.3} \
         cost={cost:.3} iterations={iterations} seconds={seconds:.3}"
    )?;
    Ok(())
}

/// Adjusts a scene; with the report, and the seconds that the solve took.
fn adjust(scene: &Scene, options: &Options) -> Result<(Scene, Report<f64>, f64), GraphError> {
    let mut problem = Problem::new();
    let (mut cameras, mut points) = (Vec::new(), Vec::new());
    for camera in &scene.cameras {
        cameras.push(problem.add_parameter_block(Euclidean::<9>, camera)?);
    }
    for point in &scene.points {
        points.push(problem.add_parameter_block(Euclidean::<3>, point)?);
    }
    let (mut sees, mut is_seen) = (vec![false; cameras.len()], vec![false; points.len()]);
    for observation in &scene.observations {
        let error = Reprojection { pixel: observation.pixel };
        let blocks = (cameras[observation.camera], points[observation.point]);
        match options.loss {
            None => problem.add_residual_block(error, blocks)?,
            Some(loss) => problem.add_robust_residual_block(error, blocks, loss, options.scale)?,
        };
        (sees[observation.camera], is_seen[observation.point]) = (true, true);
    }
    // Nothing is known of the others.
    for (&camera, _) in cameras.iter().zip(&sees).filter(|(_, sees)| !**sees) {
        problem.set_constant(camera)?;
    }
    for (&point, _) in points.iter().zip(&is_seen).filter(|(_, is_seen)| !**is_seen) {
        problem.set_constant(point)?;
    }

    let solver = LevenbergMarquardt::new()
        .with_ftol(options.ftol)
        .with_max_iterations(options.max_iterations)
        .with_damping(GainRatio::new(1e-4))
        .with_linear_solver(options.form.map_or(LinearSolver::Auto, LinearSolver::Always))
        .with_polish(false);
    let start = Instant::now();
    let report = problem.solve(&solver)?;
    let seconds = start.elapsed().as_secs_f64();

    let mut adjusted = scene.clone();
    for (camera, &block) in adjusted.cameras.iter_mut().zip(&cameras) {
        camera.copy_from_slice(problem.point(block)?);
    }
    for (point, &block) in adjusted.points.iter_mut().zip(&points) {
        point.copy_from_slice(problem.point(block)?);
    }
    Ok((adjusted, report, seconds))
}

/// Root mean square of the distances between pixels, those of the model and those of the images.
fn pixel_error(scene: &Scene) -> f64 {
    let squares = scene.observations.iter().map(|observation| {
        let [x, y] = project(&scene.cameras[observation.camera], &scene.points[observation.point]);
        (x - observation.pixel[0]).powi(2) + (y - observation.pixel[1]).powi(2)
    });
    (squares.sum::<f64>() / scene.observations.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn shipped() -> Scene {
        Scene::load(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/cameras.txt"))).unwrap()
    }

    #[test]
    fn the_shipped_scene_is_adjusted() {
        let scene = shipped();
        let options =
            |line: &str| Options::parse_from(["bundle_adjustment"].into_iter().chain(line.split_whitespace()));
        let (after, report, _) = adjust(&scene, &options("")).unwrap();
        assert!(report.is_converged(), "{}", report.status);
        let sum = |scene: &Scene| 0.5 * pixel_error(scene).powi(2) * scene.observations.len() as f64;
        assert!((report.initial_cost / sum(&scene) - 1.0).abs() < 1e-12);
        assert!((report.cost / sum(&after) - 1.0).abs() < 1e-12);
        assert!(report.cost < 715.6 && pixel_error(&after) < 1.35, "{}", report.cost);
        let (_, robust, _) = adjust(&scene, &options("--loss huber")).unwrap();
        assert!(robust.is_converged() && robust.cost < 255.7, "{}", robust.cost);
        let limited = adjust(&scene, &options("--max-iterations 2")).unwrap().1;
        assert!(!limited.is_converged() && limited.iterations == 2);
    }

    #[test]
    fn cameras_and_points_without_observations_stay() {
        let mut scene = shipped();
        scene.observations.retain(|observation| observation.camera != 6 && observation.point != 3);
        let options = Options::parse_from(["bundle_adjustment", "--max-iterations", "3"]);
        let (after, report, _) = adjust(&scene, &options).unwrap();
        assert!(report.cost < report.initial_cost);
        assert_eq!((after.cameras[6], after.points[3]), (scene.cameras[6], scene.points[3]));
    }

    #[test]
    fn a_point_in_the_plane_of_a_camera_is_named() {
        let mut scene = shipped();
        let seen = scene.observations[4];
        scene.cameras[seen.camera][..6].fill(0.0);
        scene.points[seen.point] = [1.0, 2.0, 0.0];
        let error = adjust(&scene, &Options::parse_from(["bundle_adjustment"])).unwrap_err().to_string();
        assert!(error.starts_with("residual 0 of residual block"), "{error}");
    }
}
