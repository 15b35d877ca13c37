//! One line of a file: a tag, and numbers.

use super::file_error::GraphLineError;

/// A tag and the words after it.
pub(super) struct Line<'t> {
    pub(super) tag: &'t str,
    pub(super) words: Vec<&'t str>,
}

impl<'t> Line<'t> {
    /// The line of a text; `None` for an empty line or a comment.
    pub(super) fn new(text: &'t str) -> Option<Self> {
        let mut words = text.split('#').next()?.split_whitespace();
        Some(Line { tag: words.next()?, words: words.collect() })
    }

    /// Checks the number of words.
    pub(super) fn expect(&self, expected: usize) -> Result<(), GraphLineError> {
        let found = self.words.len();
        if found == expected {
            Ok(())
        } else {
            Err(GraphLineError::Count { tag: self.tag.to_owned(), expected, found })
        }
    }

    /// Number of a vertex or a parameter.
    pub(super) fn id(&self, word: usize) -> Result<u64, GraphLineError> {
        let text = self.words[word];
        text.parse().map_err(|_| GraphLineError::Id { tag: self.tag.to_owned(), text: text.to_owned() })
    }

    /// Numbers from this word on.
    pub(super) fn numbers(&self, first: usize) -> Result<Vec<f64>, GraphLineError> {
        let number = |(place, text): (usize, &&str)| match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(GraphLineError::Number { tag: self.tag.to_owned(), place: place + 1, text: (*text).to_owned() }),
        };
        self.words.iter().enumerate().skip(first).map(number).collect()
    }

    /// Normalises a quaternion, unless its norm is one to rounding.
    pub(super) fn normalize(&self, quaternion: &mut [f64]) -> Result<(), GraphLineError> {
        let norm = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !norm.is_normal() || quaternion.iter().any(|x| (x / norm).abs() > 1.0) {
            return Err(GraphLineError::Quaternion { tag: self.tag.to_owned(), norm: norm.to_string() });
        }
        if (norm - 1.0).abs() > 4.0 * f64::EPSILON {
            quaternion.iter_mut().for_each(|x| *x /= norm);
        }
        Ok(())
    }
}
