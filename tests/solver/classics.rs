//! Classic problems with published minima: Moré, Garbow & Hillstrom 1981, *Testing Unconstrained Optimization Software*.

use std::f64::consts::PI;

use marquardt::{EvaluationError, Residuals, Scalar};

use crate::textbook::data::{BARD, KOWALIK_OSBORNE, MEYER, OSBORNE_1};
use crate::textbook::fixed::numbered;

/// Problems by their starts, the sums of squares at their minima, and their residuals; `x` counts from 1 as the paper
/// does.
macro_rules! classics {
    ($($name:ident from $start:expr, minima $minima:expr, |$x:ident| $residuals:expr;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Classic {
            $($name,)*
        }

        impl Classic {
            pub const ALL: &[Classic] = &[$(Classic::$name,)*];

            pub fn start(self) -> &'static [f64] {
                match self {
                    $(Classic::$name => &$start,)*
                }
            }

            /// The sums of squares at the minima that the start may lead to.
            pub fn minima(self) -> &'static [f64] {
                match self {
                    $(Classic::$name => &$minima,)*
                }
            }

            fn residuals<S: Scalar<Real = f64>>(self, x: &[S]) -> Vec<S> {
                match self {
                    $(Classic::$name => {
                        let $x = |j: usize| x[j - 1];
                        $residuals.into_iter().collect()
                    })*
                }
            }
        }
    };
}

classics! {
    Rosenbrock from [-1.2, 1.0], minima [0.0], |x| [(x(2) - x(1).powi(2)) * 10.0, -x(1) + 1.0];
    FreudensteinRoth from [0.5, -2.0], minima [0.0, 48.98425], |x| [
        x(1) + ((-x(2) + 5.0) * x(2) - 2.0) * x(2) - 13.0,
        x(1) + ((x(2) + 1.0) * x(2) - 14.0) * x(2) - 29.0,
    ];
    BrownBadlyScaled from [1.0, 1.0], minima [0.0], |x| [x(1) - 1e6, x(2) - 2e-6, x(1) * x(2) - 2.0];
    Beale from [1.0, 1.0], minima [0.0], |x| (1..=3).map(|i| x(1) * (-x(2).powi(i) + 1.0) - [1.5, 2.25, 2.625][i as usize - 1]);
    JennrichSampson from [0.3, 0.4], minima [124.36218], |x| {
        numbered(10).map(|i| -(x(1) * i).exp() - (x(2) * i).exp() + 2.0 * (1.0 + i)).collect::<Vec<_>>()
    };
    HelicalValley from [-1.0, 0.0, 0.0], minima [0.0], |x| {
        let turn = if x(1).value() < 0.0 { 0.5 } else { 0.0 };
        let angle = (x(2) / x(1)).atan() / (2.0 * PI) + turn;
        [(x(3) - angle * 10.0) * 10.0, (Scalar::hypot(x(1), x(2)) - 1.0) * 10.0, x(3)]
    };
    Bard from [1.0, 1.0, 1.0], minima [8.21487e-3], |x| {
        numbered(15).zip(BARD).map(|(u, y)| {
            let v = 16.0 - u;
            x(1) + S::constant(u) / (x(2) * v + x(3) * u.min(v)) - y
        }).collect::<Vec<_>>()
    };
    KowalikOsborne from [0.25, 0.39, 0.415, 0.39], minima [3.07505e-4], |x| {
        KOWALIK_OSBORNE.into_iter().map(|(y, u)| x(1) * (x(2) * u + u * u) / (x(3) * u + x(4) + u * u) - y).collect::<Vec<_>>()
    };
    Meyer from [0.02, 4000.0, 250.0], minima [87.94585], |x| {
        numbered(16).zip(MEYER).map(|(i, y)| x(1) * (x(2) / (x(3) + (45.0 + 5.0 * i))).exp() - y).collect::<Vec<_>>()
    };
    Box from [0.0, 10.0, 20.0], minima [0.0], |x| {
        numbered(10).map(|i| {
            let t = 0.1 * i;
            (-x(1) * t).exp() - (-x(2) * t).exp() - x(3) * ((-t).exp() - (-10.0 * t).exp())
        }).collect::<Vec<_>>()
    };
    PowellSingular from [3.0, -1.0, 0.0, 1.0], minima [0.0], |x| [
        x(1) + x(2) * 10.0,
        (x(3) - x(4)) * 5.0.sqrt(),
        (x(2) - x(3) * 2.0).powi(2),
        (x(1) - x(4)).powi(2) * 10.0.sqrt(),
    ];
    Wood from [-3.0, -1.0, -3.0, -1.0], minima [0.0], |x| [
        (x(2) - x(1).powi(2)) * 10.0,
        -x(1) + 1.0,
        (x(4) - x(3).powi(2)) * 90.0.sqrt(),
        -x(3) + 1.0,
        (x(2) + x(4) - 2.0) * 10.0.sqrt(),
        (x(2) - x(4)) / 10.0.sqrt(),
    ];
    Osborne from [0.5, 1.5, -1.0, 0.01, 0.02], minima [5.46489e-5], |x| {
        numbered(33).zip(OSBORNE_1).map(|(i, y)| {
            let t = 10.0 * (i - 1.0);
            x(1) + x(2) * (-x(4) * t).exp() + x(3) * (-x(5) * t).exp() - y
        }).collect::<Vec<_>>()
    };
}

impl Residuals<f64> for Classic {
    fn parameter_count(&self) -> usize {
        self.start().len()
    }

    fn residual_count(&self) -> usize {
        self.residuals(self.start()).len()
    }

    fn row_group(&self) -> usize {
        Residuals::residual_count(self)
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], _: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        r.copy_from_slice(&self.residuals(x));
        Ok(())
    }
}
