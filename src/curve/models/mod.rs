//! Models ready to fit: with formulas, exact derivatives, and starts from data.
//!
//! Each is a [`Model`](crate::Model) of one predictor with named parameters, and finds a start by [`Guess`]. Where lmfit has
//! the model, names and meaning of the parameters are lmfit's: `amplitude` is the area of a peak. They add and multiply,
//! with others and with models of one's own; a [prefix](Gaussian::prefixed) tells parameters of like parts apart.
//! [`Named`] finds them and their sums by name; [`AnyModel`] is one of these, or a formula.
//!
//! | | |
//! |---|---|
//! | polynomials | [`Constant`], [`Linear`], [`Quadratic`], [`Polynomial`] |
//! | exponentials | [`ExponentialDecay`], [`ExponentialDecayOffset`], [`ExponentialRise`], [`ExponentialRiseOffset`], [`BiExponential`], [`StretchedExponential`] |
//! | powers | [`PowerLaw`], [`PowerLawOffset`], [`Logarithmic`] |
//! | peaks | [`Gaussian`], [`Lorentzian`], [`Voigt`], [`PseudoVoigt`], [`Moffat`] |
//! | skewed peaks | [`ExponentialGaussian`], [`SkewedGaussian`], [`LogNormal`] |
//! | growth | [`Logistic`], [`Gompertz`], [`Richards`], [`WeibullGrowth`] |
//! | saturation | [`MichaelisMenten`], [`Hill`], [`Logistic4`], [`Logistic5`], [`Boltzmann`] |
//! | steps | [`ArctanStep`], [`ErfStep`], [`LogisticStep`] |
//! | waves | [`Sine`], [`DampedSine`] |
//! | others | [`Arrhenius`], [`Rational`] |
//!
//! ```
//! use marquardt::CurveFit;
//! use marquardt::models::{Guess, Linear, Lorentzian};
//!
//! let x: Vec<f64> = (0..100).map(|i| 0.1 * i as f64).collect();
//! let y: Vec<f64> =
//!     x.iter().map(|x| 2.0 / (1.0 + (x - 4.0) * (x - 4.0)) + 0.3 * x - 1.0).collect();
//! let model = Lorentzian + Linear;
//! let fit = CurveFit::model(model, &x, &y, &model.guess(&x, &y)).fit()?;
//! assert!((fit.parameter("amplitude").unwrap().value - std::f64::consts::TAU).abs() < 1e-9);
//! # Ok::<(), marquardt::CurveError>(())
//! ```

mod any_model;
mod arrhenius;
mod compose;
mod dose_response;
mod exponential;
mod formula;
mod grid;
mod growth;
mod guess;
mod guess_cache;
mod linear_fit;
mod look;
mod named;
mod peak;
mod polish;
mod polynomial;
mod power_law;
mod rational;
mod registry;
mod skewed_peak;
mod special;
mod step;
#[cfg(test)]
mod tests;
mod unknown_model;
mod wave;

pub use any_model::AnyModel;
pub use arrhenius::Arrhenius;
pub use compose::{Prefixed, Product, Sum};
pub use dose_response::{Boltzmann, Hill, Logistic4, Logistic5, MichaelisMenten};
pub use exponential::{
    BiExponential, ExponentialDecay, ExponentialDecayOffset, ExponentialRise, ExponentialRiseOffset,
    StretchedExponential,
};
pub use growth::{Gompertz, Logistic, Richards, WeibullGrowth};
pub use guess::Guess;
pub use guess_cache::GuessCache;
pub use named::Named;
pub use peak::{Gaussian, Lorentzian, Moffat, PseudoVoigt, Voigt};
pub use polynomial::{Constant, Linear, Polynomial, Quadratic};
pub use power_law::{Logarithmic, PowerLaw, PowerLawOffset};
pub use rational::Rational;
pub use skewed_peak::{ExponentialGaussian, LogNormal, SkewedGaussian};
pub(in crate::curve) use special::voigt;
pub use step::{ArctanStep, ErfStep, LogisticStep};
pub use unknown_model::UnknownModel;
pub use wave::{DampedSine, Sine};
