//! The standard error stream: notes, and colours for terminals alone.

use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr};

/// Prints a line on the standard error stream. Where that is closed, nobody wants the line.
pub fn note(line: impl Display) {
    let _ = writeln!(stderr(), "{line}");
}

/// Returns true if the standard error stream is a terminal that can be redrawn.
pub fn can_be_redrawn() -> bool {
    stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|name| name != "dumb")
}

/// Returns true if the standard error stream is a terminal that takes colours.
pub fn takes_colours() -> bool {
    can_be_redrawn() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Width that the environment asks for where no terminal says its own.
pub fn asked_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// Text for the standard error stream, in red if that is a terminal that takes colours.
pub fn red(text: &str) -> String {
    if takes_colours() { format!("\x1b[1;31m{text}\x1b[0m") } else { text.to_owned() }
}
