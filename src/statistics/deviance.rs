//! The deviance of counts.

use crate::number::Number;
use crate::real::Real;

/// Half the deviance of a count `y` whose mean is `μ`, `μ − y + y ln(y/μ)`; infinite where no mean may be.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(crate) fn half_deviance<N: Number>(y: N, mean: N) -> N {
    half_deviance_by(y, mean, mean.recip())
}

/// Half the deviance of a count, given the reciprocal of the mean.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(crate) fn half_deviance_by<N: Number>(y: N, mean: N, reciprocal: N) -> N {
    let (zero, one) = (N::splat(N::Element::ZERO), N::splat(N::Element::ONE));
    let excess = (mean - y) * reciprocal;
    // y/μ = 1 − excess; the two terms nearly cancel at a good fit.
    let of_some = mean * (excess + (one - excess) * (-excess).ln_1p());
    let of_any = zero.select_less(y, of_some, mean);
    zero.select_less(mean, of_any, N::splat(N::Element::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `μ − y + y ln(y/μ)` in 40 digits.
    #[test]
    fn it_keeps_its_digits_near_the_mean() {
        for (y, mean, expected) in [
            (3.0, 2.0, 0.21639532432449293),
            (1e6, 1e6 + 1.0, 4.999996666669167e-7),
            (0.0, 2.5, 2.5),
            (7.0, 0.0, f64::INFINITY),
            (7.0, -1.0, f64::INFINITY),
            (0.0, f64::NAN, f64::INFINITY),
        ] {
            let found: f64 = half_deviance(y, mean);
            assert!(found == expected || (found - expected).abs() < 1e-9 * expected, "{y} at {mean}: {found}");
        }
    }
}
