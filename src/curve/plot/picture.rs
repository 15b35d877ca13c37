//! Plots as SVG and PNG.

use plotters::prelude::*;

use super::style::{self, SCALE};
use super::{Plot, layout};

/// The text of an SVG file.
pub(super) fn svg(plot: &Plot) -> String {
    let large = (SCALE * plot.size.0, SCALE * plot.size.1);
    let mut svg = String::new();
    // XML has no place for control characters.
    let plot = &plot.with_letters(|c| if c.is_control() { ' ' } else { c });
    layout::draw(plot, &SVGBackend::with_string(&mut svg, large).into_drawing_area()).expect("a text takes everything");
    // The view box stays large.
    let attributes = |(width, height): (u32, u32)| format!("width=\"{width}\" height=\"{height}\"");
    svg.replacen(&attributes(large), &attributes(plot.size), 1)
}

/// The bytes of a PNG file.
pub(super) fn png(plot: &Plot) -> Vec<u8> {
    let (width, height) = plot.size;
    let large = (SCALE * width, SCALE * height);
    let mut pixels = vec![0; 3 * large.0 as usize * large.1 as usize];
    let plot = &plot.with_letters(style::drawable);
    layout::draw(plot, &BitMapBackend::with_buffer(&mut pixels, large).into_drawing_area())
        .expect("the buffer is as large as the picture");
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&shrunk(&pixels, width)));
    written.expect("a picture in memory is encoded in memory");
    bytes
}

/// Averages squares of pixels, to rows of `width` pixels.
fn shrunk(pixels: &[u8], width: u32) -> Vec<u8> {
    let (row, side) = (3 * width as usize, SCALE as usize);
    let mut shrunk = Vec::with_capacity(pixels.len() / (side * side));
    let mut sums = vec![0; row];
    for rows in pixels.chunks_exact(side * side * row) {
        sums.fill(0);
        for large in rows.chunks_exact(side * row) {
            for (sums, square) in sums.chunks_exact_mut(3).zip(large.chunks_exact(3 * side)) {
                for pixel in square.chunks_exact(3) {
                    (0..3).for_each(|color| sums[color] += u32::from(pixel[color]));
                }
            }
        }
        shrunk.extend(sums.iter().map(|sum| (sum / (SCALE * SCALE)) as u8));
    }
    shrunk
}
