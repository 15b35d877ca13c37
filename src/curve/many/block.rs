//! A few hundred of many fits, which one thread does in lockstep.

use std::ops::Range;

use ndarray::Axis;

use super::Predictors;
use super::outcomes::Outcomes;
use super::study::Study;
use crate::autodiff::jet::Jet;
use crate::kernels::lanes::{LaneKernel, Lanes, Register};
use crate::solver::lockstep::{Arrival, Fleet, Sums, solve_fleet};
use crate::{FitStatus, Model, Number, Real};

/// Does a block of fits of at most `N` parameters.
pub(super) struct Block<'s, 'a, 'o, T: Real, M, const N: usize> {
    pub(super) study: &'s Study<'a, T, M>,
    pub(super) outcomes: &'s mut Outcomes<'o, T>,
}

impl<T: Real, M: Model<T>, const N: usize> LaneKernel<T> for Block<'_, '_, '_, T, M, N> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<R: Register<T>>(self) {
        let bounds = self.study.box_bounds();
        let mut crew = Crew::<T, R, M>::new(self.study, self.outcomes);
        solve_fleet::<T, R, _, N>(&mut crew, bounds.as_ref(), &self.study.patience);
    }
}

/// The data of the fits that are in the lanes, and what became of those that were.
pub(super) struct Crew<'s, 'a, 'o, T: Real, R, M> {
    pub(super) study: &'s Study<'a, T, M>,
    /// Those not begun.
    fits: Range<usize>,
    pub(super) parameters: usize,
    /// Predictors of a point.
    pub(super) width: usize,
    /// Predictors, point after point.
    pub(super) x: Vec<Lanes<T, R>>,
    /// Responses.
    pub(super) y: Vec<Lanes<T, R>>,
    /// Reciprocals of standard deviations, zero for points that do not take part; none where all are one.
    pub(super) weights: Vec<Lanes<T, R>>,
    /// The predictors are those of all fits, and finite: they are in all lanes from the beginning.
    shares_all: bool,
    /// `½‖y‖²` of each lane, in units of the standard deviations.
    energies: Lanes<T, R>,
    /// Points that take part, of each lane.
    points: Vec<usize>,
    outcomes: &'s mut Outcomes<'o, T>,
}

impl<'s, 'a, 'o, T: Real, R: Register<T>, M: Model<T>> Crew<'s, 'a, 'o, T, R, M> {
    pub(super) fn new(study: &'s Study<'a, T, M>, outcomes: &'s mut Outcomes<'o, T>) -> Self {
        let (points, width, parameters) = (study.y.ncols(), study.x.width(), study.model.parameter_count());
        let lanes = |count| vec![Lanes::from_f64(0.0); count];
        let mut crew = Crew {
            study,
            parameters,
            width,
            x: lanes(points * width),
            y: lanes(points),
            weights: lanes(if study.has_weights() { points } else { 0 }),
            shares_all: study.shares_finite_predictors(),
            energies: Lanes::from_f64(0.0),
            points: vec![0; R::LANES],
            fits: outcomes.fits(),
            outcomes,
        };
        if let Predictors::Shared(x) = &study.x {
            for (lanes, &x) in crew.x.iter_mut().zip(x) {
                *lanes = Lanes::splat(x);
            }
        }
        crew
    }

    /// Takes the data of a fit into a lane.
    fn load(&mut self, lane: usize, fit: usize) -> Result<(), FitStatus> {
        match self.study.energy_of_whole(fit, self.shares_all) {
            Some(energy) => {
                self.energies.as_mut_slice()[lane] = energy;
                self.load_whole(lane, fit);
            }
            None => {
                self.energies.as_mut_slice()[lane] = T::ZERO;
                self.load_points(lane, fit)?;
            }
        }
        if self.points[lane] < self.parameters { Err(FitStatus::TooFewPoints) } else { Ok(()) }
    }

    /// Takes a fit of which every point takes part into a lane.
    fn load_whole(&mut self, lane: usize, fit: usize) {
        for (lanes, &y) in self.y.iter_mut().zip(self.study.y.row(fit)) {
            lanes.as_mut_slice()[lane] = y;
        }
        if let Predictors::Own(x) = &self.study.x {
            for (lanes, &x) in self.x.iter_mut().zip(x.index_axis(Axis(0), fit)) {
                lanes.as_mut_slice()[lane] = x;
            }
        }
        match &self.study.sigma {
            Some(sigma) => {
                let mut energy = T::ZERO;
                for (lanes, (sigma, &y)) in
                    self.weights.iter_mut().zip(sigma.row(fit).iter().zip(self.study.y.row(fit)))
                {
                    let weight = sigma.recip();
                    lanes.as_mut_slice()[lane] = weight;
                    energy += (y * weight) * (y * weight) * T::from_f64(0.5);
                }
                self.energies.as_mut_slice()[lane] = energy;
            }
            None => self.weights.iter_mut().for_each(|lanes| lanes.as_mut_slice()[lane] = T::ONE),
        }
        self.points[lane] = self.y.len();
    }

    /// Takes the points of a fit that take part into a lane.
    fn load_points(&mut self, lane: usize, fit: usize) -> Result<(), FitStatus> {
        self.weights.iter_mut().for_each(|lanes| lanes.as_mut_slice()[lane] = T::ZERO);
        let (mut points, mut next) = (0, 0);
        self.study.read(fit, |point| {
            // Points left out have the numbers of one that is not, so that the model is finite there.
            for index in next..=point.index {
                self.y[index].as_mut_slice()[lane] = point.y;
                let x = self.x[index * self.width..].iter_mut().filter(|_| !self.shares_all);
                for (lanes, &x) in x.zip(&point.x) {
                    lanes.as_mut_slice()[lane] = x;
                }
            }
            if let Some(weight) = self.weights.get_mut(point.index) {
                weight.as_mut_slice()[lane] = point.weight;
            }
            let y = point.y * point.weight;
            self.energies.as_mut_slice()[lane] += y * y * T::from_f64(0.5);
            (points, next) = (points + 1, point.index + 1);
        })?;
        for index in next..self.y.len() {
            self.y[index].as_mut_slice()[lane] = self.y[index - 1].as_slice()[lane];
            let entries = if self.shares_all { 0..0 } else { index * self.width..(index + 1) * self.width };
            for entry in entries {
                self.x[entry].as_mut_slice()[lane] = self.x[entry - self.width].as_slice()[lane];
            }
        }
        self.points[lane] = points;
        Ok(())
    }
}

impl<T: Real, R: Register<T>, M: Model<T>, const N: usize> Fleet<T, R, N> for Crew<'_, '_, '_, T, R, M> {
    fn board(&mut self, lane: usize) -> Option<(usize, [T; N])> {
        loop {
            let fit = self.fits.next()?;
            let mut start = [T::ZERO; N];
            let parameters = &mut start[..self.parameters];
            let outcome = self.study.start(fit, parameters).and_then(|()| self.load(lane, fit));
            match outcome {
                Ok(()) => return Some((fit, start)),
                Err(status) => self.outcomes.refuse(fit, status, &start[..self.parameters]),
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sums(&mut self, b: &[Lanes<T, R>; N]) -> Sums<T, R, N> {
        let mut variables = [Jet::<T, R, N>::variable(b[0], 0); N];
        for j in 1..N {
            variables[j] = Jet::variable(b[j], j);
        }
        let variables = &variables[..self.study.model.parameter_count().min(N)];
        let mut sums = Sums::zero();
        if self.weights.is_empty() {
            for (x, &y) in self.x.chunks_exact(self.width).zip(&self.y) {
                sums.add(&(self.study.model.response(x, variables) - y));
            }
        } else {
            for ((x, &y), &weight) in self.x.chunks_exact(self.width).zip(&self.y).zip(&self.weights) {
                sums.add(&((self.study.model.response(x, variables) - y) * weight));
            }
        }
        sums
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn energies(&self) -> Lanes<T, R> {
        self.energies
    }

    fn leave(&mut self, problem: usize, lane: usize, arrival: Arrival<T, N>) {
        let variance = if self.study.absolute_sigma && self.study.sigma.is_some() { Some(T::ONE) } else { None };
        self.outcomes.take(problem, self.points[lane], variance, arrival);
    }

    fn is_cancelled(&self) -> bool {
        self.study.is_cancelled()
    }
}
