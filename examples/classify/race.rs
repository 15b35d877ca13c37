//! Kronecker-factored Levenberg–Marquardt against Adam by the clock, each from ten starts.

use std::error::Error;
use std::fmt;
use std::time::Instant;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::nn::{Network, Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::{Adam, KroneckerLevenbergMarquardt, Optimizer};
use marquardt::{Real, Variables};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

use crate::data::{self, Digits};
use crate::random::shuffle;
use crate::teacher;

/// Starts, splits of the digits, and teachers.
const SEEDS: u64 = 10;
/// Times that every training is repeated for the clock: a step counts with its shortest time.
const REPEATS: usize = 3;
/// Adam's learning rates, of which the best is taken for each goal.
const RATES: [f64; 3] = [0.003, 0.01, 0.02];
const ADAM_BATCHES: [usize; 3] = [32, 64, 128];
/// Effective parameters for each row of a minibatch, of which the best is taken as well.
const EFFECTIVE: [f64; 3] = [0.5, 1.0, 2.0];
const KRONECKER_BATCHES: [usize; 3] = [128, 256, 512];
const CLASSES: usize = 10;
const HIDDEN: usize = 64;
/// Units of the first layer's inputs in the table of steps, of hidden layers, and images in a minibatch.
const WIDTHS: [(usize, &[usize], usize); 4] =
    [(64, &[64], 128), (64, &[64], 256), (784, &[64], 128), (784, &[700, 600], 128)];

/// An optimizer, and the images of its minibatches.
#[derive(Clone, Copy)]
struct Racer {
    rule: Rule,
    batch: usize,
}

/// An optimizer and the setting that it is tried with.
#[derive(Clone, Copy)]
enum Rule {
    Adam { rate: f64 },
    Kronecker { effective: f64 },
}

/// Rows for training and for the test, inputs and classes of each.
struct Data<T> {
    training: [Array2<T>; 2],
    test: [Array2<T>; 2],
}

/// The trained network after some steps.
#[derive(Clone, Copy)]
struct Look {
    steps: usize,
    accuracy: f64,
    /// Mean cross-entropies.
    test_loss: f64,
    training_loss: f64,
}

/// One training.
struct Run {
    looks: Vec<Look>,
    /// Seconds that all steps up to each have taken.
    seconds: Vec<f64>,
}

/// How long a training is, and how often it is looked at.
#[derive(Clone, Copy)]
struct Course {
    epochs: usize,
    rows_per_look: usize,
    /// Ends the training before, given all looks.
    is_over: fn(&[Look]) -> bool,
}

/// Races on the digits, then on the classes of a teacher, then prints what single steps cost.
pub fn race<T: Real>() -> Result<(), Box<dyn Error>> {
    digits::<T>()?;
    teacher::<T>()?;
    steps::<T>()
}

fn digits<T: Real>() -> Result<(), Box<dyn Error>> {
    let digits = Digits::read(std::fs::File::open(data::FILE)?)?;
    let data: Vec<Data<T>> = (0..SEEDS)
        .map(|seed| digits.shuffled(seed))
        .map(|digits| Data::new([digits.pixels, digits.labels], data::TRAINING))
        .collect();
    let is_over = |looks: &[Look]| {
        let is_any = |is_reached: fn(&Look) -> bool| looks.iter().any(is_reached);
        is_any(|look| look.steps >= 80 && look.training_loss <= 0.01) && is_any(|look| look.accuracy >= 0.975)
    };
    let course = Course { epochs: 40, rows_per_look: 128, is_over };
    println!("8×8 digits, 64-64-10, milliseconds of training, median and worst of {SEEDS} seeds");
    let goals = ["97 % right", "97.5 % right", "loss 0.01"];
    let hits = |run: &Run| {
        [
            run.first(|look| look.accuracy >= 0.97),
            run.first(|look| look.accuracy >= 0.975),
            run.first(|look| look.training_loss <= 0.01),
        ]
    };
    let mut table = Table::new(&goals, "right after 80 steps");
    for racer in Racer::all() {
        let runs = racer.run_all(&data, course)?;
        let right = |run: &Run| run.looks.iter().find(|look| look.steps == 80).map_or(f64::NAN, |look| look.accuracy);
        let mean = runs.iter().map(right).sum::<f64>() / runs.len() as f64;
        table.add(racer, &runs, |_, run| hits(run), format!("{:.2} %", 100.0 * mean));
    }
    table.conclude();
    Ok(())
}

fn teacher<T: Real>() -> Result<(), Box<dyn Error>> {
    let data: Vec<Data<T>> = (0..SEEDS).map(|seed| Data::new(teacher::draw(seed), teacher::TRAINING)).collect();
    let course = Course { epochs: 4, rows_per_look: 512, is_over: |_| false };
    println!();
    println!(
        "{} points of a teacher, {}-64-10, milliseconds to Adam's loss on the test points after {} epochs",
        teacher::POINTS,
        teacher::INPUTS,
        course.epochs
    );
    let mut all = Vec::new();
    for racer in Racer::all() {
        all.push((racer, racer.run_all(&data, course)?));
    }
    // Of the Adam that ends lowest.
    let end = |run: &Run| run.looks.last().map_or(f64::INFINITY, |look| look.test_loss);
    let mean_end = |runs: &[Run]| runs.iter().map(end).sum::<f64>() / runs.len() as f64;
    let adams = all.iter().filter(|(racer, _)| racer.is_adam());
    let lowest = adams.min_by(|(_, a), (_, b)| mean_end(a).total_cmp(&mean_end(b)));
    let goals: Vec<f64> = lowest.map(|(_, runs)| runs.iter().map(end).collect()).unwrap_or_default();
    let mut table = Table::new(&["Adam's end", "80 % right"], "loss at the end");
    for (racer, runs) in &all {
        let hits = |seed: usize, run: &Run| {
            [run.first(|look| look.test_loss <= goals[seed]), run.first(|look| look.accuracy >= 0.8)]
        };
        table.add(*racer, runs, hits, format!("{:.3}", mean_end(runs)));
    }
    table.conclude();
    Ok(())
}

/// Prints what a step takes of both optimizers, on average over twenty.
fn steps<T: Real>() -> Result<(), Box<dyn Error>> {
    println!();
    println!("microseconds of a step, the mean of twenty");
    for (inputs, hidden, batch) in WIDTHS {
        let [points, classes] = normal_points(batch + 1, inputs);
        let data = Data::<T>::new([points, classes], batch);
        let course = Course { epochs: 20, rows_per_look: usize::MAX, is_over: |_| false };
        let seconds = |rule| {
            let run = Racer { rule, batch }.run(&data, hidden, 0, course)?;
            Ok::<f64, Box<dyn Error>>(1e6 * run.seconds.last().unwrap_or(&f64::NAN) / run.seconds.len() as f64)
        };
        let (adam, kronecker) = (seconds(Rule::Adam { rate: 0.003 })?, seconds(Rule::Kronecker { effective: 1.0 })?);
        let widths: String = hidden.iter().map(|units| format!("{units}-")).collect();
        let name = format!("{inputs}-{widths}{CLASSES}, minibatch of {batch}");
        println!("{name:36} adam {adam:9.1}   kfac {kronecker:9.1}   ratio {:.2}", kronecker / adam);
    }
    Ok(())
}

/// Normally distributed points; the class of each is the place of the largest of its first numbers.
fn normal_points(count: usize, inputs: usize) -> [Array2<f64>; 2] {
    let points = teacher::normal(count, inputs, &mut ChaCha8Rng::seed_from_u64(0));
    let largest = |row: usize| (0..CLASSES).max_by(|&a, &b| points[[row, a]].total_cmp(&points[[row, b]]));
    let classes = Array2::from_shape_fn((count, 1), |(row, _)| largest(row).map_or(0.0, |class| class as f64));
    [points, classes]
}

impl Racer {
    fn all() -> impl Iterator<Item = Racer> {
        let of_adam = |rate| ADAM_BATCHES.map(|batch| Racer { rule: Rule::Adam { rate }, batch });
        let of_kronecker =
            |effective| KRONECKER_BATCHES.map(|batch| Racer { rule: Rule::Kronecker { effective }, batch });
        RATES.into_iter().flat_map(of_adam).chain(EFFECTIVE.into_iter().flat_map(of_kronecker))
    }

    fn is_adam(self) -> bool {
        matches!(self.rule, Rule::Adam { .. })
    }

    fn optimizer<T: Real>(self) -> Box<dyn Optimizer<T>> {
        match self.rule {
            Rule::Adam { rate } => Box::new(Adam::new(rate)),
            Rule::Kronecker { effective } => {
                Box::new(KroneckerLevenbergMarquardt::new().with_effective_parameters(effective))
            }
        }
    }

    fn run_all<T: Real>(self, data: &[Data<T>], course: Course) -> Result<Vec<Run>, Box<dyn Error>> {
        (0..).zip(data).map(|(seed, data)| self.run(data, &[HIDDEN], seed, course)).collect()
    }

    /// Trains once to look at the network, and then some times for the clock: the steps are the same to the last bit.
    fn run<T: Real>(self, data: &Data<T>, hidden: &[usize], seed: u64, course: Course) -> Result<Run, Box<dyn Error>> {
        let mut run = Run { looks: Vec::new(), seconds: Vec::new() };
        let steps = self.train(data, hidden, seed, |network, variables, steps, _| {
            let ends = steps * self.batch >= course.epochs * data.training[0].nrows();
            if ends || (steps * self.batch) % course.rows_per_look < self.batch {
                run.looks.push(data.look(network, variables, steps)?);
                return Ok(ends || (course.is_over)(&run.looks));
            }
            Ok(false)
        })?;
        run.seconds.resize(steps, f64::INFINITY);
        for _ in 0..REPEATS {
            self.train(data, hidden, seed, |_, _, step, seconds| {
                run.seconds[step - 1] = run.seconds[step - 1].min(seconds);
                Ok(step == steps)
            })?;
        }
        let mut sum = 0.0;
        for seconds in &mut run.seconds {
            sum += *seconds;
            *seconds = sum;
        }
        Ok(run)
    }

    /// Trains until told to stop, after each step, by its number and its seconds. Returns the steps.
    fn train<T: Real>(
        self,
        data: &Data<T>,
        hidden: &[usize],
        seed: u64,
        mut stops: impl FnMut(&mut Network<T>, &Variables<T>, usize, f64) -> Result<bool, Box<dyn Error>>,
    ) -> Result<usize, Box<dyn Error>> {
        let [inputs, classes] = data.training.each_ref().map(|rows| rows.view());
        let mut variables = Variables::new();
        let layers = hidden.iter().fold(Sequential::new(inputs.ncols()), |layers, &units| layers.dense(units).tanh());
        let mut network = layers.dense(CLASSES).compile(&mut variables, seed, SparseCategoricalCrossentropy)?;
        let mut optimizer = self.optimizer::<T>();
        let mut order: Vec<usize> = (0..inputs.nrows()).collect();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut steps = 0;
        loop {
            shuffle(&mut order, &mut random);
            for rows in order.chunks(self.batch) {
                let begun = Instant::now();
                optimizer.step(network.batch_rows(&[inputs], &[classes], rows)?, &mut variables)?;
                let seconds = begun.elapsed().as_secs_f64();
                steps += 1;
                if stops(&mut network, &variables, steps, seconds)? {
                    return Ok(steps);
                }
            }
        }
    }
}

impl<T: Real> Data<T> {
    fn new(rows: [Array2<f64>; 2], training: usize) -> Self {
        let part = |rows: ArrayView2<'_, f64>| rows.mapv(T::from_f64);
        let [inputs, classes] = rows.each_ref().map(|rows| rows.view().split_at(Axis(0), training));
        Data { training: [part(inputs.0), part(classes.0)], test: [part(inputs.1), part(classes.1)] }
    }

    fn look(&self, network: &mut Network<T>, variables: &Variables<T>, steps: usize) -> Result<Look, Box<dyn Error>> {
        let [inputs, classes] = &self.test;
        let output = *network.outputs().first().ok_or("the network has no output")?;
        let outputs = network.predict(variables, &[inputs.view()], output)?;
        let largest =
            |row: ArrayView1<'_, T>| (0..row.len()).max_by(|&a, &b| row[a].to_f64().total_cmp(&row[b].to_f64()));
        let is_right = |(row, class): (ArrayView1<'_, T>, &T)| largest(row).map(|at| at as f64) == Some(class.to_f64());
        let right = outputs.rows().into_iter().zip(classes).filter(|&(row, class)| is_right((row, class))).count();
        // Of a large set, the first rows are enough.
        let rows = self.training[0].nrows().min(2 * data::TRAINING);
        let [training, of] = self.training.each_ref().map(|numbers| numbers.view().split_at(Axis(0), rows).0);
        Ok(Look {
            steps,
            accuracy: right as f64 / classes.len() as f64,
            test_loss: network.evaluate(variables, &[inputs.view()], &[classes.view()])?.to_f64(),
            training_loss: network.evaluate(variables, &[training], &[of])?.to_f64(),
        })
    }
}

impl Run {
    /// Seconds to the first look of this kind.
    fn first(&self, is_reached: impl Fn(&Look) -> bool) -> f64 {
        let look = self.looks.iter().find(|look| is_reached(look));
        look.map_or(f64::INFINITY, |look| self.seconds[look.steps - 1])
    }
}

/// Times of all racers to some goals.
struct Table<const GOALS: usize> {
    goals: [&'static str; GOALS],
    rows: Vec<(Racer, [Times; GOALS])>,
}

/// Median and worst, in milliseconds.
#[derive(Clone, Copy)]
struct Times {
    median: f64,
    worst: f64,
}

impl<const GOALS: usize> Table<GOALS> {
    fn new(goals: &[&'static str; GOALS], last: &str) -> Self {
        print!("{:24}{:>8}", "", "µs/step");
        goals.iter().for_each(|goal| print!("{goal:>18}"));
        println!("{last:>24}");
        Table { goals: *goals, rows: Vec::new() }
    }

    /// Prints a row, and keeps it.
    fn add(&mut self, racer: Racer, runs: &[Run], hits: impl Fn(usize, &Run) -> [f64; GOALS], last: String) {
        let seconds: f64 = runs.iter().filter_map(|run| run.seconds.last()).sum();
        let steps: usize = runs.iter().map(|run| run.seconds.len()).sum();
        let hits: Vec<[f64; GOALS]> = runs.iter().enumerate().map(|(seed, run)| hits(seed, run)).collect();
        let times = std::array::from_fn(|goal| Times::new(hits.iter().map(|hits| 1e3 * hits[goal]).collect()));
        print!("{:24}{:8.1}", racer.to_string(), 1e6 * seconds / steps as f64);
        times.iter().for_each(|times: &Times| print!("{:>18}", times.to_string()));
        println!("{last:>24}");
        self.rows.push((racer, times));
    }

    /// Prints the best of both optimizers for each goal, and the ratios.
    fn conclude(&self) {
        for (goal, name) in self.goals.iter().enumerate() {
            let best = |is_adam: bool| {
                let rows = self.rows.iter().filter(|(racer, _)| racer.is_adam() == is_adam);
                rows.min_by(|(_, a), (_, b)| a[goal].median.total_cmp(&b[goal].median))
            };
            if let (Some((adam, of_adam)), Some((kronecker, times))) = (best(true), best(false)) {
                let (of_adam, times) = (of_adam[goal], times[goal]);
                if !of_adam.median.is_finite() {
                    println!("{name}: Adam does not get there in half of its runs");
                    continue;
                }
                println!(
                    "{name}: {kronecker} takes {:.2} of the median of {adam}, at worst {:.2}",
                    times.median / of_adam.median,
                    times.worst / of_adam.median
                );
            }
        }
    }
}

impl Times {
    fn new(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |place: usize| times.get(place).copied().unwrap_or(f64::NAN);
        let median = 0.5 * (at(times.len().saturating_sub(1) / 2) + at(times.len() / 2));
        Times { median, worst: at(times.len().saturating_sub(1)) }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} {:.2}", self.median, self.worst)
    }
}

impl fmt::Display for Racer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule {
            Rule::Adam { rate } => write!(f, "adam {rate}, batch {}", self.batch),
            Rule::Kronecker { effective } => write!(f, "kfac {effective}, batch {}", self.batch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_medians_and_worsts() {
        let times = Times::new(vec![3.0, 1.0, f64::INFINITY, 2.0]);
        assert_eq!((times.median, times.worst), (2.5, f64::INFINITY));
        assert_eq!(Times::new(vec![7.0]).median, 7.0);
    }

    #[test]
    fn a_training_is_looked_at_and_repeated_for_the_clock() -> Result<(), Box<dyn Error>> {
        let inputs = Array2::from_shape_fn((40, 2), |(row, column)| ((row * (column + 1)) as f64).sin());
        let classes = Array2::from_shape_fn((40, 1), |(row, _)| f64::from(u8::from(inputs[[row, 0]] > 0.0)));
        let data = Data::<f32>::new([inputs, classes], 32);
        let course = Course {
            epochs: 30,
            rows_per_look: 8,
            is_over: |looks| looks.last().is_some_and(|look| look.training_loss < 0.05),
        };
        for rule in [Rule::Adam { rate: 0.02 }, Rule::Kronecker { effective: 1.0 }] {
            let run = Racer { rule, batch: 8 }.run(&data, &[4], 1, course)?;
            let last = run.looks.last().ok_or("a look")?;
            assert!(last.training_loss < 0.3 && run.seconds.len() == last.steps);
            assert!(run.seconds.windows(2).all(|pair| pair[0] <= pair[1]));
            assert_eq!(run.first(|look| look.steps > 1), run.seconds[1]);
            assert_eq!(run.first(|_| false), f64::INFINITY);
        }
        Ok(())
    }
}
