//! Statement of equations: networks, coefficients and terms.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use ndarray::Array1;

use super::expression::{At, TermResiduals};
use super::problem::{Collocation, EquationTerm};
use super::recorder::{ExpressionNode, TermRecorder};
use super::{PhysicsError, Points};
use crate::nn::{Node, Sequential, Tape, TapeError, leading_to};
use crate::real::Real;
use crate::variables::{Variable, Variables};

/// A network that stands for unknown functions of the coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub(super) node: Node,
    pub(super) index: usize,
}

/// An unknown number in the equations, found along with the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coefficient {
    pub(super) variable: Variable,
}

impl Coefficient {
    /// Its variable.
    pub fn variable(self) -> Variable {
        self.variable
    }
}

/// Differential equations, boundary conditions and data, as they are stated.
///
/// Networks stand for the unknown functions. A term is a set of points, a weight and a residual that is to vanish there;
/// the loss is the sum over terms of `weight · mean of squared residuals`. [`build`](Self::build) makes a problem of them
/// that any optimizer steps on. The [module](super) has an example.
#[derive(Debug)]
pub struct Equations<T> {
    names: Vec<String>,
    tape: Tape<T>,
    coordinates: Node,
    set: Node,
    scale: Node,
    columns: Vec<Node>,
    /// Variables of each network.
    networks: Vec<Range<usize>>,
    terms: Vec<EquationTerm<T>>,
}

impl<T: Real> Equations<T> {
    /// Creates equations without terms, for points with coordinates of these names. Derivatives by those called `t`, `x`, `y` and
    /// `z` have [methods](super::Expression) of their own.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::NoCoordinates`] and [`PhysicsError::DuplicateCoordinate`].
    pub fn new(coordinates: &[&str]) -> Result<Self, PhysicsError> {
        if coordinates.is_empty() {
            return Err(PhysicsError::NoCoordinates);
        }
        if let Some(place) = (1..coordinates.len()).find(|&k| coordinates[..k].contains(&coordinates[k])) {
            return Err(PhysicsError::DuplicateCoordinate { name: coordinates[place].to_owned() });
        }
        let mut tape = Tape::new();
        let (places, set, scale) = (tape.input(coordinates.len()), tape.input(1), tape.input(1));
        let names = coordinates.iter().map(|name| (*name).to_owned()).collect();
        let (columns, networks, terms) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Equations { names, tape, coordinates: places, set, scale, columns, networks, terms })
    }

    /// A network of all coordinates, whose outputs are unknown functions. Its variables are named as its layers are: give the
    /// layers a [name](Sequential::named) where there are several networks.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Network`].
    pub fn network(
        &mut self,
        layers: &Sequential<T>,
        variables: &mut Variables<T>,
        seed: u64,
    ) -> Result<Field, PhysicsError> {
        self.network_of(|_, x| Ok(x), layers, variables, seed)
    }

    /// Adds a network as [`network`](Self::network) does, whose first layer takes what a closure records of the coordinates:
    /// scaled ones, for example, as networks learn slowly from coordinates far from one.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Tape`] for what the closure cannot record, and [`PhysicsError::Network`].
    pub fn network_of(
        &mut self,
        of: impl FnOnce(&mut Tape<T>, Node) -> Result<Node, TapeError>,
        layers: &Sequential<T>,
        variables: &mut Variables<T>,
        seed: u64,
    ) -> Result<Field, PhysicsError> {
        let mut tape = self.tape.clone();
        let x = of(&mut tape, self.coordinates)?;
        let before = variables.iter().count();
        let node = layers.append(&mut tape, x, variables, seed)?;
        self.tape = tape;
        self.networks.push(before..variables.iter().count());
        Ok(Field { node, index: self.networks.len() - 1 })
    }

    /// An unknown number in the equations, which starts from `start`.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Variable`] for a name that exists already, or a start that is not finite.
    pub fn coefficient(
        &mut self,
        name: &str,
        start: T,
        variables: &mut Variables<T>,
    ) -> Result<Coefficient, PhysicsError> {
        let variable = variables.add(name, Array1::from_elem(1, start).view())?;
        Ok(Coefficient { variable })
    }

    /// A term: a residual, or several, that are to vanish at these points, and their weight in the loss. With the weight zero
    /// the term has no influence.
    ///
    /// # Errors
    ///
    /// [`PhysicsError`] names the term, and the fault of its points, its weight or its residual; the equations are unchanged.
    pub fn term(
        &mut self,
        name: impl Into<String>,
        points: Points<T>,
        weight: T,
        residual: impl for<'a> FnOnce(&'a At<T>) -> TermResiduals<'a, T>,
    ) -> Result<&mut Self, PhysicsError> {
        let name = name.into();
        self.check(&name, &points, weight)?;
        let mut known = Tape::new();
        let known_coordinates = known.input(self.names.len());
        let values = points.value_names().map(|name| (name.to_owned(), known.input(1))).collect();
        let recorder = TermRecorder {
            term: name.clone(),
            names: self.names.clone(),
            known,
            known_coordinates,
            values,
            tape: self.tape.clone(),
            coordinates: self.coordinates,
            columns: self.columns.clone(),
            brought: Vec::new(),
            error: None,
        };
        let at = At { recorder: RefCell::new(recorder) };
        let kinds: Vec<ExpressionNode> = residual(&at).0.iter().map(|residual| residual.kind()).collect();
        let mut recorder = at.recorder.into_inner();
        let residuals: Option<Vec<Node>> = kinds.into_iter().map(|kind| recorder.unknown(kind)).collect();
        let TermRecorder { known, tape, columns, brought, error, .. } = recorder;
        if let Some(error) = error {
            return Err(error);
        }
        let residuals = residuals.filter(|residuals| !residuals.is_empty());
        let Some(residuals) = residuals else { return Err(PhysicsError::NoResiduals { term: name }) };
        (self.tape, self.columns) = (tape, columns);
        let whole = self.tape.concat(&residuals)?;
        self.terms.push(EquationTerm { name, points, weight, residual: whole, known, brought, is_coupled: false });
        Ok(self)
    }

    fn check(&self, name: &str, points: &Points<T>, weight: T) -> Result<(), PhysicsError> {
        let term = || name.to_owned();
        let (expected, found) = (self.names.len(), points.coordinates().ncols());
        if self.terms.iter().any(|known| known.name == name) {
            return Err(PhysicsError::DuplicateTerm { term: term() });
        }
        if expected != found {
            return Err(PhysicsError::Dimensions { term: term(), expected, found });
        }
        if points.is_empty() {
            return Err(PhysicsError::NoPoints { term: term() });
        }
        if !(weight >= T::ZERO && weight.is_finite()) {
            return Err(PhysicsError::Weight { term: term(), weight: weight.to_f64() });
        }
        let coordinates = points.coordinates();
        match coordinates.indexed_iter().find(|(_, value)| !value.is_finite()) {
            Some(((point, axis), value)) => {
                let name = format!("{name}: {}", self.names[axis]);
                Err(PhysicsError::NonFinite { name, point, value: value.to_f64() })
            }
            None => Ok(()),
        }
    }

    /// The problem: all terms at all of their points.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::NoTerms`], and [`PhysicsError::Batch`] or [`PhysicsError::Tape`] for variables that are not those of
    /// the networks.
    pub fn build(self, variables: &Variables<T>) -> Result<Collocation<T>, PhysicsError> {
        let Equations { tape, coordinates, set, scale, columns, networks, mut terms, .. } = self;
        mark_coupled(&mut terms, &tape, &networks);
        Collocation::new(tape, [coordinates, set, scale], columns.len(), terms, variables)
    }
}

/// Marks the terms whose networks are those of a term with measurements, and others.
fn mark_coupled<T: Real>(terms: &mut [EquationTerm<T>], tape: &Tape<T>, networks: &[Range<usize>]) {
    let mut marks = Vec::new();
    let mut networks_of = |term: &EquationTerm<T>| -> BTreeSet<usize> {
        leading_to(tape.records(), std::iter::once(term.residual), &mut marks);
        let used = tape.records().iter().zip(&marks).filter(|(_, used)| **used);
        let variables = used.flat_map(|(record, _)| record.operation.variables());
        variables.filter_map(|variable| networks.iter().position(|range| range.contains(&variable.index()))).collect()
    };
    let sets: Vec<BTreeSet<usize>> = terms.iter().map(&mut networks_of).collect();
    let measured: Vec<usize> = (0..terms.len()).filter(|&k| terms[k].points.value_names().next().is_some()).collect();
    for (term, set) in terms.iter_mut().zip(&sets) {
        term.is_coupled = measured.iter().any(|&k| sets[k].len() < set.len() && sets[k].is_subset(set));
    }
}
