//! Conversions from and to nalgebra's rotations and isometries.

use nalgebra::{
    Complex, Isometry2, Isometry3, Quaternion, Rotation2 as Matrix2, Rotation3 as Matrix3, Translation2, Translation3,
    Unit, UnitComplex, UnitQuaternion,
};

use super::{Pose2, Pose3, Rotation2, Rotation3};

macro_rules! convert {
    ($($from:ty => $to:ty: |$value:ident| $convert:expr, $doc:literal;)*) => {
        $(
            #[doc = $doc]
            impl From<$from> for $to {
                #[inline]
                fn from($value: $from) -> $to {
                    $convert
                }
            }
        )*
    };
}

macro_rules! conversions {
    ($($float:ty),*) => {
        $(
            convert! {
                UnitComplex<$float> => Rotation2<$float>: |x| Rotation2 { cos: x.re, sin: x.im }, "The same numbers.";
                Rotation2<$float> => UnitComplex<$float>: |x| Unit::new_unchecked(Complex::new(x.cos, x.sin)),
                    "The same numbers, which must be of unit norm.";
                Matrix2<$float> => Rotation2<$float>: |x| Rotation2 { cos: x[(0, 0)], sin: x[(1, 0)] },
                    "The first column of the matrix.";
                Rotation2<$float> => Matrix2<$float>: |x| UnitComplex::from(x).to_rotation_matrix(),
                    "The rotation matrix.";
                UnitQuaternion<$float> => Rotation3<$float>: |x| Rotation3 { i: x.i, j: x.j, k: x.k, w: x.w },
                    "The same numbers.";
                Rotation3<$float> => UnitQuaternion<$float>:
                    |x| Unit::new_unchecked(Quaternion::new(x.w, x.i, x.j, x.k)),
                    "The same numbers, which must be of unit norm.";
                Matrix3<$float> => Rotation3<$float>: |x| UnitQuaternion::from_rotation_matrix(&x).into(),
                    "The quaternion of the rotation matrix.";
                Rotation3<$float> => Matrix3<$float>: |x| UnitQuaternion::from(x).to_rotation_matrix(),
                    "The rotation matrix.";
                Isometry2<$float> => Pose2<$float>:
                    |x| Pose2 { translation: [x.translation.x, x.translation.y], rotation: x.rotation.into() },
                    "The same numbers.";
                Pose2<$float> => Isometry2<$float>:
                    |x| Isometry2::from_parts(Translation2::from(x.translation), x.rotation.into()),
                    "The same numbers; the rotation must be of unit norm.";
                Isometry3<$float> => Pose3<$float>:
                    |x| Pose3 { translation: x.translation.vector.into(), rotation: x.rotation.into() },
                    "The same numbers.";
                Pose3<$float> => Isometry3<$float>:
                    |x| Isometry3::from_parts(Translation3::from(x.translation), x.rotation.into()),
                    "The same numbers; the rotation must be of unit norm.";
            }
        )*
    };
}

conversions!(f32, f64);
