//! Derived quantities: their formulas, and what the curves say of them.

use std::f64::consts::PI;

use marquardt::models::Named;
use marquardt::{Model, Tie};

use super::cases::{Case, cases};

/// The curve of a model at these parameters.
struct Curve<'a> {
    model: &'a Named,
    b: &'a [f64],
}

impl Curve<'_> {
    fn at(&self, x: f64) -> f64 {
        self.model.response(&[x], self.b)
    }

    fn parameter(&self, name: &str) -> f64 {
        self.b[self.model.parameters().iter().position(|parameter| parameter == name).unwrap()]
    }

    /// The slope by central differences, extrapolated once.
    fn slope(&self, x: f64, length: f64) -> f64 {
        let difference = |h: f64| (self.at(x + h) - self.at(x - h)) / (2.0 * h);
        (4.0 * difference(1e-3 * length) - difference(2e-3 * length)) / 3.0
    }

    /// Where the curve takes a value between two places, by bisection.
    fn crossing(&self, level: f64, mut from: f64, mut to: f64) -> f64 {
        let is_above = self.at(from) > level;
        assert_ne!(is_above, self.at(to) > level, "{}: {level} is not between {from} and {to}", self.model);
        for _ in 0..200 {
            let middle = 0.5 * (from + to);
            if (self.at(middle) > level) == is_above { from = middle } else { to = middle }
        }
        from
    }

    /// Where the curve is farthest from zero between two places, by golden sections.
    fn extremum(&self, mut from: f64, mut to: f64) -> f64 {
        let part = 0.5 * (5.0_f64.sqrt() - 1.0);
        for _ in 0..100 {
            let (left, right) = (to - part * (to - from), from + part * (to - from));
            if self.at(left).abs() > self.at(right).abs() { to = right } else { from = left }
        }
        0.5 * (from + to)
    }

    /// The integral of `weight` times the curve over all `x`, by the trapezoidal rule after `x = middle + length sinh t`.
    fn moment(&self, middle: f64, length: f64, weight: impl Fn(f64) -> f64) -> f64 {
        let term = |t: f64| {
            let x = middle + length * t.sinh();
            weight(x) * self.at(x) * length * t.cosh()
        };
        (-4000..=4000).map(|i| 0.01 * term(0.01 * f64::from(i))).filter(|term| term.is_finite()).sum()
    }

    /// The same over `x > 0`, after `x = length exp(t − exp(−t))`.
    fn moment_above_zero(&self, length: f64, weight: impl Fn(f64) -> f64) -> f64 {
        let term = |t: f64| {
            let x = length * (t - (-t).exp()).exp();
            weight(x) * self.at(x) * x * (1.0 + (-t).exp())
        };
        (-600..=10000).map(|i| 0.01 * term(0.01 * f64::from(i))).filter(|term| term.is_finite()).sum()
    }
}

/// Value of a derived quantity that the curve itself has, if it has one.
///
/// It returns two numbers that are to be equal, of which the first is the quantity or depends on it.
fn by_curve(curve: &Curve<'_>, name: &str, value: f64) -> [f64; 2] {
    let p = |name| curve.parameter(name);
    let model = curve.model.name();
    let reached = |part: f64| p("bottom") + part * (p("top") - p("bottom"));
    let is_peak = ["gaussian", "lorentzian", "voigt", "pseudo_voigt", "moffat"].contains(&model);
    match (model, name) {
        (_, "root") => [curve.at(value) + 1.0, 1.0],
        ("rational", "pole") => [curve.at(value * (1.0 + 1e-12)).abs().recip() + 1.0, 1.0],
        ("rational", "asymptote") => [value, curve.at(1e12)],
        ("quadratic", "vertex") => [curve.at(value + 0.5), curve.at(value - 0.5)],
        ("quadratic", "extremum") => [value, curve.at(-p("b") / (2.0 * p("a")))],
        (_, "span") if model.starts_with("weibull") => [value.abs(), (curve.at(1e99) - curve.at(0.0)).abs()],
        ("boltzmann", "span") => [value, (curve.at(1e9) - curve.at(-1e9)) * p("width").signum()],
        (_, "span") => [value, (curve.at(1e99) - curve.at(0.0)) * p("hill").signum()],
        // Decays and rises.
        ("exponential_decay" | "stretched_exponential" | "one_compartment_bolus", "half_life") => {
            [curve.at(value), 0.5 * curve.at(0.0)]
        }
        ("exponential_decay_offset", "half_life") => {
            [curve.at(value) - p("offset"), 0.5 * (curve.at(0.0) - p("offset"))]
        }
        ("exponential_decay_offset", "initial") | ("two_compartment_bolus", "c0") => [value, curve.at(0.0)],
        ("exponential_rise" | "weibull_growth", "half_time") => [curve.at(value), 0.5 * curve.at(1e9)],
        ("exponential_rise_offset", "half_time") => [curve.at(value), 0.5 * (curve.at(0.0) + curve.at(1e9))],
        ("exponential_rise_offset", "plateau") => [value, curve.at(1e9)],
        ("exponential_rise", "initial_slope") => [value, curve.slope(0.0, p("decay"))],
        (_, "rate") => [value * p("decay"), 1.0],
        ("exponential_decay", "area") if p("decay") < 0.0 => [value, p("amplitude") * p("decay")],
        ("exponential_decay" | "bi_exponential", "area") => [value, curve.moment_above_zero(1.0, |_| 1.0)],
        ("bi_exponential", "half_life1") => [value, 2.0_f64.ln() * p("decay1")],
        ("bi_exponential", "half_life2") => [value, 2.0_f64.ln() * p("decay2")],
        ("stretched_exponential", "mean_time") => {
            [value, curve.moment_above_zero(p("decay"), |_| 1.0) / p("amplitude")]
        }
        // Peaks.
        ("log_normal", "area") => [value, curve.moment_above_zero(p("center").exp(), |_| 1.0)],
        ("log_normal", "mean") => [value, curve.moment_above_zero(p("center").exp(), |x| x) / p("amplitude")],
        ("log_normal", "median") => [value.ln(), p("center")],
        ("log_normal", "mode" | "height" | "fwhm") => {
            let mode = curve.extremum(1e-3 * p("center").exp(), p("center").exp());
            let half = 0.5 * curve.at(mode);
            match name {
                "mode" => [curve.at(value), curve.at(mode)],
                "height" => [value, curve.at(mode)],
                _ => [value, curve.crossing(half, mode, 100.0 * mode) - curve.crossing(half, 0.0, mode)],
            }
        }
        (_, "area") => [value, curve.moment(p("center"), p("sigma"), |_| 1.0)],
        (_, "height") if is_peak => [value, curve.at(p("center"))],
        (_, "fwhm") if is_peak => {
            let half = 0.5 * curve.at(p("center"));
            [value, 2.0 * (curve.crossing(half, p("center"), p("center") + 1e3) - p("center"))]
        }
        ("exponential_gaussian" | "skewed_gaussian", "mean" | "deviation") => {
            let mean = curve.moment(p("center"), p("sigma"), |x| x) / p("amplitude");
            let variance = curve.moment(p("center"), p("sigma"), |x| (x - mean).powi(2)) / p("amplitude");
            [value, if name == "mean" { mean } else { variance.sqrt() }]
        }
        ("breit_wigner", "zero") => [curve.at(value) / p("amplitude") + 1.0, 1.0],
        ("breit_wigner", "height") => [value, curve.at(p("center") + 0.5 * p("sigma") / p("q"))],
        ("breit_wigner", "maximum_at") => {
            let width = 0.1 * p("sigma") / p("q");
            [value, curve.extremum(value - 1.1 * width, value + 0.9 * width)]
        }
        // Growth.
        ("modified_gompertz" | "modified_logistic", "time_of_largest_slope") => [p("mu"), curve.slope(value, 1.0)],
        ("modified_gompertz" | "modified_logistic", "value_at_largest_slope") => {
            let part = if model == "modified_gompertz" { (-1.0_f64).exp() } else { 0.5 };
            [value, curve.at(p("lambda") + part * p("a") / p("mu"))]
        }
        ("richards", "value_at_center") => [value, curve.at(p("center"))],
        ("logistic" | "gompertz" | "richards", "largest_slope") => [value, curve.slope(p("center"), 1.0)],
        ("logistic" | "gompertz", "lag") => {
            let center = p("center");
            [value, center - curve.at(center) / curve.slope(center, 1.0)]
        }
        ("baranyi_roberts", "doubling_time") => [value * p("mu"), 2.0_f64.ln()],
        // The first slope is the largest one times the share of cells that grow, and that of the room that is left.
        ("baranyi_roberts", "initial_state") => {
            let left = -(p("y0") - p("ymax")).exp_m1();
            [value, curve.slope(0.0, 1.0) / (p("mu") * left)]
        }
        ("baranyi_roberts", "log_growth") => [value, curve.at(1e3) - curve.at(0.0)],
        // Saturation.
        ("michaelis_menten" | "substrate_inhibition", "efficiency") => {
            let little = 1e-12 * p("km");
            [value, curve.at(little) / little]
        }
        ("langmuir" | "toth", "henry_constant") => {
            let little = if model == "toth" { 1e-40 } else { 1e-12 };
            [value, curve.at(little / p("k")) / (little / p("k"))]
        }
        ("langmuir" | "toth" | "sips", "half_saturation") => [curve.at(value), 0.5 * p("q_max")],
        ("binding_with_depletion", "half_saturation") => [curve.at(value), 0.5 * p("bmax")],
        ("bet", "monolayer_pressure") => [curve.at(value), p("q_m")],
        ("substrate_inhibition", "highest_rate") => [value, curve.at((p("km") * p("ki")).sqrt())],
        ("substrate_inhibition", "optimum") => [curve.at(1.1 * value), curve.at(value / 1.1)],
        ("morrison", "ic50") => [curve.at(value), 0.5 * p("v0")],
        ("hill", "ec10") => [curve.at(value), 0.1 * p("vmax")],
        ("hill", "ec90") => [curve.at(value), 0.9 * p("vmax")],
        ("logistic4", "ec10") => [curve.at(value), reached(0.1)],
        ("logistic4", "ec90") => [curve.at(value), reached(0.9)],
        ("logistic4" | "logistic5_ec50", "pec50") => [curve.at(10.0_f64.powf(-value)), reached(0.5)],
        ("logistic5", "half_dose") => [curve.at(value), reached(0.5)],
        ("logistic5_ec50", "inflection") => {
            let slope = |x: f64| curve.at(x * 1.001) - curve.at(x / 1.001);
            [slope(value * 1.01), slope(value / 1.01)]
        }
        (_, "ed50") => [curve.at(value), 0.5 * (p("c") + p("d"))],
        // Steps.
        ("boltzmann", "slope_at_center") => [value, curve.slope(p("center"), p("width").abs())],
        (_, "slope_at_center") => [value, curve.slope(p("center"), p("sigma"))],
        ("boltzmann", "width_10_90") => {
            let far = 99.0 * p("width");
            let place = |part| curve.crossing(reached(part), p("center") - far, p("center") + far);
            [value, place(0.9) - place(0.1)]
        }
        (_, "width_10_90" | "width_25_75") => {
            let low = if name == "width_10_90" { 0.1 } else { 0.25 };
            let far = 99.0 * p("sigma");
            let place = |part: f64| curve.crossing(part * p("amplitude"), p("center") - far, p("center") + far);
            [value, place(1.0 - low) - place(low)]
        }
        // Waves.
        ("sine", "period") => [curve.at(0.3), curve.at(0.3 + value)],
        ("sine", "peak_to_peak") => {
            let quarter = 0.5 * PI / p("frequency");
            let top = quarter - p("shift") / p("frequency");
            [value, curve.at(top) - curve.at(top + 2.0 * quarter)]
        }
        ("damped_sine", "period") => [curve.at(0.3) * (-value / p("decay")).exp(), curve.at(0.3 + value)],
        ("damped_sine", "half_life") => {
            let undamped = |x: f64| curve.at(x) / (p("frequency") * x + p("shift")).sin();
            [undamped(value), 0.5 * undamped(0.0)]
        }
        // π times the periods in which the amplitude falls to 1/e.
        ("damped_sine", "quality") => [value, PI * p("decay") / (2.0 * PI / p("frequency"))],
        // Temperatures.
        ("arrhenius", "rate_298") => [value, curve.at(298.15)],
        ("eyring", "free_energy_298") => {
            let attempts = 298.15 * 20836619123.327576;
            [value, -8.31446261815324 * 298.15 * (curve.at(298.15) / attempts).ln()]
        }
        ("vogel_fulcher_tammann", "strength") => [value * p("t_0"), p("b")],
        ("antoine", "boiling_point_at_1") => [curve.at(value), 1.0],
        ("antoine", "boiling_point_at_760") => [curve.at(value), 760.0],
        // Fluids and soils.
        ("casson", "critical_rate") => [curve.at(value), 4.0 * p("yield_stress")],
        ("carreau", "critical_rate") => {
            let thinned = (curve.at(value) - p("eta_inf")) / (p("eta_0") - p("eta_inf"));
            [thinned, 2.0_f64.powf(0.5 * (p("n") - 1.0))]
        }
        ("cross", "critical_rate") => [curve.at(value), 0.5 * (p("eta_0") + p("eta_inf"))],
        ("van_genuchten", "inflection") => {
            let h = 0.01 * value;
            [curve.slope(value + h, h), curve.slope(value - h, h)]
        }
        ("van_genuchten", "m") => [value, 1.0 - 1.0 / p("n")],
        // Pharmacokinetics.
        (_, "auc") => {
            [value, curve.moment_above_zero(1.0 / p(if model.starts_with("two") { "beta" } else { "ke" }), |_| 1.0)]
        }
        (_, "mean_residence_time") => {
            let length = value;
            [value, curve.moment_above_zero(length, |x| x) / curve.moment_above_zero(length, |_| 1.0)]
        }
        ("one_compartment_oral", "tmax") => [1.0, 1.0 + curve.slope(value, 0.1 * value) * value / curve.at(value)],
        ("one_compartment_oral", "cmax") => [value, curve.at(curve.extremum(0.0, 5.0 / p("ke")))],
        ("one_compartment_oral", "half_life") => [0.5, curve.at(90.0 / p("ke") + value) / curve.at(90.0 / p("ke"))],
        ("one_compartment_oral", "absorption_half_life") => [value * p("ka"), 2.0_f64.ln()],
        ("two_compartment_bolus", "half_life_alpha") => [value * p("alpha"), 2.0_f64.ln()],
        ("two_compartment_bolus", "half_life_beta") => [0.5, curve.at(400.0 + value) / curve.at(400.0)],
        // Loss from the central compartment at the start, and the rate constants that the macro constants are made of.
        ("two_compartment_bolus", "k10") => [curve.at(0.0) / value, curve.moment_above_zero(1.0 / p("beta"), |_| 1.0)],
        ("two_compartment_bolus", "k21") => {
            let k10 = curve.at(0.0) / curve.moment_above_zero(1.0 / p("beta"), |_| 1.0);
            [value * k10, p("alpha") * p("beta")]
        }
        _ => panic!("nothing tests {model}: {name}"),
    }
}

/// Agreement to this part: of quantities that are approximations, as far as they go.
fn tolerance(model: &str, name: &str) -> f64 {
    match (model, name) {
        ("voigt", "fwhm") => 3e-4,
        ("van_genuchten" | "logistic5_ec50", "inflection") => 5e-6,
        ("breit_wigner", "maximum_at") => 1e-6,
        _ => 1e-7,
    }
}

#[test]
fn curves_have_the_derived_quantities() {
    let (mut tested, mut wrong) = (0, Vec::new());
    for model in Named::all() {
        for (name, formula) in model.derived_quantities() {
            let tie = Tie::<f64>::parse(&formula).unwrap_or_else(|error| panic!("{model}: {name}: {error}"));
            assert!(!model.parameters().contains(&name), "{model}: {name}");
            for Case { x: _, truth } in cases(model.name()) {
                let curve = Curve { model: &model, b: &truth };
                let of: Vec<f64> = tie.of().iter().map(|name| curve.parameter(name)).collect();
                let mut gradient = vec![0.0; of.len()];
                let value = tie.value(&of, Some(&mut gradient));
                assert!(value.is_finite() && gradient.iter().all(|slope| slope.is_finite()), "{model}: {name}");
                let [found, expected] = by_curve(&curve, &name, value);
                let error = (found - expected).abs() / expected.abs();
                if !(error < tolerance(model.name(), &name)) {
                    wrong.push(format!("{model} at {truth:?}: {name} = {value}: {found} instead of {expected}"));
                }
                tested += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tested > 300, "{tested}");
}

#[test]
fn derived_quantities_of_sums_have_prefixes() {
    let quantities = |name: &str| Named::of_name(name).unwrap().derived_quantities();
    let with = |name: &str, formula: &str| (name.to_owned(), formula.to_owned());
    let peaks = quantities("voigt+moffat+voigt");
    assert!(peaks.contains(&with("voigt2_area", "voigt2_amplitude")));
    let expected = with("moffat_fwhm", r#"2 * moffat_sigma * sqrt(2^(1 / "moffat_beta") - 1)"#);
    assert!(peaks.contains(&expected), "{peaks:?}");
    assert!(quantities("gaussian+linear").contains(&with("root", "-intercept / slope")));
    // No parameter is common to these two, but the name of a quantity.
    let decays = quantities("exponential_decay+one_compartment_bolus");
    assert!(decays.contains(&with("exponential_decay_half_life", "ln(2) * decay")));
    assert!(decays.contains(&with("one_compartment_bolus_half_life", "ln(2) / ke")));
    for name in [
        "voigt+moffat+voigt",
        "gaussian+linear",
        "exponential_decay+one_compartment_bolus",
        "moffat+stretched_exponential+two_compartment_bolus",
    ] {
        let model = Named::of_name(name).unwrap();
        let quantities = model.derived_quantities();
        for (index, (name, formula)) in quantities.iter().enumerate() {
            assert!(quantities[..index].iter().all(|other| other.0 != *name), "{model}: {name} twice");
            let tie = Tie::<f64>::parse(formula).unwrap();
            assert!(tie.of().iter().all(|name| model.parameters().contains(name)), "{model}: {formula}");
        }
    }
}

/// Far above 30 times the Gaussian's sigma, an asymptotic series has the height of Voigt's profile.
#[test]
fn heights_of_wide_lorentzians_are_finite() {
    let model = Named::of_name("voigt").unwrap();
    let (_, formula) = model.derived_quantities().swap_remove(1);
    let tie = Tie::<f64>::parse(&formula).unwrap();
    for gamma in [29.9, 30.1, 60.0, 1e6] {
        let b = [4.0, 1.0, 1.0, gamma];
        let value = Curve { model: &model, b: &b }.at(1.0);
        let of: Vec<f64> = tie.of().iter().map(|name| Curve { model: &model, b: &b }.parameter(name)).collect();
        assert!((tie.value(&of, None) / value - 1.0).abs() < 1e-7, "{gamma}");
    }
}
