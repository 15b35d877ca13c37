//! Problems with bounds: those of Hock & Schittkowski 1981, *Test Examples for Nonlinear Programming Codes*, that are sums of
//! squares, some of the paper's with bounds in the manner of Gay 1984, *A Trust-Region Approach to Linearly Constrained
//! Optimization*, and curves whose best parameters lie outside. Minima were worked out to 30 digits with the active set fixed.

use std::sync::LazyLock;

use marquardt::Bounds;
use marquardt::problem::BoundSide::{self, Lower, Upper};

use super::case::Case;
use super::problem::Problem::*;
use super::run::Run;

/// A problem with bounds, and the parameters that they hold at the minimum.
pub struct BoundedCase {
    case: Case,
    lower: &'static [f64],
    upper: &'static [f64],
    /// Where Hock and Schittkowski start; otherwise it is the paper's start.
    start: Option<&'static [f64]>,
    pub active: &'static [(usize, BoundSide)],
}

/// The starts: the usual one, brought within; the middle; the lower and the upper corner. An infinite bound counts as one that is
/// 10 away from the usual start. From a corner that is a stationary point, nothing can lead to the minimum.
const STARTS: [&str; 4] = ["usual", "middle", "lower", "upper"];

/// No bound.
const NONE: f64 = f64::INFINITY;

/// A line of the table: a problem, `n` and `m`, the bounds, `‖r‖²` at the lowest minimum and at others, what bounds hold at the
/// lowest, what is reached, and the start.
macro_rules! bounded_cases {
    ($($problem:ident $n:literal $m:literal in $lower:tt to $upper:tt, $minimum:literal $local:tt, $active:tt, $reached:literal, $start:expr;)*) => {
        static CASES: &[BoundedCase] = &[$(
            BoundedCase {
                case: Case { problem: $problem, n: $n, m: $m, minimum: $minimum, local: &$local, reached: $reached },
                lower: &$lower,
                upper: &$upper,
                start: $start,
                active: &$active,
            },
        )*];
    };
}

bounded_cases! {
    Rosenbrock 2 2 in [-NONE, -1.5] to [NONE, NONE], 0.0 [], [], "++++", Some(&[-2.0, 1.0]);
    Rosenbrock 2 2 in [-NONE, 1.5] to [NONE, NONE], 5.042_618_789_360_709e-2 [4.941_229],
        [(1, Lower)], "---+", Some(&[-2.0, 1.0]);
    Gulf 3 99 in [0.1, 0.0, 0.0] to [100.0, 25.6, 5.0], 0.0 [32.835], [], "++++", Some(&[100.0, 12.5, 3.0]);
    Wood 4 6 in [-10.0, -10.0, -10.0, -10.0] to [10.0, 10.0, 10.0, 10.0], 0.0 [], [], "++++", None;
    HockSchittkowski45 5 1 in [0.0, 0.0, 0.0, 0.0, 0.0] to [1.0, 2.0, 3.0, 4.0, 5.0], 1.0 [2.0],
        [(0, Upper), (1, Upper), (2, Upper), (3, Upper), (4, Upper)], "++-+", None;
    Rosenbrock 2 2 in [-50.0, 0.0] to [0.5, 100.0], 0.25 [], [(0, Upper)], "++++", None;
    PowellBadlyScaled 2 2 in [0.0, 1.0] to [1.0, 9.0], 1.512_593_672_439_672e-10 [], [(1, Upper)], "++++", None;
    BrownBadlyScaled 2 3 in [0.0, 3e-5] to [1e6, 100.0], 783.999_999_295_184 [],
        [(1, Lower)], "++++", None;
    Beale 2 3 in [0.6, 0.5] to [10.0, 100.0], 0.0 [], [], "++++", None;
    HelicalValley 3 3 in [-100.0, -1.0, -1.0] to [0.8, 1.0, 1.0], 9.904_221_209_614_002e-1 [],
        [(0, Upper)], "++++", None;
    Bard 3 15 in [0.1, 0.0, 0.0] to [50.0, 100.0, 100.0], 9.582_284_721_153_242e-3 [], [(0, Lower)], "++x+", None;
    Meyer 3 16 in [0.006, 0.0, 0.0] to [2.0, 3e5, 3e4], 127.451_771_211_322_67 [], [(0, Lower)], "++++", None;
    BoxThreeDimensional 3 10 in [0.0, 5.0, 0.0] to [2.0, 9.5, 20.0], 1.143_481_802_641_458e-4 [],
        [(1, Upper)], "++++", None;
    Wood 4 6 in [-100.0, -100.0, -100.0, -100.0] to [0.0, 10.0, 100.0, 100.0], 1.556_700_800_438_565 [],
        [(0, Upper)], "++++", None;
    KowalikOsborne 4 11 in [0.0, -1.0, 0.13, 0.12] to [10.0, 12.0, 13.0, 12.0], 3.078_307_234_641_975e-4 [],
        [(2, Lower)], "++-+", None;
    BrownDennis 4 20 in [-10.0, 0.0, -100.0, -20.0] to [100.0, 15.0, 0.0, 0.2], 88_860.479_767_500_4 [],
        [(0, Lower), (3, Upper)], "++++", None;
    Osborne1 5 33 in [0.0, 0.0, -3.0, 0.0, 0.0] to [3.0, 1.8, 3.0, 3.0, 3.0], 5.559_881_821_366_395e-5 [4.971_5e-2, 5.085_7e-2],
        [(1, Upper)], "++--", None;
    BiggsExp6 6 13 in [0.0, 0.0, 0.0, 1.0, 0.0, 0.0] to [2.0, 8.0, 1.0, 7.0, 5.0, 5.0], 5.320_986_590_782_544e-4 [0.242_81],
        [(1, Upper), (5, Upper)], "++-+", None;
    Watson 6 31 in [-0.015, -10.0, -10.0, -10.0, -10.0, -10.0] to [10.0, 100.0, 100.0, 100.0, 100.0, 0.99],
        2.289_606_438_249_485e-3 [], [(0, Lower), (5, Upper)], "++++", None;
    Watson 9 31 in [-1e-5, 0.0, 0.0, 0.0, 0.0, -3.0, 0.0, -3.0, 0.0] to [1e-5, 0.9, 0.1, 1.0, 1.0, 0.0, 4.0, 0.0, 2.0],
        3.740_139_779_318_448e-2 [], [(0, Lower), (1, Upper), (2, Upper), (4, Lower), (6, Upper)], "++++", None;
    BrownAlmostLinear 10 10 in [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        to [100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 0.99], 1.020_063_083_539_39e-6 [],
        [(9, Upper)], "++++", None;
    Misra1a 2 14 in [0.0, 0.0] to [200.0, NONE], 3.334_445_882_192_066 [6761.79], [(0, Upper)], "+---", None;
    BoxBod 2 6 in [0.0, 0.6] to [NONE, NONE], 1_220.288_197_063_998 [9771.5], [(1, Lower)], "++++", None;
}

impl BoundedCase {
    fn starts(&self) -> [Vec<f64>; 4] {
        let usual = self.start.map_or_else(|| self.case.start(1.0), <[f64]>::to_vec);
        let finite = |bounds: &[f64]| -> Vec<f64> {
            let near = |(&bound, x): (&f64, &f64)| if bound.is_finite() { bound } else { x + bound.signum() * 10.0 };
            bounds.iter().zip(&usual).map(near).collect()
        };
        let (lower, upper) = (finite(self.lower), finite(self.upper));
        let middle = lower.iter().zip(&upper).map(|(lower, upper)| 0.5 * (lower + upper)).collect();
        let mut within = usual;
        self.bounds().project(&mut within);
        [within, middle, lower, upper]
    }

    fn bounds(&self) -> Bounds<f64> {
        Bounds::new(self.lower, self.upper).expect("bounds are in order")
    }

    /// All runs whose start has a finite cost, with their cases.
    pub fn runs() -> &'static [(&'static BoundedCase, Run)] {
        static RUNS: LazyLock<Vec<(&BoundedCase, Run)>> = LazyLock::new(|| {
            let of_case = |bounded: &'static BoundedCase| {
                let starts = bounded.starts().into_iter().zip(STARTS).enumerate();
                starts.filter_map(move |(index, (start, name))| {
                    Some((bounded, Run::new(&bounded.case, index, name, &start, Some(&bounded.bounds()))?))
                })
            };
            CASES.iter().flat_map(of_case).collect()
        });
        &RUNS
    }
}
