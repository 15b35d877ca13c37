//! Operators of a formula, for all rows of a tile at once.

use super::program::Operator;
use super::tile::{Results, Seed};
use crate::autodiff::derivatives::{self, power_below};
use crate::curve::reverse_tile::TILE;
use crate::kernels::lanes::{Lanes, Register, Routine};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Powers, which are long: one function for values and slopes.
struct Powers<'e, T, R> {
    base: &'e Results<T, R>,
    exponent: &'e Results<T, R>,
    rows: usize,
    values: &'e mut Results<T, R>,
}

impl<T: Real, R: Register<T>> Routine for Powers<'_, T, R> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(self) {
        for row in 0..self.rows {
            self.values[row] = self.base[row].pow(self.exponent[row]);
        }
    }
}

/// `baseᵖ` of each row.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn powers<T: Real, R: Register<T>>(
    base: &Results<T, R>,
    exponent: &Results<T, R>,
    rows: usize,
    values: &mut Results<T, R>,
) {
    R::call(Powers { base, exponent, rows, values });
}

/// Applies an operator to each row.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn join<T: Real, R: Register<T>>(
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
        Operator::Power => powers(a, b, rows, values),
        Operator::Atan2 => of_rows!(|a: Lanes<T, R>, b| a.atan2(b)),
        Operator::Hypot => of_rows!(|a: Lanes<T, R>, b| a.hypot(b)),
    }
}

/// An operator's arguments and values, and the derivatives of the response by these.
pub(super) struct Joined<'e, T, R> {
    operator: Operator,
    a: &'e Results<T, R>,
    b: &'e Results<T, R>,
    value: &'e Results<T, R>,
    seed: Seed<'e, T, R>,
    /// Reciprocal of the second argument, for a division.
    reciprocal: Results<T, R>,
}

impl<'e, T: Real, R: Register<T>> Joined<'e, T, R> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of(
        operator: Operator,
        [a, b]: [&'e Results<T, R>; 2],
        value: &'e Results<T, R>,
        seed: Seed<'e, T, R>,
    ) -> Self {
        let mut reciprocal = [Lanes::splat(T::ZERO); TILE];
        if operator == Operator::Divide {
            for row in 0..seed.rows {
                reciprocal[row] = b[row].recip();
            }
        }
        Joined { operator, a, b, value, seed, reciprocal }
    }

    /// Adds to each sum a slope, of the arguments, the value and the reciprocal of its row, times the seed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add(&self, sums: &mut Results<T, R>, slope: impl Fn([Lanes<T, R>; 4]) -> Lanes<T, R>) {
        for row in 0..self.seed.rows {
            let slope = slope([self.a[row], self.b[row], self.value[row], self.reciprocal[row]]);
            sums[row] = self.seed.plus_part(sums[row], row, slope);
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn add_slopes_by_first(&self, sums: &mut Results<T, R>) {
        let one = Lanes::splat(T::ONE);
        match self.operator {
            Operator::Add | Operator::Subtract => {
                for row in 0..self.seed.rows {
                    sums[row] += self.seed.by_row[row];
                }
            }
            Operator::Multiply => self.add(sums, |[_, b, _, _]| b),
            Operator::Divide => self.add(sums, |[_, _, _, reciprocal]| reciprocal),
            Operator::Power => {
                let mut exponent = *self.b;
                exponent.iter_mut().for_each(|exponent| *exponent -= one);
                let mut below = exponent;
                powers(self.a, &exponent, self.seed.rows, &mut below);
                for row in 0..self.seed.rows {
                    let [power, below] = [self.value[row], below[row]].map(|power| power * self.b[row]);
                    let slope = power_below(self.a[row], self.b[row], power, below);
                    sums[row] = self.seed.plus_part(sums[row], row, slope);
                }
            }
            Operator::Atan2 => self.add(sums, |[y, x, _, _]| derivatives::atan2(y, x)[0]),
            Operator::Hypot => self.add(sums, |[a, _, value, _]| a / value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn add_slopes_by_second(&self, sums: &mut Results<T, R>) {
        let zero = Lanes::splat(T::ZERO);
        match self.operator {
            Operator::Add => {
                for row in 0..self.seed.rows {
                    sums[row] += self.seed.by_row[row];
                }
            }
            Operator::Subtract => {
                for row in 0..self.seed.rows {
                    sums[row] -= self.seed.by_row[row];
                }
            }
            Operator::Multiply => self.add(sums, |[a, _, _, _]| a),
            Operator::Divide => self.add(sums, |[_, _, value, reciprocal]| -(value * reciprocal)),
            // 0^p is flat in p.
            Operator::Power => {
                self.add(sums, |[a, _, value, _]| zero.select_less(a.abs(), value * a.ln(), zero));
            }
            Operator::Atan2 => self.add(sums, |[y, x, _, _]| derivatives::atan2(y, x)[1]),
            Operator::Hypot => self.add(sums, |[_, b, value, _]| b / value),
        }
    }
}
