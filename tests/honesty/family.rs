//! The curves that are fitted.

use marquardt::number::Number;
use marquardt::{Model, Real, Scalar, ScalarOf};

/// Parameters of the widest family.
pub const WIDTH: usize = 6;

/// A family of curves, known at compile time.
pub trait Formula: Send + Sync {
    /// The response at `x`.
    fn at<S: Scalar>(&self, x: S::Real, b: &[S]) -> S;
}

/// A constant of the number that predictors are.
#[inline(always)]
fn k<S: Scalar>(value: f64) -> S::Real {
    S::Real::from_f64(value)
}

/// A bell of height 1 where `u` is 0.
#[inline(always)]
fn bell<S: Scalar>(u: S) -> S {
    (u * u * k::<S>(-0.5)).exp()
}

/// Families by the range of their predictor, the ranges of their true parameters, and their formula as text and as code.
macro_rules! families {
    ($($name:ident on $low:literal to $high:literal, $truth:tt, $text:literal, |$x:ident, $b:ident| $response:expr;)*) => {
        $(
            pub struct $name;

            impl Formula for $name {
                #[inline(always)]
                fn at<S: Scalar>(&self, $x: S::Real, $b: &[S]) -> S {
                    $response
                }
            }
        )*

        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Family {
            $($name,)*
        }

        impl Family {
            pub const ALL: &[Family] = &[$(Family::$name,)*];

            pub fn at<S: Scalar>(self, x: S::Real, b: &[S]) -> S {
                match self {
                    $(Family::$name => $name.at(x, b),)*
                }
            }

            /// Formula of the parameters `b0`, `b1`, … in this order.
            pub fn text(self) -> &'static str {
                match self {
                    $(Family::$name => $text,)*
                }
            }

            /// The range of the predictor.
            pub fn range(self) -> (f64, f64) {
                match self {
                    $(Family::$name => ($low, $high),)*
                }
            }

            /// The ranges of the true parameters.
            pub fn truth(self) -> &'static [(f64, f64)] {
                match self {
                    $(Family::$name => &$truth,)*
                }
            }
        }
    };
}

families! {
    Exponential on 0.0 to 10.0, [(1.0, 100.0), (-2.0, 0.3), (-10.0, 10.0)], "b0 * exp(b1 * x) + b2", |x, b| {
        (b[1] * x).exp() * b[0] + b[2]
    };
    TwoExponentials on 0.0 to 10.0, [(1.0, 10.0), (-0.5, -0.05), (1.0, 10.0), (-5.0, -0.7)],
        "b0 * exp(b1 * x) + b2 * exp(b3 * x)", |x, b| (b[1] * x).exp() * b[0] + (b[3] * x).exp() * b[2];
    ThreeExponentials on 0.0 to 10.0,
        [(1.0, 10.0), (-0.3, -0.05), (1.0, 10.0), (-2.0, -0.5), (1.0, 10.0), (-9.0, -3.0)],
        "b0 * exp(b1 * x) + b2 * exp(b3 * x) + b4 * exp(b5 * x)", |x, b| {
        (b[1] * x).exp() * b[0] + (b[3] * x).exp() * b[2] + (b[5] * x).exp() * b[4]
    };
    Power on 1.0 to 12.0, [(0.1, 10.0), (-2.0, 2.5), (-5.0, 5.0)], "b0 * exp(b1 * ln(x)) + b2", |x, b| {
        (b[1] * x.ln()).exp() * b[0] + b[2]
    };
    Logarithm on 1.0 to 9.0, [(-5.0, 5.0), (0.5, 5.0), (-0.9, 3.0)], "b0 + b1 * ln(b2 + x)", |x, b| {
        b[0] + b[1] * (b[2] + x).ln()
    };
    Gaussian on 0.0 to 10.0, [(1.0, 50.0), (2.0, 8.0), (0.3, 3.0), (0.0, 5.0)],
        "b0 * exp(-((b1 - x) / b2)^2 / 2) + b3", |x, b| bell((b[1] - x) / b[2]) * b[0] + b[3];
    GaussianOnLine on 0.0 to 10.0, [(1.0, 50.0), (2.0, 8.0), (0.3, 3.0), (0.0, 5.0), (-1.0, 1.0)],
        "b0 * exp(-((b1 - x) / b2)^2 / 2) + b3 + b4 * x", |x, b| {
        bell((b[1] - x) / b[2]) * b[0] + b[3] + b[4] * x
    };
    TwoGaussians on 0.0 to 10.0, [(1.0, 9.0), (2.0, 5.0), (0.3, 1.5), (1.0, 9.0), (5.0, 8.0), (0.3, 1.5)],
        "b0 * exp(-((b1 - x) / b2)^2 / 2) + b3 * exp(-((b4 - x) / b5)^2 / 2)", |x, b| {
        bell((b[1] - x) / b[2]) * b[0] + bell((b[4] - x) / b[5]) * b[3]
    };
    TiltedPeak on 0.0 to 10.0, [(1.0, 50.0), (-3.0, 3.0), (-1.5, 1.5), (-3.0, 3.0), (2.0, 5.0), (0.5, 2.0)],
        "b0 * exp(-((((x*cos(5*x) - b1) * cos(b2) + (x*sin(5*x) - b3) * sin(b2)) / b4)^2
            + (((x*sin(5*x) - b3) * cos(b2) - (x*cos(5*x) - b1) * sin(b2)) / b5)^2) / 2)", |x, b| {
        // An elliptical peak in the plane, seen along a spiral.
        let turns = x * k::<S>(5.0);
        let (u, v) = (-b[1] + x * turns.cos(), -b[3] + x * turns.sin());
        let (c, s) = (b[2].cos(), b[2].sin());
        bell((u * c + v * s) / b[4]) * bell((v * c - u * s) / b[5]) * b[0]
    };
    Lorentzian on 0.0 to 10.0, [(1.0, 50.0), (2.0, 8.0), (0.3, 3.0), (0.0, 5.0)],
        "b0 / (((b1 - x) / b2)^2 + 1) + b3", |x, b| {
        let u = (b[1] - x) / b[2];
        b[0] / (u * u + k::<S>(1.0)) + b[3]
    };
    PseudoVoigt on 0.0 to 10.0, [(1.0, 50.0), (2.0, 8.0), (0.3, 3.0), (0.1, 0.9), (0.0, 5.0)],
        "b0 * (1 / (((b1 - x) / b2)^2 + 1) * b3 + (1 - b3) * exp(-((b1 - x) / b2)^2 / 2)) + b4", |x, b| {
        let u = (b[1] - x) / b[2];
        let lorentzian = (u * u + k::<S>(1.0)).recip();
        b[0] * (b[3] * lorentzian + (-b[3] + k::<S>(1.0)) * bell(u)) + b[4]
    };
    MichaelisMenten on 0.1 to 10.0, [(1.0, 100.0), (0.1, 10.0)], "b0 * x / (b1 + x)", |x, b| b[0] * x / (b[1] + x);
    Hill on 0.1 to 10.0, [(1.0, 100.0), (0.5, 8.0), (0.5, 5.0)], "b0 / (exp((ln(b1) - ln(x)) * b2) + 1)", |x, b| {
        b[0] / (((b[1].ln() - x.ln()) * b[2]).exp() + k::<S>(1.0))
    };
    Logistic on 0.0 to 10.0, [(1.0, 100.0), (0.3, 4.0), (2.0, 8.0), (-5.0, 5.0)],
        "b0 / (exp(b1 * (b2 - x)) + 1) + b3", |x, b| b[0] / (((b[2] - x) * b[1]).exp() + k::<S>(1.0)) + b[3];
    FiveParameterLogistic on 0.1 to 10.0, [(0.0, 5.0), (1.0, 50.0), (0.5, 4.0), (0.5, 8.0), (0.3, 3.0)],
        "b0 + b1 / (1 + exp(b2 * (ln(b3) - ln(x))))^b4", |x, b| {
        b[0] + b[1] / ((b[2] * (b[3].ln() - x.ln())).exp() + k::<S>(1.0)).pow(b[4])
    };
    TwoTanh on 0.0 to 10.0, [(1.0, 10.0), (0.3, 4.0), (1.0, 5.0), (1.0, 10.0), (0.3, 4.0), (5.0, 9.0)],
        "b0 * tanh(b1 * (x - b2)) + b3 * tanh(b4 * (x - b5))", |x, b| {
        b[0] * (b[1] * (-b[2] + x)).tanh() + b[3] * (b[4] * (-b[5] + x)).tanh()
    };
    Gompertz on 0.0 to 10.0, [(1.0, 100.0), (0.5, 8.0), (0.2, 2.0)], "b0 * exp(-b1 * exp(-b2 * x))", |x, b| {
        b[0] * (-b[1] * (-b[2] * x).exp()).exp()
    };
    Rational on 0.1 to 4.1, [(1.0, 12.0), (0.1, 2.0), (0.1, 3.0)], "b0 * x / (b1 * x + b2 * x^2 + 1)", |x, b| {
        b[0] * x / (b[1] * x + b[2] * (x * x) + k::<S>(1.0))
    };
    RationalQuadratic on 0.0 to 5.0, [(-3.0, 3.0), (-3.0, 3.0), (-3.0, 3.0), (0.1, 2.0), (0.1, 2.0)],
        "(b0 + b1 * x + b2 * x^2) / (b3 * x + b4 * x^2 + 1)", |x, b| {
        (b[0] + b[1] * x + b[2] * (x * x)) / (b[3] * x + b[4] * (x * x) + k::<S>(1.0))
    };
    Sine on 0.0 to 10.0, [(0.5, 10.0), (0.3, 3.0), (-3.0, 3.0), (-5.0, 5.0)], "b0 * sin(b1 * x + b2) + b3", |x, b| {
        (b[1] * x + b[2]).sin() * b[0] + b[3]
    };
    DampedSine on 0.0 to 10.0, [(0.5, 10.0), (0.02, 0.6), (0.5, 4.0), (-3.0, 3.0)],
        "b0 * exp(-b1 * x) * sin(b2 * x + b3)", |x, b| b[0] * (-b[1] * x).exp() * (b[2] * x + b[3]).sin();
    Arrhenius on 280.0 to 400.0, [(1e3, 1e6), (1000.0, 6000.0)], "b0 * exp(-b1 / x)", |x, b| b[0] * (-b[1] / x).exp();
    Saturation on 1.0 to 10.0, [(1.0, 20.0), (0.05, 2.0)], "b0 * (1 - exp(-b1 * x))", |x, b| {
        b[0] * (-(-b[1] * x).exp() + k::<S>(1.0))
    };
    StretchedExponential on 0.2 to 10.0, [(1.0, 20.0), (0.5, 8.0), (0.3, 3.0)], "b0 * exp(-(x / b1)^b2)", |x, b| {
        b[0] * (-(b[1].recip() * x).pow(b[2])).exp()
    };
    FarPolynomial on 1000.0 to 1100.0, [(-1e3, 1e3), (-10.0, 10.0), (-0.1, 0.1), (-1e-4, 1e-4)],
        "b0 + (b1 + (b2 + b3 * x) * x) * x", |x, b| b[0] + (b[1] + (b[2] + b[3] * x) * x) * x;
}

impl Family {
    pub fn parameters(self) -> usize {
        self.truth().len()
    }
}

/// A family as the model of a curve, evaluated a point at a time.
#[derive(Clone, Copy)]
pub struct Pointwise(pub Family);

impl<T: Real> Model<T> for Pointwise {
    const IN_LANES: bool = false;

    fn parameter_count(&self) -> usize {
        self.0.parameters()
    }

    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
        self.0.at(x[0], b)
    }
}

/// A formula as the model of many curves, evaluated in the lanes of registers.
pub struct InLanes<F> {
    pub formula: F,
    pub parameters: usize,
}

impl<T: Real, F: Formula> Model<T> for InLanes<F> {
    fn parameter_count(&self) -> usize {
        self.parameters
    }

    #[inline(always)]
    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
        self.formula.at(x[0], b)
    }
}
