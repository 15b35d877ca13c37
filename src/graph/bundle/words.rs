//! Words of a text, with the numbers of their lines.

use std::fmt::Display;
use std::str::{Lines, SplitWhitespace};

use super::BundleLineError;

/// Most characters of a word that an error repeats.
const LONGEST: usize = 40;

/// Words of a text, or of one line of it.
pub(super) struct Words<'t> {
    lines: Lines<'t>,
    words: SplitWhitespace<'t>,
    /// Line of the last word; the first is 1.
    pub(super) line: usize,
}

impl<'t> Words<'t> {
    /// Words of all lines.
    pub(super) fn new(text: &'t str) -> Self {
        Words { lines: text.lines(), words: "".split_whitespace(), line: 0 }
    }

    /// Words of one line.
    pub(super) fn of_line(text: &'t str, line: usize) -> Self {
        Words { lines: "".lines(), words: text.split_whitespace(), line }
    }

    pub(super) fn next(&mut self) -> Option<&'t str> {
        loop {
            if let Some(word) = self.words.next() {
                return Some(word);
            }
            self.words = self.lines.next()?.split_whitespace();
            self.line += 1;
        }
    }

    pub(super) fn word(&mut self, name: impl Display) -> Result<&'t str, BundleLineError> {
        self.next().ok_or_else(|| BundleLineError::Missing { name: name.to_string() })
    }

    /// The next word, if a number is made of it.
    pub(super) fn parse<N>(
        &mut self,
        name: impl Display,
        wanted: &'static str,
        parse: impl FnOnce(&str) -> Option<N>,
    ) -> Result<N, BundleLineError> {
        let text = self.word(&name)?;
        parse(text).ok_or_else(|| BundleLineError::Word { name: name.to_string(), text: shortened(text), wanted })
    }

    pub(super) fn count(&mut self, name: impl Display) -> Result<usize, BundleLineError> {
        self.parse(name, "a count", |text| text.parse().ok())
    }

    pub(super) fn id(&mut self, name: impl Display) -> Result<u64, BundleLineError> {
        self.parse(name, "an integer from 0", |text| text.parse().ok())
    }

    pub(super) fn index(&mut self, name: impl Display, count: usize) -> Result<usize, BundleLineError> {
        let index = self.count(&name)?;
        if index < count {
            Ok(index)
        } else {
            Err(BundleLineError::OutOfRange { name: name.to_string(), index, count })
        }
    }

    pub(super) fn number(&mut self, name: impl Display) -> Result<f64, BundleLineError> {
        self.parse(name, "a finite number", |text| text.parse().ok().filter(|number: &f64| number.is_finite()))
    }

    pub(super) fn numbers<const N: usize>(&mut self, owner: impl Display) -> Result<[f64; N], BundleLineError> {
        let mut numbers = [0.0; N];
        for (k, number) in numbers.iter_mut().enumerate() {
            *number = self.number(format_args!("number {} of {owner}", k + 1))?;
        }
        Ok(numbers)
    }

    /// Checks that there are no more words.
    pub(super) fn end(&mut self, last: impl Display) -> Result<(), BundleLineError> {
        match self.next() {
            None => Ok(()),
            Some(text) => Err(BundleLineError::Trailing { text: shortened(text), name: last.to_string() }),
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
