//! The manifolds of poses, with the numbers that a graph keeps for their points.

use nalgebra::{Matrix3, SVD};

use super::{Dimension, Edge, PoseGraph, PoseGraphProblem};
use crate::graph::{
    ChordalPose3, CostFunction, GraphError, RelativePoint2, RelativePoint3, RelativePose2, RelativePose3,
};
use crate::manifold::{Euclidean, Manifold, Pose2, Pose3, Rotation2, Rotation3, SE2, SE3};

/// Matrix of a rotation; in the plane, the last row and column are those of the identity.
pub(super) type Matrix = [[f64; 3]; 3];

/// Manifold of the poses of a [`PoseGraph`](super::PoseGraph): [`SE2`] or [`SE3`].
pub trait Poses: Manifold<f64> + Default + operations::PoseOperations + 'static {
    /// Manifold of points.
    type Point: Manifold<f64> + Default + 'static;
    /// Cost function of a measured pose.
    type RelativePose: CostFunction<f64, Blocks = (Self, Self)>;
    /// Cost function of a measured point.
    type RelativePoint: CostFunction<f64, Blocks = (Self, Self::Point)>;
    /// Dimension of the world.
    const DIMENSION: Dimension;

    /// Cost function of an edge between two poses.
    ///
    /// # Errors
    ///
    /// [`GraphError`] for an information matrix that is not positive definite, or not semi-definite where it is rounded.
    fn relative_pose(edge: &Edge) -> Result<Self::RelativePose, GraphError>;

    /// The problem of a graph with cost functions that are smooth at half a turn; `None` in the plane, where they would be no better.
    ///
    /// # Errors
    ///
    /// As [`relative_pose`](Self::relative_pose).
    fn smooth_problem(graph: &PoseGraph) -> Result<Option<PoseGraphProblem<Self>>, GraphError>;

    /// Cost function of an edge between a pose and a point.
    ///
    /// # Errors
    ///
    /// As [`relative_pose`](Self::relative_pose).
    fn relative_point(edge: &Edge) -> Result<Self::RelativePoint, GraphError>;

    /// Point of the manifold with these coordinates of a vertex.
    fn to_manifold(coordinates: &[f64]) -> Vec<f64>;

    /// Coordinates of a vertex at a point of the manifold.
    fn to_coordinates(point: &[f64]) -> Vec<f64>;
}

pub(super) mod operations {
    use super::Matrix;

    /// Computations with coordinates of vertices, for starts. Nobody else implements [`Poses`](super::Poses).
    pub trait PoseOperations {
        /// Pose of a second vertex, seen from a first at `pose` as `measured`.
        fn compose(pose: &[f64], measured: &[f64]) -> Vec<f64>;

        /// Inverse of a pose.
        fn inverse(pose: &[f64]) -> Vec<f64>;

        /// Point in the world, seen from `pose` as `measured`.
        fn transform(pose: &[f64], measured: &[f64]) -> Vec<f64>;

        /// Matrix of the rotation of a pose.
        fn rotation(pose: &[f64]) -> Matrix;

        /// Pose with the rotation nearest to a matrix, and the position of another pose.
        fn with_rotation(matrix: &Matrix, pose: &[f64]) -> Vec<f64>;

        /// Angle in radians, from 0 to π, between the rotation of `b` seen from `a` and a measured one.
        fn rotation_error(a: &[f64], b: &[f64], measured: &[f64]) -> f64;
    }
}

/// Symmetric matrix of an upper triangle, row by row.
fn symmetric<const N: usize>(triangle: &[f64]) -> [[f64; N]; N] {
    let mut matrix = [[0.0; N]; N];
    let places = (0..N).flat_map(|i| (i..N).map(move |j| (i, j)));
    for ((i, j), &entry) in places.zip(triangle) {
        matrix[i][j] = entry;
        matrix[j][i] = entry;
    }
    matrix
}

macro_rules! cost_functions {
    ($pose_edge:ident, $point_edge:ident, $size:literal) => {
        type Point = Euclidean<$size>;
        type RelativePose = $pose_edge<f64>;
        type RelativePoint = $point_edge<f64>;

        fn relative_pose(edge: &Edge) -> Result<Self::RelativePose, GraphError> {
            let make = if edge.is_rounded { $pose_edge::with_rounded_information } else { $pose_edge::new };
            make(Self::element(&edge.measured), symmetric(&edge.information))
        }

        fn relative_point(edge: &Edge) -> Result<Self::RelativePoint, GraphError> {
            let make = if edge.is_rounded { $point_edge::with_rounded_information } else { $point_edge::new };
            make(std::array::from_fn(|i| edge.measured[i]), symmetric(&edge.information))
        }
    };
}

macro_rules! operations {
    ($pose:ident) => {
        fn compose(pose: &[f64], measured: &[f64]) -> Vec<f64> {
            Self::coordinates(Self::element(pose) * Self::element(measured))
        }

        fn inverse(pose: &[f64]) -> Vec<f64> {
            Self::coordinates(Self::element(pose).inverse())
        }

        fn transform(pose: &[f64], measured: &[f64]) -> Vec<f64> {
            Self::element(pose).transform(std::array::from_fn(|i| measured[i])).to_vec()
        }
    };
}

impl SE2 {
    fn element(coordinates: &[f64]) -> Pose2<f64> {
        Pose2::new(coordinates[0], coordinates[1], coordinates[2])
    }

    fn coordinates(pose: Pose2<f64>) -> Vec<f64> {
        vec![pose.translation[0], pose.translation[1], pose.rotation.log()]
    }
}

impl Poses for SE2 {
    cost_functions!(RelativePose2, RelativePoint2, 2);
    const DIMENSION: Dimension = Dimension::Plane;

    fn smooth_problem(_: &PoseGraph) -> Result<Option<PoseGraphProblem<Self>>, GraphError> {
        Ok(None)
    }

    fn to_manifold(coordinates: &[f64]) -> Vec<f64> {
        Self::element(coordinates).to_array().to_vec()
    }

    fn to_coordinates(point: &[f64]) -> Vec<f64> {
        Self::coordinates(Pose2::from_slice(point))
    }
}

impl operations::PoseOperations for SE2 {
    operations!(Pose2);

    fn rotation(pose: &[f64]) -> Matrix {
        let (sin, cos) = pose[2].sin_cos();
        [[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]
    }

    fn with_rotation(matrix: &Matrix, pose: &[f64]) -> Vec<f64> {
        let angle = (matrix[1][0] - matrix[0][1]).atan2(matrix[0][0] + matrix[1][1]);
        vec![pose[0], pose[1], angle]
    }

    fn rotation_error(a: &[f64], b: &[f64], measured: &[f64]) -> f64 {
        Rotation2::exp(b[2] - a[2] - measured[2]).log().abs()
    }
}

impl SE3 {
    fn element(coordinates: &[f64]) -> Pose3<f64> {
        Pose3::from_slice(coordinates)
    }

    fn coordinates(pose: Pose3<f64>) -> Vec<f64> {
        pose.normalize().to_array().to_vec()
    }
}

impl Poses for SE3 {
    cost_functions!(RelativePose3, RelativePoint3, 3);
    const DIMENSION: Dimension = Dimension::Space;

    fn smooth_problem(graph: &PoseGraph) -> Result<Option<PoseGraphProblem<Self>>, GraphError> {
        let chordal = |edge: &Edge| {
            let make = if edge.is_rounded { ChordalPose3::with_rounded_information } else { ChordalPose3::new };
            make(Self::element(&edge.measured), symmetric(&edge.information))
        };
        graph.problem_of(None, chordal).map(Some)
    }

    fn to_manifold(coordinates: &[f64]) -> Vec<f64> {
        coordinates.to_vec()
    }

    fn to_coordinates(point: &[f64]) -> Vec<f64> {
        point.to_vec()
    }
}

impl operations::PoseOperations for SE3 {
    operations!(Pose3);

    fn rotation(pose: &[f64]) -> Matrix {
        Rotation3::from_slice(&pose[3..]).to_matrix()
    }

    /// Kabsch's rotation: that of the singular vectors, with the determinant 1.
    fn with_rotation(matrix: &Matrix, pose: &[f64]) -> Vec<f64> {
        let svd = SVD::new(Matrix3::from_fn(|i, j| matrix[i][j]), true, true);
        let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else { return pose.to_vec() };
        let mut nearest = u * v_t;
        if nearest.determinant() < 0.0 {
            let mut u = u;
            u.column_mut(2).neg_mut();
            nearest = u * v_t;
        }
        let rotation =
            nalgebra::UnitQuaternion::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(nearest));
        let mut with_rotation = pose[..3].to_vec();
        with_rotation.extend_from_slice(rotation.coords.as_slice());
        with_rotation
    }

    fn rotation_error(a: &[f64], b: &[f64], measured: &[f64]) -> f64 {
        let [a, b, measured] = [a, b, measured].map(|pose| Rotation3::from_slice(&pose[3..]));
        measured.between(a.between(b)).log().iter().map(|x| x * x).sum::<f64>().sqrt()
    }
}
