//! Derivatives of nodes by columns of an input, as nodes of the same tape: Taylor forward mode.
//!
//! Every node that lies between the input and the result gets a companion that holds its derivative. The companion of a
//! layer that is linear is the same layer without its bias, applied to the companion of its argument: its weight is then used
//! once more. Sweeps, Jacobians and dual factors see ordinary nodes.

use super::{Node, Operation, Tape};
use crate::nn::arithmetic::Arithmetic;
use crate::nn::chain_rule::ChainRule;
use crate::nn::pooling::Pooling;
use crate::nn::sample_product::ProductSizes;
use crate::nn::{Function, Shape, TapeError};
use crate::real::Real;

/// Derivative of a node: its kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum DerivativeChannel {
    /// The first one by a column of an input.
    First { input: usize, column: usize },
    /// The sum of the second ones by each of several columns of an input.
    Laplacian { input: usize, columns: Vec<usize> },
    /// Derivatives of a function by its argument, of first and second order, for the node of its values.
    ByArgument { order: usize },
    /// A derivative of second order, which the chain rule gave in one record, as sums and products that can be differentiated further.
    Expanded,
}

impl DerivativeChannel {
    /// The sum of the second derivatives by these columns, in any order.
    pub(crate) fn laplacian(input: usize, columns: &[usize]) -> Self {
        let mut columns = columns.to_vec();
        columns.sort_unstable();
        DerivativeChannel::Laplacian { input, columns }
    }
}

/// Derivatives that have been recorded; `None` where they are zero.
pub(super) type RecordedDerivatives = std::collections::HashMap<(usize, DerivativeChannel), Option<Node>>;

impl<T: Real> Tape<T> {
    /// The derivative of every entry of `y` by column `column` of the input `x`, sample by sample: a node of the width of
    /// `y`.
    ///
    /// It is a node like any other: it enters losses, which are differentiated by the variables in every sweep. Derivatives
    /// are exact and recorded once; asking again gives the same node. A derivative of a derivative is one of higher order:
    /// `∂²y/∂a∂b` is the derivative by `b` of that by `a`. Any order can be had.
    ///
    /// Cost: about one more forward sweep through what lies between `x` and `y` for each first derivative, each second one,
    /// and each Laplacian. From the third order on, a derivative takes several times as many products of nodes as the one before.
    ///
    /// ```
    /// use marquardt::Variables;
    /// use marquardt::nn::{Recording, Network, Sequential};
    /// use ndarray::array;
    ///
    /// let mut variables = Variables::<f64>::new();
    /// let layers = Sequential::new(2).dense(8).tanh().dense(1);
    /// let Recording { mut tape, input, output } = layers.build(&mut variables, 0)?;
    /// let by_x = tape.derivative(output, input, 0)?;
    /// let by_xy = tape.derivative(by_x, input, 1)?;
    ///
    /// let mut network = Network::new(tape, &variables)?;
    /// let mut at = |x: f64, y: f64, node| {
    ///     network.predict(&variables, &[array![[x, y]].view()], node).unwrap()[[0, 0]]
    /// };
    /// let h = 1e-5;
    /// let difference = (at(0.3 + h, 0.7, output) - at(0.3 - h, 0.7, output)) / (2.0 * h);
    /// assert!((at(0.3, 0.7, by_x) - difference).abs() < 1e-9);
    /// let difference = (at(0.3, 0.7 + h, by_x) - at(0.3, 0.7 - h, by_x)) / (2.0 * h);
    /// assert!((at(0.3, 0.7, by_xy) - difference).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TapeError::NotAnInput`] and [`TapeError::DerivativeColumn`] for what `y` cannot be differentiated by;
    /// [`TapeError::NotSmooth`] for a layer with a kink, such as ReLU or max pooling, which it names;
    /// [`TapeError::DerivativeOrder`] for a third derivative of GELU. Nothing is recorded then.
    pub fn derivative(&mut self, y: Node, x: Node, column: usize) -> Result<Node, TapeError> {
        let input = self.differentiated_input(y, x, &[column])?;
        self.recorded_channel(y, DerivativeChannel::First { input, column })
    }

    /// The sum of the second derivatives of every entry of `y` by each of these columns of the input `x`: the Laplacian,
    /// or, of a single column, a second derivative.
    ///
    /// All second derivatives are carried as one sum, at the cost of the first derivatives and one more.
    ///
    /// # Errors
    ///
    /// As [`derivative`](Self::derivative), and [`TapeError::Empty`] without columns.
    pub fn laplacian(&mut self, y: Node, x: Node, columns: &[usize]) -> Result<Node, TapeError> {
        let input = self.differentiated_input(y, x, columns)?;
        if columns.is_empty() {
            return Err(TapeError::Empty { operation: "laplacian" });
        }
        self.recorded_channel(y, DerivativeChannel::laplacian(input, columns))
    }

    /// Sets the derivative of an input whose values are computed elsewhere from those of another; `None` for zero.
    pub(crate) fn set_derivative(&mut self, y: Node, channel: DerivativeChannel, derivative: Option<Node>) {
        self.derivatives.insert((y.index, channel), derivative);
    }

    /// The index of the input `x`, which must have these columns.
    fn differentiated_input(&self, y: Node, x: Node, columns: &[usize]) -> Result<usize, TapeError> {
        let operation = "derivative";
        self.check(operation, y)?;
        self.check(operation, x)?;
        let source = &self.records[x.index].operation;
        if !matches!(source, Operation::Input(_)) {
            return Err(TapeError::NotAnInput { operation, found: source.name() });
        }
        match columns.iter().find(|&&column| column >= x.width()) {
            Some(&column) => Err(TapeError::DerivativeColumn { column, width: x.width() }),
            None => Ok(x.index),
        }
    }

    /// The node of a channel, with zeros recorded where it is zero; if it cannot be had, nothing is recorded.
    fn recorded_channel(&mut self, y: Node, channel: DerivativeChannel) -> Result<Node, TapeError> {
        let (records, known) = (self.records.len(), self.derivatives.clone());
        match self.channel(y, &channel) {
            Ok(Some(node)) => Ok(Node { shape: y.shape, ..node }),
            Ok(None) => {
                let zero = self.record(Operation::Constant(vec![T::ZERO; y.width()]), y.shape);
                self.derivatives.insert((y.index, channel), Some(zero));
                Ok(zero)
            }
            Err(error) => {
                self.records.truncate(records);
                self.derivatives = known;
                Err(error)
            }
        }
    }

    /// A channel of a node, recorded if it is not yet; `None` where it is zero.
    pub(super) fn channel(&mut self, y: Node, channel: &DerivativeChannel) -> Result<Option<Node>, TapeError> {
        let key = (y.index, channel.clone());
        if let Some(&known) = self.derivatives.get(&key) {
            return Ok(known);
        }
        let (operation, shape) = (self.records[y.index].operation.clone(), self.records[y.index].shape);
        let y = Node { shape, ..y };
        let node = match operation {
            Operation::Input(_) => match *channel {
                DerivativeChannel::First { input, column } if input == y.index => {
                    let row = (0..y.width()).map(|k| if k == column { T::ONE } else { T::ZERO }).collect();
                    Some(self.record(Operation::Constant(row), shape))
                }
                _ => None,
            },
            Operation::Constant(_) | Operation::Variable(_) | Operation::Mask { .. } => None,
            Operation::Dense { x, weight, positions, .. } => {
                self.through(x, channel, shape, |x| Operation::Dense { x, weight, bias: None, positions })?
            }
            Operation::Apply { function: Function::Shift { .. }, x } => self.channel(x, channel)?,
            Operation::Apply { function: function @ (Function::Negate | Function::Scale { .. }), x } => {
                self.through(x, channel, shape, |x| Operation::Apply { function, x })?
            }
            Operation::Apply { function, x } => {
                let linear = self.channel(x, channel)?;
                let products = self.crossings(x, x, channel)?;
                self.chain_rule(ChainRule { function, x, y, linear, products }, y)?
            }
            Operation::ChainRule(rule) => self.chain_rule_channel(rule, y, channel)?,
            Operation::Arithmetic { kind, a, b } => self.arithmetic_channel(kind, a, b, y, channel)?,
            Operation::Concat(nodes) => self.concat_channel(nodes, shape, channel)?,
            Operation::Slice { x, start } => self.through(x, channel, shape, |x| Operation::Slice { x, start })?,
            Operation::RowSum(x) => self.through(x, channel, shape, Operation::RowSum)?,
            Operation::Repeat(x) => self.through(x, channel, shape, Operation::Repeat)?,
            Operation::Pool { kind: kind @ (Pooling::Take | Pooling::Average), x, windows } => {
                self.through(x, channel, shape, |x| Operation::Pool { kind, x, windows })?
            }
            Operation::Pool { kind: kind @ Pooling::Maximum, x, .. } => match self.channel(x, channel)? {
                Some(_) => return Err(self.not_smooth(y, kind.name())),
                None => None,
            },
            Operation::Product { a, b, sizes } => self.product_channel((a, b), sizes, shape, channel)?,
            Operation::Embedding { x, .. } => {
                if matches!(*channel, DerivativeChannel::First { input, .. } | DerivativeChannel::Laplacian { input, .. } if input == x.index)
                {
                    return Err(self.not_smooth(y, "embedding"));
                }
                None
            }
        };
        self.derivatives.insert(key, node);
        Ok(node)
    }

    /// The channel of a node `y` that is a derivative itself.
    fn chain_rule_channel(
        &mut self,
        rule: ChainRule<T>,
        y: Node,
        channel: &DerivativeChannel,
    ) -> Result<Option<Node>, TapeError> {
        let ChainRule { function, x, y: value, linear: Some(s), ref products } = rule else {
            return self.channel_of_expanded(rule, y, channel);
        };
        if !products.is_empty() || !matches!(channel, DerivativeChannel::First { .. }) {
            return self.channel_of_expanded(rule, y, channel);
        }
        // z = f′(x) s, and so ∂z = f′(x) ∂s + f″(x) s ∂x.
        let (linear, moved) = (self.channel(s, channel)?, self.channel(x, channel)?);
        let products = moved.map(|moved| [s, moved]).into_iter().collect();
        self.chain_rule(ChainRule { function, x, y: value, linear, products }, y)
    }

    /// The channel of nodes side by side, with zeros where it is zero for some.
    fn concat_channel(
        &mut self,
        nodes: Vec<Node>,
        shape: Shape,
        channel: &DerivativeChannel,
    ) -> Result<Option<Node>, TapeError> {
        let parts = nodes.iter().map(|&node| self.channel(node, channel)).collect::<Result<Vec<_>, _>>()?;
        if parts.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut whole = Vec::new();
        for (part, node) in parts.into_iter().zip(nodes) {
            let zeros = || Operation::Constant(vec![T::ZERO; node.width()]);
            whole.push(part.unwrap_or_else(|| self.record(zeros(), node.shape)));
        }
        Ok(Some(self.record(Operation::Concat(whole), shape)))
    }

    /// The channel of a node that depends linearly on another.
    fn through(
        &mut self,
        x: Node,
        channel: &DerivativeChannel,
        shape: Shape,
        operation: impl FnOnce(Node) -> Operation<T>,
    ) -> Result<Option<Node>, TapeError> {
        let moved = self.channel(x, channel)?;
        // The channel is what the argument was, and in its shape.
        Ok(moved.map(|moved| self.record(operation(Node { shape: x.shape, ..moved }), shape)))
    }

    /// Records how a channel passes a function, unless it is zero. `of` is the node that it is a derivative of.
    fn chain_rule(&mut self, rule: ChainRule<T>, of: Node) -> Result<Option<Node>, TapeError> {
        if rule.linear.is_none() && rule.products.is_empty() {
            return Ok(None);
        }
        if !rule.function.is_smooth() {
            return Err(self.not_smooth(of, rule.function.name()));
        }
        Ok(Some(self.record(Operation::ChainRule(rule), of.shape)))
    }

    /// A channel of `y = a ∘ b`.
    fn arithmetic_channel(
        &mut self,
        kind: Arithmetic,
        a: Node,
        b: Node,
        y: Node,
        channel: &DerivativeChannel,
    ) -> Result<Option<Node>, TapeError> {
        let (da, db) = (self.channel(a, channel)?, self.channel(b, channel)?);
        match kind {
            Arithmetic::Add => self.sum(da, db),
            Arithmetic::Sub => {
                let db = db.map(|db| self.negate(db));
                self.sum(da, db)
            }
            Arithmetic::Mul => {
                let left = da.map(|da| self.mul(da, b)).transpose()?;
                let right = db.map(|db| self.mul(a, db)).transpose()?;
                let total = self.sum(left, right)?;
                self.add_crossings(total, (a, b), channel, 2.0)
            }
            // y b = a, differentiated: ∂y b + y ∂b = ∂a, and ∂²y b + 2 ∂y ∂b + y ∂²b = ∂²a.
            Arithmetic::Div => {
                let mut total = da;
                if let Some(db) = db {
                    let product = self.mul(y, db)?;
                    let product = self.negate(product);
                    total = self.sum(total, Some(product))?;
                }
                let total = self.add_crossings(total, (y, b), channel, -2.0)?;
                total.map(|total| self.div(total, b)).transpose()
            }
        }
    }

    /// A channel of a product of two nodes' matrices.
    fn product_channel(
        &mut self,
        (a, b): (Node, Node),
        sizes: ProductSizes,
        shape: Shape,
        channel: &DerivativeChannel,
    ) -> Result<Option<Node>, TapeError> {
        let (da, db) = (self.channel(a, channel)?, self.channel(b, channel)?);
        let left = da.map(|da| self.product(da, b, sizes, shape));
        let right = db.map(|db| self.product(a, db, sizes, shape));
        let mut total = self.sum(left, right)?;
        for [da, db] in self.crossings(a, b, channel)? {
            let once = self.product(da, db, sizes, shape);
            let twice = self.scale(once, T::from_f64(2.0));
            total = self.sum(total, Some(twice))?;
        }
        Ok(total)
    }

    /// Pairs of first derivatives by the same column, of which a second-order channel takes the products.
    fn crossings(&mut self, a: Node, b: Node, channel: &DerivativeChannel) -> Result<Vec<[Node; 2]>, TapeError> {
        let DerivativeChannel::Laplacian { input, columns } = channel else { return Ok(Vec::new()) };
        let mut crossings = Vec::new();
        for &column in columns {
            let first = DerivativeChannel::First { input: *input, column };
            if let (Some(da), Some(db)) = (self.channel(a, &first)?, self.channel(b, &first)?) {
                crossings.push([da, db]);
            }
        }
        Ok(crossings)
    }

    /// Adds a multiple of the products of first derivatives that a second-order channel takes.
    fn add_crossings(
        &mut self,
        mut total: Option<Node>,
        (a, b): (Node, Node),
        channel: &DerivativeChannel,
        factor: f64,
    ) -> Result<Option<Node>, TapeError> {
        for [da, db] in self.crossings(a, b, channel)? {
            let product = self.mul(da, db)?;
            let product = self.scale(product, T::from_f64(factor));
            total = self.sum(total, Some(product))?;
        }
        Ok(total)
    }

    /// The sum of two nodes that may be zero.
    pub(super) fn sum(&mut self, a: Option<Node>, b: Option<Node>) -> Result<Option<Node>, TapeError> {
        match (a, b) {
            (Some(a), Some(b)) => self.add(a, b).map(Some),
            (a, b) => Ok(a.or(b)),
        }
    }

    /// The error for an operation with a kink, with the innermost layer that recorded it.
    fn not_smooth(&self, node: Node, operation: &'static str) -> TapeError {
        let layer = self.layers.iter().rev().find(|layer| layer.records.contains(&node.index));
        let layer = layer.map_or_else(|| operation.to_owned(), |layer| format!("{} ({})", layer.path, layer.kind));
        TapeError::NotSmooth { layer, operation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Recording, Sequential};
    use crate::variables::Variables;

    fn refused(layers: Sequential<f64>) -> String {
        let mut variables = Variables::new();
        let Recording { mut tape, input, output } = layers.build(&mut variables, 0).unwrap();
        let before = tape.records().len();
        let error = tape.derivative(output, input, 0).unwrap_err();
        assert_eq!(tape.records().len(), before, "what is refused is not recorded");
        error.to_string()
    }

    #[test]
    fn a_layer_with_a_kink_is_named() {
        assert_eq!(
            refused(Sequential::new(2).dense(3).relu().dense(1)),
            "layer 1 (relu): relu has no continuous second derivative by an input; take a smooth function, such as tanh"
        );
        let inner = Sequential::new(3).dense(3).apply(Function::Elu { alpha: 1.0 });
        assert!(refused(Sequential::new(2).dense(3).residual(inner).dense(1)).starts_with("layer 1.1 (elu)"));
        let pooled = Sequential::image(1, 4, 4).max_pooling2d([2, 2]).flatten().dense(1);
        assert!(refused(pooled).starts_with("layer 0 (max pooling): max pooling"));
    }

    #[test]
    fn what_cannot_be_differentiated_by_is_refused() {
        let mut variables = Variables::<f64>::new();
        let layers = Sequential::new(2).dense(3).tanh().dense(1);
        let Recording { mut tape, input, output } = layers.build(&mut variables, 0).unwrap();
        let said = |result: Result<Node, TapeError>| result.unwrap_err().to_string();
        assert_eq!(said(tape.derivative(output, input, 2)), "derivative: there is no column 2 in an input of width 2");
        assert!(matches!(tape.derivative(output, output, 0), Err(TapeError::NotAnInput { .. })));
        assert!(matches!(tape.laplacian(output, input, &[]), Err(TapeError::Empty { .. })));
        let stranger = Tape::<f64>::new().input(2);
        assert!(matches!(tape.derivative(output, stranger, 0), Err(TapeError::ForeignNode { .. })));
    }

    #[test]
    fn derivatives_are_recorded_once_and_zeros_not_at_all() {
        let mut variables = Variables::<f64>::new();
        let layers = Sequential::new(2).dense(3).tanh().dense(1);
        let Recording { mut tape, input, output } = layers.build(&mut variables, 0).unwrap();
        let first = tape.derivative(output, input, 1).unwrap();
        let count = tape.records().len();
        assert_eq!(tape.derivative(output, input, 1).unwrap(), first);
        assert_eq!(tape.records().len(), count);
        // The input's column, and three layers.
        assert_eq!(count, 4 + 4);
        let other = tape.input(1);
        let zero = tape.derivative(output, other, 0).unwrap();
        assert!(matches!(tape.records()[zero.index()].operation, Operation::Constant(ref row) if row == &[0.0]));
    }
}
