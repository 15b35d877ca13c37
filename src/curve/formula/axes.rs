//! Values at which a formula's parameters are sought.

use std::cmp::Ordering;
use std::iter::zip;

use super::affinity::{Affinity, PREDICTORS};
use super::function::Function;
use super::program::{Address, Instruction, Operator, Program};
use super::sample::Sample;
use super::sizes::natural_sizes;

/// Points of a sweep along one parameter.
const SWEEP: usize = 24;

/// Share of negative values, and of values at which a sum is zero at a row of the data.
const NEGATIVE: f64 = 0.35;
const ANCHORED: f64 = 0.6;

/// Factors by which a parameter differs from its natural size: of exponents, and the least and the most of others.
const EXPONENTS: f64 = 5.0;
const REACH: [f64; 2] = [100.0, 1e6];

/// How the value of a parameter follows from a share between 0 and 1.
enum Axis {
    /// Factors of the natural size up to this one, and their reciprocals, of both signs.
    Size(f64),
    /// Natural size times a power, 1 or −1, of the phase in radians over the range of the data, from the first to the second number.
    Wave([f64; 2], f64),
    /// A sign times the value of a program at the rows of the sample, or else as [`Axis::Size`].
    Anchor(Program, f64, f64),
}

/// Axes of the parameters that are not eliminated.
pub(super) struct Axes<'s> {
    program: &'s Program,
    sample: &'s Sample,
    /// Parameters and their axes, in the order in which they are set: exponents first, and then those that others follow from.
    axes: Vec<(usize, Axis)>,
    exponents: usize,
    /// Sizes of the predictors, and of the response.
    extents: (Vec<f64>, f64),
    /// Natural sizes, unless they depend on the values of exponents.
    sizes: Option<Vec<f64>>,
    parameters: usize,
}

impl<'s> Axes<'s> {
    /// Axes of all parameters but the `linear` ones.
    pub(super) fn new(
        program: &'s Program,
        affinity: &Affinity,
        linear: &[usize],
        sample: &'s Sample,
        parameters: usize,
    ) -> Self {
        let has = |mask: u64, index: usize| mask >> index & 1 == 1;
        let eliminated = linear.iter().fold(0, |mask, &index| mask | 1 << index);
        let columns: Vec<[f64; 2]> = (0..sample.width).map(|column| extent(&sample.column(column))).collect();
        let reach = columns.iter().fold(REACH[0], |reach, column| reach.max(column[1])).min(REACH[1]);
        let response = sample.y.iter().fold(0.0_f64, |size, y| size.max(y.abs()));
        let spans: Vec<f64> = columns.iter().map(|column| column[0]).collect();
        let doubled: Vec<f64> = spans.iter().map(|span| 2.0 * span).collect();
        let sizes = |spans: &[f64], exponent: f64| natural_sizes(program, parameters, (spans, response), |_| exponent);
        let [normal, longer, squared] = [sizes(&spans, 1.0), sizes(&doubled, 1.0), sizes(&spans, 2.0)];
        let [exponents, waves] = [program.exponents(affinity), program.waves(affinity)];
        let axis = |index: usize| {
            // Up to half an oscillation from one row to the next.
            let phases = [1.5, 3.08 * (sample.y.len() as f64 - 1.0).max(1.0)];
            match (program.anchor(affinity, index, eliminated), normal[index].total_cmp(&longer[index])) {
                _ if has(exponents, index) => Axis::Size(EXPONENTS),
                (Some((slot, sign)), _) => Axis::Anchor(program.up_to(slot), sign, reach),
                (_, Ordering::Greater) if has(waves, index) => Axis::Wave(phases, 1.0),
                (_, Ordering::Less) if has(waves, index) => Axis::Wave(phases, -1.0),
                _ => Axis::Size(reach),
            }
        };
        let others = (0..parameters).filter(|&index| !has(eliminated, index));
        let mut axes: Vec<(usize, Axis)> = others.map(|index| (index, axis(index))).collect();
        axes.sort_by_key(|(index, axis)| match axis {
            Axis::Anchor(program, ..) => 1 + program.instructions.len(),
            _ => usize::from(!has(exponents, *index)),
        });
        let exponents = axes.iter().filter(|(index, _)| has(exponents, *index)).count();
        let sizes = Some(normal).filter(|normal| *normal == squared);
        Axes { program, sample, axes, exponents, extents: (spans, response), sizes, parameters }
    }

    /// Number of axes.
    pub(super) fn len(&self) -> usize {
        self.axes.len()
    }

    /// Shares of a sweep along an axis.
    pub(super) fn sweep(&self, axis: usize) -> impl ExactSizeIterator<Item = f64> + use<> {
        let count = match self.axes[axis].1 {
            Axis::Size(_) => SWEEP,
            Axis::Anchor(..) => 2 * SWEEP,
            Axis::Wave(..) => 2 * self.sample.y.len() + 8,
        };
        (0..count).map(move |k| (k as f64 + 0.5) / count as f64)
    }

    /// Returns the parameters at a point, which has a share for each axis. Those that are eliminated are one.
    pub(super) fn at(&self, shares: &[f64]) -> Vec<f64> {
        let mut b = vec![1.0; self.parameters];
        let mut sizes = self.sizes.clone().unwrap_or_else(|| b.clone());
        for (place, ((index, axis), &share)) in zip(&self.axes, shares).enumerate() {
            if place == self.exponents && self.sizes.is_none() {
                let exponent = |slot| self.program.up_to(slot).value(self.sample.row(0), &b);
                sizes = natural_sizes(self.program, self.parameters, (&self.extents.0, self.extents.1), exponent);
            }
            b[*index] = match axis {
                Axis::Size(reach) => sizes[*index] * factor(*reach, share),
                Axis::Wave([low, high], power) => sizes[*index] * (low + share * (high - low)).powf(*power),
                Axis::Anchor(program, sign, _) if share < ANCHORED => {
                    let row = (share / ANCHORED * self.sample.y.len() as f64) as usize;
                    sign * program.value(self.sample.row(row), &b)
                }
                Axis::Anchor(.., reach) => sizes[*index] * factor(*reach, (share - ANCHORED) / (1.0 - ANCHORED)),
            };
        }
        b
    }
}

/// Returns a factor of either sign between `1 / reach` and `reach`.
fn factor(reach: f64, share: f64) -> f64 {
    if share < NEGATIVE {
        return -reach.powf(2.0 * share / NEGATIVE - 1.0);
    }
    reach.powf(2.0 * (share - NEGATIVE) / (1.0 - NEGATIVE) - 1.0)
}

/// Returns the length of the range of ascending values, and a factor by which sizes differ from it, where values lie close to zero, in
/// units of the range, or far from it.
fn extent(column: &[f64]) -> [f64; 2] {
    let (low, high) = (column[0], column[column.len() - 1]);
    let largest = low.abs().max(high.abs());
    let span = Some(if high > low { high - low } else { largest })
        .filter(|span| *span > 0.0)
        .map_or(1.0, |span| span.min(f64::MAX));
    let mut positive: Vec<f64> = column.iter().map(|x| x.abs()).filter(|&x| x > 0.0).collect();
    positive.sort_by(f64::total_cmp);
    let small = positive.get(positive.len() / 20).map_or(1.0, |small| span / small);
    [span, (10.0 * small).max(30.0 * (largest / span).powi(2))]
}

impl Program {
    /// Mask of the parameters in exponents.
    fn exponents(&self, affinity: &Affinity) -> u64 {
        self.instructions.iter().fold(0, |mask, instruction| match *instruction {
            Instruction::Join(Operator::Power, _, exponent) => mask | affinity.depends(exponent),
            _ => mask,
        })
    }

    /// Mask of the parameters in arguments of sines and cosines.
    pub(super) fn waves(&self, affinity: &Affinity) -> u64 {
        self.instructions.iter().fold(0, |mask, instruction| match *instruction {
            Instruction::Apply(Function::Sin | Function::Cos, argument) => {
                mask | affinity.depends(argument) & !PREDICTORS
            }
            _ => mask,
        })
    }

    /// The result to which a parameter is added, or with which it is compared, and its factor where the sum is zero: a result of
    /// predictors, without the eliminated parameters.
    fn anchor(&self, affinity: &Affinity, index: usize, eliminated: u64) -> Option<(Address, f64)> {
        let is_anchor = |slot: Address| affinity.depends(slot) & (eliminated | 1 << index | PREDICTORS) == PREDICTORS;
        let is_own = |slot: Address| self.instructions[slot] == Instruction::Parameter(index);
        self.instructions.iter().find_map(|instruction| {
            let (a, b, sign) = match *instruction {
                Instruction::Join(Operator::Add, a, b) => (a, b, -1.0),
                Instruction::Join(Operator::Subtract, a, b) | Instruction::SelectLess([a, b, ..]) => (a, b, 1.0),
                _ => return None,
            };
            let other = if is_own(a) { b } else { a };
            ((is_own(a) || is_own(b)) && is_anchor(other)).then_some((other, sign))
        })
    }
}
