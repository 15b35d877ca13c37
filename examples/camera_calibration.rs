//! Calibrates a pair of cameras from views of a chessboard: focal lengths, principal points, distortion, and where one camera is beside the other.
//!
//! ```text
//! cargo run --release --example camera_calibration
//! ```
//!
//! The parameter blocks are the intrinsic parameters of each camera, the pose of the right camera beside the left one, and a pose of the board for each
//! pair of images; a residual block is the error of a corner (Zhang 2000). `examples/data/chessboard.csv` has the 9 × 6 corners, as OpenCV finds them, of the 13
//! pairs of images of 640 × 480 pixels that come with OpenCV (Apache 2.0). The squares are 25 mm wide.

use std::error::Error;

use marquardt::graph::{CameraModel, CostFunction, Problem};
use marquardt::manifold::{EuclideanSpace, Pose3, Rotation3, SE3};
use marquardt::{EvaluationError, LevenbergMarquardt, Scalar};

const CORNERS: &str = include_str!("data/chessboard.csv");
const COLUMNS: usize = 9;
const ROWS: usize = 6;
const SQUARE: f64 = 25.0;
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 480.0;
const MODEL: CameraModel = CameraModel::Brown;
const NAMES: [&str; 8] = ["fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2"];

/// Pixels of the corners of the board, by rows.
type View = Vec<[f64; 2]>;

/// Error of a corner in the image, in pixels.
struct Corner {
    on_board: [f64; 3],
    pixel: [f64; 2],
}

impl CostFunction<f64> for Corner {
    /// The camera from the left camera, that from the board, and the intrinsic parameters.
    type Blocks = (SE3, SE3, EuclideanSpace);

    fn residual_count(&self) -> usize {
        2
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let [camera, board] = [0, 1].map(|k| Pose3::from_slice(blocks[k]));
        let point = camera.transform(board.transform(self.on_board.map(S::constant)));
        let seen = MODEL.project(blocks[2], point);
        for ((r, seen), pixel) in r.iter_mut().zip(seen).zip(self.pixel) {
            *r = seen - pixel;
        }
        Ok(())
    }
}

/// A calibration of one or several cameras.
struct Calibration {
    /// Intrinsic parameters of each camera, and their standard errors.
    intrinsics: Vec<[Vec<f64>; 2]>,
    /// Each camera from the first.
    cameras: Vec<Pose3<f64>>,
    /// Root mean square of the distances of corners from where they are seen, in pixels, for each camera and view.
    distances: Vec<Vec<f64>>,
}

/// Views of the left camera, and of the right one.
fn views() -> Result<[Vec<View>; 2], Box<dyn Error>> {
    let mut views: [Vec<View>; 2] = Default::default();
    for record in csv::Reader::from_reader(CORNERS.as_bytes()).deserialize() {
        let (camera, _image, u, v): (String, usize, f64, f64) = record?;
        let views = &mut views[usize::from(camera == "right")];
        match views.last_mut() {
            Some(view) if view.len() < COLUMNS * ROWS => view.push([u, v]),
            _ => views.push(vec![[u, v]]),
        }
    }
    Ok(views)
}

/// A guess of the pose of a board that faces the camera: from the length and the direction of its first row.
fn guess(view: &View) -> Pose3<f64> {
    let ([u, v], [end_u, end_v]) = (view[0], view[COLUMNS - 1]);
    let length = (end_u - u).hypot(end_v - v);
    let z = WIDTH * SQUARE * (COLUMNS - 1) as f64 / length;
    let translation = [(u - WIDTH / 2.0) / WIDTH * z, (v - HEIGHT / 2.0) / WIDTH * z, z];
    Pose3 { translation, rotation: Rotation3::exp([0.0, 0.0, (end_v - v).atan2(end_u - u)]) }
}

/// Calibrates cameras that see the board at the same times.
fn calibrate(views: &[Vec<View>]) -> Result<Calibration, Box<dyn Error>> {
    let mut problem = Problem::new();
    let mut boards = Vec::new();
    for view in &views[0] {
        boards.push(problem.add_parameter_block(SE3, &guess(view).to_array())?);
    }
    let (mut cameras, mut intrinsics, mut corners) = (Vec::new(), Vec::new(), Vec::new());
    for views in views {
        let camera = problem.add_parameter_block(SE3, &Pose3::identity().to_array())?;
        let start = [WIDTH, WIDTH, WIDTH / 2.0, HEIGHT / 2.0, 0.0, 0.0, 0.0, 0.0];
        let lens = problem.add_parameter_block(EuclideanSpace(start.len()), &start)?;
        for (view, &board) in views.iter().zip(&boards) {
            for (k, &pixel) in view.iter().enumerate() {
                let on_board = [(k % COLUMNS) as f64 * SQUARE, (k / COLUMNS) as f64 * SQUARE, 0.0];
                corners.push(problem.add_residual_block(Corner { on_board, pixel }, (camera, board, lens))?);
            }
        }
        cameras.push(camera);
        intrinsics.push(lens);
    }
    problem.set_constant(cameras[0])?;
    let report = problem.solve(&LevenbergMarquardt::new())?;
    if !report.is_converged() {
        return Err(format!("the solve ended: {}", report.status).into());
    }

    let noise = (2.0 * report.cost / problem.freedom().ok_or("too few corners")? as f64).sqrt();
    let mut covariance = problem.covariance()?;
    let mut found = Calibration { intrinsics: Vec::new(), cameras: Vec::new(), distances: Vec::new() };
    for (camera, lens) in cameras.into_iter().zip(intrinsics) {
        let errors = covariance.standard_errors(lens)?.iter().map(|error| noise * error).collect();
        found.intrinsics.push([problem.point(lens)?.to_vec(), errors]);
        found.cameras.push(Pose3::from_slice(problem.point(camera)?));
    }
    let costs = problem.residual_block_costs()?;
    let distances =
        costs.chunks_exact(COLUMNS * ROWS).map(|costs| (2.0 * costs.iter().sum::<f64>() / costs.len() as f64).sqrt());
    let distances: Vec<f64> = distances.collect();
    found.distances = distances.chunks_exact(boards.len()).map(<[f64]>::to_vec).collect();
    Ok(found)
}

fn main() -> Result<(), Box<dyn Error>> {
    let found = calibrate(&views()?)?;
    println!("{:>4}  {:>22}  {:>22}", "", "left camera", "right camera");
    for (k, name) in NAMES.into_iter().enumerate() {
        let text = |[values, errors]: &[Vec<f64>; 2]| format!("{:.5} ± {:.5}", values[k], errors[k]);
        println!("{name:>4}  {:>22}  {:>22}", text(&found.intrinsics[0]), text(&found.intrinsics[1]));
    }
    let centre = found.cameras[1].inverse().translation;
    println!("\nthe right camera is at ({:.2}, {:.2}, {:.2}) mm from the left one", centre[0], centre[1], centre[2]);
    println!("\ndistances of the corners from where they are seen, root mean square of each view in pixels");
    for (name, distances) in ["left", "right"].into_iter().zip(&found.distances) {
        let distances: Vec<String> = distances.iter().map(|distance| format!("{distance:.2}")).collect();
        println!("{name:>5}  {}", distances.join("  "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} {expected}");
        }
    }

    /// The values are those of OpenCV's `calibrateCameraExtended` for the same corners, with `CALIB_FIX_K3`.
    #[test]
    fn a_camera_is_calibrated_as_by_opencv() {
        let [left, _] = views().unwrap();
        let found = calibrate(&[left]).unwrap();
        let [values, errors] = &found.intrinsics[0];
        let expected =
            [536.46120853, 536.41340324, 342.36925222, 235.54841501, -0.27864763, 0.06716719, 0.00182396, -0.00034318];
        assert_near(values, &expected, 2e-5);
        let expected = [0.87780245, 0.92159468, 0.97396166, 1.07231793, 0.00474722, 0.01693146, 0.00023533, 0.00029761];
        assert_near(errors, &expected, 2e-3);
        let expected = [
            0.19226831, 1.22048206, 0.1699212, 0.19484125, 0.15961141, 0.18078405, 0.23596664, 0.24263695, 0.30224452,
            0.16793842, 0.20514384, 0.46433951, 0.17594077,
        ];
        assert_near(&found.distances[0], &expected, 1e-4);
    }

    /// The values are those of OpenCV's `stereoCalibrate`.
    #[test]
    fn a_pair_is_calibrated_as_by_opencv() {
        let found = calibrate(&views().unwrap()).unwrap();
        assert_near(&found.intrinsics[0][0][..2], &[536.0457860, 535.8974750], 1e-5);
        assert_near(&found.intrinsics[1][0][..4], &[539.6188521, 539.1104167, 328.2026579, 248.8406373], 1e-5);
        assert_near(&found.cameras[1].translation, &[-83.447966398, 0.96474194, -0.026976257], 1e-3);
    }
}
