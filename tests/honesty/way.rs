//! The ways to fit a sample.

use std::time::Duration;

use marquardt::distributed::on_threads;
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::number::Number;
use marquardt::problem::{RobustLoss, Sharded};
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::solver::{Acceleration, Scaling};
use marquardt::{
    AutoDiff, Bounds, CurveFit, FitMany, LeastSquares, LevenbergMarquardt, Loss, Real, Report, SolveError,
};
use ndarray::Array2;

use crate::draw::Draw;
use crate::family::{Exponential, Family, Formula, Gaussian, InLanes, Pointwise, Rational};
use crate::first_order::{Claim, Precision};
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
    CurveRobust,
    VariableProjection,
    Ranks,
    Single,
    SingleBounded,
    Many,
    ManyBounded,
    ManySingle,
}

use Way::*;

/// A sample fitted in one way: what is claimed, or why there was no fit.
pub struct Attempt {
    pub way: Way,
    pub sample: Sample,
    pub claim: Result<Claim, String>,
}

/// Longer than any of these fits should take.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Fits that are done in lockstep.
const TOGETHER: usize = 8;

impl Way {
    /// Random samples fitted in this way: one, or several that are done together.
    pub fn attempts(self, draw: &mut Draw) -> Vec<Attempt> {
        match self {
            Many | ManyBounded | ManySingle => self.many(draw),
            _ => vec![self.attempt(draw)],
        }
    }

    fn attempt(self, draw: &mut Draw) -> Attempt {
        let family = draw.one_of(Family::ALL);
        let n = family.parameters();
        let points = if self == Dual { 1 + draw.below(n) } else { (draw.power_of_ten(0.7, 1.78) as usize).max(n) };
        let mut sample = Sample::new(family, points, draw);
        let misfit = Misfit::<f64>::new(&sample);
        let plain = |report: Result<Report<f64>, SolveError>| {
            report.map(|report| of_report(&sample, &report)).map_err(|error| error.to_string())
        };
        let claim = match self {
            Plain => plain(minimize(&solver(), &mut AutoDiff(misfit), &sample.start)),
            Qr => plain(minimize(&always(LinearForm::Qr), &mut AutoDiff(misfit), &sample.start)),
            Dual => plain(minimize(&always(LinearForm::Dual), &mut AutoDiff(misfit), &sample.start)),
            WithoutPolish => {
                let report = minimize(&solver().with_polish(false), &mut AutoDiff(misfit), &sample.start);
                plain(report).map(|claim| Claim { precision: Precision::Unpolished, ..claim })
            }
            OtherPolicies => plain(minimize(&other_policies(draw), &mut AutoDiff(misfit), &sample.start)),
            Ranks => {
                let ranks = on_threads(2, |ranks| {
                    let rows = ranks.shard(points);
                    let (x, y) = (misfit.x[rows.clone()].to_vec(), misfit.y[rows].to_vec());
                    let share = Misfit { x, y, ..misfit.clone() };
                    minimize(&solver(), &mut Sharded::new(AutoDiff(share), &ranks), &sample.start)
                });
                plain(ranks.into_iter().next().expect("there are two ranks"))
            }
            Bounded => within(&mut sample, AutoDiff(misfit), solver(), draw),
            BoundedQr => within(&mut sample, AutoDiff(misfit), always(LinearForm::Qr), draw),
            Robust => {
                let (loss, scale) = loss_of(&sample, draw);
                let problem = marquardt::problem::Robust::new(AutoDiff(misfit), loss, scale);
                let report = minimize(&solver(), &mut problem.expect("scales are positive"), &sample.start);
                plain(report).map(|claim| Claim { loss: Some((loss, scale)), ..claim })
            }
            RobustBounded => {
                let (loss, scale) = loss_of(&sample, draw);
                let problem =
                    marquardt::problem::Robust::new(AutoDiff(misfit), loss, scale).expect("scales are positive");
                within(&mut sample, problem, solver(), draw).map(|claim| Claim { loss: Some((loss, scale)), ..claim })
            }
            Curve => by_curve(&sample, None, false),
            CurveRobust => by_curve(&sample, Some(draw.one_of(&Loss::ALL[1..])), false),
            VariableProjection => by_curve(&sample, None, true),
            Single => {
                let (solver, misfit) =
                    (LevenbergMarquardt::<f32>::new().with_time_limit(TIME_LIMIT), Misfit::<f32>::new(&sample));
                let report = minimize(&solver, &mut AutoDiff(misfit), &single(&sample.start));
                report.map(|report| of_report(&sample, &report)).map_err(|error| error.to_string())
            }
            SingleBounded => {
                let misfit = Misfit::<f32>::new(&sample);
                within(&mut sample, AutoDiff(misfit), LevenbergMarquardt::new().with_time_limit(TIME_LIMIT), draw)
            }
            Many | ManyBounded | ManySingle => unreachable!("these are done together"),
        };
        Attempt { way: self, sample, claim }
    }

    fn many(self, draw: &mut Draw) -> Vec<Attempt> {
        let family = match self {
            ManySingle => Family::Exponential,
            _ => draw.one_of(&[Family::Gaussian, Family::Rational]),
        };
        let points = (draw.power_of_ten(0.7, 1.5) as usize).max(family.parameters());
        let mut samples: Vec<_> = (0..TOGETHER).map(|_| Sample::new(family, points, draw)).collect();
        let bounds = (self == ManyBounded).then(|| samples[0].bounds(draw));
        for sample in &mut samples {
            if let Some(bounds) = &bounds {
                project(&mut sample.start, bounds);
            }
        }
        // Each model that is evaluated in lanes takes long to compile.
        let claims = match family {
            Family::Exponential => together::<f32, _>(Exponential, &samples, bounds),
            Family::Gaussian => together::<f64, _>(Gaussian, &samples, bounds),
            _ => together::<f64, _>(Rational, &samples, bounds),
        };
        let attempts = samples.into_iter().zip(claims);
        attempts.map(|(sample, claim)| Attempt { way: self, sample, claim }).collect()
    }
}

fn solver() -> LevenbergMarquardt<f64> {
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

fn always(form: LinearForm) -> LevenbergMarquardt<f64> {
    solver().with_linear_solver(LinearSolver::Always(form))
}

fn other_policies(draw: &mut Draw) -> LevenbergMarquardt<f64> {
    let dampings: [Damping<f64>; 5] = [
        GainRatio::default().into(),
        GainRatio::nielsen(1e-3).into(),
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

/// A loss and its scale, which may be far from the size of the noise.
fn loss_of(sample: &Sample, draw: &mut Draw) -> (Loss, f64) {
    let loss = draw.one_of(&Loss::ALL[1..]);
    (loss, RobustLoss::<f64>::tuning(&loss) * sample.size * draw.power_of_ten(-3.0, 0.5))
}

fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

fn project(x: &mut [f64], (lower, upper): &(Vec<f64>, Vec<f64>)) {
    x.iter_mut().zip(lower.iter().zip(upper)).for_each(|(x, (lower, upper))| *x = x.max(*lower).min(*upper));
}

/// The claim of a report on a sample in the float that the report is in.
fn of_report<T: Real>(sample: &Sample, report: &Report<T>) -> Claim {
    let precision = if T::EPSILON.to_f64() == f64::EPSILON { Precision::Double } else { Precision::Single };
    let wide = |values: &[T]| values.iter().map(|value| value.to_f64()).collect::<Vec<_>>();
    let misfit = Misfit::<T>::new(sample);
    Claim {
        misfit: Misfit { family: sample.family, x: wide(&misfit.x), y: wide(&misfit.y) },
        x: wide(&report.x),
        bounds: None,
        loss: None,
        precision,
        status: format!("{:?}", report.status),
        is_converged: report.is_converged(),
    }
}

/// Fits within bounds, to which the start is brought.
fn within<T: Real>(
    sample: &mut Sample,
    problem: impl LeastSquares<T>,
    solver: LevenbergMarquardt<T>,
    draw: &mut Draw,
) -> Result<Claim, String> {
    let narrow = |values: &[f64]| values.iter().map(|&value| <T as Number>::from_f64(value)).collect::<Vec<_>>();
    let (lower, upper) = sample.bounds(draw);
    let (lower, upper) = (narrow(&lower), narrow(&upper));
    let wide = |values: &[T]| values.iter().map(|value| value.to_f64()).collect::<Vec<_>>();
    let bounds = (wide(&lower), wide(&upper));
    project(&mut sample.start, &bounds);
    let mut problem =
        marquardt::problem::Bounded::new(problem, Bounds::new(lower, upper).map_err(|error| error.to_string())?)
            .map_err(|error| error.to_string())?;
    let report = minimize(&solver, &mut problem, &narrow(&sample.start)).map_err(|error| error.to_string())?;
    Ok(Claim { bounds: Some(bounds), ..of_report(sample, &report) })
}

/// Fits by the front door for curves, which judges the scale of a loss itself.
fn by_curve(sample: &Sample, loss: Option<Loss>, variable_projection: bool) -> Result<Claim, String> {
    let fit = CurveFit::model(Pointwise(sample.family), &sample.x, &sample.y, &sample.start)
        .solver(solver())
        .variable_projection(variable_projection);
    let fit = loss.map_or(fit.clone(), |loss| fit.robust(loss)).fit().map_err(|error| error.to_string())?;
    let scale = fit.robust_scale();
    Ok(Claim { loss: loss.zip(scale), ..of_report(sample, fit.report()) })
}

fn together<T: Real, F: Formula>(
    formula: F,
    samples: &[Sample],
    bounds: Option<(Vec<f64>, Vec<f64>)>,
) -> Vec<Result<Claim, String>> {
    let n = samples[0].parameters();
    let number = |value: f64| <T as Number>::from_f64(value);
    let rows = |of: fn(&Sample) -> &[f64]| {
        Array2::from_shape_fn((samples.len(), of(&samples[0]).len()), |(fit, i)| number(of(&samples[fit])[i]))
    };
    let (x, y, start) = (rows(|sample| &sample.x), rows(|sample| &sample.y), rows(|sample| &sample.start));
    let mut fits = FitMany::new(InLanes { formula, parameters: n }, &x, &y).start(&start);
    if let Some((lower, upper)) = &bounds {
        let of = |values: &[f64]| values.iter().map(|&value| number(value)).collect::<Vec<_>>();
        fits = fits.bounds(Bounds::new(of(lower), of(upper)).expect("bounds are in order"));
    }
    let found = fits.fit().expect("shapes match");
    let precision = if T::EPSILON.to_f64() == f64::EPSILON { Precision::Double } else { Precision::Single };
    let claim = |(fit, sample): (usize, &Sample)| {
        let wide = |values: ndarray::ArrayView1<'_, T>| values.iter().map(|value| value.to_f64()).collect::<Vec<_>>();
        Ok(Claim {
            misfit: Misfit { family: sample.family, x: wide(x.row(fit)), y: wide(y.row(fit)) },
            x: wide(found.parameters.row(fit)),
            bounds: bounds.clone(),
            loss: None,
            precision,
            status: format!("many: {:?}", found.status[fit]),
            is_converged: found.status[fit].is_converged(),
        })
    };
    samples.iter().enumerate().map(claim).collect()
}
