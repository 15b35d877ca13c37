//! A formula as straight-line code: each instruction makes one number of earlier ones.

use std::collections::HashMap;
use std::fmt;

use super::function::{Call, Function};
use crate::number::Number;
use crate::problem::scratch_for;
use crate::scalar::Scalar;
use crate::special::function::{MOST_ARGUMENTS, Special};

/// Operations that a formula may have at most.
pub(super) const LONGEST: usize = 10_000;

/// Largest order of a Bessel function, which takes as many steps.
pub(super) const LARGEST_ORDER: i32 = 10_000;

/// The number of an instruction, and of its result.
pub(super) type Address = usize;

/// The bits of a constant, which tell constants apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Bits(u64);

impl Bits {
    pub(super) fn of(value: f64) -> Self {
        Bits(value.to_bits())
    }

    pub(super) fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// Operations with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Atan2,
    Hypot,
}

/// Instructions of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Instruction {
    Constant(Bits),
    Predictor(usize),
    Parameter(usize),
    Negate(Address),
    Join(Operator, Address, Address),
    IntegerPower(Address, i32),
    ConstantPower(Address, Bits),
    Apply(Function, Address),
    /// Conditional: the third slot if the first is less than the second, otherwise the fourth.
    SelectLess([Address; 4]),
    /// A function with an order, or with several arguments; the last argument is repeated.
    Special(Special, [Address; MOST_ARGUMENTS]),
}

impl Instruction {
    /// The results that it takes.
    pub(super) fn arguments(&self) -> Vec<Address> {
        let mut arguments = Vec::new();
        self.moved(|slot| {
            arguments.push(slot);
            slot
        });
        arguments
    }

    /// Returns the instruction with other slots for its arguments.
    fn moved(self, mut to: impl FnMut(Address) -> Address) -> Self {
        match self {
            Instruction::Constant(_) | Instruction::Predictor(_) | Instruction::Parameter(_) => self,
            Instruction::Negate(a) => Instruction::Negate(to(a)),
            Instruction::IntegerPower(a, n) => Instruction::IntegerPower(to(a), n),
            Instruction::ConstantPower(a, p) => Instruction::ConstantPower(to(a), p),
            Instruction::Apply(function, a) => Instruction::Apply(function, to(a)),
            Instruction::Join(operator, a, b) => Instruction::Join(operator, to(a), to(b)),
            Instruction::SelectLess(slots) => Instruction::SelectLess(slots.map(to)),
            Instruction::Special(function, slots) => Instruction::Special(function, slots.map(to)),
        }
    }
}

/// A formula that was compiled. The last instruction makes its value.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// For each instruction, true if its result depends on a parameter.
    pub(super) varies: Vec<bool>,
    /// True if the program has conditionals, so that some results are not used.
    pub(super) chooses: bool,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("instructions", &self.instructions.len()).finish_non_exhaustive()
    }
}

/// Results on the stack.
const FEW: usize = 24;

impl Program {
    /// An instruction takes this predictor.
    pub(super) fn uses_predictor(&self, index: usize) -> bool {
        self.instructions.contains(&Instruction::Predictor(index))
    }

    /// The program whose value is NaN.
    pub(super) fn undefined() -> Self {
        let mut builder = Builder::default();
        let undefined = builder.constant(f64::NAN);
        builder.finish(undefined)
    }

    /// Joins two programs: the result is that of the first where predictor number `by` is 0, and that of the second where it is 1.
    pub(super) fn either(both: &[Program; 2], by: usize) -> Self {
        let mut builder = Builder::default();
        let [first, second] = both.each_ref().map(|program| {
            let mut places = Vec::with_capacity(program.instructions.len());
            for instruction in &program.instructions {
                let place = builder.add(instruction.moved(|slot| places[slot]));
                places.push(place);
            }
            places.last().copied().unwrap_or_default()
        });
        let (by, half) = (builder.add(Instruction::Predictor(by)), builder.constant(0.5));
        let result = builder.add(Instruction::SelectLess([by, half, first, second]));
        builder.finish(result)
    }

    /// The same over other parameters, given the index of each.
    #[cfg(feature = "ode")]
    pub(in crate::curve) fn over(&self, places: &[usize]) -> Program {
        let mut moved = self.clone();
        for instruction in &mut moved.instructions {
            if let Instruction::Parameter(index) = instruction {
                *index = places[*index];
            }
        }
        moved
    }

    /// The program of one of the results.
    pub(super) fn up_to(&self, result: Address) -> Program {
        let (instructions, varies) = (self.instructions[..=result].to_vec(), self.varies[..=result].to_vec());
        Program { instructions, varies, chooses: self.chooses }
    }

    /// The value, in any scalar; NaN where the row has too few predictors.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(in crate::curve) fn value<S: Scalar>(&self, x: &[S::Real], b: &[S]) -> S {
        let real = |value: f64| S::Real::from_f64(value);
        let (mut few, mut many) = ([S::constant(real(0.0)); FEW], Vec::new());
        let slots = scratch_for(self.instructions.len(), &mut few, &mut many);
        for (slot, instruction) in self.instructions.iter().enumerate() {
            slots[slot] = match *instruction {
                Instruction::Constant(value) => S::constant(real(value.value())),
                Instruction::Predictor(index) => S::constant(x.get(index).copied().unwrap_or(real(f64::NAN))),
                Instruction::Parameter(index) => b[index],
                Instruction::Negate(a) => -slots[a],
                Instruction::IntegerPower(a, n) => slots[a].powi(n),
                Instruction::ConstantPower(a, p) => slots[a].powf(real(p.value())),
                Instruction::Apply(function, a) => function.of(slots[a]),
                Instruction::Join(operator, a, b) => {
                    let (a, b) = (slots[a], slots[b]);
                    match operator {
                        Operator::Add => a + b,
                        Operator::Subtract => a - b,
                        Operator::Multiply => a * b,
                        Operator::Divide => a / b,
                        Operator::Power => a.pow(b),
                        Operator::Atan2 => a.atan2(b),
                        Operator::Hypot => a.hypot(b),
                    }
                }
                Instruction::SelectLess([a, b, then, otherwise]) => {
                    slots[a].select_less(slots[b], slots[then], slots[otherwise])
                }
                Instruction::Special(function, arguments) => {
                    S::special(function, arguments.map(|a| slots[a]), arguments.map(|a| self.varies[a]))
                }
            };
        }
        slots[slots.len() - 1]
    }
}

/// A program in the making: equal instructions are one, and constants are worked out at once.
#[derive(Debug, Default)]
pub(super) struct Builder {
    instructions: Vec<Instruction>,
    known: HashMap<Instruction, Address>,
}

impl Builder {
    /// Instructions so far.
    pub(super) fn len(&self) -> usize {
        self.instructions.len()
    }

    pub(super) fn constant(&mut self, value: f64) -> Address {
        self.add(Instruction::Constant(Bits::of(value)))
    }

    pub(super) fn join(&mut self, operator: Operator, a: Address, b: Address) -> Address {
        self.add(Instruction::Join(operator, a, b))
    }

    pub(super) fn apply(&mut self, function: Function, a: Address) -> Address {
        self.add(Instruction::Apply(function, a))
    }

    /// `a` to the power of `b`, by products where that is a small integer.
    pub(super) fn power(&mut self, a: Address, b: Address) -> Address {
        match (self.constant_at(b), self.small_integer_at(b)) {
            (Some(0.5), _) => self.apply(Function::Sqrt, a),
            (Some(2.0), _) => self.join(Operator::Multiply, a, a),
            (_, Some(n)) => self.add(Instruction::IntegerPower(a, n)),
            (Some(p), None) => self.add(Instruction::ConstantPower(a, Bits::of(p))),
            (None, None) => self.join(Operator::Power, a, b),
        }
    }

    /// The constant exponent at a slot, if a power is best worked out by products.
    pub(super) fn small_integer_at(&self, slot: Address) -> Option<i32> {
        const MOST_PRODUCTS: f64 = 64.0;
        self.constant_at(slot).filter(|p| *p == p.trunc() && p.abs() <= MOST_PRODUCTS).map(|p| p as i32)
    }

    /// `then` where `a` is neither less nor greater than `b`.
    pub(super) fn choose_equal(&mut self, a: Address, b: Address, then: Address, otherwise: Address) -> Address {
        let not_greater = self.add(Instruction::SelectLess([b, a, otherwise, then]));
        self.add(Instruction::SelectLess([a, b, otherwise, not_greater]))
    }

    /// The extreme of `a` and `b` that comparisons have chosen, unless `b` is NaN, which is less than nothing: as
    /// [`model_functions::max`](crate::curve::model_functions::max) (by the sum) and `min` (by the difference) have it.
    fn unless_nan(&mut self, b: Address, extreme: Address, operator: Operator, a: Address) -> Address {
        if self.constant_at(b).is_some_and(|b| !b.is_nan()) {
            return extreme;
        }
        let size = self.apply(Function::Abs, a);
        let undefined = self.join(operator, b, size);
        let infinity = self.constant(if operator == Operator::Add { f64::INFINITY } else { -f64::INFINITY });
        let [less, more] = if operator == Operator::Add { [b, infinity] } else { [infinity, b] };
        self.add(Instruction::SelectLess([less, more, extreme, undefined]))
    }

    /// The beta function, as [`Scalar::beta`] has it.
    pub(super) fn beta(&mut self, a: Address, b: Address) -> Address {
        let sum = self.join(Operator::Add, a, b);
        let [of_a, of_b, of_sum] = [a, b, sum].map(|slot| self.apply(Function::Lgamma, slot));
        let numerator = self.join(Operator::Add, of_a, of_b);
        let logarithm = self.join(Operator::Subtract, numerator, of_sum);
        let value = self.apply(Function::Exp, logarithm);
        let smaller = self.add(Instruction::SelectLess([b, a, b, a]));
        let (zero, undefined) = (self.constant(0.0), self.constant(f64::NAN));
        self.add(Instruction::SelectLess([zero, smaller, value, undefined]))
    }

    /// `sin(a) / a`, by its series for small `a`, where the difference of the quotient's two derivatives loses digits.
    fn sinc(&mut self, a: Address) -> Address {
        const TERMS: i32 = 8;
        let square = self.join(Operator::Multiply, a, a);
        let mut series = self.constant(0.0);
        let mut factorial = 1.0;
        let reciprocals: Vec<f64> = (0..TERMS)
            .map(|k| {
                factorial *= if k == 0 { 1.0 } else { -f64::from(2 * k * (2 * k + 1)) };
                f64::recip(factorial)
            })
            .collect();
        for &coefficient in reciprocals.iter().rev() {
            let coefficient = self.constant(coefficient);
            let product = self.join(Operator::Multiply, series, square);
            series = self.join(Operator::Add, product, coefficient);
        }
        let sine = self.apply(Function::Sin, a);
        let quotient = self.join(Operator::Divide, sine, a);
        let small = self.constant(0.25);
        self.add(Instruction::SelectLess([square, small, series, quotient]))
    }

    /// The value of a call, which has as many arguments as it takes; `None` if the order of a function is no constant integer up to
    /// [`LARGEST_ORDER`].
    pub(super) fn call(&mut self, call: Call, arguments: &[Address]) -> Option<Address> {
        Some(match (call, arguments) {
            (Call::Bessel(kind, n), &[x]) => self.add(Instruction::Special(Special::Bessel(kind, n), [x; 3])),
            (Call::BesselOfOrder(kind), &[n, x]) => {
                let is_order = |n: &f64| *n == n.trunc() && n.abs() <= f64::from(LARGEST_ORDER);
                let n = self.constant_at(n).filter(is_order)? as i32;
                self.add(Instruction::Special(Special::Bessel(kind, n), [x; 3]))
            }
            (Call::Incomplete(function), &[a, .., x]) => {
                self.add(Instruction::Special(Special::Incomplete(function), [a, arguments[1], x]))
            }
            (Call::Function(function), &[a]) => self.apply(function, a),
            (Call::Pow, &[a, b]) => self.power(a, b),
            (Call::Atan2, &[y, x]) => self.join(Operator::Atan2, y, x),
            (Call::Hypot, &[a, b]) => self.join(Operator::Hypot, a, b),
            (Call::Max, &[a, b]) => {
                let larger = self.add(Instruction::SelectLess([a, b, b, a]));
                self.unless_nan(b, larger, Operator::Add, a)
            }
            (Call::Min, &[a, b]) => {
                let smaller = self.add(Instruction::SelectLess([b, a, b, a]));
                self.unless_nan(b, smaller, Operator::Subtract, a)
            }
            (Call::Beta, &[a, b]) => self.beta(a, b),
            (Call::Mod, &[a, b]) => {
                let quotient = self.join(Operator::Divide, a, b);
                let whole = self.apply(Function::Floor, quotient);
                let multiple = self.join(Operator::Multiply, whole, b);
                self.join(Operator::Subtract, a, multiple)
            }
            (Call::Sign, &[a]) => {
                let [zero, one, minus] = [0.0, 1.0, -1.0].map(|value| self.constant(value));
                let above = self.add(Instruction::SelectLess([zero, a, one, zero]));
                self.add(Instruction::SelectLess([a, zero, minus, above]))
            }
            (Call::Sinc, &[a]) => self.sinc(a),
            (Call::Voigt, &[x, sigma, gamma]) => self.voigt([x, sigma, gamma]),
            (Call::SelectLess, &[a, b, then, otherwise]) => self.add(Instruction::SelectLess([a, b, then, otherwise])),
            (_, arguments) => {
                // Step, the last one: zero below zero, and one above.
                let (zero, one) = (self.constant(0.0), self.constant(1.0));
                self.add(Instruction::SelectLess([arguments[0], zero, zero, one]))
            }
        })
    }

    /// The result of an instruction; that of an earlier one, if it is the same.
    pub(super) fn add(&mut self, instruction: Instruction) -> Address {
        if let Some(&slot) = self.known.get(&instruction) {
            return slot;
        }
        let arguments = instruction.arguments();
        if !arguments.is_empty() && arguments.iter().all(|&slot| self.constant_at(slot).is_some()) {
            let value = self.clone_of(instruction).value(&[], &[]);
            return self.constant(value);
        }
        self.instructions.push(instruction);
        let slot = self.instructions.len() - 1;
        self.known.insert(instruction, slot);
        slot
    }

    pub(super) fn constant_at(&self, slot: Address) -> Option<f64> {
        match self.instructions[slot] {
            Instruction::Constant(value) => Some(value.value()),
            _ => None,
        }
    }

    /// An instruction over constants by itself.
    fn clone_of(&self, instruction: Instruction) -> Program {
        let arguments = instruction.arguments();
        let mut instructions: Vec<_> = arguments.iter().map(|&slot| self.instructions[slot]).collect();
        let place = |slot: Address| arguments.iter().position(|&argument| argument == slot).unwrap_or_default();
        instructions.push(instruction.moved(place));
        Program { varies: vec![false; instructions.len()], chooses: false, instructions }
    }

    /// The program that makes one result, of the instructions that have part in it.
    pub(super) fn finish(&self, result: Address) -> Program {
        let mut is_used = vec![false; self.instructions.len()];
        is_used[result] = true;
        for slot in (0..=result).rev() {
            if is_used[slot] {
                self.instructions[slot].arguments().into_iter().for_each(|argument| is_used[argument] = true);
            }
        }
        let mut places = vec![0; self.instructions.len()];
        let (mut instructions, mut varies) = (Vec::new(), Vec::new());
        for (slot, &instruction) in self.instructions.iter().enumerate().take(result + 1) {
            if !is_used[slot] {
                continue;
            }
            let instruction = instruction.moved(|argument| places[argument]);
            let depends = instruction.arguments().into_iter().any(|argument| varies[argument]);
            places[slot] = instructions.len();
            varies.push(depends || matches!(instruction, Instruction::Parameter(_)));
            instructions.push(instruction);
        }
        let chooses = instructions.iter().any(|instruction| matches!(instruction, Instruction::SelectLess(_)));
        Program { instructions, varies, chooses }
    }
}

/// The methods of a [`Model`](crate::curve::Model) that is a `program` in named `parameters`: by itself it is evaluated by its program, and within other models
/// for one row after the other.
macro_rules! program_methods {
    () => {
        const IN_LANES: bool = false;

        fn parameter_count(&self) -> usize {
            self.parameters().len()
        }

        fn parameter_name(&self, index: usize) -> String {
            self.parameters()[index].clone()
        }

        fn response<S: crate::number::ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
            self.program().value(x, b)
        }

        fn as_program(&self) -> Option<&crate::curve::formula::Program> {
            Some(self.program())
        }
    };
}

pub(in crate::curve) use program_methods;
