//! Rows of a formula, tile by tile: an instruction is done for all of its rows before the next, and derivatives go backwards.

use std::any::Any;
use std::marker::PhantomData;

use super::function::{Function, for_each_formula_function};
use super::program::{Instruction, Operator, Program};
use crate::autodiff::slopes;
use crate::curve::reverse_tile::{ReverseTile, TILE, TileModel};
use crate::kernels::lanes::{LaneKernel, Lanes, Register, Routine, Vectorized};
use crate::kernels::registers::Registers;
use crate::number::Number;
use crate::precision::Compiled;
use crate::real::Real;
use crate::scalar::Scalar;

impl<T: Real> TileModel<T> for Program {
    fn evaluate(&self, registers: Registers, tile: &mut dyn Any) {
        T::run_compiled::<Evaluations>((self, registers, tile));
    }
}

/// Evaluations are compiled in this crate.
struct Evaluations<'e>(PhantomData<&'e ()>);

impl<'e> Compiled for Evaluations<'e> {
    type Call<T: Real> = (&'e Program, Registers, &'e mut dyn Any);
    type Output<T: Real> = ();

    fn in_single((program, registers, tile): Self::Call<f32>) {
        f32::run_in(registers, ProgramKernel { program, tile });
    }

    fn in_double((program, registers, tile): Self::Call<f64>) {
        f64::run_in(registers, ProgramKernel { program, tile });
    }
}

/// Evaluates a tile for the registers in use.
struct ProgramKernel<'e> {
    program: &'e Program,
    tile: &'e mut dyn Any,
}

impl<T: Real> LaneKernel<T> for ProgramKernel<'_> {
    type Output = ();

    fn run<R: Register<T>>(self) {
        if let Some(tile) = self.tile.downcast_mut::<ReverseTile<T, R>>() {
            R::call(Evaluation { program: self.program, tile });
        }
    }
}

/// One number for each row.
type Results<T, R> = [Lanes<T, R>; TILE];

/// A tile to be evaluated.
struct Evaluation<'e, T, R> {
    program: &'e Program,
    tile: &'e mut ReverseTile<T, R>,
}

impl<T: Real, R: Register<T>> Routine for Evaluation<'_, T, R> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(self) {
        let Evaluation { program, tile } = self;
        let ReverseTile { x, width, first, rows, b, responses, derivatives, memory, .. } = tile;
        let count = program.instructions.len();
        if memory.len() != 2 * count {
            memory.resize(2 * count, [Lanes::splat(T::ZERO); TILE]);
            program.fill_constants(memory);
        }
        let (values, adjoints) = memory.split_at_mut(count);
        let rows = Rows { x: &x[*first * *width..], width: *width, count: *rows, b };
        program.work_out(&rows, values);
        *responses = values[count - 1];
        if !derivatives.is_empty() {
            if program.chooses {
                program.differentiate::<T, R, true>(values, adjoints, rows.count, derivatives);
            } else {
                program.differentiate::<T, R, false>(values, adjoints, rows.count, derivatives);
            }
        }
    }
}

/// The rows of a tile.
struct Rows<'e, T, R> {
    x: &'e [Lanes<T, R>],
    width: usize,
    count: usize,
    b: &'e [Lanes<T, R>],
}

/// Applies each function to all rows at once.
macro_rules! functions_of_rows {
    ($($function:ident $method:ident [$($alias:literal),*],)*) => {
        impl Function {
            /// Its values.
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn of_rows<T: Real, R: Register<T>>(self, x: &Results<T, R>, rows: usize, values: &mut Results<T, R>) {
                match self {
                    $(Function::$function => for row in 0..rows {
                        values[row] = Scalar::$method(x[row]);
                    })*
                }
            }

            /// Adds its derivatives times a seed, given its values.
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn add_slopes<T: Real, R: Register<T>, const CHOOSES: bool>(
                self,
                x: &Results<T, R>,
                values: &Results<T, R>,
                seed: &Results<T, R>,
                rows: usize,
                sums: &mut Results<T, R>,
            ) {
                match self {
                    $(Function::$function => for row in 0..rows {
                        sums[row] = plus_part::<T, R, CHOOSES>(sums[row], seed[row], slopes::$method(x[row], values[row]));
                    })*
                }
            }
        }
    };
}

for_each_formula_function!(functions_of_rows);

/// `sum + seed · slope`. In a formula that chooses, the sum alone where the seed is zero: the slope of what was not chosen may be NaN.
#[cfg_attr(not(debug_assertions), inline(always))]
fn plus_part<T: Real, R: Register<T>, const CHOOSES: bool>(
    sum: Lanes<T, R>,
    seed: Lanes<T, R>,
    slope: Lanes<T, R>,
) -> Lanes<T, R> {
    let with_part = seed.mul_add(slope, sum);
    if !CHOOSES {
        return with_part;
    }
    let is_zero_below = Lanes::from_f64(f64::from(f32::MIN_POSITIVE) * f64::from(f32::EPSILON));
    seed.abs().select_less(is_zero_below, sum, with_part)
}

impl Program {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fill_constants<T: Real, R: Register<T>>(&self, values: &mut [Results<T, R>]) {
        for (result, instruction) in values.iter_mut().zip(&self.instructions) {
            if let Instruction::Constant(value) = instruction {
                *result = [Lanes::from_f64(value.value()); TILE];
            }
        }
    }

    /// Fills in the results of all instructions.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn work_out<T: Real, R: Register<T>>(&self, at: &Rows<'_, T, R>, values: &mut [Results<T, R>]) {
        let rows = at.count;
        for (slot, instruction) in self.instructions.iter().enumerate() {
            let (before, results) = values.split_at_mut(slot);
            let result = &mut results[0];
            match *instruction {
                Instruction::Constant(_) => {}
                Instruction::Predictor(index) if index < at.width => {
                    for row in 0..rows {
                        result[row] = at.x[row * at.width + index];
                    }
                }
                Instruction::Predictor(_) => *result = [Lanes::from_f64(f64::NAN); TILE],
                Instruction::Parameter(index) => *result = [at.b[index]; TILE],
                Instruction::Negate(a) => {
                    for row in 0..rows {
                        result[row] = -before[a][row];
                    }
                }
                Instruction::IntegerPower(a, n) => {
                    for row in 0..rows {
                        result[row] = before[a][row].powi(n);
                    }
                }
                Instruction::ConstantPower(a, p) => {
                    for row in 0..rows {
                        result[row] = before[a][row].powf(Lanes::from_f64(p.value()));
                    }
                }
                Instruction::Apply(function, a) => function.of_rows(&before[a], rows, result),
                Instruction::Join(operator, a, b) => join(operator, &before[a], &before[b], rows, result),
                Instruction::SelectLess([a, b, then, otherwise]) => {
                    for row in 0..rows {
                        result[row] =
                            before[a][row].select_less(before[b][row], before[then][row], before[otherwise][row]);
                    }
                }
            }
        }
    }

    /// Fills in the derivatives of the last result by the parameters, given all results.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn differentiate<T: Real, R: Register<T>, const CHOOSES: bool>(
        &self,
        values: &[Results<T, R>],
        adjoints: &mut [Results<T, R>],
        rows: usize,
        derivatives: &mut [Results<T, R>],
    ) {
        adjoints.fill([Lanes::splat(T::ZERO); TILE]);
        let last = self.instructions.len() - 1;
        adjoints[last] = [Lanes::splat(T::ONE); TILE];
        for slot in (0..=last).rev() {
            if !self.varies[slot] {
                continue;
            }
            let (before, seeds) = adjoints.split_at_mut(slot);
            let seed = &seeds[0];
            match self.instructions[slot] {
                Instruction::Constant(_) | Instruction::Predictor(_) => {}
                Instruction::Parameter(index) => derivatives[index] = *seed,
                Instruction::Negate(a) => {
                    for row in 0..rows {
                        before[a][row] -= seed[row];
                    }
                }
                Instruction::IntegerPower(_, 0) => {}
                Instruction::IntegerPower(a, n) => {
                    let degree = Lanes::from_f64(f64::from(n));
                    for row in 0..rows {
                        let slope = values[a][row].powi(n - 1) * degree;
                        before[a][row] = plus_part::<T, R, CHOOSES>(before[a][row], seed[row], slope);
                    }
                }
                Instruction::ConstantPower(a, p) => {
                    let (degree, below) = (Lanes::from_f64(p.value()), Lanes::from_f64(p.value() - 1.0));
                    for row in 0..rows {
                        let slope = values[a][row].powf(below) * degree;
                        before[a][row] = plus_part::<T, R, CHOOSES>(before[a][row], seed[row], slope);
                    }
                }
                Instruction::Apply(function, a) => {
                    function.add_slopes::<T, R, CHOOSES>(&values[a], &values[slot], seed, rows, &mut before[a]);
                }
                Instruction::Join(operator, a, b) => {
                    let join = Joined::of(operator, [&values[a], &values[b]], &values[slot], seed, rows);
                    if self.varies[a] {
                        join.add_slopes_by_first::<CHOOSES>(&mut before[a]);
                    }
                    if self.varies[b] {
                        join.add_slopes_by_second::<CHOOSES>(&mut before[b]);
                    }
                }
                Instruction::SelectLess([a, b, then, otherwise]) => {
                    let zero = Lanes::splat(T::ZERO);
                    for row in 0..rows {
                        let (a, b) = (values[a][row], values[b][row]);
                        before[then][row] += a.select_less(b, seed[row], zero);
                        before[otherwise][row] += a.select_less(b, zero, seed[row]);
                    }
                }
            }
        }
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn join<T: Real, R: Register<T>>(
    operator: Operator,
    a: &Results<T, R>,
    b: &Results<T, R>,
    rows: usize,
    values: &mut Results<T, R>,
) {
    macro_rules! of_rows {
        ($value:expr) => {
            for row in 0..rows {
                values[row] = $value(a[row], b[row]);
            }
        };
    }
    match operator {
        Operator::Add => of_rows!(|a, b| a + b),
        Operator::Subtract => of_rows!(|a, b| a - b),
        Operator::Multiply => of_rows!(|a, b| a * b),
        Operator::Divide => of_rows!(|a, b| a / b),
        Operator::Power => of_rows!(|a: Lanes<T, R>, b| a.pow(b)),
        Operator::Atan2 => of_rows!(|a: Lanes<T, R>, b| a.atan2(b)),
    }
}

/// An operator's arguments and values, and the derivatives of the response by these.
struct Joined<'e, T, R> {
    operator: Operator,
    a: &'e Results<T, R>,
    b: &'e Results<T, R>,
    value: &'e Results<T, R>,
    seed: &'e Results<T, R>,
    rows: usize,
    /// Reciprocal of the second argument, for a division.
    reciprocal: Results<T, R>,
}

impl<'e, T: Real, R: Register<T>> Joined<'e, T, R> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of(
        operator: Operator,
        [a, b]: [&'e Results<T, R>; 2],
        value: &'e Results<T, R>,
        seed: &'e Results<T, R>,
        rows: usize,
    ) -> Self {
        let mut reciprocal = [Lanes::splat(T::ZERO); TILE];
        if operator == Operator::Divide {
            for row in 0..rows {
                reciprocal[row] = b[row].recip();
            }
        }
        Joined { operator, a, b, value, seed, rows, reciprocal }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add_slopes_by_first<const CHOOSES: bool>(&self, sums: &mut Results<T, R>) {
        macro_rules! add {
            ($slope:expr) => {
                for row in 0..self.rows {
                    let slope = $slope(self.a[row], self.b[row], self.reciprocal[row]);
                    sums[row] = plus_part::<T, R, CHOOSES>(sums[row], self.seed[row], slope);
                }
            };
        }
        let one = Lanes::splat(T::ONE);
        match self.operator {
            Operator::Add | Operator::Subtract => {
                for row in 0..self.rows {
                    sums[row] += self.seed[row];
                }
            }
            Operator::Multiply => add!(|_, b, _| b),
            Operator::Divide => add!(|_, _, reciprocal| reciprocal),
            Operator::Power => add!(|a: Lanes<T, R>, b, _| a.pow(b - one) * b),
            Operator::Atan2 => add!(|y: Lanes<T, R>, x, _| x / (x * x + y * y)),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add_slopes_by_second<const CHOOSES: bool>(&self, sums: &mut Results<T, R>) {
        macro_rules! add {
            ($slope:expr) => {
                for row in 0..self.rows {
                    let slope = $slope(self.a[row], self.b[row], self.value[row], self.reciprocal[row]);
                    sums[row] = plus_part::<T, R, CHOOSES>(sums[row], self.seed[row], slope);
                }
            };
        }
        let zero = Lanes::splat(T::ZERO);
        match self.operator {
            Operator::Add => {
                for row in 0..self.rows {
                    sums[row] += self.seed[row];
                }
            }
            Operator::Subtract => {
                for row in 0..self.rows {
                    sums[row] -= self.seed[row];
                }
            }
            Operator::Multiply => add!(|a, _, _, _| a),
            Operator::Divide => add!(|_, _, value: Lanes<T, R>, reciprocal: Lanes<T, R>| -(value * reciprocal)),
            // 0^p is flat in p.
            Operator::Power => {
                add!(|a: Lanes<T, R>, _, value: Lanes<T, R>, _| { zero.select_less(a.abs(), value * a.ln(), zero) })
            }
            Operator::Atan2 => add!(|y: Lanes<T, R>, x: Lanes<T, R>, _, _| -(y / (x * x + y * y))),
        }
    }
}
