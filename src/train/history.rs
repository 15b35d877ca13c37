//! History of a training: the logs of every epoch.

use std::fmt;

use super::{Logs, StopReason};
use crate::digits::number;

/// Significant digits of a printed number.
const DIGITS: usize = 6;

/// Histories of more epochs are printed without those in the middle.
const ALL: usize = 20;

/// Logs of every epoch: one column for each entry of the [`Logs`], and the reason for the end of the training.
///
/// `Display` prints one line for each epoch; if there are more than 20, the first 10 and the last 10. `{:#}` prints all.
///
/// Epochs are counted from 0, as in Keras. With the feature `serde` it can be serialised.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct History {
    epochs: Vec<usize>,
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::named"))]
    columns: Vec<(String, Vec<f64>)>,
    pub(super) stop_reason: Option<StopReason>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) warnings: Vec<String>,
}

impl History {
    /// Number of epochs in the history.
    pub fn len(&self) -> usize {
        self.epochs.len()
    }

    /// Returns true if the history has no epochs.
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

    /// A column: one entry for each epoch, NaN if the epoch had none.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(found, _)| found == name).map(|(_, column)| column.as_slice())
    }

    /// The last of a column.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.column(name)?.last().copied()
    }

    /// Reason for the end of the training; `None` after an error.
    pub fn stop_reason(&self) -> Option<&StopReason> {
        self.stop_reason.as_ref()
    }

    /// Warnings of the data: inputs and targets with a column far from the size of one, which nothing normalises. `Display` prints them.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The first column that does not have an entry for each epoch, as in a file that was changed by hand.
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

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = |name: &str, numbers: Vec<String>| -> Vec<String> {
            let width = numbers.iter().map(String::len).chain([name.chars().count()]).max().unwrap_or(0);
            let all = std::iter::once(name).chain(numbers.iter().map(String::as_str));
            all.map(|cell| format!("{cell:>width$}")).collect()
        };
        let text = |&value: &f64| if value.is_nan() { "-".to_owned() } else { number(value, DIGITS) };
        let columns = self.columns.iter().map(|(name, column)| cells(name, column.iter().map(text).collect()));
        let epochs = cells("epoch", self.epochs.iter().map(usize::to_string).collect());
        let columns: Vec<Vec<String>> = std::iter::once(epochs).chain(columns).collect();
        let is_all = f.alternate() || self.len() <= ALL;
        let is_left_out = |row: usize| !is_all && (ALL / 2 + 1..=self.len() - ALL / 2).contains(&row);
        for row in (0..=self.len()).filter(|&row| !is_left_out(row)) {
            let line: Vec<&str> = columns.iter().map(|column| column[row].as_str()).collect();
            writeln!(f, "{}", line.join("  "))?;
            if is_left_out(row + 1) && row < self.len() {
                writeln!(f, "…")?;
            }
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        match &self.stop_reason {
            Some(reason) => write!(f, "ended: {reason}"),
            None => write!(f, "ended by an error"),
        }
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

    #[test]
    fn a_line_is_printed_for_each_epoch() {
        let mut history = History::default();
        history.push(3, &logs(&[("loss", 2.0), ("accuracy", 0.5)]));
        history.push(4, &logs(&[("loss", 1.234_567_89e-7)]));
        history.stop_reason = Some(StopReason::Completed);
        let expected = "\
epoch        loss  accuracy
    3           2       0.5
    4  1.23457e-7         -
ended: all epochs are done";
        assert_eq!(history.to_string(), expected);
        assert_eq!(History::default().to_string(), "epoch\nended by an error");
    }

    #[test]
    fn of_many_epochs_the_middle_is_left_out_unless_asked_for() {
        let of = |epochs: usize| {
            let mut history = History::default();
            (0..epochs).for_each(|epoch| history.push(epoch, &logs(&[("loss", 1.0)])));
            history
        };
        assert_eq!(of(20).to_string().lines().count(), 22);
        let text = of(1000).to_string();
        assert_eq!(text.lines().count(), 23);
        assert_eq!(text.matches('…').count(), 1);
        assert!(text.contains("\n    9     1\n…\n  990     1\n"), "{text}");
        assert_eq!(format!("{:#}", of(1000)).lines().count(), 1002);
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
