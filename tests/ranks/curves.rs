//! Curve fits whose rows are shared by ranks: the answer is that of one rank with all rows, to the same bits on every rank,
//! and whatever is wrong on one of them reaches all.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use marquardt::curve::{BootstrapError, Curve, GlobalError, IntervalEnd, MultiStartError, StatisticsError};
use marquardt::distributed::{Communicator, RankError, on_threads};
use marquardt::models::{Gaussian, Linear, Sum};
use marquardt::{CurveError, CurveFit, Dual, EvaluationError, FittedCurve, GlobalFit, Loss};

const ROWS: usize = 60;

/// Where shares of the rows end, but for the last: one rank, two, and three, some of them without rows.
const SHARES: [&[usize]; 6] = [&[], &[13], &[60], &[13, 41], &[0, 25], &[25, 25]];

/// The rows of a rank.
fn share(ends: &[usize], ranks: &Communicator) -> Range<usize> {
    let end = |rank: usize| ends.get(rank).copied().unwrap_or(ROWS);
    let start = if ranks.rank() == 0 { 0 } else { end(ranks.rank() - 1) };
    start..end(ranks.rank())
}

/// Compares what a fit gives with all rows on one rank, and with shares of them.
fn compare(tolerance: f64, fit: impl Fn(&Communicator, Range<usize>) -> Vec<f64> + Sync) {
    let alone = fit(&Communicator::single(), 0..ROWS);
    for ends in SHARES {
        let all = on_threads(ends.len() + 1, |ranks| fit(&ranks, share(ends, &ranks)));
        for found in &all {
            assert_eq!(found.len(), alone.len());
            assert!(found.iter().zip(&all[0]).all(|(a, b)| a.to_bits() == b.to_bits()), "{all:?} at {ends:?}");
        }
        for (index, (found, expected)) in all[0].iter().zip(&alone).enumerate() {
            let off = (found - expected).abs();
            assert!(off <= tolerance * expected.abs() || found == expected, "{index}: {found}, {expected} at {ends:?}");
        }
    }
}

/// All that a fit says of all rows.
fn numbers(fit: &FittedCurve<'_, f64>, x: &[f64]) -> Vec<f64> {
    assert!(fit.report().is_converged(), "{fit}");
    let summary = fit.summary();
    let mut numbers = vec![fit.number_of_observations() as f64, fit.degrees_of_freedom() as f64];
    numbers.extend([summary.data.observations as f64, summary.data.omitted as f64]);
    numbers.extend(fit.parameters().iter().flat_map(|parameter| [parameter.value, parameter.standard_error]));
    numbers.extend([fit.chi_square(), fit.residual_sum_of_squares(), fit.deviance(), fit.log_likelihood()]);
    numbers.extend([fit.aic(), fit.aicc(), fit.bic(), fit.report().cost]);
    numbers.extend([fit.r_squared(), fit.adjusted_r_squared(), fit.robust_scale()].into_iter().flatten());
    numbers.extend(fit.goodness_of_fit().map(|test| test.p_value));
    numbers
        .extend(fit.confidence_intervals(0.9).unwrap().into_iter().flat_map(|interval| [interval.low, interval.high]));
    for band in [fit.confidence_band(x, 0.95), fit.prediction_band(x, 0.95)].into_iter().flatten() {
        numbers.extend(band.into_iter().flat_map(|point| [point.value, point.standard_error]));
    }
    numbers
}

fn x(rows: Range<usize>) -> Vec<f64> {
    rows.map(|row| 0.1 * row as f64).collect()
}

fn decays(rows: Range<usize>) -> Vec<f64> {
    rows.map(|row| 5.0 * (-0.07 * row as f64).exp() + 0.3 + 0.05 * (12.9 * row as f64).sin()).collect()
}

fn decay(x: f64, [a, k, b]: [Dual<f64, 3>; 3]) -> Dual<f64, 3> {
    a * (-k * x).exp() + b
}

/// The fit of this rank's rows, and its predictors and responses.
macro_rules! decay_fit {
    ($x:expr, $y:expr, $ranks:expr) => {
        CurveFit::new(decay, $x, $y, [3.0, 1.0, 0.1]).names(["a", "k", "b"]).communicator($ranks)
    };
}

#[test]
fn sigma_bounds_priors_and_omitted_rows() {
    compare(1e-12, |ranks, rows| {
        let (x, mut y) = (x(rows.clone()), decays(rows.clone()));
        y.iter_mut().zip(rows.clone()).filter(|(_, row)| row % 20 == 7).for_each(|(y, _)| *y = f64::NAN);
        let sigma: Vec<f64> = rows.clone().map(|row| 0.04 + 0.01 * (row % 3) as f64).collect();
        let mask: Vec<bool> = rows.map(|row| row % 11 != 5).collect();
        let fit = decay_fit!(&x, &y, ranks).sigma(&sigma).absolute_sigma(true).mask(&mask);
        let fit = fit.nan_policy(marquardt::curve::NanPolicy::Omit);
        let fit =
            fit.start("k", 0.5).bounds("k", 0.0..=0.69).prior("b", 0.35, 0.02).prior("a", 5.1, 0.1).fit().unwrap();
        assert_eq!((fit.number_of_observations(), fit.summary().data.omitted), (ROWS - 7 + 2, 7));
        numbers(&fit, &[0.05, 7.0])
    });
}

#[test]
fn relations_between_parameters() {
    compare(1e-10, |ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let relation = marquardt::curve::Relation::parse("a + b <= 4.5").unwrap();
        let fit = decay_fit!(&x, &y, ranks).constrain(relation).fit().unwrap();
        assert!((fit.parameters()[0].value + fit.parameters()[2].value - 4.5).abs() < 1e-13, "{fit}");
        numbers(&fit, &[0.05, 7.0])
    });
}

#[test]
fn a_relative_noise_and_one_sigma_for_all() {
    compare(1e-12, |ranks, rows| {
        let (x, y, sigma) = (x(rows.clone()), decays(rows.clone()), vec![0.2; rows.len()]);
        let fit = decay_fit!(&x, &y, ranks).sigma(&sigma).fit().unwrap();
        assert!(fit.prediction_band(&[1.0], 0.95).is_ok());
        let mut numbers = numbers(&fit, &[2.0]);
        numbers.extend(numbers_of_derived(&fit));
        numbers
    });
}

fn numbers_of_derived(fit: &FittedCurve<'_, f64>) -> [f64; 2] {
    let life = fit.derived(&marquardt::Tie::new(["k"], |[k]| k.recip())).unwrap();
    [life.value, life.standard_error]
}

#[test]
fn counts() {
    compare(1e-12, |ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows.clone()));
        let y: Vec<f64> = y.iter().map(|y| (10.0 * y).round()).collect();
        let fit = CurveFit::new(decay, &x, &y, [20.0, 1.0, 5.0]).counts().communicator(ranks).fit().unwrap();
        numbers(&fit, &[0.5, 3.0])
    });
}

#[test]
fn several_responses_with_a_prior_that_fills_a_row() {
    compare(1e-12, |ranks, rows| {
        let x = x(rows.clone());
        let y = ndarray::Array2::from_shape_fn((rows.len(), 2), |(row, k)| {
            let row = (rows.start + row) as f64;
            [2.0 * (0.13 * row).cos(), -2.6 * (0.13 * row).sin()][k] + 0.02 * (9.7 * row + k as f64).sin()
        });
        let curve = |t: &[f64], [a, w]: [Dual<f64, 2>; 2]| [a * (w * t[0]).cos(), -a * w * (w * t[0]).sin()];
        let fit = CurveFit::with_responses(curve, &x, &y, [1.5, 1.2]).names(["a", "w"]).absolute_sigma(true);
        let sigma = ndarray::Array2::from_elem((rows.len(), 2), 0.02);
        let fit = fit.sigma(&sigma).prior("a", 2.01, 0.01).communicator(ranks).fit().unwrap();
        numbers(&fit, &[0.5])
    });
}

#[test]
fn several_predictors_and_a_rank_that_knows_of_no_column() {
    compare(1e-12, |ranks, rows| {
        let x = ndarray::Array2::from_shape_fn((rows.len(), 2), |(row, k)| {
            let row = (rows.start + row) as f64;
            [0.1 * row, (0.7 * row).sin()][k]
        });
        let y: Vec<f64> = x.rows().into_iter().map(|x| 1.0 + 2.0 * x[0] - x[1] + 0.1 * (31.0 * x[0]).sin()).collect();
        let plane = |x: &[f64], [a, b, c]: [Dual<f64, 3>; 3]| a + b * x[0] + c * x[1];
        let start = [0.0; 3];
        let fit = if rows.is_empty() {
            CurveFit::with_predictors(plane, &[], &[], start)
        } else {
            CurveFit::with_predictors(plane, &x, &y, start)
        };
        let fit = fit.communicator(ranks).fit().unwrap();
        assert_eq!(fit.predict(&ndarray::array![[1.0, 0.0]]).unwrap().len(), 1);
        fit.parameters().iter().flat_map(|parameter| [parameter.value, parameter.standard_error]).collect()
    });
}

#[test]
fn robust_fits_judge_their_scale_by_all_residuals() {
    for loss in [Loss::Huber, Loss::Tukey] {
        compare(1e-11, |ranks, rows| {
            let (x, mut y) = (x(rows.clone()), decays(rows.clone()));
            y.iter_mut().zip(rows).filter(|(_, row)| row % 9 == 4).for_each(|(y, _)| *y += 3.0);
            let fit = decay_fit!(&x, &y, ranks).robust(loss).fit().unwrap();
            let profile = fit.profile_interval("k", 0.9).unwrap();
            assert!(profile.low < 0.7 && profile.high > 0.7);
            numbers(&fit, &[0.5])
        });
    }
}

#[test]
fn starts_are_guessed_from_the_rows_of_all_ranks() {
    let peak = |row: usize| {
        let x = 0.1 * row as f64;
        3.0 * (-(x - 2.0).powi(2) / 0.18).exp() + 0.5 + 0.1 * x + 0.01 * (7.3 * row as f64).sin()
    };
    compare(1e-11, |ranks, rows| {
        let (x, y) = (x(rows.clone()), rows.map(peak).collect::<Vec<_>>());
        let fit = CurveFit::guessed(Sum(Gaussian, Linear), &x, &y).communicator(ranks);
        numbers(&fit.bounds("sigma", 0.0..).fit().unwrap(), &[0.5])
    });
}

#[test]
fn a_start_guessed_from_many_rows_is_the_same_on_all_ranks() {
    let rows = 150_001;
    let starts = on_threads(3, |ranks| {
        let own = ranks.shard(rows);
        let x: Vec<f64> = own.map(|row| 1e-3 * row as f64).collect();
        let y: Vec<f64> = x.iter().map(|x| 2.0 - 0.5 * x).collect();
        let fit = CurveFit::guessed(Linear, &x, &y).communicator(&ranks).fit().unwrap();
        fit.parameters().iter().map(|parameter| parameter.value).collect::<Vec<_>>()
    });
    for found in &starts {
        assert_eq!(found, &starts[0]);
        assert!((found[0] + 0.5).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-10, "{found:?}");
    }
}

#[test]
fn many_starts_lead_to_the_same_minima() {
    compare(1e-10, |ranks, rows| {
        let x = x(rows.clone());
        let y: Vec<f64> = x.iter().map(|x| 2.0 * (3.0 * x + 0.5).sin() + 0.01 * (50.0 * x).cos()).collect();
        let wave = CurveFit::new(|x, [a, w, p]| a * (w * x + p).sin(), &x, &y, [1.0, 0.5, 0.0]).names(["a", "w", "p"]);
        let wave = wave.bounds("a", 0.0..=10.0).bounds("w", 0.0..=8.0).bounds("p", -3.0..=3.0).communicator(ranks);
        let calls = AtomicUsize::new(0);
        let count = |_, _| {
            calls.fetch_add(1, Ordering::Relaxed);
        };
        let minima = wave.multi_start().starts(16).observe(count).run().unwrap();
        let told = calls.load(Ordering::Relaxed);
        assert_eq!(told, if ranks.is_root() { 16 } else { 0 });
        assert!((minima.best.parameters()[1].value - 3.0).abs() < 1e-2 && minima.minima.len() > 2);
        let of_minimum = |starts: usize, cost: f64| [starts as f64, cost];
        let of_minima = minima.minima.iter().flat_map(|minimum| of_minimum(minimum.starts, minimum.cost));
        of_minima.chain(numbers(&minima.best, &[1.0])).collect()
    });
}

#[test]
fn minima_of_equal_cost_are_told_apart_by_the_rows_of_all_ranks() {
    let bump = |x: f64, c: f64| (-(x - c).powi(2)).exp();
    let minima = |ranks: &Communicator, rows: Range<usize>| {
        let x: Vec<f64> = rows.map(|row| 0.2 * row as f64 - 5.9).collect();
        let y: Vec<f64> = x.iter().map(|&x| bump(x, 3.0) + bump(x, -3.0)).collect();
        let curve = |x: f64, [c]: [Dual<f64, 1>; 1]| (-(c - x) * (c - x)).exp();
        let fit = CurveFit::new(curve, &x, &y, [-2.0]).bounds("b1", -4.0..=4.0).communicator(ranks);
        let minima = fit.multi_start().starts(12).run().unwrap();
        minima.minima.iter().map(|minimum| (minimum.parameters[0], minimum.starts)).collect::<Vec<_>>()
    };
    for ends in SHARES {
        let all = on_threads(ends.len() + 1, |ranks| minima(&ranks, share(ends, &ranks)));
        assert!(all.iter().all(|found| *found == all[0]), "{all:?}");
        // Which of the two is the lower is rounding.
        let mut places: Vec<f64> = all[0][..2].iter().map(|(place, _)| *place).collect();
        places.sort_by(f64::total_cmp);
        assert!((places[0] + 3.0).abs() < 1e-3 && (places[1] - 3.0).abs() < 1e-3, "{all:?}");
    }
}

#[test]
fn many_starts_of_a_robust_fit() {
    compare(1e-11, |ranks, rows| {
        let (x, mut y) = (x(rows.clone()), decays(rows.clone()));
        y.iter_mut().zip(rows).filter(|(_, row)| row % 9 == 4).for_each(|(y, _)| *y += 3.0);
        let fit = decay_fit!(&x, &y, ranks).bounds("a", 0.1..=9.0).bounds("k", 0.1..=3.0).bounds("b", 0.0..=1.0);
        numbers(&fit.robust(Loss::Cauchy).multi_start().starts(4).run().unwrap().best, &[0.5])
    });
}

#[test]
fn profiles_and_contours_meet_on_all_ranks() {
    compare(1e-9, |ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let fit = decay_fit!(&x, &y, ranks).bounds("a", 0.0..).fit().unwrap();
        let profile = fit.profile("k", 0.95, 2).unwrap();
        let contour = fit.contour("a", "b", 0.9, 6).unwrap();
        let points = profile.points.iter().flat_map(|point| [point.value, point.tau]);
        points.chain(contour.points.iter().flat_map(|point| point.at)).collect()
    });
    // With nothing left to fit.
    compare(1e-9, |ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let fit = decay_fit!(&x, &y, ranks).fix_at("a", 5.0).fix_at("b", 0.3).fit().unwrap();
        let interval = fit.profile_interval("k", 0.95).unwrap();
        vec![interval.low, interval.high]
    });
}

/// The curve has no value beyond zero, which ranks with rows find out and those without do not.
#[test]
fn a_wall_of_the_curve_ends_a_profile_on_all_ranks() {
    compare(1e-7, |ranks, rows| {
        let y: Vec<f64> = rows.clone().map(|i| 2.0 + 0.003 * i as f64 + 0.5 * (7.0 * i as f64).sin()).collect();
        let line = |x: f64, [a, b]: [Dual<f64, 2>; 2]| a + b.sqrt() * x;
        let x = x(rows);
        let fit = CurveFit::new(line, &x, &y, [2.0, 0.01]).communicator(ranks).fit().unwrap();
        let interval = fit.profile_interval("b2", 0.999).unwrap();
        assert_eq!((interval.low_end, interval.high_end), (IntervalEnd::Edge, IntervalEnd::Level), "{interval:?}");
        assert!(interval.low >= 0.0 && interval.low < 1e-9, "{interval:?}");
        vec![interval.high]
    });
}

#[test]
fn data_sets_are_shared_one_by_one() {
    compare(1e-12, |ranks, rows| {
        let x = x(rows.clone());
        let low = decays(rows.clone());
        // The second set has rows of its own, and none on the last rank.
        let own = if ranks.rank() + 1 == ranks.size() && ranks.size() > 1 { 0..0 } else { share_of_second(ranks) };
        let high_x: Vec<f64> = own.clone().map(|row| 0.2 * row as f64).collect();
        let high: Vec<f64> =
            own.map(|row| 9.0 * (-0.14 * row as f64).exp() + 0.03 * (3.3 * row as f64).cos()).collect();
        let two = |x: f64, [a, k]: [Dual<f64, 2>; 2]| a * (-k * x).exp();
        let high = CurveFit::new(two, &high_x, &high, [5.0, 1.0]).names(["a", "k"]).communicator(ranks);
        let fit = GlobalFit::new().data_set("low", decay_fit!(&x, &low, ranks)).data_set("high", high).shared(["k"]);
        let fit = fit.fit().unwrap();
        assert_eq!((fit.number_of_observations(), fit.data_sets().unwrap().len() <= 2), (ROWS + 30, true));
        let (p, q) = (fit.parameters(), [fit.chi_square(), fit.log_likelihood(), fit.r_squared().unwrap()]);
        p.iter().flat_map(|parameter| [parameter.value, parameter.standard_error]).chain(q).collect()
    });
}

/// Thirty rows, over all ranks but the last if there are several.
fn share_of_second(ranks: &Communicator) -> Range<usize> {
    let others = ranks.size().max(2) - 1;
    ranks.rank() * 30 / others..(ranks.rank() + 1) * 30 / others
}

#[test]
fn single_precision() {
    let fit = |ranks: Communicator| {
        let rows = share(&[25, 25], &ranks);
        let [x, y] =
            [x(rows.clone()), decays(rows)].map(|values| values.into_iter().map(|v| v as f32).collect::<Vec<_>>());
        let curve = |x: f32, [a, k, b]: [Dual<f32, 3>; 3]| a * (-k * x).exp() + b;
        let fit = CurveFit::new(curve, &x, &y, [3.0, 1.0, 0.1]).robust(Loss::Huber).communicator(&ranks).fit().unwrap();
        let parameters = fit.parameters().iter().flat_map(|parameter| [parameter.value, parameter.standard_error]);
        parameters
            .chain([fit.log_likelihood(), fit.r_squared().unwrap(), fit.robust_scale().unwrap()])
            .collect::<Vec<_>>()
    };
    let all = on_threads(3, fit);
    assert!(all.iter().all(|found| *found == all[0]) && (all[0][2] - 0.7).abs() < 0.01, "{all:?}");
    assert!(all[0][7] > 0.99, "{all:?}");
}

#[test]
fn one_rank_changes_nothing() {
    let (x, y) = (x(0..ROWS), decays(0..ROWS));
    let plain = CurveFit::new(decay, &x, &y, [3.0, 1.0, 0.1]).fit().unwrap();
    let alone = CurveFit::new(decay, &x, &y, [3.0, 1.0, 0.1]).communicator(&Communicator::single()).fit().unwrap();
    assert_eq!(numbers(&plain, &[1.0]), numbers(&alone, &[1.0]));
    assert_eq!(plain.report().evaluations, alone.report().evaluations);
    assert!(alone.durbin_watson().is_some() && alone.influence().is_ok());
}

/// The error that all ranks have in common.
fn common_error<E>(fit: impl Fn(&Communicator, Range<usize>) -> Result<(), E> + Sync) -> Vec<String>
where
    E: Send + std::fmt::Debug + std::fmt::Display,
{
    [&[25][..], &[0, 25], &[25, 25], &[20, 40]]
        .into_iter()
        .map(|ends| {
            let all = on_threads(ends.len() + 1, |ranks| fit(&ranks, share(ends, &ranks)).unwrap_err().to_string());
            assert!(all.iter().all(|error| *error == all[0]), "{all:?}");
            all[0].clone()
        })
        .collect()
}

#[test]
fn what_is_wrong_on_one_rank_is_known_to_all() {
    // A datum: row 30 is the sixth of the second rank, the third or the first, whoever has it.
    let errors = common_error(|ranks, rows| {
        let (x, mut y) = (x(rows.clone()), decays(rows.clone()));
        y.iter_mut().zip(rows).filter(|(_, row)| *row == 30).for_each(|(y, _)| *y = f64::NAN);
        decay_fit!(&x, &y, ranks).fit().map(drop)
    });
    let (first, last) = ("rank 1: y is NaN in row 6", "rank 2: y is NaN in row 6");
    assert_eq!(errors, [first, last, last, "rank 1: y is NaN in row 11"]);

    for error in common_error(|ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let sigma = vec![1.0; if ranks.is_root() { 3 } else { y.len() }];
        decay_fit!(&x, &y, ranks).sigma(&sigma).fit().map(drop)
    }) {
        assert!(error.starts_with("rank 0: sigma has 3 standard deviations for "), "{error}");
    }

    for error in common_error(|ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let name = if ranks.rank() == 1 { "rate" } else { "k" };
        decay_fit!(&x, &y, ranks).fix(name).fit().map(drop)
    }) {
        assert_eq!(error, "rank 1: there is no parameter \"rate\"; there are \"a\", \"k\", \"b\"");
    }

    for error in common_error(|ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows.clone()));
        let y: Vec<f64> = y.into_iter().zip(rows).map(|(y, row)| if row == 59 { -1.0 } else { y.round() }).collect();
        decay_fit!(&x, &y, ranks).counts().fit().map(drop)
    }) {
        assert!(error.ends_with(": counts must not be negative"), "{error}");
    }
}

#[test]
fn what_differs_among_ranks_is_named() {
    let differs = "rank 1: the parameters and what is said of them and of the noise are not those of rank 0";
    for error in common_error(|ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let prior = if ranks.rank() == 1 { 0.3 } else { 0.4 };
        let sigma = vec![1.0; x.len()];
        decay_fit!(&x, &y, ranks).sigma(&sigma).absolute_sigma(true).prior("b", prior, 1.0).fit().map(drop)
    }) {
        assert_eq!(error, differs);
    }
    for error in common_error(|ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let scale = if ranks.rank() == 1 { 1.0 } else { 2.0 };
        decay_fit!(&x, &y, ranks).f_scale(scale).fit().map(drop)
    }) {
        assert_eq!(error, differs);
    }
    for error in common_error(|ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let ends = if ranks.rank() == 1 { 1.0..=2.0 } else { 1.0..=3.0 };
        let starts = decay_fit!(&x, &y, ranks).multi_start().starts(3).range("a", ends);
        starts.range("k", 0.1..=1.0).range("b", 0.0..=1.0).run().map(drop)
    }) {
        assert_eq!(error, "rank 1: the starts are not those of rank 0");
    }
    let rows = on_threads(2, |ranks| {
        let x = ndarray::Array2::from_elem((4, 1 + ranks.rank()), 1.0);
        let plane = |x: &[f64], [a]: [Dual<f64, 1>; 1]| a * x[0];
        CurveFit::with_predictors(plane, &x, &[1.0; 4], [0.0]).communicator(&ranks).fit().unwrap_err().to_string()
    });
    let message =
        "rank 1: rows have 2 predictors and 1 responses, but those of rank 0 have 1 predictors and 1 responses";
    assert_eq!(rows, [message; 2]);
}

#[test]
fn counts_of_rows_are_of_all_ranks() {
    let few = on_threads(3, |ranks| {
        let rows = ranks.rank().min(1)..ranks.rank();
        let (x, y) = (x(rows.clone()), decays(rows));
        decay_fit!(&x, &y, &ranks).fit().unwrap_err()
    });
    for error in few {
        assert!(matches!(error, CurveError::TooFewObservations { observations: 1, parameters: 3 }), "{error}");
    }
    for error in on_threads(2, |ranks| decay_fit!(&[], &[], &ranks).fit().unwrap_err()) {
        assert!(matches!(error, CurveError::NoObservations), "{error}");
    }
}

#[test]
fn a_curve_that_is_not_finite_at_the_start_names_rank_and_row() {
    let errors = common_error(|ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let root = |x: f64, [a]: [Dual<f64, 1>; 1]| a / (x - 3.0);
        CurveFit::new(root, &x, &y, [1.0]).communicator(ranks).fit().map(drop)
    });
    assert!(
        errors[0].starts_with("rank 1: the curve is ") && errors[0].ends_with(" in row 6 at the start"),
        "{errors:?}"
    );
    let errors = common_error(|ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let y: Vec<f64> = y.iter().map(|y| y.round()).collect();
        let line = |x: f64, [a, b]: [Dual<f64, 2>; 2]| a + b * x;
        CurveFit::new(line, &x, &y, [5.8, -1.0]).counts().communicator(ranks).fit().map(drop)
    });
    assert!(errors.iter().all(|error| error.ends_with("the mean of counts must be positive")), "{errors:?}");
}

/// A straight line that some rank cannot compute where its slope is as large as that.
struct Refuses {
    from: f64,
}

impl Curve<f64> for Refuses {
    fn parameter_count(&self) -> usize {
        2
    }

    fn responses(&self, x: &[f64], _: usize, b: &[f64], y: &mut [f64]) -> Result<(), EvaluationError> {
        if b[1] >= self.from {
            return Err("no licence".into());
        }
        y.iter_mut().zip(x).for_each(|(y, x)| *y = b[0] + b[1] * x);
        Ok(())
    }

    fn linearize(
        &self,
        x: &[f64],
        width: usize,
        b: &[f64],
        y: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        jacobian.chunks_exact_mut(2).zip(x).for_each(|(row, &x)| row.copy_from_slice(&[1.0, x]));
        self.responses(x, width, b, y)
    }
}

#[test]
fn a_curve_that_one_rank_cannot_compute_ends_the_fit_on_all() {
    let line = |from: f64, start: f64| {
        move |ranks: &Communicator, rows: Range<usize>| {
            let x = x(rows.clone());
            let y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x).collect();
            let curve = Refuses { from: if rows.contains(&30) { from } else { f64::INFINITY } };
            CurveFit::curve(curve, &x, &y, &[0.0, start]).communicator(ranks).fit().map(drop)
        }
    };
    for start in [1.0, 3.0] {
        for error in common_error(line(start, start)) {
            assert!(error.contains("rank ") && error.ends_with(": no licence"), "{error}");
        }
    }
    // On the way, the best point so far is kept.
    let reports = on_threads(2, |ranks| {
        let x = x(share(&[25], &ranks));
        let y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x).collect();
        let curve = Refuses { from: if ranks.rank() == 1 { 1.5 } else { f64::INFINITY } };
        let fit = CurveFit::curve(curve, &x, &y, &[0.0, 1.0]).communicator(&ranks).fit().unwrap();
        (fit.report().status, fit.report().x.clone())
    });
    assert!(
        reports.iter().all(|report| *report == (marquardt::solver::Status::EvaluationFailed, vec![0.0, 1.0])),
        "{reports:?}"
    );
}

#[test]
fn what_takes_all_rows_is_refused() {
    on_threads(2, |ranks| {
        let rows = share(&[25], &ranks);
        let (x, y) = (x(rows.clone()), decays(rows.clone()));
        let fit = decay_fit!(&x, &y, &ranks).fit().unwrap();
        assert!(matches!(fit.bootstrap().run().unwrap_err(), BootstrapError::SharedRows { ranks: 2 }));
        assert!(matches!(fit.influence().unwrap_err(), StatisticsError::SharedRows { ranks: 2 }));
        assert!(fit.runs_test().is_none() && fit.durbin_watson().is_none() && fit.shapiro_wilk().is_none());
        assert!(fit.dagostino_pearson().is_none() && fit.jarque_bera().is_none());
        assert_eq!(
            (fit.residuals().len(), fit.observed().len(), fit.fitted().len()),
            (rows.len(), rows.len(), rows.len())
        );

        let is_of_ranks = |error: CurveError| matches!(error, CurveError::Rank(RankError { rank: 0, .. }));
        let eliminated = decay_fit!(&x, &y, &ranks).variable_projection(true).fit().unwrap_err();
        assert!(matches!(eliminated, CurveError::Conflict { second: "several ranks", .. }), "{eliminated}");
        let covariance = ndarray::Array2::eye(rows.len());
        assert!(is_of_ranks(decay_fit!(&x, &y, &ranks).data_covariance(&covariance).fit().unwrap_err()));
    });
}

#[test]
fn what_follows_from_a_fit_can_be_asked_on_one_rank_alone() {
    let summaries = on_threads(3, |ranks| {
        let rows = share(&[25, 25], &ranks);
        let (x, y) = (x(rows.clone()), decays(rows));
        let fit = decay_fit!(&x, &y, &ranks).fit().unwrap();
        // What there is one of for each row is there, even where there are no rows.
        assert!(fit.plot().unwrap().to_svg().contains("svg"));
        ranks.is_root().then(|| (fit.summary().to_string(), numbers(&fit, &[1.0]).len()))
    });
    assert!(summaries[0].is_some() && summaries[1..].iter().all(Option::is_none));
}

#[test]
fn wrong_requests_for_many_starts_reach_all_ranks() {
    for error in common_error(|ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows));
        let fit = decay_fit!(&x, &y, ranks);
        let fit = if ranks.rank() == 1 { fit } else { fit.bounds("a", 0.0..=9.0).bounds("k", 0.0..=9.0) };
        fit.multi_start().run().map(drop)
    }) {
        assert!(error.contains("not those of rank 0"), "{error}");
    }
    for error in on_threads(2, |ranks| {
        let (x, y) = (x(0..9), decays(0..9));
        decay_fit!(&x, &y, &ranks).multi_start().run().unwrap_err()
    }) {
        assert!(matches!(error, MultiStartError::Curve(CurveError::Rank(RankError { rank: 0, .. }))), "{error}");
    }
}

#[test]
fn data_sets_of_one_fit_have_the_same_ranks() {
    for error in on_threads(2, |ranks| {
        let (x, y) = (x(0..9), decays(0..9));
        let alone = CurveFit::new(decay, &x, &y, [3.0, 1.0, 0.1]).names(["a", "k", "b"]);
        let fit = GlobalFit::new().data_set("low", decay_fit!(&x, &y, &ranks)).data_set("high", alone);
        fit.shared(["k"]).fit().unwrap_err()
    }) {
        assert!(matches!(error, GlobalError::Unlike { what: "other ranks share its rows", .. }), "{error}");
    }
}

/// Errors of predictors come with the rows; a rank without rows learns of them from the others.
#[test]
fn errors_in_x() {
    compare(1e-9, |ranks, rows| {
        let (x, y) = (x(rows.clone()), decays(rows.clone()));
        let (sigma_x, sigma): (Vec<f64>, Vec<f64>) =
            rows.clone().map(|row| (0.02 * (row % 4) as f64, 0.05 + 0.01 * (row % 3) as f64)).unzip();
        let fit = decay_fit!(&x, &y, ranks).sigma(&sigma).sigma_x(&sigma_x).bounds("k", 0.0..).fit().unwrap();
        assert_eq!(fit.fitted_x().unwrap().nrows(), rows.len());
        numbers(&fit, &[0.05, 7.0])
    });
    compare(1e-9, |ranks, rows| {
        let points = ndarray::Array2::from_shape_fn((rows.len(), 2), |(row, j)| {
            let row = (rows.start + row) as f64;
            [2.0 + 1.5 * (0.1 * row).cos(), 1.5 * (0.1 * row).sin() - 1.0][j] + 0.03 * (12.9 * row + j as f64).sin()
        });
        let circle = |p: &[f64], [x, y, r]: [Dual<f64, 3>; 3]| (x - p[0]).powi(2) + (y - p[1]).powi(2) - r * r;
        let fit = CurveFit::implicit(circle, &points, [1.0, 0.0, 1.0]).communicator(ranks).fit().unwrap();
        fit.parameters().iter().flat_map(|parameter| [parameter.value, parameter.standard_error]).collect()
    });
}
