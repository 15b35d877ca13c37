//! Nielsen's rule: the damping is a smooth function of the gain ratio.

use super::{DampedSystem, DampingPolicy, IllConditioned, Trial};
use crate::real::Real;

/// A gain ratio this close to one speaks for the linear model.
pub(in crate::solver) const FAITHFUL: f64 = 0.1;

/// Number of faithful steps in a row after which an undamped step is tried.
pub(in crate::solver) const TRUSTED: usize = 2;

/// A faithful step lets the next be this much longer, as the radius of a trust region grows.
const EXPANSION: f64 = 2.0;

/// A step may exceed that length by this factor.
const SLACK: f64 = 1.5;

/// Newton steps on the secular equation; where they are not enough, the damping stays what it was.
const MAX_PROBES: usize = 3;

/// An increase of the damping by more than this may have passed over the one that was needed.
const LARGE_INCREASE: f64 = 4.0;

/// The damping to begin with.
pub(in crate::solver) const INITIAL: f64 = 0.1;

/// Damping by the gain ratio `ρ` (Nielsen 1999), with undamped steps while the linear model predicts well. The default.
///
/// An accepted step multiplies `λ` by `max(1/3, 1 − (2ρ − 1)³)`. The first rejected step multiplies it by 2, the next in a row by 4, then
/// 8, and so on. Each trial takes one factorisation.
///
/// `λ` alone would fall slowly. Therefore the Gauss–Newton step is tried at the start, and after two consecutive steps with a gain ratio
/// within 10 % of 1, if it is no longer than the last step (at the start, than the start point itself). If it fails, `λ` returns to its
/// value. If the Gauss–Newton step is longer than that, `λ` is lowered until the step is about twice as long as the last one, as with a
/// trust region whose radius doubles. This takes up to 3 more factorisations, and saves linearisations. It is skipped if the Jacobian is
/// not formed, because factorisations are then most of the work.
///
/// Measured with the default scaling and acceleration: all 54 NIST runs are solved with an initial `λ` of 0.003, 0.01, 0.03, 0.05,
/// 0.07, 0.1 or 0.2; with 0.02 and 0.15 MGH17's far start takes more than 1,000 iterations. Hard starts of 20 overlapping
/// Gaussians take 24 trials in the median.
#[derive(Debug, Clone, Copy)]
pub struct GainRatio<T> {
    initial: T,
    /// Undamped steps are allowed.
    undamped: bool,
    lambda: T,
    growth: T,
    /// Faithful steps in a row.
    faithful: usize,
    /// Largest length of an undamped step.
    reach: T,
    /// A step has been taken.
    moved: bool,
}

impl<T: Real> Default for GainRatio<T> {
    fn default() -> Self {
        Self::new(T::from_f64(INITIAL))
    }
}

impl<T: Real> GainRatio<T> {
    /// Creates the policy with the initial damping `λ = initial`, a positive number, in units of the scaling `D²`; in a training that does
    /// not form the Jacobian, in units of the mean of the squared column norms.
    pub fn new(initial: T) -> Self {
        GainRatio {
            initial,
            undamped: true,
            lambda: initial,
            growth: T::from_f64(2.0),
            faithful: TRUSTED,
            reach: T::ZERO,
            moved: false,
        }
    }

    /// Creates the policy by Nielsen's rule alone, without undamped steps.
    pub fn nielsen(initial: T) -> Self {
        GainRatio { undamped: false, ..Self::new(initial) }
    }

    /// Returns a smaller damping, with which the step is about twice as long as the last, or `None`; `undamped` is the length of
    /// the undamped step, which is longer.
    ///
    /// Newton's method on `1/‖Dδ(λ)‖ = 1/Δ` comes from below (Hebden 1973, Moré 1978).
    fn expand(&self, system: &mut dyn DampedSystem<T>, undamped: T) -> Option<T> {
        let radius = T::from_f64(EXPANSION) * self.reach;
        let (mut lambda, mut length) = (T::ZERO, undamped);
        for _ in 0..MAX_PROBES {
            let newton = lambda + length / radius * (length - radius) / system.shrink_rate();
            if !(newton > lambda && newton < self.lambda) {
                return None;
            }
            lambda = newton;
            length = system.solve(lambda).ok()?;
            if length <= T::from_f64(SLACK) * radius {
                return Some(lambda);
            }
        }
        None
    }
}

impl<T: Real> DampingPolicy<T> for GainRatio<T> {
    fn start(&mut self, scaled_start: T) {
        *self = GainRatio { undamped: self.undamped, reach: scaled_start, ..Self::new(self.initial) };
    }

    #[inline]
    fn damp(&mut self, system: &mut dyn DampedSystem<T>) -> Result<T, IllConditioned> {
        if self.undamped && self.faithful >= TRUSTED {
            if let Ok(length) = system.solve(T::ZERO) {
                if length <= self.reach {
                    return Ok(T::ZERO);
                }
                if self.moved
                    && system.is_cheap()
                    && let Some(lambda) = self.expand(system, length)
                {
                    self.lambda = lambda;
                    return Ok(lambda);
                }
            }
            self.faithful = 0;
        }
        system.solve(self.lambda)?;
        Ok(self.lambda)
    }

    #[inline]
    fn update(&mut self, trial: &Trial<T>) {
        let ratio = trial.gain_ratio();
        let was_undamped = trial.lambda == T::ZERO;
        self.faithful =
            if (ratio - T::ONE).abs() < T::from_f64(FAITHFUL) { self.faithful.saturating_add(1) } else { 0 };
        if trial.accepted {
            let shape = T::from_f64(2.0) * ratio - T::ONE;
            let change = (T::ONE - shape.powi(3)).max(T::from_f64(1.0 / 3.0));
            // What an undamped step achieved is no reason for more damping.
            self.lambda *= if was_undamped { change.min(T::ONE) } else { change };
            self.growth = T::from_f64(2.0);
            self.reach = trial.length;
            self.moved = true;
        } else if !was_undamped {
            // There may be a least damping, which was not enough.
            self.lambda = self.lambda.max(trial.lambda);
            self.damp_more();
        }
    }

    fn damp_more(&mut self) {
        self.lambda = (self.lambda * self.growth).max(T::EPSILON);
        self.growth *= T::from_f64(2.0);
    }

    fn relax(&mut self) -> bool {
        let last = self.growth / T::from_f64(2.0);
        let is_wide = last > T::from_f64(LARGE_INCREASE);
        if is_wide {
            self.lambda /= last.sqrt();
            self.growth = T::from_f64(2.0);
        }
        is_wide
    }

    fn save(&self, numbers: &mut Vec<f64>) {
        let moved = f64::from(u8::from(self.moved));
        numbers.extend([self.lambda.to_f64(), self.growth.to_f64(), self.faithful as f64, self.reach.to_f64(), moved]);
    }

    fn restore(&mut self, numbers: &[f64]) -> bool {
        let &[lambda, growth, faithful, reach, moved] = numbers else { return false };
        let (lambda, growth, reach) = (T::from_f64(lambda), T::from_f64(growth), T::from_f64(reach));
        *self = GainRatio { lambda, growth, faithful: faithful as usize, reach, moved: moved != 0.0, ..*self };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system whose step has length one, and that remembers the damping it was solved with.
    #[derive(Default)]
    struct Solved(Vec<f64>);

    impl DampedSystem<f64> for Solved {
        fn solve(&mut self, lambda: f64) -> Result<f64, IllConditioned> {
            self.0.push(lambda);
            Ok(1.0)
        }

        fn shrink_rate(&mut self) -> f64 {
            0.0
        }

        fn gradient_norm(&mut self) -> f64 {
            1.0
        }
    }

    fn started() -> GainRatio<f64> {
        let mut policy = GainRatio::default();
        policy.start(10.0);
        policy
    }

    /// A step of length one with this gain ratio.
    fn trial(lambda: f64, gain_ratio: f64) -> Trial<f64> {
        Trial { lambda, length: 1.0, slope: -2.0, predicted: 1.0, actual: gain_ratio, accepted: gain_ratio > 0.0 }
    }

    /// The damping of the next step.
    fn next(policy: &mut GainRatio<f64>) -> f64 {
        policy.damp(&mut Solved::default()).unwrap()
    }

    #[test]
    fn trust_takes_two_faithful_steps() {
        let mut policy = started();
        assert_eq!(next(&mut policy), 0.0);
        policy.update(&trial(0.0, 0.5));
        assert!(next(&mut policy) > 0.0);
        policy.update(&trial(0.1, 1.0));
        assert!(next(&mut policy) > 0.0, "one faithful step is not enough");
        policy.update(&trial(0.1, 0.95));
        assert_eq!(next(&mut policy), 0.0);
    }

    #[test]
    fn no_undamped_step_is_longer_than_the_last_step() {
        let mut policy = started();
        policy.update(&Trial { length: 0.9, ..trial(0.0, 1.0) });
        assert!(next(&mut policy) > 0.0);
        policy.update(&trial(0.1, 1.0));
        assert!(next(&mut policy) > 0.0, "trust is to be earned again");
    }

    /// A system whose step has length `10 / (1 + 1000 λ)`, and its damping.
    struct Shrinking(f64);

    impl DampedSystem<f64> for Shrinking {
        fn solve(&mut self, lambda: f64) -> Result<f64, IllConditioned> {
            self.0 = lambda;
            Ok(10.0 / (1.0 + 1e3 * lambda))
        }

        fn shrink_rate(&mut self) -> f64 {
            1e4 / (1.0 + 1e3 * self.0).powi(2)
        }

        fn gradient_norm(&mut self) -> f64 {
            1.0
        }
    }

    #[test]
    fn a_faithful_step_is_followed_by_one_twice_as_long() {
        let mut policy = started();
        policy.update(&trial(0.0, 1.0));
        let lambda = policy.damp(&mut Shrinking(0.0)).unwrap();
        assert!((lambda - 0.004).abs() < 1e-15, "10 / (1 + 1000 λ) = 2, but λ is {lambda}");
        assert_eq!(policy.lambda, lambda);
    }

    #[test]
    fn damping_falls_for_no_longer_step_at_the_start_or_without_trust() {
        let mut policy = GainRatio::default();
        policy.start(1.0);
        assert_eq!(policy.damp(&mut Shrinking(0.0)), Ok(INITIAL), "no step has been taken");
        policy.update(&trial(INITIAL, 1.0));
        let lambda = policy.lambda;
        assert_eq!(policy.damp(&mut Shrinking(0.0)), Ok(lambda), "one faithful step is not enough");
    }

    #[test]
    fn no_damping_at_all_grows() {
        let mut policy = GainRatio::new(0.0);
        policy.start(10.0);
        policy.damp_more();
        assert!(policy.lambda > 0.0);
    }

    #[test]
    fn a_success_without_damping_raises_none() {
        let mut policy = started();
        policy.update(&trial(0.0, 0.1));
        assert_eq!(policy.lambda, INITIAL);
        policy.update(&trial(INITIAL, 0.1));
        assert!(policy.lambda > INITIAL, "one with damping does");
    }

    #[test]
    fn a_failure_without_damping_leaves_it_as_it_was() {
        let mut policy = started();
        policy.update(&trial(0.0, -1.0));
        assert_eq!((policy.lambda, next(&mut policy)), (INITIAL, INITIAL));
    }

    /// Increases grow, and what a large one passed over is found by halving it in orders of magnitude.
    #[test]
    fn a_large_increase_is_taken_back() {
        let mut policy = started();
        assert!(!policy.relax(), "nothing was increased");
        for _ in 0..3 {
            policy.update(&trial(policy.lambda, -1.0));
        }
        let most = policy.lambda;
        assert!(policy.relax() && policy.lambda < most && policy.lambda > most / 8.0);
        assert!(!policy.relax());
    }

    #[test]
    fn counts_from_elsewhere_do_not_overflow() {
        let mut policy = started();
        assert!(policy.restore(&[0.1, 2.0, 2.0_f64.powi(64), 1.0, 1.0]));
        policy.update(&trial(0.1, 1.0));
    }
}
