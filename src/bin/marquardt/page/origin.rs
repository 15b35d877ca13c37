//! Origin of a report: the command, the program, the file, and the options in force.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::arguments::SettingsArguments;
use crate::failure::Failure;
use crate::source;

/// Command line, version, seconds since 1970, name and SHA-256 of the file, and the options with the places that they come from.
pub fn of(file: Option<&Path>, are_several: bool, settings: &SettingsArguments) -> Result<Value, Failure> {
    let seconds = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    let name = match file {
        Some(file) => source::name(file),
        None if are_several => "several files".to_owned(),
        None => "enzyme.csv, which comes with the program".to_owned(),
    };
    let hash = file.filter(|path| path.is_file()).map(sha256).transpose()?;
    let version = env!("CARGO_PKG_VERSION");
    let given = std::env::args_os().skip(1).collect::<Vec<_>>();
    let whole = settings.config.as_ref().map(|_| command(&settings.words));
    let options: Vec<_> =
        settings.options.iter().map(|option| json!([option.name, option.value, option.is_of_file])).collect();
    Ok(json!({
        "command": command(&given), "whole_command": whole, "version": version, "seconds": seconds, "file": name, "sha256": hash,
        "config": settings.config, "options": options,
    }))
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(format!("{:x}", hash.finalize()))
}

/// The command with these arguments, as a shell reads it.
fn command(words: &[OsString]) -> String {
    words.iter().fold("marquardt".to_owned(), |line, word| line + " " + &quoted(&word.to_string_lossy()))
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=+,.:/@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
