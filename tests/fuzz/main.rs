//! Inputs made at random: no target may panic, hang, or break what it asserts.
//!
//! Each target is a test, which `FUZZ_SECONDS` lets go on for longer than the second that it takes by itself. `FUZZ_SEED` makes
//! other inputs, and `FUZZ_INPUT` is a file to try in place of them:
//!
//! ```text
//! FUZZ_SECONDS=600 FUZZ_SEED=7 cargo test --profile fuzz --features full --test fuzz -- --test-threads 7
//! FUZZ_INPUT=target/tmp/formula cargo test --features full --test fuzz formula -- --nocapture
//! ```

mod choices;
mod mutation;
mod runner;
mod targets;

use runner::run;
use targets::{checkpoint, fits, formula, model_names, optimizer_state, safetensors, table};

#[test]
fn table() {
    run("table", table::run, table::WORDS);
}

#[test]
fn safetensors() {
    run("safetensors", safetensors::run, safetensors::WORDS);
}

#[test]
fn checkpoint() {
    run("checkpoint", checkpoint::run, checkpoint::WORDS);
}

#[test]
fn optimizer_state() {
    run("optimizer_state", optimizer_state::run, &[]);
}

#[test]
fn model_names() {
    run("model_names", model_names::run, model_names::WORDS);
}

#[test]
fn formula() {
    run("formula", formula::run, formula::WORDS);
}

#[test]
fn fits() {
    run("fits", fits::run, &[]);
}
