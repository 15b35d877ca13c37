//! Starts from data.

use marquardt::models::{Guess, Named};
use marquardt::{CurveFit, Model};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use crate::cases::{Case, cases};

fn responses(model: Named, x: &[f64], b: &[f64]) -> Vec<f64> {
    x.iter().map(|&x| model.response(&[x], b)).collect()
}

/// With normal errors of a part of the largest response.
fn noisy(y: &[f64], part: f64, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let deviation = part * y.iter().fold(0.0_f64, |size, y| size.max(y.abs()));
    y.iter().map(|y| y + deviation * Distribution::<f64>::sample(&StandardNormal, &mut random)).collect()
}

/// The fit from the guess of exact data finds the truth.
fn finds_the_truth(model: Named, Case { x, truth }: &Case) {
    let y = responses(model, x, truth);
    let start = model.guess(x, &y);
    let fit = CurveFit::model(model, x, &y, &start).fit().unwrap();
    for (parameter, &truth) in fit.parameters().iter().zip(truth) {
        let error = (parameter.value - truth).abs();
        assert!(error <= 1e-6 * truth.abs().max(1e-3), "{model} from {start:?}: {parameter:?} instead of {truth}");
    }
}

/// The fit from the guess of noisy data does as well as the one from the truth, and ends near the truth.
fn finds_the_best(model: Named, Case { x, truth }: &Case, seed: u64) {
    let y = noisy(&responses(model, x, truth), 0.02, seed);
    let start = model.guess(x, &y);
    let fit = CurveFit::model(model, x, &y, &start).fit().unwrap();
    let best = CurveFit::model(model, x, &y, truth).fit().unwrap();
    let [sum, least] = [&fit, &best].map(|fit| fit.report().sum_of_squares());
    assert!(sum <= least * (1.0 + 1e-6), "{model} {truth:?} from {start:?}: {sum:e} instead of {least:e}");
    for (parameter, truth) in fit.parameters().iter().zip(truth) {
        let error = (parameter.value - truth).abs() / parameter.standard_error;
        assert!(error < 5.0, "{model} from {start:?}: {parameter:?} instead of {truth}");
    }
}

macro_rules! fits_from_guesses {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let name = stringify!($name);
                let model = Named::of_name(name).unwrap();
                let cases = cases(name);
                assert!(cases.len() >= 3);
                for (case, seed) in cases.iter().zip(1..) {
                    finds_the_truth(model, case);
                    finds_the_best(model, case, seed);
                }
            }
        )*

        #[test]
        fn all_models_are_tested() {
            let tested = [$(stringify!($name)),*];
            assert_eq!(Named::all().map(Named::name).collect::<Vec<_>>(), tested);
        }
    };
}

fits_from_guesses! {
    constant linear quadratic exponential_decay exponential_decay_offset exponential_rise exponential_rise_offset
    bi_exponential stretched_exponential power_law power_law_offset logarithmic gaussian lorentzian voigt pseudo_voigt
    moffat exponential_gaussian skewed_gaussian log_normal logistic gompertz richards weibull_growth michaelis_menten hill
    logistic4 logistic5 boltzmann arctan_step erf_step logistic_step sine damped_sine arrhenius rational polynomial3
    polynomial4 polynomial5 polynomial6 polynomial7 polynomial8 polynomial9
}
