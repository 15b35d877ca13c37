//! Functions of every entry, by name: of a node of a tape, and as a layer.

use super::{Function, Node, Sequential, Tape};
use crate::real::Real;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident => $variant:ident $({ $argument:ident })?;)*) => {
        impl<T: Real> Function<T> {
            /// The function's name in snake case, such as `leaky_relu`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Function::$variant $({ $argument: _ })? => stringify!($name),)*
                }
            }
        }

        impl<T: Real> Tape<T> {
            $(
                $(#[$doc])*
                pub fn $name(&mut self, x: Node $(, $argument: T)?) -> Node {
                    self.apply(Function::$variant $({ $argument })?, x)
                }
            )*
        }

        impl<T: Real> Sequential<T> {
            $(
                $(#[$doc])*
                pub fn $name(self $(, $argument: T)?) -> Self {
                    self.apply(Function::$variant $({ $argument })?)
                }
            )*
        }
    };
}

functions! {
    /// `tanh x`.
    tanh => Tanh;
    /// `1 / (1 + e⁻ˣ)`.
    sigmoid => Sigmoid;
    /// `max(x, 0)`.
    relu => Relu;
    /// `x` where positive, else `slope · x`.
    leaky_relu => LeakyRelu { slope };
    /// `x` where positive, else `alpha (eˣ − 1)`.
    elu => Elu { alpha };
    /// `ln(1 + eˣ)`.
    softplus => Softplus;
    /// `x · sigmoid(x)`.
    silu => Silu;
    /// `x Φ(x)`, with the normal distribution function `Φ`.
    gelu => Gelu;
    /// An approximation of [`gelu`](Self::gelu) by `tanh`.
    gelu_tanh => GeluTanh;
    /// `sin x`.
    sin => Sin;
    /// `cos x`.
    cos => Cos;
    /// `eˣ`.
    exp => Exp;
    /// `ln x`.
    ln => Ln;
    /// `x²`.
    square => Square;
    /// `√x`.
    sqrt => Sqrt;
    /// `1 / x`.
    reciprocal => Reciprocal;
    /// `|x|`.
    abs => Abs;
    /// `−x`.
    negate => Negate;
    /// `factor · x`.
    scale => Scale { factor };
    /// `x + offset`.
    shift => Shift { offset };
    /// `1` where `x` differs from `value`, else `0`; the derivative is zero.
    not_equal => NotEqual { value };
}
