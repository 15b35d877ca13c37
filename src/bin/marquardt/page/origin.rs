//! Origin of a report: the command, the program, and the file.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::arguments::DataArguments;
use crate::failure::Failure;
use crate::source;

/// Command line, version, seconds since 1970, and name and SHA-256 of the file.
pub fn of(data: &DataArguments) -> Result<Value, Failure> {
    let command = std::env::args().skip(1).fold("marquardt".to_owned(), |line, word| line + " " + &quoted(word));
    let seconds = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    let file = data.file.as_deref().map_or("enzyme.csv, which comes with the program".to_owned(), source::name);
    let path = data.file.as_deref().filter(|path| path.is_file());
    let hash = path.map(sha256).transpose()?;
    let version = env!("CARGO_PKG_VERSION");
    Ok(json!({ "command": command, "version": version, "seconds": seconds, "file": file, "sha256": hash }))
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(format!("{:x}", hash.finalize()))
}

/// A word as a shell reads it back.
fn quoted(word: String) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=+,.:/@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
