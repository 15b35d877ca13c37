//! The error that ends a fit.

use std::error::Error;
use std::fmt;

/// Result of an evaluation, which fills its output arguments or returns a value.
pub type Evaluated<T = ()> = Result<T, EvaluationError>;

/// Error of a residual function that could not be evaluated; it ends the fit.
///
/// Made from a message or from any error:
///
/// ```
/// use marquardt::EvaluationError;
///
/// let from_message = EvaluationError::from("the simulator is not running");
/// let from_error = EvaluationError::new("abc".parse::<f64>().unwrap_err());
/// assert_eq!(from_message.to_string(), "the simulator is not running");
/// assert_eq!(from_error.to_string(), "invalid float literal");
/// ```
pub struct EvaluationError(Box<dyn Error + Send + Sync>);

impl EvaluationError {
    /// Wraps the error that stopped the evaluation.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        EvaluationError(error.into())
    }

    /// The error inside, if it is of this type.
    ///
    /// ```
    /// use marquardt::EvaluationError;
    ///
    /// let error = EvaluationError::new("abc".parse::<f64>().unwrap_err());
    /// assert!(error.downcast_ref::<std::num::ParseFloatError>().is_some());
    /// ```
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }

    /// The error that stopped the evaluation, if it is of this type; otherwise the evaluation's error again.
    ///
    /// # Errors
    ///
    /// This error, where another type of error stopped the evaluation.
    pub fn downcast<E: Error + 'static>(self) -> Result<E, Self> {
        self.0.downcast().map(|error| *error).map_err(EvaluationError)
    }
}

impl From<&str> for EvaluationError {
    fn from(message: &str) -> Self {
        EvaluationError(message.into())
    }
}

impl From<String> for EvaluationError {
    fn from(message: String) -> Self {
        EvaluationError(message.into())
    }
}

impl fmt::Debug for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for EvaluationError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
