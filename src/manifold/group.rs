//! Groups: their operators, and the manifolds that they are.

/// Operators of a group of rotations or poses: `*` composes, and the default is the identity.
macro_rules! group_operators {
    ($group:ident) => {
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

pub(super) use {group_manifold, group_operators};
