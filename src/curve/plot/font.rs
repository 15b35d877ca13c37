//! The widths and outlines of letters. Noto Sans comes along, so that no font need be installed.

use std::sync::OnceLock;

use tiny_skia::{Path, PathBuilder, Point, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// What browsers are asked for.
pub(super) const FAMILY: &str = "Noto Sans, Helvetica, Arial, sans-serif";

/// Height of a capital letter, in sizes of the font.
pub(super) const CAPITAL: f64 = 0.714;

fn face() -> &'static Face<'static> {
    static FACE: OnceLock<Face<'static>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(notosans::REGULAR_TTF, 0).expect("the font is sound"))
}

/// How wide a text is.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| Letter::of(c).advance()).sum::<f64>() * scale(size)
}

/// The outline of a text that begins at the origin; downwards is positive.
pub(super) fn outline(text: &str, size: f64) -> Option<Path> {
    let mut outline = Outline { path: PathBuilder::new(), shift: (0.0, 0.0), scale: 1.0 };
    let mut end = 0.0;
    for letter in text.chars().map(Letter::of) {
        outline.shift = (end as f32, letter.rise as f32);
        outline.scale = letter.scale as f32;
        face().outline_glyph(letter.glyph, &mut outline);
        end += letter.advance();
    }
    let scale = scale(size) as f32;
    outline.path.finish()?.transform(Transform::from_scale(scale, -scale))
}

fn scale(size: f64) -> f64 {
    size / f64::from(face().units_per_em())
}

/// One letter, in units of the font.
struct Letter {
    glyph: GlyphId,
    scale: f64,
    rise: f64,
}

impl Letter {
    /// A letter that the font does not have is made of another, or else a box.
    fn of(c: char) -> Letter {
        if let Some(glyph) = face().glyph_index(c) {
            return Letter { glyph, scale: 1.0, rise: 0.0 };
        }
        let em = f64::from(face().units_per_em());
        let (base, rise) = match c {
            '⁺' => ('+', 0.33 * em),
            '⁻' => ('−', 0.33 * em),
            '₊' => ('+', -0.15 * em),
            '₋' => ('−', -0.15 * em),
            '₀'..='₉' => (char::from(b'0' + (c as u32 - '₀' as u32) as u8), -0.15 * em),
            c => (c, 0.0),
        };
        Letter { glyph: face().glyph_index(base).unwrap_or_default(), scale: if base == c { 1.0 } else { 0.62 }, rise }
    }

    fn advance(&self) -> f64 {
        face().glyph_hor_advance(self.glyph).map_or(0.0, f64::from) * self.scale
    }
}

struct Outline {
    path: PathBuilder,
    shift: (f32, f32),
    scale: f32,
}

impl Outline {
    fn place(&self, x: f32, y: f32) -> Point {
        Point::from_xy(self.shift.0 + self.scale * x, self.shift.1 + self.scale * y)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let to = self.place(x, y);
        self.path.move_to(to.x, to.y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.place(x, y);
        self.path.line_to(to.x, to.y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (by, to) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(by.x, by.y, to.x, to.y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (first, second, to) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(first.x, first.y, second.x, second.y, to.x, to.y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_is_seen() {
        for c in "x−⁻⁺₀₉₊₋µ·²\u{4e00}".chars() {
            let drawn = outline(&c.to_string(), 100.0).unwrap().bounds();
            assert!(drawn.width() > 5.0 && width(&c.to_string(), 100.0) > 5.0, "{c}");
        }
        assert!(outline(" ", 10.0).is_none() && width(" ", 10.0) > 0.0);
    }

    #[test]
    fn exponents_are_high_and_indices_low() {
        let middle =
            |c: &str| outline(c, 100.0).map(|path| path.bounds().top() + path.bounds().height() / 2.0).unwrap();
        assert!(middle("⁻") < middle("−") && middle("₋") > middle("−") && middle("₂") > middle("2"));
    }
}
