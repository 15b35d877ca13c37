//! Entries picked from a row, or computed from several of them.

use std::sync::Arc;

use crate::real::Real;

/// Windows of a pooling: the places in a row that each number of the result is made of.
#[derive(Debug, Clone)]
pub(crate) struct Windows {
    /// Window after window; [`NOWHERE`] in the padding.
    places: Arc<[u32]>,
    /// Places in a window.
    size: usize,
    /// True if any of them is in the padding.
    padded: bool,
}

/// No place: beyond the end of every row.
const NOWHERE: u32 = u32::MAX;

/// Operation on the entries in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// A window is one place: its entry, or zero in the padding.
    Take,
    /// The mean of those that are there.
    Average,
    /// The largest; the first of several.
    Maximum,
}

impl Windows {
    /// There are fewer places than that in all windows together, and numbers in a row.
    pub(crate) const MOST: usize = NOWHERE as usize;

    /// Windows of `size` places each; `None` is padding.
    pub(crate) fn new(places: impl Iterator<Item = Option<usize>>, size: usize) -> Self {
        let place = |place: Option<usize>| place.map_or(NOWHERE, |place| place as u32);
        let places: Arc<[u32]> = places.map(place).collect();
        Windows { size, padded: places.contains(&NOWHERE), places }
    }

    /// The transpose of a matrix of `rows` rows.
    pub(crate) fn transpose(rows: usize, columns: usize) -> Self {
        Self::new((0..rows * columns).map(|at| Some((at % rows) * columns + at / rows)), 1)
    }

    /// Number of windows.
    pub(crate) fn count(&self) -> usize {
        self.places.len() / self.size
    }

    /// Places in all of them together.
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }

    /// One over the number of places in a window that are not in the padding.
    fn share<T: Real>(&self, window: &[u32]) -> T {
        let count = if self.padded { window.iter().filter(|&&place| place != NOWHERE).count() } else { self.size };
        T::from_f64(count as f64).recip()
    }
}

impl Pooling {
    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Pooling::Take => "take",
            Pooling::Average => "average pooling",
            Pooling::Maximum => "max pooling",
        }
    }

    /// A derivative `dx` carried over to the result, at values `x` of `width` entries a row. With `dx = x` it is the result
    /// itself.
    pub(crate) fn forward<T: Real>(self, windows: &Windows, x: &[T], dx: &[T], width: usize, y: &mut [T]) {
        let rows = x.chunks_exact(width).zip(dx.chunks_exact(width)).zip(y.chunks_exact_mut(windows.count()));
        for ((x, dx), y) in rows {
            match self {
                Pooling::Take => {
                    for (y, &place) in y.iter_mut().zip(&*windows.places) {
                        *y = dx.get(place as usize).copied().unwrap_or(T::ZERO);
                    }
                }
                Pooling::Average => {
                    for (y, places) in y.iter_mut().zip(windows.places.chunks_exact(windows.size)) {
                        let sum: T = places.iter().filter_map(|&place| dx.get(place as usize)).copied().sum();
                        *y = sum * windows.share(places);
                    }
                }
                Pooling::Maximum => {
                    for (y, places) in y.iter_mut().zip(windows.places.chunks_exact(windows.size)) {
                        *y = largest(x, places).map_or(T::ZERO, |place| dx[place]);
                    }
                }
            }
        }
    }

    /// Adds the adjoint `delta` of the result to that of `x`, which has `width` entries a row.
    #[inline(never)]
    pub(crate) fn add_reverse<T: Real>(self, windows: &Windows, x: &[T], delta: &[T], width: usize, adjoint: &mut [T]) {
        let rows = x.chunks_exact(width).zip(delta.chunks_exact(windows.count())).zip(adjoint.chunks_exact_mut(width));
        for ((x, delta), adjoint) in rows {
            match self {
                Pooling::Take => {
                    for (&delta, &place) in delta.iter().zip(&*windows.places) {
                        if let Some(adjoint) = adjoint.get_mut(place as usize) {
                            *adjoint += delta;
                        }
                    }
                }
                Pooling::Average => {
                    for (&delta, places) in delta.iter().zip(windows.places.chunks_exact(windows.size)) {
                        let part = delta * windows.share(places);
                        for &place in places {
                            if let Some(adjoint) = adjoint.get_mut(place as usize) {
                                *adjoint += part;
                            }
                        }
                    }
                }
                Pooling::Maximum => {
                    for (&delta, places) in delta.iter().zip(windows.places.chunks_exact(windows.size)) {
                        if let Some(place) = largest(x, places) {
                            adjoint[place] += delta;
                        }
                    }
                }
            }
        }
    }
}

/// Returns the place of the first of the largest entries of a window, or of the last that is NaN.
fn largest<T: Real>(row: &[T], places: &[u32]) -> Option<usize> {
    let mut best: Option<(usize, T)> = None;
    for place in places.iter().map(|&place| place as usize) {
        if let Some(&number) = row.get(place)
            && best.is_none_or(|(_, largest)| number > largest || number.to_f64().is_nan())
        {
            best = Some((place, number));
        }
    }
    best.map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two samples of six numbers, and two windows that overlap, one of them with padding.
    const X: [f64; 12] = [1.0, 5.0, 5.0, -2.0, 0.0, 3.0, -1.0, -4.0, -2.0, -8.0, -6.0, -3.0];

    fn windows() -> Windows {
        Windows::new([Some(0), Some(1), Some(2), Some(2), None, Some(5)].into_iter(), 3)
    }

    fn forward(kind: Pooling, windows: &Windows, dx: &[f64]) -> Vec<f64> {
        let mut y = vec![f64::NAN; 2 * windows.count()];
        kind.forward(windows, &X, dx, 6, &mut y);
        y
    }

    #[test]
    fn numbers_are_what_they_are_called() {
        assert_eq!(forward(Pooling::Maximum, &windows(), &X), [5.0, 5.0, -1.0, -2.0]);
        let means = [11.0 / 3.0, 4.0, -7.0 / 3.0, -2.5];
        for (found, expected) in forward(Pooling::Average, &windows(), &X).into_iter().zip(means) {
            assert!((found - expected).abs() < 1e-15);
        }
        let picked = Windows::new([Some(5), None, Some(1)].into_iter(), 1);
        assert_eq!(forward(Pooling::Take, &picked, &X), [3.0, 0.0, 5.0, -3.0, 0.0, -4.0]);
        let transposed = Windows::transpose(2, 3);
        assert_eq!(forward(Pooling::Take, &transposed, &X)[..6], [1.0, -2.0, 5.0, 0.0, 5.0, 3.0]);
    }

    #[test]
    fn the_reverse_is_the_transpose_of_the_forward() {
        let numbers = |count: usize| -> Vec<f64> { (0..count).map(|k| (1.3 * k as f64).sin()).collect() };
        let (dx, before) = (numbers(12), vec![0.5; 12]);
        for (kind, windows) in [
            (Pooling::Maximum, windows()),
            (Pooling::Average, windows()),
            (Pooling::Take, Windows::new([Some(5), None, Some(1), Some(5)].into_iter(), 1)),
        ] {
            let delta: Vec<f64> = numbers(2 * windows.count()).iter().map(|d| 1.0 - d).collect();
            let mut adjoint = before.clone();
            kind.add_reverse(&windows, &X, &delta, 6, &mut adjoint);
            let left: f64 = forward(kind, &windows, &dx).iter().zip(&delta).map(|(y, d)| y * d).sum();
            let right: f64 = dx.iter().zip(adjoint.iter().zip(&before)).map(|(x, (a, b))| x * (a - b)).sum();
            assert!((left - right).abs() < 1e-14, "{kind:?}: {left}, {right}");
        }
    }
}
