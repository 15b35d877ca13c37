//! Parameters that are functions of others.

use std::fmt;
use std::sync::Arc;

use super::model_rows::backwards;
use super::{Formula, FormulaError};
use crate::autodiff::Dual;
use crate::real::Real;

/// The value at the values of the parameters that a tie is to, and the gradient where there is room for it.
type TieFunction<T> = dyn Fn(&[T], Option<&mut [T]>) -> T + Send + Sync;

/// Tie of a parameter to other parameters: their names, and a function of their values with exact derivatives.
///
/// [`tie!`](crate::tie!) makes one from a formula.
///
/// ```
/// use marquardt::Tie;
///
/// let height = Tie::new(["amplitude", "sigma"], |[amplitude, sigma]| amplitude / sigma);
/// let mut gradient = [0.0; 2];
/// assert_eq!(height.value(&[3.0_f64, 2.0], Some(&mut gradient)), 1.5);
/// assert_eq!(gradient, [0.5, -0.75]);
/// ```
#[derive(Clone)]
pub struct Tie<T> {
    of: Vec<String>,
    value: Arc<TieFunction<T>>,
    /// Formula in reports.
    formula: Option<String>,
}

impl<T: Real> Tie<T> {
    /// A closure `|[a, b, …]|` of the parameters of these names, which arrive as [`Dual`] numbers.
    pub fn new<const N: usize>(
        of: [impl Into<String>; N],
        value: impl Fn([Dual<T, N>; N]) -> Dual<T, N> + Send + Sync + 'static,
    ) -> Self {
        let value = move |at: &[T], gradient: Option<&mut [T]>| {
            let result = value(std::array::from_fn(|index| Dual::variable(at[index], index)));
            if let Some(gradient) = gradient {
                gradient.copy_from_slice(&result.gradient);
            }
            result.value
        };
        Tie::of_values(of.into_iter().map(Into::into).collect(), value)
    }

    /// Parses a [`Formula`] over the names of the parameters.
    ///
    /// ```
    /// use marquardt::Tie;
    ///
    /// let rest = Tie::parse("1 - a - 2 * c")?;
    /// assert_eq!(rest.of(), ["a", "c"]);
    /// assert_eq!(rest.value(&[0.25, 0.125], None), 0.5);
    /// # Ok::<(), marquardt::curve::FormulaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FormulaError`] says what is wrong, and points at it.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let formula = Formula::with_predictors(text, [""; 0])?;
        let of = formula.parameters().to_vec();
        let text = Some(formula.text().to_owned());
        let value = move |at: &[T], gradient: Option<&mut [T]>| {
            let mut value = [T::ZERO];
            backwards(formula.program(), &[], 0, at, &mut value, gradient.unwrap_or_default());
            value[0]
        };
        Ok(Tie { of, value: Arc::new(value), formula: text })
    }

    /// A function of the values of these parameters that fills in the gradient where one is asked for.
    pub(super) fn of_values(
        of: Vec<String>,
        value: impl Fn(&[T], Option<&mut [T]>) -> T + Send + Sync + 'static,
    ) -> Self {
        Tie { of, value: Arc::new(value), formula: None }
    }

    /// Renames the parameters.
    pub(super) fn renamed(&self, rename: impl Fn(&str) -> String) -> Self {
        Tie { of: self.of.iter().map(|name| rename(name)).collect(), value: Arc::clone(&self.value), formula: None }
    }

    /// Sets the text for reports; [`tie!`](crate::tie!) sets its formula.
    pub fn described(self, formula: impl Into<String>) -> Self {
        Tie { formula: Some(formula.into()), ..self }
    }

    /// The names of the parameters that it is a function of.
    pub fn of(&self) -> &[String] {
        &self.of
    }

    /// The function of their values, in the order of the names; fills the gradient if one is asked for.
    pub fn value(&self, at: &[T], gradient: Option<&mut [T]>) -> T {
        (self.value)(at, gradient)
    }
}

/// The formula, or only what it is a function of.
impl<T> fmt::Display for Tie<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.formula {
            Some(formula) => f.write_str(formula),
            None => write!(f, "f({})", self.of.join(", ")),
        }
    }
}

impl<T> fmt::Debug for Tie<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tie").field("of", &self.of).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_the_closure() {
        let formula: Tie<f64> = crate::tie!(|a, c| 1 - a * exp(2 * c));
        let closure = Tie::<f64>::new(["a", "c"], |[a, c]| 1.0 - a * (2.0 * c).exp());
        assert_eq!(formula.of, closure.of);
        assert_eq!([formula.to_string(), closure.to_string()], ["1 - a * exp(2 * c)", "f(a, c)"]);
        let at = [0.3, -0.7];
        let [mut by_formula, mut by_closure] = [[0.0; 2]; 2];
        let values = [formula.value(&at, Some(&mut by_formula)), closure.value(&at, Some(&mut by_closure))];
        assert_eq!(values[0], values[1]);
        assert_eq!(values[0], formula.value(&at, None));
        assert_eq!(by_formula, by_closure);
        assert_eq!(by_formula, [-(-1.4_f64).exp(), -0.6 * (-1.4_f64).exp()]);
    }

    #[test]
    fn a_formula_takes_constants_of_any_number_type() {
        let total = 3.0_f32;
        let rest: Tie<f32> = crate::tie!(|a| sum - 2 * a; sum = total);
        assert_eq!(rest.value(&[1.0], None), 1.0);
        assert_eq!(format!("{rest:?}"), r#"Tie { of: ["a"], .. }"#);
    }
}
