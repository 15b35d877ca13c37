//! A dozen fits on one sheet.

use marquardt::curve::{ManyFits, Plot, Series};
use marquardt::{Model, Real};
use ndarray::{Array2, ArrayView1, Axis};

const COLUMNS: usize = 4;
const ROWS: usize = 3;
/// Width and height of one plot, in pixels.
const SIZE: (usize, usize) = (360, 280);
/// Points that a curve is drawn through.
const SMOOTH: usize = 200;

/// The first dozen fits as an SVG file, each with its data.
pub fn svg<T: Real>(model: &impl Model<T>, x: &[T], y: &Array2<T>, fits: &ManyFits<T>) -> String {
    let (width, height) = (COLUMNS * SIZE.0, ROWS * SIZE.1);
    let mut sheet = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n"
    );
    for (fit, y) in y.axis_iter(Axis(0)).enumerate().take(COLUMNS * ROWS) {
        let plot = plot(model, x, y, fits.parameters.row(fit))
            .title(format!("{}: {}", fit + 1, fits.status[fit]))
            .size(SIZE.0 as u32, SIZE.1 as u32);
        let (left, top) = (fit % COLUMNS * SIZE.0, fit / COLUMNS * SIZE.1);
        sheet += &plot.to_svg().replacen("<svg ", &format!("<svg x=\"{left}\" y=\"{top}\" "), 1);
    }
    sheet + "</svg>\n"
}

fn plot<T: Real>(model: &impl Model<T>, x: &[T], y: ArrayView1<T>, parameters: ArrayView1<T>) -> Plot {
    let points = x.iter().zip(y).map(|(x, y)| (x.to_f64(), y.to_f64()));
    let (first, last) = (x[0], x[x.len() - 1]);
    let parameters = parameters.to_vec();
    let curve = (0..=SMOOTH).map(|i| {
        let x = first + (last - first) * T::from_f64(i as f64 / SMOOTH as f64);
        (x.to_f64(), model.response(&[x], &parameters).to_f64())
    });
    Plot::new().series(Series::new().points(points).curve(curve))
}
