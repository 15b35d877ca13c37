//! Logs of an epoch.

/// Logs of an epoch: numbers by name, in order.
///
/// | name | value |
/// |---|---|
/// | `loss` | the mean over rows of the minibatches' losses, each before its step |
/// | a metric's name | on the same minibatches, with the weights before their steps |
/// | `val_loss`, `val_` and a metric's name | on the validation data, after the epoch |
/// | `learning_rate` | the optimizer's, where it has one: that of the next step |
/// | `applied` | the fraction of the steps that changed the variables |
/// | `damping` | Levenberg–Marquardt's, of the last step |
/// | `factored` | the fraction of its steps with Kronecker factors |
/// | `gain_ratio`, `attempts` | the means over its exact steps |
/// | `seconds` | duration of the steps, without validation; 0 on a target without a clock |
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Logs {
    entries: Vec<(String, f64)>,
}

impl Logs {
    /// A number by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.entries.iter().find(|(found, _)| found == name).map(|&(_, value)| value)
    }

    /// Sets a number, or adds it at the end.
    pub fn set(&mut self, name: &str, value: f64) {
        match self.entries.iter_mut().find(|(found, _)| found == name) {
            Some((_, found)) => *found = value,
            None => self.entries.push((name.to_owned(), value)),
        }
    }

    /// Names and numbers, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, f64)> + '_ {
        self.entries.iter().map(|(name, value)| (name.as_str(), *value))
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}
