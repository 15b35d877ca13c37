//! The tape: a computation, recorded once and evaluated on many batches.

mod derivatives;
mod higher_derivatives;
mod images;
mod layers;
mod operation;
mod sequences;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use derivatives::DerivativeChannel;
pub(crate) use layers::LayerSpan;
pub(crate) use operation::Operation;
pub(crate) use sequences::steps_and_features;

use super::arithmetic::Arithmetic;
use super::{Function, Shape, TapeError};
use crate::real::Real;
use crate::variables::Variable;

/// A computation on batches: every node is a matrix with a row for each sample.
///
/// It is recorded once, for batches of any size, and evaluated by a [`Network`](super::Network), with one matrix product
/// for each layer. No operation mixes samples, so every row of a Jacobian belongs to one sample.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::Tape;
/// use ndarray::array;
///
/// let mut variables = Variables::new();
/// let weight = variables.add("weight", array![[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]].view())?;
/// let bias = variables.add("bias", array![0.0, 0.1, 0.2].view())?;
///
/// let mut tape = Tape::<f64>::new();
/// let x = tape.input(2);
/// let hidden = tape.dense(x, weight, Some(bias))?;
/// let hidden = tape.tanh(hidden);
/// let y = tape.row_sum(hidden);
/// assert_eq!((hidden.width(), y.width()), (3, 1));
///
/// let refused = tape.dense(y, weight, None).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "dense: a node of width 1 and a weight of the shape 3 × 2 (outputs × inputs)"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tape<T> {
    id: usize,
    records: Vec<TapeRecord<T>>,
    inputs: usize,
    /// Outer layers come before those within them.
    layers: Vec<LayerSpan>,
    /// Number of layers that are being recorded.
    open_layers: usize,
    /// Derivatives by inputs.
    derivatives: derivatives::RecordedDerivatives,
    /// Masks of sequences, by the index of their nodes.
    masks: HashMap<usize, Node>,
}

/// An operation, and the width and the shape of its value.
#[derive(Debug, Clone)]
pub(crate) struct TapeRecord<T> {
    pub(crate) operation: Operation<T>,
    pub(crate) width: usize,
    pub(crate) shape: Shape,
}

/// A handle to a value on a [`Tape`]: cheap to copy, and valid for the tape that it came from and its clones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node {
    tape: usize,
    index: usize,
    shape: Shape,
}

impl Node {
    /// Columns of its matrix: entries for each sample.
    pub fn width(&self) -> usize {
        self.shape.numbers()
    }

    /// Arrangement of the entries of a sample.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Its place on the tape.
    #[inline]
    pub(crate) fn index(&self) -> usize {
        self.index
    }
}

impl<T: Real> Default for Tape<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> Tape<T> {
    /// Creates an empty tape.
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        Tape {
            id,
            records: Vec::new(),
            inputs: 0,
            layers: Vec::new(),
            open_layers: 0,
            derivatives: HashMap::new(),
            masks: HashMap::new(),
        }
    }

    /// Adds an input with `width` entries for each sample. Arrays are bound to inputs in the order of creation.
    pub fn input(&mut self, width: usize) -> Node {
        self.inputs += 1;
        self.record_row(Operation::Input(self.inputs - 1), width)
    }

    /// Records a row that is the same for every sample.
    pub fn constant(&mut self, row: &[T]) -> Node {
        self.record_row(Operation::Constant(row.to_vec()), row.len())
    }

    /// A variable's entries, the same for every sample: a row of [`Variable::len`] numbers.
    pub fn variable(&mut self, variable: Variable) -> Node {
        self.record_row(Operation::Variable(variable), variable.len())
    }

    /// A dense (affine) layer: `x Wᵀ + b`, of a sequence at every step. The weight has a row for each output, as PyTorch and
    /// candle store it.
    ///
    /// # Errors
    ///
    /// [`TapeError::NotARow`] for an image; [`TapeError::Weight`] when the weight has not as many columns as `x`;
    /// [`TapeError::Bias`] when the bias has not an entry for each output.
    pub fn dense(&mut self, x: Node, weight: Variable, bias: Option<Variable>) -> Result<Node, TapeError> {
        let operation = "dense";
        self.check(operation, x)?;
        let (width, positions) = match x.shape {
            Shape::Row { width } => (width, 1),
            Shape::Sequence { steps, features } => (features, steps),
            found @ Shape::Image { .. } => return Err(TapeError::NotARow { operation, found }),
        };
        let (rows, columns) = (weight.rows(), weight.columns());
        if columns != width {
            return Err(TapeError::Weight { operation, width, rows, columns });
        }
        if let Some(found) = bias.map(|bias| bias.len()).filter(|&found| found != rows) {
            return Err(TapeError::Bias { operation, expected: rows, found });
        }
        let shape = match x.shape {
            Shape::Sequence { steps, .. } => Shape::Sequence { steps, features: rows },
            _ => Shape::Row { width: rows },
        };
        Ok(self.record(Operation::Dense { x, weight, bias, positions }, shape))
    }

    /// A function of every entry.
    pub fn apply(&mut self, function: Function<T>, x: Node) -> Node {
        self.record(Operation::Apply { function, x }, x.shape())
    }

    /// `a + b`, entry by entry. Widths are equal, or one of them is 1 and repeated.
    ///
    /// # Errors
    ///
    /// [`TapeError::Widths`], or [`TapeError::Shapes`] for two images.
    pub fn add(&mut self, a: Node, b: Node) -> Result<Node, TapeError> {
        self.arithmetic(Arithmetic::Add, a, b)
    }

    /// `a − b`, entry by entry. Widths are equal, or one of them is 1 and repeated.
    ///
    /// # Errors
    ///
    /// [`TapeError::Widths`], or [`TapeError::Shapes`] for two images.
    pub fn sub(&mut self, a: Node, b: Node) -> Result<Node, TapeError> {
        self.arithmetic(Arithmetic::Sub, a, b)
    }

    /// `a · b`, entry by entry. Widths are equal, or one of them is 1 and repeated.
    ///
    /// # Errors
    ///
    /// [`TapeError::Widths`], or [`TapeError::Shapes`] for two images.
    pub fn mul(&mut self, a: Node, b: Node) -> Result<Node, TapeError> {
        self.arithmetic(Arithmetic::Mul, a, b)
    }

    /// `a / b`, entry by entry. Widths are equal, or one of them is 1 and repeated.
    ///
    /// # Errors
    ///
    /// [`TapeError::Widths`], or [`TapeError::Shapes`] for two images.
    pub fn div(&mut self, a: Node, b: Node) -> Result<Node, TapeError> {
        self.arithmetic(Arithmetic::Div, a, b)
    }

    /// Nodes side by side. Images of one size stay an image, of all their channels.
    ///
    /// # Errors
    ///
    /// [`TapeError::Empty`] when there are none.
    pub fn concat(&mut self, nodes: &[Node]) -> Result<Node, TapeError> {
        let operation = "concat";
        if nodes.is_empty() {
            return Err(TapeError::Empty { operation });
        }
        nodes.iter().try_for_each(|&node| self.check(operation, node))?;
        let shape = nodes[1..].iter().fold(nodes[0].shape, |shape, node| shape.beside(node.shape));
        Ok(self.record(Operation::Concat(nodes.to_vec()), shape))
    }

    /// Records some columns of a node.
    ///
    /// # Errors
    ///
    /// [`TapeError::Slice`] when there are none, or the node does not have them.
    pub fn slice(&mut self, x: Node, columns: Range<usize>) -> Result<Node, TapeError> {
        self.check("slice", x)?;
        let Range { start, end } = columns;
        if start >= end || end > x.width() {
            return Err(TapeError::Slice { start, end, width: x.width() });
        }
        Ok(self.record_row(Operation::Slice { x, start }, end - start))
    }

    /// The sum over columns, of width 1.
    pub fn row_sum(&mut self, x: Node) -> Node {
        self.record_row(Operation::RowSum(x), 1)
    }

    /// Looks rows of a table up. `x` is an input whose numbers are row numbers; their rows come side by side.
    ///
    /// The gradient of the table is sparse: it has the rows that the batch looked up.
    ///
    /// # Errors
    ///
    /// [`TapeError::NotAnInput`]. Whether the numbers are rows of the table is checked when a batch is bound.
    pub fn embedding(&mut self, x: Node, table: Variable) -> Result<Node, TapeError> {
        let operation = "embedding";
        self.check(operation, x)?;
        let source = &self.records[x.index].operation;
        if !matches!(source, Operation::Input(_)) {
            return Err(TapeError::NotAnInput { operation, found: source.name() });
        }
        Ok(self.record_row(Operation::Embedding { x, table }, x.width() * table.columns()))
    }

    /// Drops entries with the probability `rate`, and scales the others by `1 / (1 − rate)`.
    ///
    /// Which entries are dropped stays the same until the next batch is bound: the loss, the gradient, the Jacobian and all
    /// trial points of a step see the same network. [`Network::predict`](super::Network::predict) and
    /// [`Network::evaluate`](super::Network::evaluate) drop nothing.
    ///
    /// # Errors
    ///
    /// [`TapeError::Rate`].
    pub fn dropout(&mut self, x: Node, rate: T) -> Result<Node, TapeError> {
        self.check("dropout", x)?;
        if !(rate >= T::ZERO && rate < T::ONE) {
            return Err(TapeError::Rate { rate: rate.to_f64() });
        }
        if rate == T::ZERO {
            return Ok(x);
        }
        let mask = self.record(Operation::Mask { rate }, x.shape);
        self.mul(x, mask)
    }

    /// The mean over the batch, which batch normalisation is made of: refused.
    ///
    /// # Errors
    ///
    /// Always [`TapeError::MixesSamples`].
    pub fn batch_mean(&mut self, x: Node) -> Result<Node, TapeError> {
        self.check("batch_mean", x)?;
        Err(TapeError::MixesSamples { operation: "batch_mean" })
    }

    fn arithmetic(&mut self, kind: Arithmetic, a: Node, b: Node) -> Result<Node, TapeError> {
        let operation = kind.name();
        self.check(operation, a)?;
        self.check(operation, b)?;
        let (left, right) = (a.width(), b.width());
        let shape = match (left, right) {
            _ if left == right => {
                let shapes = TapeError::Shapes { operation, left: a.shape, right: b.shape };
                a.shape.common(b.shape).ok_or(shapes)?
            }
            (1, _) => b.shape,
            (_, 1) => a.shape,
            _ => return Err(TapeError::Widths { operation, left, right }),
        };
        let (a, b) = (self.repeat(a, shape), self.repeat(b, shape));
        Ok(self.record(Operation::Arithmetic { kind, a, b }, shape))
    }

    /// A node of as many columns as this shape: the node itself, or its only column again and again.
    fn repeat(&mut self, x: Node, shape: Shape) -> Node {
        if x.width() == shape.numbers() { x } else { self.record(Operation::Repeat(x), shape) }
    }

    fn record_row(&mut self, operation: Operation<T>, width: usize) -> Node {
        self.record(operation, Shape::Row { width })
    }

    fn record(&mut self, operation: Operation<T>, shape: Shape) -> Node {
        let node = Node { tape: self.id, index: self.records.len(), shape };
        self.records.push(TapeRecord { operation, width: shape.numbers(), shape });
        node
    }

    /// Refuses a node of another tape.
    fn check(&self, operation: &'static str, node: Node) -> Result<(), TapeError> {
        if self.holds(node) { Ok(()) } else { Err(TapeError::ForeignNode { operation }) }
    }

    /// Returns true if a node is computed from another, or is that.
    pub(crate) fn depends(&self, node: Node, on: Node) -> bool {
        let mut is_reached = vec![false; node.index + 1];
        is_reached[node.index] = true;
        for index in (on.index..=node.index).rev() {
            if is_reached[index] {
                self.records[index].operation.arguments().for_each(|argument| is_reached[argument.index] = true);
            }
        }
        is_reached.get(on.index) == Some(&true)
    }

    /// Returns true for a constant row of zeros.
    pub(crate) fn is_zero(&self, node: Node) -> bool {
        matches!(&self.records[node.index].operation, Operation::Constant(row) if row.iter().all(|&x| x == T::ZERO))
    }

    /// Returns true if the node is on this tape.
    pub(crate) fn holds(&self, node: Node) -> bool {
        node.tape == self.id && self.records.get(node.index).is_some_and(|record| record.width == node.width())
    }

    /// The node of this index.
    pub(crate) fn node(&self, index: usize) -> Node {
        Node { tape: self.id, index, shape: Shape::Row { width: self.records[index].width } }
    }

    /// All records, in order: arguments come before what is computed from them.
    pub(crate) fn records(&self) -> &[TapeRecord<T>] {
        &self.records
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};

    use super::*;
    use crate::variables::Variables;

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let mut variables = Variables::<f64>::new();
        let weight = variables.add("w", Array2::zeros((3, 2)).view()).unwrap();
        let bias = variables.add("b", Array1::zeros(2).view()).unwrap();
        let mut tape = Tape::new();
        let (two, three) = (tape.input(2), tape.input(3));

        let said = |result: Result<Node, TapeError>| result.unwrap_err().to_string();
        assert_eq!(
            said(tape.dense(three, weight, None)),
            "dense: a node of width 3 and a weight of the shape 3 × 2 (outputs × inputs)"
        );
        assert_eq!(said(tape.dense(two, weight, Some(bias))), "dense: a bias of 2 numbers and a weight with 3 rows");
        assert_eq!(said(tape.mul(two, three)), "mul: widths 2 and 3 differ, and neither is 1");
        assert_eq!(said(tape.slice(two, 1..3)), "slice: columns 1..3 of a node of width 2");
        assert_eq!(said(tape.slice(two, 1..1)), "slice: columns 1..1 of a node of width 2");
        assert_eq!(said(tape.concat(&[])), "concat: nothing to work on: the result would have no columns");
        for rate in [-0.1, 1.0, f64::NAN] {
            assert!(matches!(tape.dropout(two, rate), Err(TapeError::Rate { .. })), "{rate}");
        }
        assert_eq!(
            said(tape.batch_mean(two)),
            "batch_mean mixes samples, so that a row of the Jacobian would depend on the whole batch"
        );
        let computed = tape.tanh(two);
        assert_eq!(
            said(tape.embedding(computed, weight)),
            "embedding: row numbers must come from an input, not from apply"
        );
        let other = Tape::<f64>::new().input(2);
        assert_eq!(said(tape.add(two, other)), "add: a node of another tape");
        assert_eq!(tape.records().len(), 3, "what is refused is not recorded");
    }

    #[test]
    fn widths_follow_the_operations() {
        let mut variables = Variables::<f64>::new();
        let weight = variables.add("w", Array2::zeros((3, 2)).view()).unwrap();
        let mut tape = Tape::new();
        let x = tape.input(2);
        let one = tape.row_sum(x);
        let three = tape.dense(x, weight, None).unwrap();
        let widths = [
            tape.add(three, one).unwrap().width(),
            tape.concat(&[x, three, one]).unwrap().width(),
            tape.slice(three, 1..3).unwrap().width(),
            tape.embedding(x, weight).unwrap().width(),
            tape.variable(weight).width(),
            tape.constant(&[1.0, 2.0]).width(),
        ];
        assert_eq!(widths, [3, 6, 2, 4, 6, 2]);
        assert_eq!(tape.dropout(x, 0.0).unwrap(), x);
    }
}
