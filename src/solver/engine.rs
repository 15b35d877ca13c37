//! A solve, from the checked start to the report.
//!
//! Whatever the problem, the policy and the observer are, [`Solve`] is compiled in this crate, once for each precision: calls through
//! trait objects take tiles of rows, next to which they cost nothing, and a program that fits a curve need not compile an optimizer; nor
//! does it contain the forms of linear systems that only other problems need.

use std::ops::ControlFlow;

use super::damping::{AnyPolicy, DampingPolicy};
use super::descent::{Arrival, Descent, DescentParts, PartsVector};
use super::refinement::{ChordCorrections, GeodesicAcceleration, Refinement};
use super::solve::Solve;
use super::space::{AnySpace, Space};
use super::start::start;
use super::training::allowed_ridge;
use super::{Acceleration, IterationRecord, Observer, Report, Settings, SolveError};
use crate::clock::Stopwatch;
use crate::evaluation::{CheckedProblem, Evaluation, RowWorkspace, WithRidge};
use crate::linear::{BoxedModel, Forms, Plan, Ridge, RowModel};
use crate::precision::compile_once;
use crate::problem::LeastSquares;
use crate::real::Real;
use crate::storage::{Dynamic, Fixed};

/// Arguments of a solve.
pub(super) struct SolveCall<'a, T: Real> {
    pub(super) settings: &'a Settings<T>,
    pub(super) damping: AnyPolicy<'a, T>,
    pub(super) problem: &'a mut (dyn LeastSquares<T> + 'a),
    pub(super) start: &'a [T],
    pub(super) observer: &'a mut (dyn Observer<T> + 'a),
}

compile_once!(solve(SolveCall) -> Result<Report, SolveError>);

/// Arguments of a solve for a problem of rows.
struct RowsCall<'a, T: Real>(SolveCall<'a, T>);

compile_once!(solve_rows(RowsCall) -> Result<Report, SolveError>);

/// An observer of any type, sized or not.
struct Passed<'o, O: ?Sized>(&'o mut O);

impl<T, O: Observer<T> + ?Sized> Observer<T> for Passed<'_, O> {
    fn observe(&mut self, record: &IterationRecord<T>, x: &[T]) -> ControlFlow<()> {
        self.0.observe(record, x)
    }
}

/// Keeps every record on its way to another observer.
struct Log<'o, T> {
    records: Vec<IterationRecord<T>>,
    observer: &'o mut dyn Observer<T>,
}

impl<T: Real> Observer<T> for Log<'_, T> {
    fn observe(&mut self, record: &IterationRecord<T>, x: &[T]) -> ControlFlow<()> {
        self.records.push(*record);
        self.observer.observe(record, x)
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
    solve(SolveCall { settings, damping, problem: &mut problem, start, observer })
}

/// Minimises as [`minimize`] does, for a problem that neither multiplies by its Jacobian nor has it in blocks.
pub(super) fn minimize_rows<T: Real, D: DampingPolicy<T>>(
    settings: &Settings<T>,
    damping: D,
    problem: &mut dyn LeastSquares<T>,
    start: &[T],
    observer: &mut dyn Observer<T>,
) -> Result<Report<T>, SolveError> {
    solve_rows(RowsCall(SolveCall { settings, damping: AnyPolicy::new(damping), problem, start, observer }))
}

/// DescentParts of a solve of any number of parameters.
struct AnySize<'a>(std::marker::PhantomData<&'a ()>);

impl<'a, T: Real> DescentParts<T> for AnySize<'a> {
    type Storage = Dynamic;
    type Model = BoxedModel<T>;
    type Space = AnySpace<T, Dynamic>;
    type Refinement = (GeodesicAcceleration<T>, ChordCorrections<T>);
    type Damping = AnyPolicy<'a, T>;
}

/// DescentParts of a solve of a number of parameters that the compiler knows.
struct FixedSize<const N: usize, D>(std::marker::PhantomData<D>);

impl<T: Real, const N: usize, D: DampingPolicy<T>> DescentParts<T> for FixedSize<N, D> {
    type Storage = Fixed<N>;
    type Model = RowModel<T, Fixed<N>>;
    type Space = AnySpace<T, Fixed<N>>;
    type Refinement = (GeodesicAcceleration<T>, ChordCorrections<T>);
    type Damping = D;
}

impl<T: Real> SolveCall<'_, T> {
    fn run(self) -> Result<Report<T>, SolveError> {
        self.in_forms(Forms::ALL)
    }

    /// Checks and plans, and keeps the log that settings ask for.
    pub(super) fn in_forms(self, forms: Forms<T>) -> Result<Report<T>, SolveError> {
        let SolveCall { settings, damping, problem, start, observer } = self;
        let mut checked = settings.open_at(problem, start)?;
        let ridge = allowed_ridge(settings.linear_solver, &settings.ridge)?;
        // A ridge is in formed equations alone.
        let scaling = if ridge == Ridge::None { settings.scaling } else { Some(settings.formed_scaling) };
        let plan = settings.plan_for(&mut checked, scaling, ridge)?;
        let blocks = checked.problem.capabilities().blocks().map(|blocks| &*blocks);
        let model = forms.model(&plan, blocks).map_err(|error| SolveError::no_plan(error, settings.memory_budget))?;
        let parts = (model, damping, start.to_vec());
        if !settings.log {
            return descend::<T, AnySize<'_>, _>(settings, checked, plan, parts, Some(observer));
        }
        let mut log = Log { records: Vec::new(), observer };
        let report = descend::<T, AnySize<'_>, _>(settings, checked, plan, parts, Some(&mut log))?;
        Ok(Report { log: log.records, ..report })
    }
}

impl<T: Real> RowsCall<'_, T> {
    fn run(self) -> Result<Report<T>, SolveError> {
        self.0.in_forms(Forms::ROWS)
    }
}

/// Minimises a problem of a number of parameters that the compiler knows, by static calls and on the stack.
#[inline]
pub(super) fn minimize_fixed<T: Real, const N: usize, P: LeastSquares<T> + ?Sized, D: DampingPolicy<T>>(
    settings: &Settings<T>,
    damping: D,
    problem: &mut P,
    start: [T; N],
) -> Result<Report<T, [T; N]>, SolveError> {
    let checked = settings.open_at(problem, &start)?;
    let (plan, model) = settings.plan_fixed(&checked, N).map(|plan| (plan, RowModel::new(&plan)))?;
    descend::<T, FixedSize<N, D>, P>(settings, checked, plan, (model, damping, start), None)
}

/// Descends with the model that is planned, polishes, and reports.
#[inline]
fn descend<'s, T, P, Q>(
    settings: &'s Settings<T>,
    checked: CheckedProblem<'_, T, Q>,
    plan: Plan,
    (model, damping, x): (P::Model, P::Damping, PartsVector<T, P>),
    observer: Option<&'s mut dyn Observer<T>>,
) -> Result<Report<T, PartsVector<T, P>>, SolveError>
where
    T: Real,
    P: DescentParts<
            T,
            Space = AnySpace<T, <P as DescentParts<T>>::Storage>,
            Refinement = (GeodesicAcceleration<T>, ChordCorrections<T>),
        >,
    Q: LeastSquares<T> + ?Sized,
{
    let begun = Stopwatch::start();
    let (n, form) = (plan.n, plan.form);
    let mut workspace = RowWorkspace::<T, P::Storage>::new(plan.m, form.formed_columns(n), plan.group);
    if settings.keeps_rows(&plan) {
        workspace.keep_rows(plan.m);
    }
    if checked.is_whole() {
        workspace.use_all_cores(plan.m, n, plan.group);
    }
    let space = AnySpace::of(&*checked.problem);
    let acceleration = if form.accelerates() { settings.acceleration } else { Acceleration::Never };
    let takes_chords = form.takes_chords() && matches!(space, AnySpace::Euclidean(_));
    let most_chords = if takes_chords { settings.chord_corrections } else { 0 };
    let chords = ChordCorrections::new(most_chords, checked.problem.residual_count(), n);
    let is_cheap = !form.multiplies() && !chords.corrects();
    let mut evaluation = WithRidge { inner: checked.evaluate(&mut workspace), weights: &settings.ridge };
    let arrival =
        if is_cheap && evaluation.is_cheap() { Arrival::AtOnce { promising: false } } else { Arrival::Linearize };
    let refinement = (GeodesicAcceleration::new(acceleration), chords);
    let parts = (model, space, refinement, damping);
    let mut descent = Descent::<T, P>::new((x, n), parts, settings.scaling_for(form), arrival);
    // Within bounds, a point without influence may be a minimum.
    descent.scale.refusals = if descent.space.is_bounded() { 0 } else { settings.influence_refusals };
    start(&mut descent, &mut evaluation)?;
    Ok(Solve::new(descent, &mut evaluation, settings, observer, begun).run())
}
