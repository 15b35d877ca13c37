//! The softmax of rows of logits.

use super::elementwise::least_root;
use crate::kernels::elementary::map;
use crate::kernels::exponential::exp;
use crate::kernels::simd::{self, Kernel};
use crate::real::Real;

/// Numbers that are worked on at a time.
const BLOCK: usize = 64;

/// The softmax of one row. Probabilities are made of numerators `exp(z − peak)`, shifted by the largest logit so that nothing
/// overflows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Softmax<T> {
    /// The largest logit.
    peak: T,
    /// Index of the number.
    at: usize,
    /// The sum of all other numerators: apart from the peak's 1, as it may be much smaller.
    rest: T,
}

impl<T: Real> Softmax<T> {
    pub(super) fn new(logits: &[T]) -> Self {
        let peak = largest(logits);
        let mut block = [T::ZERO; BLOCK];
        let (mut at, mut rest) = (None, T::ZERO);
        for (logits, first) in logits.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            let numerators = &mut block[..logits.len()];
            numerators.iter_mut().zip(logits).for_each(|(to, &z)| *to = z - peak);
            exponentiate(numerators);
            add_others(numerators, first, &mut at, &mut rest);
        }
        let at = at.unwrap_or(0);
        Softmax { peak: logits[at], at, rest }
    }

    /// From numerators that have been computed.
    fn of(logits: &[T], numerators: &[T]) -> Self {
        let (mut at, mut rest) = (None, T::ZERO);
        add_others(numerators, 0, &mut at, &mut rest);
        let at = at.unwrap_or(0);
        Softmax { peak: logits[at], at, rest }
    }

    /// `−ln p` of the class with this logit.
    pub(super) fn surprise(&self, logit: T) -> T {
        (self.peak - logit) + self.rest.ln_1p()
    }

    /// The factor that makes probabilities of numerators.
    fn share(&self) -> T {
        (T::ONE + self.rest).recip()
    }

    /// The probability of all other classes together, accurate where this one is nearly certain.
    fn others(&self, class: usize, numerator: T) -> T {
        let others = if class == self.at { self.rest } else { T::ONE + self.rest - numerator };
        others * self.share()
    }

    /// The derivative `p · total − target` by a class's logit, without the cancellation where both are nearly one.
    fn gradient(&self, class: usize, numerator: T, total: T, target: T) -> T {
        numerator * self.share() * (total - target) - self.others(class, numerator) * target
    }
}

/// Fills the gradients of rows with targets of these totals, and lets `see` each row, its number and its softmax.
pub(super) fn gradients<T: Real>(
    logits: &[T],
    width: usize,
    (total, target): (impl Fn(usize) -> T, impl Fn(usize, usize) -> T),
    gradients: &mut [T],
    mut see: impl FnMut(usize, &[T], Softmax<T>),
) {
    for (gradients, logits) in gradients.chunks_exact_mut(width).zip(logits.chunks_exact(width)) {
        let peak = largest(logits);
        gradients.iter_mut().zip(logits).for_each(|(to, &z)| *to = z - peak);
    }
    exponentiate(gradients);
    for (row, (gradients, logits)) in gradients.chunks_exact_mut(width).zip(logits.chunks_exact(width)).enumerate() {
        let (softmax, total) = (Softmax::of(logits, gradients), total(row));
        for (class, number) in gradients.iter_mut().enumerate() {
            *number = softmax.gradient(class, *number, total, target(row, class));
        }
        see(row, logits, softmax);
    }
}

/// Fills residuals and [centred](super::CurvatureRoot::Centred) roots of rows with targets of these totals: the second derivative
/// is `total (diag(p) − ppᵀ) = RᵀR` with `R = diag(s) (I − 𝟙pᵀ)` and `s² = total · p`, and the residuals are `g / s` for the
/// gradient `g = total · p − target`. Its numbers sum to zero, so that `Rᵀ` times the residuals is `g` for any `s`.
pub(super) fn residuals<T: Real>(
    logits: &[T],
    width: usize,
    (total, target): (impl Fn(usize) -> T, impl Fn(usize, usize) -> T),
    residuals: &mut [T],
    roots: &mut [T],
) {
    for (root, logits) in roots.chunks_exact_mut(2 * width).zip(logits.chunks_exact(width)) {
        let peak = largest(logits);
        // Half of it for the root of the probability, which is accurate where the probability underflows.
        let (halves, wholes) = root.split_at_mut(width);
        for ((half, whole), &z) in halves.iter_mut().zip(wholes).zip(logits) {
            *whole = z - peak;
            *half = T::from_f64(0.5) * *whole;
        }
    }
    exponentiate(roots);
    let rows = residuals.chunks_exact_mut(width).zip(roots.chunks_exact_mut(2 * width)).zip(logits.chunks_exact(width));
    for (row, ((residuals, root), logits)) in rows.enumerate() {
        let (s, p) = root.split_at_mut(width);
        let (softmax, total) = (Softmax::of(logits, p), total(row));
        let (share, root_share) = (softmax.share(), (total * softmax.share()).sqrt());
        for (class, ((residual, s), p)) in residuals.iter_mut().zip(s).zip(p).enumerate() {
            let t = target(row, class);
            *s *= root_share;
            *residual = *s;
            if t > T::ZERO {
                *s = s.max(least_root(t));
                *residual = softmax.gradient(class, *p, total, t) / *s;
            }
            *p *= share;
        }
    }
}

/// The largest number of a row.
fn largest<T: Real>(row: &[T]) -> T {
    row.iter().fold(row[0], |peak, &number| if number > peak { number } else { peak })
}

/// Finds the peak's numerator, which is one, and adds all others.
fn add_others<T: Real>(numerators: &[T], first: usize, at: &mut Option<usize>, rest: &mut T) {
    for (numerator, class) in numerators.iter().zip(first..) {
        if *numerator == T::ONE && at.is_none() {
            *at = Some(class);
        } else {
            *rest += *numerator;
        }
    }
}

/// Makes `eˣ` of every `x`.
fn exponentiate<T: Real>(numbers: &mut [T]) {
    simd::run(Exponentiate { numbers });
}

struct Exponentiate<'a, T> {
    numbers: &'a mut [T],
}

impl<T: Real> Kernel for Exponentiate<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let mut block = [T::ZERO; BLOCK];
        for numbers in self.numbers.chunks_mut(BLOCK) {
            let x = &mut block[..numbers.len()];
            x.copy_from_slice(numbers);
            map(x, numbers, exp::<T, FUSED>);
        }
    }
}
