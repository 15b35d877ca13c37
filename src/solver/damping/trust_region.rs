//! Moré's trust region: a radius limits the step, and the damping follows from it.

use super::{DampedSystem, DampingPolicy, IllConditioned, Trial};
use crate::real::Real;

/// Accepted deviation of a step's length from the radius, relative to the radius.
const SLACK: f64 = 0.1;

/// Largest number of Newton steps on the secular equation; the last is then taken.
const MAX_PROBES: usize = 10;

/// The most that one rejected step shrinks the radius by.
const SHORTEST: f64 = 0.1;

/// A trust region `‖Dδ‖ ≤ Δ` (Moré 1978, as in MINPACK).
///
/// If the Gauss–Newton step lies within the region, it is taken undamped. Otherwise `λ > 0` solves the secular equation `‖Dδ(λ)‖ = Δ` to 10
/// %, by a safeguarded Newton iteration with usually 2 or 3 factorisations. The gain ratio changes the radius; if the cost rose,
/// interpolation sets it.
///
/// Near the solution, steps are undamped. Each trial takes a few factorisations more than with the other policies, which matters if a
/// factorisation costs more than the Jacobian.
#[derive(Debug, Clone, Copy)]
pub struct TrustRegion<T> {
    factor: T,
    radius: T,
    lambda: T,
    untried: bool,
}

impl<T: Real> Default for TrustRegion<T> {
    fn default() -> Self {
        Self::new(T::from_f64(1.0))
    }
}

impl<T: Real> TrustRegion<T> {
    /// Creates the policy with the first radius `factor · ‖Dx‖` at the start, or `factor` if `‖Dx‖` is 0.
    pub fn new(factor: T) -> Self {
        TrustRegion { factor, radius: factor, lambda: T::ZERO, untried: true }
    }
}

impl<T: Real> DampingPolicy<T> for TrustRegion<T> {
    fn start(&mut self, scaled_start: T) {
        self.radius = if scaled_start > T::ZERO { self.factor * scaled_start } else { self.factor };
        self.lambda = T::ZERO;
        self.untried = true;
    }

    fn damp(&mut self, system: &mut dyn DampedSystem<T>) -> Result<T, IllConditioned> {
        let slack = T::from_f64(SLACK) * self.radius;
        let mut lower = T::ZERO;
        // A singular system has no Gauss–Newton step to fit the radius, and no bound from its slope.
        if let Ok(length) = system.solve(T::ZERO) {
            let excess = length - self.radius;
            if excess <= slack {
                self.lambda = T::ZERO;
                return Ok(T::ZERO);
            }
            // The tangent lies below a convex function alone.
            if !system.is_bounded() {
                lower = excess / system.shrink_rate();
            }
        }
        let mut upper = system.gradient_norm() / self.radius;
        let mut lambda = self.lambda.max(lower).min(upper);
        if lambda == T::ZERO {
            lambda = T::from_f64(1e-3) * upper;
        }
        let mut last_length = T::ZERO;
        for probe in 1.. {
            let length = system.solve(lambda)?;
            let excess = length - self.radius;
            // Less damping of a singular system lengthens the step to a limit, which may lie inside.
            let at_limit = lower == T::ZERO && excess <= T::ZERO && length <= last_length * T::from_f64(1.0 + SLACK);
            if excess.abs() <= slack || at_limit || probe == MAX_PROBES {
                break;
            }
            last_length = length;
            if excess > T::ZERO {
                lower = lower.max(lambda);
            } else {
                upper = upper.min(lambda);
            }
            // Newton on 1/‖Dδ‖ − 1/Δ, which is nearly linear in λ.
            let newton = lambda + length / self.radius * excess / system.shrink_rate();
            lambda = if newton > lower && newton < upper {
                newton
            } else {
                (T::from_f64(1e-3) * upper).max((lower * upper).sqrt())
            };
        }
        self.lambda = lambda;
        Ok(lambda)
    }

    fn update(&mut self, trial: &Trial<T>) {
        if self.untried {
            self.radius = self.radius.min(trial.length);
        }
        let ratio = trial.gain_ratio();
        if !(ratio > T::from_f64(0.25)) {
            // The minimum of the parabola through both costs and the slope, kept within sensible bounds.
            let interpolated = trial.slope / (T::from_f64(2.0) * (trial.slope + trial.actual));
            let shrink = if trial.actual >= T::ZERO {
                T::from_f64(0.5)
            } else if interpolated > T::from_f64(SHORTEST) {
                // Momentum may make a step that leads uphill.
                interpolated.min(T::from_f64(0.5))
            } else {
                T::from_f64(SHORTEST)
            };
            self.radius = shrink * self.radius.min(T::from_f64(10.0) * trial.length);
            self.lambda /= shrink;
        } else if ratio >= T::from_f64(0.75) || trial.lambda == T::ZERO {
            self.radius = T::from_f64(2.0) * trial.length;
            self.lambda *= T::from_f64(0.5);
        }
        self.untried = self.untried && !trial.accepted;
    }

    fn damp_more(&mut self) {
        self.radius *= T::from_f64(SHORTEST);
        self.lambda = (self.lambda / T::from_f64(SHORTEST)).max(T::EPSILON);
    }

    fn save(&self, numbers: &mut Vec<f64>) {
        numbers.extend([self.radius.to_f64(), self.lambda.to_f64(), f64::from(u8::from(self.untried))]);
    }

    fn restore(&mut self, numbers: &[f64]) -> bool {
        let &[radius, lambda, untried] = numbers else { return false };
        (self.radius, self.lambda, self.untried) = (T::from_f64(radius), T::from_f64(lambda), untried != 0.0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system of one variable whose step has the length `10/(1 + λ)`, and that remembers the damping it was solved with.
    #[derive(Default)]
    struct Hyperbola {
        solved: Vec<f64>,
        is_bounded: bool,
    }

    impl DampedSystem<f64> for Hyperbola {
        fn solve(&mut self, lambda: f64) -> Result<f64, IllConditioned> {
            self.solved.push(lambda);
            Ok(10.0 / (1.0 + lambda))
        }

        fn shrink_rate(&mut self) -> f64 {
            10.0 / (1.0 + self.solved[self.solved.len() - 1]).powi(2)
        }

        fn gradient_norm(&mut self) -> f64 {
            10.0
        }

        fn is_bounded(&self) -> bool {
            self.is_bounded
        }
    }

    /// A policy with this radius, and a damping of four.
    fn policy(radius: f64) -> TrustRegion<f64> {
        TrustRegion { lambda: 4.0, ..TrustRegion::new(radius) }
    }

    #[test]
    fn the_secular_equation_is_solved_from_the_tangent_where_there_is_one() {
        for (is_bounded, first) in [(false, 0.9), (true, 0.01)] {
            let mut system = Hyperbola { is_bounded, ..Hyperbola::default() };
            let lambda = TrustRegion::new(1.0).damp(&mut system).unwrap();
            assert!((lambda - 9.0).abs() < 1e-12, "{:?}", system.solved);
            assert!(system.solved.len() == 3 && (system.solved[1] - first).abs() < 1e-12, "{:?}", system.solved);
        }
        // Up to a tenth beyond the radius, the step is taken as it is.
        for (radius, is_undamped) in [(9.1, true), (9.0, false)] {
            assert_eq!(TrustRegion::new(radius).damp(&mut Hyperbola::default()) == Ok(0.0), is_undamped);
        }
    }

    #[test]
    fn the_radius_follows_the_gain_ratio() {
        let after = |lambda: f64, actual: f64| {
            let mut policy = policy(3.0);
            policy.update(&Trial { lambda, length: 2.0, slope: -2.0, predicted: 1.0, actual, accepted: actual > 0.0 });
            [policy.radius, policy.lambda]
        };
        // Good and undamped steps double it, from the length of the first step.
        assert_eq!(after(1.0, 0.9), [4.0, 2.0]);
        assert_eq!(after(0.0, 0.5), [4.0, 2.0]);
        assert_eq!(after(1.0, 0.5), [2.0, 4.0]);
        // Bad ones shrink it: to a half, to the minimum of a parabola, and at most to a tenth.
        assert_eq!(after(1.0, 0.1), [1.0, 8.0]);
        assert_eq!(after(1.0, -2.0), [0.5, 16.0]);
        assert_eq!(after(1.0, -1e3), [0.2, 40.0]);
        assert_eq!(after(1.0, f64::NEG_INFINITY), [0.2, 40.0]);
    }

    /// The radius is cut to the length of a step until one is taken.
    #[test]
    fn the_first_radius_is_a_guess() {
        let mut policy = policy(8.0);
        let trial = |length: f64, actual: f64| Trial {
            lambda: 1.0,
            length,
            slope: -2.0,
            predicted: 1.0,
            actual,
            accepted: actual > 0.0,
        };
        policy.update(&trial(4.0, -2.0));
        assert_eq!(policy.radius, 1.0);
        policy.update(&trial(0.5, 0.5));
        assert_eq!(policy.radius, 0.5);
        policy.update(&trial(0.25, 0.5));
        assert_eq!(policy.radius, 0.5);
        policy.start(6.0);
        assert_eq!((policy.radius, policy.lambda, policy.untried), (48.0, 0.0, true));
        policy.start(0.0);
        assert_eq!(policy.radius, 8.0);
        policy.damp_more();
        assert_eq!([policy.radius, policy.lambda], [0.8, f64::EPSILON]);
    }
}
