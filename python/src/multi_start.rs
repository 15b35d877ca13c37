//! Fits from many starts.

use marquardt::CurveFit;
use marquardt::curve::{Curve, Minima, MultiStartError};
use marquardt::solver::CancelToken;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::value_error;
use crate::fit::Fit;
use crate::model::Model;
use crate::prepare::{Data, Purpose, place, prepared};
use crate::run;

/// Ranges of starts: name, low, high, and whether they are spread by their logarithms.
type Ranges = Vec<(String, f64, f64, bool)>;

struct FromManyStarts<'py> {
    py: Python<'py>,
    is_here: bool,
    threads: usize,
    token: CancelToken,
    starts: usize,
    seed: u64,
    ranges: Ranges,
}

impl Purpose for FromManyStarts<'_> {
    type Output = PyResult<Result<Minima<'static, f64>, MultiStartError>>;

    fn run<C: Curve<f64> + 'static>(self, fit: CurveFit<'static, f64, C>) -> Self::Output {
        let FromManyStarts { py, is_here, threads, token, starts, seed, ranges } = self;
        let search = ranges.into_iter().fold(
            fit.multi_start().starts(starts).seed(seed),
            |search, (name, low, high, is_logarithmic)| match is_logarithmic {
                true => search.log_range(&name, low..=high),
                false => search.range(&name, low..=high),
            },
        );
        run::placed(py, is_here, threads, || token.cancel(), || search.run())
    }
}

/// The best fit, all minima (parameters, cost, number of starts) with the lowest first, and the number of starts that led to none.
#[pyfunction]
#[pyo3(signature = (model, x, y, start, options, starts, seed, ranges, threads=0))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub fn multi_start<'py>(
    py: Python<'py>,
    model: &Model,
    x: PyReadonlyArray2<'py, f64>,
    y: PyReadonlyArray1<'py, f64>,
    start: Option<Vec<f64>>,
    options: &Bound<'py, PyDict>,
    starts: usize,
    seed: u64,
    ranges: Ranges,
    threads: usize,
) -> PyResult<(Fit, Vec<(Vec<f64>, f64, usize)>, usize)> {
    let data = Data { x: &x, y: &y, start };
    let token = CancelToken::new();
    let (_, exception) = place(model, &data);
    let is_here = exception.is_some();
    let purpose = FromManyStarts { py, is_here, threads, token: token.clone(), starts, seed, ranges };
    let found = prepared(model, &data, options, &token, purpose)?;
    if let Some(exception) = &exception {
        exception.raise()?;
    }
    let Minima { best, minima, failed } = found?.map_err(value_error)?;
    let minima = minima.into_iter().map(|minimum| (minimum.parameters, minimum.cost, minimum.starts)).collect();
    Ok((Fit::new(best, exception), minima, failed.len()))
}
