//! Inputs made at random, for some time or for ever: no target may panic, hang, or break what it asserts.

mod choices;
mod mutation;
mod runner;
mod targets;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;

use targets::TARGETS;

/// Gives random inputs to the targets: table, safetensors, checkpoint, optimizer_state, model_names, formula, fits. The same seed
/// makes the same inputs.
#[derive(Debug, Parser)]
struct Options {
    /// Targets to run, each in a process of its own, all at the same time; all unless named.
    targets: Vec<String>,

    /// Seconds that each target runs for.
    #[arg(long, default_value_t = 60)]
    seconds: u64,

    /// Seed of the inputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Inputs to give to the one target named, in place of random ones, such as those in `artifacts`.
    #[arg(long)]
    input: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let mut options = Options::parse();
    if let Some(unknown) = options.targets.iter().find(|name| targets::find(name).is_none()) {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("there is no target {unknown}; there are {}", known.join(", "));
        return ExitCode::FAILURE;
    }
    if let [name] = &*options.targets {
        let target = targets::find(name).expect("it was just found");
        return runner::run(target, options.seconds, options.seed, &options.input);
    }
    if !options.input.is_empty() {
        eprintln!("inputs are for one target, which must be named");
        return ExitCode::FAILURE;
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    }
    let this = std::env::current_exe().expect("the path of this program");
    let [seconds, seed] = [options.seconds, options.seed].map(|number| number.to_string());
    let start = |name: &String| Command::new(&this).args([name, "--seconds", &seconds, "--seed", &seed]).spawn();
    let children: Vec<_> = options.targets.iter().map(|name| start(name).expect("this program starts again")).collect();
    let ends = children.into_iter().map(|mut child| child.wait().is_ok_and(|status| status.success()));
    if ends.fold(true, |all, is_good| all && is_good) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
