//! One directional derivative of the cost by differences, where trials contradict the linear model.

use super::descent::{Descent, DescentParts};
use super::first_order::{held_by, squared_noise};
use super::scaling::Influences;
use super::space::Space;
use crate::evaluation::Evaluation;
use crate::kernels::vector::dot;
use crate::linear::LinearModel;
use crate::problem::Evaluated;
use crate::real::Real;

/// Lengths of the differences that are tried, relative to the first.
const LENGTHS: [f64; 4] = [1e-1, 1e-2, 1e-3, 1e-4];

/// Two differences that agree to this share of the slope are believed.
const AGREEMENT: f64 = 0.05;

/// Derivatives that are off by more than this share are wrong.
const CONTRADICTION: f64 = 0.3;

/// Rounding errors of a cost may make up this share of a difference.
const ROUNDING: f64 = 1e-3;

/// Result of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Derivatives {
    /// Nothing speaks against them.
    Plausible,
    /// Differences of two lengths, and of both sides, agree with each other, and not with the Jacobian.
    Wrong,
    /// The differences of the two sides contradict each other: the cost has a kink, where the Jacobian is that of one side. It rises on both.
    Kink,
}

/// Compares the change of the cost along the scaled gradient with the Jacobian. `reach` is the length `‖Dδ‖` to begin with. At most 22
/// evaluations of the residuals. Nothing is found where the Jacobian is not formed.
pub(super) fn check_derivatives<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
    reach: T,
) -> Evaluated<Derivatives> {
    use Derivatives::{Kink, Plausible, Wrong};
    if descent.model.form().multiplies() || !follow_the_gradient(descent, reach) {
        return Ok(Plausible);
    }
    // What rounding errors of the residuals make of a cost.
    let costs = descent.here.costs;
    let noise = squared_noise(descent, evaluation)?.sqrt();
    let noise = noise * (costs.squares.sqrt() + noise) + T::EPSILON * costs.cost.abs();
    let slope = dot(descent.model.gradient(), descent.step.delta.as_ref());
    // The quotient of this length is off by no more than the permitted share of the slope.
    let shortest = noise / (T::from_f64(ROUNDING) * slope.abs());
    let mut is_doubtful = false;
    for length in LENGTHS.map(T::from_f64) {
        if length <= shortest {
            return Ok(Plausible);
        }
        if let Some(found) = slope_along(descent, evaluation, length, slope)? {
            if !contradicts(found, slope) {
                return Ok(Plausible);
            }
            is_doubtful = true;
            break;
        }
    }
    // The far side of a sudden change may look like a straight line; next to the point there is none of it.
    let near = slope_along(descent, evaluation, shortest, slope)?;
    let Some(near) = near.filter(|&near| contradicts(near, slope)) else { return Ok(Plausible) };
    let behind = slope_along(descent, evaluation, -shortest, slope)?;
    Ok(match behind {
        Some(behind) if is_doubtful && !contradicts(behind, near) => Wrong,
        Some(behind) if near >= T::ZERO && behind <= T::ZERO => Kink,
        _ => Plausible,
    })
}

/// The slope of the cost along the step by differences of this length and shorter ones, if they agree with each other. A negative length
/// looks behind the point.
fn slope_along<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
    length: T,
    slope: T,
) -> Evaluated<Option<T>> {
    let halves = [T::ONE, T::from_f64(0.5), T::from_f64(0.25)].map(|half| half * length);
    let mut quotients = [T::ZERO; 3];
    for (quotient, length) in quotients.iter_mut().zip(halves) {
        let (x, step) = (descent.here.x.as_ref(), descent.step.delta.as_ref());
        descent.space.look_ahead(evaluation, x, length, step, descent.trial.x.as_mut());
        *quotient = (descent.trial_cost(evaluation)? - descent.here.costs.cost) / length;
    }
    // Richardson's extrapolation to length zero, twice.
    let [whole, half, quarter] = quotients;
    let (coarse, fine) = (half + half - whole, quarter + quarter - half);
    let size = fine.abs().max(slope.abs());
    Ok(((fine - coarse).abs() <= T::from_f64(AGREEMENT) * size).then_some(fine))
}

/// Makes the step `−D⁻²Jᵀr`, in the variables that no bound stops, of length `‖D·‖ = reach`; `false` where it is zero, or not
/// finite. It leaves out parameters whose influence is lost among the others': differences do not see them.
fn follow_the_gradient<T: Real, P: DescentParts<T>>(descent: &mut Descent<T, P>, reach: T) -> bool {
    let (norms, d, x) = (descent.scale.norms(), descent.scale.d.as_ref(), descent.here.x.as_ref());
    let sizes = descent.space.sizes(x);
    let influences = Influences::of(norms, sizes);
    for j in 0..d.len() {
        let is_still = held_by(descent, j).is_some() || influences.is_lost(norms[j], sizes[j]);
        let step = if is_still { T::ZERO } else { -descent.model.gradient()[j] / (d[j] * d[j]) };
        descent.step.delta.as_mut()[j] = step;
    }
    let step = descent.step.delta.as_mut();
    let factor = reach / descent.scale.length(step);
    for (j, step) in step.iter_mut().enumerate() {
        *step *= factor;
        let ends = [*step, -T::from_f64(LENGTHS[0]) * *step];
        if descent.space.is_bounded() && ends.iter().any(|&end| !descent.space.contains(j, x, end)) {
            *step = T::ZERO;
        }
    }
    step.iter().all(|step| step.is_finite()) && step.iter().any(|&step| step != T::ZERO)
}

/// A slope by differences shows that the one by derivatives is wrong.
fn contradicts<T: Real>(found: T, slope: T) -> bool {
    (found - slope).abs() > T::from_f64(CONTRADICTION) * found.abs().max(slope.abs())
}
