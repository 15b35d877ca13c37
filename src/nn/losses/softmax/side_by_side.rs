//! Narrow rows, as many at once as there are lanes.

use super::super::columns::{LaneColumns, RowSpan, select_class};
use super::{LogitRows, RowTargets, Softmax};
use crate::kernels::lanes::{LaneKernel, Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// See [`LogitRows::losses`].
pub(super) fn losses<T: Real>(rows: LogitRows<'_, T>, losses: &mut [T]) {
    T::run_in_lanes(SoftmaxLanes { rows, gradients: None, losses: Some(losses) });
}

/// See [`LogitRows::gradients`].
pub(super) fn gradients<T: Real>(rows: LogitRows<'_, T>, gradients: &mut [T], losses: Option<&mut [T]>) {
    T::run_in_lanes(SoftmaxLanes { rows, gradients: Some(gradients), losses });
}

/// Rows, and results that are asked for of them.
struct SoftmaxLanes<'a, T> {
    rows: LogitRows<'a, T>,
    gradients: Option<&'a mut [T]>,
    losses: Option<&'a mut [T]>,
}

impl<T: Real> LaneKernel<T> for SoftmaxLanes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<R: Register<T>>(self) {
        let SoftmaxLanes { rows: LogitRows { logits, width, targets }, mut gradients, mut losses } = self;
        let whole = RowSpan::whole(width);
        let (mut logit_columns, mut target_columns) = (LaneColumns::<T, R>::new(), LaneColumns::<T, R>::new());
        let mut numerators = LaneColumns::<T, R>::new();
        for (logits, start) in logits.chunks(R::LANES * width).zip((0..).step_by(R::LANES)) {
            let end = start + logits.len() / width;
            let targets = match targets {
                RowTargets::Labels(labels) => {
                    let mut label = Lanes::splat(T::ZERO);
                    label.as_mut_slice()[..end - start].copy_from_slice(&labels[start..end]);
                    LaneTargets::Label(label)
                }
                RowTargets::Probabilities(targets) => {
                    let rows = whole.of(&targets[start * width..end * width], width);
                    LaneTargets::Probabilities(target_columns.load(rows, width))
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
enum LaneTargets<'a, N> {
    Label(N),
    Probabilities(&'a [N]),
}

impl<N: Number> LaneTargets<'_, N> {
    /// The target of one class.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn of(&self, class: usize) -> N {
        match self {
            LaneTargets::Label(label) => select_class(*label, class, N::from_f64(1.0), N::from_f64(0.0)),
            LaneTargets::Probabilities(targets) => targets[class],
        }
    }

    /// The sum of all targets.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn total(&self) -> N {
        match self {
            LaneTargets::Label(_) => N::from_f64(1.0),
            LaneTargets::Probabilities(targets) => targets.iter().fold(N::from_f64(0.0), |sum, &target| sum + target),
        }
    }
}

impl<N: Number> Softmax<N> {
    /// Fills the numerators.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
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
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn differentiate(&self, targets: &LaneTargets<'_, N>, numerators: &mut [N]) {
        let (share, total) = (self.share(), targets.total());
        for (class, number) in numerators.iter_mut().enumerate() {
            *number = self.derivative(class, *number, share, total, targets.of(class));
        }
    }

    /// The sum of `−ln p`, times targets. A class without a target may be infinitely improbable.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn loss(&self, logits: &[N], targets: &LaneTargets<'_, N>) -> N {
        let (logarithm, zero) = (self.rest.ln_1p(), N::from_f64(0.0));
        let mut sum = zero;
        for (class, &logit) in logits.iter().enumerate() {
            let target = targets.of(class);
            sum += zero.select_less(target, target * ((self.peak - logit) + logarithm), zero);
        }
        sum
    }
}
