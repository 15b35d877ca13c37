//! Statistics of fits against numbers in 34 digits that agree with lmfit, SciPy, statsmodels and R, which
//! `tests/reference/generate_curve.py` wrote down and says how they are defined.

use marquardt::curve::{BandPoint, Comparison, Interval, StatisticsError, f_test, likelihood_ratio_test};
use marquardt::statistics::{self, Test};
use marquardt::{CurveFit, Dual, FittedCurve, Model, ScalarOf, Tie};
use ndarray::Array2;

use crate::nist;
use crate::reference::Reference;

/// One case of the file.
struct Case {
    name: &'static str,
    numbers: Reference,
}

impl Case {
    fn read(name: &'static str) -> Case {
        Case { name, numbers: Reference::read("curve.csv") }
    }

    fn of(&self, quantity: &str) -> &[f64] {
        self.numbers.of(self.name, quantity)
    }

    /// Each number to the tolerance, relative to itself, or to 1e-4 of the largest of its kind.
    #[track_caller]
    fn check(&self, quantity: &str, found: &[f64], tolerance: f64) {
        let expected = self.of(quantity);
        assert_eq!(found.len(), expected.len(), "{} {quantity}", self.name);
        let largest = expected.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            let off = (found - expected).abs() / expected.abs().max(1e-4 * largest);
            assert!(off <= tolerance, "{} {quantity}[{index}]: {found} is not {expected}, off {off:e}", self.name);
        }
    }

    /// One number.
    #[track_caller]
    fn check_one(&self, quantity: &str, found: f64, tolerance: f64) {
        self.check(quantity, &[found], tolerance);
    }

    /// Half the width of each point of a band.
    #[track_caller]
    fn check_band(&self, quantity: &str, band: &[BandPoint<f64>], tolerance: f64) {
        self.check(quantity, &band.iter().map(|point| 0.5 * (point.high - point.low)).collect::<Vec<_>>(), tolerance);
        self.check("band_y", &band.iter().map(|point| point.value).collect::<Vec<_>>(), 1e-10);
    }
}

fn values(fit: &FittedCurve<'_, f64>) -> Vec<f64> {
    assert!(fit.report().is_converged(), "{fit}");
    fit.parameters().iter().map(|parameter| parameter.value).collect()
}

fn errors(fit: &FittedCurve<'_, f64>) -> Vec<f64> {
    fit.parameters().iter().map(|parameter| parameter.standard_error).collect()
}

fn flat(matrix: &Array2<f64>) -> Vec<f64> {
    matrix.iter().copied().collect()
}

/// The model of one of the NIST sets.
struct Nist<'a>(&'a nist::DataSet);

impl Model<f64> for Nist<'_> {
    fn parameter_count(&self) -> usize {
        self.0.certified.len()
    }

    #[inline(always)]
    fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
        self.0.model.response(b, x)
    }
}

/// All that is known of one of the NIST sets, to that many digits.
fn check_nist(name: &'static str, model: nist::Model, tolerance: f64) {
    let (case, set) = (Case::read(name), nist::DataSet::load(model));
    let x = set.x.concat();
    let fit = CurveFit::model(Nist(&set), &x, &set.y, &set.starts[1]).fit().unwrap();
    case.check("parameters", &values(&fit), tolerance);
    case.check("standard_errors", &errors(&fit), tolerance);
    case.check("covariance", &flat(&fit.covariance().matrix()), tolerance);
    for (level, digits) in [(0.95, "95"), (0.6827, "6827")] {
        let intervals = fit.confidence_intervals(level).unwrap();
        let [low, high]: [fn(&Interval<f64>) -> f64; 2] = [|interval| interval.low, |interval| interval.high];
        for (end, ends) in [("lower", low), ("upper", high)] {
            let found: Vec<f64> = intervals.iter().map(ends).collect();
            case.check(&format!("interval_{digits}_{end}"), &found, tolerance);
        }
        assert_eq!(fit.confidence_interval("b2", level).unwrap(), intervals[1]);
    }

    // By Σr², which is certain in fewer digits than the parameters that minimise it.
    case.check("residuals", &fit.residuals(), 10.0 * tolerance);
    case.check_one("chi_square", fit.chi_square(), tolerance);
    case.check_one("chi_square", fit.residual_sum_of_squares(), tolerance);
    case.check_one("reduced_chi_square", fit.reduced_chi_square().unwrap(), tolerance);
    case.check_one("r_squared", fit.r_squared().unwrap(), tolerance);
    case.check_one("aic_lmfit", fit.aic(), tolerance);
    case.check_one("aicc", fit.aicc(), tolerance);
    case.check_one("bic_lmfit", fit.bic(), tolerance);
    case.check_one("loglik", fit.log_likelihood(), tolerance);
    // R's follow as the documentation says.
    let (n, p) = (set.y.len() as f64, set.certified.len() as f64);
    case.check_one("aic_r", -2.0 * fit.log_likelihood() + 2.0 * (p + 1.0), tolerance);
    case.check_one("bic_statsmodels", -2.0 * fit.log_likelihood() + p * n.ln(), tolerance);
    let adjusted = 1.0 - (1.0 - fit.r_squared().unwrap()) * (n - 1.0) / (n - p);
    assert!((fit.adjusted_r_squared().unwrap() - adjusted).abs() < 1e-12);
    assert_eq!(fit.goodness_of_fit(), None);

    let x = case.of("band_x");
    case.check_band("band_confidence", &fit.confidence_band(x, 0.95).unwrap(), tolerance);
    case.check_band("band_prediction", &fit.prediction_band(x, 0.95).unwrap(), tolerance);

    let influence = fit.influence().unwrap();
    case.check("leverage", &influence.leverage, tolerance);
    case.check("studentised_internal", &influence.standardized_residuals, 10.0 * tolerance);
    case.check("studentised_external", &influence.studentized_residuals.unwrap(), 10.0 * tolerance);
    case.check("cooks_distance", &influence.cooks_distance, 10.0 * tolerance);
}

#[test]
fn misra1a() {
    check_nist("misra1a", nist::Model::Misra1a, 1e-11);
}

#[test]
fn thurber() {
    check_nist("thurber", nist::Model::Thurber, 1e-9);
}

#[test]
fn eckerle4() {
    check_nist("eckerle4", nist::Model::Eckerle4, 1e-11);
}

/// `a·exp(−k·x) + c`.
fn decay(x: f64, [a, k, c]: [Dual<f64, 3>; 3]) -> Dual<f64, 3> {
    a * (-k * x).exp() + c
}

const DECAY: [&str; 3] = ["a", "k", "c"];
const START: [f64; 3] = [5.0, 0.7, 0.8];

/// What weighted and correlated data have in common; the first fit takes the noise for relative, the other for absolute.
fn check_weighted(case: &Case, relative: &FittedCurve<'_, f64>, absolute: &FittedCurve<'_, f64>) {
    for fit in [relative, absolute] {
        case.check("parameters", &values(fit), 1e-12);
        case.check_one("chi_square", fit.chi_square(), 1e-12);
        case.check_one("reduced_chi_square", fit.reduced_chi_square().unwrap(), 1e-12);
        case.check("leverage", &fit.influence().unwrap().leverage, 1e-12);
    }
    case.check("standard_errors_relative", &errors(relative), 1e-12);
    case.check("covariance_relative", &flat(&relative.covariance().matrix()), 1e-12);
    case.check_one("aic_lmfit", relative.aic(), 1e-12);
    case.check_one("aicc", relative.aicc(), 1e-12);
    case.check_one("bic_lmfit", relative.bic(), 1e-12);
    case.check_one("loglik", relative.log_likelihood(), 1e-12);
    case.check_one("aic_r", -2.0 * relative.log_likelihood() + 8.0, 1e-12);
    assert_eq!(relative.goodness_of_fit(), None);
    let influence = relative.influence().unwrap();
    case.check("studentised_internal", &influence.standardized_residuals, 1e-11);
    case.check("studentised_external", &influence.studentized_residuals.unwrap(), 1e-11);
    case.check("cooks_distance", &influence.cooks_distance, 1e-11);

    case.check("standard_errors_absolute", &errors(absolute), 1e-12);
    case.check("covariance_absolute", &flat(&absolute.covariance().matrix()), 1e-12);
    case.check_one("loglik_absolute", absolute.log_likelihood(), 1e-12);
    case.check_one("aic_absolute", absolute.aic(), 1e-12);
    case.check_one("bic_absolute", absolute.bic(), 1e-12);
    let Test { statistic, p_value } = absolute.goodness_of_fit().unwrap();
    case.check_one("chi_square", statistic, 1e-12);
    case.check_one("probability", p_value, 1e-12);
    // The standardised residuals of a known noise are the others but for s.
    let (known, s) = (absolute.influence().unwrap(), relative.residual_standard_deviation().unwrap());
    let scaled: Vec<f64> = known.standardized_residuals.iter().map(|t| t / s).collect();
    case.check("studentised_internal", &scaled, 1e-11);
    assert_eq!(known.studentized_residuals.unwrap(), known.standardized_residuals);

    let x = case.of("band_x");
    case.check_band("band_confidence_relative", &relative.confidence_band(x, 0.95).unwrap(), 1e-12);
    case.check_band("band_confidence_absolute", &absolute.confidence_band(x, 0.95).unwrap(), 1e-12);
    assert!(matches!(relative.prediction_band(x, 0.95), Err(StatisticsError::UnknownSigma)));
    let (sigma, s) = (0.3, relative.residual_standard_deviation().unwrap());
    for (fit, noise) in [(relative, sigma * s), (absolute, sigma)] {
        let curve = fit.confidence_band(x, 0.95).unwrap();
        let responses = fit.prediction_band_with_sigma(x, &[sigma; 4], 0.95).unwrap();
        for (curve, response) in curve.iter().zip(&responses) {
            assert!((response.standard_error / curve.standard_error.hypot(noise) - 1.0).abs() < 1e-13);
            let quantiles = [curve, response].map(|point| (point.high - point.value) / point.standard_error);
            assert!((quantiles[0] / quantiles[1] - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn weighted() {
    let case = Case::read("weighted");
    let fit = |absolute: bool| {
        let fit = CurveFit::new(decay, case.of("x"), case.of("y"), START).names(DECAY).sigma(case.of("sigma"));
        fit.absolute_sigma(absolute).fit().unwrap()
    };
    let (relative, absolute) = (fit(false), fit(true));
    check_weighted(&case, &relative, &absolute);
    case.check_one("r_squared_weighted", relative.r_squared().unwrap(), 1e-12);
    case.check_one("r_squared_weighted", absolute.r_squared().unwrap(), 1e-12);
}

#[test]
fn correlated() {
    let case = Case::read("correlated");
    let (sigma, correlation) = (case.of("sigma"), case.of("correlation")[0]);
    let covariance = Array2::from_shape_fn((sigma.len(), sigma.len()), |(i, j)| {
        sigma[i] * sigma[j] * correlation.powi(i.abs_diff(j) as i32)
    });
    let fit = |absolute: bool| {
        let fit = CurveFit::new(decay, case.of("x"), case.of("y"), START).names(DECAY).data_covariance(&covariance);
        fit.absolute_sigma(absolute).fit().unwrap()
    };
    let (relative, absolute) = (fit(false), fit(true));
    check_weighted(&case, &relative, &absolute);
    // By the definition, with the generalised mean.
    let mean = CurveFit::new(|_, [c]| c, case.of("x"), case.of("y"), [0.0]).data_covariance(&covariance).fit().unwrap();
    let expected = 1.0 - relative.chi_square() / mean.chi_square();
    assert!((relative.r_squared().unwrap() - expected).abs() < 1e-12);
}

#[test]
fn poisson() {
    let case = Case::read("poisson");
    let fit = CurveFit::new(decay, case.of("x"), case.of("y"), [30.0, 0.5, 1.5]).counts().fit().unwrap();
    case.check("parameters", &values(&fit), 1e-12);
    case.check("covariance", &flat(&fit.covariance().matrix()), 1e-12);
    check_counts(&case, &fit);
    let case = Case::read("poisson_log");
    let log_linear = |x: f64, [b0, b1]: [Dual<f64, 2>; 2]| (b0 + b1 * x).exp();
    let fit = CurveFit::new(log_linear, case.of("x"), case.of("y"), [1.0, 0.6]).counts().fit().unwrap();
    case.check("parameters", &values(&fit), 1e-12);
    check_counts(&case, &fit);
}

fn check_counts(case: &Case, fit: &FittedCurve<'_, f64>) {
    case.check("standard_errors", &errors(fit), 1e-12);
    case.check("mean", &fit.fitted().to_vec(), 1e-12);
    case.check("residuals_pearson", &fit.whitened_residuals(), 1e-12);
    case.check_one("pearson", fit.chi_square(), 1e-12);
    case.check_one("deviance", fit.deviance(), 1e-12);
    case.check_one("loglik", fit.log_likelihood(), 1e-12);
    case.check_one("aic", fit.aic(), 1e-12);
    let scale = fit.reduced_chi_square().unwrap().sqrt();
    case.check("standard_errors_scaled", &errors(fit).iter().map(|error| scale * error).collect::<Vec<_>>(), 1e-12);
    // The normal quantile, and the mean as variance.
    let interval = fit.confidence_interval("b1", 0.95).unwrap();
    assert!((interval.high - interval.low - 2.0 * 1.959963984540054 * errors(fit)[0]).abs() < 1e-12);
    let (curve, counts) = (fit.confidence_band(&[1.0], 0.9).unwrap()[0], fit.prediction_band(&[1.0], 0.9).unwrap()[0]);
    assert!((counts.standard_error.powi(2) - curve.standard_error.powi(2) - curve.value).abs() < 1e-12);
    let given = fit.prediction_band_with_sigma(&[1.0], &[1.0], 0.9);
    assert!(matches!(given, Err(StatisticsError::SigmaOfCounts)));
    let leverage: f64 = fit.influence().unwrap().leverage.iter().sum();
    assert!((leverage - fit.parameters().len() as f64).abs() < 1e-12);
    assert!((0.0..1.0).contains(&fit.r_squared().unwrap()));
}

#[test]
fn derived() {
    let (case, set) = (Case::read("derived"), nist::DataSet::load(nist::Model::Misra1a));
    let x = set.x.concat();
    let fit = CurveFit::model(Nist(&set), &x, &set.y, &set.starts[1]).fit().unwrap();
    let product = Tie::new(["b1", "b2"], |[b1, b2]| b1 * b2);
    let logarithm = Tie::new(["b2", "b1"], |[b2, b1]| b1.ln() / b2);
    let estimates = [&product, &logarithm].map(|quantity| fit.derived(quantity).unwrap());
    case.check("value", &estimates.map(|estimate| estimate.value), 1e-12);
    case.check("standard_error", &estimates.map(|estimate| estimate.standard_error), 1e-12);
    let both = fit.derived_covariance([("product", &product), ("logarithm", &logarithm)]).unwrap();
    case.check("covariance", &flat(&both.matrix()), 1e-12);
}

#[test]
fn prior() {
    let (case, data) = (Case::read("prior"), Case::read("weighted"));
    let fit = CurveFit::new(decay, data.of("x"), data.of("y"), START).names(DECAY).sigma(data.of("sigma"));
    let fit = fit.absolute_sigma(true).prior("k", case.of("prior_mean")[0], case.of("prior_sigma")[0]).fit().unwrap();
    case.check("parameters", &values(&fit), 1e-12);
    case.check("standard_errors", &errors(&fit), 1e-12);
    case.check("covariance", &flat(&fit.covariance().matrix()), 1e-12);
    case.check_one("chi_square", fit.chi_square(), 1e-12);
    let whitened: f64 = fit.whitened_residuals().iter().map(|r| r * r).sum();
    case.check_one("chi_square_data", whitened, 1e-11);
    case.check_one("chi_square_prior", fit.chi_square() - whitened, 1e-11);
    // The prior is one observation more.
    assert_eq!((fit.number_of_observations(), fit.degrees_of_freedom()), (25, 22));
    let sigmas = data.of("sigma").iter().chain(case.of("prior_sigma"));
    let constants: f64 = sigmas.map(|sigma| (2.0 * std::f64::consts::PI * sigma * sigma).ln()).sum();
    assert!((fit.log_likelihood() + 0.5 * (fit.chi_square() + constants)).abs() < 1e-11);
    assert!(fit.influence().unwrap().leverage.iter().sum::<f64>() < 2.9);
    // But none of the responses, whose variance it does not explain.
    assert_eq!(fit.deviance(), fit.chi_square());
    let influence = fit.influence().unwrap();
    for ((distance, t), h) in
        influence.cooks_distance.iter().zip(&influence.standardized_residuals).zip(&influence.leverage)
    {
        assert!((distance - t * t * h / (3.0 * (1.0 - h))).abs() < 1e-10 * (1.0 + distance), "{distance}");
    }
    let adjusted = 1.0 - (1.0 - fit.r_squared().unwrap()) * 23.0 / 21.0;
    assert!((fit.adjusted_r_squared().unwrap() - adjusted).abs() < 1e-14);
}

#[test]
fn vector() {
    let case = Case::read("vector");
    let (t, rows) = (case.of("t"), case.of("t").len());
    let y = Array2::from_shape_fn((rows, 2), |(i, k)| case.of(["position", "velocity"][k])[i]);
    let sigma = Array2::from_shape_fn((rows, 2), |(_, k)| case.of("sigma")[k]);
    let oscillator = |t: &[f64], [a, g, w]: [Dual<f64, 3>; 3]| {
        let (decay, cosine, sine) = (a * (-g * t[0]).exp(), (w * t[0]).cos(), (w * t[0]).sin());
        [decay * cosine, -decay * (g * cosine + w * sine)]
    };
    let setting = || CurveFit::with_responses(oscillator, t, &y, [2.0, 0.3, 2.2]);
    let fit = setting().fit().unwrap();
    case.check("parameters", &values(&fit), 1e-12);
    case.check("standard_errors", &errors(&fit), 1e-12);
    case.check("covariance", &flat(&fit.covariance().matrix()), 1e-12);
    case.check_one("chi_square", fit.chi_square(), 1e-12);
    assert_eq!((fit.number_of_observations(), fit.degrees_of_freedom()), (30, 27));
    let column_squares = |k: usize| {
        let mean = y.column(k).sum() / rows as f64;
        y.column(k).iter().map(|y| (y - mean).powi(2)).sum::<f64>()
    };
    let expected = 1.0 - fit.chi_square() / (column_squares(0) + column_squares(1));
    assert!((fit.r_squared().unwrap() - expected).abs() < 1e-12);
    // Each response has a mean of its own, and its residuals are a series of their own.
    let adjusted = 1.0 - (1.0 - expected) * 28.0 / 27.0;
    assert!((fit.adjusted_r_squared().unwrap() - adjusted).abs() < 1e-12);
    let residuals = fit.residuals();
    let series: Vec<f64> = (0..2).flat_map(|k| residuals.iter().copied().skip(k).step_by(2)).collect();
    assert_eq!(fit.durbin_watson(), statistics::durbin_watson(&series));

    for (absolute, errors_name) in
        [(true, "weighted_standard_errors_absolute"), (false, "weighted_standard_errors_relative")]
    {
        let fit = setting().sigma(&sigma).absolute_sigma(absolute).fit().unwrap();
        case.check("weighted_parameters", &values(&fit), 1e-12);
        case.check_one("weighted_chi_square", fit.chi_square(), 1e-12);
        case.check(errors_name, &errors(&fit), 1e-12);
        // Each response has the same sigma in all rows, so that new ones have it, too.
        let s = if absolute { 1.0 } else { fit.residual_standard_deviation().unwrap() };
        let bands = [fit.confidence_band(&[0.7], 0.9).unwrap(), fit.prediction_band(&[0.7], 0.9).unwrap()];
        for (k, sigma) in case.of("sigma").iter().enumerate() {
            let noise = (bands[1][k].standard_error.powi(2) - bands[0][k].standard_error.powi(2)).sqrt();
            assert!((noise / (s * sigma) - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn tests_of_a_series() {
    for name in ["residuals_thurber", "sequence", "short"] {
        let case = Case::read(name);
        let values =
            if name == "residuals_thurber" { case.numbers.of("thurber", "residuals") } else { case.of("values") };
        let pairs = [
            ("runs_z", "runs_p", statistics::runs_test(values)),
            ("k_squared", "k_squared_p", statistics::dagostino_pearson(values)),
            ("jarque_bera", "jarque_bera_p", statistics::jarque_bera(values)),
            ("shapiro_w", "shapiro_p", statistics::shapiro_wilk(values)),
        ];
        for (statistic, p_value, test) in pairs {
            case.check_one(statistic, test.unwrap().statistic, 1e-12);
            case.check_one(p_value, test.unwrap().p_value, 1e-9);
        }
        case.check_one("durbin_watson", statistics::durbin_watson(values).unwrap(), 1e-13);
    }
}

#[test]
fn comparison() {
    let case = Case::read("polynomials");
    let (x, y) = (case.of("x"), case.of("y"));
    let line = CurveFit::new(|x, [a, b]| a + b * x, x, y, [1.0; 2]).fit().unwrap().criteria();
    let parabola = CurveFit::new(|x, [a, b, c]| a + (b + c * x) * x, x, y, [1.0; 3]).fit().unwrap().criteria();
    let cubic = CurveFit::new(|x, [a, b, c, d]| a + (b + (c + d * x) * x) * x, x, y, [1.0; 4]).fit().unwrap();
    let cubic = cubic.criteria();
    let all = [line, parabola, cubic];
    case.check("chi_square", &all.map(|criteria| criteria.chi_square), 1e-12);
    case.check("df", &all.map(|criteria| criteria.degrees_of_freedom() as f64), 0.0);
    case.check("aicc", &all.map(|criteria| criteria.aicc()), 1e-12);
    for (name, simple, full) in [("12", &line, &parabola), ("23", &parabola, &cubic), ("13", &line, &cubic)] {
        let test = f_test(simple, full).unwrap();
        case.check_one(&format!("f_{name}"), test.statistic, 1e-10);
        case.check_one(&format!("p_{name}"), test.p_value, 1e-10);
        let ratio = likelihood_ratio_test(simple, full).unwrap();
        assert!((ratio.statistic - 16.0 * (simple.chi_square / full.chi_square).ln()).abs() < 1e-11);
    }
    let names = ["line", "parabola", "cubic"];
    let comparison = Comparison::of(names.into_iter().zip(all)).unwrap();
    let fit = |name: &str| comparison.fits().iter().find(|fit| fit.name == name).unwrap();
    case.check("akaike_weights", &names.map(|name| fit(name).weight), 1e-11);
    case.check("evidence_ratio", &names.map(|name| fit(name).evidence_ratio()), 1e-11);
    let weights: Vec<f64> = comparison.fits().iter().map(|fit| fit.weight).collect();
    assert!(weights.is_sorted_by(|a, b| a >= b) && comparison.best().weight == weights[0]);
}
