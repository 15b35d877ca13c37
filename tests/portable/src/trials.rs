//! The trials, each with the outcome that it has to have.

use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

use marquardt::graph::{Problem, RelativePose2};
use marquardt::manifold::{Pose2, SE2};
use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::optim::{Adam, Optimizer};
use marquardt::physics::{Domain, End, Equations, Sampling};
use marquardt::solver::Status;
use marquardt::{
    AutoDiff, Covariance, CurveError, CurveFit, FitMany, LevenbergMarquardt, Loss, Real, SolveError, Variables,
    curve_fit, model,
};
use ndarray::{Array2, Axis};

use crate::Outcome;
use crate::nist::{DataSet, Model, digits};

/// Function that fits or trains, and checks the outcome.
type Trial = fn() -> Outcome;

/// Names and functions of all trials.
pub const ALL: [(&str, Trial); 12] = [
    ("nist", nist),
    ("report", report),
    ("bounds", bounds),
    ("robust", robust),
    ("many f64", many::<f64>),
    ("many f32", many::<f32>),
    ("starts", starts),
    ("bootstrap", bootstrap),
    ("graph", graph),
    ("network", network),
    ("equation", equation),
    ("time limit", time_limit),
];

/// Fails with a description unless the condition holds.
fn ensure(holds: bool, line: String) -> Outcome {
    if holds { Ok(line) } else { Err(line.into()) }
}

/// All sets from both starts, to the digits that the README promises.
fn nist() -> Outcome {
    let (mut solved, mut of_parameters, mut certified) = (0, 0.0, 0);
    for set in Model::ALL.iter().map(|&model| DataSet::load(model)) {
        for start in &set.starts {
            let report = LevenbergMarquardt::new().minimize(&mut AutoDiff(&set), start)?;
            let errors = Covariance::at(&mut AutoDiff(&set), &report.x)?.standard_errors().to_vec();
            let found = set.parameter_digits(&report.x);
            solved += usize::from(report.is_converged() && found > 6.0);
            certified += usize::from(digits(&errors, &set.standard_deviations) >= 9.0);
            of_parameters += found;
        }
    }
    let mean = of_parameters / 54.0;
    let line = format!("solved {solved}/54, mean digits {mean:.2}, errors to 9 digits {certified}/54");
    ensure(solved == 54 && mean > 10.7 && certified >= 50, line)
}

/// Samples of a decay, with errors that look random.
fn decay() -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..60).map(|i| 0.1 * f64::from(i)).collect();
    let y = x.iter().enumerate().map(|(i, x)| 3.0 * (-0.7 * x).exp() + 0.05 * (7.3 * (i * i) as f64).sin()).collect();
    (x, y)
}

/// A report, printed and as JSON.
fn report() -> Outcome {
    let (x, y) = decay();
    let fit = curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [1.0, 1.0])?;
    let (printed, json) = (fit.summary().to_string(), fit.summary().to_json());
    let [a, k] = [0, 1].map(|at| &fit.parameters()[at]);
    let line = format!("{:.6} ± {:.6}, {:.6} ± {:.6}", a.value, a.standard_error, k.value, k.standard_error);
    ensure((k.value - 0.7).abs() < 0.02 && !printed.is_empty() && !json.is_empty(), line)
}

/// A bound that holds a parameter.
fn bounds() -> Outcome {
    let (x, y) = decay();
    let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [1.0, 1.0])
        .names(["a", "k"])
        .bounds("k", 0.8..=2.0)
        .fit()?;
    let rate = fit.parameters()[1].value;
    ensure(rate == 0.8 && fit.report().is_converged(), format!("{rate}"))
}

/// Data with outliers, and a scale from the residuals.
fn robust() -> Outcome {
    let (x, mut y) = decay();
    y.iter_mut().step_by(9).for_each(|y| *y += 4.0);
    let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [1.0, 1.0]).robust(Loss::Cauchy).fit()?;
    let rate = fit.parameters()[1].value;
    ensure((rate - 0.7).abs() < 0.03, format!("{rate:.6}"))
}

/// Peaks by the hundred, in the lanes of registers.
fn many<T: Real>() -> Outcome {
    let x: Vec<T> = (0..40).map(|i| T::from_f64(0.1 * f64::from(i))).collect();
    let peak = |fit: usize| [3.0 + 0.01 * fit as f64, 1.0 + 0.005 * fit as f64, 0.3 + 0.001 * fit as f64];
    let y = Array2::from_shape_fn((300, 40), |(fit, i)| {
        let [height, center, sigma] = peak(fit);
        let u = (0.1 * i as f64 - center) / sigma;
        T::from_f64(height * (-0.5 * u * u).exp() + 1e-3 * (7.3 * (i * i + fit) as f64).sin())
    });
    let start = Array2::from_shape_fn((300, 3), |(fit, j)| T::from_f64(peak(fit)[j] * 1.1));
    let gaussian = model!(|x; height, center, sigma| height * exp(-((x - center) / sigma).powi(2) / 2));
    let fits = FitMany::new(gaussian, &x, &y).start(&start).fit()?;
    let errors = fits.parameters.indexed_iter().map(|((fit, j), found)| (found.to_f64() - peak(fit)[j]).abs());
    let worst = errors.fold(0.0, f64::max);
    ensure(fits.converged() == 300 && worst < 2e-3, format!("{} of 300, worst error {worst:.2e}", fits.converged()))
}

/// The frequency of a wave, from many starts.
fn starts() -> Outcome {
    let x: Vec<f64> = (0..25).map(|i| 0.25 * f64::from(i) + 0.1 * f64::from(i * i).sin()).collect();
    let y: Vec<f64> = x.iter().map(|x| (3.0 * x).sin()).collect();
    let fit = CurveFit::new(|x, [w]| (w * x).sin(), &x, &y, [0.6]).names(["frequency"]);
    let minima = fit.multi_start().range("frequency", 0.0..=8.0).starts(40).run()?;
    let frequency = minima.best.parameters()[0].value;
    ensure((frequency - 3.0).abs() < 1e-9, format!("{frequency:.9} of {} minima", minima.minima.len()))
}

/// Resampled data.
fn bootstrap() -> Outcome {
    let (x, y) = decay();
    let fit = curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [1.0, 1.0])?;
    let error = fit.bootstrap().replicates(100).seed(1).run()?.standard_errors()[1];
    let expected = fit.parameters()[1].standard_error;
    ensure((error / expected - 1.0).abs() < 0.5, format!("{error:.6} beside {expected:.6}"))
}

/// Poses around a square, by a sparse factorisation.
fn graph() -> Outcome {
    let mut problem = Problem::new();
    let mut poses = Vec::new();
    for (x, y, angle) in [(0.0, 0.0, 0.0), (1.1, 0.1, 1.4), (0.9, 1.2, 3.3), (-0.1, 0.8, -1.4)] {
        poses.push(problem.add_parameter_block(SE2, &Pose2::new(x, y, angle).to_array())?);
    }
    problem.set_constant(poses[0])?;
    let quarter = Pose2::new(1.0, 0.0, FRAC_PI_2);
    for i in 0..4 {
        let edge = RelativePose2::new(quarter, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])?;
        problem.add_residual_block(edge, (poses[i], poses[(i + 1) % 4]))?;
    }
    let report = problem.solve(&LevenbergMarquardt::new())?;
    let corner = Pose2::from_slice(problem.point(poses[2])?).translation;
    problem.covariance()?;
    ensure(report.is_converged() && report.cost < 1e-20, format!("{:.6}, {:.6}", corner[0], corner[1]))
}

/// A sine by a network, in minibatches, by both kinds of optimizers.
fn network() -> Outcome {
    let x = Array2::from_shape_fn((200, 1), |(i, _)| 2.0 * (0.618034 * i as f64).fract() - 1.0);
    let y = x.mapv(|x| (5.0 * x).sin());
    let train = |optimizer: &mut dyn Optimizer<f64>, epochs: usize| -> Result<f64, Box<dyn std::error::Error>> {
        let mut variables = Variables::new();
        let layers = Sequential::new(1).dense(10).tanh().dense(1);
        let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;
        for _epoch in 0..epochs {
            for (x, y) in x.axis_chunks_iter(Axis(0), 50).zip(y.axis_chunks_iter(Axis(0), 50)) {
                optimizer.step(network.batch(&[x], &[y])?, &mut variables)?;
            }
        }
        Ok(network.evaluate(&variables, &[x.view()], &[y.view()])?)
    };
    let second_order = train(&mut LevenbergMarquardt::new(), 20)?;
    let first_order = train(&mut Adam::new(0.02), 200)?;
    ensure(second_order < 1e-6 && first_order < 0.02, format!("loss {second_order:.1e}, by Adam {first_order:.1e}"))
}

/// `u' = −u` with `u(0) = 1`, by a network.
fn equation() -> Outcome {
    let domain = Domain::new(&[(0.0, 1.0)])?;
    let mut variables = Variables::new();
    let mut equations = Equations::new(&["t"])?;
    let u = equations.network(&Sequential::new(1).dense(8).tanh().dense(1), &mut variables, 0)?;
    equations.term("equation", domain.sample(40, Sampling::Halton), 1.0, |at| {
        let u = at.field(u);
        (u.t() + u).into()
    })?;
    equations.term("start", domain.side(0, End::Lower)?.grid(&[1]), 10.0, |at| (at.field(u) - 1.0).into())?;
    let solver = LevenbergMarquardt::for_equations().with_max_iterations(100);
    let cost = equations.build(&variables)?.solve(&solver, &mut variables)?.report.cost;
    ensure(cost < 1e-8, format!("cost {}", if cost < 1e-8 { "below 1e-8".into() } else { format!("{cost:e}") }))
}

/// A time limit is kept where there is a clock, and refused where there is none.
fn time_limit() -> Outcome {
    let (x, y) = decay();
    let solver = LevenbergMarquardt::new().with_time_limit(Duration::ZERO);
    let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [1.0, 1.0]).solver(solver).fit();
    let kept = match fit {
        Ok(fit) => fit.report().status == Status::TimeLimit && !cfg!(target_family = "wasm"),
        Err(CurveError::Solve(SolveError::NoClock)) => cfg!(target_family = "wasm"),
        Err(error) => return Err(error.into()),
    };
    ensure(kept, "kept, or refused for want of a clock".into())
}
