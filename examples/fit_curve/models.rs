//! The curves that can be asked for by name, and where a fit of each may start.

use std::iter::zip;

use marquardt::{Model, Scalar};

use crate::data::Data;

/// A curve by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Line,
    ExponentialDecay,
    ExponentialRise,
    PowerLaw,
    MichaelisMenten,
    Logistic,
    Gaussian,
    Lorentzian,
}

impl Named {
    pub const ALL: [Named; 8] = [
        Named::Line,
        Named::ExponentialDecay,
        Named::ExponentialRise,
        Named::PowerLaw,
        Named::MichaelisMenten,
        Named::Logistic,
        Named::Gaussian,
        Named::Lorentzian,
    ];

    pub fn of_name(name: &str) -> Option<Named> {
        Self::ALL.into_iter().find(|model| model.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Named::Line => "line",
            Named::ExponentialDecay => "exponential_decay",
            Named::ExponentialRise => "exponential_rise",
            Named::PowerLaw => "power_law",
            Named::MichaelisMenten => "michaelis_menten",
            Named::Logistic => "logistic",
            Named::Gaussian => "gaussian",
            Named::Lorentzian => "lorentzian",
        }
    }

    pub fn formula(self) -> &'static str {
        match self {
            Named::Line => "intercept + slope x",
            Named::ExponentialDecay => "offset + amplitude exp(-rate x)",
            Named::ExponentialRise => "offset + amplitude (1 - exp(-rate x))",
            Named::PowerLaw => "factor x^exponent",
            Named::MichaelisMenten => "limit x / (half + x)",
            Named::Logistic => "top / (1 + exp(-rate (x - middle)))",
            Named::Gaussian => "offset + height exp(-((x - center) / width)^2 / 2)",
            Named::Lorentzian => "offset + height / (1 + ((x - center) / width)^2)",
        }
    }

    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Named::Line => &["intercept", "slope"],
            Named::ExponentialDecay | Named::ExponentialRise => &["offset", "amplitude", "rate"],
            Named::PowerLaw => &["factor", "exponent"],
            Named::MichaelisMenten => &["limit", "half"],
            Named::Logistic => &["top", "middle", "rate"],
            Named::Gaussian | Named::Lorentzian => &["offset", "height", "center", "width"],
        }
    }

    /// A start that one look at the data suggests. Data that do not look like the curve at all need one by hand.
    pub fn start(self, data: &Data) -> Vec<f64> {
        let look = Look::at(data);
        let Look { first, last, .. } = look;
        match self {
            Named::Line => {
                let (intercept, slope) = line_through(zip(&data.x, &data.y).map(|(&x, &y)| (x, y)));
                vec![intercept, slope]
            }
            // Three times the rate's inverse fit into the data.
            Named::ExponentialDecay => vec![last.1, first.1 - last.1, 3.0 / look.span],
            Named::ExponentialRise => vec![first.1, last.1 - first.1, 3.0 / look.span],
            Named::PowerLaw => {
                let positive = zip(&data.x, &data.y).filter(|&(&x, &y)| x > 0.0 && y > 0.0);
                let (logarithm, exponent) = line_through(positive.map(|(x, y)| (x.ln(), y.ln())));
                vec![logarithm.exp(), exponent]
            }
            Named::MichaelisMenten => {
                let limit = 1.2 * last.1;
                vec![limit, look.nearest(limit / 2.0)]
            }
            Named::Logistic => {
                let top = 1.05 * look.highest.1;
                let direction = if last.1 < first.1 { -1.0 } else { 1.0 };
                vec![top, look.nearest(top / 2.0), direction * 8.0 / look.span]
            }
            Named::Gaussian | Named::Lorentzian => {
                // A peak points away from where the data begin and end, up or down.
                let offset = (first.1 + last.1) / 2.0;
                let up = look.highest.1 - offset >= offset - look.lowest.1;
                let peak = if up { look.highest } else { look.lowest };
                vec![offset, peak.1 - offset, peak.0, look.width_about(offset, peak)]
            }
        }
    }
}

impl Model<f64> for Named {
    fn parameter_count(&self) -> usize {
        self.parameters().len()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.parameters()[index].to_owned()
    }

    fn response<S: Scalar<Real = f64>>(&self, x: &[f64], b: &[S]) -> S {
        let x = x[0];
        let away = |center: S, width: S| (-center + x) / width;
        match self {
            Named::Line => b[0] + b[1] * x,
            Named::ExponentialDecay => b[0] + b[1] * (-b[2] * x).exp(),
            Named::ExponentialRise => b[0] - b[1] * (-b[2] * x).exp_m1(),
            Named::PowerLaw => b[0] * S::constant(x).pow(b[1]),
            Named::MichaelisMenten => b[0] * x / (b[1] + x),
            Named::Logistic => b[0] / ((-b[2] * (-b[1] + x)).exp() + 1.0),
            Named::Gaussian => b[0] + b[1] * (away(b[2], b[3]).powi(2) * -0.5).exp(),
            Named::Lorentzian => b[0] + b[1] / (away(b[2], b[3]).powi(2) + 1.0),
        }
    }
}

/// What is seen at one look: the points in the order of `x`, the outer ones among them.
struct Look {
    points: Vec<(f64, f64)>,
    first: (f64, f64),
    last: (f64, f64),
    lowest: (f64, f64),
    highest: (f64, f64),
    /// From the first to the last `x`; one where that is nothing.
    span: f64,
}

impl Look {
    fn at(data: &Data) -> Look {
        let mut points: Vec<(f64, f64)> = zip(data.x.iter().copied(), data.y.iter().copied()).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let or_origin = |point: Option<&(f64, f64)>| point.copied().unwrap_or((0.0, 0.0));
        let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (first, last) = (or_origin(points.first()), or_origin(points.last()));
        Look {
            first,
            last,
            lowest: or_origin(points.iter().min_by(by_height)),
            highest: or_origin(points.iter().max_by(by_height)),
            span: if last.0 > first.0 { last.0 - first.0 } else { 1.0 },
            points,
        }
    }

    /// The `x` of the point whose `y` is nearest to this.
    fn nearest(&self, y: f64) -> f64 {
        let nearest = self.points.iter().min_by(|a, b| (a.1 - y).abs().total_cmp(&(b.1 - y).abs()));
        nearest.map_or(0.0, |point| point.0)
    }

    /// Half of the stretch on which the data are more than half as far from `offset` as the peak.
    fn width_about(&self, offset: f64, peak: (f64, f64)) -> f64 {
        let high = self.points.iter().filter(|point| (point.1 - offset) / (peak.1 - offset) > 0.5);
        let (left, right) = high.fold((peak.0, peak.0), |(left, right), p| (p.0.min(left), p.0.max(right)));
        if right > left { (right - left) / 2.0 } else { self.span / 20.0 }
    }
}

/// Intercept and slope of the least-squares line.
fn line_through(points: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let count = points.clone().count().max(1) as f64;
    let mean_x = points.clone().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.clone().map(|(_, y)| y).sum::<f64>() / count;
    let spread: f64 = points.clone().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let slope = if spread > 0.0 { points.map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread } else { 0.0 };
    (mean_y - slope * mean_x, slope)
}
