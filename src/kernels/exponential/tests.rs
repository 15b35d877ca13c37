//! Bounds and special values.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use rand_distr::{Distribution, Uniform};

use super::*;
use crate::kernels::tests::{ends_agree, keeps_bound};
use crate::real::Real;
use crate::scalar::Scalar;

/// A number as an unevaluated sum of two.
type Pair = (f64, f64);

fn sum((a, a_low): Pair, (b, b_low): Pair) -> Pair {
    let s = a + b;
    let carried = s - a;
    let low = (a - (s - carried)) + (b - carried) + (a_low + b_low);
    (s + low, low - ((s + low) - s))
}

fn product((a, a_low): Pair, (b, b_low): Pair) -> Pair {
    let p = a * b;
    let low = a.mul_add(b, -p) + (a * b_low + a_low * b);
    (p + low, low - ((p + low) - p))
}

/// `eˣ` to thirty digits, by its series and repeated squaring.
fn exact_exp(x: f64) -> Pair {
    let n = (x * std::f64::consts::LOG2_E).round();
    let reduced = sum((n.mul_add(-DOUBLE.ln_2_high, x), 0.0), product((-n, 0.0), (DOUBLE.ln_2_low, 0.0)));
    let small = (reduced.0 / 64.0, reduced.1 / 64.0);
    let mut series = (1.0, 0.0);
    for k in (1..16).rev() {
        let factor = 1.0 / f64::from(k);
        let inverse = (factor, f64::from(k).mul_add(-factor, 1.0) / f64::from(k));
        series = sum((1.0, 0.0), product(series, product(small, inverse)));
    }
    for _ in 0..6 {
        series = product(series, series);
    }
    let scale = n.exp2();
    (series.0 * scale, series.1 * scale)
}

/// The distance to the next double.
fn unit(y: f64) -> f64 {
    y.abs().next_up() - y.abs()
}

fn points(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let uniform = Uniform::new(low, high).unwrap();
    uniform.sample_iter(ChaCha8Rng::seed_from_u64(5)).take(4000)
}

/// Asserts that the error of `f`, in units in the last place, is within the bound.
fn within(bound: f64, low: f64, high: f64, fs: [fn(f64) -> f64; 2], error: impl Fn(f64, f64) -> f64) {
    for x in points(low, high) {
        for f in fs {
            let found = error(x, f(x)) / unit(f(x));
            assert!(found.abs() <= bound, "{found} units at {x}");
        }
    }
}

#[test]
fn double_precision_keeps_its_bounds() {
    let one = (1.0, 0.0);
    for (low, high) in [(-1.0, 1.0), (-40.0, 40.0), (-700.0, 700.0)] {
        let error = |x, y| {
            let exact = exact_exp(x);
            (y - exact.0) - exact.1
        };
        within(1.1, low, high, [exp::<f64, true>, exp::<f64, false>], error);
        // The residual of y (1 + e⁻ˣ) = 1.
        let error = |x: f64, y| {
            let below = sum(one, exact_exp(-x));
            sum(product((y, 0.0), below), (-1.0, 0.0)).0 / below.0
        };
        within(2.0, low, high, [sigmoid::<f64, true>, sigmoid::<f64, false>], error);
    }
    for (low, high) in [(1e-6, 1e-3), (0.0, 0.55), (0.54, 1.0), (-20.0, 20.0)] {
        // The residual of y (e²ˣ + 1) = e²ˣ − 1.
        let error = |x, y| {
            let e = exact_exp(2.0 * x);
            let (above, below) = (sum(e, (-1.0, 0.0)), sum(e, one));
            sum(product((y, 0.0), below), (-above.0, -above.1)).0 / below.0
        };
        within(1.4, low, high, [tanh::<f64, true>, tanh::<f64, false>], error);
    }
    for (low, high) in [(-1e-3, -1e-6), (-1.0, 0.0), (-45.0, -1.0)] {
        let error = |x, y| sum((y, 0.0), sum(one, product((-1.0, 0.0), exact_exp(x)))).0;
        within(1.3, low, high, [exp_m1::<f64, true>, exp_m1::<f64, false>], error);
    }
    for (low, high) in [(-700.0, -30.0), (-30.0, 0.0), (0.0, 30.0)] {
        // The reference is good for a unit or so.
        let error = |x: f64, y| y - (x.max(0.0) + (-x.abs()).exp().ln_1p());
        within(3.7, low, high, [softplus::<f64, true>, softplus::<f64, false>], error);
    }
}

#[test]
fn single_precision_keeps_its_bounds() {
    type Cases = [(f64, f64, f64, [fn(f32) -> f32; 2], fn(f64) -> f64); 5];
    let cases: Cases = [
        (1.1, -87.0, 88.0, [exp::<f32, true>, exp::<f32, false>], f64::exp),
        (1.4, -10.0, 10.0, [tanh::<f32, true>, tanh::<f32, false>], f64::tanh),
        (2.0, -86.0, 88.0, [sigmoid::<f32, true>, sigmoid::<f32, false>], |x| 1.0 / (1.0 + (-x).exp())),
        (1.3, -20.0, 0.0, [exp_m1::<f32, true>, exp_m1::<f32, false>], f64::exp_m1),
        (2.7, -87.0, 30.0, [softplus::<f32, true>, softplus::<f32, false>], |x| x.exp().ln_1p()),
    ];
    for (bound, low, high, fs, exact) in cases {
        for scale in [1.0, 0.1, 1e-3] {
            for x in points(scale * low, scale * high).map(|x| x as f32) {
                for y in fs.map(|f| f(x)) {
                    let unit = f64::from(y.abs().next_up() - y.abs());
                    let found = (f64::from(y) - exact(f64::from(x))) / unit;
                    assert!(found.abs() <= bound, "{found} units at {x}");
                }
            }
        }
    }
}

fn special_values<T: Real, const FUSED: bool>(smallest: f64) {
    let t = T::from_f64;
    let (inf, nan) = (T::INFINITY, t(f64::NAN));
    assert_eq!([-inf, t(-1e4), t(0.0), t(1e4), inf].map(exp::<T, FUSED>), [t(0.0), t(0.0), t(1.0), inf, inf]);
    assert_eq!([-inf, t(-1e4), t(0.0), inf].map(sigmoid::<T, FUSED>), [t(0.0), t(0.0), t(0.5), t(1.0)]);
    assert_eq!([-inf, t(-1e4), t(1e4), inf].map(tanh::<T, FUSED>), [t(-1.0), t(-1.0), t(1.0), t(1.0)]);
    assert_eq!([-inf, t(-1e4), t(0.0)].map(exp_m1::<T, FUSED>), [t(-1.0), t(-1.0), t(0.0)]);
    assert_eq!([-inf, t(-1e4), t(1e4), inf].map(softplus::<T, FUSED>), [t(0.0), t(0.0), t(1e4), inf]);
    for f in [exp::<T, FUSED>, sigmoid::<T, FUSED>, tanh::<T, FUSED>, exp_m1::<T, FUSED>, softplus::<T, FUSED>] {
        assert!(f(nan).to_f64().is_nan());
    }
    // Small numbers come back as they are, with their sign.
    for x in [0.0, smallest, 1e-30, 1e-9] {
        assert_eq!(tanh::<T, FUSED>(t(x)), t(x));
        assert!(tanh::<T, FUSED>(t(-x)).to_f64().is_sign_negative());
    }
    let largest_logarithm = -smallest.ln();
    for x in [-1.001, -1.0, -0.99, -0.95, 0.9, 0.95] {
        let x = t(x * largest_logarithm);
        let (found, expected) = (exp::<T, FUSED>(x).to_f64(), x.exp().to_f64());
        if expected < T::MIN_POSITIVE.to_f64() {
            assert_eq!(found, 0.0, "{x}");
        } else {
            let two_units = 2.0 * T::EPSILON.to_f64() * expected;
            assert!(found == expected || (found - expected).abs() <= two_units, "{x}: {found} instead of {expected}");
        }
    }
}

#[test]
fn the_ends_of_the_line_are_reached() {
    special_values::<f64, true>(5e-324);
    special_values::<f64, false>(5e-324);
    special_values::<f32, true>(1e-45);
    special_values::<f32, false>(1e-45);
}

#[test]
fn base_two_and_the_whole_line_keep_their_bounds() {
    keeps_bound(
        1.1,
        [exp2::<f64, true>, exp2::<f64, false>],
        [exp2::<f32, true>, exp2::<f32, false>],
        f64::exp2,
        &[
            (-1074.4, 0.0),
            (-1022.7, 0.0),
            (-1021.7, 2.7393872501808715e-308),
            (-333.3, 4.641971237869914e-101),
            (-1.5, 0.3535533905932738),
            (-1e-09, 0.9999999993068528),
            (0.25, 1.189207115002721),
            (0.49999, 1.4142037598256334),
            (3.14, 8.815240927012887),
            (1023.9, 1.6773070034857416e+308),
        ],
        &[(-1.0, 1.0), (-126.0, 127.0)],
    );
    keeps_bound(
        2.4,
        [exp_m1::<f64, true>, exp_m1::<f64, false>],
        [exp_m1::<f32, true>, exp_m1::<f32, false>],
        f64::exp_m1,
        &[
            (-50.0, -1.0),
            (-5.5, -0.995913228561536),
            (-0.3466, -0.2929118930589812),
            (-1e-05, -9.999950000166666e-06),
            (1e-300, 1e-300),
            (1e-20, 1e-20),
            (2.5e-10, 2.5000000003125e-10),
            (0.36, 0.43332941456034024),
            (0.5, 0.6487212707001282),
            (3.0, 19.085536923187668),
            (60.0, 1.1420073898156842e+26),
            (709.7, 1.6549840276802644e+308),
        ],
        &[(-1.0, 1.0), (-1e-3, 1e-3), (0.3, 0.5), (-20.0, 88.0)],
    );
}

fn further_special_values<T: Real>() {
    let at = [0.0, -0.0, 5e-324, 1e-45, -1e-30, 1e4, -1e4, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    ends_agree([exp_m1::<T, true>, exp_m1::<T, false>], Scalar::exp_m1, &at);
    ends_agree([exp2::<T, true>, exp2::<T, false>], Scalar::exp2, &at);
    for n in -149..128 {
        let power = f64::from(n).exp2();
        let expected = if power < T::MIN_POSITIVE.to_f64() { 0.0 } else { power };
        let x = T::from_f64(f64::from(n));
        assert_eq!([exp2::<T, true>(x), exp2::<T, false>(x)].map(Real::to_f64), [expected; 2]);
    }
}

#[test]
fn their_ends_are_reached() {
    further_special_values::<f64>();
    further_special_values::<f32>();
}
