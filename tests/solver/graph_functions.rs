//! Cost functions of graphs that are ready-made, of many blocks and numeric; what is seen of a problem.

use marquardt::graph::{
    AnyBlocks, Bearing2, Bearing3, BearingRange2, CostFunction, GraphError, NumericCostFunction, NumericDiff,
    Position2, Position3, Prior, PriorPose2, PriorPose3, Problem, Range2, Range3, RelativePose2, Stereo,
    StereoObservation,
};
use marquardt::manifold::{Euclidean, Pose2, Pose3, Rotation3, SE2, SE3};
use marquardt::{EvaluationError, LevenbergMarquardt, Scalar};
use proptest::prelude::*;

fn information<const N: usize>() -> [[f64; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 2.0 + i as f64 } else { 0.3 }))
}

proptest! {
    /// Dual numbers against central differences, at random poses and points.
    #[test]
    fn derivatives_of_ready_made_functions_are_right(
        numbers in prop::collection::vec(-1.0..1.0_f64, 20),
    ) {
        let three = |k: usize| [numbers[k], numbers[k + 1], numbers[k + 2]];
        let mut problem = Problem::new();
        let flat = Pose2::new(3.0 * numbers[0], numbers[1], 3.0 * numbers[2]);
        let pose2 = problem.add_parameter_block(SE2, &flat.to_array()).unwrap();
        let place = Pose3 { translation: three(3), rotation: Rotation3::exp(three(6).map(|x| 1.5 * x)) };
        let pose3 = problem.add_parameter_block(SE3, &place.to_array()).unwrap();
        // Points are not where they are seen from.
        let point2 = flat.transform([2.0 + numbers[9], 1.5 * numbers[10]]);
        let point2 = problem.add_parameter_block(Euclidean::<2>, &point2).unwrap();
        let point3 = place.transform([numbers[11], numbers[12], 2.5 + numbers[13]]);
        let point3 = problem.add_parameter_block(Euclidean::<3>, &point3).unwrap();
        let other = Pose3 { translation: three(14), rotation: Rotation3::exp(three(14)) };
        let flat_other = Pose2::new(numbers[14], numbers[15], numbers[16]);
        problem.add_residual_block(Prior::new([numbers[14], 1.0], information()).unwrap(), (point2,)).unwrap();
        problem.add_residual_block(PriorPose2::new(flat_other, information()).unwrap(), (pose2,)).unwrap();
        problem.add_residual_block(PriorPose3::new(other, information()).unwrap(), (pose3,)).unwrap();
        problem.add_residual_block(Position2::new([1.0, numbers[17]], information()).unwrap(), (pose2,)).unwrap();
        problem.add_residual_block(Position3::new(three(14), information()).unwrap(), (pose3,)).unwrap();
        problem.add_residual_block(Bearing2::new(numbers[17], information()).unwrap(), (pose2, point2)).unwrap();
        problem.add_residual_block(Range2::new(1.0, information()).unwrap(), (pose2, point2)).unwrap();
        problem.add_residual_block(BearingRange2::new([numbers[17], 2.0], information()).unwrap(), (pose2, point2)).unwrap();
        problem.add_residual_block(Range3::new(1.0, information()).unwrap(), (pose3, point3)).unwrap();
        let direction = [numbers[17], numbers[18], 1.0];
        problem.add_residual_block(Bearing3::new(direction, information()).unwrap(), (pose3, point3)).unwrap();
        let stereo = StereoObservation { pixels: [1.0, 2.0, 3.0], focal: [50.0, 60.0], centre: [5.0, 6.0], baseline: 0.2 };
        problem.add_residual_block(Stereo::new(stereo, information()).unwrap(), (pose3, point3)).unwrap();
        problem.check_derivatives().map_err(|error| TestCaseError::fail(error.to_string()))?;
    }

    /// An angle counts as its chord, whatever the direction.
    #[test]
    fn bearings_in_space_measure_the_chord(
        measured in prop::array::uniform3(-1.0..1.0_f64),
        seen in prop::array::uniform3(-1.0..1.0_f64),
    ) {
        let norm = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        prop_assume!(norm(measured) > 0.1 && norm(seen) > 0.1);
        let unit = |v: [f64; 3]| v.map(|x| x / norm(v));
        let (a, b) = (unit(measured), unit(seen));
        let chord = norm([a[0] - b[0], a[1] - b[1], a[2] - b[2]]);
        prop_assume!(chord < 1.999);
        let bearing = Bearing3::new(measured.map(|x| 7.0 * x), [[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let mut r = [0.0; 2];
        bearing.evaluate::<f64>(&[&Pose3::identity().to_array(), &seen], &mut r).unwrap();
        prop_assert!((r[0].hypot(r[1]) - chord).abs() < 1e-9, "{r:?}, {chord}");
        let [u, v] = bearing.axes_across();
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        prop_assert!([dot(u, u) - 1.0, dot(v, v) - 1.0, dot(u, v), dot(u, a), dot(v, a)].iter().all(|x| x.abs() < 1e-12));
    }
}

#[test]
fn a_place_is_found_by_bearings_and_ranges() {
    let truth = Pose2::new(1.0, 2.0, 3.0);
    let mut problem = Problem::new();
    let pose = problem.add_parameter_block(SE2, &Pose2::new(0.0, 0.0, 2.5).to_array()).unwrap();
    for place in [[5.0, 0.0], [-3.0, 4.0], [0.0, -6.0]] {
        let beacon = problem.add_parameter_block(Euclidean::<2>, &place).unwrap();
        problem.set_constant(beacon).unwrap();
        let [x, y] = truth.inverse_transform(place);
        let seen = [f64::atan2(y, x) + std::f64::consts::TAU, x.hypot(y)];
        problem.add_residual_block(BearingRange2::new(seen, information()).unwrap(), (pose, beacon)).unwrap();
    }
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(report.is_converged() && report.cost < 1e-20, "{report}");
    let found = Pose2::from_slice(problem.point(pose).unwrap());
    assert!((found.translation[0] - 1.0).abs() < 1e-9 && (found.translation[1] - 2.0).abs() < 1e-9);
    let here = problem.add_parameter_block(Euclidean::<2>, &found.translation).unwrap();
    problem.set_constant(here).unwrap();
    let last = problem.add_residual_block(Range2::new(1.0, [[1.0]]).unwrap(), (pose, here)).unwrap();
    problem.set_point(pose, &[0.0, 0.0, 1.0, 0.0]).unwrap();
    problem.set_point(here, &[0.0, 0.0]).unwrap();
    let error = problem.solve(&LevenbergMarquardt::new()).unwrap_err();
    assert!(matches!(error, GraphError::NonFiniteDerivative { residual_block } if residual_block == last.index()));
}

/// The sum of all coordinates of any blocks, plus the product of the first two.
struct Mixture;

fn mixture<S: Scalar<Real = f64>>(blocks: &[&[S]], r: &mut [S]) {
    r[0] = blocks[0][0] * blocks[1][0] - 6.0;
    blocks.iter().flat_map(|block| *block).for_each(|&x| r[0] += x);
}

impl CostFunction<f64> for Mixture {
    type Blocks = AnyBlocks;

    fn residual_count(&self) -> usize {
        1
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        mixture(blocks, r);
        Ok(())
    }
}

struct NumericMixture;

impl NumericCostFunction<f64> for NumericMixture {
    type Blocks = AnyBlocks;

    fn residual_count(&self) -> usize {
        1
    }

    fn evaluate(&self, blocks: &[&[f64]], r: &mut [f64]) -> Result<(), EvaluationError> {
        mixture(blocks, r);
        Ok(())
    }
}

/// The sum of ten numbers.
struct Ten;

type One = Euclidean<1>;

impl CostFunction<f64> for Ten {
    type Blocks = (One, One, One, One, One, One, One, One, One, One);

    fn residual_count(&self) -> usize {
        1
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        mixture(blocks, r);
        Ok(())
    }
}

#[test]
fn functions_of_any_number_of_blocks_are_the_same_however_they_are_written() {
    for count in [2, 3, 10, 11, 25] {
        let ends: Vec<Vec<f64>> = (0..3)
            .map(|way| {
                let mut problem = Problem::new();
                let blocks: Vec<_> = (0..count)
                    .map(|k| problem.add_parameter_block(Euclidean::<1>, &[0.1 * f64::from(k)]).unwrap())
                    .collect();
                for (k, &block) in blocks.iter().enumerate() {
                    problem.add_residual_block(Prior::new([0.3 * k as f64], [[1.0]]).unwrap(), (block,)).unwrap();
                }
                let all = || blocks.iter().map(|block| block.any()).collect::<Vec<_>>();
                match (way, count) {
                    (0, _) => problem.add_residual_block(Mixture, all()).unwrap(),
                    (1, _) => problem.add_residual_block(NumericDiff(NumericMixture), all()).unwrap(),
                    (_, 10) => {
                        let [a, b, c, d, e, f, g, h, i, j] = blocks[..] else { unreachable!() };
                        problem.add_residual_block(Ten, (a, b, c, d, e, f, g, h, i, j)).unwrap()
                    }
                    _ => problem.add_residual_block(Mixture, all()).unwrap(),
                };
                // Fewer blocks in the same group.
                problem.add_residual_block(Mixture, vec![blocks[1].any(), blocks[0].any()]).unwrap();
                problem.check_derivatives().unwrap();
                let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
                assert!(report.is_converged(), "{report}");
                blocks.iter().map(|&block| problem.point(block).unwrap()[0]).collect()
            })
            .collect();
        for other in &ends[1..] {
            assert!(ends[0].iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-8), "{ends:?}");
        }
    }
    let mut problem = Problem::new();
    let a = problem.add_parameter_block(Euclidean::<1>, &[0.0]).unwrap();
    let twice = problem.add_residual_block(Mixture, vec![a.any(), a.any()]);
    assert!(matches!(twice, Err(GraphError::RepeatedBlock { .. })));
}

/// A map in two pieces; only the first has a constant pose.
fn two_pieces() -> (Problem, Vec<marquardt::graph::ParameterBlock<SE2>>) {
    let mut problem = Problem::new();
    let mut poses = Vec::new();
    for k in 0..7 {
        let start = Pose2::new(f64::from(k), 0.1 * f64::from(k), 0.2).to_array();
        poses.push(problem.add_parameter_block(SE2, &start).unwrap());
    }
    problem.set_constant(poses[0]).unwrap();
    for (a, b) in [(0, 1), (1, 2), (2, 3), (1, 3), (4, 5), (5, 6), (4, 6)] {
        let step = Pose2::new(f64::from(b - a), 0.1, 0.1);
        let edge = RelativePose2::new(step, information()).unwrap();
        problem.add_residual_block(edge, (poses[a as usize], poses[b as usize])).unwrap();
    }
    (problem, poses)
}

#[test]
fn determined_blocks_have_the_covariance_that_they_have_alone() {
    let (mut problem, poses) = two_pieces();
    let pieces = problem.pieces();
    assert_eq!((&*pieces[0].blocks, pieces[0].is_anchored), (&[1, 2, 3][..], true));
    assert_eq!((&*pieces[1].blocks, pieces[1].is_anchored), (&[4, 5, 6][..], false));
    assert_eq!(pieces.len(), 2);
    assert!(matches!(problem.covariance(), Err(GraphError::Undetermined { blocks }) if blocks == [4, 5, 6]));
    let mut found = problem.determined_covariance().unwrap();
    assert_eq!(found.undetermined(), [4, 5, 6]);
    assert!(matches!(found.block(poses[1], poses[5]), Err(GraphError::Undetermined { blocks }) if blocks == [5]));
    // The other piece is fixed, too.
    problem.set_constant(poses[4]).unwrap();
    let mut whole = problem.covariance().unwrap();
    for (a, b) in [(1, 1), (1, 2), (2, 3), (3, 3)] {
        let (found, whole) = (found.block(poses[a], poses[b]).unwrap(), whole.block(poses[a], poses[b]).unwrap());
        let largest = whole.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        assert!(found.iter().zip(&whole).all(|(x, y)| (x - y).abs() < 1e-9 * largest), "{found} {whole}");
    }
    // Nothing is determined without a constant pose.
    problem.set_variable(poses[0]).unwrap();
    problem.set_variable(poses[4]).unwrap();
    assert_eq!(problem.determined_covariance().unwrap().undetermined(), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_sparse_jacobian_is_that_of_differences() {
    let (mut problem, poses) = two_pieces();
    problem.set_subset_constant(poses[3], &[2]).unwrap();
    let here = problem.linearization().unwrap();
    assert_eq!((here.residuals.len(), here.columns, here.first_rows.len()), (21, 17, 8));
    assert_eq!(here.columns_of(poses[0]), 0..0);
    assert_eq!((here.columns_of(poses[3]), here.columns_of(poses[6])), (6..8, 14..17));
    let edge = problem.residual_block_costs().unwrap();
    let half_squares = here.first_rows.windows(2).map(|ends| {
        let own = &here.residuals[ends[0]..ends[1]];
        0.5 * own.iter().map(|r| r * r).sum::<f64>()
    });
    assert!(edge.iter().zip(half_squares).all(|(a, b)| (a - b).abs() < 1e-12));
    let kinds = problem.cost_by_kind().unwrap();
    assert!(kinds.len() == 1 && kinds[0].count == 7 && (kinds[0].cost - edge.iter().sum::<f64>()).abs() < 1e-12);
    // A step along the x-axis of a pose, whose frame is that of the step.
    let pose = Pose2::from_slice(problem.point(poses[3]).unwrap());
    let step = 1e-6;
    problem.set_point(poses[3], &(pose * Pose2::exp([step, 0.0, 0.0])).to_array()).unwrap();
    let moved = problem.linearization().unwrap();
    for (row, (a, b)) in here.residuals.iter().zip(&moved.residuals).enumerate() {
        let entry = here.jacobian.iter().find(|entry| (entry.0, entry.1) == (row, 6)).map_or(0.0, |entry| entry.2);
        assert!(((b - a) / step - entry).abs() < 1e-5, "row {row}: {entry}");
    }
}
