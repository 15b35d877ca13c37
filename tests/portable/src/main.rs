//! Fits and trainings of every kind, on targets of 32 bits and on those without files, threads and a clock. Each trial prints a line; the
//! lines are the same on every target.

#[path = "../../nist/mod.rs"]
#[allow(dead_code, reason = "other tests read more of the files")]
mod nist;
mod trials;

use std::error::Error;
use std::process::ExitCode;

/// Result of a trial: a line that describes it, or the reason of its failure.
type Outcome = Result<String, Box<dyn Error>>;

fn main() -> ExitCode {
    #[cfg(target_family = "wasm")]
    std::panic::set_hook(Box::new(|panic| print(&panic.to_string())));
    let mut code = ExitCode::SUCCESS;
    for (name, trial) in trials::ALL {
        match trial() {
            Ok(line) => print(&format!("{name}: {line}")),
            Err(error) => {
                print(&format!("{name} failed: {error}"));
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

#[cfg(not(target_family = "wasm"))]
fn print(line: &str) {
    println!("{line}");
}

/// Prints a line by the program that runs the WebAssembly.
#[cfg(target_family = "wasm")]
fn print(line: &str) {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        fn print(start: *const u8, length: usize);
    }
    // SAFETY: the host reads the bytes of the line, and keeps nothing of them.
    unsafe { print(line.as_ptr(), line.len()) }
}
