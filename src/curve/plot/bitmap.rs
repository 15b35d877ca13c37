//! Drawings as pixels.

use tiny_skia::{Color, FillRule, LineJoin, Paint as Brush, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};

use super::drawing::{Align, Drawing, Paint, Place, Shape, Text};
use super::font;

/// A PNG file.
pub(super) fn render(drawing: &Drawing) -> Vec<u8> {
    let mut pixels = Pixmap::new(drawing.width, drawing.height).expect("the size is limited");
    pixels.fill(Color::WHITE);
    for shape in &drawing.shapes {
        draw(&mut pixels, shape);
    }
    pixels.encode_png().expect("a picture in memory is encoded in memory")
}

fn draw(pixels: &mut Pixmap, shape: &Shape) {
    match shape {
        Shape::Disk { center, radius, paint } => fill(pixels, circle(*center, *radius), *paint),
        Shape::Ring { center, radius, width, paint } => stroke(pixels, circle(*center, *radius), *width, *paint),
        Shape::Line { points, width, paint } => stroke(pixels, polyline(points, false), *width, *paint),
        Shape::Polygon { corners, paint } => fill(pixels, polyline(corners, true), *paint),
        Shape::Rectangle { corner, size, paint } => {
            let rectangle = Rect::from_xywh(corner.0 as f32, corner.1 as f32, size.0 as f32, size.1 as f32);
            fill(pixels, rectangle.map(PathBuilder::from_rect), *paint);
        }
        Shape::Text(text) => fill(pixels, letters(text), text.paint),
    }
}

fn circle(center: Place, radius: f64) -> Option<Path> {
    PathBuilder::from_circle(center.0 as f32, center.1 as f32, radius as f32)
}

fn polyline(points: &[Place], is_closed: bool) -> Option<Path> {
    let (first, rest) = points.split_first()?;
    let mut path = PathBuilder::new();
    path.move_to(first.0 as f32, first.1 as f32);
    rest.iter().for_each(|point| path.line_to(point.0 as f32, point.1 as f32));
    if is_closed {
        path.close();
    }
    path.finish()
}

fn letters(text: &Text) -> Option<Path> {
    let width = font::width(&text.text, text.size);
    let back = match text.align {
        Align::Start => 0.0,
        Align::Middle => -width / 2.0,
        Align::End => -width,
    };
    let place = Transform::from_translate(text.at.0 as f32, text.at.1 as f32);
    let turned = if text.is_vertical { place.pre_rotate(-90.0) } else { place };
    font::outline(&text.text, text.size)?.transform(turned.pre_translate(back as f32, 0.0))
}

fn fill(pixels: &mut Pixmap, path: Option<Path>, paint: Paint) {
    if let Some(path) = path {
        pixels.fill_path(&path, &brush(paint), FillRule::Winding, Transform::identity(), None);
    }
}

fn stroke(pixels: &mut Pixmap, path: Option<Path>, width: f64, paint: Paint) {
    if let Some(path) = path {
        let stroke = Stroke { width: width as f32, line_join: LineJoin::Round, ..Stroke::default() };
        pixels.stroke_path(&path, &brush(paint), &stroke, Transform::identity(), None);
    }
}

fn brush(paint: Paint) -> Brush<'static> {
    let [red, green, blue] = paint.color;
    let mut brush = Brush::default();
    brush.set_color_rgba8(red, green, blue, (255.0 * paint.opacity).round() as u8);
    brush
}
