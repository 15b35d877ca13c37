//! Similarity transforms: a pose, and a scale.

use super::{Manifold, Pose2, Pose3, SE2, SE3};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

macro_rules! similarity {
    (
        $similarity:ident, $manifold:ident of $pose:ident, $pose_manifold:ident:
        $dimension:literal, $ambient:literal, $tangent:literal, $numbers:literal
    ) => {
        #[doc = concat!("Similarity of dimension ", $dimension, ": `x ↦ t + s R x`, a pose with a scale. It maps points of a map without a unit of length to those of the world.")]
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $similarity<S> {
            /// Translation `t` and rotation `R`.
            pub pose: $pose<S>,
            /// Scale `s`, positive.
            pub scale: S,
        }

        impl<S: Scalar> $similarity<S> {
            /// The identity.
            #[inline]
            pub fn identity() -> Self {
                $similarity { pose: $pose::identity(), scale: S::constant(S::Real::from_f64(1.0)) }
            }

            #[doc = concat!("The similarity of `", $numbers, "`, a point of [`", stringify!($manifold), "`].")]
            ///
            /// # Panics
            ///
            /// If there is another number of entries.
            #[inline]
            pub fn from_slice(slice: &[S]) -> Self {
                $similarity { pose: $pose::from_slice(&slice[..slice.len() - 1]), scale: slice[slice.len() - 1] }
            }

            #[doc = concat!("The numbers `", $numbers, "`.")]
            #[inline]
            pub fn to_array(self) -> [S; $ambient + 1] {
                let mut numbers = [self.scale; $ambient + 1];
                numbers[..$ambient].copy_from_slice(&self.pose.to_array());
                numbers
            }

            /// The similarity by `other`, then by `self`.
            #[inline]
            pub fn compose(self, other: Self) -> Self {
                let translation = self.transform(other.pose.translation);
                let pose = $pose { translation, rotation: self.pose.rotation.compose(other.pose.rotation) };
                $similarity { pose, scale: self.scale * other.scale }
            }

            /// The similarity back.
            #[inline]
            pub fn inverse(self) -> Self {
                let translation = self.inverse_transform([S::constant(S::Real::from_f64(0.0)); $dimension]);
                $similarity { pose: $pose { translation, rotation: self.pose.rotation.inverse() }, scale: self.scale.recip() }
            }

            /// `self⁻¹ ∘ other`.
            #[inline]
            pub fn between(self, other: Self) -> Self {
                let translation = self.inverse_transform(other.pose.translation);
                let rotation = self.pose.rotation.between(other.pose.rotation);
                $similarity { pose: $pose { translation, rotation }, scale: other.scale / self.scale }
            }

            /// The point, scaled, rotated and moved.
            #[inline]
            pub fn transform(self, point: [S; $dimension]) -> [S; $dimension] {
                self.pose.transform(point.map(|x| x * self.scale))
            }

            /// The point, moved, rotated and scaled back.
            #[inline]
            pub fn inverse_transform(self, point: [S; $dimension]) -> [S; $dimension] {
                self.pose.inverse_transform(point).map(|x| x / self.scale)
            }
        }

        impl<S: Scalar<Real: Real>> $similarity<S> {
            #[doc = concat!("Logarithm of the pose, followed by that of the scale: the step of [`", stringify!($manifold), "`] that leads here from the identity, and a residual that is zero there.")]
            #[inline]
            pub fn step(self) -> [S; $tangent + 1] {
                let mut step = [self.scale.ln(); $tangent + 1];
                step[..$tangent].copy_from_slice(&self.pose.log());
                step
            }
        }

        #[doc = concat!("Similarities of dimension ", $dimension, ", stored as `", $numbers, "` with the scale `s` last.")]
        ///
        #[doc = concat!("A step is that of [`", stringify!($pose_manifold), "`] in the frame of the body, in whose unit its lengths are, and the logarithm of a factor of the scale: `x ⊞ δ = x ∘ (exp(δ₁), exp(δ₂))`. [`", stringify!($similarity), "`] is an element that computes.")]
        ///
        /// ```
        #[doc = concat!("use marquardt::manifold::{Manifold, ", stringify!($manifold), ", ", stringify!($similarity), "};")]
        ///
        #[doc = concat!("let mut x = ", stringify!($similarity), "::<f64>::identity();")]
        /// x.scale = 2.0;
        #[doc = concat!("let (mut moved, mut step) = (x.to_array(), [0.0; ", $tangent, " + 1]);")]
        /// step[0] = 1.0;
        #[doc = concat!(stringify!($manifold), ".plus(&x.to_array(), &step, &mut moved);")]
        /// assert_eq!(moved[0], 2.0);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $manifold;

        impl<T: Real> Manifold<T> for $manifold {
            #[inline]
            fn ambient_size(&self) -> usize {
                $ambient + 1
            }

            #[inline]
            fn tangent_size(&self) -> usize {
                $tangent + 1
            }

            #[inline]
            fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]) {
                let mut twist = [T::ZERO; $tangent];
                twist.copy_from_slice(&delta[..$tangent]);
                let step = $similarity { pose: $pose::exp(twist), scale: delta[$tangent].exp() };
                moved.copy_from_slice(&$similarity::from_slice(x).compose(step).to_array());
            }

            #[inline]
            fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
                delta.copy_from_slice(&$similarity::from_slice(x).between($similarity::from_slice(y)).step());
            }

            fn plus_jacobian(&self, x: &[T], jacobian: &mut [T]) {
                let scale = x[$ambient];
                let mut own = [T::ZERO; $ambient * $tangent];
                $pose_manifold.plus_jacobian(&x[..$ambient], &mut own);
                for (row, (full, own)) in
                    jacobian.chunks_exact_mut($tangent + 1).zip(own.chunks_exact($tangent)).enumerate()
                {
                    let factor = if row < $dimension { scale } else { T::ONE };
                    full.iter_mut().zip(own).for_each(|(entry, &own)| *entry = factor * own);
                    full[$tangent] = T::ZERO;
                }
                let last = $ambient * ($tangent + 1);
                jacobian[last..].fill(T::ZERO);
                jacobian[last + $tangent] = scale;
            }

            fn contains(&self, x: &[T]) -> bool {
                x.len() == $ambient + 1
                    && $pose_manifold.contains(&x[..$ambient])
                    && x[$ambient] > T::ZERO
                    && x[$ambient].is_finite()
            }

            fn normalize(&self, x: &mut [T]) {
                $pose_manifold.normalize(&mut x[..$ambient]);
            }

            /// The length of the translation in the unit of the body, and one for angles and the scale.
            fn sizes(&self, x: &[T], sizes: &mut [T]) {
                $pose_manifold.sizes(&x[..$ambient], &mut sizes[..$tangent]);
                sizes[..$dimension].iter_mut().for_each(|size| *size /= x[$ambient]);
                sizes[$tangent] = T::ONE;
            }

            fn name(&self) -> String {
                stringify!($manifold).to_owned()
            }
        }
    };
}

similarity!(Similarity2, Sim2 of Pose2, SE2: 2, 4, 3, "[x, y, cos, sin, s]");
similarity!(Similarity3, Sim3 of Pose3, SE3: 3, 7, 6, "[x, y, z, i, j, k, w, s]");
