//! Formulas without starts: fits end at the best minimum, which a start at the truth finds.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::models::Guess;
use marquardt::{CurveFit, Formula, Model};
use ndarray::Array2;
use rand_distr::{Distribution, StandardNormal, Uniform};

/// Range of a predictor.
#[derive(Debug, Clone, Copy)]
pub enum Range {
    /// Evenly spaced values.
    Even(f64, f64),
    /// A geometric sequence.
    Log(f64, f64),
}

use Range::{Even, Log};

/// A formula of `x`, or of `x` and `t`, with the true parameters in the order in which they occur, and ranges of the predictors.
pub type Case<'c> = (&'c str, &'c [f64], &'c [Range]);

/// Formulas of many kinds.
pub const CASES: [Case<'static>; 60] = [
    // Decays and growths.
    ("a*exp(-k*x)", &[3.0, 0.7], &[Even(0.0, 6.0)]),
    ("a*exp(-k*x) + c", &[120.0, 0.03, 15.0], &[Even(0.0, 100.0)]),
    ("a*exp(-x/tau) + c", &[-4e-12, 2e-9, 9e-12], &[Even(0.0, 1e-8)]),
    ("a*exp(-k1*x) + b*exp(-k2*x)", &[5.0, 0.3, 3.0, 4.0], &[Even(0.0, 8.0)]),
    ("a*exp(-x/t1) + b*exp(-x/t2) + c", &[10.0, 50.0, 6.0, 700.0, 2.0], &[Even(0.0, 2500.0)]),
    ("n0*2^(-x/half) + background", &[8e5, 12.0, 4e4], &[Even(0.0, 60.0)]),
    ("exp(a - b*x)", &[11.0, 0.4], &[Even(0.0, 9.0)]),
    ("y0*exp(rate*(x - 2000))", &[3.2, 0.02], &[Even(1990.0, 2020.0)]),
    ("a*(1 - exp(-k*x))^p", &[40.0, 0.08, 2.5], &[Even(1.0, 60.0)]),
    ("a*k1/(k2 - k1)*(exp(-k1*x) - exp(-k2*x))", &[10.0, 1.2, 0.2], &[Even(0.0, 20.0)]),
    ("a*exp(-(x/tau)^s) + c", &[2.0, 30.0, 0.6, 0.3], &[Even(0.1, 150.0)]),
    ("a*exp(-k*x^b)", &[7.0, 0.2, 1.6], &[Even(0.1, 6.0)]),
    ("a*exp(-x/tau)*(1 - exp(-x/rise))", &[50.0, 8.0, 0.9], &[Even(0.0, 30.0)]),
    // Peaks.
    ("h*exp(-(x - c)^2/(2*w^2))", &[5.0, 3.3, 0.4], &[Even(0.0, 8.0)]),
    ("h*exp(-0.5*((x - c)/w)^2) + slope*x + offset", &[200.0, 1040.0, 6.0, 0.5, -400.0], &[Even(1000.0, 1100.0)]),
    ("h/(1 + ((x - c)/w)^2) + b", &[9.0, -0.7, 0.25, 1.0], &[Even(-3.0, 3.0)]),
    ("a*exp(-((x - c1)/w1)^2) + b*exp(-((x - c2)/w2)^2)", &[4.0, 3.0, 0.7, 6.0, 7.0, 1.1], &[Even(0.0, 10.0)]),
    ("a*exp(-((x - c1)/w1)^2) + b*exp(-((x - c2)/w2)^2) + d", &[4.0, 4.2, 0.8, 2.5, 6.1, 0.7, 1.0], &[Even(0.0, 10.0)]),
    ("a/(1 + ((x - c1)/w1)^2) + b/(1 + ((x - c2)/w2)^2)", &[1e5, 2e6, 3e5, 6e4, 5e6, 4e5], &[Even(0.0, 8e6)]),
    ("exp(a + b*x + c*x^2)", &[-1.0, 1.8, -0.3], &[Even(0.0, 7.0)]),
    ("a*exp(-(ln(x/m)/s)^2)", &[12.0, 4.0, 0.7], &[Even(0.2, 20.0)]),
    ("h/cosh((x - c)/w)^2", &[3e-4, 12e-9, 2e-9], &[Even(0.0, 3e-8)]),
    ("h*exp(-abs(x - c)/w)", &[8.0, 22.0, 3.0], &[Even(0.0, 50.0)]),
    // Steps and growth curves.
    ("top/(1 + exp(-k*(x - mid)))", &[90.0, 0.8, 12.0], &[Even(0.0, 25.0)]),
    ("bottom + (top - bottom)/(1 + exp((mid - x)/w))", &[5.0, 60.0, 310.0, 4.0], &[Even(280.0, 340.0)]),
    ("top/(1 + exp(a - b*x))", &[72.0, 2.6, 0.067], &[Even(0.0, 100.0)]),
    ("a*exp(-b*exp(-c*x))", &[100.0, 8.0, 0.35], &[Even(0.0, 20.0)]),
    ("a*exp(-exp(b - c*x))", &[20.0, 2.2, 0.6], &[Even(0.0, 12.0)]),
    ("a + b*tanh((x - c)/w)", &[1.0, 4.0, -2.0, 0.8], &[Even(-6.0, 4.0)]),
    ("a*erf((x - c)/w) + d", &[3.0, 1.5, 0.5, 7.0], &[Even(0.0, 4.0)]),
    ("a*atan(k*(x - c)) + b", &[2.0, 3.0, 0.4, 1.0], &[Even(-2.0, 3.0)]),
    // Enzymes and binding.
    ("vmax*x/(km + x)", &[210.0, 0.07], &[Even(0.01, 1.0)]),
    ("vmax*x/(km + x + x^2/ki)", &[80.0, 4.0, 12.0], &[Even(0.2, 50.0)]),
    ("top*x^n/(k^n + x^n)", &[100.0, 2.2, 3e-6], &[Log(1e-8, 1e-4)]),
    ("bottom + (top - bottom)/(1 + (x/ec50)^h)", &[4.0, 95.0, 2e-7, 1.3], &[Log(1e-9, 1e-4)]),
    ("bottom + (top - bottom)/(1 + 10^((logec50 - x)*h))", &[2.0, 50.0, -6.2, 0.9], &[Even(-9.0, -3.0)]),
    ("qmax*k*x/(1 + k*x) + n*x", &[6.0, 2.0, 0.2], &[Even(0.0, 10.0)]),
    ("a*((x + k + r) - sqrt((x + k + r)^2 - 4*x*r))", &[2.0, 0.4, 1.5], &[Even(0.05, 8.0)]),
    // Powers, logarithms and roots.
    ("a*x^b", &[0.3, 1.75], &[Even(0.5, 30.0)]),
    ("a*x^b + c", &[5.0, -0.8, 20.0], &[Even(0.5, 40.0)]),
    ("a*(x - x0)^p", &[2.0, 1.2, 0.7], &[Even(1.5, 12.0)]),
    ("a + b*ln(x + c)", &[3.0, 2.0, 4.0], &[Even(0.0, 60.0)]),
    ("ln(a + b*x)", &[2.0, 5.0], &[Even(0.0, 10.0)]),
    ("sqrt(a^2 + (b*x)^2)", &[3e-3, 2e-4], &[Even(0.0, 40.0)]),
    ("1/(a + b*x)", &[0.2, 0.05], &[Even(0.0, 30.0)]),
    ("(a + b*x)/(1 + c*x + d*x^2)", &[1.0, 2.0, 0.1, 0.05], &[Even(0.0, 20.0)]),
    ("a*(1 + x/b)^(-c)", &[10.0, 5.0, 2.0], &[Even(0.0, 50.0)]),
    // Waves.
    ("a*sin(w*x + p)", &[2.0, 3.7, 0.6], &[Even(0.0, 10.0)]),
    ("a*sin(2*pi*f*x + p) + c", &[0.8, 1.3e6, 1.0, 5.0], &[Even(0.0, 8e-6)]),
    ("a*cos(2*pi*(x - x0)/period) + b + m*x", &[12.0, 40.0, 365.0, 10.0, 0.01], &[Even(0.0, 1500.0)]),
    ("a*exp(-x/tau)*sin(w*x + p)", &[6.0, 4.0, 5.5, -0.4], &[Even(0.0, 10.0)]),
    ("a*exp(-k*x)*cos(w*x) + c", &[3.0, 0.25, 2.1, 1.0], &[Even(0.0, 15.0)]),
    ("a*sin(w*x) + b*cos(w*x) + c*sin(v*x)", &[2.0, 1.7, 1.0, 1.5, 4.4], &[Even(0.0, 12.0)]),
    ("a + b*sin(k*(x - c))/(k*(x - c))", &[0.1, 4.0, 2.3, 4.71], &[Even(0.0, 10.0)]),
    // Temperatures.
    ("a*exp(-e/(8.314*x))", &[3e6, 5e4], &[Even(290.0, 380.0)]),
    ("a*x^n*exp(-b/x)", &[0.02, 1.5, 900.0], &[Even(250.0, 900.0)]),
    // Hinges and conditions.
    ("if(x < c, a + b*x, a + b*c + d*(x - c))", &[40.0, 10.0, 1.5, -0.4], &[Even(0.0, 100.0)]),
    ("a + b*max(x - c, 0)", &[2.0, 3.0, 4.2], &[Even(0.0, 10.0)]),
    // Two predictors.
    ("a*x*exp(-b*t) + c", &[3.0, 0.4, 1.0], &[Even(0.0, 5.0), Even(0.0, 10.0)]),
    (
        "h*exp(-((x - cx)/wx)^2 - ((t - ct)/wt)^2) + b",
        &[7.0, 2.0, 0.8, -30.0, 15.0, 1.0],
        &[Even(0.0, 5.0), Even(-80.0, 40.0)],
    ),
];

/// Observations of a case with noise, relative to the range of the responses.
pub fn observations(
    (text, truth, ranges): Case<'_>,
    points: usize,
    noise: f64,
    seed: u64,
) -> (Formula, Array2<f64>, Vec<f64>) {
    let formula = Formula::with_predictors(text, ["x", "t"].into_iter().take(ranges.len())).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let unit = Uniform::new(0.0, 1.0).unwrap();
    let at = |range: Range, share: f64| match range {
        Even(low, high) => low + share * (high - low),
        Log(low, high) => low * (high / low).powf(share),
    };
    let mut x = Array2::zeros((points, ranges.len()));
    for (row, mut x) in x.rows_mut().into_iter().enumerate() {
        x[0] = at(ranges[0], row as f64 / (points - 1) as f64);
        if let Some(range) = ranges.get(1) {
            x[1] = at(*range, unit.sample(&mut random));
        }
    }
    let exact: Vec<f64> = x.rows().into_iter().map(|x| formula.response(&x.to_vec(), truth)).collect();
    let (low, high) = exact.iter().fold((f64::MAX, f64::MIN), |(low, high), &y| (y.min(low), y.max(high)));
    let mut error = || -> f64 { StandardNormal.sample(&mut random) };
    let y = exact.iter().map(|y| y + noise * (high - low) * error()).collect();
    (formula, x, y)
}

/// Sums of squares at which the fits without a start, and from the truth, end.
pub fn ends(case: Case<'_>, points: usize, noise: f64, seed: u64) -> [f64; 2] {
    let (formula, x, y) = observations(case, points, noise, seed);
    let from_truth = CurveFit::model(formula.clone(), &x, &y, case.1).fit();
    let guessed = CurveFit::guessed(formula, &x, &y).fit();
    [guessed, from_truth].map(|fit| fit.map_or(f64::INFINITY, |fit| fit.report().sum_of_squares()))
}

#[test]
fn fits_end_at_the_best_minimum() {
    let is_missed = |&case: &usize| {
        let [guessed, from_truth] = ends(CASES[case], 64, 0.02, case as u64);
        guessed > from_truth * (1.0 + 1e-6)
    };
    let missed: Vec<&str> = (0..CASES.len()).filter(is_missed).map(|case| CASES[case].0).collect();
    assert!(missed.len() <= 3, "{missed:#?}");
}

/// Starts are finite, whatever the data.
#[test]
fn any_data_have_a_start() {
    let (rising, flat) = ([0.0, 1.0, 2.0, 3.0, 5.0, 8.0], [4.0; 6]);
    let (huge, none) = ([-f64::MAX, f64::MAX, 0.0, 1e-300, 1.0, -1.0], [f64::NAN; 6]);
    for (text, _, ranges) in CASES {
        let formula = Formula::with_predictors(text, ["x", "t"].into_iter().take(ranges.len())).unwrap();
        for [x, y] in
            [[rising, rising], [flat, rising], [rising, [0.0; 6]], [huge, huge], [none, rising], [rising, none]]
        {
            let x: Vec<f64> = x.iter().flat_map(|&x| vec![x; ranges.len()]).collect();
            let start = formula.guess(&x, &y);
            assert_eq!(start.len(), formula.parameters().len());
            assert!(start.iter().all(|value| value.is_finite()), "{text}: {start:?}");
        }
        assert_eq!(Guess::<f32>::guess(&formula, &[], &[]), vec![1.0; formula.parameters().len()]);
    }
}

#[test]
fn widths_are_positive_and_phases_small() {
    let start = |text: &str, truth: &[f64]| -> Vec<f64> {
        let (formula, x, y) = observations((text, truth, &[Even(0.0, 10.0)]), 64, 0.01, 1);
        formula.guess(x.as_slice().unwrap(), &y)
    };
    for seed in 0..4 {
        let width = start("h*exp(-((x - c)/w)^2)", &[3.0, 4.0 + f64::from(seed), 1.1])[2];
        assert!((width - 1.1).abs() < 0.1, "{width}");
        let phase = start("a*sin(w*x + p)", &[2.0, 5.0 + f64::from(seed), 1.0])[2];
        assert!((0.0..=std::f64::consts::TAU).contains(&phase), "{phase}");
    }
}

/// A start that is given takes the place of a guess; without any left to be guessed there is no search.
#[test]
fn given_starts_are_kept() {
    let (formula, x, y) = observations(CASES[1], 64, 0.01, 1);
    let fit = CurveFit::guessed(formula, &x, &y).start("a", 1.0).start("k", 0.02).start("c", 0.0).retry(false);
    let fit = fit.fit().unwrap();
    let other = CurveFit::model(observations(CASES[1], 64, 0.01, 1).0, &x, &y, &[1.0, 0.02, 0.0]).retry(false);
    assert_eq!(fit.report().initial_cost, other.fit().unwrap().report().initial_cost);
}

/// A guess by least squares may have means of counts that are not positive, where a fit of counts cannot begin.
#[test]
fn counts_have_starts() {
    for seed in 0..12_u32 {
        let t: Vec<f64> = (0..40).map(f64::from).collect();
        let noise = |t: f64| (0.618_034 * (t + 1.0) * f64::from(seed + 1)).fract();
        let y: Vec<f64> = t.iter().map(|t| (9.0 * (-0.3 * t).exp() + noise(*t)).floor()).collect();
        let fit = CurveFit::guessed(Formula::parse("a*exp(-k*x)").unwrap(), &t, &y).counts().fit();
        assert!(fit.is_ok_and(|fit| fit.report().is_converged()), "{seed}");
        let fit = CurveFit::guessed(Formula::parse("a*exp(-k*x) + c").unwrap(), &t, &y).counts().fit();
        assert!(fit.is_ok(), "{seed}: {:?}", fit.err());
    }
}
