//! The surface of a curve of two predictors on a page.

use marquardt::FittedCurve;
use ndarray::Array2;
use serde_json::{Value, json};

use super::map_layer::layer;
use super::points::rounded;
use crate::selected_data::SelectedData;

/// Cells along either axis.
const CELLS: usize = 90;

/// Observations that are drawn, at most.
const POINTS: usize = 300;

/// Room around the data, as a share of their range.
const ROOM: f64 = 0.04;

const DIGITS: usize = 6;

/// Fitted responses over the range of two predictors, the greatest second predictor first, and some of the observations; null for another
/// curve, and where it has no values.
pub fn surface(fit: &FittedCurve<'_, f64>, data: &SelectedData, label: &str) -> Value {
    let ([first, second], [_]) = (&data.x_names[..], &data.y_names[..]) else { return Value::Null };
    let [x, y] = [0, 1].map(|column| range(data.x.column(column).iter().copied()));
    let middle = |(low, high): (f64, f64), cell: usize| low + (high - low) * (cell as f64 + 0.5) / CELLS as f64;
    let places = Array2::from_shape_fn((CELLS * CELLS, 2), |(cell, column)| match column {
        0 => middle(x, cell % CELLS),
        _ => middle(y, CELLS - 1 - cell / CELLS),
    });
    let Ok(heights) = fit.predict(&places) else { return Value::Null };
    let step = data.x.nrows().div_ceil(POINTS).max(1);
    let point = |row: usize| [data.x[[row, 0]], data.x[[row, 1]], data.y[[row, 0]]].map(|value| rounded(value, DIGITS));
    json!({
        "cells": CELLS,
        "names": [first, second],
        "x": [rounded(x.0, DIGITS), rounded(x.1, DIGITS)],
        "y": [rounded(y.0, DIGITS), rounded(y.1, DIGITS)],
        "layer": layer(label, heights.iter().copied()),
        "points": (0..data.x.nrows()).step_by(step).map(point).collect::<Vec<_>>(),
    })
}

/// The range of values, with room.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let room = if high > low { ROOM * (high - low) } else { 0.5 * low.abs().max(1.0) };
    (low - room, high + room)
}
