//! Rows of a model, differentiated in reverse: the number of parameters is known at run time only.

use std::any::Any;
use std::cell::Cell;

use crate::autodiff::adjoint::Adjoint;
use crate::autodiff::tape::AdjointTape;
use crate::curve::Model;
use crate::kernels::lanes::{LaneKernel, Lanes, Register, Routine};
use crate::kernels::registers::Registers;
use crate::number::Number;
use crate::problem::scratch_for;
use crate::real::Real;
use crate::scalar::Scalar;

/// Rows of a tile at most: their derivatives stay in the nearest cache.
pub(super) const TILE: usize = 8;

thread_local! {
    /// The last [`ReverseTile`] that is no longer in use. With wide registers one is so large that the system takes its memory back
    /// each time it is freed, and hands it out again page by page: that took as long as the evaluation.
    static LAST: Cell<Option<Box<dyn Any>>> = const { Cell::new(None) };
}

/// A tile of rows to be evaluated, and memory that evaluations reuse.
pub(super) struct ReverseTile<T, R> {
    /// Predictors, row after row.
    pub(super) x: Vec<Lanes<T, R>>,
    /// Predictors of a row.
    pub(super) width: usize,
    /// The first row of the tile.
    pub(super) first: usize,
    /// Rows of the tile, up to [`TILE`].
    pub(super) rows: usize,
    /// Parameters.
    pub(super) b: Vec<Lanes<T, R>>,
    /// Filled with the response to each row.
    pub(super) responses: [Lanes<T, R>; TILE],
    /// Filled with the derivatives by each parameter. Without room for these there are none.
    pub(super) derivatives: Vec<[Lanes<T, R>; TILE]>,
    /// Results of a formula's instructions, and derivatives by them.
    pub(super) memory: Vec<[Lanes<T, R>; TILE]>,
    /// The memory has not been used since the tile was taken, so that it may hold the constants of another formula.
    pub(super) is_fresh: bool,
    tape: AdjointTape<T, R>,
    adjoints: Vec<Lanes<T, R>>,
}

impl<T: Real, R: Register<T>> ReverseTile<T, R> {
    /// Creates a tile for a model of `width` predictors and `parameters` parameters, with room for `derivatives` derivatives of
    /// each row.
    pub(super) fn new(width: usize, parameters: usize, derivatives: usize) -> Self {
        let zero = Lanes::splat(T::ZERO);
        ReverseTile {
            x: Vec::new(),
            width,
            first: 0,
            rows: 0,
            b: vec![zero; parameters],
            responses: [zero; TILE],
            derivatives: vec![[zero; TILE]; derivatives],
            memory: Vec::new(),
            is_fresh: true,
            tape: AdjointTape::new(parameters),
            adjoints: Vec::new(),
        }
    }

    /// Takes the last tile of this thread if it is of this kind; creates one otherwise.
    pub(super) fn take(width: usize, parameters: usize, derivatives: usize) -> Box<Self> {
        let last = LAST.take().and_then(|last| last.downcast::<Self>().ok());
        let mut tile = last
            .filter(|last| (last.width, last.b.len()) == (width, parameters))
            .unwrap_or_else(|| Box::new(Self::new(width, parameters, derivatives)));
        // A program without a parameter leaves its derivative as it is.
        tile.derivatives.clear();
        tile.derivatives.resize(derivatives, [Lanes::splat(T::ZERO); TILE]);
        tile.is_fresh = true;
        tile
    }

    /// Leaves a tile for the next evaluation of this thread.
    pub(super) fn leave(self: Box<Self>) {
        LAST.set(Some(self));
    }

    /// Evaluates the rows, by one function for each model and kind of registers.
    fn evaluate<M: Model<T>>(&mut self, model: &M) {
        loop {
            self.adjoints.resize(self.tape.places(), Lanes::splat(T::ZERO));
            R::call(TileEvaluation { model, tile: self });
            if self.tape.is_complete() {
                return;
            }
            self.tape = self.tape.grown();
        }
    }
}

/// A model of any type, whose rows are evaluated in tiles: the evaluation alone is compiled for each model.
pub(super) trait TileModel<T: Real> {
    /// Evaluates a [`ReverseTile<T, R>`], where `R` are these registers. Which type that is, an object cannot know.
    fn evaluate(&self, registers: Registers, tile: &mut dyn Any);
}

/// A model of a known type as one of any type.
pub(super) struct InTiles<'m, M>(pub(super) &'m M);

impl<T: Real, M: Model<T>> TileModel<T> for InTiles<'_, M> {
    fn evaluate(&self, registers: Registers, tile: &mut dyn Any) {
        T::run_in(registers, TileKernel { model: self.0, tile });
    }
}

/// Evaluates a tile for the registers in use.
struct TileKernel<'e, M> {
    model: &'e M,
    tile: &'e mut dyn Any,
}

impl<T: Real, M: Model<T>> LaneKernel<T> for TileKernel<'_, M> {
    type Output = ();

    fn run<R: Register<T>>(self) {
        if let Some(tile) = self.tile.downcast_mut::<ReverseTile<T, R>>() {
            tile.evaluate(self.model);
        }
    }
}

/// Rows to be evaluated, unless the tape ends before.
struct TileEvaluation<'e, T, R, M> {
    model: &'e M,
    tile: &'e mut ReverseTile<T, R>,
}

/// Parameters on the stack.
const FEW: usize = 24;

impl<T: Real, R: Register<T>, M: Model<T>> Routine for TileEvaluation<'_, T, R, M> {
    type Output = ();

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn run(self) {
        let ReverseTile { ref x, width, first, rows, ref b, ref mut responses, ref mut derivatives, ref tape, .. } =
            *self.tile;
        let adjoints = &mut self.tile.adjoints;
        let varies = !derivatives.is_empty();
        let (mut few, mut many) = ([Adjoint::<T, R>::constant(Lanes::splat(T::ZERO)); FEW], Vec::new());
        let variables = scratch_for(b.len(), &mut few, &mut many);
        for (j, (variable, &b)) in variables.iter_mut().zip(b).enumerate() {
            *variable = if varies { Adjoint::variable(b, j, tape) } else { Adjoint::constant(b) };
        }
        let x = &x[first * width..];
        for (row, response) in responses[..rows].iter_mut().enumerate() {
            let found = self.model.response(&x[row * width..(row + 1) * width], variables);
            *response = found.value;
            if varies {
                if !tape.is_complete() {
                    return;
                }
                tape.differentiate(found, adjoints);
                for (derivatives, &adjoint) in derivatives.iter_mut().zip(&adjoints[..b.len()]) {
                    derivatives[row] = adjoint;
                }
            }
        }
    }
}
