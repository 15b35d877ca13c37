//! Linear inequalities between parameters.

use marquardt::autodiff::Difference;
use marquardt::curve::{FitOptions, ParameterState, Relation, RelationError, Warning};
use marquardt::models::{Gaussian, Guess};
use marquardt::solver::{FitStatus, Status};
use marquardt::{CurveError, CurveFit, Dual, FitMany, FittedCurve, GlobalFit, Loss, Tie, model};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

/// Numbers between minus one and one.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| (next() + next() + next()) / 3.0).collect()
}

fn relation(text: &str) -> Relation<f64> {
    Relation::parse(text).unwrap()
}

fn values(fit: &FittedCurve<'_, f64>) -> Vec<f64> {
    fit.parameters().iter().map(|parameter| parameter.value).collect()
}

fn errors(fit: &FittedCurve<'_, f64>) -> Vec<f64> {
    fit.parameters().iter().map(|parameter| parameter.standard_error).collect()
}

fn are_near(found: &[f64], expected: &[f64], tolerance: f64) -> bool {
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * b.abs().max(1e-3);
    found.len() == expected.len() && found.iter().zip(expected).all(is_near)
}

fn at_relations(fit: &FittedCurve<'_, f64>) -> Vec<String> {
    let relations = fit.warnings().iter().filter_map(|warning| match warning {
        Warning::AtRelation { relation } => Some(relation.clone()),
        _ => None,
    });
    relations.collect()
}

fn two_peaks(x: f64, [h1, c1, h2, c2]: [Dual<f64, 4>; 4]) -> Dual<f64, 4> {
    let peak = |h: Dual<f64, 4>, c: Dual<f64, 4>| h * (-0.5 * (x - c) * (x - c)).exp();
    peak(h1, c1) + peak(h2, c2)
}

#[test]
fn centers_stay_in_order() {
    let x: Vec<f64> = (0..60).map(|i| 0.2 * f64::from(i)).collect();
    let gap = |x: f64, c: f64| (-0.5 * (x - c) * (x - c)).exp();
    for (seed, far) in [(1, 5.0), (2, 5.3), (3, 6.5)] {
        let noise = noise(60, seed);
        let y: Vec<f64> = x.iter().zip(noise).map(|(&x, n)| 3.0 * gap(x, 5.0) + 2.0 * gap(x, far) + 0.3 * n).collect();
        for start in [[1.0, 3.0, 1.0, 9.0], [2.0, 6.0, 3.0, 6.0], [3.0, 1.0, 1.0, 1.5], [1.0, 9.0, 1.0, 9.5]] {
            let fit = CurveFit::new(two_peaks, &x, &y, start).names(["h1", "c1", "h2", "c2"]);
            let fit = fit.constrain(relation("c1 < c2")).fit().unwrap();
            assert!(fit.report().is_converged() && fit.parameters()[1].value <= fit.parameters()[3].value, "{fit}");
            let bootstrap = fit.bootstrap().replicates(20).run().unwrap();
            assert!(bootstrap.estimates().rows().into_iter().all(|row| row[1] <= row[3]), "{fit}");
            assert!(bootstrap.failed().len() <= 2, "{:?}", bootstrap.failed());
        }
    }
}

#[test]
fn an_active_relation_is_an_equation() {
    let x: Vec<f64> = (0..12).map(|i| 0.1 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().zip(noise(12, 4)).map(|(x, n)| 0.9 + 0.7 * x - 0.4 * x * x + 0.05 * n).collect();
    let cubic = |x: f64, [a, b, c]: [Dual<f64, 3>; 3]| a + b * x + c * (x * x);
    let fit = || CurveFit::new(cubic, &x, &y, [0.0, 0.0, 0.0]).names(["a", "b", "c"]);
    let tied = fit().tie("b", Tie::parse("1 - a").unwrap()).fit().unwrap();
    for text in ["a + b <= 1", "1 >= a + b", "2*a <= 2 - 2*b", "a - (1 - b) < 0"] {
        let held = fit().constrain(relation(text)).fit().unwrap();
        assert!(held.report().is_converged() && held.report().active.is_empty(), "{held}");
        assert!(are_near(&values(&held), &values(&tied), 1e-9), "{held}\n{tied}");
        assert!(are_near(&errors(&held), &errors(&tied), 1e-8), "{held}\n{tied}");
        assert_eq!(held.degrees_of_freedom(), tied.degrees_of_freedom());
        assert_eq!(at_relations(&held), [text]);
        assert_eq!(held.warnings().len(), 1);
        assert!(held.parameters().iter().all(|parameter| parameter.state == ParameterState::Free));
        assert!(held.to_string().contains(&format!("the relation {text} holds the fit at its limit")), "{held}");
        let correlation = held.covariance().correlation();
        assert!((correlation[(0, 1)] + 1.0).abs() < 1e-9, "{correlation}");
        let (own, other) = (held.influence().unwrap(), tied.influence().unwrap());
        assert!(are_near(&own.leverage, &other.leverage, 1e-8));
        let (own, other) = (held.profile_interval("a", 0.95).unwrap(), tied.profile_interval("a", 0.95).unwrap());
        // The tied fit has another minimum beyond.
        assert!(are_near(&[own.high], &[other.high], 0.5) && own.low <= other.low + 1e-9, "{own:?} {other:?}");
        let robust = fit().robust(Loss::Huber).constrain(relation(text)).fit().unwrap();
        assert!(robust.report().is_converged() && at_relations(&robust) == [text], "{robust}");
    }
    // The closed form: least squares with a multiplier.
    let jacobian = DMatrix::from_fn(12, 3, |i, j| x[i].powi(j as i32));
    let mut system = DMatrix::zeros(4, 4);
    system.view_mut((0, 0), (3, 3)).copy_from(&jacobian.tr_mul(&jacobian));
    let mut right = DVector::zeros(4);
    right.rows_mut(0, 3).copy_from(&jacobian.tr_mul(&DVector::from_vec(y.clone())));
    (system[(3, 0)], system[(3, 1)], system[(0, 3)], system[(1, 3)], right[3]) = (1.0, 1.0, 1.0, 1.0, 1.0);
    let solved = system.lu().solve(&right).unwrap();
    let held = fit().constrain(relation("a + b <= 1")).fit().unwrap();
    assert!(are_near(&values(&held), &solved.as_slice()[..3], 1e-9), "{held}\n{solved}");
    // An equation, as two relations.
    let both =
        fit().start("a", 1.0).constrain(relation("a + b <= 1")).constrain(relation("3*a >= 3 - 3*b")).fit().unwrap();
    assert!(are_near(&values(&both), &values(&tied), 1e-9) && are_near(&errors(&both), &errors(&tied), 1e-8), "{both}");
}

#[test]
fn inactive_relations_change_nothing() {
    let x: Vec<f64> = (0..40).map(|i| 0.2 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().zip(noise(40, 5)).map(|(x, n)| 4.0 * (-0.6 * x).exp() + 0.5 + 0.1 * n).collect();
    let decay = |x: f64, [a, k, c]: [Dual<f64, 3>; 3]| a * (-k * x).exp() + c;
    let fit = || CurveFit::new(decay, &x, &y, [3.0, 0.5, 0.1]).names(["a", "k", "c"]);
    let free = fit().fit().unwrap();
    for text in ["c <= a", "a + c <= 9", "k + c < a", "a >= 1", "c <= k + 10", "a + k + c > 2"] {
        let held = fit().constrain(relation(text)).fit().unwrap();
        assert!(are_near(&values(&held), &values(&free), 1e-9) && are_near(&errors(&held), &errors(&free), 1e-8));
        assert!(held.warnings().is_empty() && held.report().is_converged(), "{held}");
        let own = held.profile_interval("k", 0.95).unwrap();
        let other = free.profile_interval("k", 0.95).unwrap();
        assert!(are_near(&[own.low, own.high], &[other.low, other.high], 1e-7), "{own:?} {other:?}");
    }
}

/// The least cost of a linear fit of three parameters within these constraints, over all active sets of up to three.
fn least_cost(jacobian: &DMatrix<f64>, y: &DVector<f64>, normals: &[[f64; 3]], limits: &[f64]) -> f64 {
    let count = limits.len();
    let mut best = f64::INFINITY;
    for subset in 0..1_usize << count {
        let active: Vec<usize> = (0..count).filter(|c| subset >> c & 1 == 1).collect();
        if active.len() > 3 {
            continue;
        }
        let size = 3 + active.len();
        let mut system = DMatrix::zeros(size, size);
        system.view_mut((0, 0), (3, 3)).copy_from(&jacobian.tr_mul(jacobian));
        let mut right = DVector::zeros(size);
        right.rows_mut(0, 3).copy_from(&jacobian.tr_mul(y));
        for (place, &c) in active.iter().enumerate() {
            for k in 0..3 {
                (system[(3 + place, k)], system[(k, 3 + place)]) = (normals[c][k], normals[c][k]);
            }
            right[3 + place] = limits[c];
        }
        let Some(solved) = system.full_piv_lu().solve(&right) else { continue };
        let point = solved.rows(0, 3).into_owned();
        let is_feasible = (0..count).all(|c| (0..3).map(|k| normals[c][k] * point[k]).sum::<f64>() <= limits[c] + 1e-9);
        if is_feasible {
            best = best.min(0.5 * (jacobian * point - y).norm_squared());
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]
    #[test]
    fn shares_of_mixtures_reach_the_best_of_all_active_sets(
        truth in [-0.6..1.2_f64, -0.6..1.2, -0.6..1.2],
        entries in proptest::collection::vec(-1.0..1.0_f64, 24),
        size in 0.0..0.3_f64,
        seed in 0..1000_u64,
        // At corners, on an edge, and inside.
        start in prop_oneof![Just([0.0, 0.0, 0.0]), Just([1.0, 0.0, 0.0]), Just([0.0, 0.5, 0.5]), Just([0.2, 0.3, 0.1])],
        scales in [0..3_i32, 0..3, 0..3],
    ) {
        let rows = DMatrix::from_row_slice(8, 3, &entries);
        prop_assume!(rows.singular_values().min() > 0.1);
        let truth = DVector::from_row_slice(&truth);
        let y = &rows * truth + DVector::from_vec(noise(8, seed)) * size;
        let x: Vec<f64> = (0..8).map(f64::from).collect();
        let curve = |x: f64, [a, b, c]: [Dual<f64, 3>; 3]| {
            let i = x as usize;
            a * rows[(i, 0)] + b * rows[(i, 1)] + c * rows[(i, 2)]
        };
        let mut fit = CurveFit::new(curve, &x, y.as_slice(), start).names(["a", "b", "c"]).bounds_of_all(0.0..);
        for (name, scale) in ["a", "b", "c"].into_iter().zip(scales) {
            fit = fit.scale(name, 10.0_f64.powi(scale - 1));
        }
        let fit = fit.constrain(relation("a + b + c <= 1")).fit().unwrap();
        let normals = [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 1.0, 1.0]];
        let best = least_cost(&rows, &y, &normals, &[0.0, 0.0, 0.0, 1.0]);
        let found = fit.report().cost;
        prop_assert!(found <= best * (1.0 + 1e-10) + 1e-20, "{} for {}\n{}", found, best, fit);
        prop_assert!(fit.report().is_converged(), "{}", fit);
        let b = values(&fit);
        prop_assert!(b.iter().all(|&b| b >= 0.0) && b.iter().sum::<f64>() <= 1.0 + 1e-14, "{:?}", b);
    }

    /// Six of eight relations meet at the start, a corner that most fits leave.
    #[test]
    fn degenerate_corners_are_left(
        entries in proptest::collection::vec(-1.0..1.0_f64, 24),
        directions in proptest::collection::vec(-1.0..1.0_f64, 24),
        corner in [-2.0..2.0_f64, -2.0..2.0, -2.0..2.0],
        y in proptest::collection::vec(-3.0..3.0_f64, 8),
        coarse in any::<bool>(),
    ) {
        let rows = DMatrix::from_row_slice(8, 3, &entries);
        prop_assume!(rows.singular_values().min() > 0.1);
        // Coarse directions are often the same, or opposite.
        let direction = |k: usize| if coarse { (1.5 * directions[k]).round() } else { directions[k] };
        let normals: Vec<[f64; 3]> = (0..8).map(|c| std::array::from_fn(|k| direction(3 * c + k))).collect();
        let normals: Vec<[f64; 3]> = normals.into_iter().filter(|normal| normal.iter().any(|&slope| slope != 0.0)).collect();
        let at = |normal: &[f64; 3]| normal.iter().zip(&corner).map(|(slope, x)| slope * x).sum::<f64>();
        let limits: Vec<f64> = normals.iter().enumerate().map(|(c, normal)| at(normal) + if c < 6 { 0.0 } else { 1.0 }).collect();
        let x: Vec<f64> = (0..8).map(f64::from).collect();
        let curve = |x: f64, [a, b, c]: [Dual<f64, 3>; 3]| {
            let i = x as usize;
            a * rows[(i, 0)] + b * rows[(i, 1)] + c * rows[(i, 2)]
        };
        let mut fit = CurveFit::new(curve, &x, &y, corner).names(["a", "b", "c"]).retry(false);
        for (normal, &limit) in normals.iter().zip(&limits) {
            fit = fit.constrain(Relation::new(["a", "b", "c"].into_iter().zip(*normal), limit));
        }
        let fit = fit.fit().unwrap();
        let best = least_cost(&rows, &DVector::from_vec(y.clone()), &normals, &limits);
        // The corners of the reference are rounded, too.
        prop_assert!(fit.report().cost <= best * (1.0 + 1e-7), "{:e} for {:e}\n{}", fit.report().cost, best, fit);
        prop_assert!(fit.report().is_converged(), "{}", fit);
    }

    /// Isotonic regression, against the algorithm that pools adjacent violators.
    #[test]
    fn levels_in_order_are_isotonic_regression(y in proptest::collection::vec(-1.0..1.0_f64, 24)) {
        let x: Vec<f64> = (0..24).map(|i| f64::from(i / 2)).collect();
        let mut pools: Vec<(f64, usize)> = Vec::new();
        for pair in y.chunks(2) {
            pools.push((pair.iter().sum(), 2));
            while let [.., (before, n), (last, m)] = pools[..] && before / n as f64 > last / m as f64 {
                pools.truncate(pools.len() - 2);
                pools.push((before + last, n + m));
            }
        }
        let expected: Vec<f64> = pools.iter().flat_map(|&(sum, n)| vec![sum / n as f64; n / 2]).collect();
        let mut fit = CurveFit::new(|x, b: [Dual<f64, 12>; 12]| b[x as usize], &x, &y, [0.0; 12]).retry(false);
        for level in 1..12 {
            fit = fit.constrain(relation(&format!("b{level} <= b{}", level + 1)));
        }
        let fit = fit.fit().unwrap();
        prop_assert!(fit.report().is_converged(), "{}", fit);
        prop_assert!(values(&fit).iter().zip(&expected).all(|(b, expected)| (b - expected).abs() < 1e-7), "{}", fit);
        prop_assert!(values(&fit).windows(2).all(|pair| pair[0] <= pair[1] + 1e-15));
        let active = 12 - pools.len();
        prop_assert!(at_relations(&fit).len() == active && fit.degrees_of_freedom() == 24 - pools.len(), "{}", fit);
    }

    /// Sums of exponentials: at the end, the gradient is a combination of the normals of what is active.
    #[test]
    fn nonlinear_fits_end_at_constrained_minima(
        truth in [0.2..3.0_f64, 0.1..1.0, 0.2..3.0, 0.1..1.0],
        seed in 0..1000_u64,
        start in [0.1..1.5_f64, 0.05..0.7, 0.1..1.5, 0.05..0.7],
        limit in 1.0..4.0_f64,
    ) {
        let x: Vec<f64> = (0..25).map(|i| 0.3 * f64::from(i)).collect();
        let y: Vec<f64> = x.iter().zip(noise(25, seed)).map(|(x, n)| {
            truth[0] * (-truth[1] * x).exp() + truth[2] * (-truth[3] * x).exp() + 0.05 * n
        }).collect();
        let curve = |x: f64, [a, k, b, q]: [Dual<f64, 4>; 4]| a * (-k * x).exp() + b * (-q * x).exp();
        let [a, k, b, q] = start;
        let size = (limit / (a + b)).min(1.0);
        let start = [a * size, k.min(q), b * size, k.max(q)];
        let fit = CurveFit::new(curve, &x, &y, start).names(["a", "k", "b", "q"]).bounds_of_all(0.0..);
        let fit = fit.constrain(relation("k <= q")).constrain(Relation::new([("a", 1.0), ("b", 1.0)], limit));
        let fit = fit.retry(false).fit().unwrap();
        let p = values(&fit);
        prop_assert!(p.iter().all(|&p| p >= 0.0) && p[1] <= p[3] && p[0] + p[2] <= limit * (1.0 + 1e-14), "{}", fit);
        prop_assert!(fit.report().cost <= fit.report().initial_cost);
        // Where both rates are the same, one of them has no influence; and where a term has vanished, its rate has none: rounding may then
        // hide the last steps, but the cost is no higher than that without the term.
        let is_vanished = p[0].min(p[2]) < 1e-6;
        let is_certain = fit.report().is_converged() || fit.report().status == Status::FlatValley;
        prop_assert!(is_certain || is_vanished, "{}", fit);
        if !is_certain {
            let left = if p[0] > p[2] { [p[0], p[1]] } else { [p[2], p[3]] };
            let single = CurveFit::new(|x, [a, k]: [Dual<f64, 2>; 2]| a * (-k * x).exp(), &x, &y, left);
            let single = single.bounds("b1", 0.0..=limit).bounds("b2", 0.0..).fit().unwrap();
            prop_assert!(fit.report().cost <= single.report().cost * (1.0 + 1e-9), "{}{}", fit, single);
            return Ok(());
        }
    }
}

#[test]
fn chains_with_bounds_at_both_ends() {
    let x: Vec<f64> = (0..80).map(|i| 0.1 * f64::from(i)).collect();
    let curve = |x: f64, b: [Dual<f64, 3>; 3]| {
        b.into_iter().map(|c| (-2.0 * (x - c) * (x - c)).exp()).fold(b[0] * 0.0, |s, p| s + p)
    };
    let gap = |x: f64, c: f64| (-2.0 * (x - c) * (x - c)).exp();
    for (centers, start, expected) in [
        ([2.0, 4.0, 6.0], [1.5, 4.0, 6.5], Some([2.0, 4.0, 6.0])),
        ([0.5, 4.0, 7.5], [1.0, 1.0, 1.0], None),
        ([0.5, 4.0, 7.5], [7.0, 7.0, 7.0], Some([1.0, 4.0, 7.0])),
        ([4.0, 4.0, 4.0], [3.5, 4.0, 4.5], Some([4.0, 4.0, 4.0])),
    ] {
        let y: Vec<f64> = x.iter().map(|&x| centers.iter().map(|&c| gap(x, c)).sum::<f64>()).collect();
        let fit = CurveFit::new(curve, &x, &y, start).names(["c1", "c2", "c3"]);
        let fit = fit.bounds("c1", 1.0..).bounds("c3", ..=7.0);
        let fit = fit
            .constrain(relation("c1 < c2"))
            .constrain(relation("c2 < c3"))
            .constrain(relation("c1 <= c3"))
            .fit()
            .unwrap();
        let c = values(&fit);
        assert!(1.0 <= c[0] && c[0] <= c[1] && c[1] <= c[2] && c[2] <= 7.0, "{fit}");
        assert!(fit.report().is_converged(), "{fit}");
        if let Some(expected) = expected {
            assert!(c.iter().zip(expected).all(|(c, expected)| (c - expected).abs() < 1e-3), "{start:?}: {fit}");
        }
    }
}

#[test]
fn fixed_and_tied_parameters_take_part() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [1.3, 1.8, 3.1, 3.7, 5.2]);
    let curve = |x: f64, [a, b, c]: [Dual<f64, 3>; 3]| a + b * x + c * (x * x);
    let fit = || CurveFit::new(curve, &x, &y, [0.0, 0.0, 0.0]).names(["a", "b", "c"]);
    // A bound, in other words.
    let fixed = fit().fix_at("c", 0.25).start("b", -1.0).constrain(relation("b + c <= 0.1")).fit().unwrap();
    let bounded = fit().fix_at("c", 0.25).start("b", -1.0).bounds("b", ..=0.1 - 0.25).fit().unwrap();
    assert!(are_near(&values(&fixed), &values(&bounded), 1e-12) && are_near(&errors(&fixed), &errors(&bounded), 1e-9));
    assert_eq!(at_relations(&fixed), ["b + c <= 0.1"]);
    let tied = fit().tie("c", Tie::parse("b / 2 - 0.25").unwrap()).constrain(relation("a + c <= 0.5")).fit().unwrap();
    let (p, is_at) = (values(&tied), at_relations(&tied));
    assert!(p[0] + p[2] <= 0.5 + 1e-14 && (is_at.is_empty() || (p[0] + p[2] - 0.5).abs() < 1e-14), "{tied}");
    let error = |fit: CurveFit<'_, f64, _>| fit.fit().unwrap_err().to_string();
    assert_eq!(
        error(fit().tie("c", Tie::parse("b^2").unwrap()).constrain(relation("a + c <= 1"))),
        "the relation a + c <= 1 is not linear in the free parameters, to which others in it are tied"
    );
    assert_eq!(
        error(fit().fix("a").fix("b").constrain(relation("a + b <= 1"))),
        "the relation a + b <= 1 is of constants: no free parameter has an influence on it"
    );
    // All parameters are pinned.
    let corner = fit().fix("c").bounds("a", 0.0..).bounds("b", 0.0..).constrain(relation("10*a + 10*b <= 1"));
    let corner = corner.start("a", 0.1).fit().unwrap();
    assert!((corner.parameters()[1].value - 0.1).abs() < 1e-15 && corner.parameters()[0].value == 0.0, "{corner}");
    assert_eq!(corner.parameters()[0].state, ParameterState::AtLowerBound);
    assert_eq!(corner.parameters()[1].standard_error, 0.0);
}

#[test]
fn equal_and_redundant_relations_are_as_one() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [1.3, 1.8, 3.1, 3.7, 5.2]);
    let line = || CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.5, 0.5]).names(["a", "b"]);
    let one = line().constrain(relation("a + b <= 1")).fit().unwrap();
    let twice = line().constrain(relation("a + b <= 1")).constrain(relation("-2*a - 2*b >= -2")).fit().unwrap();
    let loose =
        line().constrain(relation("a + b <= 1.5")).constrain(relation("a + b <= 1")).constrain(relation("a <= 9"));
    let loose = loose.bounds("b", ..=3.0).fit().unwrap();
    for other in [twice, loose] {
        assert_eq!(values(&one), values(&other));
        assert!(are_near(&errors(&one), &errors(&other), 1e-12));
        assert_eq!(at_relations(&other), ["a + b <= 1"]);
    }
    assert!((one.parameters()[0].value + one.parameters()[1].value - 1.0).abs() < 1e-15);
}

#[test]
fn units_do_not_matter() {
    let x: Vec<f64> = (0..20).map(|i| 0.2 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().zip(noise(20, 9)).map(|(x, n)| 0.8 + 0.9 * x + 0.1 * n).collect();
    let plain = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.1, 0.1]).names(["a", "b"]);
    let plain = plain.constrain(relation("a + b <= 1")).fit().unwrap();
    let units = CurveFit::new(|x, [a, b]| a * 1e9 + b * 1e-6 * x, &x, &y, [1e-10, 1e5]).names(["a", "b"]);
    let units = units.constrain(Relation::new([("a", 1e9), ("b", 1e-6)], 1.0)).fit().unwrap();
    let (p, u) = (values(&plain), values(&units));
    assert!(are_near(&[u[0] * 1e9, u[1] * 1e-6], &p, 1e-9), "{plain}\n{units}");
    assert!(are_near(&[errors(&units)[0] * 1e9, errors(&units)[1] * 1e-6], &errors(&plain), 1e-8));
    assert_eq!(at_relations(&units), ["1000000000*a + 0.000001*b <= 1"]);
    // Single precision.
    let (x, y): (Vec<f32>, Vec<f32>) = (x.iter().map(|&x| x as f32).collect(), y.iter().map(|&y| y as f32).collect());
    let single = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.1_f32, 0.1]).names(["a", "b"]);
    let single = single.constrain(Relation::parse("a + b <= 1").unwrap()).fit().unwrap();
    assert!(single.report().is_converged(), "{single}");
    for (single, double) in single.parameters().iter().zip(&p) {
        assert!((f64::from(single.value) - double).abs() < 1e-5, "{single:?}");
    }
}

#[test]
fn derivatives_by_differences_count_and_errors() {
    let x: Vec<f64> = (0..30).map(|i| 0.2 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| (40.0 * (-0.5 * x).exp() + 10.0).round()).collect();
    let of = |b: &[f64], x: f64| b[0] * (-b[1] * x).exp() + b[2];
    let numeric =
        CurveFit::numeric(move |x: &[f64], b: &[f64]| of(b, x[0]), Difference::Central, &x, &y, &[20.0, 0.4, 5.0]);
    let numeric = numeric.names(["a", "k", "c"]).counts().constrain(relation("a + c <= 45")).fit().unwrap();
    let curve = |x: f64, [a, k, c]: [Dual<f64, 3>; 3]| a * (-k * x).exp() + c;
    let exact = CurveFit::new(curve, &x, &y, [20.0, 0.4, 5.0]).names(["a", "k", "c"]).counts();
    let exact = exact.constrain(relation("a + c <= 45")).fit().unwrap();
    assert!(are_near(&values(&numeric), &values(&exact), 1e-5), "{numeric}\n{exact}");
    assert!((exact.parameters()[0].value + exact.parameters()[2].value - 45.0).abs() < 1e-12, "{exact}");
    let sigma = vec![0.01; x.len()];
    let shifted = CurveFit::new(curve, &x, &y, [20.0, 0.4, 5.0]).names(["a", "k", "c"]).sigma_x(&[0.01]);
    let shifted = shifted.sigma(&sigma).constrain(relation("a + c <= 45")).fit().unwrap();
    assert!((shifted.parameters()[0].value + shifted.parameters()[2].value - 45.0).abs() < 1e-12, "{shifted}");
}

#[test]
fn many_starts_and_several_data_sets() {
    let x: Vec<f64> = (0..30).map(|i| 0.2 * f64::from(i)).collect();
    let wave = |x: f64, [w, p]: [Dual<f64, 2>; 2]| (w * x).sin() + (p * x).sin();
    let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin() + (3.0 * x).sin()).collect();
    let fit = CurveFit::new(wave, &x, &y, [0.5, 1.0]).names(["w", "p"]).bounds_of_all(0.0..=5.0);
    let minima = fit.constrain(relation("w <= p")).multi_start().starts(40).run().unwrap();
    assert!(are_near(&values(&minima.best), &[2.0, 3.0], 1e-9), "{}", minima.best);
    assert!(minima.minima.iter().all(|minimum| minimum.parameters[0] <= minimum.parameters[1]));
    let line = || CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.5, 0.5]).names(["a", "b"]);
    let of_one = line().constrain(relation("a + b <= 1")).constrain(relation("a >= 1"));
    let all = GlobalFit::new().data_set("one", of_one.start("a", 1.0).start("b", 0.0)).data_set("two", line());
    let all = all.shared(["b"]).fit().unwrap();
    let at = |name: &str| all.parameter(name).unwrap().value;
    assert!(at("one.a") >= 1.0 && at("one.a") + at("b") <= 1.0 + 1e-14, "{all}");
    assert!(at_relations(&all).contains(&"-one.a <= -1".to_owned()), "{all}");
    // The others fitted again within the relation.
    let joined = GlobalFit::new().data_set("one", line().constrain(relation("a < b"))).data_set("two", line());
    let error = joined.shared(["b"]).curve_fit().unwrap().start("one.a", 3.0).fit().unwrap_err();
    assert_eq!(error.to_string(), "the start violates the relation one.a - b <= 0 by 2.5");
}

#[test]
fn guesses_are_moved_and_starts_by_hand_are_not() {
    let x: Vec<f64> = (0..60).map(|i| 0.2 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 3.0 * (-0.5 * (x - 5.0) * (x - 5.0)).exp()).collect();
    let fit = || CurveFit::guessed(Gaussian, &x, &y);
    let guess = Gaussian.guess(&x, &y);
    let names: Vec<String> = fit().fit().unwrap().parameters().iter().map(|parameter| parameter.name.clone()).collect();
    let (center, width) = (&names[1], &names[2]);
    let text = format!("{center} <= 4*{width}");
    assert!(guess[1] > 4.0 * guess[2]);
    let moved = fit().constrain(relation(&text)).fit().unwrap();
    assert!(moved.report().is_converged() && at_relations(&moved) == [text.clone()], "{moved}");
    let given = fit().start(center, 5.0).constrain(relation(&text)).fit().unwrap();
    assert!(are_near(&values(&given), &values(&moved), 1e-7), "{given}");
    let error = fit().start(center, 5.0).start(width, 1.0).constrain(relation(&text)).fit().unwrap_err();
    assert_eq!(error.to_string(), format!("the start violates the relation {text} by 1"));
    assert!(matches!(error, CurveError::StartViolatesRelation { excess, .. } if (excess - 1.0).abs() < 1e-14));
}

#[test]
fn many_fits_take_relations_one_by_one() {
    let x: Vec<f64> = (0..20).map(|i| 0.2 * f64::from(i)).collect();
    let rows =
        ndarray::Array2::from_shape_fn((3, 20), |(row, i)| (0.5 + row as f64) + 0.2 * x[i] + 0.1 * noise(20, 7)[i]);
    let line = model!(|x; a, b| a + b * x);
    let options = FitOptions::new().constrain(relation("a + b <= 1"));
    let many = FitMany::new(line, &x, &rows).start(&[0.0, 0.0]).options(options.clone()).fit().unwrap();
    for (row, found) in many.parameters.rows().into_iter().enumerate() {
        let y = rows.row(row).to_vec();
        let one = CurveFit::model(line, &x, &y, &[0.0, 0.0]).options(options.clone()).fit().unwrap();
        assert!(are_near(&found.to_vec(), &values(&one), 1e-6), "{found} {one}");
        assert!(are_near(&many.standard_errors.row(row).to_vec(), &errors(&one), 1e-6));
    }
    assert_eq!(many.converged(), 3);
    let outside = FitMany::new(line, &x, &rows).start(&[1.0, 1.0]).options(options).fit().unwrap();
    assert!(outside.status.iter().all(|status| *status == FitStatus::StartOutOfBounds));
    let unknown = FitMany::new(line, &x, &rows).start(&[1.0, 1.0]).constrain(relation("z < 1")).fit().unwrap_err();
    assert!(unknown.to_string().contains("\"z\", which is no parameter"), "{unknown}");
}

#[test]
fn profiles_stay_within_relations() {
    let x: Vec<f64> = (0..30).map(|i| 0.2 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().zip(noise(30, 3)).map(|(x, n)| 0.8 + 0.3 * x + 0.2 * n).collect();
    let line = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.1, 0.1]).names(["a", "b"]);
    let fit = line.constrain(relation("a + b <= 1")).fit().unwrap();
    let profile = fit.profile("a", 0.95, 4).unwrap();
    assert!(profile.points.iter().all(|point| point.parameters[0] + point.parameters[1] <= 1.0 + 1e-14), "{profile:?}");
    assert!(profile.interval.low < fit.parameters()[0].value && profile.interval.high > fit.parameters()[0].value);
    assert!(fit.contour("a", "b", 0.95, 8).is_ok());
}

#[test]
fn errors_name_the_relation() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0], [1.3, 1.8, 3.1, 3.7]);
    let line = || CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.5, 1.0]).names(["a", "b"]);
    let error = |relations: &[&str]| {
        let fit = relations.iter().fold(line(), |fit, text| fit.constrain(relation(text)));
        fit.fit().unwrap_err().to_string()
    };
    assert_eq!(error(&["a + b <= 1"]), "the start violates the relation a + b <= 1 by 0.5");
    assert_eq!(error(&["a + z <= 1"]), "the relation a + z <= 1 is of \"z\", which is no parameter");
    assert_eq!(
        error(&["a + b <= 1", "a + b >= 2"]),
        "no values of the parameters within their bounds satisfy a + b <= 1 and a + b >= 2"
    );
    assert_eq!(
        error(&["a - a <= 1"]),
        "the relation a - a <= 1 is of constants: no free parameter has an influence on it"
    );
    let infinite = line().constrain(Relation::new([("a", f64::NAN)], 1.0)).fit().unwrap_err();
    assert!(matches!(infinite, CurveError::NonFiniteRelation { .. }), "{infinite}");
    let conflict = line().variable_projection(true).constrain(relation("a + b <= 2")).fit().unwrap_err();
    assert!(matches!(conflict, CurveError::Conflict { second: "relations", .. }), "{conflict}");
}

#[test]
fn texts_are_linear_comparisons() {
    let parsed =
        |text: &str| Relation::<f64>::parse(text).map(|relation| (relation.terms().to_vec(), relation.limit()));
    let terms = |terms: &[(&str, f64)]| terms.iter().map(|&(name, slope)| (name.to_owned(), slope)).collect::<Vec<_>>();
    assert_eq!(parsed("c1 < c2"), Ok((terms(&[("c1", 1.0), ("c2", -1.0)]), 0.0)));
    assert_eq!(parsed("2*(a - b)/4 + 1 >= 3*a"), Ok((terms(&[("a", 2.5), ("b", 0.5)]), 1.0)));
    assert_eq!(parsed("\"a < b\" ≤ 2"), Ok((terms(&[("a < b", 1.0)]), 2.0)));
    for nonlinear in ["a*b < 1", "exp(a) <= 1", "1/a > 0", "abs(a) < 2", "a^2 < 1", "step(a) < 2", "max(a, -1e5) < 2"] {
        assert!(matches!(parsed(nonlinear), Err(RelationError::NotLinear { .. })), "{nonlinear}");
    }
    assert!(matches!(parsed("a + b"), Err(RelationError::NoComparison { .. })));
    assert_eq!(
        parsed("a < b < c").unwrap_err().to_string(),
        "\"a < b < c\" has several comparisons; each is a relation of its own"
    );
    assert!(matches!(parsed("a < "), Err(RelationError::Formula(_))));
    assert!(matches!(parsed("a == b"), Err(RelationError::NoComparison { .. })));
    assert_eq!(Relation::new([("a", -1.0), ("b", 2.0), ("a", 3.0)], 0.5).to_string(), "2*a + 2*b <= 0.5");
}
