//! All models of the library as one type.

use super::formula::Formula;
use super::guess::finite;
use super::look::Look;
use super::*;
use crate::curve::Model;
use crate::number::ScalarOf;
use crate::real::Real;

/// Entry of one model of the library.
pub(super) struct LibraryModel {
    pub(super) name: &'static str,
    pub(super) formula: &'static str,
    pub(super) parameters: &'static [&'static str],
    /// Names and formulas of derived quantities.
    pub(super) derived: &'static [(&'static str, &'static str)],
}

macro_rules! registry {
    ($($model:ident),* $(,)?) => {
        /// One model of the library.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Kind {
            $($model,)*
            Polynomial(usize),
        }

        impl Kind {
            /// All but the polynomials.
            const SINGLE: &[Kind] = &[$(Kind::$model),*];

            /// Its entry.
            pub(super) fn entry(self) -> LibraryModel {
                match self {
                    $(Kind::$model => LibraryModel {
                        name: <$model as Formula>::NAME,
                        formula: <$model as Formula>::FORMULA,
                        parameters: <$model as Formula>::PARAMETERS,
                        derived: <$model as Formula>::DERIVED,
                    },)*
                    Kind::Polynomial(degree) => LibraryModel {
                        name: POLYNOMIALS[degree - LOWEST].0,
                        formula: POLYNOMIALS[degree - LOWEST].1,
                        parameters: &COEFFICIENTS[..=degree],
                        derived: &[],
                    },
                }
            }
        }

        impl<T: Real> Model<T> for Kind {
            const IN_LANES: bool = false;

            fn parameter_count(&self) -> usize {
                self.entry().parameters.len()
            }

            fn parameter_name(&self, index: usize) -> String {
                self.entry().parameters[index].to_owned()
            }

            #[inline(always)]
            fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
                match *self {
                    $(Kind::$model => $model.response(x, b),)*
                    Kind::Polynomial(degree) => Polynomial { degree }.response(x, b),
                }
            }
        }

        impl Kind {
            /// A start for these data, whatever their float is: compiled in this crate.
            fn start(self, look: &Look) -> Vec<f64> {
                match self {
                    $(Kind::$model => <$model as Formula>::start(look),)*
                    Kind::Polynomial(degree) => Polynomial { degree }.start(look),
                }
            }

            /// The parameters that the response is linear in while the others stand still.
            fn linear(self) -> Vec<usize> {
                match self {
                    $(Kind::$model => <$model as Formula>::LINEAR.to_vec(),)*
                    Kind::Polynomial(degree) => Polynomial { degree }.linear(),
                }
            }
        }

        impl<T: Real> Guess<T> for Kind {
            fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
                self.guess_with(x, y, &GuessCache::default())
            }

            fn guess_with(&self, x: &[T], y: &[T], cache: &GuessCache) -> Vec<T> {
                let scale = |b: &mut [f64], factor| Guess::<T>::scale_response(self, b, factor);
                finite(Look::at(x, y, cache).unscaled(scale, |look| self.start(look)))
            }

            fn linear_parameters(&self) -> Vec<usize> {
                self.linear()
            }

            fn scale_response(&self, start: &mut [f64], factor: f64) {
                match self {
                    $(Kind::$model => <$model as Formula>::scale_response(start, factor),)*
                    Kind::Polynomial(_) => start.iter_mut().for_each(|b| *b *= factor),
                }
            }
        }
    };
}

registry! {
    Constant, Linear, Quadratic,
    ExponentialDecay, ExponentialDecayOffset, ExponentialRise, ExponentialRiseOffset, BiExponential, StretchedExponential,
    PowerLaw, PowerLawOffset, Logarithmic,
    Gaussian, Lorentzian, Voigt, PseudoVoigt, Moffat, BreitWigner,
    ExponentialGaussian, SkewedGaussian, LogNormal,
    Logistic, Gompertz, Richards, WeibullGrowth, ModifiedGompertz, ModifiedLogistic, BaranyiRoberts,
    MichaelisMenten, Hill, Logistic4, Logistic5, Logistic5Ec50, Weibull1, Weibull2, Boltzmann,
    SubstrateInhibition, Morrison, BindingWithDepletion,
    Langmuir, Freundlich, Bet, Toth, Sips,
    HerschelBulkley, Bingham, Casson, Carreau, Cross,
    OneCompartmentBolus, OneCompartmentOral, TwoCompartmentBolus,
    VanGenuchten,
    ArctanStep, ErfStep, LogisticStep,
    Sine, DampedSine,
    Arrhenius, Eyring, VogelFulcherTammann, Antoine, Rational,
}

/// The lowest degree of a polynomial that is named by its degree.
const LOWEST: usize = 3;

/// Names and formulas of the polynomials from [`LOWEST`] on.
const POLYNOMIALS: [(&str, &str); 7] = [
    ("polynomial3", "c0 + c1 x + c2 x^2 + c3 x^3"),
    ("polynomial4", "c0 + c1 x + ... + c4 x^4"),
    ("polynomial5", "c0 + c1 x + ... + c5 x^5"),
    ("polynomial6", "c0 + c1 x + ... + c6 x^6"),
    ("polynomial7", "c0 + c1 x + ... + c7 x^7"),
    ("polynomial8", "c0 + c1 x + ... + c8 x^8"),
    ("polynomial9", "c0 + c1 x + ... + c9 x^9"),
];

const COEFFICIENTS: [&str; 10] = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"];

impl Kind {
    /// The curve is that of another model, by other parameters.
    #[rustfmt::skip]
    pub(super) fn is_reparameterized(self) -> bool {
        matches!(
            self,
            Kind::Langmuir | Kind::Sips | Kind::Freundlich | Kind::HerschelBulkley | Kind::Bingham | Kind::Cross
            | Kind::OneCompartmentBolus | Kind::TwoCompartmentBolus | Kind::ModifiedGompertz | Kind::ModifiedLogistic
            | Kind::Logistic5Ec50 | Kind::Weibull2 | Kind::Antoine | Kind::ExponentialRiseOffset | Kind::LogisticStep
        )
    }

    /// The response rises to one peak, and is zero far from it.
    #[rustfmt::skip]
    pub(super) fn is_peak(self) -> bool {
        matches!(
            self,
            Kind::Gaussian | Kind::Lorentzian | Kind::Voigt | Kind::PseudoVoigt | Kind::Moffat
            | Kind::ExponentialGaussian | Kind::SkewedGaussian | Kind::LogNormal
        )
    }

    /// All of them.
    pub(super) fn all() -> impl Iterator<Item = Kind> {
        let polynomials = (LOWEST..LOWEST + POLYNOMIALS.len()).map(Kind::Polynomial);
        Kind::SINGLE.iter().copied().chain(polynomials)
    }
}
