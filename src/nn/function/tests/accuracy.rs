//! Derivatives of functions against those that mpmath computed, into both tails.

use crate::autodiff::tests::cases;
use crate::kernels::simd::Kernel;
use crate::nn::function::curvature::FunctionCurvature;
use crate::nn::function::{Function, SlopeLoop, Slopes, TimesDerivative};
use crate::real::Real;

/// The functions, and the names of their cases.
fn all<T: Real>() -> Vec<(Function<T>, &'static str)> {
    vec![
        (Function::Tanh, "tanh"),
        (Function::Sigmoid, "sigmoid"),
        (Function::Elu { alpha: T::from_f64(0.75) }, "elu"),
        (Function::Softplus, "softplus"),
        (Function::Silu, "silu"),
        (Function::Gelu, "gelu"),
        (Function::GeluTanh, "gelu_tanh"),
        (Function::Sin, "sin"),
        (Function::Cos, "cos"),
        (Function::Exp, "exp"),
        (Function::Ln, "ln"),
        (Function::Square, "square"),
        (Function::Sqrt, "sqrt"),
        (Function::Reciprocal, "recip"),
        (Function::Abs, "abs"),
    ]
}

/// The derivatives at one point.
struct Collect<'a, T> {
    at: (T, T),
    to: &'a mut Slopes<T>,
}

impl<T: Real> SlopeLoop<T> for Collect<'_, T> {
    #[inline(always)]
    fn run(self, slopes: impl Fn(T, T) -> Slopes<T>) {
        *self.to = slopes(self.at.0, self.at.1);
    }
}

/// Returns `v` where the derivatives' distance from their limits is `e⁻ᵛ` times a power of `x`. Digits are lost where `e⁻ᵛ` is
/// subnormal.
fn exponent(name: &str, x: f64) -> f64 {
    match name {
        "softplus" | "silu" => x.abs(),
        "gelu" => x * x / 2.0,
        "gelu_tanh" => x.abs() * (1.595769 + 0.07135482 * x * x),
        _ => 0.0,
    }
}

/// Returns true if the exponential of `x` is subnormal.
fn is_subnormal<T: Real>(x: T) -> bool {
    x.exp() > T::ZERO && x.exp() < T::MIN_POSITIVE
}

fn derivatives_keep_the_bound<T: Real, const FUSED: bool>() {
    let one = [T::ONE];
    for (function, name) in all::<T>() {
        let cases = cases::<T>(Some(name));
        assert!(cases.len() > 30, "{name}");
        for case in cases {
            let x = [T::from_f64(case.x)];
            let (mut y, mut first, mut second) = (x, [T::ZERO], [T::ZERO]);
            function.apply(&mut y);
            TimesDerivative { function, x: &x, y: &y, d: &one, to: &mut first }.run::<1, FUSED>();
            FunctionCurvature { function, x: &x, y: &y, d: &one, c: &mut second }.run::<1, FUSED>();
            if is_subnormal(T::from_f64(-exponent(name, case.x))) {
                let tiny = T::from_f64((1.0 + case.x * case.x).powi(2)) * T::MIN_POSITIVE;
                let from_limit = first[0].abs().min((first[0] - T::ONE).abs());
                assert!(from_limit <= tiny && second[0].abs() <= tiny, "{name} at {:e}: {first:?}, {second:?}", case.x);
                continue;
            }
            let size = |order: i32, exact: f64| match (name, order) {
                // These come from the value, which is near one.
                ("tanh" | "sigmoid", _) | ("elu", 2) => 1.0,
                ("gelu_tanh", _) => case.terms().max(exact.abs() * (1.0 + exponent(name, case.x) / 4.0)),
                _ => case.terms(),
            };
            case.holds_beside(size, "sweep", &first, &second);
            if function.is_smooth() {
                let mut slopes = [T::ZERO; 4];
                function.with_slopes::<FUSED>(Collect { at: (x[0], y[0]), to: &mut slopes });
                case.holds_beside(size, "slopes", &slopes[..1], &slopes[1..2]);
            }
        }
    }
}

#[test]
fn derivatives_keep_the_bound_in_both_precisions() {
    derivatives_keep_the_bound::<f64, true>();
    derivatives_keep_the_bound::<f64, false>();
    derivatives_keep_the_bound::<f32, true>();
    derivatives_keep_the_bound::<f32, false>();
}

fn activations_end_straight<T: Real>() {
    for (function, name) in all::<T>().into_iter().take(7) {
        let second = |x: T| {
            let (x, mut y, mut second) = ([x], [x], [T::ZERO]);
            function.apply(&mut y);
            function.add_curvature(&x, &y, &[T::ONE], &mut second);
            second[0].to_f64()
        };
        assert!(second(T::from_f64(f64::NAN)).is_nan(), "{name}");
        for x in [1e4, 1e19, T::MIN_POSITIVE.recip().to_f64()] {
            assert_eq!([x, -x].map(|x| second(T::from_f64(x))), [0.0; 2], "{name} at {x:e}");
        }
    }
}

#[test]
fn activations_end_straight_in_both_precisions() {
    activations_end_straight::<f64>();
    activations_end_straight::<f32>();
}
