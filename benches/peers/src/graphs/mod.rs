//! Pose graphs in files of g2o, and bundle adjustment in files of BAL ("Bundle Adjustment in the Large").
//!
//! ```text
//! cargo run --release -- graphs                                  the small files of the examples
//! cargo run --release -- graphs sphere2500.g2o problem-49.txt    any files; those in .g2o are pose graphs
//! cargo run --release --features apex-solver -- graphs FILES     with apex-solver, the only peer that adjusts bundles
//! ```
//!
//! Every solve is a process of its own, one after the other, with one thread. The time is that of the solve alone:
//! reading the file and building the crate's problem are not part of it. Costs are computed from the solutions by one
//! function for all, with the residuals of `marquardt`.
//!
//! `marquardt` runs with the settings of its examples, the others with those of theirs or with their defaults, unless the
//! name says otherwise. The last column is the CPU time in that of the best peer: of the peers whose cost is within a
//! percent of the least, the one of least CPU time.

#[cfg(feature = "apex-solver")]
mod apex_solver;
mod bal;
mod clock;
mod cost;
mod factrs;
mod g2o;
mod marquardt;
mod tiny_solver;

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use bal::Scene;
use clock::Time;
use g2o::Graph;

use crate::table;

/// Turns of every peer; that of least CPU time counts.
const TURNS: usize = 3;

/// First word of the command line of a process that is one turn.
const TURN: &str = "--turn";

/// Files that are solved if none is named.
const SHIPPED: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/tiny_grid.g2o"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/cameras.txt"),
];

/// A solution, and how it was found.
struct Solved<T> {
    estimate: T,
    /// Iterations, where reported.
    iterations: Option<usize>,
    time: Time,
}

/// Solver of pose graphs; the file is for crates with a reader of their own.
type PoseSolver = fn(&Graph, &Path) -> Solved<Graph>;

/// Solver of bundle adjustment.
type SceneSolver = fn(&Scene) -> Solved<Scene>;

/// Solvers of pose graphs, `marquardt` first.
const POSES: &[(&str, PoseSolver)] = &[
    ("marquardt", marquardt::poses),
    ("factrs, Gauss–Newton", factrs::gauss_newton),
    ("factrs, Levenberg–Marquardt", factrs::levenberg_marquardt),
    ("tiny-solver, Gauss–Newton", tiny_solver::gauss_newton),
    ("tiny-solver, Levenberg–Marquardt", tiny_solver::levenberg_marquardt),
    #[cfg(feature = "apex-solver")]
    ("apex-solver, Levenberg–Marquardt", apex_solver::poses),
];

/// Solvers of bundle adjustment, `marquardt` first.
const SCENES: &[(&str, SceneSolver)] = &[
    ("marquardt", marquardt::scene),
    #[cfg(feature = "apex-solver")]
    ("apex-solver, implicit Schur (preset)", apex_solver::implicit_schur),
    #[cfg(feature = "apex-solver")]
    ("apex-solver, explicit Schur, 200 iterations", apex_solver::explicit_schur),
];

/// Contents of a file.
enum Task {
    Poses(Graph),
    Scene(Scene),
}

impl Task {
    fn read(file: &Path) -> Result<Self, Box<dyn Error>> {
        if file.extension().is_some_and(|extension| extension == "g2o") {
            Ok(Task::Poses(Graph::read(file)?))
        } else {
            Ok(Task::Scene(Scene::load(file)?))
        }
    }

    fn title(&self, file: &Path) -> String {
        let sizes = match self {
            Task::Poses(graph) => format!("{} poses, {} edges", graph.vertices.len(), graph.edges.len()),
            Task::Scene(scene) => {
                let [cameras, points, pixels] = [scene.cameras.len(), scene.points.len(), scene.observations.len()];
                format!("{cameras} cameras, {points} points, {pixels} observations")
            }
        };
        let name = file.file_name().unwrap_or_default().display();
        format!("{name}: {sizes}; initial cost {:.8e}; one thread", self.cost())
    }

    fn cost(&self) -> f64 {
        match self {
            Task::Poses(graph) => cost::poses(graph),
            Task::Scene(scene) => cost::scene(scene),
        }
    }

    fn solvers(&self) -> Vec<&'static str> {
        match self {
            Task::Poses(_) => POSES.iter().map(|(name, _)| *name).collect(),
            Task::Scene(_) => SCENES.iter().map(|(name, _)| *name).collect(),
        }
    }
}

/// Solves the named files by all crates, or is the turn of one of them.
pub fn run(words: &[String]) -> Result<(), Box<dyn Error>> {
    match words {
        [first, name, file] if first == TURN => turn(name, Path::new(file)),
        [] => SHIPPED.iter().try_for_each(|file| contest(Path::new(file))),
        files => files.iter().try_for_each(|file| contest(Path::new(file))),
    }
}

/// Times all crates on a file and prints a table.
fn contest(file: &Path) -> Result<(), Box<dyn Error>> {
    let task = Task::read(file)?;
    let names = task.solvers();
    let mut records: Vec<Option<Record>> = names.iter().map(|_| None).collect();
    for _ in 0..TURNS {
        for (record, name) in records.iter_mut().zip(&names) {
            *record = better(record.take(), Record::of_turn(name, file)?);
        }
    }
    let solved = || records.iter().flatten();
    let least = solved().map(|record| record.cost).fold(f64::INFINITY, f64::min);
    // Costs of zero differ by rounding.
    let scale = least.max(1e-12 * task.cost());
    let excess = |cost: f64| (cost - least) / scale;
    let good = records[1..].iter().flatten().filter(|record| excess(record.cost) <= 0.01);
    let best = good.map(|record| record.time.cpu).min();
    let rows = names.iter().zip(&records).map(|(name, record)| table::GraphRow {
        name,
        solve: record.as_ref().map(|&Record { cost, iterations, time }| table::GraphSolve {
            cost,
            excess: excess(cost),
            iterations,
            elapsed: time.elapsed,
            cpu: time.cpu,
            ratio: best.map(|best| time.cpu.div_duration_f64(best)),
        }),
    });
    table::print_graph(&task.title(file), rows);
    Ok(())
}

/// Solves a file by one crate, and prints cost, iterations, and the two times in nanoseconds.
fn turn(name: &str, file: &Path) -> Result<(), Box<dyn Error>> {
    fn named<F: Copy>(solvers: &[(&str, F)], name: &str) -> Result<F, String> {
        let solver = solvers.iter().find(|solver| solver.0 == name);
        solver.map(|solver| solver.1).ok_or_else(|| format!("{name} is no solver of this kind of file"))
    }
    let (estimate, iterations, time) = match Task::read(file)? {
        Task::Poses(graph) => {
            let Solved { estimate, iterations, time } = named(POSES, name)?(&graph, file);
            (Task::Poses(estimate), iterations, time)
        }
        Task::Scene(scene) => {
            let Solved { estimate, iterations, time } = named(SCENES, name)?(&scene);
            (Task::Scene(estimate), iterations, time)
        }
    };
    let iterations = iterations.map_or_else(|| "–".to_owned(), |count| count.to_string());
    // Crates may have printed something without ending the line.
    println!("\n{:e} {iterations} {} {}", estimate.cost(), time.elapsed.as_nanos(), time.cpu.as_nanos());
    Ok(())
}

/// Result of a turn.
struct Record {
    cost: f64,
    iterations: Option<usize>,
    time: Time,
}

impl Record {
    /// Has a process solve a file by one crate; none if it failed, and then it has said why.
    fn of_turn(name: &str, file: &Path) -> Result<Option<Self>, Box<dyn Error>> {
        let mut process = Command::new(std::env::current_exe()?);
        process.args(["graphs", TURN, name]).arg(file);
        // All crates take their threads from rayon.
        let output = process.env("RAYON_NUM_THREADS", "1").stderr(Stdio::inherit()).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let record = text.lines().last().filter(|_| output.status.success()).and_then(Record::parse);
        if record.is_none() {
            eprintln!("{name} failed on {}: {}", file.display(), output.status);
        }
        Ok(record)
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let cost = words.next()?.parse().ok()?;
        let iterations = words.next()?.parse().ok();
        let mut time = || Some(Duration::from_nanos(words.next()?.parse().ok()?));
        Some(Record { cost, iterations, time: Time { elapsed: time()?, cpu: time()? } })
    }
}

/// The turn of less CPU time.
fn better(a: Option<Record>, b: Option<Record>) -> Option<Record> {
    [a, b].into_iter().flatten().min_by_key(|record| record.time.cpu)
}
