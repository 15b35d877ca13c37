//! Archives of files.

use std::io::Read;

use flate2::read::DeflateDecoder;

use crate::failure::Failure;

/// First bytes of the end of an archive's list of files, and of an entry of it.
const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";

/// Returns true if the first file of an archive is an array.
pub fn begins_with_array(head: &[u8]) -> bool {
    let name = || head.get(30..30 + number(head, 26, 2)?);
    name().is_some_and(|name| name.ends_with(b".npy"))
}

/// Names and bytes of all files of an archive.
pub fn entries(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let damaged = || Failure::new("the archive is damaged");
    let end = bytes.windows(END.len()).rposition(|part| part == END).ok_or_else(damaged)?;
    let (mut at, mut files) = (number(bytes, end + 16, 4).ok_or_else(damaged)?, Vec::new());
    while bytes.get(at..).is_some_and(|rest| rest.starts_with(ENTRY)) {
        let (file, next) = entry(bytes, at).ok_or_else(damaged)?;
        files.push(file);
        at = next;
    }
    Ok(files)
}

/// The file of an entry of the list, and the place of the next entry.
fn entry(bytes: &[u8], at: usize) -> Option<((String, Vec<u8>), usize)> {
    let [method, name, extra, comment] = [10, 28, 30, 32].map(|place| number(bytes, at + place, 2));
    let [size, local] = [20, 42].map(|place| number(bytes, at + place, 4));
    let (end_of_name, local) = (at + 46 + name?, local?);
    let begin = local + 30 + number(bytes, local + 26, 2)? + number(bytes, local + 28, 2)?;
    let stored = bytes.get(begin..begin.checked_add(size?)?)?;
    let contents = match method? {
        0 => stored.to_vec(),
        8 => {
            let mut contents = Vec::new();
            DeflateDecoder::new(stored).read_to_end(&mut contents).ok()?;
            contents
        }
        _ => return None,
    };
    let name = String::from_utf8_lossy(bytes.get(at + 46..end_of_name)?).into_owned();
    Some(((name, contents), end_of_name + extra? + comment?))
}

/// A number of this many bytes.
fn number(bytes: &[u8], at: usize, count: usize) -> Option<usize> {
    bytes.get(at..at + count).map(|bytes| bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte)))
}
