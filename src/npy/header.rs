//! The header of an `.npy` file: type, order and shape of the numbers that follow.

/// Begins every file.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Headers are filled up so that the numbers begin at a multiple of it.
const ALIGNMENT: usize = 64;

/// Content of the header.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    /// The type of the numbers, such as `<f8`; in brackets for records.
    pub(super) descr: String,
    /// Numbers of a column follow each other, instead of numbers of a row.
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

impl Header {
    /// The header, and the bytes after it.
    pub(super) fn split(bytes: &[u8]) -> Result<(Header, &[u8]), String> {
        let rest = bytes.strip_prefix(MAGIC).ok_or("it does not begin with \\x93NUMPY")?;
        let too_short = || "it ends within its header".to_owned();
        let (&[major, _minor], rest) = rest.split_first_chunk().ok_or_else(too_short)?;
        let (length, rest) = match major {
            1 => rest.split_first_chunk().map(|(&length, rest)| (usize::from(u16::from_le_bytes(length)), rest)),
            2 | 3 => rest.split_first_chunk().map(|(&length, rest)| (u32::from_le_bytes(length) as usize, rest)),
            _ => return Err(format!("version {major} of the format is unknown")),
        }
        .ok_or_else(too_short)?;
        let (text, numbers) = rest.split_at_checked(length).ok_or_else(too_short)?;
        let text = std::str::from_utf8(text).map_err(|_| "its header is no text")?;
        Ok((Header::parse(text).ok_or_else(|| format!("its header is {:?}", text.trim()))?, numbers))
    }

    /// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, in any order.
    fn parse(text: &str) -> Option<Header> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" => {
                    // Of records, the brackets are enough to refuse them.
                    let is_list = value.starts_with('[');
                    let (text, after) = if is_list { (value, &value[value.rfind(']')? + 1..]) } else { quoted(value)? };
                    descr = Some(text[..text.len() - if is_list { after.len() } else { 0 }].to_owned());
                    after
                }
                "fortran_order" => {
                    let is_true = value.starts_with("True");
                    fortran_order = Some(is_true);
                    value.strip_prefix(if is_true { "True" } else { "False" })?
                }
                "shape" => {
                    let (sizes, after) = value.strip_prefix('(')?.split_once(')')?;
                    let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
                    shape =
                        Some(sizes.map(|size| size.trim_end_matches('L').parse().ok()).collect::<Option<Vec<_>>>()?);
                    after
                }
                _ => return None,
            }
            .trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Some(Header { descr: descr?, fortran_order: fortran_order?, shape: shape? })
    }

    /// The header as bytes, of version 1 of the format.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let order = if self.fortran_order { "True" } else { "False" };
        let sizes: String = self.shape.iter().map(|size| format!("{size}, ")).collect();
        // A tuple of one has a comma, of several none at the end.
        let sizes = if self.shape.len() == 1 { sizes.trim_end() } else { sizes.trim_end_matches(", ") };
        let mut text = format!("{{'descr': '{}', 'fortran_order': {order}, 'shape': ({sizes}), }}", self.descr);
        let before = MAGIC.len() + 4;
        let length = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
        text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
        text.push('\n');
        let length = u16::try_from(length).expect("an array has too few dimensions for a longer header");
        [MAGIC.as_slice(), &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat()
    }
}

/// A text in quotes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(descr: &str, fortran_order: bool, shape: &[usize]) -> Header {
        Header { descr: descr.to_owned(), fortran_order, shape: shape.to_vec() }
    }

    #[test]
    fn headers_are_read_in_any_order() {
        let parse = |text: &str| Header::parse(text).unwrap();
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n";
        assert_eq!(parse(text), header("<f8", false, &[3, 4]));
        let text = "{\"shape\": (5L,), \"fortran_order\": True,'descr':'>i2'}";
        assert_eq!(parse(text), header(">i2", true, &[5]));
        assert_eq!(parse("{'descr': '<f4', 'fortran_order': False, 'shape': ()}"), header("<f4", false, &[]));
        let text = "{'descr': [('x', '<f8'), ('y', '<f8')], 'fortran_order': False, 'shape': (2,), }";
        assert_eq!(parse(text), header("[('x', '<f8'), ('y', '<f8')]", false, &[2]));
    }

    #[test]
    fn other_headers_are_refused() {
        for text in [
            "",
            "{}",
            "{'descr': '<f8', 'fortran_order': False}",
            "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3,)}",
            "{'descr': '<f8, 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
            "{'descr': [, 'fortran_order': False, 'shape': (3,)}",
            "{é: '<f8'}",
        ] {
            assert_eq!(Header::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_written_header_is_read_and_ends_at_a_multiple() {
        for shape in [&[][..], &[7], &[3, 4], &[1000, 64, 2, 1, 1, 5]] {
            let written = header("<f8", false, shape).to_bytes();
            assert_eq!(written.len() % ALIGNMENT, 0);
            assert_eq!(Header::split(&written).unwrap(), (header("<f8", false, shape), &[][..]));
        }
    }
}
