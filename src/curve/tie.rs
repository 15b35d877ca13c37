//! A parameter that follows from others.

use std::fmt;
use std::sync::Arc;

use crate::{Dual, Real};

/// Value of a tie from the values of the parameters that it depends on, and its gradient if that is asked for.
type Value<T> = dyn Fn(&[T], Option<&mut [T]>) -> T + Send + Sync;

/// How a parameter follows from others, exactly differentiated.
#[derive(Clone)]
pub struct Tie<T> {
    of: Vec<String>,
    value: Arc<Value<T>>,
}

impl<T: Real> Tie<T> {
    /// The value as a closure over dual numbers, of the parameters of these names.
    pub fn new<const N: usize>(
        of: [&str; N],
        value: impl Fn([Dual<T, N>; N]) -> Dual<T, N> + Send + Sync + 'static,
    ) -> Self {
        let value = move |at: &[T], gradient: Option<&mut [T]>| {
            let result = value(std::array::from_fn(|k| Dual::variable(at[k], k)));
            if let Some(gradient) = gradient {
                gradient.copy_from_slice(&result.gradient);
            }
            result.value
        };
        Tie { of: of.map(String::from).to_vec(), value: Arc::new(value) }
    }

    /// The same, of parameters that are called otherwise.
    pub(super) fn renamed(&self, rename: impl Fn(&str) -> String) -> Self {
        Tie { of: self.of.iter().map(|name| rename(name)).collect(), value: Arc::clone(&self.value) }
    }

    /// The parameters that it depends on.
    pub fn of(&self) -> &[String] {
        &self.of
    }

    /// The value, and the gradient if it is asked for.
    pub fn value(&self, at: &[T], gradient: Option<&mut [T]>) -> T {
        (self.value)(at, gradient)
    }
}

impl<T> fmt::Debug for Tie<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tie").field("of", &self.of).finish_non_exhaustive()
    }
}
