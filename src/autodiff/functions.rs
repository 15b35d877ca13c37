//! One table of the elementary functions and their first and second derivatives, from which every number type that
//! carries derivatives is made.

/// Calls `$each! { name (x, f, d, c): first, second }` for every elementary function of one variable, where `x` is the
/// argument, `f` the value of the function there, `c` makes a constant, and `first` and `second` are its derivatives; `second` may
/// take the first one as `d`. Both are within eight units in the last place, wherever the function is finite.
macro_rules! for_each_function {
    ($each:ident) => {
        $each! { recip (x, f, d, c): -f * f, f * f * f * c(2.0) }
        $each! { sqrt (x, f, d, c): c(0.5) / f, d * c(-0.5) / x }
        $each! { cbrt (x, f, d, c): (f * f * c(3.0)).recip(), d * c(-2.0 / 3.0) / x }
        $each! { exp (x, f, d, c): f, f }
        $each! { exp2 (x, f, d, c): f * c(LN_2), f * c(LN_2 * LN_2) }
        $each! { exp_m1 (x, f, d, c): x.exp(), d }
        $each! { ln (x, f, d, c): x.recip(), -d * d }
        $each! { ln_1p (x, f, d, c): (x + c(1.0)).recip(), -d * d }
        $each! { log2 (x, f, d, c): c(LOG2_E) / x, -d / x }
        $each! { log10 (x, f, d, c): c(LOG10_E) / x, -d / x }
        $each! { sin (x, f, d, c): x.cos(), -f }
        $each! { cos (x, f, d, c): -x.sin(), -f }
        $each! { tan (x, f, d, c): f * f + c(1.0), d * f * c(2.0) }
        $each! { asin (x, f, d, c): ((c(1.0) - x) * (x + c(1.0))).sqrt().recip(), x * d / ((c(1.0) - x) * (x + c(1.0))) }
        $each! { acos (x, f, d, c): -((c(1.0) - x) * (x + c(1.0))).sqrt().recip(), x * d / ((c(1.0) - x) * (x + c(1.0))) }
        $each! { atan (x, f, d, c): derivatives::atan(x), x * d * d * c(-2.0) }
        $each! { sinh (x, f, d, c): x.cosh(), f }
        $each! { cosh (x, f, d, c): x.sinh(), f }
        $each! { tanh (x, f, d, c): derivatives::tanh(x, f), f * d * c(-2.0) }
        $each! { asinh (x, f, d, c): derivatives::asinh(x), -x * d * d * d }
        $each! { acosh (x, f, d, c): ((x - c(1.0)).sqrt() * (x + c(1.0)).sqrt()).recip(), -x * d / (x - c(1.0)) / (x + c(1.0)) }
        $each! { atanh (x, f, d, c): ((c(1.0) - x) * (x + c(1.0))).recip(), x * d * d * c(2.0) }
        $each! { abs (x, f, d, c): derivatives::sign(x), c(0.0) }
        $each! { erf (x, f, d, c): derivatives::erf(x), derivatives::erf_second(x) }
        $each! { erfc (x, f, d, c): -derivatives::erf(x), -derivatives::erf_second(x) }
        $each! { gamma (x, f, d, c): f * digamma(x), f * (digamma(x) * digamma(x) + trigamma(x)) }
        $each! { lgamma (x, f, d, c): digamma(x), trigamma(x) }
        $each! { j0 (x, f, d, c): -x.j1(), -j1_slope(x) }
        $each! { j1 (x, f, d, c): j1_slope(x), j1_second_slope(x) }
    };
}

/// The operators of a number type that carries derivatives, from its `Self ∘ Self` forms and its real parts.
macro_rules! derived_operators {
    ($type:ident $(, $lanes:ident)?) => {
        impl<T: Real $(, const $lanes: usize)?> PartialEq for $type<T $(, $lanes)?> {
            fn eq(&self, other: &Self) -> bool {
                self.value == other.value
            }
        }

        impl<T: Real $(, const $lanes: usize)?> PartialOrd for $type<T $(, $lanes)?> {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.value.partial_cmp(&other.value)
            }
        }

        /// Compares values; a float stands on the right.
        impl<T: Real $(, const $lanes: usize)?> PartialEq<T> for $type<T $(, $lanes)?> {
            fn eq(&self, other: &T) -> bool {
                self.value == *other
            }
        }

        /// Compares values; a float stands on the right.
        impl<T: Real $(, const $lanes: usize)?> PartialOrd<T> for $type<T $(, $lanes)?> {
            fn partial_cmp(&self, other: &T) -> Option<std::cmp::Ordering> {
                self.value.partial_cmp(other)
            }
        }

        impl<T: Real $(, const $lanes: usize)?> Add<T> for $type<T $(, $lanes)?> {
            type Output = Self;
            #[inline]
            fn add(mut self, constant: T) -> Self {
                self.value += constant;
                self
            }
        }

        impl<T: Real $(, const $lanes: usize)?> Sub<T> for $type<T $(, $lanes)?> {
            type Output = Self;
            #[inline]
            fn sub(mut self, constant: T) -> Self {
                self.value -= constant;
                self
            }
        }

        impl<T: Real $(, const $lanes: usize)?> Div<T> for $type<T $(, $lanes)?> {
            type Output = Self;
            #[inline]
            fn div(self, constant: T) -> Self {
                let mut quotient = self * constant.recip();
                quotient.value = self.value / constant;
                quotient
            }
        }

        derived_operators!(@assign $type $(, $lanes)?: AddAssign add_assign +, SubAssign sub_assign -,
            MulAssign mul_assign *, DivAssign div_assign /);
        derived_operators!(@float f32 $type $(, $lanes)?);
        derived_operators!(@float f64 $type $(, $lanes)?);

        impl<T: Real $(, const $lanes: usize)?> Sum for $type<T $(, $lanes)?> {
            fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
                terms.fold(Self::constant(T::ZERO), |total, term| total + term)
            }
        }
    };
    (@assign $type:ident, $lanes:ident: $($trait:ident $method:ident $operator:tt),*) => {
        $(
            impl<T: Real, const $lanes: usize> $trait for $type<T, $lanes> {
                #[inline]
                fn $method(&mut self, other: Self) {
                    *self = *self $operator other;
                }
            }
        )*
    };
    (@assign $type:ident: $($trait:ident $method:ident $operator:tt),*) => {
        $(
            impl<T: Real> $trait for $type<T> {
                #[inline]
                fn $method(&mut self, other: Self) {
                    *self = *self $operator other;
                }
            }
        )*
    };
    (@float $float:ident $type:ident $(, $lanes:ident)?) => {
        impl $(<const $lanes: usize>)? Add<$type<$float $(, $lanes)?>> for $float {
            type Output = $type<$float $(, $lanes)?>;
            #[inline]
            fn add(self, other: $type<$float $(, $lanes)?>) -> Self::Output {
                other + self
            }
        }

        impl $(<const $lanes: usize>)? Sub<$type<$float $(, $lanes)?>> for $float {
            type Output = $type<$float $(, $lanes)?>;
            #[inline]
            fn sub(self, other: $type<$float $(, $lanes)?>) -> Self::Output {
                -other + self
            }
        }

        impl $(<const $lanes: usize>)? Mul<$type<$float $(, $lanes)?>> for $float {
            type Output = $type<$float $(, $lanes)?>;
            #[inline]
            fn mul(self, other: $type<$float $(, $lanes)?>) -> Self::Output {
                other * self
            }
        }

        impl $(<const $lanes: usize>)? Div<$type<$float $(, $lanes)?>> for $float {
            type Output = $type<$float $(, $lanes)?>;
            #[inline]
            fn div(self, other: $type<$float $(, $lanes)?>) -> Self::Output {
                $type::constant(self) / other
            }
        }
    };
}

/// Operations common to the numbers that carry derivatives in lanes: comparison, sums with constants (the lanes', and the float's),
/// assignments, and totals.
macro_rules! lane_operators {
    ($type:ident, [$($generics:tt)*], [$($arguments:tt)*]) => {
        impl<$($generics)*> PartialEq for $type<$($arguments)*> {
            fn eq(&self, other: &Self) -> bool {
                self.value == other.value
            }
        }

        lane_operators!(@constant T, $type, [$($generics)*], [$($arguments)*]);
        lane_operators!(@constant Lanes<T, R>, $type, [$($generics)*], [$($arguments)*]);
        lane_operators!(@assign AddAssign add_assign +, $type, [$($generics)*], [$($arguments)*]);
        lane_operators!(@assign SubAssign sub_assign -, $type, [$($generics)*], [$($arguments)*]);
        lane_operators!(@assign MulAssign mul_assign *, $type, [$($generics)*], [$($arguments)*]);
        lane_operators!(@assign DivAssign div_assign /, $type, [$($generics)*], [$($arguments)*]);

        impl<$($generics)*> Sum for $type<$($arguments)*> {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
                let mut total = Self::constant(Lanes::splat(T::ZERO));
                for term in terms {
                    total += term;
                }
                total
            }
        }
    };
    (@constant $constant:ty, $type:ident, [$($generics:tt)*], [$($arguments:tt)*]) => {
        impl<$($generics)*> Add<$constant> for $type<$($arguments)*> {
            type Output = Self;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn add(self, constant: $constant) -> Self {
                $type { value: self.value + constant, ..self }
            }
        }

        impl<$($generics)*> Sub<$constant> for $type<$($arguments)*> {
            type Output = Self;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn sub(self, constant: $constant) -> Self {
                $type { value: self.value - constant, ..self }
            }
        }
    };
    (@assign $trait:ident $method:ident $operator:tt, $type:ident, [$($generics:tt)*], [$($arguments:tt)*]) => {
        impl<$($generics)*> $trait for $type<$($arguments)*> {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $method(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }
    };
}

/// An elementary function of a number in lanes, by its first derivative.
macro_rules! lane_function {
    ($name:ident ($x:ident, $f:ident, $d:ident, $c:ident): $first:expr, $second:expr) => {
        #[cfg_attr(not(debug_assertions), inline(always))]
        #[allow(unused_variables)]
        fn $name(self) -> Self {
            let $c = Lanes::<T, R>::from_f64;
            let $x = self.value;
            let $f = $x.$name();
            self.chain($f, $first)
        }
    };
}

pub(super) use derived_operators;
pub(super) use for_each_function;
pub(super) use lane_function;
pub(super) use lane_operators;
