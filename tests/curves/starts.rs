//! No fit ends above its start, wherever that is: far away, at the minimum, or beside it by some digits.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::problem::Loss;
use marquardt::{CurveFit, Formula, Model, Real};
use rand_distr::{Distribution, StandardNormal, Uniform};

/// Laws of three parameters, in text.
const LAWS: [&str; 6] = [
    "a*exp(-b*x) + c",
    "a/(1 + exp(-b*(x - 2 - c)))",
    "a*exp(-0.5*((x - 2 - c)/(b + 0.3))^2)",
    "a + c*tanh(b*(x - 2))",
    "a*x/(b + x) + c*x",
    "a*x^b + c",
];

/// Fits from a start, and checks the end.
fn end<T: Real>(text: &str, way: u32, [x, y]: [&[T]; 2], start: &[T]) -> Option<Vec<T>> {
    let formula = Formula::parse(text).unwrap();
    let sigma: Vec<T> = y.iter().map(|&y| T::from_f64(0.01) + y.abs() * T::from_f64(0.1)).collect();
    let fit = CurveFit::model(formula, x, y, start);
    let fit = match way {
        0 => fit,
        1 => fit.bounds("b", T::from_f64(0.05)..=T::from_f64(1.5)),
        2 => fit.robust(Loss::SoftL1).f_scale(T::from_f64(0.02)),
        3 => fit.variable_projection(true),
        _ => fit.sigma(&sigma),
    };
    let fitted = fit.fit().ok()?;
    let report = fitted.report();
    assert!(report.cost <= report.initial_cost, "{text}, way {way}, from {start:?}: {report}");
    Some(report.x.clone())
}

fn no_fit_ends_above_its_start<T: Real>(digits: [i32; 3]) {
    let mut random = ChaCha8Rng::seed_from_u64(45);
    let unit = Uniform::new(0.0, 1.0).unwrap();
    let mut count = 0;
    for k in 0..60 {
        let mut draw = || unit.sample(&mut random);
        let (text, rows) = (LAWS[k % LAWS.len()], 8 + (40.0 * draw()) as u32);
        let truth = [1.0 + 3.0 * draw(), 0.3 + 2.0 * draw(), draw()];
        let noise = 0.1 * draw() * draw();
        let start: Vec<T> = truth.map(|b| T::from_f64(b * (0.7 + 0.6 * draw()))).to_vec();
        let x: Vec<T> = (0..rows).map(|i| T::from_f64(0.1 + 5.0 * f64::from(i) / f64::from(rows))).collect();
        let exact = Formula::parse(text).unwrap();
        let y: Vec<T> = x
            .iter()
            .map(|x| {
                let error: f64 = StandardNormal.sample(&mut random);
                T::from_f64(Model::<f64>::response(&exact, &[x.to_f64()], &truth) + noise * error)
            })
            .collect();
        for way in 0..5 {
            let Some(minimum) = end(text, way, [&x, &y], &start) else { continue };
            end(text, way, [&x, &y], &minimum);
            for digits in digits {
                let beside =
                    |b: &T| *b * T::from_f64(1.0 + 10.0_f64.powi(-digits) * (2.0 * unit.sample(&mut random) - 1.0));
                let near: Vec<T> = minimum.iter().map(beside).collect();
                end(text, way, [&x, &y], &near);
            }
            count += 1;
        }
    }
    assert!(count > 200, "{count} fits");
}

#[test]
fn no_fit_ends_above_its_start_in_double_precision() {
    no_fit_ends_above_its_start::<f64>([6, 8, 10]);
}

#[test]
fn no_fit_ends_above_its_start_in_single_precision() {
    no_fit_ends_above_its_start::<f32>([2, 3, 5]);
}
