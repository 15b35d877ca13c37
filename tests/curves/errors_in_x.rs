//! Errors in the predictors: orthogonal distances, effective variances, and implicit curves.

use std::f64::consts::PI;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::curve::{BootstrapError, CurveError, ErrorsInX, NanPolicy};
use marquardt::models::{ExponentialDecay, Gaussian};
use marquardt::{CurveFit, Dual, FittedCurve, Formula, GlobalFit, Loss, Tie, model};
use ndarray::{Array2, array};
use proptest::prelude::*;
use rand_distr::{Distribution, StandardNormal};

const PEARSON_X: [f64; 10] = [0.0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4];
const PEARSON_Y: [f64; 10] = [5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5];
const YORK_X: [f64; 10] = [1000.0, 1000.0, 500.0, 800.0, 200.0, 80.0, 60.0, 20.0, 1.8, 1.0];
const YORK_Y: [f64; 10] = [1.0, 1.8, 4.0, 8.0, 20.0, 20.0, 70.0, 70.0, 100.0, 500.0];

fn sigmas(weights: &[f64]) -> Vec<f64> {
    weights.iter().map(|weight| weight.sqrt().recip()).collect()
}

fn assert_values(fit: &FittedCurve<'_, f64>, expected: &[f64], relative: f64) {
    for (parameter, expected) in fit.parameters().iter().zip(expected) {
        let off = (parameter.value - expected).abs();
        assert!(off <= relative * expected.abs(), "{}: {} instead of {expected}", parameter.name, parameter.value);
    }
}

fn assert_errors(fit: &FittedCurve<'_, f64>, expected: &[f64], relative: f64) {
    for (parameter, expected) in fit.parameters().iter().zip(expected) {
        let off = (parameter.standard_error - expected).abs();
        assert!(off <= relative * expected, "{}: ± {} and not {expected}", parameter.name, parameter.standard_error);
    }
}

/// York et al., Am. J. Phys. 72 (2004) 367: estimates, and standard errors of known deviations. Far starts, which have a local minimum
/// nearby, lead there as well.
#[test]
fn pearsons_data_with_yorks_weights() {
    let (sigma_x, sigma_y) = (sigmas(&YORK_X), sigmas(&YORK_Y));
    for start in [[-1.0, 5.0], [0.0, 0.0], [1.0, 1.0], [-100.0, 3.0], [1e6, -1e8]] {
        for method in [ErrorsInX::OrthogonalDistance, ErrorsInX::EffectiveVariance] {
            let line = CurveFit::new(|x, [slope, intercept]| slope * x + intercept, &PEARSON_X, &PEARSON_Y, start);
            let line = line.sigma(&sigma_y).sigma_x(&sigma_x).errors_in_x(method).absolute_sigma(true);
            let fit = line.fit().unwrap();
            assert!(fit.report().is_converged() && fit.warnings().is_empty(), "{fit}");
            assert_values(&fit, &[-0.480533407, 5.479910224], 1e-8);
            assert!((fit.chi_square() - 11.866353).abs() < 1e-6, "{}", fit.chi_square());
            // The derivatives of effective variances are in the Jacobian, so that errors differ a little.
            let close = if method == ErrorsInX::OrthogonalDistance { 1e-6 } else { 0.05 };
            assert_errors(&fit, &[0.0579850, 0.2949707], close);
        }
    }
    let [x, y] = [PEARSON_X, PEARSON_Y].map(|values| values.map(|value| value as f32));
    let [sigma_x, sigma_y] = [sigma_x, sigma_y].map(|sigma| sigma.iter().map(|&s| s as f32).collect::<Vec<f32>>());
    let line = CurveFit::new(|x, [slope, intercept]| slope * x + intercept, &x, &y, [0.0_f32, 0.0]);
    let fit = line.sigma(&sigma_y).sigma_x(&sigma_x).fit().unwrap();
    assert!((fit.parameters()[0].value + 0.480_533_4).abs() < 1e-5, "{fit}");
}

/// Example 1 of the ODRPACK user's guide; three predictors are exact. Tighter tolerances than the guide's lead to a sum of squares that is
/// lower in its tenth digit.
#[test]
fn odrpacks_explicit_example() {
    let x = [0.0, 0.0, 5.0, 7.0, 7.5, 10.0, 16.0, 26.0, 30.0, 34.0, 34.5, 100.0];
    let y = [1265.0, 1263.6, 1258.0, 1254.0, 1253.0, 1249.8, 1237.0, 1218.0, 1220.6, 1213.8, 1215.5, 1212.0];
    let sigma_x = x.map(|x| if x == 0.0 || x == 100.0 { 0.0 } else { 1.0 });
    let curve = |x: f64, [a, b, c]: [Dual<f64, 3>; 3]| a + b * ((c * x).exp() - 1.0).powi(2);
    let fit = CurveFit::new(curve, &x, &y, [1500.0, -50.0, -0.1]).sigma_x(&sigma_x).fit().unwrap();
    assert_values(&fit, &[1264.6548050648876, -54.018_409_956_678, -0.087_849_712_165_25], 2e-6);
    assert_errors(&fit, &[1.0349270280543437, 1.583997785262061, 0.0063321988657267], 1e-5);
    assert!(fit.chi_square() < 21.445501659459, "{}", fit.chi_square());
    let (shifts, fitted_x) = (fit.x_residuals().unwrap(), fit.fitted_x().unwrap());
    assert!([0, 1, 11].iter().all(|&exact| shifts[[exact, 0]] == 0.0 && fitted_x[[exact, 0]] == x[exact]));
    // The sum of squares is that of both kinds of residuals.
    let squares: f64 = fit.residuals().iter().chain(shifts).map(|residual| residual * residual).sum();
    assert!((squares - fit.chi_square()).abs() < 1e-9, "{squares}");
    assert!((squares - fit.residual_sum_of_squares()).abs() < 1e-9, "{squares}");
}

const ELLIPSE: [[f64; 2]; 20] = [
    [0.5, -0.12],
    [1.2, -0.6],
    [1.6, -1.0],
    [1.86, -1.4],
    [2.12, -2.54],
    [2.36, -3.36],
    [2.44, -4.0],
    [2.36, -4.75],
    [2.06, -5.25],
    [1.74, -5.64],
    [1.34, -5.97],
    [0.9, -6.32],
    [-0.28, -6.44],
    [-0.78, -6.44],
    [-1.36, -6.41],
    [-1.9, -6.25],
    [-2.5, -5.88],
    [-2.88, -5.5],
    [-3.18, -5.24],
    [-3.44, -4.86],
];

/// Example 2 of the ODRPACK user's guide, from near and far.
#[test]
fn odrpacks_implicit_example() {
    let points = Array2::from(ELLIPSE.to_vec());
    let conic = |p: &[f64], [x, y, a, b, c]: [Dual<f64, 5>; 5]| {
        let (x, y) = (x - p[0], y - p[1]);
        a * x * x + b * x * y * 2.0 + c * y * y - 1.0
    };
    for start in [
        [-1.0, -3.0, 0.09, 0.02, 0.08],
        [0.0, 0.0, 0.1, 0.0, 0.1],
        [0.0, 0.0, 1.0, 0.0, 1.0],
        [3.0, 3.0, 0.01, 0.0, 0.01],
        [10.0, 10.0, 1.0, 0.0, 1.0],
    ] {
        let fit = CurveFit::implicit(conic, &points, start).fit().unwrap();
        assert!(fit.report().is_converged(), "{fit}");
        let published =
            [-0.9993809167281279, -2.9310484652026476, 0.0875730502693354, 0.0162299708984738, 0.0797537982976416];
        assert_values(&fit, &published, 2e-6);
        let errors =
            [0.1113840353364371, 0.1097673310686467, 0.0041060738314314, 0.0027500347539902, 0.0034962501532468];
        assert_errors(&fit, &errors, 2e-5);
        // The nearest points are on the curve.
        assert!(fit.fitted().iter().all(|value| value.abs() < 1e-9), "{:?}", fit.fitted());
    }
}

/// An arc in small and large units from near and far, without errors that say in what unit the points are: the standard deviation is 1.
#[test]
fn an_arc_in_any_unit() {
    let mut noise = noisy(7, 50, [0.02, 0.02], |_| 0.0)[1].clone().into_iter();
    let arc = Array2::from_shape_fn((25, 2), |(row, axis)| {
        let angle = 0.14 * row as f64;
        [3.0 + 2.0 * angle.cos(), -1.0 + 2.0 * angle.sin()][axis] + noise.next().unwrap()
    });
    let mut single = None;
    for unit in [1e-9, 1e-3, 1.0, 1e6] {
        let points = arc.mapv(|value| unit * value);
        for start in [[3.0, -1.0, 2.0], [0.0, 0.0, 1.0], [-4.0, 5.0, 9.0], [400.0, -300.0, 900.0]] {
            let start = start.map(|value| unit * value);
            let circle = |p: &[f64], [x, y, r]: [Dual<f64, 3>; 3]| (x - p[0]).powi(2) + (y - p[1]).powi(2) - r * r;
            let fit = CurveFit::implicit(circle, &points, start).fit().unwrap();
            assert!(fit.report().is_converged(), "{unit} {start:?}: {fit}");
            let found = [0, 1, 2].map(|index| fit.parameters()[index].value / unit);
            let expected = *single.get_or_insert(found);
            assert!(
                found.iter().zip(expected).all(|(found, one)| (found - one).abs() < 1e-6),
                "{unit} {start:?}: {fit}"
            );
            let points = points.mapv(|value| value as f32);
            let circle = |p: &[f32], [x, y, r]: [Dual<f32, 3>; 3]| (x - p[0]).powi(2) + (y - p[1]).powi(2) - r * r;
            let fit = CurveFit::implicit(circle, &points, start.map(|value| value as f32)).fit().unwrap();
            assert!(fit.report().is_converged(), "f32, {unit} {start:?}: {fit}");
            let radius = f64::from(fit.parameters()[2].value) / unit;
            assert!((radius - expected[2]).abs() < 1e-3, "f32, {unit} {start:?}: {fit}");
        }
    }
    assert!((single.unwrap()[2] - 2.0).abs() < 0.05, "{single:?}");
}

/// Errors much larger than the range of the predictor: the nearest points of a steep trial curve are beyond where it overflows.
#[test]
fn errors_larger_than_the_range() {
    let [x, y] = noisy(11, 30, [0.0, 0.01], |x| 5.0 * (-0.4 * x).exp());
    for sigma_x in [[100.0], [1e3], [1e6]] {
        let decay = model!(|x; a, k, c| a * exp(-k * x) + c);
        let fit = CurveFit::model(decay, &x, &y, &[1.0, 1.0, 0.0]).sigma(&[0.01; 30]).sigma_x(&sigma_x).fit().unwrap();
        assert!(fit.report().is_converged(), "{sigma_x:?}: {fit}");
        let fitted = fit.fitted_x().unwrap();
        assert!(fit.chi_square().is_finite() && fitted.iter().all(|x| x.is_finite()), "{sigma_x:?}: {fit}");
    }
}

/// A second predictor that is zero in every row.
#[test]
fn a_predictor_that_is_zero() {
    let [x, y] = noisy(5, 20, [0.0, 0.05], |x| 1.0 + 2.0 * x);
    let plane = |p: &[f64], [a, b]: [Dual<f64, 2>; 2]| a + b * p[0] + 0.5 * p[1];
    let rows = Array2::from_shape_fn((20, 2), |(row, column)| if column == 0 { x[row] } else { 0.0 });
    let sigma_x = array![[0.0, 0.2]];
    let fit =
        CurveFit::with_predictors(plane, &rows, &y, [0.0, 1.0]).sigma(&[0.05; 20]).sigma_x(&sigma_x).fit().unwrap();
    // The error adds `(0.5 · 0.2)²` to the variance of each response.
    let line = CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| a + b * x, &x, &y, [0.0, 1.0]).fit().unwrap();
    assert!(fit.report().is_converged(), "{fit}");
    assert_values(&fit, &[line.parameters()[0].value, line.parameters()[1].value], 1e-9);
    assert_errors(&fit, &[line.parameters()[0].standard_error, line.parameters()[1].standard_error], 1e-8);
    assert!((fit.chi_square() * (0.05_f64.powi(2) + 0.01) / line.chi_square() - 1.0).abs() < 1e-9, "{fit}");
}

/// Example 3 of the ODRPACK user's guide: two correlated responses, and predictors whose errors are a hundred times as large as they. The
/// guide divides by the degrees of freedom of rows, not of responses.
#[test]
fn odrpacks_example_of_two_responses() {
    let data = [
        [30.0, 4.22, 0.136],
        [50.0, 4.167, 0.167],
        [70.0, 4.132, 0.188],
        [200.0, 3.956, 0.257],
        [300.0, 3.884, 0.276],
        [500.0, 3.784, 0.297],
        [700.0, 3.713, 0.309],
        [1000.0, 3.633, 0.311],
        [1500.0, 3.54, 0.314],
        [2000.0, 3.433, 0.311],
        [3000.0, 3.358, 0.305],
        [5000.0, 3.258, 0.289],
        [7000.0, 3.193, 0.277],
        [10000.0, 3.128, 0.255],
        [15000.0, 3.059, 0.24],
        [20000.0, 2.984, 0.218],
        [30000.0, 2.934, 0.202],
        [50000.0, 2.876, 0.182],
        [70000.0, 2.838, 0.168],
        [100000.0, 2.798, 0.153],
        [150000.0, 2.759, 0.139],
    ];
    // The factor of the weights, by which responses become independent.
    let first = 559.6_f64.sqrt();
    let (second, third) = (-1634.0 / first, (8397.0 - (1634.0 / first).powi(2)).sqrt());
    let x: Vec<f64> = data.iter().map(|row| row[0]).collect();
    let y = Array2::from_shape_fn((data.len(), 2), |(i, j)| match j {
        0 => first * data[i][1] + second * data[i][2],
        _ => third * data[i][2],
    });
    let sigma_x: Vec<f64> = x.iter().map(|&x| if x < 100.0 { 0.0 } else { 100.0 * x }).collect();
    let dielectric = |x: &[f64], [b0, b1, b2, b3, b4]: [Dual<f64, 5>; 5]| {
        let angle = b3 * (PI / 2.0);
        let (cos, sin) = (angle.cos(), angle.sin());
        let omega = ((-b2).exp() * 2.0 * PI * x[0]).pow(b3);
        let (re, im) = (omega * cos + 1.0, omega * sin);
        let (phase, modulus) = (im.atan2(re), (b0 - b1) * re.hypot(im).pow(-b4));
        let (y1, y2) = (b1 + modulus * (b4 * phase).cos(), modulus * (b4 * phase).sin());
        [y1 * first + y2 * second, y2 * third]
    };
    let fit = CurveFit::with_responses(dielectric, &x, &y, [4.0, 2.0, 7.0, 0.4, 0.5]).sigma_x(&sigma_x).fit().unwrap();
    assert!(fit.report().is_converged(), "{fit}");
    let published =
        [4.379_988_030_593_9, 2.4333057577497703, 8.002_884_589_950_4, 0.5101147161764654, 0.5173902330489161];
    assert_values(&fit, &published, 1e-6);
    let by_rows = (37.0_f64 / 16.0).sqrt();
    let errors = [0.0130625231081944, 0.0130499785273277, 0.1167085962217757, 0.0132642749596149, 0.0288529201353984];
    assert_errors(&fit, &errors.map(|error| error / by_rows), 1e-3);
}

/// The Lorentz peak of SciPy's tests of its ODR.
#[test]
fn a_resonance() {
    let x = [
        3.9094, 3.85945, 3.84976, 3.84716, 3.84551, 3.83964, 3.82608, 3.78847, 3.78163, 3.72558, 3.70274, 3.6973,
        3.67373, 3.65982, 3.6562, 3.62498, 3.55525, 3.41886,
    ];
    let y = [
        652.0, 910.5, 984.0, 1000.0, 1007.5, 1053.0, 1160.5, 1409.5, 1430.0, 1122.0, 957.5, 920.0, 777.5, 709.5, 698.0,
        578.5, 418.5, 275.5,
    ];
    let sigma_x = [
        0.000972971,
        0.000948268,
        0.000707632,
        0.000706679,
        0.000706074,
        0.000703918,
        0.000698955,
        0.000456856,
        0.000455207,
        0.000662717,
        0.000654619,
        0.000652694,
        0.000000859202,
        0.00106589,
        0.00106378,
        0.00125483,
        0.00140818,
        0.00241839,
    ];
    let peak = Formula::parse("a * g * c / sqrt((x^2 - c^2)^2 + (g * x)^2)").unwrap();
    let fit = CurveFit::model(peak, &x, &y, &[1000.0, 0.1, 3.8]).sigma(&[0.29; 18]).sigma_x(&sigma_x).fit().unwrap();
    assert_values(&fit, &[1430.6780846149925, 0.133_905_090_345_38, 3.779_819_360_010_9], 1e-6);
    assert_errors(&fit, &[0.736_211_868_113_31, 0.000_350_688_999_414_7, 0.000_244_512_092_814_1], 1e-4);
}

/// Returns `count` points about a curve with these deviations in both directions.
fn noisy(seed: u64, count: usize, sigma: [f64; 2], curve: impl Fn(f64) -> f64) -> [Vec<f64>; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |sigma: f64| -> f64 {
        let number: f64 = StandardNormal.sample(&mut random);
        sigma * number
    };
    let true_x = (0..count).map(|i| 8.0 * i as f64 / count as f64);
    let points: Vec<_> = true_x.map(|x| (x + draw(sigma[0]), curve(x) + draw(sigma[1]))).collect();
    let (x, y) = points.into_iter().unzip();
    [x, y]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Deming's regression has a closed form; and any units give the same line.
    #[test]
    fn a_line_is_demings(
        seed in any::<u64>(), slope in -3.0..3.0_f64, sigma_x in 0.05..1.0_f64, sigma_y in 0.05..1.0_f64,
        units in prop::array::uniform2(-9.0..9.0_f64), shift in -100.0..100.0_f64,
    ) {
        let [x, y] = noisy(seed, 25, [sigma_x, sigma_y], |x| slope * x + 1.0);
        let unit = units.map(|unit| 10.0_f64.powf(unit));
        let (x, y): (Vec<f64>, Vec<f64>) = x.iter().zip(&y).map(|(x, y)| ((x + shift) * unit[0], y * unit[1])).unzip();
        let (sigma_x, sigma_y) = (sigma_x * unit[0], sigma_y * unit[1]);
        let line = CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| a + b * x, &x, &y, [0.0, 0.0]);
        let (sigma_y, sigma_x) = (vec![sigma_y; 25], [sigma_x]);
        let fit = line.sigma(&sigma_y).sigma_x(&sigma_x).fit().unwrap();
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let (mean_x, mean_y) = (mean(&x), mean(&y));
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for (x, y) in x.iter().zip(&y) {
            xx += (x - mean_x).powi(2);
            xy += (x - mean_x) * (y - mean_y);
            yy += (y - mean_y).powi(2);
        }
        let ratio = (sigma_y[0] / sigma_x[0]).powi(2);
        let difference = yy - ratio * xx;
        let expected = (difference + difference.hypot(2.0 * ratio.sqrt() * xy)) / (2.0 * xy);
        let found = fit.parameters()[1].value;
        prop_assert!((found - expected).abs() <= 1e-7 * (expected.abs() + ratio.sqrt()), "{found} and not {expected}: {fit}");
        let level = mean_y - expected * mean_x;
        prop_assert!((fit.parameters()[0].value - level).abs() <= 1e-6 * (level.abs() + mean_y.abs() + sigma_y[0]), "{fit}");
    }
}

/// Exact predictors are those of a fit without errors in x; one row of deviations is for all.
#[test]
fn exact_predictors_change_nothing() {
    let [x, y] = noisy(3, 40, [0.0, 0.1], |x| 5.0 * (-0.5 * x).exp());
    let plain = CurveFit::guessed(ExponentialDecay, &x, &y).fit().unwrap();
    let exact = CurveFit::guessed(ExponentialDecay, &x, &y).sigma_x(&[0.0]).fit().unwrap();
    assert_values(&exact, &plain.parameters().iter().map(|parameter| parameter.value).collect::<Vec<_>>(), 1e-9);
    let errors: Vec<f64> = plain.parameters().iter().map(|parameter| parameter.standard_error).collect();
    assert_errors(&exact, &errors, 1e-7);
    let tiny = CurveFit::guessed(ExponentialDecay, &x, &y).sigma_x(&[1e-13]).fit().unwrap();
    assert_values(&tiny, &plain.parameters().iter().map(|parameter| parameter.value).collect::<Vec<_>>(), 1e-9);
    let one = CurveFit::guessed(ExponentialDecay, &x, &y).sigma_x(&[0.2]).fit().unwrap();
    let each = CurveFit::guessed(ExponentialDecay, &x, &y).sigma_x(&[0.2; 40]).fit().unwrap();
    assert_eq!(one.parameters(), each.parameters());
    assert!(plain.fitted_x().is_none() && plain.x_residuals().is_none());
}

/// The signs and sizes of shifts are those of a search for the nearest point by brute force.
#[test]
fn nearest_points_are_nearest() {
    const SIGMA: [f64; 2] = [0.25, 0.1];
    let [sigma_x, sigma_y] = SIGMA;
    let [x, y] = noisy(11, 60, [sigma_x, sigma_y], |x| 4.0 * (-(x - 4.0) * (x - 4.0) / 2.0).exp());
    let fit = CurveFit::guessed(Gaussian, &x, &y).sigma(&[SIGMA[1]; 60]).sigma_x(&[SIGMA[0]]).fit().unwrap();
    assert!(fit.report().is_converged(), "{fit}");
    let (nearest, distances) = (fit.fitted_x().unwrap(), fit.whitened_residuals());
    for row in 0..60 {
        let squares = |at: f64| {
            let y_there = fit.predict(&[at]).unwrap()[0];
            ((at - x[row]) / sigma_x).powi(2) + ((y_there - y[row]) / sigma_y).powi(2)
        };
        let found = squares(nearest[[row, 0]]);
        assert!((found - distances[row].powi(2)).abs() < 1e-8 * (1.0 + found), "{found}, {}", distances[row]);
        // No point nearby is nearer.
        for step in -200..=200 {
            let there = squares(nearest[[row, 0]] + 1e-3 * f64::from(step) * sigma_x);
            assert!(there >= found - 1e-9, "row {row}: {there} < {found}");
        }
    }
}

/// Intervals of 95 %, of a line and of a decay, with known and with estimated noise, by both methods.
#[test]
fn intervals_cover() {
    const SETS: u64 = 1000;
    let covers = |method: ErrorsInX, is_known: bool, truth: [f64; 2], is_line: bool| {
        let mut hits = [0.0; 2];
        for seed in 0..SETS {
            let (sigma_x, sigma_y) = (0.15, 0.1);
            let curve = |x: f64| if is_line { truth[0] + truth[1] * x } else { truth[0] * (-truth[1] * x).exp() };
            let [x, y] = noisy(seed, 25, [sigma_x, sigma_y], curve);
            let sigma = [sigma_y; 25];
            let intervals =
                |fit: Result<FittedCurve<'_, f64>, CurveError>| fit.unwrap().confidence_intervals(0.95).unwrap();
            let intervals = if is_line {
                let fit = CurveFit::model(model!(|x; a, b| a + b * x), &x, &y, &[1.0, 0.0]).sigma(&sigma);
                intervals(fit.sigma_x(&[sigma_x]).errors_in_x(method).absolute_sigma(is_known).fit())
            } else {
                let fit = CurveFit::model(model!(|x; a, k| a * exp(-k * x)), &x, &y, &[1.0, 0.3]).sigma(&sigma);
                intervals(fit.sigma_x(&[sigma_x]).errors_in_x(method).absolute_sigma(is_known).fit())
            };
            for (hits, (interval, truth)) in hits.iter_mut().zip(intervals.iter().zip(truth)) {
                *hits += f64::from(u8::from(interval.contains(truth)));
            }
        }
        for share in hits.map(|hits| hits / SETS as f64) {
            assert!((0.93..=0.97).contains(&share), "{share} by {method:?}, {is_known}, {is_line}");
        }
    };
    covers(ErrorsInX::OrthogonalDistance, true, [2.0, -0.8], true);
    covers(ErrorsInX::OrthogonalDistance, false, [5.0, 0.5], false);
    covers(ErrorsInX::EffectiveVariance, true, [5.0, 0.5], false);
}

/// Least squares alone underestimate a slope; the estimate with errors in x does not.
#[test]
fn attenuation_is_corrected() {
    let mut sums = [0.0_f64; 2];
    for seed in 0..200 {
        let [x, y] = noisy(seed, 30, [1.0, 0.3], |x| 2.0 * x);
        let line = || CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| a + b * x, &x, &y, [0.0, 1.0]).sigma(&[0.3; 30]);
        let plain = line().fit().unwrap().parameters()[1].value;
        let with_errors = line().sigma_x(&[1.0]).fit().unwrap().parameters()[1].value;
        sums[0] += plain / 200.0;
        sums[1] += with_errors / 200.0;
    }
    assert!(sums[0] < 1.75 && (sums[1] - 2.0).abs() < 0.02, "{sums:?}");
}

/// Bounds, ties, fixed parameters, priors and robust losses are those of other fits.
#[test]
fn options_hold() {
    let [x, y] = noisy(5, 40, [0.1, 0.1], |x| 4.0 * (-0.6 * x).exp() + 1.0);
    let decay = || {
        let curve = |x: f64, [a, k, c]: [Dual<f64, 3>; 3]| a * (-k * x).exp() + c;
        CurveFit::new(curve, &x, &y, [1.0, 1.0, 0.5]).names(["a", "k", "c"]).sigma(&[0.1; 40]).sigma_x(&[0.1])
    };
    let free = decay().fit().unwrap();
    assert!((free.parameters()[1].value - 0.6).abs() < 4.0 * free.parameters()[1].standard_error, "{free}");
    let bounded = decay().bounds("c", ..=0.5).fit().unwrap();
    assert_eq!(bounded.parameters()[2].value, 0.5);
    let tied = decay().tie("c", Tie::parse("a / 4").unwrap()).fit().unwrap();
    assert!((tied.parameters()[2].value - 0.25 * tied.parameters()[0].value).abs() < 1e-12);
    let fixed = decay().fix_at("k", 0.6).fit().unwrap();
    assert_eq!((fixed.parameters()[1].value, fixed.parameters()[1].standard_error), (0.6, 0.0));
    let prior = decay().absolute_sigma(true).prior("k", 0.9, 1e-4).fit().unwrap();
    assert!((prior.parameters()[1].value - 0.9).abs() < 1e-3);
    // An outlier in x, near the steep begin, draws least squares away, but no robust loss.
    let expected: Vec<f64> = free.parameters().iter().map(|parameter| parameter.value).collect();
    let mut y = y.clone();
    y[20] += 5.0;
    let curve = |x: f64, [a, k, c]: [Dual<f64, 3>; 3]| a * (-k * x).exp() + c;
    let outlier = || CurveFit::new(curve, &x, &y, [1.0, 1.0, 0.5]).sigma(&[0.1; 40]).sigma_x(&[0.1]);
    let distance = |fit: FittedCurve<'_, f64>| (fit.parameters()[2].value - expected[2]).abs();
    let (plain, robust) = (outlier().fit().unwrap(), outlier().robust(Loss::Tukey).fit().unwrap());
    assert!(robust.report().is_converged(), "{robust}");
    assert!(distance(robust) < 0.05 && distance(plain) > 0.08);
}

#[test]
fn wrong_errors_are_named() {
    let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.1, 2.0, 2.9, 4.2]);
    let line = || CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| a + b * x, &x, &y, [0.0, 1.0]);
    let message = |fit: CurveFit<'_, f64, _>| fit.fit().map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        message(line().sigma_x(&[0.1, 0.1])),
        "sigma_x has 2 x 1 entries: give 4 x 1, one for each predictor, or one row for all"
    );
    assert_eq!(
        message(line().sigma_x(&[0.1, -0.2, 0.1, 0.1])),
        "sigma_x is -0.2 in row 2, column 1: it must not be negative"
    );
    let error = line().sigma_x(&[0.1, 0.1, f64::NAN, 0.1]).fit().map(|_| ()).unwrap_err();
    assert!(matches!(&error, CurveError::NonFiniteDatum { variable, row: 2, .. } if variable == "sigma_x"), "{error}");
    for fit in [
        line().counts().sigma_x(&[0.1]),
        line().variable_projection(true).sigma_x(&[0.1]),
        line().data_covariance(&Array2::eye(4)).sigma_x(&[0.1]),
    ] {
        let error = fit.fit().map(|_| ()).unwrap_err();
        assert!(matches!(error, CurveError::Conflict { second: "errors in x", .. }), "{error}");
    }
    let points = array![[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.1]];
    let circle = |p: &[f64], [r]: [Dual<f64, 1>; 1]| -(r * r) + p[0] * p[0] + p[1] * p[1];
    let error = CurveFit::implicit(circle, &points, [2.0]).sigma(&[0.1; 4]).fit().map(|_| ()).unwrap_err();
    assert!(matches!(error, CurveError::Conflict { first: "an implicit curve", .. }), "{error}");
    let error = CurveFit::implicit(circle, &points, [2.0]).absolute_sigma(true).fit().map(|_| ()).unwrap_err();
    assert!(matches!(error, CurveError::AbsoluteWithoutSigma), "{error}");
    let exact = array![[0.1, 0.1], [0.0, 0.0], [0.1, 0.1], [0.1, 0.1]];
    for (sigma, row) in [(exact, 2), (array![[0.0, 0.0]], 1)] {
        let error = CurveFit::implicit(circle, &points, [2.0]).sigma_x(&sigma).fit().map(|_| ()).unwrap_err();
        let expected =
            format!("sigma_x is 0 in row {row}: a point of an implicit curve needs an error in one predictor");
        assert_eq!(error.to_string(), expected);
    }
    let sigma = array![[0.1, 0.1]];
    let known = CurveFit::implicit(circle, &points, [2.0]).sigma_x(&sigma).absolute_sigma(true);
    let known = known.fit().unwrap();
    assert!((known.parameters()[0].value - 1.025).abs() < 1e-9, "{known}");
    assert!((known.parameters()[0].standard_error - 0.05).abs() < 1e-9, "{known}");
    // Missing data, and a mask, leave rows out with all that belongs to them.
    let (x, y) = ([1.0, 2.0, f64::NAN, 3.0, 4.0, 9.0], [1.1, 2.0, 7.0, 2.9, 4.2, 0.0]);
    let (sigma_x, sigma_y) = ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.2; 6]);
    let all = CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| a + b * x, &x, &y, [0.0, 1.0]).sigma(&sigma_y);
    let all = all.sigma_x(&sigma_x).nan_policy(NanPolicy::Omit).mask(&[true, true, true, true, true, false][..]);
    let few = CurveFit::new(
        |x, [a, b]: [Dual<f64, 2>; 2]| a + b * x,
        &[1.0, 2.0, 3.0, 4.0],
        &[1.1, 2.0, 2.9, 4.2],
        [0.0, 1.0],
    );
    let few = few.sigma(&[0.2; 4]).sigma_x(&[0.1, 0.2, 0.4, 0.5]).fit().unwrap();
    let all = all.fit().unwrap();
    assert_eq!(all.parameters(), few.parameters());
    assert_eq!(all.omitted_rows(), [2, 5]);
}

/// A curve that ends at x = 0, near which noise moves points.
#[test]
fn a_curve_that_ends() {
    let x = [0.0, 0.01, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0_f64];
    let y = [0.05, 0.25, 0.7, 1.1, 1.52, 2.05, 2.4, 2.85];
    let root = CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| (b * x).sqrt() * a, &x, &y, [1.0, 3.0]).fix_at("b2", 1.0);
    let fit = root.sigma_x(&[0.05]).sigma(&[0.05; 8]).fit().unwrap();
    assert!(fit.report().is_converged() && (fit.parameters()[0].value - 2.0).abs() < 0.1, "{fit}");
    assert!(fit.fitted_x().unwrap().iter().all(|&x| x >= 0.0), "{:?}", fit.fitted_x());
}

/// Two data sets, only one of which has errors in x, and different numbers of predictors.
#[test]
fn in_a_global_fit() {
    let [x, y] = noisy(8, 30, [0.2, 0.05], |x| 3.0 * (-0.4 * x).exp());
    let plane = Array2::from_shape_fn((20, 6), |(i, j)| ((i * (j + 2)) % 7) as f64 / 7.0);
    let z: Vec<f64> = plane.rows().into_iter().map(|row| 0.4 * row[0] + row[5]).collect();
    let decay = || CurveFit::new(|x, [k, a]: [Dual<f64, 2>; 2]| a * (-k * x).exp(), &x, &y, [1.0, 1.0]);
    let line = CurveFit::with_predictors(|x: &[f64], [k]: [Dual<f64, 1>; 1]| k * x[0] + x[5], &plane, &z, [1.0]);
    let fit = GlobalFit::new()
        .data_set("decay", decay().names(["k", "a"]).sigma(&[0.05; 30]).sigma_x(&[0.2]))
        .data_set("line", line.names(["k"]).sigma(&[1e3; 20]))
        .shared(["k"])
        .fit()
        .unwrap();
    let alone = decay().sigma(&[0.05; 30]).sigma_x(&[0.2]).fit().unwrap();
    assert_values(&fit, &alone.parameters().iter().map(|parameter| parameter.value).collect::<Vec<_>>(), 1e-5);
    let (found, expected) = (fit.predict_data_set("decay", &[1.0, 2.0]).unwrap(), alone.predict(&[1.0, 2.0]).unwrap());
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?}, {expected:?}");
    let sets = fit.data_sets().unwrap();
    assert!(sets[0].fitted.iter().zip(alone.fitted()).all(|(a, b)| (a - b).abs() < 1e-3));
    assert!(sets[1].residuals.iter().all(|residual| residual.abs() < 0.1));
    // Rows of predictors are a set's number and its own.
    let mut row = Array2::zeros((1, 7));
    row[[0, 1]] = 1.0;
    assert!((fit.predict(&row).unwrap()[0] - expected[0]).abs() < 1e-4);
}

/// Samples of both coordinates give the standard errors; residuals in two directions cannot be exchanged.
#[test]
fn bootstrap() {
    let [x, y] = noisy(21, 40, [0.2, 0.1], |x| 5.0 * (-0.5 * x).exp());
    let decay = CurveFit::guessed(ExponentialDecay, &x, &y).sigma(&[0.1; 40]).sigma_x(&[0.2]).absolute_sigma(true);
    let fit = decay.fit().unwrap();
    let errors: Vec<f64> = fit.parameters().iter().map(|parameter| parameter.standard_error).collect();
    for bootstrap in [fit.bootstrap().replicates(400).seed(1), fit.bootstrap().cases().replicates(400).seed(1)] {
        let bootstrap = bootstrap.run().unwrap();
        assert!(bootstrap.failed().is_empty());
        for (index, error) in errors.iter().enumerate() {
            let column = bootstrap.estimates().column(index).to_owned();
            let mean = column.mean().unwrap();
            let spread = (column.mapv(|value| (value - mean).powi(2)).sum() / 399.0).sqrt();
            assert!((0.7..1.4).contains(&(spread / error)), "{spread}, {error}");
        }
    }
    let error = fit.bootstrap().residuals().run().unwrap_err();
    assert!(matches!(error, BootstrapError::ResidualsWithErrorsInX), "{error}");
}

/// Reports, bands, profiles, plots and stored fits are those of the curve.
#[test]
fn what_follows_from_a_fit() {
    let [x, y] = noisy(22, 40, [0.2, 0.1], |x| 5.0 * (-0.5 * x).exp());
    let fit = CurveFit::guessed(ExponentialDecay, &x, &y).sigma(&[0.1; 40]).sigma_x(&[0.2]).fit().unwrap();
    let report = fit.to_string();
    assert!(report.contains("relative sigma, with errors in x"), "{report}");
    let band = fit.confidence_band(&[0.0, 1.0, 2.0], 0.95).unwrap();
    assert!(band.iter().zip([5.0, 3.03, 1.84]).all(|(point, truth)| point.low < truth && truth < point.high));
    let interval = fit.confidence_interval("decay", 0.95).unwrap();
    let of_profile = fit.profile("decay", 0.95, 0).unwrap().interval;
    assert!((of_profile.low - interval.low).abs() < 0.05 * interval.low, "{interval:?}");
    #[cfg(feature = "plot")]
    {
        let with_errors = fit.plot().unwrap().to_svg().len();
        let without = CurveFit::guessed(ExponentialDecay, &x, &y).sigma(&[0.1; 40]).fit().unwrap();
        let bars = with_errors as f64 / without.plot().unwrap().to_svg().len() as f64;
        assert!(bars > 1.02, "horizontal bars take room: {bars}");
    }
    #[cfg(feature = "json")]
    {
        let stored = marquardt::curve::StoredFit::<f64>::from_json(&fit.to_stored().to_json()).unwrap();
        assert_eq!(stored.predict(&[1.0]).unwrap(), fit.predict(&[1.0]).unwrap());
        #[cfg(feature = "plot")]
        assert_eq!(stored.plot().unwrap().to_svg(), fit.plot().unwrap().to_svg());
    }
}
