//! A weighted mean.

/// A weighted mean of numbers that come one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Mean {
    total: f64,
    weight: f64,
}

impl Mean {
    pub(super) fn add(&mut self, value: f64, weight: f64) {
        self.total += weight * value;
        self.weight += weight;
    }

    /// NaN of nothing.
    pub(super) fn value(&self) -> f64 {
        self.total / self.weight
    }

    pub(super) fn state(&self, numbers: &mut Vec<f64>) {
        numbers.extend([self.total, self.weight]);
    }

    pub(super) fn restore(&mut self, state: &[f64]) {
        if let &[total, weight] = state {
            *self = Mean { total, weight };
        }
    }

    /// Takes in another mean.
    pub(super) fn merge(&mut self, state: &[f64]) -> bool {
        let &[total, weight] = state else { return false };
        self.total += total;
        self.weight += weight;
        true
    }
}
