//! Lines of a file of separated values, read one after the other.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::rc::Rc;

use super::encoding::windows_1252;

/// The byte order mark in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// A line, and its number, counted from 1.
pub(super) type Line = (usize, String);

/// Lines that are neither empty nor comments. Lines end at `\n`, `\r\n` or `\r`.
pub(super) struct Lines<R> {
    reader: R,
    /// Lines that have been read, but not yet been taken.
    ready: VecDeque<Line>,
    number: usize,
    /// Lines that are skipped.
    skipped: usize,
    /// The first line that is no UTF-8.
    other_encoding: Rc<Cell<Option<usize>>>,
}

impl Lines<io::Empty> {
    /// These lines alone.
    pub(super) fn of(lines: Vec<Line>) -> Self {
        Lines { ready: lines.into(), ..Lines::new(io::empty(), 0) }
    }
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, skipped: usize) -> Self {
        Lines { reader, ready: VecDeque::new(), number: 0, skipped, other_encoding: Rc::default() }
    }

    /// The first line that is no UTF-8, of those that have been read when it is asked for.
    pub(super) fn other_encoding(&self) -> Rc<Cell<Option<usize>>> {
        Rc::clone(&self.other_encoding)
    }

    /// Returns the first lines, or as many of them as there are; they stay to be taken.
    pub(super) fn peek(&mut self, count: usize) -> io::Result<Vec<Line>> {
        while self.ready.len() < count && self.read()? {}
        Ok(self.ready.iter().take(count).cloned().collect())
    }

    /// Skips the lines before this one.
    pub(super) fn begin_at(&mut self, line: usize) {
        self.ready.retain(|&(number, _)| number >= line);
    }

    /// Takes the next line; `None` at the end of the file.
    pub(super) fn take(&mut self) -> io::Result<Option<Line>> {
        while self.ready.is_empty() && self.read()? {}
        Ok(self.ready.pop_front())
    }

    /// Reads to the next `\n`; `false` at the end of the file.
    fn read(&mut self) -> io::Result<bool> {
        let mut bytes = Vec::new();
        if self.reader.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(false);
        }
        if self.number == 0 && bytes.starts_with(MARK) {
            bytes.drain(..MARK.len());
        }
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            self.other_encoding.set(self.other_encoding.get().or(Some(self.number + 1)));
            windows_1252(error.as_bytes())
        });
        let text = text.strip_suffix('\n').unwrap_or(&text);
        for line in text.strip_suffix('\r').unwrap_or(text).split('\r') {
            self.number += 1;
            if self.number > self.skipped && !line.trim().is_empty() && !line.trim_start().starts_with('#') {
                self.ready.push_back((self.number, line.to_owned()));
            }
        }
        Ok(true)
    }
}

/// The text of the lines. Lines that are left out are empty, so that the others keep their numbers.
pub(super) struct Text<R> {
    lines: Lines<R>,
    number: usize,
    bytes: Vec<u8>,
    taken: usize,
}

impl<R: BufRead> Text<R> {
    pub(super) fn new(lines: Lines<R>) -> Self {
        Text { lines, number: 0, bytes: Vec::new(), taken: 0 }
    }
}

impl<R: BufRead> io::Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
            if let Some((number, line)) = self.lines.take()? {
                self.bytes.resize(number - self.number - 1, b'\n');
                self.bytes.extend(line.into_bytes());
                self.bytes.push(b'\n');
                self.number = number;
            }
        }
        let count = buffer.len().min(self.bytes.len() - self.taken);
        buffer[..count].copy_from_slice(&self.bytes[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}
