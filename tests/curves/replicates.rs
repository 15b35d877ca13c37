//! Replicates, weights, and outliers.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::curve::{CurveError, NanPolicy, f_test};
use marquardt::models::{ExponentialDecay, Linear};
use marquardt::{CurveFit, Dual, FittedCurve, GlobalFit, Loss};
use proptest::prelude::*;
use rand_distr::{Distribution, StandardNormal};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The lack-of-fit test is the F-test against a mean for each predictor, with and without weights.
    #[test]
    fn lack_of_fit_is_a_nested_test(seed in any::<u64>(), bend in -0.5..0.5_f64, is_weighted in any::<bool>(), unit in -6.0..6.0_f64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut noise = || -> f64 { StandardNormal.sample(&mut random) };
        let unit = 10.0_f64.powf(unit);
        let x: Vec<f64> = [0, 3, 1, 0, 2, 1, 3, 3, 4, 2, 4, 0].map(f64::from).to_vec();
        let y: Vec<f64> = x.iter().map(|x| unit * (1.0 + x + bend * x * x + 0.2 * noise())).collect();
        let sigma: Vec<f64> = (0..12).map(|i| if is_weighted { 0.5 + 0.1 * f64::from(i % 4) } else { 1.0 }).collect();
        let line = CurveFit::guessed(Linear, &x, &y).sigma(&sigma).fit().unwrap();
        let means = CurveFit::new(|x: f64, b: [Dual<f64, 5>; 5]| b[x as usize], &x, &y, [unit; 5]).sigma(&sigma).fit().unwrap();
        let (found, expected) = (line.lack_of_fit().unwrap(), f_test(&line.criteria(), &means.criteria()).unwrap());
        prop_assert_eq!((found.numerator, found.denominator), (3, 7));
        prop_assert_eq!((found.numerator, found.denominator), (expected.numerator, expected.denominator));
        prop_assert!((found.statistic - expected.statistic).abs() < 1e-7 * (1.0 + expected.statistic), "{found:?}, {expected:?}");
        prop_assert!((found.p_value - expected.p_value).abs() < 1e-7);
    }
}

/// Means of runs of equal predictors, with the numbers and standard deviations of their responses.
fn summarized(x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<usize>, Vec<f64>) {
    let (mut first, mut summary) = (0, (Vec::new(), Vec::new(), Vec::new(), Vec::new()));
    for run in x.chunk_by(|one, other| one == other) {
        let y = &y[first..first + run.len()];
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let squares: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
        summary.0.push(run[0]);
        summary.1.push(mean);
        summary.2.push(y.len());
        summary.3.push((squares / (y.len() - 1) as f64).sqrt());
        first += run.len();
    }
    summary
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Means, standard deviations and numbers say all that least squares takes of replicates. That of one is 0/0.
    #[test]
    fn means_are_as_good_as_replicates(
        seed in any::<u64>(),
        counts in prop::collection::vec(1..6_usize, 6..10),
        is_weighted in any::<bool>(),
        unit in -6.0..6.0_f64,
    ) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut noise = || -> f64 { StandardNormal.sample(&mut random) };
        let unit = 10.0_f64.powf(unit);
        let x: Vec<f64> = counts.iter().enumerate().flat_map(|(i, &count)| vec![0.5 * i as f64; count]).collect();
        let y: Vec<f64> = x.iter().map(|x| unit * (5.0 * (-0.4 * x).exp() + 0.1 * noise())).collect();
        let sigma = |x: &[f64]| x.iter().map(|x| if is_weighted { 1.0 + 0.2 * x } else { 1.0 }).collect::<Vec<f64>>();
        let (means_x, means, numbers, deviations) = summarized(&x, &y);
        prop_assert_eq!(&numbers, &counts);
        let (sigma_of_all, sigma_of_means) = (sigma(&x), sigma(&means_x));
        let curve = |x: f64, [a, k]: [Dual<f64, 2>; 2]| a * (-k * x).exp();
        let raw = CurveFit::new(curve, &x, &y, [4.0 * unit, 0.5]).names(["a", "k"]).sigma(&sigma_of_all).fit().unwrap();
        let fit = CurveFit::new(curve, &means_x, &means, [4.0 * unit, 0.5]).names(["a", "k"]).sigma(&sigma_of_means);
        let fit = fit.replicates(&numbers, &deviations).fit().unwrap();
        prop_assert_eq!(fit.number_of_observations(), y.len());
        prop_assert_eq!(fit.degrees_of_freedom(), y.len() - 2);
        let numbers_of = |fit: &FittedCurve<'_, f64>| {
            let mut numbers = vec![fit.aic(), fit.aicc(), fit.bic(), fit.log_likelihood()];
            numbers.iter_mut().for_each(|number| *number /= 100.0);
            numbers.extend([fit.chi_square() / unit.powi(2), fit.residual_sum_of_squares() / unit.powi(2)]);
            numbers.extend(fit.r_squared().into_iter().chain(fit.adjusted_r_squared()));
            numbers.extend(fit.lack_of_fit().map(|test| test.p_value));
            for (name, unit) in [("a", unit), ("k", 1.0)] {
                let parameter = fit.parameter(name).unwrap();
                numbers.extend([parameter.value / unit, parameter.standard_error / unit]);
                let intervals = (fit.confidence_interval(name, 0.95).unwrap(), fit.profile_interval(name, 0.95).unwrap());
                numbers.extend([intervals.0.low, intervals.0.high, intervals.1.low, intervals.1.high].map(|end| end / unit));
            }
            let band = fit.prediction_band_with_sigma(&[1.3], &[1.0], 0.95).unwrap();
            numbers.extend([band[0].low / unit, band[0].high / unit]);
            numbers
        };
        let (found, expected) = (numbers_of(&fit), numbers_of(&raw));
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found}, {expected}: {fit}\n{raw}");
        }
    }
}

#[test]
fn means_in_a_global_fit_and_with_rows_left_out() {
    let x = [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 3.0];
    let y = [1.1, 0.8, 1.2, 2.9, 3.3, 5.1, 6.8, 7.4_f64];
    let (means_x, means, numbers, deviations) = summarized(&x, &y);
    let set = |x, y| CurveFit::guessed(Linear, x, y);
    let shifted = y.map(|y| y + 1.0);
    let shifted_means: Vec<f64> = means.iter().map(|mean| mean + 1.0).collect();
    let raw = GlobalFit::new().data_set("a", set(&x[..], &y[..])).data_set("b", set(&x[..], &shifted[..]));
    let raw = raw.shared(["slope"]).fit().unwrap();
    let summary = |y| set(&means_x[..], y).replicates(&numbers, &deviations);
    let fit = GlobalFit::new().data_set("a", summary(&means[..])).data_set("b", summary(&shifted_means[..]));
    let fit = fit.shared(["slope"]).fit().unwrap();
    assert_eq!(fit.number_of_observations(), 16);
    for (found, expected) in fit.parameters().iter().zip(raw.parameters()) {
        assert!((found.value - expected.value).abs() < 1e-12);
        assert!((found.standard_error - expected.standard_error).abs() < 1e-12);
    }
    // The mean that is missing takes its replicates along.
    let missing = [means[0], f64::NAN, means[2], means[3]];
    let fit = CurveFit::guessed(Linear, &means_x, &missing).replicates(&numbers, &deviations);
    let fit = fit.nan_policy(NanPolicy::Omit).fit().unwrap();
    let mask = x.map(|x| x != 1.0);
    let raw = CurveFit::guessed(Linear, &x, &y).mask(&mask).fit().unwrap();
    assert_eq!((fit.omitted_rows(), fit.number_of_observations()), (&[1][..], 6));
    assert!((fit.parameters()[0].standard_error - raw.parameters()[0].standard_error).abs() < 1e-12);
    // Nothing is known of their order and distribution.
    assert!(raw.shapiro_wilk().is_some() && fit.shapiro_wilk().is_none() && fit.runs_test().is_none());
    #[cfg(feature = "plot")]
    {
        let fit = CurveFit::guessed(Linear, &means_x, &shifted_means).replicates(&numbers, &deviations).fit().unwrap();
        let (svg, of_replicates) =
            (fit.plot().unwrap().to_svg(), CurveFit::guessed(Linear, &x, &shifted).fit().unwrap());
        assert!(svg.matches("<circle").count() < of_replicates.plot().unwrap().to_svg().matches("<circle").count());
    }
}

#[test]
fn wrong_replicates_are_named() {
    let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.1, 1.9, 3.2, 3.9_f64]);
    let fit = || CurveFit::guessed(Linear, &x, &y);
    let message = |fit: CurveFit<'_, f64, _>| fit.fit().map(drop).unwrap_err().to_string();
    let with = |counts: &'static [usize], deviations: &'static [f64]| message(fit().replicates(counts, deviations));
    assert_eq!(with(&[2; 3], &[0.1; 4]), "there are 3 numbers of replicates, but 4 are needed");
    assert_eq!(with(&[2; 4], &[0.1; 5]), "there are 5 standard deviations of replicates, but 4 are needed");
    assert_eq!(with(&[2, 0, 1, 1], &[0.1; 4]), "row 2 has no replicates: a mean is of one at least");
    for (deviation, text) in [(&[0.1, 0.1, -0.5, 0.1], "-0.5"), (&[0.1, 0.1, f64::NAN, 0.1], "NaN")] {
        let expected = format!("the standard deviation of the replicates is {text} in row 3: it must not be negative");
        assert_eq!(with(&[2; 4], deviation), expected);
    }
    assert!(fit().replicates(&[2, 2, 1, 2], &[0.1, 0.1, f64::NAN, 0.1]).fit().is_ok());
    let summary = || fit().replicates(&[2; 4], &[0.1; 4]);
    let covariance = ndarray::Array2::<f64>::eye(4);
    let refused = [
        summary().robust(Loss::Huber),
        summary().counts(),
        summary().sigma_x(&[0.1]),
        summary().data_covariance(&covariance),
    ];
    for fit in refused {
        assert!(matches!(fit.fit().map(drop).unwrap_err(), CurveError::Conflict { .. }));
    }
    assert!(matches!(summary().remove_outliers(0.01).map(drop).unwrap_err(), CurveError::Conflict { .. }));
}

#[test]
fn lack_of_fit_needs_replicates() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [0.1, 1.0, 2.1, 2.9, 4.0_f64]);
    assert!(CurveFit::guessed(Linear, &x, &y).fit().unwrap().lack_of_fit().is_none());
    let twice = [-0.0, 0.0, 2.0, 3.0, 4.0];
    let fit = || CurveFit::guessed(Linear, &twice, &y);
    let test = fit().fit().unwrap().lack_of_fit().unwrap();
    assert_eq!((test.numerator, test.denominator), (2, 1));
    assert!(fit().robust(Loss::Huber).fit().unwrap().lack_of_fit().is_none());
    // Two predictors leave nothing for a line to miss.
    let few = [1.0, 1.0, 1.0, 2.0, 2.0];
    assert!(CurveFit::guessed(Linear, &few, &y).fit().unwrap().lack_of_fit().is_none());
}

#[test]
fn weights_are_inverse_squares_of_sigma() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [5.1, 3.0, 1.9, 1.2, 0.6, 9.0_f64]);
    let sigma = y.map(|y| 0.3 * y);
    let all = sigma.map(|sigma| sigma.powi(-2));
    let fit = || CurveFit::guessed(ExponentialDecay, &x, &y);
    let (by_sigma, by_weights) = (fit().sigma(&sigma).fit().unwrap(), fit().weights(&all).fit().unwrap());
    for (one, other) in by_sigma.parameters().iter().zip(by_weights.parameters()) {
        assert!((one.value - other.value).abs() < 1e-9 && (one.standard_error - other.standard_error).abs() < 1e-8);
    }
    // A weight of zero leaves its row out.
    let mut weights = all;
    weights[5] = 0.0;
    let weights = weights;
    let without = fit().weights(&weights).fit().unwrap();
    let masked = fit().sigma(&sigma).mask(&[true, true, true, true, true, false][..]).fit().unwrap();
    assert_eq!(without.omitted_rows(), [5]);
    assert!((without.parameters()[1].value - masked.parameters()[1].value).abs() < 1e-9);
    let both = fit().weights(&weights).mask(&[false, true, true, true, true, true][..]).fit().unwrap();
    assert_eq!(both.omitted_rows(), [0, 5]);
    let message = |fit: CurveFit<'_, f64, _>| fit.fit().map(|_| ()).unwrap_err().to_string();
    assert_eq!(message(fit().weights(&[1.0, 2.0])), "weights has 2 weights for 6 responses");
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        let mut bad = weights;
        bad[2] = wrong;
        let error = fit().weights(&bad).fit().map(|_| ()).unwrap_err();
        assert!(matches!(error, CurveError::Weight { row: 2, .. }), "{error}");
    }
    let error = fit().weights(&weights).sigma(&sigma).fit().map(|_| ()).unwrap_err();
    assert!(matches!(error, CurveError::Conflict { first: "weights", .. }), "{error}");
    assert!(fit().weights(&[0.0; 6]).fit().is_err());
}

/// Data about a decay, with these shifts, in standard deviations, of some points.
fn decays(seed: u64, shifts: &[(usize, f64)]) -> [Vec<f64>; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut noise = || -> f64 { StandardNormal.sample(&mut random) };
    let x: Vec<f64> = (0..24).map(|i| 0.25 * f64::from(i)).collect();
    let mut y: Vec<f64> = x.iter().map(|x| 5.0 * (-0.5 * x).exp() + 0.1 * noise()).collect();
    shifts.iter().for_each(|&(row, shift)| y[row] += 0.1 * shift);
    [x, y]
}

/// Motulsky and Brown's figures: a false discovery rate of 1 % finds nothing in about 97 to 99 % of data without outliers, and nearly all
/// outliers that are eight or more standard deviations off, several of them as well.
#[test]
fn outliers_are_found_and_others_are_not() {
    const SETS: u64 = 200;
    let found = |shifts: &[(usize, f64)], q: f64| {
        let (mut exact, mut false_ones) = (0, 0);
        for seed in 0..SETS {
            let [x, y] = decays(seed, shifts);
            let cleaned = CurveFit::guessed(ExponentialDecay, &x, &y).remove_outliers(q).unwrap();
            let rows: Vec<usize> = cleaned.outliers.iter().map(|outlier| outlier.row).collect();
            exact += usize::from(shifts.iter().all(|(row, _)| rows.contains(row)));
            false_ones += usize::from(rows.iter().any(|row| shifts.iter().all(|(shifted, _)| shifted != row)));
            assert_eq!(cleaned.fit.omitted_rows(), rows);
            assert_eq!(cleaned.fit.number_of_observations(), 24 - rows.len());
        }
        [exact, false_ones].map(|count| count as f64 / SETS as f64)
    };
    let [_, false_share] = found(&[], 0.01);
    assert!((0.002..0.05).contains(&false_share), "{false_share}");
    let [exact, false_share] = found(&[(7, 9.0)], 0.01);
    assert!(exact > 0.93 && false_share < 0.06, "{exact}, {false_share}");
    let [exact, _] = found(&[(3, 14.0), (10, -14.0), (18, 14.0), (19, 14.0)], 0.01);
    assert!(exact > 0.93, "{exact}");
}

#[test]
fn the_fit_is_that_of_the_other_rows() {
    let [x, y] = decays(5, &[(4, 30.0), (12, -25.0)]);
    let sigma: Vec<f64> = (0..24).map(|i| 0.1 + 0.001 * f64::from(i)).collect();
    let mask: Vec<bool> = (0..24).map(|row| row != 2).collect();
    let fit = || CurveFit::guessed(ExponentialDecay, &x, &y).sigma(&sigma).bounds("amplitude", 0.0..);
    let cleaned = fit().mask(&mask[..]).remove_outliers(0.01).unwrap();
    let rows: Vec<usize> = cleaned.outliers.iter().map(|outlier| outlier.row).collect();
    assert_eq!(rows, [4, 12]);
    assert!(
        cleaned.outliers.iter().all(|outlier| outlier.t > 8.0 && outlier.p_value < 1e-6 && outlier.y == y[outlier.row])
    );
    let others: Vec<bool> = (0..24).map(|row| ![2, 4, 12].contains(&row)).collect();
    let direct = fit().mask(&others[..]).fit().unwrap();
    assert_eq!(cleaned.fit.omitted_rows(), direct.omitted_rows());
    for (one, other) in cleaned.fit.parameters().iter().zip(direct.parameters()) {
        assert!((one.value - other.value).abs() < 1e-8 && (one.standard_error - other.standard_error).abs() < 1e-8);
    }
    // In single precision, and on a perfect curve, in which nothing stands out but what does.
    let [x, y] = [&x, &y].map(|values| values.iter().map(|&value| value as f32).collect::<Vec<f32>>());
    let single = CurveFit::guessed(ExponentialDecay, &x, &y).remove_outliers(0.01).unwrap();
    assert!([4, 12].iter().all(|row| single.outliers.iter().any(|outlier| outlier.row == *row)));
    let y: Vec<f32> = x.iter().map(|x| 3.0 - 0.5 * x).collect();
    let perfect = CurveFit::guessed(Linear, &x, &y).remove_outliers(0.01).unwrap();
    assert!(perfect.outliers.len() <= 1, "{:?}", perfect.outliers);
}

#[test]
fn what_outliers_are_not_sought_in() {
    let [x, y] = decays(1, &[]);
    let fit = || CurveFit::guessed(ExponentialDecay, &x, &y);
    for q in [0.0, 1.0, f64::NAN, -0.1] {
        let error = fit().remove_outliers(q).map(|_| ()).unwrap_err();
        assert!(matches!(error, CurveError::OutlierRate { .. }), "{error}");
    }
    for refused in [fit().robust(Loss::Tukey), fit().data_covariance(&ndarray::Array2::eye(24))] {
        let error = refused.remove_outliers(0.01).map(|_| ()).unwrap_err();
        assert!(matches!(error, CurveError::Conflict { second: "the removal of outliers", .. }), "{error}");
    }
    // With as many parameters as points there is no scatter to stand out of.
    let few = CurveFit::guessed(Linear, &x[..2], &y[..2]).remove_outliers(0.01).unwrap();
    assert!(few.outliers.is_empty());
}
