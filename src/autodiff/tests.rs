//! Derivatives by every kind of number against those that mpmath computed, to the ends of each function's domain.

use super::adjoint::Adjoint;
use super::functions::for_each_function;
use super::jet::Jet;
use super::tape::AdjointTape;
use super::{Dual, Taylor, slopes};
use crate::kernels::lanes::{LaneKernel, Lanes, Register, Vectorized};
use crate::kernels::registers::tests::in_all;
use crate::kernels::tests::units;
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Largest error of a derivative, in units in the last place.
const BOUND: f64 = 8.0;

/// A row of `tests/reference/derivatives.csv`: the derivatives of a function of one argument or two.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) function: String,
    pub(crate) x: f64,
    /// The second argument.
    pub(crate) y: Option<f64>,
    by_x: f64,
    by_y: Option<f64>,
    second_x: f64,
    second_y: Option<f64>,
}

/// The cases of a function, or of all, whose arguments are numbers of this precision, and whose powers are normal ones.
pub(crate) fn cases<T: Real>(function: Option<&str>) -> Vec<Case> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/derivatives.csv");
    let cases = csv::Reader::from_path(path).unwrap().into_deserialize().map(|case| {
        let (function, x, y, by_x, by_y, second_x, second_y) = case.unwrap();
        Case { function, x, y, by_x, by_y, second_x, second_y }
    });
    let is_exact = |x: f64| T::from_f64(x).to_f64() == x;
    let wanted = |case: &Case| function.is_none_or(|name| name == case.function);
    let is_normal = |case: &Case| {
        let power = T::from_f64(case.x).powf(T::from_f64(case.y.unwrap_or(0.0)));
        case.function != "pow" || power >= T::MIN_POSITIVE && power.is_finite()
    };
    let is_ours = |case: &Case| wanted(case) && is_exact(case.x) && case.y.is_none_or(is_exact) && is_normal(case);
    cases.filter(is_ours).collect()
}

impl Case {
    /// Asserts that derivatives, the first ones by the arguments and the second ones, are within the bound.
    #[track_caller]
    pub(crate) fn holds<T: Real>(&self, kind: &str, first: &[T], second: &[T]) {
        self.holds_beside(|_, _| self.terms(), kind, first, second);
    }

    /// Asserts the same of derivatives that come from numbers of a size, given the order and the exact derivative: the rounding
    /// errors of those numbers count.
    #[track_caller]
    pub(crate) fn holds_beside<T: Real>(&self, size: impl Fn(i32, f64) -> f64, kind: &str, first: &[T], second: &[T]) {
        let firsts = first.iter().zip([Some(self.by_x), self.by_y]);
        let seconds = second.iter().zip([Some(self.second_x), self.second_y]);
        for (order, (&found, exact)) in firsts.map(|pair| (1, pair)).chain(seconds.map(|pair| (2, pair))) {
            let exact = exact.unwrap();
            if T::from_f64(exact).to_f64().is_infinite() {
                assert!(!found.is_finite(), "{kind}: derivative {order} of {self:?} is {found:e}");
                continue;
            }
            // Exponentials and powers in lanes end at the smallest normal number.
            if exact.abs() < T::MIN_POSITIVE.to_f64() && found == T::ZERO {
                continue;
            }
            let size = size(order, exact).max(T::MIN_POSITIVE.to_f64());
            let error = if exact.abs() < size {
                (found.to_f64() - exact).abs() / (size.exponent().exp2() * T::EPSILON.to_f64())
            } else {
                units(found, exact)
            };
            let bits = 8 * size_of::<T>();
            let what =
                format!("{kind}, {bits} bits: derivative {order} of {}({:e}, {:?})", self.function, self.x, self.y);
            assert!(error <= BOUND, "{what}: {found:e} instead of {exact:e}, {error:.1} units");
        }
    }

    /// Returns the size of the terms that cancel near the roots of a derivative; zero where there are none.
    pub(crate) fn terms(&self) -> f64 {
        let size = self.x.abs();
        match &*self.function {
            "j0" | "j1" if size >= 1.0 => (2.0 / (std::f64::consts::PI * size)).sqrt(),
            "silu" | "gelu" | "gelu_tanh" if (0.5..3.0).contains(&size) => 0.2,
            _ => 0.0,
        }
    }
}

/// The function of this name; `None` where it has two arguments, or is none.
fn of_one<S: Scalar>(name: &str, x: S) -> Option<S> {
    macro_rules! named {
        ($name:ident ($($arguments:tt)*): $first:expr, $second:expr) => {
            if name == stringify!($name) {
                return Some(Scalar::$name(x));
            }
        };
    }
    for_each_function!(named);
    None
}

/// The function of two arguments of this name.
fn of_two<S: Scalar>(name: &str, x: S, y: S) -> Option<S> {
    match name {
        "pow" => Some(x.pow(y)),
        "atan2" => Some(x.atan2(y)),
        "hypot" => Some(x.hypot(y)),
        _ => None,
    }
}

fn plain_numbers_keep_the_bound<T: Real>() {
    let mut count = 0;
    for case in cases::<T>(None) {
        let name = &case.function;
        let (x, y) = (T::from_f64(case.x), case.y.map(T::from_f64));
        let along = |value: T| Taylor::along(value, T::ONE);
        match y {
            None => {
                let Some(dual) = of_one(name, Dual::<T, 1>::variable(x, 0)) else { continue };
                case.holds("dual", &dual.gradient, &[]);
                let taylor = of_one(name, along(x)).unwrap();
                case.holds("Taylor", &[taylor.first], &[taylor.second]);
            }
            Some(y) => {
                let dual = of_two(name, Dual::<T, 2>::variable(x, 0), Dual::variable(y, 1)).unwrap();
                case.holds("dual", &dual.gradient, &[]);
                let by_x = of_two(name, along(x), Taylor::constant(y)).unwrap();
                let by_y = of_two(name, Taylor::constant(x), along(y)).unwrap();
                case.holds("Taylor", &[by_x.first, by_y.first], &[by_x.second, by_y.second]);
                if name == "pow" {
                    case.holds("dual, constant exponent", &Dual::<T, 1>::variable(x, 0).powf(y).gradient, &[]);
                }
            }
        }
        count += 1;
    }
    assert!(count > 500, "{count} cases");
}

#[test]
fn plain_numbers_keep_the_bound_in_both_precisions() {
    plain_numbers_keep_the_bound::<f64>();
    plain_numbers_keep_the_bound::<f32>();
}

/// The derivative of a function in lanes, given its value.
fn slope<T: Real, R: Register<T>>(name: &str, x: Lanes<T, R>, value: Lanes<T, R>) -> Lanes<T, R> {
    macro_rules! named {
        ($name:ident ($($arguments:tt)*): $first:expr, $second:expr) => {
            if name == stringify!($name) {
                return slopes::$name(x, value);
            }
        };
    }
    for_each_function!(named);
    unreachable!("{name} is in the table")
}

struct InLanes;

impl<T: Real> LaneKernel<T> for InLanes {
    type Output = ();

    fn run<R: Register<T>>(self) {
        let all = cases::<T>(None);
        for cases in all.chunk_by(|a, b| a.function == b.function) {
            let name = &cases[0].function;
            // Neighbours of other sizes in each register.
            for first in 0..cases.len() {
                let case = |lane: usize| &cases[(first + lane * 7) % cases.len()];
                let [mut x, mut y] = [Lanes::<T, R>::splat(T::ZERO); 2];
                for lane in 0..R::LANES {
                    x.as_mut_slice()[lane] = T::from_f64(case(lane).x);
                    y.as_mut_slice()[lane] = T::from_f64(case(lane).y.unwrap_or(0.0));
                }
                let holds = |kind: &str, derivatives: &[Lanes<T, R>]| {
                    for lane in 0..R::LANES {
                        let of_lane: Vec<T> =
                            derivatives.iter().map(|derivative| derivative.as_slice()[lane]).collect();
                        case(lane).holds(kind, &of_lane, &[]);
                    }
                };
                let tape = AdjointTape::new(2);
                let mut adjoints = vec![x; tape.places()];
                if case(0).y.is_none() {
                    let Some(jet) = of_one(name, Jet::<T, R, 1>::variable(x, 0)) else { continue };
                    holds("jet", &jet.gradient);
                    let adjoint = of_one(name, Adjoint::variable(x, 0, &tape)).unwrap();
                    tape.differentiate(adjoint, &mut adjoints);
                    holds("adjoint", &adjoints[..1]);
                    holds("slope", &[slope(name, x, jet.value)]);
                } else {
                    let jet = of_two(name, Jet::<T, R, 2>::variable(x, 0), Jet::variable(y, 1)).unwrap();
                    holds("jet", &jet.gradient);
                    let [a, b] = [(x, 0), (y, 1)].map(|(value, index)| Adjoint::variable(value, index, &tape));
                    tape.differentiate(of_two(name, a, b).unwrap(), &mut adjoints);
                    holds("adjoint", &adjoints[..2]);
                }
            }
        }
    }
}

#[test]
fn lanes_keep_the_bound_in_all_registers() {
    in_all(|| {
        f64::run_in_lanes(InLanes);
        f32::run_in_lanes(InLanes);
    });
}
