//! The problems by name: their residuals, and where they start.

use marquardt::Scalar;

use super::{extra, fixed, variable};

/// A problem; those of the paper come first, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    Rosenbrock,
    FreudensteinRoth,
    PowellBadlyScaled,
    BrownBadlyScaled,
    Beale,
    JennrichSampson,
    HelicalValley,
    Bard,
    Gaussian,
    Meyer,
    Gulf,
    BoxThreeDimensional,
    PowellSingular,
    Wood,
    KowalikOsborne,
    BrownDennis,
    Osborne1,
    BiggsExp6,
    Osborne2,
    Watson,
    ExtendedRosenbrock,
    ExtendedPowellSingular,
    Penalty1,
    Penalty2,
    VariablyDimensioned,
    Trigonometric,
    BrownAlmostLinear,
    DiscreteBoundaryValue,
    DiscreteIntegralEquation,
    BroydenTridiagonal,
    BroydenBanded,
    LinearFullRank,
    LinearRank1,
    LinearRank1WithZeros,
    Chebyquad,
    /// Not of the paper, as those that follow.
    HockSchittkowski45,
    Misra1a,
    BoxBod,
}

use Problem::*;

impl Problem {
    /// All `m` residuals.
    pub fn residuals<S: Scalar<Real = f64>>(self, x: &[S], m: usize) -> Vec<S> {
        match self {
            Rosenbrock => fixed::rosenbrock(x),
            FreudensteinRoth => fixed::freudenstein_roth(x),
            PowellBadlyScaled => fixed::powell_badly_scaled(x),
            BrownBadlyScaled => fixed::brown_badly_scaled(x),
            Beale => fixed::beale(x),
            JennrichSampson => fixed::jennrich_sampson(x, m),
            HelicalValley => fixed::helical_valley(x),
            Bard => fixed::bard(x),
            Gaussian => fixed::gaussian(x),
            Meyer => fixed::meyer(x),
            Gulf => fixed::gulf(x, m),
            BoxThreeDimensional => fixed::box_three_dimensional(x, m),
            PowellSingular => fixed::powell_singular(x),
            Wood => fixed::wood(x),
            KowalikOsborne => fixed::kowalik_osborne(x),
            BrownDennis => fixed::brown_dennis(x, m),
            Osborne1 => fixed::osborne_1(x),
            BiggsExp6 => fixed::biggs_exp6(x, m),
            Osborne2 => fixed::osborne_2(x),
            Watson => variable::watson(x),
            ExtendedRosenbrock => variable::extended_rosenbrock(x),
            ExtendedPowellSingular => variable::extended_powell_singular(x),
            Penalty1 => variable::penalty_1(x),
            Penalty2 => variable::penalty_2(x),
            VariablyDimensioned => variable::variably_dimensioned(x),
            Trigonometric => variable::trigonometric(x),
            BrownAlmostLinear => variable::brown_almost_linear(x),
            DiscreteBoundaryValue => variable::discrete_boundary_value(x),
            DiscreteIntegralEquation => variable::discrete_integral_equation(x),
            BroydenTridiagonal => variable::broyden_tridiagonal(x),
            BroydenBanded => variable::broyden_banded(x),
            LinearFullRank => variable::linear_full_rank(x, m),
            LinearRank1 => variable::linear_rank_1(x, m),
            LinearRank1WithZeros => variable::linear_rank_1_with_zeros(x, m),
            Chebyquad => variable::chebyquad(x, m),
            HockSchittkowski45 => extra::hock_schittkowski_45(x),
            Misra1a => extra::misra_1a(x),
            BoxBod => extra::box_bod(x),
        }
    }

    /// The usual start for `n` parameters.
    pub fn start(self, n: usize) -> Vec<f64> {
        let repeated = |values: &[f64]| values.iter().copied().cycle().take(n).collect();
        let by_share = |at: fn(f64) -> f64, share: f64| fixed::numbered(n).map(|j| at(j * share)).collect();
        match self {
            Rosenbrock | ExtendedRosenbrock => repeated(&[-1.2, 1.0]),
            FreudensteinRoth => vec![0.5, -2.0],
            PowellBadlyScaled => vec![0.0, 1.0],
            BrownBadlyScaled | Beale | Bard | LinearFullRank | LinearRank1 | LinearRank1WithZeros => repeated(&[1.0]),
            JennrichSampson => vec![0.3, 0.4],
            HelicalValley => vec![-1.0, 0.0, 0.0],
            Gaussian => vec![0.4, 1.0, 0.0],
            Meyer => vec![0.02, 4000.0, 250.0],
            Gulf => vec![5.0, 2.5, 0.15],
            BoxThreeDimensional => vec![0.0, 10.0, 20.0],
            PowellSingular | ExtendedPowellSingular => repeated(&[3.0, -1.0, 0.0, 1.0]),
            Wood => vec![-3.0, -1.0, -3.0, -1.0],
            KowalikOsborne => vec![0.25, 0.39, 0.415, 0.39],
            BrownDennis => vec![25.0, 5.0, -5.0, -1.0],
            Osborne1 => vec![0.5, 1.5, -1.0, 0.01, 0.02],
            BiggsExp6 => vec![1.0, 2.0, 1.0, 1.0, 1.0, 1.0],
            Osborne2 => vec![1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5],
            Watson => vec![0.0; n],
            Penalty1 => by_share(|j| j, 1.0),
            Penalty2 | BrownAlmostLinear => vec![0.5; n],
            VariablyDimensioned => by_share(|share| 1.0 - share, 1.0 / n as f64),
            Trigonometric => vec![1.0 / n as f64; n],
            DiscreteBoundaryValue | DiscreteIntegralEquation => by_share(|t| t * (t - 1.0), 1.0 / (n as f64 + 1.0)),
            BroydenTridiagonal | BroydenBanded => vec![-1.0; n],
            Chebyquad => by_share(|t| t, 1.0 / (n as f64 + 1.0)),
            HockSchittkowski45 => vec![2.0; n],
            Misra1a => vec![500.0, 1e-4],
            BoxBod => vec![100.0, 0.75],
        }
    }
}
