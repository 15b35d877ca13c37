//! Functions that act on every number by itself.

use crate::{Real, Scalar};

/// A function of one number, applied to every number of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Function<T> {
    /// `tanh x`.
    Tanh,
    /// `1 / (1 + e⁻ˣ)`.
    Sigmoid,
    /// `max(x, 0)`.
    Relu,
    /// `x` where positive, else `slope · x`.
    LeakyRelu {
        /// The slope of the negative side.
        slope: T,
    },
    /// `x` where positive, else `alpha (eˣ − 1)`.
    Elu {
        /// The limit of the negative side, without its sign.
        alpha: T,
    },
    /// `ln(1 + eˣ)`.
    Softplus,
    /// `x · sigmoid(x)`.
    Silu,
    /// `x Φ(x)`, with the normal distribution function `Φ`.
    Gelu,
    /// [`Gelu`](Self::Gelu) with the approximation by `tanh`.
    GeluTanh,
    /// `sin x`.
    Sin,
    /// `cos x`.
    Cos,
    /// `eˣ`.
    Exp,
    /// `ln x`.
    Ln,
    /// `x²`.
    Square,
    /// `√x`.
    Sqrt,
    /// `1 / x`.
    Reciprocal,
    /// `|x|`.
    Abs,
    /// `−x`.
    Negate,
    /// `factor · x`.
    Scale {
        /// The factor.
        factor: T,
    },
    /// `x + offset`.
    Shift {
        /// What is added.
        offset: T,
    },
}

impl<T: Real> Function<T> {
    /// `y[i] = f(x[i])`.
    pub(crate) fn forward(self, x: &[T], y: &mut [T]) {
        let _ = (x, y);
        todo!("written next")
    }

    /// `d[i] *= f′(x[i])`, given `y[i] = f(x[i])`. Serves the reverse and the tangent sweep.
    pub(crate) fn times_derivative(self, x: &[T], y: &[T], d: &mut [T]) {
        let _ = (x, y, d);
        todo!("written next")
    }
}
