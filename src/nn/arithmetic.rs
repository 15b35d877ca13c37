//! Arithmetic between two nodes, entry by entry.

use crate::real::Real;

/// An operation on two entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
}

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operand {
    Left,
    Right,
}

impl Arithmetic {
    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Arithmetic::Add => "add",
            Arithmetic::Sub => "sub",
            Arithmetic::Mul => "mul",
            Arithmetic::Div => "div",
        }
    }

    /// `y = a ∘ b`.
    pub(crate) fn forward<T: Real>(self, a: &[T], b: &[T], y: &mut [T]) {
        let pairs = a.iter().zip(b);
        match self {
            Arithmetic::Add => put(y, false, pairs.map(|(&a, &b)| a + b)),
            Arithmetic::Sub => put(y, false, pairs.map(|(&a, &b)| a - b)),
            Arithmetic::Mul => put(y, false, pairs.map(|(&a, &b)| a * b)),
            Arithmetic::Div => put(y, false, pairs.map(|(&a, &b)| a / b)),
        }
    }

    /// `d` times the derivative of `y = a ∘ b` by one side, overwriting `to` or added to it. Serves the reverse and the tangent
    /// sweep.
    #[expect(clippy::too_many_arguments, reason = "an operation, its two sides, what goes in and what comes out")]
    pub(crate) fn times_derivative<T: Real>(
        self,
        side: Operand,
        a: &[T],
        b: &[T],
        y: &[T],
        d: &[T],
        to: &mut [T],
        add: bool,
    ) {
        let d = d.iter();
        match (self, side) {
            (Arithmetic::Add, _) | (Arithmetic::Sub, Operand::Left) => put(to, add, d.copied()),
            (Arithmetic::Sub, Operand::Right) => put(to, add, d.map(|&d| -d)),
            (Arithmetic::Mul, Operand::Left) => put(to, add, d.zip(b).map(|(&d, &b)| d * b)),
            (Arithmetic::Mul, Operand::Right) => put(to, add, d.zip(a).map(|(&d, &a)| d * a)),
            (Arithmetic::Div, Operand::Left) => put(to, add, d.zip(b).map(|(&d, &b)| d / b)),
            (Arithmetic::Div, Operand::Right) => put(to, add, d.zip(y).zip(b).map(|((&d, &y), &b)| -(d * y / b))),
        }
    }
}

/// Overwrites `to` with entries, or adds them to it.
#[inline(always)]
pub(crate) fn put<T: Real>(to: &mut [T], add: bool, numbers: impl Iterator<Item = T>) {
    if add {
        for (to, number) in to.iter_mut().zip(numbers) {
            *to += number;
        }
    } else {
        for (to, number) in to.iter_mut().zip(numbers) {
            *to = number;
        }
    }
}
