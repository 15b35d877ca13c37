//! Runs one target, and keeps the input that it fails on.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;

use crate::mutation::input;
use crate::targets::Target;

/// An input that takes longer hangs. Most take less than a millisecond, the longest a second; a machine may be busy.
const HANG: Duration = Duration::from_secs(60);

/// The input at hand, in a file, from where it is taken after a crash.
struct Current {
    path: PathBuf,
    file: File,
}

impl Current {
    fn new(target: &Target) -> std::io::Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts");
        fs::create_dir_all(&folder)?;
        let path = folder.join(target.name);
        Ok(Current { file: File::create(&path)?, path })
    }

    fn set(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(bytes)?;
        self.file.set_len(bytes.len() as u64)
    }
}

/// Gives inputs to a target: these, or random ones for so many seconds.
pub fn run(target: &'static Target, seconds: u64, seed: u64, inputs: &[PathBuf]) -> ExitCode {
    let read = |path: &PathBuf| fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if !inputs.is_empty() {
        let ends = inputs.iter().map(|path| (path, (target.run)(&read(path))));
        ends.for_each(|(path, accepted)| {
            println!("{}: {}", path.display(), if accepted { "accepted" } else { "refused" })
        });
        return ExitCode::SUCCESS;
    }
    let name = target.name;
    let mut current = Current::new(target).expect("the folder artifacts can be written");
    let begun = Instant::now();
    // When the input at hand began, in milliseconds.
    let since = Arc::new(AtomicU64::new(0));
    watch(name, current.path.clone(), begun, since.clone());

    let corpus = corpus(name);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut count, mut accepted) = (0_u64, 0_u64);
    while begun.elapsed().as_secs() < seconds {
        let bytes = match corpus.get(count as usize) {
            // First the corpus as it is.
            Some(bytes) => bytes.clone(),
            None => input(&mut random, &corpus, target.words),
        };
        current.set(&bytes).expect("the input at hand can be written");
        since.store(begun.elapsed().as_millis() as u64, Ordering::Relaxed);
        match catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes))) {
            Ok(is_accepted) => accepted += u64::from(is_accepted),
            Err(_) => {
                eprintln!("{name}: input {count} of seed {seed} fails; it is in {}", current.path.display());
                return ExitCode::FAILURE;
            }
        }
        count += 1;
    }
    let _ = fs::remove_file(&current.path);
    println!("{name}: {count} inputs of seed {seed}, {accepted} of them accepted");
    // What is always refused tests nothing behind.
    if accepted > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Ends the process where an input takes too long.
fn watch(name: &'static str, path: PathBuf, begun: Instant, since: Arc<AtomicU64>) {
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            let took = begun.elapsed().saturating_sub(Duration::from_millis(since.load(Ordering::Relaxed)));
            if took > HANG {
                eprintln!("{name}: hangs for {took:?}; the input is in {}", path.display());
                std::process::exit(1);
            }
        }
    });
}

/// The inputs in the folder of a target, in the order of their names.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a file of the corpus can be read")).collect()
}
