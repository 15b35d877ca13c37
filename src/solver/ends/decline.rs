//! The decline of the cost over the last steps.

use crate::real::Real;
use crate::solver::damping::Trial;

/// Steps beside a root after which it is an end, if they have left this share of the cost.
const LINGERING: usize = 50;
const LEFT: f64 = 1e-4;

/// Reductions of the cost by the last steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decline<T> {
    /// The latest is the last.
    reductions: [T; 3],
    /// Damping of the latest.
    lambda: T,
    /// Steps in a row beside a root, and the cost at the first of them.
    lingering: (usize, T),
}

impl<T: Real> Default for Decline<T> {
    fn default() -> Self {
        Decline { reductions: [T::ZERO; 3], lambda: T::INFINITY, lingering: (0, T::INFINITY) }
    }
}

impl<T: Real> Decline<T> {
    pub(super) fn enter(&mut self, trial: &Trial<T>) {
        if !trial.accepted || trial.lambda > self.lambda {
            *self = Decline { lingering: self.lingering, ..Self::default() };
        }
        if trial.accepted {
            self.reductions.rotate_left(1);
            self.reductions[2] = trial.actual;
            self.lambda = trial.lambda;
        }
    }

    /// Counts a step, and returns true if the cost has all but stopped to fall beside a root.
    #[inline]
    pub(super) fn lingers(&mut self, is_beside_a_root: bool, cost: T) -> bool {
        let (steps, first) = self.lingering;
        self.lingering = match (is_beside_a_root, steps) {
            (false, _) => (0, T::INFINITY),
            (true, 0 | LINGERING) => (1, cost),
            (true, _) => (steps + 1, first),
        };
        steps == LINGERING && cost >= T::from_f64(LEFT) * first
    }

    /// Reduction that further steps would bring if they declined as slowly as the last three did, each with less damping than the one before; a
    /// geometric series (Aitken 1926).
    pub(super) fn remainder(&self) -> Option<T> {
        let [first, second, third] = self.reductions;
        let ratio = (second / first).max(third / second);
        (first > T::ZERO && ratio < T::ONE).then(|| third * ratio / (T::ONE - ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entered(steps: &[(f64, f64)]) -> Decline<f64> {
        let mut decline = Decline::default();
        for &(lambda, actual) in steps {
            let accepted = actual > 0.0;
            decline.enter(&Trial { lambda, length: 1.0, slope: -1.0, predicted: 1.0, actual, accepted });
        }
        decline
    }

    #[test]
    fn a_geometric_decline_is_summed_to_its_end() {
        let halves = entered(&[(1.0, 8.0), (0.9, 4.0), (0.8, 2.0)]);
        assert_eq!(halves.remainder(), Some(2.0));
        // The slower of the last two ratios counts.
        let slower = entered(&[(1.0, 8.0), (0.9, 6.0), (0.8, 3.0)]);
        assert_eq!(slower.remainder(), Some(9.0));
    }

    #[test]
    fn a_cost_that_hardly_falls_lingers() {
        let ends = |share: f64| {
            let mut decline = Decline::default();
            (0..200).position(|trial| decline.lingers(trial >= 10, share.powi(trial)))
        };
        assert_eq!(ends(0.9), Some(60));
        assert_eq!(ends(0.1), None, "it is on its way");
    }

    #[test]
    fn nothing_is_known_of_what_rises_or_was_interrupted() {
        assert_eq!(entered(&[(1.0, 8.0), (0.9, 4.0)]).remainder(), None);
        assert_eq!(entered(&[(1.0, 2.0), (0.9, 3.0), (0.8, 2.0)]).remainder(), None);
        // More damping alone makes reductions decline.
        assert_eq!(entered(&[(1.0, 8.0), (0.9, 4.0), (2.0, 2.0)]).remainder(), None);
        assert_eq!(entered(&[(1.0, 8.0), (0.9, 4.0), (0.8, -1.0), (0.8, 2.0)]).remainder(), None);
        assert_eq!(entered(&[(1.0, 9.0), (3.0, 8.0), (0.9, 4.0), (0.8, 2.0)]).remainder(), Some(2.0));
    }
}
