//! Regularised incomplete gamma and beta functions, with their derivatives by the shape parameters.
//!
//! The smaller tail is an integral of a density over `(0, ∞)`, relative to its value at the argument. The integrand is positive, and the
//! trapezoidal rule after a double exponential substitution has all digits for any parameters. Derivatives by the parameters are
//! moments of the integrand.

use std::f64::consts::TAU;

use super::{BERNOULLI, FAR, digamma_of_float, trigamma_of_float};

/// An incomplete function, of its shape parameters and its variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Incomplete {
    /// The lower incomplete gamma function of `a` and `x`.
    LowerGamma,
    /// The upper incomplete gamma function of `a` and `x`.
    UpperGamma,
    /// The incomplete beta function of `a`, `b` and `x`.
    Beta,
}

impl Incomplete {
    /// The number of shape parameters.
    pub(super) fn shapes(self) -> usize {
        if self == Incomplete::Beta { 2 } else { 1 }
    }

    pub(super) fn value(self, at: [f64; 3]) -> f64 {
        self.tails(at).lower
    }

    /// The derivative by argument number `k`.
    pub(super) fn slope(self, k: usize, at: [f64; 3]) -> f64 {
        if k < self.shapes() { self.tails(at).first[k] } else { self.density(at).0 }
    }

    /// The second derivative by arguments number `k` and `l`.
    pub(super) fn curvature(self, k: usize, l: usize, at: [f64; 3]) -> f64 {
        if k.max(l) < self.shapes() {
            return self.tails(at).second[k][l];
        }
        let (density, slopes) = self.density(at);
        if density == 0.0 { 0.0 } else { density * slopes[k.min(l)] }
    }

    fn tails(self, [a, b, c]: [f64; 3]) -> Tails {
        match self {
            Incomplete::LowerGamma => gamma(a, b),
            Incomplete::UpperGamma => gamma(a, b).reversed(),
            Incomplete::Beta => beta(a, b, c),
        }
    }

    /// The derivative by the variable, and those of its logarithm by all arguments. At an end of the domain, those close to it.
    fn density(self, [a, b, c]: [f64; 3]) -> (f64, [f64; 3]) {
        let (a, inside) = (bounded(a), |distance: f64| distance.max(f64::MIN_POSITIVE));
        if self == Incomplete::Beta {
            let (b, x, y) = (bounded(b), inside(c), inside(1.0 - c));
            let (factor, [by_a, by_b]) = beta_factor([a, b], [x, y]);
            return (factor / x / y, [by_a, by_b, (a - 1.0) / x - (b - 1.0) / y]);
        }
        let x = inside(b);
        let (factor, [by_a, _]) = gamma_factor(a, x);
        let sign = if self == Incomplete::UpperGamma { -1.0 } else { 1.0 };
        (sign * factor / x, [by_a, (a - 1.0) / x - 1.0, 0.0])
    }
}

/// Values of both tails, and the derivatives of the lower one by the shape parameters.
struct Tails {
    lower: f64,
    upper: f64,
    first: [f64; 2],
    second: [[f64; 2]; 2],
}

impl Tails {
    const EMPTY: Tails = Tails { lower: 0.0, upper: 1.0, first: [0.0; 2], second: [[0.0; 2]; 2] };

    fn undefined() -> Self {
        Tails { lower: f64::NAN, upper: f64::NAN, first: [f64::NAN; 2], second: [[f64::NAN; 2]; 2] }
    }

    /// Upper and lower tail exchanged.
    fn reversed(self) -> Self {
        let Tails { lower, upper, first, second } = self;
        Tails { lower: upper, upper: lower, first: first.map(|d| -d), second: second.map(|row| row.map(|d| -d)) }
    }

    /// The other order of the parameters.
    fn exchanged(self) -> Self {
        let ([a, b], [[aa, ab], [_, bb]]) = (self.first, self.second);
        Tails { first: [b, a], second: [[bb, ab], [ab, aa]], ..self }
    }

    /// The lower tail `factor ∫₀^∞ eᶠ dz`. `term` returns `f` at `z` and its derivatives by the parameters, in which it is linear;
    /// `first` and `second` are the derivatives of the logarithm of the factor, and `scale` is where `f` is about −1.
    fn integral(
        factor: f64,
        [first, second @ ..]: [[f64; 2]; 3],
        scale: f64,
        term: impl Fn(f64) -> (f64, [f64; 2]),
    ) -> Self {
        const STEP: f64 = 0.125;
        let (mut sum, mut means, mut products) = (0.0, [0.0; 2], [[0.0; 2]; 2]);
        let mut add = |t: f64| {
            let e = (-t).exp();
            let z = scale * (t - e).exp();
            let (exponent, slopes) = term(z);
            let weight = z * (1.0 + e) * exponent.exp();
            let counts = weight > 1e-18 * sum;
            if counts {
                sum += weight;
                for k in 0..2 {
                    means[k] += weight * slopes[k];
                    (0..2).for_each(|l| products[k][l] += weight * slopes[k] * slopes[l]);
                }
            }
            counts
        };
        (0..).find(|&k| !add(STEP * f64::from(k)));
        (1..).find(|&k| !add(-STEP * f64::from(k)));
        let lower = factor * STEP * sum;
        if lower == 0.0 {
            return Tails::EMPTY;
        }
        let means = means.map(|mean| mean / sum);
        let total = [0, 1].map(|k| first[k] + means[k]);
        let of_logarithm = |k: usize, l: usize| second[k][l] + products[k][l] / sum - means[k] * means[l];
        Tails {
            lower,
            upper: 1.0 - lower,
            first: total.map(|d| lower * d),
            second: [0, 1].map(|k| [0, 1].map(|l| lower * (total[k] * total[l] + of_logarithm(k, l)))),
        }
    }

    /// Returns the complement of the other tail if this one exceeds 3/4, where its derivatives cancel. For the smallest `x`, ratios to `x`
    /// overflow in the other tail.
    fn or(self, x: f64, other: impl FnOnce() -> Self) -> Self {
        if self.lower > 0.75 && x > 1e-290 { other().reversed() } else { self }
    }
}

/// Distance from zero up to which `μ − ln(1 + μ)` has a series.
const NEAR: f64 = 0.3;

/// `μ − ln(1 + μ)`, given the logarithm.
fn excess(m: f64, logarithm: f64) -> f64 {
    if m.abs() > NEAR {
        return m - logarithm;
    }
    let t = m / (2.0 + m);
    let series = (1..11).rev().fold(0.0, |series, k| series * t * t + f64::from(2 * k + 1).recip());
    m * t - 2.0 * t * t * t * series
}

/// The logarithm of a ratio that is `1 + m`.
fn logarithm(ratio: f64, m: f64) -> f64 {
    if m.abs() > NEAR { ratio.min(1e300).ln() } else { m.ln_1p() }
}

/// The logarithm of `Γ(z)` over Stirling's `√(2π/z) (z/e)ᶻ`.
fn stirling(z: f64) -> f64 {
    if z < FAR {
        return libm::lgamma(z) - (z - 0.5) * z.ln() + z - 0.5 * TAU.ln();
    }
    let squared = z.recip() * z.recip();
    let term = |k: usize| BERNOULLI[k] / ((2 * k + 1) * (2 * k + 2)) as f64;
    (0..7).rev().fold(0.0, |series, k| series * squared + term(k)) / z
}

/// `ln z − ψ(z)`.
fn below_logarithm(z: f64) -> f64 {
    if z < FAR {
        return z.ln() - digamma_of_float(z);
    }
    let squared = z.recip() * z.recip();
    0.5 / z + (0..7).rev().fold(0.0, |series, k| (series + BERNOULLI[k] / (2 * k + 2) as f64) * squared)
}

/// A shape parameter within the range of which no ratio overflows.
fn bounded(shape: f64) -> f64 {
    shape.clamp(1e-150, 1e300)
}

/// The incomplete gamma function of shape `a`: both tails and, as the first parameter's, the derivatives by `a`.
fn gamma(a: f64, x: f64) -> Tails {
    if !(a >= 0.0 && x >= 0.0) {
        return Tails::undefined();
    }
    if x == 0.0 {
        return Tails::EMPTY;
    }
    let a = bounded(a);
    if x == f64::INFINITY {
        return Tails::EMPTY.reversed();
    }
    let (factor, first) = gamma_factor(a, x);
    let logarithm_of_factor = [first, [-trigamma_of_float(a), 0.0], [0.0; 2]];
    // At t = x exp(−z), and at t = x (1 + v).
    let lower = || {
        let beyond = a - x;
        Tails::integral(factor, logarithm_of_factor, (beyond + x.sqrt()).recip(), |z| {
            let w = -(-z).exp_m1();
            let exponent = if w < NEAR { -beyond * w - a * excess(-w, -z) } else { x * w - a * z };
            (exponent, [-z, 0.0])
        })
    };
    let upper = || {
        let beyond = x - a + 1.0;
        Tails::integral(factor, logarithm_of_factor, (beyond + (a - 1.0).abs().sqrt()).recip(), |v| {
            let log = v.ln_1p();
            let exponent = if v < NEAR { -beyond * v - (a - 1.0) * excess(v, log) } else { (a - 1.0) * log - x * v };
            (exponent, [log, 0.0])
        })
    };
    if x < a { lower().or(x, upper) } else { upper().or(x, lower).reversed() }
}

/// `xᵃ exp(−x) / Γ(a)`, and the derivatives of its logarithm by the parameters.
fn gamma_factor(a: f64, x: f64) -> (f64, [f64; 2]) {
    let m = ((x - a) / a).min(1e300);
    let log = logarithm(x / a, m);
    let factor = (a / TAU).sqrt() * (-a * excess(m, log) - stirling(a)).exp();
    (factor, [log + below_logarithm(a), 0.0])
}

/// The incomplete beta function of shapes `a` and `b`.
fn beta(a: f64, b: f64, x: f64) -> Tails {
    if !(a >= 0.0 && b >= 0.0 && (0.0..=1.0).contains(&x)) {
        return Tails::undefined();
    }
    let (a, b) = (bounded(a), bounded(b));
    match x {
        0.0 => return Tails::EMPTY,
        1.0 => return Tails::EMPTY.reversed(),
        _ => {}
    }
    let y = 1.0 - x;
    let (lower, upper) = (|| beta_tail([a, b], [x, y]), || beta_tail([b, a], [y, x]).exchanged());
    if x * b < y * a { lower().or(x, upper) } else { upper().or(x, lower).reversed() }
}

/// The integral from zero to `x`, for `y = 1 − x`.
fn beta_tail([a, b]: [f64; 2], [x, y]: [f64; 2]) -> Tails {
    let (factor, first) = beta_factor([a, b], [x, y]);
    let [of_a, of_b, of_sum] = [a, b, a + b].map(trigamma_of_float);
    let logarithm_of_factor = [first, [of_sum - of_a, of_sum], [of_sum, of_sum - of_b]];
    let ratio = (x / y).min(1e300);
    let beyond = (x - (x * b - y * a)) / y;
    let scale = (beyond + a.sqrt() + (b - 1.0).abs().sqrt() * ratio).recip();
    // At t = x exp(−z).
    Tails::integral(factor / y, logarithm_of_factor, scale, |z| {
        let w = -(-z).exp_m1();
        let log = (ratio * w).ln_1p();
        let exponent = if w.max(ratio * w) < NEAR {
            -beyond * w - a * excess(-w, -z) - (b - 1.0) * excess(ratio * w, log)
        } else {
            (b - 1.0) * log - a * z
        };
        (exponent, [-z, log])
    })
}

/// `xᵃ yᵇ / B(a, b)`, and the derivatives of its logarithm by the parameters.
fn beta_factor([a, b]: [f64; 2], [x, y]: [f64; 2]) -> (f64, [f64; 2]) {
    let distance = x * b - y * a;
    let [of_x, of_y] = [distance / a, -distance / b].map(|m| m.min(1e300));
    let [log_x, log_y] = [logarithm(x * ((a + b) / a), of_x), logarithm(y * ((a + b) / b), of_y)];
    let exponent = -a * excess(of_x, log_x) - b * excess(of_y, log_y);
    let correction = stirling(a + b) - stirling(a) - stirling(b);
    let of_sum = below_logarithm(a + b);
    let first = [log_x + below_logarithm(a) - of_sum, log_y + below_logarithm(b) - of_sum];
    ((a / (a + b) * b / TAU).sqrt() * (exponent + correction).exp(), first)
}
