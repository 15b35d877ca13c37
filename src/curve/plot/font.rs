//! The widths and outlines of letters. Noto Sans comes along, so that no font need be installed.

use std::sync::OnceLock;

use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::{Face, OutlineBuilder};

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
    let units: f64 = text.chars().map(advance).sum();
    units * scale(size)
}

/// The outline of a text that begins at the origin; downwards is positive.
pub(super) fn outline(text: &str, size: f64) -> Option<Path> {
    let mut outline = Outline { path: PathBuilder::new(), shift: 0.0 };
    for c in text.chars() {
        if let Some(glyph) = face().glyph_index(c) {
            face().outline_glyph(glyph, &mut outline);
        }
        outline.shift += advance(c) as f32;
    }
    let scale = scale(size) as f32;
    outline.path.finish()?.transform(Transform::from_scale(scale, -scale))
}

fn scale(size: f64) -> f64 {
    size / f64::from(face().units_per_em())
}

fn advance(c: char) -> f64 {
    face().glyph_index(c).and_then(|glyph| face().glyph_hor_advance(glyph)).map_or(0.0, f64::from)
}

struct Outline {
    path: PathBuilder,
    shift: f32,
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(x + self.shift, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(x + self.shift, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(x1 + self.shift, y1, x + self.shift, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(x1 + self.shift, y1, x2 + self.shift, y2, x + self.shift, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
