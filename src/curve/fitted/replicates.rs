//! Test of a curve by observations that repeat.

use std::collections::BTreeMap;

use super::FittedCurve;
use crate::curve::FTest;
use crate::real::Real;
use crate::statistics::distributions::f_tail;

impl<T: Real> FittedCurve<'_, T> {
    /// Lack-of-fit test for data with replicates, several responses at the same predictors. It tests whether the means of the replicates
    /// deviate from the curve by more than the scatter of the replicates explains (Draper and Smith, *Applied Regression Analysis*, 1998,
    /// §2.1; R's `anova` against a model with a mean for each predictor; Prism's replicates test). `F` is the mean square of the lack of
    /// fit over that of pure error, both [whitened](Self::whitened_residuals).
    ///
    /// `None` without replicates, without more distinct predictors than parameters, under a robust loss, for counts, for several responses
    /// in a row, with errors in x, and where ranks [share the rows](crate::CurveFit::communicator).
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::models::Linear;
    ///
    /// let x = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0];
    /// let y = [1.1, 0.9, 3.9, 4.1, 9.2, 8.9, 16.1, 15.8];
    /// let line = CurveFit::guessed(Linear, &x, &y).fit()?;
    /// assert!(line.lack_of_fit().expect("there are replicates").p_value < 1e-3);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn lack_of_fit(&self) -> Option<FTest> {
        let data = &self.checked.data;
        let is_plain = data.outputs() == 1 && !data.is_shared() && !data.has_errors_in_x();
        if !is_plain || self.checked.is_of_counts() || self.robust_scale().is_some() {
            return None;
        }
        let mut groups: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
        for (row, x) in data.x().chunks_exact(data.width()).enumerate() {
            // Zero has two signs.
            let bits = x.iter().map(|x| (x.to_f64() + 0.0).to_bits()).collect();
            groups.entry(bits).or_default().push(row);
        }
        let parameters = data.rows() - self.degrees_of_freedom();
        let denominator = data.rows() - groups.len();
        let numerator = groups.len().checked_sub(parameters).filter(|&freedom| freedom > 0)?;
        if denominator == 0 {
            return None;
        }
        let pure: f64 = groups.values().map(|rows| self.scatter(rows)).sum();
        let lack = (self.squares.whitened.to_f64() - pure).max(0.0);
        let statistic = lack / numerator as f64 / (pure / denominator as f64);
        let p_value = f_tail(statistic, numerator as f64, denominator as f64);
        Some(FTest { statistic, numerator, denominator, p_value })
    }

    /// Weighted sum of squares of the responses of some rows about their mean.
    fn scatter(&self, rows: &[usize]) -> f64 {
        let data = &self.checked.data;
        let weighted = || rows.iter().map(|&row| (data.noise.sigma(row).to_f64().powi(-2), data.y()[row].to_f64()));
        let total: f64 = weighted().map(|(weight, _)| weight).sum();
        let mean = weighted().map(|(weight, y)| weight * y).sum::<f64>() / total;
        weighted().map(|(weight, y)| weight * (y - mean).powi(2)).sum()
    }
}
