//! Fits some of whose parameters are fixed or tied: from the free parameters to all of them, and back by the chain rule.

use crate::curve::map::ParameterMap;
use crate::kernels::array::array_of;
use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::solver::lockstep::LaneSums;

/// The parameters of the fits in the lanes.
pub(super) struct FreeParameters<'m, T, R, const N: usize> {
    map: &'m ParameterMap<T>,
    /// All parameters of each lane.
    all: Vec<Vec<T>>,
    /// Derivatives of all parameters by the free ones: for each lane, a row for each parameter.
    derivatives: Vec<Vec<T>>,
    /// Sums by the free parameters; those of many parameters are too large for the stack.
    sums: Box<LaneSums<T, R, N>>,
}

impl<'m, T: Real, R: Register<T>, const N: usize> FreeParameters<'m, T, R, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(map: &'m ParameterMap<T>) -> Self {
        let (all, derivative) = map.begin();
        let count = map.free().len();
        FreeParameters {
            map,
            all: vec![all; R::LANES],
            derivatives: vec![derivative; R::LANES],
            sums: Box::new(LaneSums::zero(count)),
        }
    }

    /// Takes a fit with this start of all parameters into a lane, and returns that of the free ones.
    pub(super) fn start(&mut self, lane: usize, start: &[T]) -> [T; N] {
        self.all[lane].copy_from_slice(start);
        let mut free = [T::ZERO; N];
        free.iter_mut().zip(self.map.free()).for_each(|(free, &index)| *free = start[index]);
        free
    }

    /// All parameters of a lane, and their derivatives, at these free ones.
    pub(super) fn at(&mut self, lane: usize, free: &[T]) -> (&[T], &[T]) {
        let (all, derivative) = (&mut self.all[lane], &mut self.derivatives[lane]);
        self.map.expand(&free[..self.map.free().len()], all, derivative);
        (all, derivative)
    }

    /// All parameters of all lanes.
    pub(super) fn expand(&mut self, free: &[Lanes<T, R>; N]) -> [Lanes<T, R>; N] {
        let mut all = [Lanes::splat(T::ZERO); N];
        for lane in 0..R::LANES {
            let free: [T; N] = array_of(|j| free[j].as_slice()[lane]);
            let (of_lane, _) = self.at(lane, &free);
            all.iter_mut().zip(of_lane).for_each(|(all, &value)| all.as_mut_slice()[lane] = value);
        }
        all
    }

    /// The sums by the free parameters, where they were [expanded](Self::expand), of those by all.
    pub(super) fn narrow(&mut self, by_all: &LaneSums<T, R, N>) -> &LaneSums<T, R, N> {
        let n = self.map.free().len();
        for lane in 0..R::LANES {
            self.sums.narrow_lane(lane, by_all, &self.derivatives[lane], n);
        }
        &self.sums
    }
}
