//! One row after the other.

use super::super::elementwise::least_root;
use super::{LogitRows, RowTargets, Softmax, derivative};
use crate::nn::Function;
use crate::real::Real;

/// Entries that are worked on at a time.
const BLOCK: usize = 64;

/// See [`LogitRows::losses`].
pub(super) fn losses<T: Real>(rows: LogitRows<'_, T>, losses: &mut [T]) {
    let mut block = [T::ZERO; BLOCK];
    for (row, (loss, logits)) in losses.iter_mut().zip(rows.logits.chunks_exact(rows.width)).enumerate() {
        let mut softmax = Softmax::before(largest(logits));
        for (logits, first) in logits.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            let numerators = &mut block[..logits.len()];
            numerators.iter_mut().zip(logits).for_each(|(to, &z)| *to = z - softmax.peak);
            Function::Exp.apply(numerators);
            softmax.add(numerators, first);
        }
        *loss = rows.loss(row, &softmax);
    }
}

/// See [`LogitRows::gradients`].
pub(super) fn gradients<T: Real>(rows: LogitRows<'_, T>, gradients: &mut [T], mut losses: Option<&mut [T]>) {
    let width = rows.width;
    for (gradient, logits) in gradients.chunks_exact_mut(width).zip(rows.logits.chunks_exact(width)) {
        let peak = largest(logits);
        gradient.iter_mut().zip(logits).for_each(|(to, &z)| *to = z - peak);
    }
    Function::Exp.apply(gradients);
    for (row, (gradient, logits)) in gradients.chunks_exact_mut(width).zip(rows.logits.chunks_exact(width)).enumerate()
    {
        let softmax = Softmax::of_numerators(logits, gradient);
        let share = softmax.share();
        match rows.targets {
            // Without a target, the derivative is the probability.
            RowTargets::Labels(labels) => {
                let class = class_of(labels[row]);
                let of_class = softmax.derivative(class, gradient[class], share, T::ONE, T::ONE);
                gradient.iter_mut().for_each(|number| *number *= share);
                gradient[class] = of_class;
            }
            RowTargets::Probabilities(targets) => {
                let targets = &targets[row * width..][..width];
                let (total, peak) = (targets.iter().copied().sum(), class_of(softmax.at));
                let of_peak = softmax.derivative(peak, gradient[peak], share, total, targets[peak]);
                for (number, &target) in gradient.iter_mut().zip(targets) {
                    *number = derivative(*number, softmax.without(*number), share, total, target);
                }
                gradient[peak] = of_peak;
            }
        }
        if let Some(losses) = &mut losses {
            losses[row] = rows.loss(row, &softmax);
        }
    }
}

/// See [`LogitRows::residuals`].
pub(super) fn residuals<T: Real>(rows: LogitRows<'_, T>, residuals: &mut [T], roots: &mut [T]) {
    let width = rows.width;
    for (root, logits) in roots.chunks_exact_mut(2 * width).zip(rows.logits.chunks_exact(width)) {
        let peak = largest(logits);
        // Half of it for the root of the probability, which is accurate where the probability underflows.
        let (halves, wholes) = root.split_at_mut(width);
        for ((half, whole), &z) in halves.iter_mut().zip(wholes).zip(logits) {
            *whole = z - peak;
            *half = T::from_f64(0.5) * *whole;
        }
    }
    Function::Exp.apply(roots);
    let of_rows = residuals.chunks_exact_mut(width).zip(roots.chunks_exact_mut(2 * width));
    for (row, ((residuals, root), logits)) in of_rows.zip(rows.logits.chunks_exact(width)).enumerate() {
        let (s, p) = root.split_at_mut(width);
        let softmax = Softmax::of_numerators(logits, p);
        let (share, total) = (softmax.share(), rows.total(row));
        let root_share = (total * share).sqrt();
        // Of a class that has a target, and a numerator for its `p`.
        let pulled = |class: usize, target: T, s: T, numerator: T| {
            let s = s.max(least_root(target));
            (s, softmax.derivative(class, numerator, share, total, target) / s)
        };
        for (s, residual) in s.iter_mut().zip(&mut *residuals) {
            *s *= root_share;
            *residual = *s;
        }
        match rows.targets {
            RowTargets::Labels(labels) => {
                let class = class_of(labels[row]);
                (s[class], residuals[class]) = pulled(class, T::ONE, s[class], p[class]);
            }
            RowTargets::Probabilities(targets) => {
                let with_targets = targets[row * width..][..width].iter().enumerate().filter(|&(_, &t)| t > T::ZERO);
                for (class, &target) in with_targets {
                    (s[class], residuals[class]) = pulled(class, target, s[class], p[class]);
                }
            }
        }
        p.iter_mut().for_each(|p| *p *= share);
    }
}

impl<T: Real> LogitRows<'_, T> {
    /// The sum of a row's targets.
    fn total(&self, row: usize) -> T {
        match self.targets {
            RowTargets::Labels(_) => T::ONE,
            RowTargets::Probabilities(targets) => targets[row * self.width..][..self.width].iter().copied().sum(),
        }
    }

    fn loss(&self, row: usize, softmax: &Softmax<T>) -> T {
        let logits = &self.logits[row * self.width..][..self.width];
        let logarithm = softmax.rest.ln_1p();
        let surprise = |logit: T| (softmax.peak - logit) + logarithm;
        match self.targets {
            RowTargets::Labels(labels) => surprise(logits[class_of(labels[row])]),
            RowTargets::Probabilities(targets) => {
                // A class without a target may be infinitely improbable.
                let pairs = logits.iter().zip(&targets[row * self.width..]).filter(|&(_, &target)| target > T::ZERO);
                pairs.map(|(&logit, &target)| target * surprise(logit)).sum()
            }
        }
    }
}

impl<T: Real> Softmax<T> {
    /// Before any numerator is known.
    fn before(peak: T) -> Self {
        Softmax { peak, at: -T::ONE, rest: T::ZERO }
    }

    fn of_numerators(logits: &[T], numerators: &[T]) -> Self {
        let mut softmax = Softmax::before(T::ZERO);
        softmax.add(numerators, 0);
        Softmax { peak: logits[class_of(softmax.at)], ..softmax }
    }

    /// Finds the peak's numerator, which is one, and adds all others.
    fn add(&mut self, numerators: &[T], first: usize) {
        for (class, &numerator) in (first..).zip(numerators) {
            if numerator == T::ONE && self.at < T::ZERO {
                self.at = T::from_f64(class as f64);
            } else {
                self.rest += numerator;
            }
        }
    }
}

/// The class index of a label; 0 for a negative label or NaN.
fn class_of<T: Real>(label: T) -> usize {
    label.to_f64() as usize
}

/// The largest entry of a row.
fn largest<T: Real>(row: &[T]) -> T {
    row.iter().fold(row[0], |peak, &number| if number > peak { number } else { peak })
}
