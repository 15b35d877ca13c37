//! The command `marquardt`, from end to end: as a shell runs it.

mod bundle;
mod command;
mod compare;
mod complex;
mod data;
mod documents;
mod endings;
mod equations;
#[cfg(unix)]
mod examples;
mod files;
mod fit;
mod gnuplot;
mod graph;
mod groups;
mod live;
mod many;
mod output;
mod page;
mod predict;
mod regions;
mod settings;
