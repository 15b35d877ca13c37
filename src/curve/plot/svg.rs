//! Drawings as SVG.

use std::fmt::Write;

use super::drawing::{Align, Drawing, Paint, Place, Shape, Text};
use super::font;

/// The document.
pub(super) fn render(drawing: &Drawing) -> String {
    let (width, height) = (drawing.width, drawing.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{}\">\n<title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        font::FAMILY,
        escaped(&drawing.title),
    );
    for shape in &drawing.shapes {
        svg.push_str(&element(shape));
        svg.push('\n');
    }
    svg + "</svg>\n"
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Disk { center, radius, paint } => {
            format!("<circle {} r=\"{}\"{}/>", place("c", *center), number(*radius), fill(*paint))
        }
        Shape::Ring { center, radius, width, paint } => {
            let stroke = stroke(*width, *paint);
            format!("<circle {} r=\"{}\" fill=\"none\"{stroke}/>", place("c", *center), number(*radius))
        }
        Shape::Line { points, width, paint } => {
            let stroke = stroke(*width, *paint);
            format!("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\"{stroke}/>", places(points))
        }
        Shape::Polygon { corners, paint } => format!("<polygon points=\"{}\"{}/>", places(corners), fill(*paint)),
        Shape::Rectangle { corner, size, paint } => {
            let (width, height) = (number(size.0), number(size.1));
            format!("<rect {} width=\"{width}\" height=\"{height}\"{}/>", place("", *corner), fill(*paint))
        }
        Shape::Text(text) => text_element(text),
    }
}

fn text_element(text: &Text) -> String {
    let anchor = match text.align {
        Align::Start => "start",
        Align::Middle => "middle",
        Align::End => "end",
    };
    let (x, y) = (number(text.at.0), number(text.at.1));
    let turn = if text.is_vertical { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let (size, fill) = (number(text.size), fill(text.paint));
    let letters = escaped(&text.text);
    format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\"{turn}{fill}>{letters}</text>")
}

fn place(prefix: &str, (x, y): Place) -> String {
    format!("{prefix}x=\"{}\" {prefix}y=\"{}\"", number(x), number(y))
}

fn places(places: &[Place]) -> String {
    let pairs: Vec<String> = places.iter().map(|&(x, y)| format!("{},{}", number(x), number(y))).collect();
    pairs.join(" ")
}

fn fill(paint: Paint) -> String {
    painted("fill", paint)
}

fn stroke(width: f64, paint: Paint) -> String {
    format!(" stroke-width=\"{}\"{}", number(width), painted("stroke", paint))
}

fn painted(attribute: &str, Paint { color: [red, green, blue], opacity }: Paint) -> String {
    let mut written = format!(" {attribute}=\"#{red:02x}{green:02x}{blue:02x}\"");
    if opacity < 1.0 {
        let _ = write!(written, " {attribute}-opacity=\"{opacity}\"");
    }
    written
}

/// Hundredths of a pixel are fine enough.
fn number(value: f64) -> String {
    ((value * 100.0).round() / 100.0 + 0.0).to_string()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // XML has no place for other control characters.
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
