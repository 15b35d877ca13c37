//! Text in UTF-8, UTF-16 or Windows-1252.

use std::io::{self, BufRead, BufReader, Read};

/// Characters of the bytes from 0x80 to 0x9f in Windows-1252; the other bytes are those of Unicode.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text of bytes in Windows-1252.
pub(super) fn windows_1252(bytes: &[u8]) -> String {
    let character = |&byte: &u8| match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    };
    bytes.iter().map(character).collect()
}

/// Reads text in UTF-16 as UTF-8 if it begins with a byte order mark, and other text as it is.
pub(super) fn decoded<'r>(mut reader: impl BufRead + 'r) -> io::Result<Box<dyn BufRead + 'r>> {
    let from_bytes = match reader.fill_buf()? {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return Ok(Box::new(reader)),
    };
    Ok(Box::new(BufReader::new(Utf16 { reader, from_bytes, text: Vec::new(), taken: 0 })))
}

/// Text in UTF-16 as UTF-8.
struct Utf16<R> {
    reader: R,
    from_bytes: fn([u8; 2]) -> u16,
    text: Vec<u8>,
    taken: usize,
}

impl<R: BufRead> Utf16<R> {
    /// Reads this number of units, or all remaining ones.
    fn units(&mut self, count: u64) -> io::Result<Vec<u16>> {
        let mut bytes = Vec::new();
        self.reader.by_ref().take(2 * count).read_to_end(&mut bytes)?;
        Ok(bytes.chunks_exact(2).map(|pair| (self.from_bytes)([pair[0], pair[1]])).collect())
    }
}

impl<R: BufRead> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.text.len() {
            let mut units = self.units(4096)?;
            if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
                units.extend(self.units(1)?);
            }
            let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            (self.text, self.taken) = (text.into_bytes(), 0);
        }
        let count = buffer.len().min(self.text.len() - self.taken);
        buffer[..count].copy_from_slice(&self.text[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_is_decoded_in_both_orders() {
        let text = "\u{feff}x,µ 𝛼\n".repeat(3000);
        let units: Vec<u16> = text.encode_utf16().collect();
        for bytes in [
            units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<_>>(),
            units.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
        ] {
            let mut read = String::new();
            decoded(BufReader::with_capacity(7, &bytes[..])).unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
        }
        assert_eq!(windows_1252(b"\xb5M \x80 \xe4"), "µM € ä");
    }
}
