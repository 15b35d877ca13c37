//! Calibrates a camera on the hand of a robot: where the camera is on the hand, and where the pattern is that it looks at, from poses that the
//! robot reports and poses of the pattern that the camera sees.
//!
//! ```text
//! cargo run --release --example hand_eye
//! ```
//!
//! With `A` the pose of the pattern in the frame of the camera and `B` that of the robot's base in the frame of its hand, `A X = Z B` holds for the
//! pose `X` of the base in the frame of the pattern, and `Z` of the hand in the frame of the camera (Zhuang, Roth & Sudhakar 1994). The camera errs, so the
//! residuals are those of `A`; translations and rotations are weighted by the noise that they turn out to have.
//!
//! `examples/data/hand_eye.csv` has 19 of the 88 positions of Tabb (2017), *Data from: Solving the robot-world hand-eye(s) calibration problem
//! with iterative methods*, Ag Data Commons, in the public domain; lengths are in millimetres.

use std::error::Error;

use marquardt::graph::{CostFunction, Problem};
use marquardt::manifold::{Pose3, SE3};
use marquardt::ndarray::Array2;
use marquardt::{EvaluationError, LevenbergMarquardt, Scalar};
use nalgebra::{Matrix3, Rotation3, Vector3};

const POSITIONS: &str = include_str!("data/hand_eye.csv");

/// A position of the robot.
#[derive(Clone, Copy)]
struct Position {
    camera_from_pattern: Pose3<f64>,
    hand_from_base: Pose3<f64>,
}

/// The pattern as it is seen, less the pattern as `X` and `Z` predict it, in units of the noise.
struct HandEye {
    position: Position,
    /// Standard deviations of translations and rotations.
    noise: [f64; 2],
}

impl CostFunction<f64> for HandEye {
    type Blocks = (SE3, SE3);

    fn residual_count(&self) -> usize {
        6
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let [pattern_from_base, camera_from_hand] = [0, 1].map(|k| Pose3::from_slice(blocks[k]));
        let Position { camera_from_pattern, hand_from_base } = self.position;
        let predicted = camera_from_hand.compose(Pose3::constant(hand_from_base)).compose(pattern_from_base.inverse());
        let error = predicted.premultiply(camera_from_pattern.inverse()).log();
        for (k, (r, error)) in r.iter_mut().zip(error).enumerate() {
            *r = error * self.noise[k / 3].recip();
        }
        Ok(())
    }
}

/// A calibration, with its errors.
struct Calibration {
    pattern_from_base: Pose3<f64>,
    camera_from_hand: Pose3<f64>,
    /// Standard errors of the two: of translations in millimetres, then of rotations about the axes.
    errors: [[f64; 6]; 2],
    /// Standard deviations of what the camera reports.
    noise: [f64; 2],
}

fn positions() -> Result<Vec<Position>, Box<dyn Error>> {
    let mut positions = Vec::new();
    for record in csv::Reader::from_reader(POSITIONS.as_bytes()).deserialize() {
        let numbers: Vec<f64> = record?;
        let pose = |first: usize| {
            let row = |i: usize| &numbers[first + 4 * i..][..4];
            let matrix = Matrix3::from_fn(|i, j| row(i)[j]);
            let rotation = Rotation3::from_matrix_eps(&matrix, 1e-12, 100, Rotation3::identity());
            Pose3 { translation: Vector3::from_fn(|i, _| row(i)[3]).into(), rotation: rotation.into() }
        };
        positions.push(Position { camera_from_pattern: pose(1), hand_from_base: pose(13) });
    }
    Ok(positions)
}

/// Calibrates from a guess of `Z`, of which `X` follows by the first position.
fn calibrate(positions: &[Position], guess: Pose3<f64>) -> Result<Calibration, Box<dyn Error>> {
    let first = positions.first().ok_or("no positions")?;
    let mut found = Calibration {
        pattern_from_base: first.camera_from_pattern.inverse().compose(guess).compose(first.hand_from_base),
        camera_from_hand: guess,
        errors: Default::default(),
        noise: [1.0, 1e-3],
    };
    // The noise is that of the residuals, which hardly depend on it: few rounds settle it.
    for _ in 0..8 {
        let mut problem = Problem::new();
        let x = problem.add_parameter_block(SE3, &found.pattern_from_base.to_array())?;
        let z = problem.add_parameter_block(SE3, &found.camera_from_hand.to_array())?;
        for &position in positions {
            problem.add_residual_block(HandEye { position, noise: found.noise }, (x, z))?;
        }
        let report = problem.solve(&LevenbergMarquardt::new())?;
        if !report.is_converged() {
            return Err(format!("the solve ended: {}", report.status).into());
        }
        let pose = |block| problem.point(block).map(Pose3::from_slice);
        let residuals = problem.linearization()?.residuals;
        let freedom = problem.freedom().ok_or("too few positions")? as f64 / residuals.len() as f64;
        let rms = |k: usize| {
            let own = residuals.chunks_exact(3).skip(k).step_by(2).flatten();
            (own.map(|r| r * r).sum::<f64>() / (residuals.len() as f64 / 2.0 * freedom)).sqrt()
        };
        let mut covariance = problem.covariance()?;
        found = Calibration {
            pattern_from_base: pose(x)?,
            camera_from_hand: pose(z)?,
            errors: [errors(pose(x)?, &covariance.block(x, x)?), errors(pose(z)?, &covariance.block(z, z)?)],
            noise: [found.noise[0] * rms(0), found.noise[1] * rms(1)],
        };
    }
    Ok(found)
}

/// Standard errors along and about the axes of the outer frame. The covariance is that of steps in the frame of the body.
fn errors(pose: Pose3<f64>, covariance: &Array2<f64>) -> [f64; 6] {
    let rotation = pose.rotation.to_matrix();
    std::array::from_fn(|k| {
        let (row, first) = (rotation[k % 3], k / 3 * 3);
        let pairs = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
        pairs.map(|(i, j)| row[i] * covariance[[first + i, first + j]] * row[j]).sum::<f64>().sqrt()
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let positions = positions()?;
    let found = calibrate(&positions, Pose3::identity())?;
    println!(
        "{} positions; the camera errs by {:.2} mm and {:.2} mrad\n",
        positions.len(),
        found.noise[0],
        found.noise[1] * 1e3
    );
    let names = ["base in the frame of the pattern", "hand in the frame of the camera"];
    for ((name, pose), errors) in
        names.into_iter().zip([found.pattern_from_base, found.camera_from_hand]).zip(&found.errors)
    {
        println!("{name}");
        let rotation = pose.rotation.log();
        for (axis, k) in ["x", "y", "z"].into_iter().zip(0..) {
            let (length, angle) = (pose.translation[k], rotation[k].to_degrees());
            let [of_length, of_angle] = [errors[k], errors[k + 3].to_degrees()];
            println!("  {axis}  {length:>9.2} ± {of_length:.2} mm   {angle:>9.4}° ± {of_angle:.4}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of SciPy's `least_squares` for the same residuals and rounds, from whatever guess; the published solution, by all 88 positions and the pixels
    /// of the images, is within a few standard errors.
    #[test]
    fn the_camera_is_where_scipy_finds_it() {
        let positions = positions().unwrap();
        for guess in [[0.0; 6], [50.0, -20.0, 90.0, 0.5, -0.4, 1.5], [-300.0, 100.0, 20.0, -1.0, 2.0, 0.3]] {
            let found = calibrate(&positions, Pose3::exp(guess)).unwrap();
            let numbers = |pose: Pose3<f64>| pose.translation.into_iter().chain(pose.rotation.log());
            let expected = [
                [-367.583655, 57.8440775, -2200.90702, -0.018269, 1.56718325, -0.03135196],
                [12.0419002, 14.0867828, 2.47516023, 0.01361374, -0.00170782, 0.07048907],
            ];
            let published = [
                [-382.141, 44.7342, -2201.57, -0.0254763, 1.56574, -0.0350501],
                [8.98549, 29.718, -2.96242, 0.012873, 0.00125294, 0.0726017],
            ];
            for (k, pose) in [found.pattern_from_base, found.camera_from_hand].into_iter().enumerate() {
                for (i, number) in numbers(pose).enumerate() {
                    let error = found.errors[k][i];
                    assert!((number - expected[k][i]).abs() < 2e-3 * error, "{number} {}", expected[k][i]);
                    assert!((number - published[k][i]).abs() < 6.0 * error, "{number} {} {error}", published[k][i]);
                }
            }
            assert!((found.noise[0] - 2.41765172).abs() < 1e-3 && (found.noise[1] - 0.00335813).abs() < 1e-6);
        }
    }
}
