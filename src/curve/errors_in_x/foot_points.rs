//! Points of a curve that are nearest to observations.

use super::ObservedRow;
use super::predictor_slopes::PredictorSlopes;
use super::root;
use crate::curve::Curve;
use crate::kernels::vector::dot;
use crate::problem::Evaluated;
use crate::real::Real;

/// Steps towards a foot point, at most.
pub(super) const STEPS: usize = 40;

/// Power of `ε` below which a step is the last, in units of the standard deviation, or of the range of the predictor where that is smaller.
pub(super) const LAST_STEP_POWER: f64 = 0.7;

/// Nearest points of a curve to some observations, and the distances.
///
/// The shift `δ` of an observation minimises `‖f(x + δ) − y‖²/σ_y² + ‖δ/σ_x‖²`. With the derivatives `S` of the responses by the
/// predictors, and `W = σ_y² + S σ_x² Sᵀ = LLᵀ`, the linearised problem has the solution `λ = W⁻¹ (f − y − Sδ)`, `δ = −σ_x² Sᵀλ`. At the
/// minimum, `Lᵀλ` are residuals whose squares are the minimum, and `L⁻¹ ∂f/∂β` their derivatives by the parameters. All this holds for
/// `σ_y = 0` as well, where `f(x + δ) = y` is a condition.
#[derive(Debug)]
pub(super) struct FootPoints<T> {
    pub(super) outputs: usize,
    /// Predictors of the nearest points, row after row.
    pub(super) points: Vec<T>,
    /// `λ` of each row.
    pub(super) multipliers: Vec<T>,
    /// `L` of each row.
    pub(super) roots: Vec<T>,
}

/// The search for the foot point of one observation.
#[derive(Debug, Clone, Copy)]
struct Search<T> {
    row: usize,
    /// Objective at the best shift until now.
    merit: T,
    /// Length of the last step; zero before the first.
    moved: T,
}

/// Derivatives at the point where a search stands, in memory that all share.
struct LocalSlopes<T> {
    /// Derivatives of the responses by the predictors, response after response.
    first: Vec<T>,
    /// The next shift.
    step: Vec<T>,
    /// Length of a step that is the last.
    last: T,
}

impl<T: Real> FootPoints<T> {
    /// Finds the foot points of these rows. The search begins at the observation, so that the result depends on nothing else.
    pub(super) fn find(curve: &dyn Curve<T>, ranges: &[T], rows: &[ObservedRow<'_, T>], b: &[T]) -> Evaluated<Self> {
        let (w, k) = (rows[0].x.len(), rows[0].y.len());
        if let (&[range], 1) = (ranges, k) {
            return Self::find_single(curve, range, rows, b);
        }
        let mut found = FootPoints {
            outputs: k,
            points: rows.iter().flat_map(|row| row.x).copied().collect(),
            multipliers: vec![T::ZERO; rows.len() * k],
            roots: vec![T::ZERO; rows.len() * k * k],
        };
        let mut best = vec![T::ZERO; rows.len() * w];
        let begin = |row| Search { row, merit: T::INFINITY, moved: T::ZERO };
        let mut searches: Vec<Search<T>> = (0..rows.len()).map(begin).collect();
        let mut slopes = PredictorSlopes::new(ranges, k);
        let last = T::from_f64(T::EPSILON.to_f64().powf(LAST_STEP_POWER));
        let (first, step) = (vec![T::ZERO; k * w], vec![T::ZERO; w]);
        let mut local = LocalSlopes { first, step, last };
        for number in 0..STEPS {
            let points = &found.points;
            slopes.lay_out(searches.iter().map(|search| {
                let row = search.row;
                (&points[row * w..(row + 1) * w], rows[row].sigma_x)
            }));
            slopes.evaluate(curve, b)?;
            let mut at = 0;
            searches.retain_mut(|search| {
                let (row, best) = (&rows[search.row], &mut best[search.row * w..(search.row + 1) * w]);
                let responses = slopes.responses(at);
                let merit = Merit::at(row, &found.points[search.row * w..(search.row + 1) * w], responses);
                let is_accepted = merit.value.is_finite() && merit.value <= search.merit + merit.rounding;
                let goes_on = if number == 0 || is_accepted {
                    slopes.derivatives_at(at, &mut local.first);
                    found.advance(search, (row, ranges), best, (responses, merit), &mut local)
                } else {
                    found.return_half_way(search.row, row, best)
                };
                at += 1;
                goes_on
            });
            if searches.is_empty() {
                break;
            }
        }
        // A search that has not ended stands where it was best.
        for search in searches {
            found.return_to(search.row, &rows[search.row], &best[search.row * w..(search.row + 1) * w]);
        }
        Ok(found)
    }

    /// Takes the step that the responses here suggest; returns false where it is the last.
    fn advance(
        &mut self,
        search: &mut Search<T>,
        (row, ranges): (&ObservedRow<'_, T>, &[T]),
        best: &mut [T],
        (responses, merit): (&[T], Merit<T>),
        local: &mut LocalSlopes<T>,
    ) -> bool {
        let w = row.x.len();
        let point = &mut self.points[search.row * w..(search.row + 1) * w];
        best.iter_mut().zip(&*point).zip(row.x).for_each(|((shift, &point), &x)| *shift = point - x);
        search.merit = merit.value;
        self.linearize(search.row, row, best, responses, local);
        self.suggest(search.row, row, local);
        let point = &mut self.points[search.row * w..(search.row + 1) * w];
        let (mut moved, mut moved_in_sigma, mut size, mut units) = (T::ZERO, T::ZERO, T::ZERO, T::ZERO);
        for j in 0..w {
            point[j] = row.x[j] + local.step[j];
            if row.sigma_x[j] > T::ZERO {
                let (step, unit) = (local.step[j] - best[j], row.sigma_x[j].min(ranges[j]).recip());
                let square = |length: T, unit: T| (length * unit) * (length * unit);
                moved += square(step, unit);
                moved_in_sigma += square(step, row.sigma_x[j].recip());
                size += square(best[j], unit);
                units = units.max(row.x[j].abs().max(ranges[j]) * unit);
            }
        }
        let is_rounding = moved_in_sigma <= merit.rounding;
        let moved = moved.sqrt();
        // Steps that shrink by a factor are followed by less than that share of the last one.
        let left = if moved < search.moved { moved * (moved / search.moved) } else { moved };
        search.moved = moved;
        left > local.last * (T::ONE + size.sqrt()) + T::EPSILON * units && !is_rounding
    }

    /// Goes half of the way back to the best shift; returns false where that is no way any more.
    fn return_half_way(&mut self, index: usize, row: &ObservedRow<'_, T>, best: &[T]) -> bool {
        let w = row.x.len();
        let point = &mut self.points[index * w..(index + 1) * w];
        let mut moves = false;
        for j in 0..w {
            let next = row.x[j] + T::from_f64(0.5) * ((point[j] - row.x[j]) + best[j]);
            moves |= next != point[j] && next != row.x[j] + best[j];
            point[j] = next;
        }
        if !moves {
            self.return_to(index, row, best);
        }
        moves
    }

    /// Solves the linearised problem about a shift.
    fn linearize(
        &mut self,
        index: usize,
        row: &ObservedRow<'_, T>,
        shift: &[T],
        responses: &[T],
        local: &LocalSlopes<T>,
    ) {
        let (w, k) = (row.x.len(), self.outputs);
        let root = &mut self.roots[index * k * k..(index + 1) * k * k];
        let multipliers = &mut self.multipliers[index * k..(index + 1) * k];
        root.fill(T::ZERO);
        for output in 0..k {
            let slopes = &local.first[output * w..(output + 1) * w];
            root[output * k + output] = row.sigma_y[output] * row.sigma_y[output];
            multipliers[output] = responses[output] - row.y[output] - dot(slopes, shift);
            for other in 0..=output {
                for j in 0..w {
                    let variance = row.sigma_x[j] * row.sigma_x[j];
                    root[output * k + other] += variance * slopes[j] * local.first[other * w + j];
                }
            }
        }
        root::factorize(root, k);
        root::solve(root, k, multipliers, 1);
        root::solve_transposed(root, k, multipliers);
    }

    /// Writes the shift that the linearised problem suggests.
    fn suggest(&self, index: usize, row: &ObservedRow<'_, T>, local: &mut LocalSlopes<T>) {
        let (w, k) = (row.x.len(), self.outputs);
        let multipliers = &self.multipliers[index * k..(index + 1) * k];
        for j in 0..w {
            let pull = |sum: T, output: usize| sum + local.first[output * w + j] * multipliers[output];
            local.step[j] = -row.sigma_x[j] * row.sigma_x[j] * (0..k).fold(T::ZERO, pull);
        }
    }

    fn return_to(&mut self, index: usize, row: &ObservedRow<'_, T>, shift: &[T]) {
        let w = row.x.len();
        let point = &mut self.points[index * w..(index + 1) * w];
        (0..w).for_each(|j| point[j] = row.x[j] + shift[j]);
    }

    /// Entry of `Lᵀλ`: a distance of a row.
    pub(super) fn distance(&self, row: usize, output: usize) -> T {
        let k = self.outputs;
        let (root, multipliers) = (&self.roots[row * k * k..], &self.multipliers[row * k..]);
        (output..k).fold(T::ZERO, |sum, other| sum + root[other * k + output] * multipliers[other])
    }

    /// Turns derivatives of the responses at a foot point into those of its distances.
    pub(super) fn differentiate(&self, row: usize, derivatives: &mut [T]) {
        let k = self.outputs;
        root::solve(&self.roots[row * k * k..(row + 1) * k * k], k, derivatives, derivatives.len() / k);
    }
}

/// `‖f − y‖²/σ_y² + ‖δ/σ_x‖²`, and its rounding error. Where the curve is a condition, every finite point is as good.
#[derive(Debug, Clone, Copy)]
struct Merit<T> {
    value: T,
    rounding: T,
}

impl<T: Real> Merit<T> {
    fn at(row: &ObservedRow<'_, T>, point: &[T], responses: &[T]) -> Self {
        let (mut value, mut rounding) = (T::ZERO, T::ZERO);
        for (output, &response) in responses.iter().enumerate() {
            let residual = response - row.y[output];
            if row.sigma_y[output] == T::ZERO {
                let value = if residual.is_finite() { T::ZERO } else { T::INFINITY };
                return Merit { value, rounding: T::ZERO };
            }
            let residual = residual / row.sigma_y[output];
            value += residual * residual;
            rounding += residual.abs() * (response.abs() + row.y[output].abs()) / row.sigma_y[output];
        }
        for j in (0..point.len()).filter(|&j| row.sigma_x[j] > T::ZERO) {
            let shift = (point[j] - row.x[j]) / row.sigma_x[j];
            value += shift * shift;
        }
        Merit { value, rounding: T::from_f64(4.0) * T::EPSILON * (value + rounding) }
    }
}
