//! The first-order test of whether the point where a solve ends is stationary.
//!
//! Steps become short and costs stop falling for many reasons: heavy damping, a scaling `D` that is out of date, a singular
//! system, wrong derivatives. The gradient at the point is the only evidence of a minimum. The test takes the cosine between the
//! residuals and each column of the Jacobian by itself, so that it depends neither on `D` and `λ` nor on the units of the
//! parameters, and no parameter hides another.

use super::derivative_check::{Derivatives, check_derivatives};
use super::descent::{Descent, DescentParts};
use super::scaling::Influences;
use super::space::Space;
use super::{Scaling, Settings, Status};
use crate::evaluation::{Evaluation, Partial, RowSums};
use crate::kernels::vector::{dot, underflows};
use crate::linear::LinearModel;
use crate::problem::{BoundSide, Evaluated};
use crate::real::Real;

/// Cosines of up to `ε` to this power count as zero: 3.8e-7 in double precision, 1.5e-3 in single.
pub(super) const STATIONARY: f64 = 0.41;

/// Cosines of up to this share of `√ftol` count as zero where `ftol` allows for more: a step along one parameter predicts
/// the square of its cosine as a share of the cost.
const SHARE_OF_FTOL: f64 = 0.0625;

/// A share of the cost is noticeable if it is more than `ε` to this power: 7e-11 in double precision, 3e-5 in single.
const NOTICEABLE: f64 = 0.65;

/// Displacement of the parameters that shows the rounding errors of the residuals, in units of the last digit: in double and in
/// single precision. Formulas err by several units, for which single precision leaves no room between rounding and tolerance.
const DISPLACEMENTS: [f64; 2] = [2.0, 16.0];

/// A gradient of up to this many times the rounding errors of the residuals is rounding.
const ROUNDING: f64 = 4.0;

/// `D` is out of date for a parameter once it is this many times larger, or smaller, than the norm of its column.
const OUT_OF_DATE: f64 = 2.0;

impl<T: Real> Settings<T> {
    /// The largest cosine that counts as zero.
    #[inline]
    pub(super) fn largest_cosine(&self) -> T {
        let resolvable = T::EPSILON.powf(T::from_f64(STATIONARY));
        let allowed = T::from_f64(SHARE_OF_FTOL) * self.ftol.sqrt();
        self.gtol.max(resolvable).max(allowed)
    }

    /// A point with this largest cosine counts as stationary.
    #[inline]
    pub(crate) fn is_stationary(&self, gradient_cosine: T) -> bool {
        gradient_cosine <= self.largest_cosine()
    }
}

/// The bound that holds parameter `j` at the current point.
#[inline]
pub(super) fn held_by<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>, j: usize) -> Option<BoundSide> {
    if !descent.space.is_bounded() {
        return None;
    }
    descent.space.holds(j, descent.here.x.as_ref(), descent.model.gradient()[j])
}

/// `max_j (jᵀr)² / (‖j‖² ‖r‖²)`, the square of the largest cosine between the residuals and a column `j` of the Jacobian: the largest share
/// of the cost that a step along one parameter is predicted to remove. Parameters that a bound holds are left out.
///
/// Where the Jacobian is not formed: the mean over the columns, weighted by their squared lengths. If all rows of a loss are outliers
/// without weight, the rows do not show where the minimum is; then the result is 1.
#[inline(always)]
pub(super) fn squared_gradient_cosine<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>) -> T {
    if let Some(spread) = descent.scale.spread() {
        let (gradient, cost) = (descent.model.gradient(), descent.here.costs.cost);
        let squared = dot(gradient, gradient);
        return if squared > T::ZERO { squared / (spread * (cost + cost).abs()) } else { T::ZERO };
    }
    if has_no_weight(descent) {
        return T::ONE;
    }
    squared_cosine_among(descent, |_| true)
}

/// All rows of a cost of its own are outliers whose weight underflows.
#[inline]
fn has_no_weight<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>) -> bool {
    let costs = descent.here.costs;
    let norms = descent.scale.norms();
    underflows(costs.squares) && !underflows(costs.cost) && norms.iter().all(|&norm| underflows(norm * norm))
}

/// Square of the largest cosine of the columns that count.
#[inline]
fn squared_cosine_among<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>, counts: impl Fn(usize) -> bool) -> T {
    let columns = descent.model.gradient().iter().zip(descent.scale.norms()).enumerate();
    let is_bounded = descent.space.is_bounded();
    let largest = columns.fold(T::ZERO, |largest, (j, (&gradient, &norm))| {
        if norm > T::ZERO && !(is_bounded && held_by(descent, j).is_some()) && counts(j) {
            largest.max((gradient / norm) * (gradient / norm))
        } else {
            largest
        }
    });
    if largest > T::ZERO { largest / descent.here.costs.squares } else { largest }
}

/// Every free parameter's cosine is within tolerance: that of `gtol`, `ε^0.41`, or `√ftol / 16`, whichever is largest.
pub(super) fn is_stationary<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>, settings: &Settings<T>) -> bool {
    settings.is_stationary(squared_gradient_cosine(descent).sqrt())
}

/// The largest derivative of the cost with respect to a parameter that no bound holds.
pub(super) fn gradient_norm<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>) -> T {
    let gradient = descent.model.gradient().iter().enumerate().filter(|&(j, _)| held_by(descent, j).is_none());
    gradient.fold(T::ZERO, |largest, (_, &gradient)| largest.max(gradient.abs()))
}

/// Brings `D` to the column norms at the current point and lets the damping start afresh, with the Gauss–Newton step if it
/// is short enough. Parameters whose influence is lost among the others' are held in proportion to their size, as long as the
/// others are not stationary: their columns may be rounding errors, and ask for long steps that lead nowhere. Returns `false`, and
/// changes nothing, where `D` is up to date, or where the Jacobian is not formed.
///
/// A scaling other than the default gives way to it: it has led to where no step is left although the gradient is not zero.
pub(super) fn renew_scaling<T: Real, P: DescentParts<T>>(descent: &mut Descent<T, P>, settings: &Settings<T>) -> bool {
    if descent.model.form().multiplies() {
        return false;
    }
    let tolerance = settings.largest_cosine();
    let sizes = descent.space.sizes(descent.here.x.as_ref());
    let (norms, d) = (descent.scale.norms(), descent.scale.d.as_ref());
    let influences = Influences::of(norms, sizes);
    let is_lost = |j: usize| influences.is_lost(norms[j], sizes[j]);
    let holds_lost = squared_cosine_among(descent, |j| !is_lost(j)) > tolerance * tolerance;
    let renewed = descent.step.workspace.as_mut();
    for (j, (renewed, &d)) in renewed.iter_mut().zip(d).enumerate() {
        *renewed = match norms[j] {
            _ if holds_lost && is_lost(j) => d.max(influences.hold(sizes[j])),
            norm if norm > T::ZERO => norm,
            _ => d,
        };
    }
    let limit = T::from_f64(OUT_OF_DATE);
    let mut pairs = d.iter().zip(&*renewed);
    if !pairs.any(|(&d, &renewed)| d > limit * renewed || renewed > limit * d) {
        return false;
    }
    descent.scale.d.as_mut().copy_from_slice(renewed);
    descent.scale.rule = Scaling::default();
    descent.start_damping();
    true
}

/// The status of a solve that ended at this point with `claim`: converged only if the point passes the first-order test, or
/// if its gradient is lost in the rounding errors of the residuals.
pub(super) fn verdict<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
    settings: &Settings<T>,
    claim: Status,
) -> Evaluated<Status> {
    let passes = is_stationary(descent, settings) || is_at_rounding(descent, evaluation)?;
    if passes && !hides_a_gradient(descent, evaluation, settings)? {
        return Ok(if claim == Status::NoProgress { Status::StepTolerance } else { claim });
    }
    let reach = descent.scale.length(descent.space.sizes(descent.here.x.as_ref()));
    Ok(match check_derivatives(descent, evaluation, reach)? {
        Derivatives::Wrong => Status::WrongDerivatives,
        Derivatives::Kink => Status::Kink,
        Derivatives::Plausible if is_flat(descent, settings) => Status::FlatValley,
        Derivatives::Plausible => Status::NoProgress,
    })
}

/// Parameters that fail the first-order test would not change the cost noticeably if each changed by its own size.
fn is_flat<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>, settings: &Settings<T>) -> bool {
    let (norms, sizes) = (descent.scale.norms(), descent.space.sizes(descent.here.x.as_ref()));
    let limit = settings.largest_cosine() * descent.here.costs.squares.sqrt();
    let fails = |&(j, &gradient): &(usize, &T)| gradient.abs() > limit * norms[j] && held_by(descent, j).is_none();
    let failing = descent.model.gradient().iter().enumerate().filter(fails);
    let change = failing.fold(T::ZERO, |sum, (j, &gradient)| sum + (gradient * sizes[j]).abs());
    let noticeable = T::EPSILON.powf(T::from_f64(NOTICEABLE)) * descent.here.costs.cost.abs();
    change <= noticeable && !descent.model.form().multiplies()
}

/// Returns true if the largest cosine is explained by rounding errors of the residuals. They show where the parameters are
/// displaced by a few units of their last digit.
fn is_at_rounding<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
) -> Evaluated<bool> {
    let noise = squared_noise(descent, evaluation)?;
    let unit = T::from_f64(ROUNDING);
    let squared_cosine = squared_gradient_cosine(descent);
    Ok(!has_no_weight(descent) && squared_cosine * descent.here.costs.squares <= unit * unit * noise)
}

/// `‖r‖²` of the residuals' change by rounding errors of the parameters and of the residuals.
pub(super) fn squared_noise<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
) -> Evaluated<T> {
    let mut noise = T::ZERO;
    for alternate in [false, true] {
        displace(descent, evaluation, alternate);
        noise = noise.max(evaluation.squared_change(descent.here.x.as_ref(), descent.trial.x.as_ref())?);
    }
    Ok(noise)
}

/// Makes the trial point one that is a few units of the last digit away, upwards or in both directions in turns, as far as bounds
/// allow.
fn displace<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
    alternate: bool,
) {
    let is_single = size_of::<T>() == size_of::<f32>();
    let unit = T::from_f64(DISPLACEMENTS[usize::from(is_single)]) * T::EPSILON;
    let x = descent.here.x.as_ref();
    let displacement = descent.step.workspace.as_mut();
    for (j, (entry, &size)) in displacement.iter_mut().zip(descent.space.sizes(x)).enumerate() {
        *entry = if alternate && j % 2 == 1 { -(unit * size) } else { unit * size };
        if descent.space.is_bounded() && !descent.space.contains(j, x, *entry) {
            *entry = T::ZERO;
        }
    }
    descent.space.look_ahead(evaluation, x, T::ONE, displacement, descent.trial.x.as_mut());
}

/// A column of the Jacobian is so small that its squares underflow, and yet not zero, and its cosine is too large.
fn hides_a_gradient<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
    settings: &Settings<T>,
) -> Evaluated<bool> {
    if underflows(descent.here.costs.cost) {
        // Nor is there a cost that could fall: the start had one.
        return Ok(false);
    }
    let hidden = |norm: &T| underflows(*norm * *norm);
    if !descent.model.form().forms_rows() || !descent.scale.norms().iter().any(hidden) {
        return Ok(false);
    }
    let (gradient, squares) = (descent.step.delta.as_mut(), descent.step.workspace.as_mut());
    evaluation.sum_rows(descent.here.x.as_ref(), &mut MagnifiedSums { gradient, squares })?;
    let tolerance = settings.largest_cosine() * descent.here.costs.squares.sqrt();
    let sums = descent.step.delta.as_ref().iter().zip(descent.step.workspace.as_ref());
    let mut columns = descent.scale.norms().iter().zip(sums).enumerate();
    Ok(columns.any(|(j, (norm, (&gradient, &square)))| {
        hidden(norm) && held_by(descent, j).is_none() && gradient.abs() > tolerance * square.sqrt()
    }))
}

/// `Jᵀr` and `‖J_j‖²` of a Jacobian that is magnified by `ε⁻⁴`: squares of what is left of a column that underflows are in the middle of
/// the range of the float.
struct MagnifiedSums<'a, T> {
    gradient: &'a mut [T],
    squares: &'a mut [T],
}

impl<T: Real> Partial<T> for MagnifiedSums<'_, T> {
    fn begin(&mut self) {
        self.gradient.fill(T::ZERO);
        self.squares.fill(T::ZERO);
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn write(&self, entries: &mut Vec<T>) {
        entries.extend_from_slice(self.gradient);
        entries.extend_from_slice(self.squares);
    }

    fn read(&mut self, entries: &[T]) {
        let (gradient, squares) = entries.split_at(self.gradient.len());
        self.gradient.copy_from_slice(gradient);
        self.squares.copy_from_slice(squares);
    }
}

impl<T: Real> RowSums<T> for MagnifiedSums<'_, T> {
    fn add(&mut self, _: usize, r: &mut [T], jacobian: &mut [T]) {
        let unit = T::EPSILON.powi(-4);
        for (row, &r) in jacobian.chunks_exact(self.gradient.len()).zip(r.iter()) {
            for (j, &derivative) in row.iter().enumerate() {
                let derivative = unit * derivative;
                self.gradient[j] += derivative * r;
                self.squares[j] += derivative * derivative;
            }
        }
    }

    fn overwrites(&self) -> bool {
        true
    }
}
