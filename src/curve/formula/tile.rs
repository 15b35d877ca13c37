//! TileRows of a formula, tile by tile: an instruction is done for all of its rows before the next, and derivatives go backwards.

use std::any::Any;
use std::marker::PhantomData;

use super::function::{Function, for_each_formula_function};
use super::operators::{Joined, join, powers};
use super::program::{Instruction, Program};
use crate::autodiff::derivatives::power_below;
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
        T::run_compiled::<CompiledPrograms>((self, registers, tile));
    }
}

/// Evaluations of programs, which are compiled in this crate.
struct CompiledPrograms<'e>(PhantomData<&'e ()>);

impl<'e> Compiled for CompiledPrograms<'e> {
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
            R::call(ProgramEvaluation { program: self.program, tile });
        }
    }
}

/// One number for each row.
pub(super) type Results<T, R> = [Lanes<T, R>; TILE];

/// A tile to be evaluated.
struct ProgramEvaluation<'e, T, R> {
    program: &'e Program,
    tile: &'e mut ReverseTile<T, R>,
}

impl<T: Real, R: Register<T>> Routine for ProgramEvaluation<'_, T, R> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(self) {
        let ProgramEvaluation { program, tile } = self;
        let ReverseTile { x, width, first, rows, b, responses, derivatives, memory, is_fresh, .. } = tile;
        let count = program.instructions.len();
        if std::mem::take(is_fresh) {
            memory.resize(2 * count, [Lanes::splat(T::ZERO); TILE]);
            program.fill_constants(memory);
        }
        let (values, adjoints) = memory.split_at_mut(count);
        let rows = TileRows { x: &x[*first * *width..], width: *width, count: *rows, b };
        program.work_out(&rows, values);
        *responses = values[count - 1];
        if !derivatives.is_empty() {
            program.differentiate(values, adjoints, rows.count, derivatives);
        }
    }
}

/// The rows of a tile.
struct TileRows<'e, T, R> {
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
            fn add_slopes<T: Real, R: Register<T>>(
                self,
                x: &Results<T, R>,
                values: &Results<T, R>,
                seed: &Seed<'_, T, R>,
                sums: &mut Results<T, R>,
            ) {
                match self {
                    $(Function::$function => for row in 0..seed.rows {
                        sums[row] = seed.plus_part(sums[row], row, slopes::$method(x[row], values[row]));
                    })*
                }
            }
        }
    };
}

for_each_formula_function!(functions_of_rows);

/// Derivatives of the response by an instruction's results.
#[derive(Clone, Copy)]
pub(super) struct Seed<'e, T, R> {
    pub(super) by_row: &'e Results<T, R>,
    pub(super) rows: usize,
    /// Magnitude below which a derivative is zero: none in a formula that chooses nothing.
    zero_below: Lanes<T, R>,
}

impl<T: Real, R: Register<T>> Seed<'_, T, R> {
    /// `sum + seed · slope`. In a formula that chooses, the sum alone where the seed is zero: the slope of what was not chosen
    /// may be NaN.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn plus_part(&self, sum: Lanes<T, R>, row: usize, slope: Lanes<T, R>) -> Lanes<T, R> {
        let seed = self.by_row[row];
        seed.abs().select_less(self.zero_below, sum, seed.mul_add(slope, sum))
    }
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
    fn work_out<T: Real, R: Register<T>>(&self, at: &TileRows<'_, T, R>, values: &mut [Results<T, R>]) {
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
                    powers(&before[a], &[Lanes::from_f64(p.value()); TILE], rows, result);
                }
                Instruction::Apply(function, a) => function.of_rows(&before[a], rows, result),
                Instruction::Join(operator, a, b) => join(operator, &before[a], &before[b], rows, result),
                Instruction::SelectLess([a, b, then, otherwise]) => {
                    for row in 0..rows {
                        result[row] =
                            before[a][row].select_less(before[b][row], before[then][row], before[otherwise][row]);
                    }
                }
                Instruction::Special(function, arguments) => {
                    for row in 0..rows {
                        result[row] = function.value(arguments.map(|a| before[a][row]));
                    }
                }
            }
        }
    }

    /// Fills in the derivatives of the last result by the parameters, given all results.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn differentiate<T: Real, R: Register<T>>(
        &self,
        values: &[Results<T, R>],
        adjoints: &mut [Results<T, R>],
        rows: usize,
        derivatives: &mut [Results<T, R>],
    ) {
        adjoints.fill([Lanes::splat(T::ZERO); TILE]);
        let smallest = f64::from(f32::MIN_POSITIVE) * f64::from(f32::EPSILON);
        let zero_below = Lanes::from_f64(if self.chooses { smallest } else { 0.0 });
        let last = self.instructions.len() - 1;
        adjoints[last] = [Lanes::splat(T::ONE); TILE];
        for slot in (0..=last).rev() {
            if !self.varies[slot] {
                continue;
            }
            let (before, seeds) = adjoints.split_at_mut(slot);
            let seed = Seed { by_row: &seeds[0], rows, zero_below };
            match self.instructions[slot] {
                Instruction::Constant(_) | Instruction::Predictor(_) => {}
                Instruction::Parameter(index) => derivatives[index] = *seed.by_row,
                Instruction::Negate(a) => {
                    for row in 0..rows {
                        before[a][row] -= seed.by_row[row];
                    }
                }
                Instruction::IntegerPower(_, 0) => {}
                Instruction::IntegerPower(a, n) => {
                    let degree = Lanes::from_f64(f64::from(n));
                    for row in 0..rows {
                        let slope = values[a][row].powi(n - 1) * degree;
                        before[a][row] = seed.plus_part(before[a][row], row, slope);
                    }
                }
                Instruction::ConstantPower(a, p) => {
                    let degree = Lanes::from_f64(p.value());
                    let mut below = [Lanes::splat(T::ZERO); TILE];
                    powers(&values[a], &[degree - Lanes::splat(T::ONE); TILE], rows, &mut below);
                    for row in 0..rows {
                        let [power, below] = [values[slot][row], below[row]].map(|power| power * degree);
                        let slope = power_below(values[a][row], degree, power, below);
                        before[a][row] = seed.plus_part(before[a][row], row, slope);
                    }
                }
                Instruction::Apply(function, a) => {
                    function.add_slopes(&values[a], &values[slot], &seed, &mut before[a]);
                }
                Instruction::Join(operator, a, b) => {
                    let join = Joined::of(operator, [&values[a], &values[b]], &values[slot], seed);
                    if self.varies[a] {
                        join.add_slopes_by_first(&mut before[a]);
                    }
                    if self.varies[b] {
                        join.add_slopes_by_second(&mut before[b]);
                    }
                }
                Instruction::SelectLess([a, b, then, otherwise]) => {
                    let zero = Lanes::splat(T::ZERO);
                    for row in 0..rows {
                        let (a, b) = (values[a][row], values[b][row]);
                        before[then][row] += a.select_less(b, seed.by_row[row], zero);
                        before[otherwise][row] += a.select_less(b, zero, seed.by_row[row]);
                    }
                }
                Instruction::Special(function, arguments) => {
                    for (k, &argument) in arguments.iter().take(function.arity()).enumerate() {
                        if !self.varies[argument] {
                            continue;
                        }
                        for row in 0..rows {
                            let slope = function.slope(k, arguments.map(|a| values[a][row]));
                            before[argument][row] = seed.plus_part(before[argument][row], row, slope);
                        }
                    }
                }
            }
        }
    }
}
