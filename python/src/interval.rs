//! Intervals and points of bands as tuples and arrays.

use marquardt::curve::{BandPoint, IntervalEnd, ProfileInterval};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::errors::value_error;

/// An interval with the nature of its ends: low, high, and a word for each end.
pub type EndedInterval = (f64, f64, &'static str, &'static str);

fn word(end: IntervalEnd) -> &'static str {
    match end {
        IntervalEnd::Level => "level",
        IntervalEnd::Bound => "bound",
        IntervalEnd::Edge => "edge",
        IntervalEnd::Open => "open",
    }
}

pub fn ended(interval: &ProfileInterval<f64>) -> EndedInterval {
    (interval.low, interval.high, word(interval.low_end), word(interval.high_end))
}

/// Values, standard errors, lower and upper ends of a band.
pub type BandColumns<'py> = [Bound<'py, PyArray1<f64>>; 4];

pub fn columns<'py>(py: Python<'py>, band: &[BandPoint<f64>]) -> BandColumns<'py> {
    let column = |of: fn(&BandPoint<f64>) -> f64| PyArray1::from_iter(py, band.iter().map(of));
    [
        column(|point| point.value),
        column(|point| point.standard_error),
        column(|point| point.low),
        column(|point| point.high),
    ]
}

/// A matrix of rows of equal length.
pub fn matrix<'py>(py: Python<'py>, rows: &[Vec<f64>]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    match rows {
        [] => Ok(PyArray2::zeros(py, [0, 0], false)),
        rows => PyArray2::from_vec2(py, rows).map_err(value_error),
    }
}
