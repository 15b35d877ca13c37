//! Search for the start of a fit of a formula.

use std::f64::consts::TAU;
use std::iter::zip;

use super::affinity::{Affinity, MOST_PARAMETERS};
use super::axes::Axes;
use super::program::Program;
use super::sample::{Sample, SampleFit};
use crate::kernels::vector::{all_finite, dot};
use crate::problem::{LeastSquares, Separable};
use crate::real::Real;
use crate::solver::LevenbergMarquardt;
use crate::statistics::latin_hypercube;

/// Points of a sample, and of one in which waves are sought. More rows of one predictor are averaged in groups.
const POINTS: usize = 128;
const WAVE_POINTS: usize = 512;

/// Largest number of instructions, counted for each row, of a search, which yet has this number of evaluations, and points of its first
/// pass for each parameter.
const WORK: usize = 1 << 25;
const FEWEST: usize = 64;
const FIRST: usize = 100;

/// Points from which the search goes on, and the least difference of one share between any two of them.
const KEPT: usize = 3;
const DISTANCE: f64 = 0.1;

/// Iterations of the fit of each.
const ITERATIONS: usize = 20;

/// Sums of squares that differ by this share are equal.
const EQUAL: f64 = 1e-9;
/// The same for rounding errors: a share of that share of the responses' sum of squares.
const ROUNDING: f64 = 1e-18;

/// Seed of the points.
const SEED: u64 = 1;

/// Returns a start for the fit of a formula: ones unless a search finds parameters with a lower sum of squares.
///
/// Parameters in which the formula is linear are eliminated. The others are sought around their natural sizes, over the frequencies
/// that the data can show, and where sums are zero at a row of the data: first at points of a Latin hypercube, then along one
/// parameter after the other, and by short fits from the best.
pub(super) fn start<T: Real>(program: &Program, parameters: usize, x: &[T], y: &[T]) -> Vec<T> {
    let ones = vec![T::ONE; parameters];
    let width = x.len() / y.len().max(1);
    if parameters == 0 || parameters > MOST_PARAMETERS || width == 0 {
        return ones;
    }
    let affinity = Affinity::of(program, parameters);
    let sample = Sample::of(x, y, width, if program.waves(&affinity) == 0 { POINTS } else { WAVE_POINTS });
    if sample.y.is_empty() {
        return ones;
    }
    let linear = affinity.linear_parameters();
    let axes = Axes::new(program, &affinity, &linear, &sample, parameters);
    let fit = SampleFit { program, parameters, sample: &sample };
    let mut search = Search { problem: Separable::without(fit, linear), best: (f64::INFINITY, vec![1.0; parameters]) };
    search.keep(vec![1.0; parameters], -EQUAL);
    search.run(&axes, WORK / (program.instructions.len() * sample.y.len()));
    let start: Vec<T> = search.best.1.into_iter().map(T::from_f64).collect();
    if all_finite(&start) { start } else { ones }
}

/// Returns a start for a formula of complex values, given the programs of its parts, and rows of two responses: that of a real formula
/// with one more predictor, which says which part a response is.
pub(super) fn complex_start<T: Real>(parts: &[Program; 2], parameters: usize, x: &[T], z: &[T]) -> Vec<T> {
    let width = x.len() / (z.len() / 2).max(1);
    let part = |row: &[T], part: T| row.iter().copied().chain([part]).collect::<Vec<T>>();
    let rows = x.chunks_exact(width.max(1)).flat_map(|row| [part(row, T::ZERO), part(row, T::ONE)]);
    start(&Program::either(parts, width), parameters, &rows.flatten().collect::<Vec<T>>(), z)
}

/// A point on the axes, the parameters that are not eliminated, and the sum of squares.
struct Trial {
    shares: Vec<f64>,
    others: Vec<f64>,
    cost: f64,
}

/// The best parameters so far, and their sum of squares.
struct Search<'s> {
    problem: Separable<f64, SampleFit<'s>>,
    best: (f64, Vec<f64>),
}

impl Search<'_> {
    /// Searches the axes with about this number of evaluations.
    fn run(&mut self, axes: &Axes<'_>, budget: usize) {
        let sweeps: usize = (0..axes.len()).map(|axis| axes.sweep(axis).len()).sum();
        let mut left = budget.min(FIRST * axes.len() + KEPT * sweeps).max(FEWEST);
        let points = match axes.len() {
            0 => vec![Vec::new()],
            1 => axes.sweep(0).take(left).map(|share| vec![share]).collect(),
            several => latin_hypercube((FIRST * several).min(left / 2), several, SEED),
        };
        left -= points.len();
        let mut trials: Vec<Trial> = points.into_iter().map(|shares| self.trial(axes, shares)).collect();
        trials.sort_by(|one, other| one.cost.total_cmp(&other.cost));
        let mut kept: Vec<Trial> = Vec::new();
        for trial in trials.into_iter().filter(|trial| trial.cost.is_finite()) {
            let is_far = |(one, other): (&f64, &f64)| (one - other).abs() > DISTANCE;
            if kept.len() < KEPT && kept.iter().all(|other| zip(&other.shares, &trial.shares).any(is_far)) {
                kept.push(trial);
            }
        }
        for mut best in kept {
            for axis in (0..axes.len()).filter(|_| axes.len() > 1) {
                for share in axes.sweep(axis).take(left) {
                    let mut shares = best.shares.clone();
                    shares[axis] = share;
                    let next = self.trial(axes, shares);
                    left -= 1;
                    best = if next.cost < best.cost { next } else { best };
                }
            }
            self.polish(&best.others);
        }
        self.simplify();
    }

    fn trial(&mut self, axes: &Axes<'_>, shares: Vec<f64>) -> Trial {
        let others = self.problem.reduced(&axes.at(&shares));
        let mut r = vec![0.0; self.problem.residual_count()];
        let evaluated = self.problem.residuals(&others, 0, &mut r);
        let cost = if evaluated.is_ok() && all_finite(&r) { dot(&r, &r) } else { f64::INFINITY };
        Trial { shares, others, cost }
    }

    /// Keeps the better of these parameters, and those that a short fit from them finds.
    fn polish(&mut self, others: &[f64]) {
        let solver = LevenbergMarquardt::new().with_max_iterations(ITERATIONS);
        let solved = solver.minimize_rows(&mut self.problem, others, &mut ());
        for others in [Some(others), solved.as_ref().ok().map(|report| &report.x[..])].into_iter().flatten() {
            if let Ok(b) = self.problem.full(others) {
                self.keep(b, -EQUAL);
            }
        }
    }

    /// Makes parameters positive, and phases less than an oscillation, where the sum of squares stays the same.
    fn simplify(&mut self) {
        for index in 0..self.best.1.len() {
            for simpler in [f64::abs, |value: f64| value.rem_euclid(TAU)] {
                let mut b = self.best.1.clone();
                b[index] = simpler(b[index]);
                let others = self.problem.reduced(&b);
                if let Some(b) = self.problem.full(&others).ok().filter(|b| *b != self.best.1) {
                    self.keep(b, EQUAL);
                }
            }
        }
    }

    /// Keeps these parameters if their sum of squares is lower, or higher by no more than this share, and a fit can begin there.
    fn keep(&mut self, b: Vec<f64>, share: f64) {
        let (rows, columns) = (self.problem.residual_count(), b.len());
        let (mut r, mut jacobian) = (vec![0.0; rows], vec![0.0; rows * columns]);
        let evaluated = self.problem.problem_mut().linearize(&b, 0, &mut r, &mut jacobian);
        let is_regular = |column: usize| {
            let derivatives = || jacobian.iter().skip(column).step_by(columns);
            derivatives().map(|slope| slope * slope).sum::<f64>().is_normal()
                || derivatives().all(|slope| *slope == 0.0)
        };
        let (cost, y) = (dot(&r, &r), &self.problem.problem().sample.y);
        if evaluated.is_ok()
            && cost < self.best.0 * (1.0 + share) + share * ROUNDING * dot(y, y)
            && (0..columns).all(is_regular)
        {
            self.best = (cost, b);
        }
    }
}
