//! Values over a rectangle as colours.

use std::ops::{Range, RangeInclusive};

use ndarray::{Array2, ArrayView2};

/// Values over a rectangle, which a [`Plot`](super::Plot) draws as colours beside a colour bar: a parameter fitted to each pixel of an image, or
/// the surface of a curve of two predictors. Feature `plot`.
///
/// Cells whose value is not finite are grey. The range of the colours leaves out 2 % of the values at either end, unless
/// [`colors`](Self::colors) sets it.
///
/// ```
/// use marquardt::curve::{HeatMap, Plot};
/// use ndarray::array;
///
/// let map = HeatMap::image(&array![[1.0, 2.0], [f64::NAN, 4.0]]).label("lifetime (ns)");
/// let svg = Plot::new().heat_map(map).x_label("column").y_label("row").to_svg();
/// assert!(svg.contains("data:image/png;base64,") && svg.contains("lifetime (ns)"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    pub(super) values: Array2<f64>,
    pub(super) x: Range<f64>,
    pub(super) y: Range<f64>,
    pub(super) label: String,
    colors: Option<(f64, f64)>,
    /// Observations, `(x, y, value)`.
    pub(super) points: Vec<(f64, f64, f64)>,
    /// The first row is at the top, and cells are squares.
    pub(super) is_image: bool,
}

/// Colours from low to high, evenly spaced: viridis, by S. van der Walt and N. Smith, in the public domain.
const COLORS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 45, 123],
    [59, 82, 139],
    [44, 114, 142],
    [33, 145, 140],
    [40, 174, 128],
    [94, 201, 98],
    [173, 220, 48],
    [253, 231, 37],
];

/// Colour of cells without a value.
const NOTHING: [u8; 3] = [222, 224, 228];

/// Share of the values beyond either end of the colours.
const BEYOND: f64 = 0.02;

impl HeatMap {
    /// A map of pixels, the first row at the top. Rows and columns are counted from 0.
    pub fn image<'v>(values: impl Into<ArrayView2<'v, f64>>) -> Self {
        let values = values.into().to_owned();
        let (rows, columns) = values.dim();
        let [x, y] = [columns, rows].map(|count| -0.5..count as f64 - 0.5);
        HeatMap { values, x, y, label: String::new(), colors: None, points: Vec::new(), is_image: true }
    }

    /// A surface over a rectangle. Rows are those of one `y`, the first at the least; the ranges are those of the edges of the cells.
    pub fn surface<'v>(values: impl Into<ArrayView2<'v, f64>>, x: Range<f64>, y: Range<f64>) -> Self {
        HeatMap { x, y, is_image: false, ..HeatMap::image(values) }
    }

    /// Label of the colour bar; none by default.
    pub fn label(self, label: impl Into<String>) -> Self {
        HeatMap { label: label.into(), ..self }
    }

    /// Values of the first and the last colour.
    pub fn colors(self, range: RangeInclusive<f64>) -> Self {
        HeatMap { colors: Some((*range.start(), *range.end())), ..self }
    }

    /// Adds points, `(x, y, value)`, as disks in the colours of their values. A disk that agrees with the surface has the same colour as
    /// the surface.
    pub fn points(mut self, points: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        self.points.extend(points);
        self
    }

    /// Values of the first and the last colour: two numbers that differ.
    pub(super) fn color_range(&self) -> (f64, f64) {
        let (low, high) = self.colors.filter(|(low, high)| low.is_finite() && high.is_finite()).unwrap_or_else(|| {
            let values = self.values.iter().copied().chain(self.points.iter().map(|point| point.2));
            let mut known: Vec<f64> = values.filter(|value| value.is_finite()).collect();
            known.sort_by(f64::total_cmp);
            match known.len().checked_sub(1) {
                Some(last) => {
                    let beyond = (BEYOND * last as f64).floor() as usize;
                    (known[beyond], known[last - beyond])
                }
                None => (0.0, 1.0),
            }
        });
        let largest = low.abs().max(high.abs());
        match high - low > 1e-12 * largest {
            true => (low, high),
            false => (low - 0.5 * largest.max(1e-3), low + 0.5 * largest.max(1e-3)),
        }
    }

    /// The cells as pixels, an index of the [palette] each, from the left to the right and from the top down, not more than `most` along either
    /// side: of more cells, evenly spaced ones.
    pub(super) fn pixels(&self, most: usize) -> ([usize; 2], Vec<u8>) {
        let (rows, columns) = self.values.dim();
        let (low, high) = self.color_range();
        let level = |value: f64| ((value - low) / (high - low)).clamp(0.0, 1.0) * f64::from(LEVELS - 1);
        let [height, width] = [rows, columns].map(|count| count.min(most));
        let mut pixels = Vec::with_capacity(height * width);
        for row in 0..height {
            let row = (2 * row + 1) * rows / (2 * height);
            let row = if self.is_image { row } else { rows - 1 - row };
            for column in 0..width {
                let column = (2 * column + 1) * columns / (2 * width);
                let value = self.values[[row, column]];
                pixels.push(if value.is_finite() { level(value).round() as u8 } else { LEVELS });
            }
        }
        ([width, height], pixels)
    }
}

/// Number of colours of pixels.
const LEVELS: u8 = 255;

/// The colours of pixels, and that of those without a value.
pub(super) fn palette() -> Vec<[u8; 3]> {
    let last = f64::from(LEVELS - 1);
    (0..LEVELS).map(|level| color(f64::from(level), (0.0, last))).chain([NOTHING]).collect()
}

/// The colour of a value.
pub(super) fn color(value: f64, (low, high): (f64, f64)) -> [u8; 3] {
    if !value.is_finite() {
        return NOTHING;
    }
    let place = ((value - low) / (high - low)).clamp(0.0, 1.0) * (COLORS.len() - 1) as f64;
    let first = (place as usize).min(COLORS.len() - 2);
    let share = place - first as f64;
    let mixed = |part: usize| {
        let [from, to] = [COLORS[first][part], COLORS[first + 1][part]].map(f64::from);
        (from + share * (to - from)).round() as u8
    };
    [0, 1, 2].map(mixed)
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;

    #[test]
    fn colors_go_from_end_to_end() {
        assert_eq!(color(2.0, (2.0, 3.0)), COLORS[0]);
        assert_eq!(color(9.0, (2.0, 3.0)), COLORS[8]);
        assert_eq!(color(2.5, (2.0, 3.0)), COLORS[4]);
        assert_eq!(color(f64::NAN, (2.0, 3.0)), NOTHING);
        for values in [array![[1.0, 1.0]], array![[f64::NAN, f64::INFINITY]], array![[0.0, 0.0]], Array2::zeros((0, 0))]
        {
            let (low, high) = HeatMap::image(&values).color_range();
            assert!(low < high && high - low < 2.0, "{values} {low} {high}");
        }
    }

    #[test]
    fn surfaces_begin_below_and_images_above() {
        let values = array![[0.0, 1.0], [2.0, 3.0]];
        let image = HeatMap::image(&values).colors(0.0..=3.0).pixels(10);
        let surface = HeatMap::surface(&values, 0.0..1.0, 0.0..1.0).colors(0.0..=3.0).pixels(10);
        assert_eq!(image, ([2, 2], vec![0, 85, 169, 254]));
        assert_eq!(surface, ([2, 2], vec![169, 254, 0, 85]));
        let (colors, none) = (palette(), HeatMap::image(&array![[f64::NAN]]).pixels(1).1);
        assert_eq!([colors[0], colors[254], colors[usize::from(none[0])]], [COLORS[0], COLORS[8], NOTHING]);
    }

    #[test]
    fn cells_are_thinned_evenly() {
        let values = Array2::from_shape_fn((7, 1000), |(_, column)| column as f64);
        let ([width, height], pixels) = HeatMap::image(&values).colors(0.0..=999.0).pixels(100);
        assert_eq!(([width, height], pixels.len()), ([100, 7], 700));
        assert_eq!([pixels[0], pixels[99]], [1, 254 - 1]);
    }
}
