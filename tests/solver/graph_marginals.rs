//! Marginalisation of parameter blocks.

use marquardt::graph::{
    AnyBlock, AnyBlocks, CostFunction, GraphError, IncrementalSolver, ParameterBlock, Prior, Problem, RelativePose2,
};
use marquardt::manifold::{Euclidean, Line, Manifold, Pose2, Pose3, SE2, SE3, UnitSphere};
use marquardt::problem::Loss;
use marquardt::{EvaluationError, LevenbergMarquardt, Real, Scalar};
use proptest::prelude::*;

/// `Σ_j a_j x_j − y` over the coordinates of all blocks, for each row `a`.
struct Linear<T> {
    rows: Vec<(Vec<T>, T)>,
}

impl<T: Real> CostFunction<T> for Linear<T> {
    type Blocks = AnyBlocks;

    fn residual_count(&self) -> usize {
        self.rows.len()
    }

    fn evaluate<S: Scalar<Real = T>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        for (r, (a, y)) in r.iter_mut().zip(&self.rows) {
            *r = S::constant(-*y);
            blocks.iter().flat_map(|block| *block).zip(a).for_each(|(&x, &a)| *r += x * a);
        }
        Ok(())
    }
}

/// A sequence of numbers that look random.
fn wave<T: Real>(seed: usize) -> impl FnMut() -> T {
    let mut k = 0;
    move || {
        k += 1;
        T::from_f64(((k * k + 31 * k + 7 * seed) as f64 * 0.7).sin())
    }
}

/// Blocks of two coordinates in a chain, with further links, the first with a prior.
fn chain<T: Real>(count: usize, links: &[(usize, usize)]) -> (Problem<T>, Vec<ParameterBlock<Euclidean<2>>>) {
    let mut problem = Problem::new();
    let blocks: Vec<_> =
        (0..count).map(|_| problem.add_parameter_block(Euclidean::<2>, &[T::ZERO; 2]).unwrap()).collect();
    problem
        .add_residual_block(Prior::new([T::ONE; 2], [[T::ONE, T::ZERO], [T::ZERO, T::ONE]]).unwrap(), (blocks[0],))
        .unwrap();
    let links = links.iter().map(|&(a, b)| (a % count, b % count)).filter(|(a, b)| a != b);
    for (a, b) in (1..count).map(|k| (k - 1, k)).chain(links) {
        let mut next = wave(17 * a + b);
        let rows = (0..3).map(|_| ((0..4).map(|_| next()).collect(), next())).collect();
        problem.add_residual_block(Linear { rows }, vec![blocks[a].any(), blocks[b].any()]).unwrap();
    }
    (problem, blocks)
}

fn solve<T: Real>(problem: &mut Problem<T>) {
    problem.solve(&LevenbergMarquardt::new()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Where residuals are linear, the others have the estimates and the covariances that they have in the whole problem, in whatever order blocks are
    /// removed.
    #[test]
    fn marginals_of_linear_problems_are_exact(
        count in 3..14_usize,
        links in proptest::collection::vec((any::<usize>(), any::<usize>()), 0..8),
        removed in proptest::collection::vec(proptest::collection::vec(any::<usize>(), 0..4), 0..4),
        solves_first: bool,
    ) {
        let (mut whole, blocks) = chain::<f64>(count, &links);
        solve(&mut whole);
        let mut covariance = whole.covariance().unwrap();
        let (mut problem, others) = chain::<f64>(count, &links);
        if solves_first {
            solve(&mut problem);
        }
        let mut is_removed = vec![false; count];
        for group in removed {
            // The last block always remains.
            let group: Vec<usize> = group.into_iter().map(|k| k % (count - 1)).collect();
            let handles: Vec<AnyBlock> = group.iter().map(|&k| others[k].any()).collect();
            problem.marginalize(&handles).unwrap();
            group.iter().for_each(|&k| is_removed[k] = true);
        }
        solve(&mut problem);
        let mut marginal = problem.covariance().unwrap();
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7 * (1.0 + b.abs()));
        for k in (0..count).filter(|&k| !is_removed[k]) {
            let (found, expected) = (problem.point(others[k]).unwrap(), whole.point(blocks[k]).unwrap());
            prop_assert!(close(found, expected), "{k}: {found:?} {expected:?}");
            let (found, expected) = (marginal.block(others[k], others[k]).unwrap(), covariance.block(blocks[k], blocks[k]).unwrap());
            prop_assert!(close(found.as_slice().unwrap(), expected.as_slice().unwrap()), "{k}: {found:?} {expected:?}");
        }
    }
}

/// A removed block whose residuals leave directions of it open tells the others what the remaining ones say.
#[test]
fn open_directions_of_removed_blocks_are_dropped() {
    fn check<T: Real>(tolerance: f64) {
        let number = T::from_f64;
        let mut problem = Problem::<T>::new();
        let [a, b] = [(); 2].map(|()| problem.add_parameter_block(Euclidean::<2>, &[T::ZERO; 2]).unwrap());
        // a₀ + b₀ = 3, a₀ = 1; a₁ is open. Twice a₁ + b₁ = y tells nothing of b₁ but the difference of the two y.
        let row = |a: [f64; 4], y: f64| (a.map(T::from_f64).to_vec(), T::from_f64(y));
        let rows = vec![row([1.0, 0.0, 1.0, 0.0], 3.0), row([0.0, 1.0, 0.0, 1.0], 5.0), row([0.0, 1.0, 0.0, 1.0], 5.5)];
        problem.add_residual_block(Linear { rows }, vec![a.any(), b.any()]).unwrap();
        problem.add_residual_block(Linear { rows: vec![row([1.0, 0.0, 0.0, 0.0], 1.0)] }, vec![a.any()]).unwrap();
        let prior = Prior::new([number(9.0), number(-4.0)], [[number(1e-8), T::ZERO], [T::ZERO, T::ONE]]).unwrap();
        problem.add_residual_block(prior, (b,)).unwrap();
        assert!(problem.marginalize(&[a.any()]).unwrap().is_some());
        solve(&mut problem);
        let [x, y] = *problem.point(b).unwrap() else { panic!("two coordinates") };
        assert!((x.to_f64() - 2.0).abs() < tolerance && (y.to_f64() + 4.0).abs() < tolerance, "{x:?} {y:?}");
        // A constant block has told all that it can, and its own residuals tell nothing.
        let constant = problem.add_parameter_block(Euclidean::<2>, &[T::ONE; 2]).unwrap();
        problem.set_constant(constant).unwrap();
        let rows = vec![row([1.0, 1.0, 0.0, 0.0], 3.0)];
        problem.add_residual_block(Linear { rows }, vec![constant.any()]).unwrap();
        assert!(problem.marginalize(&[constant.any()]).unwrap().is_none());
        // Nothing remains to be told.
        assert!(problem.marginalize(&[b.any(), a.any(), b.any()]).unwrap().is_none());
        assert_eq!(problem.cost().unwrap(), T::ZERO);
    }
    check::<f64>(1e-6);
    check::<f32>(1e-5);
}

/// The prior keeps its minimum at residuals of any size whose squares are beyond the range of the floats.
#[test]
fn marginals_do_not_depend_on_the_scale_of_residuals() {
    fn check<T: Real>(scales: &[f64], tolerance: f64) {
        for &scale in scales {
            let mut problem = Problem::<T>::new();
            let [a, b] = [(); 2].map(|()| problem.add_parameter_block(Euclidean::<2>, &[T::ZERO; 2]).unwrap());
            let row = |a: [f64; 4], y: f64| (a.map(|a| T::from_f64(scale * a)).to_vec(), T::from_f64(scale * y));
            let rows = vec![row([1.0, 0.5, 1.0, 0.0], 3.0), row([0.2, 1.0, 0.0, 1.0], 5.0)];
            problem.add_residual_block(Linear { rows }, vec![a.any(), b.any()]).unwrap();
            let rows = vec![row([1.0, 1.0, 0.0, 0.0], 1.0), row([1.0, -1.0, 0.0, 0.0], 2.0)];
            problem.add_residual_block(Linear { rows }, vec![a.any()]).unwrap();
            let prior = problem.marginalize(&[a.any()]).unwrap().unwrap();
            // a = (1.5, −0.5), so b = (1.75, 5.2), where the residuals of the prior are zero.
            problem.set_point(b, &[T::from_f64(1.75), T::from_f64(5.2)]).unwrap();
            let residuals = problem.residuals(prior).unwrap();
            assert_eq!(residuals.len(), 2, "{scale:e}");
            assert!(residuals.iter().all(|r| (r.to_f64() / scale).abs() < tolerance), "{scale:e}: {residuals:?}");
        }
    }
    check::<f64>(&[1e-250, 1e-160, 1e-20, 1.0, 1e20, 1e160, 1e250], 1e-13);
    check::<f32>(&[1e-30, 1e-22, 1e-10, 1.0, 1e10, 1e22, 1e30], 1e-5);
}

/// On curved manifolds the prior is what the removed blocks have told, at the points where they were removed.
#[test]
fn priors_on_manifolds_keep_the_minimum() {
    let information = [[40.0, 1.0, 0.0], [1.0, 30.0, 2.0], [0.0, 2.0, 90.0]];
    let mut problem = Problem::<f64>::new();
    let mut poses = Vec::new();
    for k in 0..12 {
        let angle = 3.0 + 0.1 * f64::from(k);
        poses.push(problem.add_parameter_block(SE2, &Pose2::new(0.3 * f64::from(k), 1.0, angle).to_array()).unwrap());
    }
    problem.set_constant(poses[0]).unwrap();
    let mut noise = wave::<f64>(3);
    for (a, b) in (1..12).map(|k| (k - 1, k)).chain([(0, 5), (2, 9), (4, 11)]) {
        let measured = Pose2::from_slice(problem.point(poses[a]).unwrap())
            .between(Pose2::from_slice(problem.point(poses[b]).unwrap()))
            * Pose2::new(0.1 * noise(), 0.1 * noise(), 0.1 * noise());
        let function = RelativePose2::new(measured, information).unwrap();
        problem.add_robust_residual_block(function, (poses[a], poses[b]), Loss::Huber, 2.0).unwrap();
    }
    solve(&mut problem);
    let before: Vec<f64> = poses.iter().flat_map(|&pose| problem.point(pose).unwrap().to_vec()).collect();
    problem.marginalize(&[poses[1].any(), poses[2].any(), poses[3].any(), poses[7].any()]).unwrap();
    problem.check_derivatives().unwrap();
    solve(&mut problem);
    let after = poses.iter().flat_map(|&pose| problem.point(pose).unwrap().to_vec());
    before.iter().zip(after).for_each(|(before, after)| assert!((before - after).abs() < 1e-7, "{before} {after}"));
    // From elsewhere, too; half a turn away the prior is met by the shorter way.
    for &pose in &poses[8..] {
        problem.set_point(pose, &Pose2::new(-1.0, 2.0, -2.0).to_array()).unwrap();
    }
    solve(&mut problem);
    let after = poses.iter().flat_map(|&pose| problem.point(pose).unwrap().to_vec());
    before.iter().zip(after).for_each(|(before, after)| assert!((before - after).abs() < 1e-6, "{before} {after}"));
}

/// Difference between the last pose by a smoother of a fixed lag, fed pose by pose, and by all measurements at once.
fn error_of_fixed_lag(size: f64) -> f64 {
    let information = [[40.0, 1.0, 0.0], [1.0, 30.0, 2.0], [0.0, 2.0, 90.0]];
    let mut noise = wave::<f64>(11);
    let mut error = || Pose2::new(size * noise(), size * noise(), size * noise());
    let step = Pose2::new(1.0, 0.0, 0.2);
    let edges: Vec<_> = (1..40_usize)
        .flat_map(|k| [(k - 1, k, step * error())].into_iter().chain((k > 2).then(|| (k - 3, k, step * step * step))))
        .collect();
    let (mut whole, mut window) = (Problem::<f64>::new(), Problem::<f64>::new());
    let (mut all, mut poses) = (Vec::new(), Vec::new());
    let (mut solver, mut next) = (IncrementalSolver::new().with_relinearization_threshold(1e-6), Pose2::identity());
    for k in 0..40 {
        all.push(whole.add_parameter_block(SE2, &next.to_array()).unwrap());
        poses.push(window.add_parameter_block(SE2, &next.to_array()).unwrap());
        for &(a, b, measured) in edges.iter().filter(|&&(_, b, _)| b == k) {
            let function = RelativePose2::new(measured, information).unwrap();
            whole.add_residual_block(function, (all[a], all[b])).unwrap();
            window.add_residual_block(function, (poses[a], poses[b])).unwrap();
        }
        if k == 0 {
            whole.set_constant(all[0]).unwrap();
            window.set_constant(poses[0]).unwrap();
            next = next * step;
            continue;
        }
        let report = solver.update_until_settled(&mut window, 20).unwrap();
        assert_eq!(report.pending, 0, "{k}");
        if let Some(old) = k.checked_sub(6) {
            window.marginalize(&[poses[old].any()]).unwrap();
        }
        next = Pose2::from_slice(window.point(poses[k]).unwrap()) * step;
    }
    solve(&mut whole);
    let (found, expected) = (window.point(poses[39]).unwrap(), whole.point(all[39]).unwrap());
    found.iter().zip(expected).map(|(found, expected)| (found - expected).abs()).fold(0.0, f64::max)
}

/// What the linearised past loses is of the second order in the noise.
#[test]
fn a_fixed_lag_keeps_up_with_the_whole() {
    let [large, small] = [0.02, 0.002].map(error_of_fixed_lag);
    assert!(large < 1e-3 && small < 1e-5 && small > 0.0, "{large} {small}");
}

/// Derivatives of priors are those of `⊟`, off the point where it was taken.
#[test]
fn derivatives_of_priors_are_right_on_every_manifold() {
    fn check<M: Manifold<f64> + Clone + 'static>(manifold: M, x: &[f64]) {
        let mut problem = Problem::new();
        let ambient = manifold.ambient_size();
        let [gone, left] = [(); 2].map(|()| problem.add_parameter_block(manifold.clone(), x).unwrap());
        let mut next = wave(5);
        let rows = (0..2 * ambient + 3).map(|_| ((0..2 * ambient).map(|_| next()).collect(), next())).collect();
        problem.add_residual_block(Linear { rows }, vec![gone.any(), left.any()]).unwrap();
        assert!(problem.marginalize(&[gone.any()]).unwrap().is_some());
        let mut moved = vec![0.0; ambient];
        manifold.plus(x, &vec![0.4; manifold.tangent_size()], &mut moved);
        problem.set_point(left, &moved).unwrap();
        problem.check_derivatives().unwrap();
    }
    check(SE2, &Pose2::new(1.0, 2.0, 3.0).to_array());
    check(SE3, &Pose3::exp([1.0, 2.0, 3.0, 0.4, -0.5, 2.0]).to_array());
    check(UnitSphere::<3>, &[0.6, 0.0, -0.8]);
    check(Line::<3>, Line::through([1.0, 2.0, 3.0], [0.3, -0.4, 0.5]).as_flattened());
}

#[test]
fn what_cannot_be_marginalised_is_an_error_and_changes_nothing() {
    let (mut problem, blocks) = chain::<f64>(4, &[]);
    let (_, foreign) = chain::<f64>(4, &[]);
    problem.set_lower_bound(blocks[2], 0, -9.0).unwrap();
    let cost = problem.cost().unwrap();
    let error = problem.marginalize(&[blocks[1].any(), blocks[2].any()]).unwrap_err();
    assert!(matches!(error, GraphError::MarginalBounds { block: 2 }), "{error}");
    let error = problem.marginalize(&[foreign[1].any()]).unwrap_err();
    assert!(matches!(error, GraphError::ForeignHandle { .. }), "{error}");
    problem.set_point(blocks[3], &[f64::MAX; 2]).unwrap();
    let rows = vec![(vec![f64::MAX; 2], 0.0)];
    problem.add_residual_block(Linear { rows }, vec![blocks[3].any()]).unwrap();
    let error = problem.marginalize(&[blocks[3].any()]).unwrap_err();
    assert!(matches!(error, GraphError::NonFiniteDerivative { residual_block: 3 | 4 }), "{error}");
    problem.set_point(blocks[3], &[0.0; 2]).unwrap();
    assert_eq!((problem.cost().unwrap(), problem.residual_block_count()), (cost, 5));
    assert!(problem.marginalize(&[]).unwrap().is_none());
}
