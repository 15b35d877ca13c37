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
    /// All parameters.
    all: [Lanes<T, R>; N],
    /// Derivatives of all parameters by the free ones, a row for each parameter.
    derivatives: Vec<Lanes<T, R>>,
    /// Parameters that are not fixed.
    varied: Vec<usize>,
    /// All parameters of each lane, and their derivatives.
    of_lanes: Vec<(Vec<T>, Vec<T>)>,
    /// Sums by the free parameters; those of many parameters are too large for the stack.
    sums: Box<LaneSums<T, R, N>>,
}

impl<'m, T: Real, R: Register<T>, const N: usize> FreeParameters<'m, T, R, N> {
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn new(map: &'m ParameterMap<T>) -> Self {
        let of_lane = map.begin();
        FreeParameters {
            map,
            all: [Lanes::splat(T::ZERO); N],
            derivatives: of_lane.1.iter().map(|&derivative| Lanes::splat(derivative)).collect(),
            varied: map.free().iter().copied().chain(map.tied()).collect(),
            of_lanes: vec![of_lane; R::LANES],
            sums: Box::new(LaneSums::zero(map.free().len())),
        }
    }

    /// Takes a fit with this start of all parameters into a lane, and returns that of the free ones.
    pub(super) fn start(&mut self, lane: usize, start: &[T]) -> [T; N] {
        self.of_lanes[lane].0.copy_from_slice(start);
        self.all.iter_mut().zip(start).for_each(|(all, &start)| all.as_mut_slice()[lane] = start);
        let mut free = [T::ZERO; N];
        free.iter_mut().zip(self.map.free()).for_each(|(free, &index)| *free = start[index]);
        free
    }

    /// All parameters of a lane, and their derivatives, at these free ones.
    pub(super) fn at(&mut self, lane: usize, free: &[T]) -> (&[T], &[T]) {
        let (all, derivative) = &mut self.of_lanes[lane];
        self.map.expand(&free[..self.map.free().len()], all, derivative);
        (all, derivative)
    }

    /// All parameters of all lanes.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn expand(&mut self, free: &[Lanes<T, R>; N]) -> [Lanes<T, R>; N] {
        for (&free, &index) in free.iter().zip(self.map.free()) {
            self.all[index] = free;
        }
        if self.map.tied().next().is_some() {
            self.expand_ties(free);
        }
        self.all
    }

    /// Fills in the parameters that are tied to others, and their derivatives, lane by lane.
    fn expand_ties(&mut self, free: &[Lanes<T, R>; N]) {
        let n = self.map.free().len();
        for (lane, (all, derivative)) in self.of_lanes.iter_mut().enumerate() {
            let free: [T; N] = array_of(|j| free[j].as_slice()[lane]);
            self.map.expand(&free[..n], all, derivative);
            for index in self.map.tied() {
                self.all[index].as_mut_slice()[lane] = all[index];
                let row = index * n..(index + 1) * n;
                for (lanes, &entry) in self.derivatives[row.clone()].iter_mut().zip(&derivative[row]) {
                    lanes.as_mut_slice()[lane] = entry;
                }
            }
        }
    }

    /// The sums by the free parameters, where they were [expanded](Self::expand), of those by all.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn narrow(&mut self, by_all: &LaneSums<T, R, N>) -> &LaneSums<T, R, N> {
        self.sums.narrow(by_all, &self.varied, &self.derivatives, self.map.free().len());
        &self.sums
    }
}
