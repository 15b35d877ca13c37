//! Many fits and single fits of random data find the same, statuses included.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::curve::NanPolicy;
use marquardt::{Bounds, CurveFit, FitMany, LevenbergMarquardt, Model, Real};
use ndarray::Array2;
use proptest::prelude::*;
use rand_distr::{Distribution, Uniform};

use crate::curves::{
    Curves, DECAY, Design, Formula, LOGISTIC, PEAK, Peaks, RATE, SATURATION, TWO_PEAKS, TWO_PEAKS_ON_PARABOLA,
    at_point, decay, logistic, peak, rate, saturation, two_peaks, two_peaks_on_parabola, within,
};

/// Trial steps of a fit.
const MAX_ITERATIONS: usize = 200;

/// Data, and what is said of them.
#[derive(Debug, Clone, Copy)]
struct Setting {
    fits: usize,
    points: usize,
    seed: u64,
    /// Bounds, of which some hold parameters.
    bounded: bool,
    /// Standard deviations of their own for all points.
    weighted: bool,
    /// One point in ten is missing.
    incomplete: bool,
}

fn settings(points: std::ops::Range<usize>) -> impl Strategy<Value = Setting> {
    (1..12_usize, points, any::<u64>(), any::<[bool; 3]>()).prop_map(
        |(fits, points, seed, [bounded, weighted, incomplete])| Setting {
            fits,
            points,
            seed,
            bounded,
            weighted,
            incomplete,
        },
    )
}

/// The relative difference of costs, both summed in double precision, and the cosine that a precision allows.
///
/// Many fits end where the undamped step promises less than `ftol` of the cost, 1e-12 and 1.2e-8: costs differ by as much, and
/// by rounding of the sums that led there. Cosines are below its root where a fit ends in lockstep, and below 64 `√ε`, 0.02 in
/// single precision, where the full engine decides.
///
/// Costs are compared where both gradients have vanished: single precision lets a cosine of 1.5e-3 pass, at which a narrow valley may
/// still fall by a thousandth.
struct Tolerance {
    cost: f64,
    cosine: f64,
    vanished: f64,
}

fn tolerance<T: Real>() -> Tolerance {
    if T::EPSILON.to_f64() < 1e-10 {
        Tolerance { cost: 1e-10, cosine: 1.1e-6, vanished: 1.1e-6 }
    } else {
        Tolerance { cost: 1e-4, cosine: 0.023, vanished: 1e-4 }
    }
}

/// Of up to `N` parameters.
fn compare<T: Real, const N: usize>(
    model: impl Formula + Model<T>,
    design: &Design,
    setting: &Setting,
) -> Result<(), TestCaseError> {
    let Setting { fits: count, points, seed, .. } = *setting;
    let mut random = ChaCha8Rng::seed_from_u64(!seed);
    let mut uniform = |low: f64, high: f64| Uniform::new(low, high).unwrap().sample(&mut random);
    let Curves { x, mut y, mut start } = design.draw::<T>(model, count, points, seed);
    let sigma = Array2::from_shape_simple_fn((count, points), || T::from_f64(uniform(0.5, 2.0) * design.noise));
    if setting.incomplete {
        y.mapv_inplace(|y| if uniform(0.0, 1.0) < 0.1 { T::from_f64(f64::NAN) } else { y });
    }
    let mut bounds = Bounds::unbounded(design.truth.len());
    if setting.bounded {
        for (j, &(low, high)) in design.truth.iter().enumerate() {
            let width = high - low;
            let lower = low + width * uniform(-0.3, 0.4);
            bounds = bounds.with(j, T::from_f64(lower), T::from_f64(lower + width * uniform(0.3, 1.0))).unwrap();
        }
        start.rows_mut().into_iter().for_each(|mut row| bounds.project(row.as_slice_mut().unwrap()));
    }

    let mut many =
        FitMany::new(model, &x, &y).start(&start).options(within(&model, &bounds)).max_iterations(MAX_ITERATIONS);
    many = many.nan_policy(NanPolicy::Omit);
    if setting.weighted {
        many = many.sigma(&sigma).absolute_sigma(true);
    }
    let fits = many.fit().unwrap();
    for row in 0..count {
        let rows = (0..points).filter(|&i| y[[row, i]].is_finite());
        let of = |i: usize| (x[i], y[[row, i]], if setting.weighted { sigma[[row, i]] } else { T::ONE });
        let kept: Vec<(T, T, T)> = rows.map(of).collect();
        let (x, y): (Vec<T>, Vec<T>) = kept.iter().map(|&(x, y, _)| (x, y)).unzip();
        let sigma: Vec<T> = kept.iter().map(|&(_, _, sigma)| sigma).collect();
        let start = start.row(row).to_vec();
        let solver = LevenbergMarquardt::new().with_max_iterations(MAX_ITERATIONS);
        let mut one = CurveFit::model(model, &x, &y, &start)
            .sigma(&sigma)
            .absolute_sigma(setting.weighted)
            .solver(solver)
            .retry(false);
        for (name, (&lower, &upper)) in fits.names.iter().zip(bounds.lower().iter().zip(bounds.upper())) {
            one = one.bounds(name, lower..=upper);
        }
        let one = one.fit().unwrap();

        let (status, report) = (fits.status[row], one.report());
        let both = format!("{setting:?}, row {row}: {status} at {:e}; {report}", fits.cost[row]);
        if status.is_converged() != report.is_converged() {
            // In single precision rounding decides whether the last step is seen.
            let difference = (fits.cost[row] - report.cost).abs().to_f64();
            let is_rounding = T::EPSILON.to_f64() > 1e-10 && difference <= tolerance::<T>().cost * report.cost.to_f64();
            prop_assert!(is_rounding, "{}", both);
            continue;
        }
        if !status.is_converged() {
            continue;
        }
        let points: Vec<[f64; 3]> =
            kept.iter().map(|(x, y, sigma)| [x, y, sigma].map(|value| value.to_f64())).collect();
        let found = [fits.parameters.row(row).to_vec(), report.x.clone()];
        let midway: Vec<T> =
            found[0].iter().zip(&found[1]).map(|(&many, &one)| (many + one) * T::from_f64(0.5)).collect();
        let [many, one, between] =
            [&found[0], &found[1], &midway].map(|x| at_point::<T, N>(&model, &points, x, &bounds));
        let margin = tolerance::<T>().cost * one.cost;
        // With bounds there are several minima at times.
        let is_ridge = between.cost > many.cost.max(one.cost) + margin;
        let is_flat = many.cosine.max(one.cosine) <= tolerance::<T>().vanished;
        prop_assert!(!is_flat || is_ridge || (many.cost - one.cost).abs() <= margin, "{}", both);
        prop_assert!(many.cosine <= tolerance::<T>().cosine, "cosine {:e}; {}", many.cosine, both);

        // Responses are rounded, and a cost of small residuals shows it.
        let responses: f64 = points.iter().map(|[_, y, sigma]| (y / sigma).powi(2)).sum();
        for (stated, at) in [(fits.cost[row], &many), (report.cost, &one)] {
            let rounding = 8.0 * T::EPSILON.to_f64() * (responses * at.cost).sqrt();
            prop_assert!((stated.to_f64() - at.cost).abs() <= rounding, "{:e}; {}", at.cost, both);
        }
    }
    Ok(())
}

fn compare_both<const N: usize>(model: impl Formula, design: &Design, setting: &Setting) -> Result<(), TestCaseError> {
    compare::<f64, N>(model, design, setting)?;
    compare::<f32, N>(model, design, setting)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn of_one_parameter(setting in settings(6..40)) {
        compare_both::<1>(rate(), &RATE, &setting)?;
    }

    #[test]
    fn of_two_parameters(setting in settings(12..40)) {
        compare_both::<2>(decay(), &DECAY, &setting)?;
    }

    #[test]
    fn of_three_parameters(setting in settings(20..50)) {
        compare_both::<3>(saturation(), &SATURATION, &setting)?;
    }

    #[test]
    fn of_four_parameters(setting in settings(35..70)) {
        compare_both::<4>(peak(), &PEAK, &setting)?;
    }

    #[test]
    fn of_five_parameters(setting in settings(45..60)) {
        compare_both::<5>(logistic(), &LOGISTIC, &setting)?;
    }

    #[test]
    fn of_eight_parameters(setting in settings(60..70)) {
        compare_both::<8>(two_peaks(), &TWO_PEAKS, &setting)?;
    }

    #[test]
    fn of_nine_parameters(setting in settings(60..70)) {
        compare_both::<9>(two_peaks_on_parabola(), &TWO_PEAKS_ON_PARABOLA, &setting)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    /// In lockstep up to sixteen.
    #[test]
    fn of_nine_to_eighteen_parameters(setting in settings(100..120), parameters in 9..19_usize) {
        let model = Peaks { parameters };
        compare_both::<18>(model, &model.design(&model.truth()), &setting)?;
    }
}
