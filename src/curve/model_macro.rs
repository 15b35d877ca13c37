//! Models and ties as formulas.

/// A [`Model`](crate::Model) from a formula: predictors, a semicolon, and the names of the parameters.
///
/// ```
/// use marquardt::{CurveFit, model};
///
/// let x = [1.0, 2.0, 4.0, 8.0, 16.0_f64];
/// let y = [1.8, 3.3, 5.4, 8.0, 9.6];
/// let saturation = model!(|x; top, rate| top * (1 - exp(-rate * x)));
/// let fit = CurveFit::model(saturation, &x, &y, &[8.0, 0.1]).fit()?;
/// assert!((fit.parameter("top").unwrap().value - 10.0).abs() < 0.3);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
///
/// Predictors, parameters and numbers mix freely: `1 / 2` is a half. The functions of [`Scalar`](crate::Scalar) are called as
/// `exp(x)`, `pow(x, 2)`, `atan2(y, x)`, `max(a, b)`, or as methods, `x.exp()`; the exponent of `.powi(3)` remains an integer.
/// Constants from outside are named after another semicolon, each with its value, an expression of type `f64` or one that
/// becomes it:
///
/// ```
/// use marquardt::{Model, model};
///
/// let pressure = 1.2;
/// let isotherm = model!(|x, t; a, b| a * p * x / (1 + b * p * exp(-b / t)); p = pressure);
/// let response: f64 = isotherm.response(&[2.0, 300.0], &[3.0, 0.1]);
/// assert!(
///     (response - 3.0 * 1.2 * 2.0 / (1.0 + 0.1 * 1.2 * (-0.1 / 300.0_f64).exp())).abs() < 1e-15
/// );
/// assert_eq!(Model::<f64>::parameter_name(&isotherm, 1), "b");
/// ```
///
/// Where `a < b` one expression holds, otherwise another: `select_less(a, b, then, otherwise)`.
///
/// Such models add and multiply with those of the [library](crate::models). For loops, or constants that are no numbers,
/// implement [`Model`](crate::Model).
#[macro_export]
macro_rules! model {
    (|$($x:ident),+ $(,)?; $($b:ident),+ $(,)?| $($formula:tt)+) => {
        $crate::__formula!(@model ([$($x)+] [$($b)+]) [] [$($formula)+])
    };
}

/// A [`Tie`](crate::Tie) from a formula over the names of other parameters, as [`model!`](crate::model!) has them.
///
/// ```
/// use marquardt::{Tie, tie};
///
/// let rest: Tie<f64> = tie!(|a, c| 1 - a - 2 * c);
/// assert_eq!(rest.of(), ["a", "c"]);
/// let mut gradient = [0.0; 2];
/// assert_eq!(rest.value(&[0.25, 0.125], Some(&mut gradient)), 0.5);
/// assert_eq!(gradient, [-1.0, -2.0]);
/// ```
#[macro_export]
macro_rules! tie {
    (|$($b:ident),+ $(,)?| $($formula:tt)+) => {
        $crate::__formula!(@tie ([$($b)+]) [] [$($formula)+]).described(stringify!($($formula)+))
    };
}

/// A formula within code that is generic over a [`Scalar`](crate::Scalar) `S`, which has to have this name there: numbers become
/// constants of `S`, so that they stand on either side of an operator, and the functions of [`Scalar`](crate::Scalar) are called as in
/// [`model!`](crate::model!).
///
/// ```
/// use marquardt::{CurveFit, Model, ScalarOf, formula};
///
/// /// A sum of saturations, one for each pair of parameters.
/// struct Saturations(usize);
///
/// impl Model<f64> for Saturations {
///     fn parameter_count(&self) -> usize {
///         2 * self.0
///     }
///
///     #[inline(always)]
///     fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
///         let x = S::constant(x[0]);
///         b.chunks_exact(2).map(|b| formula!(b[0] * (1.0 - exp(-2.0 * b[1] * x)))).sum()
///     }
/// }
///
/// let x = [0.5, 1.0, 2.0, 4.0, 8.0];
/// let y = x.map(|x: f64| 3.0 * (1.0 - (-2.0 * 0.4 * x).exp()));
/// let fit = CurveFit::model(Saturations(1), &x, &y, &[1.0, 1.0]).fit()?;
/// assert!((fit.parameters()[1].value - 0.4).abs() < 1e-9);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
#[macro_export]
macro_rules! formula {
    ($($formula:tt)+) => {
        $crate::__formula!(@value () [] [$($formula)+])
    };
}

/// A [`ComplexModel`](crate::curve::ComplexModel) from a formula, as [`model!`](crate::model!) makes a real one: all numbers in it are complex,
/// `i()` is the imaginary unit, and there are `re`, `im`, `abs`, `arg`, `conj`, `pow`, and the functions of [`Complex`](crate::Complex).
///
/// ```
/// use marquardt::{CurveFit, complex_model};
///
/// let omega = [10.0, 100.0, 1e3, 1e4, 1e5];
/// let (re, im) = ([110.0, 109.1, 59.8, 11.1, 10.1], [-1.0, -9.9, -50.1, -9.8, -1.1_f64]);
/// let randles = complex_model!(|w; r0, r1, c| r0 + r1 / (1 + i() * w * r1 * c));
/// let fit = CurveFit::complex_model(randles, &omega, (&re, &im), &[1.0, 50.0, 2e-6]).fit()?;
/// assert!((fit.parameter("r1").unwrap().value - 100.0).abs() < 1.0);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
#[macro_export]
macro_rules! complex_model {
    (|$($x:ident),+ $(,)?; $($b:ident),+ $(,)?| $($formula:tt)+) => {
        $crate::__formula!(@complex ([$($x)+] [$($b)+]) [] [$($formula)+])
    };
}

/// Rewrites a formula: numbers become constants of the scalar `S`. The arguments are what to make of it, with which names,
/// the tokens done, the tokens left, and for each group that is open its kind and the tokens done and left outside of it.
#[doc(hidden)]
#[macro_export]
macro_rules! __formula {
    // All is done, and constants may follow.
    (@$kind:ident $names:tt $done:tt [$(; $($c:ident = $value:expr),+ $(,)?)?]) => {
        $crate::__formula!(@$kind $names $done as [$($($c = $value),+)?])
    };
    // A group is done.
    (@$kind:ident $names:tt [$($done:tt)*] [] (paren [$($outer:tt)*] $rest:tt) $($open:tt)*) => {
        $crate::__formula!(@$kind $names [$($outer)* ($($done)*)] $rest $($open)*)
    };
    (@$kind:ident $names:tt [$($done:tt)*] [] (brace [$($outer:tt)*] $rest:tt) $($open:tt)*) => {
        $crate::__formula!(@$kind $names [$($outer)* {$($done)*}] $rest $($open)*)
    };
    // A group opens.
    (@$kind:ident $names:tt $done:tt [($($inner:tt)*) $($rest:tt)*] $($open:tt)*) => {
        $crate::__formula!(@$kind $names [] [$($inner)*] (paren $done [$($rest)*]) $($open)*)
    };
    (@$kind:ident $names:tt $done:tt [{$($inner:tt)*} $($rest:tt)*] $($open:tt)*) => {
        $crate::__formula!(@$kind $names [] [$($inner)*] (brace $done [$($rest)*]) $($open)*)
    };
    // An integer power keeps its integer.
    (@$kind:ident $names:tt [$($done:tt)*] [. powi ($n:expr) $($rest:tt)*] $($open:tt)*) => {
        $crate::__formula!(@$kind $names [$($done)* .powi($n)] [$($rest)*] $($open)*)
    };
    // A minus is no part of the number after it.
    (@$kind:ident $names:tt [$($done:tt)*] [- $($rest:tt)*] $($open:tt)*) => {
        $crate::__formula!(@$kind $names [$($done)* -] [$($rest)*] $($open)*)
    };
    (@complex $names:tt [$($done:tt)*] [$number:literal $($rest:tt)*] $($open:tt)*) => {
        $crate::__formula!(@complex $names [$($done)* $crate::complex_functions::constant::<S>($number)] [$($rest)*] $($open)*)
    };
    (@$kind:ident $names:tt [$($done:tt)*] [$number:literal $($rest:tt)*] $($open:tt)*) => {
        $crate::__formula!(@$kind $names [$($done)* $crate::model_functions::constant::<S>($number)] [$($rest)*] $($open)*)
    };
    // Two tokens at once where that is safe, as the compiler counts the steps.
    (@$kind:ident $names:tt [$($done:tt)*] [$a:ident * $($rest:tt)*] $($open:tt)*) => {
        $crate::__formula!(@$kind $names [$($done)* $a *] [$($rest)*] $($open)*)
    };
    (@$kind:ident $names:tt [$($done:tt)*] [$a:ident $($rest:tt)*] $($open:tt)*) => {
        $crate::__formula!(@$kind $names [$($done)* $a] [$($rest)*] $($open)*)
    };
    (@$kind:ident $names:tt [$($done:tt)*] [$token:tt $($rest:tt)*] $($open:tt)*) => {
        $crate::__formula!(@$kind $names [$($done)* $token] [$($rest)*] $($open)*)
    };
    (@parameters $($b:ident)+) => {
        fn parameter_count(&self) -> usize {
            [$(stringify!($b)),+].len()
        }

        fn parameter_name(&self, index: usize) -> String {
            [$(stringify!($b)),+][index].to_owned()
        }
    };
    (@model ([$($x:ident)+] [$($b:ident)+]) [$($formula:tt)+] as [$($c:ident = $value:expr),*]) => {{
        #[derive(Debug, Clone, Copy)]
        #[allow(non_snake_case)]
        struct Formula {
            $($c: f64),*
        }

        impl<T: $crate::Real> $crate::Model<T> for Formula {
            $crate::__formula!(@parameters $($b)+);

            #[allow(unused_imports, non_snake_case)]
            #[inline(always)]
            fn response<S: $crate::ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
                use $crate::model_functions::*;
                let [$($x),+] = predictors::<S, _>(x);
                let [$($b),+] = parameters(b);
                $(let $c = constant::<S>(self.$c);)*
                $($formula)+
            }
        }

        impl<Other> ::std::ops::Add<Other> for Formula {
            type Output = $crate::models::Sum<Self, Other>;
            fn add(self, other: Other) -> Self::Output {
                $crate::models::Sum(self, other)
            }
        }

        impl<Other> ::std::ops::Mul<Other> for Formula {
            type Output = $crate::models::Product<Self, Other>;
            fn mul(self, other: Other) -> Self::Output {
                $crate::models::Product(self, other)
            }
        }

        Formula { $($c: ::std::primitive::f64::from($value)),* }
    }};
    (@complex ([$($x:ident)+] [$($b:ident)+]) [$($formula:tt)+] as [$($c:ident = $value:expr),*]) => {{
        #[derive(Debug, Clone, Copy)]
        #[allow(non_snake_case)]
        struct Formula {
            $($c: f64),*
        }

        impl<T: $crate::Real> $crate::curve::ComplexModel<T> for Formula {
            $crate::__formula!(@parameters $($b)+);

            #[allow(unused_imports, non_snake_case)]
            #[inline(always)]
            fn response<S: $crate::ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> $crate::Complex<S> {
                use $crate::complex_functions::*;
                let [$($x),+] = reals($crate::model_functions::predictors::<S, _>(x));
                let [$($b),+] = reals($crate::model_functions::parameters(b));
                $(let $c = constant::<S>(self.$c);)*
                $($formula)+
            }
        }

        Formula { $($c: ::std::primitive::f64::from($value)),* }
    }};
    (@value () [$($formula:tt)+] as []) => {{
        #[allow(unused_imports)]
        use $crate::model_functions::*;
        $($formula)+
    }};
    (@tie ([$($b:ident)+]) [$($formula:tt)+] as [$($c:ident = $value:expr),*]) => {{
        #[allow(unused_imports, non_snake_case)]
        fn value<S: $crate::Scalar>(b: &[S], constants: &[f64]) -> S {
            use $crate::model_functions::*;
            let [$($b),+] = parameters(b);
            let [$($c),*] = parameters(constants).map(constant::<S>);
            $($formula)+
        }

        let constants: Vec<f64> = vec![$(f64::from($value)),*];
        $crate::Tie::new([$(stringify!($b)),+], move |b| value(&b, &constants))
    }};
}
