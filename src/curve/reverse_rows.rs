//! Rows of a model, differentiated in reverse: the number of parameters is known at run time only.

use crate::autodiff::adjoint::Adjoint;
use crate::autodiff::tape::Tape;
use crate::kernels::lanes::{Lanes, Register, Routine};
use crate::problem::room_for;
use crate::{Model, Number, Real, Scalar};

/// Rows to be evaluated.
pub(super) struct ReverseRows<'r, T, R, M> {
    pub(super) model: &'r M,
    /// Predictors, row after row.
    pub(super) x: &'r [Lanes<T, R>],
    /// Predictors of a row.
    pub(super) width: usize,
    /// Filled with the response to each row.
    pub(super) responses: &'r mut [Lanes<T, R>],
    /// Filled with derivatives: `stride` entries for each parameter, of which the first are those of the rows. Without room
    /// for these there are none.
    pub(super) derivatives: &'r mut [Lanes<T, R>],
    pub(super) stride: usize,
}

/// Parameters of a model, and memory that evaluations there reuse.
pub(super) struct Reverse<T, R> {
    b: Vec<Lanes<T, R>>,
    tape: Tape<T, R>,
    adjoints: Vec<Lanes<T, R>>,
}

impl<T: Real, R: Register<T>> Reverse<T, R> {
    /// For a model of so many parameters.
    pub(super) fn new(parameters: usize) -> Self {
        Reverse { b: vec![Lanes::splat(T::ZERO); parameters], tape: Tape::new(parameters), adjoints: Vec::new() }
    }

    /// Moves to these parameters.
    pub(super) fn set_parameters(&mut self, b: &[Lanes<T, R>]) {
        self.b.copy_from_slice(b);
    }

    /// Evaluates rows, by one function for each model and kind of registers.
    pub(super) fn evaluate<M: Model<T>>(&mut self, rows: &mut ReverseRows<'_, T, R, M>) {
        loop {
            self.adjoints.resize(self.tape.places(), Lanes::splat(T::ZERO));
            R::call(Evaluation { rows, b: &self.b, tape: &self.tape, adjoints: &mut self.adjoints });
            if self.tape.is_complete() {
                return;
            }
            self.tape = self.tape.with_room_for_all();
        }
    }
}

/// Rows to be evaluated with these parameters, unless the tape ends before.
struct Evaluation<'e, 'r, T, R, M> {
    rows: &'e mut ReverseRows<'r, T, R, M>,
    b: &'e [Lanes<T, R>],
    tape: &'e Tape<T, R>,
    adjoints: &'e mut [Lanes<T, R>],
}

/// Parameters on the stack.
const FEW: usize = 24;

impl<T: Real, R: Register<T>, M: Model<T>> Routine for Evaluation<'_, '_, T, R, M> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(self) {
        let Evaluation { rows, b, tape, adjoints } = self;
        let varies = !rows.derivatives.is_empty();
        let (mut few, mut many) = ([Adjoint::<T, R>::constant(Lanes::splat(T::ZERO)); FEW], Vec::new());
        let variables = room_for(b.len(), &mut few, &mut many);
        for (j, (variable, &b)) in variables.iter_mut().zip(b).enumerate() {
            *variable = if varies { Adjoint::variable(b, j, tape) } else { Adjoint::constant(b) };
        }
        for (row, response) in rows.responses.iter_mut().enumerate() {
            let found = rows.model.response(&rows.x[row * rows.width..(row + 1) * rows.width], variables);
            *response = found.value;
            if varies {
                if !tape.is_complete() {
                    return;
                }
                tape.differentiate(found, adjoints);
                for (derivatives, &adjoint) in rows.derivatives.chunks_exact_mut(rows.stride).zip(&adjoints[..b.len()])
                {
                    derivatives[row] = adjoint;
                }
            }
        }
    }
}
