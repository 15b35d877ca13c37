//! The exponential function and its relatives without branches, so that a loop over them runs in vector instructions.
//!
//! `eˣ = 2ⁿ eʳ` with `n` the integer nearest to `x / ln 2`, so that `|r| ≤ ln 2 / 2`, where a polynomial is enough (Muller
//! 2016, *Elementary Functions*, ch. 11). `eʳ − 1` is kept instead of `eʳ`: adding it to `2ⁿ` is then the only rounding of
//! its size. Coefficients are minimax ones, by the exchange of Remez in 60 digits.
//!
//! NaN gives NaN. The bounds hold with and without fused instructions; they were measured over a million points an interval
//! against 113-bit arithmetic.

use super::elementary::Elementary;
use super::simd::multiply_add;
use crate::number::Number;

/// Constants and operations of a float type for the functions of this file.
#[derive(Debug)]
pub struct Coefficients<T: 'static> {
    /// Adding it rounds to an integer, and leaves that integer as an exponent in the lowest bits.
    rounder: T,
    /// `1 / ln 2`.
    log2_e: T,
    /// The leading bits of `ln 2`, few enough for products with `n` to be exact.
    ln_2_high: T,
    /// The rest of `ln 2`.
    ln_2_low: T,
    /// Exponents `n` of the smallest and the largest normal power of two `2ⁿ`.
    normal: [T; 2],
    /// Arguments below which `eˣ` is not normal, and beyond which it is surely infinite.
    reach: [T; 2],
    /// Arguments below which `2ˣ` is not normal, and beyond which it is surely infinite.
    reach_of_two: [T; 2],
    /// Argument at which `eˣ` overflows, while `n` exceeds the largest exponent by one at most.
    overflow: T,
    /// Argument at which `eˣ − 1` is minus one.
    minus_one: T,
    /// Argument at which `eˣ − 1` still is `x`.
    tiny: T,
    /// Argument from which `tanh` is one, and its derivative is not normal.
    flat: T,
    /// `(eʳ − 1 − r) / r²` in powers of `r`.
    exp: &'static [T],
    /// Numerator of `(tanh x − x) / x³` in powers of `x²`, up to where `tanh` is a half.
    tanh_above: &'static [T],
    /// Its denominator.
    tanh_below: &'static [T],
    /// `(artanh s − s) / s³` in powers of `s²`, up to `s = 1/3`.
    artanh: &'static [T],
}

/// Coefficients for [`f64`].
pub(super) const DOUBLE: Coefficients<f64> = Coefficients {
    rounder: 6_755_399_441_055_744.0 + 1023.0,
    log2_e: std::f64::consts::LOG2_E,
    ln_2_high: 6.931_471_803_691_238e-1,
    ln_2_low: 1.908_214_929_270_587_7e-10,
    normal: [-708.3, 709.4],
    reach: [-708.396_418_532_264_1, 1000.0],
    reach_of_two: [-1022.0, 1200.0],
    overflow: 709.9,
    minus_one: -40.0,
    tiny: 5e-17,
    flat: 354.5,
    exp: &[
        0.500_000_000_000_000_6,
        0.166_666_666_666_666_85,
        0.041_666_666_666_573_32,
        0.008_333_333_333_314_54,
        0.001_388_888_893_248_421,
        0.000_198_412_699_031_616_7,
        2.480_150_431_219_824e-5,
        2.755_722_782_367_132_4e-6,
        2.762_638_219_003_349_3e-7,
        2.511_451_789_373_15e-8,
    ],
    tanh_above: &[-0.333_333_333_333_333_3, -0.020_500_405_746_209_042, -0.000_199_249_241_060_183_48],
    tanh_below: &[1.0, 0.461_501_217_238_622_9, 0.023_293_472_713_960_47, 0.000_206_609_997_323_830_65],
    artanh: &[
        0.333_333_333_333_331_5,
        0.200_000_000_000_793_82,
        0.142_857_142_738_247_12,
        0.111_111_119_915_537_22,
        0.090_908_717_161_557_47,
        0.076_932_854_164_123_14,
        0.066_504_126_549_810_44,
        0.060_536_481_885_941_53,
        0.041_673_305_094_930_765,
        0.085_144_639_905_705_46,
    ],
};

/// Coefficients for [`f32`].
pub(super) const SINGLE: Coefficients<f32> = Coefficients {
    rounder: 12_582_912.0 + 127.0,
    log2_e: std::f32::consts::LOG2_E,
    ln_2_high: 355.0 / 512.0,
    ln_2_low: -2.121_944_4e-4,
    normal: [-87.3, 88.3],
    reach: [-87.336_54, 150.0],
    reach_of_two: [-126.0, 200.0],
    overflow: 88.8,
    minus_one: -20.0,
    tiny: 2.5e-8,
    flat: 44.0,
    exp: &[0.5, 0.166_665_43, 0.041_666_28, 0.008_366_611, 0.001_394_649_7],
    tanh_above: &[-0.333_333_22, -0.001_551_764_3],
    tanh_below: &[1.0, 0.404_647_86],
    artanh: &[0.333_332_06, 0.200_108_84, 0.139_989_36, 0.140_156_24],
};

/// `n` and `r` such that `x = n ln 2 + r`; `n` biased, see [`Coefficients::rounder`].
#[inline(always)]
fn reduce<T: Number, const FUSED: bool>(x: T) -> (T, T) {
    let table = T::Element::COEFFICIENTS;
    let biased = multiply_add::<T, FUSED>(x, T::splat(table.log2_e), T::splat(table.rounder));
    let n = biased - T::splat(table.rounder);
    let r = multiply_add::<T, FUSED>(-n, T::splat(table.ln_2_high), x);
    (biased, multiply_add::<T, FUSED>(-n, T::splat(table.ln_2_low), r))
}

/// `eʳ − 1`.
#[inline(always)]
fn reduced_exp_m1<T: Number, const FUSED: bool>(r: T) -> T {
    let square = r * r;
    multiply_add::<T, FUSED>(square, polynomial::<T, FUSED>(T::Element::COEFFICIENTS.exp, r, square), r)
}

/// `n`, biased, and `eʳ − 1` such that `eˣ = 2ⁿ eʳ`.
#[inline(always)]
fn split<T: Number, const FUSED: bool>(x: T) -> (T, T) {
    let (biased, r) = reduce::<T, FUSED>(x);
    (biased, reduced_exp_m1::<T, FUSED>(r))
}

/// `2ⁿ (1 + p)` for a biased `n`.
#[inline(always)]
fn scaled<T: Number, const FUSED: bool>(biased: T, p: T) -> T {
    // 2ⁿ in two factors, each of them normal where the product is not.
    let rounder = T::splat(T::Element::COEFFICIENTS.rounder);
    let half = multiply_add::<T, FUSED>(biased - rounder, T::from_f64(0.5), rounder);
    let rest = biased - (half - rounder);
    let scale = half.power_of_two();
    multiply_add::<T, FUSED>(scale, p, scale) * rest.power_of_two()
}

/// Returns `2ⁿ`. The integer `n` must lie within the exponents of normal numbers.
#[inline(always)]
pub(super) fn power_of_two<T: Number>(n: T) -> T {
    (n + T::splat(T::Element::COEFFICIENTS.rounder)).power_of_two()
}

/// `Σ cₖ xᵏ` for a few coefficients.
#[inline(always)]
fn short_polynomial<T: Number, const FUSED: bool>(c: &'static [T::Element], x: T) -> T {
    let mut k = c.len() - 1;
    let mut sum = T::splat(c[k]);
    while k > 0 {
        k -= 1;
        sum = multiply_add::<T, FUSED>(sum, x, T::splat(c[k]));
    }
    sum
}

/// `Σ cₖ xᵏ` for many coefficients, given `x²`: in powers of that, half as long a chain.
#[inline(always)]
pub(super) fn polynomial<T: Number, const FUSED: bool>(c: &'static [T::Element], x: T, square: T) -> T {
    let mut k = if c.len() % 2 == 1 { c.len() - 1 } else { c.len() - 2 };
    let mut sum = T::splat(c[k]);
    if k + 1 < c.len() {
        sum = multiply_add::<T, FUSED>(T::splat(c[k + 1]), x, sum);
    }
    while k > 0 {
        k -= 2;
        let pair = multiply_add::<T, FUSED>(T::splat(c[k + 1]), x, T::splat(c[k]));
        sum = multiply_add::<T, FUSED>(sum, square, pair);
    }
    sum
}

/// `x` moved into the bounds; NaN stays.
#[inline(always)]
fn clamp<T: Number>(x: T, bounds: [T::Element; 2]) -> T {
    let [low, high] = bounds;
    x.max(T::splat(low)).min(T::splat(high))
}

/// `eˣ`, within 1.1 units in the last place; zero where the result would be subnormal.
#[inline(always)]
pub(crate) fn exp<T: Number, const FUSED: bool>(x: T) -> T {
    let (biased, p) = split::<T, FUSED>(clamp(x, T::Element::COEFFICIENTS.reach));
    zero_below(x, T::Element::COEFFICIENTS.reach, scaled::<T, FUSED>(biased, p))
}

/// `power`, or zero where its exponent `x` lies below the reach. Results end at the smallest normal number: arithmetic with subnormal ones
/// takes some processors a hundred times as long.
#[inline(always)]
fn zero_below<T: Number>(x: T, reach: [T::Element; 2], power: T) -> T {
    x.select_less(T::splat(reach[0]), T::from_f64(0.0), power)
}

/// `e^(x + rest)` for `x` within the reach and a small `rest`.
#[inline(always)]
pub(super) fn exp_of_sum<T: Number, const FUSED: bool>(x: T, rest: T) -> T {
    let (biased, r) = reduce::<T, FUSED>(x);
    scaled::<T, FUSED>(biased, reduced_exp_m1::<T, FUSED>(r + rest))
}

/// `e^(x + rest)` for any `x`; `rest` is small wherever `x` is within the reach.
#[inline(always)]
pub(super) fn exp_of_any_sum<T: Number, const FUSED: bool>(x: T, rest: T) -> T {
    let reach = T::Element::COEFFICIENTS.reach;
    let rest = x.abs().select_less(T::splat(reach[1]), rest, T::from_f64(0.0));
    zero_below(x, reach, exp_of_sum::<T, FUSED>(clamp(x, reach), rest))
}

/// `eˣ / 4`, where that is a normal number.
#[inline(always)]
pub(super) fn quarter_exp<T: Number, const FUSED: bool>(x: T) -> T {
    let (biased, p) = split::<T, FUSED>(x);
    let scale = (biased - T::from_f64(2.0)).power_of_two();
    multiply_add::<T, FUSED>(scale, p, scale)
}

/// `2ˣ`, within 1.1 units in the last place, exact for integers; zero where the result would be subnormal.
#[inline(always)]
pub(crate) fn exp2<T: Number, const FUSED: bool>(x: T) -> T {
    let table = T::Element::COEFFICIENTS;
    let bounded = clamp(x, table.reach_of_two);
    let biased = bounded + T::splat(table.rounder);
    let r = (bounded - (biased - T::splat(table.rounder))) * T::from_f64(std::f64::consts::LN_2);
    zero_below(x, table.reach_of_two, scaled::<T, FUSED>(biased, reduced_exp_m1::<T, FUSED>(r)))
}

/// `eˣ − 1`, within 2.4 units in the last place, for `x ≤ 0` within 1.3.
#[inline(always)]
pub(crate) fn exp_m1<T: Number, const FUSED: bool>(x: T) -> T {
    let table = T::Element::COEFFICIENTS;
    let (biased, p) = split::<T, FUSED>(clamp(x, [table.minus_one, table.overflow]));
    // Half of it, as 2ⁿ may be infinite where the rest brings it back.
    let (scale, half) = ((biased - T::from_f64(1.0)).power_of_two(), T::from_f64(0.5));
    let y = multiply_add::<T, FUSED>(scale, p, scale - half);
    // Half of a subnormal number may not be one.
    x.abs().select_less(T::splat(table.tiny), x, y + y)
}

/// `1 / (1 + e⁻ˣ)`, within 2 units in the last place; zero where the result would be subnormal.
#[inline(always)]
pub(crate) fn sigmoid<T: Number, const FUSED: bool>(x: T) -> T {
    let normal = T::Element::COEFFICIENTS.normal;
    let (biased, p) = split::<T, FUSED>(clamp(-x, normal));
    let scale = biased.power_of_two();
    // In this order every digit of the one counts, however large the power.
    let sigmoid = (multiply_add::<T, FUSED>(scale, p, T::from_f64(1.0)) + scale).recip();
    x.select_less(T::splat(-normal[1]), T::from_f64(0.0), sigmoid)
}

/// `sigmoid(x)` and `sigmoid(−x)`, each accurate however small.
#[inline(always)]
pub(crate) fn sigmoid_pair<T: Number, const FUSED: bool>(x: T) -> (T, T) {
    let e = exp::<T, FUSED>(-x.abs());
    let large = (e + T::from_f64(1.0)).recip();
    let small = e * large;
    let zero = T::from_f64(0.0);
    (x.select_less(zero, small, large), x.select_less(zero, large, small))
}

/// `2⁻⁶⁴`: with this factor, `e²ᵃ` does not overflow where the derivative of `tanh a` is not yet zero.
const SMALL: f64 = 1.0 / (1_u128 << 64) as f64;

/// `a = |x|` up to where `tanh` is flat, and `2⁻⁶⁴ (e²ᵃ + 1)`.
#[inline(always)]
fn small_sum<T: Number, const FUSED: bool>(x: T) -> (T, T) {
    let a = x.abs().min(T::splat(T::Element::COEFFICIENTS.flat));
    let (biased, p) = split::<T, FUSED>(a + a);
    let scale = (biased - T::from_f64(64.0)).power_of_two();
    (a, multiply_add::<T, FUSED>(scale, p, scale + T::from_f64(SMALL)))
}

/// The derivative of `tanh x`, within 6 units in the last place: `s (2 − s)` with `s = 1 − tanh |x| = 2 / (e²ᵃ + 1)`; zero where the result
/// would be subnormal.
#[inline(always)]
pub(crate) fn tanh_slope<T: Number, const FUSED: bool>(x: T) -> T {
    let (a, sum) = small_sum::<T, FUSED>(x);
    let s = T::from_f64(2.0 * SMALL) / sum;
    a.select_less(T::splat(T::Element::COEFFICIENTS.flat), s * (T::from_f64(2.0) - s), T::from_f64(0.0))
}

/// `tanh x`, within 1.4 units in the last place.
#[inline(always)]
pub(crate) fn tanh<T: Number, const FUSED: bool>(x: T) -> T {
    let table = T::Element::COEFFICIENTS;
    let one = T::from_f64(1.0);
    // Where large, 1 − 2 / (e²ᵃ + 1); where small, a + a³ P / Q: one division serves both.
    let (bounded, sum) = small_sum::<T, FUSED>(x);
    let square = bounded * bounded;
    let if_small = |small: T, large: T| bounded.select_less(T::from_f64(0.549_306_144_334_054_8), small, large);
    let above = bounded * square * short_polynomial::<T, FUSED>(table.tanh_above, square);
    let below = short_polynomial::<T, FUSED>(table.tanh_below, square);
    let base = if_small(bounded, one);
    let above = if_small(above, T::from_f64(-2.0 * SMALL));
    let below = if_small(below, sum);
    (base + above / below).copy_sign(x)
}

/// `ln(1 + eˣ)`, within 2.7 units in the last place.
#[inline(always)]
pub(crate) fn softplus<T: Number, const FUSED: bool>(x: T) -> T {
    // ln(1 + e) = 2 artanh(e / (2 + e)).
    let e = exp::<T, FUSED>(-x.abs());
    let s = e / (e + T::from_f64(2.0));
    let square = s * s;
    let half = multiply_add::<T, FUSED>(
        s * square,
        polynomial::<T, FUSED>(T::Element::COEFFICIENTS.artanh, square, square * square),
        s,
    );
    x.max(T::from_f64(0.0)) + (half + half)
}

#[cfg(test)]
#[allow(clippy::approx_constant)]
mod tests;
