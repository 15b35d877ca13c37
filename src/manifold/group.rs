//! Groups: their operators, and the manifolds that they are.

/// Operations common to groups of rotations and poses: `*` composes, the default is the identity, and an element is written to a slice.
macro_rules! group_operators {
    ($group:ident, $numbers:literal) => {
        impl<S: Scalar> $group<S> {
            #[doc = concat!("Writes the numbers `", $numbers, "`.")]
            ///
            /// # Panics
            ///
            /// If the slice has another number of entries.
            #[inline]
            pub fn to_slice(self, slice: &mut [S]) {
                slice.copy_from_slice(&self.to_array());
            }
        }

        impl<S: Scalar> std::ops::Mul for $group<S> {
            type Output = Self;
            #[inline]
            fn mul(self, other: Self) -> Self {
                self.compose(other)
            }
        }

        impl<T: Real> Default for $group<T> {
            fn default() -> Self {
                Self::identity()
            }
        }
    };
}

/// Methods of poses that read the same in the plane and in space: `$i` are the axes, in full, so that `between` is inlined.
macro_rules! pose_methods {
    ($pose:ident of $rotation:ident, $dimension:literal: $($i:literal)+) => {
        impl<S: Scalar> $pose<S> {
            /// The pose at the origin.
            #[inline]
            pub fn identity() -> Self {
                let zero = S::constant(S::Real::from_f64(0.0));
                $pose { translation: [zero; $dimension], rotation: $rotation::identity() }
            }

            /// A pose of plain numbers, as one whose derivatives are zero.
            #[inline]
            pub fn constant(pose: $pose<S::Real>) -> Self {
                $pose { translation: pose.translation.map(S::constant), rotation: $rotation::constant(pose.rotation) }
            }

            /// The motion by `other`, then by `self`: also `self * other`.
            #[inline]
            pub fn compose(self, other: Self) -> Self {
                let translation = self.transform(other.translation);
                $pose { translation, rotation: self.rotation.compose(other.rotation) }
            }

            /// The motion back.
            #[inline]
            pub fn inverse(self) -> Self {
                let translation = self.rotation.inverse_transform(self.translation).map(|x| -x);
                $pose { translation, rotation: self.rotation.inverse() }
            }

            /// `self⁻¹ ∘ other`: the pose `other` as seen from `self`. Cheaper than by way of the inverse.
            #[inline]
            pub fn between(self, other: Self) -> Self {
                let translation = self.inverse_transform(other.translation);
                $pose { translation, rotation: self.rotation.between(other.rotation) }
            }

            /// The point of the body, in the world.
            #[inline]
            pub fn transform(self, point: [S; $dimension]) -> [S; $dimension] {
                let rotated = self.rotation.transform(point);
                [$(rotated[$i] + self.translation[$i]),+]
            }

            /// The point of the world, in the body.
            #[inline]
            pub fn inverse_transform(self, point: [S; $dimension]) -> [S; $dimension] {
                self.rotation.inverse_transform([$(point[$i] - self.translation[$i]),+])
            }

            /// The pose with the norm of its rotation made one.
            #[inline]
            pub fn normalize(self) -> Self {
                $pose { rotation: self.rotation.normalize(), ..self }
            }
        }
    };
}

/// The manifold of a group: `x ⊞ δ = x exp(δ)`. A point consists of a translation, empty for rotations, and of a unit vector.
macro_rules! group_manifold {
    (
        $manifold:ident of $group:ident: $translation:literal + $unit:literal => $tangent:literal;
        $delta:ident => $exp:expr; $element:ident => $log:expr; $x:ident => $jacobian:expr
    ) => {
        impl<T: Real> Manifold<T> for $manifold {
            #[inline]
            fn ambient_size(&self) -> usize {
                $translation + $unit
            }
            #[inline]
            fn tangent_size(&self) -> usize {
                $tangent
            }
            #[inline]
            fn plus(&self, x: &[T], $delta: &[T], moved: &mut [T]) {
                ($group::from_slice(x) * $exp).to_slice(moved);
            }
            #[inline]
            fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
                let $element = $group::from_slice(x).between($group::from_slice(y));
                delta.copy_from_slice(&$log);
            }
            #[inline]
            fn plus_jacobian(&self, $x: &[T], jacobian: &mut [T]) {
                jacobian.copy_from_slice($jacobian.as_flattened());
            }
            fn contains(&self, x: &[T]) -> bool {
                let is_whole = x.len() == $translation + $unit;
                is_whole && x[..$translation].iter().all(|x| x.is_finite()) && has_unit_norm(&x[$translation..])
            }
            fn normalize(&self, x: &mut [T]) {
                normalize(&mut x[$translation..]);
            }
            /// The length of the translation, and one for angles.
            fn sizes(&self, x: &[T], sizes: &mut [T]) {
                let length = x[..$translation].iter().map(|&x| x * x).sum::<T>().sqrt();
                let (translations, angles) = sizes.split_at_mut($translation);
                translations.fill(length);
                angles.fill(T::ONE);
            }
            fn name(&self) -> String {
                stringify!($manifold).to_owned()
            }
        }
    };
}

pub(super) use {group_manifold, group_operators, pose_methods};
