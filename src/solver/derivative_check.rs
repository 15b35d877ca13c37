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

/// The cost changes along the scaled gradient otherwise than the Jacobian says: differences of two lengths agree with each
/// other, and not with the slope. `reach` is the length `‖Dδ‖` to begin with. At most 19 evaluations of the residuals;
/// `false` where the Jacobian is not formed.
pub(super) fn derivatives_are_wrong<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
    reach: T,
) -> Evaluated<bool> {
    if descent.model.form().multiplies() || !follow_the_gradient(descent, reach) {
        return Ok(false);
    }
    // What rounding errors of the residuals make of a cost.
    let costs = descent.here.costs;
    let noise = squared_noise(descent, evaluation)?.sqrt();
    let noise = noise * (costs.squares.sqrt() + noise) + T::EPSILON * costs.cost.abs();
    let slope = dot(descent.model.gradient(), descent.step.delta.as_ref());
    // The quotient of this length is off by no more than the permitted share of the slope.
    let shortest = noise / (T::from_f64(ROUNDING) * slope.abs());
    for length in LENGTHS.map(T::from_f64) {
        if length <= shortest {
            return Ok(false);
        }
        if let Some(found) = slope_along(descent, evaluation, length, slope)? {
            if !contradicts(found, slope) {
                return Ok(false);
            }
            // The far side of a sudden change may look like a straight line; next to the point there is none of it.
            let near = slope_along(descent, evaluation, shortest, slope)?;
            return Ok(near.is_some_and(|near| contradicts(near, slope)));
        }
    }
    Ok(false)
}

/// The slope of the cost along the step by differences of this length and shorter ones, if they agree with each other.
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
        if descent.space.is_bounded() && !descent.space.contains(j, x[j] + *step) {
            *step = T::ZERO;
        }
    }
    step.iter().all(|step| step.is_finite()) && step.iter().any(|&step| step != T::ZERO)
}

/// A slope by differences shows that the one by derivatives is wrong.
fn contradicts<T: Real>(found: T, slope: T) -> bool {
    (found - slope).abs() > T::from_f64(CONTRADICTION) * found.abs().max(slope.abs())
}
