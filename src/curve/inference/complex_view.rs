//! Complex curves and data as they are drawn.

use std::iter::zip;

use super::PlotPoint;
use crate::autodiff::Complex;
use crate::curve::Series;

/// View of a complex curve.
#[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "views are drawn by plots"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::curve) enum ComplexView {
    /// Negative imaginary parts over real parts.
    Nyquist,
    /// Moduli over the predictor.
    Modulus,
    /// Phases in degrees over the predictor.
    Phase,
}

impl ComplexView {
    fn place(self, x: f64, z: Complex<f64>) -> (f64, f64) {
        match self {
            ComplexView::Nyquist => (z.re, -z.im),
            ComplexView::Modulus => (x, z.abs()),
            ComplexView::Phase => (x, z.arg().to_degrees()),
        }
    }

    /// The series of a complex curve on an ascending grid, and of data, two points for each row.
    pub(super) fn series(self, grid: &[f64], curve: &[Complex<f64>], points: &[PlotPoint]) -> Series {
        let mut line: Vec<(f64, f64)> = zip(grid, curve).map(|(&x, &z)| self.place(x, z)).collect();
        let mut data: Vec<(bool, (f64, f64))> = Vec::with_capacity(points.len() / 2);
        for parts in points.chunks_exact(2) {
            let place = self.place(parts[0].x, Complex::new(parts[0].y, parts[1].y));
            data.push((parts.iter().any(|part| part.is_outlier), place));
        }
        if self == ComplexView::Phase {
            // Phases differ by less than half a turn from one place to the next, and those of data from the curve.
            for index in 1..line.len() {
                line[index].1 = nearest(line[index].1, line[index - 1].1);
            }
            for (_, (x, phase)) in &mut data {
                let next = line.partition_point(|(other, _)| other < x).min(line.len().saturating_sub(1));
                *phase = line.get(next).map_or(*phase, |(_, of_curve)| nearest(*phase, *of_curve));
            }
        }
        let of_kind =
            |wanted: bool| data.iter().filter(move |(is_outlier, _)| *is_outlier == wanted).map(|(_, at)| *at);
        Series::new().points(of_kind(false)).outliers(of_kind(true)).curve(line)
    }
}

/// The phase that is nearest to another, and differs by whole turns.
fn nearest(phase: f64, other: f64) -> f64 {
    let turns = ((other - phase) / 360.0).round();
    if turns.is_finite() { phase + 360.0 * turns } else { phase }
}
