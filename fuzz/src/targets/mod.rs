//! Fuzz targets: the functions that inputs are given to.

mod checkpoint;
mod edits;
mod fits;
mod formula;
mod model_names;
mod optimizer_state;
mod safetensors;
mod table;

/// A function that must not panic and must end, whatever bytes it is given.
pub struct Target {
    pub name: &'static str,
    /// Returns whether the input was accepted.
    pub run: fn(&[u8]) -> bool,
    /// Words of its language.
    pub words: &'static [&'static str],
}

pub const TARGETS: [Target; 7] = [
    Target { name: "table", run: table::run, words: table::WORDS },
    Target { name: "safetensors", run: safetensors::run, words: safetensors::WORDS },
    Target { name: "checkpoint", run: checkpoint::run, words: checkpoint::WORDS },
    Target { name: "optimizer_state", run: optimizer_state::run, words: &[] },
    Target { name: "model_names", run: model_names::run, words: model_names::WORDS },
    Target { name: "formula", run: formula::run, words: formula::WORDS },
    Target { name: "fits", run: fits::run, words: &[] },
];

pub fn find(name: &str) -> Option<&'static Target> {
    const ALL: &[Target] = &TARGETS;
    ALL.iter().find(|target| target.name == name)
}
