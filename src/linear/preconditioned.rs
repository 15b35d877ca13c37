//! Preconditioned conjugate gradients for a positive definite system that is only multiplied by, to a tolerance.

use super::model::IllConditioned;
use crate::kernels::vector::{add_scaled, dot};
use crate::real::Real;

/// Accuracy of the conjugate gradients that solve a linear system: Ceres' `eta` and `max_linear_solver_iterations`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Inexact {
    /// Largest share that a round may add to the predicted reduction, times the number of rounds so far.
    pub(crate) forcing_term: f64,
    /// Share of the cost that a round need not remove, times the number of rounds so far.
    pub(crate) negligible: f64,
    /// Most rounds.
    pub(crate) max_rounds: usize,
}

impl Default for Inexact {
    fn default() -> Self {
        Inexact { forcing_term: 0.1, negligible: 0.0, max_rounds: 5000 }
    }
}

/// Where conjugate gradients end.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<T> {
    /// Share of the whole reduction that the last round, times the number of rounds, may add.
    pub(super) tolerance: T,
    /// Reduction that it may add in any case.
    pub(super) negligible: T,
    /// Most rounds.
    pub(super) max_rounds: usize,
}

/// A positive definite matrix that multiplies vectors, and an approximate inverse.
pub(super) trait Preconditioned<T> {
    /// `product = Av`.
    fn multiply(&mut self, v: &[T], product: &mut [T]);

    /// Overwrites `v` with `M⁻¹v`, where `M ≈ A`.
    fn precondition(&mut self, v: &mut [T]);
}

/// Vectors that conjugate gradients keep.
#[derive(Debug, Clone, Default)]
pub(super) struct Krylov<T> {
    residual: Vec<T>,
    preconditioned: Vec<T>,
    direction: Vec<T>,
    image: Vec<T>,
}

impl<T: Real> Krylov<T> {
    /// Overwrites `b` with an approximate solution of `Ax = b`, from zero.
    ///
    /// Each round adds to the reduction `bᵀx − ½xᵀAx` of the quadratic model. They end once a round adds less than the tolerance
    /// of all, or what is negligible, divided by the number of rounds (Nash & Sofer 1990), or after the largest number of rounds, which leaves a
    /// shorter step in a direction of descent (Steihaug 1983). Whenever they end, `xᵀAx = bᵀx`, as for the solution.
    pub(super) fn solve(
        &mut self,
        system: &mut impl Preconditioned<T>,
        End { tolerance, negligible, max_rounds }: End<T>,
        b: &mut [T],
    ) -> Result<(), IllConditioned> {
        let Krylov { residual, preconditioned, direction, image } = self;
        residual.clear();
        residual.extend_from_slice(b);
        b.fill(T::ZERO);
        image.resize(b.len(), T::ZERO);
        preconditioned.clear();
        preconditioned.extend_from_slice(residual);
        system.precondition(preconditioned);
        direction.clear();
        direction.extend_from_slice(preconditioned);
        let mut size = dot(residual, preconditioned);
        if !size.is_finite() {
            return Err(IllConditioned);
        }
        let (mut reduction, mut rounds) = (T::ZERO, T::ZERO);
        for round in 0..max_rounds {
            if !(size > T::ZERO) {
                break;
            }
            system.multiply(direction, image);
            let curvature = dot(direction, image);
            if !(curvature > T::ZERO && curvature.is_finite()) {
                // What is left of a singular system is rounding, unless nothing has been found yet.
                if round == 0 {
                    return Err(IllConditioned);
                }
                break;
            }
            let length = size / curvature;
            add_scaled(b, length, direction);
            add_scaled(residual, -length, image);
            // Twice the reductions, of this round and of all.
            let of_round = length * size;
            reduction += of_round;
            rounds += T::ONE;
            if rounds * of_round <= (tolerance * reduction).max(negligible + negligible) {
                break;
            }
            preconditioned.copy_from_slice(residual);
            system.precondition(preconditioned);
            let before = std::mem::replace(&mut size, dot(residual, preconditioned));
            let keep = size / before;
            for (direction, &ahead) in direction.iter_mut().zip(&*preconditioned) {
                *direction = ahead + keep * *direction;
            }
        }
        Ok(())
    }
}
