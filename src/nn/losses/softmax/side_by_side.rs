//! Narrow rows, as many at once as there are lanes.

use super::super::columns::{Columns, RowPart, select_class};
use super::{RowTargets, Rows, Softmax};
use crate::kernels::lanes::{LaneKernel, Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// See [`Rows::losses`].
pub(super) fn losses<T: Real>(rows: Rows<'_, T>, losses: &mut [T]) {
    T::run_in_lanes(Work { rows, gradients: None, losses: Some(losses) });
}

/// See [`Rows::gradients`].
pub(super) fn gradients<T: Real>(rows: Rows<'_, T>, gradients: &mut [T], losses: Option<&mut [T]>) {
    T::run_in_lanes(Work { rows, gradients: Some(gradients), losses });
}

/// Rows, and results that are asked for of them.
struct Work<'a, T> {
    rows: Rows<'a, T>,
    gradients: Option<&'a mut [T]>,
    losses: Option<&'a mut [T]>,
}

impl<T: Real> LaneKernel<T> for Work<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<R: Register<T>>(self) {
        let Work { rows: Rows { logits, width, targets }, mut gradients, mut losses } = self;
        let whole = RowPart::whole(width);
        let (mut logit_columns, mut target_columns) = (Columns::<T, R>::new(), Columns::<T, R>::new());
        let mut numerators = Columns::<T, R>::new();
        for (logits, start) in logits.chunks(R::LANES * width).zip((0..).step_by(R::LANES)) {
            let end = start + logits.len() / width;
            let targets = match targets {
                RowTargets::Labels(labels) => {
                    let mut label = Lanes::splat(T::ZERO);
                    label.as_mut_slice()[..end - start].copy_from_slice(&labels[start..end]);
                    Targets::Label(label)
                }
                RowTargets::Probabilities(targets) => {
                    let rows = whole.of(&targets[start * width..end * width], width);
                    Targets::Probabilities(target_columns.load(rows, width))
                }
            };
            let logits = &*logit_columns.load(whole.of(logits, width), width);
            let softmax = Softmax::of(logits, numerators.first(width));
            if let Some(gradients) = &mut gradients {
                softmax.differentiate(&targets, numerators.first(width));
                numerators.store(whole.of_mut(&mut gradients[start * width..end * width], width));
            }
            if let Some(losses) = &mut losses {
                let loss = softmax.loss(logits, &targets);
                losses[start..end].copy_from_slice(&loss.as_slice()[..end - start]);
            }
        }
    }
}

/// Targets of rows side by side, class by class.
enum Targets<'a, N> {
    Label(N),
    Probabilities(&'a [N]),
}

impl<N: Number> Targets<'_, N> {
    /// The target of one class.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of(&self, class: usize) -> N {
        match self {
            Targets::Label(label) => select_class(*label, class, N::from_f64(1.0), N::from_f64(0.0)),
            Targets::Probabilities(targets) => targets[class],
        }
    }

    /// The sum of all targets.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn total(&self) -> N {
        match self {
            Targets::Label(_) => N::from_f64(1.0),
            Targets::Probabilities(targets) => targets.iter().fold(N::from_f64(0.0), |sum, &target| sum + target),
        }
    }
}

impl<N: Number> Softmax<N> {
    /// Fills the numerators.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of(logits: &[N], numerators: &mut [N]) -> Self {
        let [zero, one] = [0.0, 1.0].map(N::from_f64);
        let peak = logits.iter().fold(logits[0], |peak, &logit| Scalar::max(peak, logit));
        let (mut at, mut rest) = (N::from_f64(-1.0), zero);
        for (class, (numerator, &logit)) in numerators.iter_mut().zip(logits).enumerate() {
            *numerator = (logit - peak).exp();
            // The first numerator that is one; NaN is not less, and stays in the sum.
            let is_open = at.select_less(zero, one, zero);
            let is_peak = numerator.select_less(one, zero, is_open);
            at = zero.select_less(is_peak, N::from_f64(class as f64), at);
            rest += *numerator - is_peak;
        }
        Softmax { peak, at, rest }
    }

    /// Makes derivatives of numerators.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn differentiate(&self, targets: &Targets<'_, N>, numerators: &mut [N]) {
        let (share, total) = (self.share(), targets.total());
        for (class, number) in numerators.iter_mut().enumerate() {
            *number = self.derivative(class, *number, share, total, targets.of(class));
        }
    }

    /// The sum of `−ln p`, times targets. A class without a target may be infinitely improbable.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn loss(&self, logits: &[N], targets: &Targets<'_, N>) -> N {
        let (logarithm, zero) = (self.rest.ln_1p(), N::from_f64(0.0));
        let mut sum = zero;
        for (class, &logit) in logits.iter().enumerate() {
            let target = targets.of(class);
            sum += zero.select_less(target, target * ((self.peak - logit) + logarithm), zero);
        }
        sum
    }
}
