//! Fits of curves to data that are spread over ranks.

use std::ops::Range;

use marquardt::distributed::Communicator;
use marquardt::{CurveFit, FittedCurve, Loss};

use crate::{Scenario, assert_bitwise, assert_close, shards};

pub const SCENARIOS: &[Scenario] = &[
    ("a curve fit is that of one rank with all data", curve_fit),
    ("a robust fit is that of one rank with all data", robust_fit),
    ("many starts find the same minima", multi_start),
    ("data of one rank that are no data are an error of all", bad_data),
];

const ROWS: usize = 600;

fn data(rows: Range<usize>) -> (Vec<f64>, Vec<f64>) {
    let x = |row: usize| 8.0 * row as f64 / ROWS as f64;
    let y = |row: usize| 3.0 * (-0.7 * x(row)).exp() + 0.5 + 0.05 * (1e4 * x(row)).sin();
    (rows.clone().map(x).collect(), rows.map(y).collect())
}

/// Values, standard errors and what is said of the fit as a whole.
fn numbers(fit: &FittedCurve<'_, f64>) -> Vec<f64> {
    let parameters = fit.parameters().iter().flat_map(|parameter| [parameter.value, parameter.standard_error]);
    let whole = [fit.report().cost, fit.residual_standard_deviation().unwrap(), fit.degrees_of_freedom() as f64];
    parameters.chain(whole).collect()
}

fn compare(ranks: &Communicator, loss: Option<Loss>) {
    let fit = |rows: Range<usize>, ranks: &Communicator| {
        let (x, mut y) = data(rows);
        // An outlier on every rank, at the same data on any number of them.
        y.iter_mut().zip(&x).filter(|(_, x)| **x > 5.0 && **x < 5.05).for_each(|(y, _)| *y += 2.0);
        let fit = CurveFit::new(|x, [a, k, c]| a * (-k * x).exp() + c, &x, &y, [1.0, 1.0, 0.0]);
        let fit = fit.names(["a", "k", "c"]).bounds("a", 0.0..);
        let fit = match loss {
            Some(loss) => fit.robust(loss),
            None => fit,
        };
        numbers(&fit.communicator(ranks).fit().unwrap())
    };
    let alone = fit(0..ROWS, &Communicator::single());
    for rows in shards(ranks, ROWS) {
        let found = fit(rows, ranks);
        assert_close(&found, &alone, 1e-11);
        assert_bitwise(ranks, &found);
    }
}

fn curve_fit(ranks: &Communicator) {
    compare(ranks, None);
}

fn robust_fit(ranks: &Communicator) {
    compare(ranks, Some(Loss::Tukey));
}

fn multi_start(ranks: &Communicator) {
    let minima = |rows: Range<usize>, ranks: &Communicator| {
        let (x, _) = data(rows);
        let y: Vec<f64> = x.iter().map(|x| (2.0 * x + 0.5).sin()).collect();
        let fit =
            CurveFit::new(|x, [w, p]| (w * x + p).sin(), &x, &y, [1.0, 0.0]).names(["w", "p"]).communicator(ranks);
        let starts = fit.multi_start().range("w", 1.0..=3.0).range("p", 0.0..=1.0).starts(8);
        let minima = starts.run().unwrap();
        let of_each = minima.minima.iter().flat_map(|minimum| [minimum.cost, minimum.starts as f64]);
        (numbers(&minima.best), of_each.collect::<Vec<_>>())
    };
    let (_, alone) = minima(0..ROWS, &Communicator::single());
    let (best, all) = minima(ranks.shard(ROWS), ranks);
    assert_eq!(all.len(), alone.len());
    assert!((best[0].abs() - 2.0).abs() < 1e-10, "{best:?}");
    assert_bitwise(ranks, &[best, all].concat());
}

fn bad_data(ranks: &Communicator) {
    let last = ranks.size() - 1;
    let (x, mut y) = data(ranks.shard(ROWS));
    if ranks.rank() == last {
        y[3] = f64::NAN;
    }
    let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [1.0, 1.0]).communicator(ranks);
    let error = fit.fit().unwrap_err().to_string();
    let said: Vec<f64> = error.bytes().map(f64::from).collect();
    assert_bitwise(ranks, &said);
    assert_eq!(error.starts_with(&format!("rank {last}: ")), last > 0, "{error}");
}
