//! Derivatives of an order above two: the record of a second one is expanded into sums and products, which are differentiated like any
//! others.

use super::derivatives::DerivativeChannel;
use super::{Node, Operation, Tape};
use crate::nn::chain_rule::ChainRule;
use crate::nn::{Function, TapeError};
use crate::real::Real;

impl<T: Real> Tape<T> {
    /// A channel of a node `z` that the chain rule has given, by way of its expansion.
    pub(super) fn channel_of_expanded(
        &mut self,
        rule: ChainRule<T>,
        z: Node,
        channel: &DerivativeChannel,
    ) -> Result<Option<Node>, TapeError> {
        let key = (z.index(), DerivativeChannel::Expanded);
        let expanded = match self.derivatives.get(&key) {
            Some(&known) => known,
            None => {
                let expanded = self.expanded(rule)?;
                self.derivatives.insert(key, expanded);
                expanded
            }
        };
        match expanded {
            Some(expanded) => self.channel(expanded, channel),
            None => Ok(None),
        }
    }

    /// `f′(x) s + f″(x) Σ aₖ bₖ` by sums and products.
    fn expanded(&mut self, rule: ChainRule<T>) -> Result<Option<Node>, TapeError> {
        let ChainRule { function, x, y, linear, products } = rule;
        let mut sum = None;
        for [a, b] in products {
            let product = self.mul(a, b)?;
            sum = self.sum(sum, Some(product))?;
        }
        let mut total = None;
        for (order, factor) in [(1, linear), (2, sum)] {
            if let Some(factor) = factor {
                let slope = self.by_argument(function, [x, y], order)?;
                let product = self.mul(slope, factor)?;
                total = self.sum(total, Some(product))?;
            }
        }
        Ok(total)
    }

    /// `f′(x)` or `f″(x)`, given `y = f(x)`.
    fn by_argument(&mut self, function: Function<T>, [x, y]: [Node; 2], order: usize) -> Result<Node, TapeError> {
        let key = (y.index(), DerivativeChannel::ByArgument { order });
        if let Some(&Some(known)) = self.derivatives.get(&key) {
            return Ok(known);
        }
        let node = match order {
            1 => self.first_by_argument(function, x, y)?,
            _ => self.second_by_argument(function, x, y)?,
        };
        self.derivatives.insert(key, Some(node));
        Ok(node)
    }

    fn first_by_argument(&mut self, function: Function<T>, x: Node, y: Node) -> Result<Node, TapeError> {
        Ok(match function {
            Function::Tanh => {
                let square = self.square(y);
                self.one_minus(square)
            }
            Function::Sigmoid => {
                let rest = self.one_minus(y);
                self.mul(y, rest)?
            }
            Function::Softplus => self.sigmoid(x),
            Function::Silu => {
                // s + x s (1 − s), where y = x s.
                let left = self.sigmoid(x);
                let right = self.one_minus(left);
                let product = self.mul(y, right)?;
                self.add(left, product)?
            }
            Function::Sin => self.cos(x),
            Function::Cos => {
                let sine = self.sin(x);
                self.negate(sine)
            }
            Function::Exp => y,
            Function::Ln => self.reciprocal(x),
            Function::Square => self.scale(x, T::from_f64(2.0)),
            Function::Sqrt => {
                let reciprocal = self.reciprocal(y);
                self.scale(reciprocal, T::from_f64(0.5))
            }
            Function::Reciprocal => {
                let square = self.square(y);
                self.negate(square)
            }
            _ => return Err(TapeError::DerivativeOrder { function: function.name() }),
        })
    }

    fn second_by_argument(&mut self, function: Function<T>, x: Node, y: Node) -> Result<Node, TapeError> {
        let first = self.by_argument(function, [x, y], 1)?;
        let twice = T::from_f64(2.0);
        Ok(match function {
            Function::Tanh => {
                let product = self.mul(y, first)?;
                self.scale(product, -twice)
            }
            Function::Sigmoid => self.slope_of_sigmoid_slope(y, first)?,
            Function::Softplus => {
                let rest = self.one_minus(first);
                self.mul(first, rest)?
            }
            Function::Silu => {
                // 2 s′ + x s″.
                let s = self.sigmoid(x);
                let rest = self.one_minus(s);
                let slope = self.mul(s, rest)?;
                let curvature = self.slope_of_sigmoid_slope(s, slope)?;
                let product = self.mul(x, curvature)?;
                let slope = self.scale(slope, twice);
                self.add(slope, product)?
            }
            Function::Sin | Function::Cos => self.negate(y),
            Function::Exp => y,
            Function::Ln => {
                let square = self.square(first);
                self.negate(square)
            }
            Function::Square => self.record(Operation::Constant(vec![twice; x.width()]), x.shape()),
            Function::Sqrt => {
                // −1/(4 x y).
                let product = self.mul(x, y)?;
                let reciprocal = self.reciprocal(product);
                self.scale(reciprocal, T::from_f64(-0.25))
            }
            Function::Reciprocal => {
                let product = self.mul(y, first)?;
                self.scale(product, -twice)
            }
            _ => return Err(TapeError::DerivativeOrder { function: function.name() }),
        })
    }

    /// The second derivative `s′ (1 − 2 s)` of the logistic function `s`.
    fn slope_of_sigmoid_slope(&mut self, s: Node, slope: Node) -> Result<Node, TapeError> {
        let twice = self.scale(s, T::from_f64(2.0));
        let rest = self.one_minus(twice);
        self.mul(slope, rest)
    }

    fn one_minus(&mut self, x: Node) -> Node {
        let negative = self.negate(x);
        self.shift(negative, T::ONE)
    }
}
