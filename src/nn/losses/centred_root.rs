//! Roots of second derivatives under which constant changes vanish.

use crate::nn::arithmetic::put;
use crate::real::Real;

/// `R = diag(s) (I − 𝟙pᵀ)` of one sample, where `p` sums to one.
///
/// Every product is computed without `1 − p` of the largest `p`, which may be nearly one.
pub(crate) struct CentredRoot<'a, T> {
    s: &'a [T],
    p: &'a [T],
}

impl<'a, T: Real> CentredRoot<'a, T> {
    /// From `s` and `p`, one after the other.
    pub(crate) fn new(numbers: &'a [T]) -> Self {
        let (s, p) = numbers.split_at(numbers.len() / 2);
        CentredRoot { s, p }
    }

    /// Row `k` of `R`.
    pub(crate) fn row(&self, k: usize, to: &mut [T]) {
        let s = self.s[k];
        let others = sum_without(k, self.p.iter().copied());
        to.iter_mut().zip(self.p).for_each(|(to, &p)| *to = -s * p);
        to[k] = s * others;
    }

    /// `R v`.
    pub(crate) fn times(&self, v: &[T], to: &mut [T]) {
        let shift = v[self.peak()];
        let mean: T = self.p.iter().zip(v).map(|(&p, &v)| p * (v - shift)).sum();
        for ((to, &s), &v) in to.iter_mut().zip(self.s).zip(v) {
            *to = s * ((v - shift) - mean);
        }
    }

    /// `Rᵀ u`, in place of what is there or added to it.
    pub(crate) fn transposed_times(&self, u: &[T], to: &mut [T], add: bool) {
        let peak = self.peak();
        let others = sum_without(peak, self.s.iter().zip(u).map(|(&s, &u)| s * u));
        let improbable = sum_without(peak, self.p.iter().copied());
        let of_peak = self.s[peak] * u[peak];
        let (before, sum) = (to[peak], others + of_peak);
        put(to, add, self.s.iter().zip(self.p).zip(u).map(|((&s, &p), &u)| s * u - p * sum));
        let product = of_peak * improbable - self.p[peak] * others;
        to[peak] = if add { before + product } else { product };
    }

    /// Index of the largest `p`.
    fn peak(&self) -> usize {
        (1..self.p.len()).fold(0, |at, k| if self.p[k] > self.p[at] { k } else { at })
    }
}

/// The sum of all numbers but one.
fn sum_without<T: Real>(place: usize, numbers: impl Iterator<Item = T>) -> T {
    numbers.enumerate().map(|(k, number)| if k == place { T::ZERO } else { number }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_with_the_matrix() {
        let numbers = [0.5, 0.7, 0.1, 0.25, 0.6, 0.15];
        let root = CentredRoot::new(&numbers);
        let entry = |k: usize, j: usize| numbers[k] * (f64::from(u8::from(k == j)) - numbers[3 + j]);
        let (v, u) = ([1.0, -2.0, 0.5], [0.3, 0.4, -0.9]);
        let (mut rows, mut product, mut transposed) = ([[0.0; 3]; 3], [0.0; 3], [1.0; 3]);
        (0..3).for_each(|k| root.row(k, &mut rows[k]));
        root.times(&v, &mut product);
        root.transposed_times(&u, &mut transposed, true);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-15;
        for k in 0..3 {
            assert!((0..3).all(|j| close(rows[k][j], entry(k, j))));
            assert!(close(product[k], (0..3).map(|j| entry(k, j) * v[j]).sum()));
            assert!(close(transposed[k], 1.0 + (0..3).map(|j| entry(j, k) * u[j]).sum::<f64>()));
        }
    }

    /// A class that is certain but for `1e-40` leaves products of that size, in all digits.
    #[test]
    fn nothing_cancels_where_one_probability_is_nearly_one() {
        let (p, s) = (1e-40, 1e-20);
        let numbers = [1.0, s, 1.0, p];
        let root = CentredRoot::new(&numbers);
        let (mut product, mut transposed, mut row) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        root.times(&[1.0, 3.0], &mut product);
        root.transposed_times(&[1.0, 0.0], &mut transposed, false);
        root.row(0, &mut row);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-15 * b.abs();
        assert!(close(product[0], -2.0 * p) && close(product[1], 2.0 * s), "{product:?}");
        assert!(close(transposed[0], p) && close(transposed[1], -p), "{transposed:?}");
        assert!(close(row[0], p) && close(row[1], -p), "{row:?}");
    }
}
