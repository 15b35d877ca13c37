//! One training, against the clock.

use std::error::Error;
use std::time::{Duration, Instant};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::nn::{MeanSquaredError, Sequential};
use marquardt::optim::Optimizer;
use marquardt::{Real, Variables};

use crate::curves::Point;
use crate::data::{self, Friedman, INPUTS};
use crate::random::shuffle;

/// Mean squared errors on the points for validation.
pub const GOALS: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// What all trainings have in common.
#[derive(Clone, Copy)]
pub struct Rules {
    pub batch: usize,
    pub epochs: usize,
    pub seed: u64,
}

/// What a training came to.
pub struct Outcome {
    pub steps: u64,
    /// When each of the goals was reached.
    pub reached: [Option<Point>; GOALS.len()],
    pub points: Vec<Point>,
}

/// Trains 10-32-32-1 until all goals are reached or the epochs are over, whatever the optimizer is. The clock stands still
/// where the error is looked at.
pub fn train<T: Real>(
    rules: Rules,
    data: &Friedman<T>,
    mut optimizer: Box<dyn Optimizer<T>>,
) -> Result<Outcome, Box<dyn Error>> {
    let (x, x_validation) = data::split(&data.x);
    let (y, y_validation) = data::split(&data.y);
    let mut variables = Variables::new();
    let layers = Sequential::new(INPUTS).dense(32).tanh().dense(32).tanh().dense(1);
    let mut network = layers.compile(&mut variables, rules.seed, MeanSquaredError)?;

    let mut order: Vec<usize> = (0..x.nrows()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(rules.seed);
    let mut outcome = Outcome { steps: 0, reached: [None; GOALS.len()], points: Vec::new() };
    let mut clock = Duration::ZERO;
    for _ in 0..rules.epochs {
        let mut begun = Instant::now();
        shuffle(&mut order, &mut random);
        for rows in order.chunks(rules.batch) {
            let batch = network.batch_rows(&[x], &[y], rows)?;
            optimizer.step(batch, &mut variables)?;
            outcome.steps += 1;
            if is_looked_at(outcome.steps) {
                clock += begun.elapsed();
                let loss = network.evaluate(&variables, &[x_validation], &[y_validation])?.to_f64();
                let point = Point { steps: outcome.steps, seconds: clock.as_secs_f64(), loss };
                if outcome.note(point) {
                    return Ok(outcome);
                }
                begun = Instant::now();
            }
        }
        clock += begun.elapsed();
    }
    Ok(outcome)
}

impl Outcome {
    /// Returns whether all goals are reached.
    fn note(&mut self, point: Point) -> bool {
        self.points.push(point);
        for (reached, goal) in self.reached.iter_mut().zip(GOALS) {
            if reached.is_none() && point.loss <= goal {
                *reached = Some(point);
            }
        }
        self.reached.iter().all(Option::is_some)
    }
}

/// Whether the error is looked at after so many steps: at first always, later now and then.
fn is_looked_at(steps: u64) -> bool {
    steps <= 100 || steps.is_multiple_of(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_reached_once_and_several_at_a_time() {
        let mut outcome = Outcome { steps: 0, reached: [None; GOALS.len()], points: Vec::new() };
        let point = |steps, loss| Point { steps, seconds: 0.1 * steps as f64, loss };
        assert!(!outcome.note(point(5, f64::NAN)));
        assert!(!outcome.note(point(10, 0.02)));
        assert!(!outcome.note(point(15, 1e-3)));
        assert!(!outcome.note(point(20, 0.5)));
        assert!(outcome.note(point(25, 1e-5)));
        assert_eq!(outcome.reached.map(|reached| reached.map(|point| point.steps)), [Some(15), Some(15), Some(25)]);
        assert_eq!(outcome.points.len(), 5);
    }
}
