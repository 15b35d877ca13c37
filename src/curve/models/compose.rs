//! Models of models: sums, products, and parameters under other names.

use std::iter::zip;

use super::guess::finite;
use super::linear_fit::LinearFit;
use super::look::Look;
use super::{Guess, GuessCache};
use crate::curve::Model;
use crate::number::ScalarOf;
use crate::real::Real;

/// Rounds in which the parts of a sum are guessed again.
const ROUNDS: usize = 2;
/// Smallest value of a product's other factor, relative to its largest, that is divided by.
const WORTH_DIVIDING: f64 = 0.1;

/// Two models added: the parameters of the first, then those of the second.
///
/// The [guess](Guess::guess) alternates between the parts: each part is guessed from the residuals of the other, beginning with either part
/// on all data or on their ends, or with the first part on either half. It stops once the residuals are noise, and otherwise returns the
/// best of these guesses. All [linear parameters](Guess::linear_parameters) are solved for together.
///
/// ```
/// use marquardt::CurveFit;
/// use marquardt::models::{Gaussian, Guess, Linear};
///
/// let x: Vec<f64> = (0..80).map(|i| 0.1 * i as f64).collect();
/// let y: Vec<f64> =
///     x.iter().map(|x| 3.0 * (-(x - 5.0).powi(2) / 0.5).exp() + 0.4 * x + 1.0).collect();
/// let model = Gaussian.prefixed("peak_") + Linear;
/// let start = model.guess(&x, &y);
/// let fit = CurveFit::model(model, &x, &y, &start).fit()?;
/// assert!((fit.parameter("peak_center").unwrap().value - 5.0).abs() < 1e-10);
/// assert!((fit.parameter("slope").unwrap().value - 0.4).abs() < 1e-10);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum<A, B>(
    /// The first.
    pub A,
    /// The second.
    pub B,
);

/// Two models multiplied: the parameters of the first, then those of the second.
///
/// If both models have an amplitude, the data determine only the product of the two amplitudes: fix one of them.
///
/// The [guess](Guess::guess) takes one factor from the data, and the other from the data divided by the first, where that is not small.
/// Both orders are tried, and the better one is kept.
///
/// ```
/// use marquardt::Model;
/// use marquardt::models::{ExponentialDecay, Sine};
///
/// let ringing = ExponentialDecay * Sine.prefixed("tone_");
/// let parameters = [2.0, 10.0, 0.5, 3.0, 0.1_f64];
/// let response: f64 = ringing.response(&[1.5], &parameters);
/// assert_eq!(response, 2.0 * (-1.5_f64 / 10.0).exp() * (0.5 * (3.0_f64 * 1.5 + 0.1).sin()));
/// assert_eq!(Model::<f64>::parameter_name(&ringing, 3), "tone_frequency");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Product<A, B>(
    /// The first.
    pub A,
    /// The second.
    pub B,
);

/// A model with a prefix in the names of its parameters, so that they differ from those of another model in a sum.
///
/// ```
/// use marquardt::Model;
/// use marquardt::models::Gaussian;
///
/// let peaks = Gaussian.prefixed("p1_") + Gaussian.prefixed("p2_");
/// assert_eq!(Model::<f64>::parameter_name(&peaks, 1), "p1_center");
/// assert_eq!(Model::<f64>::parameter_name(&peaks, 4), "p2_center");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefixed<M> {
    model: M,
    prefix: String,
}

impl<M> Prefixed<M> {
    /// Creates a model whose parameter names have this prefix.
    pub fn new(model: M, prefix: impl Into<String>) -> Self {
        Prefixed { model, prefix: prefix.into() }
    }
}

/// Lets types be added, multiplied and prefixed.
macro_rules! compose {
    ($([$($generic:ident),*] $model:ty;)*) => {
        $(
            impl<$($generic,)* Other> std::ops::Add<Other> for $model {
                type Output = super::Sum<Self, Other>;
                fn add(self, other: Other) -> Self::Output {
                    super::Sum(self, other)
                }
            }

            impl<$($generic,)* Other> std::ops::Mul<Other> for $model {
                type Output = super::Product<Self, Other>;
                fn mul(self, other: Other) -> Self::Output {
                    super::Product(self, other)
                }
            }

            impl<$($generic),*> $model {
                /// Puts a prefix before the names of the parameters.
                pub fn prefixed(self, prefix: impl Into<String>) -> super::Prefixed<Self> {
                    super::Prefixed::new(self, prefix)
                }
            }
        )*
    };
}

pub(super) use compose;

compose! {
    [A, B] Sum<A, B>;
    [A, B] Product<A, B>;
    [M] Prefixed<M>;
}

/// The model of two parts: their parameters one after the other, their responses joined by an operator.
macro_rules! model_of_two {
    ($model:ident, $operator:tt) => {
        impl<T: Real, A: Model<T>, B: Model<T>> Model<T> for $model<A, B> {
            const IN_LANES: bool = A::IN_LANES && B::IN_LANES;

            fn parameter_count(&self) -> usize {
                self.0.parameter_count() + self.1.parameter_count()
            }

            fn parameter_name(&self, index: usize) -> String {
                match index.checked_sub(self.0.parameter_count()) {
                    None => self.0.parameter_name(index),
                    Some(index) => self.1.parameter_name(index),
                }
            }

            #[inline(always)]
            fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
                let (first, second) = b.split_at(self.0.parameter_count());
                self.0.response(x, first) $operator self.1.response(x, second)
            }
        }
    };
}

model_of_two!(Sum, +);
model_of_two!(Product, *);

impl<T: Real, M: Model<T>> Model<T> for Prefixed<M> {
    const IN_LANES: bool = M::IN_LANES;

    fn parameter_count(&self) -> usize {
        self.model.parameter_count()
    }

    fn parameter_name(&self, index: usize) -> String {
        format!("{}{}", self.prefix, self.model.parameter_name(index))
    }

    #[inline(always)]
    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
        self.model.response(x, b)
    }
}

impl<T: Real, M: Guess<T>> Guess<T> for Prefixed<M> {
    fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
        self.model.guess(x, y)
    }

    fn guess_with(&self, x: &[T], y: &[T], cache: &GuessCache) -> Vec<T> {
        self.model.guess_with(x, y, cache)
    }

    fn linear_parameters(&self) -> Vec<usize> {
        self.model.linear_parameters()
    }

    fn scale_response(&self, start: &mut [f64], factor: f64) {
        self.model.scale_response(start, factor);
    }
}

impl<T: Real, A: Guess<T>, B: Guess<T>> Guess<T> for Sum<A, B> {
    fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
        self.guess_with(x, y, &GuessCache::default())
    }

    fn guess_with(&self, x: &[T], y: &[T], cache: &GuessCache) -> Vec<T> {
        let data = Look::at(x, y, cache);
        let (x, y) = data.as_floats::<T>();
        let without = |part: Vec<T>| zip(&y, part).map(|(&y, part)| y - part).collect::<Vec<T>>();
        let first = |second: &[T]| self.0.guess_with(&x, &without(responses(&self.1, &x, second)), cache);
        let second = |first: &[T]| self.1.guess_with(&x, &without(responses(&self.0, &x, first)), cache);
        let then_second = |a: Vec<T>| [a.clone(), second(&a)].concat();
        let (half, end) = (x.len() / 2, x.len() / 10);
        let ends = |of: &[T]| [&of[..end], &of[of.len() - end..]].concat();
        // First the second one from the ends of the data, which a peak leaves to its background.
        let starts: [&dyn Fn() -> Vec<T>; 6] = [
            &|| then_second(first(&self.1.guess_with(&ends(&x), &ends(&y), cache))),
            &|| then_second(self.0.guess_with(&ends(&x), &ends(&y), cache)),
            &|| then_second(self.0.guess_with(&x, &y, cache)),
            &|| then_second(first(&self.1.guess_with(&x, &y, cache))),
            &|| then_second(self.0.guess_with(&x[..half], &y[..half], cache)),
            &|| then_second(self.0.guess_with(&x[half..], &y[half..], cache)),
        ];
        let count = self.0.parameter_count();
        let (of_first, of_second): (Vec<usize>, Vec<usize>) =
            self.linear_parameters().into_iter().partition(|&index| index < count);
        let solved = |data: &Look| {
            let mut best = (f64::INFINITY, Vec::new());
            for start in starts {
                let found = best_of(self, data, vec![start()]);
                if best.1.is_empty() || found.0 < best.0 {
                    best = found;
                }
                let without = |part: &[usize], others: &[usize]| {
                    let mut b = best.1.clone();
                    part.iter().for_each(|&index| b[index] = 0.0);
                    solve(self, data, others, b).0
                };
                let left = [without(&of_first, &of_second), without(&of_second, &of_first)];
                if data.are_described(best.0, left) {
                    return best.1;
                }
            }
            for _ in 0..ROUNDS {
                let b: Vec<T> = finite(best.1[count..].to_vec());
                let again = best_of(self, data, vec![then_second(first(&b))]);
                if !(again.0 < best.0) {
                    break;
                }
                best = again;
            }
            best.1
        };
        finite(data.unscaled(|start, factor| self.scale_response(start, factor), solved))
    }

    fn linear_parameters(&self) -> Vec<usize> {
        let count = self.0.parameter_count();
        let second = self.1.linear_parameters().into_iter().map(|index| index + count);
        self.0.linear_parameters().into_iter().chain(second).collect()
    }

    fn scale_response(&self, start: &mut [f64], factor: f64) {
        let (first, second) = start.split_at_mut(self.0.parameter_count());
        self.0.scale_response(first, factor);
        self.1.scale_response(second, factor);
    }
}

impl<T: Real, A: Guess<T>, B: Guess<T>> Guess<T> for Product<A, B> {
    fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
        self.guess_with(x, y, &GuessCache::default())
    }

    fn guess_with(&self, x: &[T], y: &[T], cache: &GuessCache) -> Vec<T> {
        let data = Look::at(x, y, cache);
        let (x, y) = data.as_floats::<T>();
        let divided_by = |factor: Vec<T>| {
            let largest = factor.iter().fold(T::ZERO, |largest, value| largest.max(value.abs()));
            let enough = largest * T::from_f64(WORTH_DIVIDING);
            let points = zip(zip(&x, &y), factor).filter(|(_, factor)| factor.abs() > enough);
            points.map(|((&x, &y), factor)| (x, y / factor)).unzip::<T, T, Vec<T>, Vec<T>>()
        };
        let first_first = {
            let a = self.0.guess_with(&x, &y, cache);
            let (x, y) = divided_by(responses(&self.0, &x, &a));
            [a, self.1.guess_with(&x, &y, cache)].concat()
        };
        let second_first = {
            let b = self.1.guess_with(&x, &y, cache);
            let (x, y) = divided_by(responses(&self.1, &x, &b));
            [self.0.guess_with(&x, &y, cache), b].concat()
        };
        let starts = vec![first_first, second_first];
        let solved = |data: &Look| best_of(self, data, starts).1;
        finite(data.unscaled(|start, factor| self.scale_response(start, factor), solved))
    }

    /// Indices of the linear parameters of the first factor, or of the second where the first has none.
    fn linear_parameters(&self) -> Vec<usize> {
        let first = self.0.linear_parameters();
        if !first.is_empty() {
            return first;
        }
        let count = self.0.parameter_count();
        self.1.linear_parameters().into_iter().map(|index| index + count).collect()
    }

    fn scale_response(&self, start: &mut [f64], factor: f64) {
        let (first, second) = start.split_at_mut(self.0.parameter_count());
        if self.0.linear_parameters().is_empty() && !self.1.linear_parameters().is_empty() {
            self.1.scale_response(second, factor);
        } else {
            self.0.scale_response(first, factor);
        }
    }
}

/// The responses of a model to these predictors.
fn responses<T: Real, M: Model<T>>(model: &M, x: &[T], b: &[T]) -> Vec<T> {
    x.iter().map(|&x| model.response(&[x], b)).collect()
}

/// The best of some starts, after their linear parameters are solved for together, and before it its sum of squares.
fn best_of<T: Real, M: Guess<T>>(model: &M, data: &Look, starts: Vec<Vec<T>>) -> (f64, Vec<f64>) {
    let linear = model.linear_parameters();
    let starts = starts.into_iter().map(|start| start.into_iter().map(T::to_f64).collect());
    let solved = starts.map(|start| solve(model, data, &linear, start));
    solved.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are starts")
}

/// The sum of squares after some linear parameters are solved for, and all parameters.
///
/// The part of the response that does not depend on these parameters is subtracted from the data and from the columns.
fn solve<T: Real, M: Model<T>>(model: &M, data: &Look, linear: &[usize], mut b: Vec<f64>) -> (f64, Vec<f64>) {
    let evaluate = |b: &[f64]| {
        let b: Vec<T> = b.iter().map(|&value| T::from_f64(value)).collect();
        let response = move |&x: &f64| model.response(&[T::from_f64(x)], &b).to_f64();
        data.x.iter().map(response).collect::<Vec<f64>>()
    };
    linear.iter().for_each(|&index| b[index] = 0.0);
    let rest = evaluate(&b);
    let y: Vec<f64> = zip(&data.y, &rest).map(|(y, rest)| y - rest).collect();
    let sum = LinearFit::new(y.len(), linear.len()).solve(&y, linear, &mut b, &mut |b, column| {
        zip(column, zip(evaluate(b), &rest)).for_each(|(value, (response, rest))| *value = response - rest);
    });
    (if sum.is_nan() { f64::INFINITY } else { sum }, b)
}
