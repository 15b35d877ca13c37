//! Models ready to fit: with formulas, exact derivatives, and starts from data.
//!
//! Each is a [`Model`](crate::Model) of one predictor with named parameters, and finds a start by [`Guess`]. Where lmfit has the model,
//! names and meaning of the parameters are lmfit's: `amplitude` is the area of a peak. Models can be added and multiplied, also with your
//! own models; a [prefix](Gaussian::prefixed) distinguishes the parameters of equal parts. [`Named`] finds them and their sums by name;
//! [`AnyModel`] is one of these, or a formula.
//!
//! | | |
//! |---|---|
//! | polynomials | [`Constant`], [`Linear`], [`Quadratic`], [`Polynomial`] |
//! | exponentials | [`ExponentialDecay`], [`ExponentialDecayOffset`], [`ExponentialRise`], [`ExponentialRiseOffset`], [`BiExponential`], [`StretchedExponential`] |
//! | powers | [`PowerLaw`], [`PowerLawOffset`], [`Logarithmic`] |
//! | peaks | [`Gaussian`], [`Lorentzian`], [`Voigt`], [`PseudoVoigt`], [`Moffat`], [`BreitWigner`] |
//! | skewed peaks | [`ExponentialGaussian`], [`SkewedGaussian`], [`LogNormal`] |
//! | growth | [`Logistic`], [`Gompertz`], [`Richards`], [`WeibullGrowth`], [`ModifiedGompertz`], [`ModifiedLogistic`], [`BaranyiRoberts`] |
//! | saturation | [`MichaelisMenten`], [`Hill`], [`Boltzmann`] |
//! | dose and response | [`Logistic4`], [`Logistic5`], [`Logistic5Ec50`], [`Weibull1`], [`Weibull2`] |
//! | enzymes and binding | [`SubstrateInhibition`], [`Morrison`], [`BindingWithDepletion`] |
//! | adsorption | [`Langmuir`], [`Freundlich`], [`Bet`], [`Toth`], [`Sips`] |
//! | rheology | [`HerschelBulkley`], [`Bingham`], [`Casson`], [`Carreau`], [`Cross`] |
//! | pharmacokinetics | [`OneCompartmentBolus`], [`OneCompartmentOral`], [`TwoCompartmentBolus`] |
//! | soils | [`VanGenuchten`] |
//! | steps | [`ArctanStep`], [`ErfStep`], [`LogisticStep`] |
//! | waves | [`Sine`], [`DampedSine`] |
//! | temperature | [`Arrhenius`], [`Eyring`], [`VogelFulcherTammann`], [`Antoine`] |
//! | enzyme inhibition, of two predictors | [`AnyModel::of_several_predictors`] |
//! | others | [`Rational`] |
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
mod binding;
mod compose;
mod dose_response;
mod enzymes;
mod exponential;
mod formula;
mod grid;
mod growth;
mod guess;
mod guess_cache;
mod isotherms;
mod linear_fit;
mod look;
mod microbial_growth;
mod named;
mod peak;
mod pharmacokinetics;
mod polish;
mod polynomial;
mod power_law;
mod predictors;
mod rational;
mod registry;
mod resonance;
mod rheology;
mod skewed_peak;
mod soil;
mod special;
mod step;
mod temperature;
#[cfg(test)]
mod tests;
mod unknown_model;
mod wave;
mod weibull_response;

pub use any_model::AnyModel;
pub use arrhenius::{Arrhenius, Eyring};
pub use binding::BindingWithDepletion;
pub use compose::{Prefixed, Product, Sum};
pub use dose_response::{Boltzmann, Hill, Logistic4, Logistic5, Logistic5Ec50, MichaelisMenten};
pub use enzymes::{Morrison, SubstrateInhibition};
pub use exponential::{
    BiExponential, ExponentialDecay, ExponentialDecayOffset, ExponentialRise, ExponentialRiseOffset,
    StretchedExponential,
};
pub use growth::{Gompertz, Logistic, Richards, WeibullGrowth};
pub use guess::Guess;
pub use guess_cache::GuessCache;
pub use isotherms::{Bet, Freundlich, Langmuir, Sips, Toth};
pub use microbial_growth::{BaranyiRoberts, ModifiedGompertz, ModifiedLogistic};
pub use named::Named;
pub use peak::{Gaussian, Lorentzian, Moffat, PseudoVoigt, Voigt};
pub use pharmacokinetics::{OneCompartmentBolus, OneCompartmentOral, TwoCompartmentBolus};
pub use polynomial::{Constant, Linear, Polynomial, Quadratic};
pub use power_law::{Logarithmic, PowerLaw, PowerLawOffset};
pub use rational::Rational;
pub use resonance::BreitWigner;
pub use rheology::{Bingham, Carreau, Casson, Cross, HerschelBulkley};
pub use skewed_peak::{ExponentialGaussian, LogNormal, SkewedGaussian};
pub use soil::VanGenuchten;
pub(in crate::curve) use special::voigt;
pub use step::{ArctanStep, ErfStep, LogisticStep};
pub use temperature::{Antoine, VogelFulcherTammann};
pub use unknown_model::UnknownModel;
pub use wave::{DampedSine, Sine};
pub use weibull_response::{Weibull1, Weibull2};
