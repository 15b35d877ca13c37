//! Reasons why a solve ends.

use std::fmt;

/// Reason why a solve ended. The best point is in the report for every one of them.
///
/// # The first-order test
///
/// Short steps and a constant cost do not prove a minimum: heavy damping, an outdated scaling or a singular system cause them at any point.
/// Therefore [`GradientTolerance`](Status::GradientTolerance), [`CostTolerance`](Status::CostTolerance) and
/// [`StepTolerance`](Status::StepTolerance) require that, for each parameter that no bound holds, the cosine between the residuals and the
/// parameter's column of the Jacobian is at most the largest of
///
/// - `gtol`,
/// - `ε^0.41`, which is 3.8e-7 in double precision and 1.5e-3 in single,
/// - `√ftol / 16`, which is 3.8e-7 and 3e-4 at the defaults,
///
/// or no larger than what rounding makes of it: four times the change of the residuals when all parameters move by two units of
/// their last digit, in single precision by sixteen. The test depends neither on the damping nor on the scaling nor on units.
/// Where the Jacobian is not formed, it is one test for all parameters, of the mean of their squared cosines. A column that is
/// exactly zero passes; one that is so small that only its squares vanish does not. Where all residuals are outliers that have lost their
/// weight, as on the plateau of [Tukey's loss](crate::Loss::Tukey), the point fails.
///
/// If a solve would end at a point that fails the test, it renews its scaling or lowers its damping, and continues. If this does not help,
/// it ends with [`FlatValley`](Status::FlatValley), [`Kink`](Status::Kink), [`WrongDerivatives`](Status::WrongDerivatives) or
/// [`NoProgress`](Status::NoProgress).
///
/// # The second look
///
/// The end point of a descent gets a second look if its cosines fail the test, if the undamped step still predicts a noticeable reduction,
/// or if the undamped step is not computed by Cholesky's factorisation, for example because the normal equations are too close to singular.
/// At such points rounding errors of one parameter may hide a reduction in the other parameters; a saddle also passes the first-order test.
/// Other points take no additional work.
///
/// Plain Levenberg–Marquardt steps of eight dampings are tried, by a QR factorisation in double precision: in all parameters, in those that
/// have to move by more than eight units in the last place, and in all but one of up to 16. If none of them leads lower, points along the
/// null space of the Jacobian are tried, both ways, up to a distance of the size of the point. The solve goes on from the lowest point if its
/// cost is noticeably lower, by more than `ε^0.65` of it, in single precision `ε^0.75`, or by more than `ftol` where that is above its
/// default. From the 25th such point, the solve descends once more, and does not count as converged.
///
/// A look takes one Jacobian and some 20 evaluations of the residuals, eight more for each of up to 16 parameters, and up to ten for each
/// direction of the null space, of which it tries up to 16, and with up to four parameters those between two of them. There is no second
/// look for problems with more than 128 parameters, with `mn² > 3·10⁷`, with a Jacobian of blocks, or with products of `J` alone.
///
/// If no such point is noticeably lower, a gradient that rounding errors explain counts as 0. A curve fit then has the warning
/// [`EndedByRounding`](crate::curve::Warning::EndedByRounding).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// The residuals are orthogonal to every column of the Jacobian to within `gtol`, by default 256 `ε`.
    GradientTolerance,
    /// The last step predicted and brought a reduction of the cost of at most `ftol`, relative to the cost, and the point passes the
    /// first-order test. Where damping took most of that step, the reductions of the last steps fell, and their sum to infinity brings no
    /// more either, although damping fell with them.
    CostTolerance,
    /// The last step was at most `xtol` long, relative to the point and in the scaled variables, or the remaining reduction is below
    /// rounding errors; and the point passes the first-order test.
    StepTolerance,
    /// The residuals vanish where the Jacobian is singular: their squares are zero, or fifty steps have left more than `10⁻⁴` of the cost,
    /// while the residuals were less than `ε^0.75` times as long as at the start, and than `ε^0.85` times their change if each parameter
    /// changes by its size at the start, of which no step was more than `10⁻⁴`.
    ResidualsVanished,
    /// The cost fell to the target.
    TargetCost,
    /// The limit of trial steps was reached. A higher limit may help.
    MaxIterations,
    /// The limit of evaluations was reached. A higher limit may help.
    MaxEvaluations,
    /// The time limit was reached. A higher limit may help.
    TimeLimit,
    /// The observer or a [`CancelToken`](crate::solver::CancelToken) ended the solve.
    Cancelled,
    /// Flat valley: no step lowers the cost noticeably, and the parameters that fail the first-order test have almost no influence on the
    /// residuals. A change of each by its own size would change the cost by less than `ε^0.65` of itself.
    FlatValley,
    /// The residuals have a kink at the point, for example where a rectifier of a network switches. The derivative is that of one side, and
    /// along the gradient the cost rises in both directions. No step lowers the cost, but a test for smooth functions cannot prove a
    /// minimum.
    Kink,
    /// No step lowers the cost by more than rounding errors, but the point fails the first-order test. The derivatives may be too inexact,
    /// the residuals discontinuous, or the point at the edge of the region where they are finite.
    NoProgress,
    /// The derivatives contradict the residuals: along one direction, forward and backward differences of the cost agree with each other,
    /// and differ from the derivative by the Jacobian by more than 30 %. This is tested after 12 trials that the linear model did not
    /// predict, and if no step lowers the cost.
    WrongDerivatives,
    /// The residual function returned an error, or a further solve of a [robust](crate::CurveFit::robust) fit could not begin; the error is in
    /// the report.
    EvaluationFailed,
}

impl Status {
    /// Returns true if the solve ended as intended: at a minimum, or at the target cost.
    pub fn is_converged(self) -> bool {
        use Status::*;
        matches!(self, GradientTolerance | CostTolerance | StepTolerance | ResidualsVanished | TargetCost)
    }

    /// The descent came to an end by itself, and the point is to be looked at: nothing asked it to stop.
    pub(super) fn is_at_an_end(self) -> bool {
        use Status::*;
        matches!(self, GradientTolerance | CostTolerance | StepTolerance | NoProgress)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::GradientTolerance => "the gradient vanished (gtol)",
            Status::CostTolerance => "the cost no longer falls (ftol)",
            Status::StepTolerance => "the steps have become negligible (xtol)",
            Status::ResidualsVanished => "the residuals vanished",
            Status::TargetCost => "the target cost was reached",
            Status::MaxIterations => "the iterations were used up",
            Status::MaxEvaluations => "the evaluations were used up",
            Status::TimeLimit => "the time was used up",
            Status::Cancelled => "cancelled",
            Status::FlatValley => "no step lowers the cost noticeably: parameters without influence are not determined",
            Status::Kink => "no step lowers the cost any further, at a kink of the residuals",
            Status::NoProgress => "no step lowers the cost any further, though the gradient is not zero",
            Status::WrongDerivatives => "the derivatives contradict the residuals",
            Status::EvaluationFailed => "the residuals could not be evaluated",
        })
    }
}
