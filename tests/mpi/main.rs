//! Ranks that are processes. To be started by MPI's launcher, which `MARQUARDT_RANKS` tells how many ranks to expect:
//!
//! ```text
//! MARQUARDT_RANKS=2 cargo test --features full,mpi --test mpi \
//!     --config 'target."cfg(unix)".runner = ["mpirun", "--oversubscribe", "-n", "2"]'
//! ```
//!
//! All ranks go through all scenarios, and those that fail take the others down. Arguments choose scenarios by parts of
//! their names.

mod communicator;
mod curves;
mod solve;
mod training;

use std::ops::Range;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use marquardt::distributed::{Communicator, CommunicatorError};

/// Something that all ranks do, and its name.
type Scenario = (&'static str, fn(&Communicator));

/// No scenario takes more processor time, unless ranks wait for each other in vain, which keeps the processor busy. Where
/// others use the machine, too, the time by the clock may be many times as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// What has to fail, and is done only by its name.
const PANIC: &str = "a rank panics";

fn main() -> ExitCode {
    let Some(expected) = std::env::var("MARQUARDT_RANKS").ok().and_then(|ranks| ranks.parse::<usize>().ok()) else {
        eprintln!("MARQUARDT_RANKS has to say on how many ranks this is started");
        return ExitCode::FAILURE;
    };
    let ranks = Communicator::mpi().expect("MPI");
    if ranks.size() != expected {
        eprintln!("started on {} ranks, not {expected}", ranks.size());
        return ExitCode::FAILURE;
    }
    let chosen: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if chosen == [PANIC] {
        panics(&ranks);
    }
    let scenarios = [communicator::SCENARIOS, solve::SCENARIOS, curves::SCENARIOS, training::SCENARIOS];
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|part| name.contains(part.as_str()));
    let mut passed = 0;
    for (name, scenario) in scenarios.into_iter().flatten().filter(|(name, _)| is_chosen(name)) {
        within_patience(name, || scenario(&ranks));
        if ranks.is_root() {
            println!("ok  {name}");
        }
        passed += 1;
    }
    if passed == 0 {
        eprintln!("no scenario has such a name");
        return ExitCode::FAILURE;
    }
    let is_root = ranks.is_root();
    within_patience("a rank leaves", || leaves(ranks));
    if is_root {
        println!("{passed} scenarios passed on {expected} ranks");
    }
    ExitCode::SUCCESS
}

/// Ends this process, and so all, where a scenario takes too long.
fn within_patience(name: &str, scenario: impl FnOnce()) {
    let (done, wait) = mpsc::channel::<()>();
    let name = name.to_owned();
    let start = Instant::now();
    let used = move || processor_time().unwrap_or_else(|| start.elapsed());
    let before = processor_time().unwrap_or_default();
    thread::spawn(move || {
        while wait.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
            if used() - before > PATIENCE {
                eprintln!("{name}: still waiting after {:?}", start.elapsed());
                std::process::abort();
            }
        }
    });
    scenario();
    drop(done);
}

/// Processor time of this process; `None` where the system does not tell.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Numbers follow the name, which may hold anything. The 12th and 13th are of user and system, in hundredths of a second.
    let (_, numbers) = stat.rsplit_once(')')?;
    let ticks: Vec<u64> = numbers.split_whitespace().skip(11).take(2).flat_map(str::parse).collect();
    Some(Duration::from_millis(10 * ticks.iter().sum::<u64>()))
}

/// The last rank leaves, and the others, who want more of it, are told so. Then MPI has ended for all.
fn leaves(ranks: Communicator) {
    let last = ranks.size() - 1;
    let again = Communicator::mpi().expect("the same again");
    assert_eq!((again.rank(), again.size()), (ranks.rank(), ranks.size()));
    drop(ranks);
    if again.rank() != last {
        for _ in 0..2 {
            assert_eq!(again.all_sum(&mut [1.0; 100]), Err(CommunicatorError::Disconnected { rank: last }));
            assert_eq!(again.agree::<_, String>(Ok(())).unwrap_err().message, format!("rank {last} has gone"));
        }
    }
    drop(again);
    assert_eq!(Communicator::mpi().unwrap_err(), CommunicatorError::Finalized);
}

/// The last rank panics while the others wait for it.
fn panics(ranks: &Communicator) {
    assert!(ranks.rank() != ranks.size() - 1, "rank {} panics, as it should", ranks.rank());
    let _ = ranks.all_sum(&mut [1.0]);
}

/// Even shards, shards of very different sizes, and ranks that have nothing.
fn shards(ranks: &Communicator, rows: usize) -> [Range<usize>; 4] {
    let (rank, size) = (ranks.rank(), ranks.size());
    let few = 3 * rank..if rank + 1 == size { rows } else { 3 * rank + 3 };
    let first = if rank == 0 { 0..rows } else { rows..rows };
    let last = if rank + 1 == size { 0..rows } else { 0..0 };
    [ranks.shard(rows), few, first, last]
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} instead of {expected}");
    }
}

/// The same bits on every rank.
fn assert_bitwise(ranks: &Communicator, numbers: &[f64]) {
    assert_eq!(ranks.first_to_differ(numbers), Ok(None));
}
