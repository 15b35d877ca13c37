//! Bessel functions of integer order: `J` and `Y` by the crate `libm`, and the modified ones.

use std::f64::consts::LN_2;

/// A kind of Bessel functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bessel {
    /// Those of the first kind.
    J,
    /// Those of the second kind.
    Y,
    /// The modified ones of the first kind.
    I,
    /// The modified ones of the second kind.
    K,
}

impl Bessel {
    pub(super) fn value(self, n: i32, x: f64) -> f64 {
        match self {
            Bessel::J => libm::jn(n, x),
            Bessel::Y => libm::yn(n, x),
            Bessel::I => first_modified(n, x),
            Bessel::K => second_modified(n, x),
        }
    }

    /// The derivative. Abramowitz and Stegun, 9.1.27 and 9.6.26.
    pub(super) fn slope(self, n: i32, x: f64) -> f64 {
        let [below, above] = [-1, 1].map(|shift| 0.5 * self.finite(n + shift, x));
        match self {
            Bessel::J | Bessel::Y => below - above,
            Bessel::I => below + above,
            Bessel::K => -below - above,
        }
    }

    /// The second derivative.
    pub(super) fn curvature(self, n: i32, x: f64) -> f64 {
        let [below, here, above] = [-2, 0, 2].map(|shift| 0.25 * self.finite(n + shift, x));
        let twice = if matches!(self, Bessel::J | Bessel::Y) { -2.0 } else { 2.0 };
        below + twice * here + above
    }

    /// The value, or the largest float where it is infinite.
    fn finite(self, n: i32, x: f64) -> f64 {
        self.value(n, x).clamp(f64::MIN, f64::MAX)
    }
}

/// `∑ qᵏ / (k! (n + 1)…(n + k))` for `q = x²/4`, which is `I_n(x)` over `(x/2)ⁿ / n!`.
fn series(n: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > f64::EPSILON * 0.1 * sum {
        term *= (0.5 * x) * (0.5 * x) / (k * (n + k));
        sum += term;
        k += 1.0;
    }
    sum
}

/// `eˣ K₀(x)` and `eˣ K₁(x)`: by their series up to one, and from there by the trapezoidal rule for the integral over
/// `exp(−x cosh t) cosh(n t)`, whose error is below rounding.
///
/// Abramowitz and Stegun, 9.6.13, 9.6.15 and 9.6.24.
fn scaled_pair(x: f64) -> [f64; 2] {
    const EULER: f64 = 0.577_215_664_901_532_9;
    if x <= 1.0 {
        let mut harmonic = LN_2 - x.ln() - EULER;
        let (mut zeroth, mut term) = (harmonic, 1.0);
        for k in 1..12 {
            let k = f64::from(k);
            term *= (0.5 * x / k) * (0.5 * x / k);
            harmonic += k.recip();
            zeroth += term * harmonic;
        }
        let first = (x.recip() - 0.5 * x * series(1.0, x) * zeroth) / series(0.0, x);
        return [zeroth, first].map(|value| value * x.exp());
    }
    let step = (0.65 / x.sqrt()).min(0.2);
    let mut sums = [0.5; 2];
    for k in 1.. {
        let sine = (0.5 * step * f64::from(k)).sinh();
        let term = (-2.0 * x * sine * sine).exp();
        if term < 1e-18 {
            break;
        }
        sums[0] += term;
        sums[1] += term * (1.0 + 2.0 * sine * sine);
    }
    sums.map(|sum| sum * step)
}

/// Returns `eˢ K_n(x)`, `eˢ K_{n+1}(x)` and `s`, by recurrence from the orders 0 and 1.
fn pair(n: u32, x: f64) -> ([f64; 2], f64) {
    let ([mut lower, mut upper], mut scale) = (scaled_pair(x), x);
    for order in 1..=n {
        (lower, upper) = (upper, lower + 2.0 * f64::from(order) / x * upper);
        if upper > 1e250 {
            let part = scale.min(256.0);
            scale -= part;
            [lower, upper] = [lower, upper].map(|value| value * (-part).exp());
        }
    }
    ([lower, upper], scale)
}

/// Returns true where `I_n(x)` overflows and `K_n(x)` underflows.
fn is_far(n: u32, x: f64) -> bool {
    x > 1500.0 + f64::from(n)
}

/// The modified Bessel function of the second kind; NaN for negative arguments.
fn second_modified(n: i32, x: f64) -> f64 {
    let n = n.unsigned_abs();
    match x {
        _ if !(x >= 0.0) => f64::NAN,
        0.0 => f64::INFINITY,
        _ if is_far(n, x) => 0.0,
        _ => {
            let ([value, _], scale) = pair(n, x);
            value * (-0.5 * scale).exp() * (-0.5 * scale).exp()
        }
    }
}

/// The modified Bessel function of the first kind: by its series, or by its ratio to the next order and the Wronskian
/// `I_n K_{n+1} + I_{n+1} K_n = 1/x`.
fn first_modified(n: i32, x: f64) -> f64 {
    let (n, size) = (n.unsigned_abs(), x.abs());
    let order = f64::from(n);
    let value = if x.is_nan() {
        x
    } else if size * size <= 4.0 * (order + 1.0) {
        (1..=n).fold(series(order, x), |product, k| product * (0.5 * size / f64::from(k)))
    } else if is_far(n, size) {
        f64::INFINITY
    } else {
        let last = (order * order + 40.0 * size).sqrt() as u32 + 10;
        let ratio = (n + 1..=last).rev().fold(0.0, |ratio, k| 1.0 / (2.0 * f64::from(k) / size + ratio));
        let ([lower, upper], scale) = pair(n, size);
        (0.5 * scale).exp() / (size * (upper + ratio * lower)) * (0.5 * scale).exp()
    };
    if n % 2 == 1 { value.copysign(x) } else { value }
}
