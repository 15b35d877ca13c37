//! Files in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::Path;

use crate::failure::Failure;

thread_local! {
    static FILES: RefCell<BTreeMap<String, Vec<u8>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Keeps the bytes of a file under its name.
pub fn keep(name: String, bytes: Vec<u8>) {
    FILES.with_borrow_mut(|files| files.insert(name, bytes));
}

/// Opens a file.
pub fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    let bytes = FILES.with_borrow(|files| files.get(&name(path)).cloned());
    match bytes {
        Some(bytes) => Ok(Box::new(Cursor::new(bytes))),
        None => Err(Failure::new(format!("{}: there are no such data", name(path)))),
    }
}

/// Name of the file in errors and titles.
pub fn name(path: &Path) -> String {
    path.display().to_string()
}
