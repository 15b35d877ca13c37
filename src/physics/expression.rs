//! Expressions of coordinates, unknown functions and their derivatives, recorded as they are written.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::PhysicsError;
use super::equations::{Coefficient, Field};
use super::recorder::{Derivative, ExpressionNode, TermRecorder};
use crate::nn::{Function, Node, Tape, TapeError};
use crate::real::Real;

/// A number at every point of a term: a coordinate, an unknown function, a derivative, or computed from such.
///
/// Operators and methods record what they compute, and so a residual is written as the equation is: `u.t() + u * u.x() -
/// nu * u.xx()`. A fault, such as a derivative by an unknown coordinate, becomes an error of the
/// term.
///
/// An expression that depends on coordinates and known values only is computed once, when points are taken, and not in
/// every step.
#[derive(Debug)]
pub struct Expression<'a, T> {
    recorder: &'a RefCell<TermRecorder<T>>,
    kind: ExpressionNode,
}

impl<T> Clone for Expression<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Expression<'_, T> {}

/// Points of a term, the argument of the closure of [`Equations::term`](super::Equations::term), which writes the residual there.
#[derive(Debug)]
pub struct At<T> {
    pub(super) recorder: RefCell<TermRecorder<T>>,
}

impl<T: Real> At<T> {
    fn record(&self, kind: impl FnOnce(&mut TermRecorder<T>) -> ExpressionNode) -> Expression<'_, T> {
        Expression { recorder: &self.recorder, kind: kind(&mut self.recorder.borrow_mut()) }
    }

    /// A coordinate by its name.
    pub fn coordinate(&self, name: &str) -> Expression<'_, T> {
        self.record(|recorder| match recorder.column(name) {
            Some(column) => {
                let x = recorder.known_coordinates;
                recorder.of_points(|tape| tape.slice(x, column..column + 1))
            }
            None => ExpressionNode::Failed,
        })
    }

    /// Known numbers of the points by their name.
    pub fn value(&self, name: &str) -> Expression<'_, T> {
        self.record(|recorder| match recorder.values.iter().find(|(known, _)| known == name) {
            Some(&(_, node)) => ExpressionNode::Known(node),
            None => recorder.fail(|term| PhysicsError::UnknownValue { term, name: name.to_owned() }),
        })
    }

    /// An unknown function: the first, or only, output of a network.
    pub fn field(&self, field: Field) -> Expression<'_, T> {
        self.output(field, 0)
    }

    /// One of several outputs of a network, counted from 0.
    pub fn output(&self, field: Field, output: usize) -> Expression<'_, T> {
        let width = field.node.width();
        self.record(|recorder| {
            if !recorder.tape.holds(field.node) {
                recorder.fail(|term| PhysicsError::Foreign { term })
            } else if output >= width {
                let network = format!("network {}", field.index);
                recorder.fail(|term| PhysicsError::UnknownOutput { term, network, width, output })
            } else if width == 1 {
                ExpressionNode::Unknown(field.node)
            } else {
                recorder.of_unknowns(|tape| tape.slice(field.node, output..output + 1))
            }
        })
    }

    /// An unknown coefficient of the equations.
    pub fn coefficient(&self, coefficient: Coefficient) -> Expression<'_, T> {
        self.record(|recorder| ExpressionNode::Unknown(recorder.tape.variable(coefficient.variable)))
    }

    /// A number.
    pub fn constant(&self, value: T) -> Expression<'_, T> {
        self.record(|recorder| ExpressionNode::Known(recorder.known.constant(&[value])))
    }
}

impl<'a, T: Real> Expression<'a, T> {
    pub(super) fn kind(&self) -> ExpressionNode {
        self.kind
    }

    /// The expression that is recorded next.
    fn record(self, kind: impl FnOnce(&mut TermRecorder<T>) -> ExpressionNode) -> Self {
        let kind = kind(&mut self.recorder.borrow_mut());
        Expression { kind, ..self }
    }

    fn map(self, operation: impl FnOnce(&mut Tape<T>, Node) -> Result<Node, TapeError>) -> Self {
        self.record(|recorder| match self.kind {
            ExpressionNode::Known(node) => recorder.of_points(|tape| operation(tape, node)),
            ExpressionNode::Unknown(node) => recorder.of_unknowns(|tape| operation(tape, node)),
            ExpressionNode::Failed => ExpressionNode::Failed,
        })
    }

    fn with(self, other: Self, operation: impl FnOnce(&mut Tape<T>, Node, Node) -> Result<Node, TapeError>) -> Self {
        self.record(|recorder| {
            if !std::ptr::eq(self.recorder, other.recorder) {
                return recorder.fail(|term| PhysicsError::Foreign { term });
            }
            if let (ExpressionNode::Known(a), ExpressionNode::Known(b)) = (self.kind, other.kind) {
                return recorder.of_points(|tape| operation(tape, a, b));
            }
            match (recorder.unknown(self.kind), recorder.unknown(other.kind)) {
                (Some(a), Some(b)) => recorder.of_unknowns(|tape| operation(tape, a, b)),
                _ => ExpressionNode::Failed,
            }
        })
    }

    /// The derivative by the coordinate of this name. A derivative of a derivative is one of higher order.
    ///
    /// [`At::value`] has none, as its numbers are known at the points alone: an expression that contains it is refused.
    pub fn by(self, name: &str) -> Self {
        let Some(column) = self.recorder.borrow_mut().column(name) else { return self.failed() };
        self.record(|recorder| recorder.differentiate(self.kind, &Derivative::First(column)))
    }

    /// The second derivative by the coordinate of this name.
    pub fn by2(self, name: &str) -> Self {
        self.laplacian_by(&[name])
    }

    /// The sum of the second derivatives by the coordinates of these names, at the cost of one and of the first ones.
    pub fn laplacian_by(self, names: &[&str]) -> Self {
        let columns: Option<Vec<usize>> = names.iter().map(|name| self.recorder.borrow_mut().column(name)).collect();
        let Some(columns) = columns else { return self.failed() };
        self.record(|recorder| recorder.differentiate(self.kind, &Derivative::Laplacian(columns)))
    }

    /// The Laplacian: the sum of the second derivatives by all coordinates but the one called `t`.
    pub fn laplacian(self) -> Self {
        let names = self.recorder.borrow().names.clone();
        let names: Vec<&str> = names.iter().map(String::as_str).filter(|&name| name != "t").collect();
        self.laplacian_by(&names)
    }

    fn failed(self) -> Self {
        Expression { kind: ExpressionNode::Failed, ..self }
    }

    /// A smooth [`Function`] of it.
    pub fn apply(self, function: Function<T>) -> Self {
        self.map(|tape, node| Ok(tape.apply(function, node)))
    }

    /// `1 / e`.
    pub fn recip(self) -> Self {
        self.apply(Function::Reciprocal)
    }

    /// A power with a whole exponent.
    pub fn powi(self, exponent: i32) -> Self {
        if exponent < 0 {
            return self.powi(-exponent).recip();
        }
        match exponent {
            0 => self * T::ZERO + T::ONE,
            1 => self,
            even if even % 2 == 0 => self.powi(even / 2).square(),
            odd => self * self.powi(odd - 1),
        }
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident => $function:ident;)*) => {
        impl<T: Real> Expression<'_, T> {
            $($(#[$doc])* pub fn $name(self) -> Self { self.apply(Function::$function) })*
        }
    };
}

functions! {
    /// `sin e`.
    sin => Sin;
    /// `cos e`.
    cos => Cos;
    /// `exp e`.
    exp => Exp;
    /// `ln e`.
    ln => Ln;
    /// `√e`.
    sqrt => Sqrt;
    /// `e²`.
    square => Square;
    /// `tanh e`.
    tanh => Tanh;
}

macro_rules! derivatives {
    ($($name:ident: $($by:literal)+;)*) => {
        /// Derivatives by the coordinates called `t`, `x`, `y` and `z`.
        impl<T: Real> Expression<'_, T> {
            $(#[doc = concat!("The derivative by ", $("`", $by, "` ",)+ "in turn.")]
            pub fn $name(self) -> Self { self$(.by($by))+ })*
            /// The second derivative by `t`.
            pub fn tt(self) -> Self { self.by2("t") }
            /// The second derivative by `x`.
            pub fn xx(self) -> Self { self.by2("x") }
            /// The second derivative by `y`.
            pub fn yy(self) -> Self { self.by2("y") }
            /// The second derivative by `z`.
            pub fn zz(self) -> Self { self.by2("z") }
        }
    };
}

derivatives! {
    t: "t"; x: "x"; y: "y"; z: "z";
    tx: "t" "x"; ty: "t" "y"; tz: "t" "z"; xy: "x" "y"; xz: "x" "z"; yz: "y" "z";
    xxx: "x" "x" "x"; xxt: "x" "x" "t";
}

macro_rules! operators {
    ($($operator:ident $method:ident;)*) => {$(
        impl<T: Real> $operator for Expression<'_, T> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.with(other, |tape, a, b| tape.$method(a, b))
            }
        }

        impl<T: Real> $operator<T> for Expression<'_, T> {
            type Output = Self;
            fn $method(self, other: T) -> Self {
                self.map(|tape, node| {
                    let other = tape.constant(&[other]);
                    tape.$method(node, other)
                })
            }
        }

        operators!(number f32 $operator $method);
        operators!(number f64 $operator $method);
    )*};
    (number $number:ident $operator:ident $method:ident) => {
        impl<'a> $operator<Expression<'a, $number>> for $number {
            type Output = Expression<'a, $number>;
            fn $method(self, other: Expression<'a, $number>) -> Expression<'a, $number> {
                other.map(|tape, node| {
                    let this = tape.constant(&[self]);
                    tape.$method(this, node)
                })
            }
        }
    };
}

operators! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
}

impl<T: Real> Neg for Expression<'_, T> {
    type Output = Self;
    fn neg(self) -> Self {
        self.apply(Function::Negate)
    }
}

/// The residuals of a term: one expression, or several in an array or a vector.
#[derive(Debug)]
pub struct TermResiduals<'a, T>(pub(super) Vec<Expression<'a, T>>);

impl<'a, T> From<Expression<'a, T>> for TermResiduals<'a, T> {
    fn from(residual: Expression<'a, T>) -> Self {
        TermResiduals(vec![residual])
    }
}

impl<'a, T, const N: usize> From<[Expression<'a, T>; N]> for TermResiduals<'a, T> {
    fn from(residuals: [Expression<'a, T>; N]) -> Self {
        TermResiduals(residuals.into())
    }
}

impl<'a, T> From<Vec<Expression<'a, T>>> for TermResiduals<'a, T> {
    fn from(residuals: Vec<Expression<'a, T>>) -> Self {
        TermResiduals(residuals)
    }
}
