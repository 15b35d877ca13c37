//! The sizes in which the problems are solved, the minima, and the count that is reached.

use super::case::Case;
use super::problem::Problem::*;

/// A line of the table: a problem, `n` and `m`, `‖r‖²` at the global minimum and at local ones, and what is reached.
macro_rules! cases {
    ($($problem:ident $n:literal $m:literal $minimum:literal $local:tt $reached:literal;)*) => {
        pub const CASES: &[Case] = &[$(
            Case { problem: $problem, n: $n, m: $m, minimum: $minimum, local: &$local, reached: $reached },
        )*];
    };
}

cases! {
    Rosenbrock                2  2 0.0                       []                            "+++";
    FreudensteinRoth          2  2 0.0                       [48.984_253_679_240_02]       "---";
    PowellBadlyScaled         2  2 0.0                       []                            "++-";
    BrownBadlyScaled          2  3 0.0                       []                            "+++";
    Beale                     2  3 0.0                       [0.452_009]                   "+--";
    JennrichSampson           2 10 124.362_182_355_614_85    [259.580_193]                 "+-x";
    HelicalValley             3  3 0.0                       []                            "+++";
    Bard                      3 15 8.214_877_306_578_974e-3  [17.428_693_33]               "+--";
    Gaussian                  3 15 1.127_932_769_618_648e-8  [0.405_102]                   "++-";
    Meyer                     3 16 87.945_855_170_851_12     []                            "+++";
    Gulf                      3 10 0.0                       [0.0385]                      "++-";
    Gulf                      3 99 0.0                       [0.038, 32.835]               "++-";
    BoxThreeDimensional       3 10 0.0                       [0.075_588_7]                 "+--";
    PowellSingular            4  4 0.0                       []                            "+++";
    Wood                      4  6 0.0                       []                            "+++";
    KowalikOsborne            4 11 3.075_056_038_492_374e-4  [5.592_72e-4, 1.027_34e-3]    "+++";
    BrownDennis               4 20 85_822.201_626_356_38     []                            "---";
    Osborne1                  5 33 5.464_894_697_482_906e-5  []                            "+++";
    BiggsExp6                 6 13 0.0                       [5.655_65e-3, 0.306_367]      "-+-";
    Osborne2                 11 65 4.013_773_629_354_774e-2  [1.789_81]                    "+--";
    Watson                    6 31 2.287_670_053_552_436e-3  []                            "+++";
    Watson                    9 31 1.399_760_138_099_02e-6   []                            "+++";
    Watson                   12 31 4.722_381_105_891_757e-10 []                            "+++";
    Watson                   20 31 2.486_616_372_416e-20     []                            "+++";
    ExtendedRosenbrock       10 10 0.0                       []                            "+++";
    ExtendedRosenbrock       30 30 0.0                       []                            "+++";
    ExtendedPowellSingular   12 12 0.0                       []                            "+++";
    ExtendedPowellSingular   40 40 0.0                       []                            "+++";
    Penalty1                  4  5 2.249_977_500_899_937e-5  []                            "+++";
    Penalty1                 10 11 7.087_651_467_090_37e-5   []                            "+++";
    Penalty2                  4  8 9.376_293_007_355_442e-6  []                            "+++";
    Penalty2                 10 20 2.936_605_374_567_46e-4   []                            "+++";
    VariablyDimensioned      10 12 0.0                       []                            "+++";
    VariablyDimensioned      20 22 0.0                       []                            "+++";
    Trigonometric             5  5 0.0                       [1.773_38e-3]                 "+++";
    Trigonometric            10 10 0.0                       [2.795_056e-5, 8.788_23e-4]   "---";
    BrownAlmostLinear        10 10 0.0                       [1.0]                         "+++";
    BrownAlmostLinear        30 30 0.0                       [1.0]                         "+++";
    BrownAlmostLinear        40 40 0.0                       [1.0]                         "+++";
    DiscreteBoundaryValue    10 10 0.0                       []                            "+++";
    DiscreteBoundaryValue    30 30 0.0                       []                            "+++";
    DiscreteIntegralEquation 10 10 0.0                       []                            "+++";
    DiscreteIntegralEquation 30 30 0.0                       []                            "+++";
    BroydenTridiagonal       10 10 0.0                       []                            "+++";
    BroydenTridiagonal       30 30 0.0                       []                            "+++";
    BroydenBanded            10 10 0.0                       []                            "+++";
    BroydenBanded            30 30 0.0                       []                            "+++";
    LinearFullRank            5 10 5.0                       []                            "+++";
    LinearFullRank            5 50 45.0                      []                            "+++";
    LinearRank1               5 10 2.142_857_142_857_143     []                            "+++";
    LinearRank1               5 50 12.128_712_871_287_128    []                            "+++";
    LinearRank1WithZeros      5 10 3.647_058_823_529_412     []                            "+++";
    LinearRank1WithZeros      5 50 13.628_865_979_381_443    []                            "+++";
    Chebyquad                 5  5 0.0                       []                            "+--";
    Chebyquad                 8  8 3.516_873_725_677_932e-3  []                            "+--";
    Chebyquad                 9  9 0.0                       []                            "+--";
    Chebyquad                10 10 4.772_713_696_375_36e-3   [6.503_95e-3]                 "---";
}
