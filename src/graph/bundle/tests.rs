//! Tests of bundles: files, and solves.

use super::*;
use crate::autodiff::Dual;
use crate::graph::camera::SnavelyReprojection;
use crate::graph::{CameraModel, CostFunction, GraphError};
use crate::problem::Loss;

const BAL: &str = "1 2 2\n0 0 -3.5 1e2\n0 1 4 -5\n0.1\n-0.2\n0.3\n1\n2\n-3\n500\n1e-7\n0\n1\n2\n3\n4\n5\n6\n";

const CAMERAS: &str =
    "# cameras\n\n7 SIMPLE_RADIAL 640 480 500 320 240 0.01\n9 OPENCV 640 480 500 510 320 240 0.1 0 0 0\n";
const IMAGES: &str = "3 1 0 0 0 0 0 5 7 left view.png\n320 240 1 100 100 -1\n4 2 0 0 0 -1 0 5 9 right.png\n\n# comment\n5 1 0 0 0 -1 0 5 7 third.png\n220 240 1\n";
const POINTS: &str = "1 0 0 0 255 128 0 0.5 3 0 5 0\n2 1 1 1 0 0 0 0\n";

fn parse(text: &str) -> Result<Bundle, String> {
    Bundle::parse_bal(text).map_err(|error| error.to_string())
}

fn colmap(cameras: &str, images: &str, points: &str) -> Result<Bundle, String> {
    Bundle::parse_colmap(cameras, images, points).map_err(|error| error.to_string())
}

/// Points in front of cameras on an arc, each with errors of some pixels.
fn scene(model: CameraModel, parameters: &[f64]) -> Bundle {
    let mut bundle = Bundle::default();
    let sign = if model == CameraModel::Snavely { -1.0 } else { 1.0 };
    for k in 0..6_u64 {
        let owner = if model == CameraModel::Snavely { k as usize } else { 0 };
        if owner == bundle.cameras.len() {
            bundle.cameras.push(Camera { id: k, model, parameters: parameters.to_vec(), size: [0, 0] });
        }
        let angle = 0.2 * (k as f64 - 2.5);
        let (tilt, roll) = (0.3 * (1.7 * k as f64).sin(), 0.5 * (2.3 * k as f64).cos());
        let (rotation, translation) = ([tilt, angle, roll], [0.1, -0.1, 6.0 * sign]);
        bundle.images.push(Image { id: k, name: format!("{k}"), camera: owner, rotation, translation });
    }
    for k in 0..40_u64 {
        let wave = |step: f64| 2.0 * (step * k as f64 + 0.3).sin();
        bundle.points.push(BundlePoint { id: k, position: [wave(1.1), wave(2.3), wave(3.7)], color: [0; 3] });
    }
    for image in 0..6 {
        for point in 0..40 {
            let mut seen = Observation { image, point: Some(point), pixel: [0.0; 2] };
            let pixel = bundle.error_of(&seen).unwrap();
            let noise = |step: f64| 0.5 * (step * (40 * image + point) as f64).sin();
            seen.pixel = [pixel[0] + noise(7.7), pixel[1] + noise(5.3)];
            bundle.observations.push(seen);
        }
    }
    bundle
}

/// Moves everything a little.
fn shake(bundle: &mut Bundle) {
    for (k, image) in bundle.images.iter_mut().enumerate() {
        image.rotation[k % 3] += 0.01;
        image.translation[(k + 1) % 3] -= 0.05;
    }
    for (k, point) in bundle.points.iter_mut().enumerate() {
        point.position[k % 3] += 0.05;
    }
}

#[test]
fn files_of_bal_are_read_and_written() {
    let bundle = parse(BAL).unwrap();
    assert_eq!((bundle.images[0].rotation, bundle.images[0].translation), ([0.1, -0.2, 0.3], [1.0, 2.0, -3.0]));
    assert_eq!(
        (bundle.cameras[0].model, &*bundle.cameras[0].parameters),
        (CameraModel::Snavely, &[500.0, 1e-7, 0.0][..])
    );
    assert_eq!((bundle.points[1].position, bundle.observations[0].pixel), ([4.0, 5.0, 6.0], [-3.5, 100.0]));
    let mut uneven = bundle;
    uneven.points[0].position = [1.0 / 3.0, 1e-300, -1e300];
    uneven.points[1].position = [f64::MIN_POSITIVE, 0.1, 0.2];
    assert_eq!(parse(&uneven.to_bal().unwrap()).unwrap(), uneven);
    // One line for each camera and point is read, too.
    assert_eq!(parse("1 1 1 0 0 1 2\n1 2 3 4 5 6 7 8 9\n\n1 2 3").unwrap().points[0].position, [1.0, 2.0, 3.0]);
}

#[test]
fn broken_files_of_bal_are_refused_by_line() {
    let replaced = |from: &str, to: &str| parse(&BAL.replacen(from, to, 1)).unwrap_err();
    let long = "x".repeat(99);
    let cases = [
        (parse("").unwrap_err(), "line 0: the number of cameras is missing"),
        (parse("BZh91AY&SY").unwrap_err(), "line 1: the number of cameras is \"BZh91AY&SY\", and not a count"),
        (replaced("1 2 2", "1 2 -2"), "line 1: the number of observations is \"-2\", and not a count"),
        (replaced("1 2 2", "1 2.5 2"), "line 1: the number of points is \"2.5\", and not a count"),
        (replaced("1 2 2", "1 2 0"), "line 1: there is no observation of a point"),
        (replaced("0 1 4", "7 1 4"), "line 3: the camera of observation 1 is 7, but there are only 1"),
        (replaced("0 1 4", "0 2 4"), "line 3: the point of observation 1 is 2, but there are only 2"),
        (replaced("-3.5", "NaN"), "line 2: number 1 of observation 0 is \"NaN\", and not a finite number"),
        (replaced("500", "inf"), "line 10: number 7 of camera 0 is \"inf\", and not a finite number"),
        (replaced("500", "1e999"), "line 10: number 7 of camera 0 is \"1e999\", and not a finite number"),
        (replaced("1e-7", "1,5"), "line 11: number 8 of camera 0 is \"1,5\", and not a finite number"),
        (replaced("\n6\n", "\n"), "line 17: number 3 of point 1 is missing"),
        (replaced("\n6\n", "\n6 x\n"), "line 18: \"x\" follows point 1, which is the last"),
        // Counts that no file has take no memory.
        (
            parse("99999999999 99999999999 99999999999\n0 0 1 1\n").unwrap_err(),
            "line 2: the camera of observation 1 is missing",
        ),
        (
            parse(&long).unwrap_err(),
            "line 1: the number of cameras is \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\", and not a count",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
    let missing = Bundle::read("no/such/scene.txt").unwrap_err().to_string();
    assert!(missing.starts_with("no/such/scene.txt: "), "{missing}");
}

#[test]
fn directories_of_colmap_are_read_and_written() {
    let bundle = colmap(CAMERAS, IMAGES, POINTS).unwrap();
    assert_eq!((bundle.cameras.len(), bundle.images.len(), bundle.points.len()), (2, 3, 2));
    assert_eq!((bundle.images[0].name.as_str(), bundle.images[2].camera), ("left view.png", 0));
    assert_eq!(bundle.images[1].rotation, [0.0; 3], "a quaternion is normalised");
    let points: Vec<_> = bundle.observations.iter().map(|seen| (seen.image, seen.point)).collect();
    assert_eq!(points, [(0, Some(0)), (0, None), (2, Some(0))]);
    let [x, y] = bundle.error_of(&bundle.observations[2]).unwrap();
    assert!((x + 0.04).abs() < 1e-12 && y == 0.0, "{x}, {y}");
    let texts = bundle.to_colmap();
    assert_eq!(colmap(&texts[0], &texts[1], &texts[2]).unwrap(), bundle);
    let directory = std::env::temp_dir().join(format!("marquardt-bundle-{}", std::process::id()));
    bundle.save_colmap(&directory).unwrap();
    assert_eq!(Bundle::read(&directory).unwrap(), bundle);
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(matches!(bundle.to_bal(), Err(BundleFileError::NotBal { image: 3 })));
}

#[test]
fn broken_directories_of_colmap_are_refused_by_file_and_line() {
    let cameras = |from: &str, to: &str| colmap(&CAMERAS.replacen(from, to, 1), IMAGES, POINTS).unwrap_err();
    let images = |from: &str, to: &str| colmap(CAMERAS, &IMAGES.replacen(from, to, 1), POINTS).unwrap_err();
    let points = |from: &str, to: &str| colmap(CAMERAS, IMAGES, &POINTS.replacen(from, to, 1)).unwrap_err();
    let cases = [
        (
            cameras("OPENCV", "FOV"),
            "cameras.txt, line 4: the camera model \"FOV\" is not known; known are SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL, OPENCV, \
             SIMPLE_RADIAL_FISHEYE, RADIAL_FISHEYE, OPENCV_FISHEYE",
        ),
        (cameras(" 0.01", ""), "cameras.txt, line 3: parameter 4 of camera 7, SIMPLE_RADIAL is missing"),
        (cameras(" 0.01", " 0 0"), "cameras.txt, line 3: \"0\" follows parameter 4 of camera 7, which is the last"),
        (cameras("9 OP", "7 OP"), "cameras.txt, line 4: camera 7 is in line 3 already"),
        (
            cameras("500", "5OO"),
            "cameras.txt, line 3: parameter 1 of camera 7, SIMPLE_RADIAL is \"5OO\", and not a finite number",
        ),
        (images("5 7 left", "5 8 left"), "images.txt, line 1: image 3 names camera 8, which is not in cameras.txt"),
        (images("3 1 0", "3 0 0"), "images.txt, line 1: the quaternion of image 3 cannot be normalised: its norm is 0"),
        (images("left view.png", ""), "images.txt, line 1: the name of image 3 is missing"),
        (images("4 2 0", "3 2 0"), "images.txt, line 3: image 3 is in line 1 already"),
        (
            images("240 1 100", "240 8 100"),
            "images.txt, line 2: feature 0 of image 3 names point 8, which is not in points3D.txt",
        ),
        (images("100 -1", "100"), "images.txt, line 2: the point of feature 1 of image 3 is missing"),
        (
            images("100 -1", "100 -2"),
            "images.txt, line 2: the point of feature 1 of image 3 is \"-2\", and not the number of a point or -1",
        ),
        (points("255", "256"), "points3D.txt, line 1: red of point 1 is \"256\", and not an integer from 0 to 255"),
        (
            points("5 0\n", "8 0\n"),
            "points3D.txt, line 1: the track of point 1 names image 8, which is not in images.txt",
        ),
        (
            points("3 0 5", "3 1 5"),
            "points3D.txt, line 1: the track of point 1 names feature 1 of image 3, which is not of this point",
        ),
        (points("5 0\n", "5\n"), "points3D.txt, line 1: the feature in image 5 of the track of point 1 is missing"),
        (points("\n2 1", "\n1 1"), "points3D.txt, line 2: point 1 is in line 1 already"),
        (colmap(CAMERAS, "", "").unwrap_err(), "images.txt, line 0: there is no observation of a point"),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
    let missing = Bundle::read(std::env::temp_dir()).unwrap_err().to_string();
    assert!(missing.contains("cameras.txt: "), "{missing}");
}

#[test]
fn every_camera_model_is_adjusted() {
    for model in CameraModel::ALL {
        let parameters: &[f64] = match model {
            CameraModel::Snavely => &[500.0, -0.05, 0.01],
            CameraModel::SimplePinhole => &[500.0, 320.0, 240.0],
            CameraModel::Pinhole => &[500.0, 510.0, 320.0, 240.0],
            CameraModel::SimpleRadial | CameraModel::SimpleFisheye => &[500.0, 320.0, 240.0, -0.05],
            CameraModel::Radial | CameraModel::RadialFisheye => &[500.0, 320.0, 240.0, -0.05, 0.01],
            CameraModel::Brown => &[500.0, 510.0, 320.0, 240.0, -0.05, 0.01, 1e-3, -2e-3],
            CameraModel::Fisheye => &[500.0, 510.0, 320.0, 240.0, -0.05, 0.01, 1e-3, -2e-3],
        };
        let truth = scene(model, parameters);
        let mut bundle = truth.clone();
        shake(&mut bundle);
        // Differences know of the rounding of pixels only where no measured ones are subtracted.
        let mut plain = bundle.clone();
        plain.observations.iter_mut().for_each(|seen| seen.pixel = [0.0; 2]);
        plain.problem(None).unwrap().problem.check_derivatives().unwrap();
        let report = BundleSolver::new().solve(&mut bundle).unwrap();
        assert!(report.report.is_converged(), "{model:?}: {}", report.report.status);
        assert!(report.given_error > 3.0 && report.error < truth.reprojection_error(), "{model:?}: {}", report.error);
        assert!((report.error - bundle.reprojection_error()).abs() < 1e-12);
    }
}

#[test]
fn intrinsic_parameters_stay_if_asked() {
    for (model, parameters) in
        [(CameraModel::Snavely, &[500.0, 0.0, 0.0]), (CameraModel::SimplePinhole, &[500.0, 0.0, 0.0])]
    {
        let mut bundle = scene(model, parameters);
        shake(&mut bundle);
        BundleSolver::new().with_fixed_intrinsics(true).solve(&mut bundle).unwrap();
        assert!(
            bundle.cameras.iter().all(|camera| camera.parameters == parameters) && bundle.reprojection_error() < 0.6
        );
    }
}

#[test]
fn bundles_of_bal_mean_the_same_in_colmap() {
    let mut bundle = scene(CameraModel::Snavely, &[500.0, -0.05, 0.01]);
    shake(&mut bundle);
    let [cameras, images, points] = bundle.to_colmap();
    let other = Bundle::parse_colmap(&cameras, &images, &points).unwrap();
    assert_eq!(other.cameras[0].model, CameraModel::Radial);
    assert!((bundle.reprojection_error() / other.reprojection_error() - 1.0).abs() < 1e-12);
    let (a, b) = (bundle.images[3].position(), other.images[3].position());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn what_is_not_seen_stays() {
    let mut bundle = scene(CameraModel::Snavely, &[500.0, 0.0, 0.0]);
    shake(&mut bundle);
    bundle.observations.retain(|seen| seen.image != 5 && seen.point != Some(3));
    bundle.observations[7].point = None;
    let before = bundle.clone();
    let report = BundleSolver::new().solve(&mut bundle).unwrap();
    assert!(report.error < report.given_error);
    assert_eq!((&bundle.images[5], &bundle.points[3]), (&before.images[5], &before.points[3]));
}

#[test]
fn outliers_do_not_count_under_a_robust_loss() {
    let truth = scene(CameraModel::SimplePinhole, &[500.0, 320.0, 240.0]);
    let mut bundle = truth.clone();
    bundle.observations.iter_mut().step_by(17).for_each(|seen| seen.pixel[0] += 80.0);
    let mut plain = bundle.clone();
    BundleSolver::new().solve(&mut plain).unwrap();
    BundleSolver::new().with_loss(Loss::Huber, 1.0).solve(&mut bundle).unwrap();
    let median = |bundle: &Bundle| {
        let errors = bundle.observations.iter().map(|seen| bundle.error_of(seen).unwrap());
        let mut lengths: Vec<f64> = errors.map(|[x, y]| x.hypot(y)).collect();
        lengths.sort_unstable_by(f64::total_cmp);
        lengths[lengths.len() / 2]
    };
    assert!(median(&bundle) < 0.8 && median(&plain) > 2.0, "{}, {}", median(&bundle), median(&plain));
}

#[test]
fn a_point_in_the_plane_of_a_camera_is_named() {
    let mut bundle = scene(CameraModel::Snavely, &[500.0, 0.0, 0.0]);
    bundle.observations[1].point = None;
    let seen = bundle.observations[4];
    let image = &mut bundle.images[seen.image];
    (image.rotation, image.translation) = ([0.0; 3], [0.0; 3]);
    bundle.points[seen.point.unwrap()].position = [1.0, 2.0, 0.0];
    let error = BundleSolver::new().solve(&mut bundle).unwrap_err();
    assert!(matches!(error, GraphError::NonFiniteResidual { .. }), "{error}");
    assert_eq!(bundle.observation_of(&error), Some(4));
}

#[test]
fn cameras_near_a_full_turn_are_adjusted_as_any_others() {
    let parameters = [500.0, -0.1, 0.02];
    let mut bundle = scene(CameraModel::Snavely, &parameters);
    shake(&mut bundle);
    let mut turned = bundle.clone();
    for image in &mut turned.images {
        let angle = image.rotation.iter().map(|x| x * x).sum::<f64>().sqrt();
        image.rotation = image.rotation.map(|x| x * (1.0 - std::f64::consts::TAU / angle));
    }
    assert!((turned.reprojection_error() / bundle.reprojection_error() - 1.0).abs() < 1e-9);
    let [first, second] = [&mut bundle, &mut turned].map(|bundle| BundleSolver::new().solve(bundle).unwrap());
    assert!((second.error / first.error - 1.0).abs() < 1e-6, "{} {}", first.error, second.error);
    assert_eq!(first.report.iterations, second.report.iterations);
    assert!(turned.images.iter().zip(&bundle.images).all(|(a, b)| (a.rotation[1] - b.rotation[1]).abs() < 1e-3));
}

#[test]
fn derivatives_of_projections_by_two_stages_are_those_of_one() {
    for k in 0..20 {
        let wave = |step: f64| (step * f64::from(k) + 0.3).sin();
        let turn = if k % 2 == 0 { 3.0 } else { 1e-3 };
        let x = [
            [turn * wave(1.1), turn * wave(2.3), turn * wave(3.7), wave(0.7), wave(1.9), -9.0],
            [500.0, 0.1 * wave(2.9), 0.1 * wave(3.1), wave(4.3), wave(5.3), wave(6.1)],
        ]
        .concat();
        let function = SnavelyReprojection { pixel: [10.0 * wave(7.9), 3.0] };
        let variables: Vec<Dual<f64, 12>> = x.iter().enumerate().map(|(i, &x)| Dual::variable(x, i)).collect();
        let mut whole = [Dual::from(0.0); 2];
        function.evaluate(&[&variables[..9], &variables[9..]], &mut whole).unwrap();
        let (mut r, mut rows) = ([0.0; 2], [0.0; 24]);
        assert!(function.linearize(&[&x[..9], &x[9..]], &mut r, &mut rows));
        for ((whole, r), row) in whole.iter().zip(r).zip(rows.chunks_exact(12)) {
            let largest = whole.gradient.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
            assert!((whole.value - r).abs() < 1e-12 * r.abs());
            assert!(whole.gradient.iter().zip(row).all(|(a, b)| (a - b).abs() < 1e-13 * largest), "{row:?}");
        }
    }
}
