//! Solves within relations.

use std::ops::ControlFlow;

use nalgebra::{DMatrix, DVector};

use super::{Member, constrained_step, sizes};
use crate::clock::Stopwatch;
use crate::curve::checked_fit::CheckedFit;
use crate::curve::data::Data;
use crate::curve::map::ParameterMap;
use crate::curve::problem::CurveProblem;
use crate::kernels::Kernels;
use crate::problem::{Evaluated, EvaluationError, LeastSquares};
use crate::real::Real;
use crate::solver::{IterationRecord, LevenbergMarquardt, Refusal, Report, SolveError, Status};

/// Rounds of one solve.
const ROUNDS: usize = 50;

/// Trials refused for a violation after which a round ends.
const REFUSALS: usize = 3;

/// Relative reduction of the cost by a round below which it counts as none.
const PROGRESS: f64 = 1e-12;

/// Halvings of a step, and the share of the reduction predicted by the gradient that it has to bring.
const HALVINGS: i32 = 20;
const ARMIJO: f64 = 1e-4;

/// Rows of which the normal equations are summed at once.
const ROWS: usize = 512;

impl<T: Real> CheckedFit<'_, T> {
    /// Solves in rounds, each in a basis of its own. The quadratic programme of the linearised curve at the start of a round says which
    /// constraints are active; these are coordinates, and so are those that the last rounds have violated, as far as they are independent. A
    /// round that meets watched constraints is followed by another one from its end, which begins with the step of the quadratic programme,
    /// shortened until the cost falls. The last round ends at a minimum within the bounds of its basis, which is one within all constraints,
    /// or makes no more progress. Collective.
    pub(in crate::curve) fn solve_within_relations(
        &self,
        solver: &LevenbergMarquardt<T>,
        data: &Data<'_, T>,
        map: &ParameterMap<T>,
        start: &[T],
    ) -> Result<Report<T>, SolveError> {
        let begun = Stopwatch::start();
        let mut x = CurveProblem::new(&*self.curve, data, map, &self.likelihood).expand(&map.gather(start)).0.to_vec();
        if !map.allows(&x) {
            x = map.moved_within(&x, |_| true).ok_or_else(|| map.no_start(&x))?;
        }
        let (mut violated, mut whole, mut has_stalled) = (Vec::<Member>::new(), None::<Report<T>>, false);
        for round in 1.. {
            let (members, constraints) = map.constraints(&map.plain(&x), 0.0);
            let mut sizes = sizes(&map.plain(&x));
            let equations = self.normal_equations(data, map, &x).ok();
            let step = equations.and_then(|(matrix, gradient)| {
                let (step, active) = constrained_step(&matrix, &gradient, &constraints)?;
                let squares = sizes.iter_mut().enumerate().map(|(k, size)| (size, matrix[(k, k)]));
                squares.filter(|(_, square)| *square > 0.0).for_each(|(size, square)| *size = square.sqrt().recip());
                Some((gradient.dot(&step), step, active))
            });
            let (mut preferred, before) = (Vec::new(), whole.as_ref().map(|whole| whole.cost));
            if let Some((slope, step, active)) = step {
                preferred.extend(active.into_iter().map(|constraint| members[constraint]));
                if let Some(whole) = &mut whole {
                    x = self.shortened(data, map, whole, x, slope, &step);
                }
            }
            preferred.extend(&violated);
            preferred.extend(map.relations_at(&x));
            let based = map.based_near(&preferred, &x, &sizes);
            let mut left = solver.clone();
            if let Some(Report { iterations, evaluations, .. }) = &whole {
                left.settings.spend(*iterations, 1, evaluations.total(), begun.elapsed());
            }
            let is_last = has_stalled || round >= ROUNDS;
            let solved = self.solve_round(&left, data, &based, &x, is_last);
            let (mut report, is_interrupted) = match (solved, whole.take()) {
                (Ok(solved), None) => solved,
                (Ok((report, is_interrupted)), Some(earlier)) => {
                    let initial_cost = earlier.initial_cost;
                    (Report { initial_cost, ..report.after(earlier) }, is_interrupted)
                }
                (Err(error), Some(earlier)) => return Ok(earlier.ended_by(error)),
                (Err(error), None) => return Err(error),
            };
            report.evaluations.jacobians += 1;
            has_stalled = before.is_some_and(|before| !(report.cost < before - T::from_f64(PROGRESS) * before.abs()));
            let met = based.violations();
            let is_certain = report.is_converged() && solver.settings.is_stationary(report.gradient_cosine);
            use Status::{FlatValley, Kink, NoProgress, WrongDerivatives};
            let is_stuck =
                matches!(report.status, NoProgress | FlatValley | Kink | WrongDerivatives) || report.is_converged();
            if is_last || !is_interrupted && (met.is_empty() || is_certain || !is_stuck) {
                return Ok(Report { elapsed: begun.elapsed(), ..report });
            }
            violated.retain(|member| !met.contains(member));
            violated.splice(..0, met);
            x.clone_from(&report.x);
            whole = Some(report);
        }
        unreachable!("the last round returns")
    }

    /// Solves in one basis. A solve that meets watched constraints too often is interrupted, unless it is the last.
    fn solve_round(
        &self,
        solver: &LevenbergMarquardt<T>,
        data: &Data<'_, T>,
        map: &ParameterMap<T>,
        start: &[T],
        is_last: bool,
    ) -> Result<(Report<T>, bool), SolveError> {
        let (mut refused, mut is_interrupted) = (0, false);
        let mut watch = |record: &IterationRecord<T>, x: &[T]| {
            self.method.observer.iter().for_each(|observer| observer.observe(record, &self.current_curve(map, x)));
            refused += usize::from(record.refusal == Some(Refusal::NotFinite) && !map.violations().is_empty());
            is_interrupted = refused >= REFUSALS && !is_last;
            if is_interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let report =
            self.minimize(data, map, start, |problem, start| solver.minimize_rows(problem, start, &mut watch))?;
        Ok((report, is_interrupted))
    }

    /// The point to which the longest share of a step leads that lowers the cost, or else the point itself. Updates the report. Collective.
    fn shortened(
        &self,
        data: &Data<'_, T>,
        map: &ParameterMap<T>,
        report: &mut Report<T>,
        x: Vec<T>,
        slope: f64,
        step: &DVector<f64>,
    ) -> Vec<T> {
        for share in (0..HALVINGS).map(|halving| 0.5_f64.powi(halving)) {
            let moved = map.moved(&x, share, step);
            let evaluated = self.evaluate_for(data, map, &moved);
            report.evaluations.residuals += 1;
            match evaluated {
                Ok((_, cost)) if cost.to_f64() < report.cost.to_f64() + ARMIJO * share * slope => {
                    (report.cost, report.x) = (cost, moved.clone());
                    return moved;
                }
                _ => {}
            }
        }
        x
    }

    /// `JᵀJ` and `Jᵀr` by the free parameters, in units of their scales. Collective.
    fn normal_equations(
        &self,
        data: &Data<'_, T>,
        map: &ParameterMap<T>,
        at: &[T],
    ) -> Evaluated<(DMatrix<f64>, DVector<f64>)> {
        let mut curve_problem = CurveProblem::new(&*self.curve, data, map, &self.likelihood);
        let (m, group, free) = (curve_problem.residual_count(), curve_problem.row_group(), map.gather(at));
        let (n, count) = (free.len(), group * (ROWS / group.max(1)).max(1));
        let mut sums = vec![0.0; n * (n + 1)];
        let (gram, gradient) = sums.split_at_mut(n * n);
        let mut add = || {
            for first in (0..m).step_by(count.max(1)) {
                let count = count.min(m - first);
                let (mut r, mut jacobian) = (vec![T::ZERO; count], vec![T::ZERO; count * n]);
                curve_problem.linearize(&free, first, &mut r, &mut jacobian)?;
                let [rows, r] = [jacobian, r].map(|of| of.into_iter().map(T::to_f64).collect::<Vec<f64>>());
                f64::add_products(gram, gradient, &rows, &r);
            }
            Ok(())
        };
        let own: Evaluated = add();
        if data.is_shared() {
            data.ranks().try_all_sum(&mut sums, own).map_err(EvaluationError::new)?;
        } else {
            own?;
        }
        // The sums are those of the lower triangle.
        let matrix = DMatrix::from_fn(n, n, |i, j| sums[i.max(j) * n + i.min(j)]);
        Ok((matrix, DVector::from_column_slice(&sums[n * n..])))
    }
}

impl<T: Real> ParameterMap<T> {
    /// Constraints that the trials in this basis have violated, each once.
    fn violations(&self) -> Vec<Member> {
        let mut violations = Vec::new();
        if let Some(found) = self.basis.as_ref().and_then(|basis| basis.violations.lock().ok()) {
            found.iter().for_each(|member| {
                if !violations.contains(member) {
                    violations.push(*member);
                }
            });
        }
        violations
    }

    /// The relations that hold as equations at a point, to rounding.
    pub(super) fn relations_at(&self, all: &[T]) -> Vec<Member> {
        let (members, constraints) = self.constraints(&self.plain(all), 0.0);
        let is_tight =
            |&(place, member): &(usize, &Member)| matches!(member, Member::Row(_)) && constraints[place].slack <= 0.0;
        members.iter().enumerate().filter(is_tight).map(|(_, &member)| member).collect()
    }
}
