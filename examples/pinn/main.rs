//! Solves differential equations by small networks, with Levenberg–Marquardt or Adam. The last line has the errors.
//!
//! ```text
//! cargo run --release --example pinn                                    Poisson's equation on a square
//! cargo run --release --example pinn -- --problem burgers --pictures out
//! cargo run --release --example pinn -- --problem heat --optimizer adam --steps 30000
//! ```

mod cases;
mod errors;
mod pictures;
mod reference;

use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cases::{Name, case};
use clap::{Parser, ValueEnum};
use errors::Judge;
use marquardt::optim::{Adam, Optimizer};
use marquardt::solver::IterationRecord;
use marquardt::{LeastSquares, LevenbergMarquardt};

/// Solves a differential equation by a small network.
#[derive(Parser)]
struct Options {
    /// Which one
    #[arg(long, default_value = "poisson2d")]
    problem: Name,
    /// What changes the weights
    #[arg(long, default_value = "lm")]
    optimizer: Method,
    /// Of the first weights, of sampled points, and of noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// At most; its default is the problem's
    #[arg(long)]
    steps: Option<usize>,
    /// Of Adam
    #[arg(long, default_value_t = 1e-3)]
    learning_rate: f64,
    /// Takes 1,400 points for Burgers' equation, too few: the residuals at points that were held out show it
    #[arg(long)]
    sparse: bool,
    /// Of measurements
    #[arg(long)]
    noise: Option<f64>,
    /// Where to draw the solution, its error and the loss
    #[arg(long)]
    pictures: Option<PathBuf>,
    /// Measures the error every so many steps, to say when it has passed which bound; 0 for never
    #[arg(long, default_value_t = 10)]
    every: usize,
}

/// An optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Levenberg–Marquardt
    Lm,
    Adam,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let noise = options.noise.unwrap_or(if options.problem == Name::Pharmacokinetics { 0.02 } else { 0.0 });
    let make = || case(options.problem, options.seed, options.sparse, noise);
    let (mut solved, mut judged) = (make()?, make()?);
    let judge = Judge::new(&solved);
    let steps = options.steps.unwrap_or(solved.default_steps);
    let mut watch = Watch::new(options.every);
    let mut measure = |x: &[f64], watch: &mut Watch, loss: f64| {
        watch.measured(loss, || {
            judged.variables.values_mut().copy_from_slice(x);
            let variables = judged.variables.clone();
            judge.relative_l2(&mut judged, &variables)
        });
    };

    solved.problem.check_start(&solved.variables)?;
    let (name, loss) = match options.optimizer {
        Method::Lm => {
            let solver = LevenbergMarquardt::for_equations().with_max_iterations(steps);
            let mut observer = |record: &IterationRecord<f64>, x: &[f64]| {
                measure(x, &mut watch, record.cost);
                ControlFlow::Continue(())
            };
            let solution = solved.problem.solve_observed(&solver, &mut solved.variables, &mut observer)?;
            println!("{solution}");
            println!("ended: {:?}", solution.report.status);
            ("lm", solution.report.cost)
        }
        Method::Adam => {
            let mut optimizer = Adam::new(options.learning_rate);
            let mut loss = f64::NAN;
            for _ in 0..steps {
                loss = optimizer.step(solved.problem.network(), &mut solved.variables)?.loss;
                measure(solved.variables.values(), &mut watch, loss);
            }
            for term in solved.problem.judge(&solved.variables)? {
                println!("{}: {:.3e}, held out {:?}", term.term, term.trained, term.held_out);
            }
            ("adam", loss)
        }
    };
    let seconds = watch.seconds();
    for (bound, step) in &watch.passed {
        print!("{bound:.0e} at {step}  ");
    }
    println!();

    for (name, logarithm) in solved.coefficients.clone() {
        let value = solved.variables.get(logarithm.variable())[[0]].exp();
        let data = solved.data.expect("coefficients are found from data");
        let error = value * solved.problem.standard_error(&solved.variables, logarithm, data)?;
        println!("{name} = {value:.7} ± {error:.1e}");
    }
    if options.problem == Name::Pharmacokinetics {
        println!("a fit of the integrated equation gives {:.4?}", reference::rates(options.seed, noise));
    }
    if let Some(folder) = &options.pictures {
        pictures::draw(&mut solved, &watch.history, folder)?;
    }
    let variables = solved.variables.clone();
    let (l2, h1) = (judge.relative_l2(&mut solved, &variables), judge.relative_h1(&mut solved, &variables));
    let (parameters, rows) = (variables.values().len(), solved.problem.residual_count());
    debug_assert!(rows <= solved.problem.network().residual_count());
    let problem = options.problem.to_possible_value().expect("no problem is hidden").get_name().to_owned();
    println!(
        "problem={problem} optimizer={name} parameters={parameters} rows={rows} steps={} seconds={seconds:.3} loss={loss:.3e} \
         relative_l2={l2:.3e} relative_h1={h1:.3e}",
        watch.steps
    );
    Ok(())
}

/// Steps, seconds without those of measuring errors, and when the error has passed which bound.
struct Watch {
    every: usize,
    begun: Instant,
    away: Duration,
    steps: usize,
    passed: Vec<(f64, usize)>,
    history: Vec<(f64, f64)>,
}

impl Watch {
    fn new(every: usize) -> Watch {
        let (passed, history) = (Vec::new(), Vec::new());
        Watch { every, begun: Instant::now(), away: Duration::ZERO, steps: 0, passed, history }
    }

    fn seconds(&self) -> f64 {
        (self.begun.elapsed() - self.away).as_secs_f64()
    }

    fn measured(&mut self, loss: f64, error: impl FnOnce() -> f64) {
        self.steps += 1;
        if loss.is_finite() {
            self.history.push((self.seconds(), loss));
        }
        if self.every == 0 || !self.steps.is_multiple_of(self.every) {
            return;
        }
        let begun = Instant::now();
        let error = error();
        for bound in [1e-2, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7, 2e-8, 1e-8, 1e-9, 1e-10] {
            if error <= bound && !self.passed.iter().any(|&(known, _)| known == bound) {
                self.passed.push((bound, self.steps));
            }
        }
        self.away += begun.elapsed();
    }
}
