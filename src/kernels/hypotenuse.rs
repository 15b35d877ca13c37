//! The hypotenuse without branches.

use crate::number::Number;

/// `√(a² + b²)`, within 1.1 units in the last place. Where a square would leave the normal numbers, both legs are scaled by a power of
/// two.
#[inline(always)]
pub(crate) fn hypot<T: Number>(a: T, b: T) -> T {
    // Within the limit and its reciprocal no scaling is needed, and outside of them the scale does not lead beyond.
    let (limit, scale) = if size_of::<T::Element>() == 4 { (50, 100) } else { (480, 700) };
    let [low, high, down, up] = [-limit, limit, -scale, scale].map(|n| T::from_f64(2.0_f64.powi(n)));
    let (one, larger) = (T::from_f64(1.0), a.abs().max(b.abs()));
    let choose = |if_small: T, if_large: T| larger.select_less(low, if_small, high.select_less(larger, if_large, one));
    let scale = choose(up, down);
    let (a, b) = (a * scale, b * scale);
    (a * a + b * b).sqrt() * choose(down, up)
}

#[cfg(test)]
mod tests {
    use super::super::tests::units;
    use super::*;

    #[test]
    fn it_is_accurate_from_the_smallest_numbers_to_the_largest() {
        let legs =
            [3e-324, 1e-310, 4e-308, 3e-170, 7e-150, 3e-145, 1e-30, 0.3, 1.0, 7.0, 1e80, 2e144, 5e145, 1e160, 1e308];
        for a in legs {
            for b in legs {
                let (found, exact) = (hypot(a, -b), f64::hypot(a, b));
                assert!(units(found, exact) <= 2.1, "{a}, {b}: {found} instead of {exact}");
                let (a, b) = (a as f32, b as f32);
                let exact = f64::from(a).hypot(f64::from(b));
                let found = f64::from(hypot(a, b));
                assert!(found == f64::from(exact as f32) || units(found as f32, exact) <= 1.1, "{a}, {b}: {found}");
            }
        }
        assert_eq!([hypot(0.0, 0.0), hypot(f64::INFINITY, 1.0), hypot(0.0, -5e-324)], [0.0, f64::INFINITY, 5e-324]);
        assert!(hypot(f64::NAN, 1.0).is_nan() && hypot(1.0, f32::NAN).is_nan());
    }
}
