//! The functions that a formula can call.

use crate::scalar::Scalar;
use crate::special::bessel::Bessel;
use crate::special::incomplete::Incomplete;

/// One table of the functions of one argument: their names here, their methods, and the names of the field for the same.
macro_rules! for_each_formula_function {
    ($each:ident) => {
        $each! {
            Recip recip [], Sqrt sqrt [], Cbrt cbrt [], Exp exp [], Exp2 exp2 [], ExpM1 exp_m1 ["expm1"],
            Ln ln ["log"], Ln1p ln_1p ["log1p"], Log2 log2 [], Log10 log10 [],
            Sin sin [], Cos cos [], Tan tan [], Asin asin ["arcsin"], Acos acos ["arccos"], Atan atan ["arctan"],
            Sinh sinh [], Cosh cosh [], Tanh tanh [],
            Asinh asinh ["arcsinh"], Acosh acosh ["arccosh"], Atanh atanh ["arctanh"],
            Abs abs [], Floor floor [], Ceil ceil [], Erf erf [], Erfc erfc [], Gamma gamma [], Lgamma lgamma ["ln_gamma", "gammaln"],
            J0 j0 ["besj0"], J1 j1 ["besj1"],
        }
    };
}

pub(super) use for_each_formula_function;

macro_rules! define {
    ($($function:ident $method:ident [$($alias:literal),*],)*) => {
        /// A function of one argument.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Function {
            $($function,)*
        }

        impl Function {
            /// Returns the function of this name.
            pub(super) fn of_name(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($method) $(| $alias)* => Some(Function::$function),)*
                    _ => None,
                }
            }

            /// All names.
            pub(super) const NAMES: &[&str] = &[$(stringify!($method), $($alias,)*)*];

            /// Its value.
            #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
            pub(super) fn of<S: Scalar>(self, x: S) -> S {
                match self {
                    $(Function::$function => Scalar::$method(x),)*
                }
            }
        }
    };
}

for_each_formula_function!(define);

/// Function or operation that is called by a name before parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Function(Function),
    Pow,
    Atan2,
    Hypot,
    Max,
    Min,
    Beta,
    Mod,
    Step,
    Sign,
    Sinc,
    Voigt,
    SelectLess,
    If,
    Re,
    Im,
    Arg,
    Conj,
    /// The Bessel function of an order.
    Bessel(Bessel, i32),
    /// Bessel functions, with the order as the first argument.
    BesselOfOrder(Bessel),
    Incomplete(Incomplete),
}

impl Call {
    /// Names of what is no [`Function`], and how many arguments they take.
    const TABLE: &[(&str, Call, usize)] = &[
        ("pow", Call::Pow, 2),
        ("atan2", Call::Atan2, 2),
        ("hypot", Call::Hypot, 2),
        ("max", Call::Max, 2),
        ("min", Call::Min, 2),
        ("beta", Call::Beta, 2),
        ("mod", Call::Mod, 2),
        ("step", Call::Step, 1),
        ("sign", Call::Sign, 1),
        ("sinc", Call::Sinc, 1),
        ("voigt", Call::Voigt, 3),
        ("select_less", Call::SelectLess, 4),
        ("if", Call::If, 3),
        ("jn", Call::BesselOfOrder(Bessel::J), 2),
        ("yn", Call::BesselOfOrder(Bessel::Y), 2),
        ("in", Call::BesselOfOrder(Bessel::I), 2),
        ("kn", Call::BesselOfOrder(Bessel::K), 2),
        ("jv", Call::BesselOfOrder(Bessel::J), 2),
        ("yv", Call::BesselOfOrder(Bessel::Y), 2),
        ("iv", Call::BesselOfOrder(Bessel::I), 2),
        ("kv", Call::BesselOfOrder(Bessel::K), 2),
        ("besjn", Call::BesselOfOrder(Bessel::J), 2),
        ("besyn", Call::BesselOfOrder(Bessel::Y), 2),
        ("besin", Call::BesselOfOrder(Bessel::I), 2),
        ("y0", Call::Bessel(Bessel::Y, 0), 1),
        ("y1", Call::Bessel(Bessel::Y, 1), 1),
        ("i0", Call::Bessel(Bessel::I, 0), 1),
        ("i1", Call::Bessel(Bessel::I, 1), 1),
        ("k0", Call::Bessel(Bessel::K, 0), 1),
        ("k1", Call::Bessel(Bessel::K, 1), 1),
        ("besy0", Call::Bessel(Bessel::Y, 0), 1),
        ("besy1", Call::Bessel(Bessel::Y, 1), 1),
        ("besi0", Call::Bessel(Bessel::I, 0), 1),
        ("besi1", Call::Bessel(Bessel::I, 1), 1),
        ("gammainc", Call::Incomplete(Incomplete::LowerGamma), 2),
        ("igamma", Call::Incomplete(Incomplete::LowerGamma), 2),
        ("gammaincc", Call::Incomplete(Incomplete::UpperGamma), 2),
        ("betainc", Call::Incomplete(Incomplete::Beta), 3),
        ("ibeta", Call::Incomplete(Incomplete::Beta), 3),
    ];

    /// Returns the call of this name, and the number of its arguments.
    pub(super) fn of_name(name: &str) -> Option<(Self, usize)> {
        let function = Function::of_name(name).map(|function| (Call::Function(function), 1));
        let named = |&(known, call, count)| if known == name { Some((call, count)) } else { None };
        function.or_else(|| Call::TABLE.iter().find_map(named))
    }

    /// True for a function whose name is a parameter unless it is called, as `y0` and `k1` often are.
    pub(super) fn may_be_parameter(self) -> bool {
        matches!(self, Call::Bessel(..) | Call::BesselOfOrder(_))
    }

    /// Returns the call of this name in a formula of complex numbers, and the number of its arguments.
    pub(super) fn of_complex_name(name: &str) -> Option<(Self, usize)> {
        let call = match name {
            "re" => Call::Re,
            "im" => Call::Im,
            "arg" => Call::Arg,
            "conj" => Call::Conj,
            _ => return Call::of_name(name),
        };
        Some((call, 1))
    }

    /// All names.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        Function::NAMES.iter().copied().chain(Call::TABLE.iter().map(|(name, ..)| *name))
    }
}
