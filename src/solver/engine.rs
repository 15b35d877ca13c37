//! A solve, from the checked start to the report.
//!
//! Whatever the problem, the policy and the observer are, [`Solve`] is compiled in this crate, once for each precision: calls through
//! trait objects take tiles of rows, next to which they cost nothing, and a program that fits a curve need not compile an optimizer; nor
//! does it contain the forms of linear systems that only other problems need.

use std::ops::ControlFlow;

use super::bounded::bounds_of;
use super::damping::AnyPolicy;
use super::damping::DampingPolicy;
use super::iteration::Iteration;
use super::rank_sync::RankSync;
use super::trace::{Log, Trace};
use super::{IterationRecord, Observer, Report, Settings, SolveError, Status};
use crate::clock::Stopwatch;
use crate::linear::shape::{Dynamic, Shape};
use crate::linear::{Forms, LinearModel, Plan, Ridge};
use crate::precision::compile_once;
use crate::problem::LeastSquares;
use crate::real::Real;

/// Arguments of a solve.
pub(super) struct Solve<'a, T: Real> {
    pub(super) settings: &'a Settings<T>,
    pub(super) damping: AnyPolicy<'a, T>,
    pub(super) problem: &'a mut (dyn LeastSquares<T> + 'a),
    pub(super) start: &'a [T],
    pub(super) observer: &'a mut (dyn Observer<T> + 'a),
}

compile_once!(solve(Solve) -> Result<Report, SolveError>);

/// Arguments of a solve for a problem of rows.
struct SolveRows<'a, T: Real>(Solve<'a, T>);

compile_once!(solve_rows(SolveRows) -> Result<Report, SolveError>);

/// An observer of any type, sized or not.
struct Passed<'o, O: ?Sized>(&'o mut O);

impl<T, O: Observer<T> + ?Sized> Observer<T> for Passed<'_, O> {
    fn observe(&mut self, record: &IterationRecord<T>, x: &[T]) -> ControlFlow<()> {
        self.0.observe(record, x)
    }
}

/// Minimises from `start`.
pub(super) fn minimize<T, P, D, O>(
    settings: &Settings<T>,
    damping: D,
    mut problem: &mut P,
    start: &[T],
    observer: &mut O,
) -> Result<Report<T>, SolveError>
where
    T: Real,
    P: LeastSquares<T> + ?Sized,
    D: DampingPolicy<T>,
    O: Observer<T> + ?Sized,
{
    let (damping, observer) = (AnyPolicy::new(damping), &mut Passed(observer));
    solve(Solve { settings, damping, problem: &mut problem, start, observer })
}

/// Minimises as [`minimize`] does, for a problem that neither multiplies by its Jacobian nor has it in blocks.
pub(super) fn minimize_rows<T: Real, D: DampingPolicy<T>>(
    settings: &Settings<T>,
    damping: D,
    problem: &mut dyn LeastSquares<T>,
    start: &[T],
    observer: &mut dyn Observer<T>,
) -> Result<Report<T>, SolveError> {
    solve_rows(SolveRows(Solve { settings, damping: AnyPolicy::new(damping), problem, start, observer }))
}

impl<T: Real> Solve<'_, T> {
    fn run(self) -> Result<Report<T>, SolveError> {
        self.in_forms(Forms::ALL)
    }

    /// Checks and plans, and keeps the log that settings ask for.
    pub(super) fn in_forms(self, forms: Forms<T>) -> Result<Report<T>, SolveError> {
        let Solve { settings, damping, problem, start, observer } = self;
        let rank_sync = settings.open(problem, start)?;
        rank_sync.iter().try_for_each(|rank_sync| rank_sync.compare(problem, start))?;
        let plan = settings.plan_for(problem, rank_sync.as_ref(), settings.scaling, Ridge::None)?;
        let blocks = problem.blocks().map(|blocks| &*blocks);
        let model = forms.model(&plan, blocks).map_err(|error| SolveError::no_plan(error, settings.memory_budget))?;
        let (planned, start) = ((plan, model), start.to_vec());
        if !settings.log {
            return descend::<T, Dynamic, _, _, _>(
                settings,
                damping,
                problem,
                planned,
                rank_sync,
                start,
                Some(observer),
            );
        }
        let mut log = Log { records: Vec::new(), observer };
        let observer: &mut dyn Observer<T> = &mut log;
        let report =
            descend::<T, Dynamic, _, _, _>(settings, damping, problem, planned, rank_sync, start, Some(observer))?;
        Ok(Report { log: log.records, ..report })
    }
}

impl<T: Real> SolveRows<'_, T> {
    fn run(self) -> Result<Report<T>, SolveError> {
        self.0.in_forms(Forms::ROWS)
    }
}

/// Descends with the model that is planned, polishes, and reports.
#[inline]
pub(super) fn descend<T, S, D, P, O>(
    settings: &Settings<T>,
    damping: D,
    problem: &mut P,
    (plan, model): (Plan, <S as Shape<T>>::Model),
    rank_sync: Option<RankSync<T>>,
    start: <S as Shape<T>>::Vector,
    observer: Option<&mut O>,
) -> Result<Report<T, <S as Shape<T>>::Vector>, SolveError>
where
    T: Real,
    S: Shape<T> + Shape<f64>,
    D: DampingPolicy<T>,
    P: LeastSquares<T> + ?Sized,
    O: Observer<T> + ?Sized,
{
    let begun = Stopwatch::start();
    let mut iteration = Iteration::<T, S, D>::new(settings, damping, plan, model, start);
    iteration.rank_sync = rank_sync;
    iteration.use_all_cores();
    iteration.keep_within(bounds_of(problem)?);
    iteration.correct_trials(settings.chord_corrections, problem);
    iteration.start(problem)?;
    iteration.start_damping();
    let mut trace = Trace::new(observer);
    let descent = iteration.descend(settings, problem, &mut trace, begun);
    let ending = descent.and_then(|status| iteration.finish(settings, problem, &mut trace, begun, status));
    let (status, error) = match ending {
        Ok(status) => (iteration.stopped_by_a_rank().unwrap_or(status), None),
        Err(error) => (Status::EvaluationFailed, Some(error)),
    };
    Ok(Report {
        status,
        cost: iteration.cost,
        initial_cost: iteration.initial_cost,
        gradient_norm: iteration.gradient_norm(),
        gradient_cosine: iteration.squared_gradient_cosine().sqrt(),
        active: iteration.active_bounds(),
        damping: trace.damping,
        iterations: trace.iterations,
        accepted: trace.accepted,
        evaluations: iteration.evaluations,
        linear_form: iteration.model.form(),
        elapsed: begun.elapsed(),
        log: Vec::new(),
        error,
        x: iteration.x,
    })
}
