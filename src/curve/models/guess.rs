//! Starts from data.

use super::GuessCache;
use crate::curve::{CurveFit, FromModel, Model, Rows};
use crate::real::Real;

/// A model that finds a start in the data: a model of one predictor, or a [`Formula`](crate::Formula) of any number of them.
///
/// ```
/// use marquardt::CurveFit;
/// use marquardt::models::{Gaussian, Guess};
///
/// let x: Vec<f64> = (0..60).map(|i| 0.1 * i as f64).collect();
/// let y: Vec<f64> = x.iter().map(|x| 5.0 * (-(x - 2.5).powi(2) / 0.32).exp()).collect();
/// let start = Gaussian.guess(&x, &y);
/// let fit = CurveFit::model(Gaussian, &x, &y, &start).fit()?;
/// assert!((fit.parameter("center").unwrap().value - 2.5).abs() < 1e-12);
/// assert!((fit.parameter("sigma").unwrap().value - 0.4).abs() < 1e-12);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
pub trait Guess<T: Real>: Model<T> {
    /// Returns a start for the fit of these data, with one entry for each parameter. `x` has the predictors row by row, and `y` has one
    /// response for each row.
    ///
    /// The observations may be in any order; those that are not finite are ignored. The start is finite for any data, and the same for the
    /// same data.
    fn guess(&self, x: &[T], y: &[T]) -> Vec<T>;

    /// Returns the same start for one of many data sets, faster if others have the same `x`: the cache keeps all values that depend on `x`
    /// only.
    ///
    /// ```
    /// use marquardt::models::{Gaussian, Guess, GuessCache};
    ///
    /// let x: Vec<f64> = (0..60).map(|i| 0.1 * i as f64).collect();
    /// let cache = GuessCache::new();
    /// for center in [2.0, 2.5, 3.0] {
    ///     let y: Vec<f64> = x.iter().map(|x| (-(x - center).powi(2)).exp()).collect();
    ///     assert_eq!(Gaussian.guess_with(&x, &y, &cache), Gaussian.guess(&x, &y));
    /// }
    /// ```
    fn guess_with(&self, x: &[T], y: &[T], cache: &GuessCache) -> Vec<T> {
        let _ = cache;
        self.guess(x, y)
    }

    /// Indices of the parameters in which the response is jointly linear, with the other parameters constant; the response is zero if all
    /// of them are zero.
    fn linear_parameters(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Changes the parameters so that the responses are multiplied by `factor`; by default, multiplies the linear parameters.
    #[doc(hidden)]
    fn scale_response(&self, start: &mut [f64], factor: f64) {
        self.linear_parameters().into_iter().for_each(|index| start[index] *= factor);
    }
}

impl<'a, T: Real> CurveFit<'a, T, ()> {
    /// Fits a model from the start that it [guesses](Guess::guess), moved within the bounds if there are any. A start that is
    /// [given](crate::curve::FitOptions::start) takes the place of the guess. A fit of counts starts at ones if the guess has a mean
    /// that is not positive.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::models::MichaelisMenten;
    ///
    /// let concentration = [0.02, 0.06, 0.11, 0.22, 0.56, 1.1];
    /// let rate = [61.5, 102.0, 131.0, 155.5, 196.0, 203.5];
    /// let fit = CurveFit::guessed(MichaelisMenten, &concentration, &rate).fit()?;
    /// assert!(fit.report().is_converged());
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn guessed<M: Guess<T>>(
        model: M,
        x: impl Into<Rows<'a, T>>,
        y: impl Into<Rows<'a, T>>,
    ) -> CurveFit<'a, T, FromModel<M>> {
        CurveFit::model(model, x, y, &[]).with_guess(|curve, x, y| curve.model().guess(x, y))
    }
}

/// The start in the fit's own float, with one for every number that is not finite there.
pub(super) fn finite<T: Real>(start: Vec<f64>) -> Vec<T> {
    let within = |value: f64| Some(T::from_f64(value)).filter(|value| value.is_finite());
    start.into_iter().map(|value| within(value).unwrap_or(T::ONE)).collect()
}
