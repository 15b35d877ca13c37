//! Plots of data and the curves fitted to them.

mod axes;
mod axis;
mod contours;
mod empty;
mod heat_layout;
mod heat_map;
mod layout;
mod legend;
mod panel;
mod parts;
mod picture;
mod profiles;
mod simplify;
mod style;
mod thinning;

use std::path::Path;

pub use heat_map::HeatMap;
pub use legend::LegendPlace;

use super::{PlotError, Series};

/// A plot of data with error bars, curves, bands and, in a panel below, residuals. Feature `plot`.
///
/// A legend is drawn if it leaves enough room for the data, or if its [place](Self::legend) is set. If there are more points than a picture
/// can show, some thousands of them are drawn: the extremes of each column of pixels, and one point for each cell of a grid; the legend
/// states their number. Bands are drawn for at most 12 series, and components for at most 4. An SVG file therefore stays below 1 MB for up
/// to 1,000 series with any number of points.
///
/// Letters are of the font Noto Sans, a copy of which becomes part of the program: Copyright 2012 Google Inc., under the SIL
/// Open Font License 1.1. Whoever passes the program on passes on that licence, too. Not available on `wasm32`.
///
/// ```
/// use marquardt::curve::{Plot, Series};
///
/// let x = [0.0, 1.0, 2.0, 3.0];
/// let data = x.iter().zip([1.1, 2.9, 5.2, 6.8]).map(|(&x, y)| (x, y, 0.2));
/// let line = x.map(|x| (x, 1.0 + 2.0 * x));
/// let svg = Plot::new()
///     .title("A line")
///     .x_label("time (s)")
///     .y_label("way (m)")
///     .series(Series::new().points_with_errors(data).curve(line))
///     .to_svg();
/// assert!(svg.starts_with("<svg") && svg.contains("time (s)"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    title: Option<String>,
    x_label: String,
    y_label: String,
    residual_label: String,
    residual_band: Option<f64>,
    series: Vec<Series>,
    is_x_logarithmic: bool,
    is_y_logarithmic: bool,
    has_equal_scales: bool,
    lower: Option<Box<Plot>>,
    right: Option<Box<Plot>>,
    heat_map: Option<HeatMap>,
    legend: LegendPlace,
    size: (u32, u32),
}

/// Least and greatest width and height.
const SIZES: (u32, u32) = (240, 4096);

impl Default for Plot {
    fn default() -> Self {
        Plot {
            title: None,
            x_label: "x".to_owned(),
            y_label: "y".to_owned(),
            residual_label: "residual".to_owned(),
            residual_band: None,
            series: Vec::new(),
            is_x_logarithmic: false,
            is_y_logarithmic: false,
            has_equal_scales: false,
            lower: None,
            right: None,
            heat_map: None,
            legend: LegendPlace::default(),
            size: (900, 680),
        }
    }
}

impl Plot {
    /// An empty plot of 900 × 680 pixels.
    pub fn new() -> Self {
        Self::default()
    }

    /// Title above the plot.
    pub fn title(self, title: impl Into<String>) -> Self {
        Plot { title: Some(title.into()), ..self }
    }

    /// Label of the axis; `x` by default.
    pub fn x_label(self, label: impl Into<String>) -> Self {
        Plot { x_label: label.into(), ..self }
    }

    /// Label of the axis; `y` by default.
    pub fn y_label(self, label: impl Into<String>) -> Self {
        Plot { y_label: label.into(), ..self }
    }

    /// Adds a series; each has a colour of its own.
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Changes each series, to name those of a [fit](crate::FittedCurve::plot), or to add points to them.
    ///
    /// ```
    /// use marquardt::curve::{Plot, Series};
    ///
    /// let plot = Plot::new().series(Series::new().points([(0.0, 1.0)]));
    /// assert!(plot.map_series(|series| series.omitted([(1.0, 9.0)])).to_svg().contains("left out"));
    /// ```
    pub fn map_series(mut self, change: impl FnMut(Series) -> Series) -> Self {
        self.series = self.series.into_iter().map(change).collect();
        self
    }

    /// Label of the residuals' axis, such as `residual / σ`; `residual` by default.
    pub fn residual_label(self, label: impl Into<String>) -> Self {
        Plot { residual_label: label.into(), ..self }
    }

    /// Shades the residuals' panel up to this distance above and below zero, such as their standard deviation.
    pub fn residual_band(self, height: f64) -> Self {
        Plot { residual_band: Some(height.abs()), ..self }
    }

    /// Makes the x axis logarithmic, unless all values lie within a factor of 3.
    pub fn log_x(self) -> Self {
        Plot { is_x_logarithmic: true, ..self }
    }

    /// Makes the y axis logarithmic, unless all values lie within a factor of 3. The axis of the residuals stays linear.
    pub fn log_y(self) -> Self {
        Plot { is_y_logarithmic: true, ..self }
    }

    /// Gives both axes the same scale, so that circles look round; no effect if an axis is logarithmic.
    pub fn equal_scales(self) -> Self {
        Plot { has_equal_scales: true, ..self }
    }

    /// Draws another plot in the right half of the picture. It has its own labels and title; its size is ignored.
    pub fn beside(self, right: Plot) -> Self {
        Plot { right: Some(Box::new(right)), ..self }
    }

    /// Draws a heat map in place of series and residuals. Its axes are linear.
    pub fn heat_map(self, map: HeatMap) -> Self {
        Plot { heat_map: Some(map), ..self }
    }

    /// Label of the colour bar of a [heat map](Self::heat_map).
    pub fn color_label(self, label: impl Into<String>) -> Self {
        Plot { heat_map: self.heat_map.map(|map| map.label(label)), ..self }
    }

    /// Draws another plot in the lower half of the picture. Its x axis has the label of this one, unless this one is a heat map, and its size does
    /// not count.
    pub fn above(self, lower: Plot) -> Self {
        Plot { lower: Some(Box::new(lower)), ..self }
    }

    /// Place of the legend; where it covers least, by default.
    pub fn legend(self, place: LegendPlace) -> Self {
        Plot { legend: place, ..self }
    }

    /// Width and height in pixels, within 240 to 4096.
    pub fn size(self, width: u32, height: u32) -> Self {
        Plot { size: (width.clamp(SIZES.0, SIZES.1), height.clamp(SIZES.0, SIZES.1)), ..self }
    }

    /// Saves the plot in the format of the file's extension, `.svg` or `.png`.
    ///
    /// # Errors
    ///
    /// [`PlotError`] for other names, and where the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        let path = path.as_ref();
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let bytes = match extension.as_deref() {
            Some("svg") => self.to_svg().into_bytes(),
            Some("png") => self.to_png(),
            _ => return Err(PlotError::UnknownFormat { path: path.to_owned() }),
        };
        std::fs::write(path, bytes).map_err(|source| PlotError::Io { path: path.to_owned(), source })
    }

    /// The text of an SVG file.
    pub fn to_svg(&self) -> String {
        picture::svg(self)
    }

    /// The bytes of a PNG file.
    pub fn to_png(&self) -> Vec<u8> {
        picture::png(self)
    }

    /// Replaces the letters of all texts.
    fn with_letters(&self, letter: fn(char) -> char) -> Plot {
        let written = |text: &String| text.chars().map(letter).collect();
        let renamed = |series: &Series| Series { name: series.name.as_ref().map(written), ..series.clone() };
        Plot {
            title: self.title.as_ref().map(written),
            x_label: written(&self.x_label),
            y_label: written(&self.y_label),
            residual_label: written(&self.residual_label),
            series: self.series.iter().map(renamed).collect(),
            heat_map: self.heat_map.as_ref().map(|map| map.clone().label(written(&map.label))),
            lower: self.lower.as_ref().map(|lower| Box::new(lower.with_letters(letter))),
            right: self.right.as_ref().map(|right| Box::new(right.with_letters(letter))),
            ..self.clone()
        }
    }
}
