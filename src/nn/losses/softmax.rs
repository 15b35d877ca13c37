//! The softmax of rows of logits, and the cross-entropy between targets and it.

use super::elementwise::least_root;
use super::side_by_side::{Columns, NARROW, RowPart, select_class};
use crate::kernels::exponential::exp;
use crate::kernels::lanes::{LaneKernel, Lanes, Register};
use crate::kernels::logarithm::ln_1p;
use crate::kernels::simd::{self, Kernel};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Rows of logits, and their targets.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    pub(super) logits: &'a [T],
    pub(super) width: usize,
    pub(super) targets: RowTargets<'a, T>,
}

/// What the probabilities of rows should be.
#[derive(Clone, Copy)]
pub(super) enum RowTargets<'a, T> {
    /// One for the class of this number.
    Labels(&'a [T]),
    /// A number for each class.
    Probabilities(&'a [T]),
}

impl<'a, T: Real> Rows<'a, T> {
    /// Fills the losses `−Σ t ln p`.
    pub(super) fn losses(self, losses: &mut [T]) {
        Work { rows: self, wanted: Wanted::Losses(losses) }.run();
    }

    /// Fills the derivatives by the logits, and losses where they are wanted.
    pub(super) fn gradients(self, gradients: &mut [T], losses: Option<&mut [T]>) {
        Work { rows: self, wanted: Wanted::Gradients(gradients, losses) }.run();
    }

    /// Fills residuals and [centred](super::CurvatureRoot::Centred) roots: the second derivative for targets of this total is
    /// `total (diag(p) − ppᵀ) = RᵀR` with `R = diag(s) (I − 𝟙pᵀ)` and `s² = total · p`, and the residuals are `g / s` for the
    /// gradient `g = total · p − target`. Its numbers sum to zero, so that `Rᵀ` times the residuals is `g` for any `s`.
    pub(super) fn residuals(self, residuals: &mut [T], roots: &mut [T]) {
        Work { rows: self, wanted: Wanted::Residuals(residuals, roots) }.run();
    }

    /// These rows, or fewer.
    #[inline(always)]
    fn part(self, start: usize, count: usize) -> Self {
        let Rows { logits, width, targets } = self;
        let count = count.min(logits.len() / width - start);
        let of_rows = |numbers: &'a [T]| &numbers[start * width..(start + count) * width];
        let targets = match targets {
            RowTargets::Labels(labels) => RowTargets::Labels(&labels[start..start + count]),
            RowTargets::Probabilities(targets) => RowTargets::Probabilities(of_rows(targets)),
        };
        Rows { logits: of_rows(logits), width, targets }
    }
}

/// What is to be computed of rows.
enum Wanted<'a, T> {
    Losses(&'a mut [T]),
    Gradients(&'a mut [T], Option<&'a mut [T]>),
    Residuals(&'a mut [T], &'a mut [T]),
}

/// What is to be computed, and of which rows.
struct Work<'a, T> {
    rows: Rows<'a, T>,
    wanted: Wanted<'a, T>,
}

impl<T: Real> Work<'_, T> {
    fn run(self) {
        if self.rows.width > NARROW {
            simd::run(self);
        } else {
            T::run_in_lanes(self);
        }
    }
}

/// Rows one by one.
impl<T: Real> Kernel for Work<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Work { rows, mut wanted } = self;
        let width = rows.width;
        for row in 0..rows.logits.len() / width {
            let part = rows.part(row, 1);
            let targets = match part.targets {
                RowTargets::Labels(labels) => Targets::Label(labels[0]),
                RowTargets::Probabilities(targets) => Targets::Probabilities(targets),
            };
            let block = Block { logits: part.logits, targets };
            let of_row = row * width..(row + 1) * width;
            match &mut wanted {
                Wanted::Losses(losses) => losses[row] = block.loss::<FUSED>(),
                Wanted::Gradients(gradients, losses) => {
                    let loss = block.gradient::<FUSED>(&mut gradients[of_row]);
                    if let Some(losses) = losses {
                        losses[row] = loss;
                    }
                }
                Wanted::Residuals(residuals, roots) => {
                    let (s, p) = roots[2 * of_row.start..2 * of_row.end].split_at_mut(width);
                    block.residuals::<FUSED>(&mut residuals[of_row], s, p);
                }
            }
        }
    }
}

/// Rows side by side.
impl<T: Real> LaneKernel<T> for Work<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<R: Register<T>>(self) {
        let Work { rows, mut wanted } = self;
        let width = rows.width;
        let whole = RowPart::whole(width);
        let [s_part, p_part] = [0, width].map(|first| RowPart { stride: 2 * width, first });
        let (mut logit_columns, mut target_columns) = (Columns::<T, R>::new(), Columns::<T, R>::new());
        let (mut numerators, mut roots, mut residuals) =
            (Columns::new(), Columns::<T, R>::new(), Columns::<T, R>::new());
        for start in (0..rows.logits.len() / width).step_by(R::LANES) {
            let part = rows.part(start, R::LANES);
            let logits = logit_columns.load(whole.of(part.logits, width), width);
            let count = part.logits.len() / width;
            let targets = match part.targets {
                RowTargets::Labels(labels) => {
                    let mut label = Lanes::splat(T::ZERO);
                    label.as_mut_slice()[..count].copy_from_slice(labels);
                    Targets::Label(label)
                }
                RowTargets::Probabilities(targets) => {
                    Targets::Probabilities(target_columns.load(whole.of(targets, width), width))
                }
            };
            let block = Block { logits, targets };
            let of_rows = start * width..(start + count) * width;
            // Lanes multiply and add in one instruction where there is one.
            match &mut wanted {
                Wanted::Losses(losses) => {
                    losses[start..start + count].copy_from_slice(&block.loss::<true>().as_slice()[..count]);
                }
                Wanted::Gradients(gradients, losses) => {
                    let loss = block.gradient::<true>(numerators.first(width));
                    numerators.store(whole.of_mut(&mut gradients[of_rows], width));
                    if let Some(losses) = losses {
                        losses[start..start + count].copy_from_slice(&loss.as_slice()[..count]);
                    }
                }
                Wanted::Residuals(residual_rows, root_rows) => {
                    block.residuals::<true>(residuals.first(width), roots.first(width), numerators.first(width));
                    residuals.store(whole.of_mut(&mut residual_rows[of_rows.clone()], width));
                    let root_rows = &mut root_rows[2 * of_rows.start..2 * of_rows.end];
                    roots.store(s_part.of_mut(root_rows, width));
                    numerators.store(p_part.of_mut(root_rows, width));
                }
            }
        }
    }
}

/// Logits and targets of a row, or of rows side by side, class by class.
struct Block<'a, N> {
    logits: &'a [N],
    targets: Targets<'a, N>,
}

/// Targets of a row, or of rows side by side.
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

impl<N: Number> Block<'_, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn loss<const FUSED: bool>(&self) -> N {
        let mut softmax = Softmax::new(self.logits);
        let mut numerators = [N::from_f64(0.0); NARROW];
        for (logits, first) in self.logits.chunks(NARROW).zip((0..).step_by(NARROW)) {
            let numerators = &mut numerators[..logits.len()];
            softmax.fill::<FUSED>(logits, 1.0, numerators);
            softmax.add(numerators, first);
        }
        softmax.surprise::<FUSED>(self)
    }

    /// Fills the gradient. Returns the loss.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn gradient<const FUSED: bool>(&self, gradient: &mut [N]) -> N {
        let mut softmax = Softmax::new(self.logits);
        softmax.fill::<FUSED>(self.logits, 1.0, gradient);
        softmax.add(gradient, 0);
        let (share, total) = (softmax.share(), self.targets.total());
        for (class, number) in gradient.iter_mut().enumerate() {
            *number = softmax.derivative(class, *number, share, total, self.targets.of(class));
        }
        softmax.surprise::<FUSED>(self)
    }

    /// Fills residuals, `s` and `p`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn residuals<const FUSED: bool>(&self, residuals: &mut [N], s: &mut [N], p: &mut [N]) {
        let mut softmax = Softmax::new(self.logits);
        softmax.fill::<FUSED>(self.logits, 1.0, p);
        // Half of the exponent for the root of the probability, which is accurate where the probability underflows.
        softmax.fill::<FUSED>(self.logits, 0.5, s);
        softmax.add(p, 0);
        let (share, total, zero) = (softmax.share(), self.targets.total(), N::from_f64(0.0));
        let root_share = (total * share).sqrt();
        for (class, ((residual, s), p)) in residuals.iter_mut().zip(s).zip(p).enumerate() {
            let (target, root) = (self.targets.of(class), *s * root_share);
            let least = Scalar::max(root, least_root(target));
            *s = zero.select_less(target, least, root);
            let pulled = softmax.derivative(class, *p, share, total, target) / least;
            *residual = zero.select_less(target, pulled, root);
            *p *= share;
        }
    }
}

/// The softmax of a row, or of rows side by side. Probabilities are made of numerators `exp(z − peak)`, shifted by the largest
/// logit so that nothing overflows.
struct Softmax<N> {
    /// The largest logit.
    peak: N,
    /// Index of the first one, minus one before it is known.
    at: N,
    /// The sum of all other numerators: apart from the peak's 1, as it may be much smaller.
    rest: N,
}

impl<N: Number> Softmax<N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new(logits: &[N]) -> Self {
        let peak = logits.iter().fold(logits[0], |peak, &logit| Scalar::max(peak, logit));
        Softmax { peak, at: N::from_f64(-1.0), rest: N::from_f64(0.0) }
    }

    /// Fills the numerators to this power.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fill<const FUSED: bool>(&self, logits: &[N], power: f64, numerators: &mut [N]) {
        let power = N::from_f64(power);
        for (numerator, &logit) in numerators.iter_mut().zip(logits) {
            *numerator = exp::<N, FUSED>(power * (logit - self.peak));
        }
    }

    /// Finds the peak's numerator, which is one, and adds all others.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add(&mut self, numerators: &[N], first: usize) {
        let [zero, one] = [0.0, 1.0].map(N::from_f64);
        for (class, &numerator) in (first..).zip(numerators) {
            let is_open = self.at.select_less(zero, one, zero);
            let is_peak = numerator.select_less(one, zero, is_open);
            self.at = zero.select_less(is_peak, N::from_f64(class as f64), self.at);
            self.rest += numerator - is_peak;
        }
    }

    /// The factor that makes probabilities of numerators.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn share(&self) -> N {
        (N::from_f64(1.0) + self.rest).recip()
    }

    /// The derivative `p · total − target` by a class's logit, without the cancellation where both are nearly one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn derivative(&self, class: usize, numerator: N, share: N, total: N, target: N) -> N {
        // All other classes together.
        let others = select_class(self.at, class, self.rest, N::from_f64(1.0) + self.rest - numerator);
        numerator * share * (total - target) - others * share * target
    }

    /// The sum of `−ln p`, times targets. A class without a target may be infinitely improbable.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn surprise<const FUSED: bool>(&self, block: &Block<'_, N>) -> N {
        let (logarithm, zero) = (ln_1p::<N, FUSED>(self.rest), N::from_f64(0.0));
        let mut sum = zero;
        for (class, &logit) in block.logits.iter().enumerate() {
            let target = block.targets.of(class);
            let surprise = target * ((self.peak - logit) + logarithm);
            sum += zero.select_less(target, surprise, zero);
        }
        sum
    }
}
