//! Profile-likelihood intervals and contours.

#[path = "nist/mod.rs"]
mod nist;
mod reference;

use marquardt::{CurveFit, FittedCurve, FromModel, IntervalEnd, Model, ProfileError, Scalar, curve_fit};
use nist::DataSet;
use reference::Reference;

/// A model of the NIST collection.
struct Certified(nist::Model, usize);

impl Model<f64> for Certified {
    fn parameter_count(&self) -> usize {
        self.1
    }

    fn response<S: Scalar<Real = f64>>(&self, x: &[f64], b: &[S]) -> S {
        self.0.response(b, x)
    }
}

fn certified(model: nist::Model) -> FittedCurve<'static, f64, FromModel<Certified>> {
    let set: &'static DataSet = Box::leak(Box::new(DataSet::load(model)));
    let x: &'static Vec<f64> = Box::leak(Box::new(set.x.concat()));
    CurveFit::model(Certified(model, set.certified.len()), x, &set.y, &set.starts[1]).fit().unwrap()
}

const SETS: [(nist::Model, &str); 3] =
    [(nist::Model::Misra1a, "misra1a"), (nist::Model::Thurber, "thurber"), (nist::Model::Eckerle4, "eckerle4")];

#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn intervals_are_those_of_the_reference() {
    let reference = Reference::read("curve.csv");
    for (model, case) in SETS {
        let fit = certified(model);
        for (level, label) in [(0.95, "95"), (0.6827, "6827")] {
            let [low, high] = ["lower", "upper"].map(|side| reference.of(case, &format!("profile_{label}_{side}")));
            for (j, parameter) in fit.parameters().iter().enumerate() {
                let interval = fit.profile_interval(&parameter.name, level).unwrap();
                assert_eq!((interval.low_end, interval.high_end), (IntervalEnd::Level, IntervalEnd::Level));
                let off = [(interval.low, low[j]), (interval.high, high[j])]
                    .map(|(found, expected)| ((found / expected) - 1.0).abs());
                println!("{case} {level} {} {:.1e} {:.1e}", parameter.name, off[0], off[1]);
                assert_close(interval.low, low[j], 1e-8);
                assert_close(interval.high, high[j], 1e-8);
            }
        }
    }
}

#[test]
fn contours_are_those_of_the_reference() {
    let reference = Reference::read("curve.csv");
    let directions: Vec<[f64; 2]> = (0..8)
        .map(|k| {
            let (sine, cosine) = (std::f64::consts::FRAC_PI_4 * f64::from(k)).sin_cos();
            [cosine, sine]
        })
        .collect();
    for (model, case) in SETS {
        let fit = certified(model);
        let contour = fit.contour_towards("b1", "b2", 0.95, &directions).unwrap();
        let [first, second] = ["contour_first", "contour_second"].map(|name| reference.of(case, name));
        for (k, point) in contour.points.iter().enumerate() {
            println!("{case} {k} {:.1e} {:.1e}", point.at[0] / first[k] - 1.0, point.at[1] / second[k] - 1.0);
            assert_eq!(point.end, IntervalEnd::Level);
            assert_close(point.at[0], first[k], 1e-8);
            assert_close(point.at[1], second[k], 1e-8);
        }
    }
}
