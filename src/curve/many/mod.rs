//! Thousands of small fits of one model.

mod fits;
mod per_fit;
mod predictors;
mod status;

pub use fits::ManyFits;
pub use per_fit::PerFit;
pub use predictors::Predictors;
pub use status::FitStatus;

use ndarray::ArrayView2;

use super::models::Guess;
use super::{CurveError, NanPolicy};
use crate::{Bounds, CancelToken, Model, Real};

/// The same model, fitted to many data sets: the pixels of an image, the wells of a plate, the spectra of a run.
pub struct FitMany<'a, T: Real, M> {
    model: M,
    x: Predictors<'a, T>,
    y: ArrayView2<'a, T>,
}

impl<'a, T: Real, M: Model<T> + Sync> FitMany<'a, T, M> {
    /// Fits of a model to the rows of `y`, one a fit.
    ///
    /// `x` is what all fits share (a slice, a vector, an array of one dimension), or has a row for each fit (two
    /// dimensions), or a row of predictors for each point of each fit (three dimensions). [`Predictors::shared`] is for
    /// several predictors that all fits share.
    pub fn new(model: M, x: impl Into<Predictors<'a, T>>, y: impl Into<ArrayView2<'a, T>>) -> Self {
        FitMany { model, x: x.into(), y: y.into() }
    }

    /// Where the fits start: one start for all (one dimension), or a row for each fit (two).
    pub fn start(self, start: impl Into<PerFit<'a, T>>) -> Self {
        todo!()
    }

    /// Each fit starts where the model guesses.
    pub fn guessed(self) -> Self
    where
        M: Guess<T>,
    {
        todo!()
    }

    /// Standard deviations of the responses, the same for all fits or a row for each.
    pub fn sigma(self, sigma: impl Into<PerFit<'a, T>>) -> Self {
        todo!()
    }

    /// The standard deviations are what they say, and not known up to a factor only.
    pub fn absolute_sigma(self, absolute: bool) -> Self {
        todo!()
    }

    /// Bounds on the parameters of every fit.
    pub fn bounds(self, bounds: Bounds<T>) -> Self {
        todo!()
    }

    /// What becomes of points that are not finite.
    pub fn nan_policy(self, policy: NanPolicy) -> Self {
        todo!()
    }

    /// A fit ends when an undamped step promises, and brings, less than this share of the cost.
    pub fn ftol(self, ftol: T) -> Self {
        todo!()
    }

    /// The most trial steps that a fit may take.
    pub fn max_iterations(self, iterations: usize) -> Self {
        todo!()
    }

    /// Calls `progress(done, total)` from time to time, from any thread.
    pub fn progress(self, progress: impl Fn(usize, usize) + Sync + 'a) -> Self {
        todo!()
    }

    /// Ends all fits when the token says so; those that are not done keep their best point.
    pub fn cancel_token(self, token: CancelToken) -> Self {
        todo!()
    }

    /// Fits.
    pub fn fit(self) -> Result<ManyFits<T>, CurveError> {
        todo!()
    }
}
