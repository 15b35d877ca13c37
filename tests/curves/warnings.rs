//! Warnings about fits from which nothing, or not all, can be concluded; none about sound fits.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::curve::Warning;
use marquardt::problem::BoundSide;
use marquardt::solver::Status;
use marquardt::{CurveFit, FittedCurve, Formula, GlobalFit, LevenbergMarquardt, Loss, Real};
use ndarray::Array2;
use rand_distr::{Distribution, StandardNormal};

use crate::certified::Certified;
use crate::nist::{DataSet, Model};

/// R's Puromycin, treated cells.
pub const CONCENTRATION: [f64; 12] = [0.02, 0.02, 0.06, 0.06, 0.11, 0.11, 0.22, 0.22, 0.56, 0.56, 1.10, 1.10];
pub const RATE: [f64; 12] = [76.0, 47.0, 97.0, 107.0, 123.0, 139.0, 159.0, 152.0, 191.0, 201.0, 207.0, 200.0];

/// A falling response, of which a hyperbola from a bad start finds no finite minimum (stats.stackexchange.com/q/415088).
pub const FALLING: ([f64; 27], [f64; 27]) = (
    [
        5.1, 5.3, 5.4, 5.6, 5.7, 5.8, 6.0, 6.3, 6.5, 6.8, 7.0, 7.3, 7.3, 7.6, 8.2, 8.5, 8.5, 8.8, 8.8, 9.1, 9.3, 9.3,
        9.8, 10.2, 10.7, 11.1, 11.1,
    ],
    [
        118.0, 116.0, 115.0, 114.0, 115.0, 115.0, 114.0, 114.0, 114.0, 112.0, 108.0, 107.0, 111.0, 109.0, 107.0, 108.0,
        109.0, 105.0, 105.0, 107.0, 107.0, 107.0, 106.0, 105.0, 104.0, 101.0, 101.0,
    ],
);

fn noise(count: usize, size: f64, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| size * Distribution::<f64>::sample(&StandardNormal, &mut random)).collect()
}

/// Parameters that ran away.
fn runaways<'f, T: Real>(fit: &'f FittedCurve<'_, T>) -> Vec<&'f str> {
    let names = fit.warnings().iter().filter_map(|warning| match warning {
        Warning::RanAway { parameter, .. } => Some(parameter.as_str()),
        _ => None,
    });
    names.collect()
}

fn worse_than_mean<T: Real>(fit: &FittedCurve<'_, T>) -> bool {
    fit.warnings().iter().any(|warning| matches!(warning, Warning::WorseThanMean { .. }))
}

#[test]
fn a_hyperbola_that_becomes_a_line_has_run_away() {
    let (x, y) = &FALLING;
    let hyperbola = Formula::parse("a*x/(b+x)+c").unwrap();
    let fit = CurveFit::model(hyperbola, x, y, &[12.0, -18.0, 119.0]).retry(false).fit().unwrap();
    assert_eq!(runaways(&fit), ["a", "b"], "{fit}");
    assert!(fit.is_unusable() && !worse_than_mean(&fit));
    let text = fit.to_string();
    assert!(text.contains("\"a\" ran away to ") && !text.contains("0.00 ±") && !text.contains("e16 %"), "{text}");
    assert!(fit.summary().warnings.iter().any(|warning| warning.starts_with("\"b\" ran away")));
    assert!(fit.summary().to_markdown().contains("> **Warning:** \"a\" ran away"), "{}", fit.summary().to_markdown());
}

/// Lines, and what comes near them with parameters that grow without end.
#[test]
fn curves_that_straighten_out_run_away_in_both_precisions() {
    let x: Vec<f64> = (1..=20).map(f64::from).collect();
    // A little bent the wrong way.
    let y: Vec<f64> = x.iter().zip(noise(20, 0.3, 1)).map(|(x, noise)| 2.0 * x + 0.02 * x * x + noise).collect();
    let [single_x, single_y] = [&x, &y].map(|of| of.iter().map(|&value| value as f32).collect::<Vec<_>>());
    for (formula, expected) in
        [("a*x/(b+x)", ["a", "b"].as_slice()), ("a*(1-x/(2*b+x))*x", &["b"]), ("a*x+1/(b*(x+3))", &["b"])]
    {
        let curve = Formula::parse(formula).unwrap();
        let fit = CurveFit::model(curve.clone(), &x, &y, &[30.0, 20.0]).bounds("b", 0.0..).fit().unwrap();
        assert_eq!(runaways(&fit), expected, "{formula}: {fit}");
        let fit = CurveFit::model(curve, &single_x, &single_y, &[30.0, 20.0]).bounds("b", 0.0..).fit().unwrap();
        assert_eq!(runaways(&fit), expected, "{formula} in single precision: {fit}");
    }
}

/// Two data sets of one binding curve, in which only the ratio of two parameters is determined (symfit, issue 340).
#[test]
fn global_fits_say_which_parameters_ran_away() {
    let ligand = [0.25, 0.5, 0.8, 1.0, 1.5, 2.5, 4.0, 6.0];
    let first = [
        0.013086325798209482,
        0.010144832077553744,
        0.00807480228676198,
        0.007560555533483845,
        0.0061854497435148105,
        0.005099733409299026,
        0.0038812123438669768,
        0.0031145317486463066,
    ];
    let second = [
        0.012624136137849127,
        0.00884329432480036,
        0.006747803674437807,
        0.006389813737979039,
        0.004918439951078863,
        0.0035903310403010594,
        0.002554518199002905,
        0.0020277651510502066,
    ];
    let formulas = [
        "Ra*(-(-(L0*1.3*Kb+0.01*1.3*Kb+Ka*0.01+Ka*L0+Ka*Kb+Ka*Kb*1.3))-sqrt((-(L0*1.3*Kb+0.01*1.3*Kb+Ka*0.01+Ka*L0+Ka*Kb\
         +Ka*Kb*1.3))^2-4*(1.3*Kb+2*Ka+(Ka^2/1.3*Kb))*(0.01*L0*1.3*Kb)))/(2*(1.3*Kb+2*Ka+(Ka^2/1.3*Kb)))/L0",
        "Rb*(-(-(L0*Ka+0.01*Ka+Kb*1.3*0.01+Kb*1.3*L0+Ka*Kb*1.3*(1+(1/1.3))))-sqrt((-(L0*Ka+0.01*Ka+Kb*1.3*0.01+Kb*1.3*L0\
         +Ka*Kb*1.3*(1+(1/1.3))))^2-4*(Ka+2*Kb*1.3+(Kb^2*1.3^2)/Ka)*(0.01*L0*Ka)))/(2*(Ka+2*Kb*1.3+(Kb^2*1.3^2)/Ka))/L0",
    ];
    let formula = |index: usize| Formula::with_predictors(formulas[index], ["L0"]).unwrap();
    let ones = [1.0; 3];
    let fit = GlobalFit::new()
        .data_set("first", CurveFit::model(formula(0), &ligand, &first, &ones))
        .data_set("second", CurveFit::model(formula(1), &ligand, &second, &ones))
        .shared(["Ka", "Kb"])
        .fit()
        .unwrap();
    let mut names = runaways(&fit);
    names.sort_unstable();
    assert_eq!(names, ["Ka", "first.Ra"], "{fit}");
}

#[test]
fn a_fit_worse_than_a_flat_line_is_unusable() {
    let curve = Formula::parse("vmax*x/(km+x)").unwrap();
    let fit = CurveFit::model(curve.clone(), &CONCENTRATION, &RATE, &[1.0, 1.0]).retry(false).fit().unwrap();
    let r_squared = fit.r_squared().unwrap();
    assert!(fit.warnings().contains(&Warning::WorseThanMean { r_squared: Some(r_squared) }), "{fit}");
    assert!(r_squared < -5.0 && fit.is_unusable());
    assert!(fit.to_string().contains("worse than their mean does: R² is -5.38"), "{fit}");
    // With weights, and of counts.
    let sigma: Vec<f64> = RATE.iter().map(|rate| 0.1 * rate).collect();
    let weighted = CurveFit::model(curve, &CONCENTRATION, &RATE, &[1.0, 1.0]).sigma(&sigma).fix_at("km", -0.1);
    assert!(worse_than_mean(&weighted.fit().unwrap()));
    let hump = Formula::parse("exp(a)*exp(-(x-4)^2)").unwrap();
    let counts: Vec<f64> = (0..9).map(|i| f64::from((i - 4) * (i - 4))).collect();
    let x: Vec<f64> = (0..9).map(f64::from).collect();
    assert!(worse_than_mean(&CurveFit::model(hump.clone(), &x, &counts, &[1.0]).counts().fit().unwrap()));
    for loss in [Loss::Huber, Loss::SoftL1, Loss::Tukey] {
        let robust = CurveFit::model(hump.clone(), &x, &counts, &[1.0]).robust(loss).f_scale(20.0).fit().unwrap();
        assert!(worse_than_mean(&robust), "{robust}");
        assert!(robust.to_string().contains("worse than their median does"), "{robust}");
    }
}

/// One outlier has more squares than all else.
#[test]
fn outliers_make_no_robust_fit_unusable() {
    let x: Vec<f64> = (0..30).map(f64::from).collect();
    let mut y: Vec<f64> = x.iter().zip(noise(30, 0.1, 2)).map(|(x, noise)| 1.0 + 0.5 * x + noise).collect();
    y[3] = 1e6;
    for loss in [Loss::Huber, Loss::SoftL1, Loss::Cauchy, Loss::Tukey] {
        let fit = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.0, 0.0]).robust(loss).fit().unwrap();
        assert!(fit.r_squared().unwrap() < 0.0 && fit.warnings().is_empty(), "{fit}");
    }
}

#[test]
fn bounds_and_limits_are_named() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [1.1, 2.9, 5.2, 6.9, 9.1]);
    let line = || CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.0, 1.0]).names(["a", "b"]);
    assert!(line().fit().unwrap().warnings().is_empty());
    let held = line().bounds("b", 0.0..=1.5).fit().unwrap();
    let warning = Warning::AtBound { parameter: "b".into(), side: BoundSide::Upper, bound: 1.5 };
    assert_eq!(
        (held.warnings(), warning.to_string()),
        (&[warning.clone()][..], "\"b\" is at its upper bound, 1.5".into())
    );
    assert!(!held.is_unusable());
    let cut = line().solver(LevenbergMarquardt::new().with_max_iterations(0)).fit().unwrap();
    assert_eq!(cut.warnings()[0], Warning::NotConverged { status: Status::MaxIterations });
    let twice = CurveFit::new(|x, [a, b, c]| a + b + c * x, &x, &y, [0.0, 0.0, 1.0]).names(["a", "b", "c"]);
    let undetermined = Warning::Undetermined { parameters: vec!["a".into(), "b".into()] };
    assert_eq!(twice.fit().unwrap().warnings(), [undetermined]);
}

/// Cubes of large numbers leave few digits for what is near them.
#[test]
fn an_end_by_rounding_is_named() {
    let y = [-1.9, 3.3, 4.2, 3.8, 4.3, 5.4, 4.0, 1.4];
    let x: Vec<f64> = (1..=8).map(f64::from).collect();
    let cubic = |from: f64| Formula::parse(&format!("a+b*x+c*(x+{from})^2+d*(x+{from})^3")).unwrap();
    let fit = CurveFit::model(cubic(1e5), &x, &y, &[1.0; 4]).fit().unwrap();
    let gradient_cosine = fit.report().gradient_cosine;
    assert!(fit.report().is_converged() && gradient_cosine > 1e-6, "{fit}");
    assert!(fit.warnings().contains(&Warning::EndedByRounding { gradient_cosine }), "{fit}");
    assert!(!fit.is_unusable() && fit.to_string().contains("rounding errors ended the fit"), "{fit}");
    let fit = CurveFit::model(cubic(10.0), &x, &y, &[1.0; 4]).fit().unwrap();
    assert!(fit.warnings().is_empty(), "{fit}");
}

/// Residuals and deviations from the mean that are rounding errors say nothing of each other.
#[test]
fn constants_are_described_as_well_as_by_their_mean() {
    let x: Vec<f64> = (1..=10).map(f64::from).collect();
    for constant in [0.1, 1.0 / 3.0, 1e-300, 1e6 / 7.0] {
        let y = vec![constant; 10];
        for formula in ["a+b*x", "a*exp(-b*x)", "a+b*x+c*x^2", "a"] {
            let curve = Formula::with_predictors(formula, ["x"]).unwrap();
            let start = vec![1.0; curve.parameters().len()];
            let fit = CurveFit::model(curve.clone(), &x, &y, &start).fit().unwrap();
            assert!(!worse_than_mean(&fit), "{formula}: {fit}");
            let robust = CurveFit::model(curve, &x, &y, &start).robust(Loss::Huber).f_scale(1.0).fit().unwrap();
            assert!(!worse_than_mean(&robust), "{formula}: {robust}");
        }
    }
    let symmetric = [-3.0, -1.0, 0.0, 1.0, 3.0];
    let level = CurveFit::new(|_, [a]| a, &x[..5], &symmetric, [0.3]).robust(Loss::SoftL1).f_scale(1.0).fit().unwrap();
    assert!(level.warnings().is_empty(), "{level}");
}

/// Parameters that are zero have a standard error far above their value, and no warning.
#[test]
fn parameters_that_are_zero_have_not_run_away() {
    let x: Vec<f64> = (0..60).map(|i| 0.1 * f64::from(i)).collect();
    for seed in 0..20 {
        let errors = noise(60, 0.1, seed);
        let decay = |offset: f64| -> Vec<f64> {
            x.iter().zip(&errors).map(|(x, error)| 3.0 * (-0.8 * x).exp() + offset + error).collect()
        };
        let curve = Formula::parse("a*exp(-k*x)+c").unwrap();
        // The offset that is found is subtracted from the data: what is left is zero to rounding.
        let plain = decay(0.0);
        let start = [1.0, 1.0, 0.0];
        let offset = CurveFit::model(curve.clone(), &x, &plain, &start).fit().unwrap().parameters()[2].value;
        for remaining in [0.0, 1e-4, 1e-9] {
            let shifted = decay(remaining - offset);
            let fit = CurveFit::model(curve.clone(), &x, &shifted, &start).fit().unwrap();
            assert!(fit.parameters()[2].value.abs() < 0.01 * fit.parameters()[2].standard_error || remaining > 1e-5);
            assert!(fit.warnings().is_empty(), "{fit}");
        }
        let wave: Vec<f64> = x.iter().zip(&errors).map(|(x, error)| 2.0 * (3.0 * x).sin() + error).collect();
        let sine = Formula::parse("a*sin(w*x+p)+b*x+c").unwrap();
        let fit = CurveFit::model(sine, &x, &wave, &[1.0, 2.9, 0.0, 0.0, 0.0]).fit().unwrap();
        assert!(fit.warnings().is_empty(), "{fit}");
        let flat = CurveFit::new(|x, [a, b, c]| a + b * x + c * x * x, &x, &errors, [0.0; 3]).fit().unwrap();
        assert!(flat.warnings().is_empty(), "{flat}");
    }
}

#[test]
fn certified_fits_have_no_warnings() {
    for &model in Model::ALL {
        let set = DataSet::load(model);
        let x = Array2::from_shape_fn((set.x.len(), set.x[0].len()), |(i, j)| set.x[i][j]);
        for start in &set.starts {
            let fit = CurveFit::model(Certified(model, set.certified.len()), &x, &set.y, start).fit().unwrap();
            assert!(fit.warnings().is_empty(), "{}: {fit}", model.name());
        }
    }
}
