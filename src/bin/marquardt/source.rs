//! Bytes of a file, of a compressed file, or of the standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::failure::Failure;

/// First bytes of a file compressed by gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Opens a file, or the standard input for `-`. What was compressed by gzip is decompressed, whatever the name of the file.
pub fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    let refuse = |error: io::Error| Failure::new(format!("{}: {error}", name(path)));
    let bytes: Box<dyn Read> = match is_standard_input(path) {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(path).map_err(refuse)?),
    };
    let mut bytes = BufReader::with_capacity(1 << 16, bytes);
    let first = bytes.fill_buf().map_err(refuse)?;
    match first.starts_with(&GZIP) {
        true => Ok(Box::new(MultiGzDecoder::new(bytes))),
        false => Ok(Box::new(bytes)),
    }
}

/// Name of the file in errors and titles.
pub fn name(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}
