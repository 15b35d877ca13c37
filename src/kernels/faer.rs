//! Singular values by the crate faer, on slices that are row-major.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Col, Mat, MatRef, Par, Spec};

use super::simd::clear_upper_halves;
use super::vectors::Vectors;

/// The singular values of a square matrix of finite entries, largest first, and its right singular vectors, one a row; `None` if they do
/// not converge.
pub(super) fn singular_values<T: Vectors>(a: &[T], n: usize) -> Option<(Vec<T>, Vec<T>)> {
    let (mut values, mut vectors) = (Col::<T>::zeros(n), Mat::<T>::zeros(n, n));
    let (none, all) = (ComputeSvdVectors::No, ComputeSvdVectors::Full);
    let mut memory = MemBuffer::new(svd_scratch::<T>(n, n, none, all, Par::Seq, Spec::default()));
    let (a, of_values, stack) = (MatRef::from_row_major_slice(a, n, n), values.as_mut(), MemStack::new(&mut memory));
    let found = svd(a, of_values.as_diagonal_mut(), None, Some(vectors.as_mut()), Par::Seq, stack, Spec::default());
    clear_upper_halves();
    found.ok()?;
    let vectors = (0..n).flat_map(|k| vectors.col(k).iter().copied()).collect();
    Some((values.iter().copied().collect(), vectors))
}

/// The crate's kernels beside faer's.
#[cfg(test)]
mod tests {
    use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
    use proptest::prelude::*;

    use super::*;
    use crate::kernels::registers::tests::in_all;
    use crate::kernels::{Kernels, Scratch};

    /// Entries between −1 and 1.
    fn entries<T: Vectors>(count: usize, seed: usize) -> Vec<T> {
        (0..count).map(|k| T::from_f64((((k * k + seed) as f64 * 12.9898).sin() * 43758.5453) % 1.0)).collect()
    }

    /// Asserts that two matrices agree to a number of roundings of the largest entry.
    fn agree<T: Vectors>(what: &str, ours: impl Iterator<Item = T>, theirs: impl Iterator<Item = T>, rounding: f64) {
        let pairs: Vec<(f64, f64)> = ours.map(T::to_f64).zip(theirs.map(T::to_f64)).collect();
        let largest = pairs.iter().fold(0.0_f64, |largest, pair| largest.max(pair.1.abs()));
        for (ours, theirs) in pairs {
            assert!(
                (ours - theirs).abs() <= rounding * T::EPSILON.to_f64() * largest,
                "{what}: {ours} is not {theirs}"
            );
        }
    }

    fn products_agree<T: Vectors>(m: usize, n: usize, seed: usize) {
        let (rows, r) = (entries::<T>(m * n, seed), entries::<T>(m, seed + 1));
        let j = MatRef::from_row_major_slice(&rows, m, n);
        let (mut gram, mut gradient) = (vec![T::ZERO; n * n], vec![T::ZERO; n]);
        T::add_products(&mut gram, &mut gradient, &rows, &r);
        let lower = |n: usize| (0..n).flat_map(|i| (0..=i).map(move |k| (i, k)));
        let rounding = 10.0 * (m + n) as f64;
        let expected = j.transpose() * j;
        agree("JᵀJ", lower(n).map(|(i, k)| gram[i * n + k]), lower(n).map(|at| expected[at]), rounding);
        let expected = j.transpose() * faer::ColRef::from_slice(&r);
        agree("Jᵀr", gradient.into_iter(), expected.iter().copied(), rounding);
        let mut row_gram = vec![T::ZERO; m * m];
        T::row_gram(&mut row_gram, &rows, n);
        let expected = j * j.transpose();
        agree("JJᵀ", lower(m).map(|(i, k)| row_gram[i * m + k]), lower(m).map(|at| expected[at]), rounding);
        // The triangle of QR, with rows of either sign.
        let (mut triangle, mut rotated) = (vec![T::ZERO; n * n], vec![T::ZERO; n]);
        crate::kernels::triangular::absorb_rows(
            &mut triangle,
            &mut rotated,
            &mut rows.clone(),
            &mut r.clone(),
            &mut vec![T::ZERO; n],
        );
        if m >= 2 * n {
            let expected = j.qr().thin_R().to_owned();
            let upper = || lower(n).map(|(i, k)| (k, i));
            let ours = upper().map(|(i, k)| triangle[i * n + k].abs());
            agree("R", ours, upper().map(|at| expected[at].abs()), 100.0 * rounding);
        }
    }

    /// Factorises `JᵀJ`, or an indefinite matrix, both ways. The smallest eigenvalue is far from the limit of what is sound.
    fn factors_agree<T: Vectors>(n: usize, seed: usize, shift: f64) {
        let j = entries::<T>(n * n, seed);
        let j = MatRef::from_row_major_slice(&j, n, n);
        let mut matrix = j.transpose() * j;
        (0..n).for_each(|i| matrix[(i, i)] += T::from_f64(shift * n as f64));
        let mut a: Vec<T> = (0..n * n).map(|k| matrix[(k / n, k % n)]).collect();
        let (mut inverse_pivots, mut scratch) = (vec![T::ZERO; n], Scratch::default());
        let is_definite = T::cholesky(&mut a, &mut inverse_pivots, &mut scratch);
        let mut memory = MemBuffer::new(cholesky_in_place_scratch::<T>(n, Par::Seq, Spec::default()));
        let stack = MemStack::new(&mut memory);
        let expected = cholesky_in_place(matrix.as_mut(), Default::default(), Par::Seq, stack, Spec::default());
        assert_eq!(is_definite, expected.is_ok(), "{n} unknowns, shifted by {shift}");
        if is_definite {
            let below = || (0..n).flat_map(|i| (0..i).map(move |k| (i, k)));
            let theirs = below().map(|(i, k)| matrix[(i, k)] / matrix[(k, k)]);
            agree("L", below().map(|(i, k)| a[k * n + i]), theirs, 100.0 * n as f64);
            let theirs = (0..n).map(|i| (matrix[(i, i)] * matrix[(i, i)]).recip());
            agree("D⁻¹", inverse_pivots.into_iter(), theirs, 100.0 * n as f64);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn kernels_agree(
            (m, n) in (1..80_usize, 1..70_usize),
            seed in 0..1000_usize,
            shift in prop_oneof![Just(0.3), Just(-0.1), Just(-2.0)],
        ) {
            in_all(|| {
                products_agree::<f64>(m, n, seed);
                products_agree::<f32>(m, n, seed);
                factors_agree::<f64>(n, seed, shift);
                factors_agree::<f32>(n, seed, shift);
            });
        }
    }

    /// More than a panel, a band, or the depth of a tile.
    #[test]
    fn large_kernels_agree() {
        for (m, n) in [(300, 150), (90, 270)] {
            products_agree::<f64>(m, n, 7);
            products_agree::<f32>(m, n, 7);
        }
        for n in [64, 65, 145, 320] {
            for shift in [0.3, -0.1] {
                factors_agree::<f64>(n, 3, shift);
                factors_agree::<f32>(n, 3, shift);
            }
        }
    }

    #[test]
    fn strange_numbers_are_refused() {
        for strange in [f64::NAN, f64::INFINITY] {
            for n in [20, 40, 150] {
                let mut a: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 { 2.0 } else { 0.0 }).collect();
                a[(n - 1) * n + n / 2] = strange;
                assert!(!f64::cholesky(&mut a.clone(), &mut vec![0.0; n], &mut Scratch::default()), "{n}");
                assert!(f64::singular_values(&a, n).is_none(), "{n}");
            }
        }
    }
}
