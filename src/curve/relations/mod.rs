//! Linear inequalities between parameters.
//!
//! A solve knows bounds alone. So the values of some relations take the places of as many parameters, which become linear functions of them:
//! a [`Basis`], in which those relations are bounds. Other relations, and the bounds of parameters that are functions now, are watched: a
//! trial that violates one has no value, and the solver takes a shorter step. The [rounds](solve) change the basis.

mod basis;
mod nearest;
mod relation;
mod solve;

use std::iter::zip;

pub(super) use basis::Basis;
use nalgebra::{DMatrix, DVector};
use nearest::{Constraint, constrained_step};
pub use relation::{Relation, RelationError};

use super::CurveError;
use super::map::ParameterMap;
use super::parameter::{Parameter, Role};
use crate::real::Real;
use crate::solver::{ActiveBound, SolveError};

/// Units in the last place by which rounding may violate a relation.
const ROUNDING: f64 = 64.0;

/// Largest ratio of the terms that a parameter follows from to its own size.
const FARTHEST: f64 = 1e3;

/// Distances from its relations to which a start is moved, relative to their terms: the first that is possible.
const MARGINS: [f64; 3] = [1e-3, 1e-6, 0.0];

/// The relations of a fit.
#[derive(Debug, Clone)]
pub(super) struct Relations<T> {
    given: Vec<Relation<T>>,
    /// The same as functions of the free parameters. Those that differ by a factor share a row.
    pub(super) rows: Vec<Row>,
}

/// `lower ≤ normal · x ≤ upper`, of the free parameters in units of their scales.
#[derive(Debug, Clone)]
pub(super) struct Row {
    normal: Vec<f64>,
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// Indices of the relations that set the lower and the upper limit.
    pub(super) of: [usize; 2],
}

/// A coordinate of a basis, or a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    /// A free parameter, by its place among those, or its bounds.
    Parameter(usize),
    /// A row.
    Row(usize),
}

impl<T> Default for Relations<T> {
    fn default() -> Self {
        Relations { given: Vec::new(), rows: Vec::new() }
    }
}

impl Row {
    /// The value, and the sum of its absolute terms.
    fn value<T: Real>(&self, x: &[T]) -> (f64, f64) {
        let terms = zip(&self.normal, x).filter(|(slope, _)| **slope != 0.0).map(|(slope, x)| slope * x.to_f64());
        terms.fold((0.0, 0.0), |(value, size), term| (value + term, size + term.abs()))
    }

    /// The value, within the limits; a limit from which only rounding of parameters of these sizes parts it.
    fn limited<T: Real>(&self, x: &[T], sizes: &[f64]) -> T {
        let (value, rounding) = (self.value(x).0, ROUNDING * T::EPSILON.to_f64() * self.size(sizes));
        let value = if value - self.lower <= rounding { self.lower } else { value };
        T::from_f64(if self.upper - value <= rounding { self.upper } else { value })
    }

    /// Sum of the absolute terms, for parameters of these sizes, and the larger limit.
    fn size(&self, sizes: &[f64]) -> f64 {
        let limits = [self.lower, self.upper].into_iter().filter(|limit| limit.is_finite()).map(f64::abs);
        limits.fold(0.0, f64::max) + zip(&self.normal, sizes).map(|(slope, size)| slope.abs() * size).sum::<f64>()
    }

    /// Returns true if the value is beyond a limit by more than rounding of parameters of these sizes.
    fn is_violated<T: Real>(&self, x: &[T], sizes: &[f64]) -> bool {
        let (value, rounding) = (self.value(x).0, ROUNDING * T::EPSILON.to_f64() * self.size(sizes));
        !(value >= self.lower - rounding && value <= self.upper + rounding)
    }

    /// The limits of a row whose normal is a multiple of this one become limits of this one.
    fn merge(&mut self, other: &Row) -> bool {
        let Some(k) = self.normal.iter().position(|slope| *slope != 0.0) else { return false };
        let factor = other.normal[k] / self.normal[k];
        let is_multiple = |(own, other): (&f64, &f64)| (other - factor * own).abs() <= 4.0 * f64::EPSILON * other.abs();
        if factor == 0.0 || !zip(&self.normal, &other.normal).all(is_multiple) {
            return false;
        }
        let limits = [(other.lower / factor, other.of[0]), (other.upper / factor, other.of[1])];
        let [lower, upper] = if factor > 0.0 { limits } else { [limits[1], limits[0]] };
        if lower.0 > self.lower {
            (self.lower, self.of[0]) = lower;
        }
        if upper.0 < self.upper {
            (self.upper, self.of[1]) = upper;
        }
        if self.lower > self.upper && self.lower - self.upper <= 8.0 * f64::EPSILON * self.upper.abs() {
            self.lower = self.upper;
        }
        true
    }
}

impl<T: Real> ParameterMap<T> {
    /// Adds relations between the parameters.
    pub(super) fn with_relations(mut self, given: &[Relation<T>]) -> Result<Self, CurveError> {
        for relation in given {
            let text = || relation.to_string();
            if let Some((of, _)) = relation.terms().iter().find(|(name, _)| self.index(name).is_none()) {
                return Err(CurveError::UnknownInRelation { relation: text(), of: of.clone() });
            }
            let mut coefficients = relation.terms().iter().map(|(_, coefficient)| coefficient);
            if !(relation.limit().is_finite() && coefficients.all(|coefficient| coefficient.is_finite())) {
                return Err(CurveError::NonFiniteRelation { relation: text() });
            }
            match self.row(relation, 0) {
                None => return Err(CurveError::NonlinearRelation { relation: text() }),
                Some(row) if row.normal.iter().all(|&slope| slope == 0.0) => {
                    return Err(CurveError::RelationOfConstants { relation: text() });
                }
                Some(_) => {}
            }
        }
        self.relations.given = given.to_vec();
        self.relations.rows = self.rows();
        Ok(self)
    }

    /// Some parameters have relations.
    pub(super) fn has_relations(&self) -> bool {
        !self.relations.given.is_empty()
    }

    /// The text of a relation.
    pub(super) fn relation(&self, index: usize) -> String {
        self.relations.given[index].to_string()
    }

    /// Texts of all relations.
    pub(super) fn relation_texts(&self) -> Vec<String> {
        self.relations.given.iter().map(Relation::to_string).collect()
    }

    /// The row whose value stands in the place of a free parameter.
    pub(super) fn row_at(&self, k: usize) -> Option<&Row> {
        let basis = self.basis.as_ref()?;
        Some(&self.relations.rows[basis.rows[k]?])
    }

    /// The relations as rows.
    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for (index, relation) in self.relations.given.iter().enumerate() {
            let Some(row) = self.row(relation, index) else { continue };
            if !rows.iter_mut().any(|known| known.merge(&row)) {
                rows.push(row);
            }
        }
        rows
    }

    /// A relation as a row; `None` where tied parameters make it nonlinear.
    fn row(&self, relation: &Relation<T>, index: usize) -> Option<Row> {
        let (n, (mut all, mut derivative)) = (self.free.len(), self.begin());
        let start = self.gather(&all);
        let terms: Vec<(usize, f64)> =
            relation.terms().iter().filter_map(|(name, slope)| Some((self.index(name)?, slope.to_f64()))).collect();
        let mut at = |shift: f64| {
            let moved =
                |(k, &x): (usize, &T)| x + T::from_f64(shift * (1.7 * (k + 1) as f64).sin()) * (T::ONE + x.abs());
            let x: Vec<T> = start.iter().enumerate().map(moved).collect();
            self.expand(&x, &mut all, &mut derivative);
            let (mut normal, mut constant) = (vec![0.0; n], 0.0);
            for &(index, factor) in &terms {
                let slopes = derivative[index * n..(index + 1) * n].iter().map(|slope| slope.to_f64());
                zip(&mut normal, slopes.clone()).for_each(|(normal, slope)| *normal += factor * slope);
                if !matches!(self.parameters[index].role, Role::Free) {
                    let linear: f64 = zip(slopes, &x).map(|(slope, x)| slope * x.to_f64()).sum();
                    constant += factor * (all[index].to_f64() - linear);
                }
            }
            (normal, constant)
        };
        let (normal, constant) = at(0.0);
        let size: f64 = zip(&normal, &start).map(|(slope, x)| (slope * x.to_f64()).abs()).sum::<f64>() + constant.abs();
        let near = T::EPSILON.sqrt().to_f64();
        let is_linear = self.tied.is_empty()
            || [1.0, -1.0].into_iter().all(|shift| {
                let (other, moved) = at(shift);
                zip(&normal, &other).all(|(a, b)| (a - b).abs() <= near * a.abs())
                    && (constant - moved).abs() <= near * size
            });
        let upper = relation.limit().to_f64() - constant;
        is_linear.then_some(Row { normal, lower: f64::NEG_INFINITY, upper, of: [usize::MAX, index] })
    }

    /// The free parameters in units of their scales.
    fn plain(&self, all: &[T]) -> Vec<T> {
        zip(&self.free, &self.scales).map(|(&index, &scale)| all[index] / scale).collect()
    }

    /// The coordinates of free parameters in units of their scales.
    pub(super) fn coordinates(&self, plain: &[T]) -> Vec<T> {
        let sizes = self.term_sizes(plain);
        let value = |k: usize| self.row_at(k).map_or(plain[k], |row| row.limited(plain, &sizes));
        (0..plain.len()).map(value).collect()
    }

    /// All constraints: the distances of a point from them, less a margin for relations.
    fn constraints(&self, x: &[T], margin: f64) -> (Vec<Member>, Vec<Constraint>) {
        let (mut members, mut constraints, sizes) = (Vec::new(), Vec::new(), self.term_sizes(x));
        let mut add = |member, normal: &dyn Fn(usize) -> f64, slack: f64| {
            if slack < f64::INFINITY {
                members.push(member);
                constraints.push(Constraint { normal: DVector::from_fn(x.len(), |k, _| normal(k)), slack });
            }
        };
        for (k, (&index, &scale)) in zip(&self.free, &self.scales).enumerate() {
            let Parameter { lower, upper, .. } = self.parameters[index];
            let unit = |sign: f64| move |j: usize| if j == k { sign } else { 0.0 };
            add(Member::Parameter(k), &unit(-1.0), (x[k] - lower / scale).to_f64());
            add(Member::Parameter(k), &unit(1.0), (upper / scale - x[k]).to_f64());
        }
        for (r, row) in self.relations.rows.iter().enumerate() {
            let (value, size) = row.value(x);
            let margin = if row.upper - row.lower > 4.0 * margin * size { margin * size } else { 0.0 };
            // Rounding is no violation.
            let slack = |slack: f64| if row.is_violated(x, &sizes) || slack > 0.0 { slack - margin } else { -margin };
            add(Member::Row(r), &|k| -row.normal[k], slack(value - row.lower));
            add(Member::Row(r), &|k| row.normal[k], slack(row.upper - value));
        }
        (members, constraints)
    }

    /// Sizes of the terms by which the rounding errors of the free parameters are judged: one that follows from a relation is rounded as its
    /// terms are, even if it is zero.
    fn term_sizes(&self, x: &[T]) -> Vec<f64> {
        let own: Vec<f64> = x.iter().map(|x| x.to_f64().abs()).collect();
        let (mut of_terms, least) = (own.clone(), sizes(x));
        for row in &self.relations.rows {
            let size = row.size(&own);
            for (k, slope) in row.normal.iter().enumerate().filter(|(_, slope)| **slope != 0.0) {
                of_terms[k] = of_terms[k].max((size / slope.abs()).min(FARTHEST * least[k]));
            }
        }
        of_terms
    }

    /// A step of the free parameters in units of their scales, as far as bounds allow; parameters that are tied follow.
    fn moved(&self, all: &[T], share: f64, step: &DVector<f64>) -> Vec<T> {
        let mut moved = all.to_vec();
        for ((&index, &scale), &step) in zip(&self.free, &self.scales).zip(step).filter(|(_, step)| **step != 0.0) {
            let Parameter { lower, upper, .. } = self.parameters[index];
            let value = all[index] + T::from_f64(share * step) * scale;
            let is_near = |bound: T| {
                (value - bound).abs() <= T::from_f64(ROUNDING) * T::EPSILON * all[index].abs().max(bound.abs())
            };
            let bound = [lower, upper].into_iter().find(|&bound| bound.is_finite() && is_near(bound));
            moved[index] = bound.unwrap_or(value.max(lower).min(upper));
        }
        let free = self.plain(&moved);
        self.expand(&free, &mut moved, &mut self.begin().1);
        moved
    }

    /// The nearest point within relations and bounds to which those parameters lead that may move; inside of the relations if possible.
    fn moved_within(&self, all: &[T], may_move: impl Fn(usize) -> bool) -> Option<Vec<T>> {
        let x = self.plain(all);
        let matrix = DMatrix::from_diagonal(&DVector::from_vec(sizes(&x)).map(|size| size.powi(-2)));
        MARGINS.into_iter().find_map(|margin| {
            let (_, mut constraints) = self.constraints(&x, margin);
            for (k, _) in self.free.iter().enumerate().filter(|(_, index)| !may_move(**index)) {
                constraints.iter_mut().for_each(|constraint| constraint.normal[k] = 0.0);
            }
            let (step, _) = constrained_step(&matrix, &DVector::zeros(x.len()), &constraints)?;
            Some(self.moved(all, 1.0, &step)).filter(|moved| self.allows(moved))
        })
    }

    /// Checks that the start satisfies the relations. Parameters that may move are moved.
    pub(super) fn start_within_relations(mut self, may_move: impl Fn(&str) -> bool) -> Result<Self, CurveError> {
        let (mut all, mut derivative) = self.begin();
        self.expand(&self.plain(&all), &mut all, &mut derivative);
        if self.allows(&all) {
            return Ok(self);
        }
        if self.moved_within(&all, |_| true).is_none() {
            return Err(CurveError::ContradictoryRelations { relations: self.relation_texts() });
        }
        match self.moved_within(&all, |index| may_move(self.name(index))) {
            Some(moved) => {
                zip(&mut self.parameters, moved).for_each(|(parameter, start)| parameter.start = start);
                Ok(self)
            }
            None => {
                let (relation, value, limit) = self.violated(&all);
                Err(CurveError::StartViolatesRelation { relation, excess: value - limit })
            }
        }
    }

    /// The relation that a point violates most, the value of its sum, and its limit.
    fn violated(&self, all: &[T]) -> (String, f64, f64) {
        let value = |relation: &Relation<T>| -> f64 {
            let term = |(name, slope): &(String, T)| Some(slope.to_f64() * all[self.index(name)?].to_f64());
            relation.terms().iter().filter_map(term).sum()
        };
        let violated =
            self.relations.given.iter().map(|relation| (relation, value(relation), relation.limit().to_f64()));
        let worst = violated.max_by(|a, b| (a.1 - a.2).total_cmp(&(b.1 - b.2)));
        worst.map_or((String::new(), 0.0, 0.0), |(relation, value, limit)| (relation.to_string(), value, limit))
    }

    /// The error of a solve that has no point to begin from.
    fn no_start(&self, all: &[T]) -> SolveError {
        let (name, value, upper) = self.violated(all);
        SolveError::StartOutOfBounds { name, value, lower: f64::NEG_INFINITY, upper }
    }

    /// Returns true if a point satisfies what is watched: relations, and bounds of parameters that follow from relations. Violations are
    /// noted.
    pub(super) fn allows(&self, all: &[T]) -> bool {
        if self.relations.rows.is_empty() {
            return true;
        }
        let x = self.plain(all);
        let sizes = self.term_sizes(&x);
        let is_outside = |&k: &usize| {
            let Parameter { lower, upper, .. } = self.parameters[self.free[k]];
            self.row_at(k).is_some() && !(lower <= all[self.free[k]] && all[self.free[k]] <= upper)
        };
        let is_coordinate = |r: usize| self.basis.as_ref().is_some_and(|basis| basis.rows.contains(&Some(r)));
        let rows = self.relations.rows.iter().enumerate();
        let violated =
            rows.filter(|(r, row)| !is_coordinate(*r) && row.is_violated(&x, &sizes)).map(|(r, _)| Member::Row(r));
        let violated: Vec<Member> = (0..x.len()).filter(is_outside).map(Member::Parameter).chain(violated).collect();
        if let Some(basis) = &self.basis
            && let Ok(mut violations) = basis.violations.lock()
        {
            violations.extend(&violated);
        }
        violated.is_empty()
    }

    /// The same map with these members as coordinates, as far as they are independent.
    fn based_on(&self, members: &[Member], sizes: &[f64]) -> Self {
        let is_bounded = |&index: &usize| {
            let Parameter { lower, upper, .. } = self.parameters[index];
            lower > -T::INFINITY || upper < T::INFINITY
        };
        let bounded: Vec<bool> = self.free.iter().map(is_bounded).collect();
        let mut map = self.clone();
        map.basis = Some(Box::new(Basis::new(&self.relations.rows, members, sizes, &bounded)));
        map.within_bounds()
    }

    /// The same map with as many of these members as coordinates, the first ones first, as leave the point allowed, but for rounding.
    /// `sizes` are those by which changes of the free parameters are compared.
    fn based_near(&self, members: &[Member], at: &[T], sizes: &[f64]) -> Self {
        let allows = |map: &Self| {
            let (mut all, mut derivative) = (at.to_vec(), map.begin().1);
            map.expand(&map.gather(at), &mut all, &mut derivative);
            map.allows(&all)
        };
        let mut maps = (0..=members.len()).rev().map(|count| self.based_on(&members[..count], sizes));
        maps.find(allows).unwrap_or_else(|| self.clone())
    }

    /// The point at which relations hold as equations that rounding has violated, if that is allowed.
    pub(super) fn rounded_within(&self, all: &[T]) -> Vec<T> {
        let (x, mut rounded) = (self.plain(all), all.to_vec());
        let is_beyond = |row: &Row| !(row.lower..=row.upper).contains(&row.value(&x).0);
        if self.relations.rows.iter().any(is_beyond) {
            let based = self.based_near(&self.relations_at(all), all, &sizes(&x));
            based.expand(&based.gather(all), &mut rounded, &mut based.begin().1);
        }
        rounded
    }

    /// The same map with the values of these relations as coordinates that stay where they are.
    pub(super) fn with_relations_held(&self, active: &[ActiveBound<T>], relations: &[usize], at: &[T]) -> Self {
        if relations.is_empty() {
            return self.clone();
        }
        let place = |active: &ActiveBound<T>| self.free.iter().position(|&index| index == active.parameter);
        let is_held = |row: &Row| row.of.iter().any(|index| relations.contains(index));
        let rows = self.relations.rows.iter().enumerate().filter(|(_, row)| is_held(row));
        let bounds = active.iter().filter_map(place).map(Member::Parameter);
        let members: Vec<Member> = bounds.chain(rows.map(|(r, _)| Member::Row(r))).collect();
        let (x, sizes) = (self.plain(at), self.term_sizes(&self.plain(at)));
        let mut map =
            self.based_near(&members, at, &sizes.iter().map(|size| size.max(f64::MIN_POSITIVE)).collect::<Vec<_>>());
        for row in map.relations.rows.iter_mut().filter(|row| is_held(row)) {
            let value = row.limited(&x, &sizes).to_f64();
            (row.lower, row.upper) = (value, value);
        }
        map.within_bounds()
    }

    /// Fills in the parameters that follow from values of relations. Rounding takes none out of its bounds.
    pub(super) fn place_pivots(&self, basis: &Basis<T>, free: &[T], all: &mut [T]) {
        for k in (0..free.len()).filter(|&k| basis.rows[k].is_some()) {
            let (index, scale) = (self.free[k], self.scales[k]);
            let terms =
                zip(basis.row(k), free).filter(|(slope, _)| **slope != T::ZERO).map(|(&slope, &x)| slope * x * scale);
            let (value, size) = terms.fold((T::ZERO, T::ZERO), |(value, size), term| (value + term, size + term.abs()));
            let Parameter { lower, upper, .. } = self.parameters[index];
            let rounding = T::from_f64(ROUNDING) * T::EPSILON * size;
            let is_near = |bound: T| (value - bound).abs() <= rounding;
            let value = if is_near(lower) { value.max(lower) } else { value };
            all[index] = if is_near(upper) { value.min(upper) } else { value };
        }
    }
}

/// Sizes of numbers; that of zero is one.
fn sizes<T: Real>(x: &[T]) -> Vec<f64> {
    x.iter().map(|x| x.to_f64().abs()).map(|size| if size > 0.0 { size } else { 1.0 }).collect()
}
