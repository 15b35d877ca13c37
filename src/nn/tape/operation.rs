//! Operations of the nodes of a tape.

use super::Node;
use crate::nn::Function;
use crate::nn::arithmetic::Arithmetic;
use crate::nn::chain_rule::ChainRule;
use crate::nn::pooling::{Pooling, Windows};
use crate::nn::sample_product::ProductSizes;
use crate::real::Real;
use crate::variables::Variable;

/// One recorded operation; its value is a matrix with a row for each sample.
#[derive(Debug, Clone)]
pub(crate) enum Operation<T> {
    /// The batch's input of this number.
    Input(usize),
    /// The same row for every sample.
    Constant(Vec<T>),
    /// A variable's entries, for every sample.
    Variable(Variable),
    /// Zeros where entries are dropped, `1 / (1 − rate)` elsewhere.
    Mask { rate: T },
    /// `x Wᵀ + b` at each of as many positions, one after the other; the weight is a matrix with a row for each output of a
    /// position, whatever its shape.
    Dense { x: Node, weight: Variable, bias: Option<Variable>, positions: usize },
    /// A function of every entry.
    Apply { function: Function<T>, x: Node },
    /// Two nodes of the same width, entry by entry.
    Arithmetic { kind: Arithmetic, a: Node, b: Node },
    /// Chain rule of an elementwise function, for a derivative by an input.
    ChainRule(ChainRule<T>),
    /// Nodes side by side.
    Concat(Vec<Node>),
    /// Some columns.
    Slice { x: Node, start: usize },
    /// The sum over columns.
    RowSum(Node),
    /// One column, again and again.
    Repeat(Node),
    /// Entries of `x`, or of several each.
    Pool { kind: Pooling, x: Node, windows: Windows },
    /// Products of the matrices that two nodes hold for each sample.
    Product { a: Node, b: Node, sizes: ProductSizes },
    /// Rows of a table, side by side.
    Embedding { x: Node, table: Variable },
}

impl<T: Real> Operation<T> {
    /// Its name in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Operation::Input(_) => "input",
            Operation::Constant(_) => "constant",
            Operation::Variable(_) => "variable",
            Operation::Mask { .. } => "dropout",
            Operation::Dense { .. } => "dense",
            Operation::Apply { .. } => "apply",
            Operation::Arithmetic { kind, .. } => kind.name(),
            Operation::ChainRule(_) => "derivative",
            Operation::Concat(_) => "concat",
            Operation::Slice { .. } => "slice",
            Operation::RowSum(_) => "row_sum",
            Operation::Repeat(_) => "repeat",
            Operation::Pool { kind, .. } => kind.name(),
            Operation::Product { .. } => "product",
            Operation::Embedding { .. } => "embedding",
        }
    }

    /// The nodes that the value is computed from.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = Node> + '_ {
        let (listed, single): (&[Node], [Option<Node>; 2]) = match self {
            Operation::Input(_) | Operation::Constant(_) | Operation::Variable(_) | Operation::Mask { .. } => {
                (&[], [None, None])
            }
            Operation::Dense { x, .. }
            | Operation::Apply { x, .. }
            | Operation::Slice { x, .. }
            | Operation::RowSum(x)
            | Operation::Repeat(x)
            | Operation::Pool { x, .. }
            | Operation::Embedding { x, .. } => (&[], [Some(*x), None]),
            Operation::Arithmetic { a, b, .. } | Operation::Product { a, b, .. } => (&[], [Some(*a), Some(*b)]),
            Operation::Concat(nodes) => (nodes, [None, None]),
            Operation::ChainRule(_) => (&[], [None, None]),
        };
        let rule = if let Operation::ChainRule(rule) = self { Some(rule.arguments()) } else { None };
        listed.iter().copied().chain(single.into_iter().flatten()).chain(rule.into_iter().flatten())
    }

    /// The variables that the value is computed from.
    pub(crate) fn variables(&self) -> impl Iterator<Item = Variable> + '_ {
        let variables = match *self {
            Operation::Variable(variable) | Operation::Embedding { table: variable, .. } => [Some(variable), None],
            Operation::Dense { weight, bias, .. } => [Some(weight), bias],
            _ => [None, None],
        };
        variables.into_iter().flatten()
    }
}
