//! Many fits that are done together.

use marquardt::number::Number;
use marquardt::solver::FitStatus;
use marquardt::{FitMany, Formula as Text, Loss, Model, Real};
use ndarray::{Array2, ArrayView1};

use crate::attempt::{Attempt, Outcome, nan_among};
use crate::draw::Draw;
use crate::family::{Exponential, Family, Gaussian, InLanes, Rational};
use crate::first_order::{Claim, Precision};
use crate::sample::{Misfit, Sample};
use crate::way::{Way, project};

/// Fits that are done in lockstep.
const TOGETHER: usize = 8;

/// Samples that are fitted together, and what is said of all of them.
struct Many {
    samples: Vec<Sample>,
    bounds: Option<(Vec<f64>, Vec<f64>)>,
    /// A loss with its scale.
    loss: Option<(Loss, f64)>,
    has_sigma: bool,
}

/// Random samples fitted together in this way.
pub fn attempts<T: Real>(way: Way, draw: &mut Draw) -> Vec<Attempt> {
    let is_text = matches!(way, Way::ManyText | Way::ManyTextSingle | Way::ManyRobust | Way::ManyRobustSingle);
    // Each model that is evaluated in lanes takes long to compile.
    let in_lanes = [Family::Exponential, Family::Gaussian, Family::Rational];
    let family = draw.one_of(if is_text { Family::ALL } else { &in_lanes });
    let points = (draw.power_of_ten(0.7, 1.5) as usize).max(family.parameters());
    let mut samples: Vec<_> = (0..TOGETHER).map(|_| Sample::new(family, points, draw)).collect();
    let is_bounded = matches!(way, Way::ManyBounded | Way::ManyBoundedSingle) || is_text && draw.chance(0.3);
    let bounds = is_bounded.then(|| samples[0].bounds::<T>(draw));
    let is_robust = matches!(way, Way::ManyRobust | Way::ManyRobustSingle);
    let loss = is_robust.then(|| samples[0].draw_loss(draw));
    let has_sigma = way == Way::ManySigma || way == Way::ManyTextSingle && draw.chance(0.3);
    for sample in &mut samples {
        sample.loss = loss;
        if let Some(bounds) = &bounds {
            project(&mut sample.start, bounds);
        }
        if has_sigma {
            sample.draw_sigma(draw);
        }
    }
    let many = Many { samples, bounds, loss, has_sigma };
    let parameters = family.parameters();
    let outcomes = match family {
        _ if is_text => many.fit::<T, _>(Text::parse(family.text()).expect("it is a formula")),
        Family::Exponential => many.fit::<T, _>(InLanes { formula: Exponential, parameters }),
        Family::Gaussian => many.fit::<T, _>(InLanes { formula: Gaussian, parameters }),
        _ => many.fit::<T, _>(InLanes { formula: Rational, parameters }),
    };
    let attempts = many.samples.into_iter().zip(outcomes);
    attempts.map(|(sample, outcome)| Attempt::new::<T>(way, sample, outcome)).collect()
}

impl Many {
    fn fit<T: Real, M: Model<T> + Sync>(&self, model: M) -> Vec<Outcome> {
        let samples = &self.samples;
        let number = |value: f64| <T as Number>::from_f64(value);
        let rows = |of: fn(&Sample) -> &[f64]| {
            Array2::from_shape_fn((samples.len(), of(&samples[0]).len()), |(fit, i)| number(of(&samples[fit])[i]))
        };
        let (x, y, start) = (rows(|sample| &sample.x), rows(|sample| &sample.y), rows(|sample| &sample.start));
        let sigma = rows(|sample| &sample.sigma);
        let names: Vec<String> = (0..model.parameter_count()).map(|index| model.parameter_name(index)).collect();
        let mut fits = FitMany::new(model, &x, &y).start(&start).covariances(true);
        if self.has_sigma {
            fits = fits.sigma(&sigma);
        }
        if let Some((loss, scale)) = self.loss {
            fits = fits.robust(loss).f_scale(number(scale));
        }
        if let Some((lower, upper)) = &self.bounds {
            for (name, (&lower, &upper)) in names.iter().zip(lower.iter().zip(upper)) {
                fits = fits.bounds(name, number(lower)..=number(upper));
            }
        }
        let found = fits.fit().expect("shapes match");
        let covariances = found.covariances.as_ref().expect("they are asked for");
        let precision = if T::EPSILON.to_f64() == f64::EPSILON { Precision::Double } else { Precision::Single };
        let outcome = |(fit, sample): (usize, &Sample)| {
            let status = found.status[fit];
            let wide = |values: ArrayView1<'_, T>| values.iter().map(|value| value.to_f64()).collect::<Vec<_>>();
            if found.cost[fit].to_f64().is_nan() && is_refusal(status) {
                return Err(format!("many: {status:?}"));
            }
            let claim = Claim {
                misfit: Misfit::<T>::new(sample).to(),
                x: wide(found.parameters.row(fit)),
                bounds: self.bounds.clone(),
                loss: self.loss,
                precision,
                status: format!("many: {status:?}"),
                is_converged: status.is_converged(),
            };
            let nan = nan_among([
                ("the cost", &[found.cost[fit]]),
                ("a parameter", &found.parameters.row(fit).to_vec()),
                ("a standard error", &found.standard_errors.row(fit).to_vec()),
                ("a covariance", &covariances.index_axis(ndarray::Axis(0), fit).iter().copied().collect::<Vec<_>>()),
            ]);
            Ok((claim, nan))
        };
        samples.iter().enumerate().map(outcome).collect()
    }
}

/// There was no fit.
fn is_refusal(status: FitStatus) -> bool {
    use FitStatus::*;
    !matches!(status, Converged | Undetermined | MaxIterations | NoProgress)
}
