//! Maps of parameters over images.

use ndarray::Array2;

use super::ManyFits;
use crate::curve::{HeatMap, PlotError};
use crate::real::Real;

impl<T: Real> ManyFits<T> {
    /// Map of a parameter over an image of `rows × columns` pixels, one fit for each pixel, in row-major order. Pixels whose fit did not
    /// converge are grey. Feature `plot`.
    ///
    /// # Errors
    ///
    /// [`PlotError`] for a name that no parameter has, and for another number of fits.
    ///
    /// ```
    /// use marquardt::FitMany;
    /// use marquardt::curve::Plot;
    /// use marquardt::models::ExponentialDecay;
    /// use ndarray::Array2;
    ///
    /// let t: Vec<f64> = (0..20).map(f64::from).collect();
    /// let pixel = |index: usize, t: usize| 5.0 * (-(t as f64) / (3.0 + (index % 8) as f64)).exp();
    /// let stack = Array2::from_shape_fn((6 * 8, 20), |(index, t)| pixel(index, t));
    /// let fits = FitMany::new(ExponentialDecay, &t, &stack).guessed().fit()?;
    /// let map = fits.heat_map("decay", [6, 8])?.label("lifetime (ns)");
    /// let plot = Plot::new().heat_map(map).x_label("column").y_label("row");
    /// assert!(plot.to_svg().contains("lifetime (ns)"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn heat_map(&self, name: &str, [rows, columns]: [usize; 2]) -> Result<HeatMap, PlotError> {
        let fits = self.parameters.nrows();
        let Some(index) = self.names.iter().position(|known| known == name) else {
            return Err(PlotError::NoSuchParameter { name: name.to_owned(), names: self.names.clone() });
        };
        if rows.checked_mul(columns) != Some(fits) {
            return Err(PlotError::NotAnImage { rows, columns, fits });
        }
        let values = Array2::from_shape_fn((rows, columns), |(row, column)| {
            let fit = row * columns + column;
            if self.status[fit].is_converged() { self.parameters[[fit, index]].to_f64() } else { f64::NAN }
        });
        Ok(HeatMap::image(&values).label(name))
    }
}
