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

    /// The derivative of a scalar `f` with respect to `x[j]`, where `here` is `f(x)`; `x` comes back unchanged.
    ///
    /// ```
    /// use marquardt::Difference;
    ///
    /// let f = |x: &[f64]| x[0] * x[1].sin();
    /// let mut x = [2.0, 0.5];
    /// let here = f(&x);
    /// let slope = Difference::Central.derivative(&mut x, 1, here, f);
    /// assert!((slope - 2.0 * 0.5_f64.cos()).abs() < 1e-9);
    /// ```
    pub fn derivative<T: Real>(self, x: &mut [T], j: usize, here: T, mut f: impl FnMut(&[T]) -> T) -> T {
        let center = x[j];
        let mut at = |x: &mut [T], moved: T| {
            x[j] = moved;
            let value = f(x);
            x[j] = center;
            (moved, value)
        };
        let step = self.step(center);
        let (right, ahead) = at(x, center + step);
        let (left, behind) = match self {
            Difference::Forward => (center, here),
            Difference::Central => at(x, center - step),
        };
        (ahead - behind) / (right - left)
    }
}
