//! Starts from data.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::models::{Guess, Named};
use marquardt::{CurveFit, Model};
use rand_distr::{Distribution, StandardNormal};

use super::cases::{Case, cases, even};

fn responses(model: &Named, x: &[f64], b: &[f64]) -> Vec<f64> {
    x.iter().map(|&x| model.response(&[x], b)).collect()
}

/// With normal errors of a part of the largest response.
fn noisy(y: &[f64], part: f64, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let deviation = part * y.iter().fold(0.0_f64, |size, y| size.max(y.abs()));
    y.iter().map(|y| y + deviation * Distribution::<f64>::sample(&StandardNormal, &mut random)).collect()
}

/// The fit from the guess of exact data finds the truth.
fn finds_the_truth(model: &Named, Case { x, truth }: &Case) {
    let y = responses(model, x, truth);
    let start = model.guess(x, &y);
    let fit = CurveFit::model(model.clone(), x, &y, &start).fit().unwrap();
    for (parameter, &truth) in fit.parameters().iter().zip(truth) {
        let error = (parameter.value - truth).abs();
        assert!(error <= 1e-6 * truth.abs().max(1e-3), "{model} from {start:?}: {parameter:?} instead of {truth}");
    }
}

/// The fit from the guess of noisy data does as well as the one from the truth, and ends near the truth.
fn finds_the_best(model: &Named, Case { x, truth }: &Case, seed: u64) {
    let y = noisy(&responses(model, x, truth), 0.02, seed);
    let start = model.guess(x, &y);
    let fit = CurveFit::model(model.clone(), x, &y, &start).fit().unwrap();
    let best = CurveFit::model(model.clone(), x, &y, truth).fit().unwrap();
    let [sum, least] = [&fit, &best].map(|fit| fit.report().sum_of_squares());
    assert!(sum <= least * (1.0 + 1e-6), "{model} {truth:?} from {start:?}: {sum:e} instead of {least:e}");
    assert!(fit.warnings().is_empty(), "{model} {truth:?}: {fit}");
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
                    finds_the_truth(&model, case);
                    finds_the_best(&model, case, seed);
                }
            }
        )*

        #[test]
        fn all_models_are_tested() {
            let tested = [$(stringify!($name)),*];
            assert_eq!(Named::all().map(|model| model.to_string()).collect::<Vec<_>>(), tested);
        }
    };
}

fits_from_guesses! {
    constant linear quadratic exponential_decay exponential_decay_offset exponential_rise exponential_rise_offset
    bi_exponential stretched_exponential power_law power_law_offset logarithmic gaussian lorentzian voigt pseudo_voigt
    moffat breit_wigner exponential_gaussian skewed_gaussian log_normal logistic gompertz richards weibull_growth
    modified_gompertz modified_logistic baranyi_roberts michaelis_menten hill logistic4 logistic5 logistic5_ec50
    weibull1 weibull2 boltzmann substrate_inhibition morrison binding_with_depletion langmuir freundlich bet toth sips
    herschel_bulkley bingham casson carreau cross one_compartment_bolus one_compartment_oral two_compartment_bolus
    van_genuchten arctan_step erf_step logistic_step sine damped_sine arrhenius eyring vogel_fulcher_tammann antoine
    rational polynomial3 polynomial4 polynomial5 polynomial6 polynomial7 polynomial8 polynomial9
}

/// Faint features on steep backgrounds, which alone leave little of the data.
#[test]
fn parts_of_sums_are_found_in_noise() {
    let x = even(0.0, 10.0, 80);
    let wave = |seed: usize, index: usize| (7.0 * seed as f64 + 3.0 * index as f64).sin();
    for seed in 0..12 {
        let place = 5.0 + 3.5 * wave(seed, 0);
        let slope = 2.0 * wave(seed, 1);
        let truths = [
            ("gaussian+linear", vec![2.5 + 0.5 * wave(seed, 2), place, 0.4 + 0.2 * wave(seed, 3), slope, 3.0]),
            ("lorentzian+quadratic", vec![4.0, place, 0.3 + 0.1 * wave(seed, 2), 0.1 * wave(seed, 3), slope, 1.0]),
            ("sine+linear", vec![2.0, 4.0 + 3.0 * wave(seed, 2), 1.0, 0.5 * slope, 2.0]),
        ];
        for (name, truth) in truths {
            finds_the_best(&name.parse().unwrap(), &Case { x: x.clone(), truth }, seed as u64);
        }
    }
}

/// In these sums, parameters in which the first term is not linear have the scale of the data.
#[test]
fn sums_scale_parameters_that_are_not_linear() {
    let sums: [(&str, [f64; 2], &[f64]); 5] = [
        ("modified_gompertz+constant", [0.0, 20.0], &[300.0, 80.0, 8.0, 50.0]),
        ("modified_logistic+constant", [0.0, 20.0], &[3e-4, 8e-5, 8.0, 5e-4]),
        ("antoine+constant", [0.0, 120.0], &[8.07131, 1730.63, 233.426, 200.0]),
        ("eyring+constant", [280.0, 350.0], &[6e4, -40.0, 20.0]),
        ("constant+casson", [0.0, 100.0], &[0.0, 4e4, 300.0]),
    ];
    for (name, [from, to], truth) in sums {
        let model = Named::of_name(name).unwrap();
        let x = even(from, to, 60);
        let y = responses(&model, &x, truth);
        let start = model.guess(&x, &y);
        let found = responses(&model, &x, &start);
        // The scale of the data is that of the start.
        let large: Vec<f64> = y.iter().map(|y| 4096.0 * y).collect();
        let scaled = responses(&model, &x, &model.guess(&x, &large));
        for (large, found) in scaled.iter().zip(&found) {
            assert!((large / 4096.0 - found).abs() < 1e-9 * found.abs(), "{name}: {large} is no multiple of {found}");
        }
        finds_the_truth(&model, &Case { x, truth: truth.to_vec() });
    }
}

#[test]
fn guesses_are_finite_whatever_the_data() {
    let (huge, tiny) = (1e308, 1e-308);
    let data: [(&[f64], &[f64]); 9] = [
        (&[], &[]),
        (&[2.0], &[3.0]),
        (&[1.0, 1.0, 1.0], &[2.0, 3.0, 2.0]),
        (&[1.0, 2.0, 3.0, 4.0], &[0.0; 4]),
        (&[-3.0, 0.0, 3.0, 5.0, 6.0], &[5.0; 5]),
        (&[-huge, 0.0, huge], &[huge, -huge, huge]),
        (&[tiny, 2.0 * tiny, 3.0 * tiny], &[tiny, -tiny, tiny]),
        (&[1.0, f64::NAN, 3.0, 4.0], &[1.0, 2.0, f64::INFINITY, 7.0]),
        (&[-4.0, -3.0, -2.0, -1.0], &[1.0, -1.0, 2.0, -2.0]),
    ];
    for model in Named::all() {
        for (x, y) in data {
            let start = model.guess(x, y);
            assert_eq!(start.len(), model.parameters().len());
            assert!(start.iter().all(|value| value.is_finite()), "{model}, {x:?}, {y:?}: {start:?}");
            // At x = 1 the isotherm of BET has a pole.
            if y == [0.0; 4] && model.name() != "bet" {
                let found = responses(&model, x, &start);
                assert!(found.iter().all(|y| y.is_finite()), "{model} from {start:?}: {found:?}");
            }
            let [x, y] = [x, y].map(|of| of.iter().map(|&value| value as f32).collect::<Vec<f32>>());
            assert!(model.guess(&x, &y).iter().all(|value| value.is_finite()), "{model}, {x:?}, {y:?} in f32");
        }
    }
}

#[test]
fn the_order_of_the_data_does_not_matter() {
    for name in ["gaussian", "sine", "logistic4", "bi_exponential"] {
        let model = Named::of_name(name).unwrap();
        let Case { x, truth } = cases(name).swap_remove(0);
        let y = responses(&model, &x, &truth);
        let backwards = |of: &[f64]| of.iter().rev().copied().collect::<Vec<f64>>();
        assert_eq!(model.guess(&x, &y), model.guess(&backwards(&x), &backwards(&y)));
    }
}

#[test]
fn many_data_are_no_trouble() {
    let x: Vec<f64> = (0..200_000).map(|i| f64::from(i) * 1e-3).collect();
    let model = Named::of_name("gaussian").unwrap();
    let start = model.guess(&x, &responses(&model, &x, &[3.0, 77.0, 0.9]));
    assert!((start[1] - 77.0).abs() < 0.3 && (start[2] - 0.9).abs() < 0.5, "{start:?}");
}
