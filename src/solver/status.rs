//! Reasons for which a solve ends.

use std::fmt;

/// Reason for which a solve ended. The best point is in the report for every one of them.
///
/// # The first-order test
///
/// Short steps and costs that no longer fall are no evidence of a minimum: damping, a scaling that is out of date or a singular system
/// bring them about anywhere. So [`GradientTolerance`](Status::GradientTolerance), [`CostTolerance`](Status::CostTolerance) and
/// [`StepTolerance`](Status::StepTolerance) are only given to a point where, for each parameter that no bound holds, the cosine between
/// the residuals and the parameter's column of the Jacobian is at most the largest of
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
/// A solve that would end at a point which fails the test renews its scaling, or takes damping back, and goes on. If nothing helps it ends
/// with [`FlatValley`](Status::FlatValley), [`Kink`](Status::Kink), [`WrongDerivatives`](Status::WrongDerivatives) or [`NoProgress`](Status::NoProgress).
///
/// # The second look
///
/// A point where a descent ends is looked at once more if its cosines fail the test, if the undamped step still predicts a noticeable
/// reduction, or if it is solved for by another form than Cholesky's, as where the normal equations are too close to singular. Rounding errors
/// of one parameter may hide what the others have to gain there, and a saddle is stationary, too. Other points cost nothing more.
///
/// Plain Levenberg–Marquardt steps of eight dampings are tried, by a QR factorisation in double precision: in all parameters, in those that
/// have to move by more than eight units in the last place, and in all but one of up to 16. If none of them leads lower, points along the
/// null space of the Jacobian are tried, both ways, up to a distance of the size of the point. The solve goes on from the lowest point if its
/// cost is noticeably lower, by more than `ε^0.65` of it, in single precision `ε^0.75`, or by more than `ftol` where that is above its
/// default. From the 25th such point, the solve descends once more, and does not count as converged.
///
/// A look takes one Jacobian and some 20 evaluations of the residuals, eight more for each of up to 16 parameters, and up to ten for each
/// direction of the null space, of which it tries up to 16, and with up to four parameters those between two of them. Problems of more than
/// 128 parameters, of `mn² > 3·10⁷`, with a Jacobian of blocks, or with products with `J` alone, have none.
///
/// The rest is excused: where no such point is noticeably lower, a gradient that rounding explains counts as zero. A curve fit then
/// has the warning [`EndedByRounding`](crate::curve::Warning::EndedByRounding).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// The residuals are orthogonal to every column of the Jacobian to within `gtol`, by default 256 `ε`.
    GradientTolerance,
    /// The last step predicted and brought a reduction of the cost of at most `ftol`, relative to the cost, and the point passes the
    /// first-order test. Where damping took most of that step, the reductions of the last steps fell, and their sum to infinity brings no
    /// more either, although damping fell with them.
    CostTolerance,
    /// The last step was at most `xtol` long, relative to the point and in the scaled variables, or rounding hides what is left to gain,
    /// and the point passes the first-order test.
    StepTolerance,
    /// The residuals vanish where the Jacobian is singular: their squares are zero, or fifty steps have left more than `10⁻⁴` of the cost,
    /// while the residuals were less than `ε^0.75` times as long as at the start, and than `ε^0.85` times their change if each parameter
    /// changes by its size at the start, of which no step was more than `10⁻⁴`.
    ResidualsVanished,
    /// The cost fell to the target.
    TargetCost,
    /// Trials used up. More may help.
    MaxIterations,
    /// Evaluations used up. More may help.
    MaxEvaluations,
    /// Time used up. More may help.
    TimeLimit,
    /// The observer or a [`CancelToken`](crate::solver::CancelToken) ended the solve.
    Cancelled,
    /// The floor of a flat valley: no step lowers the cost noticeably, and parameters that fail the first-order test have all but lost
    /// their influence. A change of each by its own size would change the cost by less than `ε^0.65` of itself.
    FlatValley,
    /// The residuals have a kink at the point, as where a rectifier of a network switches: the derivative is that of one side, and along the
    /// line of its gradient the cost rises both ways. No step lowers it, but no test for smooth functions proves a minimum.
    Kink,
    /// No step that rounding leaves visible lowers the cost, but the point fails the first-order test: the derivatives may be too
    /// inexact, the residuals discontinuous, or the point at the edge of where they are finite.
    NoProgress,
    /// The derivatives contradict the residuals: differences of the cost along one direction, both ways, agree with each other, and are
    /// off from what the Jacobian says by more than 30 %. It is looked for after twelve trials that the linear model has not foretold,
    /// and where no step lowers the cost.
    WrongDerivatives,
    /// The residual function returned an error, or a further solve of a [robust](crate::CurveFit::robust) fit could not begin; the error is in
    /// the report.
    EvaluationFailed,
}

impl Status {
    /// The solve ended where it was meant to: at a minimum, or at the target cost.
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
