//! Roots of second derivatives under which constant changes vanish.

use super::columns::{LaneColumns, NARROW, RowSpan, select_class};
use crate::kernels::lanes::{LaneKernel, Register};
use crate::kernels::simd::{self, Kernel};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// `R = diag(s) (I − 𝟙pᵀ)` of each sample, where `p` sums to one.
///
/// Every product is computed without `1 − p` of the largest `p`, which may be nearly one.
pub(crate) struct CentredRoots<'a, T> {
    /// `s` and then `p` of each sample.
    numbers: &'a [T],
    width: usize,
}

impl<'a, T: Real> CentredRoots<'a, T> {
    pub(crate) fn new(numbers: &'a [T], width: usize) -> Self {
        CentredRoots { numbers, width }
    }

    /// Row `k` of every sample's `R`.
    pub(crate) fn row(&self, k: usize, to: &mut [T]) {
        for (to, numbers) in to.chunks_exact_mut(self.width).zip(self.numbers.chunks_exact(2 * self.width)) {
            let (s, p) = numbers.split_at(self.width);
            let others = p.iter().enumerate().map(|(j, &p)| if j == k { T::ZERO } else { p }).sum::<T>();
            to.iter_mut().zip(p).for_each(|(to, &p)| *to = -s[k] * p);
            to[k] = s[k] * others;
        }
    }

    /// `R v` for parts of rows.
    pub(crate) fn times(&self, (v, of): (&[T], RowSpan), (to, part): (&mut [T], RowSpan)) {
        let CentredRoots { numbers, width } = *self;
        CentredProduct { numbers, width, factors: (v, of), to: (to, part), is_transposed: false, adds: false }.form();
    }

    /// `Rᵀ u` for parts of rows, in place of what is there or added to it.
    pub(crate) fn transposed_times(&self, (u, of): (&[T], RowSpan), (to, part): (&mut [T], RowSpan), adds: bool) {
        let CentredRoots { numbers, width } = *self;
        CentredProduct { numbers, width, factors: (u, of), to: (to, part), is_transposed: true, adds }.form();
    }
}

/// The product of every sample's root, or its transpose.
struct CentredProduct<'a, T> {
    numbers: &'a [T],
    width: usize,
    factors: (&'a [T], RowSpan),
    to: (&'a mut [T], RowSpan),
    is_transposed: bool,
    adds: bool,
}

impl<T: Real> CentredProduct<'_, T> {
    fn form(self) {
        if self.width > NARROW {
            simd::run(self);
        } else {
            T::run_in_lanes(self);
        }
    }
}

/// Samples one by one.
impl<T: Real> Kernel for CentredProduct<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let CentredProduct { numbers, width, factors: (factors, of), to: (to, part), is_transposed, adds } = self;
        let rows = numbers.chunks_exact(2 * width).zip(of.of(factors, width)).zip(part.of_mut(to, width));
        for ((numbers, factors), to) in rows {
            let (s, p) = numbers.split_at(width);
            Root { s, p }.product(factors, to, is_transposed, adds);
        }
    }
}

/// Samples side by side.
impl<T: Real> LaneKernel<T> for CentredProduct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<R: Register<T>>(self) {
        let CentredProduct { numbers, width, factors: (factors, of), to: (to, part), is_transposed, adds } = self;
        let (mut s_columns, mut p_columns) = (LaneColumns::<T, R>::new(), LaneColumns::<T, R>::new());
        let (mut factor_columns, mut product) = (LaneColumns::<T, R>::new(), LaneColumns::<T, R>::new());
        let [s_part, p_part] = [0, width].map(|first| RowSpan { stride: 2 * width, first });
        let blocks = numbers.chunks(2 * width * R::LANES).zip(factors.chunks(of.stride * R::LANES));
        for ((numbers, factors), to) in blocks.zip(to.chunks_mut(part.stride * R::LANES)) {
            let s = s_columns.load(s_part.of(numbers, width), width);
            let p = p_columns.load(p_part.of(numbers, width), width);
            let factors = factor_columns.load(of.of(factors, width), width);
            if adds {
                product.load(part.of(to, width), width);
            }
            Root { s, p }.product(factors, product.first(width), is_transposed, adds);
            product.store(part.of_mut(to, width));
        }
    }
}

/// The root of a sample, or those of samples side by side.
struct Root<'a, N> {
    s: &'a [N],
    p: &'a [N],
}

impl<N: Number> Root<'_, N> {
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn product(&self, factors: &[N], to: &mut [N], is_transposed: bool, adds: bool) {
        if is_transposed {
            self.transposed_times(factors, to, adds);
        } else {
            self.times(factors, to);
        }
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn times(&self, v: &[N], to: &mut [N]) {
        let (peak, zero) = (self.peak(), N::from_f64(0.0));
        let of_peak = v.iter().enumerate().fold(zero, |found, (class, &v)| select_class(peak, class, v, found));
        let mean = self.p.iter().zip(v).fold(zero, |sum, (&p, &v)| sum + p * (v - of_peak));
        for ((to, &s), &v) in to.iter_mut().zip(self.s).zip(v) {
            *to = s * ((v - of_peak) - mean);
        }
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn transposed_times(&self, u: &[N], to: &mut [N], adds: bool) {
        let (peak, zero) = (self.peak(), N::from_f64(0.0));
        // Of the largest `p`, and sums over all others.
        let [mut p_of_peak, mut product_of_peak, mut improbable, mut others] = [zero; 4];
        let numbers = || self.s.iter().zip(self.p).zip(u).enumerate();
        for (class, ((&s, &p), &u)) in numbers() {
            let product = s * u;
            p_of_peak = select_class(peak, class, p, p_of_peak);
            product_of_peak = select_class(peak, class, product, product_of_peak);
            improbable += select_class(peak, class, zero, p);
            others += select_class(peak, class, zero, product);
        }
        let (at_peak, sum) = (product_of_peak * improbable - p_of_peak * others, others + product_of_peak);
        for (to, (class, ((&s, &p), &u))) in to.iter_mut().zip(numbers()) {
            let product = select_class(peak, class, at_peak, s * u - p * sum);
            *to = if adds { *to + product } else { product };
        }
    }

    /// Index of the largest `p`, the first if there are several.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn peak(&self) -> N {
        let (mut at, mut largest) = (N::from_f64(0.0), self.p[0]);
        for (class, &p) in self.p.iter().enumerate() {
            at = largest.select_less(p, N::from_f64(f64::from(class as i32)), at);
            largest = Scalar::max(largest, p);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::registers::tests::in_all;

    /// All products of samples with these numbers: rows of `R`, `R v`, and `1 + Rᵀ u`.
    fn products(numbers: &[f64], width: usize, v: &[f64], u: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
        let (roots, part) = (CentredRoots::new(numbers, width), RowSpan::whole(width));
        let mut rows = vec![vec![f64::NAN; v.len()]; width];
        (0..width).for_each(|k| roots.row(k, &mut rows[k]));
        let (mut product, mut transposed) = (vec![f64::NAN; v.len()], vec![1.0; v.len()]);
        roots.times((v, part), (&mut product, part));
        roots.transposed_times((u, part), (&mut transposed, part), true);
        (rows, product, transposed)
    }

    /// Rows side by side and alone, and a last block that is not full.
    #[test]
    fn products_are_those_with_the_matrix() {
        in_all(|| {
            for (width, samples) in [(1, 3), (3, 1), (3, 16), (10, 37), (NARROW, 17), (NARROW + 1, 5), (100, 2)] {
                let number = |k: usize| (1.0 + (k as f64 * 0.7).sin()) / width as f64;
                let mut numbers: Vec<f64> = (0..2 * width * samples).map(number).collect();
                for p in numbers.chunks_exact_mut(width).skip(1).step_by(2) {
                    let sum: f64 = p.iter().sum();
                    p.iter_mut().for_each(|p| *p /= sum);
                }
                let v: Vec<f64> = (0..width * samples).map(|k| (k as f64).cos()).collect();
                let u: Vec<f64> = (0..width * samples).map(|k| (2.0 * k as f64).sin()).collect();
                let (rows, product, transposed) = products(&numbers, width, &v, &u);
                let close = |a: f64, b: f64| (a - b).abs() < 1e-14;
                for sample in 0..samples {
                    let at = sample * width;
                    let s = &numbers[2 * at..2 * at + width];
                    let p = &numbers[2 * at + width..2 * at + 2 * width];
                    let entry = |k: usize, j: usize| s[k] * (f64::from(u8::from(k == j)) - p[j]);
                    for k in 0..width {
                        assert!((0..width).all(|j| close(rows[k][at + j], entry(k, j))));
                        assert!(close(product[at + k], (0..width).map(|j| entry(k, j) * v[at + j]).sum()));
                        let expected = 1.0 + (0..width).map(|j| entry(j, k) * u[at + j]).sum::<f64>();
                        assert!(close(transposed[at + k], expected));
                    }
                }
            }
        });
    }

    /// Rows of two losses beside each other.
    #[test]
    fn other_parts_of_rows_are_left_alone() {
        let (numbers, width) = ([0.5, 0.7, 0.75, 0.25].repeat(20), 2);
        let part = RowSpan { stride: 5, first: 2 };
        let (mut to, ones) = (vec![7.0; 100], [1.0; 40]);
        CentredRoots::new(&numbers, width).times((&ones, RowSpan::whole(2)), (&mut to, part));
        assert!(to.chunks(5).all(|row| row == [7.0, 7.0, 0.0, 0.0, 7.0]));
    }

    /// A class that is certain but for `1e-40` leaves products of that size, in all digits.
    #[test]
    fn nothing_cancels_where_one_probability_is_nearly_one() {
        let (p, s) = (1e-40, 1e-20);
        let (rows, product, _) = products(&[1.0, s, 1.0, p], 2, &[1.0, 3.0], &[1.0, 0.0]);
        let mut transposed = [0.0; 2];
        let part = RowSpan::whole(2);
        CentredRoots::new(&[1.0, s, 1.0, p], 2).transposed_times((&[1.0, 0.0], part), (&mut transposed, part), false);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-15 * b.abs();
        assert!(close(product[0], -2.0 * p) && close(product[1], 2.0 * s), "{product:?}");
        assert!(close(transposed[0], p) && close(transposed[1], -p), "{transposed:?}");
        assert!(close(rows[0][0], p) && close(rows[0][1], -p), "{rows:?}");
    }
}
