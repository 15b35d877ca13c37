//! Definition of a model of the library.

use super::grid::Grid;
use super::guess::finite;
use super::guess_cache::GuessCache;
use super::look::Look;
use crate::curve::Model;
use crate::curve::model_rows::responses;
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// A model of one predictor, as the library keeps it; [`library!`] makes a public model of it.
pub(super) trait Formula: Model<f64> + Default {
    /// Its name in snake case.
    const NAME: &'static str;
    /// Formula of the model.
    const FORMULA: &'static str;
    /// Names of its parameters.
    const PARAMETERS: &'static [&'static str];
    /// The parameters that the response is linear in while the others stand still.
    const LINEAR: &'static [usize];
    /// Derived quantities: their names, and formulas of the parameters as [`Tie::parse`](crate::Tie::parse) reads them.
    const DERIVED: &'static [(&'static str, &'static str)] = &[];

    /// The response at `x`.
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S;

    /// Grid of the guess: for each parameter that is not linear, the values to try, in order.
    fn axes(_look: &Look) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// The best parameters on the grid that these axes span.
    fn best_on(look: &Look, axes: Vec<Vec<f64>>) -> Vec<f64> {
        let (linear, parameters) = (Self::LINEAR, Self::PARAMETERS.len());
        let grid = Grid { name: Some(Self::NAME), linear, parameters, axes };
        look.best_on(grid, &|x, b, column| responses(&Self::default(), x, 1, b, column))
    }

    /// The best parameters on the model's own grid.
    fn best_on_axes(look: &Look) -> Vec<f64> {
        Self::best_on(look, Self::axes(look))
    }

    /// A start for these data: the best on the grid, unless the model knows better.
    fn start(look: &Look) -> Vec<f64> {
        Self::best_on_axes(look)
    }

    /// Changes parameters so that the responses are `factor` times as large. By default the linear ones are multiplied.
    fn scale_response(b: &mut [f64], factor: f64) {
        Self::LINEAR.iter().for_each(|&index| b[index] *= factor);
    }
}

/// The start of a formula for data in any float.
pub(super) fn guess<T: Real, F: Formula>(x: &[T], y: &[T], cache: &GuessCache) -> Vec<T> {
    finite(Look::at(x, y, cache).unscaled(F::scale_response, F::start))
}

/// A constant of a formula.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn real<S: Scalar>(value: f64) -> S::Real {
    S::Real::from_f64(value)
}

/// Returns the first predictor of a row; NaN where there is none, which the fit then reports.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn only<T: Number>(x: &[T]) -> T {
    x.first().copied().unwrap_or(T::from_f64(f64::NAN))
}

/// `1 / (1 + exp(−z))`, which does not overflow on either side.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn sigmoid<S: Scalar>(z: S) -> S {
    let (zero, one) = (S::constant(real::<S>(0.0)), real::<S>(1.0));
    let small = z.select_less(zero, z, -z).exp();
    let larger = (small + one).recip();
    z.select_less(zero, small * larger, larger)
}

/// `ln(1 + exp(z))`, which does not overflow on either side.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn softplus<S: Scalar>(z: S) -> S {
    let zero = S::constant(real::<S>(0.0));
    z.select_less(zero, zero, z) + z.select_less(zero, z, -z).exp().ln_1p()
}

/// `elsewhere` for `x ≠ 0` and `at_zero` for `x = 0`, where `elsewhere` may be NaN; NaN where `x` is.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn unless_zero<S: Scalar>(x: S::Real, elsewhere: S, at_zero: S) -> S {
    S::constant(real::<S>(0.0)).select_less(S::constant(x.abs()), elsewhere, at_zero + x)
}

/// Makes public models: the response as a function of the predictor and the named parameters, the indices of the parameters in
/// which it is linear, the axes of the grid on which a start is sought, and, where the best point of that is not it, the start.
/// `scale` changes the parameters so that the responses are a multiple of theirs, where that is not to multiply the linear ones.
/// `derived` are names and formulas of derived quantities.
macro_rules! library {
    ($(
        $(#[$documentation:meta])*
        $model:ident($name:literal, $formula:literal) {
            response: |$x:ident; $($parameter:ident),+| $response:expr,
            linear: [$($linear:literal),*],
            $(axes: |$look:ident| $axes:expr,)?
            $(start: |$data:ident| $start:expr,)?
            $(scale: |$start_of:ident, $factor:ident| $scale:expr,)?
            $(derived: [$(($quantity:literal, $text:literal)),+ $(,)?],)?
        }
    )*) => {
        $(
            $(#[$documentation])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
            pub struct $model;

            impl super::formula::Formula for $model {
                const NAME: &'static str = $name;
                const FORMULA: &'static str = $formula;
                const PARAMETERS: &'static [&'static str] = &[$(stringify!($parameter)),+];
                const LINEAR: &'static [usize] = &[$($linear),*];
                $(const DERIVED: &'static [(&'static str, &'static str)] = &[$(($quantity, $text)),+];)?

                #[inline(always)]
                fn at<S: $crate::scalar::Scalar>($x: S::Real, b: &[S]) -> S {
                    let [$($parameter),+] = $crate::curve::model_functions::parameters(b);
                    $response
                }

                $(
                    fn axes($look: &super::look::Look) -> Vec<Vec<f64>> {
                        Vec::from($axes)
                    }
                )?

                $(
                    fn start($data: &super::look::Look) -> Vec<f64> {
                        $start
                    }
                )?

                $(
                    fn scale_response($start_of: &mut [f64], $factor: f64) {
                        $scale
                    }
                )?
            }

            impl<T: $crate::real::Real> $crate::curve::Model<T> for $model {
                fn parameter_count(&self) -> usize {
                    <$model as super::formula::Formula>::PARAMETERS.len()
                }

                fn parameter_name(&self, index: usize) -> String {
                    <$model as super::formula::Formula>::PARAMETERS[index].to_owned()
                }

                fn to_any_model(&self) -> Option<super::AnyModel> {
                    super::Named::of_name($name).map(super::AnyModel::Named)
                }

                // Where nothing is optimised, all models of the registry in one stack frame would be too much for a thread.
                #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
                #[cfg_attr(debug_assertions, inline(never))]
                fn response<S: $crate::number::ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
                    <$model as super::formula::Formula>::at(super::formula::only(x), b)
                }
            }

            impl<T: $crate::real::Real> super::Guess<T> for $model {
                fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
                    self.guess_with(x, y, &super::GuessCache::default())
                }

                fn guess_with(&self, x: &[T], y: &[T], cache: &super::GuessCache) -> Vec<T> {
                    super::formula::guess::<T, $model>(x, y, cache)
                }

                fn linear_parameters(&self) -> Vec<usize> {
                    <$model as super::formula::Formula>::LINEAR.to_vec()
                }

                fn scale_response(&self, start: &mut [f64], factor: f64) {
                    <$model as super::formula::Formula>::scale_response(start, factor);
                }
            }
        )*

        super::compose::compose! { $([] $model;)* }
    };
}

pub(super) use library;
