//! Parameters and predictors to try every model of the library with.

use std::f64::consts::FRAC_PI_4;

/// Predictors, and true parameters.
pub struct Case {
    pub x: Vec<f64>,
    pub truth: Vec<f64>,
}

pub fn even(from: f64, to: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| from + (to - from) * i as f64 / (count - 1) as f64).collect()
}

fn geometric(from: f64, to: f64, count: usize) -> Vec<f64> {
    even(from.ln(), to.ln(), count).into_iter().map(f64::exp).collect()
}

/// Several cases of the model of this name.
pub fn cases(name: &str) -> Vec<Case> {
    let at = |x: Vec<f64>, truths: &[&[f64]]| {
        truths.iter().map(|truth| Case { x: x.clone(), truth: truth.to_vec() }).collect::<Vec<_>>()
    };
    let far = |x: Vec<f64>, truth: &[f64]| Case { x, truth: truth.to_vec() };
    let with = |mut cases: Vec<Case>, more: Case| {
        cases.push(more);
        cases
    };
    match name {
        "constant" => at(even(-1.0, 4.0, 30), &[&[3.0], &[-0.02], &[5e6]]),
        "linear" => at(even(-3.0, 7.0, 40), &[&[2.0, 1.0], &[-0.3, 40.0], &[1e5, -2e5]]),
        "quadratic" => at(even(-3.0, 7.0, 40), &[&[2.0, 1.0, -3.0], &[-0.3, 0.1, 40.0], &[0.01, 2.0, 0.5]]),
        "exponential_decay" => with(
            at(even(0.0, 10.0, 60), &[&[5.0, 2.0], &[-0.3, 8.0], &[200.0, 0.6], &[1.0, -4.0]]),
            far(even(300.0, 400.0, 50), &[90.0, 60.0]),
        ),
        "exponential_decay_offset" => with(
            at(even(0.0, 10.0, 80), &[&[5.0, 2.0, 1.0], &[-3.0, 4.0, 8.0], &[200.0, 0.6, -50.0], &[2.0, -4.0, 1.0]]),
            far(even(0.0, 1e-6, 8), &[3.0, 2e-7, 0.5]),
        ),
        "exponential_rise" => at(even(0.0, 10.0, 60), &[&[5.0, 2.0], &[-0.3, 8.0], &[200.0, 0.6]]),
        "exponential_rise_offset" => {
            at(even(0.0, 10.0, 60), &[&[5.0, 2.0, 1.0], &[-3.0, 4.0, 8.0], &[200.0, 0.6, -50.0]])
        }
        "bi_exponential" => {
            at(even(0.0, 30.0, 150), &[&[5.0, 1.0, 3.0, 10.0], &[40.0, 0.7, 60.0, 6.0], &[-2.0, 1.5, 5.0, 12.0]])
        }
        "stretched_exponential" => at(even(0.0, 10.0, 80), &[&[5.0, 2.0, 0.6], &[0.3, 3.0, 1.0], &[-20.0, 4.0, 2.5]]),
        "power_law" => at(even(0.2, 8.0, 60), &[&[2.0, 1.5], &[-3.0, 0.4], &[10.0, -1.3], &[1e-3, 4.2]]),
        "power_law_offset" => {
            at(even(0.2, 8.0, 80), &[&[2.0, 1.5, 3.0], &[-3.0, 0.5, 2.0], &[10.0, -1.3, 20.0], &[1e-3, 4.2, 1.0]])
        }
        "logarithmic" => at(even(0.2, 8.0, 40), &[&[2.0, 1.5], &[-3.0, 0.5], &[10.0, -1.3]]),
        "gaussian" | "lorentzian" | "erf_step" | "arctan_step" | "logistic_step" => with(
            at(even(-5.0, 5.0, 120), &[&[4.0, 1.0, 0.8], &[-300.0, -2.0, 0.3], &[0.02, 3.5, 1.5]]),
            far(even(1000.0, 1040.0, 100), &[7.0, 1011.0, 1.7]),
        ),
        "voigt" => at(even(-8.0, 8.0, 70), &[&[4.0, 1.0, 0.8, 0.5], &[-300.0, -2.0, 0.3, 0.8], &[0.02, 2.5, 1.0, 0.9]]),
        "pseudo_voigt" => {
            at(even(-8.0, 8.0, 120), &[&[4.0, 1.0, 0.8, 0.5], &[-300.0, -2.0, 0.5, 0.8], &[0.02, 2.5, 1.5, 0.2]])
        }
        "moffat" => {
            at(even(-8.0, 8.0, 70), &[&[4.0, 1.0, 0.8, 1.5], &[-300.0, -2.0, 1.0, 1.0], &[0.02, 2.5, 1.5, 3.0]])
        }
        "exponential_gaussian" => {
            at(even(0.0, 30.0, 70), &[&[4.0, 6.0, 0.8, 0.5], &[-300.0, 12.0, 1.0, 0.4], &[0.02, 9.0, 1.5, 0.3]])
        }
        "skewed_gaussian" => {
            at(even(-5.0, 10.0, 70), &[&[4.0, 1.0, 1.8, 3.0], &[-300.0, -2.0, 2.0, 2.0], &[0.02, 4.5, 1.5, -4.0]])
        }
        "log_normal" => at(even(0.0, 20.0, 100), &[&[4.0, 1.0, 0.5], &[-300.0, 2.0, 0.3], &[0.02, 0.5, 0.8]]),
        "logistic" | "gompertz" => with(
            at(even(0.0, 20.0, 80), &[&[4.0, 8.0, 0.7], &[300.0, 12.0, 0.5], &[0.02, 6.0, -0.9], &[9.0, 10.0, 2.0]]),
            far(even(1900.0, 2000.0, 11), &[300.0, 1960.0, 0.06]),
        ),
        "richards" => {
            at(even(0.0, 20.0, 100), &[&[4.0, 8.0, 0.7, 0.5], &[300.0, 12.0, 0.9, 2.0], &[0.02, 7.0, 0.6, 1.0]])
        }
        "weibull_growth" => at(even(0.0, 20.0, 80), &[&[4.0, 8.0, 1.5], &[300.0, 3.0, 0.8], &[0.02, 10.0, 4.0]]),
        "michaelis_menten" => with(
            at(even(0.0, 20.0, 60), &[&[4.0, 3.0], &[300.0, 0.5], &[0.02, 15.0]]),
            far(geometric(1e-6, 1e-2, 6), &[8.0, 2e-4]),
        ),
        "hill" => with(
            at(even(0.0, 20.0, 80), &[&[4.0, 5.0, 2.0], &[300.0, 3.0, 1.3], &[0.02, 8.0, 5.0]]),
            far(geometric(1e-9, 1e-3, 9), &[8.0, 2e-6, 1.0]),
        ),
        "logistic4" => with(
            at(
                geometric(0.01, 1000.0, 60),
                &[&[1.0, 5.0, 3.0, 1.0], &[-20.0, 300.0, 20.0, -2.0], &[0.02, 0.05, 8.0, 0.7]],
            ),
            far(even(0.0, 20.0, 8), &[0.1, 2.5, 6.0, 3.0]),
        ),
        "logistic5" => at(
            geometric(0.001, 1000.0, 100),
            &[&[1.0, 5.0, 3.0, 1.0, 2.0], &[20.0, 300.0, 2.0, -2.0, 0.5], &[0.02, 0.05, 0.5, 1.5, 0.6]],
        ),
        "boltzmann" => at(
            even(-90.0, 60.0, 100),
            &[&[0.0, 1.0, -30.0, 6.0], &[-4.0, 200.0, 5.0, 12.0], &[0.02, 0.05, -20.0, -9.0]],
        ),
        "sine" => with(
            at(
                even(0.0, 20.0, 170),
                &[&[4.0, 1.3, 0.5], &[300.0, 9.0, -2.0], &[0.02, 0.4, 3.0], &[1.0, 25.0, 1.0], &[2.0, 0.2, 0.3]],
            ),
            far(even(500.0, 505.0, 12), &[7.0, 3.0, FRAC_PI_4]),
        ),
        "damped_sine" => at(
            even(0.0, 20.0, 180),
            &[&[4.0, 1.3, 0.5, 6.0], &[300.0, 9.0, -2.0, 4.0], &[0.02, 4.0, 3.0, 30.0], &[1.0, 2.0, 1.0, 2.0]],
        ),
        "arrhenius" => with(
            at(even(280.0, 350.0, 40), &[&[1e10, 6e4], &[3.0e5, 3e4], &[2e13, 8.5e4]]),
            far(even(500.0, 1500.0, 60), &[1e9, 1.5e5]),
        ),
        "rational" => {
            at(even(0.0, 10.0, 80), &[&[1.0, 3.0, 0.5], &[-2.0, 5.0, 2.0], &[4.0, 0.1, 0.3], &[1.0, 2.0, -0.05]])
        }
        _ => {
            let degree: usize = name.strip_prefix("polynomial").expect("every model has cases").parse().unwrap();
            let truth =
                |seed: usize| (0..=degree).map(|k| ((3 * seed + 7 * k) % 11) as f64 - 5.5).collect::<Vec<f64>>();
            at(even(-1.0, 1.2, 80), &[&truth(1), &truth(2), &truth(3)])
        }
    }
}
