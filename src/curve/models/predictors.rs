//! Models of several predictors.

use super::{AnyModel, Named};
use crate::curve::Formula;

/// Predictors of the models of inhibition.
const PREDICTORS: [&str; 2] = ["substrate", "inhibitor"];

/// Names and formulas of the inhibition of an enzyme, as GraphPad Prism names models and parameters: `vmax` in units of the response, `km`
/// and `ki` in those of concentrations, `alpha` without. I. H. Segel, *Enzyme Kinetics* (1975).
const MODELS: [(&str, &str); 4] = [
    ("competitive_inhibition", "vmax*substrate/(km*(1 + inhibitor/ki) + substrate)"),
    ("uncompetitive_inhibition", "vmax*substrate/(km + substrate*(1 + inhibitor/ki))"),
    ("noncompetitive_inhibition", "vmax*substrate/((km + substrate)*(1 + inhibitor/ki))"),
    ("mixed_inhibition", "vmax*substrate/(km*(1 + inhibitor/ki) + substrate*(1 + inhibitor/(alpha*ki)))"),
];

impl AnyModel {
    /// The models of several predictors by their names, as [formulas](Formula) over predictors with the names of the field:
    /// `competitive_inhibition`, `uncompetitive_inhibition`, `noncompetitive_inhibition` and `mixed_inhibition` of an enzyme, over the
    /// concentrations of substrate and inhibitor.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::models::AnyModel;
    ///
    /// let model = AnyModel::of_name("competitive_inhibition").expect("it is one of them");
    /// assert_eq!(model.parameters(), ["vmax", "km", "ki"]);
    /// let x = ndarray::Array2::from_shape_fn((15, 2), |(row, j)| match j {
    ///     0 => [0.5, 1.0, 2.0, 4.0, 8.0][row % 5],
    ///     _ => [0.0, 1.0, 3.0][row / 5],
    /// });
    /// let y: Vec<f64> =
    ///     x.rows().into_iter().map(|x| 10.0 * x[0] / (2.0 * (1.0 + x[1] / 0.7) + x[0])).collect();
    /// let fit = CurveFit::guessed(model, &x, &y).fit()?;
    /// assert!((fit.parameter("ki").unwrap().value - 0.7).abs() < 1e-6);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn of_several_predictors() -> impl Iterator<Item = (&'static str, Formula)> {
        MODELS.into_iter().filter_map(|(name, text)| Some((name, Formula::with_predictors(text, PREDICTORS).ok()?)))
    }

    /// The model of the library of this name, of one predictor, a sum of such, or of [several](Self::of_several_predictors).
    pub fn of_name(name: &str) -> Option<AnyModel> {
        let several = || Self::of_several_predictors().find(|(known, _)| *known == name);
        Named::of_name(name).map(AnyModel::Named).or_else(|| several().map(|(_, formula)| AnyModel::Formula(formula)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formulas_parse() {
        assert_eq!(AnyModel::of_several_predictors().count(), MODELS.len());
        for (name, formula) in AnyModel::of_several_predictors() {
            assert_eq!(formula.used_predictors().count(), 2, "{name}");
            assert_eq!(AnyModel::of_name(name), Some(AnyModel::Formula(formula)));
        }
        assert!(matches!(AnyModel::of_name("linear"), Some(AnyModel::Named(_))));
        assert!(AnyModel::of_name("no_inhibition").is_none());
    }
}
