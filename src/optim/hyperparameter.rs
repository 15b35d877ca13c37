//! Hyperparameters: numbers, or schedules of them.

use super::Schedule;

/// The value of a hyperparameter: a number, or a schedule that gives one for every step.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Hyperparameter {
    /// The same for every step.
    Number(f64),
    /// From the number of steps made before.
    Schedule(Schedule),
}

impl Hyperparameter {
    /// The value for the step after `iterations` others.
    pub fn at(&self, iterations: u64) -> f64 {
        match self {
            Hyperparameter::Number(number) => *number,
            Hyperparameter::Schedule(schedule) => schedule.at(iterations),
        }
    }
}

impl From<f64> for Hyperparameter {
    fn from(number: f64) -> Self {
        Hyperparameter::Number(number)
    }
}

impl From<Schedule> for Hyperparameter {
    fn from(schedule: Schedule) -> Self {
        Hyperparameter::Schedule(schedule)
    }
}
