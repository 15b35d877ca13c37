//! Detection of a problem's linear parameters, from changes of its Jacobian.

use super::{SeparableError, is_bounded};
use crate::autodiff::Difference;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Number of points at which the Jacobian is evaluated, the given one included.
const POINTS: usize = 3;

/// Moves of one parameter that are tried until the problem is finite, relative to it.
const MOVES: [f64; 3] = [0.5, 0.1, 0.01];

/// Number of candidates up to which all their subsets are tried.
const EXACT: usize = 15;

/// The digits to which a column must repeat to count as unchanged, as a power of the precision: nine of [`f64`]'s sixteen.
const AGREEMENT: f64 = 0.6;

/// Rounding error of the residuals, in units of the last digit of the largest. Columns whose difference it explains, through central
/// differences, count as unchanged.
const ROUNDING: f64 = 16.0;

/// Largest share of a column that such a rounding error may have; above it the column is not resolved.
const CLEAR: f64 = 1e-3;

/// The largest set of parameters in which the residuals are jointly affine, ascending; empty if there is none.
///
/// They are affine in `x_j` where the column `∂r/∂x_j` does not change with `x_j`, and jointly in two if neither's column
/// changes with the other: a clique of the graph of such pairs. A parameter whose column is zero at all points is not
/// in the set.
pub(crate) fn linear_parameters<T: Real, P: LeastSquares<T>>(
    problem: &mut P,
    at: &[T],
) -> Result<Vec<usize>, SeparableError> {
    let (expected, found) = (problem.parameter_count(), at.len());
    if expected != found {
        return Err(SeparableError::WrongLength { expected, found });
    }
    let bounds = problem.domain().bounds().filter(|bounds| !bounds.is_unbounded()).cloned();
    let within = |mut x: Vec<T>| {
        if let Some(bounds) = &bounds {
            bounds.project(&mut x);
        }
        x
    };
    let at = &within(at.to_vec());
    let mut look = LinearityProbe::new(problem, at);
    problem_at(problem, at, &mut look.here).map_err(SeparableError::Evaluation)?;
    if !look.here.is_finite() {
        return Err(SeparableError::NonFinite);
    }
    look.around(problem, at);
    look.at_zero(problem, at);
    for point in 1..POINTS {
        let beside = within(at.iter().enumerate().map(|(j, &x)| beside(x, point, j)).collect());
        if problem_at(problem, &beside, &mut look.here).is_ok() && look.here.is_finite() {
            look.around(problem, &beside);
        }
    }
    let is_candidate = |&j: &usize| look.seen[j] && !look.changes[j * found + j] && !is_bounded(problem, j);
    let candidates = (0..found).filter(is_candidate).collect();
    let compatible = |j: usize, k: usize| !look.changes[j * found + k] && !look.changes[k * found + j];
    Ok(largest_clique(candidates, compatible))
}

/// The value of parameter `j` at another point, up to a fifth away.
fn beside<T: Real>(x: T, point: usize, j: usize) -> T {
    let spread = (0.618_034 * (j + 1) as f64 + 0.414_214 * point as f64).fract();
    if x == T::ZERO { T::from_f64(0.25 + spread) } else { x * T::from_f64(0.8 + 0.4 * spread) }
}

/// All residuals and the whole Jacobian at a point.
struct LinearizedRows<T> {
    residuals: Vec<T>,
    jacobian: Vec<T>,
}

impl<T: Real> LinearizedRows<T> {
    fn is_finite(&self) -> bool {
        self.residuals.iter().chain(&self.jacobian).all(|number| number.is_finite())
    }

    /// The column of a parameter.
    fn column(&self, j: usize) -> impl Iterator<Item = T> {
        let n = self.jacobian.len() / self.residuals.len().max(1);
        self.jacobian.iter().skip(j).step_by(n.max(1)).copied()
    }
}

fn problem_at<T: Real, P: LeastSquares<T>>(
    problem: &mut P,
    x: &[T],
    rows: &mut LinearizedRows<T>,
) -> Result<(), EvaluationError> {
    problem.linearize(x, 0, &mut rows.residuals, &mut rows.jacobian)
}

/// The parameters seen.
struct LinearityProbe<T> {
    here: LinearizedRows<T>,
    there: LinearizedRows<T>,
    /// `changes[j n + k]`: the column of `j` changes with the parameter `k`, or that could not be excluded.
    changes: Vec<bool>,
    /// The column of `j` is not always zero.
    seen: Vec<bool>,
}

impl<T: Real> LinearityProbe<T> {
    fn new<P: LeastSquares<T>>(problem: &P, at: &[T]) -> Self {
        let (m, n) = (problem.residual_count(), at.len());
        let rows = || LinearizedRows { residuals: vec![T::ZERO; m], jacobian: vec![T::ZERO; m * n] };
        LinearityProbe { here: rows(), there: rows(), changes: vec![false; n * n], seen: vec![false; n] }
    }

    /// Moves one parameter after the other, within bounds.
    fn around<P: LeastSquares<T>>(&mut self, problem: &mut P, x: &[T]) {
        let mut moved = x.to_vec();
        for k in 0..x.len() {
            let unit = if x[k] == T::ZERO { T::ONE } else { x[k] };
            let (lower, upper) = problem.domain().bounds().map_or((-T::INFINITY, T::INFINITY), |bounds| bounds.of(k));
            let moves = MOVES.iter().any(|&share| {
                let step = T::from_f64(share) * unit;
                let ahead = (x[k] + step).max(lower).min(upper);
                moved[k] = if ahead == x[k] { (x[k] - step).max(lower).min(upper) } else { ahead };
                self.compare(problem, &moved, k)
            });
            // A parameter may look linear within a fraction of a tiny value, and not over a unit.
            moved[k] = (x[k] + T::ONE).max(lower).min(upper);
            self.compare(problem, &moved, k);
            if !moves {
                self.changes.iter_mut().skip(k).step_by(x.len()).for_each(|changes| *changes = true);
            }
            moved[k] = x[k];
        }
    }

    /// Moves one parameter after the other to zero, where those that are eliminated are evaluated; no one with bounds is.
    fn at_zero<P: LeastSquares<T>>(&mut self, problem: &mut P, x: &[T]) {
        let mut moved = x.to_vec();
        for k in (0..x.len()).filter(|&k| !is_bounded(problem, k)).collect::<Vec<_>>() {
            moved[k] = T::ZERO;
            if !self.compare(problem, &moved, k) {
                self.changes[k * x.len() + k] = true;
            }
            moved[k] = x[k];
        }
    }

    /// Notes the columns that are different at a point to which parameter `k` has moved; `false` if it is not finite.
    fn compare<P: LeastSquares<T>>(&mut self, problem: &mut P, moved: &[T], k: usize) -> bool {
        // An error at another point only means that it cannot be used.
        if problem_at(problem, moved, &mut self.there).is_err() || !self.there.is_finite() {
            return false;
        }
        let tolerance = T::EPSILON.powf(T::from_f64(AGREEMENT));
        let sizes = self.here.residuals.iter().chain(&self.there.residuals);
        let size = sizes.fold(T::ZERO, |size, r| size.max(r.abs()));
        for (j, &x) in moved.iter().enumerate() {
            let rounding = T::from_f64(ROUNDING) * size * T::EPSILON / Difference::Central.step(x).abs();
            let (mut largest, mut difference) = (T::ZERO, T::ZERO);
            for (here, there) in self.here.column(j).zip(self.there.column(j)) {
                largest = largest.max(here.abs()).max(there.abs());
                difference = difference.max((here - there).abs());
            }
            let rounding = if rounding < T::from_f64(CLEAR) * largest { rounding } else { T::ZERO };
            self.changes[j * moved.len() + k] |= difference > (tolerance * largest).max(rounding);
            self.seen[j] |= largest > T::ZERO;
        }
        true
    }
}

/// The largest set of pairwise compatible candidates, the first of several. For many candidates, a maximal set, begun with those that are
/// compatible with the most others.
pub(crate) fn largest_clique(candidates: Vec<usize>, compatible: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let is_compatible_with_all = |&j: &usize| candidates.iter().all(|&k| compatible(j, k));
    let (mut clique, candidates): (Vec<_>, Vec<_>) = candidates.iter().partition(|&j| is_compatible_with_all(j));
    clique.extend(largest_clique_of_some(candidates, compatible));
    clique.sort_unstable();
    clique
}

/// The largest clique of candidates none of which is compatible with all others.
fn largest_clique_of_some(mut candidates: Vec<usize>, compatible: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    if candidates.len() > EXACT {
        let strangers = |&j: &usize| candidates.iter().filter(|&&k| !compatible(j, k)).count();
        let mut by_degree = candidates.clone();
        by_degree.sort_by_cached_key(strangers);
        let mut clique: Vec<usize> = Vec::new();
        for j in by_degree {
            if clique.iter().all(|&k| compatible(j, k)) {
                clique.push(j);
            }
        }
        clique.sort_unstable();
        return clique;
    }
    let neighbours: Vec<u32> = candidates
        .iter()
        .map(|&j| candidates.iter().enumerate().map(|(at, &k)| u32::from(compatible(j, k)) << at).sum())
        .collect();
    let is_clique = |set: u32| neighbours.iter().enumerate().all(|(at, near)| set >> at & 1 == 0 || set & !near == 0);
    let sets = (0..1 << candidates.len()).filter(|&set| is_clique(set));
    let largest = sets.fold(0, |best: u32, set: u32| if set.count_ones() > best.count_ones() { set } else { best });
    let mut at = 0..;
    candidates.retain(|_| at.next().is_some_and(|at: usize| largest >> at & 1 == 1));
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_set_is_found_and_the_first_of_equals() {
        let of = |n: usize, pairs: &[(usize, usize)]| {
            let compatible = |j, k| j == k || pairs.contains(&(j, k)) || pairs.contains(&(k, j));
            largest_clique((0..n).collect(), compatible)
        };
        assert!(of(0, &[]).is_empty());
        assert_eq!(of(3, &[]), [0]);
        assert_eq!(of(4, &[(0, 1), (1, 2), (1, 3), (2, 3)]), [1, 2, 3]);
        assert_eq!(of(4, &[(0, 1), (2, 3)]), [0, 1]);
    }

    /// Two groups that do not go together, one larger.
    #[test]
    fn many_candidates_are_gathered_greedily() {
        let found = largest_clique((0..30).collect(), |j, k| (j < 12) == (k < 12));
        assert_eq!(found, (12..30).collect::<Vec<_>>());
    }
}
