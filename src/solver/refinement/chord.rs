//! Chord corrections: further steps from a trial point, with the Jacobian and the factorisation that are at hand.

use super::Refinement;
use crate::evaluation::Evaluation;
use crate::problem::Evaluated;
use crate::real::Real;
use crate::solver::Refusal;
use crate::solver::damping::Trial;
use crate::solver::system::StepSystem;

/// A correction may be this long, relative to the one before; the first, relative to twice the step.
const CONTRACTION: f64 = 0.5;

/// Length of a correction, relative to the step, after which no other is made.
const SHORT: f64 = 0.02;

/// Corrections of a trial point.
///
/// A correction `c` solves `(JᵀJ + λD²)c = −(Jᵀr(x + δ) + λD²δ)`, so that all lead to the minimum of `½‖r(x + δ)‖² + ½λ‖Dδ‖²` as
/// far as the Jacobian at `x` knows the way. A trial that leaves less than `√ε` of the cost needs none.
pub(in crate::solver) struct ChordCorrections<T> {
    /// Corrections of a trial at most.
    most: usize,
    /// Residuals of the rows that are here, at the trial point.
    residuals: Vec<T>,
    /// The step before the last correction.
    step: Vec<T>,
}

impl<T: Real> ChordCorrections<T> {
    /// No corrections.
    pub(in crate::solver) const NONE: Self = ChordCorrections { most: 0, residuals: Vec::new(), step: Vec::new() };

    /// Creates the refinement with the largest number of corrections of a trial, for `m` residuals on this rank and `n` parameters.
    pub(in crate::solver) fn new(most: usize, m: usize, n: usize) -> Self {
        if most == 0 {
            return Self::NONE;
        }
        ChordCorrections { most, residuals: vec![T::ZERO; m], step: vec![T::ZERO; n] }
    }
}

impl<T: Real> Refinement<T> for ChordCorrections<T> {
    #[inline(always)]
    fn refine(&mut self, _: &mut impl StepSystem<T>, _: &mut Trial<T>) -> Evaluated<Option<Refusal>> {
        Ok(None)
    }

    #[inline(always)]
    fn trial_cost(&mut self, evaluation: &mut impl Evaluation<T>, x: &[T]) -> Evaluated<T> {
        if self.most > 0 { evaluation.residuals(x, &mut self.residuals) } else { evaluation.cost(x) }
    }

    /// Corrects the trial point while that lowers the cost. A problem that does not know the products ends all corrections.
    #[inline]
    fn correct(
        &mut self,
        system: &mut impl StepSystem<T>,
        trial: &Trial<T>,
        (before, mut cost): (T, T),
    ) -> Evaluated<T> {
        let mut longest = trial.length;
        for _ in 0..self.most {
            if cost <= T::EPSILON.sqrt() * before {
                break;
            }
            let Some(length) = system.chord(&self.residuals)? else {
                self.most = 0;
                break;
            };
            if !(length <= longest) {
                break;
            }
            self.step.copy_from_slice(system.step());
            system.take_chord();
            let corrected = system.try_again(&mut self.residuals)?;
            if !(corrected < cost) {
                system.step().copy_from_slice(&self.step);
                system.move_trial();
                break;
            }
            cost = corrected;
            if length <= T::from_f64(SHORT) * trial.length {
                break;
            }
            longest = T::from_f64(CONTRACTION) * length;
        }
        Ok(cost)
    }

    #[inline(always)]
    fn corrects(&self) -> bool {
        self.most > 0
    }

    #[inline(always)]
    fn learn(&mut self, _: &Trial<T>) {}
}
