//! Classic problems with published minima: Moré, Garbow & Hillstrom 1981, *Testing Unconstrained Optimization Software*.

use std::f64::consts::PI;

use marquardt::{EvaluationError, Residuals, Scalar};

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
        numbered(33).zip(OSBORNE).map(|(i, y)| {
            let t = 10.0 * (i - 1.0);
            x(1) + x(2) * (-x(4) * t).exp() + x(3) * (-x(5) * t).exp() - y
        }).collect::<Vec<_>>()
    };
}

/// 1, 2, …, `count`.
fn numbered(count: u32) -> impl Iterator<Item = f64> {
    (1..=count).map(f64::from)
}

const BARD: [f64; 15] = [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39];

const KOWALIK_OSBORNE: [(f64, f64); 11] = [
    (0.1957, 4.0),
    (0.1947, 2.0),
    (0.1735, 1.0),
    (0.1600, 0.5),
    (0.0844, 0.25),
    (0.0627, 0.167),
    (0.0456, 0.125),
    (0.0342, 0.1),
    (0.0323, 0.0833),
    (0.0235, 0.0714),
    (0.0246, 0.0625),
];

const MEYER: [f64; 16] = [
    34780.0, 28610.0, 23650.0, 19630.0, 16370.0, 13720.0, 11540.0, 9744.0, 8261.0, 7030.0, 6005.0, 5147.0, 4427.0,
    3820.0, 3307.0, 2872.0,
];

const OSBORNE: [f64; 33] = [
    0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751, 0.718, 0.685, 0.658, 0.628, 0.603,
    0.580, 0.558, 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420, 0.414, 0.411,
    0.406,
];

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
