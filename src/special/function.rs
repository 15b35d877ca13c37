//! Special functions with an order, or with several arguments.

use super::bessel::Bessel;
use super::incomplete::Incomplete;
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Arguments that a function takes at most.
pub(crate) const MOST_ARGUMENTS: usize = 3;

/// A function with an order, or with several arguments. Arguments beyond its number are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// The Bessel function of this order.
    Bessel(Bessel, i32),
    /// An incomplete gamma or beta function.
    Incomplete(Incomplete),
}

impl Special {
    /// The number of its arguments.
    pub(crate) fn arity(self) -> usize {
        match self {
            Special::Bessel(..) => 1,
            Special::Incomplete(incomplete) => incomplete.shapes() + 1,
        }
    }

    /// Its value.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn value<N: Number>(self, at: [N; MOST_ARGUMENTS]) -> N {
        each(at, f64::INFINITY, |at| match self {
            Special::Bessel(kind, n) => kind.value(n, at[0]),
            Special::Incomplete(incomplete) => incomplete.value(at),
        })
    }

    /// The derivative by argument number `k`, or the largest number where it is infinite.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn slope<N: Number>(self, k: usize, at: [N; MOST_ARGUMENTS]) -> N {
        each(at, largest::<N>(), |at| match self {
            Special::Bessel(kind, n) => kind.slope(n, at[0]),
            Special::Incomplete(incomplete) => incomplete.slope(k, at),
        })
    }

    /// The second derivative by arguments number `k` and `l`, or the largest number where it is infinite.
    fn curvature<N: Number>(self, k: usize, l: usize, at: [N; MOST_ARGUMENTS]) -> N {
        each(at, largest::<N>(), |at| match self {
            Special::Bessel(kind, n) => kind.curvature(n, at[0]),
            Special::Incomplete(incomplete) => incomplete.curvature(k, l, at),
        })
    }

    /// Its value with first derivatives. It is constant in arguments that do not vary.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn with_slopes<S: Scalar>(self, arguments: [S; MOST_ARGUMENTS], varies: [bool; MOST_ARGUMENTS]) -> S {
        let at = arguments.map(S::value);
        let mut sum = S::constant(self.value(at));
        for k in (0..self.arity()).filter(|&k| varies[k]) {
            sum += deviation(arguments[k]) * self.slope(k, at);
        }
        sum
    }

    /// Its value with first and second derivatives.
    pub(crate) fn with_curvatures<S: Scalar>(
        self,
        arguments: [S; MOST_ARGUMENTS],
        varies: [bool; MOST_ARGUMENTS],
    ) -> S {
        let at = arguments.map(S::value);
        let mut sum = self.with_slopes(arguments, varies);
        for k in (0..self.arity()).filter(|&k| varies[k]) {
            for l in (0..=k).filter(|&l| varies[l]) {
                let share = S::Real::from_f64(if k == l { 0.5 } else { 1.0 });
                sum += deviation(arguments[k]) * deviation(arguments[l]) * (self.curvature(k, l, at) * share);
            }
        }
        sum
    }
}

/// A number's derivatives with the value zero; zero for an infinite number.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn deviation<S: Scalar>(x: S) -> S {
    let [zero, infinity] = [0.0, f64::INFINITY].map(|value| S::constant(S::Real::from_f64(value)));
    Scalar::abs(x).select_less(infinity, x - x.value(), zero)
}

/// The largest power of two whose reciprocal is a normal number.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn largest<N: Number>() -> f64 {
    N::Element::MIN_POSITIVE.to_f64().recip()
}

/// Applies a function of floats to the floats of numbers, bounded by the largest result.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn each<N: Number>(at: [N; MOST_ARGUMENTS], largest: f64, f: impl Fn([f64; MOST_ARGUMENTS]) -> f64) -> N {
    N::zip_map(at, |at| N::Element::from_f64(f(at.map(Real::to_f64)).clamp(-largest, largest)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::autodiff::{Dual, Taylor};

    const LOWER: Special = Special::Incomplete(Incomplete::LowerGamma);
    const UPPER: Special = Special::Incomplete(Incomplete::UpperGamma);
    const BETA: Special = Special::Incomplete(Incomplete::Beta);

    /// Pads arguments.
    fn padded<const K: usize>(at: [f64; K]) -> [f64; MOST_ARGUMENTS] {
        std::array::from_fn(|k| at[k.min(K - 1)])
    }

    #[track_caller]
    fn is_close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found:e} instead of {expected:e}");
    }

    /// Orders, arguments, values and two derivatives, by mpmath 1.4 in 40 digits.
    #[test]
    fn bessel_functions_are_those_of_mpmath() {
        for (kind, n, x, [value, first, second]) in [
            (Bessel::J, 0, 0.3, [0.9776262465382961, -0.148318816273104, -0.48323019229461606]),
            (Bessel::J, 1, 0.3, [0.148318816273104, 0.48323019229461606, -0.11109927644289079]),
            (Bessel::J, 3, 0.001, [2.0833332031250035e-11, 6.249999348958356e-08, 0.0001249999739583347]),
            (Bessel::J, 2, 2.5, [0.44605905843961724, 0.14024685571258025, -0.21668000332329432]),
            (Bessel::J, -3, 2.5, [-0.21660039103911352, -0.186138589192681, -0.020848736380137553]),
            (Bessel::J, 7, 30.0, [0.1451851895723283, -0.02901430908291527, -0.13631351894840435]),
            (Bessel::J, 100, 80.0, [4.606553064823477e-06, 3.503606058248918e-06, 2.5473910232350945e-06]),
            (Bessel::J, 1000, 1100.0, [-0.032631556608876545, -0.007417234154828799, 0.005670070946639989]),
            (Bessel::Y, 0, 0.3, [-0.8072735778045195, 2.2931051383885293, -6.836410216823912]),
            (Bessel::Y, 1, 0.3, [-2.2931051383885293, 6.836410216823912, -45.97387489978595]),
            (Bessel::Y, 3, 0.001, [-5092958815.560502, 15278875173441.645, -6.111549942052734e+16]),
            (Bessel::Y, 2, 2.5, [-0.38133584924180325, 0.4509868173602284, -0.043113821217042186]),
            (Bessel::Y, -3, 2.5, [0.756055496753671, -0.525930746862602, 0.543036717316656]),
            (Bessel::Y, 7, 30.0, [0.02720211839520559, 0.14072653325229376, -0.030411998613209746]),
            (Bessel::Y, 100, 80.0, [-1152.5905185698505, 850.8583263662833, -658.9678957751195]),
            (Bessel::Y, 1000, 1100.0, [0.01800782532305286, -0.013642530017874016, -0.0031129227560507764]),
            (Bessel::I, 0, 0.3, [1.022626879351597, 0.15169384000359276, 0.5169807460062877]),
            (Bessel::I, 1, 0.3, [0.15169384000359276, 0.5169807460062877, 0.11391179780033125]),
            (Bessel::I, 3, 0.001, [2.08333346354167e-11, 6.25000065104169e-08, 0.00012500002604166804]),
            (Bessel::I, 2, 2.5, [1.2764661478191643, 1.4955433270333671, 1.4951871516100825]),
            (Bessel::I, -3, 2.5, [0.4743704087780356, 0.7072216572855216, 0.8745751345041982]),
            (Bessel::I, 7, 30.0, [341954833059.76935, 345702119995.6346, 349048969970.9467]),
            (Bessel::I, 100, 80.0, [465194832.8506102, 743545006.374467, 1182767446.6000078]),
            (Bessel::I, 1000, 1100.0, [2.664026679735135e+289, 3.5996647628496808e+289, 4.862429199153317e+289]),
            (Bessel::K, 0, 0.3, [1.3724600605442974, -3.055992033457325, 11.559100172068716]),
            (Bessel::K, 1, 0.3, [3.055992033457325, -11.559100172068716, 75.54179297876777]),
            (Bessel::K, 3, 0.001, [7999999000.000125, -23999998999999.87, 9.599999799999998e+16]),
            (Bessel::K, 2, 2.5, [0.12146020627856384, -0.17105898137059813, 0.26761833084508396]),
            (Bessel::K, -3, 2.5, [0.2682271463934492, -0.44333278195070286, 0.8318073499802973]),
            (Bessel::K, 7, 30.0, [4.746881649062613e-14, -4.948976064298577e-14, 5.170288852099308e-14]),
            (Bessel::K, 100, 80.0, [8.392871072464908e-12, -1.3455701101766418e-11, 2.1674928386963407e-11]),
            (Bessel::K, 1000, 1100.0, [1.2625113194529931e-293, -1.70654881805737e-293, 2.3074605121413044e-293]),
        ] {
            let found = Special::Bessel(kind, n).with_curvatures([Taylor::along(x, 1.0); MOST_ARGUMENTS], [true; 3]);
            for (found, expected) in [(found.value, value), (found.first, first), (found.second, second)] {
                is_close(found, expected, 2e-14 * expected.abs().max(value.abs()));
            }
        }
    }

    type Expected<const K: usize, const H: usize> = ([f64; K], [f64; 2], [f64; K], [f64; H]);

    /// Compares both tails, derivatives and second derivatives, of which `expected` has the upper half row by row.
    fn is_expected<const K: usize, const H: usize>(lower: Special, (at, tails, first, second): Expected<K, H>) {
        let at = padded(at);
        is_close(lower.value(at), tails[0], 1e-14 * tails[0]);
        let upper = if lower == BETA { BETA.value([at[1], at[0], 1.0 - at[2]]) } else { UPPER.value(at) };
        is_close(upper, tails[1], 1e-14 * tails[1]);
        let largest = first.iter().fold(0.0_f64, |largest, slope| largest.max(slope.abs()));
        let mut second = second.into_iter();
        for k in 0..K {
            is_close(lower.slope(k, at), first[k], 1e-13 * first[k].abs());
            for (l, second) in (k..K).zip(&mut second) {
                is_close(lower.curvature(k, l, at), second, 1e-12 * (second.abs() + largest));
                assert_eq!(lower.curvature(l, k, at), lower.curvature(k, l, at));
            }
        }
    }

    /// By mpmath 1.4 in 60 digits, derivatives by differences in 110.
    #[test]
    fn incomplete_functions_are_those_of_mpmath() {
        for expected in [
            (
                [0.001, 0.5],
                [0.9994399333435292, 0.0005600666564707498],
                [-0.5603594001080031, 0.0012129196984382424],
                [-0.5848512398697082, 1.2127770891029852, -0.003636333255917851],
            ),
            (
                [0.5, 0.1],
                [0.345279153981423, 0.654720846018577],
                [-0.8229360969795988, 1.6143422587153617],
                [1.6586313062993034, -0.5473832094906455, -9.68605355229217],
            ),
            (
                [2.5, 1.7],
                [0.36143007689620493, 0.6385699231037951],
                [-0.26654260855002465, 0.30460467401363456],
                [0.10987928786794805, -0.05255295386704924, -0.035835844001604056],
            ),
            (
                [2.5, 9.0],
                [0.9970535954121197, 0.0029464045878802906],
                [-0.004741679548193881, 0.002506554935041461],
                [-0.006217598371257099, 0.00374496335999998, -0.002088795779201218],
            ),
            (
                [30.0, 29.0],
                [0.4508291147181239, 0.5491708852818761],
                [-0.07302883978315522, 0.07386915713933492],
                [0.002489494231511442, -0.0012662874518062325, 1.4639151236491266e-45],
            ),
            (
                [1000.0, 1100.0],
                [0.99894067674607, 0.0010593232539299773],
                [-0.00011048987784079389, 0.00010537028564234359],
                [-1.0531678471574556e-05, 1.0095554794282267e-05, -9.674908045342456e-06],
            ),
            (
                [100000.0, 100000.0],
                [0.5004205221103651, 0.4995794778896348],
                [-0.001261567312316086, 0.0012615652097053005],
                [1.05130784574611e-14, 6.307836561569917e-09, -1.2615652097053006e-08],
            ),
        ] {
            is_expected(LOWER, expected);
        }
        for expected in [
            (
                [0.5, 0.5, 0.2],
                [0.2951672353008666, 0.7048327646991335],
                [-0.6419756782692088, 0.3875637692754405, 0.7957747154594766],
                [
                    1.587114188152536,
                    -0.38594561122134685,
                    -0.17757199605368235,
                    -0.4608859080312471,
                    0.9256060047095755,
                    -1.4920775914865185,
                ],
            ),
            (
                [2.0, 3.5, 0.4],
                [0.598449086665215, 0.40155091333478493],
                [-0.23236791555958716, 0.13819734355558064, 1.7567852458396842],
                [
                    0.028764579544622824,
                    0.024033319743332587,
                    0.4778773523725329,
                    -0.03640766159490826,
                    -0.005075556062757235,
                    -2.9279754097328077,
                ],
            ),
            (
                [0.001, 20.0, 0.1],
                [0.9999546172626522, 4.538273734780671e-05],
                [-0.045451299419298895, 6.572529992480637e-06, 0.0013525337072753702],
                [
                    -0.137157726346754,
                    0.006580537926554703,
                    1.3542156669334777,
                    -1.0288937674908888e-06,
                    -0.00014243430510415625,
                    -0.04206530111149432,
                ],
            ),
            (
                [40.0, 0.3, 0.99],
                [0.22425547198754134, 0.7757445280124586],
                [-0.004294324701139448, 0.7565792800880048, 17.113926652678128],
                [
                    0.00011896298258325405,
                    -0.011030794182667178,
                    -0.042519490072629104,
                    -0.11921615252143715,
                    44.175276102885384,
                    1872.1598550353942,
                ],
            ),
            (
                [300.0, 500.0, 0.375],
                [0.5024283443280131, 0.49757165567198697],
                [-0.01822065270885134, 0.01092996236472687, 23.299770112342696],
                [
                    2.280851489153969e-05,
                    4.5585782251288625e-06,
                    0.0242891338805086,
                    -1.367406870698594e-05,
                    0.008742146555299986,
                    -24.85308811983221,
                ],
            ),
        ] {
            is_expected(BETA, expected);
        }
    }

    #[test]
    fn ends_of_the_domains_have_their_values() {
        let bessel = |kind: Bessel, n: i32, x: f64| Special::Bessel(kind, n).value([x; 3]);
        assert_eq!((bessel(Bessel::Y, 2, 0.0), bessel(Bessel::K, 2, 0.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!((bessel(Bessel::I, 0, 0.0), bessel(Bessel::I, 5, 0.0)), (1.0, 0.0));
        assert_eq!((bessel(Bessel::I, 3, -1e5), bessel(Bessel::K, 3, 1e5)), (f64::NEG_INFINITY, 0.0));
        assert!(bessel(Bessel::Y, 1, -1.0).is_nan() && bessel(Bessel::K, 1, -1.0).is_nan());
        assert_eq!((LOWER.value([2.0, 0.0, 0.0]), UPPER.value([2.0, f64::INFINITY, 0.0])), (0.0, 0.0));
        is_close(LOWER.slope(1, [1.0, 0.0, 0.0]), 1.0, 1e-12);
        is_close(BETA.slope(2, [2.0, 1.0, 1.0]), 2.0, 1e-12);
        assert_eq!((LOWER.slope(1, [2.0, 0.0, 0.0]), BETA.slope(2, [3.0, 3.0, 0.0])), (0.0, 0.0));
        assert_eq!((BETA.value([2.0, 3.0, 0.0]), BETA.value([2.0, 3.0, 1.0])), (0.0, 1.0));
        assert!(BETA.value([2.0, 3.0, 1.1_f64]).is_nan() && LOWER.value([-1.0, 1.0, 0.0_f64]).is_nan());
        // An infinite slope leaves the value and other derivatives as they are.
        let [a, x] = Dual::<f64, 2>::variables([0.5, 0.0]);
        let found = LOWER.with_slopes([a, x, x], [true; 3]);
        assert!(found.value == 0.0 && found.gradient[0] == 0.0 && found.gradient[1] > 1e150, "{found:?}");
        let found = LOWER.with_slopes([a, a / x, x], [true; 3]);
        assert_eq!((found.value, found.gradient), (1.0, [0.0; 2]));
    }

    proptest! {
        #[test]
        fn neighbours_obey_recurrences_and_wronskians(n in -60..60_i32, x in 0.01..200.0_f64) {
            let [j, y, i, k] = [Bessel::J, Bessel::Y, Bessel::I, Bessel::K]
                .map(|kind| [-1, 0, 1].map(|shift| Special::Bessel(kind, n + shift).value([x; 3])));
            let factor = 2.0 * f64::from(n) / x;
            let is_zero = |terms: [f64; 3]| {
                let size: f64 = terms.iter().map(|term| term.abs()).sum();
                // Beside zeros of J and Y the error is relative to the amplitude.
                !size.is_finite() || terms.iter().sum::<f64>().abs() <= 1e-13 * (size + if x > 1.0 { 1.0 } else { 0.0 })
            };
            prop_assert!(is_zero([j[0], j[2], -factor * j[1]]) && is_zero([y[0], y[2], -factor * y[1]]));
            prop_assert!(is_zero([i[0], -i[2], -factor * i[1]]) && is_zero([-k[0], k[2], -factor * k[1]]));
            prop_assert!(is_zero([i[1] * k[2], i[2] * k[1], -1.0 / x]));
            let wronskian = [j[2] * y[1], -j[1] * y[2], -std::f64::consts::FRAC_2_PI / x];
            prop_assert!(is_zero(wronskian), "{wronskian:?}");
        }

        #[test]
        fn tails_are_complementary(a in -3.0..5.0_f64, b in -3.0..5.0_f64, at in -4.0..4.0_f64) {
            let [a, b] = [a, b].map(|power| 10_f64.powf(power));
            let x = (a + at * a.sqrt()).abs();
            prop_assert!((LOWER.value([a, x, x]) + UPPER.value([a, x, x]) - 1.0).abs() < 1e-15);
            let x = ((a + at * (a * b / (a + b)).sqrt()) / (a + b)).clamp(0.0, 1.0);
            let error = BETA.value([a, b, x]) + BETA.value([b, a, 1.0 - x]) - 1.0;
            // 1 − x is rounded.
            prop_assert!(error.abs() < 1e-15 + 1e-16 * BETA.slope(2, [a, b, x]), "{error}");
        }

        #[test]
        fn derivatives_are_limits_of_differences(a in -1.0..3.0_f64, b in -1.0..3.0_f64, at in -3.0..3.0_f64) {
            let [a, b] = [a, b].map(|power| 10_f64.powf(power));
            let x = (a + at * a.sqrt()).abs().max(0.1 * a);
            let y = ((a + at * (a * b / (a + b)).sqrt()) / (a + b)).clamp(0.1 * a / (a + b), 1.0 - 0.1 * b / (a + b));
            for (function, at) in [(LOWER, [a, x, x]), (UPPER, [a, x, x]), (BETA, [a, b, y])] {
                for k in 0..function.arity() {
                    let step = 1e-4 * if function == BETA && k == 2 { y.min(1.0 - y) } else { at[k] } / (1.0 + at[k].sqrt());
                    let moved = [step, -step].map(|step| {
                        let mut moved = at;
                        moved[k] += step;
                        moved
                    });
                    let difference = |f: &dyn Fn([f64; 3]) -> f64| (f(moved[0]) - f(moved[1])) / (moved[0][k] - moved[1][k]);
                    let close = |found: f64, expected: f64, scale: f64| {
                        (found - expected).abs() <= 1e-5 * (found.abs() + scale)
                    };
                    let (found, expected) = (function.slope(k, at), difference(&|at| function.value(at)));
                    prop_assert!(close(found, expected, 1e-6), "{function:?} {at:?} {k}: {found} instead of {expected}");
                    for l in 0..function.arity() {
                        let (found, expected) = (function.curvature(l, k, at), difference(&|at| function.slope(l, at)));
                        let scale = 1e-2 * function.slope(l, at).abs() / step * 1e-4;
                        prop_assert!(close(found, expected, scale), "{function:?} {at:?} {l} {k}: {found} instead of {expected}");
                    }
                }
            }
        }

        #[test]
        fn no_derivative_is_nan(n in -1000..1000_i32, powers in prop::array::uniform3(-320.0..309.0_f64), zero in 0..6_usize) {
            let mut at = powers.map(|power| 10_f64.powf(power));
            if let Some(argument) = at.get_mut(zero) {
                *argument = 0.0;
            }
            let [a, b, c] = at;
            let end = if zero > 3 { 1.0 - c.min(1.0) } else { c.min(1.0) };
            let bessel = [Bessel::J, Bessel::Y, Bessel::I, Bessel::K].map(|kind| (Special::Bessel(kind, n), at));
            for (function, at) in bessel.into_iter().chain([(LOWER, at), (UPPER, at), (BETA, [a, b, end])]) {
                prop_assert!(!function.value(at).is_nan(), "{function:?} {at:?}");
                for k in 0..function.arity() {
                    prop_assert!(function.slope(k, at).is_finite(), "{function:?} {at:?}");
                    prop_assert!((0..=k).all(|l| function.curvature(k, l, at).is_finite()), "{function:?} {at:?}");
                    let single = at.map(|argument| argument as f32);
                    prop_assert!(function.slope(k, single).is_finite() && !function.value(single).is_nan(), "{function:?} {at:?}");
                }
            }
        }
    }
}
