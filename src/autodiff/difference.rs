//! Finite differences.

use crate::Real;

/// How a derivative is taken from function values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Difference {
    /// `(f(x + h) − f(x)) / h` with `h = √ε |x|`: one evaluation a parameter, about half the digits.
    Forward,
    /// `(f(x + h) − f(x − h)) / 2h` with `h = ∛ε |x|`: two evaluations a parameter, about two thirds of the digits.
    #[default]
    Central,
}

impl Difference {
    /// The step that balances truncation against rounding for a variable of size `x` (Dennis & Schnabel 1983, §5.4);
    /// its sign is `x`'s, and at zero it is the step of `x = 1`.
    pub fn step<T: Real>(self, x: T) -> T {
        let relative = match self {
            Difference::Forward => T::EPSILON.sqrt(),
            Difference::Central => T::EPSILON.cbrt(),
        };
        if x == T::ZERO { relative } else { relative * x }
    }
}
