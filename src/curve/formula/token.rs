//! The words that a formula consists of.

use std::fmt;

/// A word of a formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'t> {
    Number(f64),
    Name(&'t str),
    /// A name in quotes, which is never a constant or a function.
    Quoted(&'t str),
    Symbol(&'static str),
    End,
}

/// A word, and the byte that it begins at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'t> {
    pub(super) token: Token<'t>,
    pub(super) at: usize,
}

/// Symbols, of which those of two characters come first.
const SYMBOLS: [&str; 20] =
    ["**", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "^", "(", ")", ",", "<", ">", "?", ":", "!"];

/// Stands before and after a name of any characters.
const QUOTE: char = '"';

/// The words of a text, one after the other.
pub(super) struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Words<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Words { text, at: 0 }
    }

    /// The next word.
    ///
    /// # Errors
    ///
    /// A character that belongs to no token, and its place.
    pub(super) fn next(&mut self) -> Result<Word<'t>, (String, usize)> {
        let rest = self.text[self.at..].trim_start();
        let at = self.text.len() - rest.len();
        let (token, length) = match rest.chars().next() {
            None => (Token::End, 0),
            Some(first) if first.is_ascii_digit() || first == '.' => {
                let length = number_length(rest);
                let number = rest[..length].parse().map_err(|_| (rest[..length].to_owned(), at))?;
                (Token::Number(number), length)
            }
            Some(first) if is_of_name(first) => {
                let length = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
                (Token::Name(&rest[..length]), length)
            }
            Some(QUOTE) => {
                let name = rest[1..].split_once(QUOTE).map(|(name, _)| name).filter(|name| is_name(name));
                let name = name.ok_or_else(|| (QUOTE.to_string(), at))?;
                (Token::Quoted(name), name.len() + 2)
            }
            Some(first) => {
                let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
                let symbol = symbol.ok_or_else(|| (first.to_string(), at))?;
                (Token::Symbol(symbol), symbol.len())
            }
        };
        self.at = at + length;
        Ok(Word { token, at })
    }
}

/// The character is part of a name.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text is a name, which is written in quotes unless it is a word. It is one line.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c == QUOTE || c.is_control())
}

/// Bytes of the number that a text begins with.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        // Without digits, it is a name that follows.
        match digits((length + 1 + sign).min(bytes.len())) {
            0 => {}
            count => length += 1 + sign + count,
        }
    }
    length
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Number(number) => write!(f, "{number}"),
            Token::Name(name) | Token::Quoted(name) => write!(f, "{QUOTE}{name}{QUOTE}"),
            Token::Symbol(symbol) => write!(f, "{symbol:?}"),
            Token::End => f.write_str("the end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut words = Words::of(text);
        let next = || words.next().unwrap().token;
        std::iter::repeat_with(next).take_while(|token| *token != Token::End).map(|token| token.to_string()).collect()
    }

    #[test]
    fn a_text_is_taken_apart() {
        assert_eq!(tokens(" a1*  .5e-3x "), ["\"a1\"", "\"*\"", "0.0005", "\"x\""]);
        assert_eq!(tokens("2e+b"), ["2", "\"e\"", "\"+\"", "\"b\""]);
        assert_eq!(tokens("1.**µ<=3."), ["1", "\"**\"", "\"µ\"", "\"<=\"", "3"]);
        assert_eq!(tokens("2*\"dose (µM)\"-\"e\""), ["2", "\"*\"", "\"dose (µM)\"", "\"-\"", "\"e\""]);
        assert_eq!(Words::of("\"\"").next().unwrap_err(), ("\"".to_owned(), 0));
        assert_eq!(Words::of("\"a\nb\"").next().unwrap_err(), ("\"".to_owned(), 0));
        assert_eq!(Words::of(" \"a").next().unwrap_err(), ("\"".to_owned(), 1));
        assert_eq!(Words::of("  §").next().unwrap_err(), ("§".to_owned(), 2));
        assert_eq!(Words::of(".").next().unwrap_err(), (".".to_owned(), 0));
    }

    #[test]
    fn names_have_no_quotes() {
        assert!(["k_1", "_", "λ", "1k", "a b", "exp"].into_iter().all(is_name));
        assert!(!is_name("") && !is_name("a\"b") && !is_name("a\nb"));
    }
}
