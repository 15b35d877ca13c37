//! What the models compute.

use std::f64::consts::{LN_2, PI};

use marquardt::models::{self, Guess, Named};
use marquardt::problem::check_derivatives;
use marquardt::{AutoDiff, CurveFit, EvaluationError, Model, Residuals, Scalar, model};

use super::cases::{Case, cases};

/// A model at some predictors.
struct At<'a>(&'a Named, &'a [f64]);

impl Residuals<f64> for At<'_> {
    fn parameter_count(&self) -> usize {
        Model::<f64>::parameter_count(self.0)
    }

    fn residual_count(&self) -> usize {
        self.1.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, y: &mut [S]) -> Result<(), EvaluationError> {
        for (y, &x) in y.iter_mut().zip(&self.1[first..]) {
            *y = self.0.response(&[x], b);
        }
        Ok(())
    }
}

#[test]
fn derivatives_are_those_of_the_responses() {
    for model in Named::all() {
        for Case { x, truth } in cases(model.name()) {
            let moved: Vec<f64> = truth.iter().map(|b| b * 1.03).collect();
            let check = check_derivatives(&mut AutoDiff(At(&model, &x)), &moved);
            let check = check.unwrap_or_else(|error| panic!("{model} at {moved:?}: {error}"));
            assert!(check.passed(), "{model} at {moved:?}: {check}");
        }
    }
}

#[test]
fn names_are_unique_and_found() {
    let names: Vec<String> = Named::all().map(|model| model.to_string()).collect();
    for (index, model) in Named::all().enumerate() {
        assert!(!names[..index].contains(&names[index]));
        assert!(model.name().chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
        assert_eq!(Named::of_name(model.name()).as_ref(), Some(&model));
        assert_eq!(names[index], model.name());
        let parameters = model.parameters();
        assert_eq!(Model::<f64>::parameter_count(&model), parameters.len());
        for (j, parameter) in parameters.iter().enumerate() {
            assert!(!parameters[..j].contains(parameter));
            assert_eq!(Model::<f32>::parameter_name(&model, j), *parameter);
        }
    }
    assert_eq!(Named::of_name("gaussians"), None);
}

/// A model with as many parameters fits the responses of each of these exactly.
#[test]
fn reparameterized_models_have_the_curve_of_another() {
    let pairs = [
        ("langmuir", "michaelis_menten"),
        ("sips", "hill"),
        ("freundlich", "power_law"),
        ("herschel_bulkley", "power_law_offset"),
        ("bingham", "linear"),
        ("cross", "logistic4"),
        ("one_compartment_bolus", "exponential_decay"),
        ("two_compartment_bolus", "bi_exponential"),
        ("modified_gompertz", "gompertz"),
        ("modified_logistic", "logistic"),
        ("logistic5_ec50", "logistic5"),
        ("weibull2", "weibull1"),
        ("antoine", "vogel_fulcher_tammann"),
        ("exponential_rise_offset", "exponential_decay_offset"),
        ("logistic_step", "logistic"),
    ];
    for model in Named::all() {
        assert_eq!(model.is_reparameterized(), pairs.iter().any(|pair| pair.0 == model.name()), "{model}");
    }
    assert!(!Named::of_name("langmuir+linear").unwrap().is_reparameterized());
    for (name, other) in pairs {
        let (model, other) = (Named::of_name(name).unwrap(), Named::of_name(other).unwrap());
        assert_eq!(model.parameters().len(), other.parameters().len());
        assert!(!other.is_reparameterized());
        let Case { x, truth } = cases(name).swap_remove(0);
        let x: Vec<f64> = x.into_iter().filter(|&x| x != 0.0).collect();
        let y: Vec<f64> = x.iter().map(|&x| model.response(&[x], &truth)).collect();
        let fit = CurveFit::guessed(other.clone(), &x, &y).fit().unwrap();
        let total: f64 = y.iter().map(|y| y * y).sum();
        let left = fit.report().sum_of_squares() / total;
        assert!(left < 1e-20, "{other} leaves {left:e} of the squares of {model}");
    }
}

#[test]
fn formulas_name_every_parameter() {
    for model in Named::all() {
        let shortened = model.formula().contains("...");
        let words: Vec<&str> = model.formula().split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        for parameter in model.parameters() {
            assert!(
                shortened || words.contains(&parameter.as_str()),
                "{model}: {} without {parameter}",
                model.formula()
            );
        }
    }
}

#[test]
fn responses_are_linear_in_the_linear_parameters() {
    for model in Named::all() {
        let linear = Guess::<f64>::linear_parameters(&model);
        if linear.is_empty() {
            continue;
        }
        for Case { x, truth } in cases(model.name()) {
            for &x in &x {
                let response: f64 = model.response(&[x], &truth);
                let parts: Vec<f64> = linear
                    .iter()
                    .map(|index| {
                        let alone =
                            (0..truth.len()).map(|j| if linear.contains(&j) && j != *index { 0.0 } else { truth[j] });
                        model.response(&[x], &alone.collect::<Vec<f64>>())
                    })
                    .collect();
                let size = parts.iter().fold(0.0_f64, |size, part| size + part.abs());
                assert!((parts.iter().sum::<f64>() - response).abs() <= 1e-14 * size, "{model}");
            }
        }
    }
}

/// Responses at three places by lmfit 1.3.4.
#[test]
fn responses_are_lmfits() {
    let everywhere = [-1.5, 0.3, 2.0];
    let positive = [0.2, 0.7, 2.0];
    #[rustfmt::skip]
    let expected = [
        ("gaussian", vec![4.0, 1.0, 0.8], everywhere, [0.015111290175993795, 1.3602749918927177, 0.9132454269451097]),
        ("lorentzian", vec![4.0, 1.0, 0.8], everywhere, [0.14783623160930773, 0.9014085272461331, 0.6210924608464209]),
        ("voigt", vec![4.0, 1.0, 0.8, 0.5], everywhere, [0.14718878997561755, 1.0224309097465027, 0.8111065822016827]),
        ("pseudo_voigt", vec![4.0, 1.0, 0.8, 0.3], everywhere, [0.04623955559596243, 1.2374298481169372, 0.7429319269881838]),
        ("moffat", vec![4.0, 1.0, 0.8, 1.5], everywhere, [0.11324032821272662, 1.7049525119023077, 0.9751337327678818]),
        ("exponential_gaussian", vec![4.0, 1.0, 0.8, 0.5], everywhere, [0.0016012068083492282, 0.311001404334279, 1.0543465489194705]),
        ("skewed_gaussian", vec![4.0, 1.0, 0.8, 3.0], everywhere, [0.0, 0.011786642323745038, 1.8263293605274742]),
        ("sine", vec![4.0, 1.3, 0.5], everywhere, [-3.970851964150354, 3.1082869901072954, 0.16632264973316196]),
        ("exponential_decay", vec![4.0, 1.3], everywhere, [12.681452779552261, 3.1756906312718054, 0.8588446893667891]),
        ("arctan_step", vec![4.0, 1.0, 0.8], everywhere, [0.39432603611237615, 1.0847572185397856, 3.1408931499091093]),
        ("erf_step", vec![4.0, 1.0, 0.8], everywhere, [1.9793469250517504e-05, 0.43184987788028106, 3.8458002565129163]),
        ("logistic_step", vec![4.0, 1.0, 0.8], everywhere, [0.1683509116624755, 1.176859888651955, 3.1091994446987647]),
        ("log_normal", vec![4.0, 0.3, 0.8], positive, [0.5778369173199613, 2.0345652297064922, 0.883908721792455]),
        ("power_law", vec![4.0, -1.3], positive, [32.41313193385525, 6.3596401034322385, 1.624504792712471]),
    ];
    for (name, b, x, y) in expected {
        let model = Named::of_name(name).unwrap();
        for (x, y) in x.into_iter().zip(y) {
            let response: f64 = model.response(&[x], &b);
            assert!((response - y).abs() < 1e-13 * y.abs().max(0.1), "{name} at {x}: {response} instead of {y}");
        }
    }
}

/// The model of the library is what this formula says.
fn same(name: &str, formula: impl Model<f64>) {
    let model = Named::of_name(name).unwrap();
    for (j, parameter) in model.parameters().iter().enumerate() {
        assert_eq!(formula.parameter_name(j), *parameter, "{name}");
    }
    for Case { x, truth } in cases(name) {
        let by_library: Vec<f64> = x.iter().map(|&x| model.response(&[x], &truth)).collect();
        let by_formula: Vec<f64> = x.iter().map(|&x| formula.response(&[x], &truth)).collect();
        let size = by_formula.iter().fold(0.0_f64, |size, y| size.max(y.abs()));
        for ((x, a), b) in x.iter().zip(by_library).zip(by_formula) {
            // At x = 0 the plain formula of a saturation may be a quotient of zeros.
            assert!((a - b).abs() <= 1e-12 * size || (*x == 0.0 && b.is_nan()), "{name} at {x}: {a} instead of {b}");
        }
    }
}

#[test]
fn models_are_their_formulas() {
    same("constant", model!(|_x; c| c));
    same("linear", model!(|x; slope, intercept| slope * x + intercept));
    same("quadratic", model!(|x; a, b, c| a * x * x + b * x + c));
    same("polynomial3", model!(|x; c0, c1, c2, c3| c0 + c1 * x + c2 * pow(x, 2) + c3 * pow(x, 3)));
    same("exponential_decay", model!(|x; amplitude, decay| amplitude * exp(-x / decay)));
    same("exponential_decay_offset", model!(|x; amplitude, decay, offset| offset + amplitude * exp(-x / decay)));
    same("exponential_rise", model!(|x; amplitude, decay| amplitude * (1 - exp(-x / decay))));
    same("exponential_rise_offset", model!(|x; amplitude, decay, offset| offset + amplitude * (1 - exp(-x / decay))));
    same(
        "bi_exponential",
        model!(|x; amplitude1, decay1, amplitude2, decay2|
            amplitude1 * exp(-x / decay1) + amplitude2 * exp(-x / decay2)),
    );
    same("stretched_exponential", model!(|x; amplitude, decay, beta| amplitude * exp(-pow(x / decay, beta))));
    same("power_law", model!(|x; amplitude, exponent| amplitude * pow(x, exponent)));
    same("power_law_offset", model!(|x; amplitude, exponent, offset| offset + amplitude * pow(x, exponent)));
    same("logarithmic", model!(|x; a, b| a + b * ln(x)));
    same(
        "gaussian",
        model!(|x; amplitude, center, sigma|
            amplitude / (sigma * sqrt(2 * pi)) * exp(-pow(x - center, 2) / (2 * pow(sigma, 2))); pi = PI),
    );
    same(
        "lorentzian",
        model!(|x; amplitude, center, sigma| amplitude / pi * sigma / ((x - center).powi(2) + sigma.powi(2)); pi = PI),
    );
    same(
        "pseudo_voigt",
        model!(|x; amplitude, center, sigma, fraction| amplitude * (
            (1 - fraction) * exp(-ln2 * pow((x - center) / sigma, 2)) / sigma * sqrt(ln2 / pi)
            + fraction / (pi * sigma * (1 + pow((x - center) / sigma, 2)))
        ); pi = PI, ln2 = LN_2),
    );
    same(
        "moffat",
        model!(|x; amplitude, center, sigma, beta|
        amplitude * pow(1 + pow((x - center) / sigma, 2), -beta)),
    );
    same(
        "log_normal",
        model!(|x; amplitude, center, sigma|
            select_less(0, x, amplitude / (x * sigma * sqrt(2 * pi)) * exp(-pow((ln(x) - center) / sigma, 2) / 2), 0);
            pi = PI),
    );
    same("logistic", model!(|x; limit, center, rate| limit / (1 + exp(-rate * (x - center)))));
    same("gompertz", model!(|x; limit, center, rate| limit * exp(-exp(-rate * (x - center)))));
    same(
        "richards",
        model!(|x; limit, center, rate, shape| limit * pow(1 + shape * exp(-rate * (x - center)), -1 / shape)),
    );
    same("weibull_growth", model!(|x; limit, scale, shape| limit * (1 - exp(-pow(x / scale, shape)))));
    same("michaelis_menten", model!(|x; vmax, km| vmax * x / (km + x)));
    same("hill", model!(|x; vmax, k, n| vmax * pow(x, n) / (pow(k, n) + pow(x, n))));
    same("logistic4", model!(|x; bottom, top, ec50, hill| bottom + (top - bottom) / (1 + pow(ec50 / x, hill))));
    same(
        "logistic5",
        model!(|x; bottom, top, ec50, hill, asymmetry|
            bottom + (top - bottom) / pow(1 + pow(ec50 / x, hill), asymmetry)),
    );
    same(
        "boltzmann",
        model!(|x; bottom, top, center, width| bottom + (top - bottom) / (1 + exp(-(x - center) / width))),
    );
    same(
        "arctan_step",
        model!(|x; amplitude, center, sigma|
        amplitude * (1 / 2 + atan((x - center) / sigma) / pi); pi = PI),
    );
    same(
        "logistic_step",
        model!(|x; amplitude, center, sigma|
        amplitude * (1 - 1 / (1 + exp((x - center) / sigma)))),
    );
    same("sine", model!(|x; amplitude, frequency, shift| amplitude * sin(frequency * x + shift)));
    same(
        "damped_sine",
        model!(|x; amplitude, frequency, shift, decay| amplitude * exp(-x / decay) * sin(frequency * x + shift)),
    );
    same("arrhenius", model!(|x; prefactor, energy| prefactor * exp(-energy / (8.31446261815324 * x))));
    same("substrate_inhibition", model!(|x; vmax, km, ki| vmax * x / (km + x * (1 + x / ki))));
    same(
        "morrison",
        model!(|x; v0, et, ki_app|
            v0 * (1 - (et + x + ki_app - sqrt(pow(et + x + ki_app, 2) - 4 * et * x)) / (2 * et))),
    );
    same(
        "binding_with_depletion",
        model!(|x; bmax, kd, receptor| bmax
            * (x + receptor + kd - sqrt(pow(x + receptor + kd, 2) - 4 * x * receptor)) / (2 * receptor)),
    );
    same("langmuir", model!(|x; q_max, k| q_max * k * x / (1 + k * x)));
    same("freundlich", model!(|x; k, n| k * pow(x, 1 / n)));
    same("bet", model!(|x; q_m, c| q_m * c * x / ((1 - x) * (1 + (c - 1) * x))));
    same("toth", model!(|x; q_max, k, t| q_max * k * x / pow(1 + pow(k * x, t), 1 / t)));
    same("sips", model!(|x; q_max, k, n| q_max * pow(k * x, 1 / n) / (1 + pow(k * x, 1 / n))));
    same(
        "herschel_bulkley",
        model!(|x; yield_stress, consistency, flow_index| yield_stress + consistency * pow(x, flow_index)),
    );
    same("bingham", model!(|x; yield_stress, plastic_viscosity| yield_stress + plastic_viscosity * x));
    same(
        "casson",
        model!(|x; yield_stress, plastic_viscosity| pow(sqrt(yield_stress) + sqrt(plastic_viscosity * x), 2)),
    );
    same(
        "carreau",
        model!(|x; eta_0, eta_inf, lambda, n|
            eta_inf + (eta_0 - eta_inf) * pow(1 + pow(lambda * x, 2), (n - 1) / 2)),
    );
    same("cross", model!(|x; eta_0, eta_inf, lambda, m| eta_inf + (eta_0 - eta_inf) / (1 + pow(lambda * x, m))));
    same("one_compartment_bolus", model!(|x; c0, ke| c0 * exp(-ke * x)));
    same("one_compartment_oral", model!(|x; c0, ka, ke| c0 * ka * (exp(-ke * x) - exp(-ka * x)) / (ka - ke)));
    same("two_compartment_bolus", model!(|x; a, alpha, b, beta| a * exp(-alpha * x) + b * exp(-beta * x)));
    same("modified_gompertz", model!(|x; a, mu, lambda| a * exp(-exp(mu * exp(1) / a * (lambda - x) + 1))));
    same("modified_logistic", model!(|x; a, mu, lambda| a / (1 + exp(4 * mu / a * (lambda - x) + 2))));
    same(
        "baranyi_roberts",
        model!(|x; y0, ymax, mu, lag| y0 + ln(1 + exp(-mu * lag) * (exp(mu * x) - 1))
            - ln(1 + exp(-mu * lag) * (exp(mu * x) - 1) / exp(ymax - y0))),
    );
    same(
        "breit_wigner",
        model!(|x; amplitude, center, sigma, q|
            amplitude * pow(q * sigma / 2 + x - center, 2) / (pow(sigma / 2, 2) + pow(x - center, 2))),
    );
    same(
        "eyring",
        model!(|x; enthalpy, entropy|
            20836619123.327576 * x * exp(entropy / 8.31446261815324 - enthalpy / (8.31446261815324 * x))),
    );
    same("vogel_fulcher_tammann", model!(|x; eta_0, b, t_0| eta_0 * exp(b / (x - t_0))));
    same("antoine", model!(|x; a, b, c| pow(10, a - b / (c + x))));
    same(
        "van_genuchten",
        model!(|x; theta_r, theta_s, alpha, n|
            theta_r + (theta_s - theta_r) / pow(1 + pow(alpha * x, n), 1 - 1 / n)),
    );
    same("weibull1", model!(|x; b, c, d, e| c + (d - c) * exp(-exp(b * (ln(x) - ln(e))))));
    same("weibull2", model!(|x; b, c, d, e| c + (d - c) * (1 - exp(-exp(b * (ln(x) - ln(e)))))));
    same(
        "logistic5_ec50",
        model!(|x; bottom, top, ec50, hill, asymmetry|
            bottom + (top - bottom) / pow(1 + (pow(2, 1 / asymmetry) - 1) * pow(ec50 / x, hill), asymmetry)),
    );
    same("rational", model!(|x; a0, a1, b1| (a0 + a1 * x) / (1 + b1 * x)));
}

#[test]
fn polynomials_go_to_any_degree() {
    let model = models::Polynomial::new(12);
    let b: Vec<f64> = (0..13).map(|k| f64::from(k % 5) - 1.5).collect();
    let x: Vec<f64> = (0..40).map(|i| f64::from(i) / 20.0 - 1.0).collect();
    let y: Vec<f64> = x.iter().map(|&x| (0..).zip(&b).map(|(k, b)| b * x.powi(k)).sum()).collect();
    for (found, b) in model.guess(&x, &y).iter().zip(&b) {
        assert!((found - b).abs() < 1e-7);
    }
}

#[test]
fn single_precision_serves() {
    for model in Named::all() {
        let Case { x, truth } = cases(model.name()).swap_remove(0);
        let [x, truth] = [x, truth].map(|of| of.into_iter().map(|value| value as f32).collect::<Vec<f32>>());
        let y: Vec<f32> = x.iter().map(|&x| model.response(&[x], &truth)).collect();
        let fit = CurveFit::model(model.clone(), &x, &y, &model.guess(&x, &y)).fit().unwrap();
        let total: f32 = y.iter().map(|y| y * y).sum();
        let left = fit.report().sum_of_squares() / total;
        assert!(left < 1e-9, "{model}: {left:e} of the squares are left\n{fit}");
    }
}
