//! A model of any type, of which many fits are made by code that is compiled in this crate.

use std::any::Any;

use super::point_sums::PointSums;
use crate::curve::model::FromModel;
use crate::curve::models::GuessCache;
use crate::curve::reverse_tile::{InTiles, TileModel};
use crate::curve::{Curve, Model};
use crate::kernels::lanes::{LaneKernel, Register};
use crate::kernels::registers::Registers;
use crate::number::ScalarOf;
use crate::problem::Evaluated;
use crate::real::Real;

/// The most parameters whose derivatives are carried forwards, fewer and more of them.
pub(super) const FORWARDS: [usize; 2] = [4, 8];

/// Evaluation of a model, the only code compiled for each model. Methods are for models that are evaluated in lanes, but for
/// those that say otherwise.
pub(super) trait ErasedModel<T: Real>: TileModel<T> + Sync {
    /// Way of evaluating the model.
    fn evaluation(&self) -> EvaluationMode;

    /// Works out [`PointSums<T, R, N>`](PointSums), where `R` are these registers, and `N` is of [`FORWARDS`].
    fn add_points(&self, registers: Registers, sums: &mut dyn Any);

    /// Fills `y` as [`Curve::responses`] does, and `jacobian` with the derivatives if there is room, of a model that is not
    /// evaluated in lanes.
    fn evaluate_one_by_one(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated;

    /// Start that the model guesses from data; `None` if it has no guess.
    fn guess(&self, x: &[T], y: &[T], cache: &GuessCache) -> Option<Vec<T>>;
}

/// Way of evaluating a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EvaluationMode {
    /// Evaluates a point of several fits at once, or in tiles.
    InLanes,
    /// Evaluates a tile of points of several fits at once.
    InTiles,
    /// Evaluates one point after the other.
    OneByOne,
}

/// Starts from data.
pub(super) type Guesses<M, T> = fn(&M, &[T], &[T], &GuessCache) -> Vec<T>;

/// A model of a known type.
pub(super) struct GivenModel<T, M> {
    pub(super) model: M,
    pub(super) guess: Option<Guesses<M, T>>,
}

impl<T: Real, M: Model<T>> TileModel<T> for GivenModel<T, M> {
    fn evaluate(&self, registers: Registers, tile: &mut dyn Any) {
        if let Some(program) = self.model.as_program() {
            TileModel::<T>::evaluate(program, registers, tile);
        } else if M::IN_LANES {
            InTiles(&self.model).evaluate(registers, tile);
        }
    }
}

impl<T: Real, M: Model<T> + Sync> ErasedModel<T> for GivenModel<T, M> {
    fn evaluation(&self) -> EvaluationMode {
        match (self.model.as_program(), M::IN_LANES) {
            (Some(_), _) => EvaluationMode::InTiles,
            (None, true) => EvaluationMode::InLanes,
            (None, false) => EvaluationMode::OneByOne,
        }
    }

    fn add_points(&self, registers: Registers, sums: &mut dyn Any) {
        if M::IN_LANES {
            T::run_in(registers, SumKernel { model: &self.model, sums });
        }
    }

    fn evaluate_one_by_one(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        let curve = FromModel(PointByPoint(&self.model));
        match (M::IN_LANES, jacobian.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => curve.responses(x, width, b, y),
            (false, false) => curve.linearize(x, width, b, y, jacobian),
        }
    }

    fn guess(&self, x: &[T], y: &[T], cache: &GuessCache) -> Option<Vec<T>> {
        self.guess.map(|guess| guess(&self.model, x, y, cache))
    }
}

/// Works out sums for the registers in use.
struct SumKernel<'s, M> {
    model: &'s M,
    sums: &'s mut dyn Any,
}

impl<T: Real, M: Model<T>> LaneKernel<T> for SumKernel<'_, M> {
    type Output = ();

    fn run<R: Register<T>>(self) {
        if let Some(sums) = self.sums.downcast_mut::<PointSums<T, R, { FORWARDS[0] }>>() {
            sums.fill(self.model);
        } else if let Some(sums) = self.sums.downcast_mut::<PointSums<T, R, { FORWARDS[1] }>>() {
            sums.fill(self.model);
        }
    }
}

/// A model that is evaluated for one point after the other.
struct PointByPoint<'m, M>(&'m M);

impl<T: Real, M: Model<T>> Model<T> for PointByPoint<'_, M> {
    const IN_LANES: bool = false;

    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
        self.0.response(x, b)
    }
}
