//! Measured poses and points, seen from a pose: the edges of pose graphs.

use super::measurement::measurement;
use crate::manifold::{Euclidean, Pose2, Pose3, SE2, SE3};

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
