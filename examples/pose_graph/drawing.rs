//! Drawing of a graph before and after the solve.

use std::fmt::Write;

use crate::g2o::Graph;

/// Width and height of a panel, in pixels.
const SIZE: f64 = 560.0;
/// Space around the graph in a panel, in pixels.
const MARGIN: f64 = 24.0;
/// Height of the titles, in pixels.
const TITLE: f64 = 36.0;

/// Graphs of the same vertices side by side, as an SVG file; each panel has a scale of its own. Graphs in space are
/// projected on the two axes of largest spread.
pub fn svg(before: &Graph, after: &Graph, titles: [&str; 2]) -> String {
    let (width, height) = (2.0 * SIZE, SIZE + TITLE);
    let axes = widest_axes(after);
    let mut svg = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (panel, (graph, title)) in [before, after].into_iter().zip(titles).enumerate() {
        let left = panel as f64 * SIZE;
        let names = axes.map(|axis| ["x", "y", "z"][axis]);
        write!(
            svg,
            "<g transform=\"translate({left} 0)\">\n<text x=\"{}\" y=\"24\" text-anchor=\"middle\" \
             font-family=\"sans-serif\" font-size=\"15\">{title} ({}, {})</text>\n{}</g>\n",
            SIZE / 2.0,
            names[0],
            names[1],
            lines(graph, axes)
        )
        .expect("strings can be written to");
    }
    svg + "</svg>\n"
}

/// Edges as lines, odometry above loop closures, and constant vertices as dots.
fn lines(graph: &Graph, axes: [usize; 2]) -> String {
    let positions: Vec<[f64; 2]> = (0..graph.vertices.len())
        .map(|vertex| {
            let position = graph.position(vertex);
            axes.map(|axis| position[axis])
        })
        .collect();
    let ends = |axis: usize| {
        let all = positions.iter().map(|position| position[axis]);
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    };
    let [(left, right), (bottom, top)] = [ends(0), ends(1)];
    let span = (right - left).max(top - bottom);
    let scale = if span > 0.0 { (SIZE - 2.0 * MARGIN) / span } else { 0.0 };
    // The middle of the graph is in the middle of the panel; the second axis points upwards.
    let pixel = |vertex: usize| {
        let [x, y] = positions[vertex];
        let (x, y) = (x - left - 0.5 * (right - left), y - bottom - 0.5 * (top - bottom));
        (0.5 * SIZE + scale * x, TITLE + 0.5 * SIZE - scale * y)
    };
    let mut text = String::new();
    for (is_loop_closure, color) in [(true, "#e8a33d"), (false, "#1f5fa8")] {
        write!(text, "<path fill=\"none\" stroke=\"{color}\" d=\"").expect("strings can be written to");
        let mut last = None;
        for edge in graph.edges.iter().filter(|edge| edge.is_loop_closure() == is_loop_closure) {
            let [from, to] = edge.vertices;
            let ((x, y), (to_x, to_y)) = (pixel(from), pixel(to));
            if last != Some(from) {
                write!(text, "M{x:.1} {y:.1}").expect("strings can be written to");
            }
            write!(text, "L{to_x:.1} {to_y:.1}").expect("strings can be written to");
            last = Some(to);
        }
        text.push_str("\"/>\n");
    }
    for &vertex in graph.constant() {
        let (x, y) = pixel(vertex);
        writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>").expect("strings can be written to");
    }
    text
}

/// The two axes with the largest variance of the positions, in their order.
fn widest_axes(graph: &Graph) -> [usize; 2] {
    let count = graph.vertices.len() as f64;
    let variance = |axis: usize| {
        let along = || (0..graph.vertices.len()).map(|vertex| graph.position(vertex)[axis]);
        let mean = along().sum::<f64>() / count;
        along().map(|x| (x - mean).powi(2)).sum::<f64>()
    };
    let variances = [0, 1, 2].map(variance);
    // Of equal variances, the last is left out.
    let narrowest = (0..3).rev().min_by(|&a, &b| variances[a].total_cmp(&variances[b])).unwrap_or(2);
    match narrowest {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const INFORMATION: &str = "1 0 0 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 1 0 1";

    #[test]
    fn both_graphs_are_drawn() {
        let graph = Graph::parse(crate::TINY_GRID, Path::new(crate::TINY_GRID_FILE)).unwrap();
        let drawing = svg(&graph, &graph, ["before", "after"]);
        assert_eq!((drawing.matches("<path").count(), drawing.matches("<circle").count()), (4, 2));
        // The odometry is one line, each of the three loop closures one of its own.
        assert_eq!((drawing.matches('M').count(), drawing.matches('L').count()), (2 * 4, 2 * 11));
        assert!(drawing.contains("before (") && drawing.ends_with("</svg>\n") && !drawing.contains("NaN"));
    }

    #[test]
    fn the_widest_axes_are_drawn() {
        let graph = |to: &str| {
            let text = format!(
                "VERTEX_SE3:QUAT 1 0 0 0 0 0 0 1\nVERTEX_SE3:QUAT 2 {to} 0 0 0 1\n\
                 EDGE_SE3:QUAT 1 2 0 0 0 0 0 0 1 {INFORMATION}"
            );
            Graph::parse(&text, Path::new("two.g2o")).unwrap()
        };
        for (to, axes) in
            [("1 2 3", [1, 2]), ("2 1 3", [0, 2]), ("3 2 1", [0, 1]), ("0 0 0", [0, 1]), ("0 0 1", [0, 2])]
        {
            assert_eq!(widest_axes(&graph(to)), axes);
        }
        assert!(!svg(&graph("0 0 0"), &graph("0 0 0"), ["", ""]).contains("NaN"));
    }
}
