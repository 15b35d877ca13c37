//! The ways to fit a sample.

use std::time::Duration;

use marquardt::distributed::on_threads;
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::number::Number;
use marquardt::problem::Sharded;
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::solver::{Acceleration, Scaling};
use marquardt::{AutoDiff, Bounds, LeastSquares, LevenbergMarquardt, Loss, Real, Report, SolveError};

use crate::attempt::{Attempt, Outcome, nan_among};
use crate::curve::Options;
use crate::draw::Draw;
use crate::family::Family;
use crate::first_order::{Claim, Precision};
use crate::many;
use crate::sample::{Misfit, Sample};

/// The enumeration of all ways, in the order of [`Way::ALL`].
macro_rules! ways {
    ($($name:ident,)*) => {
        /// A way to fit.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Way {
            $($name,)*
        }

        impl Way {
            pub const ALL: &[Way] = &[$($name,)*];
        }
    };
}

ways! {
    Plain,
    Qr,
    Dual,
    WithoutPolish,
    OtherPolicies,
    Bounded,
    BoundedQr,
    Robust,
    RobustBounded,
    Curve,
    CurveSigma,
    CurveRobust,
    VariableProjection,
    Text,
    Ranks,
    Single,
    SingleBounded,
    RobustSingle,
    CurveSingle,
    CurveRobustSingle,
    TextSingle,
    Many,
    ManyBounded,
    ManySigma,
    ManyText,
    ManyRobust,
    ManySingle,
    ManyBoundedSingle,
    ManyTextSingle,
    ManyRobustSingle,
}

use Way::*;

/// Longer than any of these fits should take.
const TIME_LIMIT: Duration = Duration::from_secs(20);

impl Way {
    /// Random samples fitted in this way: one, or several that are done together.
    pub fn attempts(self, draw: &mut Draw) -> Vec<Attempt> {
        match self {
            Single | SingleBounded | RobustSingle | CurveSingle | CurveRobustSingle | TextSingle => {
                vec![self.attempt::<f32>(draw)]
            }
            Many | ManyBounded | ManySigma | ManyText | ManyRobust => many::attempts::<f64>(self, draw),
            ManySingle | ManyBoundedSingle | ManyTextSingle | ManyRobustSingle => many::attempts::<f32>(self, draw),
            _ => vec![self.attempt::<f64>(draw)],
        }
    }

    fn attempt<T: Real>(self, draw: &mut Draw) -> Attempt {
        let family = draw.one_of(Family::ALL);
        let n = family.parameters();
        let points = if self == Dual { 1 + draw.below(n) } else { (draw.power_of_ten(0.7, 1.78) as usize).max(n) };
        let mut sample = Sample::new(family, points, draw);
        let outcome = self.outcome::<T>(&mut sample, draw);
        Attempt::new::<T>(self, sample, outcome)
    }

    fn outcome<T: Real>(self, sample: &mut Sample, draw: &mut Draw) -> Outcome {
        let misfit = Misfit::<T>::new(sample);
        let plain = |solver: LevenbergMarquardt<T>, sample: &Sample| {
            of_solve(sample, minimize(&solver, &mut AutoDiff(Misfit::<T>::new(sample)), &narrow(&sample.start)))
        };
        match self {
            Plain | Single => plain(solver(), sample),
            Qr => plain(always(LinearForm::Qr), sample),
            Dual => plain(always(LinearForm::Dual), sample),
            WithoutPolish => {
                let (claim, nan) = plain(solver().with_polish(false), sample)?;
                Ok((Claim { precision: Precision::Unpolished, ..claim }, nan))
            }
            OtherPolicies => plain(other_policies(draw), sample),
            Ranks => {
                let ranks = on_threads(2, |ranks| {
                    let share = misfit.part(ranks.shard(misfit.x.len()));
                    minimize(&solver(), &mut Sharded::new(AutoDiff(share), &ranks), &narrow(&sample.start))
                });
                of_solve(sample, ranks.into_iter().next().expect("there are two ranks"))
            }
            Bounded | SingleBounded => within::<T>(sample, AutoDiff(misfit), solver(), draw),
            BoundedQr => within::<T>(sample, AutoDiff(misfit), always(LinearForm::Qr), draw),
            Robust | RobustSingle | RobustBounded => {
                let (loss, scale) = sample.draw_loss(draw);
                let narrowed = <T as Number>::from_f64(scale);
                let mut problem =
                    marquardt::problem::Robust::new(AutoDiff(misfit), loss, narrowed).expect("scales are positive");
                let (claim, nan) = if self == RobustBounded {
                    within(sample, problem, solver(), draw)?
                } else {
                    of_solve(sample, minimize(&solver(), &mut problem, &narrow(&sample.start)))?
                };
                Ok((Claim { loss: Some((loss, narrowed.to_f64())), ..claim }, nan))
            }
            Curve | CurveSingle => Options::default().fit::<T>(sample),
            CurveSigma => {
                sample.draw_sigma(draw);
                Options { bounds: some_bounds::<T>(sample, draw), ..Options::default() }.fit::<T>(sample)
            }
            CurveRobust | CurveRobustSingle => {
                Options { loss: Some(draw.one_of(&Loss::ALL[1..])), ..Options::default() }.fit::<T>(sample)
            }
            VariableProjection => Options { eliminates: true, ..Options::default() }.fit::<T>(sample),
            Text | TextSingle => {
                Options { is_text: true, bounds: some_bounds::<T>(sample, draw), ..Options::default() }.fit::<T>(sample)
            }
            Many | ManyBounded | ManySigma | ManyText | ManyRobust | ManySingle | ManyBoundedSingle
            | ManyTextSingle | ManyRobustSingle => unreachable!("these are done together"),
        }
    }
}

pub fn solver<T: Real>() -> LevenbergMarquardt<T> {
    LevenbergMarquardt::new().with_time_limit(TIME_LIMIT)
}

/// Solves any problem by the same code, which is compiled once.
pub fn minimize<T: Real>(
    solver: &LevenbergMarquardt<T>,
    problem: &mut dyn LeastSquares<T>,
    start: &[T],
) -> Result<Report<T>, SolveError> {
    solver.minimize(problem, start)
}

fn always<T: Real>(form: LinearForm) -> LevenbergMarquardt<T> {
    solver().with_linear_solver(LinearSolver::Always(form))
}

fn other_policies<T: Real>(draw: &mut Draw) -> LevenbergMarquardt<T> {
    let dampings: [Damping<T>; 5] = [
        GainRatio::default().into(),
        GainRatio::nielsen(<T as Number>::from_f64(1e-3)).into(),
        TrustRegion::default().into(),
        Multiplicative::default().into(),
        Multiplicative::delayed_gratification().into(),
    ];
    let scalings = [Scaling::Identity, Scaling::Marquardt, Scaling::RunningMaximum, Scaling::FadingMaximum];
    let accelerations = [Acceleration::Never, Acceleration::WhereCurved, Acceleration::Always];
    let forms = [LinearForm::Cholesky, LinearForm::Qr];
    always(draw.one_of(&forms))
        .with_damping(draw.one_of(&dampings))
        .with_scaling(draw.one_of(&scalings))
        .with_acceleration(draw.one_of(&accelerations))
}

fn narrow<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| Number::from_f64(value)).collect()
}

fn wide<T: Real>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

pub fn project(x: &mut [f64], (lower, upper): &(Vec<f64>, Vec<f64>)) {
    x.iter_mut().zip(lower.iter().zip(upper)).for_each(|(x, (lower, upper))| *x = x.max(*lower).min(*upper));
}

fn of_solve<T: Real>(sample: &Sample, report: Result<Report<T>, SolveError>) -> Outcome {
    report.map(|report| of_report(sample, &report)).map_err(|error| error.to_string())
}

/// The claim of a report on a sample in the float that the report is in, and a number of it that is NaN.
pub fn of_report<T: Real>(sample: &Sample, report: &Report<T>) -> (Claim, Option<&'static str>) {
    let precision = if T::EPSILON.to_f64() == f64::EPSILON { Precision::Double } else { Precision::Single };
    let claim = Claim {
        misfit: Misfit::<T>::new(sample).to(),
        x: wide(&report.x),
        bounds: None,
        loss: None,
        precision,
        status: report.error.as_ref().map_or(format!("{:?}", report.status), |error| format!("failed: {error}")),
        is_converged: report.is_converged(),
    };
    let nan = nan_among([
        ("the cost", &[report.cost, report.initial_cost]),
        ("a parameter", &report.x),
        ("the gradient", &[report.gradient_norm, report.gradient_cosine]),
        ("the damping", &[report.damping]),
    ]);
    (claim, nan)
}

/// Bounds to which the start is brought.
fn bounds_of<T: Real>(sample: &mut Sample, draw: &mut Draw) -> (Vec<f64>, Vec<f64>) {
    let bounds = sample.bounds::<T>(draw);
    project(&mut sample.start, &bounds);
    bounds
}

/// Bounds of three fits in ten that leave something to be fitted.
fn some_bounds<T: Real>(sample: &mut Sample, draw: &mut Draw) -> Option<(Vec<f64>, Vec<f64>)> {
    let bounds = draw.chance(0.3).then(|| bounds_of::<T>(sample, draw))?;
    Some(bounds).filter(|(lower, upper)| lower != upper)
}

/// Fits within bounds.
fn within<T: Real>(
    sample: &mut Sample,
    problem: impl LeastSquares<T>,
    solver: LevenbergMarquardt<T>,
    draw: &mut Draw,
) -> Outcome {
    let bounds = bounds_of::<T>(sample, draw);
    let of_problem = Bounds::new(narrow(&bounds.0), narrow(&bounds.1)).map_err(|error| error.to_string())?;
    let mut problem = marquardt::problem::Bounded::new(problem, of_problem).map_err(|error| error.to_string())?;
    let (claim, nan) = of_solve(sample, minimize(&solver, &mut problem, &narrow(&sample.start)))?;
    Ok((Claim { bounds: Some(bounds), ..claim }, nan))
}
