//! The forms of the damped linear system.

use std::fmt;

/// A form of the damped linear system `(JᵀJ + λD²)δ = −Jᵀr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LinearForm {
    /// The normal equations: Cholesky of `JᵀJ + λD²`. Fastest for more residuals than parameters.
    Cholesky,
    /// The triangle of `J` by Householder reflections, damped by further rows: the condition number is not squared.
    Qr,
    /// Cholesky of `JD⁻²Jᵀ + λI`, a matrix of the size of the residuals, from the rows of `J`: for fewer residuals than
    /// parameters.
    Dual,
    /// Cholesky of `JJᵀ + λI`, where a problem knows `JJᵀ` without forming `J`, as a [network](crate::nn::Network) does
    /// from the inputs and sensitivities of its layers. `D` is the identity.
    FactoredDual,
    /// Conjugate gradients on `JJᵀ + λI`, where a problem multiplies by `J` without forming it: no matrix at all. `D` is
    /// the identity. A round takes `O(B²h + BOh)` flops for `B` samples, `O` outputs and layers of `h` units in all. In a step of training that
    /// they do in place of [`FactoredDual`](Self::FactoredDual), of `O(B²O²h + B³O³)` flops, they leave `1e-4` of the residual.
    ConjugateGradients,
    /// A few rounds of conjugate gradients on `JᵀJ + λI` (CGLS), where a problem multiplies by `J` without forming it: for problems
    /// that know nothing of `JJᵀ`. The step is not exact; the [settings](crate::LevenbergMarquardt::with_truncation) say when the
    /// rounds end. `D` is the identity.
    TruncatedConjugateGradients,
    /// Sparse Cholesky of `JᵀJ + λD²`, where a problem is made of [blocks](crate::problem::BlockJacobian). Blocks that no residual block
    /// shares, such as the points of bundle adjustment, are eliminated first. A step along which `JᵀJ` has lost its digits is solved for
    /// by QR of the rows in the same order of elimination, unless that takes far more work.
    SparseCholesky,
    /// Conjugate gradients on `JᵀJ + λD²` (CGNR), from the stored entries of a Jacobian of [blocks](crate::problem::BlockJacobian): for factors that
    /// fit no memory, or take far longer. Each system is solved as exactly as the step is worth; see
    /// [`with_forcing_term`](crate::LevenbergMarquardt::with_forcing_term).
    Cgnr,
    /// Cholesky of the Schur complement of `JᵀJ + λD²`, where a problem is made of [blocks](crate::problem::BlockJacobian): those that no residual
    /// block shares are found and eliminated. Sparse Cholesky does the same from the leaves of its elimination tree, up to twice as fast on
    /// bundle adjustment and about as fast on pose graphs; so this form is taken only if it is asked for.
    Schur,
    /// Conjugate gradients on that Schur complement, which is not formed.
    IterativeSchur,
}

impl fmt::Display for LinearForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LinearForm::Cholesky => "Cholesky of JᵀJ",
            LinearForm::Qr => "QR of J",
            LinearForm::Dual => "Cholesky of JJᵀ",
            LinearForm::FactoredDual => "Cholesky of JJᵀ, without J",
            LinearForm::ConjugateGradients => "conjugate gradients on JJᵀ",
            LinearForm::TruncatedConjugateGradients => "truncated conjugate gradients on JᵀJ",
            LinearForm::SparseCholesky => "sparse Cholesky of JᵀJ",
            LinearForm::Cgnr => "conjugate gradients on JᵀJ",
            LinearForm::Schur => "Cholesky of the Schur complement of JᵀJ",
            LinearForm::IterativeSchur => "conjugate gradients on the Schur complement of JᵀJ",
        })
    }
}

impl LinearForm {
    /// All forms that solve their system, and whose work depends on the numbers of residuals and parameters alone.
    pub(crate) const ALL: [LinearForm; 5] = [
        LinearForm::Cholesky,
        LinearForm::Qr,
        LinearForm::Dual,
        LinearForm::FactoredDual,
        LinearForm::ConjugateGradients,
    ];

    /// Returns true if the Jacobian is only multiplied by vectors (matrix-free).
    #[inline]
    pub(crate) fn multiplies(self) -> bool {
        self == LinearForm::FactoredDual || self.is_iterative()
    }

    /// Returns true if the system is solved by iteration.
    #[inline]
    pub(crate) fn is_iterative(self) -> bool {
        matches!(self, LinearForm::ConjugateGradients | LinearForm::TruncatedConjugateGradients)
    }

    /// Variables can be held while the system is solved for the others.
    pub(crate) fn holds_variables(self) -> bool {
        matches!(self, LinearForm::Cholesky | LinearForm::Qr | LinearForm::SparseCholesky)
    }

    /// The capability that the problem lacks for this form.
    pub(crate) fn requirement(self) -> &'static str {
        if self.takes_blocks() {
            "a problem whose Jacobian is made of blocks"
        } else {
            "a problem that multiplies by its Jacobian, and the scaling `Identity` or the default one"
        }
    }

    /// Returns true if the form takes a Jacobian of blocks.
    #[inline]
    pub(crate) fn takes_blocks(self) -> bool {
        use LinearForm::{Cgnr, IterativeSchur, Schur, SparseCholesky};
        matches!(self, SparseCholesky | Cgnr | Schur | IterativeSchur)
    }

    /// Returns true if systems with a Jacobian of blocks are solved to a tolerance.
    #[inline]
    pub(crate) fn iterates(self) -> bool {
        matches!(self, LinearForm::Cgnr | LinearForm::IterativeSchur)
    }

    /// Returns true if rows of the whole Jacobian are formed.
    #[inline]
    pub(crate) fn forms_rows(self) -> bool {
        !(self.multiplies() || self.takes_blocks())
    }

    /// Returns true if steps can have a second-order correction. A sparse system takes none: a factorisation costs little more
    /// than the correction. Measured on five pose graphs from two starts and on a bundle adjustment, each without a loss, under
    /// Huber's and under Cauchy's: about as many iterations with it as without, and in five runs of six more time, by an eighth
    /// in the median.
    pub(crate) fn accelerates(self) -> bool {
        !self.takes_blocks()
    }

    /// Returns true if trial points can have chord corrections: the sums `Jᵀw` are solved for.
    pub(crate) fn takes_chords(self) -> bool {
        matches!(self, LinearForm::Cholesky | LinearForm::Qr)
    }

    /// Columns of the Jacobian, of `n`, that are formed.
    pub(crate) fn formed_columns(self, n: usize) -> usize {
        if self.forms_rows() { n } else { 0 }
    }
}
