//! Search for the start of a fit of a formula.

use std::cmp::Ordering;
use std::iter::zip;

use super::affinity::{Affinity, MOST_PARAMETERS};
use super::equation::{Equation, Sample};
use super::function::Function;
use super::program::{Address, Instruction, Operator, Program};
use super::sizes::natural_sizes;
use crate::problem::{LeastSquares, Separable};
use crate::real::Real;
use crate::solver::LevenbergMarquardt;
use crate::statistics::latin_hypercube;

/// Points of a sample, and of one in which waves are sought. More rows of one predictor are averaged in groups.
const POINTS: usize = 128;
const WAVE_POINTS: usize = 512;

/// Largest number of instructions, counted for each row, of a search, which yet has this number of evaluations, and points of its first
/// pass for each parameter.
const WORK: usize = 1 << 23;
const FEWEST: usize = 64;
const FIRST: usize = 100;

/// Points of a sweep along one parameter.
const SWEEP: usize = 24;

/// Points from which the search goes on, and the least difference of one share between any two of them.
const KEPT: usize = 3;
const DISTANCE: f64 = 0.1;

/// Iterations of the fit of each.
const ITERATIONS: usize = 20;

/// Share of negative values, and of values at which a sum is zero at a row of the data.
const NEGATIVE: f64 = 0.35;
const ANCHORED: f64 = 0.6;

/// Factors by which a parameter differs from its natural size: of exponents, and the least and the most of others.
const EXPONENTS: f64 = 5.0;
const REACH: [f64; 2] = [100.0, 1e6];

/// Costs that differ by this share are equal.
const EQUAL: f64 = 1e-9;

/// Seed of the points.
const SEED: u64 = 1;

/// Returns a start for the fit of a formula: ones unless a search finds parameters with a lower sum of squares.
///
/// Parameters in which the formula, or a transformed equation, is linear are eliminated. The others are sought around their natural
/// sizes, over the frequencies that the data can show, and where sums are zero at a row of the data: first at points of a Latin
/// hypercube, then along one parameter after the other, and by short fits from the best.
pub(super) fn start<T: Real>(program: &Program, parameters: usize, width: usize, x: &[T], y: &[T]) -> Vec<T> {
    let ones = vec![T::ONE; parameters];
    if parameters == 0 || parameters > MOST_PARAMETERS || width == 0 {
        return ones;
    }
    let affinity = Affinity::of(program, parameters);
    let waves = affinity.waves(program);
    let sample = sample(x, y, width, if waves == 0 { POINTS } else { WAVE_POINTS });
    if sample.y.is_empty() {
        return ones;
    }
    let last = program.instructions.len() - 1;
    let direct = (Equation::direct(program, parameters, &sample), affinity.linear_in(&[last], parameters));
    let transformed = Equation::transformed(program, parameters, &affinity, &sample);
    let mut search = Search {
        responses: direct.0.clone(),
        linear: direct.1.clone(),
        budget: WORK / (program.instructions.len() * sample.y.len()),
        best: (f64::INFINITY, vec![1.0; parameters]),
    };
    search.best.0 = search.cost(&search.best.1.clone());
    let is_better = transformed.1.len() > direct.1.len();
    for (equation, linear) in std::iter::once(direct).chain(is_better.then_some(transformed)) {
        let axes = Axes::new(program, parameters, &affinity, waves, &linear, &sample);
        search.run(Separable::without(equation, linear), &axes);
    }
    let start: Vec<T> = search.best.1.iter().map(|&value| T::from_f64(value)).collect();
    if start.iter().all(|value| value.is_finite()) { start } else { ones }
}

/// The finite rows, or means of neighbours; of several predictors, rows from all over the data.
fn sample<T: Real>(x: &[T], y: &[T], width: usize, points: usize) -> Sample {
    let mut rows: Vec<(Vec<f64>, f64)> = zip(x.chunks_exact(width), y)
        .map(|(x, y)| (x.iter().map(|x| x.to_f64()).collect(), y.to_f64()))
        .filter(|(x, y): &(Vec<f64>, f64)| y.is_finite() && x.iter().all(|x| x.is_finite()))
        .collect();
    let group = rows.len().div_ceil(points).max(1);
    if width == 1 {
        rows.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]).then(a.1.total_cmp(&b.1)));
        let mean = |rows: &[(Vec<f64>, f64)]| {
            let (x, y) = rows.iter().fold((0.0, 0.0), |(x, y), row| (x + row.0[0], y + row.1));
            (vec![x / rows.len() as f64], y / rows.len() as f64)
        };
        rows = rows.chunks(group).map(mean).collect();
    } else if group > 1 {
        let golden = |k: usize| (((k as f64 * 0.618_034).fract() * rows.len() as f64) as usize).min(rows.len() - 1);
        rows = (0..points).map(|k| rows[golden(k)].clone()).collect();
    }
    let (x, y): (Vec<Vec<f64>>, Vec<f64>) = rows.into_iter().unzip();
    Sample { x: x.concat(), width, y }
}

/// How the value of a parameter follows from a share between 0 and 1.
enum Axis {
    /// Factors of the natural size up to this one, and their reciprocals, of both signs.
    Size(f64),
    /// Powers of evenly spaced numbers between these, times the natural size.
    Wave([f64; 2], f64),
    /// Multiples of the value of a program at the rows of the sample, or sizes.
    Anchor(Program, f64, f64),
}

/// Axes of the parameters that are not eliminated, in the order in which they are set.
struct Axes<'s> {
    program: &'s Program,
    sample: &'s Sample,
    axes: Vec<(usize, Axis)>,
    /// Sizes of the predictors, and of the response.
    predictors: Vec<f64>,
    response: f64,
    parameters: usize,
    /// Natural sizes, unless they depend on the values of exponents.
    sizes: Option<Vec<f64>>,
    /// Number of the first axes, which are of exponents.
    exponents: usize,
}

impl<'s> Axes<'s> {
    fn new(
        program: &'s Program,
        parameters: usize,
        affinity: &Affinity,
        waves: u64,
        linear: &[usize],
        sample: &'s Sample,
    ) -> Self {
        let eliminated = linear.iter().fold(0, |mask, &index| mask | 1 << index);
        let mut reach = REACH[0];
        let mut predictors = Vec::new();
        for column in 0..sample.width {
            let mut column: Vec<f64> = sample.x.iter().skip(column).step_by(sample.width).copied().collect();
            column.sort_by(f64::total_cmp);
            let (low, high) = (column[0], column[column.len() - 1]);
            let largest = low.abs().max(high.abs());
            let span = if high > low { high - low } else { largest };
            let span = if span > 0.0 { span.min(f64::MAX) } else { 1.0 };
            let mut positive: Vec<f64> = column.iter().map(|x| x.abs()).filter(|&x| x > 0.0).collect();
            positive.sort_by(f64::total_cmp);
            let small = positive.get(positive.len() / 20).map_or(1.0, |small| span / small);
            reach = reach.max(10.0 * small.min(span * f64::MAX)).max(30.0 * (largest / span).powi(2));
            predictors.push(span);
        }
        let reach = reach.clamp(REACH[0], REACH[1]);
        let response = sample.y.iter().fold(0.0_f64, |size, y| size.max(y.abs()));
        let response = if response > 0.0 { response } else { 1.0 };
        let exponents = affinity.exponents(program);
        let sizes = natural_sizes(program, parameters, &predictors, response, |_| 1.0);
        let doubled: Vec<f64> = predictors.iter().map(|size| 2.0 * size).collect();
        let longer = natural_sizes(program, parameters, &doubled, response, |_| 1.0);
        let points = sample.y.len() as f64;
        let axis = |index: usize| {
            if exponents >> index & 1 == 1 {
                return Axis::Size(EXPONENTS);
            }
            if let Some((slot, sign)) = affinity.anchor(program, index, eliminated) {
                return Axis::Anchor(program.up_to(slot), sign, reach);
            }
            let frequencies = [1.5, 3.08 * (points - 1.0).max(1.0)];
            match sizes[index].total_cmp(&longer[index]) {
                Ordering::Greater if waves >> index & 1 == 1 => Axis::Wave(frequencies, 1.0),
                Ordering::Less if waves >> index & 1 == 1 => Axis::Wave(frequencies, -1.0),
                _ => Axis::Size(reach),
            }
        };
        let others = (0..parameters).filter(|index| eliminated >> index & 1 == 0);
        let mut axes: Vec<(usize, Axis)> = others.map(|index| (index, axis(index))).collect();
        axes.sort_by_key(|(index, axis)| match axis {
            _ if exponents >> index & 1 == 1 => 0,
            Axis::Size(_) | Axis::Wave(..) => 1,
            Axis::Anchor(program, ..) => 1 + program.instructions.len(),
        });
        let first = axes.iter().filter(|(index, _)| exponents >> index & 1 == 1).count();
        let squared = natural_sizes(program, parameters, &predictors, response, |_| 2.0);
        let sizes = Some(sizes).filter(|sizes| *sizes == squared);
        Axes { program, sample, axes, predictors, response, parameters, sizes, exponents: first }
    }

    /// Returns the parameters at a point; those that are eliminated are one.
    fn at(&self, shares: &[f64]) -> Vec<f64> {
        let mut b = vec![1.0; self.parameters];
        let row = |row: usize| &self.sample.x[row * self.sample.width..(row + 1) * self.sample.width];
        let mut sizes = self.sizes.clone().unwrap_or_else(|| b.clone());
        for (place, ((index, axis), &share)) in zip(&self.axes, shares).enumerate() {
            if place == self.exponents && self.sizes.is_none() {
                let exponent = |slot| self.program.up_to(slot).value(row(0), &b);
                sizes = natural_sizes(self.program, self.parameters, &self.predictors, self.response, exponent);
            }
            let signed = |reach: f64, share: f64| match share < NEGATIVE {
                true => -reach.powf(2.0 * share / NEGATIVE - 1.0),
                false => reach.powf(2.0 * (share - NEGATIVE) / (1.0 - NEGATIVE) - 1.0),
            };
            b[*index] = match axis {
                Axis::Size(reach) => sizes[*index] * signed(*reach, share),
                Axis::Wave([low, high], power) => sizes[*index] * (low + share * (high - low)).powf(*power),
                Axis::Anchor(program, sign, _) if share < ANCHORED => {
                    let place = share / ANCHORED * self.sample.y.len() as f64;
                    sign * program.value(row(place as usize), &b)
                }
                Axis::Anchor(.., reach) => sizes[*index] * signed(*reach, (share - ANCHORED) / (1.0 - ANCHORED)),
            };
        }
        b
    }

    /// Shares of a sweep along an axis.
    fn sweep(&self, axis: usize) -> impl ExactSizeIterator<Item = f64> + use<> {
        let count = match self.axes[axis].1 {
            Axis::Size(_) => SWEEP,
            Axis::Anchor(..) => 2 * SWEEP,
            Axis::Wave(..) => 2 * self.sample.y.len() + 8,
        };
        (0..count).map(move |k| (k as f64 + 0.5) / count as f64)
    }
}

/// A point on the axes, the parameters there, and their sum of squares.
struct Trial {
    shares: Vec<f64>,
    b: Vec<f64>,
    cost: f64,
}

impl Trial {
    fn is_far_from(&self, other: &Trial) -> bool {
        zip(&self.shares, &other.shares).any(|(one, other)| (one - other).abs() > DISTANCE)
    }
}

/// Evaluation of points on the axes, with the linear parameters of an equation eliminated.
struct Trials<'t, 's> {
    search: &'t mut Search<'s>,
    equation: Separable<f64, Equation<'s>>,
    axes: &'t Axes<'t>,
}

impl Trials<'_, '_> {
    fn at(&mut self, shares: Vec<f64>) -> Trial {
        let others = self.equation.reduced(&self.axes.at(&shares));
        let b = self.equation.full(&others).unwrap_or_else(|_| vec![f64::NAN; self.axes.parameters]);
        Trial { cost: self.search.cost(&b), b, shares }
    }
}

/// The best parameters so far, and their sum of squares.
struct Search<'s> {
    responses: Equation<'s>,
    /// Parameters in which the responses are linear.
    linear: Vec<usize>,
    /// Evaluations that are left.
    budget: usize,
    best: (f64, Vec<f64>),
}

impl<'s> Search<'s> {
    /// The sum of squares; infinite if it is not finite.
    fn cost(&mut self, b: &[f64]) -> f64 {
        let mut r = vec![0.0; self.responses.residual_count()];
        let evaluated = self.responses.residuals(b, 0, &mut r);
        let cost: f64 = r.iter().map(|r| r * r).sum();
        if evaluated.is_ok() && cost.is_finite() { cost } else { f64::INFINITY }
    }

    /// Searches with the linear parameters of an equation eliminated.
    fn run(&mut self, equation: Separable<f64, Equation<'s>>, axes: &Axes<'_>) {
        let dimensions = axes.axes.len();
        let sweeps: usize = (0..dimensions).map(|axis| axes.sweep(axis).len()).sum();
        let mut left = self.budget.min(FIRST * dimensions + KEPT * sweeps).max(FEWEST);
        let mut trials = Trials { search: self, equation, axes };
        let mut points: Vec<Trial> = match dimensions {
            0 => vec![Vec::new()],
            1 => axes.sweep(0).map(|share| vec![share]).collect(),
            _ => latin_hypercube((FIRST * dimensions).min(left / 2), dimensions, SEED),
        }
        .into_iter()
        .map(|shares| trials.at(shares))
        .collect();
        left = left.saturating_sub(points.len());
        points.sort_by(|one, other| one.cost.total_cmp(&other.cost));
        let mut kept: Vec<Trial> = Vec::new();
        for point in points {
            if kept.len() < KEPT && point.cost.is_finite() && kept.iter().all(|other| other.is_far_from(&point)) {
                kept.push(point);
            }
        }
        for best in kept.iter_mut().filter(|_| dimensions > 1) {
            for axis in 0..dimensions {
                for share in axes.sweep(axis).take(left) {
                    let mut shares = best.shares.clone();
                    shares[axis] = share;
                    let next = trials.at(shares);
                    left -= 1;
                    if next.cost < best.cost {
                        *best = next;
                    }
                }
            }
        }
        for Trial { b, .. } in kept {
            self.polish(b);
        }
    }

    /// Keeps the better of these parameters, and those that a short fit from them finds.
    fn polish(&mut self, b: Vec<f64>) {
        let mut reduced = Separable::without(self.responses.clone(), self.linear.clone());
        let solver = LevenbergMarquardt::new().with_max_iterations(ITERATIONS);
        let others = reduced.reduced(&b);
        let solved = solver.minimize_rows(&mut reduced, &others, &mut ());
        self.keep(b);
        let Ok(solved) = solved.map(|report| report.x) else { return };
        if let Ok(b) = reduced.full(&solved) {
            self.keep(b);
        }
    }

    /// Keeps these parameters if they are better, and a fit can begin there.
    fn keep(&mut self, b: Vec<f64>) {
        let (rows, columns) = (self.responses.residual_count(), b.len());
        let (mut r, mut jacobian) = (vec![0.0; rows], vec![0.0; rows * columns]);
        let evaluated = self.responses.linearize(&b, 0, &mut r, &mut jacobian);
        let is_fit_for = |column: usize| {
            let derivatives = jacobian.iter().skip(column).step_by(columns);
            let square: f64 = derivatives.clone().map(|derivative| derivative * derivative).sum();
            square.is_normal() || derivatives.clone().all(|derivative| *derivative == 0.0)
        };
        let cost = self.cost(&b);
        if evaluated.is_ok() && cost < self.best.0 * (1.0 - EQUAL) && (0..columns).all(is_fit_for) {
            self.best = (cost, b);
        }
    }
}

impl Affinity {
    /// Mask of the parameters in exponents.
    fn exponents(&self, program: &Program) -> u64 {
        program.instructions.iter().fold(0, |mask, instruction| match *instruction {
            Instruction::Join(Operator::Power, _, exponent) => mask | self.depends(exponent),
            _ => mask,
        })
    }

    /// Mask of the parameters in arguments of sines and cosines.
    fn waves(&self, program: &Program) -> u64 {
        program.instructions.iter().fold(0, |mask, instruction| match *instruction {
            Instruction::Apply(Function::Sin | Function::Cos, argument) => mask | self.depends(argument),
            _ => mask,
        })
    }

    /// The result to which a parameter is added, or with which it is compared, and the sign at which the sum is zero: a result of
    /// predictors, without the eliminated parameters.
    fn anchor(&self, program: &Program, index: usize, eliminated: u64) -> Option<(Address, f64)> {
        let is_anchor = |slot: Address| {
            let has_predictor = program.up_to(slot).instructions.iter().any(|i| matches!(i, Instruction::Predictor(_)));
            self.depends(slot) & (eliminated | 1 << index) == 0 && has_predictor
        };
        let is_own = |slot: Address| program.instructions[slot] == Instruction::Parameter(index);
        program.instructions.iter().find_map(|instruction| {
            let (a, b, sign) = match *instruction {
                Instruction::Join(Operator::Add, a, b) => (a, b, -1.0),
                Instruction::Join(Operator::Subtract, a, b) => (a, b, 1.0),
                Instruction::SelectLess([a, b, ..]) => (a, b, 1.0),
                _ => return None,
            };
            let other = if is_own(a) { b } else { a };
            ((is_own(a) || is_own(b)) && is_anchor(other)).then_some((other, sign))
        })
    }
}
