//! Foot points of curves of one predictor and one response, for many observations at once.

use super::ObservedRow;
use super::foot_points::{FootPoints, LAST_STEP_POWER, STEPS};
use super::predictor_slopes::Lengths;
use crate::curve::Curve;
use crate::kernels::simd::{self, Kernel};
use crate::problem::Evaluated;
use crate::real::Real;

/// Share of the curvature of Gauss and Newton that the full one must have for its step to be taken.
const LEAST_CURVATURE: f64 = 0.1;

impl<T: Real> FootPoints<T> {
    /// Finds the foot points as [`find`](Self::find) does, by steps of Newton with the curvature of the curve.
    pub(super) fn find_single(curve: &dyn Curve<T>, range: T, rows: &[ObservedRow<'_, T>], b: &[T]) -> Evaluated<Self> {
        let zeros = || vec![T::ZERO; rows.len()];
        let mut found = FootPoints { outputs: 1, points: zeros(), multipliers: zeros(), roots: zeros() };
        let mut searches = SingleSearches::begin(rows, range);
        for step in 0..STEPS {
            searches.evaluate(curve, b)?;
            simd::run(Advance { searches: &mut searches, is_first: step == 0 });
            if searches.release(&mut found) {
                return Ok(found);
            }
        }
        // Searches that have not ended stand where they were best.
        searches.goes_on.fill(T::ZERO);
        for ((point, &x), &shift) in searches.point.iter_mut().zip(&searches.x).zip(&searches.shift) {
            *point = x + shift;
        }
        searches.release(&mut found);
        Ok(found)
    }
}

/// Searches for foot points side by side, an entry of each vector for each observation.
struct SingleSearches<T> {
    /// Numbers of the observations.
    rows: Vec<usize>,
    x: Vec<T>,
    sigma_x: Vec<T>,
    y: Vec<T>,
    sigma_y: Vec<T>,
    /// Places where the curve is evaluated next.
    point: Vec<T>,
    /// Best shifts until now, the objective there, and the length of the step from there; zero before the first.
    shift: Vec<T>,
    merit: Vec<T>,
    moved: Vec<T>,
    /// `L` and `λ` there.
    root: Vec<T>,
    multiplier: Vec<T>,
    /// One while a search goes on, then zero.
    goes_on: Vec<T>,
    /// Points, then points moved forwards and backwards, and the responses to them.
    around: Vec<T>,
    responses: Vec<T>,
    lengths: Lengths<T>,
    /// Range of the predictor.
    range: T,
    /// Length of a step that is the last, in units of the standard deviation, or of the range where that is smaller.
    last: T,
}

impl<T: Real> SingleSearches<T> {
    fn begin(rows: &[ObservedRow<'_, T>], range: T) -> Self {
        let all = |of: fn(&ObservedRow<'_, T>) -> T| rows.iter().map(of).collect::<Vec<T>>();
        let filled = |value: T| vec![value; rows.len()];
        SingleSearches {
            rows: (0..rows.len()).collect(),
            x: all(|row| row.x[0]),
            sigma_x: all(|row| row.sigma_x[0]),
            y: all(|row| row.y[0]),
            sigma_y: all(|row| row.sigma_y[0]),
            point: all(|row| row.x[0]),
            shift: filled(T::ZERO),
            merit: filled(T::INFINITY),
            moved: filled(T::ZERO),
            root: filled(T::ZERO),
            multiplier: filled(T::ZERO),
            goes_on: filled(T::ONE),
            around: Vec::new(),
            responses: Vec::new(),
            lengths: Lengths::new(),
            range,
            last: T::from_f64(T::EPSILON.to_f64().powf(LAST_STEP_POWER)),
        }
    }

    /// Evaluates the curve at all points, and on both sides of them.
    fn evaluate(&mut self, curve: &dyn Curve<T>, b: &[T]) -> Evaluated {
        let count = self.rows.len();
        self.around.resize(3 * count, T::ZERO);
        self.responses.resize(3 * count, T::ZERO);
        let (here, sides) = self.around.split_at_mut(count);
        let (ahead, behind) = sides.split_at_mut(count);
        for index in 0..count {
            let (point, length) =
                (self.point[index], self.lengths.of(self.point[index], self.sigma_x[index], self.range));
            (here[index], ahead[index], behind[index]) = (point, point + length, point - length);
        }
        curve.responses(&self.around, 1, b, &mut self.responses)
    }

    /// Writes the results of searches that have ended, once these are half of all; returns true when all have.
    fn release(&mut self, found: &mut FootPoints<T>) -> bool {
        let ended = self.goes_on.iter().filter(|&&goes_on| goes_on == T::ZERO).count();
        if 2 * ended < self.rows.len() {
            return false;
        }
        for (index, &row) in self.rows.iter().enumerate().filter(|(index, _)| self.goes_on[*index] == T::ZERO) {
            found.points[row] = self.point[index];
            found.roots[row] = self.root[index];
            found.multipliers[row] = self.multiplier[index];
        }
        let kept: Vec<usize> = (0..self.rows.len()).filter(|&index| self.goes_on[index] != T::ZERO).collect();
        let SingleSearches { x, sigma_x, y, sigma_y, point, shift, merit, moved, root, multiplier, goes_on, .. } = self;
        for of_all in [x, sigma_x, y, sigma_y, point, shift, merit, moved, root, multiplier, goes_on] {
            kept.iter().enumerate().for_each(|(to, &from)| of_all[to] = of_all[from]);
            of_all.truncate(kept.len());
        }
        self.rows = kept.into_iter().map(|index| self.rows[index]).collect();
        self.rows.is_empty()
    }
}

/// One step of all searches.
struct Advance<'s, T> {
    searches: &'s mut SingleSearches<T>,
    is_first: bool,
}

impl<T: Real> Kernel for Advance<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Advance { searches, is_first } = self;
        let count = searches.rows.len();
        let (last, range) = (searches.last, searches.range);
        let (here, sides) = searches.responses.split_at(count);
        let (ahead, behind) = sides.split_at(count);
        let (x_ahead, x_behind) = searches.around[count..].split_at(count);
        let (x, sigma_x) = (&searches.x[..count], &searches.sigma_x[..count]);
        let (y, sigma_y) = (&searches.y[..count], &searches.sigma_y[..count]);
        let (points, shifts) = (&mut searches.point[..count], &mut searches.shift[..count]);
        let (merits, moves) = (&mut searches.merit[..count], &mut searches.moved[..count]);
        let (roots, multipliers) = (&mut searches.root[..count], &mut searches.multiplier[..count]);
        let goes_on = &mut searches.goes_on[..count];
        let (half, four) = (T::from_f64(0.5), T::from_f64(4.0));
        let choose = |condition: bool, then: T, otherwise: T| if condition { then } else { otherwise };
        for i in 0..count {
            let is_active = goes_on[i] != T::ZERO;
            let is_measured = sigma_y[i] > T::ZERO;
            let unit_x = choose(sigma_x[i] > T::ZERO, sigma_x[i].recip(), T::ZERO);
            let unit_y = choose(is_measured, sigma_y[i].recip(), T::ZERO);
            // The objective.
            let (residual, shift) = (here[i] - y[i], points[i] - x[i]);
            let (of_y, of_x) = (residual * unit_y, shift * unit_x);
            let condition = choose(residual.is_finite(), T::ZERO, T::INFINITY);
            let merit = choose(is_measured, of_y * of_y + of_x * of_x, condition);
            let rounding = four * T::EPSILON * (merit + of_y.abs() * (here[i].abs() + y[i].abs()) * unit_y);
            let rounding = choose(is_measured, rounding, T::ZERO);
            let is_accepted = is_first | (merit.is_finite() & (merit <= merits[i] + rounding));
            // Derivatives, from one side where the curve ends on the other.
            let half_way = half * (x_ahead[i] - x_behind[i]);
            let per_half = choose(half_way > T::ZERO, half_way.recip(), T::ZERO);
            let (rise, fall) = (ahead[i] - here[i], here[i] - behind[i]);
            let (can_rise, can_fall) = (rise.is_finite(), fall.is_finite());
            let rise = choose(can_rise, rise, fall);
            let fall = choose(can_fall, fall, rise);
            let slope = half * (rise + fall) * per_half;
            let bend = (rise - fall) * per_half * per_half;
            // The linearised problem.
            let variance = sigma_x[i] * sigma_x[i];
            let total = sigma_y[i] * sigma_y[i] + variance * slope * slope;
            let multiplier = (residual - slope * shift) / total;
            let curvature = choose(is_measured, T::ONE + bend * residual * variance / total, T::ONE);
            let suggested = -variance * slope * multiplier;
            let is_convex = curvature > T::from_f64(LEAST_CURVATURE);
            let next = choose(is_convex, shift + (suggested - shift) / curvature, suggested);
            let unit = choose(sigma_x[i] > T::ZERO, sigma_x[i].min(range).recip(), T::ZERO);
            let (moved, moved_in_sigma) = ((next - shift).abs() * unit, (next - shift) * unit_x);
            // Steps that shrink by a factor are followed by less than that share of the last one.
            let left = choose(moved < moves[i], moved * moved / moves[i], moved);
            let least = last * (T::ONE + shift.abs() * unit) + T::EPSILON * x[i].abs().max(range) * unit;
            let is_long = (left > least) & (moved_in_sigma * moved_in_sigma > rounding);
            // Half of the way back, unless that is no way any more.
            let back = x[i] + shifts[i];
            let between = x[i] + half * (shift + shifts[i]);
            let is_between = (between != points[i]) & (between != back);
            let point = choose(is_accepted, x[i] + next, choose(is_between, between, back));
            let does_go_on = (is_accepted & is_long) | (!is_accepted & is_between);
            let is_new = is_active & is_accepted;
            points[i] = choose(is_active, point, points[i]);
            goes_on[i] = choose(is_active & does_go_on, T::ONE, T::ZERO);
            shifts[i] = choose(is_new, shift, shifts[i]);
            merits[i] = choose(is_new, merit, merits[i]);
            moves[i] = choose(is_new, moved, moves[i]);
            roots[i] = choose(is_new, total.sqrt(), roots[i]);
            multipliers[i] = choose(is_new, multiplier, multipliers[i]);
        }
    }
}
