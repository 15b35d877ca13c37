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
        $each! { floor (x, f, d, c): c(0.0), c(0.0) }
        $each! { ceil (x, f, d, c): c(0.0), c(0.0) }
        $each! { erf (x, f, d, c): derivatives::erf(x), derivatives::erf_second(x) }
        $each! { erfc (x, f, d, c): -derivatives::erf(x), -derivatives::erf_second(x) }
        $each! { gamma (x, f, d, c): f * digamma(x), f * (digamma(x) * digamma(x) + trigamma(x)) }
        $each! { lgamma (x, f, d, c): digamma(x), trigamma(x) }
        $each! { j0 (x, f, d, c): -x.j1(), -j1_slope(x) }
        $each! { j1 (x, f, d, c): j1_slope(x), j1_second_slope(x) }
    };
}

/// Operators of a type of numbers, each by its result. `$inline` is the attribute of the functions.
macro_rules! operators {
    ($type:ty, $generics:tt, $inline:tt; $($trait:ident $method:ident $operands:tt => $result:expr;)*) => {
        $(operators!(@one $trait $method $operands => $result, $type, $generics, $inline);)*
    };
    (@one $trait:ident $method:ident($x:ident) => $result:expr, $type:ty, [$($generics:tt)*], [$inline:meta]) => {
        impl<$($generics)*> std::ops::$trait for $type {
            type Output = Self;
            #[$inline]
            fn $method(self) -> Self {
                let $x = self;
                $result
            }
        }
    };
    (@one $trait:ident $method:ident($x:ident, $y:ident: $other:ty) => $result:expr, $type:ty, [$($generics:tt)*], [$inline:meta]) => {
        impl<$($generics)*> std::ops::$trait<$other> for $type {
            type Output = Self;
            #[$inline]
            fn $method(self, $y: $other) -> Self {
                let $x = self;
                $result
            }
        }
    };
}

/// Operators common to all numbers that carry derivatives, from their `Self ∘ Self` forms and their values: comparison, sums with
/// constants, assignments, and totals. `$inline` is the attribute of the functions.
macro_rules! common_operators {
    ($type:ident, $generics:tt, $arguments:tt, [$($constant:ty),+], $zero:expr, $inline:tt) => {
        $(common_operators!(@constant $constant, $type, $generics, $arguments, $inline);)+
        common_operators!(@assign AddAssign add_assign +, $type, $generics, $arguments, $inline);
        common_operators!(@assign SubAssign sub_assign -, $type, $generics, $arguments, $inline);
        common_operators!(@assign MulAssign mul_assign *, $type, $generics, $arguments, $inline);
        common_operators!(@assign DivAssign div_assign /, $type, $generics, $arguments, $inline);
        common_operators!(@total $zero, $type, $generics, $arguments, $inline);
    };
    (@constant $constant:ty, $type:ident, [$($generics:tt)*], [$($arguments:tt)*], [$inline:meta]) => {
        operators! { $type<$($arguments)*>, [$($generics)*], [$inline];
            Add add(x, constant: $constant) => $type { value: x.value + constant, ..x };
            Sub sub(x, constant: $constant) => $type { value: x.value - constant, ..x };
        }
    };
    (@assign $trait:ident $method:ident $operator:tt, $type:ident, [$($generics:tt)*], [$($arguments:tt)*], [$inline:meta]) => {
        impl<$($generics)*> std::ops::$trait for $type<$($arguments)*> {
            #[$inline]
            fn $method(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }
    };
    (@total $zero:expr, $type:ident, [$($generics:tt)*], [$($arguments:tt)*], [$inline:meta]) => {
        impl<$($generics)*> PartialEq for $type<$($arguments)*> {
            fn eq(&self, other: &Self) -> bool {
                self.value == other.value
            }
        }

        impl<$($generics)*> std::iter::Sum for $type<$($arguments)*> {
            #[$inline]
            fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
                let mut total = Self::constant($zero);
                for term in terms {
                    total += term;
                }
                total
            }
        }
    };
}

/// Operators of numbers over a float: the [common](common_operators) ones, comparison with floats, and floats on either side.
macro_rules! derived_operators {
    ($type:ident $(, $lanes:ident)?) => {
        common_operators!($type, [T: Real $(, const $lanes: usize)?], [T $(, $lanes)?], [T], T::ZERO, [inline]);

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

        operators! { $type<T $(, $lanes)?>, [T: Real $(, const $lanes: usize)?], [inline];
            Div div(x, constant: T) => $type { value: x.value / constant, ..x * constant.recip() };
        }

        derived_operators!(@left f32: $type $(, $lanes)?);
        derived_operators!(@left f64: $type $(, $lanes)?);
    };
    (@left $float:ident: $type:ident $(, $lanes:ident)?) => {
        derived_operators!(@operator Add add, $float: $type $(, $lanes)?; float, number => number + float);
        derived_operators!(@operator Sub sub, $float: $type $(, $lanes)?; float, number => -number + float);
        derived_operators!(@operator Mul mul, $float: $type $(, $lanes)?; float, number => number * float);
        derived_operators!(@operator Div div, $float: $type $(, $lanes)?; float, number => $type::constant(float) / number);
    };
    (
        @operator $trait:ident $method:ident, $float:ident: $type:ident $(, $lanes:ident)?;
        $left:ident, $right:ident => $result:expr
    ) => {
        impl $(<const $lanes: usize>)? std::ops::$trait<$type<$float $(, $lanes)?>> for $float {
            type Output = $type<$float $(, $lanes)?>;
            #[inline]
            fn $method(self, $right: $type<$float $(, $lanes)?>) -> Self::Output {
                let $left = self;
                $result
            }
        }
    };
}

/// Operators of numbers in the lanes of registers: the [common](common_operators) ones, with the lanes and with the float.
macro_rules! lane_operators {
    ($type:ident, $generics:tt, $arguments:tt) => {
        common_operators!(
            $type, $generics, $arguments, [T, Lanes<T, R>], Lanes::splat(T::ZERO), [cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
        );
    };
}

/// The value and the branches of a number over a float.
macro_rules! float_functions {
    () => {
        #[inline]
        fn value(self) -> T {
            self.value
        }

        #[inline]
        fn select_less(self, other: Self, then: Self, otherwise: Self) -> Self {
            if self.value < other.value { then } else { otherwise }
        }
    };
}

/// Other functions of a number in lanes, by its `chain` and `chain2`.
macro_rules! lane_functions {
    () => {
        #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
        fn value(self) -> Lanes<T, R> {
            self.value
        }

        #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
        fn powf(self, p: Lanes<T, R>) -> Self {
            let zero = Lanes::splat(T::ZERO);
            let value = self.value.powf(p);
            let lower = p * self.value.powf(p - Lanes::splat(T::ONE));
            let slope = power_below(self.value, p, p * value, lower);
            self.chain(value, zero.select_less(p.abs(), slope, zero))
        }

        #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
        fn atan2(self, x: Self) -> Self {
            let [by_self, by_x] = derivatives::atan2(self.value, x.value);
            self.chain2(x, self.value.atan2(x.value), by_self, by_x)
        }

        #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
        fn hypot(self, other: Self) -> Self {
            let value = self.value.hypot(other.value);
            self.chain2(other, value, self.value / value, other.value / value)
        }
    };
}

/// An elementary function of a number in lanes, by its first derivative.
macro_rules! lane_function {
    ($name:ident ($x:ident, $f:ident, $d:ident, $c:ident): $first:expr, $second:expr) => {
        #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
        #[allow(unused_variables)]
        fn $name(self) -> Self {
            let $c = Lanes::<T, R>::from_f64;
            let $x = self.value;
            let $f = $x.$name();
            self.chain($f, $first)
        }
    };
}

pub(super) use common_operators;
pub(super) use derived_operators;
pub(super) use float_functions;
pub(super) use for_each_function;
pub(super) use lane_function;
pub(super) use lane_functions;
pub(super) use lane_operators;
pub(super) use operators;
