//! Notes, which an answer has besides its result.

use std::cell::RefCell;
use std::fmt::Display;

thread_local! {
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Adds a note.
pub fn note(line: impl Display) {
    NOTES.with_borrow_mut(|notes| notes.push(line.to_string()));
}

/// The notes since the last call.
pub fn take() -> Vec<String> {
    NOTES.take()
}

/// Text without colours.
pub fn red(text: &str) -> String {
    text.to_owned()
}
