//! Runs a target, and keeps the input that it fails on.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;

use crate::mutation::input;

/// An input that takes longer hangs. Most take less than a millisecond, the longest a second; a machine may be busy.
const HANG: Duration = Duration::from_secs(60);

/// Fewest inputs, so that a slow machine tries some, too.
const FEWEST: u64 = 100;

/// The number that an environment variable states, or 1.
fn number(variable: &str) -> u64 {
    std::env::var(variable).map_or(1, |text| text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")))
}

/// The input at hand, in a file, from where it is taken after a crash.
struct Current {
    path: PathBuf,
    file: File,
}

impl Current {
    fn new(name: &str) -> std::io::Result<Self> {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        Ok(Current { file: File::create(&path)?, path })
    }

    fn set(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(bytes)?;
        self.file.set_len(bytes.len() as u64)
    }
}

/// Gives inputs to a target, which says whether it accepts them: the corpus of this name, then inputs made of it and of words of
/// its language.
pub fn run(name: &'static str, target: fn(&[u8]) -> bool, words: &[&str]) {
    if let Some(path) = std::env::var_os("FUZZ_INPUT").map(PathBuf::from) {
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return println!("{name}: {}", if target(&bytes) { "accepted" } else { "refused" });
    }
    let (duration, seed) = (Duration::from_secs(number("FUZZ_SECONDS")), number("FUZZ_SEED"));
    let mut current = Current::new(name).expect("the folder of temporary files can be written");
    let begun = Instant::now();
    // When the input at hand began, in milliseconds.
    let since = Arc::new(AtomicU64::new(0));
    watch(name, current.path.clone(), begun, Arc::downgrade(&since));

    let corpus = corpus(name);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut count, mut accepted) = (0_u64, 0_u64);
    while count < FEWEST || begun.elapsed() < duration {
        let bytes = match corpus.get(count as usize) {
            // First the corpus as it is.
            Some(bytes) => bytes.clone(),
            None => input(&mut random, &corpus, words),
        };
        current.set(&bytes).expect("the input at hand can be written");
        since.store(begun.elapsed().as_millis() as u64, Ordering::Relaxed);
        match catch_unwind(AssertUnwindSafe(|| target(&bytes))) {
            Ok(is_accepted) => accepted += u64::from(is_accepted),
            Err(panic) => {
                eprintln!("{name}: input {count} of seed {seed} fails; it is in {}", current.path.display());
                resume_unwind(panic);
            }
        }
        count += 1;
    }
    let _ = fs::remove_file(&current.path);
    println!("{name}: {count} inputs of seed {seed}, {accepted} of them accepted");
    assert!(accepted > 0, "what is always refused tests nothing behind");
}

/// Ends the process where an input takes too long.
fn watch(name: &'static str, path: PathBuf, begun: Instant, since: Weak<AtomicU64>) {
    thread::spawn(move || {
        while let Some(since) = since.upgrade() {
            let took = begun.elapsed().saturating_sub(Duration::from_millis(since.load(Ordering::Relaxed)));
            drop(since);
            if took > HANG {
                eprintln!("{name}: hangs for {took:?}; the input is in {}", path.display());
                std::process::exit(1);
            }
            thread::sleep(Duration::from_secs(1));
        }
    });
}

/// The inputs in the folder of a target, in the order of their names.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(name);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a file of the corpus can be read")).collect()
}
