//! What every epoch gave.

use super::{Logs, StopReason};

/// What every epoch gave, by name: a column for each of the [`Logs`], and why the training ended.
///
/// Epochs are counted from 0, as in Keras. With the feature `serde` it can be serialised.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct History {
    epochs: Vec<usize>,
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::named"))]
    columns: Vec<(String, Vec<f64>)>,
    pub(super) stop_reason: Option<StopReason>,
}

impl History {
    /// How many epochs there are in it.
    pub fn len(&self) -> usize {
        self.epochs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.epochs.is_empty()
    }

    /// The numbers of the epochs.
    pub fn epochs(&self) -> &[usize] {
        &self.epochs
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// A number for each epoch, NaN where there was none.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(found, _)| found == name).map(|(_, column)| column.as_slice())
    }

    /// The last of a column.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.column(name)?.last().copied()
    }

    /// Why the training ended; none after an error.
    pub fn stop_reason(&self) -> Option<&StopReason> {
        self.stop_reason.as_ref()
    }

    /// The first column that does not have a number for each epoch, as in a file that was changed by hand.
    pub(super) fn ragged_column(&self) -> Option<&str> {
        self.columns.iter().find(|(_, column)| column.len() != self.len()).map(|(name, _)| name.as_str())
    }

    /// Adds an epoch.
    pub(super) fn push(&mut self, epoch: usize, logs: &Logs) {
        let before = self.len();
        self.epochs.push(epoch);
        for (name, value) in logs.iter() {
            match self.columns.iter_mut().find(|(found, _)| found == name) {
                Some((_, column)) => column.push(value),
                None => {
                    let mut column = vec![f64::NAN; before];
                    column.push(value);
                    self.columns.push((name.to_owned(), column));
                }
            }
        }
        self.columns.iter_mut().for_each(|(_, column)| column.resize(before + 1, f64::NAN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(entries: &[(&str, f64)]) -> Logs {
        let mut logs = Logs::default();
        entries.iter().for_each(|&(name, value)| logs.set(name, value));
        logs
    }

    #[test]
    fn columns_are_as_long_as_there_are_epochs() {
        let mut history = History::default();
        history.push(3, &logs(&[("loss", 2.0), ("damping", 0.5)]));
        history.push(4, &logs(&[("loss", 1.0), ("accuracy", 0.75)]));
        assert_eq!(history.epochs(), [3, 4]);
        assert!(history.names().eq(["loss", "damping", "accuracy"]));
        assert_eq!(history.column("loss"), Some(&[2.0, 1.0][..]));
        assert!(matches!(history.column("damping"), Some(&[0.5, last]) if last.is_nan()));
        assert!(matches!(history.column("accuracy"), Some(&[first, 0.75]) if first.is_nan()));
        assert_eq!((history.last("loss"), history.last("nothing")), (Some(1.0), None));
    }

    #[cfg(feature = "checkpoint")]
    #[test]
    fn text_keeps_every_number() {
        let mut history = History::default();
        history.push(0, &logs(&[("loss", f64::INFINITY), ("a", 0.1 + 0.2), ("b", -f64::INFINITY)]));
        history.push(1, &logs(&[("loss", f64::from_bits(1))]));
        let text = serde_json::to_string(&history).unwrap();
        let read: History = serde_json::from_str(&text).unwrap();
        let bits = |history: &History| -> Vec<Vec<u64>> {
            history.columns.iter().map(|(_, column)| column.iter().map(|value| value.to_bits()).collect()).collect()
        };
        assert_eq!(bits(&read), bits(&history), "{text}");
    }
}
