//! Measured poses and points, seen from a pose: the edges of pose graphs.

use super::cost_function::CostFunction;
use super::error::GraphError;
use super::information::{root_of, rounded_root_of};
use crate::manifold::{Euclidean, Pose2, Pose3, SE2, SE3};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::scalar::Scalar;

/// A measurement with its information matrix, `$residuals` rows, and its error at two blocks.
macro_rules! measurement {
    (
        $(#[$documentation:meta])*
        $name:ident of $measured:ty: $residuals:literal residuals of ($first:ty, $second:ty);
        |$this:ident, $blocks:ident| $error:expr
    ) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name<T> {
            measured: $measured,
            root: [[T; $residuals]; $residuals],
        }

        impl<T: Real> $name<T> {
            /// The measurement, with its information matrix: the inverse of its covariance.
            ///
            /// # Errors
            ///
            /// [`GraphError`] for a matrix that is not finite, not symmetric or not positive definite.
            pub fn new(measured: $measured, information: [[T; $residuals]; $residuals]) -> Result<Self, GraphError> {
                Ok($name { measured, root: root_of(information)? })
            }

            /// The measurement, with an information matrix that was rounded: eigenvalues that are zero or negative by at most 0.02, in
            /// the units in which the diagonal is one, count as zero.
            ///
            /// # Errors
            ///
            /// [`GraphError`] for a matrix that is not finite, not symmetric or not positive semi-definite.
            pub fn with_rounded_information(
                measured: $measured,
                information: [[T; $residuals]; $residuals],
            ) -> Result<Self, GraphError> {
                Ok($name { measured, root: rounded_root_of(information)? })
            }
        }

        impl<T: Real> CostFunction<T> for $name<T> {
            type Blocks = ($first, $second);

            fn residual_count(&self) -> usize {
                $residuals
            }

            #[inline]
            fn evaluate<S: Scalar<Real = T>>(&self, $blocks: &[&[S]], r: &mut [S]) -> Evaluated {
                let $this = self;
                multiply(&self.root, $error, r);
                Ok(())
            }
        }
    };
}

measurement! {
    /// A measured pose of a second pose, seen from a first, in the plane: `r = L log(M⁻¹ A⁻¹ B)`, with `LᵀL` the information matrix.
    ///
    /// Residuals are those of the translation, and the angle in radians.
    RelativePose2 of Pose2<T>: 3 residuals of (SE2, SE2);
    |this, blocks| {
        let (a, b) = (Pose2::from_slice(blocks[0]), Pose2::from_slice(blocks[1]));
        Pose2::constant(this.measured).between(a.between(b)).log()
    }
}

measurement! {
    /// A measured pose of a second pose, seen from a first, in space: `r = L log(M⁻¹ A⁻¹ B)`, with `LᵀL` the information matrix.
    ///
    /// Residuals are those of the translation, and the rotation vector in radians.
    RelativePose3 of Pose3<T>: 6 residuals of (SE3, SE3);
    |this, blocks| {
        let (a, b) = (Pose3::from_slice(blocks[0]), Pose3::from_slice(blocks[1]));
        Pose3::constant(this.measured).between(a.between(b)).log()
    }
}

measurement! {
    /// A measured pose of a second pose, seen from a first, in space, with an error of the rotation that is smooth everywhere: `r = L [t, 2v]`,
    /// with the translation `t` and the vector part `v` of the quaternion of `M⁻¹ A⁻¹ B`, and `LᵀL` the information matrix.
    ///
    /// An angle `θ` counts as `2 sin(θ/2)`, the chord, where [`RelativePose3`] counts it as `θ`, which jumps at half a turn. Of a poor
    /// start the minimum is found more often, and it lies elsewhere by the third order of the errors. Ceres' pose graphs have this error.
    ChordalPose3 of Pose3<T>: 6 residuals of (SE3, SE3);
    |this, blocks| {
        let (a, b) = (Pose3::from_slice(blocks[0]), Pose3::from_slice(blocks[1]));
        let Pose3 { translation: [x, y, z], rotation } = Pose3::constant(this.measured).between(a.between(b));
        [x, y, z, rotation.i + rotation.i, rotation.j + rotation.j, rotation.k + rotation.k]
    }
}

measurement! {
    /// A measured place of a point (landmark), seen from a pose, in the plane: `r = L (A⁻¹ p − m)`, with `LᵀL` the information matrix.
    RelativePoint2 of [T; 2]: 2 residuals of (SE2, Euclidean<2>);
    |this, blocks| {
        let [x, y] = Pose2::from_slice(blocks[0]).inverse_transform([blocks[1][0], blocks[1][1]]);
        [x - this.measured[0], y - this.measured[1]]
    }
}

measurement! {
    /// A measured place of a point (landmark), seen from a pose, in space: `r = L (A⁻¹ p − m)`, with `LᵀL` the information matrix.
    RelativePoint3 of [T; 3]: 3 residuals of (SE3, Euclidean<3>);
    |this, blocks| {
        let point = [blocks[1][0], blocks[1][1], blocks[1][2]];
        let [x, y, z] = Pose3::from_slice(blocks[0]).inverse_transform(point);
        [x - this.measured[0], y - this.measured[1], z - this.measured[2]]
    }
}

/// `r = Lv` for an upper triangle `L`; zeros are skipped.
#[inline(always)]
fn multiply<S: Scalar, const N: usize>(root: &[[S::Real; N]; N], v: [S; N], r: &mut [S]) {
    for (i, (r, row)) in r.iter_mut().zip(root).enumerate() {
        *r = v[i] * row[i];
        for j in i + 1..N {
            if row[j] != <S::Real as crate::number::Number>::from_f64(0.0) {
                *r += v[j] * row[j];
            }
        }
    }
}
