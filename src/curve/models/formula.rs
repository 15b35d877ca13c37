//! Definition of a model of the library.

use super::look::Look;
use crate::number::Number;
use crate::scalar::Scalar;

/// A model of one predictor, as the library keeps it; [`in_library!`] makes a public model of it.
pub(super) trait Formula {
    /// Its name in snake case.
    const NAME: &'static str;
    /// Formula of the model.
    const FORMULA: &'static str;
    /// Names of its parameters.
    const PARAMETERS: &'static [&'static str];
    /// The parameters that the response is linear in while the others stand still.
    const LINEAR: &'static [usize];

    /// The response at `x`.
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S;

    /// Grid of the guess: for each parameter that is not linear, the values to try, in order.
    fn axes(_look: &Look) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// A start for these data: the best on the grid that the axes span, unless the model knows better.
    fn start(look: &Look) -> Vec<f64> {
        look.best_on(Self::LINEAR, Self::PARAMETERS.len(), Self::axes(look), Self::at)
    }
}

/// A constant of a formula.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn real<S: Scalar>(value: f64) -> S::Real {
    S::Real::from_f64(value)
}

/// Returns the first predictor of a row; NaN where there is none, which the fit then reports.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn only<T: Number>(x: &[T]) -> T {
    x.first().copied().unwrap_or(T::from_f64(f64::NAN))
}

/// `1 / (1 + exp(−z))`, which does not overflow on either side.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn sigmoid<S: Scalar>(z: S) -> S {
    let (zero, one) = (S::constant(real::<S>(0.0)), real::<S>(1.0));
    let small = z.select_less(zero, z, -z).exp();
    let larger = (small + one).recip();
    z.select_less(zero, small * larger, larger)
}

/// Makes public models of types that have a [`Formula`].
macro_rules! in_library {
    ($($model:ident),*) => {
        $(
            impl<T: Real> Model<T> for $model {
                fn parameter_count(&self) -> usize {
                    <$model as Formula>::PARAMETERS.len()
                }

                fn parameter_name(&self, index: usize) -> String {
                    <$model as Formula>::PARAMETERS[index].to_owned()
                }

                fn to_any_model(&self) -> Option<$crate::models::AnyModel> {
                    $crate::models::Named::of_name(<$model as Formula>::NAME).map($crate::models::AnyModel::Named)
                }

                // Where nothing is optimised, all models of the registry in one stack frame would be too much for a thread.
                #[cfg_attr(not(debug_assertions), inline(always))]
                #[cfg_attr(debug_assertions, inline(never))]
                fn response<S: $crate::ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
                    <$model as Formula>::at(only(x), b)
                }
            }

            impl<T: Real> Guess<T> for $model {
                fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
                    finite(Look::at(x, y).unscaled(<$model as Formula>::LINEAR, <$model as Formula>::start))
                }

                fn linear_parameters(&self) -> Vec<usize> {
                    <$model as Formula>::LINEAR.to_vec()
                }
            }
        )*

        compose! { $([] $model;)* }
    };
}

pub(super) use in_library;
