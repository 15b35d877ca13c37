//! Whatever can be set means what it means for a single fit.

use marquardt::curve::{NanPolicy, Predictors};
use marquardt::models::{ExponentialDecay, Gaussian};
use marquardt::solver::FitStatus;
use marquardt::{Bounds, CurveFit, FitMany, model};
use ndarray::{Array1, Array2, Array3, Axis, s};

use crate::curves::{DECAY, LINE, PEAK, assert_identical, assert_same, decay, line, peak, within};

#[test]
fn one_start_serves_all() {
    let curves = LINE.draw::<f64>(line(), 11, 20, 1);
    let same = FitMany::new(line(), &curves.x, &curves.y).start(&[0.5, -0.5]).fit().unwrap();
    let rows = Array2::from_shape_fn((11, 2), |(_, j)| 0.5 - j as f64);
    let own = FitMany::new(line(), &curves.x, &curves.y).start(&rows).fit().unwrap();
    assert_identical(&same, &own, 0..11);
}

#[test]
fn each_fit_has_places_of_its_own() {
    let curves = PEAK.draw::<f64>(peak(), 13, 40, 2);
    // Moved and stretched, which the parameters follow.
    let stretch = |row: usize| (1.0 + 0.1 * row as f64, row as f64);
    let x = Array2::from_shape_fn((13, 40), |(row, i)| stretch(row).1 + stretch(row).0 * curves.x[i]);
    let start = Array2::from_shape_fn((13, 4), |(row, j)| match j {
        1 => stretch(row).1 + stretch(row).0 * curves.start[[row, j]],
        2 => stretch(row).0 * curves.start[[row, j]],
        _ => curves.start[[row, j]],
    });
    let fits = FitMany::new(peak(), &x, &curves.y).start(&start).fit().unwrap();
    let shared = curves.fit(peak());
    for row in 0..13 {
        let start = start.row(row).to_vec();
        assert_same(&fits, row, &CurveFit::model(peak(), x.row(row), curves.y.row(row), &start).fit().unwrap());
        assert!((fits.cost[row] / shared.cost[row] - 1.0).abs() < 1e-8);
    }
}

#[test]
fn there_are_several_predictors() {
    let plane = model!(|x, z; a, b, rate| a * x + b * exp(-rate * z));
    let shared = Array2::from_shape_fn((30, 2), |(i, j)| (i as f64 * [0.37, 0.61][j]).fract() * [1.0, 3.0][j]);
    let truth = |row: usize| [1.0 + 0.1 * row as f64, 2.0 - 0.1 * row as f64, 0.7 + 0.05 * row as f64];
    let respond = |x: f64, z: f64, [a, b, rate]: [f64; 3]| a * x + b * (-rate * z).exp();
    let noise = |row: usize, i: usize| 0.02 * ((row * 31 + i * 17) as f64).sin();
    let y =
        Array2::from_shape_fn((7, 30), |(row, i)| respond(shared[[i, 0]], shared[[i, 1]], truth(row)) + noise(row, i));
    let start = [1.0, 1.0, 1.0];
    let fits = FitMany::new(plane, Predictors::shared(&shared), &y).start(&start).fit().unwrap();
    let own = Array3::from_shape_fn((7, 30, 2), |(row, i, j)| shared[[i, j]] * (1.0 + 0.1 * row as f64));
    let y_own = Array2::from_shape_fn((7, 30), |(row, i)| {
        respond(own[[row, i, 0]], own[[row, i, 1]], truth(row)) + noise(row, i)
    });
    let own_fits = FitMany::new(plane, &own, &y_own).start(&start).fit().unwrap();
    for row in 0..7 {
        assert_same(&fits, row, &CurveFit::model(plane, &shared, y.row(row), &start).fit().unwrap());
        let x = own.index_axis(Axis(0), row);
        assert_same(&own_fits, row, &CurveFit::model(plane, x, y_own.row(row), &start).fit().unwrap());
    }
}

#[test]
fn views_need_not_lie_in_one_piece() {
    let curves = PEAK.draw::<f64>(peak(), 9, 40, 2);
    let (y, start) =
        (curves.y.t().as_standard_layout().into_owned(), curves.start.t().as_standard_layout().into_owned());
    let x: Array1<f64> = curves.x.iter().flat_map(|&x| [x, f64::NAN]).collect();
    let fits = FitMany::new(peak(), x.slice(s![..;2]), y.t()).start(start.t()).fit().unwrap();
    assert_identical(&fits, &curves.fit(peak()), 0..9);
}

#[test]
fn sigma_weighs_the_data() {
    let curves = DECAY.draw::<f64>(decay(), 9, 25, 4);
    let shared: Vec<f64> = (0..25).map(|i| 0.02 + 0.002 * f64::from(i)).collect();
    let own = Array2::from_shape_fn((9, 25), |(row, i)| shared[i] * (1.0 + 0.3 * ((row * i) as f64).sin()));
    for absolute in [false, true] {
        let prepare = || FitMany::new(decay(), &curves.x, &curves.y).start(&curves.start).absolute_sigma(absolute);
        let (same, each) = (prepare().sigma(&shared).fit().unwrap(), prepare().sigma(&own).fit().unwrap());
        for row in 0..9 {
            let (y, start) = curves.row(row);
            let one = || CurveFit::model(decay(), &curves.x, y, start).absolute_sigma(absolute);
            assert_same(&same, row, &one().sigma(&shared).fit().unwrap());
            assert_same(&each, row, &one().sigma(own.row(row)).fit().unwrap());
        }
    }
}

#[test]
fn bounds_hold() {
    let curves = PEAK.draw::<f64>(peak(), 40, 40, 5);
    // Some of the amplitudes and offsets lie beyond.
    let (lower, upper) = ([0.2, -4.0, 0.3, -0.2], [1.2, 4.0, 3.0, 0.1]);
    let bounds = Bounds::new(lower, upper).unwrap();
    let mut start = curves.start.clone();
    for mut row in start.rows_mut() {
        bounds.project(row.as_slice_mut().unwrap());
    }
    let fits =
        FitMany::new(peak(), &curves.x, &curves.y).start(&start).options(within(&peak(), &bounds)).fit().unwrap();
    let mut active = 0;
    for row in 0..40 {
        let start = start.row(row).to_vec();
        let mut one = CurveFit::model(peak(), &curves.x, curves.row(row).0, &start);
        for (j, name) in fits.names.iter().enumerate() {
            one = one.bounds(name, lower[j]..=upper[j]);
        }
        let one = one.fit().unwrap();
        assert_same(&fits, row, &one);
        assert!(bounds.contains(&fits.parameters.row(row).to_vec()), "{row}");
        for bound in &one.report().active {
            // Held there, to the bit.
            let j = bound.parameter;
            assert_eq!(fits.parameters[[row, j]], one.parameters()[j].value);
            assert_eq!(fits.standard_errors[[row, j]], 0.0);
            active += 1;
        }
    }
    assert!(active > 20, "{active}");
}

#[test]
fn a_start_beyond_the_bounds_is_its_own_fault_alone() {
    let curves = PEAK.draw::<f64>(peak(), 20, 40, 5);
    let bounds = Bounds::new([0.0, -5.0, 0.1, -2.0], [9.0, 5.0, 5.0, 2.0]).unwrap();
    let fit = |start: &Array2<f64>| {
        FitMany::new(peak(), &curves.x, &curves.y).start(start).options(within(&peak(), &bounds)).fit().unwrap()
    };
    let mut start = curves.start.clone();
    start[[8, 2]] = 6.0;
    let (fits, good) = (fit(&start), fit(&curves.start));
    assert_eq!(fits.status[8], FitStatus::StartOutOfBounds);
    assert_identical(&fits, &good, (0..20).filter(|&row| row != 8));
    assert_eq!(good.converged(), 20);
}

#[test]
fn points_that_are_missing_are_left_out() {
    let mut curves = PEAK.draw::<f64>(peak(), 20, 50, 6);
    for (row, mut y) in curves.y.rows_mut().into_iter().enumerate() {
        for i in 0..row {
            y[(7 * i + row) % 50] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][i % 3];
        }
    }
    let fit = FitMany::new(peak(), &curves.x, &curves.y).start(&curves.start);
    let fits = fit.nan_policy(NanPolicy::Omit).fit().unwrap();
    for row in 0..20 {
        let (y, start) = curves.row(row);
        let kept = curves.x.iter().zip(y).filter(|(_, y)| y.is_finite());
        let (x, y): (Vec<f64>, Vec<f64>) = kept.unzip();
        assert_eq!(y.len(), 50 - row);
        assert_same(&fits, row, &CurveFit::model(peak(), &x, &y, start).fit().unwrap());
    }
}

#[test]
fn the_model_guesses() {
    let x: Vec<f64> = (0..40).map(|i| 0.25 * f64::from(i)).collect();
    let noise = |row: usize, i: usize| 0.01 * ((row * 31 + i * 17) as f64).sin();
    let peaks = Array2::from_shape_fn((7, 40), |(row, i)| {
        (2.0 + row as f64) * (-0.5 * ((x[i] - 3.0 - 0.5 * row as f64) / 0.8).powi(2)).exp() + noise(row, i)
    });
    let fits = FitMany::new(Gaussian, &x, &peaks).guessed().fit().unwrap();
    let decays =
        Array2::from_shape_fn((7, 40), |(row, i)| 3.0 * (-x[i] / (1.0 + 0.3 * row as f64)).exp() + noise(row, i));
    // The guess is moved within.
    let bounds = Bounds::new([0.0, 0.0], [2.5, 9.0]).unwrap();
    let bounded = FitMany::new(ExponentialDecay, &x, &decays)
        .guessed()
        .options(within(&ExponentialDecay, &bounds))
        .fit()
        .unwrap();
    for row in 0..7 {
        assert_same(&fits, row, &CurveFit::guessed(Gaussian, &x, peaks.row(row)).fit().unwrap());
        let one = CurveFit::guessed(ExponentialDecay, &x, decays.row(row)).bounds("amplitude", 0.0..=2.5);
        assert_same(&bounded, row, &one.fit().unwrap());
    }
}

#[test]
fn as_many_points_as_parameters_are_enough() {
    let curves = LINE.draw::<f64>(line(), 6, 2, 8);
    let fits = curves.fit(line());
    for row in 0..6 {
        let (y, start) = curves.row(row);
        let one = CurveFit::model(line(), &curves.x, y, start).fit().unwrap();
        let errors = one.parameters().iter().map(|parameter| parameter.standard_error.is_finite());
        assert!(errors.eq(fits.standard_errors.row(row).iter().map(|error| error.is_finite())), "{one}");
        assert!(fits.status[row].is_converged() && fits.cost[row] < 1e-20, "{}", fits.status[row]);
    }
}
