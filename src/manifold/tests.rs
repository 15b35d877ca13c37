//! Laws of all manifolds and groups, in both precisions.

use std::f64::consts::{FRAC_PI_2, PI};

use proptest::array::{uniform3, uniform6};
use proptest::prelude::*;

use super::*;
use crate::autodiff::{Dual, Taylor};
use crate::scalar::Scalar;

fn to<T: Real>(x: &[f64]) -> Vec<T> {
    x.iter().map(|&x| T::from_f64(x)).collect()
}

fn moved<T: Real>(manifold: &dyn Manifold<T>, x: &[T], step: &[T]) -> Vec<T> {
    let mut moved = vec![T::from_f64(f64::NAN); manifold.ambient_size()];
    manifold.plus(x, step, &mut moved);
    moved
}

fn step<T: Real>(manifold: &dyn Manifold<T>, y: &[T], x: &[T]) -> Vec<T> {
    let mut step = vec![T::from_f64(f64::NAN); manifold.tangent_size()];
    manifold.minus(y, x, &mut step);
    step
}

fn jacobian<T: Real>(manifold: &dyn Manifold<T>, x: &[T]) -> Vec<T> {
    let mut jacobian = vec![T::from_f64(f64::NAN); manifold.ambient_size() * manifold.tangent_size()];
    manifold.plus_jacobian(x, &mut jacobian);
    jacobian
}

/// `‖a − b‖∞`, in rounding errors of numbers of size 1; NaN counts as infinite.
#[track_caller]
fn assert_close<T: Real>(a: &[T], b: &[T], roundings: f64) {
    assert_eq!(a.len(), b.len());
    let size = a.iter().chain(b).fold(1.0_f64, |size, x| size.max(x.to_f64().abs()));
    for (x, y) in a.iter().zip(b) {
        let difference = (x.to_f64() - y.to_f64()).abs();
        assert!(difference <= roundings * size * T::EPSILON.to_f64(), "{a:?} and {b:?} differ by {difference:e}");
    }
}

/// The laws, for a point, a step shorter than `π` and any other point.
fn assert_laws<T: Real>(manifold: &dyn Manifold<T>, x: &[T], delta: &[T], other: &[T]) {
    let y = moved(manifold, x, delta);
    assert!(manifold.contains(x) && manifold.contains(&y), "{x:?} {delta:?} {y:?}");
    assert_close(&step(manifold, &y, x), delta, 100.0);
    assert_close(&moved(manifold, x, &step(manifold, &y, x)), &y, 100.0);

    // Quaternions may come back with the other sign: the step between the two is zero.
    let there = moved(manifold, x, &step(manifold, other, x));
    assert_close(&step(manifold, &there, other), &vec![T::ZERO; delta.len()], 100.0);

    assert_close(&moved(manifold, x, &vec![T::ZERO; delta.len()]), x, 4.0);
    assert_close(&step(manifold, x, x), &vec![T::ZERO; delta.len()], 4.0);
    let mut same = y.clone();
    manifold.normalize(&mut same);
    assert_close(&same, &y, 10.0);
    if let Err(error) = check_manifold(manifold, x) {
        panic!("{error}");
    }
}

fn assert_laws_in_both_precisions<M: Manifold<f32> + Manifold<f64>>(
    manifold: &M,
    x: &[f64],
    delta: &[f64],
    other: &[f64],
) {
    assert_laws::<f64>(manifold, x, delta, other);
    let mut points = [x, other].map(to::<f32>);
    points.iter_mut().for_each(|point| Manifold::<f32>::normalize(manifold, point));
    assert_laws::<f32>(manifold, &points[0], &to(delta), &points[1]);
}

fn rotation_vector() -> impl Strategy<Value = [f64; 3]> {
    // Lengths of all magnitudes below π.
    let length = prop_oneof![0.0..3.1, (-12.0..0.0).prop_map(|exponent| 10_f64.powf(exponent))];
    (uniform3(-1.0..1.0), length).prop_filter_map("a direction", |(direction, length): ([f64; 3], f64)| {
        let norm = rotation3::square(direction).sqrt();
        (norm > 0.1).then(|| direction.map(|x| x / norm * length))
    })
}

fn twist() -> impl Strategy<Value = [f64; 6]> {
    (uniform3(-5.0..5.0), rotation_vector()).prop_map(|([x, y, z], [a, b, c])| [x, y, z, a, b, c])
}

fn planar_twist() -> impl Strategy<Value = [f64; 3]> {
    let angle = prop_oneof![-3.1..3.1, (-12.0..0.0).prop_map(|exponent| -10_f64.powf(exponent))];
    (-5.0..5.0, -5.0..5.0, angle).prop_map(|(x, y, angle)| [x, y, angle])
}

fn unit_vector<const N: usize>() -> impl Strategy<Value = [f64; N]> {
    proptest::collection::vec(-1.0..1.0, N).prop_filter_map("a direction", |x| {
        let mut x: [f64; N] = x.try_into().unwrap();
        let square: f64 = x.iter().map(|x| x * x).sum();
        normalize(&mut x);
        (square > 0.01).then_some(x)
    })
}

fn pose3(twist: [f64; 6]) -> Pose3<f64> {
    Pose3::exp(twist)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn euclidean_laws(x in uniform3(-9.0..9.0), delta in uniform3(-9.0..9.0), other in uniform3(-9.0..9.0)) {
        assert_laws_in_both_precisions(&Euclidean::<3>, &x, &delta, &other);
        assert_laws_in_both_precisions(&EuclideanSpace(3), &x, &delta, &other);
    }

    #[test]
    fn so2_laws(x in -9.0..9.0, delta in -3.1..3.1, other in -9.0..9.0) {
        let [x, other] = [x, other].map(|angle: f64| Rotation2::exp(angle).to_array());
        assert_laws_in_both_precisions(&SO2, &x, &[delta], &other);
    }

    #[test]
    fn se2_laws(x in planar_twist(), delta in planar_twist(), other in planar_twist()) {
        let [x, other] = [x, other].map(|twist| Pose2::exp(twist).to_array());
        assert_laws_in_both_precisions(&SE2, &x, &delta, &other);
    }

    #[test]
    fn so3_laws(x in unit_vector::<4>(), delta in rotation_vector(), other in unit_vector::<4>()) {
        assert_laws_in_both_precisions(&SO3, &x, &delta, &other);
    }

    #[test]
    fn se3_laws(x in twist(), delta in twist(), other in twist()) {
        let [x, other] = [x, other].map(|twist| pose3(twist).to_array());
        assert_laws_in_both_precisions(&SE3, &x, &delta, &other);
    }

    #[test]
    fn similarity_laws(x in twist(), delta in twist(), other in twist(), logs in uniform3(-0.5..0.5)) {
        let in_space = |twist, log: f64| Similarity3 { pose: pose3(twist), scale: log.exp() }.to_array();
        let steps: Vec<f64> = delta.into_iter().chain([logs[2]]).collect();
        assert_laws_in_both_precisions(&Sim3, &in_space(x, logs[0]), &steps, &in_space(other, logs[1]));
        let in_plane = |twist: [f64; 6], log: f64| {
            Similarity2 { pose: Pose2::exp([twist[0], twist[1], twist[3]]), scale: log.exp() }.to_array()
        };
        let steps = [delta[0], delta[1], delta[3], logs[2]];
        assert_laws_in_both_precisions(&Sim2, &in_plane(x, logs[0]), &steps, &in_plane(other, logs[1]));
    }

    #[test]
    fn similarities_are_a_group(x in twist(), y in twist(), logs in uniform3(-2.0..2.0), point in uniform3(-3.0..3.0)) {
        let similarity = |twist, log: f64| Similarity3 { pose: pose3(twist), scale: log.exp() };
        let (a, b) = (similarity(x, logs[0]), similarity(y, logs[1]));
        assert_close(&a.compose(b).transform(point), &a.transform(b.transform(point)), 200.0);
        assert_close(&a.inverse().transform(a.transform(point)), &point, 2000.0);
        assert_close(&a.inverse_transform(a.transform(point)), &point, 2000.0);
        assert_close(&a.compose(a.between(b)).transform(point), &b.transform(point), 2000.0);
        assert_close(&Similarity3::identity().compose(a).to_array(), &a.to_array(), 4.0);
    }

    #[test]
    fn sphere_laws(x in unit_vector::<4>(), delta in rotation_vector(), other in unit_vector::<4>()) {
        assert_laws_in_both_precisions(&UnitSphere::<4>, &x, &delta, &other);
        let circle = |x: [f64; 4]| Rotation2::exp(x[0] * 3.0).to_array();
        assert_laws_in_both_precisions(&UnitSphere::<2>, &circle(x), &delta[..1], &circle(other));
    }

    #[test]
    fn line_laws(x in twist(), delta in rotation_vector(), other in twist(), one in unit_vector::<3>(), two in unit_vector::<3>()) {
        let in_space = |[x, y, z, ..]: [f64; 6], direction| Line::through([x, y, z], direction);
        let steps = [x[0], other[1], delta[0], delta[1]];
        let (here, there) = (in_space(x, one), in_space(other, two));
        assert_laws_in_both_precisions(&Line::<3>, here.as_flattened(), &steps, there.as_flattened());
        let in_plane = |[x, y, .., angle]: [f64; 6]| Line::through([x, y], Rotation2::exp(angle).to_array());
        assert_laws_in_both_precisions(&Line::<2>, in_plane(x).as_flattened(), &[x[1], delta[0]], in_plane(other).as_flattened());
        // A turn about the origin leaves the distance from it.
        let displaced = moved(&Line::<3>, here.as_flattened(), &[steps[0], steps[1], 0.0, 0.0]);
        let turned = moved(&Line::<3>, here.as_flattened(), &steps);
        let distance = |line: &[f64]| rotation3::square([line[0], line[1], line[2]]).sqrt();
        prop_assert!((distance(&displaced) - distance(&turned)).abs() < 1e-13 * (1.0 + distance(&turned)));
    }

    #[test]
    fn product_laws(x in twist(), delta in twist(), y in unit_vector::<3>(), other in unit_vector::<3>()) {
        let manifold = ProductManifold(ProductManifold(UnitSphere::<3>, SE3), EuclideanSpace(2));
        let point = |direction: [f64; 3], pose: [f64; 7]| {
            direction.into_iter().chain(pose).chain([x[0], delta[0]]).collect::<Vec<_>>()
        };
        let steps: Vec<f64> = [0.5, -0.7].into_iter().chain(delta).chain([3.0, 4.0]).collect();
        let (here, there) = (point(y, pose3(x).to_array()), point(other, pose3(delta).to_array()));
        assert_laws_in_both_precisions(&manifold, &here, &steps, &there);
    }

    /// Nearly opposite points and rotations, where the angle is nearly `π`.
    #[test]
    fn nearly_opposite(x in unit_vector::<4>(), delta in rotation_vector(), exponent in -16.0..-1.0) {
        let norm = rotation3::square(delta).sqrt().max(1e-300);
        let delta = delta.map(|d| d / norm * (PI - 10_f64.powf(exponent)));
        for manifold in [&SO3 as &dyn Manifold<f64>, &UnitSphere::<4>] {
            let y = moved(manifold, &x, &delta);
            let found = step(manifold, &y, &x);
            prop_assert!(rotation3::square(numbers(&found)).sqrt() <= PI * (1.0 + 1e-15));
            let back = moved(manifold, &x, &found);
            assert_close(&step(manifold, &back, &y), &[0.0; 3], 100.0);
        }
    }

    /// The Jacobian of `⊞` is the gradient that duals get from the group's own exponential.
    #[test]
    fn duals_give_the_jacobian(x in twist(), planar in planar_twist()) {
        fn check<T: Real, const A: usize, const N: usize>(
            manifold: &dyn Manifold<T>, x: [T; A], plus: impl Fn([Dual<T, N>; N]) -> [Dual<T, N>; A],
        ) {
            let gradient: Vec<T> = plus(Dual::variables([T::ZERO; N])).iter().flat_map(|x| x.gradient).collect();
            assert_close(&jacobian(manifold, &x), &gradient, 20.0);
        }
        fn check_all<T: Real>(x: [f64; 6], planar: [f64; 3]) {
            let pose = Pose3::<T>::exp(x.map(T::from_f64));
            check(&SE3, pose.to_array(), |delta| (Pose3::constant(pose) * Pose3::exp(delta)).to_array());
            let rotation = pose.rotation;
            check(&SO3, rotation.to_array(), |delta| (Rotation3::constant(rotation) * Rotation3::exp(delta)).to_array());
            let pose = Pose2::<T>::exp(planar.map(T::from_f64));
            check(&SE2, pose.to_array(), |delta| (Pose2::constant(pose) * Pose2::exp(delta)).to_array());
            let rotation = pose.rotation;
            check(&SO2, rotation.to_array(), |[d]| (Rotation2::constant(rotation) * Rotation2::exp(d)).to_array());
        }
        check_all::<f64>(x, planar);
        check_all::<f32>(x, planar);
    }

    /// Compositions, inverses, logarithms and exponentials of duals, against differences.
    #[test]
    fn duals_agree_with_differences(x in uniform6(-1.2..1.2), y in uniform6(-1.2..1.2), shrink in 0..5_i32) {
        fn spatial<S: Scalar<Real = f64>>(x: [S; 6], y: [f64; 6]) -> Vec<S> {
            let (a, b) = (Pose3::exp(x), Pose3::constant(Pose3::exp(y)));
            let point = y.map(S::constant);
            let mut all = a.compose(b).log().to_vec();
            all.extend(b.between(a).log());
            all.extend(a.premultiply(Pose3::exp(y)).log());
            all.extend(a.inverse().normalize().to_array());
            all.extend(a.transform([point[0], point[1], x[2]]));
            all.extend(a.inverse_transform([point[0], x[5], point[2]]));
            all.extend(a.rotation.to_matrix().as_flattened());
            all
        }
        fn planar<S: Scalar<Real = f64>>(x: [S; 6], y: [f64; 6]) -> Vec<S> {
            let (a, b) = (Pose2::exp([x[0], x[1], x[2]]), Pose2::constant(Pose2::new(y[0], y[1], y[2])));
            let mut all = a.compose(b).log().to_vec();
            all.extend(b.between(a).log());
            all.extend(a.premultiply(Pose2::new(y[0], y[1], y[2])).log());
            all.extend(a.inverse().normalize().to_array());
            all.extend(a.transform([x[3], x[4]]));
            all.extend(a.inverse_transform([x[3], x[4]]));
            all
        }
        // Down to rotations by 1e-8, where all is series.
        let scale = 100_f64.powi(-shrink);
        let mut x = x;
        x[3..].iter_mut().for_each(|x| *x *= scale);
        let check = |exact: Vec<Dual<f64, 6>>, plain: &dyn Fn([f64; 6]) -> Vec<f64>| {
            let here = plain(x);
            for column in 0..6 {
                let h = 1e-5;
                let [ahead, behind] = [h, -h].map(|h| {
                    let mut x = x;
                    x[column] += h;
                    plain(x)
                });
                for (i, exact) in exact.iter().enumerate() {
                    assert!((exact.value - here[i]).abs() < 1e-14);
                    let difference = (ahead[i] - behind[i]) / (2.0 * h);
                    let error = (exact.gradient[column] - difference).abs();
                    assert!(error < 2e-8, "{i}, {column}: {} {difference}", exact.gradient[column]);
                }
            }
        };
        check(spatial(Dual::variables(x), y), &|x| spatial(x, y));
        check(planar(Dual::variables(x), y), &|x| planar(x, y));
    }

    /// Second derivatives along a direction, against differences of first ones.
    #[test]
    fn second_derivatives(x in uniform6(-1.0..1.0), v in uniform6(-1.0..1.0), shrink in 0..3_i32) {
        fn f<S: Scalar<Real = f64>>(x: [S; 6]) -> [S; 6] {
            let other = Pose3::constant(Pose3::exp([0.3, -0.2, 0.1, 0.02, 0.01, -0.03]));
            other.between(Pose3::exp(x)).log()
        }
        let x = x.map(|x| x * 30_f64.powi(-shrink));
        let exact = f(std::array::from_fn(|i| Taylor::along(x[i], v[i])));
        let h = 1e-5;
        let [ahead, behind] = [h, -h].map(|h| f(std::array::from_fn(|i| Taylor::along(x[i] + h * v[i], v[i]))));
        for i in 0..6 {
            let difference = (ahead[i].first - behind[i].first) / (2.0 * h);
            prop_assert!((exact[i].second - difference).abs() < 1e-7, "{} {difference}", exact[i].second);
        }
    }

    #[test]
    fn logarithm_undoes_exponential(x in twist(), planar in planar_twist()) {
        assert_close(&Pose3::exp(x).log(), &x, 20.0);
        assert_close(&Pose3::exp(x.map(|x| x as f32)).log(), &x.map(|x| x as f32), 20.0);
        assert_close(&Pose2::exp(planar).log(), &planar, 20.0);
        assert_close(&Pose2::exp(planar.map(|x| x as f32)).log(), &planar.map(|x| x as f32), 20.0);
        // The rotation keeps all its digits, however small.
        let vector = [x[3], x[4], x[5]];
        for (found, x) in Rotation3::exp(vector).log().into_iter().zip(vector) {
            prop_assert!((found - x).abs() <= 1e-14 * rotation3::square(vector).sqrt());
        }
        // Of all multiples of a quaternion, the logarithm is the same.
        for scale in [-1.0, 0.5, -3.0] {
            let [i, j, k, w] = Rotation3::exp(vector).to_array().map(|q| q * scale);
            assert_close(&Rotation3 { i, j, k, w }.log(), &vector, 20.0);
        }
    }

    #[test]
    fn nalgebra_agrees(x in twist(), y in twist(), planar in planar_twist(), other in planar_twist()) {
        use nalgebra as na;
        let (a, b) = (Pose3::exp(x), Pose3::exp(y));
        let (p, q) = (na::Isometry3::from(a), na::Isometry3::from(b));
        assert_close(&Pose3::from(p * q).to_array(), &(a * b).to_array(), 20.0);
        assert_close(&Pose3::from(p.inverse()).to_array(), &a.inverse().to_array(), 20.0);
        assert_close(&Pose3::from(p.inv_mul(&q)).to_array(), &a.between(b).to_array(), 20.0);
        assert_close(&Pose3::from(p * q).to_array(), &b.premultiply(a).to_array(), 20.0);
        let point = [1.0, -2.0, 3.0];
        assert_close((p * na::Point3::from(point)).coords.as_slice(), &a.transform(point), 20.0);
        assert_close(
            p.inverse_transform_point(&na::Point3::from(point)).coords.as_slice(), &a.inverse_transform(point), 20.0,
        );
        prop_assert_eq!(Pose3::from(p), a);

        let vector = [x[3], x[4], x[5]];
        let quaternion = na::UnitQuaternion::from_scaled_axis(na::Vector3::from(vector));
        assert_close(&Rotation3::from(quaternion).to_array(), &a.rotation.to_array(), 20.0);
        prop_assert_eq!(na::UnitQuaternion::from(a.rotation), p.rotation);
        let matrix = na::Rotation3::from(a.rotation);
        let rows = a.rotation.to_matrix();
        for (row, column) in (0..9).map(|i| (i / 3, i % 3)) {
            prop_assert!((matrix[(row, column)] - rows[row][column]).abs() < 1e-15);
        }
        let back = Rotation3::from(matrix);
        assert_close(&back.between(a.rotation).log(), &[0.0; 3], 20.0);

        let (a, b) = (Pose2::exp(planar), Pose2::exp(other));
        let (p, q) = (na::Isometry2::from(a), na::Isometry2::from(b));
        assert_close(&Pose2::from(p * q).to_array(), &(a * b).to_array(), 20.0);
        assert_close(&Pose2::from(p.inverse()).to_array(), &a.inverse().to_array(), 20.0);
        assert_close(&Pose2::from(p.inv_mul(&q)).to_array(), &a.between(b).to_array(), 20.0);
        assert_close(&Pose2::from(p * q).to_array(), &b.premultiply(a).to_array(), 20.0);
        prop_assert_eq!(Pose2::from(p), a);
        prop_assert_eq!(Rotation2::from(na::Rotation2::from(a.rotation)), a.rotation);
        assert_close(&[na::UnitComplex::new(planar[2]).angle()], &[Rotation2::exp(planar[2]).log()], 4.0);

        let (single, double) = (Pose3::exp(x.map(|x| x as f32)), na::Isometry3::<f32>::from(Pose3::exp(x.map(|x| x as f32))));
        assert_close(&Pose3::from(double * double).to_array(), &(single * single).to_array(), 20.0);
    }
}

/// The derivative of `log(exp(φ) ∘ exp(δ))` at `δ = 0` is the inverse of the right Jacobian (Solà et al., equation 144), at all angles
/// from zero to `π`.
#[test]
fn derivatives_of_the_logarithm_at_all_angles() {
    let axis = [2.0 / 7.0, -3.0 / 7.0, 6.0 / 7.0];
    let angles = [
        0.0,
        1e-300,
        1e-160,
        1e-20,
        1e-9,
        1e-7,
        1e-4,
        0.01,
        0.0316,
        0.03162,
        0.03163,
        0.0317,
        0.1,
        0.5,
        1.0,
        FRAC_PI_2,
        3.0,
        PI - 1e-6,
        PI - 1e-12,
        PI,
    ];
    for angle in angles {
        let vector = axis.map(|x| x * angle);
        let rotation = Rotation3::constant(Rotation3::exp(vector));
        for sign in [1.0, -1.0] {
            let [i, j, k, w] = rotation.compose(Rotation3::exp(Dual::<f64, 3>::variables([0.0; 3]))).to_array();
            let rotation = Rotation3 { i: i * sign, j: j * sign, k: k * sign, w: w * sign };
            let log = rotation.log();
            let half = 0.5 * angle;
            let d = if angle < 1e-3 { 1.0 / 12.0 } else { (1.0 - half * half.cos() / half.sin()) / (angle * angle) };
            // At π, either direction is a logarithm.
            let turned = log[2].value < 0.0 && angle > 3.1;
            let vector = if turned { vector.map(|x| -x) } else { vector };
            for column in 0..3 {
                let unit: [f64; 3] = std::array::from_fn(|i| f64::from(i == column));
                let once = rotation3::cross(vector, unit);
                let twice = rotation3::cross(vector, once);
                for row in 0..3 {
                    assert!((log[row].value - vector[row]).abs() < 2e-15, "{angle}: {log:?}");
                    let expected = unit[row] + 0.5 * once[row] + d * twice[row];
                    let error = (log[row].gradient[column] - expected).abs();
                    assert!(error < 2e-14, "{angle}, {row}, {column}: {} {expected}", log[row].gradient[column]);
                }
            }
        }
    }
}

#[test]
fn identities_and_their_derivatives() {
    let zero = Dual::<f64, 6>::variables([0.0; 6]);
    for (i, log) in Pose3::exp(zero).log().into_iter().enumerate() {
        assert_eq!(log.value, 0.0);
        assert_eq!(log.gradient, std::array::from_fn(|j| f64::from(i == j)));
    }
    let zero = Dual::<f32, 3>::variables([0.0; 3]);
    for (i, log) in Pose2::exp(zero).log().into_iter().enumerate() {
        assert_eq!(log.value, 0.0);
        assert_eq!(log.gradient, std::array::from_fn(|j| f32::from(u8::from(i == j))));
    }
    assert_eq!(Pose3::<f64>::default().log(), [0.0; 6]);
    assert_eq!(Pose2::<f64>::default().log(), [0.0; 3]);
    assert_eq!(Rotation3::<f32>::default().log(), [0.0; 3]);
    assert_eq!(Rotation2::<f32>::default().log(), 0.0);
}

/// Tests half a turn: both directions are right, and everything is finite.
#[test]
fn half_turns() {
    for (sign, w) in [(1.0, 0.0), (-1.0, 0.0), (1.0, -0.0), (-1.0, -0.0)] {
        let rotation = Rotation3 { i: 0.0, j: sign, k: 0.0, w };
        let [x, y, z] = rotation.log();
        assert_eq!((x, y.abs(), z), (0.0, PI, 0.0), "{rotation:?}");
        let numbers: [Dual<f64, 7>; 7] = Dual::variables([1.0, 2.0, 3.0, 0.0, sign, 0.0, w]);
        for log in Pose3::from_slice(&numbers).log() {
            assert!(log.value.is_finite() && log.gradient.iter().all(|g| g.is_finite()), "{log:?}");
        }
        let pose = Pose3 { translation: [1.0, 2.0, 3.0], rotation };
        let back = Pose3::exp(pose.log());
        assert_close(&back.between(pose).log(), &[0.0; 6], 10.0);
    }
    for sin in [0.0, -0.0] {
        let numbers: [Dual<f64, 4>; 4] = Dual::variables([1.0, 2.0, -1.0, sin]);
        let [x, y, angle] = Pose2::from_slice(&numbers).log();
        assert_eq!(angle.value.abs(), PI);
        assert!([x, y, angle].iter().all(|x| x.gradient.iter().all(|g| g.is_finite())));
        let back = Pose2::exp([x.value, y.value, angle.value]);
        assert_close(&back.to_array(), &[1.0, 2.0, -1.0, 0.0], 10.0);
    }
    let (north, south) = ([0.0, 0.0, 1.0], [0.0, 0.0, -1.0_f32]);
    let to_south = step(&UnitSphere::<3>, &south, &north);
    assert_eq!(to_south, [PI as f32, 0.0]);
    assert_close(&moved(&UnitSphere::<3>, &north, &to_south), &south, 4.0);
}

/// A quaternion and its negative are one rotation.
#[test]
fn both_covers() {
    let x = Rotation3::exp([0.3, -0.8, 1.7]).to_array();
    for delta in [[0.0; 3], [1e-9, 0.0, 2e-9], [0.2, 0.4, -0.3], [1.0, -2.0, 2.0]] {
        let other = moved::<f64>(&SO3, &x, &delta).iter().map(|q| -q).collect::<Vec<_>>();
        assert_close(&step(&SO3, &other, &x), &delta, 10.0);
    }
}

/// The point of a line is the nearest one, wherever along it the given one is, in both precisions.
#[test]
fn lines_through_points() {
    fn check<T: Real>(far: f64) {
        let [x, y, z, far] = [0.3, -0.4, 1.2, far].map(T::from_f64);
        let line = Line::through([x + far * x, y + far * y, z + far * z], [x, y, z].map(|d| d * T::from_f64(1e-30)));
        assert!(Line::<3>.contains(line.as_flattened()), "{line:?}");
        let scale = T::from_f64(1.0 + far.to_f64()) * T::EPSILON;
        assert!(line[0].iter().all(|p| p.abs() <= scale * T::from_f64(4.0)), "{line:?}");
        let nowhere = Line::through([x, y, z], [T::ZERO; 3]);
        assert!(!Line::<3>.contains(nowhere.as_flattened()));
    }
    for far in [0.0, 1.0, 1e6] {
        check::<f64>(far);
        check::<f32>(far);
    }
}

/// Points remain points after steps of any length whose square is finite. Longer steps do not panic.
#[test]
fn huge_steps() {
    let pose = Pose3::exp([1.0, 2.0, 3.0, 0.3, 0.2, 0.1]).to_array();
    let pose2 = Pose2::exp([1.0, 2.0, 0.3]).to_array();
    for length in [4.0, 10.0, 1e3, 1e6, 1e12, 1e100, 1e150] {
        let (step3, step6): ([f64; 3], [f64; 6]) = ([length, 0.3 * length, -0.2 * length], [length; 6]);
        assert!(SO3.contains(&moved(&SO3, &pose[3..], &step3)), "{length}");
        assert!(SO2.contains(&moved(&SO2, &pose2[2..], &step3[..1])), "{length}");
        assert!(SE2.contains(&moved(&SE2, &pose2, &step3)), "{length}");
        assert!(UnitSphere::<4>.contains(&moved(&UnitSphere::<4>, &pose[3..], &step3)), "{length}");
        let line = moved(&Line::<2>, Line::through([1.0, 2.0], [0.3, 0.4]).as_flattened(), &[length; 2]);
        assert!(Line::<2>.contains(&line), "{length} {line:?}");
        assert!(length > 1e75 || SE3.contains(&moved(&SE3, &pose, &step6)), "{length}");
    }
    let manifolds: [&dyn Manifold<f64>; 7] = [&SO2, &SE2, &SO3, &SE3, &UnitSphere::<3>, &Line::<3>, &Euclidean::<2>];
    for manifold in manifolds {
        for wild in [1e200, f64::MAX, f64::INFINITY, f64::NAN] {
            let (points, steps) = (vec![wild; manifold.ambient_size()], vec![wild; manifold.tangent_size()]);
            assert!(wild.is_finite() && manifold.name().contains("Euclidean") || !manifold.contains(&points));
            moved(manifold, &points, &steps);
            step(manifold, &points, &points);
            jacobian(manifold, &points);
            let mut point = points.clone();
            manifold.normalize(&mut point);
        }
        let zeros = vec![0.0; manifold.ambient_size()];
        let mut point = zeros.clone();
        manifold.normalize(&mut point);
        assert_eq!(point, zeros);
        step(manifold, &zeros, &zeros);
    }
}

/// Thousands of steps drift from the manifold by rounding only, and come back to it.
#[test]
fn drift_is_removed() {
    let mut x = Pose3::exp([0.0, 0.0, 0.0, 0.1, 0.2, 0.3_f32]).to_array().to_vec();
    for _ in 0..10_000 {
        x = moved(&SE3, &x, &[0.01, 0.0, 0.0, 0.02, -0.05, 0.3]);
    }
    let norm = |x: &[f32]| x[3..].iter().map(|&q| f64::from(q).powi(2)).sum::<f64>().sqrt();
    assert!((norm(&x) - 1.0).abs() < 1e-2);
    SE3.normalize(&mut x);
    assert!((norm(&x) - 1.0).abs() < 1e-7 && SE3.contains(&x));
}

/// Everywhere on the sphere, at its poles and beside the equator, where the basis jumps.
#[test]
fn bases_of_spheres() {
    let places =
        [[0.0, 1.0], [0.0, -1.0], [1e-9, 1.0], [1e-9, -1.0], [1.0, 0.0], [1.0, -0.0], [1.0, 1e-17], [1.0, -1e-17]];
    for [head, last] in places {
        for x in [[head, 0.0, last], [0.6 * head, -0.8 * head, last]] {
            let basis = jacobian::<f64>(&UnitSphere::<3>, &x);
            for i in 0..2 {
                let column = |i: usize| [basis[i], basis[2 + i], basis[4 + i]];
                let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
                assert!(dot(column(i), x).abs() < 1e-15);
                assert!((dot(column(i), column(i)) - 1.0).abs() < 1e-15);
                assert!(dot(column(0), column(1)).abs() < 1e-15);
            }
            check_manifold(&UnitSphere::<3>, &x).unwrap();
        }
    }
}

#[test]
fn blocks_of_products() {
    let manifold = ProductManifold(SO2, ProductManifold(Euclidean::<2>, SO2));
    let x = [0.6, 0.8, 5.0, 7.0, 0.0, 1.0];
    #[rustfmt::skip]
    let expected = [
        -0.8, 0.0, 0.0, 0.0,
        0.6,  0.0, 0.0, 0.0,
        0.0,  1.0, 0.0, 0.0,
        0.0,  0.0, 1.0, 0.0,
        0.0,  0.0, 0.0, -1.0,
        0.0,  0.0, 0.0, 0.0,
    ];
    assert_eq!(jacobian::<f64>(&manifold, &x), expected);
    assert_eq!(Manifold::<f64>::name(&manifold), "SO2 × Euclidean<2> × SO2");
    assert!(manifold.contains(&x) && !manifold.contains(&x[..5]) && !manifold.contains(&[1.0; 6]));
    let mut drifted = [1.2, 1.6, 5.0, 7.0, 0.0, 3.0];
    manifold.normalize(&mut drifted);
    assert_close(&drifted, &x, 1.0);

    // Chosen at run time.
    let boxed: ProductManifold<Box<dyn Manifold<f64>>, Arc<dyn Manifold<f64>>> =
        ProductManifold(Box::new(SO2), Arc::new(SE3));
    assert_eq!((boxed.ambient_size(), boxed.tangent_size()), (9, 7));
    check_manifold(&boxed, &[0.6, 0.8, 1.0, 2.0, 3.0, 0.5, 0.5, -0.5, 0.5]).unwrap();
}

/// Poses far from the origin pass the check as well, whose tolerances grow with the numbers of the point.
#[test]
fn far_from_the_origin() {
    for distance in [1e3, 1e6] {
        let pose = Pose3 { translation: [distance, -distance, 1.0], rotation: Rotation3::exp([0.4, -0.3, 2.0]) };
        check_manifold::<f64>(&SE3, &pose.to_array()).unwrap();
        check_manifold::<f32>(&SE3, &to(&pose.to_array())).unwrap();
        let pose = Pose2::new(distance, -distance, 2.0);
        check_manifold::<f64>(&SE2, &pose.to_array()).unwrap();
        check_manifold::<f32>(&SE2, &to(&pose.to_array())).unwrap();
    }
}

#[test]
fn points_are_told_from_others() {
    assert!(SO3.contains(&[0.0, 0.6, 0.0, 0.8 + 1e-8]));
    assert!(!SO3.contains(&[0.0, 0.6, 0.0, 0.8001]));
    assert!(SO3.contains(&[0.0, 0.6, 0.0, 0.8001_f32]));
    assert!(!SO3.contains(&[0.0, 0.6, 0.0, 0.81_f32]));
    assert!(!SO3.contains(&[0.0, 0.6, 0.8]));
    assert!(!SE2.contains(&[f64::INFINITY, 0.0, 1.0, 0.0]));
    assert!(!SE3.contains(&[0.0, f64::NAN, 0.0, 0.0, 0.0, 0.0, 1.0]));
    assert!(Sim2.contains(&[0.0, 0.0, 1.0, 0.0, 1e-9]) && !Sim2.contains(&[0.0, 0.0, 1.0, 0.0]));
    assert!([0.0, -1.0, f64::INFINITY, f64::NAN].iter().all(|&scale| !Sim2.contains(&[0.0, 0.0, 1.0, 0.0, scale])));
}

#[test]
#[should_panic(expected = "7 numbers are needed, not 6")]
fn other_sizes_panic() {
    moved(&SE3, &[0.0; 6], &[0.0; 6]);
}

/// Circles with one mistake each.
#[derive(Debug)]
enum Mistaken {
    Step,
    Length,
    Minus,
    Wrap,
    Jacobian,
    Unwritten,
    Normalize,
    TooManySteps,
}

impl Manifold<f64> for Mistaken {
    fn ambient_size(&self) -> usize {
        2
    }
    fn tangent_size(&self) -> usize {
        if matches!(self, Mistaken::TooManySteps) { 3 } else { 1 }
    }
    fn plus(&self, x: &[f64], delta: &[f64], moved: &mut [f64]) {
        match self {
            Mistaken::Step => SO2.plus(x, &[delta[0] + 1e-9], moved),
            Mistaken::Length => moved.copy_from_slice(&[x[0] - delta[0] * x[1], x[1] + delta[0] * x[0]]),
            _ => SO2.plus(x, delta, moved),
        }
    }
    fn minus(&self, y: &[f64], x: &[f64], delta: &mut [f64]) {
        SO2.minus(y, x, delta);
        match self {
            Mistaken::Minus => delta[0] = -delta[0],
            // Right for all steps from the point checked, to which -0.28 belongs.
            Mistaken::Wrap if x[0] != -0.28 => delta[0] *= 1.001,
            _ => {}
        }
    }
    fn plus_jacobian(&self, x: &[f64], jacobian: &mut [f64]) {
        match self {
            Mistaken::Jacobian => jacobian.copy_from_slice(&[x[1], x[0]]),
            Mistaken::Unwritten => jacobian[0] = -x[1],
            _ => SO2.plus_jacobian(x, jacobian),
        }
    }
    fn contains(&self, x: &[f64]) -> bool {
        SO2.contains(x)
    }
    fn normalize(&self, x: &mut [f64]) {
        if matches!(self, Mistaken::Normalize) {
            x.swap(0, 1);
        }
    }
}

#[test]
fn checks_name_what_is_wrong() {
    let x = [-0.28, 0.96];
    let error = |mistaken: Mistaken| check_manifold(&mistaken, &x).unwrap_err();
    assert!(matches!(error(Mistaken::Step), ManifoldError::ZeroStepMoves { .. }));
    assert!(matches!(error(Mistaken::Length), ManifoldError::LeavesManifold { .. }));
    assert!(matches!(error(Mistaken::Minus), ManifoldError::MinusAfterPlus { .. }));
    assert!(matches!(error(Mistaken::Wrap), ManifoldError::PlusAfterMinus { .. }));
    assert!(matches!(error(Mistaken::Jacobian), ManifoldError::Jacobian { row: 0, column: 0, .. }));
    assert!(matches!(error(Mistaken::Unwritten), ManifoldError::Jacobian { row: 1, given, .. } if given.is_nan()));
    assert!(matches!(error(Mistaken::Normalize), ManifoldError::NormalizeMoves { index: 0, .. }));
    assert!(matches!(error(Mistaken::TooManySteps), ManifoldError::Sizes { .. }));
    assert!(matches!(check_manifold(&SO2, &[1.0, 1.0]), Err(ManifoldError::NotAPoint { .. })));
    assert!(matches!(check_manifold(&SO2, &[1.0]), Err(ManifoldError::PointSize { expected: 2, given: 1, .. })));
    assert!(error(Mistaken::Jacobian).to_string().contains("Mistaken: ∂x[0]/∂δ[0] is given as 0.96, and is -0.9"));
}
