//! Functions are compared with numbers computed in sixty digits, and with the functions of the floats.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use rand_distr::{Distribution, Uniform};

use crate::number::Number;
use crate::real::Real;

/// A function with fused instructions, and without.
pub(super) type Both<T> = [fn(T) -> T; 2];

/// Returns the distance of two numbers, in units in the last place of the second one as a `T`.
pub(crate) fn units<T: Real>(found: T, exact: f64) -> f64 {
    let found = found.to_f64();
    if found == exact || found.is_nan() && exact.is_nan() {
        return 0.0;
    }
    let smallest = if T::EPSILON.to_f64() > 1e-10 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let unit = exact.abs().max(smallest).exponent().exp2() * T::EPSILON.to_f64();
    (found - exact).abs() / unit
}

/// Asserts that a function is within the bound at each point of a table of values, which are rounded, and at some points of the
/// intervals, where the float's function is taken for exact in single precision, and for good to a unit in double precision.
pub(super) fn keeps_bound(
    bound: f64,
    double: Both<f64>,
    single: Both<f32>,
    exact: fn(f64) -> f64,
    table: &[(f64, f64)],
    intervals: &[(f64, f64)],
) {
    for f in double {
        for &(x, y) in table {
            let found = units(f(x), y);
            assert!(found <= bound + 0.5, "{found} units at {x}");
        }
    }
    for &(low, high) in intervals {
        let points = Uniform::new(low, high).unwrap().sample_iter(ChaCha8Rng::seed_from_u64(5));
        for x in points.take(1500) {
            for f in double {
                let found = units(f(x), exact(x));
                assert!(found <= bound + 1.0, "{found} units at {x}");
            }
            let x = x as f32;
            for f in single {
                let found = units(f(x), exact(f64::from(x)));
                assert!(found <= bound, "{found} units at {x}, in single precision");
            }
        }
    }
}

/// Asserts that a function, fused or not, agrees with the float's at these values, which are special.
pub(super) fn ends_agree<T: Real>(fs: Both<T>, exact: fn(T) -> T, at: &[f64]) {
    for &x in at {
        let x = T::from_f64(x);
        for y in fs.map(|f| f(x).to_f64()) {
            let expected = exact(x).to_f64();
            assert!(y == expected || y.is_nan() && expected.is_nan(), "{y} instead of {expected} at {x}");
            assert!(y != 0.0 || y.is_sign_negative() == expected.is_sign_negative(), "sign of {y} at {x}");
        }
    }
}
