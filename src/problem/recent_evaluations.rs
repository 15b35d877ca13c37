//! The last evaluations of a function that is expensive to call.

use crate::real::Real;

/// Largest number of evaluations that are kept, where they are small; threads that fit the same curve share them.
const MOST: usize = 16;

/// Fewest: the point that a solve is at, the one before or a probe, and the trial.
const FEWEST: usize = 3;

/// Numbers that all evaluations have together, beyond which no more than the fewest are kept.
const MOST_NUMBERS: usize = 1 << 22;

/// Largest number of derivatives of a point that are kept: to copy more takes as long as some calls of a fast function.
const MOST_DERIVATIVES: usize = 1 << 20;

/// The last evaluations of a function that costs much more than copies of its values, so that no point is evaluated twice.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecentEvaluations<T> {
    /// The one that was used last is the last.
    points: Vec<KnownPoint<T>>,
}

/// Values at a point, and derivatives if they are known.
#[derive(Debug, Clone, Default)]
struct KnownPoint<T> {
    x: Vec<T>,
    values: Vec<T>,
    derivatives: Vec<T>,
}

impl<T: Real> RecentEvaluations<T> {
    /// Fills values and derivatives, of which there may be none; `false`, with nothing filled, where they are not known at `x`.
    pub(crate) fn recall(&mut self, x: &[T], values: &mut [T], derivatives: &mut [T]) -> bool {
        let is_known = |point: &KnownPoint<T>| {
            point.x == x
                && point.values.len() == values.len()
                && (derivatives.is_empty() || point.derivatives.len() == derivatives.len())
        };
        let Some(place) = self.points.iter().rposition(is_known) else { return false };
        let point = self.points.remove(place);
        values.copy_from_slice(&point.values);
        if !derivatives.is_empty() {
            derivatives.copy_from_slice(&point.derivatives);
        }
        self.points.push(point);
        true
    }

    /// Keeps values and derivatives, of which there may be none, in the place of what was known at `x`, or else of the evaluation that has
    /// not been used for the longest time.
    pub(crate) fn keep(&mut self, x: &[T], values: &[T], derivatives: &[T]) {
        let derivatives = if derivatives.len() <= MOST_DERIVATIVES { derivatives } else { &[] };
        let numbers = values.len().saturating_mul(x.len() + 1).max(1);
        let most = (MOST_NUMBERS / numbers).clamp(FEWEST, MOST);
        let known = self.points.iter().position(|point| point.x == x);
        let place = known.or_else(|| (self.points.len() >= most).then_some(0));
        let mut point = place.map_or_else(KnownPoint::default, |place| self.points.remove(place));
        for (kept, new) in [(&mut point.x, x), (&mut point.values, values), (&mut point.derivatives, derivatives)] {
            kept.clear();
            kept.extend_from_slice(new);
        }
        self.points.push(point);
    }

    /// Forgets all evaluations.
    pub(crate) fn forget(&mut self) {
        self.points.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_recalled() {
        let mut recent = RecentEvaluations::default();
        let (mut r, mut jacobian) = ([0.0; 2], [0.0; 4]);
        assert!(!recent.recall(&[1.0, 2.0], &mut r, &mut []));
        recent.keep(&[1.0, 2.0], &[3.0, 4.0], &[]);
        assert!(!recent.recall(&[1.0, 2.0], &mut r, &mut jacobian), "there are no derivatives yet");
        assert!(recent.recall(&[1.0, 2.0], &mut r, &mut []) && r == [3.0, 4.0]);
        recent.keep(&[1.0, 2.0], &[3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]);
        r.fill(0.0);
        assert!(recent.recall(&[1.0, 2.0], &mut r, &mut jacobian));
        assert_eq!((r, jacobian), ([3.0, 4.0], [5.0, 6.0, 7.0, 8.0]));
        assert!(!recent.recall(&[1.0, 2.0], &mut [0.0], &mut []), "other rows");
        recent.forget();
        assert!(!recent.recall(&[1.0, 2.0], &mut r, &mut []));
    }

    /// The one in use stays.
    #[test]
    fn the_oldest_gives_way() {
        let mut recent = RecentEvaluations::default();
        for x in 0..2 * MOST {
            recent.keep(&[x as f64], &[x as f64 + 0.5], &[1.0]);
            assert!(recent.recall(&[0.0], &mut [0.0], &mut [0.0]));
        }
        assert_eq!(recent.points.len(), MOST);
        assert!(!recent.recall(&[1.0], &mut [0.0], &mut []));
        let mut r = [0.0];
        assert!(recent.recall(&[2.0 * MOST as f64 - 1.0], &mut r, &mut []) && r == [2.0 * MOST as f64 - 0.5]);
    }

    #[test]
    fn large_ones_take_bounded_memory() {
        let (mut recent, values) = (RecentEvaluations::default(), vec![0.0; MOST_DERIVATIVES]);
        for x in 0..2 * FEWEST {
            recent.keep(&[x as f64, 0.0], &values, &vec![0.0; 2 * values.len()]);
        }
        assert_eq!(recent.points.len(), FEWEST);
        assert!(recent.points.iter().all(|point| point.derivatives.is_empty()));
    }

    #[test]
    fn a_point_that_is_not_a_number_is_never_known() {
        let mut recent = RecentEvaluations::default();
        recent.keep(&[f64::NAN], &[1.0], &[]);
        assert!(!recent.recall(&[f64::NAN], &mut [0.0], &mut []));
    }
}
