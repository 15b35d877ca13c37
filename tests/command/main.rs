//! The command `marquardt`, from end to end: as a shell runs it.

mod command;
mod compare;
mod data;
mod endings;
mod fit;
mod gnuplot;
mod groups;
mod many;
mod output;
mod predict;
