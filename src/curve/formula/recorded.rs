//! Numbers that record what a model computes with them, so that a model of the library has a [`Program`], too.

use std::cell::RefCell;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::function::{Function, for_each_formula_function};
use super::program::{Address, Builder, Instruction, Operator, Program};
use crate::curve::models::voigt;
use crate::number::Number;
use crate::scalar::Scalar;
use crate::special::function::Special;

thread_local! {
    /// The program that the numbers of this thread belong to.
    static BUILDER: RefCell<Builder> = RefCell::default();
}

/// Result of an instruction of the program that is being recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::curve) struct Recorded(pub(super) Address);

impl Program {
    /// Records the response of a model with this number of parameters to one predictor.
    ///
    /// The response is computed once, with numbers that append an instruction for each operation.
    pub(in crate::curve) fn record(
        parameters: usize,
        response: impl FnOnce(&[Recorded], &[Recorded]) -> Recorded,
    ) -> Self {
        BUILDER.take();
        let predictor = Recorded::of(|builder| builder.add(Instruction::Predictor(0)));
        let parameters: Vec<Recorded> =
            (0..parameters).map(|index| Recorded::of(|builder| builder.add(Instruction::Parameter(index)))).collect();
        let Recorded(result) = response(&[predictor], &parameters);
        BUILDER.take().finish(result)
    }
}

impl Builder {
    /// Appends what is computed with recorded numbers.
    pub(super) fn recorded<R>(&mut self, compute: impl FnOnce() -> R) -> R {
        let outer = BUILDER.replace(std::mem::take(self));
        let result = compute();
        *self = BUILDER.replace(outer);
        result
    }

    /// The Voigt profile, recorded.
    pub(super) fn voigt(&mut self, arguments: [Address; 3]) -> Address {
        self.recorded(|| voigt(arguments.map(Recorded))).0
    }
}

impl Recorded {
    /// The result of what is appended.
    fn of(append: impl FnOnce(&mut Builder) -> Address) -> Self {
        Recorded(BUILDER.with_borrow_mut(append))
    }

    fn join(self, operator: Operator, other: Self) -> Self {
        Recorded::of(|builder| builder.join(operator, self.0, other.0))
    }

    /// A result that depends on more than the value, which a program cannot have: NaN.
    fn unknown() -> Self {
        Recorded::splat(f64::NAN)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident, $assign:ident $assign_method:ident, $operator:ident;)*) => {
        $(
            impl $trait for Recorded {
                type Output = Self;
                fn $method(self, other: Self) -> Self {
                    self.join(Operator::$operator, other)
                }
            }

            impl $trait<f64> for Recorded {
                type Output = Self;
                fn $method(self, constant: f64) -> Self {
                    self.join(Operator::$operator, Recorded::splat(constant))
                }
            }

            impl $assign for Recorded {
                fn $assign_method(&mut self, other: Self) {
                    *self = self.join(Operator::$operator, other);
                }
            }
        )*
    };
}

operators! {
    Add add, AddAssign add_assign, Add;
    Sub sub, SubAssign sub_assign, Subtract;
    Mul mul, MulAssign mul_assign, Multiply;
    Div div, DivAssign div_assign, Divide;
}

impl Neg for Recorded {
    type Output = Self;
    fn neg(self) -> Self {
        Recorded::of(|builder| builder.add(Instruction::Negate(self.0)))
    }
}

impl Sum for Recorded {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.reduce(Add::add).unwrap_or_else(|| Recorded::splat(0.0))
    }
}

macro_rules! functions {
    ($($function:ident $method:ident [$($alias:literal),*],)*) => {
        impl Scalar for Recorded {
            type Real = Self;

            fn constant(value: Self) -> Self {
                value
            }
            fn value(self) -> Self {
                self
            }
            fn powi(self, n: i32) -> Self {
                Recorded::of(|builder| builder.add(Instruction::IntegerPower(self.0, n)))
            }
            fn powf(self, p: Self) -> Self {
                self.pow(p)
            }
            fn pow(self, p: Self) -> Self {
                Recorded::of(|builder| builder.power(self.0, p.0))
            }
            fn atan2(self, x: Self) -> Self {
                self.join(Operator::Atan2, x)
            }
            fn hypot(self, other: Self) -> Self {
                self.join(Operator::Hypot, other)
            }
            fn select_less(self, other: Self, then: Self, otherwise: Self) -> Self {
                let slots = [self, other, then, otherwise].map(|Recorded(slot)| slot);
                Recorded::of(|builder| builder.add(Instruction::SelectLess(slots)))
            }
            fn special(function: Special, arguments: [Self; 3], _: [bool; 3]) -> Self {
                let slots = arguments.map(|Recorded(slot)| slot);
                Recorded::of(|builder| builder.add(Instruction::Special(function, slots)))
            }
            $(
                fn $method(self) -> Self {
                    Recorded::of(|builder| builder.apply(Function::$function, self.0))
                }
            )*
        }
    };
}

for_each_formula_function!(functions);

/// Operations that look at the bits of a number, or branch on them, have no instruction.
impl Number for Recorded {
    type Element = f64;
    const FUSED: bool = false;

    fn splat(value: f64) -> Self {
        Recorded::of(|builder| builder.constant(value))
    }
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }
    fn map(self, _: fn(f64) -> f64) -> Self {
        Recorded::unknown()
    }
    fn zip_map<const K: usize>(_: [Self; K], _: impl Fn([f64; K]) -> f64) -> Self {
        Recorded::unknown()
    }
    fn is_at_least(self, _: Self) -> bool {
        false
    }
    fn copy_sign(self, _: Self) -> Self {
        Recorded::unknown()
    }
    fn power_of_two(self) -> Self {
        Recorded::unknown()
    }
    fn exponent(self) -> Self {
        Recorded::unknown()
    }
    fn significand(self) -> Self {
        Recorded::unknown()
    }
}
