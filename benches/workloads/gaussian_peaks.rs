//! A Gaussian peak on an offset: what a pixel of an image, or a line of a spectrum, is fitted by.

use super::Family;
use super::many_curves::{Start, Truth};

/// `y = a·exp(−½·((x − c)/w)²) + o`, with parameters `[a, c, w, o]`.
///
/// Fits start with amplitude and offset off by up to ±50 %, the centre by up to a width, the width by up to ±60 %.
#[derive(Clone, Copy, Debug)]
pub struct GaussianPeaks;

impl Family for GaussianPeaks {
    const NAME: &'static str = "peaks";
    const RANGE: (f64, f64) = (-5.0, 5.0);
    const NOISE: f64 = 0.05;

    #[inline]
    fn model(&[a, c, w, o]: &[f64; 4], x: f64) -> (f64, [f64; 4]) {
        let inverse = 1.0 / w;
        let u = (x - c) * inverse;
        let shape = (-0.5 * u * u).exp();
        let slope = a * shape * u * inverse;
        (a * shape + o, [shape, slope, slope * u, 1.0])
    }

    fn draw(mut uniform: impl FnMut(f64, f64) -> f64) -> (Truth, Start) {
        let [a, c, w, o] = [uniform(0.5, 2.0), uniform(-2.0, 2.0), uniform(0.5, 1.5), uniform(-0.5, 0.5)];
        let start = [a * uniform(0.5, 1.5), c + w * uniform(-1.0, 1.0), w * uniform(0.4, 1.6), o * uniform(0.5, 1.5)];
        ([a, c, w, o], start)
    }
}
