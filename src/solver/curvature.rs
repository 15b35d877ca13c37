//! Curvature of the steps of a training.

/// Ratio of the estimated work of an exact step to that of a Kronecker step from which the latter is taken.
const MUCH_MORE: f64 = 2.0;

/// Curvature that steps of a training use: the exact Gauss–Newton matrix of each minibatch, or its Kronecker factors.
///
/// Full solves are always exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Curvature {
    /// Kronecker factors where the first minibatch says that exact steps are not worth their price, and exact steps elsewhere. The default.
    ///
    /// That is where the loss is a log-likelihood such as a cross-entropy, the minibatch has fewer residuals than parameters, and an exact step is
    /// estimated to take twice the work. On handwritten digits (8 to 64 units, minibatches of 8 to 128, six to eight epochs, three to five splits) Kronecker steps took from two thirds to a
    /// thirtieth of the time, ended at a half to a tenth of the cross-entropy, and told 1 to 4 % more of the other images right. Sums of
    /// squares stay exact: they are often fitted to many digits, which Kronecker steps are slow to reach. So does everything spread over several
    /// ranks, and every training with settings that only exact steps have.
    #[default]
    Auto,
    /// The Gauss–Newton matrix itself.
    Exact,
    /// [Kronecker factors](crate::optim::KroneckerLevenbergMarquardt) of the Gauss–Newton matrix. An objective without them is an error.
    Kronecker,
}

impl Curvature {
    /// The choice for a minibatch with these estimates of the time of one step, exact or by Kronecker factors.
    pub(crate) fn by_times(exact: f64, kronecker: f64) -> Self {
        if exact > MUCH_MORE * kronecker { Curvature::Kronecker } else { Curvature::Exact }
    }
}
