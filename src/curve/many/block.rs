//! A few hundred of many fits, which one thread does in lockstep.

use std::ops::Range;

use super::outcomes::Outcomes;
use super::study::Study;
use crate::autodiff::jet::Jet;
use crate::kernels::lanes::{LaneKernel, Lanes, Register};
use crate::solver::lockstep::{Arrival, Fleet, Sums, Walls, solve_fleet};
use crate::{Model, Number, Real};

/// Does a block of fits of at most `N` parameters.
pub(super) struct Block<'s, 'a, T: Real, M, const N: usize> {
    pub(super) study: &'s Study<'a, T, M>,
    pub(super) fits: Range<usize>,
}

impl<T: Real, M: Model<T>, const N: usize> LaneKernel<T> for Block<'_, '_, T, M, N> {
    type Output = Outcomes<T>;

    #[inline(always)]
    fn run<R: Register<T>>(self) -> Outcomes<T> {
        let walls = self.study.bounds.as_ref().map(|bounds| {
            let mut walls = [[-T::INFINITY, T::INFINITY]; N];
            for (wall, (&lower, &upper)) in walls.iter_mut().zip(bounds.lower().iter().zip(bounds.upper())) {
                *wall = [lower, upper];
            }
            walls
        });
        let mut crew = Crew::<T, R, M>::new(self.study, self.fits);
        solve_fleet::<T, R, _, N>(&mut crew, walls.as_ref() as Option<&Walls<T, N>>, &self.study.patience);
        crew.outcomes
    }
}

/// The data of the fits that are in the lanes, and what became of those that were.
struct Crew<'s, 'a, T: Real, R, M> {
    study: &'s Study<'a, T, M>,
    /// Those not begun.
    fits: Range<usize>,
    /// Number of the first.
    first: usize,
    parameters: usize,
    /// Predictors of a point.
    width: usize,
    /// Predictors, point after point.
    x: Vec<Lanes<T, R>>,
    /// Responses.
    y: Vec<Lanes<T, R>>,
    /// Reciprocals of standard deviations, zero for points that do not take part; none where all are one.
    weights: Vec<Lanes<T, R>>,
    /// `½ Σ (y / σ)²` of each lane.
    energies: Vec<T>,
    /// Points that take part, of each lane.
    points: Vec<usize>,
    outcomes: Outcomes<T>,
}

impl<'s, 'a, T: Real, R: Register<T>, M: Model<T>> Crew<'s, 'a, T, R, M> {
    fn new(study: &'s Study<'a, T, M>, fits: Range<usize>) -> Self {
        let (points, width, parameters) = (study.y.ncols(), study.x.width(), study.model.parameter_count());
        let lanes = |count| vec![Lanes::from_f64(0.0); count];
        Crew {
            study,
            first: fits.start,
            parameters,
            width,
            x: lanes(points * width),
            y: lanes(points),
            weights: lanes(if study.has_weights() { points } else { 0 }),
            energies: vec![T::ZERO; R::LANES],
            points: vec![0; R::LANES],
            outcomes: Outcomes::none_yet(fits.len(), parameters),
            fits,
        }
    }

    /// Takes the data of a fit into a lane.
    fn load(&mut self, lane: usize, fit: usize) -> Result<(), crate::FitStatus> {
        for weight in &mut self.weights {
            weight.as_mut_slice()[lane] = T::ZERO;
        }
        let (mut energy, mut points) = (T::ZERO, 0);
        self.study.read(fit, |point| {
            // Points left out have the predictors of one that was not, so that the model is finite there.
            let from = if points == 0 { 0 } else { point.index };
            for index in from..=point.index {
                for (x, &value) in self.x[index * self.width..].iter_mut().zip(&point.x) {
                    x.as_mut_slice()[lane] = value;
                }
            }
            self.y[point.index].as_mut_slice()[lane] = point.y;
            if let Some(weight) = self.weights.get_mut(point.index) {
                weight.as_mut_slice()[lane] = point.weight;
            }
            let share = point.y * point.weight;
            energy += share * share;
            points += 1;
        })?;
        self.energies[lane] = energy * T::from_f64(0.5);
        self.points[lane] = points;
        Ok(())
    }
}

impl<T: Real, R: Register<T>, M: Model<T>, const N: usize> Fleet<T, R, N> for Crew<'_, '_, T, R, M> {
    fn board(&mut self, lane: usize) -> Option<(usize, [T; N])> {
        loop {
            let fit = self.fits.next()?;
            let mut start = [T::ZERO; N];
            let parameters = &mut start[..self.parameters];
            let outcome = self.study.start(fit, parameters).and_then(|()| self.load(lane, fit));
            match outcome {
                Ok(()) => return Some((fit, start)),
                Err(status) => self.outcomes.refuse(fit - self.first, status, &start[..self.parameters]),
            }
        }
    }

    #[inline(always)]
    fn sums(&self, b: &[Lanes<T, R>; N]) -> Sums<T, R, N> {
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

    fn energy(&self, lane: usize) -> T {
        self.energies[lane]
    }

    fn leave(&mut self, problem: usize, lane: usize, arrival: Arrival<T, N>) {
        let variance = if self.study.absolute_sigma && self.study.sigma.is_some() { Some(T::ONE) } else { None };
        self.outcomes.take(problem - self.first, self.points[lane], variance, arrival);
    }

    fn is_cancelled(&self) -> bool {
        self.study.is_cancelled()
    }
}
