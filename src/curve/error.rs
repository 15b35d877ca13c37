//! Errors of curve fits.

use thiserror::Error;

use super::counted::counted;
use super::quoted::quoted;
use crate::distributed::{CommunicatorError, RankError};
use crate::problem::RobustScaleError;
use crate::solver::SolveError;

/// Reasons why a curve could not be fitted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CurveError {
    /// There are no data.
    #[error("there are no observations")]
    NoObservations,
    /// Predictors and responses do not match.
    #[error("x has {}, but y has {y}", counted(*x, "row"))]
    UnequalLengths {
        /// Rows of predictors.
        x: usize,
        /// Responses.
        y: usize,
    },
    /// A datum is NaN or infinite.
    #[error("{variable} is {value} in row {}", row + 1)]
    NonFiniteDatum {
        /// Name of the column: `x`, `x1`, `x2`, … or `y`.
        variable: String,
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The curve has more parameters than there are data.
    #[error("{} cannot determine {}", counted(*observations, "observation"), counted(*parameters, "parameter"))]
    TooFewObservations {
        /// Number of observations.
        observations: usize,
        /// Number of parameters.
        parameters: usize,
    },
    /// The number of responses of the curve is not that of the data.
    #[error("the curve has {} to a row, but y has {data}", counted(*curve, "response"))]
    ResponseCount {
        /// Responses of the curve.
        curve: usize,
        /// Numbers in a row of `y`.
        data: usize,
    },
    /// Standard deviations do not match the responses.
    #[error("sigma has {} for {}", counted(*sigma, "standard deviation"), counted(*responses, "response"))]
    SigmaLength {
        /// Standard deviations.
        sigma: usize,
        /// Responses.
        responses: usize,
    },
    /// A standard deviation is not positive.
    #[error("sigma is {value} in row {}: standard deviations must be positive", row + 1)]
    NonPositiveSigma {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// Weights do not match the responses.
    #[error("weights has {} for {}", counted(*weights, "weight"), counted(*responses, "response"))]
    WeightsLength {
        /// Weights.
        weights: usize,
        /// Responses.
        responses: usize,
    },
    /// A weight is negative or not finite, or zero while another one of its row is not.
    #[error("the weight is {value} in row {}: weights must be positive, or zero for rows to leave out", row + 1)]
    Weight {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The counts or the standard deviations of replicates do not match the rows.
    #[error("there are {found} {of}, but {expected} are needed")]
    ReplicatesLength {
        /// Description of the numbers.
        of: &'static str,
        /// Their count.
        found: usize,
        /// The count that matches the rows, or the responses.
        expected: usize,
    },
    /// A row has no replicates.
    #[error("row {} has no replicates: a mean is of one at least", row + 1)]
    NoReplicates {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
    },
    /// A standard deviation of replicates is negative or not finite.
    #[error("the standard deviation of the replicates is {value} in row {}: it must not be negative", row + 1)]
    ReplicateDeviation {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The false discovery rate of outliers is not between 0 and 1.
    #[error("the false discovery rate of outliers must be between 0 and 1, not {value}")]
    OutlierRate {
        /// The rate asked for.
        value: f64,
    },
    /// The standard deviations of the predictors do not match them.
    #[error(
        "sigma_x has {found_rows} x {found_columns} entries: give {rows} x {columns}, one for each predictor, or one row for all"
    )]
    SigmaXShape {
        /// Rows of the data.
        rows: usize,
        /// Predictors in a row.
        columns: usize,
        /// Rows of the standard deviations.
        found_rows: usize,
        /// Standard deviations in a row.
        found_columns: usize,
    },
    /// A standard deviation of a predictor is negative.
    #[error("sigma_x is {value} in row {}, column {}: it must not be negative", row + 1, column + 1)]
    NegativeSigmaX {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// Index of the predictor, from 0; messages count from 1.
        column: usize,
        /// The value.
        value: f64,
    },
    /// All predictors of a row have a standard deviation of 0, but the curve is implicit: each point needs an error in at least one
    /// predictor.
    #[error("sigma_x is 0 in row {}: a point of an implicit curve needs an error in one predictor", row + 1)]
    ExactCondition {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
    },
    /// The covariance of the data is not a square matrix with one row for each response.
    #[error("the covariance of the data is {rows} x {columns}{}", .responses.map_or(String::new(), |count| format!(", for {}", counted(count, "response"))))]
    CovarianceShape {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// Number of responses, if the data differ from it.
        responses: Option<usize>,
    },
    /// The covariance of the data is not symmetric.
    #[error(
        "the covariance of the data is not symmetric: {value} in row {}, column {}, but {transposed} across", row + 1, column + 1
    )]
    CovarianceNotSymmetric {
        /// A row: an index, from 0; messages count from 1.
        row: usize,
        /// A column: an index, from 0; messages count from 1.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry across the diagonal.
        transposed: f64,
    },
    /// The covariance of the data has no Cholesky factor.
    #[error("the covariance of the data is not positive definite")]
    CovarianceNotPositive,
    /// The mask does not match the data.
    #[error("the mask has {} for {}", if *mask == 1 { "1 entry".to_owned() } else { format!("{mask} entries") }, counted(*rows, "row"))]
    MaskLength {
        /// Entries of the mask.
        mask: usize,
        /// Rows of the data.
        rows: usize,
    },
    /// A count is negative.
    #[error("y is {value} in row {}: counts must not be negative", row + 1)]
    NegativeCount {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A count is no integer.
    #[error("y is {value} in row {}: counts are integers", row + 1)]
    FractionalCount {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A parameter that is tied to others, or has a scale, is NaN or infinite at the start.
    #[error("{name:?} is {value} at the start")]
    NonFiniteParameter {
        /// The parameter.
        name: String,
        /// Its value.
        value: f64,
    },
    /// The curve is NaN or infinite at the start.
    #[error("the curve is {value} in row {} at the start", row + 1)]
    NonFiniteResponse {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The curve is not positive at the start. For counts it is their mean, which must be positive.
    #[error("the curve is {value} in row {} at the start: the mean of counts must be positive", row + 1)]
    NonPositiveMean {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// Two settings exclude each other.
    #[error("{first} and {second} exclude each other: {reason}")]
    Conflict {
        /// One setting.
        first: &'static str,
        /// The second setting.
        second: &'static str,
        /// Description of the fault.
        reason: &'static str,
    },
    /// Two options of one parameter exclude each other.
    #[error("{name:?} {first} and {second}; say one of them")]
    Contradiction {
        /// The parameter.
        name: String,
        /// One of them, such as `is fixed`.
        first: &'static str,
        /// The second option, such as `is tied to other parameters`.
        second: &'static str,
    },
    /// [`absolute_sigma`](crate::CurveFit::absolute_sigma) is set, but no sigma is given.
    #[error(
        "absolute_sigma(true) was set, but no sigma; if the standard deviation of every response is 1, give it as sigma"
    )]
    AbsoluteWithoutSigma,
    /// No parameter has this name.
    #[error("there is no parameter {name:?}; there are {}", quoted(known))]
    NoSuchParameter {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// All parameters are fixed or tied.
    #[error("no parameter is free to be fitted")]
    NothingToFit,
    /// Two parameters have the same name.
    #[error("two parameters are called {name:?}; a prefix would tell them apart")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The lower bound of a parameter is above its upper bound, or one of them is NaN.
    #[error("the lower bound of {name:?}, {lower}, is not below its upper bound, {upper}")]
    CrossedBounds {
        /// The parameter.
        name: String,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// A tied parameter cannot have bounds of its own.
    #[error("{name:?} is tied to other parameters, and cannot have bounds; bound those")]
    TiedAndBounded {
        /// The parameter.
        name: String,
    },
    /// A tie refers to an unknown parameter.
    #[error("{name:?} is tied to {of:?}, which is no parameter")]
    UnknownInTie {
        /// The tied parameter.
        name: String,
        /// The name it refers to.
        of: String,
    },
    /// A derived quantity refers to an unknown parameter.
    #[error("{name:?} is computed from {of:?}, which is no parameter")]
    UnknownInQuantity {
        /// The quantity.
        name: String,
        /// The name it refers to.
        of: String,
    },
    /// Ties form a cycle.
    #[error("{:?} is tied to itself{}", .names[0], if .names.len() > 1 { format!(", by way of {}", quoted(&names[1..])) } else { String::new() })]
    TieToItself {
        /// The circle, each name tied to the next and the last to the first.
        names: Vec<String>,
    },
    /// A relation refers to an unknown parameter.
    #[error("the relation {relation} is of {of:?}, which is no parameter")]
    UnknownInRelation {
        /// The relation.
        relation: String,
        /// The name it refers to.
        of: String,
    },
    /// A coefficient or the limit of a relation is NaN or infinite.
    #[error("the relation {relation} has a number that is not finite")]
    NonFiniteRelation {
        /// The relation.
        relation: String,
    },
    /// A relation contains a tied parameter that is not a linear function of the free parameters.
    #[error("the relation {relation} is not linear in the free parameters, to which others in it are tied")]
    NonlinearRelation {
        /// The relation.
        relation: String,
    },
    /// A relation does not depend on any free parameter.
    #[error("the relation {relation} is of constants: no free parameter has an influence on it")]
    RelationOfConstants {
        /// The relation.
        relation: String,
    },
    /// The start violates a relation.
    #[error("the start violates the relation {relation} by {excess}")]
    StartViolatesRelation {
        /// The relation.
        relation: String,
        /// Amount by which `Σ coefficient · parameter` exceeds the limit.
        excess: f64,
    },
    /// No values of the free parameters satisfy all relations and bounds.
    #[error("no values of the parameters within their bounds satisfy {}", .relations.join(" and "))]
    ContradictoryRelations {
        /// The relations.
        relations: Vec<String>,
    },
    /// A prior has no finite mean, or no positive standard deviation.
    #[error(
        "the prior of {name:?} must have a finite mean and a positive standard deviation, not {mean} and {deviation}"
    )]
    Prior {
        /// The parameter.
        name: String,
        /// The mean given.
        mean: f64,
        /// The standard deviation given.
        deviation: f64,
    },
    /// The typical size of a parameter is not positive.
    #[error("the scale of {name:?} must be positive and finite, not {value}")]
    Scale {
        /// The parameter.
        name: String,
        /// The scale given.
        value: f64,
    },
    /// The names do not match the parameters.
    #[error("the curve has {}, but {} given", counted(*parameters, "parameter"), if *names == 1 { "1 name was".to_owned() } else { format!("{names} names were") })]
    WrongNameCount {
        /// Number of parameters.
        parameters: usize,
        /// Number of names.
        names: usize,
    },
    /// The names do not match the responses.
    #[error("there are {} to a row, but {} given", counted(*responses, "response"), if *names == 1 { "1 name was".to_owned() } else { format!("{names} names were") })]
    ResponseNameCount {
        /// Responses to a row.
        responses: usize,
        /// Number of names.
        names: usize,
    },
    /// The scale of a robust loss is not positive and finite.
    #[error(transparent)]
    RobustScale(#[from] RobustScaleError),
    /// The solve could not start.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A rank that shares the rows has failed.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// The ranks that share the rows cannot talk to each other.
    #[error(transparent)]
    Communicator(#[from] CommunicatorError),
}
