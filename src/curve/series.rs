//! Series of a plot: data and curve of one colour.

/// Data, and the curve through them, which a [`Plot`](super::Plot) draws in one colour. Feature `plot`.
///
/// All parts are optional, and may be set in any order. Values that are not finite are left out; so are values of 0 or less on a
/// logarithmic axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    pub(in crate::curve) name: Option<String>,
    pub(in crate::curve) points: Vec<SeriesPoint>,
    pub(in crate::curve) curve: Vec<(f64, f64)>,
    pub(in crate::curve) confidence_band: Option<Band>,
    pub(in crate::curve) prediction_band: Option<Band>,
    pub(in crate::curve) residuals: Vec<(f64, f64)>,
    /// Parts of the curve, by name.
    pub(in crate::curve) components: Vec<(String, Vec<(f64, f64)>)>,
}

/// A point of data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::curve) struct SeriesPoint {
    pub(in crate::curve) x: f64,
    pub(in crate::curve) y: f64,
    /// Half the length of its horizontal error bar; 0 for none.
    pub(in crate::curve) x_error: f64,
    /// Half the length of its vertical error bar; 0 for none.
    pub(in crate::curve) error: f64,
    pub(in crate::curve) mark: Mark,
}

/// Symbol by which a point is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::curve) enum Mark {
    Datum,
    Outlier,
    Omitted,
}

/// A strip around the curve.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::curve) struct Band {
    /// Its confidence, such as 0.95.
    pub(in crate::curve) level: f64,
    /// `(x, low, high)`, in the order of `x`.
    pub(in crate::curve) edges: Vec<(f64, f64, f64)>,
}

impl Series {
    /// An empty series without a name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Name in the legend.
    pub fn name(self, name: impl Into<String>) -> Self {
        Series { name: Some(name.into()), ..self }
    }

    /// Adds data, `(x, y)`.
    pub fn points(self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.marked(points, Mark::Datum)
    }

    /// Adds data, `(x, y, error)`; the bars reach from `y − error` to `y + error`.
    pub fn points_with_errors(self, points: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        self.points_with_xy_errors(points.into_iter().map(|(x, y, error)| (x, y, 0.0, error)))
    }

    /// Adds data with error bars in both directions, `(x, y, x_error, y_error)`.
    pub fn points_with_xy_errors(mut self, points: impl IntoIterator<Item = (f64, f64, f64, f64)>) -> Self {
        let point = |(x, y, x_error, error): (f64, f64, f64, f64)| SeriesPoint {
            x,
            y,
            x_error: x_error.abs(),
            error: error.abs(),
            mark: Mark::Datum,
        };
        self.points.extend(points.into_iter().map(point));
        self
    }

    /// Adds data to which a robust fit gave little weight, `(x, y)`, drawn as rings.
    pub fn outliers(self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.marked(points, Mark::Outlier)
    }

    /// Adds data that were left out of the fit, `(x, y)`, drawn as crosses.
    pub fn omitted(self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.marked(points, Mark::Omitted)
    }

    fn marked(mut self, points: impl IntoIterator<Item = (f64, f64)>, mark: Mark) -> Self {
        self.points.extend(points.into_iter().map(|(x, y)| SeriesPoint { x, y, x_error: 0.0, error: 0.0, mark }));
        self
    }

    /// The fitted curve, `(x, y)` in the order of `x`. 200 points or more look smooth.
    pub fn curve(self, curve: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Series { curve: curve.into_iter().collect(), ..self }
    }

    /// Adds a term of the curve, such as a peak of a spectrum, `(x, y)` in the order of `x`; drawn as a dashed line below the curve.
    pub fn component(mut self, name: impl Into<String>, curve: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.components.push((name.into(), curve.into_iter().collect()));
        self
    }

    /// The band in which the true curve lies with confidence `level`, `(x, low, high)` in the order of `x`.
    pub fn confidence_band(self, level: f64, edges: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        Series { confidence_band: Some(Band { level, edges: edges.into_iter().collect() }), ..self }
    }

    /// The band in which a new observation lies with confidence `level`, `(x, low, high)` in the order of `x`.
    pub fn prediction_band(self, level: f64, edges: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        Series { prediction_band: Some(Band { level, edges: edges.into_iter().collect() }), ..self }
    }

    /// The residuals, `(x, residual)`; a plot that has any shows them in a panel of their own.
    pub fn residuals(self, residuals: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Series { residuals: residuals.into_iter().collect(), ..self }
    }

    /// Name, curve `(x, y)`, and confidence and prediction bands `(x, low, high)`; bands that are not given are empty.
    #[doc(hidden)]
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    pub fn lines(&self) -> (Option<&str>, &[(f64, f64)], [&[(f64, f64, f64)]; 2]) {
        let bands = [&self.confidence_band, &self.prediction_band];
        let edges = bands.map(|band| band.as_ref().map_or(&[][..], |band| &band.edges));
        (self.name.as_deref(), &self.curve, edges)
    }

    /// Names and curves of the [components](Self::component).
    #[doc(hidden)]
    pub fn components(&self) -> impl Iterator<Item = (&str, &[(f64, f64)])> {
        self.components.iter().map(|(name, curve)| (name.as_str(), curve.as_slice()))
    }

    /// The residuals as points.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::curve) fn residual_points(&self) -> Vec<SeriesPoint> {
        self.residuals.iter().map(|&(x, y)| SeriesPoint { x, y, x_error: 0.0, error: 0.0, mark: Mark::Datum }).collect()
    }

    /// Edges of both bands.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::curve) fn edges(&self) -> impl Iterator<Item = &(f64, f64, f64)> {
        self.confidence_band.iter().chain(&self.prediction_band).flat_map(|band| &band.edges)
    }
}
