//! Coordinates of the free parameters in which some relations are bounds.

use std::sync::{Arc, Mutex};

use nalgebra::DMatrix;

use super::{Member, Row};
use crate::real::Real;

/// Squared share of a normal outside the span of the others, below which it depends on them.
const DEPENDENT: f64 = 1e-16;

/// Preference for parameters without bounds as those that follow from the value of a relation.
const PREFERENCE: f64 = 16.0;

/// Coordinates, as many as there are free parameters: some parameters and some values of relations. The other parameters are linear
/// functions of them.
#[derive(Debug, Clone)]
pub(in crate::curve) struct Basis<T> {
    /// The row whose value stands in the place of each free parameter; `None` if that stands for itself.
    pub(super) rows: Vec<Option<usize>>,
    /// The free parameters, in units of their scales, as functions of the coordinates, row after row.
    inverse: Vec<T>,
    /// Bounds and rows that trial points have violated; they are no coordinates.
    pub(super) violations: Arc<Mutex<Vec<Member>>>,
}

impl<T: Real> Basis<T> {
    /// A basis with as many of the `preferred` members as are independent, the first ones first. `sizes` are those of the parameters, and
    /// parameters that are `bounded` stay coordinates if possible.
    pub(super) fn new(rows: &[Row], preferred: &[Member], sizes: &[f64], bounded: &[bool]) -> Self {
        let n = sizes.len();
        let normal = |member: Member| -> Vec<f64> {
            match member {
                Member::Parameter(k) => (0..n).map(|j| if j == k { 1.0 } else { 0.0 }).collect(),
                // In units of the sizes.
                Member::Row(r) => rows[r].normal.iter().zip(sizes).map(|(slope, size)| slope * size).collect(),
            }
        };
        let (mut span, mut members) = (Span::default(), Vec::new());
        for &member in preferred {
            let (share, rest) = span.rest(normal(member));
            if members.len() < n && share > DEPENDENT {
                span.add(rest);
                members.push(member);
            }
        }
        // Parameters that are far from the span of the relations follow from them; the others are coordinates.
        let is_coordinate = |k: usize, members: &[Member]| members.contains(&Member::Parameter(k));
        while members.len() < n {
            let score = |k: usize| {
                let (share, _) = span.rest(normal(Member::Parameter(k)));
                if bounded[k] { PREFERENCE * share } else { share }
            };
            let others = (0..n).filter(|&k| !is_coordinate(k, &members));
            let Some(best) = others.max_by(|&a, &b| score(a).total_cmp(&score(b))) else { break };
            let (_, rest) = span.rest(normal(Member::Parameter(best)));
            span.add(rest);
            members.push(Member::Parameter(best));
        }
        let mut relations =
            members.iter().filter_map(|member| if let Member::Row(r) = *member { Some(r) } else { None });
        let place = |k: usize| if is_coordinate(k, &members) { None } else { relations.next() };
        let places: Vec<Option<usize>> = (0..n).map(place).collect();
        Basis { inverse: inverse(rows, &places), rows: places, violations: Arc::default() }
    }

    /// Derivatives of a free parameter, in units of its scale, by the coordinates.
    pub(in crate::curve) fn row(&self, k: usize) -> &[T] {
        let n = self.rows.len();
        &self.inverse[k * n..(k + 1) * n]
    }
}

/// Orthonormal vectors, by Gram–Schmidt.
#[derive(Default)]
struct Span(Vec<Vec<f64>>);

impl Span {
    /// The part of a vector that is orthogonal to the span, and the share of its square in that of the vector.
    fn rest(&self, vector: Vec<f64>) -> (f64, Vec<f64>) {
        let (square, mut rest) = (squared(&vector), vector);
        for unit in self.0.iter().chain(&self.0) {
            let share: f64 = unit.iter().zip(&rest).map(|(a, b)| a * b).sum();
            rest.iter_mut().zip(unit).for_each(|(rest, unit)| *rest -= share * unit);
        }
        (squared(&rest) / square, rest)
    }

    /// Adds the direction of a vector that is orthogonal to the span.
    fn add(&mut self, rest: Vec<f64>) {
        let length = squared(&rest).sqrt();
        self.0.push(rest.into_iter().map(|entry| entry / length).collect());
    }
}

fn squared(vector: &[f64]) -> f64 {
    vector.iter().map(|entry| entry * entry).sum()
}

/// The free parameters as functions of the coordinates: those that are none follow from `G_P x_P = v − G_U x_U`.
fn inverse<T: Real>(rows: &[Row], places: &[Option<usize>]) -> Vec<T> {
    let n = places.len();
    let pivots: Vec<(usize, usize)> = places.iter().enumerate().filter_map(|(k, row)| Some((k, (*row)?))).collect();
    let mut inverse = DMatrix::<f64>::identity(n, n);
    let system = DMatrix::from_fn(pivots.len(), pivots.len(), |i, j| rows[pivots[i].1].normal[pivots[j].0]);
    let right = DMatrix::from_fn(pivots.len(), n, |i, k| match places[k] {
        Some(_) => f64::from(u8::from(k == pivots[i].0)),
        None => -rows[pivots[i].1].normal[k],
    });
    if !pivots.is_empty()
        && let Some(solved) = system.lu().solve(&right)
    {
        pivots.iter().enumerate().for_each(|(i, &(k, _))| inverse.set_row(k, &solved.row(i)));
    }
    inverse.transpose().iter().map(|&entry| T::from_f64(entry)).collect()
}
