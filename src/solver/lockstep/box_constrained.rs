//! The damped steps of all lanes within bounds: [`BoxConstrained`](crate::linear::BoxConstrained), lane by lane.

use super::mask::{and, any, choose, is_less, not, or};
use super::system::{DampedModel, LaneFactor, Steps};
use crate::kernels::lanes::{Lanes, Register, Routine};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Lower and upper bound of each parameter.
pub(crate) type BoxBounds<T, const N: usize> = [[T; 2]; N];

/// Most faces of the box that are searched, for each parameter.
const FACES: usize = 5;

/// The bound that holds a parameter: −1 for the lower, 1 for the upper, 0 for none.
type HeldSide<T, R> = Lanes<T, R>;

/// The damped linear model, given `D²`, to be minimised within bounds around the points `x` in the lanes that are `active`.
pub(super) struct BoxMinimization<'s, T, R, const N: usize> {
    pub(super) model: DampedModel<'s, T, R, N>,
    pub(super) bounds: &'s BoxBounds<T, N>,
    pub(super) x: &'s [Lanes<T, R>; N],
    pub(super) active: Lanes<T, R>,
    /// Workspace of the systems of the faces.
    pub(super) factor: &'s mut LaneFactor<T, R, N>,
}

impl<T: Real, R: Register<T>, const N: usize> Routine for BoxMinimization<'_, T, R, N> {
    type Output = Steps<T, R, N>;

    /// Minimises the model by the active-set method of the full engine (Stark & Parker 1995).
    ///
    /// Parameters are held at bounds and released where their multiplier has the wrong sign, until both conditions of a minimum
    /// hold. A lane where that takes too many faces, or where a face is too close to singular, is not sound.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn run(self) -> Steps<T, R, N> {
        let BoxMinimization { model, bounds, x, active, factor } = self;
        let DampedModel { sums, lambda, .. } = model;
        let (zero, one, n) = (Lanes::splat(T::ZERO), Lanes::splat(T::ONE), sums.count());
        let mut search = FaceSearch {
            model,
            bounds,
            x,
            side: [zero; N],
            step: [zero; N],
            value: zero,
            lowest: Lanes::splat(T::INFINITY),
        };
        for j in 0..n {
            search.side[j] = side_that_holds(bounds[j], x[j], sums.gradient[j]);
        }
        let (mut soundness, mut open) = (one, active);
        for _ in 0..FACES * (n + 1) {
            let (mut held, mut fixed) = ([zero; N], [zero; N]);
            for j in 0..n {
                held[j] = search.side[j].abs();
                fixed[j] = choose(held[j], search.step[j], zero);
            }
            let face = model.solve_free(&held, fixed, factor);
            let is_sound = and(is_less(zero, face.soundness), is_finite(&face.step, n));
            soundness = choose(and(open, not(is_sound)), -one, soundness);
            open = and(open, is_sound);
            let is_outside = search.approach(open, &face.step);
            let is_released = search.keep(open, not(is_outside), &face.step);
            open = and(open, or(is_outside, is_released));
            if !any(open) {
                break;
            }
        }
        soundness = choose(open, -one, soundness);

        let mut steps = Steps { step: search.step, length: zero, slope: zero, predicted: zero, soundness };
        model.measure(&mut steps);
        steps.predicted = (lambda * steps.length * steps.length) * T::from_f64(0.5) - search.value;
        steps
    }
}

/// State of the search over the faces of the box.
struct FaceSearch<'s, T, R, const N: usize> {
    model: DampedModel<'s, T, R, N>,
    bounds: &'s BoxBounds<T, N>,
    x: &'s [Lanes<T, R>; N],
    side: [HeldSide<T, R>; N],
    step: [Lanes<T, R>; N],
    /// Value of the damped model at the step.
    value: Lanes<T, R>,
    /// Value at the lowest minimum of a face so far.
    lowest: Lanes<T, R>,
}

impl<T: Real, R: Register<T>, const N: usize> FaceSearch<'_, T, R, N> {
    /// Where the minimum of a face lies outside of the box, moves to the nearest point of the box if that lowers the model, otherwise
    /// along the straight line to the edge. Returns true in these lanes.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn approach(&mut self, open: Lanes<T, R>, face: &[Lanes<T, R>; N]) -> Lanes<T, R> {
        let (zero, one, n) = (Lanes::splat(T::ZERO), Lanes::splat(T::ONE), self.model.sums.count());
        let (mut nearest, mut leaves) = ([zero; N], [zero; N]);
        let (mut is_outside, mut reach) = (zero, one);
        for j in 0..n {
            nearest[j] = within(self.bounds[j], self.x[j], face[j]);
            leaves[j] = is_less(zero, (face[j] - nearest[j]).abs());
            is_outside = or(is_outside, leaves[j]);
            let share = (nearest[j] - self.step[j]) / (face[j] - self.step[j]);
            reach = choose(leaves[j], share.min(reach), reach);
        }
        let approaches = and(open, is_outside);
        let is_straight = not(is_less(self.model.at(&nearest).value, self.value));
        for j in 0..n {
            let share = (nearest[j] - self.step[j]) / (face[j] - self.step[j]);
            let stops = and(leaves[j], or(not(is_straight), not(is_less(reach, share))));
            let is_above = is_less(nearest[j], face[j]);
            self.side[j] = choose(and(approaches, stops), choose(is_above, one, -one), self.side[j]);
            let straight = within(self.bounds[j], self.x[j], (face[j] - self.step[j]).mul_add(reach, self.step[j]));
            let moved = choose(or(stops, not(is_straight)), nearest[j], straight);
            self.step[j] = choose(approaches, moved, self.step[j]);
        }
        is_outside
    }

    /// Where the minimum of a face lies inside of the box, moves there, and releases parameters whose multiplier has the wrong sign,
    /// unless the model is no lower there than before. Returns true where a parameter is released.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn keep(&mut self, open: Lanes<T, R>, is_inside: Lanes<T, R>, face: &[Lanes<T, R>; N]) -> Lanes<T, R> {
        let (zero, n) = (Lanes::splat(T::ZERO), self.model.sums.count());
        let stays = and(open, is_inside);
        for j in 0..n {
            self.step[j] = choose(stays, face[j], self.step[j]);
        }
        let found = self.model.at(&self.step);
        self.value = choose(open, found.value, self.value);
        let improves = and(stays, is_less(found.value, self.lowest));
        self.lowest = choose(improves, found.value, self.lowest);
        let mut is_released = zero;
        for j in 0..n {
            let inwards = is_less(self.side[j] * -found.slope[j], zero);
            let released = if self.bounds[j][0] < self.bounds[j][1] { and(improves, inwards) } else { zero };
            self.side[j] = choose(released, zero, self.side[j]);
            is_released = or(is_released, released);
        }
        is_released
    }
}

/// Returns `x + step` within the bounds, and exactly the bound where the step ends there.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn arrive<T: Real, R: Register<T>>(
    [lower, upper]: [T; 2],
    x: Lanes<T, R>,
    step: Lanes<T, R>,
) -> Lanes<T, R> {
    let (lower, upper) = (Lanes::splat(lower), Lanes::splat(upper));
    let inside = (x + step).max(lower).min(upper);
    let raised = choose(is_less(lower - x, step), inside, lower);
    choose(is_less(step, upper - x), raised, upper)
}

/// The bound that holds a parameter at `x`, given the derivative of the cost there: the cost would fall beyond the bound, or both bounds
/// are equal.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn side_that_holds<T: Real, R: Register<T>>(
    [lower, upper]: [T; 2],
    x: Lanes<T, R>,
    derivative: Lanes<T, R>,
) -> HeldSide<T, R> {
    let (zero, one) = (Lanes::splat(T::ZERO), Lanes::splat(T::ONE));
    if lower == upper {
        return one;
    }
    let at_lower = and(not(is_less(Lanes::splat(lower), x)), is_less(zero, derivative));
    let at_upper = and(not(is_less(x, Lanes::splat(upper))), is_less(derivative, zero));
    at_upper - at_lower
}

/// The step nearest to this one that stays within the bounds.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn within<T: Real, R: Register<T>>([lower, upper]: [T; 2], x: Lanes<T, R>, step: Lanes<T, R>) -> Lanes<T, R> {
    step.max(Lanes::splat(lower) - x).min(Lanes::splat(upper) - x)
}

#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn is_finite<T: Real, R: Register<T>, const N: usize>(v: &[Lanes<T, R>; N], n: usize) -> Lanes<T, R> {
    let mut finite = Lanes::splat(T::ONE);
    for j in 0..n {
        finite = and(finite, is_less(v[j].abs(), Lanes::splat(T::INFINITY)));
    }
    finite
}

/// The value and the derivatives of the damped model.
struct AtStep<T, R, const N: usize> {
    value: Lanes<T, R>,
    slope: [Lanes<T, R>; N],
}

impl<T: Real, R: Register<T>, const N: usize> DampedModel<'_, T, R, N> {
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn at(&self, v: &[Lanes<T, R>; N]) -> AtStep<T, R, N> {
        let mut at = AtStep { value: Lanes::splat(T::ZERO), slope: self.sums.gradient };
        for i in 0..self.sums.count() {
            let mut curvature = self.lambda * self.squared_scale[i] * v[i];
            for k in 0..self.sums.count() {
                curvature = self.sums.gram[i.max(k)][i.min(k)].mul_add(v[k], curvature);
            }
            at.slope[i] += curvature;
            at.value = (self.sums.gradient[i] + curvature * T::from_f64(0.5)).mul_add(v[i], at.value);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::kernels::lanes::Portable;
    use crate::solver::lockstep::LaneSums;

    const N: usize = 3;
    const LANES: usize = 4;
    const ROWS: usize = N + 2;

    type Four = Lanes<f64, Portable<f64, LANES>>;

    /// A number for each lane.
    fn four(of: impl Fn(usize) -> f64) -> Four {
        let mut lanes = Four::splat(0.0);
        lanes.as_mut_slice().iter_mut().enumerate().for_each(|(l, number)| *number = of(l));
        lanes
    }

    proptest! {
        /// The conditions of a minimum over the box, of which there is one: in each lane no parameter is outside, the model has
        /// no slope along one that is free, and rises from the bound that another is at.
        #[test]
        fn steps_are_minima_over_the_box(
            jacobian in vec(-1.0..1.0_f64, LANES * ROWS * N),
            r in vec(-1.0..1.0_f64, LANES * ROWS),
            x in vec(-2.0..2.0_f64, LANES * N),
            d in vec(0.5..2.0_f64, LANES * N),
            lambda in vec(prop_oneof![Just(0.0), 0.0..1.0], LANES),
            rooms in vec(prop_oneof![Just(0.0), 0.1..1.0_f64, Just(f64::INFINITY)], N),
        ) {
            let bounds: BoxBounds<f64, N> = std::array::from_fn(|j| [-rooms[j], rooms[j]]);
            // Half of the points are at a bound.
            let x: [Four; N] = std::array::from_fn(|j| four(|l| x[l * N + j].clamp(-rooms[j], rooms[j])));
            let entry = |l: usize, i: usize, j: usize| jacobian[(l * ROWS + i) * N + j];
            let mut sums = LaneSums::<f64, Portable<f64, LANES>, N>::zero(N);
            for j in 0..N {
                sums.gradient[j] = four(|l| (0..ROWS).map(|i| entry(l, i, j) * r[l * ROWS + i]).sum());
                for k in 0..=j {
                    sums.gram[j][k] = four(|l| (0..ROWS).map(|i| entry(l, i, j) * entry(l, i, k)).sum());
                }
            }
            let squared_scale: [Four; N] = std::array::from_fn(|j| four(|l| d[l * N + j] * d[l * N + j]));
            let lambda = four(|l| lambda[l]);
            let (active, mut factor) = (Four::splat(1.0), [[Four::splat(0.0); N]; N]);
            let (squared_scale, bounds, x, factor) = (&squared_scale, &bounds, &x, &mut factor);
            let steps = BoxMinimization { model: DampedModel { sums: &sums, lambda, squared_scale }, bounds, x, active, factor }.run();
            let model = DampedModel { sums: &sums, lambda, squared_scale };
            let slopes = model.at(&steps.step).slope;
            for l in (0..LANES).filter(|&l| steps.soundness.as_slice()[l] > 0.0) {
                for j in 0..N {
                    let [x, step, slope] = [x[j], steps.step[j], slopes[j]].map(|lanes| lanes.as_slice()[l]);
                    let arrived = arrive(bounds[j], Four::splat(x), Four::splat(step)).as_slice()[0];
                    let margin = 1e-7 * (1.0 + step.abs());
                    prop_assert!(arrived.abs() <= rooms[j] && (arrived - x - step).abs() <= margin);
                    let (is_lower, is_upper) = (arrived == -rooms[j], arrived == rooms[j]);
                    prop_assert!(slope > -margin || is_upper, "lane {}, parameter {}: {}", l, j, slope);
                    prop_assert!(slope < margin || is_lower, "lane {}, parameter {}: {}", l, j, slope);
                }
            }
            // Damped systems can be solved for.
            for l in 0..LANES {
                prop_assert!(lambda.as_slice()[l] < 0.01 || steps.soundness.as_slice()[l] > 0.0);
            }
        }
    }
}
