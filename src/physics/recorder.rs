//! A term that is being written: its expressions on two tapes.

use super::PhysicsError;
use crate::nn::{DerivativeChannel, Node, Tape, TapeError};
use crate::real::Real;

/// Derivative by coordinates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Derivative {
    /// The first one by a coordinate.
    First(usize),
    /// The sum of the second ones by each of several coordinates.
    Laplacian(Vec<usize>),
}

impl Derivative {
    /// The derivative of a node on a tape with these coordinates.
    fn of<T: Real>(&self, tape: &mut Tape<T>, node: Node, coordinates: Node) -> Result<Node, TapeError> {
        match self {
            Derivative::First(column) => tape.derivative(node, coordinates, *column),
            Derivative::Laplacian(columns) => tape.laplacian(node, coordinates, columns),
        }
    }

    fn channel(&self, coordinates: Node) -> DerivativeChannel {
        let input = coordinates.index();
        match self {
            &Derivative::First(column) => DerivativeChannel::First { input, column },
            Derivative::Laplacian(columns) => DerivativeChannel::laplacian(input, columns),
        }
    }

    /// The derivatives of its parts that the derivative of an expression is made of.
    fn parts(&self) -> Vec<Derivative> {
        match self {
            Derivative::First(_) => vec![self.clone()],
            Derivative::Laplacian(columns) => {
                let first = columns.iter().map(|&column| Derivative::First(column));
                first.chain([self.clone()]).collect()
            }
        }
    }
}

/// Node of an expression, on one of the two tapes.
#[derive(Debug, Clone, Copy)]
pub(super) enum ExpressionNode {
    /// Node of an expression that is computed once.
    Known(Node),
    /// Node of an expression that depends on variables.
    Unknown(Node),
    /// The expression has failed; the error is kept.
    Failed,
}

/// The tapes of a term that is being written.
#[derive(Debug)]
pub(super) struct TermRecorder<T> {
    pub(super) term: String,
    pub(super) names: Vec<String>,
    /// Tape of the values computed from coordinates, its first input, and known values.
    pub(super) known: Tape<T>,
    pub(super) known_coordinates: Node,
    pub(super) values: Vec<(String, Node)>,
    /// Tape of all terms, for values that depend on variables.
    pub(super) tape: Tape<T>,
    pub(super) coordinates: Node,
    /// Inputs of the tape for values that are computed once, and their nodes in this term.
    pub(super) columns: Vec<Node>,
    pub(super) brought: Vec<Node>,
    pub(super) error: Option<PhysicsError>,
}

impl<T: Real> TermRecorder<T> {
    /// The node of an expression on the tape of all terms.
    pub(super) fn unknown(&mut self, kind: ExpressionNode) -> Option<Node> {
        match kind {
            ExpressionNode::Unknown(node) => Some(node),
            ExpressionNode::Failed => None,
            ExpressionNode::Known(node) => Some(self.bring(node)),
        }
    }

    /// A column of the tape of all terms for a node that is computed once.
    fn bring(&mut self, node: Node) -> Node {
        let place = self.brought.iter().position(|&brought| brought == node).unwrap_or_else(|| {
            self.brought.push(node);
            self.brought.len() - 1
        });
        if place == self.columns.len() {
            let column = self.tape.input(1);
            self.columns.push(column);
        }
        self.columns[place]
    }

    /// Derivative of an expression.
    pub(super) fn differentiate(&mut self, kind: ExpressionNode, by: &Derivative) -> ExpressionNode {
        let derivative = match kind {
            ExpressionNode::Failed => return ExpressionNode::Failed,
            ExpressionNode::Known(node) => self.derivative_of_known(node, by).map(ExpressionNode::Known),
            ExpressionNode::Unknown(node) => self.derivative_of_unknown(node, by).map(ExpressionNode::Unknown),
        };
        derivative.unwrap_or_else(|error| self.fail(|_| error))
    }

    fn derivative_of_known(&mut self, node: Node, by: &Derivative) -> Result<Node, PhysicsError> {
        let term = || self.term.clone();
        if let Some((name, _)) = self.values.iter().find(|(_, value)| self.known.depends(node, *value)) {
            return Err(PhysicsError::ValueDerivative { term: term(), name: name.clone() });
        }
        by.of(&mut self.known, node, self.known_coordinates)
            .map_err(|source| PhysicsError::Expression { term: term(), source })
    }

    /// The columns that the expression was made of have derivatives, too, which are computed once.
    fn derivative_of_unknown(&mut self, node: Node, by: &Derivative) -> Result<Node, PhysicsError> {
        for place in 0..self.brought.len() {
            let column = self.columns[place];
            if !self.tape.depends(node, column) {
                continue;
            }
            for part in by.parts() {
                let derivative = self.derivative_of_known(self.brought[place], &part)?;
                let derivative = (!self.known.is_zero(derivative)).then(|| self.bring(derivative));
                self.tape.set_derivative(column, part.channel(self.coordinates), derivative);
            }
        }
        let term = || self.term.clone();
        by.of(&mut self.tape, node, self.coordinates)
            .map_err(|source| PhysicsError::Expression { term: term(), source })
    }

    /// Keeps the first error of the term.
    pub(super) fn fail(&mut self, error: impl FnOnce(String) -> PhysicsError) -> ExpressionNode {
        self.error.get_or_insert_with(|| error(self.term.clone()));
        ExpressionNode::Failed
    }

    /// An expression of points alone, by an operation on their tape; failed if that has an error.
    pub(super) fn of_points(
        &mut self,
        operation: impl FnOnce(&mut Tape<T>) -> Result<Node, TapeError>,
    ) -> ExpressionNode {
        match operation(&mut self.known) {
            Ok(node) => ExpressionNode::Known(node),
            Err(source) => self.fail(|term| PhysicsError::Expression { term, source }),
        }
    }

    /// An expression of unknowns, by an operation on the tape of the networks; failed if that has an error.
    pub(super) fn of_unknowns(
        &mut self,
        operation: impl FnOnce(&mut Tape<T>) -> Result<Node, TapeError>,
    ) -> ExpressionNode {
        match operation(&mut self.tape) {
            Ok(node) => ExpressionNode::Unknown(node),
            Err(source) => self.fail(|term| PhysicsError::Expression { term, source }),
        }
    }

    /// The place of a coordinate.
    pub(super) fn column(&mut self, name: &str) -> Option<usize> {
        let found = self.names.iter().position(|known| known == name);
        if found.is_none() {
            let (name, known) = (name.to_owned(), self.names.clone());
            self.fail(|term| PhysicsError::UnknownCoordinate { term, name, known });
        }
        found
    }
}
