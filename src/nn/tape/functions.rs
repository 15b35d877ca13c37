//! Functions of every entry of a node, by name.

use super::{Node, Operation, Tape};
use crate::nn::Function;
use crate::real::Real;

impl<T: Real> Tape<T> {
    /// A function of every entry.
    pub fn apply(&mut self, function: Function<T>, x: Node) -> Node {
        self.record(Operation::Apply { function, x }, x.shape())
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident)?) => $function:expr;)*) => {
        impl<T: Real> Tape<T> {
            $(
                $(#[$doc])*
                pub fn $name(&mut self, x: Node $(, $argument: T)?) -> Node {
                    self.apply($function, x)
                }
            )*
        }
    };
}

functions! {
    /// `tanh x`.
    tanh() => Function::Tanh;
    /// `1 / (1 + e⁻ˣ)`.
    sigmoid() => Function::Sigmoid;
    /// `max(x, 0)`.
    relu() => Function::Relu;
    /// `x` where positive, else `slope · x`.
    leaky_relu(slope) => Function::LeakyRelu { slope };
    /// `x` where positive, else `alpha (eˣ − 1)`.
    elu(alpha) => Function::Elu { alpha };
    /// `ln(1 + eˣ)`.
    softplus() => Function::Softplus;
    /// `x · sigmoid(x)`.
    silu() => Function::Silu;
    /// `x Φ(x)`, with the normal distribution function `Φ`.
    gelu() => Function::Gelu;
    /// `sin x`.
    sin() => Function::Sin;
    /// `cos x`.
    cos() => Function::Cos;
    /// `eˣ`.
    exp() => Function::Exp;
    /// `ln x`.
    ln() => Function::Ln;
    /// `x²`.
    square() => Function::Square;
    /// `√x`.
    sqrt() => Function::Sqrt;
    /// `1 / x`.
    reciprocal() => Function::Reciprocal;
    /// `|x|`.
    abs() => Function::Abs;
    /// `−x`.
    negate() => Function::Negate;
    /// `factor · x`.
    scale(factor) => Function::Scale { factor };
    /// `x + offset`.
    shift(offset) => Function::Shift { offset };
}
