//! Models by name.

use std::fmt;

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::Formula;
use super::*;
use crate::{Model, Real, Scalar};

/// What the library knows of one of its models.
struct Entry {
    name: &'static str,
    formula: &'static str,
    parameters: &'static [&'static str],
}

/// A model of the library by its name, as a program asks for it that lets its users choose.
///
/// ```
/// use marquardt::CurveFit;
/// use marquardt::models::{Guess, Named};
///
/// let model = Named::of_name("michaelis_menten").unwrap();
/// assert_eq!(model.formula(), "vmax x / (km + x)");
/// assert_eq!(model.parameters(), ["vmax", "km"]);
///
/// let x = [0.02, 0.06, 0.11, 0.22, 0.56, 1.10_f64];
/// let y = [61.5, 102.0, 131.0, 155.5, 194.0, 203.5];
/// let fit = CurveFit::model(model, &x, &y, &model.guess(&x, &y)).fit()?;
/// assert!((fit.parameter("vmax").unwrap().value - 215.0).abs() < 5.0);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
///
/// Polynomials of a degree from 3 to 9 are named `polynomial3` to `polynomial9`; below are `constant`, `linear` and
/// `quadratic`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Named(Kind);

macro_rules! registry {
    ($($model:ident),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        enum Kind {
            $($model,)*
            Polynomial(usize),
        }

        impl Kind {
            /// All but the polynomials.
            const SINGLE: &[Kind] = &[$(Kind::$model),*];

            fn entry(self) -> Entry {
                match self {
                    $(Kind::$model => Entry {
                        name: <$model as Formula>::NAME,
                        formula: <$model as Formula>::FORMULA,
                        parameters: <$model as Formula>::PARAMETERS,
                    },)*
                    Kind::Polynomial(degree) => Entry {
                        name: POLYNOMIALS[degree - LOWEST].0,
                        formula: POLYNOMIALS[degree - LOWEST].1,
                        parameters: &COEFFICIENTS[..=degree],
                    },
                }
            }
        }

        impl<T: Real> Model<T> for Named {
            fn parameter_count(&self) -> usize {
                self.parameters().len()
            }

            fn parameter_name(&self, index: usize) -> String {
                self.parameters()[index].to_owned()
            }

            fn response<S: Scalar<Real = T>>(&self, x: &[T], b: &[S]) -> S {
                match self.0 {
                    $(Kind::$model => $model.response(x, b),)*
                    Kind::Polynomial(degree) => Polynomial { degree }.response(x, b),
                }
            }
        }

        impl<T: Real> Guess<T> for Named {
            fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
                match self.0 {
                    $(Kind::$model => $model.guess(x, y),)*
                    Kind::Polynomial(degree) => Polynomial { degree }.guess(x, y),
                }
            }

            fn linear_parameters(&self) -> Vec<usize> {
                match self.0 {
                    $(Kind::$model => Guess::<T>::linear_parameters(&$model),)*
                    Kind::Polynomial(degree) => Guess::<T>::linear_parameters(&Polynomial { degree }),
                }
            }
        }
    };
}

registry!(
    Constant,
    Linear,
    Quadratic,
    ExponentialDecay,
    ExponentialDecayOffset,
    ExponentialRise,
    ExponentialRiseOffset,
    BiExponential,
    StretchedExponential,
    PowerLaw,
    PowerLawOffset,
    Logarithmic,
    Gaussian,
    Lorentzian,
    Voigt,
    PseudoVoigt,
    Moffat,
    ExponentialGaussian,
    SkewedGaussian,
    LogNormal,
    Logistic,
    Gompertz,
    Richards,
    WeibullGrowth,
    MichaelisMenten,
    Hill,
    Logistic4,
    Logistic5,
    Boltzmann,
    ArctanStep,
    ErfStep,
    LogisticStep,
    Sine,
    DampedSine,
    Arrhenius,
    Rational,
);

compose! { [] Named; }

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

impl Named {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Named> {
        let polynomials = (LOWEST..LOWEST + POLYNOMIALS.len()).map(Kind::Polynomial);
        Kind::SINGLE.iter().copied().chain(polynomials).map(Named)
    }

    /// The model of this name.
    pub fn of_name(name: &str) -> Option<Named> {
        Self::all().find(|model| model.name() == name)
    }

    /// Its name, in snake case.
    pub fn name(self) -> &'static str {
        self.0.entry().name
    }

    /// How it is computed.
    pub fn formula(self) -> &'static str {
        self.0.entry().formula
    }

    /// What its parameters are called.
    pub fn parameters(self) -> &'static [&'static str] {
        self.0.entry().parameters
    }
}

/// Its name.
impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
