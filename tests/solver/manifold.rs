//! Problems on manifolds: steps keep points there, and the minimum does not depend on how points are written.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::manifold::{
    EuclideanSpace, Manifold, Pose2, ProductManifold, Rotation3, SE2, SO3, UnitSphere, check_manifold,
};
use marquardt::optim::Optimizer;
use marquardt::problem::{
    Analytic, Bounded, FiniteDifference, OnManifold, Robust, Separable, SumOfSquares, check_derivatives,
};
use marquardt::{
    AutoDiff, Bounds, Covariance, EvaluationError, LeastSquares, LevenbergMarquardt, Loss, Real, Residuals, Scalar,
    SolveError, Variables,
};
use nalgebra::{Matrix3, SVector, UnitQuaternion, Vector3};
use proptest::prelude::*;

/// `R a_i − b_i` for the rotation `R` of a unit quaternion (Wahba's problem).
struct Alignment {
    from: Vec<[f64; 3]>,
    to: Vec<[f64; 3]>,
}

impl Residuals<f64> for Alignment {
    fn parameter_count(&self) -> usize {
        4
    }

    fn residual_count(&self) -> usize {
        3 * self.from.len()
    }

    fn row_group(&self) -> usize {
        3
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let rotation = Rotation3::from_slice(x);
        for ((r, a), b) in r.chunks_exact_mut(3).zip(&self.from[first / 3..]).zip(&self.to[first / 3..]) {
            let rotated = rotation.transform(a.map(S::constant));
            r.iter_mut().zip(rotated.into_iter().zip(b)).for_each(|(r, (rotated, &b))| *r = rotated - b);
        }
        Ok(())
    }
}

fn vectors() -> impl Strategy<Value = Vec<[f64; 3]>> {
    prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 4..12)
}

fn rotation() -> impl Strategy<Value = UnitQuaternion<f64>> {
    prop::array::uniform3(-3.0..3.0_f64).prop_map(|axis| UnitQuaternion::from_scaled_axis(Vector3::from(axis)))
}

/// The rotation of the polar decomposition (Kabsch's solution).
fn kabsch(alignment: &Alignment) -> Option<Matrix3<f64>> {
    let pairs = alignment.from.iter().zip(&alignment.to);
    let sum = pairs.fold(Matrix3::zeros(), |sum, (&a, &b)| sum + Vector3::from(b) * Vector3::from(a).transpose());
    let svd = sum.svd(true, true);
    let (u, v_t) = (svd.u?, svd.v_t?);
    let sign = Vector3::new(1.0, 1.0, (u * v_t).determinant().signum());
    // A second minimum is near where two singular values are.
    (svd.singular_values[1] + sign.z * svd.singular_values[2] > 0.2).then(|| u * Matrix3::from_diagonal(&sign) * v_t)
}

proptest! {
    /// From anywhere, the rotation is the one that is known in closed form; the point stays a unit quaternion.
    #[test]
    fn aligned_vectors_give_the_rotation_of_kabsch(
        from in vectors(),
        truth in rotation(),
        start in rotation(),
        noise in prop::collection::vec(prop::array::uniform3(-0.05..0.05_f64), 12),
    ) {
        let to = from.iter().zip(&noise).map(|(&a, noise)| (truth * Vector3::from(a) + Vector3::from(*noise)).into());
        let alignment = Alignment { to: to.collect(), from };
        let expected = kabsch(&alignment);
        prop_assume!(expected.is_some());
        let mut problem = OnManifold::new(AutoDiff(alignment), SO3).unwrap();
        let check = check_derivatives(&mut problem, start.coords.as_slice()).unwrap();
        prop_assert!(check.passed(), "{check}");
        // More rows than columns leave the dual without an undamped step for the last digits.
        for (form, tolerance) in [(LinearForm::Cholesky, 1e-9), (LinearForm::Qr, 1e-9), (LinearForm::Dual, 1e-6)] {
            let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
            let report = solver.minimize(&mut problem, start.coords.as_slice()).unwrap();
            prop_assert!(SO3.contains(&report.x), "{:?}", report.x);
            let found = Rotation3::<f64>::from_slice(&report.x);
            // Half a turn away there is a maximum, and two saddles.
            if report.is_converged() && report.cost < 0.1 * report.initial_cost {
                for (i, axis) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].into_iter().enumerate() {
                    let (found, expected) = (Vector3::from(found.transform(axis)), expected.unwrap().column(i).into_owned());
                    prop_assert!((found - expected).norm() < tolerance, "{form}: {report}");
                }
            }
        }
    }

    /// A manifold that is a vector space is none: the same points, bit for bit.
    #[test]
    fn a_vector_space_changes_nothing(b in -2.0..2.0_f64, c in -2.0..2.0_f64) {
        let problem = || {
            FiniteDifference::new(2, 3, |x: &[f64], r: &mut [f64]| {
                r.copy_from_slice(&[10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0], 0.1 * x[0] * x[1]]);
                Ok(())
            })
        };
        let plain = LevenbergMarquardt::new().minimize(&mut problem(), &[b, c]).unwrap();
        let mut moved = OnManifold::new(problem(), EuclideanSpace(2)).unwrap();
        let moved = LevenbergMarquardt::new().minimize(&mut moved, &[b, c]).unwrap();
        prop_assert!(moved.is_converged() && plain.is_converged());
        for (plain, moved) in plain.x.iter().zip(&moved.x) {
            prop_assert!((plain - moved).abs() < 1e-9 * plain.abs().max(1.0), "{plain}, {moved}");
        }
    }
}

/// A chain of poses in the plane with a loop, whose first pose is pulled to the origin, or none is.
struct Chain {
    measured: Vec<(usize, usize, Pose2<f64>)>,
    poses: usize,
    is_pulled: bool,
}

impl Chain {
    fn new(poses: usize) -> Self {
        let turn = std::f64::consts::TAU / poses as f64;
        let step = |noise: f64| Pose2::new(1.0 + noise, noise, turn + 0.1 * noise);
        let odometry = (1..poses).map(|i| (i - 1, i, step(0.03 * (i as f64 * 1.7).sin())));
        Chain { measured: odometry.chain([(poses - 1, 0, step(0.0))]).collect(), poses, is_pulled: true }
    }

    fn start(&self) -> Vec<f64> {
        (0..self.poses).flat_map(|i| Pose2::new(0.5 * i as f64, (i as f64).cos(), 0.4 * i as f64).to_array()).collect()
    }
}

impl Residuals<f64> for Chain {
    fn parameter_count(&self) -> usize {
        4 * self.poses
    }

    fn residual_count(&self) -> usize {
        3 * (self.measured.len() + usize::from(self.is_pulled))
    }

    fn row_group(&self) -> usize {
        3 * (self.measured.len() + usize::from(self.is_pulled))
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], _: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let pose = |i: usize| Pose2::from_slice(&x[4 * i..4 * i + 4]);
        let (edges, origin) = r.split_at_mut(3 * self.measured.len());
        for (r, &(i, j, measured)) in edges.chunks_exact_mut(3).zip(&self.measured) {
            r.copy_from_slice(&Pose2::constant(measured).between(pose(i).between(pose(j))).log());
        }
        if self.is_pulled {
            origin.copy_from_slice(&pose(0).log());
        }
        Ok(())
    }
}

fn poses(count: usize) -> Box<dyn Manifold<f64>> {
    (1..count).fold(Box::new(SE2) as Box<dyn Manifold<f64>>, |poses, _| Box::new(ProductManifold(poses, SE2)))
}

#[test]
fn a_graph_of_poses_closes_its_loop() {
    let chain = Chain::new(12);
    let start = chain.start();
    let mut problem = OnManifold::new(AutoDiff(chain), poses(12)).unwrap();
    check_manifold(problem.domain().manifold().unwrap(), &start).unwrap();
    let report = LevenbergMarquardt::new().minimize(&mut problem, &start).unwrap();
    assert!(report.is_converged() && report.cost < 1e-2 && report.iterations < 40, "{report}");
    assert!(problem.domain().manifold().unwrap().contains(&report.x));
    // Every direction of every pose is determined, and the first pose best.
    let covariance = Covariance::at(&mut problem, &report.x).unwrap();
    assert!(covariance.undetermined().is_empty() && covariance.unscaled().nrows() == 36);
    assert!((covariance.unscaled()[[0, 0]] - 1.0).abs() < 1e-9);
    let mut robust = Robust::new(problem, Loss::Cauchy, 0.5).unwrap();
    let report = LevenbergMarquardt::new().minimize(&mut robust, &report.x).unwrap();
    assert!(report.is_converged(), "{report}");
}

#[test]
fn a_gauge_that_is_free_is_undetermined() {
    let chain = Chain { is_pulled: false, ..Chain::new(5) };
    let start = chain.start();
    let mut free = OnManifold::new(AutoDiff(chain), poses(5)).unwrap();
    let report = LevenbergMarquardt::new().minimize(&mut free, &start).unwrap();
    let covariance = Covariance::at(&mut free, &report.x).unwrap();
    assert!(covariance.undetermined().contains(&"δ[0]".to_owned()), "{:?}", covariance.undetermined());
}

/// The nearest unit vector, in both precisions, from far and absurd starts.
#[test]
fn a_direction_is_found_from_anywhere() {
    fn check<T: Real>(tolerance: f64) {
        let target = [0.3, -2.0, 1.5].map(T::from_f64);
        let norm = target.iter().fold(0.0, |sum, t| sum + t.to_f64() * t.to_f64()).sqrt();
        for start in [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.6, 0.8, 0.0], [-0.6, 0.0, 0.8]] {
            let away = Analytic::new(3, 3, |x: &[T], r: &mut [T], jacobian: Option<&mut [T]>| {
                r.iter_mut().zip(x.iter().zip(target)).for_each(|(r, (&x, target))| *r = x - target);
                if let Some(jacobian) = jacobian {
                    jacobian.fill(T::ZERO);
                    jacobian.iter_mut().step_by(4).for_each(|entry| *entry = T::ONE);
                }
                Ok(())
            });
            let mut away = OnManifold::new(away, UnitSphere::<3>).unwrap();
            let report = LevenbergMarquardt::new().minimize(&mut away, &start.map(T::from_f64)).unwrap();
            assert!(report.is_converged(), "{report}");
            for (x, target) in report.x.iter().zip(target) {
                assert!((x.to_f64() - target.to_f64() / norm).abs() < tolerance, "{report}");
            }
        }
    }
    check::<f64>(1e-10);
    check::<f32>(1e-4);
}

#[test]
fn only_numbers_have_bounds_and_optimizers() {
    let plain = || {
        FiniteDifference::new(3, 3, |x: &[f64], r: &mut [f64]| {
            r.copy_from_slice(x);
            Ok(())
        })
    };
    let on_sphere = || OnManifold::new(plain(), UnitSphere::<3>).unwrap();
    let start = [1.0, 0.0, 0.0];
    let error = OnManifold::new(plain(), SE2).err().unwrap().to_string();
    assert!(error.contains('3') && error.contains('4'), "{error}");
    let solver = LevenbergMarquardt::new();
    let mut bounded = Bounded::new(on_sphere(), Bounds::new([0.0; 3], [1.0; 3]).unwrap()).unwrap();
    assert!(matches!(solver.minimize(&mut bounded, &start), Err(SolveError::OnManifold { .. })));
    assert!(matches!(
        solver.minimize_fixed(&mut on_sphere(), SVector::from(start)),
        Err(SolveError::OnManifold { .. })
    ));
    assert!(Separable::new(on_sphere(), &[0]).is_err());
    let mut variables = Variables::new();
    variables.add("x", ndarray::arr1(&start).view()).unwrap();
    let mut sum = SumOfSquares::new(on_sphere());
    let mut optimizer = LevenbergMarquardt::<f64>::new();
    assert!(Optimizer::step(&mut optimizer, &mut sum, &mut variables).is_err());
    // Starts that are nowhere.
    assert!(matches!(solver.minimize(&mut on_sphere(), &[1.0, 1.0, 0.0]), Err(SolveError::StartOffManifold { .. })));
    assert!(matches!(
        solver.minimize(&mut on_sphere(), &[1.0, 0.0]),
        Err(SolveError::WrongStartLength { expected: 3, found: 2 })
    ));
}
