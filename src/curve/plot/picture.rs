//! Plots as SVG and PNG.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use plotters::prelude::*;

use super::heat_layout::Raster;
use super::heat_map::palette;
use super::style::{self, SCALE};
use super::{Plot, layout};

/// The text of an SVG file.
pub(super) fn svg(plot: &Plot) -> String {
    let large = (SCALE * plot.size.0, SCALE * plot.size.1);
    let mut svg = String::new();
    // XML has no place for control characters.
    let plot = &plot.with_letters(|c| if c.is_control() { ' ' } else { c });
    let area = SVGBackend::with_string(&mut svg, large).into_drawing_area();
    area.fill(&WHITE).expect("a text takes everything");
    let rasters = layout::draw(plot, &area).expect("a text takes everything");
    drop(area);
    let images: String = rasters.iter().map(image).collect();
    // The first element after the root is the ground.
    let ground = svg.find("/>").map_or(0, |end| end + "/>".len());
    svg.insert_str(ground, &images);
    // These are the defaults of SVG.
    for default in [" opacity=\"1\"", " stroke=\"none\" stroke-width=\"1\""] {
        svg = svg.replace(default, "");
    }
    // The view box stays large.
    let attributes = |(width, height): (u32, u32)| format!("width=\"{width}\" height=\"{height}\"");
    svg.replacen(&attributes(large), &attributes(plot.size), 1)
}

/// Pixels as an element of SVG.
fn image(Raster { left, top, width, height, size, pixels }: &Raster) -> String {
    let colors: Vec<u8> = palette().concat();
    let data = BASE64_STANDARD.encode(encoded(size.map(|side| side as u32), pixels, Some(&colors)));
    format!(
        "\n<image x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
         style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{data}\"/>"
    )
}

/// The bytes of a PNG file.
pub(super) fn png(plot: &Plot) -> Vec<u8> {
    let (width, height) = plot.size;
    let large = (SCALE * width, SCALE * height);
    let mut pixels = vec![255; 3 * large.0 as usize * large.1 as usize];
    let plot = &plot.with_letters(style::drawable);
    let draw = |pixels: &mut [u8]| {
        layout::draw(plot, &BitMapBackend::with_buffer(pixels, large).into_drawing_area())
            .expect("the buffer is as large as the picture")
    };
    let rasters = draw(&mut pixels);
    if !rasters.is_empty() {
        // Their places are known only now, and all else lies above them.
        pixels.fill(255);
        rasters.iter().for_each(|raster| paint(raster, &mut pixels, large));
        draw(&mut pixels);
    }
    encoded([width, height], &shrunk(&pixels, width), None)
}

/// Paints pixels, each as a rectangle.
fn paint(raster: &Raster, picture: &mut [u8], (across, down): (u32, u32)) {
    let [columns, rows] = raster.size;
    if columns == 0 || rows == 0 {
        return;
    }
    let colors = palette();
    let place = |at: i32, length: i32, count: usize| (at as usize * count / length.max(1) as usize).min(count - 1);
    for y in (0..raster.height).filter(|y| (0..down as i32).contains(&(raster.top + y))) {
        let row = place(y, raster.height, rows);
        for x in (0..raster.width).filter(|x| (0..across as i32).contains(&(raster.left + x))) {
            let color = colors[usize::from(raster.pixels[row * columns + place(x, raster.width, columns)])];
            let to = 3 * ((raster.top + y) as usize * across as usize + (raster.left + x) as usize);
            picture[to..to + 3].copy_from_slice(&color);
        }
    }
}

/// Pixels as a PNG file: indices of a palette, or three bytes each.
fn encoded([width, height]: [u32; 2], pixels: &[u8], palette: Option<&[u8]>) -> Vec<u8> {
    // A file without pixels is none.
    let (width, height, pixels) = if pixels.is_empty() {
        (1, 1, &[255; 3][..if palette.is_some() { 1 } else { 3 }])
    } else {
        (width, height, pixels)
    };
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    match palette {
        Some(palette) => {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_palette(palette);
        }
        None => encoder.set_color(png::ColorType::Rgb),
    }
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
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
