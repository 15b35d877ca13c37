//! Errors of a tape, and of the data it is evaluated on.

use thiserror::Error;

use super::shape::Shape;
use crate::distributed::RankError;

/// An operation that cannot be recorded, or a tape that cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TapeError {
    /// Two nodes have widths that do not go together.
    #[error("{operation}: widths {left} and {right} differ, and neither is 1")]
    Widths {
        /// The operation.
        operation: &'static str,
        /// Width of the left node.
        left: usize,
        /// Width of the right node.
        right: usize,
    },
    /// A weight has another number of columns than the node that it is multiplied with.
    #[error("{operation}: a node of width {width} and a weight of the shape {rows} × {columns} (outputs × inputs)")]
    Weight {
        /// The operation.
        operation: &'static str,
        /// Width of the node.
        width: usize,
        /// Rows of the weight.
        rows: usize,
        /// Columns of the weight.
        columns: usize,
    },
    /// A bias has another length than the weight has rows.
    #[error("{operation}: a bias of {found} numbers and a weight with {expected} rows")]
    Bias {
        /// The operation.
        operation: &'static str,
        /// Rows of the weight.
        expected: usize,
        /// Entries in the bias.
        found: usize,
    },
    /// Images that are combined entry by entry have different shapes.
    #[error("{operation}: {left} and {right} do not go together")]
    Shapes {
        /// The operation.
        operation: &'static str,
        /// Shape of the left node.
        left: Shape,
        /// Shape of the right node.
        right: Shape,
    },
    /// A node has another number of numbers than the shape that it is to get.
    #[error("reshape: {found} cannot become {expected}")]
    Reshape {
        /// The shape that it is to get.
        expected: Shape,
        /// The shape that it has.
        found: Shape,
    },
    /// An operation on images is given something else.
    #[error("{operation}: {found} is not an image (channels × height × width); reshape it")]
    NotAnImage {
        /// The operation.
        operation: &'static str,
        /// The shape of the node.
        found: Shape,
    },
    /// An operation on sequences is given something else.
    #[error("{operation}: {found} is not a sequence (steps × features); reshape it")]
    NotASequence {
        /// The operation.
        operation: &'static str,
        /// The shape of the node.
        found: Shape,
    },
    /// A recurrent layer is given another number of states than it has.
    #[error("{operation}: {expected} states are needed, but {found} were given")]
    States {
        /// The operation.
        operation: &'static str,
        /// Number of states that the layer has.
        expected: usize,
        /// Number given.
        found: usize,
    },
    /// An operation on rows is given an image.
    #[error("{operation}: {found} is not a row; flatten it")]
    NotARow {
        /// The operation.
        operation: &'static str,
        /// The shape of the node.
        found: Shape,
    },
    /// A window is larger than the image that it moves over, and its padding.
    #[error("{operation}: a window of {} × {} pixels does not fit into {found}", span[0], span[1])]
    Window {
        /// The operation.
        operation: &'static str,
        /// Height and width of the window, with the pixels that a dilation leaves out.
        span: [usize; 2],
        /// Shape of the image.
        found: Shape,
    },
    /// A window sees more numbers of a sample, from all its places, than can be numbered.
    #[error("{operation}: there are too many windows on {found}")]
    TooLarge {
        /// The operation.
        operation: &'static str,
        /// Shape of the image.
        found: Shape,
    },
    /// The weight of a convolution does not consist of filters for the image.
    #[error(
        "{operation}: a weight of the shape {rows} × {columns} (all dimensions but the last × the last) for filters of \
         {} × {} × {} (channels × height × width)", filter[0], filter[1], filter[2]
    )]
    Filters {
        /// The operation.
        operation: &'static str,
        /// Rows of the weight.
        rows: usize,
        /// Columns of the weight.
        columns: usize,
        /// Channels, height and width of a filter.
        filter: [usize; 3],
    },
    /// A slice reaches beyond its node, or holds nothing.
    #[error("slice: columns {start}..{end} of a node of width {width}")]
    Slice {
        /// First column.
        start: usize,
        /// Column after the last.
        end: usize,
        /// Width of the node.
        width: usize,
    },
    /// A dropout rate that is not a probability below one.
    #[error("dropout: the rate must be at least 0 and less than 1, not {rate}")]
    Rate {
        /// The rate.
        rate: f64,
    },
    /// An operation across samples.
    #[error("{operation} mixes samples, so that a row of the Jacobian would depend on the whole batch")]
    MixesSamples {
        /// The operation.
        operation: &'static str,
    },
    /// A node that belongs to another tape.
    #[error("{operation}: a node of another tape")]
    ForeignNode {
        /// The operation.
        operation: &'static str,
    },
    /// A variable that is not among those given.
    #[error("{operation}: a variable that is not among the network's (number {index}, shape {rows} × {columns})")]
    ForeignVariable {
        /// The operation.
        operation: &'static str,
        /// Its place in the order of its variables.
        index: usize,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// Row numbers must come from an input, where they can be checked.
    #[error("{operation}: row numbers must come from an input, not from {found}")]
    NotAnInput {
        /// The operation.
        operation: &'static str,
        /// The operation that the node comes from.
        found: &'static str,
    },
    /// A node without columns.
    #[error("{operation}: nothing to work on: the result would have no columns")]
    Empty {
        /// The operation.
        operation: &'static str,
    },
    /// A number that must be finite is not.
    #[error("{operation}: {value} at {index}")]
    NonFinite {
        /// The operation.
        operation: &'static str,
        /// Index of the number.
        index: usize,
        /// The number.
        value: f64,
    },
    /// An input without the column that a node is to be differentiated by.
    #[error("derivative: there is no column {column} in an input of width {width}")]
    DerivativeColumn {
        /// The column, counted from 0.
        column: usize,
        /// Width of the input.
        width: usize,
    },
    /// A loss of a set of samples that is not there.
    #[error("there is no set {set} of samples: there are {count}")]
    SampleSet {
        /// The set, counted from 0.
        set: usize,
        /// Number of sets.
        count: usize,
    },
    /// An operation without continuous first and second derivatives.
    #[error(
        "layer {layer}: {operation} has no continuous second derivative by an input; take a smooth function, such as tanh"
    )]
    NotSmooth {
        /// The layer's place in the network, and its kind.
        layer: String,
        /// The operation.
        operation: &'static str,
    },
    /// A derivative by inputs of an order above two, of a function that has none.
    #[error(
        "derivative: {function} has no derivatives by inputs of an order above two; take another smooth function, such as tanh"
    )]
    DerivativeOrder {
        /// The function.
        function: &'static str,
    },
    /// A setting makes no sense.
    #[error("{setting} of {of} must be {requirement}, not {value}")]
    Setting {
        /// The layer or loss that has the setting.
        of: &'static str,
        /// Name of the setting.
        setting: &'static str,
        /// The values allowed.
        requirement: &'static str,
        /// Its value.
        value: f64,
    },
    /// A weight of a loss must be a finite number that is not negative.
    #[error("the weight of {loss} must be finite and not negative, not {weight}")]
    LossWeight {
        /// The loss.
        loss: &'static str,
        /// The weight.
        weight: f64,
    },
}

/// Data that a network cannot be evaluated on. What was bound before stays bound.
///
/// Messages count rows and columns from 1, as people do; the fields `row` and `column` are indices, from 0.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// Another number of inputs than the tape has.
    #[error("the network has {expected} inputs, but {found} arrays were given")]
    InputCount {
        /// Inputs on the tape.
        expected: usize,
        /// Arrays given.
        found: usize,
    },
    /// Another number of targets than the losses need.
    #[error("the losses need {expected} targets, but {found} arrays were given")]
    TargetCount {
        /// Targets needed.
        expected: usize,
        /// Arrays given.
        found: usize,
    },
    /// No rows.
    #[error("the batch has no rows")]
    Empty,
    /// No batch has been bound yet.
    #[error("no batch is bound: call network.batch(inputs, targets) first")]
    Unbound,
    /// The network has no loss.
    #[error("the network has no loss: call with_loss first")]
    NoLoss,
    /// The variables are not those of the network.
    #[error("the variables are not those that the network was made for")]
    ForeignVariables,
    /// Gradients of other variables than the network's.
    #[error("the gradients are those of other variables than the network's")]
    Gradients,
    /// Arrays of different length.
    #[error("{array} has {found} rows, where the first array has {expected}")]
    Rows {
        /// The array that differs.
        array: BatchArray,
        /// Rows of the first array.
        expected: usize,
        /// Rows of the array.
        found: usize,
    },
    /// An array of the wrong width.
    #[error("{array} must have {expected} columns, but has {found}")]
    Width {
        /// The array.
        array: BatchArray,
        /// Columns it must have.
        expected: usize,
        /// Columns it has.
        found: usize,
    },
    /// A number that is NaN or infinite.
    #[error("{array} is {value} in row {}, column {}", row + 1, column + 1)]
    NonFinite {
        /// The array.
        array: BatchArray,
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The number.
        value: f64,
    },
    /// A number that is not a row number of an embedding's table.
    #[error("{array} is {value} in row {}: not a row number of a table with {rows} rows", row + 1)]
    EmbeddingRow {
        /// The array.
        array: BatchArray,
        /// The row of the batch.
        row: usize,
        /// The number.
        value: f64,
        /// Rows of the table.
        rows: usize,
    },
    /// A number that is not one of a set of samples.
    #[error("{array} is {value} in row {row}: not one of the sets of samples 0 to {}", sets - 1)]
    SampleSet {
        /// The array.
        array: BatchArray,
        /// The row of the batch.
        row: usize,
        /// The number.
        value: f64,
        /// Number of sets.
        sets: usize,
    },
    /// Sets of samples with different numbers of residuals.
    #[error("the samples of set {set} have {found} residuals each, and those of other sets {expected}")]
    SetResiduals {
        /// The set.
        set: usize,
        /// Residuals of a sample of another set.
        expected: usize,
        /// Residuals of a sample of this set.
        found: usize,
    },
    /// A number that is not a class.
    #[error("{array} is {value} in row {}: not one of the classes 0 to {}", row + 1, classes - 1)]
    Label {
        /// The array.
        array: BatchArray,
        /// The row of the batch.
        row: usize,
        /// The number.
        value: f64,
        /// Number of classes.
        classes: usize,
    },
    /// A number that is not a probability.
    #[error("{array} is {value} in row {}, column {}: not a probability", row + 1, column + 1)]
    Probability {
        /// The array.
        array: BatchArray,
        /// The row of the batch.
        row: usize,
        /// The column.
        column: usize,
        /// The number.
        value: f64,
    },
    /// A number that must not be negative is.
    #[error("{array} is {value} in row {}, column {}: negative", row + 1, column + 1)]
    Negative {
        /// The array.
        array: BatchArray,
        /// The row of the batch.
        row: usize,
        /// The column.
        column: usize,
        /// The number.
        value: f64,
    },
    /// Another number of sample weights than rows.
    #[error("{expected} rows, but {found} sample weights")]
    SampleWeightCount {
        /// Rows of the batch.
        expected: usize,
        /// Sample weights given.
        found: usize,
    },
    /// A sample weight that is negative, NaN or infinite.
    #[error("the sample weight of row {} is {value}", row + 1)]
    SampleWeight {
        /// The row.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// A minibatch asks for a row that the data does not have.
    #[error("row {row} was asked for, but there are {rows}")]
    RowOutOfRange {
        /// The row.
        row: usize,
        /// Rows of the data.
        rows: usize,
    },
    /// Variables that the network was not made for.
    #[error("the network was made for variables of {expected} numbers, but these hold {found}")]
    Variables {
        /// Entries in the network's variables.
        expected: usize,
        /// Numbers given.
        found: usize,
    },
    /// A node that is not on the network's tape.
    #[error("a node of another tape")]
    ForeignNode,
    /// An array for results of the wrong shape.
    #[error("the result has the shape {expected:?}, but the array for it {found:?}")]
    Output {
        /// Rows and columns of the result.
        expected: [usize; 2],
        /// Rows and columns of the array.
        found: [usize; 2],
    },
    /// The data of a rank do not fit, as all ranks know.
    #[error(transparent)]
    Rank(#[from] RankError),
}

/// One of a batch's arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchArray {
    /// An input, counted in the order of creation.
    Input(usize),
    /// A target, counted in the order of the losses that need one.
    Target(usize),
}

impl std::fmt::Display for BatchArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BatchArray::Input(index) => write!(f, "input {index}"),
            BatchArray::Target(index) => write!(f, "target {index}"),
        }
    }
}
