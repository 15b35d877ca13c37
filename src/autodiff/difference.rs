//! Finite differences.

use crate::kernels::vector::safe_norm;
use crate::real::Real;

/// A column of differences is resolved if rounding errors of the residuals change the cosine with them by at most `ε` to this power.
const RESOLVED: f64 = 0.41;

/// Longest step of a further stencil. With it, rounding errors of the residuals are small enough in the slopes for a solver to tell them
/// from influence.
const LONGEST: f64 = 1e-2;

/// Steps are at least the start of a variable, or one if that is less, times the relative accuracy to this power: far above rounding errors beside the start, and far
/// below variables that are 10⁻¹⁰ of it.
const LEAST_STEP: f64 = 0.8;

/// Slopes agree where they differ by up to this many rounding errors of the residual.
const AGREES: f64 = 16.0;

/// Difference quotient that approximates a derivative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Difference {
    /// `(f(x + h) − f(x)) / h` with `h = √ε |x|`: one evaluation for each parameter, about half of the digits.
    Forward,
    /// `(f(x + h) − f(x − h)) / 2h` with `h = ∛ε |x|`: two evaluations for each parameter, about two thirds of the digits.
    #[default]
    Central,
}

impl Difference {
    /// Step that balances truncation and rounding errors for a variable of size `x` (Dennis & Schnabel 1983, §5.4). It has the sign of `x`;
    /// for `x = 0` it is the step for `x = 1`.
    pub fn step<T: Real>(self, x: T) -> T {
        self.step_of(&Variable::new(x))
    }

    fn step_of<T: Real>(self, variable: &Variable<T>) -> T {
        let &Variable { value, least_size, least_step, accuracy, .. } = variable;
        let size = value.abs().max(least_size);
        let size = if size == T::ZERO { T::ONE } else { size };
        let step = (self.relative_step(accuracy) * size).max(least_step);
        if value < T::ZERO { -step } else { step }
    }

    /// The step relative to the size of a variable, for a function of this relative accuracy.
    fn relative_step<T: Real>(self, accuracy: T) -> T {
        match self {
            Difference::Forward => accuracy.sqrt(),
            Difference::Central => accuracy.cbrt(),
        }
    }

    /// The derivative of a scalar `f` with respect to `x[j]`, where `here` is `f(x)`; `x` comes back unchanged.
    ///
    /// ```
    /// use marquardt::autodiff::Difference;
    ///
    /// let f = |x: &[f64]| x[0] * x[1].sin();
    /// let mut x = [2.0, 0.5];
    /// let here = f(&x);
    /// let slope = Difference::Central.derivative(&mut x, 1, here, f);
    /// assert!((slope - 2.0 * 0.5_f64.cos()).abs() < 1e-9);
    /// ```
    pub fn derivative<T: Real>(self, x: &mut [T], j: usize, here: T, f: impl FnMut(&[T]) -> T) -> T {
        self.derivative_within(x, j, here, -T::INFINITY, T::INFINITY, f)
    }

    /// Approximates [`derivative`](Self::derivative) with evaluations of `f` at `lower ≤ x[j] ≤ upper` only. If a bound leaves no room on
    /// one side, a central difference is replaced by the parabola through two points on the other side, of the same order. If there is no
    /// room on either side, the derivative is 0.
    ///
    /// ```
    /// use marquardt::autodiff::Difference;
    ///
    /// let root = |x: &[f64]| x[0].sqrt() + x[0] * x[0];
    /// let slope = Difference::Central.derivative_within(&mut [1.0], 0, 2.0, 1.0, 2.0, |x| {
    ///     assert!(1.0 <= x[0] && x[0] <= 2.0);
    ///     root(x)
    /// });
    /// assert!((slope - 2.5).abs() < 1e-9);
    /// ```
    pub fn derivative_within<T: Real>(
        self,
        x: &mut [T],
        j: usize,
        here: T,
        lower: T,
        upper: T,
        mut f: impl FnMut(&[T]) -> T,
    ) -> T {
        let center = x[j];
        let mut at = |point: Option<T>| {
            let value = point.map(|point| {
                x[j] = point;
                f(x)
            });
            x[j] = center;
            value.unwrap_or(here)
        };
        let stencil = self.stencil(center, lower, upper);
        let [first, second] = stencil.points().map(&mut at);
        stencil.slope(center, here, first, second)
    }

    /// Derivatives of a function of this relative accuracy have no more than half of the digits of the float.
    pub(crate) fn is_rough<T: Real>(self, accuracy: T) -> bool {
        let error = match self {
            Difference::Forward => accuracy.sqrt(),
            Difference::Central => accuracy.cbrt() * accuracy.cbrt(),
        };
        error >= T::EPSILON.sqrt()
    }

    /// Returns the points within `lower..=upper` from which the derivative at `x` is taken.
    pub(crate) fn stencil<T: Real>(self, x: T, lower: T, upper: T) -> Stencil<T> {
        self.stencil_of(&Variable { bounds: (lower, upper), ..Variable::new(x) })
    }

    /// Returns the points from which the derivative by a variable is taken.
    pub(crate) fn stencil_of<T: Real>(self, variable: &Variable<T>) -> Stencil<T> {
        self.stencil_by(self.step_of(variable), variable)
    }

    /// Fills the column of a variable in a Jacobian of residuals `r` with the differences that `fill` computes for a stencil. The matrix is
    /// given by its entries, the first entry of the column, and the stride to the next.
    ///
    /// A step in proportion to a small variable may change the residuals by less than their rounding. Where that could hide a gradient,
    /// slopes are taken from further away, at most by 0.01, as far as they agree with those from nearby.
    pub(crate) fn fill_column<T: Real, E>(
        self,
        variable: &Variable<T>,
        r: &[T],
        (numbers, first, stride): (&mut [T], usize, usize),
        mut fill: impl FnMut(Stencil<T>, &mut [T]) -> Result<(), E>,
    ) -> Result<(), E> {
        fill(self.stencil_of(variable), numbers)?;
        let column = numbers.iter().skip(first).step_by(stride).copied();
        let (size, slope) = (safe_norm(r.iter().copied()), safe_norm(column.clone()));
        let further = self.further_stencil(variable, size, slope);
        let Some(further) = further else { return Ok(()) };
        let nearby: Vec<T> = column.collect();
        let outcome = fill(further, numbers);
        let typical = typical(size, r.len());
        for ((slope, nearby), &r) in numbers.iter_mut().skip(first).step_by(stride).zip(nearby).zip(r) {
            if outcome.is_err() || !self.agrees(variable, typical.max(r.abs()), nearby, *slope) {
                *slope = nearby;
            }
        }
        Ok(())
    }

    /// A stencil from further away, where residuals of this size and a column of slopes of this size leave a gradient unresolved.
    pub(crate) fn further_stencil<T: Real>(
        self,
        variable: &Variable<T>,
        residuals: T,
        slopes: T,
    ) -> Option<Stencil<T>> {
        let (step, longest) = (self.step_of(variable).abs(), T::from_f64(LONGEST));
        let resolved = variable.accuracy * residuals / step / T::EPSILON.powf(T::from_f64(RESOLVED));
        if step >= longest || slopes >= resolved {
            return None;
        }
        let further = longest.min(step * (resolved / slopes));
        Some(self.stencil_by(if variable.value < T::ZERO { -further } else { further }, variable))
    }

    /// Returns true if the slope of a residual `r` by the further stencil agrees with the nearby one to within its rounding error.
    pub(crate) fn agrees<T: Real>(self, variable: &Variable<T>, r: T, nearby: T, further: T) -> bool {
        (further - nearby).abs() <= T::from_f64(AGREES) * variable.accuracy * r.abs() / self.step_of(variable).abs()
    }

    fn stencil_by<T: Real>(self, step: T, variable: &Variable<T>) -> Stencil<T> {
        let &Variable { value: x, bounds: (lower, upper), .. } = variable;
        let is_within = |point: T| lower <= point && point <= upper;
        let (ahead, behind) = (x + step, x - step);
        if self == Difference::Forward && (is_within(ahead) || is_within(behind)) {
            return Stencil::Aside(if is_within(ahead) { ahead } else { behind });
        }
        if is_within(ahead) && is_within(behind) {
            return Stencil::Around(ahead, behind);
        }
        let (down, up) = (x - lower, upper - x);
        let room = if up >= down { up } else { down };
        if room <= T::ZERO {
            return Stencil::Nowhere;
        }
        let along = |length: T| if up >= down { (x + length).min(upper) } else { (x - length).max(lower) };
        let half = T::from_f64(0.5);
        match self {
            Difference::Forward => Stencil::Aside(along(room)),
            Difference::Central => {
                let reach = (step.abs() + step.abs()).min(room);
                Stencil::Parabola(along(half * reach), along(reach))
            }
        }
    }
}

/// A variable by which residuals are differenced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variable<T> {
    pub(crate) value: T,
    /// Least size to which steps are in proportion; steps are those of 1 where this and the value are zero.
    pub(crate) least_size: T,
    /// Length below which no step is.
    pub(crate) least_step: T,
    /// Least and largest value at which residuals are evaluated.
    pub(crate) bounds: (T, T),
    /// Relative accuracy of the residuals.
    pub(crate) accuracy: T,
}

impl<T: Real> Variable<T> {
    /// A free variable of any size, of residuals that are accurate to the last digit.
    pub(crate) fn new(value: T) -> Self {
        let bounds = (-T::INFINITY, T::INFINITY);
        Variable { value, least_size: T::ZERO, least_step: T::ZERO, bounds, accuracy: T::EPSILON }
    }

    /// Least step by a variable whose size is known by its start alone. A variable that has become zero but for rounding then has a slope of
    /// some digits, and one that has become small is small beside no step. A start above one may be far too large, and counts as one.
    pub(crate) fn least_step(start: T, accuracy: T) -> T {
        let size = if start == T::ZERO { T::ONE } else { start.abs().min(T::ONE) };
        size * accuracy.powf(T::from_f64(LEAST_STEP))
    }

    /// Sets the bounds of some variables.
    pub(crate) fn bound_all(variables: &mut [Self], lower: &[T], upper: &[T]) {
        for (variable, bounds) in variables.iter_mut().zip(lower.iter().copied().zip(upper.iter().copied())) {
            variable.bounds = bounds;
        }
    }

    /// Sets the least steps by some variables, by where a fit starts.
    pub(crate) fn start_all(variables: &mut [Self], start: &[T], accuracy: T) {
        for (variable, &start) in variables.iter_mut().zip(start) {
            variable.least_step = Variable::least_step(start, accuracy);
        }
    }
}

/// Root mean square of `count` residuals of this norm. A single residual may be smaller than the terms that cancel in it.
pub(crate) fn typical<T: Real>(size: T, count: usize) -> T {
    size / T::from_f64(count as f64).sqrt()
}

/// The points of a difference quotient, besides the point of the derivative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stencil<T> {
    /// No point within the bounds.
    Nowhere,
    /// One point on one side.
    Aside(T),
    /// One point on each side, at equal distances.
    Around(T, T),
    /// Two points on the same side.
    Parabola(T, T),
}

impl<T: Real> Stencil<T> {
    /// Points at which the function is evaluated.
    pub(crate) fn points(self) -> [Option<T>; 2] {
        match self {
            Stencil::Nowhere => [None, None],
            Stencil::Aside(first) => [Some(first), None],
            Stencil::Around(first, second) | Stencil::Parabola(first, second) => [Some(first), Some(second)],
        }
    }

    /// The derivative at `x` of a function with these values there and at the points.
    pub(crate) fn slope(self, x: T, here: T, first: T, second: T) -> T {
        match self {
            Stencil::Nowhere => T::ZERO,
            Stencil::Aside(a) => (first - here) / (a - x),
            Stencil::Around(a, b) => (first - second) / (a - b),
            Stencil::Parabola(a, b) => {
                let (near, far) = (a - x, b - x);
                ((first - here) * (far / near) - (second - here) * (near / far)) / (far - near)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes that leave room on both sides, on one, on hardly any, and on none.
    #[test]
    fn derivatives_are_taken_from_within() {
        let f = |x: f64| x.exp() * x;
        for x in [0.0, 1.0, -2.0] {
            for (down, up, digits) in
                [(9.0, 9.0, 8), (0.0, 9.0, 8), (9.0, 0.0, 8), (1e-6, 9.0, 8), (1e-7, 1e-6, 7), (0.0, 1e-7, 6)]
            {
                for (difference, digits) in [(Difference::Central, digits), (Difference::Forward, 6)] {
                    let (lower, upper) = (x - down, x + up);
                    let within = |x: &[f64]| {
                        assert!(lower <= x[0] && x[0] <= upper, "{} is not in {lower}..={upper}", x[0]);
                        f(x[0])
                    };
                    let mut point = [x];
                    let slope = difference.derivative_within(&mut point, 0, f(x), lower, upper, within);
                    let error = (slope - x.exp() * (1.0 + x)).abs();
                    assert!(error < 10_f64.powi(-digits), "{difference:?}, {x}: {lower}..={upper}, {error:e}");
                    assert_eq!(point, [x]);
                }
            }
            let nowhere =
                Difference::Central.derivative_within(&mut [x], 0, f(x), x, x, |_| panic!("there is no room"));
            assert_eq!(nowhere, 0.0);
        }
    }
}
