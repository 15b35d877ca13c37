//! The damped step within bounds: a strictly convex quadratic programme over a box.

use super::euclidean::add_share;
use super::{Faces, Space};
use crate::evaluation::Evaluation;
use crate::kernels::vector::{all_finite, dot, scaled_norm};
use crate::linear::{Held, IllConditioned};
use crate::problem::BoundSide;
use crate::real::Real;
use crate::storage::Storage;

/// Largest number of faces searched, per variable; after that, the best point so far is taken.
const ROUNDS_PER_PARAMETER: usize = 5;

/// `min ½‖Jδ + r‖² + ½λ‖Dδ‖²` over `lower ≤ x + δ ≤ upper`, by a primal active-set method (BVLS, Stark & Parker 1995).
///
/// Variables are held at bounds, and the others solved for. A solution that leaves the box is followed as far as it lowers
/// the model within, and what it runs into is held, too; at one that does not, the variables whose multiplier says that the
/// model falls inwards are set free. Each face of the box that is left has a lower minimum than the last, so none comes
/// twice, and the last has the minimum of all. One factorisation a face, most often one to three.
pub(in crate::solver) struct BoxSpace<T: Real, S: Storage<T>> {
    lower: S::Vector,
    upper: S::Vector,
    /// Variables held by the last step.
    held: S::Sides,
    /// The minimum on a face.
    face: S::Vector,
    /// A point of the box, or the gradient of the damped model.
    room: S::Vector,
}

impl<T: Real, S: Storage<T>> BoxSpace<T, S> {
    /// Room for the steps of points within these bounds.
    pub(super) fn new(lower: &[T], upper: &[T]) -> Self {
        let n = lower.len();
        let copied = |numbers: &[T]| {
            let mut copy = S::vector(n);
            copy.as_mut().copy_from_slice(numbers);
            copy
        };
        BoxSpace {
            lower: copied(lower),
            upper: copied(upper),
            held: S::sides(n),
            face: S::vector(n),
            room: S::vector(n),
        }
    }

    /// The bound that holds variable `j` at this value, where the cost has this derivative: the cost would fall beyond, or both bounds are the
    /// same.
    #[inline]
    pub(super) fn holds_at(&self, j: usize, value: T, derivative: T) -> Option<BoundSide> {
        BoundSide::that_holds(self.lower.as_ref()[j], self.upper.as_ref()[j], value, derivative)
    }

    /// Variable `j` may have this value.
    pub(super) fn contains_at(&self, j: usize, value: T) -> bool {
        self.lower.as_ref()[j] <= value && value <= self.upper.as_ref()[j]
    }

    /// The nearest value that variable `j` may have.
    pub(super) fn clamped(&self, j: usize, value: T) -> T {
        value.max(self.lower.as_ref()[j]).min(self.upper.as_ref()[j])
    }

    /// Holds the parameters at bounds of `x` beyond which the cost falls.
    fn begin(&mut self, x: &[T], gradient: &[T]) {
        let bounds = self.lower.as_ref().iter().zip(self.upper.as_ref());
        let at = x.iter().zip(gradient);
        for (held, ((&lower, &upper), (&x, &derivative))) in self.held.as_mut().iter_mut().zip(bounds.zip(at)) {
            *held = BoundSide::that_holds(lower, upper, x, derivative);
        }
    }

    /// Goes from `step` towards the minimum on the face, which is outside: to the nearest point of the box, where that
    /// lowers the model, else straight to the edge. What ends at a bound is held there.
    fn approach(&mut self, system: &impl Faces<T>, x: &[T], step: &mut [T]) {
        let (face, nearest, held) = (self.face.as_ref(), self.room.as_mut(), self.held.as_mut());
        let room = |j: usize| (self.lower.as_ref()[j] - x[j], self.upper.as_ref()[j] - x[j]);
        let mut reach = T::ONE;
        for j in 0..x.len() {
            let (down, up) = room(j);
            nearest[j] = face[j].max(down).min(up);
            if nearest[j] != face[j] {
                reach = reach.min((nearest[j] - step[j]) / (face[j] - step[j]));
            }
        }
        let straight = !(value(system, nearest) < value(system, step));
        for j in 0..x.len() {
            let (down, up) = room(j);
            let outside = nearest[j] != face[j];
            let stopped = outside && (!straight || (nearest[j] - step[j]) / (face[j] - step[j]) <= reach);
            if stopped {
                held[j] = Some(if face[j] < down { BoundSide::Lower } else { BoundSide::Upper });
            }
            step[j] = if stopped || !straight {
                nearest[j]
            } else {
                (step[j] + reach * (face[j] - step[j])).max(down).min(up)
            };
        }
    }

    /// Releases held parameters along which the model falls inwards; returns true if there are any.
    fn release(&mut self, system: &impl Faces<T>, step: &[T]) -> bool {
        if self.held.as_ref().iter().all(Option::is_none) {
            return false;
        }
        let ((lambda, d), multiplier) = (system.damping(), self.room.as_mut());
        system.gram_times(step, multiplier);
        let (gradient, held) = (system.gradient(), self.held.as_mut());
        let mut released = false;
        for j in (0..step.len()).filter(|&j| self.lower.as_ref()[j] < self.upper.as_ref()[j]) {
            let slope = gradient[j] + multiplier[j] + lambda * d[j] * d[j] * step[j];
            let inwards = match held[j] {
                Some(BoundSide::Lower) => slope < T::ZERO,
                Some(BoundSide::Upper) => slope > T::ZERO,
                None => false,
            };
            if inwards {
                held[j] = None;
                released = true;
            }
        }
        released
    }
}

/// `(Jᵀr)ᵀv + ½‖Jv‖² + ½λ‖Dv‖²`.
fn value<T: Real>(system: &impl Faces<T>, v: &[T]) -> T {
    let (lambda, d) = system.damping();
    let length = scaled_norm(d, v);
    dot(system.gradient(), v) + T::from_f64(0.5) * (system.quadratic_form(v) + lambda * length * length)
}

impl<T: Real, S: Storage<T>> Space<T> for BoxSpace<T, S> {
    #[inline(never)]
    fn look_ahead(&mut self, _: &dyn Evaluation<T>, x: &[T], share: T, step: &[T], moved: &mut [T]) {
        add_share(x, share, step, moved);
    }

    /// Held parameters end exactly at their bounds, and rounding moves none out of the box.
    #[inline(never)]
    fn plus(&mut self, _: &dyn Evaluation<T>, x: &[T], step: &[T], moved: &mut [T]) {
        let (lower, upper, held) = (self.lower.as_ref(), self.upper.as_ref(), self.held.as_ref());
        for (j, moved) in moved.iter_mut().enumerate() {
            *moved = match held[j] {
                Some(BoundSide::Lower) => lower[j],
                Some(BoundSide::Upper) => upper[j],
                None => (x[j] + step[j]).max(lower[j]).min(upper[j]),
            };
        }
    }

    #[inline(never)]
    fn solve(&mut self, system: &mut impl Faces<T>, x: &[T], step: &mut [T]) -> Result<T, IllConditioned> {
        self.begin(x, system.gradient());
        step.fill(T::ZERO);
        let mut lowest = T::INFINITY;
        for _ in 0..ROUNDS_PER_PARAMETER * (x.len() + 1) {
            self.face.as_mut().copy_from_slice(step);
            system.solve_face(self.held.as_ref(), self.face.as_mut())?;
            if !all_finite(self.face.as_ref()) {
                return Err(IllConditioned);
            }
            if !self.allows(x, self.face.as_ref()) {
                self.approach(system, x, step);
                continue;
            }
            step.copy_from_slice(self.face.as_ref());
            let value = value(system, step);
            // Where rounding hides what a face has gained, there is nothing more to be had.
            if !(value < lowest) || !self.release(system, step) {
                break;
            }
            lowest = value;
        }
        let (_, d) = system.damping();
        Ok(scaled_norm(d, step))
    }

    fn is_bounded(&self) -> bool {
        true
    }

    #[inline]
    fn held(&self) -> Held<'_> {
        self.held.as_ref()
    }

    #[inline]
    fn holds(&self, j: usize, x: &[T], derivative: T) -> Option<BoundSide> {
        self.holds_at(j, x[j], derivative)
    }

    fn contains(&self, j: usize, x: &[T], entry: T) -> bool {
        self.contains_at(j, x[j] + entry)
    }

    fn allows(&self, x: &[T], step: &[T]) -> bool {
        let bounds = self.lower.as_ref().iter().zip(self.upper.as_ref());
        bounds.zip(x.iter().zip(step)).all(|((&lower, &upper), (&x, &step))| lower - x <= step && step <= upper - x)
    }

    fn clamp(&self, x: &mut [T]) {
        x.iter_mut().enumerate().for_each(|(j, x)| *x = self.clamped(j, *x));
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::evaluation::GivenRows;
    use crate::linear::{BoxedModel, Forms, LinearForm, LinearModel, Plan};
    use crate::problem::Bounds;
    use crate::solver::damping::DampedSystem;
    use crate::solver::system::{StepState, System};
    use crate::storage::Dynamic;

    /// Rows `[J r]`, a point in a box, and damping; some sides of the box are far away, and some at the point.
    #[derive(Debug)]
    struct Programme {
        n: usize,
        jacobian: Vec<f64>,
        r: Vec<f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
        x: Vec<f64>,
        lambda: f64,
        d: Vec<f64>,
    }

    fn programme() -> impl Strategy<Value = Programme> {
        let room = prop_oneof![Just(0.0), 0.0..0.5_f64, Just(f64::INFINITY)];
        (1..5_usize).prop_flat_map(move |n| {
            let rooms = vec(room.clone(), n);
            let numbers = |n| vec(-1.0..1.0_f64, n);
            let damping = (prop_oneof![Just(0.0), 0.0..1.0], vec(0.5..2.0, n));
            (numbers(n * (n + 2)), numbers(n + 2), numbers(n), rooms.clone(), rooms, damping).prop_map(
                move |(jacobian, r, x, down, up, (lambda, d))| Programme {
                    n,
                    jacobian,
                    r,
                    lower: x.iter().zip(&down).map(|(x, down)| x - down).collect(),
                    upper: x.iter().zip(&up).map(|(x, up)| x + up).collect(),
                    x,
                    lambda,
                    d,
                },
            )
        })
    }

    impl Programme {
        fn solve(&self, form: LinearForm) -> (Vec<f64>, Vec<Option<BoundSide>>) {
            let (m, n) = (self.n + 2, self.n);
            let plan = Plan::of_rows(form, false, (m, n), 1);
            let mut model: BoxedModel<f64> = Forms::ROWS.model(&plan, None).unwrap();
            let bounds = Bounds::new(self.lower.clone(), self.upper.clone()).unwrap();
            let mut programme = BoxSpace::<f64, Dynamic>::new(bounds.lower(), bounds.upper());
            let (mut step, mut trial) = (StepState::new(vec![0.0; n], vec![0.0; n]), vec![0.0; n]);
            GivenRows { r: self.r.clone(), jacobian: self.jacobian.clone() }.evaluate(|evaluation| {
                model.linearize(evaluation, &self.x).unwrap();
                let (parts, point) = ((&mut model, &mut programme), (&self.x, &self.d));
                System::new(evaluation, parts, point, &mut step, &mut trial).solve(self.lambda).unwrap();
            });
            assert!(programme.allows(&self.x, &step.delta) && step.factorizations < ROUNDS_PER_PARAMETER * n);
            (step.delta, Space::<f64>::held(&programme).to_vec())
        }

        /// `JᵀJ + λD²` and `Jᵀr`.
        fn matrix(&self) -> (DMatrix<f64>, DVector<f64>) {
            let jacobian = DMatrix::from_row_slice(self.n + 2, self.n, &self.jacobian);
            let damping = DVector::from_iterator(self.n, self.d.iter().map(|d| self.lambda * d * d));
            let gradient = jacobian.transpose() * DVector::from_column_slice(&self.r);
            (jacobian.transpose() * jacobian + DMatrix::from_diagonal(&damping), gradient)
        }

        /// The lowest of the minima, within the box, of all its faces.
        fn lowest(&self) -> f64 {
            let (a, g) = self.matrix();
            let mut lowest = f64::INFINITY;
            for code in 0..3_usize.pow(self.n as u32) {
                let side = |j: usize| code / 3_usize.pow(j as u32) % 3;
                let mut equations = a.clone();
                let mut rhs = -&g;
                for j in (0..self.n).filter(|&j| side(j) > 0) {
                    let bound = if side(j) == 1 { &self.lower } else { &self.upper };
                    equations.row_mut(j).fill(0.0);
                    equations[(j, j)] = 1.0;
                    rhs[j] = bound[j] - self.x[j];
                }
                let Some(v) = equations.lu().solve(&rhs).filter(|v| v.iter().all(|v| v.is_finite())) else { continue };
                let within =
                    |j: usize| self.lower[j] - self.x[j] - 1e-9 <= v[j] && v[j] <= self.upper[j] - self.x[j] + 1e-9;
                if (0..self.n).all(within) {
                    lowest = lowest.min(g.dot(&v) + 0.5 * v.dot(&(&a * &v)));
                }
            }
            lowest
        }
    }

    proptest! {
        /// Every face of the box is tried, all 3ⁿ.
        #[test]
        fn no_face_of_the_box_is_lower(programme in programme()) {
            let (a, g) = programme.matrix();
            prop_assume!(a.clone().symmetric_eigenvalues().min() > 1e-3);
            let lowest = programme.lowest();
            for form in [LinearForm::Cholesky, LinearForm::Qr] {
                let (step, held) = programme.solve(form);
                let v = DVector::from_column_slice(&step);
                let found = g.dot(&v) + 0.5 * v.dot(&(&a * &v));
                prop_assert!((found - lowest).abs() < 1e-8, "{form}: {found}, {lowest}");
                let slopes = &a * &v + &g;
                for (j, held) in held.iter().enumerate() {
                    let fixed = programme.lower[j] == programme.upper[j];
                    let fits = match held {
                        Some(BoundSide::Lower) => fixed || slopes[j] > -1e-9,
                        Some(BoundSide::Upper) => fixed || slopes[j] < 1e-9,
                        None => slopes[j].abs() < 1e-9,
                    };
                    prop_assert!(fits, "{form}: slope {} of variable {j}, {held:?}", slopes[j]);
                }
            }
        }
    }
}
