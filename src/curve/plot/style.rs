//! Colours, sizes and letters.

use std::sync::Once;

use plotters::prelude::*;
use plotters::style::register_font;

pub(super) const INK: RGBColor = RGBColor(55, 65, 81);
pub(super) const GRID: RGBColor = RGBColor(229, 231, 235);
/// Data and curve of a single series.
const DATA: RGBColor = RGBColor(37, 99, 165);
pub(super) const CURVE: RGBColor = RGBColor(214, 86, 48);
/// One for each of several series; told apart by the colour-blind, too (after Okabe and Ito).
const SERIES: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];
/// Opacities of the bands.
pub(super) const CONFIDENCE: f64 = 0.28;
pub(super) const PREDICTION: f64 = 0.12;

/// Sizes of letters.
pub(super) const TITLE: f64 = 18.0;
pub(super) const LABEL: f64 = 14.0;
pub(super) const NUMBER: f64 = 12.0;
/// Share of its size that a text keeps at least where there is little room.
pub(super) const SMALLEST: f64 = 0.75;

/// Factor by which everything is drawn larger, as Plotters rounds to whole pixels.
pub(super) const SCALE: u32 = 3;

/// Font that is built in, and fallbacks for browsers.
const FAMILY: &str = "Noto Sans, Helvetica, Arial, sans-serif";

/// The colours of the points and the curve of a series. Where there are more series than colours, they become darker, and then lighter.
pub(super) fn colors(index: usize, count: usize) -> (RGBColor, RGBColor) {
    let RGBColor(red, green, blue) = SERIES[index % SERIES.len()];
    let shaded = |part: u8| match index / SERIES.len() % 3 {
        0 => part,
        1 => part / 2,
        _ => 255 - (255 - part) / 2,
    };
    let own = RGBColor(shaded(red), shaded(green), shaded(blue));
    if count > 1 { (own, own) } else { (DATA, CURVE) }
}

/// The colour of a component: one of its own below a single series, or else that of its series.
pub(super) fn component_color(index: usize, component: usize, count: usize) -> RGBColor {
    // The first two are like those of data and curve.
    if count > 1 { colors(index, count).1 } else { colors(component + 2, 2).1 }
}

/// Lengths of dashes and of the gaps between them.
pub(super) const DASH: (f64, f64) = (5.0, 3.0);

/// A length in pixels, as it is drawn.
pub(super) fn px(length: f64) -> i32 {
    (length * f64::from(SCALE)).round() as i32
}

/// Creates the style of a line with a width in pixels.
pub(super) fn stroke(color: impl Color, width: f64) -> ShapeStyle {
    color.stroke_width(px(width) as u32)
}

/// Letters of that size.
pub(super) fn letters(size: f64) -> TextStyle<'static> {
    static FONT: Once = Once::new();
    FONT.call_once(|| {
        let is_registered = register_font(FAMILY, FontStyle::Normal, notosans::REGULAR_TTF).is_ok();
        assert!(is_registered, "the font is sound");
    });
    // Plotters counts the height of a line.
    TextStyle::from((FAMILY, 1.24 * size * f64::from(SCALE))).color(&INK)
}

/// The letter, or one that the font does have and that looks alike.
pub(super) fn drawable(letter: char) -> char {
    match letter {
        '⁻' => 'ˉ',
        '⁺' | '₊' => '+',
        '₋' => '−',
        '₀'..='₉' => char::from(b'0' + (letter as u32 - '₀' as u32) as u8),
        _ => letter,
    }
}
