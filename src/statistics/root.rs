//! Root finding in a bracket.

/// Evaluations after which the bracket has shrunk to nothing whatever the function.
const MAX_STEPS: usize = 200;

/// A point at which `f` is zero, by Chandrupatla's method (1997): inverse quadratic interpolation where it is safe, and bisection
/// otherwise. `low` and `high` are points with the values of `f` there, of different signs. Ends once `arrived` returns true for the best
/// point, its value and the other end of the bracket. Errors of `f` are returned.
pub(crate) fn root<E>(
    low: (f64, f64),
    high: (f64, f64),
    mut f: impl FnMut(f64) -> Result<f64, E>,
    arrived: impl Fn((f64, f64), f64) -> bool,
) -> Result<f64, E> {
    // `a` is the newest point, `b` across the root from it, `c` the one before.
    let (mut a, mut b) = (high, low);
    let mut fraction = secant(a, b);
    for _ in 0..MAX_STEPS {
        let (best, other) = if a.1.abs() <= b.1.abs() { (a, b) } else { (b, a) };
        if best.1 == 0.0 || arrived(best, other.0) {
            return Ok(best.0);
        }
        let x = a.0 + fraction * (b.0 - a.0);
        let new = (x, f(x)?);
        let c = if (new.1 < 0.0) == (a.1 < 0.0) {
            a
        } else {
            let across = b;
            b = a;
            across
        };
        a = new;
        let (xi, phi) = ((a.0 - b.0) / (c.0 - b.0), (a.1 - b.1) / (c.1 - b.1));
        let is_safe = phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi;
        fraction = if is_safe {
            let along = (c.0 - a.0) / (b.0 - a.0);
            a.1 / (b.1 - a.1) * (c.1 / (b.1 - c.1)) + along * (a.1 / (c.1 - a.1)) * (b.1 / (c.1 - b.1))
        } else {
            0.5
        };
        // A step too short to see would leave the bracket as it is.
        let least = (4.0 * f64::EPSILON * best.0.abs() / (b.0 - a.0).abs()).min(0.5);
        fraction = if fraction.is_finite() { fraction.clamp(least, 1.0 - least) } else { 0.5 };
    }
    Ok(if a.1.abs() <= b.1.abs() { a.0 } else { b.0 })
}

/// Returns the zero of the straight line through both points, as a fraction of the way from `a` (0) to `b` (1).
fn secant(a: (f64, f64), b: (f64, f64)) -> f64 {
    let fraction = a.1 / (a.1 - b.1);
    if fraction > 0.0 && fraction < 1.0 { fraction } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The root of `f` within `[low, high]`, and how many evaluations it took.
    fn solve(f: impl Fn(f64) -> f64, low: f64, high: f64) -> (f64, usize) {
        let mut count = 0;
        let counted = |x| {
            count += 1;
            Ok::<_, Infallible>(f(x))
        };
        let arrived = |best: (f64, f64), other: f64| (best.0 - other).abs() <= 1e-15 * best.0.abs();
        let Ok(x) = root((low, f(low)), (high, f(high)), counted, arrived);
        (x, count)
    }

    #[test]
    fn smooth_functions_take_few_evaluations() {
        let (x, count) = solve(|x| x.exp() - 2.0, 0.0, 3.0);
        assert!((x - 2.0_f64.ln()).abs() < 1e-15 && count <= 10, "{x} in {count}");
        let (x, count) = solve(|x| 3.0 - 2.0 * x, 0.0, 100.0);
        assert!(x == 1.5 && count <= 2, "{x} in {count}");
    }

    #[test]
    fn jumps_and_flat_roots_are_bracketed() {
        let (x, _) = solve(|x| if x < 0.3 { -1.0 } else { 50.0 }, 0.0, 1.0);
        assert!((x - 0.3).abs() < 1e-14, "{x}");
        let (x, _) = solve(|x| (x - 0.3_f64).powi(9), -1.0, 4.0);
        assert!((x - 0.3).abs() < 1e-3, "{x}");
        let (x, _) = solve(|x| if x > 2.0 { f64::INFINITY } else { x - 1.0 }, 0.0, 5.0);
        assert_eq!(x, 1.0);
    }
}
