//! Gauss–Newton form of a loss, which Levenberg–Marquardt minimises.

use crate::real::Real;

/// A loss as Levenberg–Marquardt sees it: by residuals, and a root of its second derivative (generalised Gauss–Newton).
///
/// For each sample, with the gradient `g` and the second derivative `H` of its loss with respect to the `width` outputs
/// `y`, these are `width` residuals `r` and a matrix `R` of as many rows and columns, such that
///
/// ```text
/// Rᵀr = g    and    RᵀR = H, or what stands for it.
/// ```
///
/// The rows of the Jacobian that the engine works with are `J = R ∂y/∂x`. So `Jᵀr` is the gradient of the loss, and `JᵀJ`
/// its second derivative but for the curvature of the network. Any loss that is convex in the outputs, and whose `H` has a
/// root that is known, joins by implementing this trait and returning itself from
/// [`Loss::least_squares`](super::Loss::least_squares).
///
/// In the literature's notation, where `H = SSᵀ`, the root here is `R = Sᵀ`: row `k` of `R` is column `k` of `S`.
///
/// ```
/// use marquardt::nn::{CurvatureRoot, GaussNewton, Loss, SparseCategoricalCrossentropy};
///
/// // Three classes, equally likely, of which the first is right: p = (⅓, ⅓, ⅓).
/// let seen = Loss::<f64>::least_squares(&SparseCategoricalCrossentropy).unwrap();
/// assert!(!seen.is_exact());
/// assert_eq!(seen.root(), CurvatureRoot::Centred);
/// let (mut r, mut root) = ([0.0; 3], [0.0; 6]);
/// seen.residuals(&[0.0; 3], 3, &[0.0], &mut r, &mut root);
/// let (s, p) = root.split_at(3);
/// let entry = |k: usize, j: usize| s[k] * (f64::from(u8::from(k == j)) - p[j]);
/// let column = |j: usize| [entry(0, j), entry(1, j), entry(2, j)];
/// let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
/// assert!((dot(column(0), r) - (1.0 / 3.0 - 1.0)).abs() < 1e-15);
/// assert!((dot(column(0), column(0)) - 2.0 / 9.0).abs() < 1e-15);
/// assert!((dot(column(0), column(1)) + 1.0 / 9.0).abs() < 1e-15);
/// ```
pub trait GaussNewton<T: Real> {
    /// Returns true if `½‖r‖²` *is* the loss. Where it is not, steps are judged by the loss itself.
    fn is_exact(&self) -> bool {
        false
    }

    /// Form of `R`.
    fn root(&self) -> CurvatureRoot {
        CurvatureRoot::Diagonal
    }

    /// Fills the residuals, in the shape of the outputs, and the roots, in the form that [`root`](Self::root) says.
    ///
    /// Both should stay moderate where the second derivative vanishes and the gradient does not: a small multiple of
    /// `√EPSILON` in place of a smaller root leaves `Rᵀr` exact, and `RᵀR` right to rounding.
    fn residuals(&self, outputs: &[T], width: usize, targets: &[T], residuals: &mut [T], roots: &mut [T]);
}

/// The form of the root of a loss's second derivative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CurvatureRoot {
    /// Each output has a residual of its own: one entry for each, in the shape of the outputs.
    Diagonal,
    /// A matrix of `width` rows and columns for each sample, row after row: row `k` says how residual `k` changes with each
    /// of the outputs.
    Full,
    /// `R = diag(s) (I − 𝟙pᵀ)` for numbers `p` that sum to one: the change of an output less the mean of all changes under `p`.
    /// `2 width` entries for each sample, `s` and then `p`.
    Centred,
}

impl CurvatureRoot {
    /// Entries for each sample of `width` outputs.
    pub fn numbers(self, width: usize) -> usize {
        match self {
            CurvatureRoot::Diagonal => width,
            CurvatureRoot::Full => width * width,
            CurvatureRoot::Centred => 2 * width,
        }
    }
}
