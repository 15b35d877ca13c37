//! Training: the loop, its metrics, its callbacks, and what is left after an interruption.

mod bad_input;
mod callbacks;
#[cfg(all(feature = "checkpoint", feature = "safetensors"))]
mod files;
mod fit;
mod metrics;
mod problems;
#[cfg(feature = "checkpoint")]
mod resume;

use marquardt::train::History;

/// All columns but the seconds, to the bit.
fn bits(history: &History) -> Vec<(String, Vec<u64>)> {
    let names = history.names().filter(|&name| name != "seconds");
    names
        .map(|name| (name.to_owned(), history.column(name).unwrap().iter().map(|value| value.to_bits()).collect()))
        .collect()
}
